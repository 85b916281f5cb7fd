"""Pivots: which sources, and the scores that they tell (Brandes and Pich 2007)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from torchcent import _csr, _driver, _plan, _reduce, _resolution, _weighted_rows
from torchcent.graph import Graph

CHOICES = ("uniform", "degree", "max_min")
BATCH = 64  # sources that fill the lanes of an engine


def dependency_sums(
    graph: Graph, pivots: Tensor, memory: int | None, progress: bool | None
) -> Tensor:
    """float64 [n]: what paths from the pivots contribute, as sums over ordered pairs.

    pivots: vertices, or float64 [n]: how often each vertex counts as one.
    """
    number = pivots.numel() if not pivots.is_floating_point() else int((pivots > 0).sum())
    made, core = _plan.plan(graph, "betweenness", "auto", number, memory)
    if graph.is_weighted:
        _resolution.check(graph)
    problem = _reduce.problem(graph, core, "betweenness", pivots, None, False)
    return _driver.run(problem, made, progress)


def block_sums(
    graph: Graph, pivots: Tensor, choice: str, memory: int | None, progress: bool | None
) -> Tensor:
    """The same of a block of pivots; of those drawn by degree free of bias for the sum over all
    sources, once it is divided by the number of pivots."""
    by_degree = choice == "degree"
    return dependency_sums(
        graph, importance(graph, pivots) if by_degree else pivots, memory, progress
    )


def chosen(graph: Graph, choice: str, count: int, generator: torch.Generator | None) -> Tensor:
    """int64 [count]: different vertices, or drawn by degree with repetitions."""
    where = generator.device if generator is not None else torch.device("cpu")
    n = graph.num_nodes
    if choice == "degree":
        degree = graph.degree.to(where, torch.float64).cumsum(0)
        drawn = torch.rand(count, generator=generator, dtype=torch.float64, device=where)
        at = torch.searchsorted(degree, drawn * degree[-1], right=True)
        return at.clamp_(max=n - 1).to(graph.device)
    if choice == "uniform":
        return torch.randperm(n, generator=generator, device=where)[:count].to(graph.device)
    first = int(torch.randint(n, (1,), generator=generator, device=where))
    return _far_apart(graph, first, count)


def _far_apart(graph: Graph, first: int, count: int) -> Tensor:
    """Each the farthest from those before it; of several, the lowest number."""
    taken = [first]
    nearest = _distances(graph, first)
    for _ in range(count - 1):
        nearest[taken[-1]] = -1  # not again
        taken.append(int(nearest.argmax()))
        nearest = torch.minimum(nearest, _distances(graph, taken[-1]))
    return torch.tensor(taken, device=graph.device)


def _distances(graph: Graph, vertex: int) -> Tensor:
    if graph.is_weighted:
        return _weighted_rows.single(graph, "auto", vertex)
    hops = _csr.hops(graph.rowptr, graph.col, vertex).double()
    return torch.where(hops < 0, torch.inf, hops)


def importance(graph: Graph, pivots: Tensor) -> Tensor:
    """float64 [n]: for each time that a vertex was drawn 1 / its chance, that is slots / degree."""
    times = torch.bincount(pivots, minlength=graph.num_nodes).double()
    return torch.where(times > 0, times * graph.num_slots / graph.degree, 0.0)


def blocks(count: int, limited: bool) -> Iterator[int]:
    """Numbers of pivots after which time is looked at: doubling, if it matters."""
    done = count
    if limited:
        done = min(count, BATCH)
    while done < count:
        yield done
        done = min(2 * done, count)
    yield count


def log_failure(num_nodes: int, delta: float, looks: int) -> float:
    """ln(1 / p) for each side of each vertex, if all looks at all vertices may fail with delta."""
    return math.log(2 * max(num_nodes, 1) * looks / delta)
