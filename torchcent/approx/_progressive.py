"""Adaptive sampling: the loop, its checks, and their schedule.

The number of samples of each check is fixed before these samples are drawn, and each check has its
own part of the failure probability. Therefore all intervals of all checks hold simultaneously with
probability 1 - delta, no matter at which check the run ends, or why.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from torchcent.approx._bounds import (
    EARLY_PART,
    Counts,
    Floats,
    Shares,
    binomial_interval,
    even_shares,
    last_look,
    shares,
    vc_epsilon,
    vc_samples,
)
from torchcent.approx._sampler import Sampler
from torchcent.runtime._codes import CANCEL

# The first phase, which determines the shares, has FIRST_PHASE / epsilon samples, and then 1 /
# FIRST_PART of the predicted samples of the second phase. It is limited to 1 / FIRST_PART of
# max_samples, and is skipped if that is less than LEAST_FIRST.
FIRST_PHASE, FIRST_PART, LEAST_FIRST = 5, 8, 32
# Checks take place at the predicted number of samples and at multiples of this factor from there.
# The k-th has 1 / (k (k + 1)) of the failure probability: 1/2, 1/6, 1/12, ..., with sum 1.
GROWTH = 1.15
# Maximum number of table entries per number that is looked up.
_TABLE = 4


@dataclass(eq=False)
class Estimate:
    """The result of a check, as shares of all ordered pairs.

    Most vertices of a large graph are in no sample and are not listed. The last score, 0, and its
    interval apply to all of them.
    """

    vertex: Counts  # ascending
    scores: Floats  # [vertices + 1]
    lower: Floats
    upper: Floats
    samples: int = 0
    reached: bool = False  # whether the goal was reached

    @property
    def radius(self) -> float:
        """The largest distance between a score and an end of its interval."""
        return float(np.maximum(self.upper - self.scores, self.scores - self.lower).max())

    def of_all(self, values: Tensor, num_nodes: int, device: torch.device) -> Tensor:
        """[num_nodes]: expands the values of the listed vertices to all vertices."""
        dense = torch.full((num_nodes,), float(values[-1]), dtype=values.dtype, device=device)
        dense[torch.from_numpy(self.vertex).to(device)] = values[:-1].to(device)
        return dense


def nothing_known() -> Estimate:
    return Estimate(np.zeros(0, np.int64), np.zeros(1), np.zeros(1), np.ones(1))


class Checks:
    """A schedule of checks: pairs of a number of samples and a failure probability."""

    def __init__(self, expected: int, delta: float, limit: int | None, early: bool) -> None:
        self._next, self._turn = max(1, expected), 1
        self._delta = self._left = delta
        self._limit = limit
        self._early: list[tuple[int, float]] = []
        if early:  # a factor of 2 apart, for runs that may be cut short
            last = self._next if limit is None else min(self._next, limit)
            sizes = [last >> k for k in range(1, last.bit_length()) if last >> k >= LEAST_FIRST]
            share = delta * EARLY_PART / max(len(sizes), 1)
            self._early = [(size, share) for size in sizes]
            self._delta = self._left = delta - share * len(sizes)

    def next(self) -> tuple[int, float] | None:
        """The next check, or None after the last one that `limit` allows."""
        if self._early:
            return self._early.pop()
        if self._limit is not None and self._next >= self._limit:
            share, self._left = self._left, 0.0  # the last check gets the remainder
            return (self._limit, share) if share > 0 else None
        samples, share = self._next, self._delta / (self._turn * (self._turn + 1))
        self._next, self._turn = math.ceil(samples * GROWTH), self._turn + 1
        self._left -= share
        return samples, share


class Run:
    """A run: ends when the goal is reached, or the samples or the time are used up."""

    def __init__(
        self, sampler: Sampler, delta: float, max_samples: int | None, deadline: float | None,
        bar: tqdm,
    ) -> None:  # fmt: skip
        self.sampler, self.delta, self.max_samples = sampler, delta, max_samples
        self.deadline, self.bar = deadline, bar
        self.num_nodes = sampler.graph.num_nodes
        self.found = nothing_known()
        self.abandoned = False  # whether another method is cheaper
        self.expected_samples = 0  # of the second phase
        self._phase_drawn = 0
        # The kind of each vertex, which determines its share.
        self._kind = torch.zeros(self.num_nodes, dtype=torch.int64, device=sampler.graph.device)

    def within_time(self, work: Callable[[], None]) -> Estimate:
        """Runs the work so that the deadline can interrupt it."""
        control = self.sampler.control
        timer = None
        if self.deadline is not None:
            left = max(self.deadline - time.perf_counter(), 0.0)
            timer = threading.Timer(left, lambda: control.__setitem__(CANCEL, 1))
            timer.daemon = True
            timer.start()
        try:
            work()
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()
        return self.found

    def counted(self, goal: int, total: Tensor | None) -> Tensor | None:
        """Adds the samples of a phase up to number `goal` to `total`; None if cut short."""
        drawn = 0 if total is None else self._phase_drawn
        if total is not None and goal <= drawn:
            return total
        self.bar.total = max(self.sampler.drawn + goal - drawn, self.bar.total or 0)
        more = self.sampler.draw(goal - drawn, self.bar)
        self._phase_drawn = goal
        return more if more is None or total is None else total.add_(more)

    def fixed(self, epsilon: float, vertex_diameter: int) -> None:
        """Riondato and Kornaropoulos 2016: the diameter determines the number of samples."""
        limited = self.deadline is not None
        goal = vc_samples(epsilon, last_look(self.delta, limited), vertex_diameter)
        limit = goal if self.max_samples is None else min(goal, self.max_samples)
        checks = Checks(limit, self.delta, limit, limited)
        total = None
        while (check := checks.next()) is not None:
            total = self.counted(check[0], total)
            if total is None:
                return
            seen, count = _seen(total)
            score = np.append(count, 0) / check[0]
            radius = vc_epsilon(check[0], check[1], vertex_diameter)
            low, high = np.maximum(score - radius, 0), np.minimum(score + radius, 1)
            vertex = seen.cpu().numpy()
            self.found = Estimate(vertex, score, low, high, check[0], check[0] >= goal)

    def progressive(self, epsilon: float, top: int | None, dearer: Callable[[float], bool]) -> None:
        """The adaptive rule: shares from a first phase, then checks until all scores are close
        enough.

        dearer(seconds) receives the predicted time of the second phase, and can end the run before
        it.
        """
        n, limited = self.num_nodes, self.deadline is not None
        size = max(math.ceil(FIRST_PHASE / epsilon), LEAST_FIRST)
        if self.max_samples is not None and size * FIRST_PART > self.max_samples:
            size = self.max_samples // FIRST_PART
        if size < LEAST_FIRST:
            checks = Checks(self.max_samples or 1, self.delta, self.max_samples, limited)
            self._phase(checks, even_shares(n), epsilon, top)
            return
        begin, delta, total = time.perf_counter(), self.delta, None
        if limited:  # a guarantee for the first phase, in case it is all there is
            early = Checks(size, delta * EARLY_PART, size, early=True)
            delta -= delta * EARLY_PART
            while (check := early.next()) is not None:
                total = self.counted(check[0], total)
                if total is None:
                    return
                self._look(total, check, even_shares(n), epsilon, top)
        total = self.counted(size, total)
        if total is None:
            return
        split, kind = self._shares(total, size, epsilon, top, delta / 2)
        self.expected_samples = min(split.samples, self.max_samples or split.samples)
        self.abandoned = dearer((time.perf_counter() - begin) / size * self.expected_samples)
        if self.abandoned:
            return
        more = self.expected_samples // FIRST_PART
        if more > size:
            total, size = self.counted(more, total), more
            if total is None:
                return
            split, kind = self._shares(total, size, epsilon, top, delta / 2)
        self._kind = kind
        left = None if self.max_samples is None else self.max_samples - size
        self._phase(Checks(split.samples, delta, left, limited), split, epsilon, top)

    def _shares(
        self, total: Tensor, samples: int, epsilon: float, top: int | None, delta: float
    ) -> tuple[Shares, Tensor]:
        """Computes the shares from the counts of the first phase, and the kind of each vertex."""
        seen, count = _seen(total)
        unseen = self.num_nodes - count.size
        values, which, times = _grouped(np.append(count, 0) if unseen else count)
        if unseen:
            times[0] = unseen
        kind = torch.zeros_like(total)
        kind[seen] = torch.from_numpy(which[: count.size]).to(total.device)
        close = np.full(values.size, epsilon)
        if top is not None:
            close = np.maximum(close, _gaps(values, times, top) / samples / 2)
        return shares(values, times, samples, close, delta), kind

    def _phase(self, checks: Checks, split: Shares, epsilon: float, top: int | None) -> None:
        total = None
        while (check := checks.next()) is not None:
            total = self.counted(check[0], total)
            if total is None:
                return
            if self._look(total, check, split, epsilon, top):
                return

    def _look(
        self, total: Tensor, check: tuple[int, float], split: Shares, epsilon: float,
        top: int | None,
    ) -> bool:  # fmt: skip
        """Performs a check: stores its result and returns whether it is sufficient."""
        samples, delta = check
        seen = torch.nonzero(total + self._kind).flatten()
        count, kind = total[seen].cpu().numpy(), self._kind[seen].cpu().numpy()
        # Vertices of equal kind and count share an interval; 0 represents the unseen vertices.
        counts, which, _ = _grouped(np.append(count, 0))
        key, place, _ = _grouped(np.append(kind, 0) * counts.size + which)
        of_kind, of_count = key // counts.size, counts[key % counts.size]
        low, high = binomial_interval(
            of_count, samples, split.below[of_kind] * delta, split.above[of_kind] * delta
        )
        score = of_count / samples
        vertex = seen.cpu().numpy()
        found = Estimate(vertex, score[place], low[place], high[place], samples)
        found.reached = found.radius <= epsilon or (
            top is not None and _separated(found, epsilon, min(top, self.num_nodes))
        )
        if found.reached or found.radius <= self.found.radius:
            self.found = found
        return found.reached


def _seen(total: Tensor) -> tuple[Tensor, Counts]:
    """The vertices that occur in a sample, and their counts, copied to the host."""
    seen = torch.nonzero(total).flatten()
    return seen, total[seen].cpu().numpy()


def _grouped(numbers: Counts) -> tuple[Counts, Counts, Counts]:
    """Returns the distinct numbers, ascending, the index of each number among them, and their
    counts.

    Sorts only if a table up to the largest number would be much larger than the input.
    """
    if numbers.max(initial=0) > _TABLE * numbers.size:
        return np.unique(numbers, return_inverse=True, return_counts=True)
    times = np.bincount(numbers)
    values = np.flatnonzero(times)
    place = np.zeros(times.size, np.int64)
    place[values] = np.arange(values.size)
    return values, place[numbers], times[values]


def _gaps(values: Counts, times: Counts, top: int) -> Floats:
    """For each count, its distance to the nearest boundary between ranks of the top and the
    rest."""
    ranked = np.repeat(values[::-1], np.minimum(times[::-1], top + 1))[: top + 1]
    middle = (ranked[:-1] + ranked[1:]) / 2  # between the first i and the rest
    found: Floats = 2 * np.abs(values[:, None] - middle[None, :]).min(1, initial=np.inf)
    return found


def certain_ranks(
    scores: Floats, lower: Floats, upper: Floats, top: int
) -> tuple[Counts, NDArray[np.bool_]]:
    """Returns the vertices with the `top` highest scores, and which ranks are certain.

    Rank i is certain if all vertices up to it are above all others, provided that the intervals
    hold.
    """
    order = np.argsort(-scores, kind="stable")
    best = order[:top]
    rest = np.max(upper[order[top:]], initial=0.0)
    behind = np.maximum.accumulate(np.append(upper[best], rest)[::-1])[::-1][1:]
    certain = np.minimum.accumulate(lower[best]) > behind
    if top >= scores.size and top > 0:
        certain[-1] = True  # there are no vertices after the last
    return best, certain


def _separated(found: Estimate, epsilon: float, top: int) -> bool:
    """Whether each vertex is close enough or irrelevant to the undecided ranks of the top."""
    if top > found.vertex.size:
        return False
    close = np.maximum(found.upper - found.scores, found.scores - found.lower) <= epsilon
    _, certain = certain_ranks(found.scores, found.lower, found.upper, top)
    order = np.argsort(-found.scores, kind="stable")
    for rank in np.flatnonzero(~certain):
        above, below = order[: rank + 1], order[rank + 1 :]
        low, high = found.lower[above].min(), found.upper[below].max(initial=0.0)
        if not close[above[found.lower[above] <= high]].all():
            return False
        if not close[below[found.upper[below] >= low]].all():
            return False
    return True
