"""edge_betweenness(): every engine and option against the definition, NetworkX, closed forms."""

import random
from functools import partial

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
    between,
    complete,
    cycle,
    edge_index,
    leafy_graphs,
    networkx_graph,
    path,
    questions,
    random_graph,
    random_tree,
    star,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path
from surface import call

import torchcent

pytestmark = pytest.mark.sweep

F64 = torch.float64
scores = partial(scored, torchcent.edge_betweenness)


# --- the definition


@given(question=questions())
@settings(max_examples=150)
def test_definition(engine, question):
    n, arcs, options = question
    expected = call(oracles.edge_betweenness, n, arcs, **options)
    assert_scores(scores(arcs, n, engine, **options), expected, engine)


@pytest.mark.parametrize("name", LEAFY)
@pytest.mark.parametrize("directed", [False, True])
def test_leafy_graphs(engine, name, directed):
    n, arcs = LEAFY[name]
    arcs = oracles.both_ways(arcs)
    for options in between(n):
        options |= {"directed": directed, "normalized": False}
        expected = call(oracles.edge_betweenness, n, arcs, **options)
        assert_scores(scores(arcs, n, engine, **options), expected, engine)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_tiny_graphs(engine, n, normalized, directed):
    options = {"directed": directed, "normalized": normalized}
    for arcs in ([], path(n), cycle(n) if n else [], [(v, v) for v in range(n)]):
        expected = call(oracles.edge_betweenness, n, arcs, **options)
        assert_scores(scores(arcs, n, engine, **options), expected, engine)


# --- alignment with the columns


def test_columns_keep_their_order_and_share_scores(engine):
    arcs = [(2, 1), (0, 0), (0, 1), (2, 1), (1, 2), (3, 2), (2, 2), (0, 1)]
    directed = scores(arcs, 4, engine, normalized=False)
    # 0 -> 1 <-> 2 <- 3: the paths are 01, 012, 12, 21, 32, 321.
    assert_scores(directed, [2, 0, 2, 2, 2, 2, 0, 2], engine)
    undirected = scores(arcs, 4, engine, directed=False, normalized=False)
    # A path of four vertices: the middle edge carries 4 pairs, the others 3.
    assert_scores(undirected, [4, 0, 3, 4, 4, 3, 0, 3], engine)


@given(data=st.data())
@settings(max_examples=40)
def test_permuted_columns(engine, data):
    n, arcs = data.draw(st.one_of(arc_lists(), leafy_graphs()))
    directed = data.draw(st.booleans())
    order = data.draw(st.permutations(range(len(arcs))))
    before = scores(arcs, n, engine, directed=directed)
    after = scores([arcs[e] for e in order], n, engine, directed=directed)
    assert torch.equal(after, before[list(order)])


@given(data=st.data())
@settings(max_examples=40)
def test_relabelled_graph(engine, data):
    n, arcs = data.draw(leafy_graphs(max_core=8))
    directed = data.draw(st.booleans())
    label = data.draw(st.permutations(range(n)))
    before = scores(arcs, n, engine, directed=directed)
    after = scores([(label[u], label[v]) for u, v in arcs], n, engine, directed=directed)
    assert_scores(after, before, engine)


@given(data=st.data())
@settings(max_examples=40)
def test_reversed_arcs(engine, data):
    n, arcs = data.draw(arc_lists())
    before = scores(arcs, n, engine)
    assert_scores(scores([(v, u) for u, v in arcs], n, engine), before, engine)


# --- NetworkX


@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_networkx(engine, name, directed, normalized):
    n, arcs = ASSORTED[name]
    graph = networkx_graph(n, arcs, directed)
    drawn = Drawn(random.Random(5).sample(range(n), 9))
    for options, reference in (
        ({}, nx.edge_betweenness_centrality(graph, normalized=normalized)),
        (
            {"sources": drawn.pivots},
            nx.edge_betweenness_centrality(graph, k=9, seed=drawn, normalized=normalized),
        ),
        (
            {"sources": drawn.pivots, "targets": list(range(n))},
            nx.edge_betweenness_centrality_subset(graph, drawn.pivots, range(n), normalized),
        ),
    ):
        expected = [reference[e] if e in reference else reference[e[::-1]] for e in arcs]
        actual = scores(arcs, n, engine, directed=directed, normalized=normalized, **options)
        assert_scores(actual, expected, engine)


