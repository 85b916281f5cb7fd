"""Reading edge lists in text, and what happens to damaged files."""

import re
import sys

import numpy as np
import pytest
import torch
from files import FAST, FINITE, irregular, rows, save
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tuning import tuned

from torchcent.io import read

# ---- edge lists


@pytest.mark.parametrize(
    ("text", "expected", "labels"),
    [
        ("0 1\n1 2\n", [(0, 1), (1, 2)], None),
        ("0\t1\n1\t2", [(0, 1), (1, 2)], None),
        ("0,1\n1,2\n", [(0, 1), (1, 2)], None),
        ("0;1\n1;2\n", [(0, 1), (1, 2)], None),
        ("0, 1\n1, 2\n", [(0, 1), (1, 2)], None),
        ("  0   1 \n\t1 \t 2\n", [(0, 1), (1, 2)], None),
        ("0 1\r\n1 2\r\n", [(0, 1), (1, 2)], None),
        ("0 1\r1 2\r", [(0, 1), (1, 2)], None),
        ("\ufeff0 1\n1 2\n", [(0, 1), (1, 2)], None),
        ("\n\n0 1\n\n1 2\n\n\n", [(0, 1), (1, 2)], None),
        ("# a\n% b\n0 1\n  # c\n1 2\n#", [(0, 1), (1, 2)], None),
        ("0 1 0.5\n1 2 -2e3\n", [(0, 1, 0.5), (1, 2, -2000.0)], None),
        ("0\t1\t1\n1\t2\t3\n", [(0, 1, 1.0), (1, 2, 3.0)], None),
        ("0 1 7 1217567877\n1 0 8 1217567878\n", [(0, 1, 7.0), (1, 0, 8.0)], None),
        ("source,target\n0,1\n1,2\n", [(0, 1), (1, 2)], None),
        ("node_1,node_2\n0,1\n", [(0, 1)], None),
        ("FromNodeId\tToNodeId\n0\t1\n", [(0, 1)], None),
        ("whatever else\n0 1\n", [(0, 1)], None),
        ("source,target\nfrom,to\n", [("from", "to")], ["from", "to"]),
        ("a,b,strength\nx,y,2\n", [("x", "y", 2.0)], ["x", "y"]),
        ("id,target,source,weight\n7,0,1,2.5\n8,1,2,1.5\n", [(1, 0, 2.5), (2, 1, 1.5)], None),
        ("Source,Target,Type,Weight\n0,1,Undirected,2\n", [(0, 1, 2.0)], None),
        ("from,to,since\n0,1,x1999\n", [(0, 1)], None),
        ("b a\nc b\n", [("b", "a"), ("c", "b")], ["a", "b", "c"]),
        ("Jean Valjean\tCosette\n", [("Jean Valjean", "Cosette")], ["Cosette", "Jean Valjean"]),
        ('"Doe, J.",Bob\nBob,"say ""x"""\n', [("Doe, J.", "Bob"), ("Bob", 'say "x"')], ...),
        ("Q1 YAL1 0.3\n", [("Q1", "YAL1", 0.3)], ["Q1", "YAL1"]),
        ("é ß\n", [("é", "ß")], ["ß", "é"]),
        ("0.5 1.5\n", [("0.5", "1.5")], ["0.5", "1.5"]),
        ("1 2\n2 3\n", [(1, 2), (2, 3)], [1, 2, 3]),
        ("0 5\n5 9\n", [(0, 5), (5, 9)], [0, 5, 9]),
        ("-3 4\n", [(-3, 4)], [-3, 4]),
        ("0007 8\n", [("0007", "8")], ["0007", "8"]),
        ("0 1\n1 2.0\n", [(0, 1), (1, 2)], None),
        ("0,1,\n1,2,\n", [(0, 1), (1, 2)], None),
        ("1000000000000000 1\n", [(10**15, 1)], [1, 10**15]),
        ("1000000000000000 1 2.5\n", [(10**15, 1, 2.5)], [1, 10**15]),
        ("9223372036854775807 -9223372036854775808\n", [(2**63 - 1, -(2**63))], ...),
        ("3 3\n3 3\n", [(3, 3), (3, 3)], [3]),
        ("# nothing\n", [], None),
        ("source,target\n", [], None),
    ],
)
def test_edge_list(tmp_path, reader, text, expected, labels):
    edges = read(save(tmp_path, "graph.txt", text))
    assert rows(edges) == expected
    assert edges.edge_index.dtype == torch.int64
    if labels is not ...:
        assert (edges.labels is None) == (labels is None)
        if labels is not None:
            assert edges.labels.tolist() == labels
    assert not edges.directed


