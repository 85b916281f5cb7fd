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
        label: [n]; equal for all vertices of a class; None: any vertices.
    """

    twin: Tensor
    left: Tensor
    copies: Tensor
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
        twin, left = (x.to(graph.device) for x in _ops.ops.twins(*on_host, torch.get_num_threads()))
        size = torch.bincount(twin, minlength=graph.num_nodes).double()
        kept[label is None] = Twins(twin, left, size.index_select(0, twin), fold, label)
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
        inside = self._inside(a * b)
        of_a, of_b = self._inside(a), self._inside(b)
        several = self.copies > 1
        row, slot = self._slots_of(graph, several)
        other = graph.col.index_select(0, slot).long()
        adjacent = self.twin.index_select(0, row) == self.twin.index_select(0, other)
        # A class is of the first kind if no slot leads to it. Folded neighbours are no ends here.
        real = self.fold.parent.index_select(0, other) < 0
        second = torch.zeros_like(several).index_fill_(0, row[adjacent], True)
        degree = torch.zeros_like(a).index_add_(0, row, real.double())
        share = 1 / degree.index_select(0, row)
        first = real & ~second.index_select(0, row)
        if MEASURES[measure].per_slot:
            known = torch.zeros(graph.num_slots, dtype=torch.float64, device=graph.device)
            own_a, own_b = a.index_select(0, row), b.index_select(0, row)
            up = own_a * (of_b.index_select(0, row) - own_b) * share
            down = own_b * (of_a.index_select(0, row) - own_a) * share
            add_at(known, slot[first], up[first])
            add_at(known, graph.reverse_slot.index_select(0, slot[first]), down[first])
            among = (own_a * b.index_select(0, other))[adjacent]
            add_at(known, slot[adjacent], among)
        else:
            known = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
            stands = first & (self.twin.index_select(0, row) == row)  # once for the class
            lost = (of_a * of_b - inside).index_select(0, row) * share
            add_at(known, other[stands], lost[stands])
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

    def _slots_of(self, graph: Graph, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """The slots of the chosen vertices, with their rows."""
        vertex = torch.nonzero(chosen).flatten()
        degree = graph.degree.index_select(0, vertex)
        row = torch.repeat_interleave(vertex, degree)
        first = torch.repeat_interleave(degree.cumsum(0) - degree, degree)
        inside = torch.arange(row.numel(), device=graph.device) - first
        return row, graph.rowptr.index_select(0, row) + inside

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
            kept["standing"] = torch.full_like(row, -1)
            arcs = torch.stack([row[usual], end[usual]]).int()
            kept["standing"][usual] = _csr.slots(arcs, graph.rowptr, graph.col)
        found: Tensor = kept["standing"]
        return found


def _equal(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return torch.equal(one, other)
