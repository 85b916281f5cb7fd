"""Measures that count paths round float weights once, to multiples of a power of two, so that sums
are exact. Scores are compared with those of paths that are listed in fractions of these units."""

import math
import random
from functools import partial

import networkx as nx
import path_oracles as oracles
import pytest
import torch
from engines import assert_scores, scored
from fixed_point import made, rounded
from graphs import DEVICE, arc_lists, edge_index, leafy_graphs, random_graph
from hypothesis import example, given, settings
from hypothesis import strategies as st
from internals import Request, held_bytes, in_fixed_point, part_of_batch
from test_chains import CHEAP, WAYS, chained, road, undirected
from test_weighted import MEASURES, listed
from tuning import Tuning, tuned

import torchcent
from torchcent import Graph
from torchcent.engines.plan import _pieces
from torchcent.graph import _fixed_point, _weights

F64 = torch.float64
# Thirds and multiples of pi have ties that rounding breaks or makes.
KINDS = {
    "thirds": st.sampled_from([1 / 3, 2 / 3, 1.0, 4 / 3, 1 / 6]),
    "pi": st.integers(1, 4).map(lambda x: x * math.pi),
    "any": st.floats(0.01, 2),
    "last bits": st.sampled_from([1.0, 1.0 + 2**-52, 2.0, 2.0 - 2**-52, 3.0 + 2**-51]),
}


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data())
@settings(max_examples=40)
def test_definition(weighted_engine: str, measure: str, kind: str, data: st.DataObject) -> None:
    n, arcs = data.draw(st.one_of(arc_lists(7), leafy_graphs(5, 5)))
    weights = listed(data.draw, arcs, KINDS[kind])
    directed = data.draw(st.booleans(), label="directed")
    exact = rounded(n, arcs, weights, directed)
    expected = oracles.scores(measure, n, arcs, exact, directed=directed, normalized=False)
    found = scored(
        getattr(torchcent, measure), arcs, n, weighted_engine, edge_weight=weights,
        directed=directed, normalized=False,
    )  # fmt: skip
    assert_scores(found, expected, weighted_engine)


@pytest.mark.sweep
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("edges", [False, True])
@given(seed=st.integers(0, 2**32))
@example(seed=2_316_912_575)  # twice the length of a cycle is beyond float64
@settings(max_examples=60)
def test_chains_and_leaves(way: str, edges: bool, seed: int) -> None:
    """The lengths of chained() are few, so that ties are frequent, times a third or pi."""
    chance = random.Random(seed)
    n, network = chained(chance)
    unit = chance.choice([1 / 3, math.pi, 1 + 2**-50])
    arcs, weights = [(u, v) for u, v, _ in network], [w * unit for *_, w in network]
    measure = "edge_betweenness" if edges else "betweenness"
    expected = oracles.scores(
        measure, n, arcs, rounded(n, arcs, weights, False), directed=False, normalized=False
    )
    graph = made(n, arcs, weights)
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch)(**WAYS[way])
        for reduce in (["chains"], ["fold", "chains"], ["fold", "blocks", "twins"], "none"):
            found = getattr(torchcent, measure)(
                graph,
                run=torchcent.Run(engine="dijkstra", reduce=reduce, dtype=F64),
                normalized=False,
            )
            assert_scores(found.cpu(), expected, "dijkstra")


def test_a_road_network(tuning: Tuning) -> None:
    """Lengths as of surveys: chains are contracted, leaves folded, and scores those of floats."""
    tuning(**CHEAP)
    n, edges = road(side=14)
    chance = random.Random(3)
    graph = undirected(n, [(u, v, chance.uniform(1, 100)) for u, v, _ in edges], 1.0)
    plan = torchcent.explain(graph)
    unit = -in_fixed_point(graph).scale.bits
    assert plan.weights == f"float64, fixed point in units of 2^{unit}, sums exact"
    assert plan.engine == "chains" and plan.contracted > n // 2
    for measure in (torchcent.betweenness, torchcent.edge_betweenness):
        found = measure(graph, run=torchcent.Run(dtype=F64))
        torch.testing.assert_close(
            found,
            measure(
                graph.with_ties("float"),
                run=torchcent.Run(dtype=F64),
            ),
            rtol=1e-9,
            atol=1e-14,
        )
        assert torch.equal(found, measure(graph, run=torchcent.Run(dtype=F64)))
    floats = torchcent.explain(
        graph.with_ties("float"),
    )
    assert (floats.weights, floats.engine) == ("float64", "dijkstra")
    assert floats.core_nodes == n
    tolerant = torchcent.explain(
        graph.with_ties(tie_tolerance=1e-9),
    )
    assert tolerant.weights == "float64; tie tolerance 1e-09" and tolerant.core_nodes == n
    assert torchcent.explain(graph, measure="closeness").weights == "float64"


