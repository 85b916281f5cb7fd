"""Searches from many vertices of a batch at once by PyTorch operators, for devices without kernels.

A block of sources is a matrix [k, width] with a column for each vertex of a graph. Each step
relaxes the arcs out of all entries that changed, of all graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.graph import Graph, _batch, _csr
from torchcent.runtime import _small

_BYTES = 2**29  # of a block
_PER_ENTRY, _PER_ARC = 64, 48  # bytes per entry, and per source and slot of its graph


class Block(NamedTuple):
    """Shortest paths from the sources first, first + 1, ..."""

    first: int
    distance: Tensor  # float64 [k, width], in units; inf where there is no path
    depth: Tensor  # int64 [k, width], arcs of the path; -1 where there is none
    slot: Tensor | None  # int64 [k, width], of the last arc, -1 for none; None without paths


@dataclass
class Searches:
    """Those from all vertices of a batch, within `limit` of its graph, in units."""

    graph: Graph
    weight: Tensor | None
    unit: Tensor
    ptr: Tensor
    limit: Tensor
    edge: Tensor  # [num_slots], or empty without paths
    memory: int | None

    @property
    def of_vertex(self) -> Tensor:
        """The graph of each vertex."""
        count = torch.arange(self.graph.num_nodes, device=self.graph.device)
        return _batch.of_graph(self.graph, count)

    def blocks(self) -> Iterator[Block]:
        graph = self.graph
        size, slots = _batch.counts(graph)
        width, arcs = int(size.max(initial=0)), int(slots.max(initial=0))
        each = width * _PER_ENTRY + arcs * _PER_ARC
        free = _BYTES if self.memory is None else min(_BYTES, self.memory)
        step = max(1, free // max(each, 1))
        of_graph = self.of_vertex
        for begin in range(0, graph.num_nodes, step):
            sources = torch.arange(begin, min(begin + step, graph.num_nodes), device=graph.device)
            yield self._block(sources, of_graph[sources], width)

    def _block(self, sources: Tensor, of: Tensor, width: int) -> Block:
        first, limit = self.ptr[of], self.limit[of]
        k = sources.numel()
        distance = torch.full((k, width), torch.inf, dtype=torch.float64, device=sources.device)
        flat = distance.view(-1)
        row = torch.arange(k, device=sources.device)
        place = row * width + sources - first
        origin = place
        flat[place] = 0
        while place.numel():
            row, tail, slot = self._arcs(place, first, width)
            length = flat[tail] + (1 if self.weight is None else self.weight[slot])
            head = row * width + self.graph.col[slot] - first[row]
            better = (length < flat[head]) & (length <= limit[row])
            head, length = head[better], length[better]
            flat.scatter_reduce_(0, head, length, "amin")
            place = torch.unique(head)
        start = int(sources[0])
        if not self.edge.numel() and self.weight is not None:
            return Block(start, distance, torch.where(distance < torch.inf, 0, -1), None)
        hops = torch.where(distance < torch.inf, distance, -1).long()
        if not self.edge.numel():
            return Block(start, distance, hops, None)
        return self._paths(start, distance, hops, first, origin)

    def _paths(
        self, start: int, distance: Tensor, hops: Tensor, first: Tensor, origin: Tensor
    ) -> Block:
        flat, width = distance.view(-1), distance.shape[1]
        none = self.graph.num_slots
        last = torch.full_like(hops, none).view(-1)
        place = torch.nonzero(flat < torch.inf)[:, 0]
        row, tail, slot = self._arcs(place, first, width)
        head = row * width + self.graph.col[slot] - first[row]
        length = flat[tail] + (1 if self.weight is None else self.weight[slot])
        tight = (length == flat[head]) & (flat[tail] < flat[head])
        last.scatter_reduce_(0, head[tight], slot[tight], "amin")
        last = torch.where(last == none, -1, last).view_as(hops)
        if self.weight is not None:
            depth = torch.full_like(hops, -1)
            depth.view(-1)[origin] = 0
            parent = self.tails(last, first)
            while True:
                above = depth.gather(1, parent)
                new = (depth < 0) & (last >= 0) & (above >= 0)
                if not bool(new.any()):
                    break
                depth = torch.where(new, above + 1, depth)
            hops = depth
        return Block(start, distance, hops, last)

    def _arcs(self, place: Tensor, first: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
        """The arcs out of these entries: the row, the entry and the slot of each."""
        rowptr = self.graph.rowptr
        row = place // width
        vertex = place % width + first[row]
        count = rowptr[vertex + 1] - rowptr[vertex]
        slot = _csr.ranges(rowptr[vertex], count)
        return _small.repeat_interleave(row, count), _small.repeat_interleave(place, count), slot

    def tails(self, slot: Tensor, first: Tensor) -> Tensor:
        """The tail of each slot of a block, in numbers of its graph; 0 for -1."""
        tail = torch.searchsorted(self.graph.rowptr, slot.clamp(min=0), right=True) - 1
        return torch.where(slot >= 0, tail - first[:, None], 0)

    def paths(self, block: Block, length: int) -> Tensor:
        """int64 [k, width, length]: the edges of the paths."""
        assert block.slot is not None
        k, width = block.depth.shape
        sources = torch.arange(block.first, block.first + k, device=block.depth.device)
        parent = self.tails(block.slot, self.ptr[self.of_vertex[sources]])
        edges = torch.full((k, width, length), -1, dtype=torch.int64, device=sources.device)
        at = torch.arange(width, device=sources.device).expand(k, width)
        place = block.depth - 1
        while bool((place >= 0).any()):
            i, j = torch.nonzero((place >= 0) & (place < length), as_tuple=True)
            edges[i, j, place[i, j]] = self.edge[block.slot[i, at[i, j]]]
            at = torch.where(place >= 0, parent.gather(1, at), at)
            place = place - 1
        return edges

    def values(self, block: Block) -> Tensor:
        """Distances in the units of the weights."""
        if self.weight is None:
            return block.distance
        sources = torch.arange(block.first, block.first + len(block.distance), device="cpu")
        return block.distance / self.unit[self.of_vertex[sources.to(self.unit.device)]][:, None]


def matrices(
    searches: Searches, out: Tensor, paths: Tensor, unreachable: float, padding: float
) -> int:
    """Fills the matrices of :func:`torchcent.shortest_path_encoding`; the most arcs of a path."""
    out.fill_(padding)
    paths.fill_(-1)
    longest, of_graph = 0, searches.of_vertex
    size = searches.ptr.diff()
    for block in searches.blocks():
        k, width = block.depth.shape
        sources = torch.arange(block.first, block.first + k, device=out.device)
        graph = of_graph[sources]
        local = sources - searches.ptr[graph]
        near = block.depth >= 0
        own = torch.arange(width, device=out.device) < size[graph][:, None]
        value = torch.where(near, searches.values(block), unreachable)
        out[graph, local, :width] = torch.where(own, value, padding).to(out.dtype)
        longest = max(longest, int(block.depth.max()))
        if paths.numel():
            paths[graph, local, :width] = searches.paths(block, paths.shape[3])
    return longest


def counts(searches: Searches, count: Tensor) -> int:
    """Fills in how many vertices each one reaches; the most arcs of a path."""
    longest = 0
    for block in searches.blocks():
        near = block.depth >= 0
        count[block.first : block.first + len(near)] = near.sum(1)
        longest = max(longest, int(block.depth.max()))
    return longest


def pairs(searches: Searches, index: Tensor, out: Tensor, paths: Tensor) -> None:
    """Fills the lists of :func:`torchcent.shortest_path_pairs`."""
    of_graph, begin = searches.of_vertex, 0
    for block in searches.blocks():
        row, column = torch.nonzero(block.depth >= 0, as_tuple=True)
        source = row + block.first
        own = slice(begin, begin + row.numel())
        index[0, own], index[1, own] = source, column + searches.ptr[of_graph[source]]
        out[own] = searches.values(block)[row, column].to(out.dtype)
        if paths.numel():
            paths[own] = searches.paths(block, paths.shape[1])[row, column]
        begin += row.numel()
