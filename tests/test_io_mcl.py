"""Files of mcl: label input, native matrices, dictionaries, clusterings."""

import re
import shutil
import subprocess

import numpy as np
import pytest
import torch
from files import PACK, irregular, rows, save
from hypothesis import given
from hypothesis import strategies as st
from internals import COMPILED, read_tab

import torchcent
from torchcent import EdgeList
from torchcent.io import _mcl, _native, read_clusters, write_clusters

CATHAT = "cat hat  0.2\nhat bat  0.16\nbat cat  1.0\nbat bit  0.125\nbit fit  0.25\n"
MATRIX = """\
# a comment
(mclheader
mcltype matrix
dimensions 3x3
)
(mclmatrix
begin
0  1:2.5 2 $
1  0:2.5
   2:0.5 $
2  0:1 1:0.5 $
)
"""


@pytest.fixture(autouse=True, params=["by line", "columns"])
def reader(request, monkeypatch):
    """Both readers of label input."""
    if request.param == "by line":
        monkeypatch.setattr(_mcl, "_regular", irregular)


@pytest.mark.parametrize("suffix", [".abc", ".abc.gz", ".abc.xz"])
def test_abc(tmp_path, suffix):
    edges = torchcent.read(save(tmp_path, f"cathat{suffix}", CATHAT))
    assert list(edges.labels) == ["cat", "hat", "bat", "bit", "fit"]  # as they come
    assert rows(edges)[:2] == [("cat", "hat", 0.2), ("hat", "bat", 0.16)]
    assert not edges.directed and edges.edge_weight.dtype == torch.float64
    assert PACK


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b\nb c\n", [("a", "b"), ("b", "c")]),
        ("a\tb c\nb c\ta\n", [("a", "b c"), ("b c", "a")]),
        ("# x y\n1 2\n 2  10 \n\n", [("1", "2"), ("2", "10")]),
        ("a b 2\nb c\n", [("a", "b", 2.0), ("b", "c", 1.0)]),
        ("source target weight\n".replace("weight", "3") + "a b 1\n",
         [("source", "target", 3.0), ("a", "b", 1.0)]),
        ("a b 1\r\nb a 2\r\n", [("a", "b", 1.0), ("b", "a", 2.0)]),
        ("a a 5\n", [("a", "a", 5.0)]),
    ],
)  # fmt: skip
def test_abc_lines(tmp_path, text, expected):
    assert rows(torchcent.read(save(tmp_path, "x.abc", text))) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b 1\nb\n", r"x\.abc:2: 1 fields; abc has 'A B' or 'A B weight'"),
        ("a b 1 2\n", r"x\.abc:1: 4 fields"),
        ("a b 1\nb c x\n", r"x\.abc:2: weight 'x' is not a finite number"),
        ("a b nan\n", r"x\.abc:1: weight 'nan' is not a finite number"),
        ("a\t\t1\n", r"x\.abc:1: 3 fields"),
        ("", "empty file"),
        ("a\0b\n", "binary data"),
    ],
)
def test_abc_refuses(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        torchcent.read(save(tmp_path, "x.abc", text))


NAME = st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=5)
NAME = NAME.filter(lambda x: x[0] not in '#%"' and '"' not in x and x == x.strip())


@given(st.lists(st.tuples(NAME, NAME, st.integers(1, 9)), min_size=1, max_size=9))
def test_abc_comes_back(tmp_path, lines):
    path = save(tmp_path, "x.abc", "".join(f"{a}\t{b}\t{w}\n" for a, b, w in lines))
    edges = torchcent.read(path)
    assert rows(edges) == [(a, b, float(w)) for a, b, w in lines]
    order = dict.fromkeys(x for a, b, _ in lines for x in (a, b))
    assert list(edges.labels) == list(order)
    torchcent.write(tmp_path / "y.abc", edges)
    again = torchcent.read(tmp_path / "y.abc")
    # If every edge stands there in both directions, each is written once; else row by row.
    once = [
        row for row, (u, v) in zip(rows(edges), edges.edge_index.T.tolist(), strict=True) if u <= v
    ]
    assert rows(again) in (rows(edges), once)
    assert by_pair(again) == by_pair(edges) and list(again.labels) == list(edges.labels)


def by_pair(edges):
    """The largest weight of each edge, as mcl takes it."""
    largest = {}
    for a, b, weight in rows(edges):
        pair = frozenset((a, b))
        largest[pair] = max(weight, largest.get(pair, 0))
    return largest


def test_matrix(tmp_path):
    edges = torchcent.read(save(tmp_path, "x.mci", MATRIX))
    assert rows(edges) == [
        (0, 1, 2.5), (0, 2, 1.0), (1, 0, 2.5), (1, 2, 0.5), (2, 0, 1.0), (2, 1, 0.5),
    ]  # fmt: skip
    assert not edges.directed and edges.num_nodes == 3 and edges.labels is None
    edges = torchcent.read(save(tmp_path, "y.mci", MATRIX.replace("2:0.5", "2:0.25")))
    assert edges.directed