_names = st.text("abxyzé.-_07", min_size=1, max_size=4).filter(
    # 7, and 7.0, are ids.
    lambda x: not re.fullmatch(r"-*\d+(\.0*)?", x) and x.lower() not in ("nan", "a", "b")
)
_ids = st.one_of(st.integers(0, 9), st.integers(-(10**6), 10**6), st.integers(-(2**63), 2**63 - 1))


@st.composite
def _text_files(draw):
    """A text and the rows that it must give."""
    vertex = draw(st.sampled_from([_names, _ids]))
    separator, gap = draw(st.sampled_from([" ", "\t", ",", ";", "  ", ", "])), ""
    weighted = draw(st.booleans())
    pairs = draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=12))
    weights = [draw(FINITE) for _ in pairs] if weighted else []
    lines, expected = [], []
    if draw(st.booleans()):
        lines.append(separator.join(["source", "target", "weight"][: 2 + weighted]))
    for k, pair in enumerate(pairs):
        gap = draw(st.sampled_from(["", "", "\n", "# comment\n", "  % 1 2\n"]))
        fields = [*map(str, pair), *([repr(weights[k])] if weighted else [])]
        lines.append(gap + separator.join(fields))
        expected.append((*pair, weights[k]) if weighted else pair)
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"])), expected


@given(file=_text_files())
def test_edge_list_of_any_kind(tmp_path, reader, file):
    text, expected = file
    edges = read(save(tmp_path, "graph.txt", text))
    assert rows(edges) == expected
    assert edges.num_nodes == len({v for row in expected for v in row[:2]})


@settings(max_examples=300)
@example(text=';,"0\n0')
@example(text="0;-")
@example(text="0 -\n1 2")
@example(text="00\t;\n\t")
@given(text=st.text('01 2a,;\t\n#%.-e"', max_size=40))
def test_fast_readers_decide_nothing(tmp_path, text):
    """Whatever the text, the readers agree on the rows or on the refusal."""
    path = save(tmp_path, "graph.txt", text)

    def outcome():
        try:
            edges = read(path)
        except ValueError as error:
            return str(error)
        return rows(edges), edges.labels is None, edges.num_nodes

    found = outcome()
    with pytest.MonkeyPatch.context() as patch:
        for fast in FAST:
            tuned(patch)(**{fast: irregular})
            assert outcome() == found


def test_many_rows_over_chunk_borders(tmp_path, reader, tuning):
    tuning(text_chunk=100)
    table = np.random.default_rng(0).integers(0, 10**6, (500, 2))
    text = "".join(f"{u}\t{v}\n" for u, v in table)
    assert rows(read(save(tmp_path, "g.tsv", text))) == [tuple(r) for r in table.tolist()]
    text = "".join(f"{u}\t{v}\t{k}.5\n" for k, (u, v) in enumerate(table))
    expected = [(u, v, k + 0.5) for k, (u, v) in enumerate(table.tolist())]
    assert rows(read(save(tmp_path, "w.tsv", text))) == expected


def test_declared_vertices(tmp_path):
    snap = "# Undirected graph: x.txt\n# Nodes: 5 Edges: 2\n# FromNodeId\tToNodeId\n0\t3\n1\t3\n"
    edges = read(save(tmp_path, "snap.txt", snap))
    assert (edges.num_nodes, edges.labels, edges.directed) == (5, None, False)
    sparse = read(
        save(tmp_path, "sparse.txt", "# Directed graph\n# Nodes: 3 Edges: 2\n7 90\n7 8\n")
    )
    assert (sparse.num_nodes, sparse.labels.tolist(), sparse.directed) == (3, [7, 8, 90], True)
    konect = read(save(tmp_path, "out.konect", "% asym posweighted\n% 2 4 4\n1 2 3\n1 3 4\n"))
    assert (konect.num_nodes, konect.labels.tolist(), konect.directed) == (4, [1, 2, 3, 4], True)
    assert rows(konect) == [(1, 2, 3.0), (1, 3, 4.0)]
    assert not read(save(tmp_path, "out.sym", "% sym unweighted\n1 2\n")).directed
    with pytest.raises(ValueError, match="bipartite"):
        read(save(tmp_path, "out.bip", "% bip unweighted\n1 1\n"))


