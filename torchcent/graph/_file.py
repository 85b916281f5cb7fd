"""Graphs as files and pickles: the arrays of the CSR, checked in one pass.

A file of Graph.save is a dictionary of arrays that can be mapped. A pickled Graph, as within a file
of torch.save, holds the same dictionary and the slots of its columns.
"""

from __future__ import annotations

import os
import secrets
import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from typing import IO, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _values as check_values
from torchcent.check import _weights as check_weights
from torchcent.graph import _csr, _labels
from torchcent.graph._contraction import Contraction
from torchcent.graph._strengths import Strengths
from torchcent.graph._weights import DECIMAL, Ties
from torchcent.runtime import _memory, _ops, _pickled, _replacing, _small

_FORMAT = "torchcent.Graph"
# 2 has the strengths of parallel arcs and loops, and 3 names, which earlier readers would lose.
_VERSIONS = (1, 2, 3)
_DTYPES = {
    "rowptr": torch.int64, "col": torch.int32, "weight": torch.float64, "ptr": torch.int64,
    "counts": torch.float64, "loops": torch.float64,
    "strengths": torch.float64, "loop_strengths": torch.float64, "order": torch.int32,
}  # fmt: skip
_NEEDED = ("rowptr", "col")
#: All that the pickle of such a file names. PyTorch's own list for weights_only is longer: it
#: includes calls that allocate memory by a number in the file.
_NAMED = (
    rb"collections OrderedDict|torch\._utils _rebuild_tensor_v2|"
    rb"torch (Long|Int|Double|Byte)Storage"
)
_MOST_PICKLED = 2**16  # bytes; names, sizes and a few numbers
# By the codes of csrc/graph/cpu/valid.cpp.
_FAULTS = (
    "", "rowptr decreases, or does not lead from 0 to the number of slots, at row {}",
    "col[{}] is not a vertex", "col[{}] is not above the one before it in its row",
    "col[{}] is a self-loop", "weight[{}] is not finite and > 0",
    "slot {} leads to another graph of the batch", "an arc without its reverse of the same weight",
)  # fmt: skip


class Stored(NamedTuple):
    """The arrays of a graph, on the host: see Graph; _strengths.py for the last four."""

    rowptr: Tensor
    col: Tensor
    weight: Tensor | None
    ptr: Tensor | None
    directed: bool
    counts: Tensor | None = None
    loops: Tensor | None = None
    strengths: Tensor | None = None
    loop_strengths: Tensor | None = None
    order: Tensor | None = None
    ties: Ties = DECIMAL
    labels: np.ndarray | None = None

    def held(self) -> dict[str, Any]:
        """What is stored, with the format and its version."""
        parts = {name: part for name, part in self._asdict().items() if part is not None}
        del parts["ties"]
        parts.pop("labels", None)
        if self.ties != DECIMAL:
            parts |= {"ties": self.ties.sums, "tie_tolerance": self.ties.tolerance}
        version = 1 if all(part is None for part in self[5:9]) else 2
        if self.labels is not None:
            version, parts = 3, parts | _labels.stored(self.labels)
        return {"format": _FORMAT, "version": version, **parts}

    def each(self, change: Callable[[Tensor], Tensor]) -> Stored:
        parts: Any = (change(x) if isinstance(x, Tensor) else x for x in self)
        return Stored(*parts)

    def made(self) -> dict[str, Any]:
        """Arguments for the constructor of a Graph."""
        return {
            "directed": self.directed, "weight": self.weight, "ptr": self.ptr,
            "_multiplicity": Strengths(self.counts, self.loops),
            "_sums": Strengths(self.strengths, self.loop_strengths),
            "_repeated": self.counts is not None or self.loops is not None,
            "_contraction": Contraction(self.rowptr, self.col, self.order), "_ties": self.ties,
            "_labels": self.labels,
        }  # fmt: skip


def save(path: str, stored: Stored) -> None:
    with _replacing.replacing(path) as (file, _):
        torch.save(stored.held(), file)


def load(path: str) -> Stored:
    """Maps the arrays of a file and checks them."""
    refuse = partial(_refuse, path)
    return restored(refuse, content(path, refuse, _NAMED))


