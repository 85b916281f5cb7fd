"""The inverse of the Laplacian of one graph, whose largest eigenvalues an iteration finds soon.

Eigenvalues near 0 are close together, and their inverses far apart: a long path takes thousands of
products with the matrix, but some fifty with its inverse. Without the row and the column of one
vertex of each component the matrix is positive definite. It has a sparse factor if the graph has
small separators (George 1973), as paths, trees, grids and roads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.graph import Graph
from torchcent.runtime import _memory
from torchcent.walks import _matrix
from torchcent.walks._local import core_number

Solve = Callable[[Tensor], Tensor]
_NUMBER = 12  # bytes of a number of a factor, which has two triangles


def front(graph: Graph) -> int:
    """The most vertices between those before and those after, in the order of Cuthill and McKee.

    Trees that hang on others are left out, since their elimination from the leaves adds no entry.
    """
    import scipy.sparse
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    keep = (core_number(graph) > 1).numpy()
    arcs = np.ones(graph.num_slots, np.int8), graph.col.numpy(), graph.rowptr.numpy()
    core = scipy.sparse.csr_matrix(arcs, shape=(graph.num_nodes,) * 2)[keep][:, keep]
    n = core.shape[0]
    if not n:
        return 0
    place = np.empty(n, np.int64)
    place[reverse_cuthill_mckee(core, symmetric_mode=True)] = np.arange(n)
    last = np.maximum.reduceat(place[core.indices], core.indptr[:-1])  # no row is empty
    ends = np.bincount(np.maximum(last, place), minlength=n)
    return int((1 - ends[:-1]).cumsum().max(initial=0))


def by_sparse_factor(
    rows: _matrix.Rows, diagonal: Tensor, ground: Tensor, width: float, memory: int | None
) -> Solve | None:
    """Solves with the matrix without the rows of `ground`, on the host.

    None if a factor does not fit into the memory, by an estimate from the width of the front, or if
    there is none.
    """
    import scipy.sparse.linalg

    n = diagonal.numel()
    entries = min(n * (width + 2), 8 * n * math.log2(width + 2) + width**2)
    if 2 * _NUMBER * entries > _memory.budget(memory, diagonal.device):
        return None
    keep = np.delete(np.arange(n), ground.numpy())
    matrix: Any = scipy.sparse.diags_array(diagonal.numpy()) - rows.to_scipy()
    try:
        factor = scipy.sparse.linalg.splu(
            matrix.tocsr()[keep][:, keep].tocsc(), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )  # fmt: skip
    except RuntimeError:  # weights differ so much that it is singular in float64
        return None

    def solve(right: Tensor) -> Tensor:
        solution = np.zeros(n)
        solution[keep] = factor.solve(right.numpy()[keep])
        return torch.from_numpy(solution)

    return solve


def by_dense_factor(
    rows: _matrix.Rows, diagonal: Tensor, ground: Tensor, memory: int | None
) -> Solve | None:
    """The same by a dense one, on any device."""
    n = diagonal.numel()
    if 3 * 8 * n * n > _memory.budget(memory, diagonal.device):
        return None
    tail = torch.repeat_interleave(rows.rowptr.diff())
    matrix = torch.diag(diagonal)
    one = diagonal.new_ones(tail.numel()) if rows.weight is None else rows.weight
    matrix.index_put_((tail, rows.col.long()), -one, accumulate=True)
    matrix[ground] = 0
    matrix[:, ground] = 0
    matrix[ground, ground] = 1
    factor, failure = torch.linalg.cholesky_ex(matrix)
    if int(failure):  # singular in float64, as above
        return None

    def solve(right: Tensor) -> Tensor:
        right = right.index_fill(0, ground, 0)
        return torch.cholesky_solve(right[:, None], factor)[:, 0]

    return solve
