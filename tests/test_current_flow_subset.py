"""Current flow between some vertices: against the pseudo-inverse of the Laplacian and NetworkX."""

import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE, edge_index, path, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import COMPILED
from surface import call
from test_current_flow import NUMBERS, SHAPES, SOLVERS, select

import torchcent
from torchcent.flow import _solver

ops = torch.ops.torchcent

F64 = torch.float64
MEASURES = (torchcent.current_flow_betweenness, torchcent.edge_current_flow_betweenness)


def definition(n, arcs, conductance, sources, targets):
    """Half of the currents of vertices and edges over all pairs, and the size of each component."""
    laplacian = np.zeros((n, n))
    for (u, v), c in zip(arcs, conductance, strict=True):
        laplacian[[u, v], [u, v]] += c
        laplacian[[u, v], [v, u]] -= c
    reach = np.linalg.matrix_power((laplacian != 0).astype(float) + np.eye(n), n) > 0
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    vertex, edge = np.zeros(n), np.zeros(len(arcs))
    for s, t in itertools.product(sources, targets):
        if not reach[s, t]:
            continue
        for e, ((u, v), c) in enumerate(zip(arcs, conductance, strict=True)):
            between = inverse[u, s] - inverse[u, t] - inverse[v, s] + inverse[v, t]
            edge[e] += abs(between) * c / 2
            for w in (u, v):
                vertex[w] += abs(between) * c / 2
    return vertex, edge, reach.sum(1)


def compare(n, arcs, conductance, sources, targets, memory=None):
    every = list(range(n))
    chosen = [every if x is None else x for x in (sources, targets)]
    vertex, edge, size = definition(n, arcs, conductance, *chosen)
    weight = torch.tensor(conductance, dtype=F64, device=DEVICE)
    ends = {
        name: None if x is None else torch.tensor(x)
        for name, x in (("sources", sources), ("targets", targets))
    }
    for normalized in (True, False):
        found = [
            call(
                measure,
                edge_index(arcs),
                weight,
                num_nodes=n,
                directed=False,
                dtype=F64,
                normalized=normalized,
                memory=memory,
                **ends,
            )
            .cpu()
            .numpy()
            for measure in MEASURES
        ]
        pairs = (n - 1) * (n - 2)
        near = {"rtol": 1e-9, "atol": 1e-12}
        if n < 3:
            assert not found[0].any()
        else:
            expected = vertex / (pairs if normalized else 2) - (size - 1) / pairs
            np.testing.assert_allclose(found[0], expected, **near)
        if n > 2 or not normalized:
            np.testing.assert_allclose(found[1], edge / (pairs if normalized else 2), **near)


@pytest.mark.sweep(by="shape solver")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_against_the_definition(shape, solver, monkeypatch):
    n, arcs = SHAPES[shape]
    select(solver, monkeypatch)
    conductance = [0.1 * (1 + e % 7) for e in range(len(arcs))]
    compare(n, arcs, conductance, [n - 1, 0], [1, n - 1] if n > 2 else [1])
    compare(n, arcs, conductance, [0], None)
    compare(n, arcs, conductance, None, list(range(0, n, 2)))


def test_columns_that_do_not_fit(monkeypatch):
    """SciPy's factors solve for the ends of edges where there is no room for all columns."""
    select("sparse", monkeypatch)
    monkeypatch.setattr(_solver.Potentials, "columns", lambda *_: None)
    n, arcs = SHAPES["random"]
    compare(n, arcs, [1.0] * len(arcs), [3, 1, 20], [7, 2, 3, 11])


