"""Preparation of graphs on an accelerator, out of PyTorch's operators: nothing visits the host but
sizes. Registered as the CUDA kernels of the ops that csrc/cpu/graph.cpp has for the CPU."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

# A tree this much higher than wide is left to the search from there on: a round costs a dozen
# launches whatever it folds.
_MOST_ROUNDS = 128


def induced(rowptr: Tensor, col: Tensor, kept: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The subgraph on `kept`, whose i-th vertex becomes vertex i, and the slot of each slot."""
    size = kept.numel()
    place = torch.full((rowptr.numel() - 1,), -1, dtype=torch.int64, device=rowptr.device)
    place[kept] = torch.arange(size, device=rowptr.device)
    tail, head = torch.repeat_interleave(place, rowptr.diff()), place[col]
    slot = torch.nonzero((tail >= 0) & (head >= 0)).flatten()
    key, order = torch.sort(tail[slot] * size + head[slot])
    divisor = max(size, 1)
    count = torch.bincount(key // divisor, minlength=size)
    return torch.cat([count.new_zeros(1), count.cumsum(0)]), (key % divisor).int(), slot[order]


def fold(rowptr: Tensor, col: Tensor, recursive: bool) -> tuple[Tensor, Tensor]:
    """Removes vertices of degree 1 of a symmetric graph, once or round after round."""
    degree = rowptr.diff()
    parent = torch.full_like(degree, -1)
    # The sum of a vertex's neighbours that are left: of a leaf, the neighbour itself.
    running = torch.cat([rowptr.new_zeros(1), col.cumsum(0, dtype=torch.int64)])
    neighbours = running[rowptr[1:]] - running[rowptr[:-1]]
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
    depth = torch.ops.torchcent.depths(rowptr, col, start).long()
    if order == "bandwidth":  # Cuthill and McKee 1969 begin at the rim
        start = int(depth.argmax())
        depth = torch.ops.torchcent.depths(rowptr, col, start).long()
    degree = rowptr.diff()
    tail = torch.repeat_interleave(everything, degree)
    slot = torch.nonzero((depth[tail] >= 0) & (depth[col] == depth[tail] + 1)).flatten()
    slot = slot[torch.argsort(depth[tail[slot]], stable=True)]
    tail, head = tail[slot], col[slot].long()
    levels = int(depth.max()) + 1
    arcs = torch.bincount(depth[tail], minlength=levels).tolist()
    found = torch.argsort(torch.where(depth < 0, levels, depth), stable=True)
    sizes = torch.bincount(depth[depth >= 0], minlength=levels).tolist()
    # Within a level by the first neighbour on the level before, then by degree.
    rank = torch.zeros_like(depth)
    first = torch.full_like(depth, n)
    spread = int(degree.max()) + 1
    begin, arc = sizes[0], 0
    for size, count in zip(sizes[1:], arcs[:-1], strict=True):
        level, part = found[begin : begin + size], slice(arc, arc + count)
        first.scatter_reduce_(0, head[part], rank[tail[part]], "amin")
        level = level[torch.argsort(first[level] * spread + degree[level], stable=True)]
        found[begin : begin + size] = level
        rank[level] = everything[begin : begin + size]
        begin, arc = begin + size, arc + count
    if order == "bandwidth":
        found[:begin] = found[:begin].flip(0)
    return found


def components(rowptr: Tensor, col: Tensor, symmetric: bool) -> Tensor:
    """A label from 0 for each vertex's (weakly) connected component, by hooking and shortcutting
    (Zhang, Azad and Buluc 2020, FastSV)."""
    n = rowptr.numel() - 1
    label = torch.arange(n, device=rowptr.device)
    tail = torch.repeat_interleave(label, rowptr.diff())
    head = col.long()
    while True:
        grand = label[label]
        after = label.scatter_reduce(0, label[tail], grand[head], "amin")
        after.scatter_reduce_(0, tail, grand[head], "amin")
        if not symmetric:
            after.scatter_reduce_(0, label[head], grand[tail], "amin")
            after.scatter_reduce_(0, head, grand[tail], "amin")
        after = torch.minimum(after, grand)
        if torch.equal(after, label):
            return torch.unique(label, return_inverse=True)[1]
        label = after


def register() -> None:
    """Gives the ops their CUDA kernels."""
    kernels: dict[str, Callable[..., object]] = {
        "induced": induced,
        "fold": fold,
        "tree_sum": tree_sum,
    }
    for name, kernel in kernels.items():
        torch.library.impl(f"torchcent::{name}", "CUDA")(kernel)
