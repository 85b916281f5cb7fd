"""Pivots: choice of sources, and the scores estimated from them (Brandes and Pich 2007)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from torchcent.distribute._arguments import Scale
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _plan
from torchcent.engines.reduce import _hops, _reduce
from torchcent.engines.search import _driver, _resolution, _weighted_rows
from torchcent.graph import Graph

CHOICES = ("uniform", "degree", "max_min")
#: with contributions in proportion to the distance from the pivot
LINEAR = tuple(f"{choice}+linear" for choice in CHOICES)
BATCH = 64  # sources that fill the lanes of an engine


def dependency_sums(
    graph: Graph, pivots: Tensor, memory: int | None, progress: bool | None,
    measure: str = "betweenness", scale: Scale | None = None,
) -> Tensor:  # fmt: skip
    """float64: the contribution of paths from the pivots to each vertex, of "edge_betweenness" to
    each slot, as sums over ordered pairs. `pivots` are vertices, or float64 [n], the weight of
    each vertex as a source. With the measure "linear", weights the contribution of a path to t to a
    vertex v by d(s, v) / d(s, t)."""
    number = pivots.numel() if not pivots.is_floating_point() else int((pivots > 0).sum())
    plan, core = _plan.plan(graph, Request(measure, memory=memory), number)
    if graph.is_weighted:
        _resolution.check(graph)
    problem = _reduce.problem(graph, core, measure, pivots, None, False)
    return _driver.run(problem, plan, progress, scale)


class Pivots:
    """Computes the contributions of blocks of pivots for a choice and a scaling."""

    def __init__(
        self, graph: Graph, choice: str, scaling: str, memory: int | None, progress: bool | None,
        scale: Scale | None = None, edges: bool = False,
    ) -> None:  # fmt: skip
        self._graph, self._by_degree, self._scaling = graph, choice == "degree", scaling
        plain = "edge_betweenness" if edges else "betweenness"
        self._options = (memory, progress, scaling or plain, scale)
        # Linear scaling needs paths to the pivots, too.
        self._back = None if not scaling or graph.is_symmetric else graph.reversed()

    def sums(self, pivots: Tensor) -> Tensor:
        """float64 [n]: the contribution of a block to sums over ordered pairs. For pivots drawn by
        degree, divided by their number, an unbiased estimate of the sum over all sources."""
        graph, back = self._graph, self._back
        sources = importance(graph, pivots, self._scaling) if self._by_degree else pivots
        sums = dependency_sums(graph, sources, *self._options)
        if self._scaling:
            sums += sums if back is None else dependency_sums(back, sources, *self._options)
        return sums


class Order:
    """The order of the pivots: `count` distinct ones, or drawn by degree with repetitions."""

    def __init__(
        self, graph: Graph, choice: str, count: int, generator: torch.Generator | None,
        scaling: str = "",
    ) -> None:  # fmt: skip
        where = generator.device if generator is not None else torch.device("cpu")
        n = graph.num_nodes
        self._graph, self._nearest = graph, None
        if choice == "degree":
            degree = _arcs(graph, scaling).to(where, torch.float64).cumsum(0)
            random = torch.rand(count, generator=generator, dtype=torch.float64, device=where)
            at = torch.searchsorted(degree, random * degree[-1], right=True)
            self._pivots = at.clamp_(max=n - 1).to(graph.device)
        elif choice == "uniform":
            order = torch.randperm(n, generator=generator, device=where)
            self._pivots = order[:count].to(graph.device)
        else:
            first = torch.randint(n, (1,), generator=generator, device=where)
            self._pivots = first.to(graph.device)
            self._nearest = _distances(graph, int(first))

    def between(self, begin: int, end: int) -> Tensor:
        """int64: the pivots with numbers begin to end - 1."""
        if self._nearest is not None:
            # The next is the farthest from all previous ones; ties go to the lowest number.
            pivots, nearest = self._pivots.tolist(), self._nearest
            while len(pivots) < end:
                nearest[pivots[-1]] = -1  # exclude
                pivots.append(int(nearest.argmax()))
                nearest = torch.minimum(nearest, _distances(self._graph, pivots[-1]))
            self._pivots, self._nearest = torch.tensor(pivots, device=nearest.device), nearest
        return self._pivots[begin:end]


def _distances(graph: Graph, vertex: int) -> Tensor:
    if graph.is_weighted:
        return _weighted_rows.single(graph, "auto", vertex)
    hops = _hops.hops(graph.rowptr, graph.col, vertex).double()
    return torch.where(hops < 0, torch.inf, hops)


def importance(graph: Graph, pivots: Tensor, scaling: str) -> Tensor:
    """float64 [n]: importance weights: the sum of 1 / probability over the draws of each vertex.
    The probability is its share of all arcs."""
    times, arcs = torch.bincount(pivots, minlength=graph.num_nodes).double(), _arcs(graph, scaling)
    return torch.where(times > 0, times * arcs.sum() / arcs, 0.0)


def _arcs(graph: Graph, scaling: str) -> Tensor:
    """Arcs that a pivot's searches start with; linear scaling counts both directions."""
    both = scaling == "linear" and not graph.is_symmetric
    return graph.degree + graph.transpose[0].diff() if both else graph.degree


def blocks(count: int, early: bool) -> Iterator[int]:
    """Yields the numbers of pivots after which the time is checked, if there may be early checks.

    Blocks are whole batches. Each is at most a quarter of the work done before, except the first
    ones.
    """
    end = BATCH if early else count
    while end < count:
        yield end
        end += max(end // (4 * BATCH), 1) * BATCH
    yield count
