"""Communities by removing the edges of highest betweenness, with NetworkX's results.

Which of several equal edges is removed first depends on the last bits of their scores, and the
communities depend on that. The operator ``divide`` therefore computes the bits of NetworkX: it
searches a copy of the graph with neighbours in the order of NetworkX's copy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from torchcent.graph import _components
from torchcent.nx._config import running
from torchcent.nx._graph import BackendGraph
from torchcent.runtime import _codes, _ops
from torchcent.runtime._watch import progress_bar, watched

# Vertices x edges^2, which bounds the work, below which a thread that Ctrl-C can stop costs more.
_INLINE_WORK = 1e8


def girvan_newman(
    G: BackendGraph, most_valuable_edge: Callable[[Any], Any] | None = None
) -> Iterator[tuple[set[Hashable], ...]]:
    if G.number_of_edges() == 0:
        yield tuple({node} for node in G)
        return
    division = _Division(G)
    while division.edges_left:
        division.divide()
        yield tuple(division.communities())


def edge_betweenness_partition(
    G: BackendGraph, number_of_sets: int, *, weight: None = None
) -> list[set[Hashable]]:
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
        self._nodes, n = G.nodes, len(G)
        tail, neighbour = _copied(G.arrays.tail, G.arrays.head, n)
        rowptr = np.concatenate([[0], np.bincount(tail, minlength=n).cumsum()])
        # Edges are numbered as NetworkX lists them: with the end that comes first in the nodes.
        first = tail < neighbour
        ends = np.stack([tail[first], neighbour[first]], 1)
        pair = np.minimum(tail, neighbour) * n + np.maximum(tail, neighbour)
        known = ends[:, 0] * n + ends[:, 1]
        order = np.argsort(known)
        edge = order[np.searchsorted(known, pair, sorter=order)]
        self._begin, self._end = (torch.from_numpy(x.copy()) for x in (rowptr[:-1], rowptr[1:]))
        self._col, self._edge, self._ends = (
            torch.from_numpy(x.astype(np.int32)) for x in (neighbour, edge, ends)
        )
        self._score = torch.zeros(len(ends), dtype=torch.float64, device="cpu")
        self._scale = 1 / (n * (n - 1)) if n > 1 else 1.0
        self._fresh = True
        label = _components.components(torch.from_numpy(rowptr), self._col, True)
        size = torch.bincount(label).tolist()
        self.parts: list[Tensor] = list(torch.argsort(label, stable=True).split(size))

    @property
    def edges_left(self) -> bool:
        return bool((self._score >= 0).any())

    def communities(self) -> list[set[Hashable]]:
        return [{self._nodes[i] for i in part.tolist()} for part in self.parts]

    def divide(self) -> None:
        """Removes edges until one of the parts falls in two."""
        control = _codes.control()
        found: list[Tensor] = []

        def work() -> None:
            found.append(
                _ops.ops.divide(
                    self._begin,
                    self._end,
                    self._col,
                    self._edge,
                    self._ends,
                    self._score,
                    self._scale,
                    self._fresh,
                    control,
                    torch.get_num_threads(),
                )  # fmt: skip
            )

        with running():
            if self._begin.numel() * self._score.numel() ** 2 < _INLINE_WORK:
                work()
            else:
                watched(work, control, progress_bar(0, "divide", False, True))
        self._fresh = False
        one = found[0]
        at = next(i for i, part in enumerate(self.parts) if bool((part == one[0]).any()))
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
