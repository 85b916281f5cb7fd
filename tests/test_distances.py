"""Closeness, harmonic, eccentricity, profile: every engine and option against the definition,
NetworkX, SciPy and closed forms."""

import math
from collections.abc import Iterable

import networkx as nx
import numpy as np
import oracles
import pytest
import scipy.sparse.csgraph
import torch
from engines import skip_if_too_large
from graphs import (
    ASSORTED,
    DEVICE,
    LEAFY,
    arc_lists,
    complete,
    cycle,
    edge_index,
    grid,
    leafy_graphs,
    networkx_graph,
    path,
    random_graph,
    random_tree,
    star,
    subsets,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call, seeded
from torch import Tensor

import torchcent
from torchcent import Graph

pytestmark = pytest.mark.sweep

F64 = torch.float64


def scored(measure: str, arcs: oracles.Arcs, n: int, engine: str, **options) -> Tensor:
    for name in ("sources", "vertices"):
        if isinstance(options.get(name), list):
            options[name] = torch.tensor(options[name])
    skip_if_too_large(engine, n)
    function = getattr(torchcent, measure)
    return call(function, edge_index(arcs), num_nodes=n, dtype=F64, engine=engine, **options).cpu()


def profiled(arcs: oracles.Arcs, n: int, engine: str, **options) -> torchcent.DistanceProfile:
    if "sources" in options:
        options["sources"] = torch.tensor(options["sources"])
    skip_if_too_large(engine, n)
    columns = call(
        torchcent.distance_profile,
        edge_index(arcs),
        num_nodes=n,
        dtype=F64,
        engine=engine,
        **options,
    )
    return torchcent.DistanceProfile(*(column.cpu() for column in columns))


def assert_close(actual: Tensor, expected: Iterable) -> None:
    expected = torch.tensor([float(x) for x in expected], dtype=F64)
    torch.testing.assert_close(actual.to(F64), expected, rtol=1e-12, atol=0, equal_nan=True)


# --- the definition


@given(data=st.data())
@settings(max_examples=100)
def test_definition(distance_engine, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()))
    directed = data.draw(st.booleans(), label="directed")
    flag = data.draw(st.booleans(), label="wf_improved, normalized, disconnected")
    options = {"directed": directed}
    if n and data.draw(st.booleans()):
        options["sources"] = data.draw(subsets(n), label="sources")
    expected = call(oracles.closeness, n, arcs, wf_improved=flag, **options)
    assert_close(
        scored("closeness", arcs, n, distance_engine, wf_improved=flag, **options), expected
    )
    expected = call(oracles.harmonic, n, arcs, normalized=flag, **options)
    assert_close(scored("harmonic", arcs, n, distance_engine, normalized=flag, **options), expected)
    options = {"directed": directed, "disconnected": "inf" if flag else "component"}
    expected = call(oracles.eccentricity, n, arcs, **options)
    assert_close(scored("eccentricity", arcs, n, distance_engine, **options), expected)


@given(data=st.data())
@settings(max_examples=50)
def test_vertices(distance_engine, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()).filter(lambda graph: graph[0] > 0))
    directed = data.draw(st.booleans(), label="directed")
    chosen = data.draw(subsets(n), label="vertices")
    for measure in ("closeness", "harmonic", "eccentricity"):
        everything = getattr(oracles, measure)(n, arcs, directed=directed)
        actual = scored(measure, arcs, n, distance_engine, directed=directed, vertices=chosen)
        assert_close(actual, [everything[v] for v in chosen])


@given(data=st.data())
@settings(max_examples=50)
def test_profile(distance_engine, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()))
    options = {"directed": data.draw(st.booleans(), label="directed")}
    if n and data.draw(st.booleans()):
        options["sources"] = data.draw(subsets(n), label="sources")
    profile = profiled(arcs, n, distance_engine, **options)
    assert all(column.dtype == F64 and column.shape == (n,) for column in profile)
    assert_close(profile.closeness, call(oracles.closeness, n, arcs, **options))
    assert_close(profile.harmonic, call(oracles.harmonic, n, arcs, **options))
    finite = [oracles.incoming(n, arcs, v, **options) for v in range(n)]
    assert_close(profile.reach, [weight * len(found) for found, weight in finite])
    assert_close(profile.farness, [weight * sum(found) for found, weight in finite])
    assert_close(profile.eccentricity, [max(found, default=0) for found, _ in finite])


@pytest.mark.parametrize("name", LEAFY)
def test_leafy_graphs(distance_engine, name):
    n, arcs = LEAFY[name]
    for directed, columns in ((False, arcs), (True, oracles.both_ways(arcs)), (True, arcs)):
        for measure in ("closeness", "harmonic", "eccentricity"):
            expected = getattr(oracles, measure)(n, columns, directed=directed)
            assert_close(scored(measure, columns, n, distance_engine, directed=directed), expected)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("directed", [False, True])
