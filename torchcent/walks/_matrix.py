"""The adjacency matrix as a sparse tensor, and sums per graph in a fixed order."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from torchcent.graph import Graph, _batch

Product = Callable[[Tensor], Tensor]


def pull(graph: Graph) -> Product:
    """x -> transpose(A) x, of float64 [n] or [n, k]: sums over incoming arcs."""
    return product(*graph.transpose, graph.back_weight)


def push(graph: Graph) -> Product:
    """x -> A x: sums over outgoing arcs."""
    return product(graph.rowptr, graph.col, graph.weight)


def product(rowptr: Tensor, col: Tensor, weight: Tensor | None) -> Product:
    """x -> M x, for the matrix with these rows."""
    if col.numel() == 0:
        return torch.zeros_like
    size = rowptr.numel() - 1
    if weight is None:
        weight = torch.ones(col.numel(), dtype=torch.float64, device=col.device)
    # Both in int32, which MKL and cuSPARSE take without a copy.
    ends = rowptr.int() if col.numel() < 2**31 else rowptr
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR")
        matrix = torch.sparse_csr_tensor(
            ends, col.to(ends.dtype), weight, (size, size), check_invariants=False
        )
    if col.is_cuda:
        return lambda x: matrix @ x
    # On some processors MKL's product with a vector adds up a row in an order that depends on where
    # the part of a thread begins. That with a matrix takes a row from its first entry to its last.
    return lambda x: matrix @ x if x.dim() == 2 else (matrix @ x[:, None])[:, 0]


def total(graph: Graph, values: Tensor) -> Tensor:
    """The sum over the vertices of each graph: [num_graphs] or [num_graphs, k].

    Sums do not depend on the number of threads.
    """
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
    return torch.segment_reduce(weight, "sum", lengths=rowptr.diff(), unsafe=True)
