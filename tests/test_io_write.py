"""Writing: what survives, score files, and that the old file stays whole."""

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import os
import stat
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from files import FINITE, rows, save
from hypothesis import given
from hypothesis import strategies as st

from torchcent.io import EdgeList, read, replacing, write, write_scores

# ---- round trips

_labels = st.one_of(
    st.none(),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=6, max_size=6, unique=True),
    st.lists(st.text("ab é,;\"'.x-", min_size=1, max_size=5), min_size=6, max_size=6, unique=True),
)


@st.composite
def _edge_lists(draw):
    labels = draw(_labels)
    if labels is not None:
        labels = sorted(labels)  # read numbers by value
    ends = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
    index = torch.tensor(ends, dtype=torch.int64).reshape(-1, 2).T.contiguous()
    weight = None
    if ends and draw(st.booleans()):  # without rows there is no column of weights in a text
        weight = torch.tensor([draw(FINITE) for _ in ends], dtype=torch.float64)
    return EdgeList(index, weight, labels, 6, draw(st.booleans()))


def _printable(label, suffix):
    """What the text formats promise to carry."""
    text = str(label)
    return text == text.strip() and not (suffix == ".edges" and any(c in text for c in " ,;"))


def _undirected(row):
    return (*sorted(row[:2]), *row[2:])


@pytest.mark.parametrize("suffix", [".txt", ".tsv", ".edges", ".txt.gz", ".pt", ".parquet"])
@given(edges=_edge_lists())
def test_everything_survives(tmp_path, suffix, edges):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"g{suffix}"
    path.unlink(missing_ok=True)  # of the example before
    labels = edges.vertex_labels().tolist()
    if suffix not in (".pt", ".parquet") and not all(_printable(x, suffix) for x in labels):
        with pytest.raises(ValueError, match="cannot stand in this format"):
            write(path, edges)
        assert not path.exists()
        return
    write(path, edges)
    back = read(path)
    assert (back.num_nodes, back.directed) == (edges.num_nodes, edges.directed)
    assert back.vertex_labels().tolist() == labels
    if rows(back) != rows(edges):  # an undirected list of both directions is written once
        assert not edges.directed
        forth = Counter(map(_undirected, rows(back)))
        both = Counter(_undirected(r) for r in rows(edges))
        assert all(both[r] == (1 if r[0] == r[1] else 2) * k for r, k in forth.items())
        assert set(forth) == set(both)


@pytest.mark.parametrize("suffix", [".txt", ".tsv", ".csv", ".edges", ".abc"])
def test_names_with_quotes_come_back(tmp_path, suffix):
    names = ['"a"', '"b', 'c"', 'd""e', '"f""g"']
    ends = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    write(tmp_path / f"g{suffix}", EdgeList(ends, labels=names))
    edges = read(tmp_path / f"g{suffix}")
    assert sorted(rows(edges)) == sorted(zip(names, names[1:], strict=False))


@given(edges=_edge_lists())
def test_csv_keeps_edges(tmp_path, edges):
    path = tmp_path / "g.csv"
    if not all(_printable(x, ".csv") for x in edges.vertex_labels()):
        return
    write(path, edges)
    with path.open(newline="", encoding="utf-8") as file:
        head, *body = list(csv.reader(file))
    assert head == ["source", "target", "weight"][: 2 + (edges.edge_weight is not None)]
    back = read(path, directed=True)
    assert Counter(map(_undirected, rows(back))) <= Counter(map(_undirected, rows(edges)))
    assert [tuple(map(str, r[:2])) for r in rows(back)] == [tuple(r[:2]) for r in body]


def _matrix(edges, loops=True):
    """Smallest weight of every arc, both directions if undirected: a slow oracle."""
    found = {}
    index = edges.edge_index.T.tolist()
    weights = [1.0] * len(index) if edges.edge_weight is None else edges.edge_weight.tolist()
    for (u, v), w in zip(index, weights, strict=True):
        for arc in [(u, v)] + [(v, u)] * (not edges.directed):
            if loops or u != v:
                found[arc] = min(w, found.get(arc, math.inf))
    return found