# --- the unit


def longest_distance(graph: Graph) -> float:
    rows = torchcent.shortest_path_lengths(graph, dtype=F64)
    return float(rows[torch.isfinite(rows)].max())


@pytest.mark.sweep
@pytest.mark.parametrize("compiled", [True, False])
@given(data=st.data())
def test_the_bound_on_distances(compiled: bool, data: st.DataObject) -> None:
    n, arcs = data.draw(st.one_of(arc_lists(9), leafy_graphs(6, 6)))
    if not n:
        return
    weights = listed(data.draw, arcs, st.floats(0.01, 100))
    graph = made(n, arcs, weights, data.draw(st.booleans()))
    longest = longest_distance(graph)
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            tuned(patch)(has_kernel=lambda *_: False)
        for most in (0, 1, 16):  # searches
            patch.setattr(_fixed_point, "_SMALL", 0)
            patch.setattr(_fixed_point, "_MOST", most)
            assert graph.weight is not None
            assert _fixed_point.longest(graph, graph.weight) >= longest * (1 - 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_a_search_finds_a_small_unit(directed: bool) -> None:
    """Distances are far below the sum of all weights, and at most those of the two searches."""
    n = 4000
    arcs = random_graph(n, 6 * n, seed=1)
    chance = random.Random(1)
    graph = made(n, arcs, [chance.uniform(1, 2) for _ in arcs], directed)
    longest = longest_distance(graph)
    assert graph.weight is not None
    assert _fixed_point.longest(graph, graph.weight) < 4 * longest + 2000 * directed
    scale = in_fixed_point(graph).scale
    assert (2 * longest + 2) * scale.per_one * (8 if directed else 1) > 2.0**49
    assert (longest + 2) * scale.per_one < 2.0**52


@pytest.mark.parametrize(
    ("weights", "n", "expected"),
    [
        ([0.1, math.pi], 5.0, "float64, fixed point in units of 2^-48, sums exact"),
        ([1 / 3, 2 / 3, 1.0], 1.0, "float64, in units of 0.333333, sums exact"),
        ([1 / 3, 1 / 2, 3 / 4], 1.0, "float64, in units of 0.0833333, sums exact"),
        ([2e30, 3e30], 1e31, "float64, in units of 1e+30, sums exact"),
        ([1.0, 3.0], 2.0**50, "float64, sums exact"),  # whole numbers are not rounded
        ([2.0**-40, 3.0], 2000.0, "float64, sums exact"),
        (
            [2.0**60 + 2**8, 2.0**60 + 2**50],
            2.0**61,
            "float64, fixed point in units of 2^10, sums exact",
        ),
        ([0.25, 12.57], 1e12, "float64, in units of 1/100, sums exact"),
        ([1e-12, 1 / 3], 10.0, "None"),
        ([1e-300, 1e300], 1e300, "None"),
        ([1e308, 1e308], 1e308, "None"),
        ([1e-320, 3e-320], 1e-319, "float64, sums exact"),
    ],
)
def test_the_unit(weights: list[float], n: float, expected: str) -> None:
    found = _weights.fixed_point(torch.tensor(weights, dtype=F64), n)
    assert str(found) == expected


def test_weights_of_many_magnitudes_are_added_as_they_are(weighted_engine: str) -> None:
    chance = random.Random(1)
    arcs = random_graph(40, 120, seed=4)
    for weights in (
        [10 ** chance.uniform(-14, 0) for _ in arcs],
        [10 ** chance.uniform(-7, 7) for _ in arcs],
    ):
        plan = torchcent.explain(edge_index(arcs), torch.tensor(weights, dtype=F64, device=DEVICE))
        assert plan.weights == "float64"
        graph = nx.Graph()
        graph.add_nodes_from(range(40))
        for (u, v), weight in oracles.lengths(40, arcs, weights, False).items():
            graph.add_edge(u, v, weight=weight)
        expected = nx.betweenness_centrality(graph, weight="weight")
        found = scored(
            torchcent.betweenness, arcs, 40, weighted_engine, edge_weight=weights, directed=False
        )
        assert_scores(found, [expected[v] for v in range(40)], weighted_engine)


def test_refused_as_before() -> None:
    apart = torch.tensor([1e-300, 1e300], dtype=F64, device=DEVICE)
    with pytest.raises(ValueError, match="vanishes beside"):
        torchcent.betweenness(edge_index([(0, 1), (1, 2)]), apart)
    for bad in (math.nan, math.inf, 0.0, -1.0):
        with pytest.raises(ValueError, match="edge_weight"):
            torchcent.betweenness(edge_index([(0, 1)]), torch.tensor([bad], device=DEVICE))


def test_whole_numbers_of_which_a_path_could_reach_2_to_53() -> None:
    """(n - 1) times the largest would; no path does, so leaves are folded."""
    n = 2000
    star = [(0, v) for v in range(1, n)]
    graph = made(n, star, [float(2**43 + v) for v in range(1, n)])
    assert not graph.scale.exact and torchcent.explain(graph).weights == "float64, sums exact"
    assert torchcent.explain(graph, run=torchcent.Run(reduce="fold")).core_nodes == 0


# --- batches, cutoffs, and what is not counted in fixed point


@pytest.mark.parametrize("sizes", [(30,) * 8, (20, 700, 40, 600, 3)])
def test_graphs_of_a_batch_have_the_units_that_they_have_alone(sizes: tuple[int, ...]) -> None:
    chance, start = random.Random(2), 0
    arcs, weights, alone = [], [], []
    kinds = [lambda: chance.choice([0.1, 0.2, 0.3]), lambda: chance.choice([1 / 3, 2 / 3, 1 / 6]),
             lambda: 10 ** chance.uniform(-12, 0), lambda: float(chance.randint(1, 3))]  # fmt: skip
    for number, n in enumerate(sizes):
        own = random_graph(n, 3 * n, seed=number)
        lengths = [kinds[number % 4]() for _ in own]
        alone.append(made(n, own, lengths))
        arcs += [(u + start, v + start) for u, v in own]
        weights += lengths
        start += n
    ptr = torch.tensor([0, *torch.tensor(sizes).cumsum(0)], device=DEVICE)
    weight = torch.tensor(weights, dtype=F64, device=DEVICE)
    batch = Graph.from_edge_index(edge_index(arcs), start, False, weight, ptr=ptr)
    for measure in (torchcent.betweenness, torchcent.edge_betweenness, torchcent.stress):
        found = measure(batch, run=torchcent.Run(dtype=F64))
        assert torch.equal(
            found, torch.cat([measure(one, run=torchcent.Run(dtype=F64)) for one in alone])
        )
    counted = in_fixed_point(batch)
    for number, one in enumerate(alone):
        scale, own = in_fixed_point(one).scale, part_of_batch(counted, number).scale
        assert scale == own
        assert (
            float(counted._scaled_per_graph[1][number]) == (scale.per_one if scale.rounds else 1)
            or one.num_nodes > _fixed_point._SMALL
        )
    assert torchcent.explain(batch).weights == "float64, fixed point in units of each graph"
    # Those that are put together share a unit; never with decimals.
    request = Request("percolation", cutoffs=(1.0,))
    assert _pieces.put_together(counted, request).num_graphs == len(sizes)
    some = Graph.from_edge_index(
        edge_index([(0, 1), (2, 3)]), 4, False, weight.new_tensor([1 / 3, math.pi]),
        ptr=torch.tensor([0, 2, 4], device=DEVICE),
    )  # fmt: skip
    together = _pieces.put_together(in_fixed_point(some), request)
    assert together.num_graphs == 1 and part_of_batch(together, 0).scale.bits is not None


def test_a_cutoff_is_rounded_as_weights_are(weighted_engine: str) -> None:
    """A pair as far apart as an edge is long counts within a cutoff of this length."""
    if weighted_engine == "tiny":
        pytest.skip("the tiny engine has no cutoffs")
    chance = random.Random(5)
    for _ in range(20):
        longest = chance.uniform(1, 2)
        arcs, weights = [(0, 1), (1, 2), (0, 3)], [chance.uniform(0.1, 0.2), 0.0, longest]
        weights[1] = longest - weights[0]
        run = partial(
            scored, torchcent.betweenness, arcs, 4, weighted_engine, edge_weight=weights,
            endpoints=True, normalized=False,
        )  # fmt: skip
        assert run(cutoff=longest).tolist()[3] == 1
        assert run(cutoff=longest * (1 - 1e-9)).tolist()[3] == 0


def test_distances_stay_sums_of_the_weights() -> None:
    chance = random.Random(8)
    arcs = random_graph(60, 150, seed=2)
    graph = made(60, arcs, [chance.uniform(0.01, 1) for _ in arcs])
    closeness = torchcent.closeness(graph, run=torchcent.Run(dtype=F64))
    torchcent.betweenness(graph)
    assert torch.equal(torchcent.closeness(graph, run=torchcent.Run(dtype=F64)), closeness)
    names = ["degree", "betweenness", "closeness", "stress", "eccentricity"]
    for engine in ("auto", "tensor"):
        columns = torchcent.node_features(
            graph,
            measures=names,
            run=torchcent.Run(engine=engine, dtype=F64),
            normalized=False,
        )
        single = torchcent.node_features(
            graph,
            measures=names[2:3],
            run=torchcent.Run(engine=engine, dtype=F64),
        )
        assert torch.equal(columns[:, 2], single[:, 0])
        counted = torchcent.betweenness(
            graph,
            run=torchcent.Run(engine=engine, dtype=F64),
            normalized=False,
        )
        torch.testing.assert_close(columns[:, 1], counted, rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(DEVICE.type != "cpu", reason="hierarchies of rounded weights are on the CPU")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "measure", ["closeness", "harmonic", "eccentricity", "average_shortest_path_length"]
)
def test_sums_of_many_distances(measure: str, directed: bool, tuning: Tuning) -> None:
    """Roads have a hierarchy of the weights in fixed point; the distances of few sources do not."""
    tuning(hierarchy_least={False: 1, True: 100}, tiny_nodes=0)
    index = torchcent.generate.road(20, 20)
    length = torch.rand(index.shape[1], dtype=F64, generator=torch.Generator().manual_seed(3))
    if not directed:
        index = torch.cat([index, index.flip(0)], 1)
        length = torch.cat([length, length])
    graph = Graph.from_edge_index(index, directed=directed, edge_weight=length)
    assert not graph.scale.exact
    plan = torchcent.explain(graph, measure=measure)
    assert plan.engine == "hierarchy" and "fixed point" in plan.weights
    compute = partial(getattr(torchcent, measure), graph)
    expected = torch.as_tensor(compute(run=torchcent.Run(engine="dijkstra")), dtype=F64)
    found = torch.as_tensor(compute(), dtype=F64)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=0)
    if measure in ("closeness", "harmonic"):
        exact = compute(
            run=torchcent.Run(engine="dijkstra", dtype=F64),
        )
        torch.testing.assert_close(compute(run=torchcent.Run(dtype=F64)), exact, rtol=1e-11, atol=0)
        few = torchcent.explain(graph, measure=measure, sources=10)
        assert few.engine == "dijkstra" and "fixed point" not in few.weights
    if measure == "closeness":
        within = torchcent.explain(graph, measure=measure, cutoff=3.0)
        assert within.engine == "dijkstra"


