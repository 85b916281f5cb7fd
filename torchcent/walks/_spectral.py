"""katz, eigenvector and hits: scores from the scores of neighbours."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _walks as check_walks
from torchcent.check._values import number
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _memory
from torchcent.walks import _lanczos, _matrix


class Hits(NamedTuple):
    """The results of :func:`hits`, as tensors [n]."""

    hubs: Tensor
    authorities: Tensor


@_memory.reported
def katz(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    ptr: Tensor | None = None,
    directed: bool | None = None,
    alpha: float = 0.1,
    beta: float | Tensor = 1.0,
    normalized: bool = True,
    tol: float = 1e-10,
    max_iter: int = 1000,
    dtype: torch.dtype | None = None,
    memory: int | None = None,
) -> Tensor:
    r"""Katz centrality: the number of walks to a vertex, each step attenuated by alpha.

    .. math:: x(v) = \alpha \sum_{u \to v} w_{uv}\, x(u) + \beta(v)

    Values equal those of NetworkX's ``katz_centrality``.

    Args:
        alpha: the attenuation, which must be below the reciprocal of the largest eigenvalue (of any
            graph of a batch); the reciprocal of the largest in-degree always is.
        beta: the score of a walk of length 0: a number, or [n], finite and >= 0.
        normalized: divide by the Euclidean norm (of each graph of a batch).
        tol: the iteration ends when the estimated error of every score is at most tol times the
            largest score of the graph.
        max_iter: the most iterations, up to 1,000,000.
        edge_weight: [E], the strength of each arc, finite and > 0; None uses 1.
        Others: as in :func:`degree`.

    Returns:
        Tensor [n].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        ValueError: alpha is not below the reciprocal of the largest eigenvalue.
        ValueError: no convergence in `max_iter` iterations.

    O(m) time per iteration.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.katz(path, alpha=0.5, normalized=False)
        tensor([1.0000, 1.5000, 1.7500])

    Source:
        Katz 1953.
    """
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, batch, ptr, memory=memory)
    factor = check_walks.attenuation(alpha)
    check.flag(normalized, "normalized")
    bound, most = check_walks.tolerance(tol), check_walks.iterations(max_iter)
    result = check.float_dtype(dtype)
    if isinstance(beta, Tensor):
        start = check.per_vertex(beta, "beta", graph)
    else:
        start = check.per_vertex(
            torch.full((graph.num_nodes,), number(beta, "beta"), dtype=torch.float64), "beta", graph
        )
    largest = start.max() if start.numel() else start.sum()
    largest = torch.where(largest > 0, largest, 1)  # the scores are linear in beta
    found = _walks(graph, factor, start / largest, bound, most) * largest
    return (_unit(graph, found) if normalized else found).to(result)


def _walks(graph: Graph, alpha: float, start: Tensor, tol: float, max_iter: int) -> Tensor:
    """The sum of (alpha transpose(A))^k start over all k. Each graph stops by itself."""
    pull = _matrix.pull(graph)
    x, term = start, start
    last = _batch.largest(graph, term)
    moving = last > 0
    ratio = torch.zeros_like(last)
    for _ in range(max_iter):
        if not bool(moving.any()):
            return x
        term = pull(term) * alpha
        x = torch.where(_matrix.spread(graph, moving), x + term, x)
        size = _batch.largest(graph, term)
        ratio = torch.maximum(size / last.clamp(min=1e-300), ratio * 0.5)
        left = torch.where(ratio < 1, size * ratio / (1 - ratio).clamp(min=1e-300), torch.inf)
        if not bool((size < 1e200).all()):
            break
        enough = (size == 0) | (left <= tol * _batch.largest(graph, x))
        moving = moving & ~enough
        last = size
    if bool(moving.any()):
        worst = float(ratio[moving].nan_to_num(torch.inf, torch.inf).max())
        if not worst < 1:
            raise ValueError(
                f"alpha={alpha:g} must be below the reciprocal of the largest eigenvalue of the "
                f"graph with its weights, about {alpha / worst:.6g}"
            )
        raise ValueError(
            f"no convergence to tol={tol:g} in max_iter={max_iter} iterations: alpha={alpha:g} is "
            f"close to the reciprocal of the largest eigenvalue, about {alpha / worst:.6g}; lower "
            "alpha, or raise max_iter"
        )
    return x


@_memory.reported
def eigenvector(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    ptr: Tensor | None = None,
    directed: bool | None = None,
    tol: float = 1e-10,
    max_iter: int = 10000,
    dtype: torch.dtype | None = None,
    memory: int | None = None,
) -> Tensor:
    r"""Eigenvector centrality: each score is proportional to the sum of those of the neighbours.

    .. math:: \lambda\, x(v) = \sum_{u \to v} w_{uv}\, x(u), \qquad \sum_v x(v)^2 = 1

    where :math:`\lambda` is the largest eigenvalue of the graph (of each graph of a batch). If
    several vectors fulfil this, it is the projection of the vector of ones, which is where power
    iteration of undirected graphs leads. Values equal those of NetworkX's
    ``eigenvector_centrality``.

    Args:
        tol: the estimated error of the vector, in the Euclidean norm.
        max_iter: the most products with the matrix, for each graph, up to 1,000,000.
        edge_weight: [E], the strength of each arc, finite and > 0; None uses 1.
        Others: as in :func:`degree`.

    Returns:
        Tensor [n]. In an undirected graph without edges all scores are equal.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        ValueError: a directed graph has no cycle, so that its largest eigenvalue is 0.
        ValueError: no convergence in `max_iter` products.

    O(m) time per product. Undirected graphs are solved by restarted Lanczos iterations, directed
    ones by power iteration of A + 1. Graphs of a batch are solved one after the other.

    Example:
        >>> import torch, torchcent
        >>> star = torch.tensor([[0, 0], [1, 2]])
        >>> torchcent.eigenvector(star, directed=False)
        tensor([0.7071, 0.5000, 0.5000])

    Source:
        Bonacich 1972; Lanczos 1950.
    """
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, batch, ptr, memory=memory)
    bound, most = check_walks.tolerance(tol), check_walks.iterations(max_iter)
    result = check.float_dtype(dtype)
    found = _one_by_one(graph, lambda part: _eigenvector(part, bound, most))
    return found.to(result)


def _eigenvector(graph: Graph, tol: float, max_iter: int) -> Tensor:
    start = torch.ones(graph.num_nodes, dtype=torch.float64, device=graph.device)
    pull = _matrix.pull(graph)
    if graph.is_symmetric:
        return _lanczos.leading(pull, start, tol, max_iter)[1].clamp_(min=0)
    if not _has_cycle(graph):
        raise ValueError(
            "edge_index has no directed cycle, so that the largest eigenvalue of the graph is 0; "
            "accepted: graphs with one, or directed=False"
        )
    x: Tensor = start / _lanczos.norm(start)
    last = torch.inf
    for _ in range(max_iter):
        new = pull(x) + x
        new = new / _lanczos.norm(new)
        change = float(_lanczos.norm(new - x))
        x, ratio, last = new, change / last if last else 0.0, change
        if change == 0 or (0 < ratio < 1 and change * ratio / (1 - ratio) <= tol):
            return x
    raise ValueError(
        f"no convergence to tol={tol:g} in max_iter={max_iter} iterations; raise max_iter or tol"
    )


def _has_cycle(graph: Graph) -> bool:
    """Whether a strongly connected component has several vertices: there are no loops."""
    import scipy.sparse.csgraph

    count, _ = scipy.sparse.csgraph.connected_components(
        graph.unweighted().to_scipy(), directed=True, connection="strong"
    )
    return bool(count < graph.num_nodes)


@_memory.reported
def hits(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    ptr: Tensor | None = None,
    directed: bool | None = None,
    tol: float = 1e-10,
    max_iter: int = 10000,
    dtype: torch.dtype | None = None,
    memory: int | None = None,
) -> Hits:
    r"""Hubs and authorities: good hubs point to good authorities.

    .. math:: h(v) \propto \sum_{v \to u} w_{vu}\, a(u), \qquad
              a(v) \propto \sum_{u \to v} w_{uv}\, h(u)

    for the largest singular value of A; hubs and authorities each sum to 1 (in each graph of a
    batch). If several vectors fulfil this, hubs are the projection of the vector of ones. Values
    equal those of NetworkX's ``hits``.

    Args:
        tol: the estimated error of the hubs, relative to their Euclidean norm.
        max_iter: the most pairs of products with the matrix and its transpose, for each graph, up
            to 1,000,000.
        edge_weight: [E], the strength of each arc, finite and > 0; None uses 1.
        Others: as in :func:`degree`.

    Returns:
        Hits (a named tuple): hubs and authorities, each a Tensor [n]. In a graph without arcs both
        are uniform.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        ValueError: no convergence in `max_iter` steps.

    O(m) time per product, by restarted Lanczos iterations. Graphs of a batch are solved one after
    the other.

    Example:
        >>> import torch, torchcent
        >>> links = torch.tensor([[0, 1, 1], [2, 2, 3]])
        >>> torchcent.hits(links).hubs
        tensor([0.3820, 0.6180, 0.0000, 0.0000])

    Source:
        Kleinberg 1999.
    """
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, batch, ptr, memory=memory)
    bound, most = check_walks.tolerance(tol), check_walks.iterations(max_iter)
    result = check.float_dtype(dtype)
    hubs = _one_by_one(graph, lambda part: _hubs(part, bound, most))
    authorities = _shares(graph, _matrix.pull(graph)(hubs))
    return Hits(_shares(graph, hubs).to(result), authorities.to(result))


def _hubs(graph: Graph, tol: float, max_iter: int) -> Tensor:
    start = torch.ones(graph.num_nodes, dtype=torch.float64, device=graph.device)
    push, pull = _matrix.push(graph), _matrix.pull(graph)
    found = _lanczos.leading(lambda x: push(pull(x)), start, tol, max_iter)[1]
    return found.clamp_(min=0)


def _one_by_one(graph: Graph, measure: object) -> Tensor:
    """The scores of each graph of a batch, solved alone."""
    assert callable(measure)
    parts = [_batch.part(graph, number) for number in range(graph.num_graphs)]
    found = [measure(part) for part in parts if part.num_nodes]
    return torch.cat(found) if found else graph._zeros[:0]


def _unit(graph: Graph, values: Tensor) -> Tensor:
    """Divides by the Euclidean norm of each graph."""
    norm = _matrix.total(graph, values * values).sqrt()
    return values / _matrix.spread(graph, torch.where(norm > 0, norm, 1))


def _shares(graph: Graph, values: Tensor) -> Tensor:
    """Divides by the sum of each graph; uniform where that is 0."""
    sums = _matrix.spread(graph, _matrix.total(graph, values))
    even = 1 / _batch.per_vertex(graph, _batch.sizes(graph).double())
    return torch.where(sums > 0, values / torch.where(sums > 0, sums, 1), even)
