"""Schedules of checks: numbers of samples, and the part of the failure probability of each.

Both are fixed before the samples of a phase are drawn. Intervals of all checks therefore hold
simultaneously, whichever of them take place.
"""

from __future__ import annotations

import math

from torchcent.approx._bounds import EARLY_PART, MOST_SAMPLES

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
        self._delta = self._left = delta
        self._limit = limit

    def next(self) -> tuple[int, float] | None:
        """The next check, or None after the last one that `limit` allows."""
        if self._limit is not None and self._next >= self._limit:
            share, self._left = self._left, 0.0  # the last check gets the remainder
            return (self._limit, share) if share > 0 else None
        samples, share = self._next, self._delta / (self._turn * (self._turn + 1))
        self._next, self._turn = math.ceil(samples * GROWTH), self._turn + 1
        self._left -= share
        return samples, share


class Choice:
    """Possible checks, of which a run takes those for which it has the time."""

    def __init__(self, checks: dict[int, float]) -> None:
        self._checks = sorted(checks.items())

    @classmethod
    def up_to(cls, last: int, delta: float) -> Choice:
        """Checks before the last one, which divide `EARLY_PART` of the probability evenly."""
        sizes: list[int] = []
        size = min(FEWEST, last)
        while size < last:
            sizes.append(size)
            size = math.ceil(size * _STEP)
        early = {size: delta * EARLY_PART / len(sizes) for size in sizes}
        return cls({**early, last: delta * (1 - EARLY_PART) if sizes else delta})

    @classmethod
    def around(cls, expected: int, delta: float, limit: int | None) -> Choice:
        """Checks below and above an expected number of samples, the more probable the closer."""
        most = MOST_SAMPLES if limit is None else limit
        found: dict[int, float] = {}
        for distance in range(-_FARTHEST, _FARTHEST + 1):
            exact = expected * _STEP**distance
            size = most if exact >= most else max(math.ceil(exact), 1)
            found[size] = found.get(size, 0.0) + delta / _SUM / (1 + abs(distance)) ** _FALL
        return cls(found)

    def next(self, drawn: int, reach: float) -> tuple[int, float] | None:
        """The last check that `reach` more samples allow, or else the next one; None after all."""
        self._checks = [check for check in self._checks if check[0] > drawn]
        within = [check for check in self._checks if check[0] <= drawn + reach]
        return within[-1] if within else self._checks[0] if self._checks else None
