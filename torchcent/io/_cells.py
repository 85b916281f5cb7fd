"""Columns of tables: arrays that can be written, and their values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, Any

import numpy as np
from torch import Tensor

from torchcent.check import _labels as check_labels
from torchcent.check._values import shortened

_CHUNK = 1 << 14


def column_array(name: str, values: Tensor | np.ndarray | Sequence[Any]) -> np.ndarray:
    """The values of a column as numbers or ``str`` objects.

    Raises:
        TypeError, ValueError: they are not one-dimensional and dense; the message has the name.
    """
    array = check_labels.array(values, f"column {name!r}")
    if array.ndim != 1:
        raise ValueError(f"column {name!r} must be one-dimensional, got {list(array.shape)}")
    if array.dtype.kind in "iufO":
        return array
    return objects(map(str, array.tolist()))


def column_arrays(columns: Any, argument: str = "columns") -> dict[str, np.ndarray]:
    """The arrays of a mapping of names to values."""
    if not isinstance(columns, Mapping) or not all(isinstance(x, str) for x in columns):
        raise TypeError(
            f"{argument} must be a mapping of names to values, got {shortened(columns)}"
        )
    return {name: column_array(name, values) for name, values in columns.items()}


def objects(names: Iterable[str]) -> np.ndarray:
    return np.array([*names], object)


def write_items(file: IO[bytes], items: Iterator[str]) -> None:
    """Writes the items of a JSON array, some at a time."""
    before = "\n"
    while part := list(islice(items, _CHUNK)):
        file.write((before + ",\n".join(part)).encode())
        before = ",\n"


def plain(column: np.ndarray) -> list[Any]:
    """Values for JSON, which has neither NaN nor infinity; float32 with its own digits."""
    own = column.dtype == np.float32
    values: list[Any] = [float(str(x)) for x in column] if own else column.tolist()
    if column.dtype.kind != "f":
        return values
    finite = np.isfinite(column).tolist()
    return [x if is_finite else None for x, is_finite in zip(values, finite, strict=True)]
