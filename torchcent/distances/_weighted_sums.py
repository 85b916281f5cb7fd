"""Sums over weighted distances: per source by the engines, per vertex from rows of distances."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from torchcent.distances._run import FAR, HARMONIC, REACH, Sums, in_order, is_quick, run
from torchcent.engines import _plan
from torchcent.engines import _weighted_rows as _rows
from torchcent.engines._request import Request
from torchcent.engines._tensor import _weighted
from torchcent.graph import Graph
from torchcent.runtime import _codes, _ops
from torchcent.runtime._codes import BATCH
from torchcent.runtime._watch import on_device, progress_bar, watched

# Rows of weighted distances: in the format of the engine, as float64, and temporaries.
_BYTES_PER_DISTANCE, _LARGEST_BLOCK = 32, 2**30
_ROWS_ON_CUDA = 512  # enough to keep any device busy, with a block of threads each


def vertex_sums(graph: Graph, request: Request, sources: Tensor | None, outgoing: bool) -> Sums:
    """Sums per vertex, as those of :func:`_distance_sums.vertex_sums`.

    For all vertices, each is searched from in the opposite direction, which needs no rows. With
    pivots, sums are accumulated row by row.
    """
    if sources is None:
        sources = torch.arange(graph.num_nodes, device=graph.device)
        return source_sums(graph, request, sources, outgoing)
    total = torch.zeros(graph.num_nodes, 4, dtype=torch.float64, device=graph.device)
    eccentricity = torch.zeros_like(total[:, FAR])
    for rows in distance_rows(graph, request, sources, backward=outgoing):
        for row in rows:  # one at a time, so that sums do not depend on the block size
            reached = _counts(row, request)
            row = torch.where(reached, row, 0)
            total[:, FAR] += row
            total[:, HARMONIC] += torch.where(reached, 1 / row, 0)
            total[:, REACH] += reached
            torch.maximum(eccentricity, row, out=eccentricity)
    return Sums(total, eccentricity, total.new_zeros(0, dtype=torch.int64))


def source_sums(graph: Graph, request: Request, sources: Tensor, outgoing: bool) -> Sums:
    if request.cutoff is not None:
        return _cut_source_sums(graph, request, sources, outgoing)
    plan, core = _plan.plan(graph, request, sources.numel())
    start, place = in_order(core, sources, not outgoing)
    sums = torch.zeros(start.numel(), 3, dtype=torch.float64, device=graph.device)
    farthest = torch.zeros_like(sums[:, 0])
    csr = _rows.direction(core, not outgoing)

    def compiled(control: Tensor) -> None:
        _ops.ops.weighted_source_sums(
            *csr, start, sums, farthest, control, _codes.ENGINE[plan.engine], *plan.launch
        )

    def tensor(part: slice) -> None:
        _weighted.source_sums(*csr[:3], start[part], sums[part], farthest[part])

    run(plan, start.numel(), request.progress, compiled, tensor)
    total = sums.new_zeros(sources.numel(), 4)
    unit = graph.scale.unit
    total[place[:, None], torch.tensor([FAR, HARMONIC, REACH], device=sums.device)] = (
        sums * sums.new_tensor([unit, 1 / unit, 1])
    )
    return Sums(
        total,
        total.new_zeros(sources.numel()).index_copy_(0, place, farthest * unit),
        total.new_zeros(0, dtype=torch.int64),
    )


def _cut_source_sums(graph: Graph, request: Request, sources: Tensor, outgoing: bool) -> Sums:
    """:func:`source_sums` within a cutoff, from rows of distances."""
    total = torch.zeros(sources.numel(), 4, dtype=torch.float64, device=graph.device)
    eccentricity, done = torch.zeros_like(total[:, FAR]), 0
    for rows in distance_rows(graph, request, sources, backward=not outgoing):
        part = slice(done, done + rows.shape[0])
        counts = _counts(rows, request)
        within = torch.where(counts, rows, 0)
        total[part, FAR], total[part, REACH] = _row_sums(within), counts.sum(1).double()
        eccentricity[part] = within.amax(1) if rows.shape[1] else 0
        total[part, HARMONIC] = _row_sums(within.reciprocal_().masked_fill_(~counts, 0))
        done = part.stop
    return Sums(total, eccentricity, total.new_zeros(0, dtype=torch.int64))


def _counts(row: Tensor, request: Request) -> Tensor:
    """Which distances of a row are those of pairs that count."""
    limit = torch.finfo(row.dtype).max if request.cutoff is None else request.cutoff
    return (row > 0) & (row <= limit)


def _row_sums(rows: Tensor) -> Tensor:
    """The sum of each row in the order of its entries, whatever the number of rows and threads."""
    lengths = torch.full((rows.shape[0],), rows.shape[1], device=rows.device)
    return torch.segment_reduce(rows.flatten(), "sum", lengths=lengths, unsafe=True)


def distance_rows(
    graph: Graph, request: Request, sources: Tensor, backward: bool = False
) -> Iterator[Tensor]:
    """Weighted distances from the sources, or to them: float64 blocks [b, n], inf for no path."""
    if request.engine == "tiny":  # the tiny engine has no rows
        request = request._replace(engine="dijkstra")
    plan, _ = _plan.plan(graph, request, sources.numel())
    size = plan.lanes if plan.engine == "tensor" else max(plan.threads, 1) * BATCH[plan.engine]
    if plan.device.type == "cuda" and plan.engine != "tensor":
        size = max(plan.flight * plan.lanes, _ROWS_ON_CUDA)
    room = min(plan.memory_limit - plan.memory, _LARGEST_BLOCK)
    size = min(size, room // (_BYTES_PER_DISTANCE * max(graph.num_nodes, 1)))
    quick = is_quick(plan)
    with progress_bar(sources.numel(), request.measure, request.progress, quick) as bar:
        done = 0
        for part in sources.split(max(size, 1)):
            rows = _rows.empty(graph, part.numel())
            control = _codes.control(plan.workspace, done)
            work = partial(
                _rows.fill, graph, plan.engine, part, rows, control, plan.launch, backward
            )
            if quick or plan.engine == "tensor":
                work()
            else:
                watched(on_device(work, graph.device), control, bar)
            done += part.numel()
            bar.update(done - bar.n)
            yield _rows.lengths(graph, rows)
