"""The problem of path counts: which pairs of vertices count, and how much."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor

from torchcent.graph import Graph


class Pairs(NamedTuple):
    """Every ordered pair (s, t) counts source[s] * target[t]; float64 [n] each, by the numbers of
    the graph. The contract of the engines (docs/betweenness.md) has them as a, b, c and h.

    Attributes:
        source: a, of paths that begin at a vertex.
        target: b, of those that end there.
        own: c, what a source's own score gets per target.
        through: h, what a vertex's score gets as if paths ended beyond it.
    """

    source: Tensor
    target: Tensor
    own: Tensor
    through: Tensor


class Reduction(Protocol):
    """A link of the chain (_reduce.py): it was made of a graph, and leaves less of it to search."""

    def arcs_left(self, arcs: Tensor) -> Tensor:
        """[n]: how many arcs each vertex has left, of those it had; 0 takes it out."""

    def reduce(
        self, graph: Graph, measure: str, pairs: Pairs, endpoints: bool
    ) -> tuple[Pairs, Tensor]:
        """The pairs that are left to be searched, and what the others contribute, per vertex or
        slot of the graph."""
