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
from tqdm import tqdm

from torchcent.clustering import _dense, _plan
from torchcent.clustering._cycles import Cycles, digest
from torchcent.clustering._flow import Flow, from_packed, pointers
from torchcent.clustering._rules import Rules, Summary
from torchcent.clustering._run import Limits, Outcome, inline, quiet
from torchcent.clustering._run import run as run_alone
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
_Packed = tuple[Tensor, Tensor, Tensor]


def run(
    flow: Flow, ptr: Tensor, rules: Rules, inflation: float, limits: Limits, engine: str,
    memory: int | None, progress: bool | None,
) -> Outcome:  # fmt: skip
    """Iterates every graph of a union until its own chaos is below the limit.

    Each summary covers all graphs that are still being iterated. `converged` is True only if all
    graphs converged.

    Raises:
        MemoryError: the flow of a graph that is not in a block does not fit.
    """
    quiet()
    size = ptr.diff()
    most = LARGEST if engine in ("auto", "dense") else 0
    small = size <= most
    packed, done = flow.packed(), _Done()
    room = _memory.budget(memory, flow.device) - 4 * flow.nbytes
    blocks = _blocks(size, small & (size > 0), room)
    quick = bool(small.all()) and inline(
        sum(graphs.numel() * side**3 for graphs, side in blocks), flow.device
    )
    with progress_bar(
        int((size > 0).sum()), f"mcl -I {inflation:g}", progress, quick, "graphs"
    ) as bar:
        control = _codes.control()

        def work() -> None:
            for graphs, side in blocks:
                _run_block(
                    packed, ptr, graphs=graphs, side=side, rules=rules, inflation=inflation,
                    limits=limits, control=control, done=done,
                )  # fmt: skip

        start = on_device(work, flow.device)
        if quick:
            start()
        else:
            watched(start, control, bar)
        for graph in torch.nonzero(~small & (size > 0)).flatten().tolist():
            _run_one(
                packed, ptr, graph=graph, rules=rules, inflation=inflation, limits=limits,
                engine=engine, memory=memory, done=done, bar=bar,
            )  # fmt: skip
    engines = [(name, 1) for name in done.engines]
    return Outcome(done.flow(flow), done.summaries(), done.converged, engines, period=done.period)


@dataclass(eq=False)
class _Done:
    """Results so far: the columns in any order, with ascending rows in each."""

    column: list[Tensor] = field(default_factory=list)
    row: list[Tensor] = field(default_factory=list)
    value: list[Tensor] = field(default_factory=list)
    told: list[Tensor] = field(default_factory=list)  # float64 [8] of each iteration
    engines: dict[str, None] = field(default_factory=dict)  # in the order of their first use
    converged: bool = True
    period: int = 0  # the largest

    def add(self, column: Tensor, row: Tensor, value: Tensor) -> None:
        self.column.append(column)
        self.row.append(row)
        self.value.append(value)

    def tell(self, iteration: int, told: Tensor) -> None:
        """`told`: float64 [graphs, 8] on the host, with the fields of Summary."""
        if iteration < len(self.told):
            told = torch.cat([told, self.told.pop(iteration)[None]])
        sums = told.sum(0)
        sums[0], sums[6] = told[:, 0].amax(), told[:, 6].amin()
        self.told.insert(iteration, sums)

    def flow(self, before: Flow) -> Flow:
        n = before.num_nodes
        if not self.column:
            return before
        column, order = torch.sort(torch.cat(self.column), stable=True)
        length = torch.bincount(column, minlength=n)
        row, value = torch.cat(self.row)[order], torch.cat(self.value)[order]
        return from_packed(pointers(length), row, value)

    def summaries(self) -> list[Summary]:
        return [Summary.of(told) for told in self.told]


