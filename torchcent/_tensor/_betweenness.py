"""Betweenness of vertices: the share of shortest paths that pass through each."""

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
) -> None:
    """Brandes' dependencies of one batch, deepest level first (see the package's docstring)."""
    below = levels.nothing()  # rho
    for depth in reversed(range(len(levels))):
        lane, vertex, sigma, tail, head, _ = levels[depth]
        successors = sum_by(below[head], tail, vertex.numel())
        below = levels.below(depth, target_weight[vertex] / sigma + successors, below)
        delta = as_float(sigma * successors)
        if depth > 0:
            share = source_weight[lane] * (delta + through_weight[vertex])
        else:
            share = own_weight * delta
        scatter_add(scores, vertex, share)