def test_matrix_with_a_domain(tmp_path):
    text = MATRIX.replace("(mclmatrix", "(mclcols\nbegin\n3 7 90 $\n)\n(mclmatrix")
    for old, new in {"2 ": "90 ", "1 ": "7 ", "0 ": "3 "}.items():
        text = re.sub(rf"(?m)(^| )({old[0]})(?=[: ])(?!x)", rf"\g<1>{new.strip()}", text)
    edges = torchcent.read(save(tmp_path, "x.mci", text))
    assert edges.labels.tolist() == [3, 7, 90] and rows(edges)[0] == (3, 7, 2.5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3x3", "3x4", "a 3 x 4 matrix; that of a graph is square"),
        ("(mclmatrix", "(mcldata", "'\\(mclheader' or '\\(mclmatrix' is missing"),
        ("1:0.5 $", "1:0.5", "the last vector, 2, does not end with"),
        ("1:0.5 $", "5:0.5 $", "index 5 is not in the domain"),
        ("1:0.5 $", "1:x $", "value .x. is not a number"),
        ("1:0.5 $", "1:inf $", "a value that is not finite"),
    ],
)
def test_matrix_refuses(tmp_path, old, new, message):
    with pytest.raises(ValueError, match=message):
        torchcent.read(save(tmp_path, "x.mci", MATRIX.replace(old, new)))


TOKENS = st.lists(
    st.sampled_from([
        "0", "1", "12", "-1", "+1", "007", "1:2", "2:0.5", "3:1e-3", "4:-2", "5:", "6:x", "7:inf",
        "8:1e400", "9:+3", "10:1_0", "11:2:3", "1.5", ":1", "$", "$", "$", " ", "\n", "\t", "\v",
        "\u00b2", "9" * 18, "9" * 19,
    ]).map(lambda token: token + " "),
    max_size=12,
)  # fmt: skip


