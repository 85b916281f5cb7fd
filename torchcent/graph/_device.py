"""Preparation of graphs on an accelerator, out of PyTorch's operators: nothing visits the host but
sizes. `register` makes them the CUDA kernels of ops that csrc/graph/cpu/graph.cpp has for the CPU;
induced subgraphs and transposes are compiled (csrc/graph/cuda/graph.cu)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.runtime import _ops

# A tree this much higher than wide is left to the search from there on: a round costs a dozen
# launches whatever it folds.
_MOST_ROUNDS = 128


# Slots that are looked at together: whatever is made per slot, and not kept, has this many entries.
_WINDOW = 2**21


class Window(NamedTuple):
    """A run of slots of a CSR graph, and the rows that they lie in."""

    begin: int
    end: int
    first: int
    last: int  # row behind the last one; rows without slots may be among them

    def rows(self, pointers: Tensor) -> Tensor:
        """The row of each slot, int64."""
        inside = pointers[self.first : self.last + 1].clamp(self.begin, self.end).diff()
        rows = torch.repeat_interleave(inside, output_size=self.end - self.begin)
        return rows.add_(self.first)


def windows(pointers: Tensor, slots: int) -> list[Window]:
    """All slots in windows; the host is told of them once."""
    begin = torch.arange(0, slots, _WINDOW, device=pointers.device)
    end = (begin + _WINDOW).clamp_(max=slots)
    first = torch.searchsorted(pointers, begin, right=True) - 1
    last = torch.searchsorted(pointers, end, right=True).clamp_(max=pointers.numel() - 1)
    return [Window(*each) for each in torch.stack([begin, end, first, last], 1).tolist()]


def bytes_to_transpose(n: int, m: int) -> int:
    """Memory that graph.cu takes for a transpose, its result (12 m + 8 n) included."""
    return 16 * m + 16 * n


def bytes_to_reduce(n: int, m: int, order: str, symmetric: bool) -> int:
    """Memory that _reduce._core takes on CUDA at its peak, its result included, if nothing folds.

    Per slot: a subgraph takes 16 bytes and leaves 12 (graph.cu); beside them `near` has
    a window of arcs, and a directed graph's transpose is made. Per vertex: what _core and `near`
    hold, and the sort of a large level.
    """
    if order == "given":
        return 8 * m + 32 * n
    subgraph = 16 * m + 48 * n
    search = 12 * m + 28 * min(m, _WINDOW) + 112 * n
    turned = 0 if symmetric else 12 * m + bytes_to_transpose(n, m) + 64 * n
    return max(subgraph, search, turned)


def bytes_for_components(n: int, m: int) -> int:
    """Memory of `components` at its peak, and of the weights that _reduce.problem has by then."""
    return 32 * min(m, _WINDOW) + 160 * n


def fold(rowptr: Tensor, col: Tensor, recursive: bool) -> tuple[Tensor, Tensor]:
    """Removes vertices of degree 1 of a symmetric graph, once or round after round."""
    degree = rowptr.diff()
    parent = torch.full_like(degree, -1)
    # The sum of a vertex's neighbours that are left: of a leaf, the neighbour itself.
    neighbours = _row_sums(rowptr, col)
    leaf = torch.nonzero(degree == 1).flatten()
    order = []
    for _ in range(_MOST_ROUNDS if recursive else 1):
        onto = neighbours[leaf]
        stays = (degree[onto] == 1) & (onto < leaf)  # of two leaves on each other, the larger id
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
    running = torch.zeros_like(rowptr)  # of all columns before the row
    before = rowptr.new_zeros(1)
    for window in windows(rowptr, col.numel()):
        part = col[window.begin : window.end].cumsum(0, dtype=torch.int64).add_(before)
        ends = slice(window.first + 1, window.last + 1)
        running[ends] = part[rowptr[ends].clamp(max=window.end) - (window.begin + 1)]
        before = part[-1:]
    return running.diff()


def tree_sum(order: Tensor, parent: Tensor, values: Tensor) -> Tensor:
    """Sums of values over what is folded onto each vertex, itself included."""
    total = values.double().clone()
    onto, carried = parent[order], total[order]
    while bool(carried.any()):  # one step up the trees per turn; exact, since the values are counts
        rise = torch.zeros_like(total).index_add_(0, onto, carried)
        total += rise
        carried = rise[order]
    return total


def near(rowptr: Tensor, col: Tensor, order: str) -> Tensor:
    """What _reduce._near says, with breadth-first searches that go level by level."""
    n, device = rowptr.numel() - 1, rowptr.device
    everything = torch.arange(n, device=device)
    if n == 0:
        return everything
    start = 0
    depth = torch.ops.torchcent.depths(rowptr, col, start)
    if order == "bandwidth":  # Cuthill and McKee 1969 begin at the rim
        start = int(depth.argmax())
        depth = torch.ops.torchcent.depths(rowptr, col, start)
    degree = rowptr.diff()
    levels = int(depth.max()) + 1
    depth = torch.where(depth < 0, levels, depth)
    found = torch.argsort(depth, stable=True)
    count = torch.bincount(depth, minlength=levels)[:levels]
    del depth
    # The arcs by level: those of the i-th vertex found begin at pointers[i].
    pointers = torch.cat([rowptr.new_zeros(1), degree[found].cumsum(0)])
    shift = rowptr[found] - pointers[:-1]  # from there to its slots
    arcs, sizes = pointers[count.cumsum(0)].tolist(), count.tolist()
    coming = iter(windows(pointers, arcs[-1]))
    listed = found.clone()
    tail = head = none = found[:0]
    # Within a level by the first neighbour on the level before, then by degree. An arc leads one
    # level down at most; those that lead elsewhere change what is not asked for any more.
    rank = torch.zeros_like(found)
    first = torch.full_like(found, n)
    spread = int(degree.max()) + 1
    begin, arc, here = sizes[0], 0, Window(0, 0, 0, 0)
    for size, last in zip(sizes[1:], arcs[:-1], strict=True):
        while arc < last:
            if arc == here.end:
                here, tail, head = next(coming), none, none  # not two windows at once
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
    if order == "bandwidth":
        found[:begin] = found[:begin].flip(0)
    return found


def _arcs(
    window: Window, pointers: Tensor, vertices: Tensor, shift: Tensor, col: Tensor
) -> tuple[Tensor, Tensor]:
    """Tails and heads of a window of arcs, where those of vertices[i] begin at pointers[i]."""
    row = window.rows(pointers)
    slot = torch.arange(window.begin, window.end, device=row.device).add_(shift[row])
    head = col[slot]
    del slot
    return vertices[row], head.long()


def components(rowptr: Tensor, col: Tensor, symmetric: bool) -> Tensor:
    """A label from 0 for each vertex's (weakly) connected component, by hooking and shortcutting
    (Zhang, Azad and Buluc 2020, FastSV)."""
    label = torch.arange(rowptr.numel() - 1, device=rowptr.device)
    parts = windows(rowptr, col.numel())
    while True:
        grand = label[label]
        after = label.clone()
        for part in parts:
            tail, head = part.rows(rowptr), col[part.begin : part.end].long()
            _hook(after, label, grand, tail, head)
            if not symmetric:
                _hook(after, label, grand, head, tail)
        after = torch.minimum(after, grand)
        if torch.equal(after, label):
            found: Tensor = torch.unique(label, return_inverse=True)[1]
            return found
        label = after


def _hook(after: Tensor, label: Tensor, grand: Tensor, tail: Tensor, head: Tensor) -> None:
    """Gives tails, and their labels, what the heads' labels are labelled."""
    offer = grand[head]
    after.scatter_reduce_(0, label[tail], offer, "amin")
    after.scatter_reduce_(0, tail, offer, "amin")


def register() -> None:
    """Gives the ops their CUDA kernels."""
    kernels: dict[str, Callable[..., object]] = {
        "fold": fold,
        "tree_sum": tree_sum,
    }
    for name, kernel in kernels.items():
        torch.library.impl(f"torchcent::{name}", "CUDA")(kernel)


if _ops.cuda:
    register()
