"""Distances and path counts from all vertices to the members of groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.graph import Graph
from torchcent.groups import _shares


class Rows(NamedTuple):
    """Distances from all vertices to the members, and path counts as mantissa and exponent of 2."""

    members: Tensor
    distance: Tensor  # float64 [members, n], inf for none
    mantissa: Tensor
    exponent: Tensor

    @classmethod
    def of(cls, graph: Graph, members: Tensor, memory: int | None) -> Rows:
        shape = members.numel(), graph.num_nodes
        distance, mantissa, exponent = (
            torch.full(shape, value, dtype=torch.float64, device=graph.device)
            for value in (torch.inf, 0.0, 0.0)
        )
        begin = 0
        for part in members.split(_shares.lanes_that_fit(graph, memory, 24 * distance.numel())):
            levels = _shares.levels(graph, part, backward=True)
            at = (
                torch.cat([level.lane for level in levels]) + begin,
                torch.cat([level.vertex for level in levels]),
            )
            distance[at] = torch.cat([levels.distance(depth) for depth in range(len(levels))])
            mantissa[at], exponent[at] = _shares.flat(levels)
            begin += part.numel()
        return cls(members, distance, mantissa, exponent)

    def between(self, source: Tensor) -> Callable[[Tensor], Tensor]:
        def of_group(at: Tensor) -> Tensor:
            """sigma(s, x) sigma(x, y) / sigma(s, y) where x is on a shortest path from s to y."""
            inner = self.members[at]
            to = [x[at][:, source].T for x in (self.distance, self.mantissa, self.exponent)]
            across = [x[at][:, inner].T for x in (self.distance, self.mantissa, self.exponent)]
            first, last = ([x[:, :, None] for x in to], [x[:, None, :] for x in to])
            on = (first[0] + across[0] == last[0]) & last[0].isfinite()
            on &= (inner[:, None] != inner) & (source[:, None, None] != inner[:, None])
            share = first[1] * across[1] / last[1]
            share = share * torch.exp2(first[2] + across[2] - last[2])
            return torch.where(on, share, 0.0)

        return of_group
