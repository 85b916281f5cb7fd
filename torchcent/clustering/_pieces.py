"""An iteration in pieces: the next flow is computed some columns at a time, and kept elsewhere.

On the CPU, flows are in temporary files, which are mapped. On an accelerator they are in the memory
of the host, and each piece takes the columns of the flow with it that it refers to.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.clustering import _tensor
from torchcent.clustering._flow import Flow
from torchcent.clustering._rules import Rules, Share, step_memory
from torchcent.graph._csr import pointers

ENTRY = 8  # bytes of an entry: row and value
COLUMNS = 16  # that are dealt together (mcl.cpp)
# A piece exists twice: in the order in which its columns are finished, and packed. On CUDA its
# columns are also as wide as the longest, or counted first.
COPIES = 2

#: computes a share of a flow in so many bytes; None if they are too few
Compute = Callable[[Flow, Share, int], tuple[Flow, Tensor] | None]


def iterate(
    flow: Flow, rules: Rules, compute: Compute, space: int, device: torch.device, consecutive: bool
) -> tuple[Flow, Tensor] | None:
    """The next flow, which is stored, and its summary; None if a piece does not fit in the space,
    with the columns that it takes with it. The flow is on the device or on the host."""
    most = step_memory(flow, rules)
    if consecutive:
        return _of_columns(flow, rules, most, compute, space, device)
    batches = math.ceil(flow.num_nodes / COLUMNS)
    parts = min(math.ceil(COPIES * ENTRY * int(most.sum()) / max(space, 1)), batches)
    while True:
        result = _of_shares(flow, parts, compute, space // COPIES)
        if result is not None or parts == batches:
            return result
        parts = min(2 * parts, batches)  # shares are equal in products, not in entries


def _of_shares(flow: Flow, parts: int, compute: Compute, space: int) -> tuple[Flow, Tensor] | None:
    store = _Store(flow.num_nodes, in_files=True)
    for part in range(parts):
        result = compute(flow, (part, part + 1, parts), space)
        if result is None:
            return None
        store.add(*result)
    return store.result()


def _of_columns(
    flow: Flow, rules: Rules, most: Tensor, compute: Compute, space: int, device: torch.device
) -> tuple[Flow, Tensor] | None:
    n, host = flow.num_nodes, torch.device("cpu")
    store, flow = _Store(n, in_files=False), flow.compact().to(host)
    for first, last in _ranges(flow, rules, most.cpu(), space, 0, n):
        part = _only(flow, _columns(flow, rules, first, last)).to(device)
        result = compute(part, (first, last, n), space - part.nbytes)
        if result is None:
            return None
        store.add(result[0].compact().to(host), result[1])
    return store.result()


def _ranges(
    flow: Flow, rules: Rules, most: Tensor, space: int, first: int, last: int
) -> Iterator[tuple[int, int]]:
    """Cuts columns into ranges that fit: half of the space is for new columns, half for old."""
    if last - first > 1:
        fits = COPIES * ENTRY * int(most[first:last].sum()) <= space // 2
        if fits:
            entries = int(flow.length[_columns(flow, rules, first, last)].sum())
            fits = ENTRY * entries + flow.begin.nbytes + flow.length.nbytes <= space // 2
        if not fits:
            middle = (first + last) // 2
            yield from _ranges(flow, rules, most, space, first, middle)
            yield from _ranges(flow, rules, most, space, middle, last)
            return
    yield first, last


def _columns(flow: Flow, rules: Rules, first: int, last: int) -> Tensor:
    """bool [n]: columns that the expansion of [first, last) reads."""
    columns = torch.zeros(flow.num_nodes, dtype=torch.bool, device=flow.device)
    columns[first:last] = True
    columns[flow.row[flow.places(slice(first, last))]] = True
    for _ in range(rules.expansion - 2):
        columns[_only(flow, columns).row] = True
    return columns


def _only(flow: Flow, columns: Tensor) -> Flow:
    """The flow without the entries of other columns."""
    length = torch.where(columns, flow.length, 0)
    place = flow.places(torch.nonzero(columns).flatten())
    return Flow(pointers(length)[:-1].contiguous(), length, flow.row[place], flow.value[place])


class _File:
    """Numbers in a file without a name, in the folder for temporary files."""

    def __init__(self, kind: type) -> None:
        self.file, self.kind = tempfile.TemporaryFile(), kind  # noqa: SIM115

    def append(self, part: Tensor) -> None:
        self.file.write(part.numpy().data)

    def joined(self) -> Tensor:
        with self.file:
            self.file.flush()
            return torch.from_numpy(np.memmap(self.file, self.kind, "r+"))


class _Store:
    """A flow that is put together piece by piece, with its entries in files or in memory."""

    def __init__(self, n: int, in_files: bool) -> None:
        self.begin = torch.zeros(n, dtype=torch.int64, device="cpu")
        self.length = torch.zeros(n, dtype=torch.int32, device="cpu")
        self.entries = 0
        self.summaries: list[Tensor] = []
        self.parts: list[Any] = [[], []]  # of rows and of values
        if in_files:
            self.parts = [_File(np.int32), _File(np.float32)]

    def add(self, piece: Flow, summary: Tensor) -> None:
        self.begin += torch.where(piece.length > 0, piece.begin + self.entries, 0)
        self.length += piece.length
        self.entries += piece.row.numel()
        self.summaries.append(summary)
        for parts, part in zip(self.parts, (piece.row, piece.value), strict=True):
            parts.append(part)

    def result(self) -> tuple[Flow, Tensor]:
        """The flow and its summary."""
        entries = [x.joined() if isinstance(x, _File) else torch.cat(x) for x in self.parts]
        summary = _tensor.combine(torch.stack(self.summaries))
        return Flow(self.begin, self.length, *entries), summary
