"""betweenness(): every engine and option against the definition, NetworkX and closed forms."""

import math
import random
from functools import partial
from itertools import combinations

import networkx as nx
import oracles
import pytest
import torch
from engines import assert_scores, scored
from graphs import (
    ASSORTED,
    LEAFY,
    Drawn,
    arc_lists,
    complete,
    cycle,
    leafy_graphs,
    networkx_graph,
    path,
    random_graph,
    random_tree,
    star,
    subsets,
    wheel,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call, seeded

import torchcent

pytestmark = pytest.mark.sweep

F64 = torch.float64
scores = partial(scored, torchcent.betweenness)


# --- the definition


@given(data=st.data())
@settings(max_examples=150)
def test_definition(engine, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()))
    options = {
        "directed": data.draw(st.booleans(), label="directed"),
        "normalized": data.draw(st.booleans(), label="normalized"),
        "endpoints": data.draw(st.booleans(), label="endpoints"),
    }
    if n and data.draw(st.booleans()):
        options["sources"] = data.draw(subsets(n), label="sources")
    expected = call(oracles.betweenness, n, arcs, **options)
    assert_scores(scores(arcs, n, engine, **options), expected, engine)


@given(data=st.data())
@settings(max_examples=100)
def test_definition_between_subsets(engine, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()).filter(lambda graph: graph[0] > 0))
    options = {
        "directed": data.draw(st.booleans(), label="directed"),
        "normalized": data.draw(st.booleans(), label="normalized"),
        "sources": data.draw(subsets(n), label="sources"),
        "targets": data.draw(subsets(n), label="targets"),
    }
    expected = call(oracles.betweenness, n, arcs, **options)
    assert_scores(scores(arcs, n, engine, **options), expected, engine)


