"""Columns of an inverse Laplacian by elimination, without the rows of the eliminated vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Eliminated:
    """What elimination leaves (csrc/flow/cpu/elimination.cpp), factored to solve for columns.

    Rows and columns are those of the numbers that elimination gives; number 0 is grounded. An
    eliminated vertex passes its current on to its neighbours by their shares, and its potential is
    the mean of theirs plus `own` times that current.
    """

    def __init__(
        self, matrix: Tensor, ptr: Tensor, neighbour: Tensor, share: Tensor, own: Tensor
    ) -> None:
        import scipy.sparse

        self._left, self._own = matrix.shape[0], own.numpy()
        self._core = torch.linalg.cholesky(matrix)
        n = self._left + own.numel()
        first = np.concatenate([np.zeros(self._left, dtype=np.int64), ptr.numpy()])
        shares = scipy.sparse.csr_array((share.numpy(), neighbour.numpy(), first), (n, n))
        self._lower: Any = (scipy.sparse.eye_array(n, format="csr") - shares).tocsr()
        self._upper: Any = self._lower.T.tocsr()

    def solve(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64 [n, columns]: potentials for currents that enter."""
        from scipy.sparse.linalg import spsolve_triangular

        left = self._left
        found = spsolve_triangular(self._upper, right, lower=False, unit_diagonal=True)
        core = torch.cholesky_solve(torch.from_numpy(found[:left].copy()), self._core)
        found[:left] = core.numpy()
        found[0] = 0
        found[left:] *= self._own[:, None]
        solved: NDArray[np.float64] = spsolve_triangular(self._lower, found, unit_diagonal=True)
        return solved
