"""CSR and its transpose: compiled on the CPU, by sorting on every other device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.runtime import _ops, _small


class Ids(NamedTuple):
    """A private copy of an edge_index, and the range of its ids.

    Attributes:
        columns: [2, E], int32 where compiled code sorts them, else int64.
        low, high: the smallest and the largest id; 0 and -1 if there are none.
    """

    columns: Tensor
    low: int
    high: int


def ids(edge_index: Tensor) -> Ids:
    """Copies the ids in one pass. `low` and `high` are exact even if int32 truncates the copy."""
    compiled = _ops.has_kernel("vertex_ids", edge_index.device)
    if edge_index.numel() == 0:
        return Ids(edge_index.new_empty((2, 0), dtype=torch.int32 if compiled else None), 0, -1)
    if compiled:
        index, ends = _ops.ops.vertex_ids(edge_index, torch.get_num_threads())
    else:
        index = edge_index.to(torch.int64, copy=True)
        ends = torch.stack(torch.aminmax(index))
    low, high = ends.tolist()
    return Ids(index, low, high)


class Built(NamedTuple):
    """The arcs of columns.

    Attributes:
        rowptr: int64 [n + 1].
        col: int32 [m].
        slot: int64 [E], the slot of each column, -1 for a loop; None if it has not been found on
            the way, as by compiled code: :func:`slots` finds it.
        repeated: whether there are loops, or arcs that several columns have.
    """

    rowptr: Tensor
    col: Tensor
    slot: Tensor | None
    repeated: bool


def csr(index: Tensor, num_nodes: int, symmetric: bool) -> Built:
    """The arcs, and with `symmetric` their reverses.

    `index` holds ids in [0, n) and is a private copy.
    """
    if _ops.has_kernel("csr", index.device):
        ids = index.int().contiguous()
        rowptr, col, flag = _ops.ops.csr(ids, num_nodes, symmetric, torch.get_num_threads())
        return Built(rowptr, col, None, bool(flag))
    row, col = index.long()
    arcs = row * num_nodes + col
    if symmetric:
        arcs = torch.cat([arcs, col * num_nodes + row])
    loop = row == col
    keep = ~(loop.repeat(2) if symmetric else loop)
    keys, place = torch.unique(arcs[keep], return_inverse=True)
    slot = torch.full((arcs.numel(),), -1, dtype=torch.int64, device=arcs.device)
    slot[keep] = place
    divisor = max(num_nodes, 1)
    rowptr = _counted(keys // divisor, num_nodes)
    own = slot[: row.numel()].clone()
    repeated = bool(loop.any()) or bool((torch.bincount(own, minlength=keys.numel()) > 1).any())
    return Built(rowptr, (keys % divisor).int(), own, repeated)


def slots(index: Tensor, rowptr: Tensor, col: Tensor) -> Tensor:
    """int64 [E]: the slot of each column of `index`, -1 for self-loops."""
    if _ops.has_kernel("slots", rowptr.device):
        places: Tensor = _ops.ops.slots(index, rowptr, col, torch.get_num_threads())
        return places
    size = rowptr.numel() - 1
    place = torch.searchsorted(rows(rowptr) * size + col, index[0].long() * size + index[1])
    return torch.where(index[0] == index[1], -1, place)


def has_slot_weights(device: torch.device) -> bool:
    """Whether :func:`slot_weights` is there, or weights are placed by the slots of the columns."""
    return _ops.has_kernel("slot_weights", device)


def slot_weights(
    index: Tensor, edge_weight: Tensor, rowptr: Tensor, col: Tensor, symmetric: bool
) -> tuple[Tensor, bool]:
    """float64 [num_slots]: the smallest weight among the columns of each slot; compiled only.

    With `symmetric`, a column counts for the slot of its reverse arc, too, and the last result is
    whether columns of one slot have different weights; False without.
    """
    several = symmetric and col.numel() < 2 * index.shape[1]  # else each slot has one
    unequal = torch.zeros(1, dtype=torch.int64, device="cpu") if several else None
    weights: Tensor = _ops.ops.slot_weights(
        index, edge_weight, rowptr, col, symmetric, torch.get_num_threads(), unequal
    )
    return weights, unequal is not None and bool(unequal)


def slot_sums(
    index: Tensor, edge_weight: Tensor, rowptr: Tensor, col: Tensor, symmetric: bool
) -> Tensor:
    """float64 [num_slots]: the sum of the weights of the columns of each slot; compiled only.

    With `symmetric` it is the larger one of the sums of the slot and of its reverse.
    """
    sums: Tensor = _ops.ops.slot_sums(
        index, edge_weight, rowptr, col, symmetric, torch.get_num_threads()
    )
    return sums


def reverse_slots(rowptr: Tensor, col: Tensor) -> Tensor:
    """int64 [num_slots]: the slot of each reversed arc, in a graph that has them all."""
    if _ops.has_kernel("reverse_slots", rowptr.device):
        reverse: Tensor = _ops.ops.reverse_slots(rowptr, col, torch.get_num_threads())
        return reverse
    return transpose(rowptr, col)[2]


def finds_symmetry(device: torch.device) -> bool:
    """Whether :func:`is_symmetric` is there, or only a transpose tells."""
    return _ops.has_kernel("symmetric", device)


def is_symmetric(rowptr: Tensor, col: Tensor, weight: Tensor | None = None) -> bool:
    """Whether each arc has its reverse, of the same weight if weights are given; compiled only."""
    answer: bool = _ops.ops.symmetric(rowptr, col, weight, torch.get_num_threads())
    return answer


def induced(
    rowptr: Tensor, col: Tensor, vertices: Tensor, *, slots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """The subgraph of these vertices, renumbered in their order, and the origin of each slot.

    Without `slots`, the last result may be empty. Compiled only.
    """
    parts: tuple[Tensor, Tensor, Tensor] = _ops.ops.induced(
        rowptr, col, vertices, slots, torch.get_num_threads()
    )
    return parts


def by_degree(degree: Tensor) -> Tensor:
    """Vertices by descending degree, ties by id."""
    if _ops.has_kernel("by_degree", degree.device):
        order: Tensor = _ops.ops.by_degree(degree.contiguous())
        return order
    return torch.argsort(degree, descending=True, stable=True)


def transpose(rowptr: Tensor, col: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """colptr, row, and for each slot of the transpose its original slot."""
    if _ops.has_kernel("transpose", rowptr.device):
        parts: tuple[Tensor, Tensor, Tensor] = _ops.ops.transpose(
            rowptr, col, torch.get_num_threads()
        )
        return parts
    slot = torch.argsort(col, stable=True)
    row = rows(rowptr).int()
    return _counted(col.long(), rowptr.numel() - 1), row[slot], slot


def both_ways(rowptr: Tensor, col: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """rowptr and col of the arcs and their reverses, on the host; the slot of each arc, or -1."""
    from scipy.sparse import csr_array

    n, m = rowptr.numel() - 1, col.numel()
    marks = np.arange(1, m + 1)
    arcs = csr_array((marks, col.numpy(), rowptr.numpy()), shape=(n, n))
    back = csr_array((np.full(m, m + 1), col.numpy(), rowptr.numpy()), shape=(n, n)).T.tocsr()
    both = (arcs + back).sorted_indices()
    slot = torch.from_numpy(both.data % (m + 1) - 1)
    return (
        torch.from_numpy(both.indptr.astype(np.int64)),
        torch.from_numpy(both.indices.astype(np.int32)),
        slot,
    )


def strong_components(rowptr: Tensor, col: Tensor) -> Tensor:
    """int32 [n]: the strong component of each vertex, on the host."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = rowptr.numel() - 1
    ones = np.ones(col.numel(), dtype=np.int8)
    arcs = csr_array((ones, col.numpy(), rowptr.numpy()), shape=(n, n))
    return torch.from_numpy(connected_components(arcs, connection="strong")[1])


