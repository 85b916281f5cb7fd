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
