"""Distance measures and rows of distances by weights, on every engine, against exact numbers,
NetworkX and SciPy."""

import math
import random
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import path_oracles as oracles
import pytest
import scipy.sparse.csgraph
import torch
from engines import skip_if_too_large
from graphs import (
    ASSORTED,
    DEVICE,
    arc_lists,
    cycle,
    edge_index,
    grid,
    leafy_graphs,
    path,
    random_graph,
    random_tree,
    subsets,
    union,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import Request, plan_of
from surface import call
from surface import seeded as from_seed
from test_weighted import ENDS, EXACT, ROUNDED, listed, networkx_graph, seeded
from torch import Tensor

import torchcent
from torchcent import Graph, shortest_path_lengths

pytestmark = pytest.mark.sweep

F64 = torch.float64
KINDS = [*EXACT, "rounded"]


def kind_of(name):
    return st.sampled_from(ROUNDED) if name == "rounded" else EXACT[name]


def weighted(n, arcs, weights, directed=True):
    """Decimals are added as floats, as by the oracles."""
    return decimals(n, arcs, weights, directed).with_ties("float")


def decimals(n, arcs, weights, directed):
    lengths = torch.tensor([float(w) for w in weights], dtype=F64, device=DEVICE)
    return Graph.from_edge_index(edge_index(arcs), n, directed, lengths)


def assert_close(actual: Tensor, expected) -> None:
    expected = torch.tensor([float(x) for x in expected], dtype=F64)
    torch.testing.assert_close(actual.to("cpu", F64), expected, rtol=1e-12, atol=0, equal_nan=True)


# --- per vertex


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=60)
def test_definition(weighted_engine, kind, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()))
    weights = listed(data.draw, arcs, kind_of(kind))
    directed = data.draw(st.booleans(), label="directed")
    flag = data.draw(st.booleans(), label="wf_improved, normalized, disconnected")
    sources = data.draw(subsets(n), label="sources") if n and data.draw(st.booleans()) else None
    rows = oracles.distances(n, arcs, weights, directed)
    graph = weighted(n, arcs, weights, directed)
    run = {"engine": weighted_engine, "dtype": F64}
    some = None if sources is None else torch.tensor(sources)

    expected = oracles.closeness(rows, flag, sources)
    assert_close(call(torchcent.closeness, graph, wf_improved=flag, sources=some, **run), expected)
    expected = oracles.harmonic(rows, flag, sources)
    assert_close(call(torchcent.harmonic, graph, normalized=flag, sources=some, **run), expected)
    away = "inf" if flag else "component"
    expected = oracles.eccentricity(rows, away)
    assert_close(call(torchcent.eccentricity, graph, disconnected=away, **run), expected)

    profile = call(torchcent.distance_profile, graph, sources=some, **run)
    found = [oracles.incoming(rows, v, sources) for v in range(n)]
    assert_close(profile.reach, [weight * len(finite) for finite, weight in found])
    assert_close(profile.farness, [float(weight) * float(sum(finite)) for finite, weight in found])
    assert_close(profile.eccentricity, [max(finite, default=0) for finite, _ in found])
    if n:
        chosen = data.draw(subsets(n), label="vertices")
        everything = oracles.closeness(rows)
        some = call(torchcent.closeness, graph, vertices=torch.tensor(chosen), **run)
        assert_close(some, [everything[v] for v in chosen])


@pytest.mark.parametrize("kind", ["to ten", "uniform", "rounded"])
@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("directed", [False, True])
def test_networkx(weighted_engine, name, directed, kind):
    n, arcs = ASSORTED[name]
    weights = seeded(arcs, kind)
    known, graph = networkx_graph(n, arcs, weights, directed), weighted(n, arcs, weights, directed)
    run = {"engine": weighted_engine, "dtype": F64}
    expected = nx.closeness_centrality(known, distance="weight")
    assert_close(call(torchcent.closeness, graph, **run), [expected[v] for v in range(n)])
    expected = nx.harmonic_centrality(known, distance="weight")
    assert_close(call(torchcent.harmonic, graph, **run), [expected[v] for v in range(n)])
    connected = nx.is_strongly_connected if directed else nx.is_connected
    if connected(known):
        expected = nx.average_shortest_path_length(known, weight="weight")
        actual = call(torchcent.average_shortest_path_length, graph, **run)
        assert_close(actual.reshape(1), [expected])


