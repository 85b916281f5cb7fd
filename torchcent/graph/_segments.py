"""Sums over the rows of a CSR, in an order that depends on the row alone.

The compiled operator cuts long rows into pieces, so that a hub or one huge graph occupies all
threads of the CPU or all of a GPU. It starts no thread for little work. Bits do not depend on the
number of threads, on the schedule of a GPU, or on what other rows there are.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from torchcent.runtime import _ops, _small

_PIECE = 2048  # slots that PyTorch adds up one after the other


def is_compiled(device: torch.device) -> bool:
    return _ops.has_kernel("row_sums", device)


def products(rowptr: Tensor, col: Tensor, weight: Tensor | None, values: Tensor) -> Tensor:
    """Of each row the sum of weight[slot] * values[col[slot]]: float64 [n] or [n, k].

    col is int32; only where the operator is compiled for the device.
    """
    sums: Tensor = _ops.ops.row_sums(
        rowptr, col, weight, values.contiguous(), False, torch.get_num_threads()
    )
    return sums


def of_segments(ptr: Tensor, values: Tensor) -> Tensor:
    """The sums of values[ptr[i] : ptr[i + 1]], of float64 [n] or [n, k]."""
    values = values.contiguous()
    if values.dtype == torch.float64 and is_compiled(values.device):
        sums: Tensor = _ops.ops.row_sums(ptr, None, None, values, False, torch.get_num_threads())
        return sums
    return _in_pieces(ptr, values, "sum")


def largest_of_segments(ptr: Tensor, values: Tensor) -> Tensor:
    """The largest of each; 0 for an empty one."""
    values = values.contiguous()
    if values.dtype == torch.float64 and is_compiled(values.device):
        largest: Tensor = _ops.ops.row_sums(ptr, None, None, values, True, torch.get_num_threads())
        return largest
    largest = _in_pieces(ptr, values, "max")
    empty = ptr.diff() == 0
    return torch.where(empty if values.dim() == 1 else empty[:, None], 0, largest)


def _in_pieces(ptr: Tensor, values: Tensor, kind: str) -> Tensor:
    """PyTorch's reduction of segments, which is sequential in each: of pieces, then of these."""
    lengths = ptr.diff()
    count = (lengths + (_PIECE - 1)).div(_PIECE, rounding_mode="floor")
    if values.shape[0] > _PIECE and bool((count > 1).any()):
        number = torch.arange(int(count.sum()), device=ptr.device)
        before = _small.repeat_interleave(count.cumsum(0) - count, count)
        begin = _small.repeat_interleave(ptr[:-1], count) + (number - before) * _PIECE
        end = torch.minimum(begin + _PIECE, _small.repeat_interleave(ptr[1:], count))
        values = torch.segment_reduce(values, kind, lengths=end - begin, unsafe=True)
        ptr = torch.cat([count.new_zeros(1), count.cumsum(0)])
        return _in_pieces(ptr, values, kind)
    return torch.segment_reduce(values, kind, lengths=lengths, unsafe=True)


def sparse(rowptr: Tensor, col: Tensor, weight: Tensor | None) -> Tensor:
    """The matrix of PyTorch, for devices without the operator."""
    size = rowptr.numel() - 1
    if weight is None:
        weight = torch.ones(col.numel(), dtype=torch.float64, device=col.device)
    # Both in int32, which MKL and cuSPARSE take without a copy.
    ends = rowptr.int() if col.numel() < 2**31 else rowptr
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR")
        return torch.sparse_csr_tensor(
            ends, col.to(ends.dtype), weight, (size, size), check_invariants=False
        )
