"""Writes what is derived from the declarations of measures: `python tools/declare.py`.

The files are for those who must not import PyTorch: type checkers, and the parser of the command
line, of which `--help` and completion take a tenth of a second.
"""

import inspect
import json
from collections.abc import Callable
from pathlib import Path

from torchcent import functional, generate
from torchcent.engines import _measures
from torchcent.engines._measures import MEASURES, OPTIONS

ROOT = Path(__file__).resolve().parents[1]
_HEAD = """\
# Written by tools/declare.py from the declarations of measures.
from collections.abc import Sequence

from torch import Tensor

from torchcent.check._run import Run
from torchcent.distances._profile import DistanceProfile
from torchcent.walks._spectral import Hits

__all__: list[str]
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
        each = MEASURES[name]
        result = each.result.__name__ if each.parts else "Tensor"
        parts.append("\n".join([f"def {name}(", *lines, f") -> {result}: ..."]))
    return "\n".join(parts) + "\n"


def commands() -> str:
    """What the command line says of measures, as JSON; the order is that of its help."""
    known = [each for each in MEASURES.values() if _measures.has_command(each)]
    order = ("paths", "distances", "")
    known.sort(key=lambda each: (each.of == "groups", order.index(each.family), each.weights))
    return json.dumps([_command(each) for each in known], indent=1) + "\n"


def _command(each: _measures.Measure) -> dict[str, object]:
    options: list[dict[str, object]] = []
    for name, parameter in each.options.items():
        kind, text = OPTIONS[name]
        needed = parameter.default is parameter.empty
        if kind:
            options.append(
                {
                    "name": name,
                    "kind": kind,
                    "help": text,
                    "required": needed,
                    "default": None if needed else parameter.default,
                    "choices": list(each.choices.get(name, ())),
                    "random": kind == "vertices" and "int" in str(parameter.annotation),
                }
            )
    return {
        "name": each.name,
        "of": each.of,
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
        json.dumps([_model(getattr(generate, name)) for name in generate.__all__], indent=1) + "\n"
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
        ],
    }


FILES = {
    ROOT / "torchcent" / "functional" / "__init__.pyi": stub,
    ROOT / "_torchcent_command" / "measures.json": commands,
    ROOT / "_torchcent_command" / "models.json": models,
}

if __name__ == "__main__":
    for path, text in FILES.items():
        path.write_text(text(), encoding="utf-8")
