"""Errors about the arguments of approximations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchcent.check._values import number, shortened

if TYPE_CHECKING:
    from torchcent.graph import Graph

#: what to call instead for a batch of graphs
OF_BATCHES = "betweenness has exact scores of each"
METHODS = ("auto", "kadabra", "rk", "pivots", "exact")


def epsilon(value: object) -> float:
    if share(value, "epsilon") < 1e-9:  # below it the number of samples exceeds int64
        raise ValueError(
            f"epsilon must be at least 1e-9, got {shortened(value)}; method='exact' has no error"
        )
    return number(value, "epsilon")


def share(value: object, name: str, most: float = 1) -> float:
    fraction = number(value, name)
    if not 0 < fraction < most:
        raise ValueError(
            f"{name} must be more than 0 and less than {most:g}, got {shortened(value)}"
        )
    return fraction


def at_least(value: object, name: str, least: float) -> float:
    size = number(value, name)
    if not least <= size < float("inf"):
        raise ValueError(f"{name} must be at least {least:g} and finite, got {shortened(value)}")
    return size


def seconds(value: object) -> float | None:
    if value is None:
        return None
    limit = number(value, "time_limit")
    if not 0 < limit < float("inf"):
        raise ValueError(f"time_limit must be a positive number of seconds, got {shortened(value)}")
    return limit


def options(method: str, top: object, pivots: str, graph: Graph) -> None:
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
