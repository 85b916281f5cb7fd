"""Bridges, cut vertices, blocks, and numbers of whole graphs, as NetworkX and igraph have them."""

import math
from collections.abc import Callable

import networkx as nx
import pytest
import torch
from graphs import DEVICE
from hypothesis import given
from hypothesis import strategies as st
from internals import COMPILED
from torch import Tensor
from tuning import Tuning

import torchcent
from torchcent import Graph

EXACT = torchcent.Run(dtype=torch.float64)


@st.composite
def networks(draw: st.DrawFn, kind: type[nx.Graph] = nx.Graph, weighted: bool = False) -> nx.Graph:
    n = draw(st.integers(0, 9))
    vertex = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=18 if n else 0))
    graph = kind()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((u, v) for u, v in edges if u != v)
    if weighted:
        graph.add_edges_from((u, v) for u, v in edges)  # loops
        for _, _, data in graph.edges(data=True):
            data["weight"] = draw(st.integers(1, 9))
    return graph


def here(graph: nx.Graph) -> Graph:
    weighted = any(data for *_, data in graph.edges(data=True))
    return Graph.from_networkx(graph, "weight" if weighted else None).to(DEVICE)


def blocks_of(graph: nx.Graph) -> None:
    found = here(graph)
    points = torchcent.articulation_points(found)
    assert points.tolist() == sorted(nx.articulation_points(graph))
    bridges = torchcent.bridges(found)
    wanted = sorted(tuple(sorted(edge)) for edge in nx.bridges(graph))
    assert list(map(tuple, bridges.T.tolist())) == wanted
    parts = torchcent.biconnected_components(found)
    known = sorted(map(sorted, nx.biconnected_components(graph)), key=lambda x: (-len(x), x))
    assert [part.tolist() for part in parts.blocks()] == known
    assert {x.device for x in (points, bridges, *parts)} == {found.device}


@given(graph=networks())
def test_blocks_are_those_of_networkx(graph: nx.Graph) -> None:
    blocks_of(graph)


@pytest.mark.skipif(not COMPILED, reason="the search in Python is what runs anyway")
def test_blocks_without_compiled_code(tuning: Tuning) -> None:
    tuning(compiled=False)
    for seed in range(40):
        blocks_of(nx.gnp_random_graph(3 + seed % 9, 0.3, seed=seed))
    blocks_of(nx.path_graph(3000))


def test_blocks_without_directions_and_in_batches() -> None:
    arcs = torch.tensor([[0, 1, 2, 2, 4], [1, 2, 0, 3, 5]], device=DEVICE)
    for directed in (True, False):
        assert torchcent.bridges(arcs, directed=directed).tolist() == [[2, 4], [3, 5]]
        assert torchcent.articulation_points(arcs, directed=directed).tolist() == [2]
    batch = torch.tensor([0, 0, 0, 0, 1, 1], device=DEVICE)
    parts = torchcent.biconnected_components(arcs, batch=batch)
    assert [part.tolist() for part in parts.blocks()] == [[0, 1, 2], [2, 3], [4, 5]]
    assert torchcent.connected_components(arcs, batch=batch).tolist() == [0, 0, 0, 0, 1, 1]


def test_blocks_of_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.Erdos_Renyi(300, m=330)
    found = Graph.from_igraph(graph)
    assert torchcent.articulation_points(found).tolist() == sorted(graph.articulation_points())
    ends = sorted(tuple(sorted(graph.es[edge].tuple)) for edge in graph.bridges())
    assert list(map(tuple, torchcent.bridges(found).T.tolist())) == ends
    parts = torchcent.biconnected_components(found).blocks()
    known = sorted(map(sorted, graph.biconnected_components()), key=lambda x: (-len(x), x))
    assert [part.tolist() for part in parts] == known


# Numbers of a graph


def number(value: Tensor) -> float:
    assert value.shape == () and value.dtype == torch.float64
    return float(value)


@given(graph=networks())
def test_transitivity_is_that_of_networkx(graph: nx.Graph) -> None:
    assert number(torchcent.transitivity(here(graph), run=EXACT)) == pytest.approx(
        nx.transitivity(graph)
    )


def test_transitivity_through_networkx() -> None:
    graph = nx.karate_club_graph()
    ours = nx.transitivity(graph, backend="torchcent")
    assert type(ours) is float and ours == pytest.approx(nx.transitivity(graph))
    assert nx.transitivity(nx.star_graph(3), backend="torchcent") == 0


