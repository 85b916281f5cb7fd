"""Twins: vertices with the same arcs, which are searched once for all of them.

Twins have the same neighbours, each other aside: of the first kind, they are not adjacent; of the
second kind, they are, in both directions. With weights, corresponding arcs weigh the same, and
twins of the second kind are nearer to each other than by any other vertex. Let a class of c twins
have the sums A, B of the weights of its members. A search on the graph of classes, with A and B as
weights, gives what the pairs of different classes contribute. No member lies on a shortest path
from another one. It multiplies by c as paths pass through a class (csrc/paths/betweenness.h), and
finds c times the score of each member.

Pairs of one class are counted in closed form where arcs have no directions. Paths between twins of
the first kind pass through each of their d nearest neighbours with equal shares. Each of these gets
(A B - sum a_i b_i) / d. Twins of the second kind are adjacent. An edge from i to its nearest
neighbour x has a_i (B - b_i) / d of the former, and an edge from i to its twin j has a_i b_j. In
directed graphs, paths between twins of the first kind are closed walks. There, two vertices are
left of such a class: the first is the source of A and stands for one member, the second for c - 1.
With sum a_i b_i / A and the rest of B as their targets, the search from the first counts the pairs
of the class, too. Stress counts paths instead of shares.

Scores of vertices need no more. Edges of one class have equal scores only if its members have equal
weights, so that then these belong to what makes twins. So do those of ends, which differ otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._problem import Pairs, add_at
from torchcent.engines.measures._visitors import Visitor
from torchcent.engines.reduce._fold import Fold
from torchcent.graph import Graph, _csr
from torchcent.graph._arrays import same
from torchcent.graph._cache import Record, Slot
from torchcent.runtime import _ops, _small


@dataclass(frozen=True, eq=False)
class Twins(Record):
    """The twins of a graph, after folding.

    Attributes:
        twin: [n]; the smallest of the twins of each vertex.
        copies: float64 [n]; of the vertices that are searched, how many each stands for; else 0.
        left: [n]; the number of arcs, both ways if directed, between these vertices.
        around: [2, count]; the vertices that have twins of the first kind, with their slots to the
            nearest neighbours; none if directed.
        among: [2, count]; vertices that have twins of the second kind, with the slots to them.
        fold: what was folded before.
        label: [n]; equal for all vertices of a class; None: any vertices.
    """

    twin: Tensor
    copies: Tensor
    left: Tensor
    around: Tensor
    among: Tensor
    fold: Fold
    label: Tensor | None

    @staticmethod
    def of(graph: Graph, fold: Fold, label: Tensor | None = None) -> Twins:
        """Those that have equal labels, if there are any; the last ones are kept with the graph.

        They are found on the host.
        """
        earlier = every(graph).get(label is None)
        if earlier is not None and earlier.fold is fold and same(earlier.label, label):
            return earlier
        weight, back = (None if x is None else x.double() for x in graph.scaled_weights)
        transpose = (None, None, None) if graph.is_symmetric else (*graph.transpose, back)
        arrays = (graph.rowptr, graph.col, weight, *transpose, fold.parent, label)
        on_host = (None if x is None else x.cpu() for x in arrays)
        parts = _ops.ops.twins(*on_host, torch.get_num_threads())
        twin, copies, left, around, among = (x.to(graph.device) for x in parts)
        twins = Twins(twin, copies, left, around, among, fold, label)
        every(graph)[label is None] = twins
        return twins

    @staticmethod
    def label_of(numbers: Sequence[Tensor]) -> Tensor:
        """int64 [n]: equal for vertices for which all of these numbers are equal."""
        rows = torch.stack([x.contiguous() for x in numbers], 1)
        label: Tensor = torch.unique(rows, dim=0, return_inverse=True)[1]
        return label

    def work(self, graph: Graph) -> tuple[int, int]:
        """Vertices and slots that are left to be searched."""
        slots = int(self.left.sum()) // (1 if graph.is_symmetric else 2)
        return int(torch.count_nonzero(self.left)), slots

    @cached_property
    def merged(self) -> int:
        """The number of vertices that others stand for."""
        return int((self.copies - 1).clamp(min=0).sum())

    @Slot
    def size(self) -> Tensor:
        """float64 [n]: the number of twins in the class of each vertex."""
        count = torch.bincount(self.twin, minlength=self.twin.numel()).double()
        return count.index_select(0, self.twin)

    @Slot
    def second(self) -> Tensor:
        """The vertices that are searched besides the smallest of their class."""
        shared = torch.nonzero((self.copies > 0) & (self.copies < self.size)).flatten()
        return shared[self.twin.index_select(0, shared) != shared]

    def arcs_left(self, arcs: Tensor) -> Tensor:
        """[n]: the number of arcs that each vertex has left."""
        return self.left

    def reduce(
        self, graph: Graph, measure: str, pairs: Pairs, endpoints: bool
    ) -> tuple[Pairs, Tensor]:
        """The pairs left to be searched, and the contribution of those within classes."""
        a, b, own, through = pairs
        of_a = self._inside(a)
        of_b = of_a if b is a else self._inside(b)
        counts = KERNELS[measure].visitor == Visitor.STRESS
        if KERNELS[measure].per_slot:
            scores = self._known_of_slots(graph, a, b, of_a, of_b)
        else:
            scores = self._known_of_vertices(graph, a, b, of_a, of_b, counts)
        if own is not graph._zeros or through is not graph._zeros:
            self._add_ends(scores, counts, pairs, of_a, of_b)
            own = self._inside(own)
        source, target = of_a, of_b
        if self.second.numel():
            source = of_a.index_fill(0, self.second, 0)
            first = self.twin.index_select(0, self.second)
            shared = self._inside(a * b).div(of_a).nan_to_num(0).index_select(0, first)
            target = of_b.index_copy(0, first, shared)
            rest = of_b.index_select(0, first).sub_(shared).clamp_(min=0)
            target.index_copy_(0, self.second, rest)
        if counts:  # the kernels multiply what is passed up by copies, and what is added to scores
            target = target / self.copies.clamp(min=1)
        elif through is not graph._zeros:
            through = through * self.copies
        return Pairs(source, target, own, through), scores

    def _known_of_vertices(
        self, graph: Graph, a: Tensor, b: Tensor, of_a: Tensor, of_b: Tensor, counts: bool
    ) -> Tensor:
        scores = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
        row, slot = self.around
        if slot.numel():
            passed = (of_a * of_b - self._inside(a * b)) / self.size  # by each of the class
            passed = passed.index_select(0, row)
            other = graph.col.index_select(0, slot).long()
            add_at(scores, other, passed if counts else passed.mul_(self._shares))
        return scores

    def _known_of_slots(
        self, graph: Graph, a: Tensor, b: Tensor, of_a: Tensor, of_b: Tensor
    ) -> Tensor:
        scores = torch.zeros(graph.num_slots, dtype=torch.float64, device=graph.device)
        row, slot = self.around
        own_a, own_b = (x.index_select(0, row) for x in (a, b))
        all_a, all_b = (x.index_select(0, row) for x in (of_a, of_b))
        share = self._shares
        add_at(scores, slot, own_a * (all_b - own_b) * share)
        if slot.numel():
            back = graph.reverse_slot.index_select(0, slot)
            add_at(scores, back, own_b * (all_a - own_a) * share)
        row, slot = self.among
        other = graph.col.index_select(0, slot)
        add_at(scores, slot, a.index_select(0, row) * b.index_select(0, other))
        return scores

    def _add_ends(
        self, scores: Tensor, counts: bool, pairs: Pairs, of_a: Tensor, of_b: Tensor
    ) -> None:
        """Adds what paths to twins count at their ends."""
        own, through = pairs.own, pairs.through
        ends = own * (of_b - pairs.target) + through * (of_a - pairs.source)
        row = self.around[0]
        joined = torch.zeros_like(scores).index_fill_(0, self.among[0], 1)
        if counts:  # a path for each of the nearest neighbours
            joined = add_at(joined, row, torch.ones_like(self._shares))
        else:
            joined.index_fill_(0, row, 1)
        scores.addcmul_(ends, joined)

    def spread(self, graph: Graph, found: Tensor, per_slot: bool) -> Tensor:
        """The scores of all members, from those of the vertices or slots that stand for them."""
        if not per_slot:
            return self._inside(found).div_(self.size)
        place = _standing(self, graph)
        standing = place >= 0
        place = place.clamp(min=0)
        if self.second.numel():
            found = add_at(torch.zeros_like(found), place, found * standing)
        found = found.div(self._of_rows(graph, self.size))
        found.div_(self.size.index_select(0, graph.col))
        return found.index_select(0, place).masked_fill_(~standing, 0)

    def _inside(self, values: Tensor) -> Tensor:
        """The sum over the class of each vertex."""
        total = add_at(torch.zeros_like(self.copies), self.twin, values.contiguous())
        return total.index_select(0, self.twin)

    @Slot
    def _shares(self) -> Tensor:
        """For each of `around`, 1 / the number of neighbours of the vertex."""
        row = self.around[0]
        degree = torch.zeros_like(self.copies)
        degree.index_add_(
            0, row, torch.ones((), dtype=degree.dtype, device=row.device).expand_as(row)
        )
        return 1 / degree.index_select(0, row)

    def _of_rows(self, graph: Graph, values: Tensor) -> Tensor:
        return _small.repeat_interleave(values, graph.degree, output_size=graph.num_slots)


@Slot
def every(graph: Graph) -> dict[bool, Twins]:
    """The last ones of any vertices, and of those of equal labels."""
    return {}


@Slot
def _standing(twins: Twins, graph: Graph) -> Tensor:
    """[slots]: the slot between the smallest twins of the ends of each; -1 if these are twins, or
    folded."""
    row = twins._of_rows(graph, twins.twin)
    end = twins.twin.index_select(0, graph.col)
    left = twins.fold.parent < 0
    usual = (row != end) & left.index_select(0, row) & left.index_select(0, graph.col)
    place = torch.nonzero(usual).flatten()
    arcs = torch.stack([x.index_select(0, place) for x in (row, end)]).int()
    slots = _csr.slots(arcs, graph.rowptr, graph.col)
    return torch.full_like(row, -1).index_copy_(0, place, slots)