def test_sets_longer_than_a_comparison_sort():
    """Enough sources and targets for the radix sort, and for pieces of several threads."""
    n = 300
    arcs = [(v, v // 2) for v in range(1, n)] + random_graph(n, 400, seed=2)
    arcs = sorted({(min(a), max(a)) for a in arcs if a[0] != a[1]})
    half, third = list(range(0, n, 2)), list(range(n - 1, 0, -3))
    graph = nx.Graph(arcs)
    index = edge_index(arcs)
    weight = torch.ones(len(arcs), dtype=F64, device=DEVICE)
    found = torchcent.current_flow_betweenness(
        index, weight, directed=False, run=torchcent.Run(dtype=F64),
        sources=torch.tensor(half), targets=torch.tensor(third),
    )  # fmt: skip
    laplacian = nx.laplacian_matrix(graph, nodelist=range(n)).toarray().astype(float)
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    through = np.zeros(n)
    for u, v in arcs:
        x = inverse[u] - inverse[v]
        through[[u, v]] += np.abs(x[half][:, None] - x[third][None]).sum() / 2
    expected = through / ((n - 1) * (n - 2)) - 1 / (n - 2)
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_all_vertices_as_both(measure):
    """Normalised scores are then those without sources and targets, of any graph."""
    for n, arcs in SHAPES.values():
        given_as = {"num_nodes": n, "directed": False, "dtype": F64}
        every = torch.arange(n)
        found = call(measure, edge_index(arcs), sources=every, targets=every.flip(0), **given_as)
        expected = call(measure, edge_index(arcs), **given_as)
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=25)
@given(st.data())
def test_random_graphs_as_networkx(data):
    n = data.draw(st.integers(3, 9))
    arcs = [(v, data.draw(st.integers(0, v - 1))) for v in range(1, n)]
    arcs += data.draw(st.lists(st.sampled_from(list(itertools.combinations(range(n), 2)))))
    arcs = sorted({(min(a), max(a)) for a in arcs})
    conductance = [data.draw(st.floats(0.01, 100)) for _ in arcs]
    some = st.lists(st.integers(0, n - 1), unique=True, min_size=1)
    sources, targets, normalized = data.draw(some), data.draw(some), data.draw(st.booleans())
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((*a, c) for a, c in zip(arcs, conductance, strict=True))
    given_as = {
        "normalized": normalized, "directed": False, "dtype": F64,
        "sources": torch.tensor(sources), "targets": torch.tensor(targets),
    }  # fmt: skip
    weight = torch.tensor(conductance, dtype=F64, device=DEVICE)
    other = nx.current_flow_betweenness_centrality_subset(
        graph, sources, targets, normalized, "weight"
    )
    found = call(torchcent.current_flow_betweenness, edge_index(arcs), weight, **given_as)
    assert found.tolist() == pytest.approx([other[v] for v in range(n)], rel=1e-9, abs=1e-9)
    other = nx.edge_current_flow_betweenness_centrality_subset(
        graph, sources, targets, normalized, "weight"
    )
    found = call(torchcent.edge_current_flow_betweenness, edge_index(arcs), weight, **given_as)
    expected = [other.get((u, v), other.get((v, u))) for u, v in arcs]
    assert found.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_batches_are_graphs_alone(measure):
    shapes = [SHAPES[name] for name in ("path", "grid", "two parts and a vertex", "star")]
    chosen = [([0], [3, 1]), ([5, 2], [5]), ([13, 6], [0, 13]), ([7], [1])]
    first = [0, *itertools.accumulate(n for n, _ in shapes)]
    union = torch.cat(
        [edge_index(arcs) + start for (_, arcs), start in zip(shapes, first, strict=False)], 1
    )
    alone = [
        measure(
            edge_index(arcs), num_nodes=n, directed=False,
            sources=torch.tensor(s), targets=torch.tensor(t),
        )
        for (n, arcs), (s, t) in zip(shapes, chosen, strict=True)
    ]  # fmt: skip
    s, t = (
        torch.tensor([v + start for x, start in zip(chosen, first, strict=False) for v in x[i]])
        for i in (0, 1)
    )
    found = call(
        measure, union, ptr=torch.tensor(first, device=DEVICE), directed=False, sources=s, targets=t
    )
    assert torch.equal(found, torch.cat(alone))


def test_columns_without_order_or_repeated_and_threads():
    chance = torch.Generator().manual_seed(4)
    rows = torch.randn(6, 500, generator=chance, dtype=F64)
    u, v = torch.tensor([0, 1, 2] * 90), torch.tensor([3, 4, 2] * 90)
    columns = torch.randint(500, (230,), generator=chance)
    x = rows[u[:3]] - rows[v[:3]]
    expected = (x[:, columns[:80], None] - x[:, None, columns[80:]]).abs().sum((1, 2))
    expected = expected.repeat(90)
    torch.testing.assert_close(_solver._crossing((rows[u] - rows[v])[:, columns], 80), expected)
    if COMPILED:
        one, two = (ops.row_crossings(rows, u, v, columns, 80, threads) for threads in (1, 2))
        torch.testing.assert_close(one, expected, rtol=1e-12, atol=0)
        assert torch.equal(one, two)


@pytest.mark.skipif(not COMPILED, reason="no operators")
@pytest.mark.parametrize("kind", NUMBERS)
def test_crossings(kind):
    """Numbers of any distribution: against sums of fractions."""
    chance = np.random.default_rng(3)
    for count, sources in ((2, 1), (63, 20), (130, 1), (200, 100)):
        x = NUMBERS[kind](chance, count)
        rows = torch.from_numpy(np.stack([x, np.zeros(count)]))
        one, other = torch.tensor([0, 1, 0]), torch.tensor([1, 0, 0])
        found = ops.row_crossings(rows, one, other, torch.arange(count), sources, 2)
        exact = [Fraction(value) for value in x.tolist()]
        total = float(sum(abs(a - b) for a in exact[:sources] for b in exact[sources:]))
        assert found.tolist() == pytest.approx([total, total, 0], rel=1e-9, abs=0)


@pytest.mark.parametrize("measure", MEASURES)
def test_bad_arguments(measure):
    index = edge_index(path(4))
    for name in ("sources", "targets"):
        for value, error, message in (
            (torch.tensor([4]), ValueError, "vertex 4"),
            (torch.tensor([-1]), ValueError, "vertex -1"),
            (torch.tensor([1, 1]), ValueError, "vertex 1 more than once"),
            (torch.tensor([], dtype=torch.int64), ValueError, "must not be empty"),
            (torch.tensor([[1]]), ValueError, "one-dimensional"),
            (torch.tensor([0.5]), TypeError, "integer vertex ids"),
            (torch.tensor([True, False, True, False]), TypeError, "integer vertex ids"),
            (3, ValueError, "one-dimensional"),
            ("all", TypeError, "tensor of vertex ids"),
        ):
            with pytest.raises(error, match=f"{name}.*{message}"):
                call(measure, index, directed=False, **{name: value})
