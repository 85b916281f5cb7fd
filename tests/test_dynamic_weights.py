"""Graphs with weights that change: after every update, scores are those of the graph as it is."""

import random

import networkx
import pytest
import torch
from graphs import DEVICE
from histories import DOUBLE
from hypothesis import given, settings
from hypothesis import strategies as st

import torchcent
from torchcent import (
    DynamicBetweenness,
    DynamicBetweennessApprox,
    DynamicCloseness,
    DynamicCounts,
    DynamicEdgeBetweenness,
    DynamicGraph,
    DynamicKatz,
    DynamicPageRank,
    Graph,
)

F64 = torch.float64
LENGTHS = (0.1, 0.2, 0.3, 1, 2.5, 7)
STREETS = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])


def columns(edges):
    return torch.tensor(sorted(edges), dtype=torch.int64).reshape(-1, 2).T.to(DEVICE)


def frozen(edges, n, directed):
    weight = torch.tensor([edges[edge] for edge in sorted(edges)], dtype=F64, device=DEVICE)
    return Graph.from_edge_index(columns(edges), n, directed, weight)


def streets(**options):
    weight = torch.tensor([1.0, 2, 3, 4], device=DEVICE)
    return DynamicGraph(STREETS.to(DEVICE), directed=False, edge_weight=weight, **options)


@settings(max_examples=12)
@given(directed=st.booleans(), n=st.integers(2, 10), seed=st.integers(0, 2**32))
def test_all_measures_follow(directed, n, seed):
    """Edges come, go, and change their lengths; some are inserted twice, or are loops."""
    chance, edges = random.Random(seed), {}
    none = torch.empty(0, dtype=F64, device=DEVICE)
    graph = DynamicGraph(columns([]), n, directed, edge_weight=none)
    between, close = DynamicBetweenness(graph), DynamicCloseness(graph, measure="harmonic")
    of_edges, rank, katz = (
        make(graph) for make in (DynamicEdgeBetweenness, DynamicPageRank, DynamicKatz)
    )
    katz._alpha = 0.001
    for _ in range(6):
        drawn = [(chance.randrange(n), chance.randrange(n)) for _ in range(chance.randint(0, 6))]
        new = [arc if directed else (min(arc), max(arc)) for arc in drawn]
        weight = [chance.choice(LENGTHS) for _ in new]
        old = [edge for edge in sorted(edges) if chance.random() < 0.3]
        old += [arc for arc in new if arc in edges and chance.random() < 0.5]
        insert = torch.tensor(new, dtype=torch.int64).reshape(-1, 2).T
        graph.update(
            insert, columns(old), insert_weight=torch.tensor(weight, dtype=F64), strict=False
        )
        edges = {edge: length for edge, length in edges.items() if edge not in old}
        for edge, length in zip(new, weight, strict=True):
            if edge[0] != edge[1]:
                edges.setdefault(edge, length)
        known = frozen(edges, n, directed)
        assert graph.snapshot() == known and graph.num_edges == len(edges) and graph.is_weighted
        assert torch.equal(between.scores, torchcent.betweenness(known, run=DOUBLE))
        assert torch.equal(close.scores, torchcent.harmonic(known, run=DOUBLE))
        assert torch.equal(of_edges.scores, torchcent.edge_betweenness(known, run=DOUBLE))
        ranks = torchcent.pagerank(known, run=DOUBLE)
        torch.testing.assert_close(rank.scores, ranks, rtol=0, atol=1e-9)
        walks = torchcent.katz(known, alpha=0.001, run=DOUBLE)
        torch.testing.assert_close(katz.scores, walks, rtol=1e-9, atol=1e-12)
    of_networkx = networkx.DiGraph() if directed else networkx.Graph()
    of_networkx.add_nodes_from(range(n))
    # Multiples of 0.1, as the decimals are taken: NetworkX adds floats.
    of_networkx.add_edges_from((u, v, {"w": round(10 * w)}) for (u, v), w in edges.items())
    expected = networkx.betweenness_centrality(of_networkx, weight="w")
    of_all = torch.tensor([expected[v] for v in range(n)], dtype=F64, device=DEVICE)
    torch.testing.assert_close(between.scores, of_all, rtol=1e-9, atol=1e-12)


