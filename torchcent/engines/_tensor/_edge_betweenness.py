"""Betweenness of arcs: the share of shortest paths that use each, per slot."""

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
    """Adds the dependencies of arcs of one batch; ignores `own_weight` and `through_weight`."""
    below = levels.nothing()  # rho
    for depth in reversed(range(len(levels))):
        lane, vertex, sigma, tail, head, slot = levels[depth]
        share = as_float(sigma[tail] * below[head])
        scatter_add(scores, slot, source_weight[lane[tail]] * share)
        rho = target_weight[vertex] / sigma + sum_by(below[head], tail, vertex.numel())
        below = levels.below(depth, rho, below)
