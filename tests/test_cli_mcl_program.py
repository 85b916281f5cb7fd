"""torchcent mcl in place of mcl: the commands of mcl's manual pages, and its options."""

import io
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from commands import refused, run
from internals import read_tab

import torchcent
from torchcent.io import read, read_clusters
from torchcent.io._transform import parse, transform_graph, transform_stream

CATHAT = """\
# the cat and the hat example
cat hat  0.2
hat bat  0.16
bat cat  1.0
bat bit  0.125
bit fit  0.25
fit hit  0.5
hit bit  0.16
"""
E_VALUES = "a b 0\nb c 1e-50\na c 10\nc d 1e-3\nd e 0.5\ne f 1e-300\nf d 1\n"
needs_mcl = pytest.mark.skipif(shutil.which("mcl") is None, reason="mcl is not installed")


def planted(seed):
    """Label input: planted clusters, weights from 0.01 to 1."""
    rng = np.random.default_rng(seed)
    n = 120
    same = np.arange(n)[:, None] // 15 == np.arange(n)[None, :] // 15
    row, col = np.nonzero(np.triu(rng.random((n, n)) < np.where(same, 0.5, 0.02), 1))
    weight = rng.integers(1, 101, len(row)) / 100
    return "".join(f"v{a}\tv{b}\t{w}\n" for a, b, w in zip(row, col, weight, strict=True))