@given(TOKENS)
def test_compiled_reader_of_vectors_reads_what_the_other_does(tokens):
    body = "".join(tokens)
    found = _native._compiled_vectors(body)
    try:
        expected = _native._vectors("x", body)
    except ValueError:
        assert found is None
        return
    for one, other in zip(found or expected, expected, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_compiled_reader_of_vectors_on_threads(threads):
    if not COMPILED:
        pytest.skip("without the extension")
    rng = np.random.default_rng(3)
    vectors = [
        (j, [(i, round(rng.random(), 4)) for i in rng.integers(0, 10**9, rng.integers(0, 9))])
        for j in range(20_000)
    ]
    body = "\n".join(f"{j} " + " ".join(f"{i}:{x}" for i, x in v) + " $" for j, v in vectors)
    text = torch.frombuffer(bytearray(body.encode()), dtype=torch.uint8)
    ids, value, irregular = torch.ops.torchcent.read_vectors(text, threads)
    assert irregular.numel() == 0
    assert ids[0].tolist() == [j for j, v in vectors for _ in v]
    assert ids[1].tolist() == [i for _, v in vectors for i, _ in v]
    assert value.tolist() == [x for _, v in vectors for _, x in v]
    assert (
        torch.ops.torchcent.read_vectors(text[:-1], threads)[2].numel() == 1
    )  # without the last $


@pytest.mark.skipif(shutil.which("mcxload") is None, reason="mcl's mcxload is not installed")
def test_matrix_of_mcxload(tmp_path):
    save(tmp_path, "cathat.abc", CATHAT)
    command = ["mcxload", "-abc", "cathat.abc", "--stream-mirror", "-o", "x.mci"]
    subprocess.run([*command, "-write-tab", "x.tab"], cwd=tmp_path, check=True, capture_output=True)
    native, plain = (torchcent.read(tmp_path / name) for name in ("x.mci", "cathat.abc"))
    known = read_tab(tmp_path / "x.tab")
    assert [known[v] for v in range(5)] == list(plain.labels)
    found = torchcent.mcl(native.edge_index, native.edge_weight)
    other = torchcent.mcl(plain.edge_index, plain.edge_weight, directed=False)
    assert torch.equal(found.labels, other.labels)
    assert found.chaos_history == pytest.approx(other.chaos_history, rel=1e-4)


def test_clusters(tmp_path):
    found = torchcent.mcl(torch.tensor([[0, 1, 3], [1, 2, 4]]), directed=False)
    for name in ("x.txt", "x.txt.gz"):
        write_clusters(tmp_path / name, found.clusters(), list("abcde"))
        assert read_clusters(tmp_path / name) == [["a", "b", "c"], ["d", "e"]]
    write_clusters(tmp_path / "x", found.clusters())
    assert (tmp_path / "x").read_text() == "0\t1\t2\n3\t4\n"
    with pytest.raises(ValueError, match="labels holds '\\\\ud800', which cannot stand"):
        write_clusters(tmp_path / "y", [[0]], ["\ud800"])
    assert not (tmp_path / "y").exists()


CLUSTERS = """\
(mclheader
mcltype matrix
dimensions 12x3
)
(mclrows
 11 22 33 44 55 66 77 88 99 123 456 2147483647 $
)
(mclmatrix
begin
0 44 88 99 456 2147483647 $
1 11 66 77 123 $
2 22 33 55 $
)
"""  # of the manual of mcl's formats, as mcl writes it


def test_matrix_of_clusters(tmp_path):
    ids = [2147483647, 456, 123, 99, 88, 77, 66, 55, 44, 33, 22, 11]
    clusters = [[0, 1, 3, 4, 8], [2, 5, 6, 11], [7, 9, 10]]
    for name, options in (("x.mci", {}), ("x.I20", {"format": "mci"})):
        write_clusters(tmp_path / name, clusters, ids, **options)
        assert (tmp_path / name).read_text() == CLUSTERS
    assert read_clusters(tmp_path / "x.I20")[2] == ["22", "33", "55"]
    with pytest.raises(ValueError, match="a 12 x 3 matrix; that of a graph is square"):
        torchcent.read(tmp_path / "x.mci")
    write_clusters(tmp_path / "y", [[3], [0]], format="mci", num_nodes=11, comment="by hand")
    text = (tmp_path / "y").read_text()
    assert text.startswith("# by hand\n") and text.endswith("begin\n0  3 $\n1  0 $\n)\n")
    assert "dimensions 11x2\n" in text and read_clusters(tmp_path / "y") == [["3"], ["0"]]


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (["a"], {"format": "mci"}, "labels holds 'a'; vertices of a matrix are integers"),
        ([-1], {"format": "mci"}, "labels holds -1"),
        (None, {"format": "mci", "num_nodes": 0}, r"clusters\[0\] holds 0"),
        (None, {"format": "x"}, "format must be one of lines, mci; got 'x'"),
    ],
)
def test_matrix_of_clusters_refuses(tmp_path, labels, options, message):
    with pytest.raises(ValueError, match=message):
        write_clusters(tmp_path / "x", [[0]], labels, **options)
    assert not (tmp_path / "x").exists()


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=60, unique=True), st.data())
def test_clusters_come_back_from_a_matrix(tmp_path, ids, data):
    of = data.draw(st.lists(st.integers(0, 5), min_size=len(ids), max_size=len(ids)))
    clusters = [part for c in range(6) if (part := [v for v, x in enumerate(of) if x == c])]
    write_clusters(tmp_path / "x", clusters, ids, format="mci")
    expected = [[str(x) for x in sorted(ids[v] for v in part)] for part in clusters]
    assert read_clusters(tmp_path / "x") == expected
    lines = (tmp_path / "x").read_text().splitlines()
    assert max(map(len, lines)) <= 82  # a line ends before 70, or holds one more id


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9))), st.booleans())
def test_matrix_comes_back(tmp_path, lines, directed):
    index = torch.tensor([x[:2] for x in lines], dtype=torch.int64).reshape(-1, 2).T
    weight = torch.tensor([x[2] / 8 for x in lines], dtype=torch.float64)
    edges = EdgeList(index, weight, None, 7, directed)
    torchcent.write(tmp_path / "x.mci", edges)
    expected = {}
    for a, b, w in lines:
        for pair in ((a, b),) if directed else ((a, b), (b, a)):
            expected[pair] = max(w / 8, expected.get(pair, 0))
    found = torchcent.read(tmp_path / "x.mci", directed=True)
    assert found.num_nodes == 7
    assert sorted(rows(found)) == sorted((a, b, w) for (a, b), w in expected.items()) or (
        found.edge_weight is None and set(expected.values()) <= {1.0}
    )


def test_tab_refuses(tmp_path):
    with pytest.raises(ValueError, match=r"x\.tab:2: no index, tab and label"):
        read_tab(save(tmp_path, "x.tab", "0\ta\n1 b\n"))


def test_write_refuses_a_label_that_would_not_come_back(tmp_path):
    edges = EdgeList(torch.tensor([[0], [1]]), labels=np.array(["a\tb", "c"], object))
    with pytest.raises(ValueError, match="cannot stand in this format"):
        torchcent.write(tmp_path / "x.abc", edges)


@pytest.mark.parametrize("label", [-1, 10**18])
def test_write_refuses_an_id_that_would_not_come_back(tmp_path, label):
    edges = EdgeList(torch.tensor([[0], [1]]), labels=np.array([label, 5]), num_nodes=2)
    with pytest.raises(ValueError, match=rf"x\.mci: id {label} cannot stand in this format"):
        torchcent.write(tmp_path / "x.mci", edges)
    edges = EdgeList(edges.edge_index, labels=np.array([10**18 - 1, 5]), num_nodes=2)
    torchcent.write(tmp_path / "x.mci", edges)
    assert torchcent.read(tmp_path / "x.mci").labels.tolist() == [5, 10**18 - 1]
