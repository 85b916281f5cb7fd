"""Breadth-first search from a batch of sources, and the levels of the shortest-path DAGs."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.runtime import _small
from torchcent.runtime._codes import LARGEST_COUNT as LARGEST_COUNT

from ._scaled import Number, sum_by


class Step(NamedTuple):
    """The arcs by which a level was searched, ordered by (lane, tail, head)."""

    tail: Tensor  # [arcs] position of the tail in the frontier
    slot: Tensor  # [arcs] position in col
    pair: Tensor  # [arcs] lane * n + head
    new: Tensor  # [arcs] bool: whether it leads to the next level


class Search:
    """One breadth-first search per source (a lane), all lanes one level at a time.

    Attributes:
        depth: int32 [lanes, n], hops from the lane's source, -1 where not reached yet.
        level: depth of the frontier.
        lane, vertex: int64 [pairs], the frontier, ordered by (lane, vertex).
    """

    def __init__(self, rowptr: Tensor, col: Tensor, sources: Tensor) -> None:
        self._rowptr, self._col = rowptr, col
        self._num_nodes, lanes = rowptr.numel() - 1, sources.numel()
        size, device = (lanes, self._num_nodes), sources.device
        self.level = 0
        self.lane = torch.arange(lanes, device=device)
        self.vertex = sources
        self.depth = torch.full(size, -1, dtype=torch.int32, device=device)
        self.depth[self.lane, sources] = 0
        self._place = torch.empty(lanes * self._num_nodes, dtype=torch.int64, device=device)

    def step(self, wanted: Tensor | None = None) -> Step:
        """Advances one level, from the frontier or from where `wanted` (bool [pairs]) is True."""
        tail, slot = out_arcs(self._rowptr, self.vertex, wanted)
        pair = self.lane[tail] * self._num_nodes + self._col[slot]
        depth = self.depth.view(-1)
        new = depth[pair] < 0
        frontier = self._distinct(pair[new])
        self.level += 1
        depth[frontier] = self.level
        self.lane = frontier.div(max(self._num_nodes, 1), rounding_mode="floor")
        self.vertex = frontier - self.lane * self._num_nodes
        return Step(tail, slot, pair, new)

    def place(self, pair: Tensor) -> Tensor:
        """Positions in the frontier of pairs (lane * n + vertex), which must be in it."""
        return self._place[pair]

    def _distinct(self, pair: Tensor) -> Tensor:
        """The distinct entries of `pair`, ascending; records the position of each."""
        # Any of several equal entries may write last; sorting makes the result independent of that.
        arc = torch.arange(pair.numel(), device=pair.device)
        self._place[pair] = arc
        distinct = pair[self._place[pair] == arc].sort().values
        self._place[distinct] = torch.arange(distinct.numel(), device=pair.device)
        return distinct


def out_arcs(rowptr: Tensor, vertex: Tensor, wanted: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """(tail, slot) of every arc out of the vertices, or out of the `wanted` ones (bool).

    `tail` is a position in `vertex`.
    """
    first = rowptr[vertex]
    degree = rowptr[vertex + 1] - first
    if wanted is not None:
        degree = degree * wanted
    tail = _small.repeat_interleave(degree)
    before = degree.cumsum(0) - degree
    slot = torch.arange(tail.numel(), device=tail.device) + (first - before)[tail]
    return tail, slot


class Level(NamedTuple):
    """All (lane, vertex) pairs at one depth, and the arcs of shortest paths that leave them.

    An arc is identified by the positions of its two ends: `value[head]` is the value of its head,
    and sums over successors are grouped by `tail`.
    """

    lane: Tensor  # [pairs]
    vertex: Tensor  # [pairs]
    sigma: Number  # [pairs] number of shortest paths from the lane's source
    tail: Tensor  # [arcs] position in this level
    head: Tensor  # [arcs] position in the values below, as kept by :meth:`Levels.below`
    slot: Tensor  # [arcs] position in col

    def without_arcs(self) -> Level:
        none = self.tail[:0]
        return self._replace(tail=none, head=none, slot=none)


class Levels(list[Level]):
    """The levels of the shortest-path DAGs from the sources down; arcs lead to the next level."""

    def nothing(self) -> Number:
        """The values below the deepest level."""
        return self[-1].sigma[:0]

    def distance(self, depth: int) -> Tensor:
        """float64 [pairs]: distances of a level from the sources."""
        return torch.full_like(self[depth].lane, depth, dtype=torch.float64)

    def heads(self, depth: int) -> Tensor:
        """The vertices at the heads of the arcs that leave a level."""
        if depth == len(self) - 1:
            return self[depth].vertex[:0]
        return self[depth + 1].vertex[self[depth].head]

    def below(self, depth: int, values: Number, beneath: Number) -> Number:
        """The values that the level above needs: those of level `depth` and those beneath it."""
        return values

    def within(self, limit: float) -> Levels:
        """The levels without the pairs beyond a distance."""
        if limit >= len(self) - 1:
            return self
        levels = Levels(self[: int(limit) + 1])
        levels[-1] = levels[-1].without_arcs()
        return levels


def shortest_path_levels(
    rowptr: Tensor, col: Tensor, sources: Tensor, one: Number, deepest: float = torch.inf,
    unit: bool = False,
) -> Levels | None:  # fmt: skip
    """The levels from the sources down, or None if a float64 path count gets too large.

    `one` is the path count of the sources themselves; its type is that of all counts. There are no
    levels below `deepest`. `unit`: every arc carries 1 (engines/measures/_visitors.py).
    """
    search, sigma = Search(rowptr, col, sources), one
    levels = Levels()
    while True:
        lane, vertex = search.lane, search.vertex
        if search.level >= deepest:
            levels.append(Level(lane, vertex, sigma, lane[:0], lane[:0], lane[:0]))
            return levels
        arcs = search.step()
        tail, slot, head = (
            arcs.tail[arcs.new],
            arcs.slot[arcs.new],
            search.place(arcs.pair[arcs.new]),
        )
        levels.append(Level(lane, vertex, sigma, tail, head, slot))
        if search.vertex.numel() == 0:
            return levels

        sigma = sum_by(one[lane[tail]] if unit else sigma[tail], head, search.vertex.numel())
        if isinstance(sigma, Tensor) and sigma.max() > LARGEST_COUNT:
            return None
