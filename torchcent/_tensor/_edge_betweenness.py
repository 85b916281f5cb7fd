"""Betweenness of arcs: the share of shortest paths that use each, per slot."""

from torch import Tensor

from ._scaled import as_float, sum_by
from ._scatter import scatter_add
from ._search import Level


def accumulate(
    levels: list[Level],
    source_weight: Tensor,
    own_weight: Tensor,
    target_weight: Tensor,
    through_weight: Tensor,
    scores: Tensor,
) -> None:
    """Dependencies of the arcs of one batch; `own_weight`, `through_weight` play no part."""
    rho = levels[-1].sigma[:0]  # no level lies below the deepest
    for lane, vertex, sigma, tail, head, slot in reversed(levels):
        share = as_float(sigma[tail] * rho[head])
        scatter_add(scores, slot, source_weight[lane[tail]] * share)
        rho = target_weight[vertex] / sigma + sum_by(rho[head], tail, vertex.numel())
