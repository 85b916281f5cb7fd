"""Errors about the names of vertices."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _files as check_files
from torchcent.check._values import dense, shortened, wrong_type


def sequence(labels: object, size: int) -> list[Any]:
    """A name of each vertex."""
    if isinstance(labels, (str, bytes)):
        raise wrong_type("labels", f"{size} names, one of each vertex", labels)
    names = check_files.sequence(labels, "labels")
    if len(names) != size:
        raise ValueError(f"{len(names)} labels; accepted: {size}, one of each vertex")
    return names


def are_distinct(names: Sequence[Any]) -> bool:
    """Whether no two are the same; what cannot be the key of a dict is not."""
    try:
        return len(set(names)) == len(names)
    except TypeError:
        return False


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
    """Labels of vertices that are asked for: a sequence, or one."""
    if isinstance(value, (str, bytes, tuple)) or not hasattr(value, "__iter__"):
        return [value]
    return check_files.sequence(value, "labels")


def places(wanted: list[Any], known: Mapping[Any, int] | range) -> list[int]:
    """The vertices of these names."""
    by_name = None if isinstance(known, range) else known
    for name in wanted:
        if not _is_hashable(name) or not _is_in(name, known):
            example = "" if not len(known) else f", such as {shortened(next(iter(known)))}"
            what = f"labels: no vertex is called {shortened(name)}"
            raise ValueError(f"{what}; accepted: those of the graph{example}")
    return [int(name) if by_name is None else by_name[name] for name in wanted]


def _is_in(name: Any, known: Container[Any]) -> bool:
    if isinstance(known, range):
        return isinstance(name, (int, np.integer)) and not isinstance(name, bool) and name in known
    return name in known


def not_stored(name: object) -> ValueError:
    return ValueError(
        f"the label {shortened(name)} cannot be stored; accepted: text, numbers and tuples of "
        "them, or a graph without labels (graph.with_labels(None))"
    )


def of_others(value: Any) -> np.ndarray | None:
    """The labels of an EdgeList, of a Graph or of a sequence, int64 or text; None for a str."""
    if value is None or isinstance(value, str):
        return None
    if hasattr(value, "num_nodes") and hasattr(value, "labels"):
        own = value.labels
        value = range(value.num_nodes) if own is None else own
    known = check_files.sequence(value, "labels")
    kinds = set(map(type, known))
    if not known or kinds == {str}:
        distinct(known)
        return np.array([*known, None], object)[:-1]
    if any(issubclass(kind, bool) or not issubclass(kind, (int, np.integer)) for kind in kinds):
        accepted = "an EdgeList, a Graph, or labels that are all text or all integers"
        raise wrong_type("labels", f"the name of an attribute, {accepted}", value)
    distinct(known)
    try:
        return np.array(known, np.int64)
    except OverflowError:
        raise ValueError("labels holds an integer beyond int64; pass text") from None


def array(value: Any, name: str) -> np.ndarray:
    """The values of a column, in NumPy's types; complex numbers are none."""
    accepted = "a tensor, an array or a sequence of real numbers or names"
    if isinstance(value, Tensor):
        dense(value, name)
        value = value.detach().cpu()
        value = value.float() if value.dtype == torch.bfloat16 else value
    try:
        values = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
    except (TypeError, ValueError):  # types that NumPy has not; lists of different lengths
        raise wrong_type(name, accepted, value) from None
    if values.dtype.kind == "c":
        raise wrong_type(name, accepted, value)
    return np.asarray(values)


def column(value: Any, name: str, size: int) -> np.ndarray:
    """A column of a table: a number of each vertex, or whatever."""
    values = array(value, name)
    if values.shape != (size,):
        raise ValueError(
            f"{name} has shape {list(values.shape)}; accepted: [{size}], a value of each vertex"
        )
    return values.astype(object) if values.dtype.kind in "US" else values


def rows(value: object) -> int:
    """How many rows of a table are wanted."""
    return check_files.count(value, "top")


def ranked(value: object, usual: Sequence[str], known: Container[str]) -> Sequence[str]:
    """The columns of a table to rank: the usual ones, none, or those that are named."""
    if isinstance(value, bool):
        return usual if value else ()
    if not isinstance(value, (list, tuple)) or not all(isinstance(x, str) for x in value):
        raise wrong_type("ranks", "True, False or a list of names of columns", value)
    for name in value:
        if name not in known:
            raise ValueError(f"ranks names {shortened(name)}, which is no column of the table")
    return value


def whole_numbers(value: Any, name: str) -> np.ndarray:
    """int64 [n] from a tensor, an array or a sequence; floats that are whole are accepted."""
    try:
        array = np.asarray(check_files.sequence(value, name))
    except ValueError:  # of sequences of different lengths
        raise wrong_type(name, "whole numbers [n]", value) from None
    whole = array.dtype.kind in "iu" or (array.dtype.kind == "f" and (array == array // 1).all())
    if array.size and (array.ndim != 1 or not whole):
        raise wrong_type(name, "whole numbers [n]", value)
    return array.reshape(-1).astype(np.int64)
