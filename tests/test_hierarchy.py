"""Scores from sweeps over a contraction hierarchy."""

from __future__ import annotations

import random
from typing import Any

import path_oracles
import pytest
import torch
from engines import assert_scores
from graphs import DEVICE, edge_index, some_or_all
from hypothesis import given
from hypothesis import strategies as st
from tuning import Tuning, tuned

import torchcent
from torchcent import Graph, generate
from torchcent.engines import _driver, _reduce
from torchcent.engines._hierarchy import Hierarchy
from torchcent.runtime import _ops

pytestmark = pytest.mark.skipif(
    not _ops.has_kernel("hierarchy_dependency", DEVICE), reason="needs the compiled kernels"
)
F64 = torch.float64
Edges = list[tuple[int, int, int]]
PATHS = ("betweenness", "edge_betweenness", "percolation")


def network(chance: random.Random, most: int = 30) -> tuple[int, Edges]:
    """A few components of several kinds, with isolated vertices; ties are frequent."""
    lengths = range(1, chance.choice([1, 2, 3, 50]) + 1)
    known: dict[tuple[int, int], int] = {}
    n = 0
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        kind, base = chance.choice(["any", "grid", "tree", "cycle", "clique", "star"]), n
        size = chance.randint(1, most)
        if kind == "any":
            pairs = [(chance.randrange(size), chance.randrange(size)) for _ in range(2 * size)]
        elif kind == "grid":
            side = chance.randint(1, 6)
            size = side * side
            pairs = [(i, i + 1) for i in range(size) if (i + 1) % side]
            pairs += [(i, i + side) for i in range(size - side)]
        elif kind == "tree":
            pairs = [(i, chance.randrange(i)) for i in range(1, size)]
        elif kind == "cycle":
            pairs = [(i, (i + 1) % size) for i in range(size)]
        elif kind == "clique":
            size = min(size, 9)
            pairs = [(i, j) for i in range(size) for j in range(i)]
        else:
            pairs = [(0, i) for i in range(1, size)]
        n += size
        for u, v in pairs:
            if u != v:
                key = base + min(u, v), base + max(u, v)
                known.setdefault(key, chance.choice(lengths))
    n += chance.choice([0, 0, 1, 3])
    label = [*range(n)]
    chance.shuffle(label)
    return n, [(label[u], label[v], w) for (u, v), w in known.items()]


@st.composite
def networks(draw: st.DrawFn, most: int = 30) -> tuple[int, Edges]:
    return network(random.Random(draw(st.integers(0, 2**32))), most)


def undirected(n: int, edges: Edges, unit: float | None = 1.0) -> Graph:
    """By hops, or with weights that are multiples of a unit."""
    lengths = None if unit is None else [w * unit for *_, w in edges]
    weight = None if lengths is None else torch.tensor(lengths, dtype=F64, device=DEVICE)
    index = edge_index([(u, v) for u, v, _ in edges])
    return Graph.from_edge_index(index, n, directed=False, edge_weight=weight)


def road(side: int, most: int = 1000, unit: float = 1.0) -> Graph:
    edges = generate.road(side, side)
    edges = edges[:, edges[0] < edges[1]]
    chance = torch.Generator().manual_seed(7)
    weight = unit * torch.randint(1, most + 1, (edges.shape[1],), generator=chance)
    return Graph.from_edge_index(edges.to(DEVICE), directed=False, edge_weight=weight.to(DEVICE))


def known(measure: str, graph: Graph, **options: Any) -> torch.Tensor:
    """The same by one search per source."""
    single = "dijkstra" if graph.is_weighted else "queue"
    options |= {"engine": single, "reduce": "none", "dtype": F64}
    return getattr(torchcent, measure)(graph, **options)


@pytest.mark.parametrize("measure", PATHS)
@given(networks(), st.booleans(), st.sampled_from(["none", "fold"]), st.data())
def test_scores(
    measure: str, net: tuple[int, Edges], weighted: bool, reduce: str, data: st.DataObject
) -> None:
    n, edges = net
    graph = undirected(n, edges, 1.0 if weighted else None)
    options: dict[str, Any] = {}
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    if measure == "percolation":
        states = [chance.choice([0, 0.1, 0.5, 1, 3]) for _ in range(n)]
        options["states"] = torch.tensor(states, dtype=F64, device=DEVICE)
    else:
        for name in ("sources", "targets"):
            chosen = some_or_all(n, chance) if n else None
            options[name] = None if chosen is None else torch.tensor(chosen, dtype=torch.int64)
    if measure == "betweenness":
        options["endpoints"] = data.draw(st.booleans())
    expected = known(measure, graph, **options)
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch)(hierarchy_lanes=data.draw(st.sampled_from([1, 8, 20])))
        found = getattr(torchcent, measure)(
            graph, engine="hierarchy", reduce=reduce, dtype=F64, **options
        )
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-12, equal_nan=True)
    assert bool(((found == 0) == (expected == 0)).all())


