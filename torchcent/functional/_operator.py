"""The operator of all measures, with its shape and without a gradient."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _weights as check_weights
from torchcent.check._run import Run, quiet
from torchcent.engines.measures._measures import MEASURES, OPTIONS, Measure

# Kernels read sizes back from the device, which a CUDA graph cannot record: torch.compile splits
# its CUDA graphs there.
_TAGS = (torch.Tag.cudagraph_unsafe,)
_SCHEMA = """(
    str measure, Tensor edge_index, Tensor? edge_weight, Tensor? batch, SymInt num_nodes,
    bool? directed, Tensor?[] tensors, float[] numbers, SymInt[] counts, str words,
    ScalarType dtype, str engine
) -> Tensor"""
#: how each kind of argument travels; a number may be absent (NaN), a flag is a word
_LIST_OF = {
    "vertices": "tensors", "values": "tensors", "value": "tensors", "group": "tensors",
    "number": "numbers", "lengths": "numbers", "count": "counts", "flag": "words", "word": "words",
    "columns": "words",
}  # fmt: skip
_MAY_BE_ABSENT = ("lengths", "number")


def kinds(each: Measure) -> dict[str, str]:
    """The kinds of the arguments that a measure has as an operator.

    Arguments that change the shape of the result by what they hold are left out.
    """
    names = [name for name in each.options if name not in each.not_in_models]
    return {name: OPTIONS[name].kind for name in names if OPTIONS[name].kind}


def lists(
    kinds: dict[str, str], options: dict[str, Any]
) -> tuple[list[Any], list[Any], list[Any], str]:
    """The arguments as the operator takes them."""
    of: dict[str, list[Any]] = {"tensors": [], "numbers": [], "counts": [], "words": []}
    for name, kind in kinds.items():
        value = options[name]
        is_absent = kind in _MAY_BE_ABSENT and value is None
        of[_LIST_OF[kind]].append(math.nan if is_absent else value)
    return of["tensors"], of["numbers"], of["counts"], " ".join(map(str, of["words"]))


def _options(
    each: Measure, tensors: Sequence[Tensor | None], numbers: Sequence[float],
    counts: Sequence[int], words: str,
) -> dict[str, Any]:  # fmt: skip
    """The arguments of the function: what :func:`lists` was made of."""
    of: dict[str, list[Any]] = {
        "tensors": list(tensors), "numbers": list(numbers), "counts": list(counts),
        "words": words.split(" "),
    }  # fmt: skip
    options: dict[str, Any] = {}
    for name, kind in kinds(each).items():
        value = of[_LIST_OF[kind]].pop(0)
        if kind == "flag":
            value = value == "True"
        elif kind == "columns":
            value = value.split(",")
        elif kind in _MAY_BE_ABSENT and math.isnan(value):
            value = None
        options[name] = value
    return options


@torch.library.custom_op("torchcent::scores", mutates_args=(), schema=_SCHEMA, tags=_TAGS)
def scores(
    measure: str, edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None,
    num_nodes: int, directed: bool | None, tensors: Sequence[Tensor | None],
    numbers: Sequence[float], counts: Sequence[int], words: str, dtype: torch.dtype, engine: str,
) -> Tensor:  # fmt: skip
    """Of vertices [n] or [n, k], of edges [E], of groups [] or [g]."""
    each, run = MEASURES[measure], quiet()
    if "dtype" in each.uses:
        run |= Run(dtype=dtype)
    if engine != "auto":
        run |= Run(engine=engine)
    graph = {
        "edge_index": edge_index, "edge_weight": edge_weight, "batch": batch,
        "num_nodes": num_nodes, "directed": directed,
    }  # fmt: skip
    result = each.function(
        **{name: value for name, value in graph.items() if name in each.parameters},
        **_options(each, tensors, numbers, counts, words),
        run=run,
    )
    return result.contiguous() if isinstance(result, Tensor) else torch.stack(result, dim=1)


@scores.register_fake
def _(
    measure: str, edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None,
    num_nodes: int, directed: bool | None, tensors: Sequence[Tensor | None],
    numbers: Sequence[float], counts: Sequence[int], words: str, dtype: torch.dtype, engine: str,
) -> Tensor:  # fmt: skip
    each = MEASURES[measure]
    options = _options(each, tensors, numbers, counts, words)
    if each.of == "edges":
        return edge_index.new_empty(edge_index.shape[1], dtype=dtype)
    if each.of == "groups":
        return edge_index.new_empty(options["group"].shape[:-1], dtype=dtype)
    width = len(each.parts) or (each.width(options) if each.width else None)
    columns = () if width is None else (width,)
    return edge_index.new_empty((num_nodes, *columns), dtype=dtype)


def _no_backward(*_: Any) -> None:
    """Reports weights that require grad when the operator is called directly."""
    raise NotImplementedError(check_weights.NO_GRADIENT)


scores.register_autograd(_no_backward)
