"""Distances in hops from one vertex, and an estimate of the depth of a graph."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.engines._tensor._rows import distances
from torchcent.runtime import _ops


def depth(rowptr: Tensor, col: Tensor) -> int:
    """A lower bound of the diameter, by searches from the hub and a vertex farthest from it."""
    return rim(rowptr, col)[0]


def rim(rowptr: Tensor, col: Tensor, from_hub: Tensor | None = None) -> tuple[int, Tensor]:
    """The same, and int32 [n]: the hops from that vertex, which is at the rim of the graph.

    `from_hub`: the hops from the hub, if they are known.
    """
    if rowptr.numel() < 2:
        return 0, rowptr.new_empty(0, dtype=torch.int32)
    first = hops(rowptr, col, int(rowptr.diff().argmax())) if from_hub is None else from_hub
    second = hops(rowptr, col, int(first.argmax()))
    return max(int(first.max()), int(second.max())), second


def hops(rowptr: Tensor, col: Tensor, source: int) -> Tensor:
    """int32 [n]: the number of hops from the source, -1 if unreachable."""
    if _ops.has_kernel("depths", rowptr.device):
        depths: Tensor = _ops.ops.depths(rowptr, col, source)
        return depths
    return hops_on_tensors(rowptr, col, source)


def hops_on_tensors(rowptr: Tensor, col: Tensor, source: int) -> Tensor:
    """The same as :func:`hops`, by the tensor engine."""
    out = torch.empty(1, rowptr.numel() - 1, dtype=torch.int32, device=rowptr.device)
    distances(rowptr, col, torch.tensor([source], device=rowptr.device), out)
    return out[0]