@given(data=st.data())
@settings(max_examples=60)
def test_decimals_are_added_as_they_are_written(weighted_engine, eager, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()))
    digits = data.draw(st.integers(1, 6), label="digits")
    weights = [Fraction(data.draw(st.integers(1, 12)), 10**digits) for _ in arcs]
    directed = data.draw(st.booleans(), label="directed")
    rows = oracles.distances(n, arcs, weights, directed)
    graph = decimals(n, arcs, weights, directed)
    check_extremes(rows, graph, weighted_engine, "inf")
    for disconnected in ("inf", "component"):
        found = torchcent.eccentricity(
            graph,
            disconnected=disconnected,
            run=torchcent.Run(engine=weighted_engine, dtype=F64),
        )
        expected = oracles.eccentricity(rows, disconnected)
        assert found.tolist() == [float(x) for x in expected]
    if weighted_engine != "tiny":  # which has no rows
        found = shortest_path_lengths(graph, run=torchcent.Run(engine=weighted_engine), dtype=F64)
        assert found.tolist() == [
            [math.inf if x is None else float(x) for x in row] for row in rows
        ]


@pytest.mark.parametrize("n", [2, 3, 7])
def test_paths_as_long_as_a_type_holds(weighted_engine, n):
    """Also where an arc leads on from the farthest vertex."""
    for longest in ENDS:
        arcs, weights = path(n), [longest // (n - 1)] * (n - 1)
        graph = weighted(n, arcs, weights, directed=False)
        rows = oracles.distances(n, arcs, weights, directed=False)
        run = {"engine": weighted_engine, "dtype": F64}
        assert_close(call(torchcent.closeness, graph, **run), oracles.closeness(rows))
        assert_close(call(torchcent.eccentricity, graph, **run), oracles.eccentricity(rows))
        check_extremes(rows, graph, weighted_engine, "inf")


def test_top(weighted_engine):
    n, arcs = ASSORTED["dense"]
    graph = weighted(n, arcs, seeded(arcs, "uniform"), directed=False)
    run = {"engine": weighted_engine, "dtype": F64}
    every = call(torchcent.closeness, graph, **run)
    values, indices = call(torchcent.closeness, graph, top=7, **run)
    order = torch.argsort(every, descending=True, stable=True)[:7]
    assert torch.equal(indices, order) and torch.equal(values, every[order])


# --- extremes


@pytest.fixture(params=["as it is", "batches"])
def eager(request, tuning):
    if request.param == "batches":
        tuning(
            longest_roots=2,
            longest_few=0,
            longest_batch=2,
            extremes_single=0,
            extremes_batch=2,
        )


def check_extremes(rows, graph, engine, disconnected):
    values = oracles.eccentricity(rows, disconnected)
    high, low = max(values, default=0), min(values, default=0)
    run = {"engine": engine, "disconnected": disconnected}
    assert_close(call(torchcent.diameter, graph, dtype=F64, **run).reshape(1), [high])
    assert_close(call(torchcent.radius, graph, dtype=F64, **run).reshape(1), [low])
    center, periphery = (
        call(torchcent.center, graph, **run),
        call(torchcent.periphery, graph, **run),
    )
    assert center.tolist() == [v for v, x in enumerate(values) if x == low]
    assert periphery.tolist() == [v for v, x in enumerate(values) if x == high]


@pytest.mark.parametrize("kind", ["one or two", "halves", "wider", "rounded"])
@pytest.mark.parametrize("disconnected", ["inf", "component"])
@given(data=st.data())
@settings(max_examples=25)
def test_extremes(weighted_engine, eager, kind, disconnected, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()))
    weights = [
        w if kind == "rounded" else Fraction(w) for w in listed(data.draw, arcs, kind_of(kind))
    ]
    directed = data.draw(st.booleans(), label="directed")
    rows = oracles.distances(n, arcs, weights, directed)
    check_extremes(rows, weighted(n, arcs, weights, directed), weighted_engine, disconnected)