@pytest.mark.parametrize("suffix", [".mtx", ".graph", ".gr", ".npz", ".mtx.xz"])
@given(edges=_edge_lists())
def test_matrix_formats_keep_the_matrix(tmp_path, suffix, edges):
    path = tmp_path / f"g{suffix}"
    if suffix == ".graph" and edges.directed:
        with pytest.raises(ValueError, match="undirected graphs only"):
            write(path, edges)
        return
    write(path, edges)
    back = read(path)
    assert back.num_nodes == 6
    # loops do not exist in METIS; a matrix with entries of 1 only has no weights to tell
    assert _matrix(back) == _matrix(edges, loops=suffix != ".graph")
    if suffix == ".graph":
        assert not back.directed
    if suffix.startswith(".mtx"):
        assert back.directed == edges.directed


def test_write_graph(tmp_path):
    import torchcent

    index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 2]])
    graph = torchcent.Graph.from_edge_index(index, num_nodes=5, directed=False)
    write(tmp_path / "g.txt", graph)
    back = read(tmp_path / "g.txt")
    assert (rows(back), back.num_nodes, back.directed) == ([(0, 1), (1, 2)], 5, False)
    write(tmp_path / "d.txt", torchcent.Graph.from_edge_index(index, num_nodes=5))
    assert rows(read(tmp_path / "d.txt")) == [(0, 1), (1, 0), (1, 2)]
    assert back.graph().num_slots == 4
    assert back.graph(directed=True).num_slots == 2


@pytest.mark.parametrize(
    "name",
    ["g.txt", "g.csv", "g.abc", "g.pt", "g.parquet", "g.graphml", "g.gexf", "g.cx2", "g.sif"],
)
@pytest.mark.parametrize("labels", [["Ada", "Bob", "Cleo"], [7, 30, 5], [(1, 2), "b", 2.5]])
def test_names_of_a_graph(tmp_path, name, labels):
    """A graph and its edges are written alike; names of other kinds as text."""
    import torchcent

    graph = torchcent.Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]), directed=False)
    path = tmp_path / name
    write(path, graph.with_labels(labels))
    texts = list(map(str, labels))
    if name == "g.sif":
        pairs = {tuple(line.split("\t")[::2]) for line in path.read_text().splitlines()}
    elif name == "g.cx2":
        parts = {key: x for each in json.loads(path.read_text()) for key, x in each.items()}
        known = {node["id"]: str(node["v"]["name"]) for node in parts["nodes"]}
        pairs = {(known[edge["s"]], known[edge["t"]]) for edge in parts["edges"]}
    elif name == "g.gexf":
        theirs = pytest.importorskip("networkx").read_gexf(path)
        pairs = {tuple(str(theirs.nodes[v]["label"]) for v in edge) for edge in theirs.edges}
    else:
        back = read(path)
        if name != "g.abc":  # whose names are text
            assert (back.vertex_labels().dtype == object) == (labels[0] != 7)
        pairs = {tuple(map(str, pair)) for pair in back.vertex_labels()[back.edge_index.numpy()].T}
    assert set(map(frozenset, pairs)) == {frozenset(texts[:2]), frozenset(texts[1:])}


def test_names_that_are_the_same_text(tmp_path):
    import torchcent

    graph = torchcent.Graph.from_edge_index(torch.tensor([[0], [1]])).with_labels(
        [(1, 2), "(1, 2)"]
    )
    with pytest.raises(ValueError, match=r"labels \(1, 2\) and '\(1, 2\)' are the same text"):
        write(tmp_path / "g.csv", graph)
    assert not (tmp_path / "g.csv").exists()


def test_write_errors(tmp_path):
    edges = EdgeList(torch.tensor([[0], [1]]))
    for name, message in [("g.foo", "not written as '.foo'"), ("g.gml", "not written as '.gml'")]:
        with pytest.raises(ValueError, match=message):
            write(tmp_path / name, edges)
    with pytest.raises(FileNotFoundError, match="no such directory"):
        write(tmp_path / "nowhere" / "g.txt", edges)
    for label in ("", " a", "#a", "a\tb", "a\nb", "a\0b", "1 2"):
        named = EdgeList(torch.tensor([[0], [1]]), None, [label, "z"])
        with pytest.raises(ValueError, match="cannot stand"):
            write(tmp_path / "g.txt", named)
    assert list(tmp_path.iterdir()) == []


