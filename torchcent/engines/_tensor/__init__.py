"""The `tensor` engine: shortest-path measures in plain PyTorch, on any device, uncompiled.

It is the readable reference for the compiled engines. A batch of sources is searched level by level
(`_search.py`), then each measure processes the levels in reverse order. `engines/measures` has the
formulas of most measures (`_visitors.py`), and here are files for the others.

Let sigma_v be the number of shortest paths from a source s to v, and succ(v) the out-neighbours of
v one level deeper. A batch adds to `scores`, for every lane l with source s_l:

- betweenness:       rho_v = b_v / sigma_v + sum of rho_w over succ(v);
                     scores[v] += a_l (sigma_v * sum of rho_w + h_v) for v != s_l,
                     scores[s_l] += c_l * sum of rho_w
- edge_betweenness:  the same rho; scores[slot of v -> w] += a_l sigma_v rho_w
- linear:            rho_v = b_v / (d_v sigma_v) + sum of rho_w over succ(v), d_v the distance;
                     scores[v] += a_l d_v sigma_v * sum of rho_w for v != s_l
- distance:          the same rho; scores[v] += a_l sigma_v * sum of rho_w
- proximal_source:   rho of betweenness; scores[v] += a_l * sum of rho_w for the arcs s_l -> v
- proximal_target:   scores[v] += a_l sigma_v * sum of b_w / sigma_w over succ(v)
- stress:            lambda_v = sum of (b_w + lambda_w) over succ(v);
                     scores[v] += a_l sigma_v (lambda_v + h_v) for v != s_l,
                     scores[s_l] += c_l lambda_s

where a, c are `source_weight`, `own_weight` (one entry per lane) and b, h are `target_weight`,
`through_weight` (one entry per vertex).

On a weighted graph the levels are those of `_weighted.py`, and succ(v) are the heads of the arcs
out of v that lie on shortest paths. The formulas are the same.

Path counts are float64. If one exceeds 1e290, the batch is repeated with numbers that carry their
own exponent (`_scaled.py`), so that no count overflows.
"""

from collections.abc import Callable
from functools import partial
from math import inf

from torch import Tensor, ones_like

from torchcent.engines.measures._visitors import FORMULAS, Visitor

from . import _edge_betweenness, _proximal, _vertices, _weighted
from ._memory import lanes_of_run, lanes_that_fit, memory_needed, weighted_extra
from ._scaled import Number, Scaled
from ._search import Levels, shortest_path_levels

__all__ = ["accumulate", "lanes_of_run", "lanes_that_fit", "memory_needed", "weighted_extra"]

VISITORS: dict[Visitor, Callable[..., None]] = {
    **{each: partial(_vertices.accumulate, formulas=of) for each, of in FORMULAS.items()},
    Visitor.PROXIMAL_SOURCE: _proximal.accumulate_at_source,
    Visitor.PROXIMAL_TARGET: _proximal.accumulate_at_target,
    Visitor.EDGE_BETWEENNESS: _edge_betweenness.accumulate,
}


def accumulate(
    visitor: Visitor,
    rowptr: Tensor,
    col: Tensor,
    sources: Tensor,
    source_weight: Tensor,
    own_weight: Tensor,
    target_weight: Tensor,
    through_weight: Tensor,
    scores: Tensor,
    weight: Tensor | None = None,
    tie_tolerance: float = 0.0,
    limits: Tensor | None = None,
) -> None:
    """Adds the contributions of the shortest paths from `sources` to `scores`, in place.

    Args:
        visitor: what is computed from path counts; those by distances have no own and through
            weights.
        rowptr: int64 [n + 1], CSR row pointers of the out-arcs.
        col: int32 or int64 [m], heads of the arcs; no loops, no duplicates.
        sources: int64 [k], one lane each.
        source_weight: float64 [k], a in the formulas above.
        own_weight: float64 [k], c.
        target_weight: float64 [n], b.
        through_weight: float64 [n], h.
        scores: float64, [n], or [m] (one per slot) for EDGE_BETWEENNESS.
        weight: float64 or int32 [m], lengths > 0 of the arcs; None counts hops.
        tie_tolerance: relative tolerance for shortest paths (`_weighted.py`).
        limits: [l] on the CPU, ascending distances; `scores` then have a row for each, for which
            only vertices within it count. None: all count.
    """
    if sources.numel() == 0:
        return

    within: list[float] = [inf] if limits is None else limits.tolist()
    unit = visitor in FORMULAS and FORMULAS[visitor].unit

    def levels_with(one: Number) -> Levels | None:
        if weight is None:
            return shortest_path_levels(rowptr, col, sources, one, within[-1], unit)
        return _weighted.shortest_path_levels(
            rowptr, col, weight, sources, one, tie_tolerance, farthest=within[-1], unit=unit
        )

    one = ones_like(source_weight)
    levels = levels_with(one)
    if levels is None:
        levels = levels_with(Scaled.of(one))
    assert levels is not None, "scaled path counts have no upper limit"
    rows = (scores,) if limits is None else scores.unbind(0)
    for limit, row in zip(within, rows, strict=True):
        part = levels if limit == within[-1] else levels.within(limit)
        VISITORS[visitor](part, source_weight, own_weight, target_weight, through_weight, row)
