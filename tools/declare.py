"""Writes what is derived from the declarations of measures: `python tools/declare.py`.

The files are for those who must not import PyTorch: type checkers, compilers, and the parser of the
command line. Its `--help` and completion take a tenth of a second.
"""

import inspect
import json
from collections.abc import Callable
from pathlib import Path

from torchcent import functional, generate
from torchcent.engines.measures import _measures
from torchcent.engines.measures._measures import DEMAND, MEASURES, OPTIONS, Option
from torchcent.engines.measures._visitors import Visitor

ROOT = Path(__file__).resolve().parents[1]
API = ROOT / "docs" / "api.rst"
_PATHS = "torchcent.paths."
_HEAD = """\
# Written by tools/declare.py from the declarations of measures.
from collections.abc import Sequence

from torch import Tensor

from torchcent.check._run import Run
from torchcent.distances._profile import DistanceProfile
from torchcent.walks._spectral import Hits

__all__: list[str]
"""

_MEASURES = """\
// Written by tools/declare.py from torchcent/engines/measures/_visitors.py.
#pragma once

#include <cstdint>

namespace torchcent {{

// The score computed from path counts; each value has a visitor (paths/betweenness.h).
enum class Measure : int64_t {{
{codes}
}};

// clang-format off
constexpr Measure kMeasures[] = {{
{names}
}};
// clang-format on

}}  // namespace torchcent
"""


def stub() -> str:
    """The types of torchcent.functional, whose functions are made when it is imported."""
    parts = [_HEAD]
    for name in functional.__all__:
        signature = inspect.signature(getattr(functional, name))
        lines, starred = [], False
        for x in signature.parameters.values():
            if x.kind is x.KEYWORD_ONLY and not starred:
                lines.append("    *,")
                starred = True
            default = "" if x.default is x.empty else " = ..."
            lines.append(f"    {x.name}: {x.annotation}{default},")
        each = MEASURES.get(name)
        result = each.result.__name__ if each is not None and each.parts else "Tensor"
        parts.append("\n".join([f"def {name}(", *lines, f") -> {result}: ..."]))
    return "\n".join(parts) + "\n"


def commands() -> str:
    """What the command line says of measures, as JSON; the order is that of its help."""
    known = [each for each in MEASURES.values() if _measures.has_command(each)]
    order = ("paths", "distances", "")
    last = ("groups", "graph")
    known.sort(
        key=lambda each: (
            last.index(each.of) + 1 if each.of in last else 0, order.index(each.family),
            each.weights,
        )
    )  # fmt: skip
    return json.dumps([_command(each) for each in known], indent=1) + "\n"


def _may_be_none(parameter: inspect.Parameter) -> bool:
    """Whether None, which is not the default, leaves the choice to the function."""
    return "None" in str(parameter.annotation) and parameter.default is not None


def _command(each: _measures.Measure) -> dict[str, object]:
    options: list[dict[str, object]] = []
    for name, parameter in each.options.items():
        kind, text, flag = OPTIONS.get(name, Option(""))
        needed = parameter.default is parameter.empty
        if kind not in ("", "places"):
            options.append(
                {
                    "name": name,
                    "flag": flag or name,
                    "kind": kind,
                    "help": text,
                    "required": needed,
                    "default": None if needed else parameter.default,
                    "choices": list(each.choices.get(name, ())),
                    "random": kind == "vertices" and "int" in str(parameter.annotation),
                    "automatic": kind == "number" and _may_be_none(parameter),
                    "demand": DEMAND.get(name, "") if each.demand else "",
                }
            )
    return {
        "name": each.name,
        "of": each.of,
        "members": each.members,
        "parts_of": each.parts_of,
        "help": each.text,
        "weights": each.weights,
        "family": each.family,
        "engines": list(_measures.engines(each)),
        "uses": list(each.uses),
        "seed": "generator" in each.options or any(option["random"] for option in options),
        "options": options,
    }


def models() -> str:
    """What the command line says of random and regular graphs, as JSON."""
    return (
        json.dumps(
            [_model(each) for each in map(_generator, generate.__all__) if _is_plain(each)],
            indent=1,
        )
        + "\n"
    )


def _generator(name: str) -> Callable[..., object]:
    function: Callable[..., object] = getattr(generate, name)
    return function


def _is_plain(function: Callable[..., object]) -> bool:
    """Whether all that it needs are numbers."""
    parameters = inspect.signature(function).parameters.values()
    return all(
        x.default is not x.empty or str(x.annotation) in ("int", "float") for x in parameters
    )


def _model(function: Callable[..., object]) -> dict[str, object]:
    parameters = inspect.signature(function).parameters.values()
    return {
        "name": function.__name__,
        "help": _measures.first_sentence(function),
        "options": [
            {
                "name": x.name,
                "type": str(x.annotation).partition(" | ")[0],
                "required": x.default is x.empty,
                "default": None if x.default is x.empty else x.default,
            }
            for x in parameters
            if str(x.annotation) != "bool"
        ],
    }


def measures() -> str:
    """The codes of visitors in C++."""
    names = [visitor.name.lower() for visitor in Visitor]
    codes = [f"  {visitor.name.lower()} = {visitor.value}," for visitor in Visitor]
    return _MEASURES.format(
        codes="\n".join(codes), names="\n".join(f"    Measure::{name}," for name in names)
    )


def reference() -> str:
    """docs/api.rst, with all measures of paths."""
    names = sorted(x.name for x in MEASURES.values() if x.function.__module__.startswith(_PATHS))
    functions = "\n".join(f".. autofunction:: {name}\n" for name in names)
    above, title, below = API.read_text(encoding="utf-8").partition("\nBetweenness\n-----------\n")
    section = below.partition("\nApproximation\n")
    return f"{above}{title}\n{functions}{section[1]}{section[2]}"


FILES = {
    API: reference,
    ROOT / "csrc" / "core" / "measures.h": measures,
    ROOT / "torchcent" / "functional" / "__init__.pyi": stub,
    ROOT / "_torchcent_command" / "measures.json": commands,
    ROOT / "_torchcent_command" / "models.json": models,
}

if __name__ == "__main__":
    for path, text in FILES.items():
        if path.read_text(encoding="utf-8") != text():  # else the kernels would be compiled again
            path.write_text(text(), encoding="utf-8")