@pytest.mark.parametrize("kind", ["one or two", "uniform", "rounded"])
@pytest.mark.parametrize(
    "graph",
    [
        (63, grid(7, 9)),
        (60, random_tree(60, seed=1)),
        (50, cycle(50)),
        (80, random_graph(80, 300, seed=3) + path(80)),
        union((30, cycle(30)), (40, random_tree(40, seed=2)), (1, []), (3, cycle(3))),
    ],
    ids=["grid", "tree", "cycle", "random", "components"],
)
def test_extremes_of_larger_graphs(weighted_engine, eager, graph, kind):
    n, arcs = graph
    weights = seeded(arcs, kind, seed=5)
    rows = oracles.distances(n, arcs, weights, directed=False)
    for disconnected in ("inf", "component"):
        check_extremes(rows, weighted(n, arcs, weights, False), weighted_engine, disconnected)


def heavy_source(seed):
    """Strongly connected, with arcs of vertex 0 so long that nothing else counts beside them."""
    chance = random.Random(seed)
    n, heavy = chance.choice([6, 9, 14]), chance.choice([1e9, 1e12, 1e16])
    length = {}
    for u in range(n):
        heads = {(u + 1) % n} | {chance.randrange(n) for _ in range(chance.choice([1, 3, n]))}
        for v in heads - {u}:
            length[u, v] = chance.uniform(0.1, 3) if u else heavy * chance.uniform(1, 2)
    return n, list(length), list(length.values())


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(0, 40), range(40, 80), range(172, 174)], ids=str)
def test_radius_of_a_graph_with_a_far_vertex(weighted_engine, eager, seeds):
    """What two long distances say of a short one is nothing."""
    run = {"engine": weighted_engine}
    for seed in seeds:
        n, arcs, weights = heavy_source(seed)
        graph = weighted(n, arcs, weights)
        exact = oracles.distances(n, arcs, [Fraction(w) for w in weights], directed=True)
        truth = [float(x) for x in oracles.eccentricity(exact)]
        radius = min(truth)
        found = float(call(torchcent.radius, graph, dtype=F64, **run))
        assert found == pytest.approx(radius, rel=1e-12)
        center = call(torchcent.center, graph, **run).tolist()
        assert center and max(truth[v] for v in center) <= radius * (1 + 1e-12)


def test_a_long_arc_in_a_small_component(weighted_engine):
    """Two vertices 100 apart beat a path of 20 that are 1 apart."""
    n, arcs = union((20, path(20)), (2, path(2)))
    graph = weighted(n, arcs, [1] * 19 + [100], directed=False)
    run = {"disconnected": "component", "engine": weighted_engine}
    assert float(call(torchcent.diameter, graph, **run)) == 100
    assert call(torchcent.periphery, graph, **run).tolist() == [20, 21]


# --- pairs by distance


@given(data=st.data())
@settings(max_examples=40)
def test_distribution_of_whole_distances(weighted_engine, data):
    n, arcs = data.draw(arc_lists())
    weights = listed(data.draw, arcs, st.integers(1, 5))
    directed = data.draw(st.booleans(), label="directed")
    graph = weighted(n, arcs, weights, directed)
    rows = oracles.distances(n, arcs, weights, directed)
    finite = [d for row in rows for d in row if d is not None]
    expected = [finite.count(d) for d in range(max(finite, default=0) + 1)]
    actual = torchcent.distance_distribution(graph, run=torchcent.Run(engine=weighted_engine))
    assert actual.tolist() == expected and actual.dtype == torch.int64
    if n > 1:
        some = torchcent.distance_distribution(
            graph, run=torchcent.Run(engine=weighted_engine), sources=torch.tensor([n - 1])
        )
        finite = [d for d in rows[n - 1] if d is not None]
        assert some.tolist() == [n * finite.count(d) for d in range(max(finite) + 1)]


