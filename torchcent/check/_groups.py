"""Errors about groups of vertices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._values import dense, integer

if TYPE_CHECKING:
    from torchcent.graph import Graph

_ACCEPTED = "vertex ids, or a list of groups"


def groups(value: object, graph: Graph) -> tuple[list[Tensor], bool]:
    """The vertices of each group, int64 on the graph's device, and whether it is a single group."""
    if isinstance(value, Tensor):
        dense(value, "group")
        if value.dim() != 2:
            return [check.vertices(value, "group", graph)], True
        parts: list[object] = list(value)
    elif isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
        raise TypeError(f"group must hold {_ACCEPTED}, got {type(value).__name__}")
    else:
        parts = sorted(value) if isinstance(value, (set, frozenset)) else list(value)
        if not any(isinstance(x, Iterable) and _is_group(x) for x in parts):
            return [check.vertices(parts, "group", graph)], True
    if not parts:
        raise ValueError(f"group must hold {_ACCEPTED}, and is empty")
    found = []
    for number, part in enumerate(parts):
        if not isinstance(part, Iterable) or not _is_group(part):
            raise TypeError(f"group[{number}] must be a group, as others are, got {part!r}")
        each = sorted(part) if isinstance(part, (set, frozenset)) else part
        if not isinstance(each, Tensor):
            each = list(each)
        found.append(check.vertices(each, f"group[{number}]", graph))
    return found, False


def _is_group(value: object) -> bool:
    """Not a vertex id, such as a tensor without dimensions."""
    return not isinstance(value, (str, bytes)) and getattr(value, "ndim", 1) > 0


def size(value: object, graph: Graph) -> int:
    """The size of a group to find."""
    k = integer(value, "k")
    if not 1 <= k <= graph.num_nodes:
        raise ValueError(f"k must be from 1 to {graph.num_nodes}, the number of vertices, got {k}")
    return k
