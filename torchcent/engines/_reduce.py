"""Exact reductions before the search: folding of degree-1 vertices, isolated vertices, reordering.

Every ordered pair (s, t) counts a_s * b_t (source and target weights). A tree that hangs on the
rest of a symmetric graph needs no search: with A, B the weights summed over what is folded onto a
vertex (itself included) and A_tot, B_tot those of its component, the pairs whose paths are decided
by trees are counted in closed form, and the rest is the same problem on the core, with A and B as
weights (SPVB: Baglioni et al. 2012; BADIOS: Sariyuce et al. 2013). docs/betweenness.md derives the
formulas.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse.csgraph
import torch
from torch import Tensor

from torchcent.engines import _hops
from torchcent.engines._measures import MEASURES
from torchcent.engines._request import weights
from torchcent.graph import Graph, _csr, _device, _weights
from torchcent.runtime import _ops
from torchcent.runtime._codes import Visitor


@dataclass(frozen=True)
class Core:
    """What remains of a graph to be searched, renumbered."""

    rowptr: Tensor
    col: Tensor
    colptr: Tensor
    row: Tensor
    vertex: Tensor  # core vertex -> graph vertex
    slot: Tensor  # core slot -> graph slot
    near: Tensor  # all core vertices, neighbours close together: the order of sources in batches
    order: Tensor  # folded vertices, each before its parent
    parent: Tensor  # [n] the neighbour a vertex was folded onto, or -1
    weight: Tensor | None = None  # per slot, as Graph.scale says; None counts hops
    back_weight: Tensor | None = None  # per slot of the transpose

    @property
    def num_nodes(self) -> int:
        return self.rowptr.numel() - 1

    @property
    def num_slots(self) -> int:
        return self.col.numel()

    @cached_property
    def depth(self) -> int:
        return _hops.depth(self.rowptr, self.col)


@dataclass(frozen=True)
class Problem:
    """The search that is left to do, and what is known without it."""

    measure: str
    core: Core
    sources: Tensor  # core vertices, in the order in which they fill batches
    source_weight: Tensor  # a, per source
    own_weight: Tensor  # c, per source
    target_weight: Tensor  # b, per core vertex
    through_weight: Tensor  # h, per core vertex
    tie_tolerance: float  # relative, of weighted distances
    known: Tensor  # what pairs decided by trees contribute, per vertex or slot of the graph


def core(graph: Graph, order: str, fold: str, ball: int = 0) -> Core:
    """The core in "degree", "bandwidth" or "given" order, with "all", "one" round or "no" folding.

    Sources follow each other in balls of so many neighbours, for engines that search from a batch
    of them at a time (on the CPU, that is; elsewhere in runs of neighbours).
    Kept with the graph: the next measure on it starts at once.
    """
    cache = graph.__dict__.setdefault("_cores", {})
    if (order, fold, ball) not in cache:
        if ball:
            made = core(graph, order, fold)
            if made.rowptr.device.type == "cpu":
                near = _ops.ops.clusters(made.rowptr, made.col, ball)
                made = dataclasses.replace(made, near=near)
            cache[order, fold, ball] = made
        else:
            cache[order, fold, ball] = _core(graph, order, fold)
    return cache[order, fold, ball]


def bytes_to_transpose(graph: Graph) -> int:
    """Memory at the peak of finding out whether a graph on CUDA is symmetric, the graph included;
    0 if it is known."""
    if not graph.directed or "_transposed" in graph.__dict__:
        return 0
    return graph.nbytes + _device.bytes_to_transpose(graph.num_nodes, graph.num_slots)


def bytes_to_reduce(graph: Graph, order: str, fold: str) -> int:
    """Memory at the peak of making a core on CUDA, the graph and the cores it has included; 0 if
    it is there. For a graph that folding leaves whole: how much goes is not known before."""
    cache = graph.__dict__.get("_cores", {})
    if (order, fold, 0) in cache:
        return 0
    own = {id(graph.rowptr), id(graph.col), *map(id, graph.transpose)}
    held = {
        id(part): part.numel() * part.element_size()
        for core in cache.values()
        for part in vars(core).values()
        if isinstance(part, Tensor) and id(part) not in own
    }
    n, m, symmetric = graph.num_nodes, graph.num_slots, graph.is_symmetric
    weights = _weights.bytes_to_scale(m, symmetric) if graph.is_weighted else 0
    sorting = _device.bytes_to_reduce(n, m, order, symmetric)
    return graph.nbytes + sum(held.values()) + sorting + weights


def bytes_for_components(graph: Graph, core: Core) -> int:
    """Memory that `problem` takes on CUDA for components, beside graph and core; 0 if it has them
    or needs none."""
    if core.order.numel() == 0 or "components" in graph.__dict__:
        return 0
    return _device.bytes_for_components(graph.num_nodes, graph.num_slots)


def _core(graph: Graph, order: str, fold: str) -> Core:
    n = graph.num_nodes
    if order == "given":
        everything = torch.arange(n, device=graph.device)
        slots = torch.arange(graph.num_slots, device=graph.device)
        none = slots[:0]
        parent = torch.full_like(everything, -1)
        colptr, row = graph.transpose
        return Core(
            graph.rowptr, graph.col, colptr, row, everything, slots, everything, none, parent,
            *graph.scaled_weights,
        )  # fmt: skip
    parent = torch.full((n,), -1, device=graph.device)
    removed = parent[:0]
    if fold != "no" and graph.is_symmetric:
        removed, parent = _ops.ops.fold(graph.rowptr, graph.col, fold == "all")
    arcs = graph.degree if graph.is_symmetric else graph.degree + graph.transpose[0].diff()
    if removed.numel():
        arcs = arcs.clone()
        arcs.index_add_(0, parent[removed], torch.ones_like(removed), alpha=-1)
        arcs[removed] = 0
    kept = torch.argsort(arcs, descending=True, stable=True)[: int((arcs > 0).sum())]
    rowptr, col, slot = _ops.ops.induced(graph.rowptr, graph.col, kept)
    near = _near(rowptr, col, order, graph.is_symmetric)
    if order == "bandwidth":
        kept = kept[near]
        del rowptr, col, slot, near  # not beside the same once more
        rowptr, col, slot = _ops.ops.induced(graph.rowptr, graph.col, kept)
        near = torch.arange(kept.numel(), device=graph.device)
    colptr, row, back = rowptr, col, None
    weight = graph.scaled_weights[0]
    weight = None if weight is None else weight[slot]
    if not graph.is_symmetric:
        colptr, row, back = _csr.transpose(rowptr, col)
    back_weight = weight if weight is None or back is None else weight[back]
    return Core(rowptr, col, colptr, row, kept, slot, near, removed, parent, weight, back_weight)


def _near(rowptr: Tensor, col: Tensor, order: str, symmetric: bool) -> Tensor:
    """All vertices in an order that keeps neighbours together.

    "bandwidth": reverse Cuthill-McKee, as a numbering: neighbours get memory near each other.
    "degree" (vertex 0 is the largest hub): breadth-first from it, as an order of sources: those
    that share a batch then share frontiers, and so arcs; worth up to 2.5x over degree order.
    """
    if rowptr.device.type != "cpu":
        return _device.near(rowptr, col, order)
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
    near = torch.from_numpy(found.astype(np.int64))
    rest = torch.ones(n, dtype=torch.bool, device="cpu")
    rest[near] = False
    return torch.cat([near, torch.nonzero(rest).flatten()])


def problem(
    graph: Graph,
    core: Core,
    measure: str,
    sources: Tensor | None,
    targets: Tensor | None,
    endpoints: bool,
    tie_tolerance: float = 0.0,
) -> Problem:
    """Weights of the search on the core, and the closed forms of what was folded.

    sources and targets are those of a Request.
    """
    a, b = weights(graph, sources), weights(graph, targets)
    if core.order.numel():
        hanging_a = _ops.ops.tree_sum(core.order, core.parent, a)
        hanging_b = _ops.ops.tree_sum(core.order, core.parent, b)
    else:
        hanging_a, hanging_b = a, b
    # index_select, not brackets: those wake PyTorch's threads for a few thousand entries, and they
    # go on spinning for 5 ms in the way of ours.
    start = (hanging_a.index_select(0, core.vertex) > 0) & (core.rowptr.diff() > 0)
    start = core.near.masked_select(start.index_select(0, core.near))
    vertex = core.vertex.index_select(0, start)
    own, through = torch.zeros_like(a), torch.zeros_like(b)
    counts = MEASURES[measure].visitor == Visitor.STRESS
    if counts:
        # Paths that end in a hanging leaf pass through the vertex it hangs on, once per path.
        own, through = hanging_a - a, hanging_b - b
    if endpoints and not graph.is_symmetric:
        own, through = a, b
    if MEASURES[measure].per_slot:
        known = _known_edges(graph, core, (a, b), (hanging_a, hanging_b))
    else:
        known = _known_nodes(graph, core, counts, (a, b), (hanging_a, hanging_b), endpoints)
    return Problem(
        measure,
        core,
        start,
        hanging_a.index_select(0, vertex),
        own.index_select(0, vertex),
        hanging_b.index_select(0, core.vertex),
        through.index_select(0, core.vertex),
        tie_tolerance,
        known,
    )


def _in_component(graph: Graph, weight: Tensor) -> Tensor:
    """For each vertex the weight of its whole component."""
    label = graph.components
    total = weight.new_zeros(graph.num_nodes).index_add_(0, label, weight)
    return total.index_select(0, label)


def _known_nodes(
    graph: Graph,
    core: Core,
    counts: bool,
    weights: tuple[Tensor, Tensor],
    hanging: tuple[Tensor, Tensor],
    endpoints: bool,
) -> Tensor:
    (a, b), (hanging_a, hanging_b) = weights, hanging
    known = torch.zeros_like(a)
    if not graph.is_symmetric or not (core.order.numel() or endpoints):
        return known
    product = torch.zeros_like(a)  # sum of A_i B_i over the branches that hang on a vertex
    leaf = core.order
    branch = hanging_a.index_select(0, leaf) * hanging_b.index_select(0, leaf)
    product.index_add_(0, core.parent.index_select(0, leaf), branch)
    if counts:
        return (hanging_a - a) * (hanging_b - b) - product
    total_a, total_b = _in_component(graph, a), _in_component(graph, b)
    # All pairs that avoid v as an end, less those within one branch and those left to the core.
    known = (total_a - a) * (total_b - b) - product
    known -= (total_a - hanging_a) * (total_b - hanging_b)
    if endpoints:
        known += a * (total_b - b) + b * (total_a - a)
    return known


def _known_edges(
    graph: Graph, core: Core, weights: tuple[Tensor, Tensor], hanging: tuple[Tensor, Tensor]
) -> Tensor:
    known = torch.zeros(graph.num_slots, dtype=torch.float64, device=graph.device)
    if core.order.numel() == 0:
        return known
    row = _csr.rows(graph.rowptr)
    up = torch.nonzero(core.parent[row] == graph.col).flatten()  # slots leaf -> parent
    leaf = row[up]
    inside_a, inside_b = hanging[0][leaf], hanging[1][leaf]
    total_a, total_b = (_in_component(graph, weight)[leaf] for weight in weights)
    known[up] = inside_a * (total_b - inside_b)
    known[graph.reverse_slot[up]] = (total_a - inside_a) * inside_b
    return known
