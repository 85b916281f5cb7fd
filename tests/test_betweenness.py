"""betweenness(): every engine and option against the definition, NetworkX and closed forms."""

import math
import random
from itertools import combinations

import networkx as nx
import oracles
import pytest
import torch
from engines import assert_scores
from graphs import (
    ASSORTED,
    LEAFY,
    Drawn,
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
    union,
    wheel,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

import torchcent

F64 = torch.float64


def scores(arcs: oracles.Arcs, n: int, engine: str, **options) -> torch.Tensor:
    """betweenness() in float64, with subsets given as lists."""
    for name in ("sources", "targets"):
        if isinstance(options.get(name), list):
            options[name] = torch.tensor(options[name], dtype=torch.int64)
    return torchcent.betweenness(edge_index(arcs), num_nodes=n, dtype=F64, engine=engine, **options)


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
    expected = oracles.betweenness(n, arcs, **options)
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
    expected = oracles.betweenness(n, arcs, **options)
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
        expected = oracles.betweenness(n, arcs, **options)
        assert_scores(scores(arcs, n, engine, **options), expected, engine)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("endpoints", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_tiny_graphs(engine, n, endpoints, normalized, directed):
    options = {"directed": directed, "normalized": normalized, "endpoints": endpoints}
    for arcs in ([], path(n), cycle(n) if n else [], [(v, v) for v in range(n)]):
        expected = oracles.betweenness(n, arcs, **options)
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
    drawn = scores(arcs, n, engine, sources=2, generator=torch.Generator().manual_seed(3))
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
    again = scores(arcs, n, engine, sources=2, generator=torch.Generator().manual_seed(3))
    assert torch.equal(drawn, again)


def test_every_vertex_is_drawn_sometimes(engine):
    # The middle of a path of three scores only when an end is a pivot and it is not alone.
    arcs = oracles.both_ways(path(3))
    generator = torch.Generator().manual_seed(0)
    seen = {
        tuple(scores(arcs, 3, engine, sources=1, generator=generator).isnan().tolist())
        for _ in range(60)
    }
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


# --- relations between graphs


@given(data=st.data())
@settings(max_examples=40)
def test_relabelled_graph(engine, data):
    n, arcs = data.draw(leafy_graphs(max_core=8))
    directed = data.draw(st.booleans())
    label = data.draw(st.permutations(range(n)))
    before = scores(arcs, n, engine, directed=directed)
    after = scores([(label[u], label[v]) for u, v in arcs], n, engine, directed=directed)
    assert_scores(after[label], before, engine)


@given(first=arc_lists(7), second=leafy_graphs(), directed=st.booleans())
@settings(max_examples=40)
def test_disjoint_union(engine, first, second, directed):
    options = {"directed": directed, "normalized": False}
    n, arcs = union(first, second)
    parts = [scores(part, size, engine, **options) for size, part in (first, second)]
    # Alone, a graph of fewer than three vertices is not scaled; its scores are all 0.
    assert_scores(scores(arcs, n, engine, **options), torch.cat(parts), engine)


@given(data=st.data())
@settings(max_examples=40)
def test_reversed_arcs(engine, data):
    n, arcs = data.draw(arc_lists())
    before = scores(arcs, n, engine)
    assert_scores(scores([(v, u) for u, v in arcs], n, engine), before, engine)


@given(data=st.data())
@settings(max_examples=40)
def test_added_leaf(engine, data):
    # A leaf x at v sees the graph as v does: every vertex gains what paths from v give it, and
    # v itself lies between x and all that v reaches.
    n, arcs = data.draw(arc_lists().filter(lambda graph: graph[0] > 2))
    v = data.draw(st.integers(0, n - 1))
    raw = {"directed": False, "normalized": False}
    before = scores(arcs, n, engine, **raw)
    # An unordered pair counts once, and raw undirected scores are halved.
    from_v = 2 * scores(arcs, n, engine, sources=[v], targets=list(range(n)), **raw)
    from_v[v] = (
        sum(d is not None for d in oracles.shortest_paths(n, oracles.both_ways(arcs))[0][v]) - 1
    )
    after = scores([*arcs, (v, n)], n + 1, engine, **raw)
    assert_scores(after, torch.cat([before + from_v, torch.zeros(1, dtype=F64)]), engine)


@pytest.mark.parametrize("directed", [False, True])
def test_sum_of_scores(engine, directed):
    # A path of length d has d - 1 inner vertices.
    n = 500
    arcs = random_graph(n, 1500, seed=10)
    row, col = edge_index(arcs).numpy()
    matrix = coo_array(([1.0] * len(row), (row, col)), shape=(n, n)).tocsr()
    distance = torch.from_numpy(shortest_path(matrix, directed=directed, unweighted=True))
    apart = distance[distance.isfinite() & (distance > 0)]
    expected = (apart - 1).sum() / (1 if directed else 2)
    actual = scores(arcs, n, engine, directed=directed, normalized=False)
    assert_scores(actual.sum().reshape(1), expected.reshape(1), engine)


def test_symmetric_arcs_are_an_undirected_graph(engine):
    n, arcs = 40, random_graph(40, 70, seed=11)
    undirected = scores(arcs, n, engine, directed=False)
    assert_scores(scores(oracles.both_ways(arcs), n, engine), undirected, engine)
    raw = scores(arcs, n, engine, directed=False, normalized=False)
    assert_scores(scores(oracles.both_ways(arcs), n, engine, normalized=False), 2 * raw, engine)


def test_loops_and_repetitions_mean_nothing(engine):
    n, arcs = 30, random_graph(30, 60, seed=12)
    plain = scores(sorted(set(arcs) - {(v, v) for v in range(n)}), n, engine)
    assert torch.equal(scores(sorted(arcs * 3 + [(v, v) for v in range(n)]), n, engine), plain)


# --- form of the result


def test_same_bits_whatever_the_threads(engine, threads):
    n, arcs = 700, random_graph(700, 5000, seed=13)
    results = []
    for count in (1, 2, 4, 2, 1):
        torch.set_num_threads(count)
        results.append(scores(arcs, n, engine))
    assert all(torch.equal(result, results[0]) for result in results)


def test_same_bits_on_a_deep_graph_whatever_the_threads(engine, threads):
    n, arcs = 1200, grid(20, 60)
    results = []
    for count in (1, 2, 4, 1):
        torch.set_num_threads(count)
        results.append(scores(arcs, n, engine, directed=False))
    assert all(torch.equal(result, results[0]) for result in results)


def test_dtype_and_device(engine):
    arcs = edge_index(random_graph(20, 60, seed=14))
    exact = torchcent.betweenness(arcs, engine=engine, dtype=F64)
    assert exact.dtype == F64 and exact.device == arcs.device and exact.shape == (20,)
    single = torchcent.betweenness(arcs, engine=engine)
    assert single.dtype == torch.get_default_dtype()
    assert torch.equal(single, exact.to(torch.get_default_dtype()))
    half = torchcent.betweenness(arcs, engine=engine, dtype=torch.float16)
    assert half.dtype == torch.float16


def test_default_dtype_is_followed(engine):
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(F64)
        result = torchcent.betweenness(edge_index(cycle(5)), engine=engine)
    finally:
        torch.set_default_dtype(before)
    assert result.dtype == F64
    # On a directed cycle all paths from s run the same way round: 0 + 1 + 2 + 3 inner vertices.
    assert_scores(result, [6 / 12] * 5, engine)


def test_input_is_left_alone(engine):
    arcs = edge_index(random_graph(20, 60, seed=15))
    sources, targets = torch.tensor([3, 1, 2]), torch.tensor([5, 4])
    copies = [t.clone() for t in (arcs, sources, targets)]
    torchcent.betweenness(arcs, sources=sources, targets=targets, engine=engine)
    assert all(torch.equal(a, b) for a, b in zip((arcs, sources, targets), copies, strict=True))


def test_order_of_sources_and_targets_means_nothing(engine):
    n, arcs = 90, random_graph(90, 300, seed=16)
    sources, targets = list(range(5, 80)), list(range(0, 90, 2))
    forward = scores(arcs, n, engine, sources=sources, targets=targets)
    backward = scores(arcs, n, engine, sources=sources[::-1], targets=targets[::-1])
    assert_scores(backward, forward, engine)


def test_graph_is_as_good_as_edge_index(engine):
    arcs = edge_index(random_graph(30, 80, seed=17))
    for directed in (False, True):
        graph = torchcent.Graph.from_edge_index(arcs, num_nodes=32, directed=directed)
        from_graph = torchcent.betweenness(graph, engine=engine, dtype=F64)
        plain = torchcent.betweenness(
            arcs, num_nodes=32, directed=directed, engine=engine, dtype=F64
        )
        assert torch.equal(from_graph, plain)


def test_a_small_memory_limit_changes_no_value(engine):
    n, arcs = 300, random_graph(300, 2000, seed=18)
    free = scores(arcs, n, engine)
    plan = torchcent.explain(edge_index(arcs), engine=engine, num_nodes=n, sources=1)
    assert_scores(scores(arcs, n, engine, memory=plan.memory * 3), free, engine)
