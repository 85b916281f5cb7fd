"""Degrees, cores, triangles, PageRank and Katz centrality of graphs that change."""

import itertools
import random

import networkx
import pytest
import torch
from graphs import DEVICE, edge_index, path
from histories import NONE, History, columns, histories
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import has_kernel

import torchcent
from torchcent import (
    DynamicCounts,
    DynamicGraph,
    DynamicKatz,
    DynamicPageRank,
    Run,
)

pytestmark = pytest.mark.skipif(
    DEVICE.type != "cpu" or not has_kernel("dynamic_rows", DEVICE), reason="is on the CPU, compiled"
)

F64 = torch.float64
DOUBLE = Run(dtype=F64)
COUNTS = ("degree", "core_number", "triangles", "clustering_coefficient")
OF_NETWORKX = {
    "degree": lambda graph: dict(graph.out_degree() if graph.is_directed() else graph.degree()),
    "core_number": networkx.core_number,
    "triangles": networkx.triangles,
    "clustering_coefficient": networkx.clustering,
}


def static(name, graph, **options):
    """The scores of a function, of which some have no dtype."""
    run = {} if name in ("core_number", "triangles") else {"run": DOUBLE}
    return getattr(torchcent, name)(graph, **options, **run)


def counts_of(graph):
    names = [name for name in COUNTS if name != "triangles" or not graph.directed]
    return {name: DynamicCounts(graph, measure=name) for name in names}


def assert_same(measure, expected):
    assert measure.scores.dtype == expected.dtype
    assert torch.equal(measure.scores, expected)


# Triangles are found by the changed edges, in pieces or not, or counted anew.
WAYS = {
    "looked up": {"counts_few": 10**9},
    "in pieces": {"counts_few": 10**9, "counts_together": 2},
    "anew": {"counts_few": -1, "counts_most": -1},
}


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=15)
@given(history=histories)
def test_counts_follow(way, tuning, history):
    tuning(**WAYS[way])
    following = counts_of(history.graph)
    for _ in range(8):
        before = {name: measure.scores for name, measure in following.items()}
        history.step()
        graph, second = history.frozen(), history.of_networkx()
        for name, measure in following.items():
            expected = static(name, graph)
            assert_same(measure, expected)
            by_networkx = OF_NETWORKX[name](second)
            by_networkx = torch.tensor([by_networkx[v] for v in range(history.n)], dtype=F64)
            torch.testing.assert_close(expected.double(), by_networkx, rtol=1e-12, atol=0)
            old = before[name]
            same = [v < old.numel() and bool(old[v] == expected[v]) for v in range(history.n)]
            assert measure.changed.tolist() == [v for v in range(history.n) if not same[v]]


@pytest.mark.parametrize("direction", ["out", "in", "both"])
@settings(max_examples=10)
@given(history=histories, normalized=st.booleans())
def test_degrees_follow(direction, history, normalized):
    options = {"direction": direction, "normalized": normalized}
    measure = DynamicCounts(history.graph, **options)
    for _ in range(8):
        history.step()
        assert_same(measure, static("degree", history.frozen(), **options))


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_several_changed_edges_of_a_triangle(directed):
    """Batches within a complete graph, whose triangles are known by its size."""
    size = 7
    pairs = list(itertools.permutations(range(size), 2))
    graph = DynamicGraph(NONE, size, directed)
    measures = counts_of(graph)
    triangles = measures["clustering_coefficient" if directed else "triangles"]
    whole = columns(pairs if directed else [pair for pair in pairs if pair[0] < pair[1]])
    assert triangles.scores.tolist() == [0] * size
    graph.update(insert=whole)
    most = 1 if directed else 15
    assert triangles.scores.tolist() == [most] * size
    assert triangles.statistics.recomputed == 0
    graph.update(delete=torch.tensor([[0, 1, 2], [1, 2, 0]]))
    if not directed:  # 0, 1 and 2 have lost 9 of their pairs of neighbours, the others 3
        assert triangles.scores.tolist() == [6] * 3 + [12] * 4
        assert triangles.statistics.sources == size
    graph.update(insert=torch.tensor([[1], [2]]), delete=torch.tensor([[0, 0, 3], [3, 4, 4]]))
    graph.update(insert=torch.tensor([[0, 7, 7, 8], [1, 0, 1, 9]]), grow=True)
    assert triangles.statistics.recomputed == 0
    for name, measure in measures.items():
        assert_same(measure, static(name, graph.snapshot()))
    graph.update(delete=torch.tensor([[0, 7, 7, 8], [1, 0, 1, 9]]))
    graph.update(torch.tensor([[0, 0, 3], [3, 4, 4]]))
    graph.update(torch.tensor([[2, 0], [0, 1]]))
    assert triangles.scores.tolist()[:size] == [most] * size


