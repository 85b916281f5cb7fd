"""Scores from sweeps over a contraction hierarchy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import networkx as nx
import path_oracles
import pytest
import torch
from engines import assert_scores
from graphs import DEVICE, diamonds, edge_index, some_or_all
from hypothesis import given
from hypothesis import strategies as st
from internals import Hierarchy, core_of, has_kernel
from surface import call
from tuning import Tuning, tuned

import torchcent
from torchcent import Graph, generate

pytestmark = pytest.mark.skipif(
    not has_kernel("hierarchy_dependency", DEVICE), reason="needs the compiled kernels"
)
F64 = torch.float64
Edges = list[tuple[int, int, float]]
PATHS = ("betweenness", "edge_betweenness", "stress", "percolation")
DIRECTED = pytest.mark.parametrize("directed", [False, True])


class Network(NamedTuple):
    n: int
    edges: Edges  # of an undirected graph each once, of a directed one from the first to the second
    directed: bool

    def graph(self, unit: float | None = 1.0) -> Graph:
        """By hops, or with lengths that are multiples of a unit."""
        lengths = None if unit is None else [w / (1 / unit) for *_, w in self.edges]  # decimals
        weight = None if lengths is None else torch.tensor(lengths, dtype=F64, device=DEVICE)
        index = edge_index([(u, v) for u, v, _ in self.edges])
        return Graph.from_edge_index(index, self.n, self.directed, weight)


def streets(chance: random.Random, edges: Edges, lengths: Sequence[int]) -> Edges:
    """Arcs along edges: one-way ones, and those of other lengths back."""
    # Shares of streets ahead, back, in both directions, and in both with another length back.
    share = chance.choice(
        [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 1, 4, 2], [0, 0, 1, 0], [0, 0, 0, 1]]
    )
    arcs: Edges = []
    for u, v, w in edges:
        way = chance.choices(["ahead", "back", "both", "other"], share)[0]
        if way != "back":
            arcs.append((u, v, w))
        if way != "ahead":
            arcs.append((v, u, chance.choice(lengths) if way == "other" else w))
    return arcs


def network(
    chance: random.Random, most: int = 30, directed: Sequence[bool] = (False, True)
) -> Network:
    """A few components of several kinds, with isolated vertices; ties are frequent."""
    lengths = range(1, chance.choice([1, 2, 3, 50]) + 1)
    known: dict[frozenset[int], tuple[int, int, float]] = {}
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
                edge = base + u, base + v, chance.choice(lengths)
                known.setdefault(frozenset(edge[:2]), edge)
    n += chance.choice([0, 0, 1, 3])
    label = [*range(n)]
    chance.shuffle(label)
    edges = [(label[u], label[v], w) for u, v, w in known.values()]
    if chance.choice(directed):
        return Network(n, streets(chance, edges, lengths), True)
    return Network(n, edges, False)


@st.composite
def networks(draw: st.DrawFn, most: int = 30) -> Network:
    return network(random.Random(draw(st.integers(0, 2**32))), most)


def road(side: int, most: int = 1000, unit: float = 1.0, directed: bool = False) -> Graph:
    """Directed, every fifth street is one-way, and lengths back are others."""
    edges = generate.road(side, side)
    edges = edges[:, edges[0] < edges[1]]
    if directed:
        edges = torch.cat([edges, edges.flip(0)[:, torch.arange(edges.shape[1]) % 5 > 0]], 1)
    chance = torch.Generator().manual_seed(7)
    weight = unit * torch.randint(1, most + 1, (edges.shape[1],), generator=chance)
    return Graph.from_edge_index(edges.to(DEVICE), None, directed, weight.to(DEVICE))


def known(measure: str, graph: Graph, **options: Any) -> torch.Tensor:
    """The same as the reference has it, on CUDA by one search per source."""
    single = "dijkstra" if graph.is_weighted else "queue"
    engine = "reference" if graph.device.type == "cpu" else single
    options = {"engine": engine, "reduce": "none", "dtype": F64} | options
    return call(getattr(torchcent, measure), graph, **options)


@pytest.mark.parametrize("measure", PATHS)
@given(networks(), st.booleans(), st.sampled_from(["none", "fold"]), st.data())
def test_scores(
    measure: str, net: Network, weighted: bool, reduce: str, data: st.DataObject
) -> None:
    n, graph = net.n, net.graph(1.0 if weighted else None)
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
        found = call(
            getattr(torchcent, measure),
            graph,
            dtype=F64,
            engine="hierarchy",
            reduce=reduce,
            **options,
        )
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-12, equal_nan=True)
    assert bool(((found == 0) == (expected == 0)).all())


@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness", "stress"])
@given(networks(12))
def test_against_enumeration(measure: str, net: Network) -> None:
    """All shortest paths, one by one."""
    arcs, weights = [(u, v) for u, v, _ in net.edges], [w for *_, w in net.edges]
    expected = path_oracles.scores(
        measure, net.n, arcs, weights, directed=net.directed, normalized=False
    )
    compute = getattr(torchcent, measure)
    found = compute(
        net.graph(),
        run=torchcent.Run(engine="hierarchy", dtype=F64),
        normalized=False,
    )
    assert_scores(found, expected, "relax")


@given(networks(20), st.booleans())
def test_networkx(net: Network, endpoints: bool) -> None:
    by = nx.DiGraph() if net.directed else nx.Graph()
    by.add_nodes_from(range(net.n))
    by.add_weighted_edges_from(net.edges)
    expected = nx.betweenness_centrality(by, weight="weight", endpoints=endpoints)
    found = torchcent.betweenness(
        net.graph(),
        run=torchcent.Run(engine="hierarchy", dtype=F64),
        endpoints=endpoints,
    )
    assert_scores(found, [expected[v] for v in range(net.n)], "relax")


@given(networks(20), st.sampled_from(["none", "fold", "chains", "blocks"]))
def test_float_lengths(net: Network, reduce: str) -> None:
    """In fixed point, with the ties of a search."""
    lengths = [w * random.Random(e).uniform(0.5, 2) for e, (*_, w) in enumerate(net.edges)]
    edges = [(u, v, w) for (u, v, _), w in zip(net.edges, lengths, strict=True)]
    graph = net._replace(edges=edges).graph()
    expected = known("betweenness", graph)
    found = torchcent.betweenness(
        graph,
        run=torchcent.Run(engine="hierarchy", reduce=reduce, dtype=F64),
    )
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-12)


@pytest.mark.sweep
@pytest.mark.parametrize("rung", ["float32", "float64", "wide"])
@pytest.mark.parametrize("measure", ["betweenness", "edge_betweenness"])
@DIRECTED
def test_number_types(directed: bool, measure: str, rung: str, tuning: Tuning) -> None:
    """Every rung of the ladder, on a graph whose cells are nested."""
    graph = road(36, most=3, directed=directed)
    expected = known(measure, graph)
    first = ["float32", "float64", "wide"].index(rung)
    tuning(first_rung=lambda *_: first)
    found = getattr(torchcent, measure)(
        graph,
        run=torchcent.Run(engine="hierarchy", dtype=F64),
    )
    torch.testing.assert_close(found, expected, rtol=1e-5 if first == 0 else 1e-12, atol=0)


@pytest.mark.parametrize("count", [50, 200, 1100])
@DIRECTED
def test_path_counts_climb_the_ladder(directed: bool, count: int) -> None:
    """2^50, 2^200 and 2^1100 paths: float32, float64, and a mantissa with an exponent."""
    edges = [(u, v, 1) for u, v in diamonds(count)]
    graph = Network(3 * count + 1, edges, directed).graph()
    sources = torch.arange(0, graph.num_nodes, 100)
    for measure in ("betweenness", "edge_betweenness"):
        expected = known(measure, graph, sources=sources, engine="dijkstra")
        compute = getattr(torchcent, measure)
        found = compute(
            graph,
            run=torchcent.Run(engine="hierarchy", dtype=F64),
            sources=sources,
        )
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-12)


@DIRECTED
def test_long_lengths(directed: bool) -> None:
    """Distances beyond int32."""
    longer = road(20, unit=2.0**30 + 1, directed=directed)
    for measure in ("betweenness", "edge_betweenness"):
        expected = known(measure, longer)
        found = getattr(torchcent, measure)(
            longer,
            run=torchcent.Run(engine="hierarchy", dtype=F64),
        )
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)


@pytest.mark.usefixtures("threads")
@DIRECTED
def test_bits_do_not_depend_on_threads(directed: bool, tuning: Tuning) -> None:
    tuning(hierarchy_lanes=64)
    for endpoints in (False, True):
        found = []
        for number in (1, 2, 3):
            torch.set_num_threads(number)
            graph, run = road(40, directed=directed), {"engine": "hierarchy", "dtype": F64}
            found.append(call(torchcent.betweenness, graph, endpoints=endpoints, **run))
        assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


@DIRECTED
def test_a_ledger_continues(directed: bool, tuning: Tuning, tmp_path: Any) -> None:
    tuning(hierarchy_lanes=64, units_work={"hierarchy": 1e5}, units_batches=1)
    graph, options = road(30, directed=directed), {"engine": "hierarchy", "dtype": F64}
    whole = call(torchcent.betweenness, graph, endpoints=True, **options)
    options["checkpoint"] = tmp_path / "run"
    for _ in range(2):
        again = road(30, directed=directed)
        assert torch.equal(call(torchcent.betweenness, again, endpoints=True, **options), whole)


@DIRECTED
@pytest.mark.parametrize("unit", [None, 1.0, 0.1])
def test_parallel_arcs_and_loops(directed: bool, unit: float | None) -> None:
    """Each of several arcs of the least length is a path of its own, as for the other engines."""
    chance = random.Random(5)
    streets = network(chance, 40, [directed])
    again = [(u, v, w + chance.choice([0, 0, 1])) for u, v, w in streets.edges[::3]]
    loops = [(u, u, 1) for u in range(0, streets.n, 4)]
    graph = streets._replace(edges=[*streets.edges, *again, *again[::2], *loops]).graph(unit)
    options: dict[str, Any] = {"dtype": F64, "normalized": False}
    for measure in ("betweenness", "edge_betweenness", "stress"):
        found, expected = (
            call(getattr(torchcent, measure), graph, engine=engine, **options)
            for engine in ("hierarchy", "reference")
        )
        assert_scores(found, expected, "lanes")


def test_a_directed_graph_that_is_symmetric() -> None:
    """It is taken for an undirected one, but every pair counts in both orders."""
    streets = road(24)
    index, weight = streets.to_edge_index(), streets.weight
    graph = Graph.from_edge_index(index, streets.num_nodes, True, weight)
    run: dict[str, Any] = {"engine": "hierarchy", "normalized": False, "dtype": F64}
    found = call(torchcent.betweenness, graph, **run)
    assert torch.equal(found, 2 * call(torchcent.betweenness, streets, **run))


@DIRECTED
def test_where_it_is_taken(directed: bool, tuning: Tuning) -> None:
    tuning(tiny_nodes=0)
    graph = road(40, directed=directed)
    plan = torchcent.explain(graph)
    assert plan.engine == "hierarchy" and "arcs per vertex" in str(plan)
    assert torchcent.explain(graph, sources=3).engine == "dijkstra"
    assert torchcent.explain(graph, measure="stress").engine == "hierarchy"
    assert (
        torchcent.explain(
            graph.with_ties(tie_tolerance=1e-6),
        ).engine
        == "dijkstra"
    )
    assert torchcent.explain(graph, cutoff=10).engine != "hierarchy"
    assert (
        torchcent.explain(graph.unweighted(), run=torchcent.Run(engine="hierarchy")).engine
        == "hierarchy"
    )


def test_dense_graphs_are_declined() -> None:
    """The contraction of a graph without small separators is given up, and not tried again."""
    edges = generate.ws(3000, 10, 0.3).to(DEVICE)
    chance = torch.Generator().manual_seed(1)
    weight = torch.randint(1, 9, (edges.shape[1],), generator=chance).to(DEVICE)
    graph = Graph.from_edge_index(edges, directed=False, edge_weight=weight)
    core = core_of(graph, "degree", "all")
    assert Hierarchy.of(core, 4) is None and Hierarchy.kept(core) is None
    small = generate.ws(300, 10, 0.3).to(DEVICE)
    expected = torchcent.betweenness(
        small,
        run=torchcent.Run(engine="queue", dtype=F64),
    )
    found = torchcent.betweenness(
        small,
        run=torchcent.Run(engine="hierarchy", dtype=F64),
    )
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
        call(torchcent.betweenness, road(6), engine="hierarchy", **options)


def test_other_refusals() -> None:
    with pytest.raises(ValueError, match="does not compute distance|engine"):
        torchcent.betweenness_variant(
            road(6), variant="distance", run=torchcent.Run(engine="hierarchy")
        )


@DIRECTED
@pytest.mark.parametrize("bits", [-900, 57, 62, 100, 990])
def test_lengths_of_any_magnitude(bits: int, directed: bool) -> None:
    """Multiples of a power of two far from 1, whose sums are exact, are as many units."""
    edges = generate.road(8, 8, seed=3)
    edges = torch.cat([edges, edges.flip(0)], 1) if directed else edges
    units = torch.randint(1, 6, edges.shape[1:], generator=torch.Generator().manual_seed(2))
    graph, scaled = (
        Graph.from_edge_index(edges.to(DEVICE), directed=directed, edge_weight=w.to(DEVICE))
        for w in (units.double(), units.double() * 2.0**bits)
    )
    for measure, power in (
        ("betweenness", 0), ("stress", 0), ("closeness", -1), ("harmonic", -1), ("eccentricity", 1),
    ):  # fmt: skip
        run = torchcent.Run(engine="hierarchy", dtype=F64)
        known, found = (getattr(torchcent, measure)(each, run=run) for each in (graph, scaled))
        torch.testing.assert_close(found, known * 2.0 ** (power * bits), rtol=1e-12, atol=0)