def test_edge_list_checks():
    good = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(TypeError, match="must be a tensor"):
        EdgeList([[0], [1]])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="int64"):
        EdgeList(good.int())
    with pytest.raises(ValueError, match=r"shape \[2, E\], got \[4\]"):
        EdgeList(good.ravel())
    with pytest.raises(ValueError, match="holds -1"):
        EdgeList(good - 1)
    with pytest.raises(ValueError, match=r"holds 2; num_nodes=2 allows less"):
        EdgeList(good, num_nodes=2)
    with pytest.raises(ValueError, match="3 labels for num_nodes=5"):
        EdgeList(good, labels=["a", "b", "c"], num_nodes=5)
    with pytest.raises(ValueError, match=r"shape \[2\], got \[3\]"):
        EdgeList(good, torch.ones(3))
    assert repr(EdgeList(good)).startswith("EdgeList(num_nodes=3, num_edges=2, directed=False")


# ---- scores

_COLUMNS = {
    "label": ['Doe, "J."', "Bob", "é"],
    "degree": torch.tensor([3, 1, 2]),
    "betweenness": torch.tensor([0.1, 1 / 3, 0.0], dtype=torch.float64),
}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".json", ".npz", ".npy", ".parquet"])
def test_scores_come_back(tmp_path, suffix):
    path = tmp_path / f"s{suffix}"
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    write_scores(path, _COLUMNS, {"measure": "betweenness"})
    scores = _COLUMNS["betweenness"].tolist()
    if suffix in (".csv", ".tsv", ".csv.gz"):
        text = (
            gzip.decompress(path.read_bytes()) if ".gz" in suffix else path.read_bytes()
        ).decode()
        separator = "\t" if suffix == ".tsv" else ","
        quoting = csv.QUOTE_NONE if suffix == ".tsv" else csv.QUOTE_MINIMAL
        head, *body = csv.reader(text.splitlines(), delimiter=separator, quoting=quoting)
        assert head == list(_COLUMNS)
        assert [r[0] for r in body] == _COLUMNS["label"]
        assert [int(r[1]) for r in body] == [3, 1, 2]
        assert [float(r[2]) for r in body] == scores
    elif suffix == ".json":
        found = json.loads(path.read_text(encoding="utf-8"))
        assert found["metadata"] == {"measure": "betweenness"}
        assert (found["label"], found["betweenness"]) == (_COLUMNS["label"], scores)
    elif suffix == ".npz":
        found = np.load(path)
        assert found["label"].tolist() == _COLUMNS["label"]
        assert found["betweenness"].tolist() == scores
    elif suffix == ".npy":
        assert np.load(path).tolist() == scores
    else:
        from pyarrow import parquet

        table = parquet.read_table(path)
        assert table.column_names == list(_COLUMNS)
        assert table["betweenness"].to_pylist() == scores
        assert json.loads(table.schema.metadata[b"torchcent"]) == {"measure": "betweenness"}


@pytest.mark.parametrize("compression", [".gz", ".bz2", ".xz"])
def test_archives_are_compressed(tmp_path, compression):
    path, edges = tmp_path / f"s.npz{compression}", EdgeList(torch.tensor([[0, 1], [1, 2]]))
    write(path, edges)
    assert rows(read(path, directed=True)) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    write_scores(path, _COLUMNS)
    unpack = {".gz": gzip, ".bz2": bz2, ".xz": lzma}[compression].decompress
    found = np.load(io.BytesIO(unpack(path.read_bytes())))
    assert found["betweenness"].tolist() == _COLUMNS["betweenness"].tolist()


def test_scores_details(tmp_path):
    single = torch.tensor([0.1, 1e-30, 3.0])
    write_scores(tmp_path / "s.csv", {"x": single})
    assert (tmp_path / "s.csv").read_text().split() == ["x", "0.1", "1e-30", "3.0"]
    write_scores(tmp_path / "s.json", {"x": torch.tensor([0.1, math.nan, math.inf])})
    assert json.loads((tmp_path / "s.json").read_text()) == {"x": [0.1, None, None]}
    write_scores(tmp_path / "s.npy", {"x": single, "y": 2 * single})
    assert np.load(tmp_path / "s.npy").shape == (3, 2)
    for suffix in (".csv", ".tsv", ".json", ".npz"):
        write_scores(tmp_path / f"empty{suffix}", {"label": [], "x": torch.empty(0)})
    assert (tmp_path / "empty.csv").read_text() == "label,x\n"
    write_scores(tmp_path / "s.tsv", {"label": ["a\tb\nc"], "x": torch.zeros(1)})
    assert (tmp_path / "s.tsv").read_text() == "label\tx\na b c\t0.0\n"
    with pytest.raises(ValueError, match="unknown suffix '.xls'"):
        write_scores(tmp_path / "s.xls", {"x": single})
    with pytest.raises(ValueError, match="differ in length"):
        write_scores(tmp_path / "s.csv", {"x": single, "y": [1]})


