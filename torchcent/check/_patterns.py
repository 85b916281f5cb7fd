"""Errors about the arguments of substructure counts and colours."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check._graph import Checked
from torchcent.check._values import (
    beside,
    choice,
    dense,
    integer,
    shortened,
    wrong_type,
    wrong_value,
)

_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool)


class Pattern(NamedTuple):
    """A graph that is counted in others, with the argument of NetworkX's generator."""

    kind: str
    size: int


KINDS = ("cycle", "clique", "path", "star")
SMALLEST, LARGEST = 3, 8
_PATTERNS = {
    f"{kind}{size}": Pattern(kind, size)
    for kind in KINDS
    for size in range(SMALLEST, LARGEST + 1)
}  # fmt: skip


def patterns(value: object) -> list[Pattern]:
    """One or more patterns by their names."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not names:
        raise wrong_type("patterns", "a name or a list of names, such as 'cycle6'", value)
    if twice := [name for at, name in enumerate(names) if name in names[:at]]:
        raise ValueError(f"patterns has {shortened(twice[0])} twice; accepted: each once")
    return [_PATTERNS[choice(name, "patterns", tuple(_PATTERNS))] for name in names]


def rounds(value: object) -> int | None:
    """Those of a refinement; None until nothing changes."""
    number = integer(value, "iterations")
    if number < -1:
        raise wrong_value("iterations", ">= 0, or -1 until nothing changes", value)
    return None if number < 0 else number


def labels(value: object, name: str, size: int, graph: Checked) -> Tensor:
    """int64 [size], an integer for every vertex or arc."""
    if not isinstance(value, Tensor):
        raise wrong_type(name, "a torch.Tensor or None", value)
    dense(value, name)
    beside(value, name, graph.device)
    if value.dtype not in _INTEGERS:
        raise TypeError(f"{name} must hold integers, got {value.dtype}")
    if value.shape != (size,):
        raise ValueError(
            f"{name} must have shape [{size}], an integer for each, got {list(value.shape)}"
        )
    return value.to(graph.device, torch.int64)