def rows(rowptr: Tensor) -> Tensor:
    """The row of every slot, int64."""
    vertex = torch.arange(rowptr.numel() - 1, device=rowptr.device)
    return _small.repeat_interleave(vertex, rowptr.diff())


def of_columns(values: Tensor, slot: Tensor) -> Tensor:
    """The value of the slot of each column; 0 for loops, whose slot is -1."""
    if values.shape[0] == 0:
        return values.new_zeros((slot.numel(), *values.shape[1:]))
    scores = values.index_select(0, slot.clamp(min=0))
    loops = (slot < 0).view(-1, *[1] * (values.dim() - 1))
    return scores.masked_fill_(loops, 0)


def inverse(order: Tensor) -> Tensor:
    """The place of each number in a permutation of all."""
    place = torch.empty_like(order)
    place[order] = torch.arange(order.numel(), device=order.device)
    return place


def firsts(number: Tensor, count: int) -> Tensor:
    """int64 [count]: where each of the numbers from 0 to count - 1, all there, is first."""
    place = torch.arange(number.numel(), device=number.device)
    return place.new_full((count,), number.numel()).scatter_reduce_(0, number, place, "amin")


def pointers(count: Tensor) -> Tensor:
    """int64 [n + 1]: where each of n lists begins if they follow one another, and the end."""
    return torch.cat([count.new_zeros(1), count.cumsum(0)])


def ranges(begin: Tensor, count: Tensor) -> Tensor:
    """begin[i], begin[i] + 1, ... (count[i] of them) for each i in turn."""
    before = count.cumsum(0) - count
    shift = _small.repeat_interleave(begin - before, count)
    return shift + torch.arange(shift.numel(), device=begin.device)


def runs(size: Tensor, most: int) -> Iterator[tuple[int, int]]:
    """The first and the end of runs of lists: single ones, or with `most` entries at most."""
    upto, first = pointers(size), 0
    while first < size.numel():
        end = int(torch.searchsorted(upto, upto[first] + most, right=True)) - 1
        end = max(end, first + 1)
        yield first, end
        first = end


def _counted(sorted_or_not: Tensor, num_nodes: int) -> Tensor:
    return pointers(torch.bincount(sorted_or_not, minlength=num_nodes))
