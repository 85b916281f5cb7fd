"""Preparation of graphs on CUDA (csrc/graph/cuda): its memory, and an order of vertices."""

from __future__ import annotations

import torch
from torch import Tensor


def bytes_to_transpose(n: int, m: int) -> int:
    """Memory that graph.cu needs for a transpose, including its result (12 m + 8 n)."""
    return 16 * m + 16 * n


def bytes_to_reduce(n: int, m: int, order: str, symmetric: bool) -> int:
    """Peak memory of _reduce._core on CUDA if nothing folds, including its result.

    Per slot, a subgraph needs 16 bytes, of which 12 remain (graph.cu), and a directed graph its
    transpose. Per vertex, these are the tensors of _core and of orders.
    """
    if order == "given":
        return 8 * m + 32 * n
    subgraph = 16 * m + 48 * n
    search = 12 * m + bytes_to_order(n)
    turned = 0 if symmetric else 12 * m + bytes_to_transpose(n, m) + 64 * n
    return max(subgraph, search, turned)


def bytes_to_order(n: int) -> int:
    """Memory of an order of vertices: bandwidth_order below, or breadth_first (depths.cu)."""
    return 112 * n


def bytes_for_components(n: int) -> int:
    """Peak memory of components (build.cu) and of the sums per component in _fold.py."""
    return 160 * n


def bandwidth_order(rowptr: Tensor, col: Tensor, rim: Tensor) -> Tensor:
    """All vertices in an order that keeps neighbours together, for graphs of many levels.

    `rim` are the distances from a peripheral vertex. They order the vertices by levels, as those of
    Cuthill and McKee (1969). Within a level these order vertices by their first neighbours, which
    takes one step per level. Here it is the distance from a third vertex, far from both ends of the
    graph, and then that from the other end.
    """
    if rim.numel() == 0:
        return rim.long()
    end = torch.ops.torchcent.depths(rowptr, col, int(rim.argmax()))
    side = torch.ops.torchcent.depths(rowptr, col, int(torch.minimum(rim, end).argmax()))
    level = torch.where(rim < 0, rim.max() + 1, rim).long()
    key = level * (side.max() + 2) + side
    order = torch.argsort(end, stable=True)
    return order[torch.argsort(key[order], stable=True)]
