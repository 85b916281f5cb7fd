"""Betweenness as a proximal source or target: the first or the last vertex inside a path."""

from torch import Tensor

from ._scaled import as_float, sum_by
from ._scatter import scatter_add
from ._search import Levels


def accumulate_at_source(
    levels: Levels,
    source_weight: Tensor,
    own_weight: Tensor,
    target_weight: Tensor,
    through_weight: Tensor,
    scores: Tensor,
) -> None:
    """Adds the share of paths from the sources whose first arc leads to each vertex."""
    rho = onward = levels.nothing()
    for depth in reversed(range(len(levels))):
        lane, vertex, sigma, tail, head, _ = levels[depth]
        if depth == 0:
            share = as_float(onward[head]) * source_weight[lane[tail]]
            scatter_add(scores, levels.heads(depth), share)
            break
        successors = sum_by(rho[head], tail, vertex.numel())
        onward = levels.below(depth, successors, onward)
        rho = levels.below(depth, target_weight[vertex] / sigma + successors, rho)


def accumulate_at_target(
    levels: Levels,
    source_weight: Tensor,
    own_weight: Tensor,
    target_weight: Tensor,
    through_weight: Tensor,
    scores: Tensor,
) -> None:
    """Adds the share of paths to the targets whose last arc leaves each vertex."""
    ends = levels.nothing()
    for depth in reversed(range(1, len(levels))):
        lane, vertex, sigma, tail, head, _ = levels[depth]
        delta = as_float(sigma * sum_by(ends[head], tail, vertex.numel()))
        ends = levels.below(depth, target_weight[vertex] / sigma, ends)
        scatter_add(scores, vertex, source_weight[lane] * delta)
