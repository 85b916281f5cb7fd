"""Preparation of graphs on an accelerator with PyTorch's operators; only sizes reach the host.

`register` makes these functions the CUDA kernels of operators whose CPU kernels are in
csrc/graph/cpu/graph.cpp. The rest of the preparation is compiled (csrc/graph/cuda).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.runtime import _ops

# Rounds of folding, after which the rest of a long, thin tree is left to the search: each round
# costs a dozen launches, however little it folds.
_MOST_ROUNDS = 128


# Slots processed at a time: temporaries with one entry per slot have this size.
_WINDOW = 2**21


class Window(NamedTuple):
    """A contiguous range of slots of a CSR graph, and the rows that contain them."""

    begin: int
    end: int
    first: int
    last: int  # one past the last row; empty rows may be included

    def rows(self, pointers: Tensor) -> Tensor:
        """The row of each slot, int64."""
        inside = pointers[self.first : self.last + 1].clamp(self.begin, self.end).diff()
        rows = torch.repeat_interleave(inside, output_size=self.end - self.begin)
        return rows.add_(self.first)


def windows(pointers: Tensor, slots: int) -> list[Window]:
    """Splits all slots into windows, with one copy to the host."""
    begin = torch.arange(0, slots, _WINDOW, device=pointers.device)
    end = (begin + _WINDOW).clamp_(max=slots)
    first = torch.searchsorted(pointers, begin, right=True) - 1
    last = torch.searchsorted(pointers, end, right=True).clamp_(max=pointers.numel() - 1)
    return [Window(*each) for each in torch.stack([begin, end, first, last], 1).tolist()]


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


def fold(rowptr: Tensor, col: Tensor, recursive: bool) -> tuple[Tensor, Tensor]:
    """Removes vertices of degree 1 from a symmetric graph, once or in rounds."""
    degree = rowptr.diff()
    parent = torch.full_like(degree, -1)
    # The sum of each vertex's remaining neighbours; for a leaf, the neighbour itself.
    neighbours = _row_sums(rowptr, col)
    leaf = torch.nonzero(degree == 1).flatten()
    order = []
    for _ in range(_MOST_ROUNDS if recursive else 1):
        onto = neighbours[leaf]
        stays = (degree[onto] == 1) & (onto < leaf)  # of adjacent leaves, the larger id stays
        leaf, onto = leaf[~stays], onto[~stays]
        if leaf.numel() == 0:
            break
        order.append(leaf)
        parent[leaf] = onto
        degree[leaf] = 0
        degree.index_add_(0, onto, torch.full_like(onto, -1))
        neighbours.index_add_(0, onto, -leaf)
        onto = torch.unique(onto)
        leaf = onto[degree[onto] == 1]
    return (torch.cat(order) if order else leaf[:0]), parent


def _row_sums(rowptr: Tensor, col: Tensor) -> Tensor:
    """The sum of the columns of each row."""
    running = torch.zeros_like(rowptr)  # sum of all columns before the row
    before = rowptr.new_zeros(1)
    for window in windows(rowptr, col.numel()):
        part = col[window.begin : window.end].cumsum(0, dtype=torch.int64).add_(before)
        ends = slice(window.first + 1, window.last + 1)
        running[ends] = part[rowptr[ends].clamp(max=window.end) - (window.begin + 1)]
        before = part[-1:]
    return running.diff()


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


def register() -> None:
    """Registers the CUDA kernels of the operators."""
    kernels: dict[str, Callable[..., object]] = {
        "fold": fold,
    }
    for name, kernel in kernels.items():
        torch.library.impl(f"torchcent::{name}", "CUDA")(kernel)


if _ops.cuda:
    register()
