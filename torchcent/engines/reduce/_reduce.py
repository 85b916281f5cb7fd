"""Exact reductions before the search, as a chain.

Each link takes the pairs of vertices that count and leaves fewer of them; the others are counted in
closed form. The links are folding (_fold.py) and the merging of twins (_twins.py). Finally,
isolated vertices are removed, and the rest is renumbered in an order that suits the engine.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import torch
from torch import Tensor

from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._problem import Pairs, Reduction
from torchcent.engines.measures._request import weights
from torchcent.engines.measures._visitors import Visitor
from torchcent.engines.reduce import _cutoffs, _hops, _twins
from torchcent.engines.reduce._core import Core
from torchcent.engines.reduce._fold import Fold
from torchcent.engines.reduce._twins import Twins
from torchcent.graph import Graph, _csr, _device, _weights
from torchcent.graph._cache import Slot, tensors
from torchcent.runtime import _ops
from torchcent.runtime._codes import BATCH


@dataclass(frozen=True, eq=False)
class Problem:
    """The search that is left to do, and the contributions known without it."""

    measure: str
    core: Core
    sources: Tensor  # core vertices, in the order in which they fill batches
    source_weight: Tensor  # a, per source
    own_weight: Tensor  # c, per source
    target_weight: Tensor  # b, per core vertex
    through_weight: Tensor  # h, per core vertex
    known: Tensor  # counted in closed form by the chain, per vertex or slot of the graph
    graph: Graph
    limits: Tensor | None = None  # cutoffs in the units of the engines, one row of scores each
    mirrored: bool = False  # with limits: (s, t) and (t, s) both count, and score the same

    def total(self, searched: Tensor) -> Tensor:
        """What is known and what was found, per core vertex or slot."""
        edges = KERNELS[self.measure].per_slot
        place = self.core.slot if edges else self.core.vertex
        assert place is not None  # see with_slots
        if self.limits is not None:  # nothing is known
            columns = self.known.new_zeros(self.known.numel(), self.limits.numel())
            return columns.index_copy_(0, place, searched.T)
        if self.core.twins is None:
            return self.known.index_add_(0, place, searched)
        per_place = torch.zeros_like(self.known).index_add_(0, place, searched)
        return self.known.add_(self.core.twins.spread(self.graph, per_place, edges))


Cores = dict[tuple[str, str, int], Core]


@Slot
def cores(whole: Graph | Twins) -> Cores:
    """The cores that are kept, with a graph or with its twins."""
    return {}


def core(graph: Graph, order: str, fold: str, ball: int = 0, twins: Twins | None = None) -> Core:
    """The core in "degree", "bandwidth" or "given" order, folded in "all", "one" or "no" rounds,
    with its twins merged if they are given.

    With `ball`, sources are ordered in balls of that many neighbours, for engines that search from
    a batch of them at a time. (On the CPU; elsewhere they follow the runs of neighbours.) Cores are
    cached with the graph, so that the next measure starts at once.
    """
    cache = cores(twins or graph)
    if (order, fold, ball) not in cache:
        if ball:
            smaller = core(graph, order, fold, 0, twins)
            if smaller.rowptr.device.type == "cpu":
                balls = _ops.ops.clusters(smaller.rowptr, smaller.col, ball)
                smaller = dataclasses.replace(smaller, balls=balls)
            cache[order, fold, ball] = smaller
        else:
            cache[order, fold, ball] = _core(graph, order, fold, twins)
    return cache[order, fold, ball]


def bytes_to_transpose(graph: Graph) -> int:
    """Peak memory for the transpose of a graph on CUDA, including the graph; 0 if it has one."""
    if graph._mutual or Graph._transposed in graph.cache:
        return 0
    return graph._nbytes + _device.bytes_to_transpose(graph.num_nodes, graph.num_slots)


def bytes_to_reduce(graph: Graph, cache: Cores, order: str, fold: str, in_order: bool) -> int:
    """Peak memory for building a core on CUDA, including the graph and its cached cores.

    It is 0 if the core is cached, with the order of sources if they are to be in order. The
    estimate assumes that nothing folds, because the effect of folding is not known in advance.
    """
    earlier, in_order = cache.get((order, fold, 0)), in_order and order == "degree"
    if earlier is not None and not (in_order and Core.sequence not in earlier.cache):
        return 0
    own = {id(graph.rowptr), id(graph.col), *map(id, graph.transpose)}
    sizes = {
        id(part): part.numel() * part.element_size()
        for part in tensors((cores.get(graph), _twins.every.get(graph)))
        if id(part) not in own
    }
    if earlier is not None:
        return graph._nbytes + sum(sizes.values()) + _device.bytes_to_order(earlier.num_nodes)
    n, m, symmetric = graph.num_nodes, graph.num_slots, graph.is_symmetric
    weights = _weights.bytes_to_scale(m, symmetric) if graph.is_weighted else 0
    sorting = _device.bytes_to_reduce(n, m, order, symmetric)
    return graph._nbytes + sum(sizes.values()) + sorting + weights


def bytes_for_components(graph: Graph, core: Core) -> int:
    """Memory that `problem` needs on CUDA for components, besides graph and core.

    It is 0 if the components are cached or not needed.
    """
    if core.fold.order.numel() == 0 or Graph.components in graph.cache:
        return 0
    return _device.bytes_for_components(graph.num_nodes)


def _core(graph: Graph, order: str, fold: str, twins: Twins | None) -> Core:
    n = graph.num_nodes
    if order == "given":
        everything = torch.arange(n, device=graph.device)
        slots = torch.arange(graph.num_slots, device=graph.device)
        weight, back_weight = graph.scaled_weights
        return Core(
            graph.rowptr, graph.col, *graph.transpose, vertex=everything, origin=slots, order=order,
            chain=(Fold.of(graph, "no"),), weight=weight, back_weight=back_weight,
        )  # fmt: skip
    chain: tuple[Reduction, ...] = (Fold.of(graph, fold),)
    if twins is not None:
        chain = (*chain, twins)
    arcs = graph.degree if graph.is_symmetric else graph.degree + graph.transpose[0].diff()
    for link in chain:
        arcs = link.arcs_left(arcs)
    vertices = _csr.by_degree(arcs)[: int((arcs > 0).sum())]
    rim = None
    if order == "bandwidth":
        same = cores(twins or graph).get(("degree", fold, 0))  # of the same vertices
        place, rim = _bandwidth_order(graph, same, vertices)
        vertices = vertices.index_select(0, place)  # no brackets: see Fold.arcs_left
    rowptr, col, slot = _csr.induced(graph.rowptr, graph.col, vertices, slots=graph.is_weighted)
    colptr, row, back = rowptr, col, None
    weight = graph.scaled_weights[0]
    weight = None if weight is None else weight.index_select(0, slot)
    if not graph.is_symmetric:
        colptr, row, back = _csr.transpose(rowptr, col)
    back_weight = weight if weight is None or back is None else weight.index_select(0, back)
    origin = slot if slot.numel() == col.numel() else None
    smaller = Core(
        rowptr, col, colptr=colptr, row=row, vertex=vertices, origin=origin, order=order,
        chain=chain, weight=weight, back_weight=back_weight, contraction=graph._contraction,
    )  # fmt: skip
    if rim is not None:
        Core.rim.put(smaller, rim)
    return smaller


def with_slots(graph: Graph, core: Core) -> Core:
    """The same core with its slots, which only measures of edges need."""
    if core.slot is None:
        slot = _csr.induced(graph.rowptr, graph.col, core.vertex)[2]
        Core.slot.put(core, slot)
    return core


def _bandwidth_order(
    graph: Graph, same: Core | None, vertices: Tensor
) -> tuple[Tensor, tuple[int, Tensor] | None]:
    """The kept vertices in an order that keeps neighbours together, for graphs of many levels.

    On the CPU it is that of Cuthill and McKee, reversed. On CUDA it needs the rim, which is
    returned as that of the vertices in this order.
    """
    if same is not None:
        rowptr, col, colptr, row = same.rowptr, same.col, same.colptr, same.row
    else:
        rowptr, col, _ = _csr.induced(graph.rowptr, graph.col, vertices, slots=False)
        colptr, row = rowptr, col
    if rowptr.device.type != "cpu":
        depth, hops = _hops.rim(rowptr, col) if same is None else same.rim
        place = _device.bandwidth_order(rowptr, col, hops)
        return place, (depth, hops[place])
    if same is None and not graph.is_symmetric:
        colptr, row, _ = _csr.transpose(rowptr, col)
    return _ops.ops.bandwidth_order(rowptr, col, colptr, row), None


def problem(
    graph: Graph,
    core: Core,
    measure: str,
    sources: Tensor | None,
    targets: Tensor | None,
    endpoints: bool,
    cutoffs: tuple[float, ...] | None = None,
) -> Problem:
    """The weights of the search on the core, and the contributions counted by the chain.

    `sources`, `targets` and `cutoffs` are those of a Request.
    """
    a, b = weights(graph, sources), weights(graph, targets)
    pairs = Pairs(a, b, graph._zeros, graph._zeros)
    # With a symmetric graph, the chain counts endpoints in closed form.
    if endpoints and (cutoffs is not None or not graph.is_symmetric):
        pairs = pairs._replace(own=a, through=b)
    most = core.num_nodes if sources is None else sources.numel()
    closed = endpoints and cutoffs is None
    of_core = of_pairs(graph, core, measure, pairs, most, closed)
    if cutoffs is None:
        return of_core
    mirrored = (
        sources is None and targets is None and not endpoints and graph.is_symmetric
        and KERNELS[measure].visitor in (Visitor.BETWEENNESS, Visitor.STRESS)
    )  # fmt: skip
    return dataclasses.replace(of_core, limits=_cutoffs.limits(graph, cutoffs), mirrored=mirrored)


def of_pairs(
    graph: Graph,
    core: Core,
    measure: str,
    pairs: Pairs,
    most: int,
    endpoints: bool = False,
) -> Problem:
    """The same for any weights of pairs, with at most so many sources."""
    if KERNELS[measure].per_slot:
        core = with_slots(graph, core)
    scores: Tensor | None = None
    for link in core.chain:
        pairs, more = link.reduce(graph, measure, pairs, endpoints)
        scores = more if scores is None else scores.add_(more)
    assert scores is not None
    # One batch has no order, so that the sequence need not be made for it.
    sequence = core.sequence if min(most, core.num_nodes) > BATCH["lanes"] else None
    if _ops.has_kernel("search_weights", graph.device):
        start, *of_search = _ops.ops.search_weights(
            core.rowptr, core.vertex, sequence, source=pairs.source, own=pairs.own,
            target=pairs.target, through=pairs.through, threads=torch.get_num_threads(),
        )  # fmt: skip
    else:
        start, *of_search = _search_weights(core, pairs)
    a, c, b, h = of_search
    return Problem(
        measure, core, sources=start, source_weight=a, own_weight=c, target_weight=b,
        through_weight=h, known=scores, graph=graph,
    )  # fmt: skip


def _search_weights(core: Core, pairs: Pairs) -> tuple[Tensor, ...]:
    """The operator search_weights, where it is not compiled; the order of sources is "given"."""
    start = torch.nonzero((pairs.source[core.vertex] > 0) & (core.rowptr.diff() > 0)).flatten()
    first = core.vertex[start]
    return (
        start, pairs.source[first], pairs.own[first], pairs.target[core.vertex],
        pairs.through[core.vertex],
    )  # fmt: skip
