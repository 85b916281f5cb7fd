"""Sums over weighted distances: per source by the engines, per vertex from rows of distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from torchcent.distances import _by_hierarchy
from torchcent.distances._run import (
    FAR,
    HARMONIC,
    REACH,
    Part,
    Sums,
    in_lengths,
    in_order,
    limits_of,
    of_weights,
    run,
)
from torchcent.distribute._digest import Key
from torchcent.distribute._units import Kind
from torchcent.engines._tensor import _weighted
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _plan
from torchcent.engines.plan._plan import Plan
from torchcent.engines.reduce._core import Core
from torchcent.engines.reduce._hierarchy import ROWS
from torchcent.engines.search import _weighted_rows as _rows
from torchcent.engines.search._execute import is_quick
from torchcent.graph import Graph, _segments
from torchcent.runtime import _codes, _ops
from torchcent.runtime._codes import CANCEL
from torchcent.runtime._watch import at_work, progress_bar

# Rows of weighted distances: in the format of the engine, as float64, and temporaries.
_BYTES_PER_DISTANCE, _LARGEST_BLOCK = 32, 2**30
_ROWS_ON_CUDA = 512  # enough to keep any device busy, with a block of threads each


def vertex_sums(graph: Graph, request: Request, sources: Tensor | None, outgoing: bool) -> Sums:
    """Sums per vertex, as those of :func:`_distance_sums.vertex_sums`.

    For all vertices, each is searched from in the opposite direction. With pivots, searches from
    them add to the vertices that they reach.
    """
    if sources is None:
        sources = torch.arange(graph.num_nodes, device=graph.device)
        return source_sums(graph, request, sources, outgoing)
    if _by_hierarchy.repays(graph, request, sources.numel()):
        plan, core = _plan.plan(graph, request, graph.num_nodes)
        if plan.engine == "hierarchy":
            return _by_hierarchy.vertex_sums(graph, request, plan, core, sources, outgoing)
    plan, core = _plan.plan(graph, request, sources.numel())
    threads = _threads_of_sums(graph, request, plan)
    if threads:
        plan = replace(plan, threads=threads)
        return _scattered(graph, request, (plan, core), sources, outgoing)
    total = Sums.zeros(graph.num_nodes, graph, request)
    rows = _Rows(graph, request, sources, outgoing)

    def add(inputs: Any, part: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        sums, farthest = out
        columns = list(_of_each_cutoff(sums, farthest, graph, request))
        for block in rows.blocks(inputs, part, control):
            for row in block:  # one at a time, so that sums do not depend on the block size
                for own, most, limit in columns:
                    counts = (row > 0) & (row <= limit)
                    near = torch.where(counts, row, 0)
                    own[:, FAR] += near
                    own[:, HARMONIC] += torch.where(counts, 1 / near, 0)
                    own[:, REACH] += counts
                    torch.maximum(most, near, out=most)

    key = {"from": sources, "outgoing": outgoing}
    rows.run(request, key, (total.total, total.eccentricity), ("sum", "max"), add)
    return total


def _threads_of_sums(graph: Graph, request: Request, plan: Plan) -> int:
    """Threads that can have sums of all vertices; 0 if they come from rows of distances."""
    if plan.engine not in ("relax", "dijkstra"):
        return 0
    if not _ops.has_kernel("weighted_vertex_sums", graph.device):
        return 0
    return _by_hierarchy.threads_of_sums(graph, request, plan)


def _scattered(
    graph: Graph, request: Request, planned: tuple[Plan, Core], sources: Tensor, outgoing: bool
) -> Sums:
    """Sums per vertex over the sources, to which the search from each of them adds."""
    plan, core = planned
    start, _ = in_order(core, sources, outgoing)
    sums, farthest = of_weights(core.num_nodes, request, graph.device)
    inputs, limits = (_rows.direction(core, outgoing), start), limits_of(graph, request)

    def part(inputs: Any, part: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        csr, start = inputs
        engine = _codes.ENGINE[plan.engine]
        _ops.ops.weighted_vertex_sums(csr, start[part], *out, control, engine, plan.launch, limits)

    key = {"from": sources, "outgoing": outgoing}
    run(plan, request, key, inputs, (sums, farthest), ("sum", "max"), part, total=start.numel())
    return in_lengths(graph, (sums, farthest), core.vertex, graph.num_nodes)


def source_sums(graph: Graph, request: Request, sources: Tensor, outgoing: bool) -> Sums:
    plan, core = _plan.plan(graph, request, sources.numel())
    if plan.engine == "hierarchy":
        if request.cutoffs is not None and graph.device.type == "cuda":
            return _cut_source_sums(graph, request, sources, outgoing)
        return _by_hierarchy.source_sums(graph, request, plan, core, sources, outgoing)
    start, place = in_order(core, sources, not outgoing)
    sums, farthest = of_weights(start.numel(), request, graph.device)
    inputs, limits = (_rows.direction(core, not outgoing), start), limits_of(graph, request)

    def compiled(inputs: Any, part: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        csr, start = inputs
        engine = _codes.ENGINE[plan.engine]
        _ops.ops.weighted_source_sums(csr, start[part], *out, control, engine, plan.launch, limits)

    def tensor(inputs: Any, part: slice, out: tuple[Tensor, ...], _: Tensor) -> None:
        csr, start = inputs
        sums, farthest = out
        _weighted.source_sums(csr[0], csr[1], csr[2], start[part], sums, farthest, limits)

    key = {"of": sources, "outgoing": outgoing}
    part = tensor if plan.engine == "tensor" else compiled
    rows: tuple[Kind, ...] = "rows", "rows"
    run(plan, request, key, inputs, (sums, farthest), rows, part, total=start.numel())
    return in_lengths(graph, (sums, farthest), place, sources.numel())


def _cut_source_sums(graph: Graph, request: Request, sources: Tensor, outgoing: bool) -> Sums:
    """:func:`source_sums` within cutoffs, from rows of distances of a hierarchy on CUDA."""
    total = Sums.zeros(sources.numel(), graph, request)
    rows = _Rows(graph, request, sources, not outgoing)

    def fill(inputs: Any, unit: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        (sums, farthest), done = out, 0
        for block in rows.blocks(inputs, unit, control):
            part = slice(done, done + block.shape[0])
            for own, most, limit in _of_each_cutoff(sums[part], farthest[part], graph, request):
                counts = (block > 0) & (block <= limit)
                near = torch.where(counts, block, 0)
                own[:, FAR], own[:, REACH] = _row_sums(near), counts.sum(1).double()
                most.copy_(near.amax(1))
                own[:, HARMONIC] = _row_sums(near.reciprocal_().masked_fill_(~counts, 0))
            done = part.stop

    key = {"of": sources, "outgoing": outgoing}
    rows.run(request, key, (total.total, total.eccentricity), ("rows", "rows"), fill)
    return total


def _of_each_cutoff(
    sums: Tensor, farthest: Tensor, graph: Graph, request: Request
) -> Iterator[tuple[Tensor, Tensor, float]]:
    """For each cutoff its own sums and largest distances, and the largest that counts."""
    limits = limits_of(graph, request)
    if limits is None:
        yield sums, farthest, torch.finfo(torch.float64).max
    else:
        most = graph.scale.lengths(limits.double()).tolist()
        yield from zip(sums.unbind(1), farthest.unbind(1), most, strict=True)


def _row_sums(rows: Tensor) -> Tensor:
    """The sum of each row, in an order that does not depend on the number of rows or threads."""
    ends = torch.arange(rows.shape[0] + 1, device=rows.device) * rows.shape[1]
    return _segments.of_segments(ends, rows.flatten())


class _Rows:
    """Weighted distances from the sources, or to them, in blocks that fit into memory."""

    def __init__(self, graph: Graph, request: Request, sources: Tensor, backward: bool) -> None:
        if request.engine == "tiny":  # the tiny engine has no rows
            request = request._replace(engine="dijkstra")
        self.plan, _ = _plan.plan(graph, request, sources.numel())
        plan = self.plan
        if plan.engine == "hierarchy":
            graph = _plan.of_many_distances(graph, request)
        self._graph = graph
        self.inputs = _rows.arcs(graph, backward, plan.engine), sources
        size = plan.lanes if plan.engine == "tensor" else max(plan.threads, 1) * ROWS[plan.engine]
        if plan.device.type == "cuda" and plan.engine != "tensor":
            size = max(plan.flight * plan.lanes, _ROWS_ON_CUDA)
        free = min(plan.memory_limit - plan.memory, _LARGEST_BLOCK)
        self.size = max(min(size, free // (_BYTES_PER_DISTANCE * max(graph.num_nodes, 1))), 1)

    def run(
        self, request: Request, key: Key, outputs: tuple[Tensor, ...], kinds: tuple[Kind, ...],
        compute: Part,
    ) -> None:  # fmt: skip
        total = self.inputs[1].numel()
        run(self.plan, request, key, self.inputs, outputs, kinds, compute, total=total)

    def blocks(self, inputs: Any, part: slice, control: Tensor) -> Iterator[Tensor]:
        """float64 blocks [b, n] of the rows of these sources, inf for no path."""
        arcs, every = inputs
        for sources in every[part].split(self.size):
            rows = _rows.empty(self._graph, sources.numel(), sources.device)
            _rows.fill(arcs, self.plan.engine, sources, rows, control, self.plan.launch)
            if control[CANCEL]:
                break
            yield _rows.lengths(self._graph, rows)


def distance_counts(graph: Graph, request: Request, sources: Tensor, longest: int) -> Tensor:
    """int64 [longest + 1]: the number of pairs at each weighted distance from the sources."""
    rows = _Rows(graph, request, sources, backward=False)
    total = torch.zeros(longest + 1, dtype=torch.int64, device=graph.device)

    def count(inputs: Any, part: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        for block in rows.blocks(inputs, part, control):
            lengths = block[torch.isfinite(block)].long()
            out[0].add_(torch.bincount(lengths, minlength=longest + 1))

    rows.run(request, {"levels of": sources}, (total,), ("sum",), count)
    return total


def distance_rows(graph: Graph, request: Request, sources: Tensor) -> Iterator[Tensor]:
    """Weighted distances from the sources: float64 blocks [b, n], inf for no path."""
    rows = _Rows(graph, request, sources, backward=False)
    plan = rows.plan
    quick = is_quick(plan, plan.sources)
    with progress_bar(sources.numel(), request.measure, request.progress, quick) as bar:
        for begin in range(0, sources.numel(), rows.size):
            part = slice(begin, min(begin + rows.size, sources.numel()))
            control = _codes.control(plan.workspace, begin)
            blocks: list[Tensor] = []
            work = partial(blocks.extend, rows.blocks(rows.inputs, part, control))
            at_work(work, control, bar, graph.device, quick or plan.engine == "tensor")
            bar.update(part.stop - bar.n)
            yield from blocks
