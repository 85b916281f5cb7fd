"""Readers for .npz, .npy and .pt, and helpers shared by the readers that call a library."""

from __future__ import annotations

import contextlib
import io
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from torchcent.check import _sparse as check_sparse
from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList, both_directions, number_vertices, of_arrays
from torchcent.io._matrix import finite_weight
from torchcent.io._options import Options
from torchcent.runtime import _pickled


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


def archive_size(archive: zipfile.ZipFile, limits: Budget) -> None:
    """Checks the decompressed size that a zip archive claims; reading never exceeds it."""
    claimed = sum(entry.file_size for entry in archive.infolist())
    limits.allow(claimed, "what the zip archive expands to")


def read_npz(data: bytes, limits: Budget, options: Options) -> EdgeList:
    """Reads a scipy sparse matrix: undirected if symmetric, otherwise directed."""
    path, directed = limits.path, options.directed
    layout, shape, arrays = _npz_arrays(data, limits)
    if len(shape) != 2 or shape[0] != shape[1]:
        sizes = " x ".join(map(str, shape))
        raise ValueError(f"{path}: a {sizes} matrix; an adjacency matrix is square")
    n = limits.vertices(check_sparse.square(path, shape))
    limits.allow(160 * arrays["data"].size, f"{arrays['data'].size} stored entries")
    entries = check_sparse.of_arrays(path, layout, n, arrays)
    weight = None
    if entries.data.dtype != bool and (entries.data != 1).any():
        weight = finite_weight(path, entries.data)
    if directed is None:
        directed = not both_directions(entries.row, entries.col, weight)
    return of_arrays((entries.row, entries.col), weight, None, n, directed)


def _npz_arrays(
    data: bytes, limits: Budget
) -> tuple[str, tuple[int, ...], Mapping[str, np.ndarray]]:
    """The layout, shape and arrays of a file written by scipy.sparse.save_npz."""
    path, what = limits.path, "a scipy sparse matrix in .npz"
    with parsing(path, what):
        archive = zipfile.ZipFile(io.BytesIO(data))
        names = set(archive.namelist())
    archive_size(archive, limits)

    def load(name: str) -> np.ndarray:
        if f"{name}.npy" not in names:
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
    if word == "coo" and "coords.npy" in names:  # some SciPy versions store row and col together
        ends = load("coords")
        arrays = {"row": ends[0], "col": ends[1]} if len(ends) == 2 else {}
        return word, tuple(shape.tolist()), {**arrays, "data": load("data")}
    return word, tuple(shape.tolist()), {name: load(name) for name in check_sparse.ARRAYS[word]}


def npy_array(path: str, data: bytes, what: str) -> np.ndarray:
    """The array of a .npy file, read-only. The header must match the number of bytes."""
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


def read_npy(data: bytes, limits: Budget, options: Options) -> EdgeList:
    """Reads an integer array ``[2, E]`` or ``[E, 2]``; ``[2, 2]`` is read as ``[2, E]``."""
    array = npy_array(limits.path, data, "a .npy array")
    return from_array(limits, array, num_nodes=options.num_nodes, directed=bool(options.directed))


def from_array(
    limits: Budget, array: np.ndarray, *, weight: np.ndarray | None = None, labels: Any = None,
    num_nodes: int | None, directed: bool,
) -> EdgeList:  # fmt: skip
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
        weight = None if weight is None else finite_weight(path, weight)
        size = -1 if num_nodes is None else num_nodes
        return of_arrays(numbers, weight, labels, size, directed)
    except (TypeError, ValueError) as error:  # these messages do not name the file
        message = str(error)
        raise ValueError(message if message.startswith(path) else f"{path}: {message}") from None


def as_ids(path: str, what: str, ids: np.ndarray) -> np.ndarray:
    """Vertex ids as a new int64 array; only integers that fit are accepted."""
    if ids.dtype.kind not in "iu":
        raise ValueError(f"{path}: {what} of dtype {ids.dtype}; vertex ids are integers")
    if ids.dtype.kind == "u" and ids.size and ids.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{path}: id {ids.max()} does not fit into int64")
    return ids.astype(np.int64)


