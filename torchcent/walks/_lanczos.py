"""The leading eigenvector of a symmetric matrix, by thickly restarted Lanczos iterations."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.graph import _segments
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
    basis = start.new_empty(min(_BASIS, start.numel()) + 1, start.numel())
    basis[0] = start / norm(start)
    matrix = np.zeros((basis.shape[0], basis.shape[0]))
    size, products = 0, 0
    while True:
        size, products, rest = _extend(product, basis, matrix, size, products, max_iter, tol)
        values, states = _eigen(matrix[:size, :size])
        if rest == 0 or size == 1 or _is_close(values, states, rest, tol):
            count = int((values >= values[-1] - _EQUAL * abs(values[-1])).sum())
            leading = [_combined(basis[:size], state) for state in states[:, -count:].T]
            vector = _combined(torch.stack(leading), _products(torch.stack(leading), start))
            return float(values[-1]), vector / norm(vector)
        if products >= max_iter:
            raise Slow(float(values[-1]))
        # The leading combinations, and the vector that is next.
        count = min(_RESTART, size - 1)
        after = basis[size].clone()
        states = states[:, -count:]
        basis[:count] = torch.stack([_combined(basis[:size], state) for state in states.T])
        basis[count] = after
        matrix[:] = 0
        matrix[range(count), range(count)] = values[-count:]
        matrix[count, :count] = matrix[:count, count] = rest * states[-1]
        size = count


def _extend(
    product: Product, basis: Tensor, matrix: _Numbers, size: int, products: int, max_iter: int,
    tol: float,
) -> tuple[int, int, float]:  # fmt: skip
    """Adds vectors until the basis is full, invariant or good enough; basis[size] is the next one.
    Returns the number of vectors and of products, and the norm of what is outside of their space.
    """
    first, most = size, basis.shape[0] - 1
    while True:
        new = product(basis[size])
        scale = float(norm(new))
        before = basis[: size + 1]
        along = _products(before, new)
        matrix[size, size] = float(along[size])
        new = new - _combined(before, along)
        new = new - _combined(before, _products(before, new))  # twice is enough
        rest = float(norm(new))
        size, products = size + 1, products + 1
        if rest <= 1e-12 * scale or size == basis.shape[1]:
            return size, products, 0.0
        basis[size] = new / rest
        if size == most or products >= max_iter:
            return size, products, rest
        matrix[size, size - 1] = matrix[size - 1, size] = rest
        if size >= max(_FIRST, first + 2) and size % 2 == 0:
            values, states = _eigen(matrix[:size, :size])
            if _is_close(values, states, rest, tol):
                return size, products, rest


def _eigen(matrix: _Numbers) -> tuple[_Numbers, _Numbers]:
    """By MKL, which uses one thread for matrices of this size, as OpenBLAS does not."""
    values, states = torch.linalg.eigh(torch.from_numpy(matrix))
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
    along = torch.as_tensor(factors).to(vectors.device)[:, None]
    parts = zip(vectors.split(_TOGETHER), along.split(_TOGETHER), strict=True)
    sums = [(part * factor).sum(0) for part, factor in parts]
    total: Tensor = sums[0]
    for other in sums[1:]:
        total = total + other
    return total


def norm(vector: Tensor) -> Tensor:
    return _products(vector[None], vector)[0].sqrt_()