# ---- the old file stays whole


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_interrupted_writing(tmp_path, error):
    path = save(tmp_path, "out.csv", "old and whole\n")
    with pytest.raises(error), replacing(path) as file:
        file.write(b"half of the ne")
        file.flush()
        raise error
    assert path.read_text() == "old and whole\n"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_interrupted_graph_and_scores(tmp_path, tuning):
    graph, scores = save(tmp_path, "g.txt", "7 8\n"), save(tmp_path, "s.csv", "x\n1\n")
    tuning(write_rows_of_scores=_interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_scores(scores, {"x": torch.ones(3)})
    tuning(write_rows_of_edges=_interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(graph, EdgeList(torch.tensor([[0], [1]])))
    assert (graph.read_text(), scores.read_text()) == ("7 8\n", "x\n1\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["g.txt", "s.csv"]


def _interrupt(file, *_):
    file.write(b"half")
    raise KeyboardInterrupt


def test_reader_sees_old_until_the_end(tmp_path):
    path = save(tmp_path, "out.csv", "old\n")
    with replacing(path) as file:
        file.write(b"new\n")
        file.flush()
        assert path.read_text() == "old\n"
    assert path.read_text() == "new\n"


def test_replacing_keeps_mode_and_link(tmp_path):
    real = save(tmp_path, "real.csv", "old\n")
    real.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    with replacing(link) as file:
        file.write(b"new\n")
    assert link.is_symlink()
    assert real.read_text() == "new\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    with replacing(tmp_path / "fresh.csv") as file:
        file.write(b"new\n")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "fresh.csv").stat().st_mode) == 0o666 & ~mask
    with pytest.raises(ValueError, match="is a directory"), replacing(tmp_path):
        pass
    with replacing("/dev/null") as file:
        file.write(b"gone")
    assert not Path("/dev/null").is_file()


# ---- tables for spreadsheets

FORMULAS = ["=cmd|'/c calc'!A1", "+1", "-2", "@sum", "\uff1d1"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_names_that_look_like_formulas(tmp_path, suffix):
    names = [*FORMULAS, "plain", "a=b"]
    columns = {"label": names, "=score": torch.arange(len(names), dtype=torch.float64) - 1}
    separator = "," if suffix == ".csv" else "\t"
    for escape in (False, True):
        path = tmp_path / f"{escape}{suffix}"
        write_scores(path, columns, escape_formulas=escape)
        with open(path, newline="", encoding="utf-8") as file:
            head, *table = csv.reader(file, delimiter=separator)
        mark = "'" if escape else ""
        assert head == ["label", f"{mark}=score"]
        expected = [mark + name for name in FORMULAS] + ["plain", "a=b"]
        assert [row[0] for row in table] == expected
        assert [float(row[1]) for row in table] == [-1, 0, 1, 2, 3, 4, 5]  # numbers stay


@pytest.mark.parametrize(
    "options, error, said",
    [
        ({"escape_formulas": 1}, TypeError, "escape_formulas must be True or False, got 1"),
        (
            {"path": b"scores.csv"},
            TypeError,
            "path must be a str or os.PathLike, got b'scores.csv'",
        ),
        ({"path": ""}, ValueError, "path='' is no path"),
        ({"columns": [1.0]}, TypeError, "columns must be a mapping"),
        ({"columns": {1: [0.5]}}, TypeError, "columns must be a mapping"),
    ],
)
def test_arguments_of_write_scores(tmp_path, options, error, said):
    arguments = {"path": tmp_path / "scores.csv", "columns": {"score": [0.5]}} | options
    with pytest.raises(error, match=said):
        write_scores(**arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options, error, said",
    [
        ({"path": None}, TypeError, "path must be a str or os.PathLike, got None"),
        ({"path": "a\0b.txt"}, ValueError, "NUL"),
        ({"graph": [[0, 1]]}, TypeError, "graph must be"),
        ({"format": 3}, TypeError, "format must be a str or None, got 3"),
    ],
)
def test_arguments_of_write(tmp_path, options, error, said):
    edges = EdgeList(torch.tensor([[0, 1], [1, 2]]))
    arguments = {"path": tmp_path / "edges.txt", "graph": edges} | options
    with pytest.raises(error, match=said):
        write(**arguments)
    assert list(tmp_path.iterdir()) == []
