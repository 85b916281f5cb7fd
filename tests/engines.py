"""The engines under test and how precise each must be."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from graphs import DEVICE, edge_index
from oracles import Arcs
from surface import call
from torch import Tensor

# Largest relative error of a score. Everything is tested with every engine of this table.
# On CUDA the last rung of the queue engine, where tiny's overflows end, has float32 mantissas.
PAIRS = 1e-9 if DEVICE.type == "cpu" else 1e-5
ENGINES = {"tensor": 1e-9, "lanes": 1e-5, "queue": PAIRS, "tiny": PAIRS}
WEIGHTED = {"tensor": 1e-9, "relax": 1e-5, "dijkstra": 1e-9, "tiny": 1e-9, "auto": 1e-5}
# Vertices of a graph that engine="tiny" takes at most; test_tiny.py shows that it is so.
TINY_NODES = 2048
_PRECISION = ENGINES | WEIGHTED | {"hierarchy": 1e-5, "reference": 1e-9}


def skip_if_too_large(engine: str, n: int) -> None:
    if engine == "tiny" and n > TINY_NODES:
        pytest.skip(f"the tiny engine is for graphs of up to {TINY_NODES} vertices")


def scored(
    measure: Callable[..., Tensor], arcs: Arcs, n: int, engine: str, **options: Any
) -> Tensor:
    """A measure in float64, of a graph, with weights and subsets that are given as lists."""
    skip_if_too_large(engine, n)
    if isinstance(options.get("edge_weight"), list):
        numbers = [float(weight) for weight in options["edge_weight"]]
        options["edge_weight"] = torch.tensor(numbers, dtype=torch.float64, device=DEVICE)
    for name in ("sources", "targets"):
        if isinstance(options.get(name), list):
            options[name] = torch.tensor(options[name], dtype=torch.int64)
    result = call(
        measure, edge_index(arcs), num_nodes=n, dtype=torch.float64, engine=engine, **options
    )
    return result.cpu()


def assert_scores(actual: Tensor, expected: Iterable, engine: str) -> None:
    """Each score within the engine's relative error, or within 1e-12 of the largest near zero."""
    if not isinstance(expected, Tensor):
        expected = torch.tensor([_as_float(score) for score in expected], dtype=torch.float64)
    actual = actual.to(torch.float64)
    assert actual.shape == expected.shape
    size = expected[expected.isfinite()].abs()
    floor = 1e-12 * float(size.max()) if size.numel() else 0.0
    torch.testing.assert_close(
        actual, expected, rtol=_PRECISION[engine], atol=floor, equal_nan=True, check_device=False
    )


def _as_float(score: object) -> float:
    try:
        return float(score)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf
