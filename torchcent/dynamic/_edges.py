"""Betweenness of the edges of a graph that changes."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _values as values
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.dynamic._arcs import Arcs, Change, ends_of
from torchcent.dynamic._graph import DynamicGraph
from torchcent.dynamic._measure import DynamicMeasure
from torchcent.paths._betweenness import edge_betweenness


class DynamicEdgeBetweenness(DynamicMeasure):
    r"""Edge betweenness of a :class:`DynamicGraph`, which follows its updates.

    .. math:: C_B(e) = \sum_{s \ne t} \sigma_{st}(e) / \sigma_{st}

    Each update computes :func:`edge_betweenness` of the whole graph: it searches many sources at
    once, and is quicker than to follow single edges (docs/notes/dynamic.md).

    Args:
        graph: the graph to follow. Measures are updated as long as they are referenced.
        sources: None for all, or an int k or a tensor of pivots, as in :func:`betweenness`. They
            stay the same.
        normalized: as in :func:`edge_betweenness`.
        generator: of random pivots.
        run: memory and progress, see :class:`Run`. Threads are PyTorch's at each update.

    Attributes:
        edges: int64 [2, m], the ends of each edge, in ascending order; of undirected edges the
            smaller first.
        scores: float64 [m], the bits of :func:`edge_betweenness` of the snapshot.
        changed: int64, the columns of `edges` that are new, or whose score the last update changed.
        statistics: sources searched, and seconds of the last update.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    Each update takes O(k (n + m)) time for k sources, after exact reductions.

    Example:
        >>> import torch, torchcent
        >>> graph = torchcent.DynamicGraph(torch.tensor([[0, 1, 2], [1, 2, 3]]), directed=False)
        >>> follows = torchcent.DynamicEdgeBetweenness(graph, normalized=False)
        >>> follows.scores
        tensor([3., 4., 3.], dtype=torch.float64)
        >>> graph.update(insert=torch.tensor([[0], [3]])).inserted
        1
        >>> follows.edges[:, follows.changed]
        tensor([[0, 0, 1, 2],
                [1, 3, 2, 3]])

    Source:
        Brandes 2008, "On variants of shortest-path betweenness centrality", section 3.4.
    """

    @computes()
    def __init__(
        self,
        graph: DynamicGraph,
        *,
        sources: int | Tensor | None = None,
        normalized: bool = True,
        generator: torch.Generator | None = None,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(graph, run)
        self._normalized = values.flag(normalized, "normalized")
        self._pivots = check.sources(sources, graph.snapshot(), generator)
        self._keys_before = graph._arcs.keys[:0]

    @property
    def edges(self) -> Tensor:
        return ends_of(self._graph._arcs.edges)

    @property
    def changed(self) -> Tensor:
        scores, before, keys = self.scores, self._before, self._keys_before
        if before is None:
            return keys[:0]
        edges = self._graph._arcs.edges
        if not keys.numel():
            return torch.arange(edges.numel(), device=edges.device)
        place = torch.searchsorted(keys, edges).clamp_(max=keys.numel() - 1)
        return ((keys[place] != edges) | (before[place] != scores)).nonzero().flatten()

    def _start(self, arcs: Arcs) -> tuple[int, str]:
        run = Run(progress=self._progress, memory=self._memory, dtype=torch.float64)
        self._values = edge_betweenness(
            arcs.frozen, sources=self._pivots, normalized=self._normalized, run=run
        )
        count = arcs.num_nodes if self._pivots is None else self._pivots.numel()
        return count, "whole"

    def _repair(self, change: Change) -> tuple[int, int, str]:
        self._keys_before = change.before.edges
        count, state = self._start(change.after)
        return count, count, state

    def _scores(self, arcs: Arcs) -> Tensor:
        return self._values
