"""Little work without waking PyTorch's threads.

Most of PyTorch's operators use one thread below some 32,768 numbers. Two wake all threads, which
takes milliseconds where the cores are busy. They are repeat_interleave for any number, and
torch.linalg.eigh for matrices of more than 32 rows.
"""

import numpy as np
import torch
from torch import Tensor

from torchcent.runtime import _ops

ALONE = 2**15
"""Numbers up to which one thread does the work."""
_ROWS = 128  # of matrices whose eigenvalues one thread computes, each


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
    small = matrices.dtype == torch.float64 and matrices.shape[-1] <= _ROWS
    return small and _ops.has_kernel("symmetric_eigen", matrices.device)


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
