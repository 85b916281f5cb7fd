"""Errors about the names of vertices."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from torchcent.check import _files as check_files
from torchcent.check._values import shortened, wrong_type


def sequence(labels: object, size: int) -> list[Any]:
    """A name of each vertex."""
    if isinstance(labels, (str, bytes)):
        raise wrong_type("labels", f"{size} names, one of each vertex", labels)
    names = check_files.sequence(labels, "labels")
    if len(names) != size:
        raise ValueError(f"{len(names)} labels; accepted: {size}, one of each vertex")
    return names


def are_distinct(names: Sequence[Any]) -> bool:
    return all(map(_is_hashable, names)) and len(set(names)) == len(names)


def distinct(names: list[Any]) -> None:
    try:
        if len(set(names)) == len(names):
            return
    except TypeError:
        wrong = next(name for name in names if not _is_hashable(name))
        raise wrong_type("labels", "names that can be keys of a dict", wrong) from None
    first: dict[Any, int] = {}
    for vertex, name in enumerate(names):
        other = first.setdefault(name, vertex)
        if other != vertex:
            raise ValueError(
                f"labels: vertices {other} and {vertex} are both called {shortened(name)}; "
                "accepted: a name of its own for each"
            )


def _is_hashable(name: object) -> bool:
    try:
        hash(name)
    except TypeError:
        return False
    return True


def names(value: object) -> list[Any]:
    """Names of vertices that are asked for: a sequence, or one."""
    if isinstance(value, (str, bytes, tuple)) or not hasattr(value, "__iter__"):
        return [value]
    return check_files.sequence(value, "names")


def places(wanted: list[Any], known: Mapping[Any, int] | range) -> list[int]:
    """The vertices of these names."""
    by_name = None if isinstance(known, range) else known
    for name in wanted:
        if not _is_hashable(name) or not _is_in(name, known):
            example = "" if not len(known) else f", such as {shortened(next(iter(known)))}"
            raise ValueError(
                f"names: no vertex is called {shortened(name)}; accepted: labels{example}"
            )
    return [int(name) if by_name is None else by_name[name] for name in wanted]


def _is_in(name: Any, known: Container[Any]) -> bool:
    if isinstance(known, range):
        return isinstance(name, (int, np.integer)) and not isinstance(name, bool) and name in known
    return name in known


def not_stored(name: object) -> ValueError:
    return ValueError(
        f"the label {shortened(name)} cannot be stored; accepted: text, numbers and tuples of them, "
        "or a graph without labels (graph.with_labels(None))"
    )