def test_tiny_graphs(distance_engine, n, directed):
    for arcs in ([], path(n), cycle(n) if n else [], [(v, v) for v in range(n)]):
        for measure in ("closeness", "harmonic", "eccentricity"):
            expected = getattr(oracles, measure)(n, arcs, directed=directed)
            assert_close(scored(measure, arcs, n, distance_engine, directed=directed), expected)


# --- NetworkX and SciPy


@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("directed", [False, True])
def test_networkx(distance_engine, name, directed):
    n, arcs = ASSORTED[name]
    graph = networkx_graph(n, arcs, directed)
    for wf_improved in (False, True):
        reference = nx.closeness_centrality(graph, wf_improved=wf_improved)
        actual = scored(
            "closeness", arcs, n, distance_engine, directed=directed, wf_improved=wf_improved
        )
        assert_close(actual, [reference[v] for v in range(n)])
    reference = nx.harmonic_centrality(graph)
    actual = scored("harmonic", arcs, n, distance_engine, directed=directed)
    assert_close(actual, [reference[v] for v in range(n)])
    connected = nx.is_strongly_connected(graph) if directed else nx.is_connected(graph)
    actual = scored("eccentricity", arcs, n, distance_engine, directed=directed)
    if connected:
        reference = nx.eccentricity(graph)
        assert_close(actual, [reference[v] for v in range(n)])
    else:
        assert actual.isinf().any()


def test_networkx_outgoing(distance_engine):
    n, arcs = ASSORTED["sparse"]
    reference = nx.closeness_centrality(networkx_graph(n, arcs, True).reverse())
    graph = Graph.from_edge_index(edge_index(arcs), n).reversed()
    actual = torchcent.closeness(
        graph,
        run=torchcent.Run(engine=distance_engine, dtype=F64),
    ).cpu()
    assert_close(actual, [reference[v] for v in range(n)])


@pytest.mark.parametrize("n, arcs", [(700, 1500), (1400, 1300), (900, 5000)])
@pytest.mark.parametrize("directed", [False, True])
def test_scipy_on_more_than_one_batch(distance_engine, n, arcs, directed):
    columns = random_graph(n, arcs, seed=arcs)
    graph = Graph.from_edge_index(edge_index(columns), n, directed)
    distance = scipy.sparse.csgraph.shortest_path(graph.to_scipy(), unweighted=True)
    finite = np.isfinite(distance) & (distance > 0)
    options = {"engine": distance_engine, "dtype": F64}
    profile = call(torchcent.distance_profile, graph, **options)
    assert_close(profile.reach.cpu(), finite.sum(0))
    assert_close(profile.farness.cpu(), np.where(finite, distance, 0).sum(0))
    reciprocal = np.divide(1, distance, where=finite, out=np.zeros_like(distance))
    assert_close(profile.harmonic.cpu(), reciprocal.sum(0))
    farthest = call(torchcent.eccentricity, graph, disconnected="component", **options)
    assert_close(farthest.cpu(), np.where(finite, distance, 0).max(1))
    some = torch.randperm(n, generator=torch.Generator().manual_seed(0))[:600]
    actual = call(torchcent.harmonic, graph, vertices=some.to(DEVICE), **options)
    assert_close(actual.cpu(), reciprocal.sum(0)[some.numpy()])


@pytest.mark.slow
def test_deep_graph_of_more_than_one_batch(distance_engine):
    n, arcs = 30 * 40 + 60, grid(30, 40) + [(v, 1200 + v) for v in range(60)]
    shuffled = torch.randperm(n, generator=torch.Generator().manual_seed(1)).tolist()
    arcs = [(shuffled[u], shuffled[v]) for u, v in arcs]
    graph = Graph.from_edge_index(edge_index(arcs), n, directed=False)
    distance = scipy.sparse.csgraph.shortest_path(graph.to_scipy(), unweighted=True)
    profile = torchcent.distance_profile(
        graph,
        run=torchcent.Run(engine=distance_engine, dtype=F64),
    )
    assert_close(profile.farness.cpu(), distance.sum(0))
    assert_close(profile.eccentricity.cpu(), distance.max(0))
    assert_close(
        torchcent.eccentricity(
            graph,
            run=torchcent.Run(engine=distance_engine, dtype=F64),
        ).cpu(),
        distance.max(0),
    )
    some = torch.arange(0, n, 2, device=DEVICE)
    actual = torchcent.closeness(
        graph,
        vertices=some,
        run=torchcent.Run(engine=distance_engine, dtype=F64),
    )
    assert_close(actual.cpu(), (n - 1) / distance.sum(0)[::2])


# --- pivots


def test_drawn_pivots(distance_engine):
    n, arcs = 30, random_graph(30, 90, seed=3)

    def drawn(k):
        with seeded(5):
            return scored("closeness", arcs, n, distance_engine, sources=k)

    assert torch.equal(drawn(7), drawn(7))
    pivots = torch.randperm(n, generator=torch.Generator().manual_seed(5))[:7].tolist()
    assert_close(drawn(7), oracles.closeness(n, arcs, directed=True, sources=pivots))
    assert_close(drawn(n), oracles.closeness(n, arcs, directed=True))


