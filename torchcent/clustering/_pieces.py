"""An iteration in pieces: the next flow is computed some columns at a time, and kept elsewhere.

On the CPU, flows are in temporary files, which are mapped. On an accelerator they are in the memory
of the host, and each piece takes the columns of the flow with it that it refers to.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from torchcent.clustering import _tensor
from torchcent.clustering._flow import Flow, pointers
from torchcent.clustering._rules import Rules, Share, step_memory

ENTRY = 8  # bytes of an entry: row and value
COLUMNS = 16  # that are dealt together (mcl.cpp)
# A piece exists twice: in the order in which its columns are finished, and packed. On CUDA its
# columns are also as wide as the longest, or counted first.
COPIES = 2

#: computes a share of a flow in so many bytes; None if they are too few
Compute = Callable[[Flow, Share, int], tuple[Flow, Tensor] | None]


def iterate(
    flow: Flow, rules: Rules, compute: Compute, room: int, device: torch.device, consecutive: bool
) -> tuple[Flow, Tensor] | None:
    """The next flow, which is stored, and its summary; None if a piece does not fit.

    Args:
        flow: on the device or on the host.
        room: bytes for a piece, and for the columns that it takes with it.
        consecutive: whether shares are consecutive columns (`_rules.columns_of`).
    """
    most = step_memory(flow, rules)
    if consecutive:
        return _of_columns(flow, rules, most, compute, room, device)
    batches = math.ceil(flow.num_nodes / COLUMNS)
    parts = min(math.ceil(COPIES * ENTRY * int(most.sum()) / max(room, 1)), batches)
    while True:
        found = _of_shares(flow, parts, compute, room // COPIES)
        if found is not None or parts == batches:
            return found
        parts = min(2 * parts, batches)  # shares are equal in products, not in entries


def _of_shares(flow: Flow, parts: int, compute: Compute, room: int) -> tuple[Flow, Tensor] | None:
    store, told = _Files(flow.num_nodes), []
    for part in range(parts):
        found = compute(flow, (part, part + 1, parts), room)
        if found is None:
            return None
        store.add(found[0])
        told.append(found[1])
    return store.flow(), _tensor.combine(torch.stack(told))


def _of_columns(
    flow: Flow, rules: Rules, most: Tensor, compute: Compute, room: int, device: torch.device
) -> tuple[Flow, Tensor] | None:
    n = flow.num_nodes
    store, told = _Host(n), []
    held = flow.compact().to(torch.device("cpu"))
    for first, last in _ranges(held, rules, most.cpu(), room, 0, n):
        taken = _taken(held, _needed(held, rules, first, last)).to(device)
        found = compute(taken, (first, last, n), room - taken.nbytes)
        if found is None:
            return None
        store.add(found[0].compact().to(torch.device("cpu")))
        told.append(found[1])
    return store.flow(), _tensor.combine(torch.stack(told))


def _ranges(
    flow: Flow, rules: Rules, most: Tensor, room: int, first: int, last: int
) -> Iterator[tuple[int, int]]:
    """Cuts columns into ranges that fit: half of the room is for new columns, half for old."""
    if last - first > 1:
        fits = COPIES * ENTRY * int(most[first:last].sum()) <= room // 2
        if fits:
            entries = int(flow.length[_needed(flow, rules, first, last)].sum())
            fits = ENTRY * entries + flow.begin.nbytes + flow.length.nbytes <= room // 2
        if not fits:
            middle = (first + last) // 2
            yield from _ranges(flow, rules, most, room, first, middle)
            yield from _ranges(flow, rules, most, room, middle, last)
            return
    yield first, last


def _needed(flow: Flow, rules: Rules, first: int, last: int) -> Tensor:
    """bool [n]: columns that the expansion of [first, last) reads."""
    needed = torch.zeros(flow.num_nodes, dtype=torch.bool, device=flow.device)
    needed[first:last] = True
    needed[flow.row[flow.places(slice(first, last))]] = True
    for _ in range(rules.expansion - 2):
        needed[_taken(flow, needed).row] = True
    return needed


def _taken(flow: Flow, needed: Tensor) -> Flow:
    """The flow without the entries of other columns."""
    length = torch.where(needed, flow.length, 0)
    place = flow.places(torch.nonzero(needed).flatten())
    return Flow(pointers(length)[:-1].contiguous(), length, flow.row[place], flow.value[place])


class _Store:
    """Flows that are put together piece by piece."""

    def __init__(self, n: int) -> None:
        self.begin = torch.zeros(n, dtype=torch.int64, device="cpu")
        self.length = torch.zeros(n, dtype=torch.int32, device="cpu")
        self.entries = 0

    def add(self, piece: Flow) -> None:
        self.begin += torch.where(piece.length > 0, piece.begin + self.entries, 0)
        self.length += piece.length
        self.entries += piece.row.numel()
        self.keep(piece.row, piece.value)

    def keep(self, row: Tensor, value: Tensor) -> None:
        raise NotImplementedError


class _Host(_Store):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.parts: tuple[list[Tensor], list[Tensor]] = [], []

    def keep(self, row: Tensor, value: Tensor) -> None:
        for parts, part in zip(self.parts, (row, value), strict=True):
            parts.append(part)

    def flow(self) -> Flow:
        return Flow(self.begin, self.length, *map(torch.cat, self.parts))


class _Files(_Store):
    """Entries are in files without names, in the folder for temporary files."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115

    def keep(self, row: Tensor, value: Tensor) -> None:
        for file, part in zip(self.files, (row, value), strict=True):
            file.write(part.numpy().data)

    def flow(self) -> Flow:
        mapped = []
        for file, kind in zip(self.files, (np.int32, np.float32), strict=True):
            file.flush()
            mapped.append(torch.from_numpy(np.memmap(file, kind, "r+", shape=(self.entries,))))
            file.close()
        return Flow(self.begin, self.length, *mapped)
