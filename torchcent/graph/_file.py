"""Graphs as files of torch.save that can be mapped: the arrays of the CSR, checked in one pass."""

from __future__ import annotations

import os
import secrets
import warnings
import zipfile
from typing import IO, Any, NamedTuple

import torch
from torch import Tensor

from torchcent.check import _weights as check_weights
from torchcent.runtime import _ops, _pickled, _replacing

_FORMAT, _VERSION = "torchcent.Graph", 1
_DTYPES = {
    "rowptr": torch.int64, "col": torch.int32, "weight": torch.float64, "ptr": torch.int64,
}  # fmt: skip
#: All that the pickle of such a file names. PyTorch's own list for weights_only is longer: it
#: includes calls that allocate memory by a number in the file.
_NAMED = rb"collections OrderedDict|torch\._utils _rebuild_tensor_v2|torch (Long|Int|Double)Storage"
_MOST_PICKLED = 2**16  # bytes; names, sizes and a few numbers
# By the codes of csrc/graph/cpu/valid.cpp.
_FAULTS = (
    "", "rowptr decreases, or does not lead from 0 to the number of slots, at row {}",
    "col[{}] is not a vertex", "col[{}] is not above the one before it in its row",
    "col[{}] is a self-loop", "weight[{}] is not finite and > 0",
    "slot {} leads to another graph of the batch", "an arc without its reverse of the same weight",
)  # fmt: skip


class Stored(NamedTuple):
    """The arrays of a graph (see Graph), on the host."""

    rowptr: Tensor
    col: Tensor
    weight: Tensor | None
    ptr: Tensor | None
    directed: bool


def save(path: str, stored: Stored) -> None:
    held = {name: part for name, part in stored._asdict().items() if part is not None}
    with _replacing.replacing(path) as (file, _):
        torch.save({"format": _FORMAT, "version": _VERSION, **held}, file)


def load(path: str) -> Stored:
    """Maps the arrays of a file and checks them."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file")
    if os.path.isdir(path):
        raise _refuse(path, "a directory")
    try:
        with open(path, "rb") as file:
            _check_archive(path, file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = torch.load(path, mmap=True, weights_only=True, map_location="cpu")
    except MemoryError:
        raise MemoryError(f"{path}: not enough memory to read its directory") from None
    except Exception as error:  # whatever a damaged file has PyTorch or zipfile raise
        if str(error).startswith(path) or isinstance(error, PermissionError):
            raise
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise _refuse(path, reason) from None
    stored = _stored(path, content)
    _check_values(path, stored)
    return stored


def _refuse(path: str, reason: str) -> ValueError:
    return ValueError(
        f"{path}: not a file of Graph.save ({reason}); torchcent.read reads the formats of others"
    )


def _check_archive(path: str, file: IO[bytes]) -> None:
    """Checks what a file of torch.save names and where its arrays lie, before any of it is used."""
    if file.read(2) != b"PK":
        raise _refuse(path, "no zip archive")
    archive = zipfile.ZipFile(file)
    size = file.seek(0, 2)
    for entry in archive.infolist():
        plain = entry.compress_type == zipfile.ZIP_STORED and entry.compress_size == entry.file_size
        if not plain or entry.header_offset + entry.file_size > size:
            raise _refuse(path, f"{entry.filename!r:.40} is compressed, or goes beyond the file")
        if entry.filename.rpartition("/")[2] != "data.pkl":
            continue
        if entry.file_size > _MOST_PICKLED:
            raise _refuse(path, f"{entry.file_size} bytes of values beside the arrays")
        if found := _pickled.unexpected(archive.read(entry), _NAMED):
            raise _refuse(path, f"it holds {found}")


def _stored(path: str, content: Any) -> Stored:
    """The arrays, of the right dtypes and shapes."""
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise _refuse(path, "its format is not named")
    if content.get("version") != _VERSION:
        raise _refuse(path, f"version {content.get('version')!r:.20}; known: {_VERSION}")
    parts: dict[str, Tensor | None] = {}
    for name, dtype in _DTYPES.items():
        part = content.get(name)
        if part is None and name in ("weight", "ptr"):
            parts[name] = None
            continue
        if not isinstance(part, Tensor) or part.layout != torch.strided or part.dtype != dtype:
            raise _refuse(path, f"{name} is not a tensor of {dtype}")
        if part.dim() != 1 or not part.is_contiguous() or part.data_ptr() % part.itemsize:
            raise _refuse(path, f"{name} is not one array of numbers")
        parts[name] = part
    rowptr, col, weight, ptr = (parts[name] for name in _DTYPES)
    assert rowptr is not None and col is not None
    if not 1 <= rowptr.numel() <= 2**31 or (weight is not None and weight.shape != col.shape):
        raise _refuse(path, "arrays whose sizes do not go together")
    if not isinstance(content.get("directed"), bool):
        raise _refuse(path, "'directed' is not True or False")
    return Stored(rowptr, col, weight, ptr, content["directed"])


def _check_values(path: str, stored: Stored) -> None:
    """One pass over the slots; symmetry by a sum of hashes with a random key (valid.cpp)."""
    rowptr, col, weight, ptr, directed = stored
    n = rowptr.numel() - 1
    if ptr is not None and (
        ptr.numel() < 1 or ptr[0] != 0 or ptr[-1] != n or bool((ptr[1:] < ptr[:-1]).any())
    ):
        raise _refuse(path, f"ptr does not lead from 0 to {n}")
    if not _ops.available:
        raise RuntimeError("Graph.load needs torchcent's compiled library, which is not there")
    key = secrets.randbits(63)
    fault, place = _ops.ops.stored_fault(
        rowptr, col, weight, ptr, not directed, key, torch.get_num_threads()
    ).tolist()
    if fault:
        raise _refuse(path, _FAULTS[fault].format(place))
    if weight is not None and weight.numel():
        try:
            check_weights.summable(float(weight.max()), n)
        except ValueError as error:
            raise _refuse(path, str(error)) from None