def test_effective_diameter(weighted_engine):
    graph = weighted(4, path(4), [2, 3, 4], directed=False)  # distances 2 3 4 5 7 9, each twice
    within = [
        float(
            torchcent.effective_diameter(
                graph,
                q=q,
                run=torchcent.Run(engine=weighted_engine, dtype=F64),
            )
        )
        for q in (0.25, 0.5, 1.0)
    ]
    assert within == [2.5, 4.0, 9.0]


@pytest.mark.parametrize("measure", ["distance_distribution", "effective_diameter"])
def test_other_distances_have_no_distribution(measure):
    graph = weighted(3, path(3), [0.5, 1])
    with pytest.raises(ValueError, match=rf"{measure}.*not whole.*unit.*unweighted"):
        getattr(torchcent, measure)(graph)
    assert getattr(torchcent, measure)(graph.unweighted()).numel()


def test_a_distribution_too_long_to_hold():
    graph = weighted(3, path(3), [10**9, 10**9])
    with pytest.raises(MemoryError, match="distance up to 2000000000"):
        torchcent.distance_distribution(graph, run=torchcent.Run(memory=10**9))


# --- rows


def as_rows(found: Tensor) -> list[list]:
    missing = math.inf if found.is_floating_point() else -1
    return [[None if d == missing else d for d in row] for row in found.tolist()]


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=50)
def test_rows(row_engine, kind, data):
    n, arcs = data.draw(arc_lists())
    weights = listed(data.draw, arcs, kind_of(kind))
    directed = data.draw(st.booleans(), label="directed")
    rows = oracles.distances(n, arcs, weights, directed)
    graph = weighted(n, arcs, weights, directed)
    found = shortest_path_lengths(graph, run=torchcent.Run(engine=row_engine))
    assert found.dtype == (torch.int32 if graph.scale.whole and graph.scale.dtype == torch.int32
                           else F64)  # fmt: skip
    assert as_rows(found) == rows
    assert (
        as_rows(shortest_path_lengths(graph, run=torchcent.Run(engine=row_engine), dtype=F64))
        == rows
    )
    if n:
        sources = data.draw(subsets(n))
        size = data.draw(st.integers(1, n))
        options = {"sources": torch.tensor(sources), "block_size": size, "engine": row_engine}
        assert as_rows(call(shortest_path_lengths, graph, **options)) == [rows[s] for s in sources]
        blocks = list(call(shortest_path_lengths, graph, blocks=True, **options))
        assert torch.cat([ids for ids, _ in blocks]).tolist() == sources
        assert [row for _, block in blocks for row in as_rows(block)] == [rows[s] for s in sources]


@pytest.mark.parametrize("kind", ["to ten", "uniform", "rounded"])
@pytest.mark.parametrize("name", ASSORTED)
def test_scipy(row_engine, name, kind):
    n, arcs = ASSORTED[name]
    graph = weighted(n, arcs, seeded(arcs, kind))
    expected = scipy.sparse.csgraph.dijkstra(graph.to_scipy())
    found = shortest_path_lengths(graph, run=torchcent.Run(engine=row_engine), dtype=F64)
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


