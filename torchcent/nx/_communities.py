"""Communities by removing the edges of highest betweenness, with NetworkX's results.

Which of several equal edges is removed first depends on the last bits of their scores, and the
communities depend on that. The operator ``divide`` therefore computes the bits of NetworkX: it
searches a copy of the graph with neighbours in the order of NetworkX's copy.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from torchcent.graph import _components
from torchcent.nx._config import threads
from torchcent.nx._declare import backend
from torchcent.nx._graph import BackendGraph
from torchcent.runtime import _codes, _ops
from torchcent.runtime._watch import progress_bar, watched

# Vertices x edges^2, which bounds the work, below which a thread that Ctrl-C can stop costs more.
_INLINE_WORK = 1e8
_PARALLEL = "parallel edges: NetworkX removes them one by one"
_ROUNDED = "weights: the edges to remove depend on the rounding of NetworkX's sums"
_DIRECTED = "the graph is directed, and NetworkX has no components of it"
_SAME_EDGES = "Removes the same edges as NetworkX, without converting the graph at each step."


@backend(
    measure="communities_by_betweenness", docs=_SAME_EDGES, compiled=True, enters=True, small=50,
    rules=[
        lambda G: G.is_multigraph() and _PARALLEL,
        lambda G: G.is_directed() and G.number_of_edges() == 0 and _DIRECTED,
    ],
)  # fmt: skip
def girvan_newman(G: BackendGraph) -> Iterator[tuple[set[Hashable], ...]]:
    if G.number_of_edges() == 0:
        yield tuple({node} for node in G)
        return
    division = _Division(G)
    while division.edges_left:
        division.divide()
        yield tuple(division.communities())


@backend(
    measure="communities_by_betweenness", docs=_SAME_EDGES, compiled=True, small=50,
    rules=[
        lambda G: G.is_multigraph() and _PARALLEL,
        lambda weight: weight is not None and _ROUNDED,
        lambda G: G.is_directed() and _DIRECTED,
    ],
)  # fmt: skip
def edge_betweenness_partition(G: BackendGraph, number_of_sets: int) -> list[set[Hashable]]:
    if number_of_sets <= 0:
        raise nx.NetworkXError("number_of_sets must be >0")
    if number_of_sets == 1:
        return [set(G)]
    if number_of_sets == len(G):
        return [{node} for node in G]
    if number_of_sets > len(G):
        raise nx.NetworkXError("number_of_sets must be <= len(G)")
    division = _Division(G)
    while len(division.parts) < number_of_sets:
        division.divide()
    return division.communities()


class _Division:
    """The undirected graph without loops, from which edges are removed, and its components."""

    def __init__(self, G: BackendGraph) -> None:
        self._names, n = G.names, len(G)
        tail, neighbour = _copied(G.arrays.tail, G.arrays.head, n)
        rowptr = np.concatenate([[0], np.bincount(tail, minlength=n).cumsum()])
        # Edges are numbered as NetworkX lists them: with the end that comes first in the nodes.
        first = tail < neighbour
        ends = np.stack([tail[first], neighbour[first]], 1)
        pair = np.minimum(tail, neighbour) * n + np.maximum(tail, neighbour)
        number = ends[:, 0] * n + ends[:, 1]
        order = np.argsort(number)
        edge = order[np.searchsorted(number, pair, sorter=order)]
        bounds = [torch.from_numpy(x.copy()) for x in (rowptr[:-1], rowptr[1:])]
        edges = [torch.from_numpy(x.astype(np.int32)) for x in (neighbour, edge, ends)]
        self._scores = torch.zeros(len(ends), dtype=torch.float64, device="cpu")
        scale = 1 / (n * (n - 1)) if n > 1 else 1.0
        self._arguments = (*bounds, *edges, self._scores, scale)
        self._work = n * len(ends) ** 2
        self._fresh = True
        label = _components.components(torch.from_numpy(rowptr), edges[0], True)
        size = torch.bincount(label).tolist()
        self.parts: list[Tensor] = list(torch.argsort(label, stable=True).split(size))

    @property
    def edges_left(self) -> bool:
        return bool((self._scores >= 0).any())

    def communities(self) -> list[set[Hashable]]:
        return [{*self._names(part)} for part in self.parts]

    def divide(self) -> None:
        """Removes edges until one of the parts falls in two."""
        control = _codes.control()
        part: list[Tensor] = []

        def work() -> None:
            part.append(_ops.ops.divide(*self._arguments, self._fresh, control, number))

        with threads() as number:
            if self._work < _INLINE_WORK:
                work()
            else:
                watched(work, control, progress_bar(0, "divide", False, True))
        self._fresh = False
        (one,) = part
        at = next(i for i, old in enumerate(self.parts) if bool((old == one[0]).any()))
        old = self.parts.pop(at)
        self.parts += [one, old[~torch.isin(old, one)]]
        self.parts.sort(key=lambda part: int(part[0]))


def _copied(tail: np.ndarray, head: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The neighbours of each vertex, without loops, in the order of a NetworkX graph to which these
    edges are added one by one."""
    begin, end = np.stack([tail, head], 1).ravel(), np.stack([head, tail], 1).ravel()
    proper = begin != end
    begin, end = begin[proper], end[proper]
    _, first = np.unique(begin * n + end, return_index=True)
    first = first[np.lexsort((first, begin[first]))]
    return begin[first], end[first]
