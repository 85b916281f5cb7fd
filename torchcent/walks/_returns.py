"""Return probabilities of random walks: the random-walk encoding of vertices."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.check import _encodings as check_encodings
from torchcent.check._run import DEFAULT, Run
from torchcent.distribute import _run
from torchcent.distribute._arguments import Scale, scale_of, shown
from torchcent.distribute._units import UNITS, Kind, Search, sizes_of_walks
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.engines.plan import _room
from torchcent.graph import Graph, _batch, _csr, _segments
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _memory, _ops, _small
from torchcent.runtime._codes import CANCEL, DONE, control
from torchcent.runtime._tuned import TUNED
from torchcent.walks import _closed, _matrix
from torchcent.walks._matrix import Numbers, Part

# Without the kernel, a graph is a dense matrix up to this number of vertices, and while that is
# cheaper than products of its sparse matrix with all columns: if its vertices are at most so many
# times the mean degree. With it, graphs are dense where more than a half of the entries are there.
_DENSE, _OF_DEGREE, _OF_DEGREE_IN_KERNEL, _MOST = 64, 40, 2, 2048
_BYTES = 2**25  # of the matrices that are multiplied together
_COLUMNS = 64  # of a block, with a sparse matrix
_WALKS = 8  # columns that the kernel multiplies together
_WORTH_ROWS = 2.0**26  # work from which sparse rows of powers may replace the kernel
_ROWS = 4096  # of powers at a time
_FEW_STEPS = 256  # of a graph of up to 64 vertices, which takes no plan then
_DENSE_IN_PYG = 2000  # vertices up to which PyTorch Geometric's matrix is dense
#: fills the rows of the sources of a slice: (slice, rows, control record)
_Fill: TypeAlias = Callable[[slice, Tensor, Tensor], None]
#: what the function uses of a Run
USES = ("checkpoint", "group", "dtype")


@measure(
    "vertices", *USES, weights="strengths", width=lambda options: options["walk_length"],
    without=NOT_IN_NETWORKX | {"columns": "it is many columns, as many as walk_length says"},
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

    The work of a graph is k n m, for m slots: the matrix is multiplied by all columns, half as
    often if it is symmetric. On the CPU a thread takes eight columns together. Of large graphs
    where few vertices are within reach, the sparse rows of k / 2 powers are computed instead, in
    time proportional to the products of these. Small graphs on CUDA are dense matrices, many at a
    time. Memory is bounded.

    With k = 16, 10^5 vertices and 10^6 slots of a social network take one thread 20 minutes. The
    progress bar estimates the time that is left, and ``Run(checkpoint=)`` keeps what is finished.

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
    return return_probabilities(graph, check_encodings.steps(walk_length), run).to(run.dtype)


def as_in_pyg(graph: Graph, steps: int, run: Run) -> Tensor:
    """float64 [n, steps]: the values of PyTorch Geometric's AddRandomWalkPE, without weights. They
    are those of random_walk_encoding, except that up to 2000 vertices an arc that is given r times
    leads to its head with one r-th of the probability. It is divided by a sum to which each one
    adds, and then assigned to the matrix."""
    graph = graph.unweighted()._adjacency
    if graph.weight is None:
        return return_probabilities(graph, steps, run)
    size = _batch.per_vertex(graph, _batch.sizes(graph))[_small.repeat_interleave(graph.degree)]
    weight = torch.where(size <= _DENSE_IN_PYG, 1, graph.weight)
    diagonal = None
    if graph._diagonal is not None:
        row = _small.repeat_interleave(graph.degree)
        loop = row == graph.col
        diagonal = torch.zeros_like(graph._diagonal).index_copy_(0, row[loop], weight[loop])
    out = _matrix.strength(graph.weight, graph.rowptr)
    return return_probabilities(graph._with(weight=weight, _diagonal=diagonal), steps, run, out)


def _has_kernel(graph: Graph) -> bool:
    return _ops.has_kernel("walk_returns", graph.device)


def _is_dense(graph: Graph) -> NDArray[np.bool_]:
    size, slots = _batch.counts(graph)
    of_degree = _OF_DEGREE_IN_KERNEL if _has_kernel(graph) else _OF_DEGREE
    is_cheap: NDArray[np.bool_] = (size <= _MOST) & (size * size <= of_degree * slots)
    return is_cheap & (size > _DENSE) if _has_kernel(graph) else (size <= _DENSE) | is_cheap


def _check_memory(graph: Graph, steps: int, memory: int | None) -> None:
    """Raises MemoryError if the result and the matrices exceed the limit."""
    size, slots = _batch.counts(graph)
    dense = _is_dense(graph)
    need = graph._nbytes + 16 * graph.num_nodes * steps + 24 * graph.num_slots
    if _has_kernel(graph):
        largest = int(size.max(initial=0))
        need += 8 * graph.num_nodes + 16 * _WALKS * largest * torch.get_num_threads()
    if dense.any() or not _has_kernel(graph):
        need += max(_BYTES, 4 * 8 * int(_padded(size[dense]).max(initial=0)) ** 2)
    if not dense.all():
        n, m = int(size[~dense].sum()), int(slots[~dense].sum())
        if not _has_kernel(graph):
            need += 40 * m + 24 * n + max(4 * 8 * n * _block(n), _closed.BYTES)
        elif float(n) * m * steps > _WORTH_ROWS:
            need += 40 * m + 24 * n + _closed.BYTES
    if memory is not None or need >= _memory.SMALL_RUN.get(graph.device.type, 0):
        limit = _room.limit(graph, memory)
        if need > 2 * _BYTES:
            what = f"random_walk_encoding of {graph.num_nodes} vertices with walk_length={steps}"
            _memory.require(what, need, limit, memory)


def return_probabilities(graph: Graph, steps: int, run: Run, out: Tensor | None = None) -> Tensor:
    """float64 [n, steps]; `out` is what the weights of a row are divided by, None their sum."""
    scale, n = scale_of(graph, run), graph.num_nodes
    is_tiny = graph.ptr is None and n <= _DENSE and steps <= _FEW_STEPS
    if not is_tiny or run.memory is not None:
        _check_memory(graph, steps, run.memory)
    if scale is not None:
        scale.begin(graph, {"measure": "random_walk_encoding", "walk_length": steps, "out": out})
    result = torch.zeros(n, steps, dtype=torch.float64, device=graph.device)
    if not graph.num_slots:
        return result
    strength = _matrix.strength(graph.weight, graph.rowptr) if out is None else out
    if is_tiny and scale is None and not run.progress and _has_kernel(graph):
        ptr, vertices = torch.tensor([0, n], device="cpu"), torch.arange(n, device="cpu")
        _ops.ops.walk_returns(
            graph.rowptr, graph.col, graph.weight, strength, ptr, vertices, False, _DENSE, result,
            control(), 1,
        )  # fmt: skip
    else:
        _Walks(graph, strength, result, scale, shown(scale, run.progress)).compute()
    return result


class _Walks(NamedTuple):
    """The walks of one call, and where their searches are kept and shown."""

    graph: Graph
    strength: Tensor  # what the weights of a row are divided by
    result: Tensor  # [n, steps]
    scale: Scale | None
    progress: bool | None

    @property
    def steps(self) -> int:
        return self.result.shape[1]

    @property
    def share(self) -> Tensor:
        return torch.where(self.strength > 0, 1 / self.strength, 0)

    def compute(self) -> None:
        """Computes each graph by the method that suits it."""
        graph, steps = self.graph, self.steps
        size, slots = _batch.counts(graph)
        dense = _is_dense(graph)
        if dense.any():
            self._multiply(np.flatnonzero(dense & (size > 0)))
        others = np.flatnonzero(~dense & (slots > 0))
        if _has_kernel(graph):
            work = size.astype(np.float64) * slots * steps
            large = np.flatnonzero(~dense & (work > _WORTH_ROWS))
            reached = [x for x in large.tolist() if self._within_reach(x)]
            others = np.setdiff1d(others, reached) if reached else others
            if others.size:
                self._in_kernel(others)
            return
        others = np.array([x for x in others.tolist() if not self._within_reach(x)], int)
        classes = np.ceil(np.log2(np.maximum(size[others], 2)))
        for kind in np.unique(classes):
            self._sparse(others[classes == kind])

    def _execute(
        self, vertices: Tensor | None, sizes: list[int], work: float, fill: _Fill, inline: bool
    ) -> None:  # fmt: skip
        """Computes the rows of these vertices, or of all."""
        count = self.result.shape[0] if vertices is None else vertices.numel()
        rows = self.result
        if vertices is not None:
            rows = self.result.new_zeros(count, self.steps)

        def compute(
            inputs: Any, unit: slice, out: tuple[Tensor, ...], rung: int, record: Tensor
        ) -> int:
            fill(unit, out[0], record)
            return rung

        key = {"search": "random_walk_encoding", "vertices": count, "steps": self.steps}
        kinds: tuple[Kind, ...] = ("rows",)
        _run.execute(
            Search(key, sizes, (), (rows,), kinds, compute), self.graph.device, self.scale,
            title="random_walk_encoding", progress=self.progress, unit="vertices",
            quick=work < TUNED["walks"].inline, inline=inline,
        )  # fmt: skip
        if vertices is not None:
            self.result.index_copy_(0, vertices, rows)

    def _in_kernel(self, numbers: Numbers) -> None:
        """Graphs by the compiled kernel, in units of about as much work."""
        graph = self.graph
        size, slots = _batch.counts(graph)
        vertices = None
        if numbers.size < size.size and int(size[numbers].sum()) < graph.num_nodes:
            vertices = Part.of(graph, numbers).vertex
        sources = torch.arange(graph.num_nodes, device="cpu") if vertices is None else vertices
        # A graph of up to 64 vertices takes no test of symmetry.
        mutual = bool(size[numbers].max() > _DENSE) and graph.is_symmetric
        arcs = (graph.rowptr, graph.col, graph.weight, self.strength, _batch.ends(graph))
        threads = torch.get_num_threads()

        def fill(unit: slice, rows: Tensor, record: Tensor) -> None:
            _ops.ops.walk_returns(*arcs, sources[unit], mutual, _DENSE, rows, record, threads)

        work = float(size[numbers] @ slots[numbers]) * self.steps
        sizes = sizes_of_walks(size[numbers], slots[numbers] * self.steps, _WALKS)
        self._execute(vertices, sizes, work, fill, False)

    def _multiply(self, numbers: Numbers) -> None:
        """Small or dense graphs by products of dense matrices, many at a time."""
        graph, size = self.graph, _batch.counts(self.graph)[0]
        if graph._diagonal is not None:
            self.result[:, 0] = graph._diagonal * self.share
        value = _small.repeat_interleave(self.share, graph.degree)
        value = value if graph.weight is None else value * graph.weight
        for width, some in _matrix.alike(numbers, _padded(size[numbers]), _BYTES // (4 * 8)):
            part = Part.of(graph, some)
            _dense(part, part.matrices(graph.rowptr, graph.col, value, width), self.result)

    def _within_reach(self, number: int) -> bool:
        """Computes a graph by sparse rows, if that is less work than products with all columns."""
        graph, steps = self.graph, self.steps
        part = Part.of(graph, np.array([number]))
        arcs = part.arcs(*_steps(graph, self.share))
        n, matrix = part.vertex.numel(), _matrix.Rows(*arcs).to_scipy()
        # A product of sparse rows takes some 8 times that of a column, and is not on the GPU.
        factor = 8.0 if graph.device.type == "cpu" else 2000.0
        most = float(n) * matrix.nnz * steps / 2 / factor
        work = _closed.work(matrix, np.arange(n), steps, most)
        if not work <= most:
            return False
        back = None if graph.is_symmetric else matrix.T.tocsr()

        def fill(unit: slice, rows: Tensor, record: Tensor) -> None:
            for begin in range(unit.start, unit.stop, _ROWS):
                if record[CANCEL]:
                    break
                own = np.arange(begin, min(begin + _ROWS, unit.stop))
                walks = torch.from_numpy(_closed.closed_walks(matrix, back, own, steps))
                rows[begin - unit.start :][: own.size] = walks.to(rows.device)
                record[DONE] += own.size

        each = np.full(1, max(1, round(factor * work / n)))
        self._execute(part.vertex, sizes_of_walks(np.full(1, n), each, 1), work, fill, True)
        return True

    def _sparse(self, numbers: Numbers) -> None:
        """Products with blocks of columns, which have a column of each graph at a time."""
        graph = self.graph
        part = Part.of(graph, numbers)
        walk = _Columns(part, _matrix.Rows(*part.arcs(*_steps(graph, self.share))), self.steps)
        local, order = torch.sort(part.local, stable=True)
        step, last = _block(part.vertex.numel()), int(local[-1]) + 1
        bounds = torch.searchsorted(local, torch.arange(0, last + step, step, device=local.device))
        blocks = bounds.tolist()

        def fill(unit: slice, rows: Tensor, record: Tensor) -> None:
            for begin, end in pairwise(x for x in blocks if unit.start <= x <= unit.stop):
                if record[CANCEL]:
                    break
                own = rows[begin - unit.start : end - unit.start]
                walk(order[begin:end], local[begin:end], graph.is_symmetric, own)
                record[DONE] += end - begin

        each = max(1, -(-(len(blocks) - 1) // UNITS["cpu"]))  # blocks of a unit
        cuts = [*blocks[:-1:each], blocks[-1]]
        sizes = [end - begin for begin, end in pairwise(cuts)]
        slots = walk.product.col.numel()
        self._execute(part.vertex[order], sizes, float(last) * slots * self.steps, fill, True)


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


class _Columns(NamedTuple):
    """The walks of a union of graphs, from a column of each at a time."""

    part: Part
    product: _matrix.Rows
    steps: int

    def __call__(self, here: Tensor, local: Tensor, mutual: bool, rows: Tensor) -> None:
        """Fills the rows of these vertices, whose numbers in their graphs are `local`."""
        part, product, n = self.part, self.product, self.part.vertex.numel()
        column = local - local[0]
        state = rows.new_zeros(n, int(column[-1]) + 1)
        state[here, column] = 1
        ends = _csr.pointers(part.size)
        for k in range(1, self.steps + 1):
            if k == 1 or not mutual:
                state = product(state)
                rows[:, k - 1] = state[here, column]
                continue
            # The diagonal of S^(i + j) are the products of the columns of S^i and S^j.
            other = product(state) if k % 2 else state
            sums = _segments.of_segments(ends, state * other)
            rows[:, k - 1] = sums[part.graph[here], column]
            state = other
