"""The result of a check of adaptive sampling: scores, intervals, and which ranks are certain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.approx._bounds import Counts, Floats

# Maximum number of table entries per number that is looked up.
_TABLE = 4


@dataclass(eq=False)
class Estimate:
    """The result of a check, as shares of all ordered pairs. Most vertices of a large graph are in
    no sample and are not listed. Many of the others have a score and an interval in common. Of
    edges, `vertex` holds their numbers."""

    vertex: Counts  # ascending
    place: Counts  # [vertices + 1] where the values of each are; the last is for all others
    score: Floats
    low: Floats
    high: Floats
    samples: int = 0
    reached: bool = False  # whether the goal was reached

    @cached_property
    def radius(self) -> float:
        """The largest distance between a score and an end of its interval."""
        return float(np.maximum(self.high - self.score, self.score - self.low).max())

    def of_all(self, values: Tensor, size: int, device: torch.device) -> Tensor:
        """[size]: expands such values to all vertices."""
        place = torch.from_numpy(self.place)
        dense = torch.full((size,), float(values[place[-1]]), dtype=values.dtype, device=device)
        each = values.to(device)[place[:-1].to(device)]
        dense[torch.from_numpy(self.vertex).to(device)] = each
        return dense


def nothing_known() -> Estimate:
    none = np.zeros(0, np.int64)
    return Estimate(none, np.zeros(1, np.int64), np.zeros(1), np.zeros(1), np.ones(1))


def in_samples(total: Tensor) -> tuple[Tensor, Counts]:
    """The vertices that occur in a sample, and their counts, copied to the host."""
    vertex = torch.nonzero(total).flatten()
    return vertex, total[vertex].cpu().numpy()


def grouped(numbers: Counts) -> tuple[Counts, Counts, Counts]:
    """The distinct numbers, ascending, the index of each number among them, and their counts. Sorts
    only if a table up to the largest number would be much larger than the input."""
    if numbers.max(initial=0) > _TABLE * numbers.size:
        return np.unique(numbers, return_inverse=True, return_counts=True)
    times = np.bincount(numbers)
    values = np.flatnonzero(times)
    place = np.zeros(times.size, np.int64)
    place[values] = np.arange(values.size)
    return values, place[numbers], times[values]


def gaps(values: Counts, times: Counts, top: int) -> Floats:
    """The distance of each count to the nearest boundary between ranks of the top and the rest."""
    highest = np.repeat(values[::-1], np.minimum(times[::-1], top + 1))[: top + 1]
    middle = (highest[:-1] + highest[1:]) / 2  # between the first i and the rest
    distance: Floats = 2 * np.abs(values[:, None] - middle[None, :]).min(1, initial=np.inf)
    return distance


def certain_ranks(
    scores: Floats, lower: Floats, upper: Floats, top: int
) -> tuple[Counts, NDArray[np.bool_]]:
    """The vertices with the `top` highest scores, and which ranks are certain: rank i is if all
    vertices up to it are above all others, provided that the intervals hold."""
    order = np.argsort(-scores, kind="stable")
    best = order[:top]
    rest = np.max(upper[order[top:]], initial=0.0)
    behind = np.maximum.accumulate(np.append(upper[best], rest)[::-1])[::-1][1:]
    certain = np.minimum.accumulate(lower[best]) > behind
    if top >= scores.size and top > 0:
        certain[-1] = True  # there are no vertices after the last
    return best, certain


def separated(estimate: Estimate, epsilon: float, top: int) -> bool:
    """Whether each vertex is close enough or irrelevant to the undecided ranks of the top."""
    if top > estimate.vertex.size:
        return False
    scores, lower, upper = (
        part[estimate.place] for part in (estimate.score, estimate.low, estimate.high)
    )
    close = np.maximum(upper - scores, scores - lower) <= epsilon
    _, certain = certain_ranks(scores, lower, upper, top)
    order = np.argsort(-scores, kind="stable")
    for rank in np.flatnonzero(~certain):
        above, below = order[: rank + 1], order[rank + 1 :]
        low, high = lower[above].min(), upper[below].max(initial=0.0)
        near = np.append(above[lower[above] <= high], below[upper[below] >= low])
        if not close[near].all():
            return False
    return True
