"""Weighted searches: distances by Bellman-Ford on a batch of sources, then the DAGs of shortest
paths, with levels in which every arc leads down.

An arc (u, v) of length w is on a shortest path, or *tight*, if dist[u] + w == dist[v]. With a
tolerance t > 0 it is tight if dist[u] < dist[v] and dist[u] + w <= (1 + t) dist[v]. Distances are
the plain minimum in both cases. Lengths are > 0, so tight arcs form no cycles, and a pair (lane,
vertex) can be processed as soon as all tails of tight arcs to it have been. The levels follow that
order.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.runtime import _small

from . import _search
from ._rows import _parts
from ._scaled import Number, Scaled, sum_by
from ._search import Level, Levels, out_arcs

# Slots of all lanes processed at a time, when tight arcs are selected.
TOGETHER, TOGETHER_ON_ACCELERATOR = 2**20, 2**24


def distances(
    rowptr: Tensor, col: Tensor, weight: Tensor, sources: Tensor, farthest: float = torch.inf
) -> Tensor:
    """float64 [lanes, n]: the length of a shortest path from each source, inf for none.

    Paths longer than `farthest` are not searched for.
    """
    num_nodes, lanes = rowptr.numel() - 1, sources.numel()
    length = weight.double()
    lengths = torch.full((lanes * num_nodes,), torch.inf, dtype=torch.float64, device=col.device)
    pair = torch.arange(lanes, device=col.device) * num_nodes + sources
    lengths[pair] = 0
    while pair.numel():  # the pairs whose distance has decreased
        heads = []
        for part in _parts(rowptr, pair, num_nodes):
            vertex = part % num_nodes
            tail, slot = out_arcs(rowptr, vertex)
            head = (part - vertex)[tail] + col[slot]
            onward = lengths[part][tail] + length[slot]
            less = onward < lengths[head]
            if farthest < torch.inf:
                less &= onward <= farthest
            head, onward = head[less], onward[less]
            lengths.scatter_reduce_(0, head, onward, "amin")
            heads.append(head)
        pair = torch.unique(torch.cat(heads))
    return lengths.view(lanes, num_nodes)


def source_sums(
    rowptr: Tensor, col: Tensor, weight: Tensor, sources: Tensor, sums: Tensor, farthest: Tensor,
    limits: Tensor | None = None,
) -> None:  # fmt: skip
    """Computes sums per source, over the vertices that it reaches except itself.

    Args:
        rowptr, col, weight: CSR of the arcs to follow.
        sources: int64 [k], one lane each.
        sums: float64 [k, 3]; set to distances d, 1/d, and vertices reached. With limits
            [k, limits, 3].
        farthest: float64 [k]; set to the largest distance. With limits [k, limits].
        limits: [limits], ascending; only the vertices within each count. None: all do.
    """
    most = [torch.finfo(torch.float64).max] if limits is None else limits.tolist()
    farthest_limit = torch.inf if limits is None else most[-1]
    lengths = distances(rowptr, col, weight, sources, farthest_limit)
    several = (sources.numel(), len(most))
    for column, (own, limit) in enumerate(zip(sums.view(*several, 3).unbind(1), most, strict=True)):
        reached = (lengths > 0) & (lengths <= limit)
        near = torch.where(reached, lengths, 0)
        own[:, 0] = near.sum(1)
        own[:, 1] = near.reciprocal().masked_fill_(~reached, 0).sum(1)
        own[:, 2] = reached.sum(1)
        farthest.view(several)[:, column] = near.amax(1)


class _Arcs(NamedTuple):
    """Tight arcs of all lanes, ordered by tail and head; ends are lane * n + vertex."""

    tail: Tensor
    head: Tensor
    slot: Tensor


def _tight_arcs(
    rowptr: Tensor, col: Tensor, weight: Tensor, lengths: Tensor, tolerance: float
) -> _Arcs:
    lanes, num_nodes = lengths.shape
    vertex = torch.arange(num_nodes, device=col.device)
    tail = _small.repeat_interleave(vertex, rowptr.diff())
    head, length = col.long(), weight.double()
    most = TOGETHER if col.device.type == "cpu" else TOGETHER_ON_ACCELERATOR
    parts = []
    for rows in lengths.split(max(1, most // max(col.numel(), 1))):
        onward, there = rows[:, tail] + length, rows[:, head]
        if tolerance > 0:
            tight = (rows[:, tail] < there) & (onward <= there * (1 + tolerance))
        else:
            tight = onward == there
        tight &= torch.isfinite(there)
        parts.append(tight)
    lane, slot = torch.nonzero(torch.cat(parts), as_tuple=True)
    base = lane * num_nodes
    return _Arcs(base + tail[slot], base + head[slot], slot)


def _depths(arcs: _Arcs, sources: Tensor, pairs: int) -> Tensor:
    """int64 [pairs]: the number of arcs of the longest path to each pair; -1 if there is none."""
    open_arcs = torch.bincount(arcs.head, minlength=pairs)
    count = torch.bincount(arcs.tail, minlength=pairs)
    pointers = torch.cat([count.new_zeros(1), count.cumsum(0)])
    depth = torch.full((pairs,), -1, dtype=torch.int64, device=sources.device)
    frontier, level = sources, 0
    while frontier.numel():
        depth[frontier] = level
        _, arc = out_arcs(pointers, frontier)
        head, times = torch.unique(arcs.head[arc], return_counts=True)
        open_arcs[head] -= times
        frontier, level = head[open_arcs[head] == 0], level + 1
    return depth


class WeightedLevels(Levels):
    """Levels whose arcs may skip levels: `head` counts all pairs, from the sources down."""

    def __init__(self, begin: list[int], distance: Tensor) -> None:
        super().__init__()
        self._begin = begin  # first pair of each level, and the end of the last one
        self._distance = distance  # [all pairs]

    def distance(self, depth: int) -> Tensor:
        return self._distance[self._begin[depth] : self._begin[depth + 1]]

    def heads(self, depth: int) -> Tensor:
        return torch.cat([level.vertex for level in self])[self[depth].head]

    def below(self, depth: int, values: Number, beneath: Number) -> Number:
        first, last = self._begin[depth : depth + 2]
        if depth == len(self) - 1:
            beneath = _empty(values, self._begin[-1])
        _put(beneath, slice(first, last), values)
        return beneath

    def within(self, limit: float) -> Levels:
        near = self._distance <= limit
        place = near.long().cumsum(0) - 1  # among the pairs that are left
        begin, parts = [0], []
        for first, level in zip(self._begin, self, strict=False):
            own, arc = near[first : first + level.lane.numel()], near[level.head]
            tail, head = level.tail[arc], place[level.head[arc]]
            parts.append(
                Level(
                    level.lane[own], level.vertex[own], level.sigma[own],
                    place[tail + first] - begin[-1], head, level.slot[arc],
                )
            )  # fmt: skip
            begin.append(begin[-1] + int(own.sum()))
        levels = WeightedLevels(begin, self._distance[near])
        levels.extend(parts)
        return levels


def shortest_path_levels(
    rowptr: Tensor, col: Tensor, weight: Tensor, sources: Tensor, one: Number, tolerance: float,
    farthest: float = torch.inf, unit: bool = False,
) -> WeightedLevels | None:  # fmt: skip
    """The levels from the sources down, or None if a float64 path count gets too large.

    `one` is the path count of the sources themselves; its type is that of all counts. `unit`: every
    arc carries 1 (engines/measures/_visitors.py).
    """
    lengths = distances(rowptr, col, weight, sources, farthest)
    lanes, num_nodes = lengths.shape
    arcs = _tight_arcs(rowptr, col, weight, lengths, tolerance)
    first = torch.arange(lanes, device=col.device) * num_nodes + sources
    depth = _depths(arcs, first, lengths.numel())
    pair = torch.nonzero(depth >= 0).flatten()
    pair = pair[torch.argsort(depth[pair], stable=True)]
    place = torch.empty_like(depth)
    place[pair] = torch.arange(pair.numel(), device=col.device)
    # The arcs ordered by the level of their tail, and by the level of their head.
    down = torch.argsort(place[arcs.tail], stable=True)
    up = torch.argsort(place[arcs.head], stable=True)
    size = torch.bincount(depth[pair])
    begin = [0, *size.cumsum(0).tolist()]
    leaving = _runs(depth[arcs.tail], len(size))
    arriving = _runs(depth[arcs.head], len(size))

    sigma = _empty(one, pair.numel())
    levels = WeightedLevels(begin, lengths.view(-1)[pair])
    for level, (low, high) in enumerate(zip(begin[:-1], begin[1:], strict=True)):
        if level == 0:
            count = one
        else:
            arc = up[arriving[level] : arriving[level + 1]]
            tail = arcs.tail[arc]
            source = tail.div(num_nodes, rounding_mode="floor")
            carried = one[source] if unit else sigma[place[tail]]
            count = sum_by(carried, place[arcs.head[arc]] - low, high - low)
            if isinstance(count, Tensor) and count.max() > _search.LARGEST_COUNT:
                return None
        _put(sigma, slice(low, high), count)
        arc = down[leaving[level] : leaving[level + 1]]
        lane = pair[low:high].div(num_nodes, rounding_mode="floor")
        levels.append(
            Level(
                lane, pair[low:high] - lane * num_nodes, count, place[arcs.tail[arc]] - low,
                place[arcs.head[arc]], arcs.slot[arc],
            )
        )  # fmt: skip
    return levels


def _runs(level: Tensor, levels: int) -> list[int]:
    """The first arc of each level, in their order."""
    return [0, *torch.bincount(level, minlength=levels).cumsum(0).tolist()]


def _empty(like: Number, size: int) -> Number:
    if isinstance(like, Scaled):
        zero = like.mantissa.new_zeros(size)
        return Scaled(zero, zero)
    return like.new_zeros(size)


def _put(target: Number, part: slice, values: Number) -> None:
    if isinstance(target, Scaled):
        values = Scaled.of(values)
        target.mantissa[part], target.exponent[part] = values.mantissa, values.exponent
    else:
        assert isinstance(values, Tensor)
        target[part] = values