@pytest.mark.each
@pytest.mark.parametrize("whole", [True, False])
def test_dtypes(row_engine, whole):
    arcs, weights = [(0, 1), (1, 2), (3, 3)], [100, 27] if whole else [0.5, 0.1]
    graph = weighted(4, arcs[:2], weights)
    truth = oracles.distances(4, arcs[:2], weights, True)
    run = {"engine": row_engine}
    default = torch.int32 if whole else F64
    assert call(shortest_path_lengths, graph, **run).dtype == default
    for dtype in (torch.float64, torch.float32):
        found = call(shortest_path_lengths, graph, dtype=dtype, **run)
        assert found.dtype == dtype
        expected = torch.tensor([[math.inf if d is None else d for d in row] for row in truth])
        assert torch.equal(found.cpu(), expected.to(dtype) if whole else torch.tensor(
            [[math.inf if d is None else d for d in row] for row in truth], dtype=F64
        ).to(dtype))  # fmt: skip
    for dtype in (torch.int8, torch.int16, torch.int32):
        if whole:
            found = call(shortest_path_lengths, graph, dtype=dtype, **run)
            assert found.dtype == dtype and as_rows(found) == truth
        else:
            with pytest.raises(ValueError, match=f"dtype={dtype}.*not whole.*float64"):
                call(shortest_path_lengths, graph, dtype=dtype, **run)
    with pytest.raises(TypeError, match="dtype of weighted distances.*float16"):
        call(shortest_path_lengths, graph, dtype=torch.float16, **run)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_rows_as_long_as_a_type_holds(row_engine, n):
    for longest in ENDS:
        weights = [longest // (n - 1)] * (n - 1)
        graph = weighted(n, path(n), weights, directed=False)
        truth = oracles.distances(n, path(n), weights, directed=False)
        assert shortest_path_lengths(graph, run=torchcent.Run(engine=row_engine)).tolist() == truth


def test_distances_that_do_not_fit(row_engine):
    run = {"engine": row_engine}
    graph = weighted(3, path(3), [100, 28])
    with pytest.raises(OverflowError, match=r"distance of 128 from vertex 0.*int8.*127"):
        call(shortest_path_lengths, graph, dtype=torch.int8, **run)
    graph = weighted(3, path(3), [2**31, 5])
    assert call(shortest_path_lengths, graph, **run).tolist()[0] == [0, 2**31, 2**31 + 5]
    with pytest.raises(OverflowError, match="int32"):
        call(shortest_path_lengths, graph, dtype=torch.int32, **run)
    graph = weighted(3, path(3), [3e38, 3e38])
    with pytest.raises(OverflowError, match=r"6e\+38.*float32"):
        call(shortest_path_lengths, graph, dtype=torch.float32, **run)


@pytest.mark.parametrize("kind", ["to ten", "uniform"])
def test_files_and_tensors(row_engine, kind, tmp_path: Path):
    n, arcs = ASSORTED["disconnected"]
    graph = weighted(n, arcs, seeded(arcs, kind), directed=False)
    run = {"engine": row_engine}
    truth = call(shortest_path_lengths, graph, **run)
    for size in (None, 7):
        file = call(shortest_path_lengths, graph, out=tmp_path / "d.npy", block_size=size, **run)
        assert isinstance(file, np.memmap)
        np.testing.assert_array_equal(file, truth.cpu().numpy())
    for dtype in (torch.float32, F64, torch.int32)[: 3 if kind == "to ten" else 2]:
        out = torch.empty(n, n, dtype=dtype, device=DEVICE)
        assert call(shortest_path_lengths, graph, out=out, **run) is out
        assert torch.equal(out, call(shortest_path_lengths, graph, dtype=dtype, **run))


def test_out_of_another_dtype():
    graph = weighted(3, path(3), [0.5, 1])
    with pytest.raises(TypeError, match="out must be.*torch.float64.*torch.float16"):
        shortest_path_lengths(graph, out=torch.empty(3, 3, dtype=torch.float16))
    with pytest.raises(ValueError, match="not whole"):
        shortest_path_lengths(graph, out=torch.empty(3, 3, dtype=torch.int32))
    with pytest.raises(ValueError, match=r"dtype=torch.float32 contradicts out.*float64"):
        shortest_path_lengths(graph, out=torch.empty(3, 3, dtype=F64), dtype=torch.float32)


def test_memory_that_does_not_do(row_engine):
    arcs = random_graph(3000, 9000, seed=1)
    graph = weighted(3000, arcs, seeded(arcs, "uniform"))
    with pytest.raises(MemoryError, match=r"needs .*memory=1000000 "):
        shortest_path_lengths(graph, run=torchcent.Run(engine=row_engine, memory=10**6))
    for measure in ("closeness", "betweenness", "diameter"):
        with pytest.raises(MemoryError, match=r"needs .*memory=100000 "):
            getattr(torchcent, measure)(graph, run=torchcent.Run(engine=row_engine, memory=10**5))


# --- pivots, and what runs


def test_drawn_pivots(weighted_engine):
    n, arcs = ASSORTED["dense"]
    graph = weighted(n, arcs, seeded(arcs, "uniform"))
    ids = torch.randperm(n, generator=torch.Generator().manual_seed(3))[:9]
    for measure in (torchcent.closeness, torchcent.harmonic):
        with from_seed(3):
            drawn = measure(graph, sources=9, run=torchcent.Run(engine=weighted_engine))
        assert torch.equal(
            drawn, measure(graph, sources=ids, run=torchcent.Run(engine=weighted_engine))
        )


def test_threads(weighted_engine, threads):
    arcs = random_graph(500, 2500, seed=8)
    graph = weighted(500, arcs, seeded(arcs, "uniform"))
    found = []
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        profile = torchcent.distance_profile(
            graph,
            run=torchcent.Run(engine=weighted_engine, dtype=F64),
        )
        pivots = torchcent.closeness(
            graph, sources=torch.arange(99), run=torchcent.Run(engine=weighted_engine)
        )
        found.append((*profile, pivots))
    for other in found[1:]:
        assert all(torch.equal(x, y) for x, y in zip(found[0], other, strict=True))


def test_explain(weighted_engine):
    arcs = random_graph(200, 800, seed=8)
    graph = weighted(200, arcs, [0.25] * len(arcs))
    for measure in ("betweenness", "closeness", "eccentricity"):
        plan = torchcent.explain(graph, measure=measure, run=torchcent.Run(engine=weighted_engine))
        assert weighted_engine in ("auto", plan.engine)
        assert "weights   int32, in units of 1/4" in str(plan)
    plan = torchcent.explain(
        graph.with_ties(tie_tolerance=1e-9), run=torchcent.Run(engine=weighted_engine)
    )
    assert "tie tolerance 1e-09" in str(plan)
    assert "weights" not in str(torchcent.explain(graph.unweighted()))


def test_auto_goes_by_depth():
    """Shallow graphs side by side, deep ones by a hierarchy."""
    shallow = weighted(2000, random_graph(2000, 16000, seed=1), [1.5] * 16000)
    deep = weighted(2500, grid(50, 50), [1.5] * 4900, directed=False)
    names = {torchcent.explain(graph).engine for graph in (shallow, deep)}
    assert names in ({"relax", "hierarchy"}, {"relax", "dijkstra"}, {"tensor"})
    if "relax" in names:
        assert torchcent.explain(shallow).engine == "relax"
        assert torchcent.explain(shallow, measure="closeness").engine == "relax"
        single = "hierarchy" if torch.device(DEVICE).type == "cpu" else "dijkstra"
        assert torchcent.explain(deep, measure="closeness").engine == single
        assert torchcent.explain(shallow, sources=3).engine == "dijkstra"


def test_plans_hold_to_the_memory_they_are_given(weighted_engine):
    skip_if_too_large(weighted_engine, 4000)
    arcs = random_graph(4000, 16000, seed=random.Random(1).randrange(9))
    graph = weighted(4000, arcs, seeded(arcs, "uniform"))
    for measure in ("closeness", "betweenness"):
        plan = torchcent.explain(
            graph, measure=measure, run=torchcent.Run(engine=weighted_engine, memory=2**26)
        )
        assert plan.memory <= 2**26
    request = Request("closeness", weighted_engine, memory=2**26)
    assert plan_of(graph, request)[0].memory <= 2**26
