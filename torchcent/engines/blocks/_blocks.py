"""Blocks (biconnected components), each of which is searched as a graph of its own.

Shortest paths between vertices of a block stay inside it, and paths between blocks pass through cut
vertices. Let A_X(v), B_X(v) be the sums of the weights of v and of all that hangs on it outside of
the block X. A, B are the totals of the component. Then

    C(v) = sum over the blocks X of v of C_X(v)
           + (A - a_v) (B - b_v) - sum over the blocks X of v of (A - A_X(v)) (B - B_X(v)),

where C_X counts the pairs of X with the weights A_X and B_X (Puzis et al. 2015; BADIOS: Sariyuce et
al. 2013). An edge lies in one block; a bridge from u to v gets A_X(u) B_X(v) without a search. The
blocks of two vertices are bridges, so that nothing is left to be folded (_fold.py). In directed
graphs, only what is reachable counts (_reach.py), and stress counts paths (_block_paths.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._problem import add_at
from torchcent.engines.measures._request import Request, weights
from torchcent.engines.measures._visitors import Visitor
from torchcent.engines.plan import _room
from torchcent.engines.reduce._fold import Fold, in_component
from torchcent.engines.reduce._reach import Reach
from torchcent.graph import Graph, _csr
from torchcent.graph._cache import Record, Slot
from torchcent.runtime import _ops

# Blocks are searched if that takes at most this share of the work, counted in sources x slots.
_SHARE = 0.9
# Work and sources from which the decomposition is tried. It takes as long as ten single searches,
# or a few hundred in lanes; on CUDA, where the host makes it, as long as 20,000 in lanes. Graphs
# with many leaves tend to have many blocks; half as many sources suffice there, or leaves. Thin
# graphs, up to _THIN slots a vertex, are deep as a rule, and a search takes _DEEPER times as long.
LEAST_WORK, MANY_SOURCES, MANY_SOURCES_ON_CUDA = 1e8, 2**14, 2**17
_THIN, _DEEPER = 4, 8


class _Sums(NamedTuple):
    """Sums of weights for a decomposition."""

    below: Tensor  # [n]: of a vertex and of all that hangs on it, seen from its block
    inside: Tensor  # [blocks]: of all vertices but the top, with what hangs on them
    total: Tensor  # [n]: of the component of a vertex
    above: Tensor  # [n]: of all that does not hang on a vertex, seen from its block
    outside: Tensor  # [blocks]: of the top, and of all that hangs on it outside of the block


@dataclass(frozen=True, eq=False)
class Blocks(Record):
    """The blocks of a graph; those of a directed one are those of its undirected counterpart.

    The edges from a vertex towards the root of its component belong to one block; its top is the
    vertex of a block that is closest to the root (csrc/graph/cpu/blocks.cpp).

    Attributes:
        tree: each vertex hangs on the top of its block, roots on none. On the host, where sums over
            high trees are quick.
        block: [n]; that block, -1 for roots.
        top: [blocks].
        size: [blocks]; number of vertices.
        union: the blocks of three and more vertices, as graphs of a batch.
        vertex: [union.num_nodes]; the vertex of the graph that each one is a copy of.
        slot: [union.num_slots]; the slot of the graph.
        number: [union.num_nodes]; the block of each one.
        reach: of directed graphs: what hangs on a vertex (_reach.py).
    """

    tree: Fold
    block: Tensor
    top: Tensor
    size: Tensor
    union: Graph
    vertex: Tensor
    slot: Tensor
    number: Tensor
    reach: Reach | None

    @property
    def in_words(self) -> str:
        """For `explain`."""
        assert self.union.ptr is not None
        size = self.union.ptr.diff()
        largest = int(size.max()) if size.numel() else 0
        bridges = int((self.size == 2).sum())
        return (
            f"{size.numel():,} blocks of up to {largest:,} vertices; {bridges:,} bridges are known"
        )

    @property
    def nbytes(self) -> int:
        """Memory besides the graph, with that of the separate graphs of the union."""
        own = (self.tree.order, self.tree.parent, self.block, self.top, self.size, self.vertex)
        own_bytes = sum(part.numel() * part.itemsize for part in (*own, self.slot, self.number))
        return own_bytes + 2 * self.union._nbytes + (0 if self.reach is None else self.reach.nbytes)

    def work(self, sources: int | None) -> float:
        """Sources x slots, for searches from all vertices or from so many."""
        assert self.union.ptr is not None
        ptr = self.union.ptr
        starts, slots = ptr.diff(), self.union.rowptr[ptr].diff()
        if self.reach is not None:
            has_arcs = self.union.degree > 0
            before = torch.cat([ptr.new_zeros(1), has_arcs.cumsum(0)])
            starts = before[ptr].diff()
        if sources is not None:
            starts = starts.clamp(max=sources)
        return float((starts.double() * slots.double()).sum())

    @cached_property
    def work_of_paths(self) -> float:
        """The same for searches from tops and cut vertices (_block_paths.py)."""
        assert self.union.ptr is not None
        ptr = self.union.ptr
        before = torch.cat([ptr.new_zeros(1), (self.is_top | self.is_cut).cumsum(0)])
        slots = self.union.rowptr[ptr].diff()
        return float((before[ptr].diff().double() * slots.double()).sum())

    def searched(self, engine: str) -> Graph:
        """What is searched: small blocks together and the others one by one, or the union as one
        graph by the engine that was asked for."""
        return self.union if engine in ("auto", "tiny") else self.whole

    @Slot
    def whole(self) -> Graph:
        """The union as one graph."""
        return self.union._with(ptr=None)

    @Slot
    def is_top(self) -> Tensor:
        """[union.num_nodes]: whether each one is the top of its block."""
        return self.block.index_select(0, self.vertex) != self.number

    @Slot
    def is_cut(self) -> Tensor:
        """[union.num_nodes]: whether other blocks hang on each one that is not a top."""
        is_top = torch.zeros_like(self.block, dtype=torch.bool).index_fill_(0, self.top, True)
        return is_top.index_select(0, self.vertex) & ~self.is_top

    def rest(self, graph: Graph, request: Request) -> Request:
        """The request for :meth:`searched`, with the memory that is left."""
        memory = request.memory
        return request._replace(
            blocked=True,
            memory=None if memory is None else max(memory - graph._nbytes - self.nbytes, 0),
        )

    def reduce(self, graph: Graph, request: Request) -> tuple[Request, Tensor]:
        """The request for :meth:`searched`, and what is counted in closed form.

        Stress, which counts numbers of paths, has _block_paths.py.
        """
        a, b = weights(graph, request.sources), weights(graph, request.targets)
        measure, rest = KERNELS[request.measure], self.rest(graph, request)
        if self.reach is not None:
            sources, targets, scores = self.reach.reduce(
                graph, a, b, measure.per_slot, request.endpoints
            )
            return rest._replace(sources=sources, targets=targets), scores
        of_a, of_b = self._sums(graph, a), self._sums(graph, b)
        rest = rest._replace(
            sources=self._of_copies(of_a), targets=self._of_copies(of_b), endpoints=False
        )
        if measure.per_slot:
            return rest, self._known_of_slots(graph, of_a, of_b)
        scores = self._known_of_vertices(of_a, of_b)
        if request.endpoints:
            scores += a * (of_b.total - b) + b * (of_a.total - a)
        return rest, scores

    def add(self, known: Tensor, found: Tensor, per_slot: bool) -> Tensor:
        """Adds the scores of the union to those that are known."""
        return add_at(known, self.slot if per_slot else self.vertex, found)

    def _sums(self, graph: Graph, weight: Tensor) -> _Sums:
        below = self.tree.hanging(graph, weight)
        member = torch.nonzero(self.block >= 0).flatten()
        inside = below.new_zeros(self.top.numel())
        add_at(inside, self.block.index_select(0, member), below.index_select(0, member))
        total = in_component(graph, weight)
        above = (total - below).clamp_(min=0)
        outside = (total.index_select(0, self.top) - inside).clamp_(min=0)
        if weight is not graph._ones and bool((weight != weight.floor()).any()):
            # What rounding leaves of fractions where no vertex counts.
            counts = self._sums(graph, (weight > 0).double())
            above, outside = above * (counts.above > 0), outside * (counts.outside > 0)
        return _Sums(below, inside, total, above, outside)

    def _of_copies(self, of: _Sums) -> Tensor:
        """A_X(v) for each vertex v of each block X of the union."""
        outside = of.outside.index_select(0, self.number)
        return torch.where(self.is_top, outside, of.below.index_select(0, self.vertex))

    def _known_of_vertices(self, of_a: _Sums, of_b: _Sums) -> Tensor:
        """The pairs of what hangs on a vertex in different blocks: the formula above in terms that
        are not negative, so that no score is, and 0 is 0 (csrc/graph/folded_pairs.h)."""
        a, b, product = (torch.zeros_like(of_a.below) for _ in range(3))
        add_at(a, self.top, of_a.inside)
        add_at(b, self.top, of_b.inside)
        add_at(product, self.top, of_a.inside * of_b.inside)
        scores = (a * b).sub_(product).clamp_(min=0)
        return scores.add_(a * of_b.above).add_(of_a.above * b)

    def _known_of_slots(self, graph: Graph, of_a: _Sums, of_b: _Sums) -> Tensor:
        scores = torch.zeros(graph.num_slots, dtype=torch.float64, device=graph.device)
        lower = self.lower
        ends = torch.stack([lower, self.top.index_select(0, self.block.index_select(0, lower))])
        up, down = (_csr.slots(x.int(), graph.rowptr, graph.col) for x in (ends, ends.flip(0)))
        a, b, total_a, total_b = (
            x.index_select(0, lower) for x in (of_a.below, of_b.below, of_a.total, of_b.total)
        )
        scores[up] = a * (total_b - b)
        scores[down] = (total_a - a) * b
        return scores

    @Slot
    def lower(self) -> Tensor:
        """The lower ends of the bridges."""
        is_lower = (self.block >= 0) & (self.size.index_select(0, self.block.clamp(min=0)) == 2)
        return torch.nonzero(is_lower).flatten()


@Slot
def of(graph: Graph) -> Blocks:
    on_host = graph.rowptr.cpu(), graph.col.cpu()
    both_ways = on_host
    if not graph.is_symmetric:
        arcs = torch.stack([_csr.rows(on_host[0]).int(), on_host[1]])
        both_ways = _csr.csr(arcs, graph.num_nodes, symmetric=True)[:2]
    order, block, top = _ops.ops.blocks(*both_ways)
    reach = None if graph.is_symmetric else Reach.of(*on_host, block, top)
    union = _ops.ops.block_union(*on_host, block, top, 3, torch.get_num_threads())
    # No brackets and no repeat_interleave, which wake PyTorch's threads (see Fold.arcs_left).
    member = torch.nonzero(block >= 0).flatten()
    of_member = block.index_select(0, member)
    size = torch.bincount(of_member, minlength=top.numel()) + 1
    parent = torch.full_like(block, -1)
    parent.index_copy_(0, member, top.index_select(0, of_member))
    number = torch.from_numpy(
        np.repeat(np.flatnonzero(size.numpy() > 2), np.diff(union[0].numpy()))
    )
    block, top, size, number = (x.to(graph.device) for x in (block, top, size, number))
    ptr, vertex, rowptr, col, slot = (x.to(graph.device) for x in union)
    weight = None if graph.weight is None else graph.weight.index_select(0, slot)
    directed = not graph.is_symmetric
    parts = (rowptr, col, None, directed, weight, ptr)
    contraction = graph._contraction.part(rowptr, col, vertex)
    pieces = Graph(*parts, _trusted=True, _ties=graph._ties, _contraction=contraction)
    return Blocks(
        Fold(order, parent), block, top=top, size=size, union=pieces, vertex=vertex, slot=slot,
        number=number, reach=reach,
    )  # fmt: skip


def chosen(graph: Graph, request: Request) -> Blocks | None:
    """The blocks of a graph, if they are to be searched one by one."""
    measure = KERNELS[request.measure]
    possible = (
        request.may("blocks")
        and measure.folds != "no"
        and graph.num_slots > 0
        and _ops.has_kernel("path_dependency", graph.device)
        and graph._ties_are_exact
    )
    if not possible:
        return None
    if request.reduce is not None:
        return of(graph)
    sources = request.num_sources
    if request.engine != "auto" or (sources is not None and sources < MANY_SOURCES // 64):
        return None
    leaves = Fold.of(graph, measure.folds).order.numel()
    slots = graph.num_slots - 2 * leaves
    starts = _with_arcs(graph) - leaves
    starts = starts if sources is None else min(sources, starts)
    work = float(slots) * starts
    deeper = _DEEPER if slots <= _THIN * starts else 1
    if (
        work * (1 if graph.device.type == "cuda" else deeper) < LEAST_WORK
        or not _is_tried(graph, starts, deeper, leaves)
        or _room.limit(graph, request.memory) < 8 * _bytes(graph)
    ):
        return None
    blocks = of(graph)
    work_left = blocks.work(sources)
    if measure.visitor == Visitor.STRESS:
        work_left += blocks.work_of_paths * (1 if graph.is_symmetric and sources is None else 2)
    return blocks if work_left <= _SHARE * work else None


def _is_tried(graph: Graph, starts: int, deeper: int, leaves: int) -> bool:
    """Returns whether a decomposition in vain would cost little."""
    leafy = 16 * leaves >= graph.num_nodes
    if graph.device.type != "cuda":
        return max(starts * (1 + leafy) * deeper, 4 * leaves) >= MANY_SOURCES
    if not graph.is_symmetric:
        return False  # what is reachable is found on the host, while the device would wait
    return leafy and starts * deeper >= MANY_SOURCES_ON_CUDA


@Slot
def _with_arcs(graph: Graph) -> int:
    """The number of vertices with arcs, kept with the graph."""
    return int((graph.degree > 0).sum())


def _bytes(graph: Graph) -> int:
    """Memory for the graph, the decomposition and the separate graphs, at most.

    With eight times as much, a search of blocks has room where one of the graph has it.
    """
    per_slot = 32 + 16 * graph.is_weighted
    if not graph.is_symmetric:  # the arcs in both directions, and those of all blocks
        return graph._nbytes + 400 * graph.num_nodes + (per_slot + 64) * graph.num_slots
    return graph._nbytes + 100 * graph.num_nodes + per_slot * graph.num_slots
