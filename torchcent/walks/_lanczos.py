"""The leading eigenvector of a symmetric matrix, by restarted Lanczos iterations."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.walks._matrix import Product

_BASIS = 24  # vectors between two restarts
_FIRST = 8  # vectors from which on each second one is followed by a check
_CHUNK = 1024  # terms of a sum that one thread adds


def leading(product: Product, start: Tensor, tol: float, max_iter: int) -> tuple[Tensor, Tensor]:
    """The largest eigenvalue, and the normalised projection of `start` on its eigenspace.

    `tol` bounds the estimated angle to it: the residual divided by the gap between the two largest
    eigenvalues of the last basis.

    Raises:
        ValueError: max_iter products did not suffice.
    """
    vector = start / norm(start)
    done = 0
    while True:
        basis, values, states, rest = _basis(product, vector, tol)
        done += basis.shape[0]
        top = states[:, -1] * (1 if states[0, -1] >= 0 else -1)  # of the same sign as `start`
        vector = _combined(basis, top)
        vector = vector / norm(vector)
        if rest == 0 or basis.shape[0] == 1:
            return values[-1], vector
        if _is_close(values, states, rest, tol):
            return values[-1], vector
        if done >= max_iter:
            raise ValueError(
                f"no convergence to tol={tol:g} in max_iter={max_iter} products: the two largest "
                "eigenvalues are too close; raise max_iter or tol"
            )


def _is_close(values: Tensor, states: Tensor, rest: float, tol: float) -> bool:
    residual = float(rest * states[-1, -1].abs())
    gap = float(values[-1] - values[-2])
    return residual <= tol * gap or residual <= 1e-15 * abs(float(values[-1]))


def _basis(product: Product, vector: Tensor, tol: float) -> tuple[Tensor, Tensor, Tensor, float]:
    """An orthonormal basis of the Krylov space, the eigenvalues and eigenvectors of the matrix in
    it, and the norm of what is outside of it: 0 if the space is invariant. It has fewer vectors if
    these suffice for `tol`."""
    found = [vector]
    diagonal: list[Tensor] = []
    beside: list[Tensor] = []
    size = min(_BASIS, vector.numel())
    while True:
        new = product(found[-1])
        scale = norm(new)
        diagonal.append(_dot(new, found[-1]))
        for _ in range(2):  # twice is enough
            for other in found:
                new = new - _dot(new, other) * other
        rest = norm(new)
        outside = float(rest) if rest > 1e-13 * scale else 0.0
        last = len(found) == size or outside == 0
        if last or (len(found) >= _FIRST and len(found) % 2 == 0):
            values, states = _eigen(diagonal, beside)
            if last or _is_close(values, states, outside, tol):
                break
        beside.append(rest)
        found.append(new / rest)
    if len(found) == vector.numel():
        outside = 0.0
    return torch.stack(found), values, states, outside


def _eigen(diagonal: list[Tensor], beside: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors of a tridiagonal matrix, on the host."""
    matrix = torch.diag(torch.stack(diagonal).cpu())
    if beside:
        off = torch.stack(beside).cpu()
        matrix = matrix + torch.diag(off, 1) + torch.diag(off, -1)
    values, states = torch.linalg.eigh(matrix)
    return values, states


def _combined(basis: Tensor, factors: Tensor) -> Tensor:
    return (basis * factors.to(basis.device)[:, None]).sum(0)


def _dot(one: Tensor, other: Tensor) -> Tensor:
    return ordered_sum(one * other)


def norm(vector: Tensor) -> Tensor:
    return _dot(vector, vector).sqrt()


def ordered_sum(values: Tensor) -> Tensor:
    """The sum of a vector, of the same bits for any number of threads."""
    while values.numel() > _CHUNK:
        rows = -(-values.numel() // _CHUNK)
        values = torch.nn.functional.pad(values, (0, rows * _CHUNK - values.numel()))
        values = values.view(rows, _CHUNK).sum(1)
    return values.sum()
