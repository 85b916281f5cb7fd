"""Checks of the arguments of Markov clustering."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.check._values import dense, number, shortened
from torchcent.clustering._rules import Prune, Rules
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike

MOST_STEPS = 1000  # of an expansion


def similarities(edge_index: GraphLike, edge_weight: object) -> Tensor | None:
    """float64 [E] or None. A Graph's weights are distances, so they are never used."""
    if isinstance(edge_index, Graph):
        if edge_weight is None and not edge_index.is_weighted:
            return None
        call = "torchcent.mcl(graph.to_edge_index(), similarity, num_nodes=graph.num_nodes)"
        if edge_weight is not None:
            raise ValueError(
                f"edge_weight is for an edge_index, and a Graph was given; for a similarity per "
                f"slot: {call}"
            )
        raise ValueError(
            "the Graph's weights are distances, and mcl takes similarities: for a similarity that "
            f"you make of them, such as 1 / graph.weight, {call}; without weights pass "
            "graph.unweighted()"
        )
    return check_weights.similarities(edge_weight, check.edge_index(edge_index))


def inflation(value: object, name: str = "inflation") -> float:
    rate = _number(value, name)
    if not 1 < rate < math.inf:
        raise ValueError(
            f"{name} must be > 1 and finite, got {shortened(value)}: 1 leaves the flow as it "
            "is and less evens it out, so that it never becomes clusters; mcl's usual range is "
            "1.2 to 5"
        )
    return rate


def inflations(values: object) -> list[float]:
    if isinstance(values, (str, bytes)) or not isinstance(values, (Iterable, Tensor)):
        raise TypeError(f"inflations must be a list of numbers, got {shortened(values)}")
    if isinstance(values, Tensor):
        dense(values, "inflations")
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"inflations must be one-dimensional, got {shortened(values)}")
    numbers = values.tolist() if isinstance(values, Tensor) else list(values)
    if not numbers:
        raise ValueError("inflations must not be empty; mcl's usual sweep is [1.4, 2, 4, 6]")
    return [inflation(value, f"inflations[{i}]") for i, value in enumerate(numbers)]


def rules(
    expansion: object, prune: object, rate: float = 2.0, chaos: object = 1e-4,
    max_iter: object = 10000,
) -> Rules:  # fmt: skip
    """`rate`: the inflation, which has been checked."""
    # Each step of a walk is a matrix product, so values in the millions are typing errors. A walk
    # of MOST_STEPS steps has long mixed within any cluster that mcl would find.
    steps = _between(expansion, "expansion", 2, MOST_STEPS)
    if prune is not None and not isinstance(prune, Prune):
        raise TypeError(f"prune must be a torchcent.Prune or None, got {shortened(prune)}")
    most = _between(max_iter, "max_iter", 1, 2**31 - 1)
    return Rules(steps, prune, rate, _positive(chaos, "chaos"), most)


def loops(value: object) -> str | float | None:
    if value is None:
        return None
    if isinstance(value, str):
        if value in ("max", "one"):
            return value
        raise ValueError(
            f"loops must be 'max', 'one', a number > 0 or None, got {shortened(value)}"
        )
    return _positive(value, "loops", "; None adds no loops")


def same_size(first: int, second: int) -> None:
    if first != second:
        raise ValueError(f"the clusterings are of {first} and of {second} vertices")


def _between(value: object, name: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an int, got {shortened(value)}")
    whole = int(value)
    if whole < least:
        raise ValueError(f"{name} must be at least {least}, got {shortened(value)}")
    if whole > most:
        raise ValueError(f"{name} must be at most {most}, got {shortened(value)}")
    return whole


def _number(value: object, name: str) -> float:
    if math.isnan(number(value, name)):
        raise ValueError(f"{name} must not be NaN")
    return number(value, name)


def _positive(value: object, name: str, note: str = "") -> float:
    if not 0 < _number(value, name) < math.inf:
        raise ValueError(f"{name} must be a finite number > 0, got {shortened(value)}{note}")
    return number(value, name)
