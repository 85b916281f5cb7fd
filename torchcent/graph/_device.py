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


def bytes_to_reduce(n: int, m: int, order: str, symmetric: bool, in_order: bool) -> int:
    """Peak memory of _reduce._core on CUDA if nothing folds, including its result.

    Per slot, a subgraph needs 16 bytes, of which 12 remain (graph.cu). `sequence`, if sources are
    to be in order, adds a window of arcs, and a directed graph its transpose. Per vertex, these are
    the tensors of _core and of orders, and the sort of a large level.
    """
    if order == "given":
        return 8 * m + 32 * n
    subgraph = 16 * m + 48 * n
    search = 12 * m + bytes_to_order(n, m if in_order and order == "degree" else 0)
    turned = 0 if symmetric else 12 * m + bytes_to_transpose(n, m) + 64 * n
    return max(subgraph, search, turned)


def bytes_to_order(n: int, m: int) -> int:
    """Memory of :func:`sequence` besides its input."""
    return 28 * min(m, _WINDOW) + 112 * n


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


def tree_sum(order: Tensor, parent: Tensor, values: Tensor) -> Tensor:
    """Sums of values over the vertices folded onto each vertex, itself included."""
    total = values.double().clone()
    onto, carried = parent[order], total[order]
    while bool(carried.any()):  # one step up the trees per turn; exact, as the values are counts
        rise = torch.zeros_like(total).index_add_(0, onto, carried)
        total += rise
        carried = rise[order]
    return total


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


def sequence(rowptr: Tensor, col: Tensor) -> Tensor:
    """Breadth-first order from vertex 0, vertices of a level by their first neighbour."""
    n, device = rowptr.numel() - 1, rowptr.device
    everything = torch.arange(n, device=device)
    if n == 0:
        return everything
    depth = torch.ops.torchcent.depths(rowptr, col, 0)
    degree = rowptr.diff()
    levels = int(depth.max()) + 1
    depth = torch.where(depth < 0, levels, depth)
    found = torch.argsort(depth, stable=True)
    count = torch.bincount(depth, minlength=levels)[:levels]
    del depth
    # The arcs ordered by level: those of the i-th vertex found begin at pointers[i].
    pointers = torch.cat([rowptr.new_zeros(1), degree[found].cumsum(0)])
    shift = rowptr[found] - pointers[:-1]  # from pointers to slots
    arcs, sizes = pointers[count.cumsum(0)].tolist(), count.tolist()
    coming = iter(windows(pointers, arcs[-1]))
    listed = found.clone()
    tail = head = none = found[:0]
    # Vertices of a level are ordered by their first neighbour on the level before, then by degree.
    # An arc leads down at most one level; the entries changed by other arcs are not read any more.
    rank = torch.zeros_like(found)
    first = torch.full_like(found, n)
    spread = int(degree.max()) + 1
    begin, arc, here = sizes[0], 0, Window(0, 0, 0, 0)
    for size, last in zip(sizes[1:], arcs[:-1], strict=True):
        while arc < last:
            if arc == here.end:
                here, tail, head = next(coming), none, none  # free the old window first
                tail, head = _arcs(here, pointers, listed, shift, col)
            end = min(last, here.end)
            part = slice(arc - here.begin, end - here.begin)
            first.scatter_reduce_(0, head[part], rank[tail[part]], "amin")
            arc = end
        level = found[begin : begin + size]
        level = level[torch.argsort(first[level] * spread + degree[level], stable=True)]
        found[begin : begin + size] = level
        rank[level] = everything[begin : begin + size]
        begin += size
    return found


def _arcs(
    window: Window, pointers: Tensor, vertices: Tensor, shift: Tensor, col: Tensor
) -> tuple[Tensor, Tensor]:
    """Tails and heads of a window of arcs, where the arcs of vertices[i] begin at pointers[i]."""
    row = window.rows(pointers)
    slot = torch.arange(window.begin, window.end, device=row.device).add_(shift[row])
    head = col[slot]
    del slot
    return vertices[row], head.long()


def register() -> None:
    """Registers the CUDA kernels of the operators."""
    kernels: dict[str, Callable[..., object]] = {
        "fold": fold,
        "tree_sum": tree_sum,
    }
    for name, kernel in kernels.items():
        torch.library.impl(f"torchcent::{name}", "CUDA")(kernel)


if _ops.cuda:
    register()