def content(
    path: str, refuse: Callable[[str], ValueError], named: bytes, *,
    most: int = _MOST_PICKLED, mapped: bool = True,
) -> Any:  # fmt: skip
    """What is in a file of torch.save: arrays, and at most so many bytes of plain values.

    `named` is what the pickle may name, as a pattern. Arrays that are not mapped are compared with
    their checksums. Messages of `refuse` begin with the path.
    """
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file")
    if os.path.isdir(path):
        raise refuse("a directory")
    try:
        with open(path, "rb") as file:
            _check_archive(file, refuse, named, most, not mapped)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, mmap=mapped, weights_only=True, map_location="cpu")
    except MemoryError:
        raise MemoryError(f"{path}: not enough memory to read its directory") from None
    except Exception as error:  # whatever a damaged file has PyTorch or zipfile raise
        own = str(error).startswith(path) or isinstance(error, PermissionError)
        if own or (not mapped and _memory.ran_out(str(error))):
            raise
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise refuse(reason) from None


def restored(refuse: Callable[[str], ValueError], content: Any) -> Stored:
    """The arrays of a graph among the values of a file, checked."""
    stored = _stored(refuse, content)
    _check_values(refuse, stored)
    return stored


def pickled(stored: Stored, slot: Tensor | None) -> dict[str, Any]:
    """What is pickled of a graph; `slot` is None if the columns of the graph are its slots."""
    return stored.held() | ({} if slot is None else {"slot": slot})


def unpickled(content: Any) -> tuple[Stored, Tensor | None]:
    """Copies and checks what was pickled, which may come from anyone.

    Copies, because the same pickle may hold other tensors that share memory with the arrays.
    """
    values = content.values() if isinstance(content, dict) else ()
    tensors = [part for part in values if isinstance(part, Tensor)]
    for part in tensors:
        check_values.dense(part, "every array of a pickled torchcent.Graph")
    if len({part.device for part in tensors}) > 1:
        raise _refuse_pickle("arrays on several devices")
    stored, slot = _stored(_refuse_pickle, content), content.get("slot")
    stored = stored.each(lambda part: part.detach().clone())
    _check_values(_refuse_pickle, stored.each(Tensor.cpu))
    if slot is None:
        return stored, None
    if not isinstance(slot, Tensor) or slot.dtype != torch.int64 or slot.dim() != 1:
        raise _refuse_pickle("slot is not one array of torch.int64")
    if not slot.is_contiguous():
        raise _refuse_pickle("slot is not one array of numbers")
    slot = slot.detach().clone()
    if slot.numel():
        low, high = torch.stack(torch.aminmax(slot)).tolist()
        if low < -1 or high >= stored.col.numel():
            raise _refuse_pickle("a column has no such slot")
    return stored, slot


def _refuse_pickle(reason: str) -> ValueError:
    return ValueError(f"not a pickled torchcent.Graph ({reason})")


def _refuse(path: str, reason: str) -> ValueError:
    return ValueError(
        f"{path}: not a file of Graph.save ({reason}); torchcent.read reads the formats of others"
    )


def _check_archive(
    file: IO[bytes], refuse: Callable[[str], ValueError], named: bytes, most: int, whole: bool
) -> None:
    """Checks what a file of torch.save names and where its arrays lie, before any of it is used."""
    if file.read(2) != b"PK":
        raise refuse("no zip archive")
    archive = zipfile.ZipFile(file)
    size = file.seek(0, 2)
    for entry in archive.infolist():
        plain = entry.compress_type == zipfile.ZIP_STORED and entry.compress_size == entry.file_size
        if not plain or entry.header_offset + entry.file_size > size:
            raise refuse(f"{entry.filename!r:.40} is compressed, or goes beyond the file")
        if entry.filename.rpartition("/")[2] != "data.pkl":
            continue
        if entry.file_size > most:
            raise refuse(f"{entry.file_size} bytes of values beside the arrays")
        if names := _pickled.unexpected(archive.read(entry), named):
            raise refuse(f"it holds {names}")
    if whole and (damaged := archive.testzip()) is not None:
        raise refuse(f"the checksum of {damaged} differs")