@given(graph=networks(nx.DiGraph))
def test_reciprocity_is_that_of_networkx(graph: nx.DiGraph) -> None:
    value = number(torchcent.reciprocity(here(graph), run=EXACT))
    if not graph.number_of_edges():
        assert math.isnan(value)
    else:
        assert value == pytest.approx(nx.overall_reciprocity(graph))
        assert torchcent.reciprocity(here(graph.to_undirected())) == 1


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@given(data=st.data())
def test_assortativity_is_that_of_networkx(kind: type[nx.Graph], data: st.DataObject) -> None:
    graph = data.draw(networks(kind))
    value = number(torchcent.assortativity(here(graph), run=EXACT))
    if not graph.number_of_edges():
        assert math.isnan(value)
        return
    pairs = graph.number_of_edges() * (1 if graph.is_directed() else 2)
    wanted = nx.degree_pearson_correlation_coefficient(graph) if pairs > 1 else math.nan
    if math.isnan(wanted) or math.isnan(value):
        ends = [(graph.out_degree(u), graph.in_degree(v)) if graph.is_directed() else
                (graph.degree(u), graph.degree(v)) for u, v in graph.edges]  # fmt: skip
        sides = zip(*ends, strict=True) if graph.is_directed() else [sum(ends, ())]
        assert min(len(set(side)) for side in sides) == 1 and math.isnan(value)
    else:
        assert value == pytest.approx(wanted, abs=1e-9)


def test_numbers_of_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    for directed in (True, False):
        graph = igraph.Graph.Erdos_Renyi(200, m=900, directed=directed)
        found = Graph.from_igraph(graph)
        assert number(torchcent.assortativity(found, run=EXACT)) == pytest.approx(
            graph.assortativity_degree(directed=directed), abs=1e-9
        )
        assert number(torchcent.reciprocity(found, run=EXACT)) == pytest.approx(graph.reciprocity())
    assert number(torchcent.transitivity(found, run=EXACT)) == pytest.approx(
        graph.transitivity_undirected()
    )


@pytest.mark.parametrize(
    "function", [torchcent.transitivity, torchcent.reciprocity, torchcent.assortativity]
)
def test_numbers_of_batches(function: Callable[..., Tensor]) -> None:
    graphs = [nx.gnp_random_graph(n, 0.4, seed=n) for n in (5, 0, 9, 1, 7)]
    size = [len(graph) for graph in graphs]
    ptr = torch.tensor([0, *size]).cumsum(0).to(DEVICE)
    union = nx.disjoint_union_all(graphs)
    ends = torch.tensor(list(union.edges)).T.to(DEVICE)
    batch = Graph.from_edge_index(ends, len(union), directed=False, ptr=ptr)
    values = function(batch, run=EXACT)
    alone = torch.stack([function(here(graph), run=EXACT) for graph in graphs])
    torch.testing.assert_close(values, alone, equal_nan=True)
    with pytest.raises(TypeError, match="has no argument 'edge_weight'"):
        function(batch, edge_weight=torch.ones(3))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@given(data=st.data(), weighted=st.booleans(), resolution=st.sampled_from([1.0, 0.5, 2.0]))
def test_modularity_is_that_of_networkx(
    kind: type[nx.Graph], data: st.DataObject, weighted: bool, resolution: float
) -> None:
    graph = data.draw(networks(kind, weighted))
    labels = data.draw(st.lists(st.integers(-2, 3), min_size=len(graph), max_size=len(graph)))
    value = number(
        torchcent.modularity(
            here(graph), torch.tensor(labels, dtype=torch.int64), resolution=resolution, run=EXACT
        )
    )
    if not graph.number_of_edges():
        assert math.isnan(value)
        return
    parts = [{v for v in graph if labels[v] == label} for label in set(labels)]
    assert value == pytest.approx(
        nx.community.modularity(graph, parts, resolution=resolution), abs=1e-12
    )


