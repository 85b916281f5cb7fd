"""The path-counting problem: which pairs of vertices count, and with which weights."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor

from torchcent.graph import Graph


class Pairs(NamedTuple):
    """Weights of the pairs: every ordered pair (s, t) counts source[s] * target[t].

    All are float64 [n], per vertex of the graph. The contract of the engines (docs/betweenness.md)
    calls them a, b, c and h.

    Attributes:
        source: a, for paths that begin at a vertex.
        target: b, for paths that end at a vertex.
        own: c, added to a source's own score per target.
        through: h, added to a vertex's score as if paths ended beyond it.
    """

    source: Tensor
    target: Tensor
    own: Tensor
    through: Tensor


def add_at(total: Tensor, place: Tensor, values: Tensor) -> Tensor:
    """Adds values to the entries at these places, which may repeat, in an order that is fixed.

    On CUDA index_add_ adds in any order; index_put_ sorts the places.
    """
    if total.is_cuda:
        return total.index_put_((place,), values, accumulate=True)
    return total.index_add_(0, place, values)


class Reduction(Protocol):
    """A link of the chain (_reduce.py): derived from a graph, it leaves less of it to search."""

    def arcs_left(self, arcs: Tensor) -> Tensor:
        """[n]: the number of arcs that each vertex has left; 0 removes the vertex."""

    def reduce(
        self, graph: Graph, measure: str, pairs: Pairs, endpoints: bool
    ) -> tuple[Pairs, Tensor]:
        """The pairs left to be searched, and the contribution of the others.

        The contribution is per vertex or slot of the graph.
        """