def native(text):
    """A native matrix and a dictionary of label input; both directions, as mcxload writes them."""
    number, entry = {}, {}
    for line in text.splitlines():
        if line[0] == "#":
            continue
        a, b, w = line.split()
        a, b = (number.setdefault(x, len(number)) for x in (a, b))
        entry.setdefault(a, {})[b] = entry.setdefault(b, {})[a] = w
    vectors = [
        f"{a} " + " ".join(f"{b}:{w}" for b, w in entry[a].items()) + " $\n" for a in sorted(entry)
    ]
    head = f"(mclheader\nmcltype matrix\ndimensions {len(number)}x{len(number)}\n)\n"
    matrix = f"{head}(mclmatrix\nbegin\n{''.join(vectors)})\n"
    return matrix, "".join(f"{v}\t{name}\n" for name, v in number.items())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the commands name."""
    text = planted(1)
    (tmp_path / "cathat").write_text(CATHAT)
    (tmp_path / "data.abc").write_text(text)
    (tmp_path / "seq.abc").write_text(E_VALUES)
    for name, source in (("data", text), ("small", CATHAT)):
        matrix, tab = native(source)
        (tmp_path / f"{name}.mci").write_text(matrix)
        (tmp_path / f"{name}.tab").write_text(tab)
    loops = (tmp_path / "small.mci").read_text().replace("0 1:", "0 0:0.9 1:")
    (tmp_path / "loops.mci").write_text(loops)
    monkeypatch.chdir(tmp_path)
    return tmp_path


#: commands of mcl(1), mclfaq(7), clmprotocols(5) and mcxio(5), with the files above
MANUAL = """\
mcl cathat --abc -o out.cathat
mcl cathat --abc -I 1.4
mcl data.abc --abc -I 2.0
mcl data.mci -I 1.4
mcl data.mci -I 2
mcl data.mci -I 4
mcl data.mci -I 2 -use-tab data.tab
mcl small.mci -I 3 -c 2.5 -pi 0.8 -scheme 5
mcl small.mci -I 3 -o - -q x -V all
mcl data.mci -P 50 -S 12 -R 16 -pct 80 -o pruned
mcl data.mci -p 0.02 -S 0 -R 0 -te 2 -o pruned
mcl data.mci -scheme 2 -resource 12
mcl data.mci -resource 9
mcl data.mci -tf gq(0.7),add(-0.7)
mcl data.mci -I 3 -tf #knn(8)
mcl data.mci -tf #ceilnb(8)
mcl data.abc --abc -abc-tf gq(0.2) -tf pow(2),#knnj(5)
mcl data.abc --abc --abc-neg-log10 -abc-tf ceil(1.5)
mcl data.abc --abc --abc-neg-log
mcl seq.abc --abc --abc-neg-log10 -abc-tf ceil(200)
mcl data.mci -ap pre.= -aa suffix -pi 2
mcl data.mci -sort lex
mcl data.mci -overlap split
mcl data.mci --discard-loops=n
mcl loops.mci -discard-loops n
mcl small.mci --force-connected=y
mcl data.mci -annot text -digits 3 -show-log n -warn-pct 5 -warn-factor 3 -sparse 5
mcl data.mci -I 1.96 -odir .
mcl ./data.mci --d -I 3.14159
mcl data.mci -az -I 2.35
mcl data.mci -ax -I 2.349 -pi 2 -c 3 --i3
mcl - --abc -o piped < data.abc
mcl - -I 2 -o piped < data.mci""".splitlines()


@needs_mcl
@pytest.mark.parametrize("command", MANUAL)
@pytest.mark.filterwarnings("ignore:.*similarity is negative:UserWarning")
def test_commands_of_the_manual(capsys, folder, monkeypatch, command):
    _, *words = command.split()
    piped = words[words.index("<") + 1] if "<" in words else None
    words = words[: words.index("<")] if piped else words
    before = set(folder.iterdir())
    text = (folder / piped).read_bytes() if piped else b""
    done = subprocess.run(["mcl", *words], input=text, check=True, capture_output=True)
    theirs = {path: stripped(path.read_text()) for path in set(folder.iterdir()) - before}
    for path in theirs:
        path.unlink()
    buffer = io.BufferedReader(io.BytesIO(text))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(buffer))
    code, out, err = run(capsys, "mcl", *words)
    assert code == 0, err
    ours = {path: stripped(path.read_text()) for path in set(folder.iterdir()) - before}
    assert ours == theirs
    if not theirs:
        assert stripped(out).strip("\n") == stripped(done.stdout.decode()).strip("\n")


def stripped(text):
    """Without the line that names the command."""
    return "".join(line for line in text.splitlines(True) if not line.startswith("# cline"))


@needs_mcl
def test_programs_of_mcl_read_the_clusters(capsys, folder):
    for inflation in ("1.4", "2", "4"):
        assert run(capsys, "mcl", "data.mci", "-I", inflation)[0] == 0
    names = [f"out.data.mci.I{x}" for x in (14, 20, 40)]
    command = ["mcxdump", "-icl", names[1], "-tabr", "data.tab", "-o", "dump"]
    subprocess.run(command, check=True, capture_output=True)
    run(capsys, "mcl", "data.mci", "-use-tab", "data.tab", "-o", "lines")
    assert (folder / "dump").read_text() == (folder / "lines").read_text()
    info = subprocess.run(["clm", "info", "data.mci", *names], capture_output=True, text=True)
    found = torchcent.read(folder / "data.mci")
    lines = [line for line in info.stdout.splitlines() if line.startswith("eff=")]
    for line, inflation in zip(lines, (1.4, 2.0, 4.0), strict=True):
        ours = torchcent.mcl(found.edge_index, found.edge_weight, inflation=inflation)
        assert f" ncl={ours.num_clusters} " in line
    apart = subprocess.run(["clm", "dist", *names[:2]], capture_output=True, text=True)
    assert apart.returncode == 0 and apart.stdout.startswith("d=")


@needs_mcl
@pytest.mark.parametrize(
    "spec",
    [
        "#knn(5)", "#knnj(5)", "#ceilnb(6)", "gq(0.3),add(-0.3)", "neglog(10),gt(0)", "exp()",
        "lt(0.5),#knn(3)", "pow(2),#max()", "#min()", "#add()", "#mul()", "#selfmax()", "#rev()",
        "#arcmax()", "ceil(0.4),floor(0.2)", "scale(4),mul(3)", "lq(0.5),#selfrm()", "acos()",
        "log(2),abs()", "#tp()",
    ],
)  # fmt: skip
def test_transforms_of_mcl(folder, spec):
    command = ["mcx", "alter", "-imx", "data.mci", "-tf", spec, "-o", "x.mci"]
    subprocess.run(command, check=True, capture_output=True)
    theirs = torchcent.read("x.mci", directed=True)
    ours = transform_graph(torchcent.read("data.mci"), parse(spec, "-tf"), "-tf")
    a, b = (dense(x) for x in (theirs, ours))
    assert ((a != 0) == (b != 0)).all()
    np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5)


def dense(edges):
    matrix = np.zeros((edges.num_nodes,) * 2)
    row, col = edges.edge_index.numpy()
    matrix[row, col] = 1 if edges.edge_weight is None else edges.edge_weight
    return matrix


def test_transforms_by_hand():
    weight = torch.tensor([0.5, 0.25, 0.125, 0.75], dtype=torch.float64)
    edges = torchcent.EdgeList(torch.tensor([[0, 1, 2, 0], [1, 2, 3, 1]]), weight)
    out = transform_stream(edges, parse(" gq(0.2), add(-0.25) ,mul(4)", "-tf"), "-tf")
    assert out.edge_index.tolist() == [[0, 0], [1, 1]] and out.edge_weight.tolist() == [1.0, 2.0]
    out = transform_graph(edges, parse("#knn(1)", "-tf"), "-tf")  # the larger copy counts
    assert sorted(map(tuple, out.edge_index.T.tolist())) == [(0, 1), (1, 0)]
    assert out.edge_weight.tolist() == [0.75, 0.75]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gq(0.5", "'gq(0.5' is no list of functions"),
        ("gq", "'gq' is no list of functions"),
        ("knn(5)", "knn is not supported; accepted: lt, lq,"),
        ("#step(2)", "#step is not supported"),
        ("gq()", "gq() needs a finite number"),
        ("add(x)", "add(x) needs a finite number"),
        ("log(1)", "log(1) needs a base > 0 other than 1"),
        ("#knn(0)", "#knn(0) needs an integer of 1 or more"),
        ("abs(3)", "abs takes no argument"),
        ("pow(1e9),scale(0)", "-tf: scale makes"),
    ],
)
def test_refuses_transforms(capsys, folder, spec, message):
    assert message in refused(capsys, "mcl", "data.mci", "-tf", spec)
    assert not (folder / "out.data.mci.I20").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["data.mci", "-abc-tf", "gq(1)"], "-abc-tf and --abc-neg-log10 are for lines of labels"),
        (["data.abc", "-abc-tf", "#knn(2)"], "#knn is a function of the graph; -tf takes it"),
        (["data.mci", "--sif"], "--sif of mcl is not supported: mcxload reads this format"),
        (["data.mci", "-dump", "ite"], "-dump of mcl is not supported"),
        (["data.mci", "-write-expanded", "x"], "--sweep shares the first expansion"),
        (["data.mci", "-pi", "0"], "-pi 0.0; accepted: > 0"),
        (["data.mci", "-p", "2"], "-p 2.0; accepted: 0 or more, below 1"),
        (["data.mci", "-resource", "0"], "-resource 0; accepted: 1 or more"),
        (["data.mci", "-loop", "3"], "unrecognized arguments: -loop"),
        (["data.mci", "-o", "nowhere/x"], "no such directory"),
        (["data.abc", "-o", "x.mci"], "vertices of a matrix are integers"),
    ],
)
def test_refuses(capsys, folder, options, message):
    assert message in refused(capsys, "mcl", *options)


def test_warns_of_e_values(capsys, folder):
    code, out, err = run(capsys, "mcl", "seq.abc", "--quiet")
    assert (code, len(out.splitlines())) == (0, 2)
    assert "warning: 2 of 7 weights are below 1e-20, like E-values of BLAST" in err
    options = ["--stream-mirror", "--stream-neg-log10", "-stream-tf", "ceil(200)", "--quiet"]
    code, out, err = run(capsys, "mcl", "seq.abc", *options)
    assert "E-values" not in err and "1 edge whose similarity is negative is left out" in err
    assert out == "a\tb\tc\td\ne\tf\n"


def test_names_what_is_ignored(capsys, folder):
    _, _, err = run(capsys, "mcl", "small.mci", "-V", "all", "-v", "cls", "-V", "pruning")
    assert err.startswith("ignored: -V, -v\n")
    assert run(capsys, "mcl", "small.mci", "-q", "x", "-V", "all")[2] == ""


def test_within_clusters(capsys, folder):
    """A cluster of the result is within one of the clusters given; so they cannot be joined."""
    (folder / "cl").write_text("cat\nhat bat\nbit fit hit\n".replace(" ", "\t"))
    code, _, _ = run(capsys, "mcl", "cathat", "--abc", "-icl", "cl", "-I", "1.2")
    assert code == 0 and read_clusters("cl.I12") == [["bit", "fit", "hit"], ["hat", "bat"], ["cat"]]


def test_split_where_not_connected(capsys, folder, monkeypatch):
    (folder / "two").write_text("a b\nb c\nd e\n")
    one = torchcent.mcl(torchcent.generate.er(5, m=10), inflation=1.05)  # all in one cluster
    assert one.num_clusters == 1
    monkeypatch.setattr(torchcent, "mcl", lambda *_, **__: one)
    code, out, _ = run(capsys, "mcl", "two", "--abc", "-o", "-", "--force-connected=y")
    assert (code, out) == (0, "a\tb\tc\nd\te\n")
    assert run(capsys, "mcl", "two", "--abc", "-o", "-")[1] == "a\tb\tc\td\te\n"


def test_convert(capsys, folder):
    convert = ["convert", "cathat", "g.mci", "--format", "abc", "--write-tab", "g.tab"]
    assert run(capsys, *convert)[0] == 0
    assert dense(torchcent.read("g.mci")).tolist() == dense(torchcent.read("small.mci")).tolist()
    assert (folder / "g.tab").read_text() == (folder / "small.tab").read_text()
    run(capsys, "mcl", "g.mci")
    expected = [["cat", "hat", "bat"], ["bit", "fit", "hit"]]
    run(capsys, "convert", "out.g.mci.I20", "lines", "--use-tab", "g.tab")
    assert read_clusters("lines") == expected
    run(capsys, "convert", "lines", "back.mci", "--clusters", "--use-tab", "g.tab")
    assert (folder / "back.mci").read_text() == stripped((folder / "out.g.mci.I20").read_text())
    run(capsys, "convert", "out.g.mci.I20", "x.csv", "--use-tab", "g.tab")
    rows = "label,cluster\ncat,0\nhat,0\nbat,0\nbit,1\nfit,1\nhit,1\n"
    assert (folder / "x.csv").read_text() == rows
    assert "labels holds 'bat'" in refused(capsys, "convert", "lines", "y.mci", "--clusters")
    (folder / "bad").write_text("cat\tdog\n")
    command = ["convert", "bad", "y.mci", "--clusters", "--use-tab", "g.tab"]
    assert "has no label 'dog'" in refused(capsys, *command)
    assert run(capsys, "convert", "g.mci", "y.txt", "--use-tab", "g.tab")[0] == 0
    assert set(read("y.txt").labels) <= set(read_tab("g.tab").values())
