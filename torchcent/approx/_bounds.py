"""Bounds on means of samples, and the distribution of the failure probability over vertices.

docs/approximation.md has the proofs. All arrays here are small, because vertices with equal counts
share a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

# Samples are counted in int64.
MOST_SAMPLES = 2**62
# The part of the failure probability that is distributed uniformly, regardless of the first phase;
# and the number of standard deviations by which scores are assumed to exceed their estimates when
# the shares are computed, and when the number of samples is predicted. Tuned by simulation for few
# samples; any values are valid.
_EVENLY, _PRUDENT, _LIKELY = 0.3, 4.0, 2.0
_HALVINGS = 40


def binomial_interval(
    count: Counts | Floats, samples: int | Floats, below: Floats, above: Floats
) -> tuple[Floats, Floats]:
    """Clopper-Pearson interval (1934) of the probability of an event that occurred `count` times.
    The true value is below it with probability at most `below`, and above it with at most `above`.
    """
    import scipy.special

    rest = samples - count
    with np.errstate(invalid="ignore"):
        low = scipy.special.betaincinv(count, rest + 1.0, below)
        high = 1 - scipy.special.betaincinv(rest, count + 1.0, above)
    return np.where(count == 0, 0.0, low), np.where(rest == 0, 1.0, high)


def mean_interval(
    mean: Floats, samples: Floats, log_failure: float, population: float = math.inf
) -> tuple[Floats, Floats]:
    """Interval for the mean of numbers in [0, 1], given the mean of samples drawn with or without
    replacement; log_failure = ln(1 / probability) for each side. Hoeffding 1963: P(mean of k >= q)
    <= exp(-k KL(q, p)) for q > p, and likewise below. The bound KL(q, p) >= (q - p)^2 / (2 max(p,
    q)) is solved for p; the plain Hoeffding bound is used where it is tighter. Serfling 1974
    divides its exponent by 1 - (k - 1) / N if samples are drawn without replacement from a
    population of N."""
    rate = log_failure / samples
    plain = np.sqrt(rate / 2 * np.clip(1 - (samples - 1) / population, 0, 1))
    low = mean - np.minimum(np.sqrt(2 * mean * rate), plain)
    high = mean + np.minimum(rate + np.sqrt(rate * (rate + 2 * mean)), plain)
    return np.maximum(low, 0), np.minimum(high, 1)


# The part of the failure probability for checks before the last one, in runs that may be cut short.
EARLY_PART = 0.05


def last_look(delta: float, early: bool) -> float:
    """The failure probability of the last check, where there may be early ones."""
    return delta * (1 - EARLY_PART) if early else delta


def serfling_samples(epsilon: float, delta: float, num_nodes: int, edges: int = 0) -> int:
    """Distinct sources other than a vertex after which the means of all n vertices are within
    epsilon, with probability 1 - delta. It is the least k with 2 k epsilon^2 >= (1 - (k - 1) / N)
    L, where L = ln(2 n / delta) and N = n - 1. For the means of `edges`, their number replaces the
    n of L, and N is n."""
    others = max(num_nodes - (not edges), 1)
    failure = math.log(2 * max(edges or num_nodes, 1) / delta)
    most = failure * (1 + 1 / others) / (2 * epsilon**2 + failure / others)
    return min(math.ceil(most), others)


def hoeffding_samples(epsilon: float, delta: float, num_nodes: int, edges: int = 0) -> int:
    """The same for sources drawn with replacement."""
    return math.ceil(math.log(2 * max(edges or num_nodes, 1) / delta) / (2 * epsilon**2))


VC_CONSTANT = 0.5
"""Constant of the VC bound; estimated by experiment (Löffler and Phillips 2009), not proven."""


def vc_dimension(vertex_diameter: int) -> int:
    """Upper bound on the VC dimension of shortest paths (Riondato and Kornaropoulos 2016)."""
    return int(math.log2(max(vertex_diameter - 2, 1))) + 1


def vc_samples(epsilon: float, delta: float, vertex_diameter: int) -> int:
    """Paths after which all n scores are within epsilon with probability 1 - delta."""
    dimension = vc_dimension(vertex_diameter)
    return math.ceil(VC_CONSTANT / epsilon**2 * (dimension + math.log(1 / delta)))


def vc_epsilon(samples: int, delta: float, vertex_diameter: int) -> float:
    """The inverse of :func:`vc_samples`: epsilon after a number of samples."""
    dimension = vc_dimension(vertex_diameter)
    return math.sqrt(VC_CONSTANT / samples * (dimension + math.log(1 / delta)))


class Shares(NamedTuple):
    """Failure probabilities per kind of vertex; they sum to 1 over all vertices and both sides."""

    below: Floats
    above: Floats
    samples: int  # predicted number of samples


def even_shares(num_nodes: int) -> Shares:
    share = np.array([1 / (2 * num_nodes)])
    return Shares(share, share, 0)


def shares(count: Counts, times: Counts, samples: int, close: Floats, delta: float) -> Shares:
    """Shares for which kinds of vertices, `times` of each, are expected to be within their radii
    `close` after the same number of samples (Borassi and Natale 2016). Of the first phase, `count`
    of the samples contain a vertex of each kind. Scores are assumed to be somewhat above their
    estimates: otherwise a vertex in too few samples by chance would get too small a share."""
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
    """An approximate upper bound on the probability that an estimate from t samples is off by
    `close`, for either side. It is the binomial tail exp(-x) / sqrt(4 pi x) with x = t KL."""
    over, under = np.minimum(score + close, 1.0), np.maximum(score - close, 0.0)
    # Scores lie in [0, 1].
    apart_above = np.where(over < 1, _divergence(score, over), np.inf)
    apart_below = np.where(under > 0, _divergence(score, under), np.inf)

    def tail(x: Floats) -> Floats:
        return np.exp(-x) / np.sqrt(np.maximum(4 * math.pi * x, 1))

    return lambda samples: (tail(samples * apart_below), tail(samples * apart_above))


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
    """Kullback-Leibler divergence of Bernoulli variables with parameters q and p. If q and p are so
    close that the difference cancels, a lower bound."""
    import scipy.special

    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = scipy.special.rel_entr(q, p) + scipy.special.rel_entr(1 - q, 1 - p)
        divergence: Floats = np.maximum(entropy, (q - p) ** 2 / (2 * np.maximum(q, p)))
    return divergence
