"""What a group of vertices does to shortest paths, along the arcs of these paths.

Of the shortest paths from s to w, the share sigma(s, v) / sigma(s, w) has the arc (v, w) as its
last. What a group blocks follows from these shares by a recurrence; they are numbers in (0, 1],
however far the path counts are beyond the range of float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.engines import _tensor
from torchcent.engines._tensor import _weighted
from torchcent.engines._tensor._scaled import Scaled
from torchcent.engines._tensor._scatter import scatter_add
from torchcent.engines._tensor._search import Levels, Search
from torchcent.engines.search import _levels, _resolution
from torchcent.graph import Graph

_OWN = 32, 24  # bytes per vertex and per slot of a lane, besides those of the search


class Shares(NamedTuple):
    """The shortest paths from a batch of sources (lanes). A pair is a lane and a vertex.

    Arcs lead from one pair to another, level by level; `tail` and `head` are positions in `lane`
    and `vertex`, where the sources come first.
    """

    lane: Tensor
    vertex: Tensor
    lanes: int
    levels: list[tuple[Tensor, Tensor, Tensor]]  # tail, head, share

    def blocked(self, inside: Tensor) -> Tensor:
        """float64 [pairs]: the share of the paths that have an inner vertex `inside` (bool [n])."""
        share = torch.zeros(self.lane.numel(), dtype=torch.float64, device=self.lane.device)
        stops = inside[self.vertex]
        stops[: self.lanes] = False
        for tail, head, part in self.levels:
            scatter_add(share, head, torch.where(stops[tail], 1.0, share[tail]) * part)
        return share

    def gains(self, inside: Tensor, endpoints: bool) -> Tensor:
        """float64 [n]: the paths that each vertex would block in addition to those `inside`.

        A path is blocked by its inner vertices, with `endpoints` by its ends as well.
        """
        stops = inside[self.vertex]
        free = 1 - self.blocked(inside)
        if endpoints:
            free = free * ~stops[: self.lanes][self.lane]
        ends = (~stops if endpoints else torch.ones_like(stops)).double()
        onward = torch.zeros_like(free)  # paths to all that count which nothing blocks from here on
        for tail, head, part in reversed(self.levels):
            below = torch.where(stops[head], 0.0, onward[head]) + ends[head]
            scatter_add(onward, tail, below * part)
        gain = free * onward
        if endpoints:
            gain[self.lanes :] += free[self.lanes :]
        else:
            gain[: self.lanes] = 0
        gains = torch.zeros(inside.numel(), dtype=torch.float64, device=inside.device)
        scatter_add(gains, self.vertex, torch.where(stops, 0.0, gain))
        return gains


def batches(graph: Graph, sources: Tensor, memory: int | None) -> Iterator[Shares]:
    """The shortest paths from all of the sources, as many at a time as `memory` allows."""
    if graph.is_weighted:
        _resolution.check(graph)
    for part in sources.split(lanes_that_fit(graph, memory)):
        yield _shares(_levels.levels(graph, part))


def lanes_that_fit(graph: Graph, memory: int | None, reserve: int = 0) -> int:
    """The number of sources of a batch, besides a reserve; MemoryError if not even one fits."""
    n, m = graph.num_nodes, graph.num_slots
    own = _OWN[0] * n + _OWN[1] * m
    own += _tensor.weighted_extra(n, m) if graph.is_weighted else 0
    what = "searching from one vertex at a time"
    return _tensor.lanes_of_run(what, graph, memory, own, reserve)


def reach(graph: Graph, sources: Tensor, backward: bool = False) -> Tensor:
    """bool [sources, n]: the vertices reached from each source, or `backward` those reaching it."""
    rowptr, col = graph.transpose if backward else (graph.rowptr, graph.col)
    search = Search(rowptr, col, sources)
    while search.vertex.numel():
        search.step()
    return search.depth >= 0


def _shares(levels: Levels) -> Shares:
    skips = isinstance(levels, _weighted.WeightedLevels)  # `head` counts all pairs
    mantissa, exponent = flat(levels)
    arcs, begin = [], 0
    for level in levels:
        end = begin + level.vertex.numel()
        tail, head = level.tail + begin, level.head + (0 if skips else end)
        share = mantissa[tail] / mantissa[head] * torch.exp2(exponent[tail] - exponent[head])
        arcs.append((tail, head, share))
        begin = end
    lane = torch.cat([level.lane for level in levels])
    vertex = torch.cat([level.vertex for level in levels])
    return Shares(lane, vertex, levels[0].vertex.numel(), arcs)


def flat(levels: Levels) -> tuple[Tensor, Tensor]:
    """The path counts of all levels, as mantissas and exponents of 2."""
    counts = [Scaled.of(level.sigma) for level in levels]
    return torch.cat([x.mantissa for x in counts]), torch.cat([x.exponent for x in counts])
