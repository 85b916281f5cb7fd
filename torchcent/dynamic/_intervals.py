"""How many samples are enough for a graph that changes, and the intervals of its scores.

A number of samples and a part of the failure probability belong to each check of a schedule. Both
are set before these samples are drawn. At a fixed time the samples of all checks, those not drawn
yet included, are independent and have the distribution of the graph at that time. So all intervals
of all checks hold with the probability of the schedule, and it does not matter at which check it
has arrived, whatever the samples were before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from torchcent.approx._bounds import Floats, binomial_interval
from torchcent.approx._progressive import GROWTH

# Standard deviations by which scores are assumed to exceed those of the first samples, and numbers
# of vertices with a share of their own that are compared. Any values are valid.
_LIKELY, _FAVOURED = 2.0, (0, 1, 2, 4, 8, 16, 32, 64)
# After so many checks a schedule is left for one that is made for the graph as it is.
_CHECKS = 6
_HALVINGS = 60


@dataclass
class Schedule:
    """Checks, and the failure probability of each vertex.

    Half of the probability of a check is divided evenly among all vertices. The other half is
    divided among a few that were in most of the first samples, which are not used for anything
    else.

    Attributes:
        delta: of the schedule.
        favoured: int64, vertices with a larger share.
        goal: samples of this check.
        turn: of this check, from 1 on. The k-th has 1 / (k (k + 1)) of the probability.
    """

    delta: float
    favoured: Tensor
    goal: int
    turn: int = 1

    def __post_init__(self) -> None:
        # What the widest radii of other vertices depend on, and these by their counts.
        self._known, self._widest = (0, 0, 0), np.zeros(0)

    @classmethod
    def after(cls, counts: Tensor, first: int, epsilon: float, delta: float) -> Schedule:
        """The schedule that is likely to need the fewest samples, by counts of `first` samples."""
        n = counts.numel()
        highest, order = counts.double().topk(min(n, 1 + _FAVOURED[-1]))
        likely = (highest + _LIKELY * highest.sqrt() + 1).clamp(max=first).numpy() / first
        favoured = np.array([k for k in _FAVOURED if k < n])
        one, other = _shares(delta / 2, n, favoured)
        top = np.where(favoured > 0, likely[0], 0)
        sizes = np.maximum(_least(top, epsilon, one), _least(likely[favoured], epsilon, other))
        best = int(sizes.argmin())
        goal = math.ceil(sizes[best] * (1 + 1e-9))
        return cls(delta, order[: favoured[best]].clone(), goal)

    def next(self) -> None:
        self.goal, self.turn = math.ceil(self.goal * GROWTH), self.turn + 1

    @property
    def is_over(self) -> bool:
        return self.turn > _CHECKS

    def intervals(self, counts: Tensor) -> tuple[Tensor, Tensor]:
        """float64 [n]: lower and upper ends, as shares of the samples."""
        values, place = counts.unique(return_inverse=True)
        one, other = self._parts(counts.numel())
        low, high = (torch.from_numpy(end)[place] for end in self._ends(values.numpy(), other))
        its = self._ends(counts[self.favoured].numpy(), one)
        low[self.favoured], high[self.favoured] = (torch.from_numpy(end) for end in its)
        return low, high

    def radius(self, counts: Tensor) -> float:
        """The largest distance of an end of an interval from the share of the samples."""
        one, other = self._parts(counts.numel())
        its = counts[self.favoured]
        counts[self.favoured] = 0
        most = int(counts.max())
        counts[self.favoured] = its
        key = counts.numel(), self.goal, self.turn
        if self._known != key or most >= self._widest.size:
            # All counts up to there, so that nothing depends on which of them occur.
            table = np.arange(min(2 * most, self.goal) + 1)
            self._widest = np.maximum.accumulate(self._radii(table, other))
            self._known = key
        return float(max(self._widest[most], self._radii(its.numpy(), one).max(initial=0)))

    def _parts(self, num_nodes: int) -> tuple[float, float]:
        delta = self.delta / (self.turn * (self.turn + 1))
        one, other = _shares(delta, num_nodes, np.array([self.favoured.numel()]))
        return float(one[0]), float(other[0])

    def _ends(self, counts: np.ndarray, share: float) -> tuple[Floats, Floats]:
        shares = np.full(counts.size, share)
        return binomial_interval(counts, self.goal, shares, shares)

    def _radii(self, counts: np.ndarray, share: float) -> Floats:
        low, high = self._ends(counts, share)
        score = counts / self.goal
        return np.maximum(high - score, score - low)


def _shares(delta: float, num_nodes: int, favoured: np.ndarray) -> tuple[Floats, Floats]:
    """The failure probability of each side of a favoured vertex, and of another one."""
    even = delta / (2 * num_nodes)
    none = favoured == 0
    other = np.where(none, even, even / 2)
    return other + np.where(none, 0, delta / (4 * np.maximum(favoured, 1))), other


def _least(score: Floats, epsilon: float, share: Floats) -> Floats:
    """The numbers of samples after which the intervals of scores are within epsilon."""

    def enough(samples: Floats) -> np.ndarray:
        low, high = binomial_interval(score * samples, samples, share, share)
        return np.maximum(high - score, score - low) <= epsilon

    least, most = np.ones_like(score), np.ones_like(score)
    while not enough(most).all():
        most = np.where(enough(most), most, 2 * most)
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        is_enough = enough(middle)
        least, most = np.where(is_enough, least, middle), np.where(is_enough, middle, most)
    return most