def claimed_count(path: str, value: object) -> int:
    """The number of vertices that a file claims, as an int."""
    if isinstance(value, torch.Tensor) and value.numel() == 1 and not value.is_floating_point():
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{path}: 'num_nodes' is {value!r:.60}; accepted: an int of 0 or more")
    return value


#: Globals that the pickle of a .pt may name. PyTorch's own list for weights_only is longer: it
#: includes calls that allocate memory by a number in the file (bytearray, Tensor) and other
#: layouts.
_NAMED = (
    rb"collections OrderedDict|torch\._utils _rebuild_(tensor_v2|tensor_v3|parameter)|"
    rb"torch (Size|device|\w+Storage|u?int\d+|float\d+|double|bool|bfloat16)|"
    rb"torch\.storage UntypedStorage"
)
_PLAIN = (
    "tensors and plain values only; save a tensor or a dictionary "
    "{'edge_index': ..., 'num_nodes': ...} (of a PyG Data: data.to_dict())"
)


def read_pt(data: bytes, limits: Budget, options: Options) -> EdgeList:
    """Reads a tensor ``[2, E]`` or a dictionary of plain values; no code in it is executed."""
    path, directed, num_nodes = limits.path, options.directed, options.num_nodes
    _check_pickle(data, limits)
    with parsing(path, f"a PyTorch file of {_PLAIN}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
    if isinstance(content, torch.Tensor):
        content = {"edge_index": content}
    if not isinstance(content, dict) or not isinstance(content.get("edge_index"), torch.Tensor):
        raise ValueError(f"{path}: holds neither a tensor nor a dictionary with 'edge_index'")
    weight = content.get("edge_weight")
    count, own, labels = (content.get(key) for key in ("num_nodes", "directed", "labels"))
    if num_nodes is None and count is not None:
        num_nodes = claimed_count(path, count)
    if directed is None and own is not None and not isinstance(own, bool):
        raise ValueError(f"{path}: 'directed' is {own!r:.60}; accepted: True or False")
    if labels is not None and not isinstance(labels, (list, tuple)):
        raise ValueError(f"{path}: 'labels' is of type {type(labels).__name__}; accepted: a list")
    edges = from_array(
        limits,
        _dense(limits, "edge_index", content["edge_index"]),
        weight=None if weight is None else _dense(limits, "edge_weight", weight),
        labels=labels,
        num_nodes=num_nodes,
        directed=bool(own) if directed is None else directed,
    )
    positions, crs = content.get("positions"), content.get("crs")
    if positions is None:
        return edges
    places = torch.from_numpy(_dense(limits, "positions", positions))
    with parsing(path, "a file with positions of its vertices"):
        return replace(edges, positions=places, crs=crs)


def _check_pickle(data: bytes, limits: Budget) -> None:
    """Checks the archive and the calls of its pickle before any of it is loaded."""
    path = limits.path
    with parsing(path, "a PyTorch file"):
        if not data.startswith(b"PK"):
            raise ValueError("no zip archive; files from before PyTorch 1.6 must be saved again")
        archive = zipfile.ZipFile(io.BytesIO(data))
        pickles = [x for x in archive.namelist() if x.rpartition("/")[2] == "data.pkl"]
    archive_size(archive, limits)
    with parsing(path, "a PyTorch file"):
        contents = [archive.read(name) for name in pickles]
    for content in contents:
        limits.allow(40 * len(content), "plain values such as labels")
        with parsing(path, "a PyTorch file"):
            name = _pickled.unexpected(content, _NAMED)
        if name is not None:
            raise ValueError(f"{path}: holds {name}; accepted: {_PLAIN}")


def _dense(limits: Budget, name: str, tensor: Any) -> np.ndarray:
    """A tensor as an array; with strides of 0, few stored numbers can claim any size."""
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"{limits.path}: {name!r} is of type {type(tensor).__name__}, no tensor")
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
        raise ValueError(f"{limits.path}: {name!r} is no dense tensor")
    limits.allow(8 * 8 * tensor.numel(), f"{name!r} of shape {list(tensor.shape)}")
    with parsing(limits.path, "a PyTorch file"):
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.float()
        array: np.ndarray = tensor.detach().resolve_conj().resolve_neg().numpy()
        return array
