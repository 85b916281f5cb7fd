"""Weighted betweenness, edge betweenness, stress: every engine and option against paths that are
listed one by one in exact numbers, and against NetworkX."""

import itertools
import math
import random
from fractions import Fraction
from functools import partial

import networkx as nx
import path_oracles as oracles
import pytest
import torch
from engines import assert_scores, scored
from fixed_point import rounded
from graphs import (
    ASSORTED,
    LEAFY,
    Drawn,
    arc_lists,
    cycle,
    diamonds,
    edge_index,
    grid,
    leafy_graphs,
    path,
    random_graph,
    subsets,
    tower,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import torchcent
from torchcent import Graph

pytestmark = pytest.mark.sweep

F64 = torch.float64
MEASURES = ["betweenness", "edge_betweenness", "stress"]

# Sums of these are exact in float64, with many ties, few, and none to speak of.
# The ends of what distances are held in are among them.
ENDS = [2**bits + more for bits in (8, 16, 29, 30, 31) for more in (-2, -1, 0)]
EXACT = {
    "ones": st.just(Fraction(1)),
    "one or two": st.sampled_from([Fraction(1), Fraction(2)]),
    "to ten": st.integers(1, 10).map(Fraction),
    "halves": st.integers(1, 6).map(lambda x: Fraction(x, 2)),
    "wide": st.one_of(st.integers(1, 10**9), st.sampled_from(ENDS)).map(Fraction),
    "wider": st.integers(1, 2**44).map(Fraction),
}
# Sums of these round.
ROUNDED = [0.1, 0.2, 0.3, 0.15, 0.45, 0.7, math.pi]


def listed(draw, arcs, kind):
    return draw(st.lists(kind, min_size=len(arcs), max_size=len(arcs)), label="weights")


def networkx_graph(n, arcs, weights, directed, ties="float"):
    """With ties="decimal" weights that are all decimals of few digits are taken as written, in
    fractions, which is how torchcent compares paths by default."""
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(n))
    lengths = oracles.lengths(n, arcs, weights, directed)
    decimals = [Fraction(repr(float(weight))) for weight in lengths.values()]
    if ties == "float" or any((weight * 10**6).denominator > 1 for weight in decimals):
        decimals = [float(weight) for weight in lengths.values()]
    for (u, v), weight in zip(lengths, decimals, strict=True):
        graph.add_edge(u, v, weight=weight)
    return graph


def seeded(arcs, kind, seed=0):
    chance = random.Random(seed)
    draw = {
        "to ten": lambda: chance.randint(1, 10),
        "one or two": lambda: chance.randint(1, 2),
        "uniform": lambda: chance.uniform(0.01, 1),
        "rounded": lambda: chance.choice(ROUNDED),
    }[kind]
    return [draw() for _ in arcs]


# --- the definition


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data())
@settings(max_examples=40)
def test_definition(weighted_engine, measure, kind, data):
    n, arcs = data.draw(st.one_of(arc_lists(7), leafy_graphs(5, 5)))
    weights = listed(data.draw, arcs, EXACT[kind])
    options = {
        "directed": data.draw(st.booleans(), label="directed"),
        "normalized": data.draw(st.booleans(), label="normalized"),
    }
    if measure == "betweenness":
        options["endpoints"] = data.draw(st.booleans(), label="endpoints")
    if n and data.draw(st.booleans()):
        options["sources"] = data.draw(subsets(n), label="sources")
    if n and not options.get("endpoints") and data.draw(st.booleans()):
        options["targets"] = data.draw(subsets(n), label="targets")
    expected = oracles.scores(measure, n, arcs, weights, **options)
    run = partial(scored, getattr(torchcent, measure))
    actual = run(arcs, n, weighted_engine, edge_weight=weights, **options)
    assert_scores(actual, expected, weighted_engine)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("n", [2, 3, 8])
