"""Return probabilities of random walks: the random-walk encoding of vertices."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.check import _encodings as check_encodings
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import measure
from torchcent.engines.plan import _room
from torchcent.graph import Graph, _batch, _segments
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _memory, _small
from torchcent.walks import _closed, _matrix
from torchcent.walks._matrix import Numbers, Part

# A graph is a dense matrix up to this number of vertices, and while that is cheaper than products
# of its sparse matrix with all columns: if its vertices are at most so many times the mean degree.
_DENSE, _OF_DEGREE, _MOST = 64, 40, 2048
_BYTES = 2**25  # of the matrices that are multiplied together
_COLUMNS = 64  # of a block, with a sparse matrix
_DENSE_IN_PYG = 2000  # vertices up to which PyTorch Geometric's matrix is dense


@measure(
    "vertices", "dtype", weights="strengths", width=lambda options: options["walk_length"],
    without={"columns": "it is many columns, as many as walk_length says"},
)  # fmt: skip
def random_walk_encoding(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    walk_length: int,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The probabilities that a random walk is back at its first vertex after 1, 2, ... steps.

    .. math:: E_{vk} = (P^k)_{vv}, \quad P_{uv} = w_{uv} \Big/ \sum_x w_{ux}

    for k = 1, ..., `walk_length`: the positional encoding RWSE. Without weights and repeated arcs
    values equal those of PyTorch Geometric's ``AddRandomWalkPE``. (With them it divides 1 by the
    sum of the row. Up to 2000 vertices it keeps one of repeated arcs, so that rows do not sum to 1;
    :class:`torchcent.transforms.AddRandomWalkEncoding` does the same with repeated arcs.)

    Args:
        edge_index, num_nodes, batch, directed: as in :func:`degree`. Without loops the
            first column is 0; it is kept for models that expect it.
        edge_weight: [E], the strength of each arc, finite and >= 0, where 0 is no arc; None uses 1.
        walk_length: number of steps, at least 1.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n, walk_length]. A walk ends where there is no outgoing arc; an isolated vertex has
        a row of 0.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: ``Run(memory=)`` is too small; raised before any computation.

    Small or dense graphs are multiplied as dense matrices, many at a time: O(k n^3) for each, half
    of the products of PyTorch Geometric. Of others, the sparse rows of k / 2 powers are computed if
    few vertices are within reach, in time proportional to the products of these. Otherwise the
    sparse matrix is multiplied by blocks of columns, in O(k n m) time. Memory is bounded in both.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.random_walk_encoding(path, walk_length=4, directed=False)
        tensor([[0.0000, 0.5000, 0.0000, 0.5000],
                [0.0000, 1.0000, 0.0000, 1.0000],
                [0.0000, 0.5000, 0.0000, 0.5000]])

    Source:
        Dwivedi et al. 2022, "Graph neural networks with learnable structural and positional
        representations"; Li et al. 2020, "Distance encoding".
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")
    steps = check_encodings.steps(walk_length)
    _check_memory(graph, steps, run.memory)
    return return_probabilities(graph, steps).to(run.dtype)


def as_in_pyg(graph: Graph, steps: int) -> Tensor:
    """float64 [n, steps]: the values of PyTorch Geometric's AddRandomWalkPE, without weights. They
    are those of random_walk_encoding, except that up to 2000 vertices an arc that is given r times
    leads to its head with one r-th of the probability. It is divided by a sum to which each one
    adds, and then assigned to the matrix."""
    graph = graph.unweighted()._adjacency
    _check_memory(graph, steps, None)
    if graph.weight is None:
        return return_probabilities(graph, steps)
    size = _batch.per_vertex(graph, _batch.sizes(graph))[_small.repeat_interleave(graph.degree)]
    weight = torch.where(size <= _DENSE_IN_PYG, 1, graph.weight)
    diagonal = None
    if graph._diagonal is not None:
        row = _small.repeat_interleave(graph.degree)
        loop = row == graph.col
        diagonal = torch.zeros_like(graph._diagonal).index_copy_(0, row[loop], weight[loop])
    out = _matrix.strength(graph.weight, graph.rowptr)
    return return_probabilities(graph._with(weight=weight, _diagonal=diagonal), steps, out)


def _is_dense(graph: Graph) -> NDArray[np.bool_]:
    size, slots = _batch.counts(graph)
    is_cheap: NDArray[np.bool_] = (size <= _MOST) & (size * size <= _OF_DEGREE * slots)
    return (size <= _DENSE) | is_cheap


def _check_memory(graph: Graph, steps: int, memory: int | None) -> None:
    """Raises MemoryError if the result and the matrices exceed the limit."""
    size, slots = _batch.counts(graph)
    dense = _is_dense(graph)
    need = graph._nbytes + 16 * graph.num_nodes * steps + 24 * graph.num_slots
    need += max(_BYTES, 4 * 8 * int(_padded(size[dense]).max(initial=0)) ** 2)
    if not dense.all():
        n, m = int(size[~dense].sum()), int(slots[~dense].sum())
        need += 40 * m + 24 * n + max(4 * 8 * n * _block(n), _closed.BYTES)
    if memory is not None or need >= _memory.SMALL_RUN.get(graph.device.type, 0):
        limit = _room.limit(graph, memory)
        if need > 2 * _BYTES:
            what = f"random_walk_encoding of {graph.num_nodes} vertices with walk_length={steps}"
            _memory.require(what, need, limit, memory)


def return_probabilities(graph: Graph, steps: int, out: Tensor | None = None) -> Tensor:
    """float64 [n, steps]; `out` is what the weights of a row are divided by, None their sum."""
    result = torch.zeros(graph.num_nodes, steps, dtype=torch.float64, device=graph.device)
    if not graph.num_slots:
        return result
    size = _batch.counts(graph)[0]
    if out is None:
        out = _matrix.strength(graph.weight, graph.rowptr)
    share = torch.where(out > 0, 1 / out, 0)
    if graph._diagonal is not None:
        result[:, 0] = graph._diagonal * share
    dense = _is_dense(graph)
    numbers = np.flatnonzero(dense & (size > (0 if graph._diagonal is not None else 1)))
    if numbers.size:
        value = _small.repeat_interleave(share, graph.degree)
        value = value if graph.weight is None else value * graph.weight
    for width, some in _matrix.alike(numbers, _padded(size[numbers]), _BYTES // (4 * 8)):
        part = Part.of(graph, some)
        _dense(part, part.matrices(graph.rowptr, graph.col, value, width), result)
    numbers = np.array(
        [x for x in np.flatnonzero(~dense) if not _within_reach(graph, int(x), share, result)], int
    )
    classes = np.ceil(np.log2(np.maximum(size[numbers], 2)))
    for kind in np.unique(classes):
        _sparse(graph, numbers[classes == kind], share, result)
    return result


def _padded(size: Numbers) -> Numbers:
    """The width of a matrix for each graph, of a few different ones."""
    step = np.where(size <= 64, 8, 64)
    width: Numbers = -(-size // step) * step
    return width


def _dense(part: Part, step: Tensor, result: Tensor) -> None:
    """From the matrix of each graph, [graphs, width, width]."""
    power, diagonal = step, part.graph * step.shape[1] + part.local
    for k in range(2, result.shape[1] + 1):  # P^k = power times power, or times the next one
        other = power @ step if k % 2 else power
        back = (power * other.transpose(1, 2)).sum(2)
        result[part.vertex, k - 1] = back.view(-1)[diagonal]
        power = other


def _block(vertices: int) -> int:
    """Columns that are multiplied together."""
    return max(1, min(_COLUMNS, _BYTES // (8 * max(vertices, 1))))


def _steps(graph: Graph, share: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """rowptr, col and values of a symmetric matrix that P is similar to, or of its transpose."""
    if graph.is_symmetric:
        rowptr, col, weight = graph.rowptr, graph.col, graph.weight
        root = share.sqrt()
        value = _small.repeat_interleave(root, graph.degree) * root[col]
    else:
        (rowptr, col), weight = graph.transpose, graph.back_weight
        value = share[col]
    return rowptr, col, value if weight is None else value * weight


def _within_reach(graph: Graph, number: int, share: Tensor, result: Tensor) -> bool:
    """Computes a graph by sparse rows, if that is less work than blocks of columns."""
    part, steps = Part.of(graph, np.array([number])), result.shape[1]
    n, matrix = part.vertex.numel(), _matrix.Rows(*part.arcs(*_steps(graph, share))).to_scipy()
    # A product of sparse rows takes some 8 times that of a column, and is not on the GPU.
    factor = 8.0 if graph.device.type == "cpu" else 2000.0
    most = float(n) * matrix.nnz * steps / 2 / factor
    rows = np.arange(n)
    if not _closed.work(matrix, rows, steps, most) <= most:
        return False
    back = None if graph.is_symmetric else matrix.T.tocsr()
    walks = torch.from_numpy(_closed.closed_walks(matrix, back, rows, steps))
    result[part.vertex] = walks.to(result.device)
    return True


def _sparse(graph: Graph, numbers: Numbers, share: Tensor, result: Tensor) -> None:
    """A block has a column of each graph at a time."""
    part = Part.of(graph, numbers)
    mutual = graph.is_symmetric
    product = _matrix.Rows(*part.arcs(*_steps(graph, share)))
    local, n = part.local, part.vertex.numel()
    ends = torch.cat([part.size.new_zeros(1), part.size.cumsum(0)])
    step = _block(n)
    for begin in range(0, int(part.size.max()), step):
        here = torch.nonzero((local >= begin) & (local < begin + step))[:, 0]
        column = local[here] - begin
        state = torch.zeros(n, step, dtype=torch.float64, device=graph.device)
        state[here, column] = 1
        if mutual:  # the diagonal of S^(i + j) are the products of the columns of S^i and S^j
            state = product(state)
        for k in range(2 if mutual else 1, result.shape[1] + 1):
            if not mutual:
                state = product(state)
                back = state[here, column]
            else:
                other = product(state) if k % 2 else state
                sums = _segments.of_segments(ends, state * other)
                back = sums[part.graph[here], column]
                state = other
            result[part.vertex[here], k - 1] = back
