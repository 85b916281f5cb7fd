"""Twins: vertices with the same neighbours, which are searched once for all of them.

Twins are alike by N(u) = N(v) (of the first kind, not adjacent) or N(u) + u = N(v) + v (of the
second kind, adjacent). Let a class of c twins have the sums A, B of the weights of its members. A
search on the graph of classes, with A and B as weights, gives what the pairs of different classes
contribute. It multiplies by c as paths pass through a class (csrc/paths/betweenness.h), and finds c
times the score of each member. Pairs of one class are counted in closed form: paths between twins
of the first kind pass through each of their d neighbours with equal shares, so that each neighbour
gets (A B - sum a_i b_i) / d; twins of the second kind are adjacent. An edge from i to its
neighbour x has a_i (B - b_i) / d of the former, and an edge from i to its twin j has a_i b_j.

Scores of vertices need no more. Edges of one class have equal scores only if its members have
equal weights, so that then these belong to what makes twins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import torch
from torch import Tensor

from torchcent.engines._fold import Fold
from torchcent.engines._measures import MEASURES
from torchcent.engines._problem import Pairs, add_at
from torchcent.graph import Graph, _csr
from torchcent.runtime import _ops


@dataclass(frozen=True, eq=False)
class Twins:
    """The twins of a symmetric graph without weights, after folding.

    Attributes:
        twin: [n]; the smallest of the twins of each vertex, which stands for its class.
        left: [n]; for these, the number of neighbours that stand for classes; else 0.
        copies: float64 [n]; the number of vertices in the class of each.
        fold: what was folded before.
        around: [2, count]; the vertices that have twins of the first kind, with their slots.
        among: [2, count]; vertices that have twins of the second kind, with the slots to them.
        label: [n]; equal for all vertices of a class; None: any vertices.
    """

    twin: Tensor
    left: Tensor
    copies: Tensor
    around: Tensor
    among: Tensor
    fold: Fold
    label: Tensor | None

    @staticmethod
    def of(graph: Graph, fold: Fold, label: Tensor | None = None) -> Twins:
        """Those that have equal labels, if there are any; the last ones are kept with the graph.

        They are found on the host.
        """
        kept = graph.__dict__.setdefault("_twins", {})
        known = kept.get(label is None)
        if isinstance(known, Twins) and known.fold is fold and _equal(known.label, label):
            return known
        arrays = (graph.rowptr, graph.col, fold.parent, label)
        on_host = (None if x is None else x.cpu() for x in arrays)
        found = _ops.ops.twins(*on_host, torch.get_num_threads())
        twin, left, around, among = (x.to(graph.device) for x in found)
        size = torch.bincount(twin, minlength=graph.num_nodes).double()
        copies = size.index_select(0, twin)
        kept[label is None] = Twins(twin, left, copies, around, among, fold, label)
        return cast(Twins, kept[label is None])

    @staticmethod
    def label_of(numbers: Sequence[Tensor]) -> Tensor:
        """int64 [n]: equal for vertices for which all of these numbers are equal."""
        rows = torch.stack([x.contiguous() for x in numbers], 1)
        label: Tensor = torch.unique(rows, dim=0, return_inverse=True)[1]
        return label

    @cached_property
    def work(self) -> tuple[int, int]:
        """Vertices and slots that are left to be searched."""
        return int(torch.count_nonzero(self.left)), int(self.left.sum())

    @cached_property
    def merged(self) -> int:
        """The number of vertices that others stand for."""
        vertex = torch.arange(self.twin.numel(), device=self.twin.device)
        return int(torch.count_nonzero(self.twin != vertex))

    def arcs_left(self, arcs: Tensor) -> Tensor:
        """[n]: the number of arcs that each vertex has left."""
        return self.left

    def reduce(
        self, graph: Graph, measure: str, pairs: Pairs, endpoints: bool
    ) -> tuple[Pairs, Tensor]:
        """The pairs left to be searched, and the contribution of those within classes."""
        a, b = pairs.source, pairs.target
        of_a, of_b = self._inside(a), self._inside(b)
        known: Tensor
        if MEASURES[measure].per_slot:
            known = torch.zeros(graph.num_slots, dtype=torch.float64, device=graph.device)
            row, slot = self.around
            own_a, own_b = (x.index_select(0, row) for x in (a, b))
            all_a, all_b = (x.index_select(0, row) for x in (of_a, of_b))
            share = self._shares
            add_at(known, slot, own_a * (all_b - own_b) * share)
            back = graph.reverse_slot.index_select(0, slot)
            add_at(known, back, own_b * (all_a - own_a) * share)
            row, slot = self.among
            other = graph.col.index_select(0, slot)
            add_at(known, slot, a.index_select(0, row) * b.index_select(0, other))
        else:
            known = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
            row, slot = self.around
            lost = (of_a * of_b - self._inside(a * b)) / self.copies  # by each of the class
            other = graph.col.index_select(0, slot).long()
            add_at(known, other, lost.index_select(0, row) * self._shares)
        return Pairs(of_a, of_b, pairs.own, pairs.through), known

    def spread(self, graph: Graph, found: Tensor, per_slot: bool) -> Tensor:
        """The scores of all members, from those of the vertices or slots that stand for them."""
        if not per_slot:
            return found.div(self.copies).index_select(0, self.twin)
        found = found.div(self._of_rows(graph, self.copies)).div_(
            self.copies.index_select(0, graph.col)
        )
        place = self._standing(graph)
        return found.index_select(0, place.clamp(min=0)).masked_fill_(place < 0, 0)

    def _inside(self, values: Tensor) -> Tensor:
        """The sum over the class of each vertex."""
        total = add_at(torch.zeros_like(self.copies), self.twin, values.contiguous())
        return total.index_select(0, self.twin)

    @cached_property
    def _shares(self) -> Tensor:
        """For each of `around`, 1 / the number of neighbours of the vertex."""
        row = self.around[0]
        degree = torch.zeros_like(self.copies)
        degree.index_add_(
            0, row, torch.ones((), dtype=degree.dtype, device=row.device).expand_as(row)
        )
        return 1 / degree.index_select(0, row)

    def _of_rows(self, graph: Graph, values: Tensor) -> Tensor:
        return torch.repeat_interleave(values, graph.degree, output_size=graph.num_slots)

    def _standing(self, graph: Graph) -> Tensor:
        """[slots]: the slot between the vertices that stand for the ends of each; -1 if there is
        none. Kept."""
        kept = vars(self)
        if "standing" not in kept:
            row = self._of_rows(graph, self.twin)
            end = self.twin.index_select(0, graph.col)
            left = self.fold.parent < 0
            usual = (row != end) & left.index_select(0, row) & left.index_select(0, graph.col)
            place = torch.nonzero(usual).flatten()
            arcs = torch.stack([x.index_select(0, place) for x in (row, end)]).int()
            found = _csr.slots(arcs, graph.rowptr, graph.col)
            kept["standing"] = torch.full_like(row, -1).index_copy_(0, place, found)
        return cast(Tensor, kept["standing"])


def _equal(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return torch.equal(one, other)