def _blocks(size: Tensor, together: Tensor, room: int) -> list[tuple[Tensor, int]]:
    """Groups graphs of similar size, each with its size in the block."""
    step = torch.where(size > _COARSE_FROM, _COARSE_STEP, _STEP)
    side = (size + step - 1) // step * step
    most = _BLOCK if size.device.type == "cpu" else _BLOCK_ON_ACCELERATOR
    most = max(min(most, room // _plan.DENSE_BYTES), 1)
    made = []
    for width in torch.unique(side[together]).tolist():
        graphs = torch.nonzero(together & (side == width)).flatten()
        made += [(part, width) for part in graphs.split(max(most // width**2, 1))]
    return made


def _run_block(
    packed: _Packed, ptr: Tensor, graphs: Tensor, side: int, rules: Rules, inflation: float,
    limits: Limits, control: Tensor, done: _Done,
) -> None:  # fmt: skip
    rows, spare = _block(packed, ptr, graphs, side)
    done.engines["dense"] = None
    last = torch.full((graphs.numel(),), torch.inf, dtype=torch.float64, device="cpu")
    cycles = [Cycles() for _ in range(graphs.numel())]
    for iteration in range(limits.max_iter):
        if control[CANCEL]:
            return
        before = rows
        rows, told = _dense.iterate(rows, *rules.arguments(inflation))
        told[:, 1] -= spare  # padding loops of 1: products, entries, shares
        told[:, 2] -= spare
        told[:, 7] -= spare
        told = told.cpu()
        done.tell(iteration, told)
        still = told[:, 0] >= limits.chaos
        alike = torch.nonzero(still & (told[:, 0] == last)).flatten()
        if alike.numel():  # a flow at a fixed point, as in _run
            some = alike.to(rows.device)
            still[alike] = (rows[some] != before[some]).flatten(1).any(1).cpu()
        last = told[:, 0]
        if iteration >= _PATIENCE:
            for at in torch.nonzero(still).flatten().tolist():
                period = cycles[at].period(tuple(told[at].tolist()), partial(digest, rows[at]))
                still[at] = period == 0
                done.converged &= period <= 1
                done.period = max(done.period, period if period > 1 else 0)
        if not bool(still.all()):
            stays = still.to(rows.device)
            _take(done, ptr, graphs[~stays], rows[~stays])
            graphs, rows, spare = graphs[stays], rows[stays], spare[stays]
            last = last[still]
            cycles = [own for own, stay in zip(cycles, still.tolist(), strict=True) if stay]
            control[DONE] += int((~still).sum())
        if graphs.numel() == 0:
            return
    done.converged = False
    _take(done, ptr, graphs, rows)


def _block(packed: _Packed, ptr: Tensor, graphs: Tensor, side: int) -> tuple[Tensor, Tensor]:
    """float32 [graphs, side, side], where row j is column j, and the padding of each graph."""
    colptr, row, value = packed
    begin, end = colptr[ptr[graphs]], colptr[ptr[graphs + 1]]
    which = _small.repeat_interleave(torch.arange(graphs.numel(), device=row.device), end - begin)
    start = pointers(end - begin)
    entry = torch.arange(which.numel(), device=row.device) + (begin - start[:-1])[which]
    column = torch.searchsorted(colptr, entry, right=True) - 1
    first = ptr[graphs][which]
    rows = value.new_zeros(graphs.numel(), side, side)
    rows[which, column - first, row[entry] - first] = value[entry]
    size = ptr.diff()[graphs]
    filled = torch.arange(side, device=row.device) >= size[:, None]
    rows.diagonal(dim1=1, dim2=2)[filled] = 1
    return rows, side - size


def _take(done: _Done, ptr: Tensor, graphs: Tensor, rows: Tensor) -> None:
    """Stores the flow of these graphs."""
    which, column, row = torch.nonzero(rows, as_tuple=True)
    real = column < ptr.diff()[graphs][which]
    which, column, row = which[real], column[real], row[real]
    first = ptr[graphs][which]
    done.add(column + first, row + first, rows[which, column, row])


def _run_one(
    packed: _Packed, ptr: Tensor, graph: int, rules: Rules, inflation: float, limits: Limits,
    engine: str, memory: int | None, done: _Done, bar: tqdm,
) -> None:  # fmt: skip
    first, last = ptr[graph : graph + 2].tolist()
    colptr, row, value = packed
    own = colptr[first : last + 1]
    part = slice(*own[[0, -1]].tolist())
    flow = from_packed(own - own[0], row[part] - first, value[part])
    plan = _plan.plan(flow, rules, engine, memory)
    found = run_alone(flow, rules, inflation, limits, plan, False)
    done.converged &= found.converged
    done.period = max(done.period, found.period)
    for iteration, summary in enumerate(found.summaries):
        done.tell(
            iteration,
            torch.tensor([list(vars(summary).values())], dtype=torch.float64, device="cpu"),
        )
    done.engines |= dict.fromkeys(name for name, _ in found.engines)
    begins, row, value = found.flow.packed()
    column = _small.repeat_interleave(
        torch.arange(flow.num_nodes, device=flow.device), begins.diff()
    )
    done.add(column + first, row + first, value)
    bar.update()
