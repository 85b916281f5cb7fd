"""Files that lie: about sizes, layouts, both ends of an edge; and what no reader may believe."""

import bz2
import gzip
import io
import lzma
import os
import struct
import threading
import zipfile

import numpy as np
import pytest
import scipy.sparse
import torch
from files import rows, save
from surface import call

import torchcent
from torchcent import Graph, read

DENSE = np.array([[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 3]])
LAYOUTS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
KINDS = (scipy.sparse.csr_array, scipy.sparse.csr_matrix)


def npz(tmp_path, **arrays):
    path = tmp_path / "g.npz"
    np.savez(path, **{k: np.asarray(v) for k, v in arrays.items()})
    return path


# ---- scipy.sparse: the layout before its entries


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_layout_reads(tmp_path, layout, kind):
    matrix = kind(DENSE.astype(float)).asformat(layout)
    expected = {(0, 1): 2, (1, 0): 2, (1, 2): 1, (2, 1): 1}
    graph = Graph.from_scipy(matrix, edge_weight=True)
    ends = map(tuple, graph.to_edge_index().T.tolist())
    assert dict(zip(ends, graph.weight.tolist(), strict=True)) == expected
    if layout in ("lil", "dok"):
        return
    scipy.sparse.save_npz(tmp_path / "g.npz", matrix)
    found = {(u, v): w for u, v, w in rows(read(tmp_path / "g.npz"))}
    assert found == {**expected, (3, 3): 3}


INDPTR = [
    ([0, 10**9, 2, 3], r"indptr\[2\] is 2 after 1000000000"),
    ([0, -5, 2, 3], r"indptr\[1\] is -5 after 0"),
    ([1, 1, 2, 3], r"indptr\[0\] is 1; accepted: 0"),
    ([0, 1, 2, 99], "indptr ends with 99, but there are 3 indices"),
    ([0, 2**62, -(2**62), 3], r"indptr\[2\] is -4611686018427387904 after"),
    ([0, 1, 3], "indptr has 3 entries; accepted: 4"),
    ([[0, 1], [2, 3]], "indptr has shape"),
    ([0.0, 1, 2, 3], "indptr has dtype float64"),
]
INDICES = [
    ([1, 0, 3], "holds 3; accepted: 0..2"),
    ([1, 0, -1], "holds -1; accepted: 0..2"),
    ([1, 0], "there are 2 indices and 3 entries of data"),
    (["a", "b", "c"], "indices has dtype"),
]


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [("indptr", *x) for x in INDPTR] + [("indices", *x) for x in INDICES],
)
def test_rows_that_lie(tmp_path, layout, name, wrong, message):
    arrays = {"indptr": [0, 1, 2, 3], "indices": [1, 0, 2], "data": [1.0, 1, 1], name: wrong}
    path = npz(tmp_path, format=np.array(layout.encode()), shape=[3, 3], **arrays)
    with pytest.raises(ValueError, match=rf"g.npz.*{message}"):
        read(path)
    if isinstance(wrong[0], str):
        return
    matrix = scipy.sparse.csr_array(np.eye(3)).asformat(layout)
    for key, value in arrays.items():
        setattr(matrix, key, np.array(value))
    with pytest.raises(ValueError, match=f"matrix.*{message}"):
        Graph.from_scipy(matrix)


