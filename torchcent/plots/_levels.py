"""Divisions of one graph into parts, from which a page lets its reader choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from torchcent.clustering._clustering import Clustering
from torchcent.clustering._mcl import MclSweep
from torchcent.plots._parts import COLORS, Parts

MOST_LEVELS = 50  # that a page holds


class Levels(NamedTuple):
    """Levels of one kind: `names` and `parts` of each, and `at`, the one that is shown first."""

    names: list[str]
    parts: list[Parts]
    at: int

    @classmethod
    def of(cls, communities: Any, n: int) -> Levels:
        """Those of labels, of several of them, of a sweep, or of a division into communities."""
        at = 0
        if isinstance(communities, MclSweep):
            at = int(np.argmax([row["modularity"] for row in communities.table]))
            communities = communities.clusterings
        if hasattr(communities, "modularity") and hasattr(communities, "at"):
            return cls._of_division(communities, n)
        several: Sequence[Any] = (
            communities if isinstance(communities, list | tuple) else [communities]
        )
        if not 1 <= len(several) <= MOST_LEVELS:
            raise ValueError(f"communities must have 1 to {MOST_LEVELS} levels, got {len(several)}")
        names = [
            f"inflation {one.inflation:g}" if isinstance(one, Clustering) else f"level {number}"
            for number, one in enumerate(several)
        ]
        return cls(names, [Parts.of(one, n) for one in several], at)

    @classmethod
    def _of_division(cls, division: Any, n: int) -> Levels:
        """The level that is shown, and others at about equal steps of the logarithm."""
        count = division.counts.numel()
        shown = division.level % count
        steps = np.geomspace(1, count, MOST_LEVELS - 1).round().astype(int) - 1
        chosen = sorted({shown, *steps.tolist()}) if count > MOST_LEVELS else [*range(count)]
        modularity = division.modularity.tolist()
        names = [f"modularity {modularity[level]:.3f}" for level in chosen]
        return cls(
            names, [Parts.of(division.at(level), n) for level in chosen], chosen.index(shown)
        )

    def colors(self) -> list[list[int]]:
        """Of each level the colours of its largest parts, as places in COLORS.

        The largest part of the level that is shown has the first colour. From level to level, a
        part keeps the colour of the one with which it shares the most vertices.
        """
        colors = [[*range(min(len(COLORS), len(part.sizes)))] for part in self.parts]
        for level in range(self.at + 1, len(colors)):
            colors[level] = _inherited(self.parts[level], self.parts[level - 1], colors[level - 1])
        for level in range(self.at - 1, -1, -1):
            colors[level] = _inherited(self.parts[level], self.parts[level + 1], colors[level + 1])
        return colors


def _inherited(part: Parts, other: Parts, colors: list[int]) -> list[int]:
    most, shared = len(COLORS), np.zeros((len(COLORS), len(COLORS)), int)
    both = (part.labels < most) & (other.labels < most)
    np.add.at(shared, (part.labels[both], other.labels[both]), 1)
    own: dict[int, int] = {}
    for pair in np.argsort(-shared, axis=None, kind="stable"):
        here, there = divmod(int(pair), most)
        if shared[here, there] and here not in own and colors[there] not in own.values():
            own[here] = colors[there]
    free = (color for color in range(most) if color not in own.values())
    return [own[i] if i in own else next(free) for i in range(min(most, len(part.sizes)))]
