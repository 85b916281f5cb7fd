"""communities_by_betweenness: Girvan and Newman's division of a graph."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from torchcent.approx._approximation import edge_betweenness_approx
from torchcent.check import _approx as check_approx
from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import integer
from torchcent.engines.search._driver import counts_in_float64
from torchcent.graph import Graph, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.paths._betweenness import edge_betweenness
from torchcent.plots._clusterings import plot_communities
from torchcent.plots._page import NetworkPage
from torchcent.runtime._watch import progress_bar

METHODS = ("exact", "samples")
_EQUAL = 1e-7  # relative difference of exact scores that rounding may cause


@dataclass(frozen=True, eq=False)
class Communities:
    """The division of a graph into more and more communities.

    Level 0 is the connected components; each later level is the first partition with more
    communities than the one before it.

    Attributes:
        labels: int64 [n], the community of each vertex at level `level`, numbered from 0 in the
            order of their first vertices.
        level: the level of the largest modularity, the first of equal ones; with num_communities
            the last one.
        counts: int64 [levels], the number of communities of each level.
        modularity: float64 [levels], of the partition of the whole graph.
        removed: int64 [2, k], the edges in the order of their removal.
        removals: int64 [levels], the number of edges removed before each level.
        splits: int64 [s, 2], the dendrogram from the root: the smallest vertices of two communities
            that were one before, in the order of their separation. Backwards they are merges.
        complete: whether all edges were removed.
    """

    labels: Tensor
    level: int
    counts: Tensor
    modularity: Tensor
    removed: Tensor
    removals: Tensor
    splits: Tensor
    complete: bool
    _graph: Graph = field(repr=False)

    def at(self, level: int) -> Tensor:
        """int64 [n]: the communities of a level; negative levels count from the last.

        Example:
            >>> import torch, torchcent
            >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
            >>> torchcent.communities_by_betweenness(path, directed=False).at(-1).tolist()
            [0, 1, 2, 3]
        """
        levels, number = self.counts.numel(), integer(level, "level")
        if not -levels <= number < levels:
            raise ValueError(f"level must be in [{-levels}, {levels}), got {number}")
        ends = _ends(self._graph)
        edges = self.removed[:, : int(self.removals[number])]
        n = self._graph.num_nodes
        keep = ~torch.isin(ends[0] * n + ends[1], edges[0] * n + edges[1])
        return Graph.from_edge_index(ends[:, keep], n, directed=False).components

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, level: int | None = None,
        interactive: bool = False,
    ) -> NetworkPage | None:  # fmt: skip
        """Draws a level, as :func:`torchcent.cluster_plot.plot_communities` does.

        Example:
            >>> import torch, torchcent
            >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
            >>> torchcent.communities_by_betweenness(path, directed=False).plot(interactive=True)
            NetworkPage('Communities of 4 vertices')
        """
        return plot_communities(self, self._graph, level=level, path=path, interactive=interactive)

    def __repr__(self) -> str:
        return (
            f"Communities(n={self.labels.numel()}, communities={int(self.counts[self.level])}, "
            f"modularity={float(self.modularity[self.level]):.4g}, level={self.level} of "
            f"{self.counts.numel()}, removed={self.removed.shape[1]} edges, "
            f"complete={self.complete})"
        )


@computes(searches=True)
def communities_by_betweenness(
    edge_index: GraphLike,
    num_communities: int | None = None,
    edge_weight: WeightLike = None,
    *,
    method: str = "exact",
    epsilon: float = 0.01,
    delta: float = 0.1,
    per_round: int | float = 1,
    max_rounds: int | None = None,
    num_nodes: int | None = None,
    directed: bool | None = None,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
) -> Communities:
    r"""Finds communities by removing the edge of highest betweenness again and again.

    Edges between communities carry most shortest paths. After each removal the scores of the
    component that held the edge are computed anew, those of all others stay as they are. The
    connected components are the communities; their quality is the modularity

    .. math:: Q = \sum_c \Big( \frac{L_c}{m} - \Big(\frac{d_c}{2 m}\Big)^2 \Big)

    of the given graph, where community c has :math:`L_c` of the m edges inside, and degrees that
    sum to :math:`d_c`.

    Args:
        edge_index: int64 [2, E], or a Graph. It must be undirected: each arc has its reverse with
            the same weight, or directed=False. Not a batch of graphs. Self-loops are dropped,
            parallel edges are merged.
        num_communities: stop at the first partition of at least so many; None divides on.
        edge_weight: [E], the length of each edge for shortest paths; None counts hops. Modularity
            counts edges.
        method: "exact" computes exact scores. "samples" approximates them by random shortest paths
            (:func:`edge_betweenness_approx`). With probability 1 - delta in each round, the edge
            removed then has a score within 2 epsilon of the highest, as a share of the pairs of
            vertices searched.
        epsilon, delta: accuracy of "samples", for each round.
        per_round: how many edges are removed before scores are computed again: a number, or a share
            in (0, 1) of the edges left, at least one. 1 is the method of Girvan and Newman. More
            are faster by about that factor, and differ: of several edges between two communities,
            those that the first removal would have relieved or burdened are judged by old scores.
        max_rounds: stop after so many rounds; None divides until no edges are left.
        num_nodes: n; by default the largest id + 1.
        directed: False adds missing reverse arcs.
        generator: of "samples"; None uses torch's global generator.
        run: how it is computed, see :class:`Run`.

    Of edges whose exact scores are equal (to a relative difference of 1e-7), the one with the
    smallest ends is removed. NetworkX's ``girvan_newman`` takes the first in its order of edges:
    its partitions are the same where no scores are equal.

    Returns:
        :class:`Communities`: labels, modularity and number of communities of each level, removed
        edges and the dendrogram.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed. Raised before any
            computation.
        MemoryError: ``Run(memory=)`` is too small; the message states both amounts.

    A round takes the time of :func:`edge_betweenness` of the components that lost edges, O(n m) if
    that is the whole graph. The division of a connected graph into single vertices takes m rounds:
    for a large graph, pass num_communities or max_rounds, and per_round.

    Example:
        >>> import torch, torchcent
        >>> two = torch.tensor([[0, 1, 0, 3, 4, 3, 2], [1, 2, 2, 4, 5, 5, 3]])
        >>> found = torchcent.communities_by_betweenness(two, directed=False)
        >>> found.labels.tolist(), round(float(found.modularity.max()), 3)
        ([0, 0, 0, 1, 1, 1], 0.357)
        >>> found.removed[:, 0].tolist(), found.splits[0].tolist()
        ([2, 3], [0, 3])

    Source:
        Girvan and Newman 2002, "Community structure in social and biological networks"; modularity:
        Newman and Girvan 2004.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run)
    check_batch.one_graph(graph, "communities_by_betweenness", "pass its graphs one by one")
    check.undirected(graph, "communities_by_betweenness")
    goal = check.positive(num_communities, "num_communities")
    if goal is not None and goal > graph.num_nodes:
        raise ValueError(
            f"num_communities must be at most {graph.num_nodes}, the number of vertices, got {goal}"
        )
    check.choice(method, "method", METHODS)
    epsilon, delta = check_approx.epsilon(epsilon), check_approx.share(delta, "delta")
    share = _per_round(per_round)
    rounds = check.positive(max_rounds, "max_rounds")
    check.random_generator(generator)
    division, turn = _Division(graph), 0
    inner = Run(memory=run.memory, progress=False, dtype=torch.float64)

    def scores(part: Graph) -> Tensor:
        if method == "exact":
            with counts_in_float64():
                return edge_betweenness(part, normalized=False, run=inner)
        estimate = edge_betweenness_approx(
            part, epsilon, delta, method="kadabra", generator=generator, run=inner
        )
        return estimate.scores * (part.num_nodes * (part.num_nodes - 1) / 2)

    total, title = division.left.numel(), "communities_by_betweenness"
    with progress_bar(total, title, run.progress, quick=False, unit="edges") as bar:
        while division.left.numel() and (goal is None or division.count < goal) and turn != rounds:
            division.update(scores)
            division.remove(share(division.left.numel()), _EQUAL if method == "exact" else 0.0)
            bar.update(total - division.left.numel() - bar.n)
            turn += 1
    return division.result(goal is not None)


