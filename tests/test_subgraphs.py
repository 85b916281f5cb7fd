"""Graphs of some vertices: their arcs, weights, names, loops and batches, as NetworkX has them."""

import networkx as nx
import pytest
import torch
from graphs import DEVICE, edge_index
from hypothesis import given
from hypothesis import strategies as st

import torchcent
from torchcent import Graph

F64 = torch.float64


@st.composite
def networks(draw: st.DrawFn) -> nx.DiGraph:
    """With loops, parallel edges, weights and names in any order."""
    n = draw(st.integers(0, 9))
    vertex = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(vertex, vertex, st.integers(1, 5)), max_size=20 if n else 0))
    kind = draw(st.sampled_from([nx.MultiGraph, nx.MultiDiGraph]))
    graph = kind()
    names = draw(st.permutations([f"v{v}" for v in range(n)]))
    graph.add_nodes_from(names)
    graph.add_edges_from((names[u], names[v], {"weight": w}) for u, v, w in edges)
    return graph


def chosen_of(draw: st.DataObject, graph: nx.Graph) -> list[int]:
    return draw.draw(st.lists(st.integers(0, len(graph) - 1), unique=True)) if len(graph) else []


@given(graph=networks(), draw=st.data(), weighted=st.booleans())
def test_subgraphs_are_those_of_networkx(
    graph: nx.Graph, draw: st.DataObject, weighted: bool
) -> None:
    name = "weight" if weighted and graph.number_of_edges() else None
    whole = Graph.from_networkx(graph, name).to(DEVICE)
    chosen = chosen_of(draw, graph)
    nodes = list(graph)
    wanted = graph.subgraph([nodes[v] for v in chosen]).copy()
    ordered = type(graph)()
    ordered.add_nodes_from(v for v in graph if v in wanted)
    ordered.add_edges_from(wanted.edges(data=True))
    name = name if wanted.number_of_edges() else None
    known = Graph.from_networkx(ordered, name).to(DEVICE)
    mask = torch.zeros(len(graph), dtype=torch.bool)
    mask[chosen] = True
    for vertices in (chosen, torch.tensor(chosen, dtype=torch.int64), mask, mask.tolist()):
        if vertices == [] and len(graph):
            continue
        part = whole.subgraph(vertices)
        assert part.directed == known.directed and part.num_nodes == len(chosen)
        if name == "weight" or not weighted:
            assert part == known  # loops and sums of parallel arcs too
        assert list(part.to_networkx()) == list(ordered)
        run = torchcent.Run(dtype=F64)
        if part == known:
            assert torchcent.pagerank(part, run=run).equal(torchcent.pagerank(known, run=run))


def test_names_of_subgraphs_without_names() -> None:
    ring = Graph.from_edge_index(edge_index([(0, 1), (1, 2), (2, 3), (3, 0)]), directed=False)
    part = ring.subgraph([3, 2, 0, 3])
    assert part.labels.tolist() == [0, 2, 3]
    assert part.to_edge_index().tolist() == [[0, 1, 2, 2], [2, 2, 0, 1]]
    assert part.subgraph([1, 2]).labels.tolist() == [2, 3]
    assert ring.subgraph([0, 1]).labels is None
    assert ring.subgraph(range(4)) is ring
    scores = torchcent.degree(ring)
    assert scores[ring.vertices(part.labels)].tolist() == [2, 2, 2]
    assert ring.subgraph([]).num_nodes == 0


def test_ties_weights_and_columns() -> None:
    graph = Graph.from_edges(
        [("a", "b"), ("b", "c"), ("a", "c")], directed=False, edge_weight=[0.1, 0.2, 0.3]
    ).with_ties("float", 1e-3)
    part = graph.subgraph([0, 1])
    assert (part.ties, part.tie_tolerance) == ("float", 1e-3) and part.weight.tolist() == [0.1] * 2
    again = part.with_weights(torch.tensor([5.0, 5.0]))
    assert again.weight.tolist() == [5, 5] and again.labels.tolist() == ["a", "b"]


def test_subgraphs_of_a_batch() -> None:
    arcs = edge_index([(0, 1), (1, 2), (3, 4), (5, 6)])
    batch = Graph.from_edge_index(arcs, ptr=torch.tensor([0, 3, 5, 7], device=DEVICE))
    part = batch.subgraph([1, 2, 5, 6])
    assert part.ptr.tolist() == [0, 2, 2, 4] and part.labels.tolist() == [1, 2, 5, 6]
    assert torchcent.diameter(part.subgraph([0, 1]), disconnected="component").tolist() == [1, 0, 0]
    largest = Graph.from_edge_index(
        edge_index([(0, 1), (3, 4), (4, 3), (6, 5)]), ptr=torch.tensor([0, 3, 7, 7], device=DEVICE)
    )
    assert largest.largest_component().labels.tolist() == [0, 1, 3, 4]
    assert largest.largest_component().ptr.tolist() == [0, 2, 4, 4]
    assert largest.largest_component(strong=True).labels.tolist() == [0, 3, 4]


@given(graph=networks())
def test_largest_components_are_those_of_networkx(graph: nx.Graph) -> None:
    here = Graph.from_networkx(graph).to(DEVICE)
    undirected = graph.to_undirected()
    place = {node: at for at, node in enumerate(graph)}
    both = [(False, nx.connected_components(undirected))]
    if graph.is_directed():
        both.append((True, nx.strongly_connected_components(graph)))
    for strong, components in both:
        ordered = [sorted(place[node] for node in each) for each in components]
        labels = torchcent.connected_components(here, strong=strong)
        assert sorted(ordered) == [
            torch.nonzero(labels == k).flatten().tolist() for k in range(len(ordered))
        ]
        if ordered:
            largest = min(ordered, key=lambda each: (-len(each), each[0]))
            part = here.largest_component(strong)
            assert list(part.to_networkx()) == [list(graph)[v] for v in largest]
    if not graph.is_directed():
        assert torchcent.connected_components(here, strong=True).equal(
            torchcent.connected_components(here)
        )


@pytest.mark.parametrize(
    ("vertices", "said"),
    [
        ([0, 4], "vertices holds 4; accepted: ids from 0 to 3"),
        ([-1], "vertices holds -1"),
        (["a"], "ids or bool.*graph.vertices"),
        ([0.5], "ids or bool"),
        (torch.tensor([0.5]), "ids or bool"),
        (torch.tensor([[0]]), "one dimension"),
        ([True, False], "a mask of 2; accepted: 4"),
        (5, "vertices must be ids"),
        (None, "vertices must be ids"),
    ],
)
def test_vertices_that_are_refused(vertices: object, said: str) -> None:
    graph = Graph.from_edges([(0, 1), (2, 3)])
    with pytest.raises((TypeError, ValueError), match=said):
        graph.subgraph(vertices)
    with pytest.raises(TypeError, match="strong must be True or False"):
        graph.largest_component("yes")
