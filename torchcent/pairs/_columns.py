"""The bits of a transitive closure: all columns in one call, or in units of blocks of columns."""

from __future__ import annotations

import bisect
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.distribute import _run
from torchcent.distribute._arguments import Scale
from torchcent.distribute._units import Search, sizes_of_columns
from torchcent.engines._tensor import _closure
from torchcent.graph import _csr
from torchcent.runtime import _codes, _ops
from torchcent.runtime._tuned import TUNED
from torchcent.runtime._watch import at_work, progress_bar

_TITLE, _HOST = "transitive_closure", torch.device("cpu")


class Table(NamedTuple):
    """What the columns are computed from, and where to; for most fields see Closure."""

    arcs: tuple[Tensor, Tensor]  # rowptr and col, between components
    size: Tensor  # vertices of each component
    base: Tensor
    sinks: int
    columns: int
    block: int
    words: Tensor
    reach: Tensor  # the number of vertices that each component reaches

    @property
    def quick(self) -> bool:
        return float(self.arcs[1].numel()) * self.columns < TUNED["closure"].inline

    def bar(self, progress: bool | None) -> tqdm:
        return progress_bar(self.columns, _TITLE, progress, self.quick, "columns")

    def from_block(self, first: int, end: int, begin: int, words: Tensor) -> Table:
        """That of blocks first, ..., end - 1, whose words begin at `begin` of all.

        No arc to a component before these columns adds to them, so that these components drop out.
        """
        low = first * self.block
        rowptr, col = self.arcs
        if low:
            inner = col >= low
            before = _csr.pointers(inner)
            rowptr, col = before[rowptr[low:]] - before[rowptr[low]], col[inner] - low
        return Table(
            (rowptr, col), self.size[low:],
            base=self.base[first:end] - begin + self.block // 64 * low,
            sinks=max(self.sinks - low, 0), columns=min(self.columns, end * self.block) - low,
            block=self.block, words=words, reach=self.reach[low:],
        )  # fmt: skip


def _compute(table: Table, reach: Tensor, control: Tensor) -> None:
    _ops.ops.closure(
        *table.arcs, table.size, table.base, sinks=table.sinks, columns=table.columns,
        words=table.words, reached=reach, control=control, threads=torch.get_num_threads(),
    )  # fmt: skip


def fill(table: Table, progress: bool | None) -> None:
    control = _codes.control()
    with table.bar(progress) as bar:
        if not _ops.available:
            _closure.closure(
                *table.arcs, table.size, table.sinks, table.columns, table.words, table.reach
            )
        else:
            work = partial(_compute, table, table.reach, control)
            at_work(work, control, bar, _HOST, table.quick)
        bar.update(table.columns - bar.n)


def shared(table: Table, progress: bool | None, scale: Scale) -> None:
    """The same in units, each of some blocks of columns."""
    blocks = sizes_of_columns(table.arcs[1].numel(), table.base.numel(), table.block)
    first = np.cumsum([0, *blocks]).tolist()
    # The words of a block begin where its row `first` does (transitive_closure).
    low = torch.arange(0, table.columns, table.block, device="cpu").clamp(min=table.sinks)
    begin = (table.base + table.block // 64 * low).tolist() + [table.words.numel()]
    columns = [min(at * table.block, table.columns) for at in first]

    def compute(_: Any, unit: slice, out: tuple[Tensor, ...], rung: int, control: Tensor) -> int:
        words, reach = out
        at = bisect.bisect_right(columns, unit.start) - 1
        part = table.from_block(first[at], first[at + 1], begin[first[at]], words)
        _compute(part, reach[first[at] * table.block :], control)
        return rung

    key = {"search": _TITLE, "sources": table.columns, "what": "columns"}
    places = tuple(slice(begin[a], begin[b]) for a, b in pairwise(first))
    search = Search(
        key, [b - a for a, b in pairwise(columns)], (), (table.words, table.reach),
        ("rows", "sum"), compute, exact=True, places=places,
    )  # fmt: skip
    _run.execute(
        search, _HOST, scale, title=_TITLE, progress=progress, quick=table.quick, unit="columns"
    )
