"""Betweenness of vertices: the share of shortest paths that pass through each."""

import torch
from torch import Tensor

from ._scaled import as_float, sum_by
from ._scatter import scatter_add
from ._search import Levels


def accumulate(
    levels: Levels,
    source_weight: Tensor,
    own_weight: Tensor,
    target_weight: Tensor,
    through_weight: Tensor,
    scores: Tensor,
    linear: bool = False,
    distance_scaled: bool = False,
) -> None:
    """Adds the dependencies of one batch, deepest level first (see the package's docstring)."""
    below = levels.nothing()  # rho
    for depth in reversed(range(len(levels))):
        lane, vertex, sigma, tail, head, _ = levels[depth]
        successors = sum_by(below[head], tail, vertex.numel())
        delta = as_float(sigma * successors)
        if depth > 0:
            by_depth = linear or distance_scaled
            distance = levels.distance(depth) if by_depth else torch.ones_like(delta)
            targets = target_weight[vertex] / distance
            below = levels.below(depth, targets / sigma + successors, below)
            scaled = distance * delta if linear else delta
            share = source_weight[lane] * (scaled + through_weight[vertex])
        else:
            share = own_weight * delta
        scatter_add(scores, vertex, share)