@pytest.mark.parametrize("name", ASSORTED)
@pytest.mark.parametrize("directed", [False, True])
def test_paths_between_subsets_one_by_one(engine, name, directed):
    # NetworkX 3.6's edge_betweenness_centrality_subset splits what passes through a vertex outside
    # `targets` evenly among its predecessors, whatever their path counts, so its own enumeration
    # of the paths is the reference here.
    n, arcs = ASSORTED[name]
    graph = networkx_graph(n, arcs, directed)
    sources, targets = random.Random(5).sample(range(n), 9), random.Random(6).sample(range(n), 12)
    raw = dict.fromkeys(arcs, 0.0)
    for s in sources:
        for t in targets:
            if s == t or not nx.has_path(graph, s, t):
                continue
            paths = list(nx.all_shortest_paths(graph, s, t))
            for step in (step for way in paths for step in zip(way, way[1:], strict=False)):
                for arc in {step} if directed else {step, step[::-1]}:
                    if arc in raw:
                        raw[arc] += 1 / len(paths) / (1 if directed else 2)
    options = {"directed": directed, "normalized": False, "sources": sources, "targets": targets}
    assert_scores(scores(arcs, n, engine, **options), [raw[arc] for arc in arcs], engine)


# --- closed forms


@pytest.mark.parametrize("n", [65, 129, 200])
def test_cycle_of_more_than_one_batch(engine, n):
    # All edges score the same, and all scores together are the sum of all distances.
    half = (n - 1) // 2
    distances = half * (half + 1) + (n // 2 if n % 2 == 0 else 0)
    actual = scores(cycle(n), n, engine, directed=False, normalized=False)
    assert_scores(actual, [distances / 2] * n, engine)


@pytest.mark.parametrize("n", [2, 3, 50, 1000])
def test_tree(engine, n):
    # The edge to a subtree of k vertices carries the k (n - k) pairs that it parts.
    tree = random_tree(n, seed=n)
    below = [1] * n
    for parent, child in sorted(tree, key=lambda arc: -arc[1]):
        below[parent] += below[child]
    expected = [below[child] * (n - below[child]) for _, child in tree]
    actual = scores(tree, n, engine, directed=False, normalized=False)
    assert_scores(actual, expected, engine)


def test_complete_graph(engine):
    actual = scores(complete(70), 70, engine, directed=False, normalized=False)
    assert_scores(actual, [1] * len(complete(70)), engine)


@pytest.mark.slow
def test_pivots_of_a_large_star(engine):
    # Each pivot's own edge carries its paths to all others, every other edge one path per pivot.
    leaves = 100_000
    pivots = list(range(1, 1 + 70 * 9, 9))
    actual = scores(
        star(leaves),
        leaves + 1,
        engine,
        directed=False,
        normalized=False,
        sources=pivots,
        targets=list(range(leaves + 1)),
    )
    expected = torch.full((leaves,), float(len(pivots)), dtype=F64)
    expected[torch.tensor(pivots) - 1] += leaves - 1  # itself is not its own target: - 1 + leaves
    assert_scores(actual, expected / 2, engine)


@pytest.mark.parametrize("directed", [False, True])
def test_sum_of_scores(engine, directed):
    # A path of length d has d edges.
    n = 500
    arcs = sorted({(u, v) for u, v in random_graph(n, 1500, seed=10) if u < v})
    row, col = edge_index(arcs).cpu().numpy()
    matrix = coo_array(([1.0] * len(row), (row, col)), shape=(n, n)).tocsr()
    distance = torch.from_numpy(shortest_path(matrix, directed=directed, unweighted=True))
    expected = distance[distance.isfinite()].sum() / (1 if directed else 2)
    actual = scores(arcs, n, engine, directed=directed, normalized=False)
    assert_scores(actual.sum().reshape(1), expected.reshape(1), engine)


# --- form of the result


def test_same_bits_whatever_the_threads(engine, threads):
    n, arcs = 700, random_graph(700, 5000, seed=13)
    results = []
    for count in (1, 2, 4, 2, 1):
        torch.set_num_threads(count)
        results.append(scores(arcs, n, engine))
    assert all(torch.equal(result, results[0]) for result in results)


def test_dtype_and_shape(engine):
    arcs = edge_index(random_graph(20, 60, seed=14))
    exact = torchcent.edge_betweenness(
        arcs,
        run=torchcent.Run(engine=engine, dtype=F64),
    )
    assert exact.dtype == F64 and exact.shape == (60,)
    single = torchcent.edge_betweenness(arcs, run=torchcent.Run(engine=engine))
    assert torch.equal(single, exact.to(torch.get_default_dtype()))


def test_graph_is_as_good_as_edge_index(engine):
    arcs = edge_index(random_graph(30, 80, seed=17))
    for directed in (False, True):
        graph = torchcent.Graph.from_edge_index(arcs, directed=directed)
        from_graph = torchcent.edge_betweenness(
            graph,
            run=torchcent.Run(engine=engine, dtype=F64),
        )
        plain = torchcent.edge_betweenness(
            arcs,
            directed=directed,
            run=torchcent.Run(engine=engine, dtype=F64),
        )
        assert torch.equal(from_graph, plain)
