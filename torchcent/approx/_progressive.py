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

from torchcent.approx._bounds import (
    EARLY_PART,
    MOST_SAMPLES,
    Shares,
    binomial_interval,
    even_shares,
    last_look,
    mean_interval,
    shares,
    vc_epsilon,
    vc_samples,
)
from torchcent.approx._checks import FEWEST, Checks, Choice
from torchcent.approx._estimate import Estimate, gaps, grouped, nothing_known, seen_in, separated
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


class Outlook(NamedTuple):
    """What the first phase tells of the second.

    Attributes:
        samples: the predicted number.
        seconds: per sample.
        highest: the highest score, as a share of all ordered pairs.
        log_failure: ln(1 / probability) that is left for either side of its interval.
    """

    samples: int
    seconds: float
    highest: float
    log_failure: float

    def radius(self, seconds: float) -> float:
        """The predicted radius of the widest interval after so much time."""
        samples = np.array([max(seconds / self.seconds, 1.0)])
        _, high = mean_interval(np.array([self.highest]), samples, self.log_failure)
        return float(high[0]) - self.highest


class Sampling:
    """A run: ends when the goal is reached, or the samples or the time are used up."""

    def __init__(
        self, sampler: Sampler, delta: float, max_samples: int | None, deadline: float | None,
        bar: tqdm,
    ) -> None:  # fmt: skip
        self.sampler, self.delta, self.max_samples = sampler, delta, max_samples
        self.deadline, self.bar = deadline, bar
        self.size = sampler.size
        self.found = nothing_known()
        self.instead = ""  # the method that is cheaper
        self.expected_samples = 0  # of the second phase
        self._phase_drawn = 0
        # The kind of each vertex, which determines its share.
        self._kind = torch.zeros(self.size, dtype=torch.int64, device=sampler.graph.device)

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

    def counted(self, goal: int, total: Tensor | None, alone: bool = False) -> Tensor | None:
        """Adds the samples of a phase up to number `goal` to `total`; None if cut short.

        alone: see :meth:`Sampler.draw`.
        """
        drawn = 0 if total is None else self._phase_drawn
        if total is not None and goal <= drawn:
            return total
        self.bar.total = max(self.sampler.drawn + goal - drawn, self.bar.total or 0)
        more = self.sampler.draw(goal - drawn, self.bar, alone)
        self._phase_drawn = goal
        return more if more is None or total is None else total.add_(more)

    @property
    def _left(self) -> float:
        """Seconds until the deadline."""
        return math.inf if self.deadline is None else self.deadline - time.perf_counter()

    def fixed(self, epsilon: float, vertex_diameter: int) -> None:
        """Riondato and Kornaropoulos 2016: the diameter determines the number of samples."""
        limited = self.deadline is not None
        goal = vc_samples(epsilon, last_look(self.delta, limited), vertex_diameter)
        limit = goal if self.max_samples is None else min(goal, self.max_samples)
        for total, (samples, delta) in self._checks_in_time(
            Choice.up_to(limit, self.delta) if limited else Choice({limit: self.delta}), limit
        ):
            seen, count = seen_in(total)
            score = np.append(count, 0) / samples
            radius = vc_epsilon(samples, delta, vertex_diameter)
            low, high = np.maximum(score - radius, 0), np.minimum(score + radius, 1)
            vertex = seen.cpu().numpy()
            place = np.arange(score.size)
            self.found = Estimate(vertex, place, score, low, high, samples, samples >= goal)

    def _checks_in_time(
        self, choice: Choice, expected: int, seconds: float | None = None
    ) -> Iterator[tuple[Tensor, tuple[int, float]]]:
        """Draws up to the checks that the time allows; yields the counts at each of them.

        A step takes about half of the time that is left, or the time to the nearest check, and ends
        at the expected number of samples. `seconds` per sample are measured anew after each step.
        """
        total, drawn = None, 0
        while True:
            reach = FEWEST if seconds is None else self._left / (2 * seconds)
            reach = reach if drawn >= expected else min(reach, expected - drawn)
            check = choice.next(drawn, expected if self.deadline is None else reach)
            if check is None:
                return
            begin = time.perf_counter()
            total = self.counted(check[0], total)
            if total is None:
                return
            seconds = max(time.perf_counter() - begin, 1e-9) / (check[0] - drawn)
            drawn = check[0]
            yield total, check

    def progressive(self, epsilon: float, top: int | None, rival: Callable[[Outlook], str]) -> None:
        """The adaptive rule: shares from a first phase, then checks until all scores are close
        enough.

        rival(outlook) is asked before the second phase. It returns the name of another method that
        is cheaper, with which the run ends, or "".
        """
        if self.deadline is not None:
            self._until_deadline(epsilon, top, rival)
            return
        size = max(math.ceil(FIRST_PHASE / epsilon), LEAST_FIRST)
        if self.max_samples is not None and size * FIRST_PART > self.max_samples:
            size = self.max_samples // FIRST_PART
        if size < LEAST_FIRST:
            checks = Checks(self.max_samples or 1, self.delta, self.max_samples)
            self._phase(checks, even_shares(self.size), epsilon, top)
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
        split, kind = self._shares(total, size, epsilon, top, self.delta / 2)
        self.instead = rival(self._outlook(total, size, split, kind, each, self.delta / 2))
        if self.instead:
            return
        more = self.expected_samples // FIRST_PART
        if more > size:
            total, size = self.counted(more, total), more
            if total is None:
                return
            split, kind = self._shares(total, size, epsilon, top, self.delta / 2)
        self._kind = kind
        left = None if self.max_samples is None else self.max_samples - size
        self._phase(Checks(split.samples, self.delta, left), split, epsilon, top)

    def _until_deadline(
        self, epsilon: float, top: int | None, rival: Callable[[Outlook], str]
    ) -> None:
        """The same with a deadline, which limits both phases.

        The samples of the second phase have numbers of their own, so that they are the same however
        many the first phase has had time for.
        """
        least, most = math.ceil(FIRST_PHASE / epsilon), self.max_samples or MOST_SAMPLES
        until = time.perf_counter() + _FIRST_TIME * self._left
        size, total = 0, None
        even, part = even_shares(self.size), self.delta * EARLY_PART / _DOUBLINGS
        delta = self.delta * (1 - EARLY_PART)
        split, kind, each = even, self._kind, 0.0
        if most < LEAST_FIRST * FIRST_PART:
            for found, check in self._checks_in_time(Choice.up_to(most, self.delta), most):
                if self._look(found, check, even, epsilon, top):
                    return
            return
        while size == 0 or (time.perf_counter() < until and 4 * size * FIRST_PART <= most):
            goal, begin = max(2 * size, FEWEST), time.perf_counter()
            total = self.counted(goal, total)
            if total is None:
                return
            each = max(time.perf_counter() - begin, 1e-9) / (goal - size)
            size = goal
            if self._look(total, (size, part), even, epsilon, top):
                return
            if size >= least:
                split, kind = self._shares(total, size, epsilon, top, delta / 4)
                if size * FIRST_PART >= split.samples:
                    break
        assert total is not None
        if size < least:
            split, kind = self._shares(total, size, epsilon, top, delta / 4)
        self.instead = rival(self._outlook(total, size, split, kind, each, delta / 4))
        if self.instead:
            return
        self._kind, limit = kind, None if self.max_samples is None else most - size
        self.expected_samples = min(split.samples, limit or split.samples)
        expected = max(1, int(min(self.expected_samples, self._left / each)))
        choice = Choice.around(expected, delta, limit)
        self.sampler.jump(_SECOND_PHASE)
        for found, check in self._checks_in_time(choice, self.expected_samples, each):
            if self._look(found, check, split, epsilon, top):
                return

    def _outlook(
        self, total: Tensor, samples: int, split: Shares, kind: Tensor, seconds: float,
        delta: float,
    ) -> Outlook:  # fmt: skip
        self.expected_samples = min(split.samples, self.max_samples or split.samples)
        highest = int(total.argmax())
        of = int(kind[highest])
        failure = float(min(split.below[of], split.above[of])) * delta
        score = (float(total[highest]) + 0.5) / samples
        return Outlook(self.expected_samples, seconds, min(score, 1.0), -math.log(failure))

    def _shares(
        self, total: Tensor, samples: int, epsilon: float, top: int | None, delta: float
    ) -> tuple[Shares, Tensor]:
        """Computes the shares from the counts of the first phase, and the kind of each vertex."""
        seen, count = seen_in(total)
        unseen = self.size - count.size
        values, which, times = grouped(np.append(count, 0) if unseen else count)
        if unseen:
            times[0] = unseen
        kind = torch.zeros_like(total)
        kind[seen] = torch.from_numpy(which[: count.size]).to(total.device)
        close = np.full(values.size, epsilon)
        if top is not None:
            close = np.maximum(close, gaps(values, times, top) / samples / 2)
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
        counts, which, _ = grouped(np.append(count, 0))
        key, place, _ = grouped(np.append(kind, 0) * counts.size + which)
        of_kind, of_count = key // counts.size, counts[key % counts.size]
        low, high = binomial_interval(
            of_count, samples, split.below[of_kind] * delta, split.above[of_kind] * delta
        )
        found = Estimate(seen.cpu().numpy(), place, of_count / samples, low, high, samples)
        found.reached = found.radius <= epsilon or (
            top is not None and separated(found, epsilon, min(top, self.size))
        )
        if found.reached or found.radius <= self.found.radius:
            self.found = found
        return found.reached