def test_num_nodes(tmp_path):
    path = save(tmp_path, "g.txt", "0 3\n")
    edges = read(path, num_nodes=6)
    assert (edges.num_nodes, edges.labels, edges.edge_index.tolist()) == (6, None, [[0], [3]])
    one = read(save(tmp_path, "one.txt", "1 3\n"), num_nodes=3)
    assert (one.labels.tolist(), rows(one)) == ([1, 2, 3], [(1, 3)])
    with pytest.raises(ValueError, match=r"num_nodes=3, but the ids go from 0 to 3"):
        read(path, num_nodes=3)
    with pytest.raises(ValueError, match="names 2 vertices"):
        read(save(tmp_path, "names.txt", "a b\n"), num_nodes=3)
    with pytest.raises(ValueError, match="num_nodes=-1"):
        read(path, num_nodes=-1)
    with pytest.raises(ValueError, match="num_nodes=9, but the file has 2"):
        read(save(tmp_path, "g.graph", "2 1\n2\n1\n"), num_nodes=9)


def test_huge_ids_take_no_memory(tmp_path, reader):
    """2^60 bytes would not be there: a table by id fails at once."""
    edges = read(save(tmp_path, "g.txt", f"{2**60} 5\n5 {2**61}\n"))
    assert edges.labels.tolist() == [5, 2**60, 2**61]
    assert edges.edge_index.tolist() == [[1, 0], [0, 2]]


def test_counts_in_the_first_row(tmp_path):
    path = save(tmp_path, "g.txt", "4 3\n0 1\n1 2\n2 3\n")
    with pytest.warns(UserWarning, match="skip=1"):
        assert read(path).num_edges == 4
    assert rows(read(path, skip=1)) == [(0, 1), (1, 2), (2, 3)]


def test_text_labels(tmp_path, reader):
    path = save(tmp_path, "g.txt", "a 1\n7 7\n")
    with pytest.raises(ValueError, match=r"g.txt:1: mixed labels: 'a' .* 1 .*text_labels=True"):
        read(path)
    assert rows(read(path, text_labels=True)) == [("a", "1"), ("7", "7")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n1 2\n# x\n3\n", r"g.txt:4: 1 field where .* 2: '3'"),
        ("0 1\n1 2 3\n", r"g.txt:2: 3 fields where .* 2"),
        ("0,1,2.5\n\n1,2\n", r"g.txt:3: 2 fields where .* 3"),
        ("0,1\n1,2,\n", r"g.txt:2: 3 fields where .* 2"),
        ("0,1\n,2\n", r"g.txt:2: a vertex without a name"),
        ("alone\n", r"g.txt:1: 'alone' has one field"),
        ("# c\n\nalone\n", r"g.txt:3: 'alone' has one field"),
        ("0 1\n1 b\n", r"g.txt:2: mixed labels: 'b' \(line 2\) is a name, 0 \(line 1\) a number"),
        ("0 1\n1 2.5\n", r"g.txt:2: mixed labels: '2.5'"),
        ("1 2\n9223372036854775808 1\n", r"g.txt:2: id 92233.* is beyond 64 bits; accepted: -2"),
        ("1 -9223372036854775809\n", r"g.txt:1: id -92233.* is beyond 64 bits"),
        (f"1 2\n3 {'9' * 5000}\n", r"g.txt:2: id 9999.* is beyond 64 bits; .* text_labels=True"),
        ("0,1\n1 2,3\n", r"g.txt:2: mixed labels: '1 2' .*; commas separate the fields of this"),
        ("0,1\n1;2\n", r"g.txt:2: 1 field where .* 2: '1;2'; commas separate the fields"),
        ("0 1 2\n1,2,3\n", r"g.txt:2: 1 field where .* 3: '1,2,3'; blanks separate the fields"),
        ("0 1 nan\n", r"g.txt:1: weight 'nan' is not finite"),
        ("0 1 1\n1 2 -inf\n", r"g.txt:2: weight '-inf' is not finite"),
        ("0 1 1\n1 2 1e999\n", r"g.txt:2: weight '1e999' is not finite"),
        ("source target weight\n0 1 1\n1 2 x\n", r"g.txt:3: weight 'x' is not a number"),
        ("0 1 1_0\n", r"g.txt:1: weight '1_0' is not a number"),
        ("0,1,\n1,2,3\n", r"g.txt:1: weight '' is not a number"),
        (b"a b\nc \xff\n", r"g.txt:2: byte 0xff is not UTF-8"),
        (b"0 1\n\x00\x01\x02\n", r"g.txt: binary data"),
        ("", r"g.txt: empty file"),
        (" \n\t\n", r"g.txt: empty file"),
    ],
)
def test_damaged_edge_list(tmp_path, reader, text, message):
    with pytest.raises(ValueError, match=message):
        read(save(tmp_path, "g.txt", text))


