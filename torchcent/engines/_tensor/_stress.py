"""Stress: the number of shortest paths that pass through each vertex."""

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
    """Adds the path counts of one batch, deepest level first (see the package's docstring).

    lambda_v counts the shortest paths that continue from v to a target below it. A stress beyond
    the range of float64 is inf.
    """
    below = levels.nothing()  # b_w + lambda_w
    for depth in reversed(range(len(levels))):
        lane, vertex, sigma, tail, head, _ = levels[depth]
        onward = sum_by(below[head], tail, vertex.numel())  # lambda
        below = levels.below(depth, target_weight[vertex] + onward, below)
        if depth > 0:
            paths = source_weight[lane] * (sigma * (through_weight[vertex] + onward))
        else:
            paths = own_weight * onward
        scatter_add(scores, vertex, as_float(paths))