@pytest.mark.parametrize(
    ("layout", "arrays", "message"),
    [
        ("coo", {"row": [0, 3], "col": [1, 0], "data": [1, 1]}, "row holds 3; accepted: 0..2"),
        ("coo", {"row": [0], "col": [-1], "data": [1]}, "col holds -1; accepted: 0..2"),
        ("coo", {"row": [0, 1], "col": [1], "data": [1, 1]}, "2, 1 and 2 entries"),
        ("dia", {"offsets": [3], "data": [[1, 1, 1]]}, r"offset 3; accepted: -2..2"),
        ("dia", {"offsets": [-(2**63)], "data": [[1, 1, 1]]}, "offset -9223372036854775808"),
        ("dia", {"offsets": [1, 1], "data": np.ones((2, 3))}, "offset stands there twice"),
        ("dia", {"offsets": [1, 2], "data": np.ones((1, 3))}, "2 offsets, but 1 diagonals"),
        (
            "bsr",
            {"indptr": [0, 1], "indices": [0], "data": np.ones((1, 2, 2))},
            "blocks of 2 x 2 do not divide a matrix of 3 x 3",
        ),
        (
            "bsr",
            {"indptr": [0, 1, 1, 1], "indices": [3], "data": np.ones((1, 1, 1))},
            "holds 3; accepted: 0..2",
        ),
        ("bsr", {"indptr": [0, 1], "indices": [0], "data": np.ones((1, 0, 3))}, "blocks of 0 x 3"),
    ],
)
def test_layouts_that_lie(tmp_path, layout, arrays, message):
    path = npz(tmp_path, format=np.array(layout.encode()), shape=[3, 3], **arrays)
    with pytest.raises(ValueError, match=message):
        read(path)
    matrix = scipy.sparse.csr_array(np.eye(3)).asformat(layout)
    for key, value in arrays.items():
        if key in ("row", "col"):
            continue
        setattr(matrix, key, np.array(value))
    if layout == "coo":
        matrix.coords = tuple(np.array(arrays[key]) for key in ("row", "col"))
    with pytest.raises(ValueError, match=message):
        Graph.from_scipy(matrix)


def test_lists_and_keys_that_lie():
    for key, value, message in [
        ("rows", [0, 10**9], "rows .lil. holds 1000000000; accepted: 0..2"),
        ("rows", [-1, 1], "holds -1"),
        ("rows", [0], "lists of different lengths"),
        ("rows", ["x", 1], "not an integer"),
        ("rows", [2**70, 1], "beyond int64"),
        ("rows", None, "not a list"),
    ]:
        matrix = scipy.sparse.lil_array(np.eye(3))
        matrix.rows[0], matrix.data[0] = [0, 1], [1.0, 1.0]
        getattr(matrix, key)[0] = value
        with pytest.raises(ValueError, match=message):
            Graph.from_scipy(matrix)
    matrix = scipy.sparse.dok_array(np.eye(3))
    matrix._dict[0, 7] = 1.0
    with pytest.raises(ValueError, match="keys .dok. holds 7; accepted: 0..2"):
        Graph.from_scipy(matrix)


def test_one_dimension_and_complex_are_refused():
    with pytest.raises(ValueError, match=r"must be square, got shape \(3,\)"):
        Graph.from_scipy(scipy.sparse.coo_array(np.ones(3)))
    with pytest.raises(TypeError, match="dtype complex128; weights are real numbers"):
        Graph.from_scipy(scipy.sparse.csr_array(DENSE * 1j), edge_weight=True)
    with pytest.raises(TypeError, match="directed must be True, False or None, got 'x'"):
        Graph.from_scipy(scipy.sparse.csr_array(DENSE), "x")


def test_zeros_inside_of_blocks_are_no_arcs():
    matrix = scipy.sparse.bsr_array(DENSE, blocksize=(2, 2))
    assert Graph.from_scipy(matrix).num_slots == 4


def test_complex_npz_is_refused(tmp_path):
    scipy.sparse.save_npz(tmp_path / "g.npz", scipy.sparse.csr_array(DENSE * (1 + 1j)))
    with pytest.raises(ValueError, match="g.npz: weights of dtype complex128; accepted: real"):
        read(tmp_path / "g.npz")


def test_npz_holds_no_objects(tmp_path):
    path = npz(
        tmp_path, format=np.array(b"coo"), shape=[2, 2], row=[0], col=[1], data=np.array([{}])
    )
    with pytest.raises(ValueError, match="Python objects, which are not read"):
        read(path)


# ---- sizes that are claimed