def test_line_numbers_count_skipped_lines(tmp_path):
    with pytest.raises(ValueError, match="g.txt:5: 1 field"):
        read(save(tmp_path, "g.txt", "junk\nmore junk\n0 1\n1 2\n3\n"), skip=2)


# ---- files


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed(tmp_path, suffix):
    path = save(tmp_path, "g.txt" + suffix, "0 1\n1 2\n" * 1000)
    assert read(path).num_edges == 2000
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=f"g.txt{suffix}: truncated or damaged"):
        read(path)
    path.write_bytes(b"this was never compressed")
    with pytest.raises(ValueError, match=f"g.txt{suffix}: truncated or damaged"):
        read(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="empty file"):
        read(path)


def test_missing_unknown_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        read(tmp_path / "nothing.txt")
    for name in ("nothing", "road.run2", "nothing.gz"):
        with pytest.raises(FileNotFoundError, match=f"{name}: no such file$"):
            read(tmp_path / name)
    with pytest.raises(ValueError, match="is a directory, not a file"):
        read(tmp_path)
    with pytest.raises(ValueError, match=r"unknown suffix '.foo'; known: .txt .tsv"):
        read(save(tmp_path, "g.foo", "0 1\n"))
    with pytest.raises(ValueError, match=r"unknown suffix ''"):
        read(save(tmp_path, "plain", "0 1\n"))
    with pytest.raises(ValueError, match=r"format='foo' is unknown; accepted: abc, blast, edges"):
        read(tmp_path / "g.foo", format="foo")
    with pytest.raises(ValueError, match="is a directory"):
        read(tmp_path, format="edges")
    assert read(tmp_path / "g.foo", format="edges").num_edges == 1
    assert read(tmp_path / "g.foo", format=".txt").num_edges == 1


_NOISE = np.random.default_rng(0).bytes(2000)


@pytest.mark.parametrize("name", ["g.mtx", "g.graph", "g.gr", "g.npz", "g.npy", "g.pt", "g.gml"])
@pytest.mark.parametrize("content", [_NOISE, b"\x80\x04never ending", b"x y\n"])
def test_garbage(tmp_path, name, content):
    if name == "g.gml":
        pytest.importorskip("networkx")
    with pytest.raises(ValueError, match=name):
        read(save(tmp_path, name, content))
    with pytest.raises(ValueError, match="empty file"):
        read(save(tmp_path, name, b""))


def test_garbage_parquet_graphml(tmp_path):
    for name in ("g.parquet", "g.graphml"):
        pytest.importorskip({"g.parquet": "pyarrow", "g.graphml": "networkx"}[name])
        with pytest.raises(ValueError, match=name):
            read(save(tmp_path, name, b"PAR1 never mind"))


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("g.parquet", "pyarrow", "io"),
        ("g.txt.zst", "pyarrow", "io"),
        ("g.graphml", "networkx", "networkx"),
    ],
)
def test_missing_extra(tmp_path, monkeypatch, name, module, extra):
    (tmp_path / name).write_bytes(b"anything")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"of the extra torchcent\[{extra}\]"):
        read(tmp_path / name)
