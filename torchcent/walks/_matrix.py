"""Products with the adjacency matrix, and the matrices of some graphs of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.graph import Graph, _batch, _csr, _segments
from torchcent.runtime import _ops, _small

MOST_STEPS = 1000
"""Those that compiled code takes by itself, and nobody can interrupt."""
_SMALL = 2**17  # entries of a matrix with which a product takes less time than calls of operators
Numbers = NDArray[np.int64]
Product = Callable[[Tensor], Tensor]


def pull(graph: Graph) -> Rows:
    """x -> transpose(A) x, of float64 [n] or [n, k]: sums over incoming arcs."""
    return Rows(*graph.transpose, graph.back_weight)


def push(graph: Graph) -> Rows:
    """x -> A x: sums over outgoing arcs."""
    return Rows(graph.rowptr, graph.col, graph.weight)


class Rows:
    """The product with a matrix of these rows; its bits do not depend on the number of threads."""

    def __init__(self, rowptr: Tensor, col: Tensor, weight: Tensor | None) -> None:
        self.rowptr, self.col, self.weight = rowptr, col.int(), weight
        if not _segments.is_compiled(col.device):
            self._matrix = _segments.sparse(rowptr, col, weight)

    def __call__(self, x: Tensor) -> Tensor:
        if not self.col.numel():
            return torch.zeros_like(x)
        if _segments.is_compiled(self.col.device):
            return _segments.products(self.rowptr, self.col, self.weight, x)
        if self.col.is_cuda:
            return self._matrix @ x
        # On some processors MKL's product with a vector adds up a row in an order that depends on
        # where the part of a thread begins. That with a matrix takes a row from its first entry to
        # its last.
        return self._matrix @ x if x.dim() == 2 else (self._matrix @ x[:, None])[:, 0]

    def is_small(self, graph: Graph) -> bool:
        """Whether compiled code takes all steps, of a graph by itself."""
        entries = self.rowptr.numel() + self.col.numel()
        return (
            graph.ptr is None
            and 1 < entries <= _SMALL
            and _ops.has_kernel("restarting_walk", self.col.device)
        )

    def to_scipy(self) -> Any:
        """The matrix on the host, as a scipy.sparse.csr_array."""
        import scipy.sparse

        rowptr, col = self.rowptr.cpu().numpy(), self.col.cpu().numpy()
        weight = np.ones(col.size) if self.weight is None else self.weight.cpu().numpy()
        return scipy.sparse.csr_array((weight, col, rowptr), shape=(rowptr.size - 1,) * 2)


def strength(weight: Tensor | None, rowptr: Tensor) -> Tensor:
    """float64 [n]: the sum of each row, or the number of its entries."""
    if weight is None:
        return rowptr.diff().double()
    return _segments.of_segments(rowptr, weight)


def largest_weights(graph: Graph, weight: Tensor) -> Tensor:
    """float64 [num_graphs]: that of each graph."""
    return _batch.largest(graph, _segments.largest_of_segments(graph.rowptr, weight))


class Part(NamedTuple):
    """The union of some graphs of a batch."""

    first: Tensor  # of each graph, in the batch
    size: Tensor
    vertex: Tensor  # of each vertex, its number in the batch
    graph: Tensor  # and its place among the graphs

    @classmethod
    def of(cls, graph: Graph, numbers: Numbers) -> Part:
        both = np.stack([_batch.bounds(graph)[0][numbers], _batch.counts(graph)[0][numbers]])
        first, size = torch.from_numpy(both).to(graph.device)
        return cls(first, size, _csr.ranges(first, size), _small.repeat_interleave(size))

    @property
    def local(self) -> Tensor:
        """The number of each vertex in its graph."""
        return self.vertex - self.first[self.graph]

    def _slots(self, rowptr: Tensor) -> tuple[Tensor, Tensor]:
        """How many arcs each vertex has, and their slots in the batch."""
        begin = rowptr[self.vertex]
        count = rowptr[self.vertex + 1] - begin
        return count, _csr.ranges(begin, count)

    def arcs(self, rowptr: Tensor, col: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Those within the union, in its numbers."""
        count, slot = self._slots(rowptr)
        before = self.first - (self.size.cumsum(0) - self.size)
        head = col[slot].long() - _small.repeat_interleave(before[self.graph], count)
        return _csr.pointers(count), head, value[slot]

    def matrices(self, rowptr: Tensor, col: Tensor, value: Tensor, width: int) -> Tensor:
        """float64 [graphs, width, width]: those of the graphs, with zeros beyond their sizes."""
        count, slot = self._slots(rowptr)
        first = self.first[self.graph]
        row = (self.graph * width + self.vertex - first) * width - first
        matrices = value.new_zeros(self.size.numel(), width, width)
        matrices.view(-1)[_small.repeat_interleave(row, count) + col[slot]] = value[slot]
        return matrices


def alike(numbers: Numbers, widths: Numbers, entries: int) -> Iterator[tuple[int, Numbers]]:
    """Graphs of one width, as many at a time as have so many entries in their matrices."""
    for width in np.unique(widths).tolist():
        same, count = numbers[widths == width], max(1, entries // width**2)
        for begin in range(0, same.size, count):
            yield width, same[begin : begin + count]