MEMORY = 1 << 20
HUGE = 2**31 - 1
MTX = "%%MatrixMarket matrix "


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.mtx", MTX + f"coordinate real general\n{HUGE} {HUGE} 1\n1 2 1\n"),
        ("g.gr", f"p sp {HUGE} 1\na 1 2 1\n"),
        ("g.graph", f"{HUGE} 1\n2\n1\n"),
        ("g.txt", f"# Nodes: {HUGE}\n0 1\n"),
        ("g.txt", f"# Nodes: {HUGE}\n"),
        ("out.x", f"% asym x\n% 1 {HUGE} {HUGE}\n1 2\n"),
        ("g.mci", f"(mclheader\ndimensions {HUGE}x{HUGE}\n)\n(mclmatrix\nbegin\n0 1 $\n)\n"),
    ],
)
def test_claims_of_text(tmp_path, name, text):
    path = save(tmp_path, name, text)
    with pytest.raises(MemoryError, match=rf"{name}: num_nodes=2147483647.*memory=1048576"):
        read(path, run=torchcent.Run(memory=MEMORY))


def test_claims_of_binary(tmp_path):
    with pytest.raises(MemoryError, match="num_nodes=2147483647"):
        read(npz(tmp_path, format=np.array(b"coo"), shape=[HUGE] * 2, row=[0], col=[1], data=[1]),
             run=torchcent.Run(memory=MEMORY))  # fmt: skip
    torch.save({"edge_index": torch.tensor([[0], [1]]), "num_nodes": HUGE}, tmp_path / "g.pt")
    with pytest.raises(MemoryError, match="num_nodes=2147483647"):
        read(tmp_path / "g.pt", run=torchcent.Run(memory=MEMORY))
    torch.save(torch.tensor([0]).expand(2, 10**9), tmp_path / "g.pt")  # 8 bytes that claim 16 GB
    with pytest.raises(MemoryError, match=r"shape \[2, 1000000000\]"):
        read(tmp_path / "g.pt", run=torchcent.Run(memory=MEMORY))
    file = io.BytesIO()
    np.save(file, np.array([[0], [1]]))
    path = save(
        tmp_path, "g.npy", file.getvalue().replace(b"(2, 1), }         ", b"(2, 999999999), } ")
    )
    with pytest.raises(ValueError, match=r"says \[2, 999999999\] of int64, 15999999984 bytes, but"):
        read(path)


def test_claims_of_the_caller(tmp_path):
    path = save(tmp_path, "g.txt", "0 1\n")
    with pytest.raises(MemoryError, match="num_nodes=2147483647.*memory=1048576"):
        read(path, num_nodes=HUGE, run=torchcent.Run(memory=MEMORY))
    with pytest.raises(MemoryError, match=r"what the file holds.*: 1 rows: .*memory=50 "):
        read(path, run=torchcent.Run(memory=50))


def test_parquet_rows_are_counted_first(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    zeros = pa.array(np.zeros(10**6, np.int64))  # a few hundred bytes in the file
    parquet.write_table(pa.table({"u": zeros, "v": zeros}), tmp_path / "g.parquet")
    assert (tmp_path / "g.parquet").stat().st_size < 10**4
    with pytest.raises(MemoryError, match="1000000 rows: 64000000 bytes"):
        read(tmp_path / "g.parquet", run=torchcent.Run(memory=MEMORY))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_expansion_is_bounded(tmp_path, pack):
    suffix = {"gzip": ".gz", "bz2": ".bz2", "lzma": ".xz"}[pack.__module__]
    path = tmp_path / f"g.txt{suffix}"
    path.write_bytes(pack(b"0 1\n" * 3 * 10**6))
    with pytest.raises(MemoryError, match="what the file holds"):
        read(path, run=torchcent.Run(memory=10 * MEMORY if suffix == ".xz" else MEMORY))
    assert read(path).num_edges == 3 * 10**6


def test_an_xz_dictionary_is_bounded(tmp_path):
    packed = lzma.compress(b"0 1\n", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}])
    path = tmp_path / "g.txt.xz"
    path.write_bytes(packed)
    with pytest.raises(MemoryError, match="g.txt.xz: the dictionary .*memory=1048576"):
        read(path, run=torchcent.Run(memory=MEMORY))


