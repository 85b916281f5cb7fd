"""Errors about the arguments of curvature and rewiring."""

from __future__ import annotations

from torchcent.check._values import whole, within

_MOST = 10**7  # steps


def rewiring(
    iterations: object, tau: object, removal_bound: object
) -> tuple[int, float, float | None]:
    """Those of sdrf."""
    steps = whole(iterations, "iterations", _MOST)
    temperature = within(tau, "tau", "[0, inf)", "finite and >= 0")
    if removal_bound is None:
        return steps, temperature, None
    return steps, temperature, within(removal_bound, "removal_bound", "(-inf, inf)", "finite")
