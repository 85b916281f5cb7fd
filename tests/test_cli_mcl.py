"""The subcommand mcl."""

import json
import re
import shutil
import subprocess

import networkx as nx
import numpy as np
import pytest
import torch
from commands import refused, run

import torchcent
from torchcent.io import EdgeList, read_clusters, write

TRIANGLES = "a b\nb c\nc a\nc d 0.5\nd e\ne f\nf d\n"


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.abc"
    path.write_text(TRIANGLES)
    return path


def test_prints_clusters(capsys, graph):
    code, out, err = run(capsys, "mcl", graph)
    assert (code, out) == (0, "a\tb\tc\nd\te\tf\n")
    assert err.startswith("6 vertices, 7 edges, undirected, weighted; ")
    assert run(capsys, "mcl", graph, "--quiet")[2] == ""


def test_writes_clusters(capsys, graph, tmp_path):
    out = tmp_path / "clusters.txt"
    code, text, err = run(capsys, "mcl", graph, "-I", "2", "-o", out)
    assert code == 0 and read_clusters(out) == [["a", "b", "c"], ["d", "e", "f"]]
    assert "clusters     2 of 6 vertices, 0 singletons" in text.replace("  " * 4, " " * 5)
    assert f"clusters in {out}" in err


@pytest.mark.parametrize("suffix", [".csv", ".json", ".npz"])
def test_writes_a_table(capsys, graph, tmp_path, suffix):
    out = tmp_path / f"clusters{suffix}"
    assert run(capsys, "mcl", graph, "-o", out)[0] == 0
    if suffix == ".csv":
        assert out.read_text() == "label,cluster\na,0\nb,0\nc,0\nd,1\ne,1\nf,1\n"
    elif suffix == ".json":
        content = json.loads(out.read_text())
        assert content["cluster"] == [0, 0, 0, 1, 1, 1] and content["metadata"]["inflation"] == 2
    else:
        assert np.load(out)["cluster"].tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.slow
def test_sweep(capsys, graph, tmp_path):
    pytest.importorskip("matplotlib")
    out, figure = tmp_path / "clusters.txt.gz", tmp_path / "sweep.svg"
    code, text, err = run(
        capsys, "mcl", graph, "--sweep", "1.2,2,4.55", "-o", out, "--plot", figure
    )
    assert code == 0
    head, *lines = text.splitlines()
    assert head.split() == [
        "inflation", "clusters", "largest", "singletons", "efficiency", "modularity",
        "mass_fraction", "area_fraction", "distance",
    ]  # fmt: skip
    assert [line.split()[:2] for line in lines] == [["1.2", "1"], ["2", "2"], ["4.55", "2"]]
    names = ["clusters.I12.txt.gz", "clusters.I20.txt.gz", "clusters.I455.txt.gz"]
    assert [len(read_clusters(tmp_path / name)) for name in names] == [1, 2, 2]
    assert figure.read_text().lstrip().startswith("<?xml") and f"figure in {figure}" in err