def _per_round(value: object) -> Callable[[int], int]:
    """How many edges of those left a round removes."""
    if isinstance(value, float):
        part = check_approx.share(value, "per_round")
        return lambda left: max(1, int(part * left))
    count = integer(value, "per_round")
    if count < 1:
        raise ValueError(f"per_round must be at least 1, or a share in (0, 1), got {count}")
    return lambda left: min(count, left)


def _ends(graph: Graph) -> Tensor:
    """int64 [2, m]: every edge once, from its smaller end, in ascending order."""
    arcs = graph.to_edge_index()
    return arcs[:, arcs[0] < arcs[1]]


class _Division:
    """The edges that are left, their scores and the communities."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._ends = graph, _ends(graph)
        self._weight = None
        if graph.weight is not None:
            arcs = graph.to_edge_index()
            self._weight = graph.weight[arcs[0] < arcs[1]]
        self._score = torch.zeros(self._ends.shape[1], dtype=torch.float64, device=graph.device)
        self.left = torch.arange(self._ends.shape[1], device=graph.device)
        self._label = graph.components
        self.count = int(self._label.max()) + 1 if graph.num_nodes else 0
        self._order: list[Tensor] = []
        self._splits: list[tuple[int, int]] = []
        self._levels: list[tuple[int, float, int]] = []
        self._stale, self._part = self.left, self._graph_of(self.left)
        self._note()

    def _graph_of(self, edges: Tensor, vertices: Tensor | None = None) -> Graph:
        """The graph of these edges and vertices; None for those at the edges."""
        ends = self._ends[:, edges]
        vertices = torch.unique(ends) if vertices is None else vertices
        weight = None if self._weight is None else self._weight[edges]
        arcs = torch.searchsorted(vertices, ends)
        return Graph.from_edge_index(arcs, vertices.numel(), False, weight)

    def update(self, scores: Callable[[Graph], Tensor]) -> None:
        """Computes the scores, one per column, of the graph that has lost edges."""
        if self._stale.numel():
            self._score[self._stale] = scores(self._part)

    def remove(self, count: int, equal: float) -> None:
        """Removes the edges of the highest scores; of equal ones those with the smallest ends."""
        score = self._score[self.left]
        if equal:
            score = (score / (score.max() * equal).clamp(min=1e-300)).round_()
        order = torch.argsort(score, descending=True, stable=True)[:count]
        edges = self.left[order]
        mask = torch.ones_like(self.left, dtype=torch.bool)
        mask[order] = False
        self.left = self.left[mask]
        self._order.append(edges)
        stale = torch.zeros(self.count, dtype=torch.bool, device=edges.device)
        stale[self._label[self._ends[0, edges]]] = True
        vertices = torch.nonzero(stale[self._label]).flatten()
        self._stale = self.left[stale[self._label[self._ends[0, self.left]]]]
        self._part = self._graph_of(self._stale, vertices)
        self._split(vertices, self._part.components, int(stale.sum()))

    def _split(self, vertices: Tensor, part: Tensor, before: int) -> None:
        """Gives the parts of communities labels of their own; the first part keeps the label."""
        parts = int(part.max()) + 1
        if parts == before:
            return
        smallest = vertices[_csr.firsts(part, parts)]
        own = self._label[smallest].tolist()
        stays: dict[int, int] = {}
        for i, vertex in enumerate(smallest.tolist()):  # ascending
            if own[i] in stays:
                self._splits.append((stays[own[i]], vertex))
                own[i], self.count = self.count, self.count + 1
            else:
                stays[own[i]] = vertex
        self._label = self._label.clone()
        self._label[vertices] = torch.tensor(own, device=part.device)[part]
        self._note()

    def _note(self) -> None:
        """Adds a level."""
        removals = self._ends.shape[1] - self.left.numel()
        self._levels.append((self.count, self._modularity(), removals))

    def _modularity(self) -> float:
        edges = self._ends.shape[1]
        if edges == 0:
            return 0.0
        one, other = self._label[self._ends]
        within = (one == other).sum().double() / edges
        degree = torch.bincount(self._label, self._graph.degree.double(), self.count)
        return float(within - ((degree / (2 * edges)) ** 2).sum())

    def result(self, last: bool) -> Communities:
        device = self._ends.device
        counts, modularity, removals = zip(*self._levels, strict=True)
        quality = torch.tensor(modularity, dtype=torch.float64, device=device)
        level = len(counts) - 1 if last else int((quality >= quality.max() - 1e-12).long().argmax())
        none = self.left[:0]
        order = self._ends[:, torch.cat(self._order) if self._order else none]
        communities = Communities(
            none, level, counts=torch.tensor(counts, device=device), modularity=quality,
            removed=order, removals=torch.tensor(removals, device=device),
            splits=torch.tensor(self._splits, dtype=torch.int64, device=device).reshape(-1, 2),
            complete=self.left.numel() == 0, _graph=self._graph,
        )  # fmt: skip
        return replace(communities, labels=communities.at(level))
