"""Folding: vertices of degree 1 are removed from a symmetric graph, once or in rounds.

Trees attached to the rest of the graph need no search. Let A, B be the sums of the weights folded
onto a vertex (its own included), and A_tot, B_tot those of its component. Pairs whose paths are
determined by trees are counted in closed form. The rest is the same problem on the remaining graph,
with A and B as weights (SPVB: Baglioni et al. 2012; BADIOS: Sariyuce et al. 2013).
docs/betweenness.md derives the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._problem import Pairs
from torchcent.engines.measures._visitors import Visitor
from torchcent.graph import Graph, _csr
from torchcent.graph._cache import Record, Slot
from torchcent.runtime import _ops


@dataclass(frozen=True, eq=False)
class Fold(Record):
    """The folded part of a graph.

    Attributes:
        order: folded vertices, each before its parent.
        parent: [n]; the neighbour that a vertex was folded onto, or -1.
    """

    order: Tensor
    parent: Tensor

    @staticmethod
    def of(graph: Graph, rounds: str) -> Fold:
        """Folds in "all" rounds, "one" round, or "no" round; kept with the graph."""
        folds = _folds(graph)
        if rounds not in folds:
            if rounds == "no" or not graph.is_symmetric:
                parent = torch.full((graph.num_nodes,), -1, device=graph.device)
                folds[rounds] = Fold(parent[:0], parent)
            else:
                folds[rounds] = Fold(*_ops.ops.fold(graph.rowptr, graph.col, rounds == "all"))
        return folds[rounds]

    def hanging(self, graph: Graph, weight: Tensor) -> Tensor:
        """The sum of the weights folded onto each vertex; kept if every vertex counts once."""
        return (sizes if weight is graph._ones else sizes.compute)(self, weight)

    def _sums(self, graph: Graph, weight: Tensor) -> tuple[Tensor, Tensor]:
        """:meth:`hanging` and :func:`in_component`."""
        apart = weight is graph._ones or not _ops.has_kernel("folded_sums", graph.device)
        if apart:  # these are kept
            return self.hanging(graph, weight), in_component(graph, weight)
        sums: tuple[Tensor, Tensor] = _ops.ops.folded_sums(
            self.order, self.parent, graph.components, weight, torch.get_num_threads()
        )
        return sums

    def arcs_left(self, arcs: Tensor) -> Tensor:
        """[n]: the number of arcs that each vertex has left."""
        if self.order.numel() == 0:
            return arcs
        # index_select and index_fill_, not brackets: those wake PyTorch's threads even for a few
        # thousand entries, which then spin for 5 ms and compete with ours.
        left = arcs.clone()
        onto = self.parent.index_select(0, self.order)
        left.index_add_(0, onto, torch.ones_like(self.order), alpha=-1)
        return left.index_fill_(0, self.order, 0)

    def reduce(
        self, graph: Graph, measure: str, pairs: Pairs, endpoints: bool
    ) -> tuple[Pairs, Tensor]:
        """The pairs left to be searched, and the contribution of the others.

        The contribution is per vertex or slot of the graph.
        """
        a, b = pairs.source, pairs.target
        hanging_a, hanging_b = a, b
        totals = None
        if self.order.numel():
            (hanging_a, total_a), (hanging_b, total_b) = self._sums(graph, a), self._sums(graph, b)
            totals = total_a, total_b
        own, through = pairs.own, pairs.through
        counts = KERNELS[measure].visitor == Visitor.STRESS
        if counts:
            # Paths that end in a folded leaf pass through its parent, once per path.
            own, through = own + (hanging_a - a), through + (hanging_b - b)
        if KERNELS[measure].per_slot:
            scores = self._of_slots(graph, (hanging_a, hanging_b), totals)
        else:
            hanging = hanging_a, hanging_b
            scores = self._of_vertices(graph, counts, (a, b), hanging, totals, endpoints)
        return Pairs(hanging_a, hanging_b, own, through), scores

    def _of_vertices(
        self,
        graph: Graph,
        counts: bool,
        weights: tuple[Tensor, Tensor],
        hanging: tuple[Tensor, Tensor],
        totals: tuple[Tensor, Tensor] | None,
        endpoints: bool,
    ) -> Tensor:
        a, b = weights
        if not graph.is_symmetric or not (self.order.numel() or endpoints):
            return torch.zeros_like(a, memory_format=torch.contiguous_format)
        totals = totals or (in_component(graph, a), in_component(graph, b))
        if _ops.has_kernel("folded_pairs", graph.device):
            scores: Tensor = _ops.ops.folded_pairs(
                self.order, self.parent, a, b, *hanging, *totals, counts=counts,
                endpoints=endpoints, threads=torch.get_num_threads(),
            )  # fmt: skip
            return scores
        return a * (totals[1] - b) + b * (totals[0] - a)  # nothing is folded here

    def _of_slots(
        self,
        graph: Graph,
        hanging: tuple[Tensor, Tensor],
        totals: tuple[Tensor, Tensor] | None,
    ) -> Tensor:
        scores = torch.zeros(graph.num_slots, dtype=torch.float64, device=graph.device)
        if totals is None:  # nothing is folded
            return scores
        leaf, up, down = tree_slots(self, graph)
        inside_a, inside_b = (each.index_select(0, leaf) for each in hanging)
        total_a, total_b = (each.index_select(0, leaf) for each in totals)
        scores.index_copy_(0, up, inside_a * (total_b - inside_b))
        return scores.index_copy_(0, down, (total_a - inside_a) * inside_b)


@Slot
def _folds(graph: Graph) -> dict[str, Fold]:
    return {}


@Slot
def sizes(fold: Fold, weight: Tensor) -> Tensor:
    """Computed where the tree is (that of blocks is on the host); they lie with the weights."""
    values = weight.to(fold.order.device)
    sums: Tensor = _ops.ops.tree_sum(fold.order, fold.parent, values).to(weight.device)
    return sums


@Slot
def tree_slots(fold: Fold, graph: Graph) -> tuple[Tensor, Tensor, Tensor]:
    """The folded vertices, their slots to their parents and those back."""
    if _ops.has_kernel("slots", graph.device):
        leaf = fold.order
        ends = torch.stack([leaf, fold.parent[leaf]]).int()
        up, down = (_csr.slots(arc, graph.rowptr, graph.col) for arc in (ends, ends.flip(0)))
        return leaf, up, down
    row = _csr.rows(graph.rowptr)
    up = torch.nonzero(fold.parent.index_select(0, row) == graph.col).flatten()
    return row[up], up, graph.reverse_slot[up]


def in_component(graph: Graph, weight: Tensor) -> Tensor:
    """The total weight of the component of each vertex; kept if every vertex counts once."""
    return (totals if weight is graph._ones else totals.compute)(graph, weight)


@Slot
def totals(graph: Graph, weight: Tensor) -> Tensor:
    label = graph.components
    if _ops.has_kernel("component_totals", graph.device):
        sums: Tensor = _ops.ops.component_totals(label, weight, torch.get_num_threads())
        return sums
    total = weight.new_zeros(graph.num_nodes).index_add_(0, label, weight)
    return total.index_select(0, label)
