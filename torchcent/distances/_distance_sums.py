"""The sums of the distance measures: of one graph, of a batch, by hops; unfolding.

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
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.check._cutoff import Cutoffs
from torchcent.check._run import Run
from torchcent.distances import _by_hierarchy, _by_reference, _weighted_sums
from torchcent.distances._run import (
    FAR,
    FARTHER,
    REACH,
    Sums,
    direction,
    in_order,
    limits_of,
    run,
)
from torchcent.distribute._arguments import scale_of, shown
from torchcent.engines._tensor import _distances as tensor_engine
from torchcent.engines.measures import _normalize
from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _choice, _pieces, _plan
from torchcent.engines.reduce._core import Core
from torchcent.engines.search import _tiny
from torchcent.graph import Graph, _batch
from torchcent.graph._pieces import Pieces
from torchcent.runtime import _ops

# The columns of the tiny engine that are those of sums. It does not count 1/(d + 1), nor distances
# along outgoing arcs.
_IN = torch.tensor([_tiny.FARNESS, _tiny.HARMONIC, _tiny.HARMONIC, _tiny.REACH], device="cpu")
_OUT = torch.tensor([_tiny.REACH_OUT] * 4, device="cpu")


def request_for(measure: str, graph: Graph, run: Run, limits: Cutoffs | None = None) -> Request:
    """The validated arguments common to all distance measures."""
    engine = check_weights.engine(run.engine.name, graph, check.DISTANCE_ENGINES)
    if engine == "reference":
        _choice.in_reference(KERNELS[measure])
    if engine == "queue":  # some measures have enough of searches that are not planned
        check.distance_kernel(engine, "distance_sums", graph.device)
    scale = scale_of(graph, run)
    return Request(
        measure, engine, cutoffs=None if limits is None else limits.lengths, memory=run.memory,
        progress=shown(scale, run.progress), dtype=run.dtype, scale=scale,
    )  # fmt: skip


def over_all(sums: Sums, graph: Graph, pivots: Tensor | None) -> Sums:
    """Sums over all other vertices, exact or estimated from those over pivots."""
    if pivots is None:
        return sums
    return replace(sums, total=_normalize.from_pivots(sums.total, graph, pivots))


def of_each_cutoff(
    graph: Graph, request: Request, find: Callable[[Request], Sums]
) -> Iterator[Sums]:
    """What `find` computes for each cutoff of a request, from one search.

    No cutoff, as which inf counts, has reductions of its own.
    """
    assert request.cutoffs is not None
    limits = tuple(each for each in request.cutoffs if each < torch.inf)
    if limits:
        sums = find(request._replace(cutoffs=limits))
        for column, limit in enumerate(limits):
            yield sums.within(column, limit)
    if len(limits) < len(request.cutoffs):
        yield find(request._replace(cutoffs=None))


def vertex_sums(
    graph: Graph, request: Request, *, sources: Tensor | None = None, outgoing: bool = False,
    levels: bool = False,
) -> Sums:  # fmt: skip
    """Sums per vertex v over the sources u (None: all) of d(u, v), or of d(v, u) if outgoing.

    With `levels`, pairs are also counted by distance in hops; `request.measure` must then be a
    measure that does not fold. In a batch, entry ptr[g] + d counts the pairs of graph g. For small
    graphs, only reach and eccentricity are available as outgoing sums.
    """
    request.begin(graph)
    small, large = _split(graph, request)
    if graph.ptr is not None or small.size:
        return _batch_sums(graph, request, sources, outgoing, levels, small, large)
    if request.engine == "reference":
        return _by_reference.sums(graph, request, sources, backward=outgoing, of_sources=False)
    count = None if sources is None else sources.numel()
    split = _pieces.of(graph, request, count)
    if split is not None:
        sums = vertex_sums(
            split.graph, _pieces.of_batch(graph, split, request),
            sources=_pieces.in_batch(split, sources), outgoing=outgoing, levels=levels,
        )  # fmt: skip
        return _of_pieces(split, sums, levels)
    if graph.is_weighted:
        return _weighted_sums.vertex_sums(graph, request, sources, outgoing)
    plan, core = _plan.plan(graph, request, count)
    if plan.engine == "hierarchy":
        return _by_hierarchy.vertex_sums(graph, request, plan, core, sources, outgoing)
    single = plan.engine == "queue"
    if single and sources is None and not levels:
        # Sums of each search by itself need no rows of distances.
        every = torch.arange(graph.num_nodes, device=graph.device)
        return source_sums(graph, request, every, outgoing)
    n = core.num_nodes
    hanging = torch.bincount(
        core.fold.parent.index_select(0, core.fold.order), minlength=graph.num_nodes
    )
    start, _ = in_order(core, sources, outgoing)
    sums = Sums.zeros(n, graph, request, n + 1 if levels else 0)
    leaves = hanging.index_select(0, core.vertex).index_select(0, start).int()
    inputs, limits = (direction(core, outgoing), start, leaves), limits_of(graph, request)

    def compiled(inputs: Any, part: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        csr, start, leaves = inputs
        _ops.ops.distance_sums(
            *csr, start[part], leaves[part], *out, control, plan.threads, limits, single
        )  # fmt: skip

    def tensor(inputs: Any, part: slice, out: tuple[Tensor, ...], _: Tensor) -> None:
        csr, start, leaves = inputs
        total, farthest, pairs = out
        tensor_engine.distance_sums(
            csr[0], csr[1], sources=start[part], leaves=leaves[part], sums=total,
            eccentricity=farthest, levels=pairs, limits=limits,
        )  # fmt: skip

    key = {"from": sources, "outgoing": outgoing, "levels": levels}
    outputs = sums.total, sums.eccentricity, sums.levels
    part = tensor if plan.engine == "tensor" else compiled
    run(plan, request, key, inputs, outputs, ("sum", "max", "sum"), part, total=start.numel())
    if levels:
        sums.levels[0] = graph.num_nodes if sources is None else sources.numel()
    return _unfold(graph, core, hanging, sums)


def source_sums(graph: Graph, request: Request, sources: Tensor, outgoing: bool = False) -> Sums:
    """Sums per source s over all vertices v of d(v, s), or of d(s, v) if outgoing."""
    request.begin(graph)
    if graph.ptr is not None or _split(graph, request)[0].size:
        return _batch_source_sums(graph, request, sources, outgoing)
    if request.engine == "reference":
        return _by_reference.sums(graph, request, sources, backward=not outgoing, of_sources=True)
    split = _pieces.of(graph, request, sources.numel())
    if split is not None:
        place = split.rank.index_select(0, sources)
        within = _pieces.of_batch(graph, split, request)
        return _batch_source_sums(split.graph, within, place, outgoing)
    if graph.is_weighted:
        return _weighted_sums.source_sums(graph, request, sources, outgoing)
    request = _by_hierarchy.chosen(graph, request, sources.numel())
    plan, core = _plan.plan(graph, request, sources.numel())
    if plan.engine == "hierarchy":
        return _by_hierarchy.source_sums(graph, request, plan, core, sources, outgoing)
    start, place = in_order(core, sources, not outgoing)
    single = plan.engine == "queue"
    sums = Sums.zeros(start.numel(), graph, request)
    inputs, limits = (direction(core, not outgoing), start), limits_of(graph, request)

    def compiled(inputs: Any, part: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        csr, start = inputs
        _ops.ops.source_sums(*csr, start[part], *out, control, plan.threads, limits, single)

    def tensor(inputs: Any, part: slice, out: tuple[Tensor, ...], _: Tensor) -> None:
        csr, start = inputs
        total, farthest = out
        tensor_engine.source_sums(csr[0], csr[1], start[part], total, farthest, limits)

    key = {"of": sources, "outgoing": outgoing}
    outputs = sums.total, sums.eccentricity
    part = tensor if plan.engine == "tensor" else compiled
    run(plan, request, key, inputs, outputs, ("rows", "rows"), part, total=start.numel())
    own = Sums.zeros(sources.numel(), graph, request)
    own.total.index_copy_(0, place, sums.total)
    own.eccentricity.index_copy_(0, place, sums.eccentricity)
    return own


def _batch_sums(
    graph: Graph, request: Request, sources: Tensor | None, outgoing: bool, levels: bool,
    small: _tiny.Numbers, large: list[int],
) -> Sums:  # fmt: skip
    """:func:`vertex_sums` of each graph of a batch; zeros where a graph has no sources."""
    if small.size:
        sums = small_sums(graph, request, small, sources, outgoing, levels)
    else:
        n = graph.num_nodes
        sums = Sums.zeros(n, graph, request, n if levels else 0)
    if not levels:
        whole, graph = graph, _pieces.put_together(graph, request)
        large = large if graph is whole else list(range(graph.num_graphs))
    own = _batch.chosen(graph, sources)
    for number in large:
        start, (vertices, _) = own(number), _batch.run(graph, number)
        if vertices.start == vertices.stop or (start is not None and start.numel() == 0):
            continue
        one = vertex_sums(
            _batch.part(graph, number), request, sources=start, outgoing=outgoing, levels=levels
        )
        sums.total[vertices] = one.total
        sums.eccentricity[vertices] = one.eccentricity
        if levels:
            sums.levels[vertices] = one.levels[: vertices.stop - vertices.start]
    return sums


def small_sums(
    graph: Graph, request: Request, small: _tiny.Numbers, sources: Tensor | None = None,
    outgoing: bool = False, levels: bool = False,
) -> Sums:  # fmt: skip
    """The same for these graphs only, by the tiny engine; zeros elsewhere."""
    names = ["distances", "levels"] if levels else ["distances"]
    tiny = _tiny.run(
        graph, small, names, request.measure, sources=sources, memory=request.memory,
        progress=request.progress, scale=request.scale,
    )  # fmt: skip
    columns, last = (_OUT, _tiny.FARTHEST_OUT) if outgoing else (_IN, _tiny.FARTHEST)
    total = tiny.distances.index_select(1, columns.to(graph.device))
    if outgoing:
        total[:, :REACH] = torch.nan
    farthest = tiny.distances[:, last]
    return Sums(total, farthest if graph.is_weighted else farthest.int(), tiny.levels)


def _batch_source_sums(graph: Graph, request: Request, sources: Tensor, outgoing: bool) -> Sums:
    small, large = _split(graph, request)
    sums = Sums.zeros(sources.numel(), graph, request)
    total, eccentricity = sums.total, sums.eccentricity.double()
    if small.size:  # incoming sums need searches from all vertices
        of_small = small_sums(graph, request, small, sources if outgoing else None, outgoing)
        total, eccentricity = of_small.total[sources], of_small.eccentricity[sources].double()
    whole, graph = graph, _pieces.put_together(graph, request)
    large = large if graph is whole else list(range(graph.num_graphs))
    own = _batch.chosen(graph, sources)
    rows_of = _batch.places(graph, sources)
    for number in large:
        start = own(number)
        if start is not None and start.numel():
            one = source_sums(_batch.part(graph, number), request, start, outgoing)
            rows = rows_of(number)
            total[rows], eccentricity[rows] = one.total, one.eccentricity.double()
    return Sums(total, eccentricity)


def _of_pieces(split: Pieces, sums: Sums, levels: bool) -> Sums:
    """Sums of a batch as those of the graph whose components its graphs are."""
    rank, pairs = split.rank, sums.levels
    if levels:
        assert split.graph.ptr is not None and split.graph.batch is not None
        place = torch.nonzero(pairs).flatten()
        first = split.graph.ptr.index_select(0, split.graph.batch.index_select(0, place))
        pairs = pairs.new_zeros(rank.numel() + 1)
        pairs.index_add_(0, place - first, sums.levels.index_select(0, place))
    return Sums(sums.total.index_select(0, rank), sums.eccentricity.index_select(0, rank), pairs)


def _split(graph: Graph, request: Request) -> tuple[_tiny.Numbers, list[int]]:
    """The graphs for the tiny engine, which knows no cutoff, and the others."""
    return _tiny.split(graph, request.engine if request.cutoffs is None else "bits")


def _unfold(graph: Graph, core: Core, hanging: Tensor, sums: Sums) -> Sums:
    """Extends the sums from the core to the graph, by the formulas above."""
    # A vertex whose neighbours are all leaves is not in the core: its sums are over these leaves.
    total = hanging.double().unsqueeze(1) * hanging.new_tensor([1, 1, 0.5, 1], dtype=torch.float64)
    if sums.total.dim() == 3:  # cutoffs, without leaves
        total = sums.total.new_zeros(graph.num_nodes, *sums.total.shape[1:])
    eccentricity = (hanging > 0).int()
    total.index_copy_(0, core.vertex, sums.total)
    eccentricity.index_copy_(0, core.vertex, sums.eccentricity)
    leaf = core.fold.order
    if leaf.numel():
        parent = core.fold.parent.index_select(0, leaf)
        other = total.index_select(0, parent)
        reach = other[:, REACH]
        far, harmonic = other[:, FAR] + reach - 1, other[:, FARTHER] + 0.5
        columns = [far, harmonic, torch.zeros_like(far), reach]
        total.index_copy_(0, leaf, torch.stack(columns, dim=1))
        farthest = torch.where(reach == 1, 1, eccentricity.index_select(0, parent) + 1)
        eccentricity.index_copy_(0, leaf, farthest.int())
    return Sums(total, eccentricity, sums.levels)
