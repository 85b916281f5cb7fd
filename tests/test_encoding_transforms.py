"""AddShortestPathEncoding and AddRandomWalkEncoding on Data, Batch and HeteroData."""

import copy

import networkx as nx
import pytest
import torch
from graphs import DEVICE

pytest.importorskip("torch_geometric")
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.transforms import AddRandomWalkPE, Compose
from torch_geometric.utils import from_networkx

from torchcent.transforms import AddRandomWalkEncoding, AddShortestPathEncoding

GRAPHS = [nx.path_graph(4), nx.cycle_graph(7), nx.empty_graph(2), nx.gnp_random_graph(12, 0.2, 3)]


def data_of(graph):
    found = from_networkx(nx.DiGraph(graph))
    found.num_nodes = graph.number_of_nodes()
    return found.to(DEVICE)


def distances(graph, cutoff=None):
    known = dict(nx.all_pairs_shortest_path_length(graph, cutoff))
    return {(u, v): d for u, row in known.items() for v, d in row.items()}


def listed(data):
    return dict(zip(map(tuple, data.spd_index.T.tolist()), data.spd.tolist(), strict=True))


@pytest.mark.parametrize("cutoff", [None, 2])
def test_pairs(cutoff):
    add = AddShortestPathEncoding(cutoff=cutoff)
    alone = [add(data_of(graph)) for graph in GRAPHS]
    for data, graph in zip(alone, GRAPHS, strict=True):
        assert listed(data) == distances(graph, cutoff)
        assert data.spd.dtype == torch.int64
    before = Batch.from_data_list([data_of(graph) for graph in GRAPHS])
    together = add(copy.copy(before))
    assert "spd" not in before
    batch = Batch.from_data_list(alone)  # PyTorch Geometric adds the offsets
    assert torch.equal(together.spd_index, batch.spd_index)
    assert torch.equal(together.spd, batch.spd)
    for one, other in zip(together.to_data_list(), alone, strict=True):
        assert torch.equal(one.spd_index, other.spd_index)
        assert torch.equal(one.spd, other.spd)


def test_vertices_of_graphs_that_are_not_contiguous():
    data = Data(
        edge_index=torch.tensor([[0, 2, 1, 3], [2, 0, 3, 1]], device=DEVICE), num_nodes=5,
        batch=torch.tensor([0, 1, 0, 1, 0], device=DEVICE),
    )  # fmt: skip
    found = listed(AddShortestPathEncoding()(copy.copy(data)))
    wanted = {(0, 0): 0, (1, 1): 0, (2, 2): 0, (3, 3): 0, (4, 4): 0}
    assert found == wanted | {(0, 2): 1, (2, 0): 1, (1, 3): 1, (3, 1): 1}
    dense = AddShortestPathEncoding(dense=True)(data).spd
    assert dense.tolist() == [
        [[0, 1, -1], [1, 0, -1], [-1, -1, 0]], [[0, 1, -1], [1, 0, -1], [-1, -1, -1]]
    ]  # fmt: skip


def test_matrices():
    add = AddShortestPathEncoding("near", 3, True, 16, unreachable=510, padding=-7)
    alone = [add(data_of(graph)) for graph in GRAPHS]
    for data, graph in zip(alone, GRAPHS, strict=True):
        known, n = distances(graph, 3), graph.number_of_nodes()
        rows = [[known.get((u, v), 510) for v in range(n)] + [-7] * (16 - n) for u in range(n)]
        assert data.near.tolist() == [rows + [[-7] * 16] * (16 - n)]
    together = add(Batch.from_data_list([data_of(graph) for graph in [*GRAPHS, nx.empty_graph(0)]]))
    assert torch.equal(together.near[:4], Batch.from_data_list(alone).near)
    assert (together.near[4] == -7).all()
    for one, other in zip(together.to_data_list(), alone, strict=False):
        assert torch.equal(one.near, other.near)


