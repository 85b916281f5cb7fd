"""AddSubstructureCounts and AddWLColors on Data, Batch and HeteroData."""

import copy

import networkx as nx
import pytest
import torch
from graphs import DEVICE

pytest.importorskip("torch_geometric")
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.transforms import Compose
from torch_geometric.utils import from_networkx

from torchcent.transforms import AddSubstructureCounts, AddWLColors

GRAPHS = [nx.path_graph(4), nx.cycle_graph(7), nx.empty_graph(2), nx.gnp_random_graph(12, 0.3, 3)]


def data_of(graph):
    found = from_networkx(nx.DiGraph(graph))
    found.num_nodes = graph.number_of_nodes()
    return found.to(DEVICE)


def cycles(graph):
    """The numbers of cycles of 3 to 8 vertices, by NetworkX."""
    count = torch.zeros(len(graph), 6, dtype=torch.int64)
    for cycle in nx.simple_cycles(graph, length_bound=8):
        count[cycle, len(cycle) - 3] += 1
    return count


@pytest.mark.parametrize("of", ["vertices", "edges"])
def test_counts_of_data_and_batches(of):
    add = AddSubstructureCounts(of=of)
    name = "substructure_counts" if of == "vertices" else "edge_substructure_counts"
    alone = [add(data_of(graph)) for graph in GRAPHS]
    for data, graph in zip(alone, GRAPHS, strict=True):
        assert data[name].dtype == torch.int64
        if of == "vertices":
            assert torch.equal(data[name].cpu(), cycles(graph))
        else:  # each cycle has two edges at each of its vertices
            twice = torch.zeros(len(graph), 6, dtype=torch.int64, device=DEVICE)
            twice.index_add_(0, data.edge_index[0], data[name])
            assert torch.equal(twice.cpu(), 2 * cycles(graph))
    together = add(Batch.from_data_list([data_of(graph) for graph in GRAPHS]))
    for one, other in zip(together.to_data_list(), alone, strict=True):
        assert torch.equal(one[name], other[name])


def test_columns_of_features():
    data = data_of(nx.cycle_graph(5))
    data.x = torch.ones(5, 1, dtype=torch.float64, device=DEVICE)
    add = Compose([
        AddSubstructureCounts("cycle5", attr_name=None),
        AddSubstructureCounts("path3", attr_name=None, log=True),
        AddSubstructureCounts("cycle5", of="edges", attr_name=None),
    ])  # fmt: skip
    found = add(data)
    three = torch.tensor(3.0, dtype=torch.float64).log()
    row = [1.0, 1.0, float(three), float(torch.tensor(2.0, dtype=torch.float64).log())]
    assert found.x.tolist() == [row] * 5
    assert found.edge_attr.dtype == torch.float32 and found.edge_attr.tolist() == [[1.0]] * 10


def test_counts_of_several_edge_types():
    data = HeteroData()
    data["a"].num_nodes, data["b"].num_nodes = 2, 1
    data["a", "x", "a"].edge_index = torch.tensor([[0, 1], [1, 0]], device=DEVICE)
    data["a", "y", "b"].edge_index = torch.tensor([[0, 1], [0, 0]], device=DEVICE)
    found = AddSubstructureCounts("cycle3", directed=False)(copy.copy(data))
    assert found["a"].substructure_counts.tolist() == [[1], [1]]
    assert found["b"].substructure_counts.tolist() == [[1]]
    found = AddSubstructureCounts("cycle3", of="edges", directed=False)(copy.copy(data))
    assert found["a", "y", "b"].edge_substructure_counts.tolist() == [[1], [1]]
    with pytest.raises(ValueError, match="undirected"):
        AddSubstructureCounts("cycle3")(copy.copy(data))


def test_colors():
    graphs = [nx.path_graph(3), nx.cycle_graph(3), nx.path_graph(3)]
    together = AddWLColors()(Batch.from_data_list([data_of(graph) for graph in graphs]))
    assert together.wl_color.tolist() == [0, 1, 0, 2, 2, 2, 0, 1, 0]
    assert [x.wl_color.tolist() for x in together.to_data_list()][2] == [0, 1, 0]
    data = data_of(graphs[0])
    data.z = torch.tensor([6, 6, 8], device=DEVICE)
    assert AddWLColors(0, "kind", "z")(data).kind.tolist() == [0, 0, 1]
    assert AddWLColors(node_labels="z")(data).wl_color.tolist() == [0, 1, 2]
    data.bond = (data.edge_index.amax(0) == 2).long()
    assert AddWLColors(edge_labels="bond")(data).wl_color.tolist() == [0, 1, 2]


def test_labels_of_vertices_that_are_not_contiguous():
    data = Data(
        edge_index=torch.tensor([[0, 2, 1, 3], [2, 0, 3, 1]], device=DEVICE), num_nodes=4,
        batch=torch.tensor([0, 1, 0, 1], device=DEVICE),
        z=torch.tensor([3, 5, 4, 5], device=DEVICE),
    )  # fmt: skip
    assert AddWLColors(0, node_labels="z")(data).wl_color.tolist() == [0, 2, 1, 2]


@pytest.mark.parametrize(
    "make, kind, message",
    [
        (lambda: AddSubstructureCounts("cycle2"), ValueError, "patterns must be one of"),
        (lambda: AddSubstructureCounts(of="graphs"), ValueError, "of must be one of vertices"),
        (lambda: AddSubstructureCounts(log=1), TypeError, "log must be True or False"),
        (lambda: AddSubstructureCounts(attr_name="edge_x"), ValueError, "contains 'edge'"),
        (lambda: AddSubstructureCounts(of="edges", attr_name="x"), ValueError, "lacks 'edge'"),
        (lambda: AddWLColors(-3), ValueError, "iterations must be >= 0"),
        (lambda: AddWLColors(attr_name=None), TypeError, "cluster labels|attr_name must be a str"),
        (lambda: AddWLColors(node_labels="z")(data_of(GRAPHS[0])), ValueError, "node_labels='z'"),
        (lambda: AddWLColors(edge_labels=3)(data_of(GRAPHS[0])), TypeError, "edge_labels must be"),
    ],
)
def test_bad_arguments(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_what_determines_the_result():
    text = repr(AddSubstructureCounts(["cycle3", "star4"], induced=True))
    assert text.startswith("AddSubstructureCounts(patterns=('cycle3', 'star4'), of='vertices'")
    assert "induced=True" in text