@pytest.mark.sweep
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("way", WAYS)
def test_counts_of_a_larger_graph(way, directed, tuning):
    tuning(**WAYS[way])
    edges = torchcent.generate.ba(200, 6, seed=3)
    chance = torch.Generator().manual_seed(5)
    one_way = edges[:, torch.rand(edges.shape[1], generator=chance) < 0.7]
    graph = DynamicGraph(one_way if directed else edges, directed=directed)
    measures = counts_of(graph)
    for size in (1, 10, 100, 400):
        for delete in (False, True):
            change = torch.randint(200, (2, size), generator=chance)
            if delete:
                arcs = graph.snapshot().to_edge_index()
                change = arcs[:, torch.randint(arcs.shape[1], (size,), generator=chance)]
            graph.update(**{"delete" if delete else "insert": change}, strict=False)
            for name, measure in measures.items():
                assert_same(measure, static(name, graph.snapshot()))
                anew = name == "core_number" or (way == "anew" and name != "degree")
                assert (measure.statistics.recomputed > 0) == anew


def solved(history, alpha, right):
    """x = alpha A^T x + right, by LU of a dense matrix."""
    matrix = torch.zeros(history.n, history.n, dtype=F64)
    for u, v in history.edges:
        matrix[u, v] = 1
        if not history.directed:
            matrix[v, u] = 1
    return torch.linalg.solve(torch.eye(history.n, dtype=F64) - alpha * matrix.T, right), matrix


def ranks(history, alpha, restart, jump):
    """PageRank by LU, a column of a stochastic matrix for every vertex."""
    _, matrix = solved(history, 0.0, torch.ones(history.n, dtype=F64))
    out = matrix.sum(1, keepdim=True)
    steps = torch.where(out > 0, matrix / out.clamp(min=1), jump[None, :]).T
    eye = torch.eye(history.n, dtype=F64)
    return torch.linalg.solve(eye - alpha * steps, (1 - alpha) * restart)


BY = {"solved": {}, "iterated": {"direct_most": 0}}


@pytest.mark.slow
@pytest.mark.parametrize("by", BY)
@settings(max_examples=15)
@given(history=histories, alpha=st.sampled_from([0.0, 0.3, 0.85, 0.99]), data=st.data())
def test_pagerank_follows(by, tuning, history, alpha, data):
    tuning(**BY[by])
    number = st.floats(0.1, 10) | st.just(0.0)
    numbers = st.lists(number, min_size=history.n, max_size=history.n).filter(any)
    given = {
        name: torch.tensor(data.draw(numbers), dtype=F64)
        for name in ("personalization", "dangling")
        if data.draw(st.booleans())
    }
    tol = 1e-9
    measure = DynamicPageRank(history.graph, alpha=alpha, tol=tol, **given)
    for _ in range(8):
        history.step()
        pad = {
            name: torch.nn.functional.pad(x, (0, history.n - x.numel()))
            for name, x in given.items()
        }
        restart = pad.get("personalization", torch.ones(history.n, dtype=F64))
        jump = pad.get("dangling", restart)
        expected = ranks(history, alpha, restart / restart.sum(), jump / jump.sum())
        assert float((measure.scores - expected).abs().sum()) <= tol + 1e-12
        fresh = torchcent.pagerank(history.frozen(), alpha=alpha, tol=tol, run=DOUBLE, **pad)
        assert float((measure.scores - fresh).abs().sum()) <= 2 * tol + 1e-12
        assert (measure.statistics.sources, measure.statistics.recomputed) == (0, 0)
        if by == "solved":
            assert measure.statistics.iterations == 0


