"""Little work without waking PyTorch's threads.

Most of PyTorch's operators use one thread below some 32,768 numbers. Some wake all threads, which
takes milliseconds where the cores are busy. They are repeat_interleave for any number, and
torch.linalg for matrices of more than some 32 rows.
"""

import numpy as np
import torch
from torch import Tensor

from torchcent.runtime import _ops

ALONE = 2**15
"""Numbers up to which one thread does the work."""
ROWS = 128
"""Rows of matrices up to which one thread solves for each."""


def eigen(matrices: Tensor) -> tuple[Tensor, Tensor]:
    """torch.linalg.eigh of symmetric float64 matrices ``[..., n, n]``."""
    if not _is_compiled(matrices):
        values, states = torch.linalg.eigh(matrices)
        return values, states
    values, states = _by_kernel(matrices, True)
    return values.view(matrices.shape[:-1]), states.view(matrices.shape)


def eigenvalues(matrices: Tensor) -> Tensor:
    """torch.linalg.eigvalsh of symmetric float64 matrices ``[..., n, n]``."""
    if not _is_compiled(matrices):
        values: Tensor = torch.linalg.eigvalsh(matrices)
        return values
    return _by_kernel(matrices, False)[0].view(matrices.shape[:-1])


def _is_compiled(matrices: Tensor) -> bool:
    small = matrices.dtype == torch.float64 and matrices.shape[-1] <= ROWS
    return small and _ops.has_kernel("symmetric_eigen", matrices.device)


def solve(matrices: Tensor, right: Tensor) -> Tensor:
    """torch.linalg.solve of float64 matrices ``[..., n, n]`` and ``[..., n, k]``. On the CPU it is
    not finite where a matrix of up to ROWS rows is singular."""
    if not _is_compiled(matrices):
        by_lapack: Tensor = torch.linalg.solve(matrices, right)
        return by_lapack
    rows, width = right.shape[-2:]
    count = matrices.numel() // max(1, rows * rows)
    flat = matrices.reshape(count, rows, rows).contiguous()
    columns = right.reshape(count, rows, width).contiguous()
    solution: Tensor = _ops.ops.dense_solve(flat, columns, torch.get_num_threads())
    return solution.view(right.shape)


def positive_inverse(matrix: Tensor) -> Tensor:
    """The inverse of a symmetric positive definite float64 matrix ``[n, n]``."""
    if _is_compiled(matrix):
        unit = torch.eye(matrix.shape[0], dtype=torch.float64, device=matrix.device)
        return solve(matrix, unit)
    return torch.cholesky_inverse(torch.linalg.cholesky(matrix))


def _by_kernel(matrices: Tensor, vectors: bool) -> tuple[Tensor, Tensor]:
    rows = matrices.shape[-1]
    flat = matrices.reshape(matrices.numel() // max(1, rows * rows), rows, rows).contiguous()
    values, states = _ops.ops.symmetric_eigen(flat, vectors, torch.get_num_threads())
    return values, states


def repeat_interleave(
    values: Tensor, counts: Tensor | None = None, *, output_size: int | None = None
) -> Tensor:
    """torch.repeat_interleave of the first dimension; without counts, `values` are the counts."""
    few = values.device.type == "cpu" and values.shape[0] <= ALONE
    if few and (output_size is None or output_size <= ALONE):
        number = (values if counts is None else counts).numpy()
        if counts is None:
            return torch.from_numpy(np.arange(values.shape[0], dtype=np.int64).repeat(number))
        return torch.from_numpy(values.detach().numpy().repeat(number, 0))
    if counts is None:
        return torch.repeat_interleave(values, output_size=output_size)
    return torch.repeat_interleave(values, counts, 0, output_size=output_size)
