"""Products with the adjacency matrix, and sums per graph in a fixed order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.graph import Graph, _batch, _segments

Product = Callable[[Tensor], Tensor]


def pull(graph: Graph) -> Product:
    """x -> transpose(A) x, of float64 [n] or [n, k]: sums over incoming arcs."""
    return product(*graph.transpose, graph.back_weight)


def push(graph: Graph) -> Product:
    """x -> A x: sums over outgoing arcs."""
    return product(graph.rowptr, graph.col, graph.weight)


def product(rowptr: Tensor, col: Tensor, weight: Tensor | None) -> Product:
    """x -> M x, for the matrix with these rows."""
    return Rows(rowptr, col, weight) if col.numel() else torch.zeros_like


class Rows:
    """The product with a matrix of these rows; its bits do not depend on the number of threads."""

    def __init__(self, rowptr: Tensor, col: Tensor, weight: Tensor | None) -> None:
        self.rowptr, self.col, self.weight = rowptr, col.int(), weight
        if not _segments.is_compiled(col.device):
            self._matrix = _segments.sparse(rowptr, col, weight)

    def __call__(self, x: Tensor) -> Tensor:
        if _segments.is_compiled(self.col.device):
            return _segments.products(self.rowptr, self.col, self.weight, x)
        if self.col.is_cuda:
            return self._matrix @ x
        # On some processors MKL's product with a vector adds up a row in an order that depends on
        # where the part of a thread begins. That with a matrix takes a row from its first entry to
        # its last.
        return self._matrix @ x if x.dim() == 2 else (self._matrix @ x[:, None])[:, 0]

    def to_scipy(self) -> Any:
        """The matrix on the host, as a scipy.sparse.csr_array."""
        import scipy.sparse

        rowptr, col = self.rowptr.cpu().numpy(), self.col.cpu().numpy()
        weight = np.ones(col.size) if self.weight is None else self.weight.cpu().numpy()
        return scipy.sparse.csr_array((weight, col, rowptr), shape=(rowptr.size - 1,) * 2)


def total(graph: Graph, values: Tensor) -> Tensor:
    """The sum over the vertices of each graph, for any number of threads: [num_graphs] or
    [num_graphs, k]."""
    return _batch.total(graph, values.contiguous())


def spread(graph: Graph, values: Tensor) -> Tensor:
    """The value of its graph for each vertex: [n] or [n, k]."""
    if graph.batch is None:
        return values.expand(graph.num_nodes, *values.shape[1:])
    return values.index_select(0, graph.batch)


def strength(graph: Graph, weight: Tensor | None, rowptr: Tensor) -> Tensor:
    """float64 [n]: the sum of each row, or the number of its entries."""
    if weight is None:
        return rowptr.diff().double()
    return _segments.of_segments(rowptr, weight)