@pytest.mark.skipif(DEVICE.type != "cpu", reason="hierarchies of rounded weights are on the CPU")
@pytest.mark.parametrize("measure", ["closeness", "harmonic", "eccentricity"])
@pytest.mark.parametrize("shortest", [1e-4, 1e-6, 1e-8])
def test_short_distances_have_the_error_that_is_stated(measure: str, shortest: float) -> None:
    """docs/hierarchy.md: at most 1 / (2 m), where the shortest weight has m units."""
    index = torchcent.generate.road(12, 12)
    n = int(index.max()) + 1
    index = torch.cat([index, torch.tensor([[n, n + 1], [n + 1, n + 2]])], 1)  # an island
    chance = torch.Generator().manual_seed(6)
    length = 0.01 + torch.rand(index.shape[1], dtype=F64, generator=chance)
    length[-2:] = torch.tensor([1, math.pi], dtype=F64) * shortest
    graph = Graph.from_edge_index(index, directed=False, edge_weight=length)
    more = {"disconnected": "component"} if measure == "eccentricity" else {}
    found, expected = (
        getattr(torchcent, measure)(graph, run=torchcent.Run(engine=engine, dtype=F64), **more)
        for engine in ("hierarchy", "dijkstra")
    )
    scale = in_fixed_point(graph).scale
    error = 0.5 / (scale.per_one * float(length.min()))
    assert scale.bits is not None and error < 2.0**-17
    torch.testing.assert_close(found, expected, rtol=error + 1e-11, atol=0)


