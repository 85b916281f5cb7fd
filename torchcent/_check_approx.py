"""Errors of the arguments of approximations."""

from __future__ import annotations

METHODS = ("auto", "kadabra", "rk", "pivots", "exact")


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def epsilon(value: object) -> float:
    if share(value, "epsilon") < 1e-9:  # for which more samples are needed than int64 counts
        raise ValueError(
            f"epsilon must be at least 1e-9, got {value!r}; method='exact' has no error"
        )
    return _number(value, "epsilon")


def share(value: object, name: str, most: float = 1) -> float:
    number = _number(value, name)
    if not 0 < number < most:
        raise ValueError(f"{name} must be more than 0 and less than {most:g}, got {value!r}")
    return number


def at_least(value: object, name: str, least: float) -> float:
    number = _number(value, name)
    if not least <= number < float("inf"):
        raise ValueError(f"{name} must be at least {least:g} and finite, got {value!r}")
    return number


def seconds(value: object) -> float | None:
    if value is None:
        return None
    number = _number(value, "time_limit")
    if not 0 < number < float("inf"):
        raise ValueError(f"time_limit must be a positive number of seconds, got {value!r}")
    return number


def options(method: str, top: object, pivots: str, scaling: str, tie_tolerance: float) -> None:
    """What only one of the methods knows."""
    if top is not None and method not in ("auto", "kadabra"):
        raise ValueError(f"top={top!r} is for method='kadabra', not {method!r}; leave it out")
    if pivots != "uniform" and method != "pivots":
        raise ValueError(f"pivots={pivots!r} is for method='pivots', not {method!r}")
    if scaling != "brandes_pich" and method != "pivots":
        raise ValueError(f"scaling={scaling!r} is for method='pivots', not {method!r}")
    if scaling == "linear" and tie_tolerance > 0:
        raise ValueError(
            "scaling='linear' divides lengths of shortest paths; tie_tolerance must be 0"
        )
