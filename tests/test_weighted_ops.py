"""The compiled operators for graphs with weights: values, ties, overflow, cancellation."""

import math
import os
import random
import subprocess
import sys
from fractions import Fraction

import networkx as nx
import pytest
import torch
import weighted_oracles as oracles
from graphs import ASSORTED, arc_lists, diamonds, edge_index, grid, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import torchcent

if os.environ.get("TORCHCENT_NO_EXTENSION"):
    pytest.skip("TORCHCENT_NO_EXTENSION is set: no operators", allow_module_level=True)

ops = torch.ops.torchcent
F64 = torch.float64
MEASURES = ["betweenness", "edge_betweenness", "stress"]
ENGINES = {"relax": 0, "dijkstra": 1}
# engine and rung of the ladder that it starts on
KERNELS = {"relax": (0, 0), "dijkstra": (1, 1), "wide": (1, 2)}
DTYPES = {"int32": torch.int32, "float64": F64}


class Weighted:
    """A graph and its weights as the operators take them."""

    def __init__(self, n: int, weights: oracles.Weights, dtype: torch.dtype) -> None:
        self.n, self.weights = n, {arc: w for arc, w in weights.items() if arc[0] != arc[1]}
        self.slots = sorted(self.weights)
        columns = edge_index(self.slots)
        self.rowptr, self.col, slot = ops.csr(columns, n, False)
        assert slot.tolist() == list(range(len(self.slots)))
        self.colptr, self.row, order = ops.transpose(self.rowptr, self.col)
        self.weight = torch.tensor([self.weights[arc] for arc in self.slots], dtype=dtype)
        self.back_weight = self.weight[order]

    @property
    def graph(self) -> tuple[Tensor, ...]:
        return (self.rowptr, self.col, self.weight, self.colptr, self.row, self.back_weight)

    def scores(
        self,
        measure: str,
        engine: int,
        rung: int,
        *,
        sources: list[int] | None = None,
        abch: tuple[list[int], ...] | None = None,
        tolerance: float = 0.0,
        threads: int = 2,
    ) -> tuple[Tensor, int]:
        """Scores and the rung that was needed."""
        chosen = list(range(self.n)) if sources is None else sources
        one, zero = [1] * self.n, [0] * self.n
        a, b, c, h = abch or (one, one, zero, zero)
        scores = torch.zeros(len(self.slots) if measure == MEASURES[1] else self.n, dtype=F64)
        control = torch.zeros(3, dtype=torch.int64)
        used = ops.weighted_dependency(
            *self.graph,
            torch.tensor(chosen, dtype=torch.int64),
            *(torch.tensor([w[s] for s in chosen], dtype=F64) for w in (a, c)),
            *(torch.tensor(w, dtype=F64) for w in (b, h)),
            scores,
            control,
            *(MEASURES.index(measure), engine, rung, threads, tolerance),
        )
        assert control.tolist() == [0, len(chosen), 0]
        return scores, int(used)

    def distances(self, engine: int, sources: list[int], threads: int = 2) -> Tensor:
        out = torch.full((len(sources), self.n), 7, dtype=self.weight.dtype)
        control = torch.zeros(3, dtype=torch.int64)
        ops.weighted_distances(*self.graph, torch.tensor(sources), out, control, engine, threads)
        assert control.tolist() == [0, len(sources), 0]
        return out

    def sums(self, engine: int, sources: list[int], threads: int = 2) -> tuple[Tensor, Tensor]:
        sums = torch.full((len(sources), 3), 7.0, dtype=F64)
        farthest = torch.full((len(sources),), 7.0, dtype=F64)
        control = torch.zeros(3, dtype=torch.int64)
        arguments = (torch.tensor(sources), sums, farthest, control, engine, threads)
        ops.weighted_source_sums(*self.graph, *arguments)
        assert control.tolist() == [0, len(sources), 0]
        return sums, farthest


def both_ways(weights: oracles.Weights) -> oracles.Weights:
    return {(v, u): w for (u, v), w in weights.items()} | weights


def drawn(n: int, arcs: list, weight, seed: int = 1, symmetric: bool = True) -> oracles.Weights:
    """Weights from weight(generator), one per edge or arc."""
    rng = random.Random(seed)
    weights = {(u, v): weight(rng) for u, v in arcs if u != v}
    return both_ways(weights) if symmetric else weights


def assert_scores(actual: Tensor, expected: list, rtol: float = 1e-9) -> None:
    values = torch.tensor([float(score) for score in expected], dtype=F64)
    torch.testing.assert_close(actual, values, rtol=rtol, atol=1e-12)


# --- against the definition


WEIGHT = {
    "int32": [st.just(1), st.integers(1, 3), st.integers(1, 100), st.integers(1, 10**6)],
    # Multiples of 1/8 are added without rounding.
    "float64": [
        st.just(0.5),
        st.integers(1, 24).map(lambda k: k / 8),
        st.floats(1e-3, 1e3),
        st.sampled_from([0.1, 0.2, 0.15, 0.05, 0.3]),
    ],
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_definition(kernel, dtype, measure, data):
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 0))
    kind = data.draw(st.sampled_from(WEIGHT[dtype]))
    weights = {arc: data.draw(kind) for arc in arcs}
    if data.draw(st.booleans(), label="symmetric"):
        weights = both_ways(weights)
    graph = Weighted(n, weights, DTYPES[dtype])
    sources = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    vector = st.one_of(
        st.just([1] * n), st.just([0] * n), st.lists(st.integers(0, 5), min_size=n, max_size=n)
    )
    a, b, c, h = (data.draw(vector, label=name) for name in "abch")
    tolerance = data.draw(st.sampled_from([0.0, 0.0, 1e-9, 0.3]), label="tolerance")
    actual, rung = graph.scores(
        measure, *KERNELS[kernel], sources=sources, abch=(a, b, c, h), tolerance=tolerance
    )
    assert rung == max(1, KERNELS[kernel][1])
    expected = oracles.sums(
        measure, n, graph.weights, graph.slots, sources, a, c, b, h, tolerance=tolerance
    )
    assert_scores(actual, expected)
