"""Transforms of PyTorch Geometric for encodings by the spectrum, and the set of GPSE."""

import networkx as nx
import numpy as np
import pytest
import torch
from graphs import DEVICE
from test_spectra import F64, RUN, assorted, batch_of, graph_of

import torchcent

Data = pytest.importorskip("torch_geometric.data").Data
Batch = pytest.importorskip("torch_geometric.data").Batch
pyg = pytest.importorskip("torch_geometric.transforms")
transforms = torchcent.transforms


def data_of(matrix):
    index, weight, _ = batch_of([matrix])
    return Data(edge_index=index, edge_weight=weight, num_nodes=len(matrix))


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "weights"])
def test_eigenvectors_are_those_of_pyg(weighted):
    """Up to signs where eigenvalues are simple; with 1 for isolated vertices."""
    compared = 0
    for matrix in assorted(31, 80, weighted=weighted):
        np.fill_diagonal(matrix, 0)
        n = len(matrix)
        if n < 4 or not matrix.any():
            continue
        data = data_of(matrix)
        strength = matrix.sum(1)
        root = np.where(strength > 0, 1 / np.sqrt(np.where(strength > 0, strength, 1)), 0)
        values = np.linalg.eigvalsh(np.eye(n) - root[:, None] * matrix * root)
        k = min(4, n - 2)
        known = pyg.AddLaplacianEigenvectorPE(k, is_undirected=True)(
            data.clone() if weighted else Data(edge_index=data.edge_index, num_nodes=n)
        ).laplacian_eigenvector_pe
        ours = transforms.AddLaplacianEncoding(
            k, values_name="eigenvalues", edge_weight="edge_weight" if weighted else None
        )(data)
        np.testing.assert_allclose(ours.eigenvalues[0].cpu(), values[1 : k + 1], atol=1e-6)
        gap = np.diff(values)
        for j in range(1, k + 1):
            if min(gap[j - 1], gap[j]) > 1e-3:
                one, other = known[:, j - 1].cpu(), ours.laplacian_eigenvector_pe[:, j - 1].cpu()
                assert min((one - other).abs().max(), (one + other).abs().max()) < 1e-4
                compared += 1
    assert compared > 60


def test_batches_have_the_rows_of_each_graph():
    graphs = [data_of(x) for x in assorted(32, 20) if len(x)]
    largest = max(each.num_nodes for each in graphs)
    for add, name in (
        (transforms.AddLaplacianEncoding(3), "laplacian_eigenvector_pe"),
        (transforms.AddSpectralEncoding("heat", times=[1, 2]), "heat_encoding"),
        (transforms.AddSpectralEncoding("density", bins=4), "density_encoding"),
        (transforms.AddSpectralEncoding("electrostatic"), "electrostatic_encoding"),
        (transforms.AddPairEncoding("hitting", max_nodes=largest), "hitting_pairs"),
        (
            transforms.AddPairEncoding("random_walk", powers=3, max_nodes=largest),
            "random_walk_pairs",
        ),
    ):
        apart = torch.cat([getattr(add(each.clone()), name) for each in graphs])
        together = add(Batch.from_data_list([each.clone() for each in graphs]))
        assert torch.equal(getattr(together, name), apart), name
        again = torch.cat([getattr(each, name) for each in together.to_data_list()])
        assert torch.equal(again, apart), name


def test_with_other_transforms_of_a_data_set():
    graphs = [data_of(x) for x in assorted(33, 12) if len(x)]
    add = transforms.AddEncodings([
        ("laplacian_encoding", {"k": 2, "values_name": "eigenvalues"}),
        ("spectral_encoding", {"kind": "density", "bins": 3}),
        ("pair_encoding", {"kind": "resistance", "max_nodes": 14}),
    ])  # fmt: skip
    for plain, found in zip(graphs, add.encode(graphs), strict=True):
        alone = transforms.AddLaplacianEncoding(2, values_name="eigenvalues")(plain.clone())
        assert torch.equal(found.laplacian_eigenvector_pe, alone.laplacian_eigenvector_pe)
        assert torch.equal(found.eigenvalues, alone.eigenvalues)
        assert found.resistance_pairs.shape == (1, 14, 14)
        assert found.density_encoding.shape == (plain.num_nodes, 3)


