"""Adaptive sampling: the loop and its checks.

The number of samples of each check is fixed before these samples are drawn, and each check has its
own part of the failure probability. Therefore all intervals of all checks hold simultaneously with
probability 1 - delta, no matter at which check the run ends, or why.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.approx import _bounds
from torchcent.approx._estimate import Estimate, gaps, grouped, in_samples, nothing_known, separated
from torchcent.approx._sampler import Sampler
from torchcent.runtime._codes import CANCEL

# The first phase, which determines the shares, has FIRST_PHASE / epsilon samples, and then 1 /
# FIRST_PART of the predicted samples of the second phase. It is limited to 1 / FIRST_PART of
# max_samples, and is skipped if that is less than LEAST_FIRST.
FIRST_PHASE, FIRST_PART, LEAST_FIRST = 5, 8, 32
# With a deadline, the first phase takes at most this part of the time, and the numbers of its
# checks double. Each check has an equal part of what is set aside for them.
_FIRST_TIME, _DOUBLINGS = 0.1, 48
# Number of the first sample of a second phase with a deadline.
_SECOND_PHASE = 2**40
# Checks take place at the predicted number of samples and at multiples of this factor from there.
# The k-th has 1 / (k (k + 1)) of the failure probability: 1/2, 1/6, 1/12, ..., with sum 1.
GROWTH = 1.15
# Runs that a deadline may cut short: the factor between possible checks; the exponent by which
# their parts fall with the distance from the expected number of samples, and the sum of the parts
# before they are scaled, 2 zeta(1.5) - 1; and how far they reach.
_STEP, _FALL, _SUM, _FARTHEST = 1.05, 1.5, 4.2248, 300
#: samples of the first check of a run that may be cut short
FEWEST = 8


class Checks:
    """A schedule of checks: pairs of a number of samples and a failure probability."""

    def __init__(self, expected: int, delta: float, limit: int | None) -> None:
        self._next, self._turn = max(1, expected), 1
        self._delta = self._rest = delta
        self._limit = limit

    def next(self) -> tuple[int, float] | None:
        """The next check, or None after the last one that `limit` allows."""
        if self._limit is not None and self._next >= self._limit:
            share, self._rest = self._rest, 0.0  # the last check gets the remainder
            return (self._limit, share) if share > 0 else None
        samples, share = self._next, self._delta / (self._turn * (self._turn + 1))
        self._next, self._turn = math.ceil(samples * GROWTH), self._turn + 1
        self._rest -= share
        return samples, share


class Choice:
    """Possible checks, of which a run takes those for which it has the time."""

    def __init__(self, checks: dict[int, float]) -> None:
        self._checks = sorted(checks.items())

    @classmethod
    def up_to(cls, last: int, delta: float) -> Choice:
        """Checks before the last one, which divide their part of the probability evenly."""
        sizes: list[int] = []
        size = min(FEWEST, last)
        while size < last:
            sizes.append(size)
            size = math.ceil(size * _STEP)
        early = {size: delta * _bounds.EARLY_PART / len(sizes) for size in sizes}
        return cls({**early, last: delta * (1 - _bounds.EARLY_PART) if sizes else delta})

    @classmethod
    def around(cls, expected: int, delta: float, limit: int | None) -> Choice:
        """Checks below and above an expected number of samples, the more probable the closer."""
        most = _bounds.MOST_SAMPLES if limit is None else limit
        checks: dict[int, float] = {}
        for distance in range(-_FARTHEST, _FARTHEST + 1):
            exact = expected * _STEP**distance
            size = most if exact >= most else max(math.ceil(exact), 1)
            checks[size] = checks.get(size, 0.0) + delta / _SUM / (1 + abs(distance)) ** _FALL
        return cls(checks)

    def next(self, samples: int, reach: float) -> tuple[int, float] | None:
        """The last check that `reach` more samples allow, or else the next one; None after all."""
        self._checks = [check for check in self._checks if check[0] > samples]
        within = [check for check in self._checks if check[0] <= samples + reach]
        return within[-1] if within else self._checks[0] if self._checks else None


class Outlook(NamedTuple):
    """What the first phase says about the second."""

    samples: int  # predicted
    seconds: float  # per sample
    highest: float  # score, as a share of all ordered pairs
    log_failure: float  # ln(1 / probability) of either side of its interval

    def radius(self, seconds: float) -> float:
        """The predicted radius of the widest interval after so much time."""
        samples = np.array([max(seconds / self.seconds, 1.0)])
        _, high = _bounds.mean_interval(np.array([self.highest]), samples, self.log_failure)
        return float(high[0]) - self.highest


class Sampling:
    """A run: ends when the goal is reached, or the samples or the time are used up."""

    def __init__(
        self, sampler: Sampler, epsilon: float, delta: float, top: int | None,
        max_samples: int | None, deadline: float, bar: tqdm,
    ) -> None:  # fmt: skip
        self.sampler, self.epsilon, self.delta, self.top = sampler, epsilon, delta, top
        self.max_samples, self.deadline, self.bar = max_samples, deadline, bar
        self.estimate = nothing_known()
        self.instead = ""  # the method that is cheaper
        self.expected_samples = 0  # of the second phase
        self._phase_samples = 0
        # The kind of each vertex, which determines its share.
        self._kind = torch.zeros(sampler.size, dtype=torch.int64, device=sampler.graph.device)

    def within_time(self, work: Callable[[], None]) -> Estimate:
        """Runs the work so that the deadline can interrupt it."""
        control = self.sampler.control
        timer = None
        if self.deadline < math.inf:
            timer = threading.Timer(max(self._time, 0.0), lambda: control.__setitem__(CANCEL, 1))
            timer.daemon = True
            timer.start()
        try:
            work()
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()
        return self.estimate

    def counted(self, goal: int, total: Tensor | None, alone: bool = False) -> Tensor | None:
        """Adds samples of a phase up to number `goal` to `total`; None if cut short."""
        size = 0 if total is None else self._phase_samples
        if total is not None and goal <= size:
            return total
        self.bar.total = max(self.sampler.samples + goal - size, self.bar.total or 0)
        more = self.sampler.draw(goal - size, self.bar, alone)
        self._phase_samples = goal
        return more if more is None or total is None else total.add_(more)

    @property
    def _time(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.perf_counter()

    def fixed(self, vertex_diameter: int) -> None:
        """Riondato and Kornaropoulos 2016: the diameter determines the number of samples."""
        early = self.deadline < math.inf
        last = _bounds.last_look(self.delta, early)
        goal = _bounds.vc_samples(self.epsilon, last, vertex_diameter)
        limit = goal if self.max_samples is None else min(goal, self.max_samples)
        choice = Choice.up_to(limit, self.delta) if early else Choice({limit: self.delta})
        for total, (samples, delta) in self._checks_in_time(choice, limit):
            vertex, count = in_samples(total)
            score = np.append(count, 0) / samples
            radius = _bounds.vc_epsilon(samples, delta, vertex_diameter)
            low, high = np.maximum(score - radius, 0), np.minimum(score + radius, 1)
            self.estimate = Estimate(
                vertex.cpu().numpy(), np.arange(score.size), score, low, high, samples,
                reached=samples >= goal,
            )  # fmt: skip

    def _checks_in_time(
        self, choice: Choice, expected: int, seconds: float | None = None
    ) -> Iterator[tuple[Tensor, tuple[int, float]]]:
        """Draws up to the checks that the time allows; yields the counts at each of them. A step
        takes about half of the time that is left, or the time to the nearest check, and ends at the
        expected number of samples. `seconds` per sample are measured anew after each step."""
        total, size = None, 0
        while True:
            reach = FEWEST if seconds is None else self._time / (2 * seconds)
            reach = reach if size >= expected else min(reach, expected - size)
            check = choice.next(size, expected if self.deadline == math.inf else reach)
            if check is None:
                return
            begin = time.perf_counter()
            total = self.counted(check[0], total)
            if total is None:
                return
            seconds = max(time.perf_counter() - begin, 1e-9) / (check[0] - size)
            size = check[0]
            yield total, check

    def progressive(self, rival: Callable[[Outlook], str]) -> None:
        """Adaptive: shares from a first phase, then checks until all scores are close enough.
        `rival`, called before the second phase, returns the name of a cheaper method, with
        which the run ends, or ""."""
        if self.deadline < math.inf:
            self._until_deadline(rival)
            return
        size = max(math.ceil(FIRST_PHASE / self.epsilon), LEAST_FIRST)
        if self.max_samples is not None and size * FIRST_PART > self.max_samples:
            size = self.max_samples // FIRST_PART
        if size < LEAST_FIRST:
            checks = Checks(self.max_samples or 1, self.delta, self.max_samples)
            self._phase(checks, _bounds.even_shares(self.sampler.size))
            return
        # Without the first samples, which start threads and load kernels, and on one device, like
        # the searches that the time is compared with (approx/_cost.py): the choice of a method does
        # not depend on the number of devices.
        warm = max(size // FIRST_PART, 1)
        total = self.counted(warm, None, alone=True)
        begin = time.perf_counter()
        total = None if total is None else self.counted(size, total, alone=True)
        if total is None:
            return
        each = (time.perf_counter() - begin) / (size - warm)
        parts, kind = self._shares(total, size, self.delta / 2)
        self.instead = rival(self._outlook(total, size, parts, kind, each, self.delta / 2))
        if self.instead:
            return
        more = self.expected_samples // FIRST_PART
        if more > size:
            total, size = self.counted(more, total), more
            if total is None:
                return
            parts, kind = self._shares(total, size, self.delta / 2)
        self._kind = kind
        rest = None if self.max_samples is None else self.max_samples - size
        self._phase(Checks(parts.samples, self.delta, rest), parts)

    def _until_deadline(self, rival: Callable[[Outlook], str]) -> None:
        """The same with a deadline, which limits both phases. The samples of the second phase have
        numbers of their own, so that they are the same however many the first phase has had time
        for."""
        least = math.ceil(FIRST_PHASE / self.epsilon)
        most = self.max_samples or _bounds.MOST_SAMPLES
        until = time.perf_counter() + _FIRST_TIME * self._time
        even = _bounds.even_shares(self.sampler.size)
        early = self.delta * _bounds.EARLY_PART / _DOUBLINGS
        delta = self.delta * (1 - _bounds.EARLY_PART)
        if most < LEAST_FIRST * FIRST_PART:
            self._in_time(Choice.up_to(most, self.delta), even, most)
            return
        size, total, each = 0, None, 0.0
        parts, kind = even, self._kind
        while size == 0 or (time.perf_counter() < until and 4 * size * FIRST_PART <= most):
            goal, begin = max(2 * size, FEWEST), time.perf_counter()
            total = self.counted(goal, total)
            if total is None:
                return
            each = max(time.perf_counter() - begin, 1e-9) / (goal - size)
            size = goal
            if self._look(total, (size, early), even):
                return
            if size >= least:
                parts, kind = self._shares(total, size, delta / 4)
                if size * FIRST_PART >= parts.samples:
                    break
        assert total is not None
        if size < least:
            parts, kind = self._shares(total, size, delta / 4)
        self.instead = rival(self._outlook(total, size, parts, kind, each, delta / 4))
        if self.instead:
            return
        self._kind, limit = kind, None if self.max_samples is None else most - size
        self.expected_samples = min(parts.samples, limit or parts.samples)
        expected = max(1, int(min(self.expected_samples, self._time / each)))
        choice = Choice.around(expected, delta, limit)
        self.sampler.jump(_SECOND_PHASE)
        self._in_time(choice, parts, self.expected_samples, each)

    def _in_time(
        self, choice: Choice, parts: _bounds.Shares, expected: int, seconds: float | None = None
    ) -> None:
        for total, check in self._checks_in_time(choice, expected, seconds):
            if self._look(total, check, parts):
                return

    def _phase(self, checks: Checks, parts: _bounds.Shares) -> None:
        total = None
        while (check := checks.next()) is not None:
            total = self.counted(check[0], total)
            if total is None or self._look(total, check, parts):
                return

    def _outlook(
        self, total: Tensor, samples: int, parts: _bounds.Shares, kind: Tensor, seconds: float,
        delta: float,
    ) -> Outlook:  # fmt: skip
        self.expected_samples = min(parts.samples, self.max_samples or parts.samples)
        highest = int(total.argmax())
        of = int(kind[highest])
        failure = float(min(parts.below[of], parts.above[of])) * delta
        score = (float(total[highest]) + 0.5) / samples
        return Outlook(self.expected_samples, seconds, min(score, 1.0), -math.log(failure))

    def _shares(self, total: Tensor, samples: int, delta: float) -> tuple[_bounds.Shares, Tensor]:
        """Computes the shares from the counts of the first phase, and the kind of each vertex."""
        vertex, count = in_samples(total)
        others = self.sampler.size - count.size
        values, which, times = grouped(np.append(count, 0) if others else count)
        if others:
            times[0] = others
        kind = torch.zeros_like(total)
        kind[vertex] = torch.from_numpy(which[: count.size]).to(total.device)
        close = np.full(values.size, self.epsilon)
        if self.top is not None:
            close = np.maximum(close, gaps(values, times, self.top) / samples / 2)
        return _bounds.shares(values, times, samples, close, delta), kind

    def _look(self, total: Tensor, check: tuple[int, float], parts: _bounds.Shares) -> bool:
        """Performs a check: stores its result and returns whether it is sufficient."""
        samples, delta = check
        vertex = torch.nonzero(total + self._kind).flatten()
        count, kind = total[vertex].cpu().numpy(), self._kind[vertex].cpu().numpy()
        # Vertices of equal kind and count share an interval; 0 represents those in no sample.
        counts, which, _ = grouped(np.append(count, 0))
        key, place, _ = grouped(np.append(kind, 0) * counts.size + which)
        of_kind, of_count = key // counts.size, counts[key % counts.size]
        low, high = _bounds.binomial_interval(
            of_count, samples, parts.below[of_kind] * delta, parts.above[of_kind] * delta
        )
        new = Estimate(vertex.cpu().numpy(), place, of_count / samples, low, high, samples)
        new.reached = new.radius <= self.epsilon or (
            self.top is not None and separated(new, self.epsilon, min(self.top, self.sampler.size))
        )
        if new.reached or new.radius <= self.estimate.radius:
            self.estimate = new
        return new.reached
