"""What a Graph tells of itself, against plain Python."""

import torch
from graphs import arc_lists, edge_index
from hypothesis import given
from hypothesis import strategies as st

from torchcent import Graph


@given(graph=arc_lists(max_nodes=20), directed=st.booleans())
def test_degrees_and_their_order(graph, directed):
    n, arcs = graph
    made = Graph.from_edge_index(edge_index(arcs), n, directed)
    joined = {(u, v) for u, v in arcs if u != v}
    if not directed:
        joined |= {(v, u) for u, v in joined}
    degree = [sum(u == v for u, _ in joined) for v in range(n)]
    assert made.degree.tolist() == degree
    assert made.degree_order.tolist() == sorted(range(n), key=lambda v: (-degree[v], v))


@given(graph=arc_lists(max_nodes=20))
def test_reversed(graph):
    n, arcs = graph
    made = Graph.from_edge_index(edge_index(arcs), n).reversed()
    turned = sorted({(v, u) for u, v in arcs if u != v})
    assert list(zip(*made.to_edge_index().tolist(), strict=True)) == turned
    assert torch.equal(made.reversed().col, Graph.from_edge_index(edge_index(arcs), n).col)


def test_size_and_number_of_edges():
    arcs = torch.tensor([[0, 1, 1, 2, 2], [1, 0, 2, 2, 1]])
    directed, undirected = (Graph.from_edge_index(arcs, 5, d) for d in (True, False))
    assert (len(directed), directed.num_edges) == (5, 4)
    assert (len(undirected), undirected.num_edges) == (5, 2)
    assert len(Graph.from_edges([])) == 0 == Graph.from_edges([]).num_edges


def test_equality_is_by_value():
    arcs, length = torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.tensor([1.0, 2.0, 3.0])
    graph = Graph.from_edge_index(arcs, edge_weight=length)
    order = torch.tensor([2, 0, 1])
    same = Graph.from_edge_index(arcs[:, order], edge_weight=length[order])
    assert graph == same and hash(graph) == hash(same) and len({graph, same}) == 1
    symmetric = torch.cat([arcs, arcs.flip(0)], 1)
    both = Graph.from_edge_index(symmetric)
    others = [
        graph.unweighted(), graph.reversed(), both,
        Graph.from_edge_index(symmetric, directed=False),
        Graph.from_edge_index(arcs, 4), Graph.from_edge_index(arcs, edge_weight=2 * length),
        Graph.from_edge_index(arcs, ptr=torch.tensor([0, 3])),
        Graph.from_edge_index(arcs, ptr=torch.tensor([0, 0, 3])),
        Graph.from_edge_index(arcs[:, [0, 1, 2, 2]], edge_weight=length[[0, 1, 2, 2]]),  # parallel
        Graph.from_edge_index(arcs[:, [0, 1, 2, 2]]),
        Graph.from_edge_index(torch.tensor([[0, 1, 2, 0], [1, 2, 0, 0]])),  # a loop
    ]  # fmt: skip
    for i, one in enumerate([graph, *others]):
        assert [one == other for other in [graph, *others]].count(True) == 1, i
    assert len({graph, *others}) == len(others) + 1
    assert graph != arcs and graph != "graph" and (graph == 3) is False