def test_pivots_are_right_on_average():
    n, arcs = 12, random_graph(12, 40, seed=4)
    exact = scored("harmonic", arcs, n, "tensor")
    total = torch.zeros(n, dtype=F64)
    for s in range(n):
        for t in range(s):
            total += scored("harmonic", arcs, n, "tensor", sources=[s, t])
    torch.testing.assert_close(total / (n * (n - 1) / 2), exact, rtol=1e-12, atol=0)


def test_single_pivot_knows_nothing_of_itself(distance_engine):
    actual = scored("closeness", star(4), 5, distance_engine, directed=False, sources=[0])
    assert_close(actual, [math.nan, 1, 1, 1, 1])


# --- closed forms


@pytest.mark.parametrize("n", [2, 3, 64, 65, 600])
def test_cycle(distance_engine, n):
    distance = [min(d, n - d) for d in range(1, n)]
    options = {"directed": False}
    assert_close(
        scored("closeness", cycle(n), n, distance_engine, **options),
        [(n - 1) / sum(distance)] * n,
    )
    assert_close(
        scored("harmonic", cycle(n), n, distance_engine, **options),
        [math.fsum(1 / d for d in distance)] * n,
    )
    assert_close(scored("eccentricity", cycle(n), n, distance_engine, **options), [n // 2] * n)


def test_complete_and_empty(distance_engine):
    n = 70
    for measure, value in (("closeness", 1), ("harmonic", n - 1), ("eccentricity", 1)):
        actual = scored(measure, complete(n), n, distance_engine, directed=False)
        assert_close(actual, [value] * n)
    for measure, value in (("closeness", 0), ("harmonic", 0), ("eccentricity", math.inf)):
        assert_close(scored(measure, [], n, distance_engine), [value] * n)


def test_large_star(distance_engine):
    folds = torchcent.explain(
        edge_index(star(2)), measure="closeness", run=torchcent.Run(engine=distance_engine)
    )
    # tensor and tiny do not fold leaves
    leaves = 700 if folds.engine in ("tensor", "tiny") else 100_000
    profile = profiled(star(leaves), leaves + 1, distance_engine, directed=False)
    assert profile.farness.tolist() == [leaves] + [2 * leaves - 1] * leaves
    assert_close(profile.harmonic, [leaves] + [1 + (leaves - 1) / 2] * leaves)
    assert profile.eccentricity.tolist() == [1] + [2] * leaves


def test_tree(distance_engine):
    n = 900
    tree = random_tree(n, seed=n)
    distance = dict(nx.all_pairs_shortest_path_length(nx.Graph(tree)))
    far = [sum(distance[v].values()) for v in range(n)]
    actual = scored("closeness", tree, n, distance_engine, directed=False)
    assert_close(actual, [(n - 1) / x for x in far])


# --- results


def test_dtype_and_threads(threads):
    columns = edge_index(random_graph(2000, 9000, seed=6))
    assert torchcent.closeness(columns).dtype == torch.get_default_dtype()
    assert (
        torchcent.harmonic(columns, run=torchcent.Run(dtype=torch.float16)).dtype == torch.float16
    )
    results = []
    for number in (1, 2, 5):
        torch.set_num_threads(number)
        results.append(torchcent.distance_profile(columns, run=torchcent.Run(dtype=F64)))
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_reversed():
    columns = edge_index([(0, 1), (1, 2), (1, 1), (0, 1), (2, 3), (3, 2)])
    graph = Graph.from_edge_index(columns)
    back = graph.reversed()
    assert (back.to_scipy().toarray() == graph.to_scipy().toarray().T).all()
    slots = back.to_edge_index()
    for column, slot in zip(columns.t().tolist(), back.slot.tolist(), strict=True):
        if column[0] == column[1]:
            assert slot == -1
        else:
            assert slots[:, slot].tolist() == column[::-1]
    twice = back.reversed()
    assert torch.equal(twice.rowptr, graph.rowptr) and torch.equal(twice.col, graph.col)
    assert torch.equal(twice.slot, graph.slot)
    loops = Graph.from_edge_index(edge_index([(0, 0)]))
    assert loops.reversed().slot.tolist() == [-1]


def test_explain():
    columns = edge_index(random_graph(2000, 9000, seed=7))
    for measure in ("closeness", "harmonic", "eccentricity", "distance_profile"):
        plan = torchcent.explain(columns, measure=measure)
        assert plan.measure == measure and plan.engine in ("bits", "tensor")
        assert plan.memory <= plan.memory_limit
        assert plan.engine in str(plan)
    assert torchcent.explain(columns, measure="closeness", sources=5).sources <= 5
    assert (
        torchcent.explain(columns, measure="closeness", run=torchcent.Run(engine="tensor")).engine
        == "tensor"
    )
