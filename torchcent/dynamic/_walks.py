"""PageRank and Katz centrality of a graph that changes, iterated from the scores before."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _values as values
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.dynamic._arcs import Arcs, Change
from torchcent.dynamic._graph import DynamicGraph
from torchcent.dynamic._measure import DynamicMeasure
from torchcent.graph import Graph
from torchcent.walks import _pagerank, _spectral


class DynamicPageRank(DynamicMeasure):
    r"""PageRank of a :class:`DynamicGraph`, which follows its updates.

    .. math:: x(v) = \alpha \Big( \sum_{u \to v} \frac{x(u)}{d_u}
              + d(v) \sum_{d_u = 0} x(u) \Big) + (1 - \alpha)\, p(v)

    as of :func:`pagerank`. After an update, iterations begin with the scores before it, and stop by
    the bound of :func:`pagerank`. So errors do not add up, but scores depend on the history within
    this bound.

    Args:
        graph: the graph to follow.
        alpha: the probability of following an arc, in [0, 1).
        personalization: p, [n], finite and >= 0, divided by its sum. None is uniform, whatever n
            becomes; otherwise new vertices have 0.
        dangling: d, [n], likewise; None uses p.
        tol: bound on the error: the absolute differences from the exact scores sum to at most tol,
            apart from rounding.
        run: memory and progress, see :class:`Run`. Threads are PyTorch's at each update.

    Attributes:
        scores: float64 [n], those of :func:`pagerank` for the snapshot, but for an error of their
            own, which `tol` bounds.
        changed: int64, the vertices whose score the last update changed, be it by less than `tol`.
        statistics: iterations and seconds of the last update; sources are 0.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(m) time per iteration. A change of few edges saves the iterations that lead to scores as near
    as those before it. Graphs of up to 64 vertices are solved directly.

    Example:
        >>> import torch, torchcent
        >>> graph = torchcent.DynamicGraph(torch.tensor([[0, 1, 2], [2, 2, 0]]))
        >>> rank = torchcent.DynamicPageRank(graph)
        >>> graph.update(insert=torch.tensor([[2], [1]])).inserted
        1
        >>> rank.scores
        tensor([0.2568, 0.2568, 0.4865], dtype=torch.float64)
    """

    @computes()
    def __init__(
        self,
        graph: DynamicGraph,
        *,
        alpha: float = 0.85,
        personalization: Tensor | None = None,
        dangling: Tensor | None = None,
        tol: float = 1e-10,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(graph, run)
        self._alpha = check.within(alpha, "alpha", "[0, 1)")
        self._tol = check.tolerance(tol)
        of_vertices = {"personalization": personalization, "dangling": dangling}
        self._of_vertices: dict[str, Tensor] = {}
        for name, value in of_vertices.items():
            if value is not None:
                frozen = graph.snapshot()
                self._of_vertices[name] = check.per_vertex(value, name, frozen)
                _pagerank.distribution(value, name, frozen)

    def _start(self, arcs: Arcs) -> tuple[int, str]:
        self._iterate(arcs, None)
        return 0, "none"

    def _repair(self, change: Change) -> tuple[int, int, str]:
        self._iterate(change.after, self._ranks)
        return 0, 0, "none"

    def _iterate(self, arcs: Arcs, near: Tensor | None) -> None:
        graph = arcs.frozen._adjacency
        restart = jump = self._distribution("personalization", graph)
        if "dangling" in self._of_vertices:
            jump = self._distribution("dangling", graph)
        if near is not None:
            near = torch.cat([near, restart[near.numel() :]])
            near = (near / near.sum())[:, None]
        walk = _pagerank.Walk(graph, self._alpha, self._tol)
        self._ranks = walk.stationary(restart[:, None], jump[:, None], near)[:, 0]
        self._iterations = walk.iterations

    def _distribution(self, name: str, graph: Graph) -> Tensor:
        value = self._of_vertices.get(name)
        if value is not None:
            value = torch.nn.functional.pad(value, (0, graph.num_nodes - value.numel()))
        return _pagerank.distribution(value, name, graph)

    def _scores(self, arcs: Arcs) -> Tensor:
        return self._ranks.clone()


class DynamicKatz(DynamicMeasure):
    r"""Katz centrality of a :class:`DynamicGraph`, which follows its updates.

    .. math:: x(v) = \alpha \sum_{u \to v} x(u) + \beta

    as of :func:`katz`. After an update, iterations begin with the sums before it. What these lack
    of the new ones, :math:`r = \alpha A^T x + \beta - x`, is multiplied by :math:`\alpha A^T` and
    added, until it is nowhere more than ``tol`` times :math:`\beta`. Then x is within a share of
    `tol` of the exact scores, which exist if x is positive (Collatz and Wielandt). Otherwise x is
    computed anew.

    Args:
        graph: the graph to follow.
        alpha: as in :func:`katz`. With None it changes with the largest eigenvalue of the graph.
        beta: the score of a walk of length 0, a finite number >= 0.
        normalized: divide by the Euclidean norm.
        tol: bound on the error of every score, relative to the largest one before `normalized`,
            apart from rounding.
        max_iter: the most iterations, up to 1,000,000.
        run: memory and progress, see :class:`Run`. Threads are PyTorch's at each update.

    Attributes:
        scores: float64 [n], those of :func:`katz` for the snapshot, but for an error of their own,
            which `tol` bounds.
        changed: int64, the vertices whose score the last update changed, be it by less than `tol`.
        statistics: iterations and seconds of the last update; sources are 0.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        ValueError: as of :func:`katz`, when scores are first read and at an update, which leaves
            the graph as it was then.

    O(m) time per iteration. Graphs of up to 64 vertices are solved directly.

    Example:
        >>> import torch, torchcent
        >>> graph = torchcent.DynamicGraph(torch.tensor([[0, 1], [1, 2]]))
        >>> walks = torchcent.DynamicKatz(graph, alpha=0.5, normalized=False)
        >>> graph.update(insert=torch.tensor([[0], [2]])).inserted
        1
        >>> walks.scores
        tensor([1.0000, 1.5000, 2.2500], dtype=torch.float64)
    """

    @computes()
    def __init__(
        self,
        graph: DynamicGraph,
        *,
        alpha: float | None = 0.1,
        beta: float = 1.0,
        normalized: bool = True,
        tol: float = 1e-10,
        max_iter: int = 1000,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(graph, run)
        self._alpha = alpha
        if alpha is not None:
            self._alpha = check.within(alpha, "alpha", "(0, inf)", "finite and > 0")
        self._beta = check.within(beta, "beta", "[0, inf)", "finite and >= 0")
        self._normalized = values.flag(normalized, "normalized")
        self._tol, self._most = check.tolerance(tol), check.iterations(max_iter)

    def _start(self, arcs: Arcs) -> tuple[int, str]:
        self._iterate(arcs, None)
        return 0, "none"

    def _repair(self, change: Change) -> tuple[int, int, str]:
        new = change.after.num_nodes - self._sums.numel()
        self._iterate(change.after, torch.nn.functional.pad(self._sums, (0, new), value=1.0))
        return 0, 0, "none"

    def _iterate(self, arcs: Arcs, near: Tensor | None) -> None:
        graph = arcs.frozen._adjacency
        factor = _spectral.attenuation(self._alpha, graph)
        ones = torch.ones(graph.num_nodes, dtype=torch.float64, device=graph.device)
        self._sums, self._iterations = _spectral.walks(
            graph, factor, ones, self._tol, self._most, near
        )

    def _scores(self, arcs: Arcs) -> Tensor:
        scores = self._sums * self._beta
        return _spectral.unit(arcs.frozen, scores) if self._normalized else scores