def test_pagerank_of_networkx():
    history = History(70, True, random.Random(1))
    measure = DynamicPageRank(history.graph)
    for _ in range(40):
        history.step()
    expected = networkx.pagerank(history.of_networkx(), tol=1e-13, max_iter=1000)
    expected = torch.tensor([expected[v] for v in range(history.n)], dtype=F64)
    torch.testing.assert_close(measure.scores, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("by", BY)
@settings(max_examples=25)
@given(
    history=histories, alpha=st.sampled_from([0.05, 0.21, 0.4]), beta=st.sampled_from([1, 2.5]),
    normalized=st.booleans(), tol=st.sampled_from([1e-3, 1e-9]),
)  # fmt: skip
def test_katz_follows(by, tuning, history, alpha, beta, normalized, tol):
    """Or says, as the function does, that alpha is too large, and leaves the graph as it was."""
    tuning(**BY[by])
    graph, edges = DynamicGraph(NONE, history.n, history.directed), set()
    options = {"alpha": alpha, "beta": beta, "normalized": normalized, "tol": tol}
    options["max_iter"] = 10**6  # alpha may be close to its limit
    measure = DynamicKatz(graph, **options)
    for _ in range(10):
        history.step()
        ones = torch.full((history.n,), beta, dtype=F64)
        expected, matrix = solved(history, alpha, ones)
        largest = 0.0
        if not history.directed or not networkx.is_directed_acyclic_graph(history.of_networkx()):
            largest = float(torch.linalg.eigvals(matrix).abs().max())
        # A loop, which is ignored, makes the new vertices.
        last = torch.full((2, 1), history.n - 1)
        insert = torch.cat([columns(history.edges - edges), last], 1)
        change = {"insert": insert, "delete": columns(edges - history.edges)}
        before = graph.snapshot()
        if alpha * largest > 1:
            # Sums that hardly grow are left at max_iter, with the limit.
            reason = "must be below" if alpha * largest > 1.01 else "(must be below|is close to)"
            with pytest.raises(ValueError, match=f"{reason} the reciprocal of the largest"):
                graph.update(**change, grow=True, strict=False)
            assert graph.snapshot() == before
            continue
        graph.update(**change, grow=True, strict=False)
        edges = set(history.edges)
        error = (tol + 1e-12) * float(expected.max())
        if normalized:
            norm = float(expected.norm())
            error, expected = error * (1 + history.n**0.5) / norm, expected / norm
        assert float((measure.scores - expected).abs().max()) <= error
        fresh = torchcent.katz(history.frozen(), run=DOUBLE, **options)
        assert float((measure.scores - fresh).abs().max()) <= 2 * error
        assert (measure.statistics.iterations == 0) | (by == "iterated")


@pytest.mark.parametrize("by", BY)
@settings(max_examples=10)
@given(history=histories)
def test_katz_chooses_alpha(by, tuning, history):
    tuning(**BY[by])
    measure = DynamicKatz(history.graph, alpha=None, normalized=False, tol=1e-9)
    for _ in range(8):
        history.step()
        expected = torchcent.katz(
            history.frozen(), alpha=None, normalized=False, tol=1e-14, run=DOUBLE
        )
        assert float((measure.scores - expected).abs().max()) <= 1e-8 * float(expected.max())


def test_katz_of_networkx():
    history = History(70, False, random.Random(1))
    measure = DynamicKatz(history.graph, alpha=0.05)
    for _ in range(40):
        history.step()
    expected = networkx.katz_centrality(history.of_networkx(), alpha=0.05, tol=1e-13)
    expected = torch.tensor([expected[v] for v in range(history.n)], dtype=F64)
    torch.testing.assert_close(measure.scores, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("make", [DynamicPageRank, DynamicKatz])
def test_iterations_are_fewer_from_scores_nearby(make, directed):
    edges = torchcent.generate.ba(500, 4, seed=1)
    graph = DynamicGraph(edges, directed=directed)
    measure = make(graph, **({"alpha": 0.05} if make is DynamicKatz else {}))
    assert measure.scores.shape == (500,)
    fresh = measure.statistics.iterations
    graph.update(insert=torch.tensor([[498], [499]]))
    assert 0 < measure.statistics.iterations < fresh
    graph.update(insert=torch.tensor([[498], [499]]), strict=False)
    assert measure.statistics.iterations == 0
    assert measure.changed.numel() == 0


def test_katz_of_what_changes_much():
    """Scores before that are of no use: a clique that goes, and one that comes."""
    pairs = list(itertools.combinations(range(80), 2))
    graph = DynamicGraph(columns(pairs), directed=False)
    measure = DynamicKatz(graph, alpha=0.012, normalized=False, tol=1e-12)
    sums = {True: 1 / (1 - 79 * 0.012), False: 1.0}  # of the clique, and without edges
    for there in (True, False, True):
        if not there:
            graph.update(delete=columns(pairs))
        elif graph.num_edges == 0:
            graph.update(insert=columns(pairs))
        expected = torch.full((80,), sums[there], dtype=F64)
        torch.testing.assert_close(measure.scores, expected, rtol=1e-11, atol=0)


def test_an_alpha_that_becomes_too_large_leaves_other_measures():
    graph = DynamicGraph(edge_index(path(5)), directed=False)
    measures = [*counts_of(graph).values(), DynamicPageRank(graph), DynamicKatz(graph, alpha=0.55)]
    before = [measure.scores for measure in measures]
    with pytest.raises(ValueError, match="alpha=0.55 must be below"):  # a cycle has 1 / 2
        graph.update(insert=torch.tensor([[0], [4]]))
    for measure, scores in zip(measures, before, strict=True):
        assert torch.equal(measure.scores, scores)
    graph.update(delete=torch.tensor([[1], [2]]))
    expected = torchcent.katz(graph.snapshot(), alpha=0.55, run=DOUBLE)
    torch.testing.assert_close(measures[-1].scores, expected)
    assert measures[0].scores.tolist() == [1, 1, 1, 2, 1]


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_another_default_device(directed):
    edges = torchcent.generate.ba(100, 3, seed=1)
    change = torch.tensor([[98, 99], [99, 120]])

    def scores(device):
        with torch.device(device):
            graph = DynamicGraph(edges, directed=directed)
            walks = DynamicPageRank(graph), DynamicKatz(graph, alpha=None)
            measures = [*counts_of(graph).values(), *walks]
            graph.update(change, grow=True, strict=False)
            return [(measure.scores, measure.changed) for measure in measures]

    for one, other in zip(scores("cpu"), scores("meta"), strict=True):
        assert torch.equal(one[0], other[0]) and torch.equal(one[1], other[1])


@pytest.mark.parametrize(
    "make",
    [
        *(lambda graph, name=name: DynamicCounts(graph, measure=name) for name in COUNTS),
        DynamicPageRank,
        DynamicKatz,
    ],
)
def test_an_empty_graph_that_grows(make):
    graph = DynamicGraph(NONE, 0, directed=False)
    measure = make(graph)
    assert measure.scores.shape == (0,)
    graph.update(insert=torch.tensor([[0, 1, 2], [1, 2, 0]]), grow=True)
    torch.testing.assert_close(measure.scores, make(DynamicGraph(graph.snapshot())).scores)
    assert measure.changed.tolist() == [0, 1, 2]


def test_scores_are_the_callers():
    graph = DynamicGraph(edge_index(path(4)), directed=False)
    for measure in (*counts_of(graph).values(), DynamicPageRank(graph), DynamicKatz(graph)):
        before = measure.scores.tolist()
        measure.scores.fill_(7)
        assert measure.scores.tolist() == before


PATH = DynamicGraph(edge_index(path(4)), directed=False)


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda: DynamicCounts(PATH.snapshot()), TypeError, "DynamicGraph, got Graph"),
        (lambda: DynamicCounts(PATH, measure="cores"), ValueError, "measure must be one of degree"),
        (lambda: DynamicCounts(PATH, direction="up"), ValueError, "direction must be one of out"),
        (lambda: DynamicCounts(PATH, normalized=1), TypeError, "normalized must be"),
        (
            lambda: DynamicCounts(DynamicGraph(NONE, 2, True), measure="triangles"),
            ValueError, "measure='triangles' is for undirected graphs",
        ),
        (lambda: DynamicPageRank(PATH, alpha=1), ValueError, r"alpha must be in \[0, 1\), got 1"),
        (lambda: DynamicPageRank(PATH, tol=0), ValueError, "tol must be"),
        (
            lambda: DynamicPageRank(PATH, personalization=torch.ones(3)),
            ValueError, r"personalization must have shape \[4\]",
        ),
        (
            lambda: DynamicPageRank(PATH, personalization=torch.ones(4, 2)),
            ValueError, r"personalization must have shape \[4\]",
        ),
        (
            lambda: DynamicPageRank(PATH, dangling=torch.zeros(4)),
            ValueError, "dangling sums to 0",
        ),
        (lambda: DynamicKatz(PATH, alpha=0), ValueError, "alpha must be finite and > 0, got 0"),
        (lambda: DynamicKatz(PATH, alpha=torch.ones(1)), TypeError, "alpha must be a number"),
        (lambda: DynamicKatz(PATH, beta=-1), ValueError, "beta must be finite and >= 0, got -1"),
        (lambda: DynamicKatz(PATH, max_iter=0), ValueError, "max_iter must be at least 1"),
        (lambda: DynamicKatz(PATH, alpha=0.7).scores, ValueError, "alpha=0.7 must be below"),
    ],
)  # fmt: skip
def test_malformed(make, kind, said):
    with pytest.raises(kind, match=said):
        make()
    assert PATH.num_edges == 3
