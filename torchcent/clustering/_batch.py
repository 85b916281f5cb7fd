"""Batched Markov clustering: small graphs of similar size share one matrix product.

Graphs form a block [graphs, s, s], where s is slightly larger than their numbers of vertices. The
padding vertices have loops of 1, which no iteration changes. A graph leaves the block as soon as
its own chaos is below the limit, so it takes the same number of iterations as on its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

from torchcent.clustering import _dense, _plan, _tensor
from torchcent.clustering._cycles import Cycles, digest
from torchcent.clustering._flow import Flow, from_packed
from torchcent.clustering._rules import Rules, Summary
from torchcent.clustering._run import Outcome, inline, quiet
from torchcent.clustering._run import run as run_alone
from torchcent.graph import _csr
from torchcent.graph._csr import pointers
from torchcent.runtime import _codes, _memory, _small
from torchcent.runtime._codes import CANCEL, DONE
from torchcent.runtime._watch import on_device, progress_bar, watched

LARGEST = 256  # maximum vertices of a graph in a block
# Block sizes are multiples of 8, or of 32 from 64 on.
_STEP, _COARSE_STEP, _COARSE_FROM = 8, 32, 64
# Entries of a block: what fits into a core's cache, or what saturates an accelerator.
_BLOCK, _BLOCK_ON_ACCELERATOR = 2**17, 2**25
# Iterations after which graphs are watched for cycles, one by one: few are then left.
_PATIENCE = 64


def run(
    flow: Flow, ptr: Tensor, rules: Rules, engine: str, memory: int | None, progress: bool | None
) -> Outcome:
    """Iterates every graph of a union until its own chaos is below the limit. Each summary covers
    all graphs that are still being iterated. MemoryError if a graph outside of the blocks does not
    fit."""
    quiet()
    size = ptr.diff()
    small = size <= (LARGEST if engine in ("auto", "dense") else 0)
    graphs = _Graphs(flow, ptr, rules)
    available = _memory.budget(memory, flow.device) - 4 * flow.nbytes
    blocks = _blocks(size, small & (size > 0), available)
    work = sum(numbers.numel() * side**3 for numbers, side in blocks)
    quick = bool(small.all()) and inline(work, flow.device)
    count, title = int((size > 0).sum()), f"mcl -I {rules.inflation:g}"
    with progress_bar(count, title, progress, quick, "graphs") as bar:
        control = _codes.control()

        def compute() -> None:
            for numbers, side in blocks:
                graphs.run_block(numbers, side, control)

        start = on_device(compute, flow.device)
        if quick:
            start()
        else:
            watched(start, control, bar)
        for number in torch.nonzero(~small & (size > 0)).flatten().tolist():
            graphs.run_one(number, engine, memory)
            bar.update()
    return Outcome(
        graphs.flow(), [Summary.of(sums) for sums in graphs.sums], graphs.converged,
        [(name, 1) for name in graphs.engines], period=graphs.period,
    )  # fmt: skip


def _blocks(size: Tensor, small: Tensor, available: int) -> list[tuple[Tensor, int]]:
    """Groups graphs of similar size, each with its size in the block."""
    step = torch.where(size > _COARSE_FROM, _COARSE_STEP, _STEP)
    side = (size + step - 1) // step * step
    most = _BLOCK if size.device.type == "cpu" else _BLOCK_ON_ACCELERATOR
    most = max(min(most, available // _plan.DENSE_BYTES), 1)
    blocks = []
    for width in torch.unique(side[small]).tolist():
        numbers = torch.nonzero(small & (side == width)).flatten()
        blocks += [(part, width) for part in numbers.split(max(most // width**2, 1))]
    return blocks


@dataclass(eq=False)
class _Graphs:
    """The graphs of a union, and the results of those that are finished."""

    before: Flow
    ptr: Tensor
    rules: Rules
    # Column, row and value of new entries: columns in any order, with ascending rows in each.
    entries: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list)
    sums: list[Tensor] = field(default_factory=list)  # float64 [8] of each iteration
    engines: dict[str, None] = field(default_factory=dict)  # in the order of their first use
    converged: bool = True
    period: int = 0  # the largest

    def add(self, iteration: int, summary: Tensor) -> None:
        """`summary`: float64 [graphs, 8] on the host, with the fields of Summary."""
        if iteration < len(self.sums):
            summary = torch.cat([summary, self.sums.pop(iteration)[None]])
        self.sums.insert(iteration, _tensor.combine(summary))

    def flow(self) -> Flow:
        if not self.entries:
            return self.before
        column, row, value = map(torch.cat, zip(*self.entries, strict=True))
        column, order = torch.sort(column, stable=True)
        length = torch.bincount(column, minlength=self.before.num_nodes)
        return from_packed(pointers(length), row[order], value[order])

    def run_block(self, graphs: Tensor, side: int, control: Tensor) -> None:
        rows, spare = self._block(graphs, side)
        self.engines["dense"] = None
        last = torch.full((graphs.numel(),), torch.inf, dtype=torch.float64, device="cpu")
        cycles = [Cycles() for _ in range(graphs.numel())]
        for iteration in range(self.rules.max_iter):
            if control[CANCEL]:
                return
            before = rows
            rows, summary = _dense.iterate(rows, *self.rules.arguments())
            for place in (1, 2, 7):  # products, entries and shares of the padding's loops of 1
                summary[:, place] -= spare
            summary = summary.cpu()
            self.add(iteration, summary)
            still = summary[:, 0] >= self.rules.chaos
            alike = torch.nonzero(still & (summary[:, 0] == last)).flatten()
            if alike.numel():  # a flow at a fixed point, as in _run
                some = alike.to(rows.device)
                still[alike] = (rows[some] != before[some]).flatten(1).any(1).cpu()
            last = summary[:, 0]
            if iteration >= _PATIENCE:
                for at in torch.nonzero(still).flatten().tolist():
                    key = tuple(summary[at].tolist())
                    period = cycles[at].period(key, partial(digest, rows[at]))
                    still[at] = period == 0
                    self.converged &= period <= 1
                    self.period = max(self.period, period if period > 1 else 0)
            if not bool(still.all()):
                stays = still.to(rows.device)
                self._store(graphs[~stays], rows[~stays])
                graphs, rows, spare, last = graphs[stays], rows[stays], spare[stays], last[still]
                cycles = [x for x, stay in zip(cycles, still.tolist(), strict=True) if stay]
                control[DONE] += int((~still).sum())
            if graphs.numel() == 0:
                return
        self.converged = False
        self._store(graphs, rows)

    def _block(self, graphs: Tensor, side: int) -> tuple[Tensor, Tensor]:
        """float32 [graphs, side, side], where row j is column j, and the padding of each graph."""
        flow, first, size = self.before, self.ptr[graphs], self.ptr.diff()[graphs]
        column, which = _csr.ranges(first, size), _small.repeat_interleave(size)
        length, entry = flow.length[column].long(), flow.places(column)
        # Where a row begins, less the vertices before its graph.
        begin = (which * side + column - first[which]) * side - first[which]
        rows = flow.value.new_zeros(graphs.numel(), side, side)
        place = _small.repeat_interleave(begin, length) + flow.row[entry]
        rows.view(-1)[place] = flow.value[entry]
        padding = torch.arange(side, device=rows.device) >= size[:, None]
        rows.diagonal(dim1=1, dim2=2)[padding] = 1
        return rows, side - size

    def _store(self, graphs: Tensor, rows: Tensor) -> None:
        which, column, row = torch.nonzero(rows, as_tuple=True)
        real = column < self.ptr.diff()[graphs][which]
        which, column, row = which[real], column[real], row[real]
        first = self.ptr[graphs][which]
        self.entries.append((column + first, row + first, rows[which, column, row]))

    def run_one(self, number: int, engine: str, memory: int | None) -> None:
        first, last = self.ptr[number : number + 2].tolist()
        whole, columns = self.before, slice(first, last)
        length, entry = whole.length[columns], whole.places(columns)
        flow = from_packed(pointers(length), whole.row[entry] - first, whole.value[entry])
        plan = _plan.plan(flow, self.rules, engine, memory)
        result = run_alone(flow, self.rules, plan, False)
        self.converged &= result.converged
        self.period = max(self.period, result.period)
        for iteration, summary in enumerate(result.summaries):
            values = [list(vars(summary).values())]
            self.add(iteration, torch.tensor(values, dtype=torch.float64, device="cpu"))
        self.engines |= dict.fromkeys(name for name, _ in result.engines)
        _, row, value = result.flow.packed()
        self.entries.append((result.flow.columns() + first, row + first, value))
