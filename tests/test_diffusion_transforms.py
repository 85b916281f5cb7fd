"""AddDiffusion on Data, Batch and HeteroData, beside PyTorch Geometric's GDC."""

import copy

import pytest
import torch
from graphs import DEVICE, cycle, edge_index, grid, random_graph, star

pytest.importorskip("torch_geometric")
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.transforms import GDC, Compose
from torch_geometric.utils import to_dense_adj

import torchcent
from torchcent.transforms import AddDiffusion

GRAPHS = [
    (12, grid(3, 4)),
    (7, cycle(7)),
    (6, star(5)),
    (3, []),
    (30, random_graph(30, 60, seed=3)),
]
SIZES = dict(method="topk", k=4, dim=0)


def data_of(n, arcs):
    index = edge_index(arcs)
    return Data(
        edge_index=torch.cat([index, index.flip(0)], 1).to(DEVICE), num_nodes=n,
        x=torch.ones(n, 1, device=DEVICE),
    )  # fmt: skip


def matrix(data, n):
    return to_dense_adj(data.edge_index, edge_attr=data.edge_attr, max_num_nodes=n)[0]


@pytest.mark.parametrize("normalization", ["sym", "col"])
@pytest.mark.parametrize("method", ["ppr", "heat"])
def test_all_entries_are_those_of_gdc(method, normalization):
    own = {"alpha": 0.2} if method == "ppr" else {"t": 3.0}
    gdc = GDC(
        normalization_in=normalization, diffusion_kwargs={"method": method, **own},
        sparsification_kwargs={"method": "threshold", "eps": 1e-12},
    )  # fmt: skip
    options = {"restart": 0.2} if method == "ppr" else own
    add = AddDiffusion(method, top_k=None, eps=1e-9, normalization_in=normalization, **options)
    for n, arcs in GRAPHS:
        known, result = gdc(data_of(n, arcs).cpu()), add(data_of(n, arcs))
        torch.testing.assert_close(matrix(result, n).cpu(), matrix(known, n), rtol=1e-4, atol=1e-5)


def test_the_largest_entries_are_those_of_gdc():
    """Of a graph without equal entries, because of its weights."""
    index = edge_index(random_graph(30, 80, seed=4)).cpu()
    weight = torch.rand(index.shape[1], generator=torch.Generator().manual_seed(1))
    data = Data(
        edge_index=torch.cat([index, index.flip(0)], 1), edge_attr=torch.cat([weight, weight]),
        num_nodes=30,
    )  # fmt: skip
    known = GDC(sparsification_kwargs=SIZES)(copy.copy(data))
    result = AddDiffusion(top_k=4, eps=1e-9, edge_weight="edge_attr")(data.to(DEVICE))
    torch.testing.assert_close(matrix(result, 30).cpu(), matrix(known, 30), rtol=1e-4, atol=1e-5)
    assert result.edge_attr.dtype == torch.get_default_dtype()


@pytest.mark.parametrize("attr_name", [None, "ppr"])
def test_batches(attr_name):
    add = AddDiffusion(attr_name=attr_name, top_k=3)
    alone = [add(data_of(*each)) for each in GRAPHS]
    before = Batch.from_data_list([data_of(*each) for each in GRAPHS])
    together = add(copy.copy(before))
    known = Batch.from_data_list(alone)
    names = ("edge_index", "edge_attr") if attr_name is None else ("ppr_index", "ppr")
    for name in names:
        assert torch.equal(together[name], known[name])
        for one, other in zip(together.to_data_list(), alone, strict=True):
            assert torch.equal(one[name], other[name])
    assert "edge_attr" not in before and (attr_name is None or "edge_attr" not in together)


def test_pairs_and_values():
    n, arcs = GRAPHS[0]
    result = AddDiffusion(
        "heat", "heat", top_k=5, t=2.0, self_loop_weight=None, normalization_in="col",
        normalization_out=None,
    )(data_of(n, arcs))  # fmt: skip
    rows = torchcent.heat_kernel(data_of(n, arcs).edge_index, num_nodes=n, t=2.0, top_k=5)
    assert torch.equal(result.heat, rows.value) and torch.equal(result.heat_index[0], rows.target)
    assert torch.equal(result.heat_index[1], torch.repeat_interleave(rows.ptr.diff()))
    assert torch.equal(result.edge_index, data_of(n, arcs).edge_index)


def test_other_attributes_of_edges_are_removed():
    data = data_of(*GRAPHS[0])
    data.edge_weight = torch.ones(data.num_edges, device=DEVICE)
    data.edge_kind = torch.zeros(data.num_edges, device=DEVICE)
    result = Compose([AddDiffusion(edge_weight="edge_weight", top_k=2)])(data)
    assert set(result.keys()) == {"edge_index", "edge_weight", "num_nodes", "x"}
    assert result.edge_weight.shape == (24,) and result.x.shape == (12, 1)


def test_node_types():
    data = HeteroData()
    data["a"].num_nodes, data["b"].num_nodes = 2, 2
    data["a", "to", "b"].edge_index = torch.tensor([[0, 1], [0, 1]], device=DEVICE)
    result = AddDiffusion(attr_name="ppr", directed=False)(copy.copy(data))
    assert result["a", "ppr", "b"].edge_index.tolist() == [[0, 1], [0, 1]]
    assert result["b", "ppr", "b"].ppr.shape == (2,)
    with pytest.raises(ValueError, match="name one for HeteroData"):
        AddDiffusion(directed=False)(data)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "coeff"}, ValueError, "method must be one of ppr, heat"),
        ({"attr_name": 1}, TypeError, "attr_name must be a str or None, which replaces"),
        ({"top_k": 0}, ValueError, "top_k"),
        ({"restart": 2}, ValueError, "restart"),
        ({"method": "heat", "t": 0}, ValueError, "t must be"),
        ({"eps": 0}, ValueError, "eps"),
        ({"self_loop_weight": -1}, ValueError, "self_loop_weight"),
        ({"normalization_in": "row"}, ValueError, "normalization_in"),
        ({"normalization_out": "row"}, ValueError, "normalization_out"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        AddDiffusion(**options)


def test_what_it_says():
    assert repr(AddDiffusion(top_k=8)) == (
        "AddDiffusion(method='ppr', attr_name=None, top_k=8, restart=0.15, eps=0.0001, "
        "self_loop_weight=1.0, normalization_in='sym', normalization_out='col', edge_weight=None, "
        "directed=None)"
    )
