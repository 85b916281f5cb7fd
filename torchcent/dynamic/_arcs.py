"""The arcs of a graph that changes: by rows and by columns, and as sorted numbers."""

from __future__ import annotations

import copy
import functools
from dataclasses import dataclass

import torch
from torch import Tensor

from torchcent.dynamic import _splice
from torchcent.graph import Graph

BITS = 32  # an arc (u, v) is the number u 2^32 + v
MASK = 2**BITS - 1


class Arcs:
    """The arcs of a graph at one time, by rows and by columns, and as sorted numbers.

    Attributes:
        weight: float64 [m] in the order of `keys`, or None.
        ties: of sums of weights, and their tolerance.
    """

    def __init__(
        self, keys: Tensor, num_nodes: int, directed: bool, weight: Tensor | None = None,
        ties: tuple[str, float] = ("decimal", 0.0),
    ) -> None:  # fmt: skip
        self.keys, self.num_nodes, self.directed = keys, num_nodes, directed
        self.weight, self.ties = weight, ties
        self.ptr = None  # not a batch
        self.rowptr, self.col = csr(keys, num_nodes)
        self.colptr, self.row = self.rowptr, self.col
        if directed:
            self.colptr, self.row = csr(mirrored(keys).sort().values, num_nodes)

    def changed(
        self, removed: Tensor, inserted: Tensor, num_nodes: int, weight: Tensor | None = None
    ) -> Arcs:
        """Without some arcs and with others, of such weights."""
        if self.weight is not None and weight is not None:
            stays = torch.ones_like(self.keys, dtype=torch.bool)
            stays[torch.searchsorted(self.keys, removed)] = False
            keys, order = torch.cat([self.keys[stays], inserted]).sort()
            weight = torch.cat([self.weight[stays], weight])[order]
            return Arcs(keys, num_nodes, self.directed, weight, self.ties)
        if removed.numel() + inserted.numel() > _splice.FEW or self.keys.is_cuda:
            stays = torch.ones_like(self.keys, dtype=torch.bool)
            stays[torch.searchsorted(self.keys, removed)] = False
            keys = merged(self.keys[stays] if removed.numel() else self.keys, inserted)
            return Arcs(keys, num_nodes, self.directed)
        arcs = Arcs.__new__(Arcs)  # nothing that is cached is left
        arcs.num_nodes, arcs.directed, arcs.ptr = num_nodes, self.directed, None
        arcs.weight, arcs.ties = None, self.ties
        old, new = removed.sort().values, inserted.sort().values
        at = torch.searchsorted(self.keys, old), torch.searchsorted(self.keys, new)
        arcs.keys = _splice.spliced(self.keys, *at, new)
        arcs.col = _splice.spliced(self.col, *at, (new & MASK).int())
        arcs.rowptr = _splice.moved(self.rowptr, old >> BITS, new >> BITS, num_nodes)
        arcs.colptr, arcs.row = arcs.rowptr, arcs.col
        if self.directed:
            ends = [ends_of(mirrored(keys).sort().values) for keys in (old, new)]
            gone, place = (_splice.places(self.colptr, self.row, *each) for each in ends)
            arcs.row = _splice.spliced(self.row, gone, place, ends[1][1].int())
            arcs.colptr = _splice.moved(self.colptr, ends[0][0], ends[1][0], num_nodes)
        return arcs

    def turned(self) -> Arcs:
        """The same with all arcs turned around, but for the keys."""
        if not self.directed:
            return self
        arcs = copy.copy(self)
        for cached in ("frozen", "edges"):
            arcs.__dict__.pop(cached, None)
        arcs.rowptr, arcs.col, arcs.colptr, arcs.row = self.backward
        return arcs

    @functools.cached_property
    def edges(self) -> Tensor:
        """The numbers of the edges; of an undirected one that of its arc to the larger id."""
        return self.keys if self.directed else self.keys[self.keys >> BITS < self.keys & MASK]

    @functools.cached_property
    def frozen(self) -> Graph:
        """As built from the arcs in their order or, if undirected, from those to larger ids."""
        if self.weight is not None:
            weight = self.weight
            if not self.directed:
                weight = weight[self.keys >> BITS < self.keys & MASK]
            columns = ends_of(self.edges)
            graph = Graph.from_edge_index(columns, self.num_nodes, self.directed, weight)
            return graph.with_ties(*self.ties)
        ends = None
        if not self.directed:
            tails = torch.arange(self.num_nodes, dtype=torch.int32, device=self.device)
            tails = tails.repeat_interleave(self.rowptr.diff(), output_size=self.col.numel())
            ends = torch.stack([tails, self.col])[:, tails < self.col]
        return Graph(self.rowptr, self.col, None, self.directed, _trusted=True, _ids=ends)

    @property
    def device(self) -> torch.device:
        return self.keys.device

    @property
    def forward(self) -> tuple[Tensor, ...]:
        return self.rowptr, self.col, self.colptr, self.row

    @property
    def backward(self) -> tuple[Tensor, ...]:
        return self.colptr, self.row, self.rowptr, self.col


@dataclass(frozen=True)
class Change:
    """Arcs before and after a batch, and those that differ, int64 [2, count]."""

    before: Arcs
    after: Arcs
    removed: Tensor
    inserted: Tensor

    @property
    def grown(self) -> bool:
        return self.after.num_nodes > self.before.num_nodes

    def turned(self) -> Change:
        arcs = self.before.turned(), self.after.turned()
        return Change(*arcs, self.removed.flip(0), self.inserted.flip(0))

    def before_with(self, num_nodes: int) -> Arcs:
        """The arcs before, with as many vertices."""
        if num_nodes == self.before.num_nodes:
            return self.before
        before = self.before
        return Arcs(before.keys, num_nodes, before.directed, before.weight, before.ties)


def csr(keys: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """Where the row of each vertex begins, and the heads of the arcs; keys are sorted."""
    if keys.is_cuda:  # atomics of one row would wait for each other
        rows = torch.arange(num_nodes + 1, device=keys.device) << BITS
        return torch.searchsorted(keys, rows), (keys & MASK).int()
    count = torch.bincount(keys >> BITS, minlength=num_nodes)
    rowptr = torch.zeros(num_nodes + 1, dtype=torch.int64, device="cpu")
    torch.cumsum(count, 0, out=rowptr[1:])
    return rowptr, (keys & MASK).int()


def numbered(tails: Tensor, heads: Tensor) -> Tensor:
    return (tails << BITS) | heads


def ends_of(keys: Tensor) -> Tensor:
    return torch.stack([keys >> BITS, keys & MASK])


def mirrored(keys: Tensor) -> Tensor:
    return numbered(keys & MASK, keys >> BITS)


def both_ways(keys: Tensor) -> Tensor:
    return torch.cat([keys, mirrored(keys)])


def holds(ascending: Tensor, keys: Tensor) -> Tensor:
    """Whether each key is among those in ascending order."""
    if not ascending.numel():
        return torch.zeros_like(keys, dtype=torch.bool)
    place = torch.searchsorted(ascending, keys).clamp_(max=ascending.numel() - 1)
    return ascending[place] == keys


def merged(keys: Tensor, more: Tensor) -> Tensor:
    """Sorted keys and some others as one sorted tensor."""
    if not more.numel():
        return keys
    more = more.sort().values
    place = torch.searchsorted(keys, more) + torch.arange(more.numel(), device=keys.device)
    merged = keys.new_empty(keys.numel() + more.numel())
    is_old = torch.ones_like(merged, dtype=torch.bool)
    is_old[place] = False
    merged[place], merged[is_old] = more, keys
    return merged
