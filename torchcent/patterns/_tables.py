"""Substructures on tensors: tables of partial ones, a row each, to which a vertex is added."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.check._patterns import SMALLEST
from torchcent.graph import Graph, _csr
from torchcent.runtime import _small

ROWS = 2**18  # of a table, or those that one vertex needs


def nbytes(graph: Graph, size: int) -> int:
    """Bytes of the tables: of each size one, and what a step computes beside it."""
    rows = max(ROWS, int(graph.degree.max()) if graph.num_nodes else 0)
    return 8 * rows * (size * size + 16) + 24 * graph.num_slots


class _Table(NamedTuple):
    vertex: Tensor  # int64 [rows, vertices], in the order in which they were added
    slot: Tensor  # int64 [rows, slots], those of their edges; of none if vertices are counted

    def rows(self, rows: slice | Tensor) -> _Table:
        return _Table(self.vertex[rows], self.slot[rows])

    @property
    def last(self) -> Tensor:
        return self.vertex[:, -1]


class Tables:
    """Counts patterns of one kind, of 3 to `size` vertices; the last vertex of a star is a leaf.

    Subclasses say how a pattern grows, and where what it has is counted.
    """

    root = -1  # the column of the vertex whose neighbours are added

    def __init__(
        self, graph: Graph, size: int, induced: bool, of_slots: bool, count: Tensor
    ) -> None:
        self.graph, self.size, self.induced, self.of_slots = graph, size, induced, of_slots
        self.count = count
        self.order = _csr.inverse(_csr.by_degree(graph.degree))
        self._arcs = _csr.rows(graph.rowptr) * graph.num_nodes + graph.col

    def search(self, bar: tqdm) -> None:
        """Adds all patterns to the counts."""
        roots = torch.arange(self.graph.num_nodes, device=self.graph.device)[:, None]
        for first, end in _csr.runs(self.graph.degree, ROWS):
            self._grow(_Table(roots[first:end], roots[first:end, :0]))
            bar.update(end - first)

    def _grow(self, table: _Table) -> None:
        degree = self.graph.degree[table.vertex[:, self.root]]
        for first, end in _csr.runs(degree, ROWS):
            longer = self._step(table.rows(slice(first, end)), degree[first:end])
            if longer.vertex.numel() and self._may_grow(longer.vertex.shape[1]):
                self._grow(longer)

    def _step(self, table: _Table, degree: Tensor) -> _Table:
        slot = _csr.ranges(self.graph.rowptr[table.vertex[:, self.root]], degree)
        row = _small.repeat_interleave(torch.arange(degree.numel(), device=slot.device), degree)
        return self._extended(table, row, slot, self.graph.col[slot].long())

    def _may_grow(self, vertices: int) -> bool:
        return vertices < self.size

    def _extended(self, table: _Table, row: Tensor, slot: Tensor, head: Tensor) -> _Table:
        """The table of these rows with the heads of these slots; counts what is whole."""
        raise NotImplementedError

    def _with(self, table: _Table, row: Tensor, slot: Tensor, head: Tensor) -> _Table:
        longer = torch.cat([table.vertex[row], head[:, None]], 1)
        slots = table.slot[row]
        return _Table(longer, torch.cat([slots, slot[:, None]], 1) if self.of_slots else slots)

    def _slots(self, tail: Tensor, head: Tensor) -> Tensor:
        """The slot of each arc, -1 where there is none."""
        key = tail * self.graph.num_nodes + head
        place = torch.searchsorted(self._arcs, key).clamp_(max=self._arcs.numel() - 1)
        return torch.where(self._arcs[place] == key, place, -1)

    def _has_chord(self, table: _Table, row: Tensor, head: Tensor, columns: range) -> Tensor:
        """Whether a head is adjacent to a vertex of its row in one of these columns."""
        chord = torch.zeros_like(head, dtype=torch.bool)
        for column in columns:
            chord |= self._slots(table.vertex[row, column], head) >= 0
        return chord

    def _add(self, ids: Tensor, columns: list[int]) -> None:
        """Counts the vertices or slots of each column of a table in a column of the result."""
        width = self.count.shape[1]
        for each, column in zip(ids.unbind(1), columns, strict=True):
            one = torch.ones_like(each)
            self.count.view(-1).index_add_(0, each * width + column, one)

    def _add_whole(self, table: _Table, columns: list[int]) -> None:
        self._add(table.slot if self.of_slots else table.vertex, columns)


class Cycles(Tables):
    """From the vertex of the highest degree, in the direction of its neighbour of the lower id."""

    def _may_grow(self, vertices: int) -> bool:
        return vertices <= self.size

    def _extended(self, table: _Table, row: Tensor, slot: Tensor, head: Tensor) -> _Table:
        length = table.vertex.shape[1]
        root = table.vertex[row, 0]
        closes = head == root
        if length >= SMALLEST:
            whole = closes & (table.vertex[row, 1] < table.vertex[row, -1])
            cycle = table.rows(row[whole])
            if self.of_slots:
                slots = torch.cat([cycle.slot, slot[whole][:, None]], 1)
                cycle = cycle._replace(slot=slots)
            self._add_whole(cycle, [length - SMALLEST] * length)
        if length == self.size:
            return table.rows(slice(0))
        fits = (self.order[head] > self.order[root]) & (table.vertex[row] != head[:, None]).all(1)
        if self.induced and length > 1:
            if length >= SMALLEST:
                closed = torch.zeros(table.vertex.shape[0], dtype=torch.bool, device=row.device)
                closed[row[closes]] = True
                fits &= ~closed[row]
            fits &= ~self._has_chord(table, row, head, range(1, length - 1))
        return self._with(table, row[fits], slot[fits], head[fits])


class Cliques(Tables):
    """From the vertex of the lowest degree upwards."""

    def _extended(self, table: _Table, row: Tensor, slot: Tensor, head: Tensor) -> _Table:
        fits = self.order[head] < self.order[table.last[row]]
        row, slot, head = row[fits], slot[fits], head[fits]
        for column in range(table.vertex.shape[1] - 1):
            other = self._slots(table.vertex[row, column], head)
            fits = other >= 0
            if self.of_slots:
                slots = torch.cat([table.slot[row[fits]], other[fits][:, None]], 1)
                table = _Table(table.vertex[row[fits]], slots)
                row = torch.arange(slots.shape[0], device=slots.device)
            else:
                row = row[fits]
            slot, head = slot[fits], head[fits]
        longer = self._with(table, row, slot, head)
        size = longer.vertex.shape[1]
        if size >= SMALLEST:
            ids = longer.slot if self.of_slots else longer.vertex
            self._add_whole(longer, [size - SMALLEST] * ids.shape[1])
        return longer


class Paths(Tables):
    """From both ends, and counted from that of the lower id."""

    def _extended(self, table: _Table, row: Tensor, slot: Tensor, head: Tensor) -> _Table:
        length = table.vertex.shape[1]
        fits = (table.vertex[row] != head[:, None]).all(1)
        if self.induced:
            fits &= ~self._has_chord(table, row, head, range(length - 1))
        longer = self._with(table, row[fits], slot[fits], head[fits])
        size = length + 1
        if size >= SMALLEST:
            begin = sum(places(each, self.of_slots) for each in range(SMALLEST, size))
            parts = size - self.of_slots
            columns = [begin + min(place, parts - 1 - place) for place in range(parts)]
            self._add_whole(longer.rows(longer.vertex[:, 0] < longer.last), columns)
        return longer


class Stars(Tables):
    """Leaves in ascending order, none of them adjacent."""

    root = 0

    def _may_grow(self, vertices: int) -> bool:
        return vertices <= self.size

    def _extended(self, table: _Table, row: Tensor, slot: Tensor, head: Tensor) -> _Table:
        leaves = table.vertex.shape[1] - 1
        if leaves:
            fits = head > table.last[row]
            row, slot, head = row[fits], slot[fits], head[fits]
            fits = ~self._has_chord(table, row, head, range(1, leaves + 1))
            row, slot, head = row[fits], slot[fits], head[fits]
        longer = self._with(table, row, slot, head)
        if leaves + 1 >= SMALLEST:
            at = leaves + 1 - SMALLEST
            of_leaves = [at] if self.of_slots else [2 * at + 1]
            center = [] if self.of_slots else [2 * at]
            self._add_whole(longer, center + of_leaves * (leaves + 1))
        return longer


def places(size: int, of_edges: bool) -> int:
    """Orbits of a path of so many vertices: distances from its nearer end."""
    return size // 2 if of_edges else (size + 1) // 2


KINDS: dict[str, type[Tables]] = {
    "cycle": Cycles, "clique": Cliques, "path": Paths, "star": Stars,
}  # fmt: skip