def test_weights_and_directions():
    index = torch.tensor([[0, 1, 0], [1, 2, 2]], device=DEVICE)
    data = Data(edge_index=index, length=torch.tensor([1.0, 1.5, 4.0], device=DEVICE), num_nodes=3)
    found = AddShortestPathEncoding(edge_weight="length")(copy.copy(data))
    assert listed(found) == {(0, 0): 0, (0, 1): 1, (0, 2): 2.5, (1, 1): 0, (1, 2): 1.5, (2, 2): 0}
    assert found.spd.dtype == torch.float32
    found = AddShortestPathEncoding(cutoff=2, edge_weight="length", directed=False)(copy.copy(data))
    assert listed(found)[2, 1] == 1.5
    assert (2, 0) not in listed(found)
    walks = AddRandomWalkEncoding(2, edge_weight="length", directed=False)(data).random_walk_pe
    strength = torch.tensor([[0, 1, 4], [1, 0, 1.5], [4, 1.5, 0]])
    step = strength / strength.sum(1, keepdim=True)
    torch.testing.assert_close(walks[:, 1].cpu(), (step @ step).diag())


@pytest.mark.parametrize("n", [30, 90])
def test_values_of_add_random_walk_pe(n):
    graph = data_of(nx.gnp_random_graph(n, 3 / n, 5))
    found = AddRandomWalkEncoding(9)(copy.copy(graph)).random_walk_pe
    known = AddRandomWalkPE(9)(copy.copy(graph)).random_walk_pe
    torch.testing.assert_close(found, known, rtol=1e-5, atol=1e-6)
    directed = Data(edge_index=graph.edge_index[:, ::3], num_nodes=n)
    found = AddRandomWalkEncoding(9, None)(copy.copy(directed)).x
    known = AddRandomWalkPE(9, None)(copy.copy(directed)).x
    torch.testing.assert_close(found, known, rtol=1e-5, atol=1e-6)
    batch = Batch.from_data_list([graph, directed, graph])
    parts = AddRandomWalkEncoding(5)(batch).to_data_list()
    for part, alone in zip(parts, (graph, directed, graph), strict=True):
        expected = AddRandomWalkPE(5)(copy.copy(alone)).random_walk_pe
        torch.testing.assert_close(part.random_walk_pe, expected, rtol=1e-5, atol=1e-6)


def test_heterogeneous_data():
    data = HeteroData()
    data["a"].num_nodes, data["b"].num_nodes = 2, 1
    data["a", "to", "b"].edge_index = torch.tensor([[0, 1], [0, 0]], device=DEVICE)
    found = AddRandomWalkEncoding(2, directed=False)(copy.copy(data))
    assert found["a"].random_walk_pe.tolist() == [[0, 0.5], [0, 0.5]]
    assert found["b"].random_walk_pe.tolist() == [[0, 1]]


def library(authors, papers):
    """Authors write papers, which cite each other."""
    data = HeteroData()
    data["author"].x = torch.ones(authors, 1, device=DEVICE)
    data["paper"].x = torch.ones(papers, 2, device=DEVICE)
    draw = torch.Generator().manual_seed(authors)
    wrote = torch.stack([torch.arange(authors), torch.arange(authors) % papers])
    data["author", "writes", "paper"].edge_index = wrote.to(DEVICE)
    cites = torch.randint(0, papers, (2, 5), generator=draw)
    data["paper", "cites", "paper"].edge_index = cites.to(DEVICE)
    return data


def pairs_of_types(data):
    """All pairs by names of their ends."""
    return {
        (a, u, b, v): d
        for a, name, b in data.edge_types
        if name == "spd"
        for (u, v), d in zip(
            data[a, name, b].edge_index.T.tolist(), data[a, name, b].spd.tolist(), strict=True
        )
    }


