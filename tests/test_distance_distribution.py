"""Distance distribution, effective diameter, mean distance: against the definition and NetworkX."""

import math
from collections import Counter

import networkx as nx
import oracles
import pytest
import torch
from graphs import (
    ASSORTED,
    arc_lists,
    complete,
    cycle,
    edge_index,
    leafy_graphs,
    networkx_graph,
    path,
    random_graph,
    subsets,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call, seeded

import torchcent

pytestmark = pytest.mark.sweep

F64 = torch.float64


def pairs(n: int, arcs: oracles.Arcs, directed: bool, sources=None) -> list[int]:
    """Ordered pairs at each distance."""
    rows = oracles.distances(n, arcs, directed)
    count = Counter(
        d for s in (range(n) if sources is None else sources) for d in rows[s] if d is not None
    )
    return [count[d] for d in range(max(count, default=0) + 1)]


def effective(count: list[float], q: float) -> float:
    """Where the number of pairs of different vertices, drawn as a line, passes a share q."""
    total = sum(count[1:])
    within = 0.0
    for depth, more in enumerate(count[1:], 1):
        if within + more >= q * total:
            return depth - 1 + (q * total - within) / more
        within += more
    return 0.0


@given(data=st.data())
@settings(max_examples=60)
def test_definition(distance_engine, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()))
    directed = data.draw(st.booleans(), label="directed")
    q = data.draw(st.sampled_from([0.1, 0.5, 0.9, 1.0]))
    columns, options = edge_index(arcs), {"num_nodes": n, "directed": directed}
    options["engine"] = distance_engine
    expected = pairs(n, arcs, directed)
    actual = call(torchcent.distance_distribution, columns, **options)
    assert actual.dtype == torch.int64 and actual.tolist() == expected
    actual = call(torchcent.effective_diameter, columns, q=q, dtype=F64, **options)
    assert actual.item() == pytest.approx(effective(expected, q), rel=1e-9)

    total = sum(depth * count for depth, count in enumerate(expected))
    connected = sum(expected[1:])
    options["dtype"] = F64
    actual = call(torchcent.average_shortest_path_length, columns, **options).item()
    whole = connected == n * (n - 1)
    assert actual == pytest.approx(total / max(n * (n - 1), 1) if whole else math.inf)
    actual = call(
        torchcent.average_shortest_path_length, columns, disconnected="component", **options
    )
    mean = total / connected if connected else 0 if n < 2 else math.nan
    assert actual.item() == pytest.approx(mean, nan_ok=True)


@given(data=st.data())
@settings(max_examples=40)
def test_pivots(distance_engine, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()).filter(lambda graph: graph[0] > 0))
    chosen = data.draw(subsets(n), label="sources")
    options = {"num_nodes": n, "engine": distance_engine, "sources": torch.tensor(chosen)}
    actual = call(torchcent.distance_distribution, edge_index(arcs), **options)
    counted = pairs(n, arcs, True, chosen)
    assert actual.is_floating_point() == (len(chosen) < n)
    assert actual.tolist() == pytest.approx([x * n / len(chosen) for x in counted])
    estimate = call(torchcent.effective_diameter, edge_index(arcs), dtype=F64, **options)
    assert estimate.item() == pytest.approx(effective(counted, 0.9), rel=1e-9)


def test_drawn_pivots(distance_engine):
    n, arcs = 40, random_graph(40, 100, seed=1)
    with seeded(2):
        actual = torchcent.distance_distribution(
            edge_index(arcs), num_nodes=n, sources=9, run=torchcent.Run(engine=distance_engine)
        )
    chosen = torch.randperm(n, generator=torch.Generator().manual_seed(2))[:9].tolist()
    assert actual.tolist() == pytest.approx([x * n / 9 for x in pairs(n, arcs, True, chosen)])


@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("directed", [False, True])
def test_networkx(distance_engine, name, directed):
    n, arcs = ASSORTED[name]
    graph = networkx_graph(n, arcs, directed)
    options = {"num_nodes": n, "directed": directed, "engine": distance_engine, "dtype": F64}
    actual = call(torchcent.average_shortest_path_length, edge_index(arcs), **options).item()
    if nx.is_strongly_connected(graph) if directed else nx.is_connected(graph):
        assert actual == pytest.approx(nx.average_shortest_path_length(graph), rel=1e-12)
    else:
        assert actual == math.inf


def test_closed_forms(distance_engine):
    for n in (65, 700):
        options = {"directed": False, "engine": distance_engine}
        actual = call(torchcent.distance_distribution, edge_index(path(n)), **options)
        assert actual.tolist() == [n] + [2 * (n - d) for d in range(1, n)]
        actual = call(torchcent.distance_distribution, edge_index(cycle(n)), **options)
        assert actual.tolist() == [n] + [2 * n] * ((n - 1) // 2) + [n] * (n % 2 == 0)
    actual = call(torchcent.effective_diameter, edge_index(complete(9)), dtype=F64, **options)
    assert actual.item() == pytest.approx(0.9)
    assert torchcent.distance_distribution(torch.empty(2, 0).long()).tolist() == [0]
