"""Checks of the layout of a scipy.sparse matrix, made before any entry is used.

SciPy's compiled loops trust ``indptr`` and ``indices``. Those of a file, or of a matrix whose
arrays were assigned to, may point out of bounds. This module expands them with NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch

#: layout -> the arrays that describe it
ARRAYS = {
    "csr": ("indptr", "indices", "data"),
    "csc": ("indptr", "indices", "data"),
    "bsr": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
    "dia": ("offsets", "data"),
}
LAYOUTS = (*ARRAYS, "lil", "dok")


class Entries(NamedTuple):
    """The stored entries, in the order of the matrix."""

    row: np.ndarray
    col: np.ndarray
    data: np.ndarray


def square(name: str, shape: object) -> int:
    """Checks for a shape (n, n), and returns n."""
    whole = isinstance(shape, tuple) and all(
        isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in shape
    )
    if not isinstance(shape, tuple) or not whole or len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{name} must be square, got shape {shape}")
    if shape[0] < 0:
        raise ValueError(f"{name} must not have a negative shape, got {shape}")
    return int(shape[0])


def weights(name: str, data: np.ndarray) -> torch.Tensor:
    """The values as a new tensor; complex numbers and objects raise TypeError."""
    if data.dtype.kind not in "biuf":
        raise TypeError(f"{name} has values of dtype {data.dtype}; weights are real numbers")
    native = data.dtype.isnative and data.dtype.itemsize <= 8
    return torch.from_numpy(np.array(data) if native else data.astype(np.float64))


def of_matrix(name: str, matrix: Any) -> Entries:
    """The entries of a scipy.sparse matrix or array of any layout."""
    n = square(name, matrix.shape)
    if matrix.format == "lil":
        return _of_lil(name, n, matrix)
    if matrix.format == "dok":
        return _of_dok(name, n, matrix)
    if matrix.format not in ARRAYS:
        raise ValueError(f"{name} has layout {matrix.format!r}; accepted: {', '.join(LAYOUTS)}")
    arrays = {key: getattr(matrix, key, None) for key in ARRAYS[matrix.format]}
    return of_arrays(name, matrix.format, n, arrays)


def of_arrays(name: str, layout: str, n: int, arrays: Mapping[str, Any]) -> Entries:
    """The entries of an n x n matrix, from the arrays of its layout.

    Stored zeros are entries, except in bsr and dia, which store zeros as padding.
    """
    for key in ARRAYS[layout]:
        array = arrays.get(key)
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{name} ({layout}): {key} is no array, got {type(array).__name__}")
        dimensions = 1 if key != "data" else {"bsr": 3, "dia": 2}.get(layout, 1)
        if array.ndim != dimensions:
            raise ValueError(
                f"{name} ({layout}): {key} has shape {list(array.shape)}; "
                f"accepted: {dimensions} dimension{'s' * (dimensions > 1)}"
            )
        if key != "data" and array.dtype.kind not in "iu":
            raise ValueError(
                f"{name} ({layout}): {key} has dtype {array.dtype}; accepted: integers"
            )
    if layout == "coo":
        return _of_coo(name, n, arrays)
    if layout == "dia":
        return _of_dia(name, n, arrays)
    return _of_rows(name, layout, n, arrays)


def _of_coo(name: str, n: int, arrays: Mapping[str, np.ndarray]) -> Entries:
    row, col, data = (arrays[key] for key in ARRAYS["coo"])
    if not len(row) == len(col) == len(data):
        raise ValueError(
            f"{name} (coo): row, col and data have {len(row)}, {len(col)} and {len(data)} entries"
        )
    return Entries(_within(name, "row", row, n), _within(name, "col", col, n), data)


def _of_rows(name: str, layout: str, n: int, arrays: Mapping[str, np.ndarray]) -> Entries:
    """The entries of csr, csc and (in blocks) bsr."""
    indptr, indices, data = (arrays[key] for key in ARRAYS[layout])
    high, wide = data.shape[1:] if layout == "bsr" else (1, 1)
    if high < 1 or wide < 1 or n % high or n % wide:
        raise ValueError(
            f"{name} (bsr): blocks of {high} x {wide} do not divide a matrix of {n} x {n}"
        )
    rows = n // high
    if len(indptr) != rows + 1:
        raise ValueError(
            f"{name} ({layout}): indptr has {len(indptr)} entries; "
            f"accepted: {rows + 1} for a shape of {n} x {n}"
        )
    # compared, not subtracted: differences of unchecked numbers may wrap around
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        wrong = int(np.argmax(indptr[1:] < indptr[:-1])) if indptr[0] == 0 else -1
        raise ValueError(
            f"{name} ({layout}): indptr[{wrong + 1}] is {indptr[wrong + 1]}"
            + ("; accepted: 0" if wrong < 0 else f" after {indptr[wrong]}; it must not fall")
        )
    count = int(indptr[-1])
    if count > len(indices) or count > len(data):
        raise ValueError(
            f"{name} ({layout}): indptr ends with {count}, but there are {len(indices)} indices "
            f"and {len(data)} entries of data"
        )
    minor = _within(name, f"indices ({layout})", indices[:count], n // wide)
    data = data[:count]
    ends = indptr.astype(np.int64)
    major = np.repeat(np.arange(rows), ends[1:] - ends[:-1])
    if layout == "bsr":
        shape = (count, high, wide)
        block, i, j = np.nonzero(data)
        major, minor = major[block] * high + i, minor[block] * wide + j
        return Entries(major, minor, data.reshape(shape)[block, i, j])
    return Entries(major, minor, data) if layout == "csr" else Entries(minor, major, data)


def _of_dia(name: str, n: int, arrays: Mapping[str, np.ndarray]) -> Entries:
    offsets, data = arrays["offsets"], arrays["data"]
    if len(offsets) != len(data):
        raise ValueError(f"{name} (dia): {len(offsets)} offsets, but {len(data)} diagonals in data")
    if len(offsets) and not (-n < offsets.min() and offsets.max() < n):
        wrong = offsets[(offsets <= -n) | (offsets >= n)][0]
        raise ValueError(f"{name} (dia): offset {wrong}; accepted: {1 - n}..{n - 1}")
    if len(np.unique(offsets)) != len(offsets):
        raise ValueError(f"{name} (dia): an offset stands there twice")
    diagonal, col = np.nonzero(data[:, :n])
    row = col - offsets.astype(np.int64)[diagonal]
    inside = (row >= 0) & (row < n)
    diagonal, row, col = diagonal[inside], row[inside], col[inside]
    return Entries(row, col, data[diagonal, col])


def _of_lil(name: str, n: int, matrix: Any) -> Entries:
    rows, data = matrix.rows, matrix.data
    for key, array in (("rows", rows), ("data", data)):
        if not isinstance(array, np.ndarray) or array.shape != (n,):
            raise ValueError(f"{name} (lil): {key} is not an array of {n} lists")
        if not all(isinstance(x, list) for x in array):
            raise ValueError(f"{name} (lil): {key} holds something that is not a list")
    counts = [len(x) for x in rows]
    if counts != [len(x) for x in data]:
        raise ValueError(f"{name} (lil): rows and data have lists of different lengths")
    col = _integers(f"{name} (lil): rows", list(chain.from_iterable(rows)))
    values = _values(f"{name} (lil)", list(chain.from_iterable(data)), matrix.dtype)
    return Entries(np.repeat(np.arange(n), counts), _within(name, "rows (lil)", col, n), values)


def _of_dok(name: str, n: int, matrix: Any) -> Entries:
    keys = list(matrix.keys())
    if not all(isinstance(key, tuple) and len(key) == 2 for key in keys):
        raise ValueError(f"{name} (dok): a key is not a pair (row, column)")
    ends = _integers(f"{name} (dok): keys", list(chain.from_iterable(keys))).reshape(-1, 2)
    row, col = (_within(name, "keys (dok)", ends[:, k], n) for k in (0, 1))
    return Entries(row, col, _values(f"{name} (dok)", list(matrix.values()), matrix.dtype))


def _within(name: str, what: str, ids: np.ndarray, n: int) -> np.ndarray:
    """``ids`` as int64, checked to be in 0..n-1."""
    if len(ids) and (ids.min() < 0 or ids.max() >= n):
        wrong = ids[(ids < 0) | (ids >= n)][0]
        raise ValueError(f"{name}: {what} holds {wrong}; accepted: 0..{n - 1}")
    return ids.astype(np.int64, copy=False)


def _integers(what: str, values: list[Any]) -> np.ndarray:
    if not all(isinstance(x, (int, np.integer)) for x in values):
        raise ValueError(f"{what} holds something that is not an integer")
    try:
        return np.array(values, np.int64)
    except OverflowError:
        raise ValueError(f"{what} holds an integer beyond int64") from None


def _values(what: str, values: list[Any], dtype: np.dtype) -> np.ndarray:
    try:
        return np.array(values, dtype).reshape(len(values))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what}: data that is not {dtype} ({error})") from None
