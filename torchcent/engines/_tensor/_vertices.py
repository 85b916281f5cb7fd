"""Scores of vertices by the formulas of a visitor (`engines/measures/_visitors.py`)."""

from torch import Tensor

from torchcent.engines.measures._visitors import Formulas

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
    formulas: Formulas,
) -> None:
    """Adds the scores of one batch, deepest level first. A score beyond float64 is inf."""
    below = levels.nothing()  # what the successors pass up
    for depth in reversed(range(len(levels))):
        lane, vertex, sigma, tail, head, _ = levels[depth]
        successors = sum_by(below[head], tail, vertex.numel())
        if depth > 0:
            target = target_weight[vertex]
            score = formulas.score(sigma, successors, through_weight[vertex])
            if formulas.target is not None:
                target = formulas.target(target, levels.distance(depth))
            if formulas.scaled is not None:
                score = formulas.scaled(score, levels.distance(depth))
            below = levels.below(depth, formulas.passed_up(target, sigma, successors), below)
            share = source_weight[lane] * score
        else:
            share = own_weight * successors
        scatter_add(scores, vertex, as_float(share))