def test_paths_as_long_as_a_type_holds(weighted_engine, measure, n):
    """Of a path, and of a cycle, whose halves are as long; an arc leads on from the farthest."""
    for longest, arcs in itertools.product(ENDS, (path(n), cycle(n))):
        weights = [Fraction(longest // (n - 1))] * len(arcs)
        options = {"directed": False, "normalized": False}
        expected = oracles.scores(measure, n, arcs, weights, **options)
        run = partial(scored, getattr(torchcent, measure))
        actual = run(arcs, n, weighted_engine, edge_weight=weights, **options)
        assert_scores(actual, expected, weighted_engine)


@pytest.mark.parametrize("name", LEAFY)
@pytest.mark.parametrize("directed", [False, True])
def test_leafy_graphs(weighted_engine, name, directed):
    n, arcs = LEAFY[name]
    weights = [Fraction(w) for w in seeded(arcs, "one or two")]
    arcs, weights = arcs + [(v, u) for u, v in arcs], weights * 2
    for measure in MEASURES:
        for options in (
            {},
            {"sources": [n - 1, 0]},
            {"sources": [0, 1], "targets": sorted({1, n - 1})},
        ):
            options |= {"directed": directed, "normalized": False}
            expected = oracles.scores(measure, n, arcs, weights, **options)
            run = partial(scored, getattr(torchcent, measure))
            actual = run(arcs, n, weighted_engine, edge_weight=weights, **options)
            assert_scores(actual, expected, weighted_engine)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_tiny_graphs(weighted_engine, measure, directed, n):
    for arcs in ([], path(n), cycle(n) if n else [], [(v, v) for v in range(n)]):
        weights = [Fraction(3, 2)] * len(arcs)
        options = {"directed": directed, "normalized": True}
        expected = oracles.scores(measure, n, arcs, weights, **options)
        run = partial(scored, getattr(torchcent, measure))
        actual = run(arcs, n, weighted_engine, edge_weight=weights, **options)
        assert_scores(actual, expected, weighted_engine)


# --- weights of 1 are hops


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("weight", [1.0, 0.1, 3.0])
def test_equal_weights_are_hops(weighted_engine, measure, name, weight):
    n, arcs = ASSORTED[name]
    run = partial(scored, getattr(torchcent, measure))
    hops = run(arcs, n, "tensor", directed=False)
    options = {"edge_weight": [weight] * len(arcs), "directed": False}
    assert_scores(run(arcs, n, weighted_engine, **options), hops, weighted_engine)
    if weight == 0.1:  # float64 sums of 0.1 round the same way on all paths of as many arcs
        found = run(arcs, n, weighted_engine, ties="float", **options)
        assert_scores(found, hops, weighted_engine)


def test_lattice_of_many_shortest_paths(weighted_engine):
    arcs = grid(12, 13)
    weights = [2.0] * len(arcs)
    hops = scored(torchcent.betweenness, arcs, 156, "tensor", directed=False)
    actual = scored(
        torchcent.betweenness, arcs, 156, weighted_engine, directed=False, edge_weight=weights
    )
    assert_scores(actual, hops, weighted_engine)


# --- NetworkX


@pytest.mark.parametrize("kind", ["to ten", "one or two", "uniform", "rounded"])
@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("directed", [False, True])
def test_networkx(weighted_engine, name, directed, kind):
    n, arcs = ASSORTED[name]
    weights = seeded(arcs, kind)
    graph = networkx_graph(n, arcs, weights, directed)
    run = partial(scored, torchcent.betweenness, ties="float")
    for options in (
        {"normalized": True, "endpoints": False},
        {"normalized": False, "endpoints": True},
    ):
        reference = nx.betweenness_centrality(graph, weight="weight", **options)
        actual = run(arcs, n, weighted_engine, edge_weight=weights, directed=directed, **options)
        assert_scores(actual, [reference[v] for v in range(n)], weighted_engine)


@given(data=st.data())
@settings(max_examples=60)
def test_networkx_on_random_graphs(weighted_engine, data):
    n, arcs = data.draw(st.one_of(arc_lists(10), leafy_graphs()).filter(lambda graph: graph[0]))
    decimals, floats = st.sampled_from(ROUNDED[:-1]), st.floats(0.01, 2)
    kinds = decimals, floats, st.one_of(st.just(math.pi), decimals, floats)
    kind = data.draw(st.sampled_from([0, 1, 2]), label="kind")
    weights = listed(data.draw, arcs, kinds[kind])
    ties = data.draw(st.sampled_from(["decimal", "float"]), label="ties")
    directed = data.draw(st.booleans(), label="directed")
    normalized = data.draw(st.booleans(), label="normalized")
    # Decimals beside other numbers are multiples of a power of two, and 0.2 may not be as long as
    # 0.1 twice; NetworkX gets these multiples.
    mixed = ties == "decimal" and kind == 2
    lengths = rounded(n, arcs, weights, directed) if mixed else weights
    graph = networkx_graph(n, arcs, lengths, directed, "float" if mixed else ties)
    options = {
        "edge_weight": weights, "directed": directed, "normalized": normalized, "ties": ties
    }  # fmt: skip

    reference = nx.betweenness_centrality(graph, weight="weight", normalized=normalized)
    actual = scored(torchcent.betweenness, arcs, n, weighted_engine, **options)
    assert_scores(actual, [reference[v] for v in range(n)], weighted_engine)

    reference = nx.edge_betweenness_centrality(graph, weight="weight", normalized=normalized)
    actual = scored(torchcent.edge_betweenness, arcs, n, weighted_engine, **options)
    either = {**{(v, u): x for (u, v), x in reference.items()}, **reference}
    expected = [0 if u == v else (reference if directed else either)[u, v] for u, v in arcs]
    assert_scores(actual, expected, weighted_engine)

    pivots = data.draw(subsets(n), label="pivots")
    reference = nx.betweenness_centrality(
        graph, k=len(pivots), seed=Drawn(pivots), weight="weight", normalized=normalized
    )
    actual = scored(torchcent.betweenness, arcs, n, weighted_engine, sources=pivots, **options)
    assert_scores(actual, [reference[v] for v in range(n)], weighted_engine)

    ends = data.draw(subsets(n), label="targets")
    reference = nx.betweenness_centrality_subset(
        graph, pivots, ends, weight="weight", normalized=normalized
    )
    actual = scored(
        torchcent.betweenness, arcs, n, weighted_engine, sources=pivots, targets=ends, **options
    )
    assert_scores(actual, [reference[v] for v in range(n)], weighted_engine)


@pytest.mark.slow
def test_more_sources_than_a_batch(weighted_engine):
    n = 300
    arcs = random_graph(n, 1500, seed=9)
    for kind in ("to ten", "uniform"):
        weights = seeded(arcs, kind)
        graph = networkx_graph(n, arcs, weights, directed=True)
        reference = nx.betweenness_centrality(graph, weight="weight")
        actual = scored(torchcent.betweenness, arcs, n, weighted_engine, edge_weight=weights)
        assert_scores(actual, [reference[v] for v in range(n)], weighted_engine)


# --- parallel arcs


def test_the_shortest_of_parallel_arcs_counts(weighted_engine):
    arcs = [(0, 1), (0, 1), (1, 2), (0, 2), (2, 0), (1, 1)]
    weights = [5, 1, 1, 9, 2, 7]
    actual = scored(torchcent.betweenness, arcs, 3, weighted_engine, edge_weight=weights,
                    normalized=False, directed=True)  # fmt: skip
    assert actual.tolist() == [1, 1, 1]  # 2-0-1, 0-1-2 (2, not 9), 1-2-0
    actual = scored(torchcent.betweenness, arcs, 3, weighted_engine, edge_weight=weights,
                    normalized=False, directed=False)  # fmt: skip
    assert actual.tolist() == [0, 0.5, 0]  # 0-2 takes 2 there and back: 0-1-2 is as long
    edges = scored(torchcent.edge_betweenness, arcs, 3, weighted_engine, edge_weight=weights,
                   normalized=False, directed=False)  # fmt: skip
    assert edges.tolist() == [1.5, 1.5, 1.5, 0.5, 0.5, 0]


# --- path counts


def test_path_counts_beyond_float64(weighted_engine):
    """2^1100 shortest paths; with weights that differ, as many of one length."""
    arcs = diamonds(1100)
    weights = [1 + (k // 4) % 3 for k in range(len(arcs))]
    n = 3301
    options = {"sources": [0], "targets": [n - 1], "normalized": False}
    actual = scored(torchcent.betweenness, arcs, n, weighted_engine, edge_weight=weights, **options)
    expected = [0.5 if v % 3 else 1.0 for v in range(n)]
    expected[0] = expected[-1] = 0.0
    assert_scores(actual, expected, weighted_engine)


def test_towers(weighted_engine):
    arcs = tower(30, 12)  # 12^28 paths, past float32
    weights = [1.0 + (u // 12) % 2 for u, _ in arcs]
    hops = scored(torchcent.betweenness, arcs, 360, "tensor", sources=[0, 1])
    actual = scored(
        torchcent.betweenness, arcs, 360, weighted_engine, edge_weight=weights, sources=[0, 1]
    )
    assert_scores(actual, hops, weighted_engine)


# --- the result does not depend on


@pytest.mark.parametrize("measure", MEASURES)
def test_threads(weighted_engine, threads, measure):
    arcs = random_graph(400, 2000, seed=4)
    weights = seeded(arcs, "uniform")
    run = partial(scored, getattr(torchcent, measure))
    found = []
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        found.append(run(arcs, 400, weighted_engine, edge_weight=weights))
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int8, torch.int64])
def test_dtype_of_weights(weighted_engine, dtype):
    n, arcs = ASSORTED["sparse"]
    weights = torch.tensor(seeded(arcs, "to ten"))
    graph = [Graph.from_edge_index(edge_index(arcs), n, edge_weight=w.to(edge_index(arcs).device))
             for w in (weights, weights.to(dtype))]  # fmt: skip
    first, second = (
        torchcent.betweenness(
            g,
            run=torchcent.Run(engine=weighted_engine, dtype=F64),
        )
        for g in graph
    )
    assert torch.equal(first, second)


def test_scaling_by_a_power_of_two_changes_nothing(weighted_engine):
    n, arcs = ASSORTED["dense"]
    weights = seeded(arcs, "uniform")
    run = partial(scored, torchcent.betweenness, arcs, n, weighted_engine)
    first = run(edge_weight=weights)
    assert torch.equal(first, run(edge_weight=[8 * w for w in weights]))
    assert torch.equal(first, run(edge_weight=[w / 1024 for w in weights]))
