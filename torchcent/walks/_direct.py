"""Systems of linear equations of the small graphs of a batch, on the CPU."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from torchcent.graph import Graph, _batch
from torchcent.runtime import _ops, _small
from torchcent.walks import _matrix
from torchcent.walks._matrix import Part

MOST = 64
"""Vertices up to which elimination takes no longer than some 60 products with the matrix."""
_TOGETHER = 2**20  # entries of the matrices that are solved for together


def solutions(
    graph: Graph, rows: _matrix.Rows, value: Tensor, right: Tensor
) -> tuple[Tensor, Tensor]:
    """Of x = M x + right, float64 [n, k]: x, and for which graphs there is one, bool [num_graphs].

    M has the rows given and float64 values. The others, those with more vertices, have zeros. A
    graph has the bits that it has alone.
    """
    x = torch.zeros_like(right)
    size = _batch.counts(graph)[0]
    solved = torch.zeros(size.size, dtype=torch.bool, device=right.device)
    if not _ops.has_kernel("dense_solve", graph.device):
        return x, solved
    small = np.flatnonzero((size > 0) & (size <= MOST))
    for width, numbers in _matrix.alike(small, size[small], _TOGETHER):
        part = Part.of(graph, numbers)
        matrices = part.matrices(rows.rowptr, rows.col, value, width).neg_()
        matrices.diagonal(dim1=1, dim2=2).add_(1)
        solution = _small.solve(matrices, right[part.vertex].view(-1, width, right.shape[1]))
        x[part.vertex] = solution.view(-1, right.shape[1])
        solved[torch.from_numpy(numbers)] = True
    return x, solved
