"""Reading matrices, arrays and the formats of libraries."""

import math
import os

import networkx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
import torch
from files import rows, save

from torchcent.io import from_networkx, read

# ---- matrices


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("field", ["pattern", "real", "integer"])
def test_mtx(tmp_path, directed, field):
    dense = np.array([[0, 3, 0, 0], [3, 0, 2, 0], [0, 2, 5, 0], [0, 0, 0, 0]])
    dense[3, 0] = 7 * directed
    symmetry = "general" if directed else "symmetric"
    path = tmp_path / "g.mtx"
    scipy.io.mmwrite(path, scipy.sparse.coo_matrix(dense), field=field, symmetry=symmetry)
    edges = read(path)
    assert (edges.num_nodes, edges.directed) == (4, directed)
    assert edges.labels.tolist() == [1, 2, 3, 4]
    found = np.zeros((4, 4))
    weight = torch.ones(edges.num_edges) if field == "pattern" else edges.edge_weight
    assert (edges.edge_weight is None) == (field == "pattern")
    found[tuple(edges.edge_index.numpy())] = weight
    assert (found == ((dense != 0) if field == "pattern" else dense)).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 2 1\n1 2\n", "no '%%MatrixMarket' header"),
        ("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 1\n", "2 x 3 matrix"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n", "g.mtx"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 9 1\n", "g.mtx:3: "),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 nan\n", "not finite"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n", "complex"),
        ("%%MatrixMarket matrix banana\n", "g.mtx"),
    ],
)
def test_damaged_mtx(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(save(tmp_path, "g.mtx", text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 2\n2\n1 3\n2\n", [(1, 2), (2, 1), (2, 3), (3, 2)]),
        ("% c\n3 2 0\n% c\n2\n1 3\n2", [(1, 2), (2, 1), (2, 3), (3, 2)]),
        ("4 1\n\n3\n2\n\n", [(2, 3), (3, 2)]),
        ("4 1\n\n3\n2\n", [(2, 3), (3, 2)]),
        ("4 1\n\n3\n2\n\n\n\n", [(2, 3), (3, 2)]),
        ("2 1 1\n2 5\n1 5\n", [(1, 2, 5.0), (2, 1, 5.0)]),
        ("2 1 001\n2 0.5\n1 0.5\n", [(1, 2, 0.5), (2, 1, 0.5)]),
        ("2 1 10\n9 2\n9 1\n", [(1, 2), (2, 1)]),
        ("2 1 011 2\n9 8 2 5\n9 8 1 5\n", [(1, 2, 5.0), (2, 1, 5.0)]),
        ("2 1 100\n9 2\n9 1\n", [(1, 2), (2, 1)]),
        ("2 1 111 1\n7 9 2 5\n7 9 1 5\n", [(1, 2, 5.0), (2, 1, 5.0)]),
        ("0 0\n", []),
        ("2 0\n", []),
        ("1 0", []),
    ],
)
def test_metis(tmp_path, text, expected):
    if text == "2 0\n":
        text += "\n"
    edges = read(save(tmp_path, "g.graph", text))
    assert rows(edges) == expected
    assert edges.num_nodes == int(text.removeprefix("% c\n")[0])
    assert not edges.directed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello world\n", "g.graph:1: 'hello world' is not a METIS header"),
        ("3\n", "is not a METIS header"),
        ("3 2 7\n2\n1 3\n2\n", "format '7'"),
        ("4 2\n2\n1 3\n", "says 4 vertices, the body has 2 lines"),
        ("2 2\n2\n1 3\n2\n", "says 2 vertices, the body has 3 lines"),
        ("3 3\n2\n1 3\n2\n", "says 3 edges, the body has 4 entries"),
        ("3 2\n2\n1 4\n2\n", "line of vertex 2: neighbour 4; accepted: 1..3"),
        ("3 2\n1\n0 2\n1\n", "line of vertex 2: neighbour 0; accepted: 1..3"),
        ("2 1 1\n2\n1\n", "do not make pairs"),
        ("2 1 10\n\n1 1\n", "line of vertex 1: 0 numbers"),
        ("3 2\n2\n1 x\n2\n", "g.graph:3: '1 x' is not a row of numbers"),
        ("2 1\n2.5\n1\n", "g.graph:2: '2.5' is not a row of numbers"),
        ("2 1 1\n2 nan\n1 nan\n", "not finite"),
    ],
)
def test_damaged_metis(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(save(tmp_path, "g.graph", text))


def test_gr(tmp_path):
    text = "c a road\nc\np sp 4 3\nc more\na 1 2 10\na 2 1 10\n\na 1 3 2.5\n"
    edges = read(save(tmp_path, "g.gr", text))
    assert rows(edges) == [(1, 2, 10.0), (2, 1, 10.0), (1, 3, 2.5)]
    assert (edges.num_nodes, edges.directed) == (4, True)
    assert not read(tmp_path / "g.gr", directed=False).directed


def test_gr_of_pace(tmp_path):
    """Edges without directions and weights, as for solvers of tree decompositions."""
    path = save(tmp_path, "g.gr", "c a tree\np tw 4 3\n1 2\nc more\n2 3\n2 4\n")
    edges = read(path)
    assert rows(edges) == [(1, 2), (2, 3), (2, 4)]
    assert (edges.num_nodes, edges.directed, edges.edge_weight) == (4, False, None)
    assert read(path, directed=True).directed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c x\nq sp 2 1\n", "g.gr:2: 'q sp 2 1' where 'p sp n m' or 'p tw n m' is expected"),
        ("c x\n", "where 'p sp n m' or 'p tw n m' is expected"),
        ("p sp 2 2\na 1 2 1\n", "says 2 arcs, the body has 1"),
        ("p sp 2 1\nc\na 1 3 1\n", "g.gr:3: arc 1 3; accepted: 1..2"),
        ("p sp 2 1\na 0 1 1\n", "g.gr:2: arc 0 1; accepted: 1..2"),
        ("p sp 2 2\na 1 2 1\na 1 2\n", "g.gr:3: 2 numbers"),
        ("p sp 2 1\na 1 2 x\n", "g.gr:2: 'a 1 2 x' is not a row of numbers"),
        ("p sp 2 1\nb 1 2 1\n", "g.gr:2: 'b 1 2 1' is not a row of numbers"),
        ("p sp 2 1\na 1 2 inf\n", "not finite"),
        ("p tw 3 2\n1 2\n", "says 2 edges, the body has 1"),
        ("p tw 3 1\n1 4\n", "g.gr:2: edge 1 4; accepted: 1..3"),
        ("p tw 3 1\n1 2 5\n", "g.gr:2: 3 numbers where 'i j' has 2"),
    ],
)
def test_damaged_gr(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(save(tmp_path, "g.gr", text))


# ---- arrays and libraries


def test_npy(tmp_path):
    index = np.array([[0, 1, 2], [1, 2, 3]])
    for array in (index, index.T, index.astype(np.uint32), index.astype(np.int16)):
        np.save(tmp_path / "g.npy", array)
        assert read(tmp_path / "g.npy").edge_index.tolist() == index.tolist()
    np.save(tmp_path / "g.npy", index + 10**15)
    assert rows(read(tmp_path / "g.npy"))[0] == (10**15, 10**15 + 1)
    for array, message in [
        (np.zeros((3, 3), int), r"shape \[3, 3\]"),
        (np.zeros((2, 2)), "dtype float64"),
        (np.array([[2**64 - 1], [0]], np.uint64), "does not fit"),
        (np.array([["a"], ["b"]]), "dtype"),
    ]:
        np.save(tmp_path / "g.npy", array)
        with pytest.raises(ValueError, match=message):
            read(tmp_path / "g.npy")
    np.save(tmp_path / "g.npy", np.array([[{}], [{}]]), allow_pickle=True)
    with pytest.raises(ValueError, match="not a .npy array"):
        read(tmp_path / "g.npy")


def test_npz(tmp_path):
    dense = np.array([[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    for matrix in (scipy.sparse.csr_array(dense), scipy.sparse.csc_matrix(dense)):
        scipy.sparse.save_npz(tmp_path / "g.npz", matrix)
        edges = read(tmp_path / "g.npz")
        assert sorted(rows(edges)) == [(0, 1, 2.0), (1, 0, 2.0)]
        assert (edges.num_nodes, edges.directed) == (3, False)
    dense[2, 0] = 1
    scipy.sparse.save_npz(tmp_path / "g.npz", scipy.sparse.csr_array(dense != 0))
    edges = read(tmp_path / "g.npz")
    assert edges.directed and edges.edge_weight is None
    scipy.sparse.save_npz(tmp_path / "g.npz", scipy.sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(ValueError, match="2 x 3"):
        read(tmp_path / "g.npz")
    np.savez(tmp_path / "g.npz", x=dense)
    with pytest.raises(ValueError, match="not a scipy sparse matrix"):
        read(tmp_path / "g.npz")


class _Unsafe:
    def __reduce__(self):
        return (os.mkdir, ("must-not-exist",))


def test_pt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "g.pt"
    index = torch.tensor([[0, 1], [1, 2]])
    torch.save(index, path)
    assert read(path).edge_index.equal(index)
    torch.save({"edge_index": index, "edge_weight": torch.tensor([1.5, 2.0]), "num_nodes": 5}, path)
    edges = read(path)
    assert (edges.num_nodes, rows(edges)) == (5, [(0, 1, 1.5), (1, 2, 2.0)])
    for content, message in [
        ({"x": index}, "neither a tensor nor"),
        ({"edge_index": torch.rand(2, 3)}, "dtype float32"),
        ({"edge_index": index, "edge_weight": torch.tensor([1.0, math.inf])}, "not finite"),
        ({"edge_index": index, "num_nodes": 2}, "num_nodes=2"),
        ({"edge_index": index, "labels": ["a"]}, "holds 2"),
        (_Unsafe(), "plain values only"),
    ]:
        torch.save(content, path)
        with pytest.raises(ValueError, match=message):
            read(path)
    assert not (tmp_path / "must-not-exist").exists()


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "g.parquet"
    table = {"weight": [1.5, 2.5], "target": ["b", "c"], "source": ["a", "b"]}
    parquet.write_table(pa.table(table), path)
    assert rows(read(path)) == [("a", "b", 1.5), ("b", "c", 2.5)]
    parquet.write_table(pa.table({"u": [0, 1], "v": [1, 2]}), path)
    assert (rows(read(path)), read(path).labels) == ([(0, 1), (1, 2)], None)
    for table, message in [
        ({"u": [0]}, "1 column"),
        ({"u": [0, None], "v": [1, 2]}, "'u' has 1 empty"),
        ({"u": [0, 1], "v": ["a", "b"]}, "mixed labels"),
        ({"u": [0], "v": [1], "weight": [math.nan]}, "not finite"),
        ({"u": [0], "v": [1], "weight": ["x"]}, "column 'weight'"),
    ]:
        parquet.write_table(pa.table(table), path)
        with pytest.raises(ValueError, match=message):
            read(path)


@pytest.mark.parametrize("directed", [False, True])
def test_graphml_gml(tmp_path, directed):
    graph = networkx.DiGraph() if directed else networkx.Graph()
    graph.add_edge("Ada", "Bob", weight=2.5)
    graph.add_edge("Bob", "Cleo", weight=1.0)
    graph.add_node("alone")
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    networkx.write_gml(graph, tmp_path / "g.gml")
    for name in ("g.graphml", "g.gml"):
        edges = read(tmp_path / name)
        assert rows(edges) == [("Ada", "Bob", 2.5), ("Bob", "Cleo", 1.0)]
        assert (edges.num_nodes, edges.directed) == (4, directed)
        assert read(tmp_path / name, directed=True).directed


def test_gml_as_found(tmp_path):
    """Repeated edges that are not announced, and nodes without a label."""
    nodes = "node [ id 4 ] node [ id 2 ]"
    edge = "edge [ source 4 target 2 ]"
    edges = read(save(tmp_path, "g.gml", f"graph [ directed 1 {nodes} {edge} {edge} ]"))
    assert (rows(edges), edges.directed) == ([(4, 2), (4, 2)], True)


def test_from_networkx():
    graph = networkx.les_miserables_graph()
    edges = from_networkx(graph)
    assert edges.labels.tolist() == list(graph)
    assert rows(edges) == [(u, v, float(w)) for u, v, w in graph.edges(data="weight")]
    assert from_networkx(networkx.path_graph(3)).labels is None
    assert from_networkx(networkx.empty_graph(0)).num_nodes == 0