def test_another_length():
    graph = streets()
    between = DynamicBetweenness(graph, normalized=False)
    # 0-1-2 and 0-3-2 are as long as 3 and 7, 1-2-3 and 1-0-3 as 5 and 5.
    assert between.scores.tolist() == [0.5, 1, 0.5, 0]
    update = graph.update(STREETS[:, 1:2], STREETS[:, 1:2], insert_weight=torch.tensor([9.0]))
    assert (update.inserted, update.deleted, update.ignored) == (1, 1, 0)
    known = torchcent.betweenness(graph.snapshot(), normalized=False, run=DOUBLE)
    assert torch.equal(between.scores, known)
    assert sorted(graph.snapshot().weight.tolist()) == [1, 1, 3, 3, 4, 4, 9, 9]


def test_ties_stay():
    weight = torch.tensor([0.1, 0.2, 0.30000000000000004], dtype=F64, device=DEVICE)
    index = torch.tensor([[0, 1, 0], [1, 2, 2]], device=DEVICE)
    for ties in ("float", "decimal"):
        graph = Graph.from_edge_index(index, directed=False, edge_weight=weight, ties=ties)
        follows = DynamicGraph(graph)
        assert follows.snapshot() == graph and follows.snapshot().ties == ties


def test_files(tmp_path):
    graph = streets()
    between = DynamicBetweenness(graph)
    graph.update(delete=STREETS[:, :1])
    scores = between.scores
    graph.save(tmp_path / "graph.pt", between)
    again, [follows] = DynamicGraph.load(tmp_path / "graph.pt")
    assert again.snapshot() == graph.snapshot().to("cpu")
    assert torch.equal(follows.scores, scores.cpu())


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (None, "insert_weight is None, and the graph has weights"),
        (torch.ones(2), r"insert_weight must have shape \[1\], one for each column of insert"),
        (torch.tensor([0.0]), r"insert_weight\[0\] is 0; weights are distances and must be > 0"),
        (torch.tensor([float("nan")]), r"insert_weight\[0\] is nan"),
        ([1.0], "insert_weight must be a torch.Tensor"),
        (torch.ones(1, device="meta"), "insert_weight must be a dense tensor with data"),
    ],
)
def test_errors_name_the_argument(weight, message):
    graph = streets()
    before = graph.snapshot()
    with pytest.raises((TypeError, ValueError), match=message):
        graph.update(torch.tensor([[0], [2]]), insert_weight=weight)
    assert graph.snapshot() == before


@pytest.mark.parametrize(("old", "new"), [(1.0, 1e299), (1e299, 1.0)])
def test_sums_beyond_float64_once_grown(old, new):
    """The weights are those of few vertices, but not those of a thousand."""
    weight = torch.tensor([old, 1, 1, 1], dtype=F64, device=DEVICE)
    graph = DynamicGraph(STREETS.to(DEVICE), directed=False, edge_weight=weight)
    before = graph.snapshot()
    far = torch.tensor([[0], [1000]])
    with pytest.raises(ValueError, match="weight goes up to 1e.299, and sums of distances between"):
        graph.update(far, insert_weight=torch.tensor([new], dtype=F64), grow=True)
    assert graph.snapshot() == before and graph.num_nodes == 4


def test_weights_where_there_are_none():
    graph = DynamicGraph(STREETS.to(DEVICE), directed=False)
    with pytest.raises(ValueError, match="insert_weight: the graph has no weights"):
        graph.update(torch.tensor([[0], [2]]), insert_weight=torch.ones(1))


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda graph: DynamicBetweenness(graph, state="rows"), "state='rows'"),
        (lambda graph: DynamicBetweenness(graph, state="none"), "state='none'"),
        (DynamicCounts, "DynamicCounts"),
        (lambda graph: DynamicBetweennessApprox(graph, 0.1), "DynamicBetweennessApprox"),
        (lambda graph: DynamicCloseness(graph, state="rows"), "state='rows'"),
    ],
)
def test_what_is_by_hops_alone(make, what):
    with pytest.raises(ValueError, match=f"{what} is for graphs"):
        make(streets())
