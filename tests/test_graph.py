"""What a Graph tells of itself, against plain Python."""

import pytest
import torch
from graphs import arc_lists, edge_index
from hypothesis import given
from hypothesis import strategies as st
from tuning import tuned

from torchcent import Graph
from torchcent.graph import _csr, _device


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


@given(graph=arc_lists(max_nodes=20), window=st.integers(1, 9))
def test_windows_hold_every_slot_with_its_row(graph, window):
    """They are made for CUDA, of what runs everywhere."""
    n, arcs = graph
    made = Graph.from_edge_index(edge_index(arcs), n)
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch)(device_window=window)
        parts = _device.windows(made.rowptr, made.num_slots)
    slots = [slot for part in parts for slot in range(part.begin, part.end)]
    assert slots == list(range(made.num_slots))
    assert all(part.end - part.begin <= window for part in parts)
    rows = [row for part in parts for row in part.rows(made.rowptr).tolist()]
    assert rows == _csr.rows(made.rowptr).tolist()
