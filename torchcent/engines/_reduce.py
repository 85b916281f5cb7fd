"""Exact reductions before the search, as a chain.

Each link takes the pairs of vertices that count and leaves fewer of them; the others are counted in
closed form. Folding (_fold.py) is the only link so far. Finally, isolated vertices are removed, and
the rest is renumbered in an order that suits the engine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse.csgraph
import torch
from torch import Tensor

from torchcent.engines import _hops
from torchcent.engines._fold import Fold
from torchcent.engines._problem import Pairs, Reduction
from torchcent.engines._request import weights
from torchcent.graph import Graph, _csr, _device, _weights
from torchcent.runtime import _ops


@dataclass(frozen=True)
class Core:
    """The part of a graph that is searched, renumbered."""

    rowptr: Tensor
    col: Tensor
    colptr: Tensor
    row: Tensor
    vertex: Tensor  # core vertex -> graph vertex
    slot: Tensor  # core slot -> graph slot
    sequence: Tensor  # all core vertices, neighbours together: the order of sources in batches
    chain: tuple[Reduction, ...]  # the reductions applied
    weight: Tensor | None = None  # per slot, scaled by Graph.scale; None counts hops
    back_weight: Tensor | None = None  # per slot of the transpose

    @property
    def num_nodes(self) -> int:
        return self.rowptr.numel() - 1

    @property
    def num_slots(self) -> int:
        return self.col.numel()

    @property
    def fold(self) -> Fold:
        """The first link."""
        first = self.chain[0]
        assert isinstance(first, Fold)
        return first

    @cached_property
    def depth(self) -> int:
        return _hops.depth(self.rowptr, self.col)


@dataclass(frozen=True)
class Problem:
    """The search that is left to do, and the contributions known without it."""

    measure: str
    core: Core
    sources: Tensor  # core vertices, in the order in which they fill batches
    source_weight: Tensor  # a, per source
    own_weight: Tensor  # c, per source
    target_weight: Tensor  # b, per core vertex
    through_weight: Tensor  # h, per core vertex
    tie_tolerance: float  # relative, of weighted distances
    known: Tensor  # counted in closed form by the chain, per vertex or slot of the graph


def core(graph: Graph, order: str, fold: str, ball: int = 0) -> Core:
    """The core in "degree", "bandwidth" or "given" order, folded in "all", "one" or "no" rounds.

    With `ball`, sources are ordered in balls of that many neighbours, for engines that search from
    a batch of them at a time (on the CPU; elsewhere they follow the runs of neighbours). Cores are
    cached with the graph, so that the next measure starts at once.
    """
    cache = graph.__dict__.setdefault("_cores", {})
    if (order, fold, ball) not in cache:
        if ball:
            found = core(graph, order, fold)
            if found.rowptr.device.type == "cpu":
                balls = _ops.ops.clusters(found.rowptr, found.col, ball)
                found = dataclasses.replace(found, sequence=balls)
            cache[order, fold, ball] = found
        else:
            cache[order, fold, ball] = _core(graph, order, fold)
    kept: Core = cache[order, fold, ball]
    return kept


def bytes_to_transpose(graph: Graph) -> int:
    """Peak memory for testing whether a graph on CUDA is symmetric, including the graph.

    It is 0 if the result is already known.
    """
    if not graph.directed or "_transposed" in graph.__dict__:
        return 0
    return graph.nbytes + _device.bytes_to_transpose(graph.num_nodes, graph.num_slots)


def bytes_to_reduce(graph: Graph, order: str, fold: str) -> int:
    """Peak memory for building a core on CUDA, including the graph and its cached cores.

    It is 0 if the core is cached. The estimate assumes that nothing folds, because the effect of
    folding is not known in advance.
    """
    cache = graph.__dict__.get("_cores", {})
    if (order, fold, 0) in cache:
        return 0
    own = {id(graph.rowptr), id(graph.col), *map(id, graph.transpose)}
    held = {
        id(part): part.numel() * part.element_size()
        for part in tensors_of(cache)
        if id(part) not in own
    }
    n, m, symmetric = graph.num_nodes, graph.num_slots, graph.is_symmetric
    weights = _weights.bytes_to_scale(m, symmetric) if graph.is_weighted else 0
    sorting = _device.bytes_to_reduce(n, m, order, symmetric)
    return graph.nbytes + sum(held.values()) + sorting + weights


def tensors_of(value: object) -> Iterator[Tensor]:
    """The tensors that a graph or its cores hold."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Core | Fold | Graph):
            waiting.extend(vars(value).values())
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, tuple):
            waiting.extend(value)