def test_columns_of_x_and_signs():
    data = data_of(nx.to_numpy_array(nx.path_graph(5)))
    data.x = torch.ones(5, 1, device=DEVICE)
    plain = transforms.AddLaplacianEncoding(2)(data.clone()).laplacian_eigenvector_pe
    torch.manual_seed(3)
    x = transforms.AddLaplacianEncoding(2, attr_name=None, flip=True)(data).x
    assert torch.equal(x[:, 1:].abs(), plain.abs())


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: transforms.AddSpectralEncoding("heat"), "kind='heat' needs times"),
        (lambda: transforms.AddSpectralEncoding("density", times=1, bins=2), "no argument times"),
        (lambda: transforms.AddSpectralEncoding("flow"), "kind must be one of heat"),
        (lambda: transforms.AddPairEncoding("heat", powers=2, times=1), "no argument powers"),
        (lambda: transforms.AddPairEncoding("random_walk"), "needs powers"),
        (lambda: transforms.AddLaplacianEncoding(0), "k must be at least 1"),
        (lambda: transforms.AddLaplacianEncoding(2, normalization="l"), "normalization"),
    ],
)
def test_malformed(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_pairs_of_a_data_set_need_their_size():
    add = transforms.AddEncodings([("pair_encoding", {"kind": "commute"})])
    with pytest.raises(ValueError, match="needs max_nodes"):
        add.encode([data_of(np.ones((2, 2)))])


def test_the_set_of_gpse_is_that_of_its_functions():
    matrices = [x for x in assorted(34, 40, most=9) if len(x)]
    graph = graph_of(matrices)
    found = torchcent.gpse_encodings(graph, k=3, steps=5, run=RUN)
    laplacian = torchcent.laplacian_encoding(graph, k=3, normalization=None, run=RUN)
    assert torch.equal(found.vectors, laplacian.vectors)
    assert torch.equal(found.values, laplacian.values)
    walks = torchcent.random_walk_encoding(graph, walk_length=5, run=RUN)
    assert torch.equal(found.random_walk, walks)
    heat = torchcent.heat_kernel_encoding(
        graph, times=[1.0, 2.0, 3.0, 4.0, 5.0], normalization=None, trivial=False, run=RUN
    )
    assert torch.equal(found.heat_kernel, heat)
    assert torch.equal(found.electrostatic, torchcent.electrostatic_encoding(graph, run=RUN))
    for matrix, cycles in zip(matrices, found.cycles.tolist(), strict=True):
        plain = nx.from_numpy_array(matrix - np.diag(np.diag(matrix)))
        lengths = [len(each) for each in nx.simple_cycles(plain, length_bound=8)]
        assert cycles == [lengths.count(size) for size in range(3, 9)]
    assert found.vectors.dtype == F64


def test_eigenvalues_of_a_batch_that_ends_with_an_empty_graph():
    graphs = [data_of(nx.to_numpy_array(nx.path_graph(3))), data_of(np.zeros((0, 0)))]
    together = transforms.AddLaplacianEncoding(2, values_name="eigenvalues")(
        Batch.from_data_list(graphs)
    )
    assert together.eigenvalues.shape == (2, 2)
    assert [each.eigenvalues.shape for each in together.to_data_list()] == [(1, 2)] * 2


def test_attributes_do_not_overwrite_each_other():
    with pytest.raises(ValueError, match="values_name='v' is attr_name"):
        transforms.AddLaplacianEncoding(2, attr_name="v", values_name="v")
    with pytest.raises(ValueError, match="several of the transforms have attr_name='v'"):
        transforms.AddEncodings([
            ("laplacian_encoding", {"k": 2, "attr_name": "a", "values_name": "v"}),
            ("laplacian_encoding", {"k": 3, "attr_name": "b", "values_name": "v"}),
        ])  # fmt: skip


@pytest.mark.parametrize("name", ["sdrf", "diffusion"])
def test_what_replaces_edges_is_not_put_together_with_others(name):
    with pytest.raises(ValueError, match="replaces the edges"):
        transforms.AddEncodings([name, "curvature"])


def test_data_sets_in_parts():
    graphs = [data_of(nx.to_numpy_array(nx.path_graph(3)))]
    with pytest.raises(ValueError, match="flip=True is for a transform"):
        transforms.AddEncodings([("laplacian_encoding", {"k": 1, "flip": True})]).encode(graphs)
    add = transforms.AddEncodings(["wl_colors", ("laplacian_encoding", {"k": 1})])
    with pytest.raises(ValueError, match="AddWLColors is not for a data set"):
        add.encode(graphs)
    add = transforms.AddEncodings([("laplacian_encoding", {"k": 1})])
    with pytest.raises(TypeError, match="batch_size"):
        add.encode(graphs, batch_size=None)


def test_files_of_others_in_the_cache(tmp_path):
    graphs = [data_of(nx.to_numpy_array(nx.path_graph(3)))]
    add = transforms.AddEncodings([("laplacian_encoding", {"k": 1})])
    folder = tmp_path / "new" / "folder"
    known = [each.laplacian_eigenvector_pe for each in add.encode(graphs, cache=folder)]
    (file,) = folder.iterdir()
    torch.save({"a": 1}, file)
    again = [each.laplacian_eigenvector_pe for each in add.encode(graphs, cache=folder)]
    assert torch.equal(known[0], again[0])