def test_an_archive_is_bounded(tmp_path):
    file = io.BytesIO()
    scipy.sparse.save_npz(file, scipy.sparse.csr_array((1000, 1000)))
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.npy", bytes(10**8))
    path = save(tmp_path, "g.npz", file.getvalue())
    assert path.stat().st_size < 2 * 10**5
    with pytest.raises(MemoryError, match="what the zip archive expands to: 1000"):
        read(path, run=torchcent.Run(memory=MEMORY))
    torch.save(torch.tensor([[0], [1]]), tmp_path / "g.pt")
    with zipfile.ZipFile(tmp_path / "g.pt", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data/1", bytes(10**8))
    with pytest.raises(MemoryError, match="what the zip archive expands to: 1000"):
        read(tmp_path / "g.pt", run=torchcent.Run(memory=MEMORY))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.txt", "# Nodes: 3\n5 6\n7 8\n", "the file says 3 vertices, but its edges name 4"),
        ("out.x", "% asym x\n% 1 4 4\n1 9\n", "says 4 vertices, but its ids go from 1 to 9"),
        ("g.txt", f"# Nodes: {'9' * 5000}\n0 1\n", "a count of 9.*at most 18 digits"),
        ("g.graph", f"{'9' * 5000} 1\n2\n1\n", "is not a METIS header"),
        ("g.gr", f"p sp {'9' * 5000} 1\n", "where 'p sp n m' or 'p tw n m' is expected"),
        (
            "g.mtx",
            MTX + "coordinate real general\n2 2 9\n1 2 1\n",
            "says 9 entries, the body has 1",
        ),
        ("g.mtx", MTX + "array real general\n2 2\n1\n", "4 values make 2 x 2, the body has 1"),
        (
            "g.mci",
            "(mclheader\ndimensions 3x3\n)\n(mclcols\n0 1 $\n)\n(mclmatrix\n)\n",
            "2 indices",
        ),
    ],
)
def test_sizes_that_contradict_the_data(tmp_path, name, text, message):
    with pytest.raises(ValueError, match=message):
        read(save(tmp_path, name, text))


def test_fewer_vertices_than_declared_warn(tmp_path):
    with pytest.warns(UserWarning, match="says 9 vertices, but its edges name 3; only these"):
        assert read(save(tmp_path, "g.txt", "# Nodes: 9\n70 80\n80 90\n")).num_nodes == 3


def test_skip_beyond_the_end(tmp_path):
    path = save(tmp_path, "g.txt", "0 1\n1 2\n")
    with pytest.raises(ValueError, match=r"g.txt: skip=1000000000, but the file has 2 lines"):
        read(path, skip=10**9)
    assert read(path, skip=2).num_edges == 0
    assert read(path, skip=1).num_edges == 1
    long = save(tmp_path, "long.txt", "x\n" * 10**5 + "0 1\n")
    assert read(long, skip=10**5).num_edges == 1


# ---- nothing is lost in silence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 2\n2\n1 3\n1\n", "line of vertex 3: neighbour 1, but the line of vertex 1 does not"),
        (
            "3 1\n2\n\n2\n",
            "line of vertex 1: neighbour 2, but the line of vertex 2 does not list 1",
        ),
        ("2 1 1\n2 5\n1 7\n", "line of vertex 1: neighbour 2 has weight 5, but .* 1 weight 7"),
        ("2 2\n2 2\n1 1\n", None),
        ("2 2 1\n2 5 2 7\n1 7 1 5\n", None),
        ("2 2\n2 2 2\n1\n", "line of vertex 1: neighbour 2, but .* as often"),
    ],
)
def test_metis_lists_both_ends(tmp_path, text, message):
    path = save(tmp_path, "g.graph", text)
    if message is None:
        assert read(path).num_edges == 4
        return
    with pytest.raises(ValueError, match=message):
        read(path)
    assert read(path, directed=True).directed


