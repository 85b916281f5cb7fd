"""Readers for .npz and .npy, and helpers shared by the readers that call a library."""

from __future__ import annotations

import contextlib
import io
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from torchcent.check import _sparse as check_sparse
from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList, number_vertices
from torchcent.io._matrix import finite_weight


@contextlib.contextmanager
def parsing(path: str, what: str) -> Iterator[None]:
    """Converts any exception that a library's parser raises on damaged bytes to ValueError."""
    try:
        yield
    except MemoryError as error:
        if str(error).startswith(path):  # the budget's own error, which gives both sizes
            raise
        raise MemoryError(f"{path}: not enough memory to read it as {what}") from None
    except Exception as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise ValueError(f"{path}: not {what} ({reason})") from None


def archive_size(path: str, archive: zipfile.ZipFile, limits: Budget) -> None:
    """Checks the decompressed size that a zip archive claims; reading never exceeds it."""
    claimed = sum(entry.file_size for entry in archive.infolist())
    limits.allow(claimed, "what the zip archive expands to")


def read_npz(path: str, data: bytes, directed: bool | None, limits: Budget) -> EdgeList:
    """Reads a scipy sparse matrix: undirected if symmetric, otherwise directed."""
    import scipy.sparse

    layout, shape, arrays = _npz_arrays(path, data, limits)
    if len(shape) != 2 or shape[0] != shape[1]:
        sizes = " x ".join(map(str, shape))
        raise ValueError(f"{path}: a {sizes} matrix; an adjacency matrix is square")
    n = limits.vertices(check_sparse.square(path, shape))
    limits.allow(160 * arrays["data"].size, f"{arrays['data'].size} stored entries")
    entries = check_sparse.of_arrays(path, layout, n, arrays)
    weight = None
    if entries.data.dtype != bool and (entries.data != 1).any():
        weight = torch.from_numpy(np.array(finite_weight(path, entries.data)))
    if directed is None:
        ends = (entries.row, entries.col)
        # explicit zeros are edges, too
        pattern = scipy.sparse.csr_array((np.ones(len(entries.row), bool), ends), (n, n))
        directed = bool((pattern != pattern.T).nnz)
        if weight is not None and not directed:
            matrix = scipy.sparse.csr_array((weight.numpy(), ends), (n, n))
            directed = bool((matrix != matrix.T).nnz)
    index = torch.from_numpy(np.stack([entries.row, entries.col]))
    return EdgeList(index, weight, None, n, directed)


def _npz_arrays(
    path: str, data: bytes, limits: Budget
) -> tuple[str, tuple[int, ...], Mapping[str, np.ndarray]]:
    """Returns the layout, shape and arrays of a file written by scipy.sparse.save_npz."""
    what = "a scipy sparse matrix in .npz"
    with parsing(path, what):
        archive = zipfile.ZipFile(io.BytesIO(data))
        known = set(archive.namelist())
    archive_size(path, archive, limits)

    def load(name: str) -> np.ndarray:
        if f"{name}.npy" not in known:
            raise ValueError(f"{path}: not {what} (it has no array {name!r})")
        with parsing(path, what):
            content = archive.read(f"{name}.npy")
        return npy_array(path, content, what)

    layout = load("format")
    if layout.ndim or layout.dtype.kind not in "SU":
        raise ValueError(f"{path}: not {what} (its 'format' is not a string)")
    word = layout.item()
    word = word.decode("ascii", "replace") if isinstance(word, bytes) else word
    if word not in check_sparse.ARRAYS:
        accepted = ", ".join(check_sparse.ARRAYS)
        raise ValueError(f"{path}: not {what} (layout {word!r}; accepted: {accepted})")
    shape = load("shape")
    if shape.dtype.kind not in "iu" or shape.ndim != 1:
        raise ValueError(f"{path}: not {what} (its shape is not a list of integers)")
    if word == "coo" and "coords.npy" in known:  # some SciPy versions store row and col together
        ends = load("coords")
        arrays = {"row": ends[0], "col": ends[1]} if len(ends) == 2 else {}
        return word, tuple(shape.tolist()), {**arrays, "data": load("data")}
    return word, tuple(shape.tolist()), {name: load(name) for name in check_sparse.ARRAYS[word]}


def npy_array(path: str, data: bytes, what: str) -> np.ndarray:
    """Returns the array of a .npy file, read-only. The header must match the number of bytes."""
    file = io.BytesIO(data)
    with parsing(path, what):
        version = np.lib.format.read_magic(file)
        header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers written by Python 2
            shape, fortran, dtype = header(file)
        if dtype.hasobject:
            raise ValueError("it holds Python objects, which are not read")
        size = dtype.itemsize
        for length in shape:
            size *= int(length)
        if min(shape, default=0) < 0 or size != len(data) - file.tell():
            raise ValueError(
                f"its header says {list(shape)} of {dtype}, {size} bytes, "
                f"but {len(data) - file.tell()} follow"
            )
        array = np.frombuffer(data, dtype, offset=file.tell())
        return array.reshape(shape, order="F" if fortran else "C")


def read_npy(
    path: str, data: bytes, directed: bool | None, num_nodes: int | None, limits: Budget
) -> EdgeList:
    """Reads an integer array ``[2, E]`` or ``[E, 2]``; ``[2, 2]`` is read as ``[2, E]``."""
    array = npy_array(path, data, "a .npy array")
    return from_array(limits, array, None, None, num_nodes, bool(directed))


def from_array(
    limits: Budget,
    array: np.ndarray,
    weight: np.ndarray | None,
    labels: Any,
    num_nodes: int | None,
    directed: bool,
) -> EdgeList:
    path = limits.path
    if array.ndim != 2 or 2 not in array.shape:
        raise ValueError(f"{path}: shape {list(array.shape)}; accepted: [2, E] or [E, 2]")
    limits.allow(8 * 8 * array.size, f"ids of shape {list(array.shape)}")
    index = as_ids(path, "ids", array if array.shape[0] == 2 else array.T)
    if weight is not None and weight.shape != (index.shape[1],):
        raise ValueError(f"{path}: {list(weight.shape)} weights for {index.shape[1]} edges")
    if labels is None:
        numbers, labels, num_nodes = number_vertices(limits, index, num_nodes=num_nodes)
    else:
        numbers = torch.from_numpy(np.ascontiguousarray(index))
        if num_nodes is not None:
            limits.vertices(num_nodes)
    try:
        return EdgeList(
            numbers,
            None if weight is None else torch.from_numpy(finite_weight(path, weight)),
            labels,
            -1 if num_nodes is None else num_nodes,
            directed,
        )
    except (TypeError, ValueError) as error:  # these messages do not name the file
        message = str(error)
        raise ValueError(message if message.startswith(path) else f"{path}: {message}") from None


def as_ids(path: str, what: str, ids: np.ndarray) -> np.ndarray:
    """Returns vertex ids as a new int64 array; only integers that fit are accepted."""
    if ids.dtype.kind not in "iu":
        raise ValueError(f"{path}: {what} of dtype {ids.dtype}; vertex ids are integers")
    if ids.dtype.kind == "u" and ids.size and ids.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{path}: id {ids.max()} does not fit into int64")
    return ids.astype(np.int64)


def claimed_count(path: str, value: object) -> int:
    """Returns the number of vertices that a file claims, as an int."""
    if isinstance(value, torch.Tensor) and value.numel() == 1 and not value.is_floating_point():
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{path}: 'num_nodes' is {value!r:.60}; accepted: an int of 0 or more")
    return value
