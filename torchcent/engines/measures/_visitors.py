"""What searches compute from path counts: the visitors, with their formulas for tensors.

csrc/paths/betweenness.h has the same for the compiled engines. A search counts the shortest paths
to each vertex, sigma. On the way back, deepest level first, a vertex passes a value up to its
predecessors, and gets a score (docs/betweenness.md).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple


class Visitor(IntEnum):
    """What is computed (Measure in C++, where tools/declare.py writes the codes)."""

    BETWEENNESS = 0
    EDGE_BETWEENNESS = 1
    STRESS = 2
    LINEAR = 3
    DISTANCE = 4
    PROXIMAL_SOURCE = 5
    PROXIMAL_TARGET = 6
    LOAD = 7


class Formulas(NamedTuple):
    """Those of a visitor that scores vertices.

    Values are tensors, or numbers with an exponent of their own (`_tensor/_scaled.py`).

    Attributes:
        passed_up: from b, sigma and the sum of what the successors pass up.
        score: from sigma, that sum and h. It is for all vertices but the source, whose score is the
            sum.
        unit: whether an arc carries 1 to its head, instead of the paths to its tail.
        target: b from itself and the distance, where the distance matters.
        scaled: the score, likewise.
    """

    passed_up: Callable[[Any, Any, Any], Any]
    score: Callable[[Any, Any, Any], Any]
    unit: bool = False
    target: Callable[[Any, Any], Any] | None = None
    scaled: Callable[[Any, Any], Any] | None = None


_BETWEENNESS = Formulas(
    passed_up=lambda b, sigma, total: b / sigma + total,
    score=lambda sigma, total, h: sigma * total + h,
)
#: of visitors that need no traversal of their own (`_tensor/__init__.py`)
FORMULAS = {
    Visitor.BETWEENNESS: _BETWEENNESS,
    Visitor.STRESS: Formulas(
        passed_up=lambda b, sigma, total: b + total,
        score=lambda sigma, total, h: sigma * (total + h),
    ),
    Visitor.LOAD: Formulas(
        passed_up=lambda b, sigma, total: (b + total) / sigma,
        score=lambda sigma, total, h: total + h,
        unit=True,
    ),
    Visitor.DISTANCE: _BETWEENNESS._replace(target=lambda b, distance: b / distance),
    Visitor.LINEAR: _BETWEENNESS._replace(
        target=lambda b, distance: b / distance, scaled=lambda score, distance: distance * score
    ),
}