def test_both_triangles_of_a_symmetric_matrix(tmp_path):
    text = MTX + "coordinate real {}\n3 3 2\n1 2 5\n2 1 7\n"
    path = save(tmp_path, "g.mtx", text.format("symmetric"))
    with pytest.raises(ValueError, match=r"entries \(2, 1\) and \(1, 2\) are both listed"):
        read(path)
    assert read(save(tmp_path, "g.mtx", text.format("general"))).num_edges == 2
    upper = save(tmp_path, "u.mtx", MTX + "coordinate real symmetric\n3 3 2\n1 2 5\n3 2 7\n")
    assert sorted(rows(read(upper))) == [(1, 2, 5), (2, 1, 5), (2, 3, 7), (3, 2, 7)]
    skew = save(tmp_path, "s.mtx", MTX + "coordinate real skew-symmetric\n3 3 1\n2 1 5\n")
    assert sorted(rows(read(skew))) == [(1, 2, -5), (2, 1, 5)]


def test_a_text_that_scipy_reads_beyond_its_end(tmp_path):
    text = MTX + "coordinate pattern general\n3 3 2\n2 1dinat"
    for _ in range(300):
        with pytest.raises(ValueError, match="g.mtx:3: '2 1dinat' is not a row of numbers"):
            read(save(tmp_path, "g.mtx", text))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[0.0, np.nan], [1, 2]]), "ids of dtype float64; vertex ids are integers"),
        (np.array([[True, False], [True, True]]), "ids of dtype bool"),
        (np.array([[2**63], [0]], np.uint64), "id 9223372036854775808 does not fit into int64"),
    ],
)
def test_npy_ids(tmp_path, array, message):
    np.save(tmp_path / "g.npy", array)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "g.npy")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"edge_weight": torch.tensor([1j])}, "weights of dtype complex"),
        ({"edge_weight": [1.0]}, "'edge_weight' is of type list, no tensor"),
        ({"edge_weight": torch.ones(2)}, r"\[2\] weights for 1 edges"),
        ({"num_nodes": 2.5}, "'num_nodes' is 2.5"),
        ({"directed": "yes"}, "'directed' is 'yes'"),
        ({"labels": "ab"}, "'labels' is of type str"),
        (
            {"edge_index": torch.tensor([[0], [1]]).to_sparse()},
            "holds torch._utils._rebuild_sparse",
        ),
        ({"more": bytearray(8)}, "bytearray"),
    ],
)
def test_pt_contents(tmp_path, content, message):
    torch.save({"edge_index": torch.tensor([[0], [1]]), **content}, tmp_path / "g.pt")
    with pytest.raises(ValueError, match=rf"g.pt.*{message}"):
        read(tmp_path / "g.pt")


def test_old_pt_is_refused(tmp_path):
    old = {"_use_new_zipfile_serialization": False}
    torch.save(torch.tensor([[0], [1]]), tmp_path / "g.pt", **old)
    with pytest.raises(ValueError, match="from before PyTorch 1.6 must be saved again"):
        read(tmp_path / "g.pt")