@given(networks(12))
def test_against_enumeration(net: tuple[int, Edges]) -> None:
    """All shortest paths, one by one."""
    n, edges = net
    arcs, weights = [(u, v) for u, v, _ in edges], [w for *_, w in edges]
    expected = path_oracles.scores(
        "betweenness", n, arcs, weights, directed=False, normalized=False
    )
    graph = undirected(n, edges)
    found = torchcent.betweenness(graph, engine="hierarchy", normalized=False, dtype=F64)
    assert_scores(found, expected, "relax")


@pytest.mark.parametrize("rung", ["float32", "float64", "wide"])
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness"])
def test_number_types(measure: str, rung: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rung of the ladder, on a graph whose cells are nested."""
    graph = road(36, most=3)
    expected = known(measure, graph)
    first = ["float32", "float64", "wide"].index(rung)
    monkeypatch.setattr(_driver, "_first_rung", lambda *_: first)
    found = getattr(torchcent, measure)(graph, engine="hierarchy", dtype=F64)
    torch.testing.assert_close(found, expected, rtol=1e-5 if first == 0 else 1e-12, atol=0)


@pytest.mark.parametrize("diamonds", [50, 200, 1100])
def test_path_counts_climb_the_ladder(diamonds: int) -> None:
    """2^50, 2^200 and 2^1100 paths: float32, float64, and a mantissa with an exponent."""
    edges = []
    for i in range(diamonds):
        u = 3 * i
        edges += [(u, u + 1, 1), (u + 1, u + 3, 1), (u, u + 2, 1), (u + 2, u + 3, 1)]
    graph = undirected(3 * diamonds + 1, edges)
    sources = torch.arange(0, graph.num_nodes, 100)
    expected = known("betweenness", graph, sources=sources)
    found = torchcent.betweenness(graph, engine="hierarchy", sources=sources, dtype=F64)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-12)


def test_long_lengths() -> None:
    """Distances beyond int32."""
    longer = road(20, unit=2.0**30 + 1)
    for measure in ("betweenness", "edge_betweenness"):
        expected = known(measure, longer)
        found = getattr(torchcent, measure)(longer, engine="hierarchy", dtype=F64)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)


@pytest.mark.usefixtures("threads")
def test_bits_do_not_depend_on_threads(tuning: Tuning) -> None:
    tuning(hierarchy_lanes=64)
    found = []
    for number in (1, 2, 3):
        torch.set_num_threads(number)
        found.append(torchcent.betweenness(road(40), engine="hierarchy", dtype=F64))
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


def test_a_ledger_continues(tuning: Tuning, tmp_path: Any) -> None:
    tuning(hierarchy_lanes=64, units_work={"hierarchy": 1e5}, units_batches=1)
    whole = torchcent.betweenness(road(30), engine="hierarchy", dtype=F64)
    for _ in range(2):
        found = torchcent.betweenness(
            road(30), engine="hierarchy", dtype=F64, checkpoint=tmp_path / "run"
        )
        assert torch.equal(found, whole)


def test_where_it_is_taken(tuning: Tuning) -> None:
    tuning(tiny_nodes=0)
    graph = road(40)
    plan = torchcent.explain(graph)
    assert plan.engine == "hierarchy" and "arcs per vertex" in str(plan)
    assert torchcent.explain(graph, sources=3).engine == "dijkstra"
    assert torchcent.explain(graph, measure="stress").engine == "dijkstra"
    assert torchcent.explain(graph, tie_tolerance=1e-6).engine == "dijkstra"
    assert torchcent.explain(graph, cutoff=10).engine != "hierarchy"
    assert torchcent.explain(graph.unweighted(), engine="hierarchy").engine == "hierarchy"


def test_dense_graphs_are_declined() -> None:
    """The contraction of a graph without small separators is given up, and not tried again."""
    edges = generate.ws(3000, 10, 0.3).to(DEVICE)
    chance = torch.Generator().manual_seed(1)
    weight = torch.randint(1, 9, (edges.shape[1],), generator=chance).to(DEVICE)
    graph = Graph.from_edge_index(edges, directed=False, edge_weight=weight)
    core = _reduce.core(graph, "degree", "all")
    assert Hierarchy.of(core, 4) is None and "_hierarchy" not in vars(core)
    small = generate.ws(300, 10, 0.3).to(DEVICE)
    expected = torchcent.betweenness(small, engine="queue", dtype=F64)
    found = torchcent.betweenness(small, engine="hierarchy", dtype=F64)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cutoff": 3}, "takes no cutoff"),
        ({"tie_tolerance": 0.1}, "needs exact sums"),
    ],
)
def test_what_it_does_not_compute(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        torchcent.betweenness(road(6), engine="hierarchy", **options)


def test_other_refusals() -> None:
    with pytest.raises(ValueError, match="does not compute stress"):
        torchcent.stress(road(6), engine="hierarchy")
