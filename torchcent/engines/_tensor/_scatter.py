"""Sums by index, with torch_scatter if it is installed, else with PyTorch's own operators.

The order of additions never depends on the number of threads, so neither do the bits of the result.
On the CPU both libraries add one term after the other. On CUDA, where they would use atomic
additions, the terms are sorted by index and summed segment by segment.
"""

from functools import cache
from importlib import import_module
from types import ModuleType

import torch
from torch import Tensor


@cache
def torch_scatter() -> ModuleType | None:
    """The optional library (`pip install torch_scatter`), or None if it is missing."""
    try:
        return import_module("torch_scatter")
    except ImportError:
        return None


def scatter_add(out: Tensor, index: Tensor, values: Tensor) -> None:
    """Adds values[j] to out[index[j]] for every j, in place; an index may occur many times."""
    library = torch_scatter()
    if values.is_cuda:
        index, order = index.sort(stable=True)
        index, count = index.unique_consecutive(return_counts=True)
        out[index] += _segment_sum(values[order], count, library)
    elif library is not None:
        library.scatter(values, index, dim=0, out=out, reduce="sum")
    else:
        out.index_add_(0, index, values)


def scatter_sum(values: Tensor, index: Tensor, size: int) -> Tensor:
    """A tensor [size] whose entry i is the sum of values[j] over all j with index[j] == i."""
    out = values.new_zeros(size)
    scatter_add(out, index, values)
    return out


def _segment_sum(values: Tensor, count: Tensor, library: ModuleType | None) -> Tensor:
    """Sums of consecutive runs: the first count[0] values, the next count[1] values, ..."""
    offsets = torch.nn.functional.pad(count.cumsum(0), (1, 0))
    if library is not None:
        sums: Tensor = library.segment_csr(values, offsets, reduce="sum")
        return sums
    return torch.segment_reduce(values, "sum", offsets=offsets)