def known_pairs(data, cutoff=None):
    graph = nx.Graph()
    for kind in data.node_types:
        graph.add_nodes_from((kind, v) for v in range(data[kind].num_nodes))
    for kind in (("author", "writes", "paper"), ("paper", "cites", "paper")):
        a, _, b = kind
        graph.add_edges_from(((a, u), (b, v)) for u, v in data[kind].edge_index.T.tolist())
    return {(*u, *v): d for (u, v), d in distances(graph, cutoff).items()}


@pytest.mark.parametrize("cutoff", [None, 2])
def test_pairs_of_node_types(cutoff):
    add = AddShortestPathEncoding(cutoff=cutoff, directed=False)
    plain = [library(4, 3), library(2, 5)]
    alone = [add(copy.copy(data)) for data in plain]
    for data, before in zip(alone, plain, strict=True):
        assert pairs_of_types(data) == known_pairs(before, cutoff)
        assert pairs_of_types(add(copy.copy(data))) == pairs_of_types(data)  # of the same graph
    together, batch = add(Batch.from_data_list(plain)), Batch.from_data_list(alone)
    for kind in batch.edge_types:
        assert torch.equal(together[kind].edge_index, batch[kind].edge_index)
    for kind in [x for x in batch.edge_types if x[1] == "spd"]:
        assert torch.equal(together[kind].spd, batch[kind].spd)
    for one, other in zip(together.to_data_list(), alone, strict=True):
        assert pairs_of_types(one) == pairs_of_types(other)


def test_matrices_of_node_types():
    add = AddShortestPathEncoding(dense=True, max_nodes=8, directed=False)
    plain = [library(4, 3), library(2, 5)]
    alone = [add(copy.copy(data)) for data in plain]
    for data, before in zip(alone, plain, strict=True):
        order = [(kind, v) for kind in data.node_types for v in range(data[kind].num_nodes)]
        known = known_pairs(before)
        rows = [[known.get((*u, *v), -1) for v in order] + [-1] for u in order]
        assert data.spd[0, :7].tolist() == rows
    together = add(Batch.from_data_list(plain))
    assert torch.equal(together.spd, torch.cat([data.spd for data in alone]))
    for one, other in zip(together.to_data_list(), alone, strict=True):
        assert torch.equal(one.spd, other.spd)
    cited = [("paper", "cites", "paper")]
    some = AddShortestPathEncoding(edge_types=cited)(library(4, 3))
    assert [kind for kind in some.edge_types if kind[1] == "spd"] == [("paper", "spd", "paper")]


def test_arguments():
    assert repr(AddShortestPathEncoding(cutoff=3)) == (
        "AddShortestPathEncoding(attr_name='spd', cutoff=3, dense=False, dtype=None, "
        "edge_weight=None, directed=None)"
    )
    assert "max_nodes=9" in repr(AddShortestPathEncoding(dense=True, max_nodes=9))
    assert repr(AddRandomWalkEncoding(4)) == (
        "AddRandomWalkEncoding(walk_length=4, attr_name='random_walk_pe', edge_weight=None, "
        "directed=None)"
    )
    with pytest.raises(TypeError, match="pairs of vertices are no rows of data.x"):
        AddShortestPathEncoding(None)
    with pytest.raises(ValueError, match="attr_name='spd_index' contains 'index'"):
        AddShortestPathEncoding("spd_index")
    with pytest.raises(ValueError, match="max_nodes, unreachable and padding are for dense=True"):
        AddShortestPathEncoding(max_nodes=5)
    with pytest.raises(ValueError, match="cutoff must be >= 0"):
        AddShortestPathEncoding(cutoff=-1)
    with pytest.raises(ValueError, match="walk_length must be at least 1"):
        AddRandomWalkEncoding(0)
    with pytest.raises(TypeError, match="walk_length"):
        AddRandomWalkEncoding("4")
    both = Compose([AddRandomWalkEncoding(3), AddShortestPathEncoding(cutoff=1)])
    assert "spd" in both(data_of(GRAPHS[0]))
