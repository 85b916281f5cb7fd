"""The leading eigenvector of a symmetric matrix, by thickly restarted Lanczos iterations."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.graph import _segments
from torchcent.runtime import _small
from torchcent.walks._matrix import Product

_Numbers = NDArray[np.float64]

_BASIS = 32  # vectors between two restarts
_RESTART = 10  # of which a restart keeps the combinations of the largest eigenvalues
_FIRST = 8  # vectors from which on each second one is followed by a check
_EQUAL = 1e-13  # eigenvalues that are one: rounding brings further vectors of its space, relative
_TOGETHER = 8  # vectors whose products are in memory at once


class Slow(Exception):
    """The products did not suffice; the argument is the largest eigenvalue of the last basis."""


def leading(product: Product, start: Tensor, tol: float, max_iter: int) -> tuple[float, Tensor]:
    """The largest eigenvalue, and the normalised projection of `start` on its eigenspace. `tol`
    bounds the estimated angle to it: the residual divided by the gap between the two largest
    eigenvalues of the last basis. Raises Slow after max_iter products."""
    n = start.numel()
    most = min(_BASIS, n)
    basis = start.new_empty(most + 1, n)
    basis[0] = start / norm(start)
    matrix = np.zeros((most, most))
    size, check_from = 0, _FIRST
    for count in range(1, max_iter + 1):
        new = product(basis[size])
        scale = float(norm(new))
        before = basis[: size + 1]
        along = _products(before, new)
        matrix[size, size] = float(along[size])
        new = new - _combined(before, along)
        new = new - _combined(before, _products(before, new))  # twice is enough
        rest = float(norm(new))
        size += 1
        is_invariant = rest <= 1e-12 * scale or size == n
        is_last = is_invariant or size == most or count == max_iter
        if not is_invariant:
            basis[size] = new / rest
        if is_last or (size >= check_from and size % 2 == 0):
            values, states = _eigen(matrix[:size, :size])
            if is_invariant or size == 1 or _is_close(values, states, rest, tol):
                equal = values >= values[-1] - _EQUAL * abs(values[-1])
                vectors = torch.stack([_combined(basis[:size], x) for x in states[:, equal].T])
                vector = _combined(vectors, _products(vectors, start))
                return float(values[-1]), vector / norm(vector)
        if size < most:
            matrix[size, size - 1] = matrix[size - 1, size] = rest
        elif count < max_iter:  # restarts with the leading combinations and the next vector
            after, last = basis[size].clone(), min(_RESTART, size - 1)
            states = states[:, -last:]
            basis[:last] = torch.stack([_combined(basis[:size], x) for x in states.T])
            basis[last] = after
            matrix[:] = 0
            matrix[range(last), range(last)] = values[-last:]
            matrix[last, :last] = matrix[:last, last] = rest * states[-1]
            size, check_from = last, max(_FIRST, last + 2)
    raise Slow(float(values[-1]))


def _eigen(matrix: _Numbers) -> tuple[_Numbers, _Numbers]:
    values, states = _small.eigen(torch.from_numpy(matrix))
    return values.numpy(), states.numpy()


def _is_close(values: _Numbers, states: _Numbers, rest: float, tol: float) -> bool:
    top = float(values[-1])
    equal = values >= top - _EQUAL * abs(top)
    residual = rest * float(np.abs(states[-1, equal]).max())
    gap = top - float(values[~equal][-1]) if not equal.all() else 0.0
    return residual <= tol * gap or residual <= 1e-15 * abs(top)


def _products(vectors: Tensor, other: Tensor) -> Tensor:
    """The products of each of these vectors with another one."""
    n = other.numel()
    ends = torch.arange(_TOGETHER + 1, device=other.device) * n
    parts = [
        _segments.of_segments(ends[: part.shape[0] + 1], (part * other).flatten())
        for part in vectors.split(_TOGETHER)
    ]
    return torch.cat(parts)


def _combined(vectors: Tensor, factors: Tensor | _Numbers) -> Tensor:
    along = torch.as_tensor(factors, device=vectors.device)[:, None]
    parts = zip(vectors.split(_TOGETHER), along.split(_TOGETHER), strict=True)
    sums = [(part * factor).sum(0) for part, factor in parts]
    total: Tensor = sums[0]
    for other in sums[1:]:
        total = total + other
    return total


def norm(vector: Tensor) -> Tensor:
    return _products(vector[None], vector)[0].sqrt_()
