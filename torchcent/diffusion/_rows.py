"""Sparse rows of a diffusion: their sources in units of work, and the memory that they take."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import Run
from torchcent.check._values import choice, whole
from torchcent.diffusion import _tensor
from torchcent.diffusion._steps import Steps
from torchcent.diffusion._tensor import Arcs, Rows
from torchcent.distribute import _run
from torchcent.distribute._arguments import Scale, scale_of, shown
from torchcent.distribute._units import Kind, Search, sizes
from torchcent.engines.plan import _room
from torchcent.graph import Graph, _batch, _csr, _segments
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _memory, _ops, _small
from torchcent.runtime._codes import CANCEL, DONE
from torchcent.runtime._tuned import TUNED

NORMALIZATIONS = ("row", "sym")
#: what the functions use of a Run
USES = ("checkpoint", "group", "dtype")
_ROOM = {"cpu": 2**20, "cuda": 2**24}  # entries of rows of unknown size that are written together
_FIRST = {"cpu": 64, "cuda": 4096}  # sources before their mean size is known
_ARCS = 2**21  # that tensors look at together
_SORTED = 2**22  # entries of padded rows that are moved together
_THREAD = 48  # bytes per vertex and thread (csrc/diffusion/cpu/spread.h)
_MOST = 2**31 - 1  # of top_k


class DiffusionRows(NamedTuple):
    """Result of :func:`personalized_pagerank` and :func:`heat_kernel`: a sparse matrix in CSR form.

    Attributes:
        ptr: int64 [S + 1]: the entries of source i are those from ptr[i] to ptr[i + 1].
        target: int64 [P], the vertex of each entry, ascending for each source.
        value: [P].
    """

    ptr: Tensor
    target: Tensor
    value: Tensor


class Request(NamedTuple):
    """A call, whose arguments are checked."""

    title: str
    graph: Graph
    steps: Steps
    options: dict[str, object]  # what determines the steps, for a ledger
    sources: Tensor | None
    top: int  # 0 for all entries
    sym: bool
    run: Run


def graph_of(
    edge_index: GraphLike, edge_weight: WeightLike, num_nodes: int | None, batch: Tensor | None,
    directed: bool | None, run: Run,
) -> Graph:  # fmt: skip
    return as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")


def request(
    title: str, graph: Graph, steps: Steps, options: dict[str, float], sources: Tensor | None,
    top_k: int | None, normalization: str, run: Run,
) -> Request:  # fmt: skip
    """Checks the arguments that both functions have."""
    sym = choice(normalization, "normalization", NORMALIZATIONS) == "sym"
    if sym and not graph.is_symmetric:
        raise ValueError(
            "normalization='sym' needs a symmetric matrix, and some arcs have no reverse of the "
            "same weight; pass directed=False, or normalization='row'"
        )
    top = 0 if top_k is None else whole(top_k, "top_k", _MOST)
    top = min(top, max(1, int(_batch.counts(graph)[0].max(initial=0))))
    vertices = None if sources is None else check.vertices(sources, "sources", graph)
    key: dict[str, object] = {**options, "top": top, "sym": sym}
    return Request(title, graph, steps, key, vertices, top, sym, run)


def compute(call: Request) -> DiffusionRows:
    graph, run = call.graph, call.run
    scale = scale_of(graph, run)
    if scale is not None and not call.top:
        raise ValueError(
            "Run(checkpoint=) and Run(group=) need rows of a known size; pass top_k as well"
        )
    search = _Diffusion(call)
    search.allow(0)
    if scale is not None:
        scale.begin(graph, {"measure": call.title, **call.options, "sources": call.sources})
    return search.rows(scale)


class _Diffusion:
    """The rows of one call."""

    def __init__(self, call: Request) -> None:
        graph = call.graph
        self.call, self.graph, self.dtype = call, graph, call.run.dtype
        self.has_kernel = _ops.has_kernel("diffusion_rows", graph.device)
        self.count = graph.num_nodes if call.sources is None else call.sources.numel()
        self.limit: int | None = None
        self.workspace = 0
        self.total = 0  # entries of rows of unknown size
        self.parts: dict[int, Rows] = {}  # these rows, by their first source
        size, slots = _batch.counts(graph)
        self.largest = int(size.max(initial=1))
        # A vertex has at most the slots of its graph, some ten times.
        most = 10 * float(size @ slots) / max(graph.num_nodes, 1)
        self.each = max(1, round(min(most, call.steps.work)))

    def allow(self, entries: int) -> None:
        """Raises MemoryError if rows of so many entries do not fit beside the graph."""
        graph, call = self.graph, self.call
        own = 8 + self.dtype.itemsize
        need = graph._nbytes + (32 if call.sym else 24) * graph.num_nodes + 16 * self.count
        if self.has_kernel:  # on CUDA as many blocks as there is room for
            threads = torch.get_num_threads() if graph.device.type == "cpu" else 1
            need += _THREAD * graph.num_nodes * threads
        else:
            need += 120 * _ARCS
        # Rows of a known size are moved to the front where they are; others are copied.
        need += self.count * call.top * own if call.top else 2 * entries * own
        what = f"{call.title} of {self.count} sources"
        what += f" with top_k={call.top}" if call.top else f", of {entries} entries so far,"
        memory = call.run.memory
        if memory is not None or need >= _memory.SMALL_RUN.get(graph.device.type, 0):
            if self.limit is None:
                self.limit = _room.limit(graph, memory)
            _memory.require(what, need, self.limit, memory)
            if self.has_kernel and graph.device.type == "cuda":
                self.workspace = max(1, self.limit - need)

    def rows(self, scale: Scale | None) -> DiffusionRows:
        graph, call, device = self.graph, self.call, self.graph.device
        strength = graph.degree.double()
        if graph.weight is not None:
            strength = _segments.of_segments(graph.rowptr, graph.weight)
        root = 1 / torch.where(strength > 0, strength, 1).sqrt() if call.sym else None
        self.arcs = Arcs(graph.rowptr, graph.col, graph.weight, strength, root)
        sources = call.sources
        self.sources = torch.arange(self.count, device=device) if sources is None else sources
        count = torch.zeros(self.count, dtype=torch.int64, device=device)
        totals: tuple[Tensor, ...] = (count,)
        if call.top:
            target = torch.zeros(self.count, call.top, dtype=torch.int64, device=device)
            totals += (target, torch.zeros(target.shape, dtype=self.dtype, device=device))
        kinds: tuple[Kind, ...] = tuple("rows" for _ in totals)
        key = {"search": call.title, "sources": self.count, **call.options}
        units = sizes("diffusion", device.type, self.count, self.each)
        search = Search(key, units, (), totals, kinds, self._unit)
        work = float(self.count) * self.each
        _run.execute(
            search, device, scale, title=call.title, progress=shown(scale, call.run.progress),
            quick=work < TUNED["diffusion"].inline, inline=not self.has_kernel,
            workspace=self.workspace,
        )  # fmt: skip
        ptr = _csr.pointers(count)
        if call.top:
            return DiffusionRows(ptr, *_packed(count, totals[1], totals[2], int(ptr[-1])))
        parts = [self.parts.pop(begin) for begin in sorted(self.parts)]
        target = torch.cat([each.target for each in parts]) if parts else count[:0]
        value = [each.value for each in parts]
        empty = torch.zeros(0, dtype=self.dtype, device=device)
        return DiffusionRows(ptr, target, torch.cat(value) if parts else empty)

    def _unit(
        self, inputs: Any, unit: slice, out: tuple[Tensor, ...], rung: int, record: Tensor
    ) -> int:
        """Computes the rows of some sources."""
        own, done = self.sources[unit], 0
        if self.has_kernel and self.call.top:
            count, target, value = out
            self._kernel(
                own, torch.empty_like(count), count, target.view(-1), value.view(-1), record
            )
            if target.is_cuda:
                _sort(count, target, value)
            return rung
        room = min(_ROOM[own.device.type], own.numel() * self.largest) if self.has_kernel else 0
        step = _FIRST[own.device.type] if self.has_kernel else max(1, _ARCS // self.each)
        while done < own.numel() and not record[CANCEL]:
            part = own[done : done + step]
            if self.has_kernel:
                rows = self._of_any_size(part, room, record)
                step = max(1, room * part.numel() // (2 * rows.target.numel() + 1))
            else:
                steps, top = self.call.steps, self.call.top
                rows = _tensor.rows(self.arcs, part, steps, top, self.dtype, record)
                record[DONE] += part.numel()
            if record[CANCEL]:
                break
            here = slice(done, done + part.numel())
            out[0][here] = rows.size
            if self.call.top:
                row = _small.repeat_interleave(rows.size)
                first = _small.repeat_interleave(rows.size.cumsum(0) - rows.size, rows.size)
                place = torch.arange(row.numel(), device=row.device) - first
                out[1][here][row, place] = rows.target
                out[2][here][row, place] = rows.value
            else:
                self.total += rows.target.numel()
                self.allow(self.total)
                self.parts[unit.start + done] = rows
            done = here.stop
        return rung

    def _kernel(
        self, sources: Tensor, begin: Tensor, count: Tensor, target: Tensor, value: Tensor,
        record: Tensor,
    ) -> None:  # fmt: skip
        arcs, steps = self.arcs, self.call.steps
        _ops.ops.diffusion_rows(
            arcs.rowptr, arcs.col, arcs.weight, arcs.strength, arcs.scale, sources, steps.table,
            steps.follow, steps.lasts, self.call.top, begin, count, target, value, record,
            torch.get_num_threads(),
        )  # fmt: skip

    def _of_any_size(self, sources: Tensor, room: int, record: Tensor) -> Rows:
        """All entries of the rows, which follow each other in memory as they are ready; where there
        is no room for some, these are computed once more."""
        begin, count = torch.zeros(2, sources.numel(), dtype=torch.int64, device=sources.device)
        target, value = self._empty(room)
        self._kernel(sources, begin, count, target, value, record)
        again = torch.nonzero(count < 0)[:, 0]
        if again.numel() and not record[CANCEL]:
            more = int((-1 - count[again]).sum())
            self.allow(self.total + room + more)
            others = self._empty(more)
            record[DONE] -= again.numel()
            own, size = torch.zeros(2, again.numel(), dtype=torch.int64, device=sources.device)
            self._kernel(sources[again], own, size, *others, record)
            begin[again], count[again] = own + room, size
            target, value = torch.cat([target, others[0]]), torch.cat([value, others[1]])
        count.clamp_(min=0)
        place = _csr.ranges(begin, count)
        rows = Rows(count, target[place], value[place])
        return _in_order(rows) if sources.is_cuda else rows

    def _empty(self, room: int) -> tuple[Tensor, Tensor]:
        device = self.graph.device
        target = torch.empty(room, dtype=torch.int64, device=device)
        return target, torch.empty(room, dtype=self.dtype, device=device)


def _in_order(rows: Rows) -> Rows:
    """Each row in ascending order of its targets."""
    row = _small.repeat_interleave(rows.size)
    order = torch.argsort(rows.target, stable=True)
    order = order[torch.argsort(row[order], stable=True)]
    return Rows(rows.size, rows.target[order], rows.value[order])


def _sort(count: Tensor, target: Tensor, value: Tensor) -> None:
    """The same for padded rows, in place."""
    width = target.shape[1]
    for begin in range(0, target.shape[0], max(1, _SORTED // width)):
        rows = slice(begin, begin + max(1, _SORTED // width))
        place = torch.arange(width, device=target.device)
        padding = place >= count[rows, None]
        ordered, order = target[rows].masked_fill(padding, _MOST).sort(1)
        target[rows] = ordered.masked_fill_(padding, 0)
        value[rows] = value[rows].gather(1, order)


def _packed(
    count: Tensor, target: Tensor, value: Tensor, total: int
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The entries of padded rows one after the other, in the same memory."""
    rows, width = target.shape
    if total == rows * width:
        return target.view(-1), value.view(-1)
    end, place = 0, torch.arange(width, device=target.device)
    for begin in range(0, rows, max(1, _SORTED // width)):
        part = slice(begin, begin + max(1, _SORTED // width))
        is_entry = place < count[part, None]
        own = target[part][is_entry]
        target.view(-1)[end : end + own.numel()] = own
        value.view(-1)[end : end + own.numel()] = value[part][is_entry]
        end += own.numel()
    target, value = target.view(-1)[:total], value.view(-1)[:total]
    return (target, value) if 2 * total > rows * width else (target.clone(), value.clone())
