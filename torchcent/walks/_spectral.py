"""katz, eigenvector and hits: scores from the scores of neighbours."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _values as check_values
from torchcent.check._run import DEFAULT, Run
from torchcent.check._values import number
from torchcent.engines.measures._measures import measure
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _ops, _small
from torchcent.walks import _direct, _leading, _matrix

_SHARE = 0.85  # of the reciprocal of the largest eigenvalue, if alpha is None
_LATE = 24  # steps after which terms that have not shrunk are a reason to look at alpha
_SURE = 1e4  # sums of walks up to which rounding leaves no doubt that they converge
_STRIDE = 4  # steps between two looks at what a GPU has computed


class Hits(NamedTuple):
    """The results of :func:`hits`, as tensors [n]."""

    hubs: Tensor
    authorities: Tensor


@measure("vertices", "dtype", weights="strengths", columns=("katz",))
def katz(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    alpha: float | Tensor | None = 0.1,
    beta: float | Tensor = 1.0,
    normalized: bool = True,
    tol: float = 1e-10,
    max_iter: int = 1000,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Katz centrality: the number of walks to a vertex, each step attenuated by alpha.

    .. math:: x(v) = \alpha \sum_{u \to v} w_{uv}\, x(u) + \beta(v)

    Values equal those of NetworkX's ``katz_centrality``.

    Args:
        alpha: the attenuation, which must be below the reciprocal of the largest eigenvalue (of any
            graph of a batch); the reciprocal of the largest in-degree always is. A graph without
            cycles has no limit. A tensor [G] has one for each graph of a batch. None takes 0.85
            divided by the largest eigenvalue of each graph, which at most 64 products estimate in
            undirected ones. Without a cycle it is 0.85 divided by the largest in-degree (the sum of
            the weights of incoming arcs).
        beta: the score of a walk of length 0: a number, or [n], finite and >= 0.
        normalized: divide by the Euclidean norm (of each graph of a batch).
        tol: bound on the error of every score, relative to the largest score of the graph before
            `normalized`, apart from rounding.
        max_iter: the most iterations, up to 1,000,000.
        edge_weight: [E], the strength of each arc, finite and >= 0, where 0 is no arc; None uses 1.
        Others: as in :func:`degree`.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        ValueError: alpha is not below the reciprocal of the largest eigenvalue; the message states
            the limit, to three digits where the components of the graph can be factorized.
        ValueError: no convergence in `max_iter` iterations, or scores beyond float64.

    O(m) time per iteration. Let t be the largest entry of :math:`(\alpha A^T)^k 1`. What is left
    after k terms of the series is at most t / (1 - t) times the largest score, and `tol` is
    compared with it (docs/walks.md). Where terms do not shrink, bounds of Collatz and Wielandt on
    the eigenvalue of each strong component tell whether they will. Graphs of up to 64 vertices on
    the CPU are solved directly, unless alpha is so close to its limit that this leaves a doubt.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.katz(path, alpha=0.5, normalized=False)
        tensor([1.0000, 1.5000, 1.7500])

    Source:
        Katz 1953.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")
    factor = attenuation(alpha, graph)
    check.flag(normalized, "normalized")
    bound, most = check.tolerance(tol), check.iterations(max_iter)
    if not isinstance(beta, Tensor):
        beta = torch.full(
            (graph.num_nodes,), number(beta, "beta"), dtype=torch.float64, device="cpu"
        )
    start = check.per_vertex(beta, "beta", graph)
    largest = start.max() if start.numel() else start.sum()
    largest = torch.where(largest > 0, largest, 1)  # the scores are linear in beta
    scores = walks(graph, factor, start / largest, bound, most)[0] * largest
    return (unit(graph, scores) if normalized else scores).to(run.dtype)


def unit(graph: Graph, scores: Tensor) -> Tensor:
    """Divided by the Euclidean norm, of each graph of a batch."""
    norm = _batch.total(graph, scores * scores).sqrt()
    return scores / _batch.per_vertex(graph, torch.where(norm > 0, norm, 1))


def attenuation(alpha: object, graph: Graph) -> float | Tensor:
    """One number, or float64 [num_graphs]."""
    if alpha is None:
        most = _leading.values(graph)
        pull = _matrix.pull(graph)
        strength = _batch.largest(graph, _matrix.strength(pull.weight, pull.rowptr))
        most = torch.where(most > 0, most, strength)
        return _SHARE / torch.where(most > 0, most, 1)
    if isinstance(alpha, Tensor):
        check_values.dense(alpha, "alpha")
    if not isinstance(alpha, Tensor) or alpha.dim() == 0:
        return check.within(alpha, "alpha", "(0, inf)", "finite and > 0")
    return check_batch.per_graph(alpha, "alpha", graph)


def walks(
    graph: Graph, alpha: float | Tensor, start: Tensor, tol: float, max_iter: int,
    near: Tensor | None = None,
) -> tuple[Tensor, int]:  # fmt: skip
    """The sum of M^k start over all k, M = alpha transpose(A), and the number of iterations. Each
    graph stops by itself. Let t be the largest entry of M^k 1, that is the norm of M^k. What is
    left after k terms is at most t / (1 - t) times the largest sum of these. `near` may be near the
    sum of a single graph, for a `start` of ones."""
    pull = _matrix.pull(graph)
    factor = _batch.per_vertex(graph, alpha) if isinstance(alpha, Tensor) else alpha

    solution, is_sure = _solved(graph, pull, factor, start)
    if bool(is_sure.all()):
        return solution, 0
    if near is not None and (better := _from(near, pull, factor, tol, max_iter)) is not None:
        return better

    even = bool((start == start[:1]).all())  # `start` is a multiple of the vector of ones
    if pull.is_small(graph):
        terms = start[:, None] if even else torch.stack([start, torch.ones_like(start)], 1)
        most = min(max_iter, _matrix.MOST_STEPS)
        sums, steps = _ops.ops.sum_of_walks(
            pull.rowptr, pull.col, pull.weight, terms, float(alpha), tol / (1 + tol), most, _LATE
        )
        if int(steps) >= 0:
            return sums, int(steps)

    def bounds() -> tuple[float, float]:
        """Of the largest eigenvalue of alpha A, of a graph or of all graphs of a batch."""
        from torchcent.walks import _perron

        matrix = pull.to_scipy()
        if not isinstance(factor, Tensor):
            low, high = _perron.bounds(matrix, factor)
            return low * factor, high * factor
        return _perron.bounds(matrix.multiply(factor.cpu().numpy()[:, None]).tocsr(), 1.0)

    def limit(low: float, high: float) -> str:
        """What an error says of these bounds."""
        if isinstance(alpha, Tensor):
            return f"; the largest product of both is about {(low + high) / 2:.6g}"
        return f", about {2 * alpha / (low + high):.6g}"

    name = "alpha" if isinstance(alpha, Tensor) else f"alpha={alpha:g}"
    term = start if even else torch.stack([start, torch.ones_like(start)], 1)
    x = torch.where(_batch.per_vertex(graph, is_sure), solution, start)
    moving = (_batch.largest(graph, start) > 0) & ~is_sure
    is_below, every = False, _STRIDE if graph.device.type == "cuda" else 1
    for step in range(max_iter + 1):
        norm = _batch.largest(graph, term if even else term[:, 1].contiguous())
        moving = moving & ~(norm <= tol / (1 + tol))
        if step == max_iter or step % every == 0:
            if not bool(moving.any()):
                return x, step
            worst = float(torch.where(moving, norm, 0).max())
            if not is_below and (not worst < 1e150 or (step >= _LATE and worst >= 1)):
                low, high = bounds()
                if low >= 1:
                    of = "the graph with its weights" if graph.is_weighted else "the graph"
                    raise ValueError(
                        f"{name} must be below the reciprocal of the largest eigenvalue of {of}"
                        f"{limit(low, high)}; lower it, or let alpha=None (--alpha auto) choose one"
                    )
                is_below = True
            if not worst < 1e300:
                raise ValueError(
                    f"katz has scores beyond the largest number of float64, by {name}; "
                    "lower alpha, or divide edge_weight"
                )
        if step == max_iter:
            break
        term = pull(term)
        term = term * (factor[:, None] if isinstance(factor, Tensor) and not even else factor)
        ahead = term if even else term[:, 0]
        x = torch.where(_batch.per_vertex(graph, moving), x + ahead, x)
    low, high = bounds()
    close = (
        f": {name} is close to the reciprocal of the largest eigenvalue{limit(low, high)}; "
        "lower alpha, or raise max_iter"
        if high > 0
        else ": the graph has no cycle, but long paths; raise max_iter"
    )
    raise ValueError(f"no convergence to tol={tol:g} in max_iter={max_iter} iterations{close}")


def _from(
    near: Tensor, pull: _matrix.Rows, factor: float | Tensor, tol: float, max_iter: int
) -> tuple[Tensor, int] | None:
    """The x of x = M x + 1 from another one, and the number of iterations; None if it is far.

    What an x lacks, r = M x + 1 - x, is added to it, and M r is what it lacks then. Where
    |r| <= t, x is within t times the exact one, (1 - M)^-1 1. If x > 0 besides, M x < x, so that
    the sum of M^k 1 converges (Collatz and Wielandt)."""
    x, rest, first = near, pull(near) * factor + 1 - near, math.inf
    for step in range(max_iter + 1):
        worst = float(rest.abs().max())
        if worst <= tol / (1 + tol):
            return (x, step) if float(x.min()) > 0 and float(x.max()) < _SURE else None
        if step >= _LATE and not worst < first:
            return None
        first = worst if step == 0 else first
        x, rest = x + rest, pull(rest) * factor
    return None


def _solved(
    graph: Graph, pull: _matrix.Rows, factor: float | Tensor, start: Tensor
) -> tuple[Tensor, Tensor]:
    """The same of small graphs, directly, and for which of them it is certain that there is a sum.

    There is one if, and only if, M x < x for a positive x (Collatz and Wielandt). The x of
    x = M x + 1 is such a one but for rounding, which is small beside 1 where x is small."""
    weight = torch.ones_like(pull.col, dtype=torch.float64) if pull.weight is None else pull.weight
    if isinstance(factor, Tensor):
        weight = weight * _small.repeat_interleave(factor, pull.rowptr.diff())
    else:
        weight = weight * factor
    right = torch.stack([start, torch.ones_like(start)], 1)
    both, is_solved = _direct.solutions(graph, pull, weight, right)
    x, ones = both.T.contiguous()
    is_positive = _batch.largest(graph, -ones) < -0.5
    return x, is_solved & is_positive & (_batch.largest(graph, ones) < _SURE)


@measure("vertices", "dtype", weights="strengths", columns=("eigenvector",))
def eigenvector(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    tol: float = 1e-10,
    max_iter: int = 10000,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Eigenvector centrality: each score is proportional to the sum of those of the neighbours.

    .. math:: \lambda\, x(v) = \sum_{u \to v} w_{uv}\, x(u), \qquad \sum_v x(v)^2 = 1

    where :math:`\lambda` is the largest eigenvalue of the graph (of each graph of a batch). If
    several vectors fulfil this, it is the one where powers of A + 1 lead from the vector of ones;
    in undirected graphs its projection. Eigenvalues that differ by less than 4e-14 of their size
    are one. Values equal those of NetworkX's ``eigenvector_centrality``.

    Args:
        tol: the estimated error of the vector, in the Euclidean norm, apart from rounding.
        max_iter: the most products with the matrix, for each graph, up to 1,000,000.
        edge_weight: [E], the strength of each arc, finite and >= 0, where 0 is no arc; None uses 1.
        Others: as in :func:`degree`.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n]. In an undirected graph without edges all scores are equal.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        ValueError: a directed graph has no cycle, so that its largest eigenvalue is 0.
        ValueError: strong components of the same largest eigenvalue lead to each other, so that
            the power method converges like 1 / k.
        ValueError: no convergence in `max_iter` products, or rounding leaves more than `tol`.

    Undirected graphs of at most 32 vertices are solved densely, many at once. Others take O(m) time
    per product: thickly restarted Lanczos iterations, for directed graphs power iteration of A + 1.
    What 100 products do not solve, as long paths and cycles, is solved on the host by the strong
    components of largest eigenvalue, with sparse factorizations, where these are affordable. That
    is up to 1,000 vertices, and for fewer arcs per vertex more, 5,000,000 of a path.

    Example:
        >>> import torch, torchcent
        >>> star = torch.tensor([[0, 0], [1, 2]])
        >>> torchcent.eigenvector(star, directed=False)
        tensor([0.7071, 0.5000, 0.5000])

    Source:
        Bonacich 1972; Lanczos 1950.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")
    bound, most = check.tolerance(tol), check.iterations(max_iter)
    return _leading.vectors(graph, bound, most).to(run.dtype)


@measure("vertices", "dtype", weights="strengths", columns=("hubs", "authorities"))
def hits(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    tol: float = 1e-10,
    max_iter: int = 10000,
    run: Run = DEFAULT,
) -> Hits:
    r"""Hubs and authorities: good hubs point to good authorities.

    .. math:: h(v) \propto \sum_{v \to u} w_{vu}\, a(u), \qquad
              a(v) \propto \sum_{u \to v} w_{uv}\, h(u)

    for the largest singular value of A; hubs and authorities each sum to 1 (in each graph of a
    batch). If several vectors fulfil this, hubs are the projection of the vector of ones. Values
    equal those of NetworkX's ``hits``.

    Args:
        tol: the estimated error of the hubs, relative to their Euclidean norm, apart from rounding.
        max_iter: the most pairs of products with the matrix and its transpose, for each graph, up
            to 1,000,000.
        edge_weight: [E], the strength of each arc, finite and >= 0, where 0 is no arc; None uses 1.
        Others: as in :func:`degree`.
        run: how it is computed, see :class:`Run`.

    Returns:
        Hits (a named tuple): hubs and authorities, each a Tensor [n]. In a graph without arcs both
        are uniform.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        ValueError: no convergence in `max_iter` steps.

    O(m) time per product, by the methods of :func:`eigenvector` for undirected graphs.

    Example:
        >>> import torch, torchcent
        >>> links = torch.tensor([[0, 1, 1], [2, 2, 3]])
        >>> torchcent.hits(links).hubs
        tensor([0.3820, 0.6180, 0.0000, 0.0000])

    Source:
        Kleinberg 1999.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")
    bound, most = check.tolerance(tol), check.iterations(max_iter)
    hubs = _leading.vectors(graph, bound, most, square=True)
    authorities = _matrix.pull(graph)(hubs)
    return Hits(*(_shares(graph, x).to(run.dtype) for x in (hubs, authorities)))


def _shares(graph: Graph, values: Tensor) -> Tensor:
    """Divides by the sum of each graph; uniform where that is 0."""
    sums = _batch.per_vertex(graph, _batch.total(graph, values))
    even = 1 / _batch.per_vertex(graph, _batch.sizes(graph).double())
    return torch.where(sums > 0, values / torch.where(sums > 0, sums, 1), even)