@pytest.mark.skipif(DEVICE.type != "cpu", reason="hierarchies of rounded weights are on the CPU")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("measure", ["eccentricity", "diameter", "radius", "center", "periphery"])
def test_a_hierarchy_that_is_asked_for_is_in_fixed_point(measure: str, directed: bool) -> None:
    index = torchcent.generate.road(12, 12)
    chance = torch.Generator().manual_seed(4)
    length = 0.01 + torch.rand(index.shape[1], dtype=F64, generator=chance)
    graph = Graph.from_edge_index(index, directed=directed, edge_weight=length)
    compute = partial(getattr(torchcent, measure), graph)
    found, expected = (
        compute(run=torchcent.Run(engine="hierarchy")),
        compute(run=torchcent.Run(engine="dijkstra")),
    )
    if measure in ("center", "periphery"):  # float sums of both directions of a path may differ
        assert expected.numel() and bool(torch.isin(expected, found).all())
    else:
        torch.testing.assert_close(torch.as_tensor(found), torch.as_tensor(expected))


def test_ties_of_node_features() -> None:
    """Two ways of 2 pi / 3, which tie in fixed point."""
    third = math.pi / 3
    graph = made(4, [(0, 1), (1, 3), (0, 2), (2, 3)], [third, third, third / 2, 1.5 * third])
    found = torchcent.node_features(
        graph, measures=["betweenness", "farness"], run=torchcent.Run(dtype=F64)
    )
    expected = torchcent.betweenness(graph, run=torchcent.Run(dtype=F64))
    assert torch.equal(found[:, 0], expected)


