"""Bounds of a mean from samples, and how a probability of failure is shared out among vertices.

docs/approximation.md has the proofs. Everything here is small: vertices with the same counts share
a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

# Samples are counted in int64.
MOST_SAMPLES = 2**62
# Part of the probability of failure that is shared out evenly, whatever is expected; and by how
# many standard deviations scores are taken to be above what was seen: when it is shared out, and
# when the samples are foreseen. Chosen by simulation, to take few samples; any numbers are valid.
_EVENLY, _PRUDENT, _LIKELY = 0.3, 4.0, 2.0
_HALVINGS = 40


def binomial_interval(
    count: Counts, samples: int, below: Floats, above: Floats
) -> tuple[Floats, Floats]:
    """Where the probability of an event lies that was seen `count` times, by Clopper and Pearson
    1934.

    It is less than the first with probability at most `below`, more than the second with at most
    `above`: the values at which so many events or more (so few or fewer) have that probability.
    """
    missed = samples - count
    with np.errstate(invalid="ignore"):
        low = scipy.special.betaincinv(count, missed + 1.0, below)
        high = 1 - scipy.special.betaincinv(missed, count + 1.0, above)
    return np.where(count == 0, 0.0, low), np.where(missed == 0, 1.0, high)


def mean_interval(mean: Floats, samples: Floats, log_failure: float) -> tuple[Floats, Floats]:
    """Where the mean of numbers in [0, 1] lies of which so many were drawn, with or without
    replacement; log_failure = ln(1 / probability), for each side.

    Hoeffding 1963: P(mean of k >= q) <= exp(-k KL(q, p)) for q > p, likewise below, and
    KL(q, p) >= (q - p)^2 / (2 max(p, q)), solved for p; or his plain bound, where that is less.
    """
    rate = log_failure / samples
    plain = np.sqrt(rate / 2)
    low = mean - np.minimum(np.sqrt(2 * mean * rate), plain)
    high = mean + np.minimum(rate + np.sqrt(rate * (rate + 2 * mean)), plain)
    return np.maximum(low, 0), np.minimum(high, 1)


# Looks before the last one, for runs that may be cut short, have this part of the probability of
# failure.
EARLY_PART = 0.05


def last_look(delta: float, limited: bool) -> float:
    """The probability of failure that is left for the last look."""
    return delta * (1 - EARLY_PART) if limited else delta


def hoeffding_samples(epsilon: float, delta: float, num_nodes: int) -> int:
    """Sources after which each of n means is within epsilon, all with probability 1 - delta."""
    return math.ceil(math.log(2 * max(num_nodes, 1) / delta) / (2 * epsilon**2))


VC_CONSTANT = 0.5
"""Of the bound by dimension; estimated by experiment (Löffler and Phillips 2009), not proven."""


def vc_dimension(vertex_diameter: int) -> int:
    """An upper bound of the dimension of shortest paths (Riondato and Kornaropoulos 2016)."""
    return int(math.log2(max(vertex_diameter - 2, 1))) + 1


def vc_samples(epsilon: float, delta: float, vertex_diameter: int) -> int:
    """Paths after which all n are within epsilon with probability 1 - delta."""
    dimension = vc_dimension(vertex_diameter)
    return math.ceil(VC_CONSTANT / epsilon**2 * (dimension + math.log(1 / delta)))


def vc_epsilon(samples: int, delta: float, vertex_diameter: int) -> float:
    """The same, solved for epsilon."""
    dimension = vc_dimension(vertex_diameter)
    return math.sqrt(VC_CONSTANT / samples * (dimension + math.log(1 / delta)))


class Shares(NamedTuple):
    """Probabilities of failure, per kind of vertex; all vertices and both sides sum to 1."""

    below: Floats
    above: Floats
    samples: int  # after which all are expected to be as close as they should


def even_shares(num_nodes: int) -> Shares:
    share = np.array([1 / (2 * num_nodes)])
    return Shares(share, share, 0)


def shares(count: Counts, times: Counts, samples: int, close: Floats, delta: float) -> Shares:
    """Shares with which all vertices are expected to be close enough after the same number of
    samples (Borassi and Natale 2016).

    count: how often a vertex of each kind was seen in a first phase of so many samples, and how
    many `times` there are such vertices; close: what their scores should be within; delta: the
    probability of failure of the check that is to succeed. Shares are for scores somewhat above
    what was seen: a vertex that was seen less often than it should have been would get too little.
    The samples are those that suffice for scores as they were seen.
    """
    deviation = np.sqrt(count)
    prudent = _tails(np.minimum((count + _PRUDENT * (deviation + 1)) / samples, 1.0), close)
    likely = _tails(np.minimum((count + _LIKELY * deviation + 0.5) / samples, 1.0), close)
    at = _least(lambda t: float((times * sum(prudent(t))).sum()) <= delta)
    below, above = prudent(at)
    total = float((times * (below + above)).sum())
    scale = (1 - _EVENLY) / total if total > 0 else 0.0
    even = _EVENLY / (2 * times.sum())
    below, above = below * scale + even, above * scale + even

    def enough(t: float) -> bool:
        low, high = likely(t)
        return bool((low <= below * delta).all() and (high <= above * delta).all())

    return Shares(below, above, min(math.ceil(_least(enough)), MOST_SAMPLES))


def _tails(score: Floats, close: Floats) -> Callable[[float], tuple[Floats, Floats]]:
    """The probability that an estimate from t samples is off by `close`, to either side: that of
    the tail of a binomial distribution, exp(-x) / sqrt(4 pi x) with x = t KL, or less."""
    over, under = np.minimum(score + close, 1.0), np.maximum(score - close, 0.0)
    # No score is above 1 or below 0.
    apart_above = np.where(over < 1, _divergence(score, over), np.inf)
    apart_below = np.where(under > 0, _divergence(score, under), np.inf)

    def tail(x: Floats) -> Floats:
        return np.exp(-x) / np.sqrt(np.maximum(4 * math.pi * x, 1))

    def tails(samples: float) -> tuple[Floats, Floats]:
        return tail(samples * apart_below), tail(samples * apart_above)

    return tails


def _least(enough: Callable[[float], bool]) -> float:
    """The least number from 1 on that is enough."""
    least, most = 1.0, 1.0
    while not enough(most):
        least, most = most, 2 * most
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        least, most = (least, middle) if enough(middle) else (middle, most)
    return most


def _divergence(q: Floats, p: Floats) -> Floats:
    """Kullback and Leibler's, of coins that show heads with q and p.

    Where q and p are so close that nothing is left of the difference, a lower bound of it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = scipy.special.rel_entr(q, p) + scipy.special.rel_entr(1 - q, 1 - p)
        result: Floats = np.maximum(found, (q - p) ** 2 / (2 * np.maximum(q, p)))
        return result
