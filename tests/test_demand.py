"""Weights of origins and destinations: the pair (s, t) counts a(s) b(t) times."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import path_oracles
import pytest
import torch
from graphs import DEVICE, edge_index, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel
from surface import call
from tuning import tuned

import torchcent
from torchcent import Graph, generate

F64 = torch.float64
MEASURES = ("betweenness", "edge_betweenness", "stress")
ENGINES = {False: ("auto", "lanes", "queue", "hierarchy", "tensor"),
           True: ("auto", "relax", "dijkstra", "hierarchy", "tensor")}  # fmt: skip
KINDS = [0, 0, 0.25, 1, 3.5, 40]


def of_pairs(
    measure: str, n: int, arcs: list[tuple[int, int]], lengths: list[int], directed: bool,
    origin: list[float], destination: list[float], **options: Any,
) -> list[float]:  # fmt: skip
    """The definition, pair by pair."""
    total: list[Fraction] = []
    for s in range(n):
        for t in range(n):
            times = Fraction(origin[s]) * Fraction(destination[t])
            if s == t or times == 0:
                continue
            scores = path_oracles.scores(
                measure, n, arcs, lengths, directed=directed, normalized=False, sources=[s],
                targets=[t], **options,
            )  # fmt: skip
            total = total or [Fraction(0)] * len(scores)
            total = [x + times * Fraction(y) for x, y in zip(total, scores, strict=True)]
    return [float(x) for x in total]


@pytest.mark.sweep
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_definition(measure: str, weighted: bool, seed: int) -> None:
    chance = random.Random(seed)
    n, directed = chance.randint(2, 8), chance.random() < 0.5
    arcs = [(u, v) for u, v in random_graph(n, 2 * n, seed=seed % 1000) if u != v]
    arcs = list({(u, v) if directed else (min(u, v), max(u, v)): None for u, v in arcs})
    lengths = [chance.randint(1, 3) if weighted else 1 for _ in arcs]
    origin, destination = ([chance.choice(KINDS) for _ in range(n)] for _ in range(2))
    options = {"endpoints": chance.random() < 0.5} if measure == "betweenness" else {}
    expected = of_pairs(measure, n, arcs, lengths, directed, origin, destination, **options)
    weight = torch.tensor(lengths, dtype=F64, device=DEVICE) if weighted else None
    graph = Graph.from_edge_index(edge_index(arcs), n, directed=directed, edge_weight=weight)
    a, b = (torch.tensor(x, dtype=F64) for x in (origin, destination))
    for engine in ENGINES[weighted]:
        if engine == "hierarchy" and not has_kernel("hierarchy_dependency", DEVICE):
            continue
        with pytest.MonkeyPatch.context() as patch:
            tuned(patch)(tiny_nodes=512 if engine == "auto" else 0)
            found = call(
                getattr(torchcent, measure),
                graph,
                sources=a,
                targets=b,
                normalized=False,
                dtype=F64,
                engine=engine,
                **options,
            )
        if not expected:
            assert not found.any()
            continue
        torch.testing.assert_close(
            found.cpu(), torch.tensor(expected, dtype=F64), rtol=1e-5, atol=1e-12
        )


def test_ones_are_all_pairs() -> None:
    graph = generate.road(20, 20).to(DEVICE)
    n = int(graph.max()) + 1
    ones = torch.ones(n)
    whole = torchcent.betweenness(graph, run=torchcent.Run(dtype=F64))
    for ends in ({"sources": ones}, {"targets": ones}, {"sources": ones, "targets": ones}):
        found = call(torchcent.betweenness, graph, dtype=F64, **ends)
        torch.testing.assert_close(found, whole, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_units_of_demand(factor: float) -> None:
    """Scores are proportional to both, whatever their units."""
    graph = generate.road(20, 20).to(DEVICE)
    n = int(graph.max()) + 1
    chance = torch.Generator().manual_seed(1)
    a, b = torch.rand(2, n, generator=chance, dtype=F64)
    one = torchcent.betweenness(graph, sources=a, targets=b, run=torchcent.Run(dtype=F64))
    other = torchcent.betweenness(
        graph, sources=a * factor, targets=b / factor, run=torchcent.Run(dtype=F64)
    )
    torch.testing.assert_close(other, one, rtol=1e-5, atol=0)


def test_zeros_are_no_pairs() -> None:
    graph = generate.grid(5, 5).to(DEVICE)
    assert not torchcent.betweenness(graph, sources=torch.zeros(25)).any()
    chosen = torch.zeros(25, dtype=F64)
    chosen[[3, 7]] = 1
    found = torchcent.betweenness(
        graph, sources=chosen, targets=torch.ones(25), run=torchcent.Run(dtype=F64)
    )
    ids = torch.tensor([3, 7]), torch.arange(25)
    expected = torchcent.betweenness(
        graph, sources=ids[0], targets=ids[1], run=torchcent.Run(dtype=F64)
    )
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-12)


def test_batches_and_components() -> None:
    arcs = torch.tensor([[0, 1, 3, 4, 5], [1, 2, 4, 5, 6]], device=DEVICE)
    ptr = torch.tensor([0, 3, 7], device=DEVICE)
    chance = torch.Generator().manual_seed(2)
    a, b = torch.rand(2, 7, generator=chance, dtype=F64)
    options = {"directed": False, "normalized": False, "dtype": F64}
    whole = call(torchcent.betweenness, arcs, num_nodes=7, sources=a, targets=b, **options)
    batch = call(torchcent.betweenness, arcs, ptr=ptr, sources=a, targets=b, **options)
    torch.testing.assert_close(batch, whole, rtol=1e-6, atol=1e-12)
    assert bool(whole[[1, 4, 5]].all())


@pytest.mark.parametrize("name", ["sources", "targets"])
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (torch.ones(3), ValueError, r"must have shape \[4\]"),
        (torch.tensor([1.0, -1, 0, 0]), ValueError, r"\[1\] is -1; accepted: finite and >= 0"),
        (torch.tensor([1.0, torch.nan, 0, 0]), ValueError, "accepted: finite"),
        ([0.5, 0.5], ValueError, r"must have shape \[4\]"),
    ],
)
def test_what_is_refused(name: str, value: Any, error: type[Exception], message: str) -> None:
    arcs = torch.tensor([[0, 1, 2], [1, 2, 3]], device=DEVICE)
    with pytest.raises(error, match=name + ".*" + message):
        call(torchcent.betweenness, arcs, **{name: value})