def bytes_for_components(graph: Graph, core: Core) -> int:
    """Memory that `problem` needs on CUDA for components, besides graph and core.

    It is 0 if the components are cached or not needed.
    """
    if core.fold.order.numel() == 0 or "components" in graph.__dict__:
        return 0
    return _device.bytes_for_components(graph.num_nodes, graph.num_slots)


def _core(graph: Graph, order: str, fold: str) -> Core:
    n = graph.num_nodes
    if order == "given":
        everything = torch.arange(n, device=graph.device)
        slots = torch.arange(graph.num_slots, device=graph.device)
        colptr, row = graph.transpose
        return Core(
            graph.rowptr, graph.col, colptr, row, everything, slots, everything,
            (Fold.of(graph, "no"),), *graph.scaled_weights,
        )  # fmt: skip
    chain = (Fold.of(graph, fold),)
    arcs = graph.degree if graph.is_symmetric else graph.degree + graph.transpose[0].diff()
    for link in chain:
        arcs = link.arcs_left(arcs)
    kept = torch.argsort(arcs, descending=True, stable=True)[: int((arcs > 0).sum())]
    rowptr, col, slot = _ops.ops.induced(graph.rowptr, graph.col, kept)
    sequence = _sequence(rowptr, col, order, graph.is_symmetric)
    if order == "bandwidth":
        kept = kept[sequence]
        del rowptr, col, slot, sequence  # free them before building them again
        rowptr, col, slot = _ops.ops.induced(graph.rowptr, graph.col, kept)
        sequence = torch.arange(kept.numel(), device=graph.device)
    colptr, row, back = rowptr, col, None
    weight = graph.scaled_weights[0]
    weight = None if weight is None else weight[slot]
    if not graph.is_symmetric:
        colptr, row, back = _csr.transpose(rowptr, col)
    back_weight = weight if weight is None or back is None else weight[back]
    return Core(rowptr, col, colptr, row, kept, slot, sequence, chain, weight, back_weight)


def _sequence(rowptr: Tensor, col: Tensor, order: str, symmetric: bool) -> Tensor:
    """All vertices in an order that keeps neighbours together.

    "bandwidth": reverse Cuthill-McKee, as a numbering: neighbours are close to each other in
    memory.
    "degree" (vertex 0 is the largest hub): breadth-first from the hub, as an order of sources.
    Sources of one batch then share frontiers and thus arcs, which is up to 2.5 times as fast as
    degree order.
    """
    if rowptr.device.type != "cpu":
        return _device.sequence(rowptr, col, order)
    n = rowptr.numel() - 1
    if n == 0 or col.numel() >= 2**31:
        return torch.arange(n, device="cpu")
    ones = np.ones(col.numel(), np.int8)
    matrix = scipy.sparse.csr_array((ones, col.numpy(), rowptr.int().numpy()), shape=(n, n))
    graph = scipy.sparse.csgraph
    if order == "bandwidth":
        found = graph.reverse_cuthill_mckee(matrix, symmetric_mode=symmetric)
    else:
        found = graph.breadth_first_order(matrix, 0, directed=symmetric, return_predecessors=False)
    sequence = torch.from_numpy(found.astype(np.int64))
    rest = torch.ones(n, dtype=torch.bool, device="cpu")
    rest[sequence] = False
    return torch.cat([sequence, torch.nonzero(rest).flatten()])


def problem(
    graph: Graph,
    core: Core,
    measure: str,
    sources: Tensor | None,
    targets: Tensor | None,
    endpoints: bool,
    tie_tolerance: float = 0.0,
) -> Problem:
    """The weights of the search on the core, and the contributions counted by the chain.

    `sources` and `targets` are those of a Request.
    """
    a, b = weights(graph, sources), weights(graph, targets)
    zero = torch.zeros_like(a)
    pairs = Pairs(a, b, zero, zero)
    if endpoints and not graph.is_symmetric:  # else in closed form, by the chain
        pairs = pairs._replace(own=a, through=b)
    known: Tensor | None = None
    for link in core.chain:
        pairs, more = link.reduce(graph, measure, pairs, endpoints)
        known = more if known is None else known.add_(more)
    assert known is not None
    # index_select, not brackets, which wake PyTorch's threads even for a few thousand entries;
    # these then spin for 5 ms and compete with ours.
    start = (pairs.source.index_select(0, core.vertex) > 0) & (core.rowptr.diff() > 0)
    start = core.sequence.masked_select(start.index_select(0, core.sequence))
    vertex = core.vertex.index_select(0, start)
    return Problem(
        measure,
        core,
        start,
        pairs.source.index_select(0, vertex),
        pairs.own.index_select(0, vertex),
        pairs.target.index_select(0, core.vertex),
        pairs.through.index_select(0, core.vertex),
        tie_tolerance,
        known,
    )