def test_parquet_columns(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for table, message in [
        ({"u": [0.5], "v": [1.5]}, "column 'u' holds double; accepted: integers or strings"),
        ({"u": [b"\xff"], "v": [b"a"]}, "column 'u' holds binary"),
        ({"u": pa.array([2**63], pa.uint64()), "v": pa.array([0], pa.uint64())}, "does not fit"),
    ]:
        parquet.write_table(pa.table(table), tmp_path / "g.parquet")
        with pytest.raises(ValueError, match=message):
            read(tmp_path / "g.parquet")
    good = {"u": ["a", "b"], "v": ["b", "a"]}
    for own in (b"[]", b"{", b'{"num_nodes": "x"}', b'{"isolated": 3}', b"[" * 10**5):
        table = pa.table(good).replace_schema_metadata({b"torchcent": own})
        parquet.write_table(table, tmp_path / "g.parquet")
        with pytest.raises(ValueError, match="g.parquet"):
            read(tmp_path / "g.parquet")
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        table = pa.table({k: pa.array(v).cast(kind) for k, v in good.items()})
        parquet.write_table(table, tmp_path / "g.parquet")
        assert rows(read(tmp_path / "g.parquet")) == [("a", "b"), ("b", "a")]
    ends = {"u": [f"v{k}" for k in range(9)], "v": ["v4", "x"] * 4 + ["ö"]}
    for kind in (pa.string(), pa.dictionary(pa.int8(), pa.large_string())):  # a dictionary of each
        table = pa.table({"u": pa.array(ends["u"]), "v": pa.array(ends["v"]).cast(kind)})
        parquet.write_table(table, tmp_path / "g.parquet", row_group_size=2)
        assert rows(read(tmp_path / "g.parquet")) == list(zip(*ends.values(), strict=True))


def test_weights_that_only_some_edges_have_are_told(tmp_path):
    pytest.importorskip("networkx")
    nodes, edge = "node [ id 0 ] node [ id 1 ]", "edge [ source 0 target 1 weight 2 ]"
    text = f"graph [ {nodes} {edge} edge [ source 0 target 0 ] ]"
    with pytest.warns(UserWarning, match="1 of 2 edges have a number as their weight"):
        assert read(save(tmp_path, "g.gml", text)).edge_weight is None


def test_only_blanks_and_tabs_separate(tmp_path):
    text = "a\x1db c\nNew\xa0York Oslo\n"
    assert rows(read(save(tmp_path, "g.txt", text))) == [("a\x1db", "c"), ("New\xa0York", "Oslo")]
    assert rows(read(save(tmp_path, "g.abc", text))) == [("a\x1db", "c"), ("New\xa0York", "Oslo")]
    with pytest.raises(ValueError, match="g.abc:2: 2 fields"):
        read(save(tmp_path, "g.abc", "a b\nc d\t\n"))


# ---- raw errors of libraries


def test_damaged_files_of_libraries(tmp_path):
    deep = b"graph [ " + b"a [ " * 5000
    entity = b'<!DOCTYPE x [<!ENTITY a "b">]><graphml>&a;</graphml>'
    broken = gzip.compress(b"0 1\n" * 1000)
    for name, data in {
        "g.gml": deep,
        "g.graphml": entity,
        "h.graphml": b'<?xml version="1.0" encoding="x"?><a/>',
        "g.txt.gz": broken[:20] + b"\xff\xff" + broken[22:],
        "g.npz": b"PK\x03\x04" + bytes(40),
        "g.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", 200) + b"(" * 200,
        "h.npy": b"\x93NUMPY\x09\x00",
        "g.pt": b"PK\x05\x06" + bytes(18),
        "g.parquet": b"PAR1" + bytes(40) + b"PAR1",
        "g.mci": b"(mclheader\ndimensions 1x1\n)\n(mclmatrix\nbegin\n$ $\n)\n",
        "h.mci": b"(mclheader\ndimensions 1x1\n)\n(mclmatrix\nbegin\n99999999999999999999 0 $\n)\n",
        "g.txt": b"0 1\n\n\xff \xff\n",
        "h.txt": b"x," + b'"' + b"a" * 200_000 + b'"\n',
    }.items():
        with pytest.raises(ValueError, match=name):
            read(save(tmp_path, name, data) if ".gz" not in name else _raw(tmp_path, name, data))


def _raw(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    return tmp_path / name


def test_numbers_too_long_for_python(tmp_path):
    path = save(tmp_path, "g.txt", f"{'9' * 5000} 1\n")
    assert rows(read(path, text_labels=True)) == [("9" * 5000, "1")]
    path = save(tmp_path, "g.txt", f"{'0' * 5000}7 1\n")
    assert rows(read(path, text_labels=False)) == [(7, 1)]


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("path", b"g.txt", TypeError),
        ("path", 3, TypeError),
        ("path", None, TypeError),
        ("path", "g\0.txt", ValueError),
        ("path", "", ValueError),
        ("skip", "a", TypeError),
        ("skip", True, TypeError),
        ("skip", None, TypeError),
        ("skip", -1, ValueError),
        ("format", 3, TypeError),
        ("directed", "x", TypeError),
        ("directed", 1, TypeError),
        ("text_labels", 1, TypeError),
        ("num_nodes", 2.5, TypeError),
        ("num_nodes", True, TypeError),
        ("num_nodes", "3", TypeError),
        ("memory", "1G", TypeError),
        ("memory", 0, ValueError),
    ],
)
def test_arguments_of_read(tmp_path, argument, value, error):
    path = save(tmp_path, "g.txt", "0 1\n")
    with pytest.raises(error, match=f"{argument}[= ]"):
        call(read, **{"path": path, argument: value})


