"""The steps of a diffusion: what a vertex may have left at each, and what of its mass stays."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

WHOLE = 2.0**62
"""Units of all mass (csrc/diffusion/steps.h)."""
_REST = 2.0**-62  # of the heat kernel's walks, which may be left out


class Steps(NamedTuple):
    """Those of csrc/diffusion/steps.h.

    Attributes:
        table: float64 [2, k] on the host: units of mass that a vertex may have left for each unit
            of its strength, and the part of moved mass that stays.
        follow: the part of moved mass that follows the arcs.
        lasts: whether the last step stands for all that follow, and mass that is left for later.
        work: the strengths of all vertices that move mass sum to at most that, but for the source.
    """

    table: Tensor
    follow: float
    lasts: bool
    work: float


def of_restarts(restart: float, eps: float) -> Steps:
    """Walks that end with a probability of `restart` at each vertex."""
    table = torch.tensor([[eps * WHOLE], [restart]], dtype=torch.float64, device="cpu")
    return Steps(table, 1 - restart, True, 1 / (restart * eps))


def of_time(t: float, eps: float) -> Steps:
    """Walks whose lengths have a Poisson distribution.

    Mass b that is lost at step j is missing from all walks of at least j steps, whose probability
    is T(j). With mass b(j) s(v) lost at v the error of an entry is at most s(v) sum b(j) T(j). Of
    all b for which that is eps, those in proportion to 1 / sqrt(T(j)) have the least work, which is
    at most sum 1 / b(j).
    """
    last = math.ceil(t + 12 * math.sqrt(t) + 60)
    chance = [math.exp(j * math.log(t) - t - math.lgamma(j + 1)) for j in range(last + 1)]
    tail, rest = [0.0] * (last + 1), 0.0
    for j in range(last, -1, -1):
        rest += chance[j]
        tail[j] = min(rest, 1.0)
    count = next((j for j in range(1, last + 1) if tail[j] < _REST), last)
    roots = [math.sqrt(x) for x in tail[:count]]
    total = math.fsum(roots[1:]) or 1.0  # the source always moves its mass
    bound = [eps / (root * total) for root in roots]
    work = math.fsum(1 / x for x in bound[1:])
    table = torch.tensor(
        [[x * WHOLE for x in bound], chance[:count]], dtype=torch.float64, device="cpu"
    )
    return Steps(table, 1.0, False, work)