def test_networkx_adds_floats() -> None:
    """0.1 + 0.2 > 0.3 to NetworkX; next to pi they are no decimals."""
    graph = nx.Graph()
    weighted = [(0, 1, 0.1), (1, 3, 0.2), (0, 2, 0.15), (2, 3, 0.15), (3, 4, math.pi)]
    graph.add_weighted_edges_from(weighted)
    expected = nx.betweenness_centrality(graph, weight="weight")
    found = nx.betweenness_centrality(graph, weight="weight", backend="torchcent")
    assert found == pytest.approx(expected, rel=1e-12)


# --- what is kept


def test_what_a_graph_keeps() -> None:
    n, edges = road()
    chance = random.Random(3)
    graph = undirected(n, [(u, v, chance.uniform(1, 100)) for u, v, _ in edges], 1.0)
    size = graph._nbytes
    counted = in_fixed_point(graph)
    assert counted is not graph and counted is in_fixed_point(graph) is in_fixed_point(counted)
    assert counted.weight is graph.weight and counted.col is graph.col
    assert graph._nbytes == size and counted == graph
    held = held_bytes(graph)
    torchcent.betweenness(graph)
    assert held_bytes(graph) > held  # its cores
    assert counted.reversed().scale == counted.to("cpu").scale == counted.scale
    assert in_fixed_point(graph.with_ties("float")).scale == graph.scale
    whole = undirected(n, edges, 1.0)
    assert in_fixed_point(whole) is whole


def test_a_folder_knows_how_sums_were_compared(tmp_path: object) -> None:
    n, edges = road()
    chance = random.Random(3)
    graph = undirected(n, [(u, v, chance.uniform(1, 100)) for u, v, _ in edges], 1.0)
    torchcent.betweenness(graph, run=torchcent.Run(checkpoint=tmp_path))
    with pytest.raises(ValueError, match="ties is .*fixed point"):
        torchcent.betweenness(
            graph.with_ties("float"),
            run=torchcent.Run(checkpoint=tmp_path),
        )
