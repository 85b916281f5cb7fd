"""betweenness(): how scores of related graphs relate, and the form of the result."""

from functools import partial

import oracles
import pytest
import torch
from engines import assert_scores, scored
from graphs import (
    arc_lists,
    cycle,
    edge_index,
    grid,
    leafy_graphs,
    random_graph,
    union,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

import torchcent

pytestmark = pytest.mark.sweep

F64 = torch.float64
scores = partial(scored, torchcent.betweenness)


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
    row, col = edge_index(arcs).cpu().numpy()
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


@pytest.mark.slow
def test_same_bits_on_a_deep_graph_whatever_the_threads(engine, threads):
    n, arcs = 1200, grid(20, 60)
    results = []
    for count in (1, 2, 4, 1):
        torch.set_num_threads(count)
        results.append(scores(arcs, n, engine, directed=False))
    assert all(torch.equal(result, results[0]) for result in results)


def test_dtype_and_device(engine):
    arcs = edge_index(random_graph(20, 60, seed=14))
    exact = torchcent.betweenness(
        arcs,
        run=torchcent.Run(engine=engine, dtype=F64),
    )
    assert exact.dtype == F64 and exact.device == arcs.device and exact.shape == (20,)
    single = torchcent.betweenness(arcs, run=torchcent.Run(engine=engine))
    assert single.dtype == torch.get_default_dtype()
    assert torch.equal(single, exact.to(torch.get_default_dtype()))
    half = torchcent.betweenness(
        arcs,
        run=torchcent.Run(engine=engine, dtype=torch.float16),
    )
    assert half.dtype == torch.float16


def test_default_dtype_is_followed(engine):
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(F64)
        result = torchcent.betweenness(edge_index(cycle(5)), run=torchcent.Run(engine=engine))
    finally:
        torch.set_default_dtype(before)
    assert result.dtype == F64
    # On a directed cycle all paths from s run the same way round: 0 + 1 + 2 + 3 inner vertices.
    assert_scores(result, [6 / 12] * 5, engine)


def test_input_is_left_alone(engine):
    arcs = edge_index(random_graph(20, 60, seed=15))
    sources, targets = torch.tensor([3, 1, 2]), torch.tensor([5, 4])
    copies = [t.clone() for t in (arcs, sources, targets)]
    torchcent.betweenness(arcs, sources=sources, targets=targets, run=torchcent.Run(engine=engine))
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
        from_graph = torchcent.betweenness(
            graph,
            run=torchcent.Run(engine=engine, dtype=F64),
        )
        plain = torchcent.betweenness(
            arcs,
            num_nodes=32,
            directed=directed,
            run=torchcent.Run(engine=engine, dtype=F64),
        )
        assert torch.equal(from_graph, plain)


def test_a_small_memory_limit_changes_no_value(engine):
    n, arcs = 300, random_graph(300, 2000, seed=18)
    free = scores(arcs, n, engine)
    plan = torchcent.explain(
        edge_index(arcs), run=torchcent.Run(engine=engine), num_nodes=n, sources=1
    )
    assert_scores(scores(arcs, n, engine, memory=plan.memory * 3), free, engine)
