"""Entries of the adjacency matrix: the sums over parallel arcs, and loops.

The CSR of a graph has each arc once and no loops, which is all that distances need. Measures of
strengths are functions of the adjacency matrix, in which parallel arcs add up and loops are on the
diagonal (docs/weights.md). What it has beyond the CSR is kept beside it, if there is any.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.graph import _csr


class Strengths(NamedTuple):
    """Where the adjacency matrix differs from the arcs of a graph.

    Attributes:
        slots: float64 [num_slots], the sum over the columns of each slot, in an undirected graph
            the larger one of the sums of both directions. None if it is the weight of the slot, or
            1 without weights.
        loops: float64 [n], the sum over the loops of each vertex; None if there are none.
    """

    slots: Tensor | None = None
    loops: Tensor | None = None

    def to(self, device: torch.device) -> Strengths:
        return Strengths(*(None if part is None else part.to(device) for part in self))

    def along(self, origin: Tensor) -> Strengths:
        """Those of the graph whose slots have these origins."""
        return self if self.slots is None else self._replace(slots=self.slots[origin])


NONE = Strengths()


def of_columns(
    ids: Tensor, slot: Tensor, weight: Tensor | None, rowptr: Tensor, col: Tensor, both: bool
) -> Strengths:
    """The sums of the weights of columns, or of ones, with their slots; `both`: undirected."""
    loops = of_loops(ids, weight, rowptr.numel() - 1)
    proper = slot >= 0
    if not bool(proper.all()):
        slot, weight = slot[proper], None if weight is None else weight[proper]
    sums = _grouped(slot, weight, col.numel())
    if both:
        sums = torch.maximum(sums, sums[_csr.reverse_slots(rowptr, col)])
    return Strengths(sums, loops)


def of_loops(ids: Tensor, weight: Tensor | None, num_nodes: int) -> Tensor | None:
    """float64 [n]: the sum over the loops of each vertex, None without loops."""
    loop = ids[0] == ids[1]
    if not bool(loop.any()):
        return None
    sums = _grouped(ids[0][loop].long(), None if weight is None else weight[loop], num_nodes)
    return sums if bool(sums.any()) else None  # loops of strength 0 are none


def counts(ids: Tensor, slot: Tensor, rowptr: Tensor, col: Tensor, both: bool) -> Strengths:
    """The number of arcs in each place."""
    return unless(of_columns(ids, slot, None, rowptr, col, both), None)


def unless(strengths: Strengths, weight: Tensor | None) -> Strengths:
    """Without the sums of slots if these are the weights, or 1."""
    slots = strengths.slots
    if slots is None:
        return strengths
    same = bool((slots == 1).all()) if weight is None else torch.equal(slots, weight)
    return strengths._replace(slots=None) if same else strengths


def _grouped(group: Tensor, values: Tensor | None, size: int) -> Tensor:
    """float64 [size]: sums per group, each added up in the order of the values."""
    if values is None:
        return _occurrences(group, size).double()
    if not group.is_cuda:
        return torch.bincount(group, values, minlength=size).double()
    order = torch.argsort(group, stable=True)
    lengths = _occurrences(group, size)
    return torch.segment_reduce(values[order], "sum", lengths=lengths, unsafe=True)


def _occurrences(group: Tensor, size: int) -> Tensor:
    """int64 [size]: how often each of 0 to size - 1 is there."""
    if size < 2**31 or not group.is_cuda:
        return torch.bincount(group, minlength=size)
    # On CUDA, bincount finds its bins in 32 bits.
    one = torch.ones(1, dtype=torch.int64, device=group.device)
    return torch.zeros(size, dtype=torch.int64, device=group.device).scatter_add_(
        0, group, one.expand(group.numel())
    )


def without_diagonal(rowptr: Tensor, col: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The reverse of :func:`with_diagonal`."""
    proper = _csr.rows(rowptr) != col
    loops = _csr.pointers(~proper)
    return rowptr - loops[rowptr], col[proper], values[proper]


def with_diagonal(
    rowptr: Tensor, col: Tensor, values: Tensor | None, loops: Tensor
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The CSR of the adjacency matrix, with its diagonal; values are None if all are 1."""
    has = loops > 0
    before = _csr.pointers(has)  # loops of smaller vertices
    row = _csr.rows(rowptr)
    place = torch.arange(col.numel(), device=col.device)
    place += before[row] + (has[row] & (col > row))
    vertex = torch.nonzero(has)[:, 0]
    new = torch.empty(col.numel() + vertex.numel(), dtype=col.dtype, device=col.device)
    new[place] = col
    is_loop = torch.ones(new.numel(), dtype=torch.bool, device=col.device)
    is_loop[place] = False
    new[is_loop] = vertex.to(col.dtype)  # both in the order of the rows
    numbers = None
    if values is not None or bool((loops[vertex] != 1).any()):
        numbers = loops.new_ones(new.numel())
        if values is not None:
            numbers[place] = values
        numbers[is_loop] = loops[vertex]
    return rowptr + before, new, numbers


def coalesced(index: Tensor, values: Tensor | None, num_nodes: int) -> tuple[Tensor, ...] | None:
    """The entries of a matrix with those of one place added up, as ``toarray`` does.

    Returns the places, the sums (if there are values) and the new number of each entry, or None if
    no two entries share a place. Places are in the order of their first entries.
    """
    row, col = index.long()
    for key in (col * max(num_nodes, 1) + row, row * max(num_nodes, 1) + col):
        if bool((key[1:] > key[:-1]).all()):  # sorted by columns, or by rows
            return None
    keys, number = torch.unique(key, return_inverse=True)
    if keys.numel() == key.numel():
        return None
    first, order = _csr.firsts(number, keys.numel()).sort()
    number = _csr.inverse(order)[number]
    places = index[:, first]
    if values is None:
        return places, number
    if values.is_floating_point():
        return places, _grouped(number, values.double(), keys.numel()), number
    sums = torch.zeros(keys.numel(), dtype=torch.int64, device=values.device)
    return places, sums.index_add_(0, number, values.long()), number