@pytest.mark.parametrize("name", LEAFY)
@pytest.mark.parametrize("endpoints", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_leafy_graphs(engine, name, endpoints, directed):
    n, arcs = LEAFY[name]
    arcs = oracles.both_ways(arcs)
    for options in (
        {},
        {"sources": [0]},
        {"sources": [n - 1, 0]},
        {"sources": [n - 1], "targets": [0]},
        {"sources": [0, 1], "targets": sorted({1, n - 1})},
        {"sources": list(range(n)), "targets": [n - 1]},
    ):
        if endpoints and "targets" in options:
            continue
        options |= {"directed": directed, "normalized": False, "endpoints": endpoints}
        expected = call(oracles.betweenness, n, arcs, **options)
        assert_scores(scores(arcs, n, engine, **options), expected, engine)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("endpoints", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_tiny_graphs(engine, n, endpoints, normalized, directed):
    options = {"directed": directed, "normalized": normalized, "endpoints": endpoints}
    for arcs in ([], path(n), cycle(n) if n else [], [(v, v) for v in range(n)]):
        expected = call(oracles.betweenness, n, arcs, **options)
        assert_scores(scores(arcs, n, engine, **options), expected, engine)


# --- NetworkX


@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("directed", [False, True])
def test_networkx(engine, name, directed):
    n, arcs = ASSORTED[name]
    graph = networkx_graph(n, arcs, directed)
    for normalized in (False, True):
        for endpoints in (False, True):
            options = {"normalized": normalized, "endpoints": endpoints}
            reference = nx.betweenness_centrality(graph, **options)
            actual = scores(arcs, n, engine, directed=directed, **options)
            assert_scores(actual, [reference[v] for v in range(n)], engine)


@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("k", [1, 2, 17])
def test_networkx_pivots(engine, name, directed, k):
    n, arcs = ASSORTED[name]
    graph = networkx_graph(n, arcs, directed)
    drawn = Drawn(random.Random(k).sample(range(n), k))
    for normalized in (False, True):
        for endpoints in (False, True):
            options = {"normalized": normalized, "endpoints": endpoints}
            reference = nx.betweenness_centrality(graph, k=k, seed=drawn, **options)
            actual = scores(arcs, n, engine, directed=directed, sources=drawn.pivots, **options)
            assert_scores(actual, [reference[v] for v in range(n)], engine)


@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_networkx_subset(engine, name, directed, normalized):
    n, arcs = ASSORTED[name]
    draw = random.Random(7)
    options = {
        "sources": draw.sample(range(n), 11),
        "targets": draw.sample(range(n), 13),
        "normalized": normalized,
    }
    graph = networkx_graph(n, arcs, directed)
    reference = nx.betweenness_centrality_subset(graph, **options)
    actual = scores(arcs, n, engine, directed=directed, **options)
    assert_scores(actual, [reference[v] for v in range(n)], engine)


# --- pivots drawn by the function


def test_drawn_pivots_are_some_k_vertices(engine):
    n, arcs = 6, random_graph(6, 14, seed=8)
    with seeded(3):
        drawn = scores(arcs, n, engine, sources=2)
    candidates = [
        oracles.betweenness(n, arcs, directed=True, normalized=True, sources=pair)
        for pair in combinations(range(n), 2)
    ]
    close = [
        all(
            math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-9)
            for a, b in zip(drawn.tolist(), c, strict=True)
        )
        for c in candidates
    ]
    assert any(close)
    with seeded(3):
        again = scores(arcs, n, engine, sources=2)
    assert torch.equal(drawn, again)


def test_every_vertex_is_drawn_sometimes(engine):
    # The middle of a path of three scores only when an end is a pivot and it is not alone.
    arcs = oracles.both_ways(path(3))
    with seeded(0):
        seen = {tuple(scores(arcs, 3, engine, sources=1).isnan().tolist()) for _ in range(60)}
    assert seen == {(True, False, False), (False, True, False), (False, False, True)}


def test_all_vertices_as_pivots_are_exact(engine):
    n, arcs = 20, random_graph(20, 60, seed=9)
    exact = scores(arcs, n, engine)
    assert_scores(scores(arcs, n, engine, sources=n), exact, engine)
    assert_scores(scores(arcs, n, engine, sources=list(range(n))), exact, engine)


# --- closed forms


@pytest.mark.parametrize("n", [65, 128, 129, 200])
def test_cycle_of_more_than_one_batch(engine, n):
    # To a target at distance d < n / 2 there is one path, through d - 1 vertices; to the one at
    # n / 2, if n is even, two, each through n / 2 - 1 vertices. All vertices score the same.
    half = (n - 1) // 2
    per_source = half * (half - 1) + (n // 2 - 1 if n % 2 == 0 else 0)
    actual = scores(cycle(n), n, engine, directed=False, normalized=False)
    assert_scores(actual, [per_source / 2] * n, engine)


def branches(n: int, tree: oracles.Arcs) -> list[list[int]]:
    """Sizes of the parts into which a tree falls without each vertex; parents come first."""
    below, sizes = [1] * n, [[] for _ in range(n)]
    for parent, child in sorted(tree, key=lambda arc: -arc[1]):
        below[parent] += below[child]
        sizes[parent].append(below[child])
        sizes[child].append(n - below[child])
    return sizes


@pytest.mark.parametrize("n", [2, 3, 50, 1000])
@pytest.mark.parametrize("endpoints", [False, True])
def test_tree(engine, n, endpoints):
    # One path per pair; it passes v when its ends lie in different branches of v.
    tree = random_tree(n, seed=n)
    expected = [
        ((n - 1) ** 2 - sum(size * size for size in sizes)) // 2 + (n - 1 if endpoints else 0)
        for sizes in branches(n, tree)
    ]
    actual = scores(tree, n, engine, directed=False, normalized=False, endpoints=endpoints)
    assert_scores(actual, expected, engine)


def test_large_star(engine):
    leaves = 1000 if engine == "tensor" else 100_000  # the tensor engine does not fold leaves
    actual = scores(star(leaves), leaves + 1, engine, directed=False, normalized=False)
    assert actual[0].item() == pytest.approx(leaves * (leaves - 1) / 2, rel=1e-9)
    assert actual[1:].abs().max() == 0


@pytest.mark.slow
def test_pivots_of_a_large_star(engine):
    # Each pivot reaches all other leaves through the hub; as arcs to the hub only, it reaches none.
    leaves = 100_000
    pivots, everything = list(range(1, 1 + 70 * 9, 9)), list(range(leaves + 1))
    options = {"normalized": False, "sources": pivots, "targets": everything}
    actual = scores(oracles.both_ways(star(leaves)), leaves + 1, engine, **options)
    assert actual[0].item() == pytest.approx(len(pivots) * (leaves - 1), rel=1e-9)
    assert actual[1:].abs().max() == 0
    inward = [(leaf, hub) for hub, leaf in star(leaves)]
    assert scores(inward, leaves + 1, engine, **options).abs().max() == 0


@pytest.mark.slow
def test_large_wheel(engine):
    # From a vertex of the rim: the two beside it are at distance 1, the next two have two
    # paths (hub, rim), all others one path through the hub.
    rim = 100_000
    pivots = list(range(1, rim, rim // 70))
    actual = scores(
        oracles.both_ways(wheel(rim)),
        rim + 1,
        engine,
        normalized=False,
        sources=pivots,
        targets=list(range(rim + 1)),
    )
    expected = torch.zeros(rim + 1, dtype=F64)
    expected[0] = len(pivots) * (rim - 5 + 1)
    for pivot in pivots:
        expected[1 + pivot % rim] += 0.5
        expected[1 + (pivot - 2) % rim] += 0.5
    assert_scores(actual, expected, engine)


def test_two_hubs(engine):
    # K(2, L): two paths between leaves, L between the hubs.
    leaves = 300
    arcs = [(hub, 2 + leaf) for hub in (0, 1) for leaf in range(leaves)]
    expected = [leaves * (leaves - 1) / 4] * 2 + [1 / leaves] * leaves
    actual = scores(arcs, leaves + 2, engine, directed=False, normalized=False)
    assert_scores(actual, expected, engine)


def test_no_vertex_lies_between_others(engine):
    n = 70
    assert scores(complete(n), n, engine, directed=False).abs().max() == 0
    assert scores([], n, engine).abs().max() == 0
    assert scores([(v, 0) for v in range(1, n)], n, engine).abs().max() == 0
