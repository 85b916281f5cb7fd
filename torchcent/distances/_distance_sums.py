"""The sums of the distance measures: plan, search with progress and Ctrl-C, unfolding.

Leaves (vertices of degree 1) of a symmetric graph are folded once. Let l_s be the number of leaves
folded onto s. A search from s then stands for one source at distance d and l_s sources at d + 1, so
that the sums of v are over all vertices. The sums of a leaf x follow from those of its neighbour v,
because all vertices but v itself reach x through v. Let r be the number of vertices that reach v,
including x:

    farness(x) = farness(v) + r - 1        each of r - 1 is one hop farther from x than from v,
                                           x itself drops out (-1), v is added (+1)
    harmonic(x) = sum of 1/(d + 1) over those r, minus 1/2 for x itself, plus 1 for v
    eccentricity(x) = eccentricity(v) + 1, or 1 if x and v are alone
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.engines import _plan, _reduce, _tiny
from torchcent.engines import _weighted_rows as _rows
from torchcent.engines._plan import Plan
from torchcent.engines._request import Request
from torchcent.engines._tensor import _distances as tensor_engine
from torchcent.engines._tensor import _weighted
from torchcent.graph import Graph, _batch
from torchcent.runtime import _codes, _ops
from torchcent.runtime._codes import BATCH
from torchcent.runtime._watch import on_device, progress_bar, watched

# Rows of weighted distances: in the format of the engine, as float64, and temporaries.
_BYTES_PER_DISTANCE, _LARGEST_BLOCK = 32, 2**30
_ROWS_ON_CUDA = 512  # enough to keep any device busy, with a block of threads each
# Sources x slots below which a thread and a bar do not pay off.
INLINE_WORK = {"bits": 1e8, "tensor": 2e7, "relax": 2e7, "dijkstra": 2e7}
FAR, HARMONIC, FARTHER, REACH = range(4)  # columns of sums: d, 1/d, 1/(d + 1), pairs


@dataclass(frozen=True)
class Sums:
    """Sums over distances, per vertex of the graph or per source."""

    total: Tensor  # float64 [n, 4]
    eccentricity: Tensor  # int32 [n], float64 by weights, over the vertices reached
    levels: Tensor  # int64 [n + 1] pairs by distance, or empty

    @property
    def farness(self) -> Tensor:
        return self.total[:, FAR]

    @property
    def harmonic(self) -> Tensor:
        return self.total[:, HARMONIC]

    @property
    def reach(self) -> Tensor:
        return self.total[:, REACH]


def asked(
    measure: str, graph: Graph, engine: str, memory: int | None, progress: bool | None, dtype: Any,
    cutoff: object = None,
) -> Request:  # fmt: skip
    """The validated arguments common to all distance measures."""
    check_weights.engine(engine, graph, check.DISTANCE_ENGINES)
    limit = check.cutoff(cutoff, engine)
    if progress is not None:
        check.flag(progress, "progress")
    dtype = check.float_dtype(dtype)
    budget = check.byte_budget(memory)
    return Request(measure, engine, cutoff=limit, memory=budget, progress=progress, dtype=dtype)


def vertex_sums(
    graph: Graph, how: Request, *, sources: Tensor | None = None, outgoing: bool = False,
    levels: bool = False,
) -> Sums:  # fmt: skip
    """Sums per vertex v over the sources u (None: all) of d(u, v), or of d(v, u) if outgoing.

    With `levels`, pairs are also counted by distance in hops; `how.measure` must then be a measure
    that does not fold. In a batch, entry ptr[g] + d counts the pairs of graph g. For small graphs,
    only reach and eccentricity are available as outgoing sums.
    """
    small, large = _split(graph, how)
    if graph.ptr is not None or small.size:
        return _batch_sums(graph, how, sources, outgoing, levels, small, large)
    if graph.is_weighted:
        return _weighted_sums(graph, how, sources, outgoing)
    count = None if sources is None else sources.numel()
    made, core = _plan.plan(graph, how, count)
    n, device = core.num_nodes, graph.device
    hanging = torch.bincount(core.fold.parent[core.fold.order], minlength=graph.num_nodes)
    start, _ = _in_order(core, sources, outgoing)
    found = Sums(
        torch.zeros(n, 4, dtype=torch.float64, device=device),
        torch.zeros(n, dtype=torch.int32, device=device),
        torch.zeros(n + 1 if levels else 0, dtype=torch.int64, device=device),
    )
    leaves = hanging[core.vertex][start].int()
    csr = _direction(core, outgoing)
    factor = _factor(graph, how)

    def bits(control: Tensor) -> None:
        _ops.ops.distance_sums(
            *csr, start, leaves, found.total, found.eccentricity, found.levels, control,
            made.threads, factor,
        )  # fmt: skip

    def tensor(part: slice) -> None:
        tensor_engine.distance_sums(
            *csr[:2], start[part], leaves[part], found.total, found.eccentricity, found.levels,
            factor,
        )  # fmt: skip

    _run(made, start.numel(), how.progress, bits, tensor)
    if levels:
        found.levels[0] = graph.num_nodes if sources is None else sources.numel()
    return _unfolded(graph, core, hanging, found)


def source_sums(graph: Graph, how: Request, sources: Tensor, outgoing: bool = False) -> Sums:
    """Sums per source s over all vertices v of d(v, s), or of d(s, v) if outgoing."""
    if graph.ptr is not None or _split(graph, how)[0].size:
        return _batch_source_sums(graph, how, sources, outgoing)
    if graph.is_weighted:
        return _weighted_source_sums(graph, how, sources, outgoing)
    made, core = _plan.plan(graph, how, sources.numel())
    start, place = _in_order(core, sources, not outgoing)
    size, device = sources.numel(), graph.device
    found = Sums(
        torch.zeros(start.numel(), 4, dtype=torch.float64, device=device),
        torch.zeros(start.numel(), dtype=torch.int32, device=device),
        torch.empty(0, dtype=torch.int64, device=device),
    )
    csr = _direction(core, not outgoing)
    factor = _factor(graph, how)

    def bits(control: Tensor) -> None:
        _ops.ops.source_sums(
            *csr, start, found.total, found.eccentricity, control, made.threads, factor
        )

    def tensor(part: slice) -> None:
        tensor_engine.source_sums(
            *csr[:2], start[part], found.total[part], found.eccentricity[part], factor
        )

    _run(made, start.numel(), how.progress, bits, tensor)
    return Sums(
        found.total.new_zeros(size, 4).index_copy_(0, place, found.total),
        found.eccentricity.new_zeros(size).index_copy_(0, place, found.eccentricity),
        found.levels,
    )


def _batch_sums(
    graph: Graph, how: Request, sources: Tensor | None, outgoing: bool, levels: bool,
    small: _tiny.Numbers, large: list[int],
) -> Sums:  # fmt: skip
    """:func:`vertex_sums` of each graph of a batch; zeros where a graph has no sources."""
    n, device = graph.num_nodes, graph.device
    if small.size:
        found = small_sums(graph, how, small, sources, outgoing, levels)
    else:
        kind = torch.float64 if graph.is_weighted else torch.int32
        found = Sums(
            torch.zeros(n, 4, dtype=torch.float64, device=device),
            torch.zeros(n, dtype=kind, device=device),
            torch.zeros(n if levels else 0, dtype=torch.int64, device=device),
        )
    own = _batch.chosen(graph, sources)
    for number in large:
        start, (vertices, _) = own(number), _batch.run(graph, number)
        if vertices.start == vertices.stop or (start is not None and start.numel() == 0):
            continue
        one = vertex_sums(
            _batch.part(graph, number), how, sources=start, outgoing=outgoing, levels=levels
        )
        found.total[vertices] = one.total
        found.eccentricity[vertices] = one.eccentricity
        if levels:
            found.levels[vertices] = one.levels[: vertices.stop - vertices.start]
    return found


def small_sums(
    graph: Graph, how: Request, small: _tiny.Numbers, sources: Tensor | None = None,
    outgoing: bool = False, levels: bool = False,
) -> Sums:  # fmt: skip
    """The same for these graphs only, by the tiny engine; zeros elsewhere."""
    wanted = ["distances", "levels"] if levels else ["distances"]
    found = _tiny.run(
        graph, small, wanted, how.measure, sources=sources, memory=how.memory,
        progress=how.progress,
    )  # fmt: skip
    column = found.distances.T
    total = found.distances.new_zeros(graph.num_nodes, 4)
    if outgoing:
        total[:, [FAR, HARMONIC]] = torch.nan
        total[:, REACH], farthest = column[_tiny.REACH_OUT], column[_tiny.FARTHEST_OUT]
    else:
        total[:, FAR], total[:, HARMONIC] = column[_tiny.FARNESS], column[_tiny.HARMONIC]
        total[:, REACH], farthest = column[_tiny.REACH], column[_tiny.FARTHEST]
    return Sums(total, farthest if graph.is_weighted else farthest.int(), found.levels)


def _batch_source_sums(graph: Graph, how: Request, sources: Tensor, outgoing: bool) -> Sums:
    small, large = _split(graph, how)
    total = torch.zeros(sources.numel(), 4, dtype=torch.float64, device=graph.device)
    eccentricity = torch.zeros_like(total[:, 0])
    if small.size:  # incoming sums need searches from all vertices
        of_small = small_sums(graph, how, small, sources if outgoing else None, outgoing)
        total, eccentricity = of_small.total[sources], of_small.eccentricity[sources].double()
    owner = _batch.of_graph(graph, sources)
    own = _batch.chosen(graph, sources)
    for number in large:
        start = own(number)
        if start is not None and start.numel():
            one = source_sums(_batch.part(graph, number), how, start, outgoing)
            rows = torch.nonzero(owner == number).flatten()
            total[rows], eccentricity[rows] = one.total, one.eccentricity.double()
    return Sums(total, eccentricity, total.new_zeros(0, dtype=torch.int64))


def _weighted_sums(graph: Graph, how: Request, sources: Tensor | None, outgoing: bool) -> Sums:
    """:func:`vertex_sums` by weights.

    For all vertices, each is searched from in the opposite direction, which needs no rows. With
    pivots, sums are accumulated row by row.
    """
    if sources is None:
        sources = torch.arange(graph.num_nodes, device=graph.device)
        return _weighted_source_sums(graph, how, sources, outgoing)
    total = torch.zeros(graph.num_nodes, 4, dtype=torch.float64, device=graph.device)
    eccentricity = torch.zeros_like(total[:, FAR])
    for rows in distance_rows(graph, how, sources, backward=outgoing):
        for row in rows:  # one at a time, so that sums do not depend on the block size
            reached = _counts(row, how)
            row = torch.where(reached, row, 0)
            total[:, FAR] += row
            total[:, HARMONIC] += torch.where(reached, 1 / row, 0)
            total[:, REACH] += reached
            torch.maximum(eccentricity, row, out=eccentricity)
    return Sums(total, eccentricity, total.new_zeros(0, dtype=torch.int64))


def _counts(row: Tensor, how: Request) -> Tensor:
    """Which distances of a row are those of pairs that count."""
    limit = torch.finfo(row.dtype).max if how.cutoff is None else how.cutoff
    return (row > 0) & (row <= limit)


def _weighted_source_sums(graph: Graph, how: Request, sources: Tensor, outgoing: bool) -> Sums:
    if how.cutoff is not None:
        return _cut_source_sums(graph, how, sources, outgoing)
    made, core = _plan.plan(graph, how, sources.numel())
    start, place = _in_order(core, sources, not outgoing)
    sums = torch.zeros(start.numel(), 3, dtype=torch.float64, device=graph.device)
    farthest = torch.zeros_like(sums[:, 0])
    csr = _rows.direction(core, not outgoing)

    def compiled(control: Tensor) -> None:
        _ops.ops.weighted_source_sums(
            *csr, start, sums, farthest, control, _codes.ENGINE[made.engine], *made.launch
        )

    def tensor(part: slice) -> None:
        _weighted.source_sums(*csr[:3], start[part], sums[part], farthest[part])

    _run(made, start.numel(), how.progress, compiled, tensor)
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


def _cut_source_sums(graph: Graph, how: Request, sources: Tensor, outgoing: bool) -> Sums:
    """:func:`_weighted_source_sums` within a cutoff, from rows of distances."""
    total = torch.zeros(sources.numel(), 4, dtype=torch.float64, device=graph.device)
    eccentricity, done = torch.zeros_like(total[:, FAR]), 0
    for rows in distance_rows(graph, how, sources, backward=not outgoing):
        part = slice(done, done + rows.shape[0])
        counts = _counts(rows, how)
        within = torch.where(counts, rows, 0)
        total[part, FAR], total[part, REACH] = _row_sums(within), counts.sum(1).double()
        eccentricity[part] = within.amax(1) if rows.shape[1] else 0
        total[part, HARMONIC] = _row_sums(within.reciprocal_().masked_fill_(~counts, 0))
        done = part.stop
    return Sums(total, eccentricity, total.new_zeros(0, dtype=torch.int64))


def _row_sums(rows: Tensor) -> Tensor:
    """The sum of each row in the order of its entries, whatever the number of rows and threads."""
    lengths = torch.full((rows.shape[0],), rows.shape[1], device=rows.device)
    return torch.segment_reduce(rows.flatten(), "sum", lengths=lengths, unsafe=True)


def _factor(graph: Graph, how: Request) -> Tensor | None:
    """What a pair counts at each distance in hops: 1 up to the cutoff."""
    if how.cutoff is None:
        return None
    size = int(min(how.cutoff, graph.num_nodes)) + 1
    return torch.ones(size, dtype=torch.float64, device=graph.device)


def _split(graph: Graph, how: Request) -> tuple[_tiny.Numbers, list[int]]:
    """The graphs for the tiny engine, which knows no cutoff, and the others."""
    return _tiny.split(graph, how.engine if how.cutoff is None or how.engine == "tiny" else "bits")


def distance_rows(
    graph: Graph, how: Request, sources: Tensor, backward: bool = False
) -> Iterator[Tensor]:
    """Weighted distances from the sources, or to them: float64 blocks [b, n], inf for no path."""
    if how.engine == "tiny":  # the tiny engine has no rows
        how = how._replace(engine="dijkstra")
    made, _ = _plan.plan(graph, how, sources.numel())
    size = made.lanes if made.engine == "tensor" else max(made.threads, 1) * BATCH[made.engine]
    if made.device.type == "cuda" and made.engine != "tensor":
        size = max(made.flight * made.lanes, _ROWS_ON_CUDA)
    room = min(made.memory_limit - made.memory, _LARGEST_BLOCK)
    size = min(size, room // (_BYTES_PER_DISTANCE * max(graph.num_nodes, 1)))
    quick = is_quick(made)
    with progress_bar(sources.numel(), how.measure, how.progress, quick) as bar:
        done = 0
        for part in sources.split(max(size, 1)):
            rows = _rows.empty(graph, part.numel())
            control = _codes.control(made.workspace, done)
            work = partial(
                _rows.fill, graph, made.engine, part, rows, control, made.launch, backward
            )
            if quick or made.engine == "tensor":
                work()
            else:
                watched(on_device(work, graph.device), control, bar)
            done += part.numel()
            bar.update(done - bar.n)
            yield _rows.lengths(graph, rows)


def is_quick(plan: Plan) -> bool:
    """Returns whether a run is too short for a thread and a progress bar to pay off."""
    return plan.sources * plan.core_slots < INLINE_WORK[plan.engine]


def _direction(core: _reduce.Core, backward: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """CSR and its transpose; swapped to search along reversed arcs."""
    if backward:
        return core.colptr, core.row, core.rowptr, core.col
    return core.rowptr, core.col, core.colptr, core.row


def _in_order(core: _reduce.Core, sources: Tensor | None, backward: bool) -> tuple[Tensor, Tensor]:
    """The core vertices to search from, and their positions in `sources`.

    Vertices of a batch are close together. Vertices without arcs to follow are omitted, because
    searches from them find nothing.
    """
    near = core.near
    begins = _direction(core, backward)[0].diff() > 0
    if sources is None:
        start = near.masked_select(begins.index_select(0, near))
        return start, start
    at = torch.full((core.fold.parent.numel(),), -1, device=sources.device)
    at[core.vertex] = torch.arange(core.num_nodes, device=sources.device)
    rank = torch.empty_like(near)
    rank[near] = torch.arange(core.num_nodes, device=sources.device)
    place = torch.nonzero(at[sources] >= 0).flatten()
    place = place[begins[at[sources[place]]]]
    place = place[torch.argsort(rank[at[sources[place]]])]
    return at[sources[place]], place


def farthest(graph: Graph, how: Request, sources: Tensor, backward: bool) -> Tensor:
    """int32 [k]: the largest distance from each source, or to it, by single searches; CPU only."""
    rowptr, col = graph.transpose if backward else (graph.rowptr, graph.col)
    found = sources

    def work(control: Tensor) -> None:
        nonlocal found
        found = _ops.ops.search_summary(rowptr, col, sources, control, torch.get_num_threads())

    quick = sources.numel() * graph.num_slots < INLINE_WORK["tensor"]
    with progress_bar(sources.numel(), how.measure, how.progress, quick) as bar:
        _run_compiled(work, 0, graph.device, quick, bar)
    return found[:, 0].int()


def _run(
    made: Plan, total: int, progress: bool | None, bits: Callable[[Tensor], None],
    tensor: Callable[[slice], None],
) -> None:  # fmt: skip
    """Runs all sources: in one call of a compiled engine, or in batches on the tensor engine."""
    quick = is_quick(made)
    with progress_bar(total, made.measure, progress, quick) as bar:
        if made.engine == "tensor":
            _run_batches(total, max(made.lanes, 1), tensor, bar)
        else:
            _run_compiled(bits, made.workspace, made.device, quick, bar)


def _run_compiled(
    call: Callable[[Tensor], None], workspace: int, device: torch.device, quick: bool, bar: tqdm
) -> None:
    control = _codes.control(workspace)
    if quick:
        call(control)
    else:
        watched(on_device(lambda: call(control), device), control, bar)


def _run_batches(total: int, lanes: int, tensor: Callable[[slice], None], bar: tqdm) -> None:
    for begin in range(0, total, lanes):
        end = min(begin + lanes, total)
        tensor(slice(begin, end))
        bar.update(end - begin)


def _unfolded(graph: Graph, core: _reduce.Core, hanging: Tensor, found: Sums) -> Sums:
    """Extends the sums from the core to the graph, by the formulas above."""
    # A vertex whose neighbours are all leaves is not in the core: its sums are over these leaves.
    total = hanging.double().unsqueeze(1) * hanging.new_tensor([1, 1, 0.5, 1], dtype=torch.float64)
    eccentricity = (hanging > 0).int()
    total[core.vertex] = found.total
    eccentricity[core.vertex] = found.eccentricity
    leaf = core.fold.order
    if leaf.numel():
        parent = core.fold.parent[leaf]
        other = total[parent]
        reach = other[:, REACH]
        far, harmonic = other[:, FAR] + reach - 1, other[:, FARTHER] + 0.5
        total[leaf] = torch.stack([far, harmonic, torch.zeros_like(far), reach], dim=1)
        eccentricity[leaf] = torch.where(reach == 1, 1, eccentricity[parent] + 1).int()
    return Sums(total, eccentricity, found.levels)
