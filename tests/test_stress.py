"""stress(): every engine and option against the definition, powers of the adjacency matrix and
closed forms."""

from functools import partial

import numpy as np
import oracles
import pytest
import torch
from engines import assert_scores, scored
from graphs import (
    LEAFY,
    arc_lists,
    between,
    cycle,
    edge_index,
    leafy_graphs,
    path,
    questions,
    random_graph,
    random_tree,
    star,
    union,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from surface import call

import torchcent

pytestmark = pytest.mark.sweep

F64 = torch.float64
scores = partial(scored, torchcent.stress)


@given(question=questions())
@settings(max_examples=200)
def test_definition(engine, question):
    n, arcs, options = question
    expected = call(oracles.stress, n, arcs, **options)
    assert_scores(scores(arcs, n, engine, **options), expected, engine)


@pytest.mark.parametrize("name", LEAFY)
@pytest.mark.parametrize("directed", [False, True])
def test_leafy_graphs(engine, name, directed):
    n, arcs = LEAFY[name]
    arcs = oracles.both_ways(arcs)
    for options in between(n):
        options |= {"directed": directed}
        expected = call(oracles.stress, n, arcs, **options)
        assert_scores(scores(arcs, n, engine, **options), expected, engine)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("directed", [False, True])
def test_tiny_graphs(engine, n, directed):
    for arcs in ([], path(n), cycle(n) if n else [], [(v, v) for v in range(n)]):
        expected = oracles.stress(n, arcs, directed=directed)
        assert_scores(scores(arcs, n, engine, directed=directed), expected, engine)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n, arcs", [(70, 160), (70, 700), (140, 300)])
def test_powers_of_the_adjacency_matrix(engine, directed, n, arcs):
    # A^d counts walks of d steps; where it first exceeds 0 they are the shortest paths.
    listed = random_graph(n, arcs, seed=n + arcs)
    adjacency = np.zeros((n, n), dtype=np.int64)
    for u, v in listed if directed else oracles.both_ways(listed):
        adjacency[u, v] = u != v
    distance, sigma = np.full((n, n), -1), np.zeros((n, n), dtype=np.int64)
    walks = np.eye(n, dtype=np.int64)
    for d in range(n):
        fresh = (distance < 0) & (walks > 0)
        if not fresh.any():
            break
        distance[fresh], sigma[fresh] = d, walks[fresh]
        walks = np.where(fresh, walks, 0) @ adjacency  # longer walks have longer beginnings
    expected = []
    for v in range(n):
        through = (
            (distance[:, [v]] > 0)
            & (distance[[v], :] > 0)
            & (distance[:, [v]] + distance[[v], :] == distance)
        )
        expected.append((np.outer(sigma[:, v], sigma[v]) * through).sum() / (1 if directed else 2))
    assert_scores(scores(listed, n, engine, directed=directed), expected, engine)


@pytest.mark.parametrize("n", [2, 3, 50, 1000])
def test_tree(engine, n):
    # One path per pair: stress counts pairs, as betweenness does.
    tree = random_tree(n, seed=n)
    below, inside = [1] * n, [0] * n
    for parent, child in sorted(tree, key=lambda arc: -arc[1]):
        below[parent] += below[child]
        inside[parent] += below[child] ** 2
    expected = [((n - 1) ** 2 - inside[v] - (n - below[v]) ** 2) / 2 for v in range(n)]
    assert_scores(scores(tree, n, engine, directed=False), expected, engine)


def test_two_hubs(engine):
    # K(2, L): one path through each hub between two leaves, one through each leaf between hubs.
    leaves = 300
    arcs = [(hub, 2 + leaf) for hub in (0, 1) for leaf in range(leaves)]
    expected = [leaves * (leaves - 1) / 2] * 2 + [1.0] * leaves
    assert_scores(scores(arcs, leaves + 2, engine, directed=False), expected, engine)


@pytest.mark.slow
def test_pivots_of_a_large_star(engine):
    leaves = 100_000
    pivots = list(range(1, 1 + 70 * 9, 9))
    actual = scores(
        oracles.both_ways(star(leaves)),
        leaves + 1,
        engine,
        sources=pivots,
        targets=list(range(leaves + 1)),
    )
    assert actual[0].item() == pytest.approx(len(pivots) * (leaves - 1), rel=1e-9)
    assert actual[1:].abs().max() == 0


@given(data=st.data())
@settings(max_examples=40)
def test_relabelled_graph(engine, data):
    n, arcs = data.draw(leafy_graphs(max_core=8))
    label = data.draw(st.permutations(range(n)))
    before = scores(arcs, n, engine, directed=False)
    after = scores([(label[u], label[v]) for u, v in arcs], n, engine, directed=False)
    assert_scores(after[label], before, engine)


@given(first=arc_lists(7), second=leafy_graphs(), directed=st.booleans())
@settings(max_examples=40)
def test_disjoint_union(engine, first, second, directed):
    n, arcs = union(first, second)
    parts = [scores(part, size, engine, directed=directed) for size, part in (first, second)]
    assert_scores(scores(arcs, n, engine, directed=directed), torch.cat(parts), engine)


@given(data=st.data())
@settings(max_examples=40)
def test_reversed_arcs(engine, data):
    n, arcs = data.draw(arc_lists())
    before = scores(arcs, n, engine)
    assert_scores(scores([(v, u) for u, v in arcs], n, engine), before, engine)


@pytest.mark.slow
def test_same_bits_whatever_the_threads(engine, threads):
    n, arcs = 700, random_graph(700, 5000, seed=13)
    results = []
    for count in (1, 2, 4, 2, 1):
        torch.set_num_threads(count)
        results.append(scores(arcs, n, engine))
    assert all(torch.equal(result, results[0]) for result in results)


def test_dtype_and_shape(engine):
    arcs = edge_index(random_graph(20, 60, seed=14))
    exact = torchcent.stress(
        arcs,
        run=torchcent.Run(engine=engine, dtype=F64),
    )
    assert exact.dtype == F64 and exact.shape == (20,)
    single = torchcent.stress(arcs, run=torchcent.Run(engine=engine))
    assert torch.equal(single, exact.to(torch.get_default_dtype()))