@pytest.mark.slow
def test_plot_of_one_clustering(capsys, graph, tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "clusters.png"
    assert run(capsys, "mcl", graph, "--plot", figure)[0] == 0
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_options_reach_the_run(capsys, graph, monkeypatch):
    seen, real = [], torchcent.mcl

    def noting(*arguments, **options):
        seen.append(options)
        return real(*arguments, **options)

    monkeypatch.setattr(torchcent, "mcl", noting)
    run(capsys, "mcl", graph, "-P", "5000", "-S", "70", "-pct", "80", "-c", "2.5", "-e", "3")
    run(capsys, "mcl", graph, "-scheme", "4", "-R", "5", "--loops", "own", "--chaos", "1e-3")
    run(capsys, "mcl", graph, "--no-pruning", "--overlap", "keep", "-L", "50", "--engine", "dense")
    assert seen[0]["prune"] == torchcent.Prune(0.99999 / 5000, 70, 1400, 0.8)
    assert seen[0]["loops"] == 2.5 and seen[0]["expansion"] == 3
    assert seen[1]["prune"] == torchcent.Prune(0.99999 / 6000, 700, 5, 0.9)
    assert seen[1]["loops"] is None and seen[1]["chaos"] == 1e-3
    assert seen[2]["prune"] is None and seen[2]["overlap"] == "keep"
    assert seen[2]["max_iter"] == 50 and seen[2]["run"].engine.name == "dense"


def test_threads(capsys, graph, threads):
    import torch

    run(capsys, "mcl", graph, "-te", "1")
    assert torch.get_num_threads() == 1


def test_matrix_with_labels(capsys, tmp_path):
    (tmp_path / "x.mci").write_text(
        "(mclheader\nmcltype matrix\ndimensions 3x3\n)\n(mclmatrix\nbegin\n0 1 $\n1 0 $\n)\n"
    )
    (tmp_path / "x.tab").write_text("0\tAda\n1\tBob\n2\tCleo\n")
    code, out, _ = run(
        capsys, "mcl", tmp_path / "x.mci", "--use-tab", tmp_path / "x.tab", "-o", "-"
    )
    assert (code, out) == (0, "Ada\tBob\nCleo\n")


def test_abc_by_option_and_weights_aside(capsys, tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("1 2 1\n2 3 100\n3 1 1\n")
    code, out, _ = run(capsys, "mcl", path, "--abc", "--unweighted", "-o", "-")
    assert (code, out) == (0, "1\t2\t3\n")
    assert "weighted" not in run(capsys, "mcl", path, "--unweighted")[2]


@pytest.mark.skipif(shutil.which("mcl") is None, reason="mcl is not installed")
@pytest.mark.parametrize("inflation", ["1.4", "2", "6"])
def test_same_lines_as_mcl(capsys, tmp_path, inflation):
    code, out, _ = run(capsys, "mcl", "networkx:les_miserables", "-I", inflation)
    edges = torchcent.io.from_networkx(nx.les_miserables_graph())
    torchcent.write(tmp_path / "les.abc", edges)
    subprocess.run(
        ["mcl", "les.abc", "--abc", "-I", inflation, "-o", "out", "-q", "x", "-V", "all"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    ours = [line.split("\t") for line in out.splitlines()]
    theirs = read_clusters(tmp_path / "out")
    assert sorted(map(sorted, ours)) == sorted(map(sorted, theirs))
    assert [len(x) for x in ours] == [len(x) for x in theirs]
    code, out, _ = run(capsys, "mcl", tmp_path / "les.abc", "-I", inflation)
    assert sorted(out.splitlines()) == sorted((tmp_path / "out").read_text().splitlines())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-I", "1"], "inflation must be > 1"),
        (["--sweep", "2,x"], "'2,x' is no number or list such as 1.4,2"),
        (["--sweep", "2,0.5"], "inflations[1] must be > 1"),
        (["-I", "2", "--sweep", "2"], "not allowed with argument"),
        (["--no-pruning", "-S", "5"], "--no-pruning excludes"),
        (["-scheme", "9"], "scheme must be 1 to 7"),
        (["-o", "nowhere/x.txt"], "no such directory"),
        (["--plot", "x.gif"], "unknown suffix '.gif'"),
        (["--abc", "--format", "edges"], "--abc and --format exclude each other"),
        (["--engine", "lanes"], "invalid choice: 'lanes'"),
        (["--memory", "1K", "--engine", "tensor"], "is allowed"),
    ],
)
def test_refuses(capsys, graph, options, message):
    assert message in refused(capsys, "mcl", graph, *options)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["x.abc", "x.txt", "x.csv", "x.mci", "x.mtx", "x.pt"])
@pytest.mark.parametrize("options", [[], ["-I", "4"], ["-pi", "2"], ["-tf", "mul(2)"]])
def test_negative_weights_are_left_out(capsys, tmp_path, name, options):
    index = torch.tensor([[0, 1, 2, 2, 3], [1, 2, 0, 3, 4]])
    weight = torch.tensor([1.0, 1, 1, -3, 1], dtype=torch.float64)
    write(tmp_path / name, EdgeList(index, weight))
    options = [*options, "-o", tmp_path / "c.txt"]
    options += ["--abc"] if name == "x.abc" else []
    code, _, err = run(capsys, "mcl", tmp_path / name, *options)
    assert code == 0
    assert re.search("[12] edges? whose similarity is negative (is|are) left out", err)
    assert [len(names) for names in read_clusters(tmp_path / "c.txt")] == [3, 2]
    assert err.count("whose similarity") == 1