def test_arguments_for_edge_lists_only(tmp_path):
    path = save(tmp_path, "g.gr", "p sp 2 1\na 1 2 1\n")
    for given in ({"skip": 1}, {"text_labels": True}):
        with pytest.raises(ValueError, match="is for edge lists in text, not for gr"):
            call(read, path, **given)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"edge_index": torch.eye(2).to_sparse()}, ValueError, "dense tensor with data"),
        ({"edge_index": torch.zeros(2, 1, dtype=torch.int64, device="meta")}, ValueError, "dense"),
        ({"directed": "x"}, TypeError, "directed must be True or False"),
        ({"num_nodes": 2.5}, TypeError, "num_nodes must be an int"),
        ({"labels": 5}, TypeError, "labels must be a sequence"),
        ({"labels": [0, 2**70]}, ValueError, "beyond int64"),
        ({"edge_weight": [1.0]}, TypeError, "edge_weight must be a tensor"),
    ],
)
def test_arguments_of_an_edge_list(given, error, message):
    with pytest.raises(error, match=message):
        torchcent.EdgeList(**{"edge_index": torch.tensor([[0], [1]]), **given})


def test_labels_that_are_pairs_stay_pairs():
    edges = torchcent.EdgeList(torch.tensor([[0], [1]]), labels=[(0, 1), (1, 0)])
    assert edges.labels.shape == (2,) and edges.vertex_labels()[1] == (1, 0)


def test_folders_and_files_that_may_not_be_read(tmp_path):
    with pytest.raises(ValueError, match="is a directory"):
        read(tmp_path, format="edges")
    os.mkfifo(tmp_path / "g.txt")  # no size: its bytes are counted as they come
    writer = threading.Thread(target=(tmp_path / "g.txt").write_bytes, args=(b"0 1\n",))
    writer.start()
    assert read(tmp_path / "g.txt").num_edges == 1
    writer.join()


def test_metadata_of_our_own_parquet_comes_back(tmp_path):
    pytest.importorskip("pyarrow")
    edges = torchcent.EdgeList(torch.tensor([[0], [1]]), None, ["a", "b", "lonely"], 3, True)
    torchcent.write(tmp_path / "g.parquet", edges)
    back = read(tmp_path / "g.parquet")
    assert (back.num_nodes, back.directed, back.labels.tolist()) == (3, True, ["a", "b", "lonely"])


def test_a_column_that_is_not_taken_is_text_too(tmp_path):
    path = tmp_path / "g.txt"
    path.write_bytes(b"1 2 7 a\n2 7 2 b\n1 1 8 7\x859\n")
    with pytest.raises(ValueError, match=r"g\.txt:3: byte 0x85 is not UTF-8"):
        read(path)
    path.write_bytes("1 2 7 ä\n2 7 2 b\n".encode())
    assert read(path).edge_weight.tolist() == [7, 2]


def test_names_of_control_characters_are_names(tmp_path):
    path = tmp_path / "g.txt"
    path.write_bytes(b"\x1f \x08\x1f\n")
    assert read(path).vertex_labels().tolist() == ["\x08\x1f", "\x1f"]


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 8 bytes")],
)
def test_memory_that_the_system_does_not_have(error, tmp_path, monkeypatch):
    """Without a budget of ours being reached."""

    def load(*_, **__):
        raise error

    path = tmp_path / "edges.txt"
    path.write_text("0 1\n")
    monkeypatch.setitem(torchcent.io._READERS, "edges", load)
    with pytest.raises(MemoryError, match=f"^{path}: the system did not grant") as caught:
        torchcent.read(path)
    assert caught.value.__cause__ is None
    monkeypatch.setitem(torchcent.io._READERS, "edges", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        torchcent.read(path)
