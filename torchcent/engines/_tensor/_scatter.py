"""Sums by index.

The order of additions never depends on the number of threads, so neither do the bits of the result.
On the CPU one term is added after the other. On CUDA, where that would be by atomic additions, the
terms are sorted by index and summed segment by segment.
"""

import torch
from torch import Tensor


def scatter_add(out: Tensor, index: Tensor, values: Tensor) -> None:
    """Adds values[j] to out[index[j]] for every j, in place; an index may occur many times."""
    if values.is_cuda:
        index, order = index.sort(stable=True)
        index, count = index.unique_consecutive(return_counts=True)
        offsets = torch.nn.functional.pad(count.cumsum(0), (1, 0))
        out[index] += torch.segment_reduce(values[order], "sum", offsets=offsets)
    else:
        out.index_add_(0, index, values)


def scatter_sum(values: Tensor, index: Tensor, size: int) -> Tensor:
    """A tensor [size] whose entry i is the sum of values[j] over all j with index[j] == i."""
    out = values.new_zeros(size)
    scatter_add(out, index, values)
    return out
