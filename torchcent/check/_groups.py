"""Errors about groups of vertices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._graph import Checked
from torchcent.check._values import dense, integer, wrong_type, wrong_value

_ACCEPTED = "vertex ids, or a list of groups"


def groups(value: object, graph: Checked) -> tuple[list[Tensor], bool]:
    """The vertices of each group, int64 on the graph's device, and whether it is a single group."""
    if isinstance(value, Tensor):
        dense(value, "group")
        if value.dim() != 2:
            return [check.vertices(value, "group", graph, optional=False)], True
        parts: list[Any] = list(value)
    else:
        parts = _listed(value, "group")
        if not any(_is_group(x) for x in parts):
            return [check.vertices(parts, "group", graph, optional=False)], True
    if not parts:
        raise ValueError(f"group must hold {_ACCEPTED}, and is empty")
    members = []
    for number, part in enumerate(parts):
        name = f"group[{number}]"
        if not _is_group(part):
            raise wrong_type(name, "a group, as others are", part)
        each = part if isinstance(part, Tensor) else _listed(part, name)
        members.append(check.vertices(each, name, graph, optional=False))
    return members, False


def _listed(value: object, name: str) -> list[Any]:
    if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must hold {_ACCEPTED}, got {type(value).__name__}")
    try:
        return sorted(value) if isinstance(value, (set, frozenset)) else list(value)
    except Exception as error:  # whatever an object raises that cannot be iterated after all
        raise TypeError(f"{name} must hold {_ACCEPTED}, got {type(value).__name__}") from error


def _is_group(value: object) -> bool:
    """Not a vertex id, such as a tensor without dimensions."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return False
    return bool(getattr(value, "ndim", 1) > 0)


def size(value: object, graph: Checked) -> int:
    """The size of a group to find."""
    k = integer(value, "k")
    if not 1 <= k <= graph.num_nodes:
        raise wrong_value("k", f"from 1 to {graph.num_nodes}, the number of vertices", k)
    return k
