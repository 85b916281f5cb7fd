"""Every normalisation: from sums over ordered pairs to what NetworkX 3.6 returns."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def scale(
    scores: Tensor,
    num_nodes: int,
    *,
    normalized: bool,
    directed: bool,
    endpoints: bool = True,
    pivots: Tensor | None = None,
    subset: bool = False,
) -> Tensor:
    """Scales sums over ordered pairs (s, t) in place; edge scores come with endpoints=True.

    With N = n if endpoints else n - 1 possible ends, K = N or the number of pivots, and c = 1
    directed or 2 undirected: normalised 1 / (K (N - 1)), raw N / (K c). A pivot's own score lacks
    the pairs it begins, so K - 1 stands for K there unless endpoints count. Subset scores are not
    extrapolated.
    """
    ends = num_nodes if endpoints else num_nodes - 1
    if ends < 2:
        return scores
    if subset or pivots is None:
        return scores.mul_(_factor(ends, ends, normalized, directed))
    count = pivots.numel()
    if endpoints:
        return scores.mul_(_factor(ends, count, normalized, directed))
    own = scores[pivots] * _factor(ends, count - 1, normalized, directed)
    scores.mul_(_factor(ends, count, normalized, directed))
    scores[pivots] = own
    return scores


def closeness(farness: Tensor, reach: Tensor, num_nodes: int, wf_improved: bool) -> Tensor:
    """reach / farness, 0 where nothing is reached; times the share of the other vertices that are
    (Wasserman and Faust)."""
    score = torch.where(farness == 0, 0.0, reach / farness)
    return score * (reach / max(num_nodes - 1, 1)) if wf_improved else score


def harmonic(sums: Tensor, num_nodes: int, normalized: bool) -> Tensor:
    return sums / max(num_nodes - 1, 1) if normalized else sums


def from_pivots(sums: Tensor, pivots: Tensor) -> Tensor:
    """Sums over all other vertices, estimated from those over k pivots; one row per vertex.

    Each of the n - 1 other vertices counts as much as the pivots do on average; a pivot itself has
    k - 1 others, and with k = 1 it is told nothing: NaN.
    """
    num_nodes = sums.shape[0]
    if pivots.numel() == num_nodes:
        return sums
    others = torch.full_like(sums[:, :1], pivots.numel())
    others[pivots] -= 1
    return sums * ((num_nodes - 1) / others)


def _factor(ends: int, sources: int, normalized: bool, directed: bool) -> float:
    if sources == 0:
        return math.nan  # one pivot says nothing about its own score
    if normalized:
        return 1 / (sources * (ends - 1))
    return ends / (sources * (1 if directed else 2))