def test_modularity_of_batches_and_clusterings() -> None:
    two = nx.disjoint_union(nx.barbell_graph(4, 0), nx.karate_club_graph())
    ends = torch.tensor(list(two.edges)).T.to(DEVICE)
    batch = (torch.arange(len(two), device=DEVICE) >= 8).long()
    labels = torch.arange(len(two), device=DEVICE) % 4
    values = torchcent.modularity(ends, labels, batch=batch, directed=False, run=EXACT)
    for place, (graph, begin) in enumerate(((nx.barbell_graph(4, 0), 0), (two.subgraph(
        range(8, len(two))), 8))):  # fmt: skip
        parts = [{v for v in graph if v % 4 == k} for k in range(4)]
        assert begin in graph
        wanted = nx.community.modularity(nx.Graph(graph.edges), parts)
        assert float(values[place]) == pytest.approx(wanted)
    clusters = torchcent.mcl(here(nx.barbell_graph(4, 0)))
    halves = torchcent.modularity(here(nx.barbell_graph(4, 0)), clusters, run=EXACT)
    assert float(halves) == pytest.approx(
        nx.community.modularity(nx.barbell_graph(4, 0), [set(range(4)), set(range(4, 8))])
    )
    with pytest.raises(ValueError, match="8"):
        torchcent.modularity(here(nx.barbell_graph(4, 0)), torch.zeros(7, dtype=torch.int64))
    with pytest.raises(TypeError, match="integer labels"):
        torchcent.modularity(here(nx.barbell_graph(4, 0)), torch.zeros(8))
    with pytest.raises(TypeError, match="resolution"):
        torchcent.modularity(here(nx.path_graph(3)), torch.zeros(3).long(), resolution="x")


# Leiden


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_leiden_finds_what_igraph_finds() -> None:
    igraph = pytest.importorskip("igraph")
    graph = nx.karate_club_graph()
    found = Graph.from_networkx(graph, "weight")
    labels = torchcent.leiden(found, generator=seeded(1))
    assert labels.dtype == torch.int64 and labels.equal(
        torchcent.leiden(found, generator=seeded(1))
    )
    quality = float(torchcent.modularity(found, labels, run=EXACT))
    theirs = max(
        igraph.Graph.from_networkx(graph)
        .community_leiden("modularity", weights="weight", n_iterations=-1)
        .modularity
        for _ in range(3)
    )
    weights = [data["weight"] for *_, data in graph.edges(data=True)]
    parts = [{v for v in graph if labels[v] == k} for k in range(int(labels.max()) + 1)]
    assert quality == pytest.approx(nx.community.modularity(graph, parts, weight="weight"))
    assert quality > 0.44 and theirs <= 0.45 and sum(weights) > 0
    size = torch.bincount(labels)
    assert (size.diff() <= 0).all()
    for k in range(int(labels.max()) + 1):
        assert nx.is_connected(graph.subgraph(parts[k]))


def test_leiden_by_resolution_objective_and_batch() -> None:
    pytest.importorskip("igraph")
    ring = nx.ring_of_cliques(6, 5)
    found = here(ring)
    assert torchcent.leiden(found, generator=seeded(0)).tolist() == [v // 5 for v in range(30)]
    assert torchcent.leiden(found, resolution=0.0, generator=seeded(0)).tolist() == [0] * 30
    alone = torchcent.leiden(found, resolution=100.0, generator=seeded(0))
    assert alone.tolist() == list(range(30))
    assert torchcent.leiden(found, resolution=0.5, objective="cpm", iterations=2).max() == 5
    both = Graph.from_edge_index(
        torch.cat([found.to_edge_index(), found.to_edge_index() + 30], 1),
        ptr=torch.tensor([0, 30, 60, 60], device=DEVICE),
    )
    assert torchcent.leiden(both).tolist() == [v // 5 for v in range(60)]
    assert torchcent.leiden(Graph.from_edge_index(torch.empty(2, 0).long())).tolist() == []


def test_leiden_leaves_other_generators_alone() -> None:
    igraph = pytest.importorskip("igraph")
    import random

    found = here(nx.karate_club_graph())
    random.seed(4)
    expected = random.random()
    random.seed(4)
    torchcent.leiden(found, generator=seeded(2))
    assert random.random() == expected
    random.seed(5)
    one = igraph.Graph.Erdos_Renyi(20, m=30).get_edgelist()
    random.seed(5)
    assert igraph.Graph.Erdos_Renyi(20, m=30).get_edgelist() == one


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"resolution": -1}, "resolution"),
        ({"objective": "surprise"}, "objective must be one of modularity, cpm"),
        ({"iterations": 0}, "iterations must be -1, or 1 to 1000"),
        ({"iterations": 1001}, "iterations must be -1, or 1 to 1000"),
        ({"directed": None}, "leiden is for undirected graphs"),
        ({"edge_weight": torch.tensor([-1.0])}, "edge_weight"),
    ],
)
def test_leiden_refuses(options: dict[str, object], said: str) -> None:
    pytest.importorskip("igraph")
    with pytest.raises((TypeError, ValueError), match=said):
        torchcent.leiden(torch.tensor([[0], [1]]), **({"directed": False} | options))


def test_leiden_without_igraph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "igraph", None)
    with pytest.raises(ImportError, match="leiden needs igraph, .*pip install igraph"):
        torchcent.leiden(torch.tensor([[0], [1]]), directed=False)
