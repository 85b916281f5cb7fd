"""subgraph_centrality and communicability: walks of all lengths, divided by their factorials."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import measure
from torchcent.graph import Graph, _batch, _segments
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _memory, _small
from torchcent.walks import _closed, _matrix
from torchcent.walks._matrix import Product

_DENSE = 1024  # vertices up to which all eigenvalues are computed
# On the CPU also up to so many, if an eighth of all pairs are adjacent: a quadrature then takes
# longer than its share of the eigenvalues.
_MOST_DENSE, _SHARE = 4096, 8
_TOGETHER = 64  # quadratures that run together, at most
_STEPS = 200  # of a quadrature, at most
_USUAL = 16  # steps of most quadratures
_TERMS = 150  # of the series of the exponential, at most
_LARGEST = 700.0  # its exponential is a float64 number, and so are thousands of these
_POWERS = 30  # of A + 1, for the bound on the largest eigenvalue


@measure(
    "vertices", "dtype", weights="strengths", columns=("subgraph_centrality",), undirected=True
)
def subgraph_centrality(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    vertices: Tensor | None = None,
    tol: float = 1e-9,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Subgraph centrality: closed walks of each vertex, those of k steps divided by k!.

    .. math:: S(v) = \sum_{k \ge 0} \frac{(A^k)_{vv}}{k!} = (e^A)_{vv}

    for undirected graphs. Values equal those of NetworkX's ``subgraph_centrality``, which ignores
    weights.

    Args:
        edge_index, num_nodes, batch, directed: as in :func:`degree`. Every arc
            needs its reverse, of the same weight; directed=False adds those missing.
        edge_weight: [E], the strength of each arc, finite and >= 0, where 0 is no arc; None uses 1.
        vertices: compute only these.
        tol: bound on the relative error of each score, for graphs of more than 1024 vertices, apart
            from rounding.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n]; with `vertices` [len(vertices)]. Scores beyond the largest number of float64, of
        graphs whose largest eigenvalue is above 709, are infinite.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        ValueError: `tol` was not reached in 200 steps.

    A graph of at most 1024 vertices takes :math:`O(n^3)` time, for all eigenvalues. So does one of
    at most 4096 on the CPU in which an eighth of all pairs are adjacent. Larger ones may have few
    vertices within reach of each other in half of the steps that the series of the exponential
    needs for `tol`. Then sparse rows of powers are computed, in time proportional to the products
    of these. What the series leaves out is bounded by the largest eigenvalue, and all of its terms
    are positive. Otherwise each vertex takes a Lanczos iteration of k steps, mostly 10 to 40, in
    O(m k) time. Its Gauss quadrature is a lower bound and its Gauss-Radau quadrature, with a node
    above the largest eigenvalue, an upper bound. The score is their mean once they differ by at
    most 2 tol.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.subgraph_centrality(path, directed=False)
        tensor([1.5891, 2.1782, 1.5891])

    Source:
        Estrada and Rodriguez-Velazquez 2005; quadratures: Golub and Meurant 1994, Benzi and Boito
        2010.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")
    check.undirected(graph, "subgraph_centrality")
    bound = check.tolerance(tol)
    ids = None if vertices is None else check.vertices(vertices, "vertices", graph)
    return closed_walks(graph, bound, ids).to(run.dtype)


def closed_walks(graph: Graph, tol: float, vertices: Tensor | None = None) -> Tensor:
    """The diagonal of exp(A), for all vertices or for some."""
    vertices_of = _batch.chosen(graph, vertices)
    every = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
    for number in range(graph.num_graphs):
        part, ids = _batch.part(graph, number), vertices_of(number)
        if part.num_nodes == 0 or (ids is not None and ids.numel() == 0):
            continue
        scores = every[_batch.run(graph, number)[0]]
        if part.num_nodes <= _DENSE or _is_dense(part, part.num_nodes if ids is None else len(ids)):
            scores.copy_(_exponential(part, whole=False))
            continue
        ids = torch.arange(part.num_nodes, device=graph.device) if ids is None else ids
        some = _within_reach(part, ids, tol)
        scores[ids] = _quadratures(part, ids, tol) if some is None else some
    return every if vertices is None else every[vertices]


def _is_dense(graph: Graph, searches: int) -> bool:
    """Whether all eigenvalues take less time than quadratures of so many vertices."""
    n = graph.num_nodes
    few = graph.device.type != "cpu" or n > _MOST_DENSE
    return not few and _SHARE * searches * graph.num_slots >= n**3


def _exponential(graph: Graph, whole: bool) -> Tensor:
    """exp(A), or its diagonal.

    Where it leaves float64 in one component, the others are not to have its rounding.
    """
    matrix = _dense(graph)
    values, states = _small.eigen(matrix)
    if not values.numel():
        return matrix if whole else values
    if float(values.max()) <= _LARGEST:
        return _product(values, states, whole)
    result = torch.zeros_like(matrix if whole else values)
    for number in range(int(graph.components.max()) + 1):
        ids = torch.nonzero(graph.components == number).flatten()
        square = ids[:, None], ids
        own = _product(*_small.eigen(matrix[square]), whole)
        result[square if whole else ids] = own
    return result


def _product(values: Tensor, states: Tensor, whole: bool) -> Tensor:
    """The exponential of a matrix, or its diagonal; inf beyond float64."""
    factors, root = _factors(values)
    sums = (states * factors) @ states.T if whole else (states * states) @ factors
    return _times(sums, root)


def _factors(values: Tensor) -> tuple[Tensor, Tensor]:
    """exp(values), divided by a number that keeps it within float64, and the root of that."""
    beyond = (values.amax(-1, keepdim=True) - _LARGEST).clamp(min=0)
    return (values - beyond).exp(), (beyond / 2).exp()


def _times(sums: Tensor, root: Tensor) -> Tensor:
    """The sums times the square of the root; those that rounding leaves below 0 are 0."""
    return torch.where(sums <= 0, 0, sums * root * root)


def _dense(graph: Graph) -> Tensor:
    matrix = torch.zeros(graph.num_nodes, graph.num_nodes, dtype=torch.float64, device=graph.device)
    row, col = _small.repeat_interleave(graph.degree), graph.col.long()
    matrix[row, col] = matrix.new_ones(()) if graph.weight is None else graph.weight
    return matrix


def _within_reach(graph: Graph, vertices: Tensor, tol: float) -> Tensor | None:
    """The series of the exponential, whose terms are all >= 0, by sparse rows of powers; None if
    quadratures are less work. What is left out after k terms is at most that of the largest
    eigenvalue, of which there is an upper bound, and a score is at least 1."""
    product = _matrix.push(graph)
    top = _above_spectrum(graph, product)
    terms, term = 1, top  # terms[k] = top^k / k!
    while term * (top / (terms + 1)) > tol / 2 * max(0.0, 1 - top / (terms + 2)):
        terms, term = terms + 1, term * top / (terms + 1)
        if terms > _TERMS:
            return None
    matrix, rows = product.to_scipy(), vertices.cpu().numpy()
    # A product of sparse rows takes some 8 times that of a column, and is not on the GPU.
    factor = 8.0 if graph.device.type == "cpu" else 500.0
    most = float(rows.size) * matrix.nnz * _USUAL / factor
    if not _closed.work(matrix, rows, terms, most) <= most:
        return None
    walks = _closed.closed_walks(matrix / top, None, rows, terms)
    score = np.ones(rows.size)
    factors = np.cumprod(top / np.arange(1, terms + 1))
    for k in reversed(range(terms)):  # the small ones first, but for the 1
        score += walks[:, k] * factors[k]
    return torch.from_numpy(score).to(graph.device)


def _quadratures(graph: Graph, vertices: Tensor, tol: float) -> Tensor:
    product = _matrix.push(graph)
    top = _above_spectrum(graph, product)
    # So many quadratures are little work for one thread of a CPU, or enough for a GPU.
    size = max(16, min(_TOGETHER, _small.ALONE // graph.num_nodes))
    parts = vertices.split(512 if graph.device.type == "cuda" else size)
    return torch.cat([_quadrature(product, part, graph.num_nodes, top, tol) for part in parts])


def _above_spectrum(graph: Graph, product: Product) -> float:
    """An upper bound on the largest eigenvalue: of (A x) / x for any positive x (Collatz)."""
    x = torch.ones(graph.num_nodes, dtype=torch.float64, device=graph.device)
    lowest = torch.inf
    for _ in range(_POWERS):
        new = product(x)
        lowest = min(lowest, float((new / x).max()))
        x = (new + x) / float((new + x).max())
        x = x.clamp_(min=1e-100)
    return lowest * (1 + 1e-12) + 1e-12


def _quadrature(product: Product, vertices: Tensor, n: int, top: float, tol: float) -> Tensor:
    """exp(A)[v, v] for some v, by a Lanczos iteration from the unit vector of each."""
    count = vertices.numel()
    new = torch.zeros(n, count, dtype=torch.float64, device=vertices.device)
    new[vertices, torch.arange(count, device=vertices.device)] = 1
    old, rest = torch.zeros_like(new), new.new_zeros(count)
    diagonal, beside = list[Tensor](), list[Tensor]()
    for step in range(1, min(_STEPS, n) + 1):
        image = product(new) - old * rest
        along = _columns(image, new)
        image = image - new * along
        rest = _columns(image, image).sqrt()
        rest = torch.where(rest > 1e-12 * top, rest, 0)  # the space is invariant: both are exact
        diagonal.append(along)
        if step % 4 == 0 or step == n or not bool(rest.any()):
            low, high = _bounds(torch.stack(diagonal, 1), beside, rest, top)
            enough = (high - low).abs() <= 2 * tol * high.abs()
            if bool((enough | (rest == 0) | torch.isinf(low)).all()):
                return torch.where((rest == 0) | torch.isinf(low), low, (low + high) / 2)
        old, new = new, torch.where(rest > 0, image / torch.where(rest > 0, rest, 1), 0)
        beside.append(rest)
    raise ValueError(f"subgraph_centrality has not reached tol={tol:g} in {step} steps; raise tol")


def _columns(one: Tensor, other: Tensor) -> Tensor:
    """The products of the columns, of the same bits for any number of threads."""
    ends = torch.tensor([0, one.shape[0]], device=one.device)
    return _segments.of_segments(ends, one * other)[0]


def _bounds(
    diagonal: Tensor, beside: list[Tensor], rest: Tensor, top: float
) -> tuple[Tensor, Tensor]:
    """Gauss and Gauss-Radau quadratures: first entries of the exponentials of small matrices."""
    matrix = torch.diag_embed(diagonal)
    if beside:
        off = torch.stack(beside, 1)
        matrix = matrix + torch.diag_embed(off, 1) + torch.diag_embed(off, -1)
    size = diagonal.shape[1]
    low = _corner(matrix)
    # The matrix with one more row, whose last entry makes `top` an eigenvalue.
    unit = torch.zeros_like(diagonal)
    unit[:, -1] = rest * rest
    difference = matrix - top * torch.eye(size, dtype=torch.float64, device=matrix.device)
    last = top + torch.linalg.solve(difference, unit)[:, -1]
    wide = torch.nn.functional.pad(matrix, (0, 1, 0, 1))
    wide[:, size, size] = last
    wide[:, size, size - 1] = wide[:, size - 1, size] = rest
    return low, _corner(wide)


def _corner(matrix: Tensor) -> Tensor:
    values, states = _small.eigen(matrix.cpu())  # on a GPU one after the other
    factors, root = _factors(values)
    return _times((states[:, 0, :] ** 2 * factors).sum(1), root[:, 0]).to(matrix.device)


@measure(
    "pairs", "dtype", weights="strengths", undirected=True,
    without={
        "networkx": "NetworkX returns dictionaries of dictionaries, which take all the time"
    },
)  # fmt: skip
def communicability(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Communicability of all pairs: walks from u to v, those of k steps divided by k!.

    .. math:: G(u, v) = \sum_{k \ge 0} \frac{(A^k)_{uv}}{k!} = (e^A)_{uv}

    for undirected graphs. Values equal those of NetworkX's ``communicability``, which ignores
    weights.

    Args:
        Others: as in :func:`subgraph_centrality`; not for batches.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n, n]; its diagonal is :func:`subgraph_centrality`.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: `memory` is less than that of four dense matrices.

    :math:`O(n^3)` time: all eigenvalues and eigenvectors.

    Example:
        >>> import torch, torchcent
        >>> torchcent.communicability(torch.tensor([[0], [1]]), directed=False)
        tensor([[1.5431, 1.1752],
                [1.1752, 1.5431]])

    Source:
        Estrada and Hatano 2008.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run, weights="strengths")
    check_batch.one_graph(graph, "communicability", "pass its graphs one by one")
    check.undirected(graph, "communicability")
    what = f"communicability ({graph.num_nodes} vertices)"
    _memory.allow(what, 4 * 8 * graph.num_nodes**2, run.memory, graph.device)
    return _exponential(graph, whole=True).to(run.dtype)
