"""How exponents.py calls a function: on which graphs, with what, and how its time may grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from exponent_graphs import WEIGHTS, Case
from torch import Tensor

Prepared = Callable[[], Any]
ALL_PAIRS = "a search from each vertex, O(n m)"
PAIRS = "a value for each pair of vertices, O(n^2)"
DENSE = "dense linear algebra, O(n^3) per component"
SPARSE = "a sparse factor with fill, O(n^1.5) on planar graphs, O(n^3) where the graph is dense"
ITERATIONS = "iterations until convergence, whose number grows with the length of the graph"
TRIANGLES = "intersections of neighbours, O(m^1.5)"


@dataclass(frozen=True)
class Call:
    """A public function with its arguments; `prepare` makes the call without a timed part."""

    name: str
    prepare: Callable[[Case], Prepared]
    weights: tuple[str, ...] = WEIGHTS
    kinds: tuple[str, ...] | None = None  # None: all
    batch: bool = True  # takes batches
    #: kind -> (largest exponent, reason); kinds that are not named may have 1
    expected: dict[str, tuple[float, str]] = field(default_factory=dict)
    start: int = 500  # vertices and edges of the first, smallest graph
    #: those of graphs on which a reduction begins to pay off, which then leaves nothing to search
    begins: dict[str, int] = field(default_factory=dict)
    largest: int = 1_000_000


CALLS: list[Call] = []


def add(name: str, prepare: Callable[[Case], Prepared], **options: Any) -> None:
    CALLS.append(Call(name, prepare, **options))


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(3)


def on_graph(function: Callable[..., Any], **options: Any) -> Callable[[Case], Prepared]:
    """The function of the graph alone; parallel arcs as they are given."""

    def prepare(case: Case) -> Prepared:
        extra = {key: make(case) if callable(make) else make for key, make in options.items()}
        if case.kind == "parallel":
            if case.weight is not None:
                extra["edge_weight"] = case.weight
            return partial(function, case.edges, directed=False, **extra)
        return partial(function, case.graph(), **extra)

    return prepare


def every(reason: str, exponent: float, *kinds: str) -> dict[str, tuple[float, str]]:
    return {kind: (exponent, reason) for kind in kinds}


def first(case: Case, most: int = 4) -> Tensor:
    return torch.arange(min(most, case.num_nodes))


def generator_of(case: Case) -> torch.Generator:
    return seeded()
