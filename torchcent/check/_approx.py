"""Errors about the arguments of approximations."""

from __future__ import annotations

from torchcent.check._graph import Checked
from torchcent.check._values import shortened, within

#: what to call instead for a batch of graphs
OF_BATCHES = "betweenness has exact scores of each"
METHODS = ("auto", "kadabra", "rk", "pivots", "exact")


def epsilon(value: object) -> float:
    bound = share(value, "epsilon")
    if bound < 1e-9:  # below it the number of samples exceeds int64
        raise ValueError(
            f"epsilon must be at least 1e-9, got {shortened(value)}; method='exact' has no error"
        )
    return bound


def share(value: object, name: str, most: float = 1) -> float:
    return within(value, name, f"(0, {most})", f"more than 0 and less than {most:g}")


def options(method: str, top: object, pivots: str, graph: Checked) -> None:
    """Checks the options that only one of the methods accepts."""
    if top is not None and method not in ("auto", "kadabra"):
        raise ValueError(f"top={top!r} is for method='kadabra', not {method!r}; leave it out")
    if pivots != "uniform" and method != "pivots":
        raise ValueError(f"pivots={pivots!r} is for method='pivots', not {method!r}")
    if pivots.endswith("+linear") and graph.tie_tolerance > 0:
        raise ValueError(
            f"pivots={pivots!r} divides lengths of shortest paths; the tie_tolerance of the graph "
            "must be 0"
        )