def _stored(refuse: Callable[[str], ValueError], content: Any) -> Stored:
    """The arrays, of the right dtypes and shapes."""
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise refuse("its format is not named")
    if content.get("version") not in _VERSIONS:
        versions = ", ".join(map(str, _VERSIONS))
        raise refuse(f"version {content.get('version')!r:.20}; known: {versions}")
    parts: dict[str, Tensor | None] = {}
    for name, dtype in _DTYPES.items():
        part = content.get(name)
        if part is None and name not in _NEEDED:
            parts[name] = None
            continue
        if not isinstance(part, Tensor) or part.layout != torch.strided or part.dtype != dtype:
            raise refuse(f"{name} is not a tensor of {dtype}")
        if part.dim() != 1 or not part.is_contiguous() or part.data_ptr() % part.itemsize:
            raise refuse(f"{name} is not one array of numbers")
        parts[name] = part
    rowptr, col, weight, ptr, counts, loops, strengths, of_loops, order = parts.values()
    assert rowptr is not None and col is not None
    sizes = [x is None or x.shape == col.shape for x in (weight, counts, strengths)]
    sizes += [x is None or x.numel() == rowptr.numel() - 1 for x in (loops, of_loops, order)]
    if not 1 <= rowptr.numel() <= 2**31 or not all(sizes):
        raise refuse("arrays whose sizes do not go together")
    if not isinstance(content.get("directed"), bool):
        raise refuse("'directed' is not True or False")
    if weight is None and (strengths is not None or of_loops is not None):
        raise refuse("strengths without weights")
    ties = Ties(content.get("ties", "decimal"), content.get("tie_tolerance", 0.0))
    if not isinstance(ties.tolerance, float) or not 0 <= ties.tolerance < 1:
        raise refuse("tie_tolerance is not in [0, 1)")
    if ties.sums not in ("decimal", "float"):
        raise refuse("ties are not 'decimal' or 'float'")
    of_columns = counts, loops, strengths, of_loops
    return Stored(
        rowptr, col, weight, ptr, content["directed"], *of_columns, order=order, ties=ties,
        labels=_labels.restored(content, rowptr.numel() - 1, refuse),
    )  # fmt: skip


def _check_values(refuse: Callable[[str], ValueError], stored: Stored) -> None:
    """One pass over the slots; symmetry by a sum of hashes with a random key (valid.cpp)."""
    rowptr, _, weight, ptr, *_ = stored
    n = rowptr.numel() - 1
    if ptr is not None and (
        ptr.numel() < 1 or ptr[0] != 0 or ptr[-1] != n or bool((ptr[1:] < ptr[:-1]).any())
    ):
        raise refuse(f"ptr does not lead from 0 to {n}")
    for name in ("weight", "counts", "strengths"):
        values = getattr(stored, name)
        if values is None and name != "weight":
            continue
        fault, place = _fault_of(stored._replace(weight=values))
        if fault:
            raise refuse(_FAULTS[fault].format(place).replace("weight", name))
    for name in ("loops", "loop_strengths"):
        values = getattr(stored, name)
        if values is not None and not (torch.isfinite(values) & (values >= 0)).all():
            raise refuse(f"{name} are not finite and >= 0")
    if stored.order is not None and not _is_permutation(stored.order):
        raise refuse("order does not have each vertex once")
    if weight is not None and weight.numel():
        try:
            check_weights.summable(float(weight.max()), n)
        except ValueError as error:
            raise refuse(str(error)) from None


def _is_permutation(order: Tensor) -> bool:
    if not order.numel():
        return True
    low, high = torch.stack(torch.aminmax(order)).tolist()
    if low < 0 or high >= order.numel():
        return False
    return int(torch.bincount(order, minlength=order.numel()).max()) == 1


def _fault_of(stored: Stored) -> tuple[int, int]:
    """The first fault of the arcs and their weights, and its place."""
    if not _ops.available:
        return _fault(stored)
    rowptr, col, weight, ptr, directed, *_ = stored
    key = secrets.randbits(63)
    fault, place = _ops.ops.stored_fault(
        rowptr, col, weight, ptr, not directed, key, torch.get_num_threads()
    ).tolist()
    return fault, place


def _fault(stored: Stored) -> tuple[int, int]:
    """The same by tensors: where there is no compiled code."""
    rowptr, col, weight, ptr, directed, *_ = stored
    n, m = rowptr.numel() - 1, col.numel()
    ascends = torch.cat([rowptr[:1] == 0, rowptr[1:] >= rowptr[:-1], rowptr[-1:] == m])
    if not ascends.all():
        return 1, max(int((~ascends).int().argmax()) - 1, 0)
    row, head = _csr.rows(rowptr), col.long()
    wrong = [(2, (head < 0) | (head >= n))]
    wrong.append((3, ((row[1:] == row[:-1]) & (head[1:] <= head[:-1]))))
    wrong.append((4, row == head))
    if weight is not None:
        wrong.append((5, ~(torch.isfinite(weight) & (weight > 0))))
    for fault, places in wrong:
        if places.any():
            return fault, int(places.int().argmax()) + (fault == 3)
    if ptr is not None:
        graph = _small.repeat_interleave(ptr.diff(), output_size=n)
        if (leaving := graph[row] != graph[head]).any():
            return 6, int(leaving.int().argmax())
    if not directed:
        back = torch.argsort(head, stable=True)  # the arcs by head and, within one, by row
        mutual = torch.equal(head[back], row) and torch.equal(row[back], head)
        if not mutual or (weight is not None and not torch.equal(weight[back], weight)):
            return 7, 0
    return 0, 0
