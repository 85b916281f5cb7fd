"""Breadth-first search from a batch of sources: the levels of the shortest-path DAGs."""

from typing import NamedTuple

import torch
from torch import Tensor

from ._scaled import Number, sum_by

# Float64 ends at 1.8e308; the room left is for sums and products with these counts.
LARGEST_COUNT = 1e290


class Level(NamedTuple):
    """All (lane, vertex) pairs at one depth, and the arcs from them to the next depth.

    An arc is named by its two ends' positions in their levels, so that a value of the next
    level goes to its predecessors by `value[head]` and sums over successors go by `tail`.
    """

    lane: Tensor  # [pairs]
    vertex: Tensor  # [pairs]
    sigma: Number  # [pairs] number of shortest paths from the lane's source
    tail: Tensor  # [arcs] position in this level
    head: Tensor  # [arcs] position in the next level
    slot: Tensor  # [arcs] position in col


def shortest_path_levels(
    rowptr: Tensor, col: Tensor, sources: Tensor, one: Number
) -> list[Level] | None:
    """The levels from the sources down, or None where a float64 path count gets too large.

    `one` is the path count of the sources themselves; its type is that of all counts.
    """
    num_nodes, lanes = rowptr.numel() - 1, sources.numel()
    lane = torch.arange(lanes, device=sources.device)
    vertex, sigma = sources, one
    seen = torch.zeros(lanes * num_nodes, dtype=torch.bool, device=sources.device)
    seen[lane * num_nodes + vertex] = True
    position = torch.empty(lanes * num_nodes, dtype=torch.int64, device=sources.device)
    levels = []
    while True:
        tail, slot = _out_arcs(rowptr, vertex)
        pair = lane[tail] * num_nodes + col[slot]
        unseen = ~seen[pair]
        tail, slot, pair = tail[unseen], slot[unseen], pair[unseen]

        frontier = _distinct(pair, position)
        head = position[pair]
        levels.append(Level(lane, vertex, sigma, tail, head, slot))
        if frontier.numel() == 0:
            return levels

        sigma = sum_by(sigma[tail], head, frontier.numel())
        if isinstance(sigma, Tensor) and sigma.max() > LARGEST_COUNT:
            return None
        seen[frontier] = True
        lane = frontier.div(num_nodes, rounding_mode="floor")
        vertex = frontier - lane * num_nodes


def _out_arcs(rowptr: Tensor, vertex: Tensor) -> tuple[Tensor, Tensor]:
    """(tail, slot) of every arc out of the vertices, tail as a position in `vertex`."""
    first = rowptr[vertex]
    degree = rowptr[vertex + 1] - first
    tail = torch.repeat_interleave(degree)
    before = degree.cumsum(0) - degree
    slot = torch.arange(tail.numel(), device=tail.device) + (first - before)[tail]
    return tail, slot


def _distinct(pair: Tensor, position: Tensor) -> Tensor:
    """The different entries of `pair`, ascending; writes the place of each into `position`."""
    # Of equal entries one writes last, whichever: sorting makes the result independent of it.
    arc = torch.arange(pair.numel(), device=pair.device)
    position[pair] = arc
    distinct = pair[position[pair] == arc].sort().values
    position[distinct] = torch.arange(distinct.numel(), device=pair.device)
    return distinct
