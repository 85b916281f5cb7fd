"""The command line: results, tables, files, errors in one line, exit codes."""

import csv
import dataclasses
import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import networkx
import numpy as np
import pytest
import torch
from commands import refused, run, table
from internals import MEASURES

import torchcent
from torchcent import cli
from torchcent.io import read

FRIENDS = "source,target\nAda,Bob\nBob,Cleo\nCleo,Di\nDi,Bob\nCleo,Eve\n"


@pytest.fixture
def friends(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "friends.csv").write_text(FRIENDS)
    made = networkx.Graph()
    made.add_edges_from(line.split(",") for line in FRIENDS.split()[1:])
    return made


def scores_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return {row["label"]: float(row["betweenness"]) for row in csv.DictReader(file)}


# ---- betweenness


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {}),
        (["--normalized"], {}),
        (["--no-normalized"], {"normalized": False}),
        (["--endpoints"], {"endpoints": True}),
        (["--no-normalized", "--endpoints"], {"normalized": False, "endpoints": True}),
        (["--engine", "tensor"], {}),
        (["--threads", "1", "--memory", "1G"], {}),
    ],
)
@pytest.mark.parametrize("directed", [False, True])
def test_betweenness_is_networkx(capsys, friends, threads, options, expected, directed):
    if directed:
        options = [*options, "--directed"]
        friends = networkx.DiGraph(line.split(",") for line in FRIENDS.split()[1:])
    code, _, _ = run(capsys, "betweenness", "friends.csv", "-o", "out.csv", *options)
    assert code == 0
    truth = networkx.betweenness_centrality(friends, **expected)
    assert scores_of("out.csv") == pytest.approx(truth)


def test_table(capsys, friends):
    code, out, err = run(capsys, "betweenness", "friends.csv", "--top", "2")
    head, body = table(out)
    assert code == 0
    assert head == ["rank", "label", "degree", "betweenness", "share"]
    truth = networkx.betweenness_centrality(friends)
    best = sorted(truth, key=truth.get, reverse=True)[:2]
    assert [row[1] for row in body] == best
    assert [int(row[2]) for row in body] == [friends.degree(v) for v in best]
    assert [float(row[3]) for row in body] == pytest.approx([truth[v] for v in best], abs=1e-6)
    share = [100 * truth[v] / sum(truth.values()) for v in best]
    assert [float(row[4].rstrip("%")) for row in body] == pytest.approx(share, abs=0.01)
    assert "... and 3 more" in out
    assert "5 vertices, 5 edges, undirected" in err
    columns = [line.index(word) for line in out.splitlines()[:1] for word in ("label", "degree")]
    assert all(line[columns[0] - 1] == " " for line in out.splitlines()[2:4])


def test_table_is_aligned_for_wide_letters(capsys, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("東京\tÅngström\nÅngström\tBob\x07\n", encoding="utf-8")
    _, out, _ = run(capsys, "betweenness", path)
    lines = [line for line in out.splitlines() if line[:4].strip().isdecimal()]
    assert len(lines) == 3
    assert "Bob?" in out
    wide = next(line for line in lines if "東京" in line)
    other = next(line for line in lines if "Bob?" in line)
    assert len(wide) + 2 == len(other)


def test_edges(capsys, friends):
    code, out, _ = run(capsys, "edge-betweenness", "friends.csv", "-o", "out.json", "--top=3")
    assert code == 0
    assert table(out)[0] == ["rank", "source", "target", "edge", "betweenness", "share"]
    found = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert found["metadata"]["measure"] == "edge betweenness"
    pairs = map(frozenset, zip(found["source"], found["target"], strict=True))
    scores = dict(zip(pairs, found["edge_betweenness"], strict=True))
    truth = networkx.edge_betweenness_centrality(friends)
    assert scores == pytest.approx({frozenset(k): v for k, v in truth.items()})


def test_edges_once_without_loops(capsys, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("0 1\n1 0\n0 1\n1 1\n1 2\n")
    command = ["edge-betweenness", path, "-o", tmp_path / "e.csv", "--no-normalized"]
    run(capsys, *command)
    assert (tmp_path / "e.csv").read_text().split() == [
        "source,target,edge_betweenness", "0,1,2.0", "1,2,2.0",
    ]  # fmt: skip
    run(capsys, *command, "--directed")
    body = (tmp_path / "e.csv").read_text().split()[1:]
    assert [line.rsplit(",", 1)[0] for line in body] == ["0,1", "1,0", "1,2"]


def test_stress(capsys, friends):
    _, out, _ = run(capsys, "stress", "friends.csv")
    _, body = table(out)
    paths = dict.fromkeys(friends, 0)
    for s in friends:
        for t in friends:
            if s < t:
                for path in networkx.all_shortest_paths(friends, s, t):
                    for v in path[1:-1]:
                        paths[v] += 1
    assert {row[1]: float(row[3]) for row in body} == paths


def test_sources(capsys, friends):
    options = ["betweenness", "friends.csv", "--sources", "3", "-o", "out.csv", "--seed"]
    run(capsys, *options, "1")
    first = scores_of("out.csv")
    run(capsys, *options, "1")
    assert scores_of("out.csv") == first
    others = []
    for seed in range(2, 8):
        run(capsys, *options, str(seed))
        others.append(scores_of("out.csv"))
    assert any(other != first for other in others)
    run(capsys, "betweenness", "friends.csv", "--sources", "5", "-o", "out.csv")
    assert scores_of("out.csv") == pytest.approx(networkx.betweenness_centrality(friends))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".npy", ".npz", ".json", ".parquet"])
def test_outputs(capsys, friends, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    code, out, err = run(capsys, "betweenness", "friends.csv", "-o", f"o{suffix}", "--quiet")
    assert (code, err) == (0, "")
    assert os.path.getsize(f"o{suffix}") > 0
    assert sorted(os.listdir()) == ["friends.csv", f"o{suffix}"]


def test_quiet_and_top_0(capsys, friends):
    assert run(capsys, "betweenness", "friends.csv", "--quiet", "--top", "0") == (0, "", "")


def test_weights_are_mentioned(capsys, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("0 1 5\n1 2 5\n")
    _, _, err = run(capsys, "betweenness", path)
    assert "weights are not used" in err


def test_warning_in_one_line(capsys, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("4 3\n0 1\n1 2\n2 3\n")
    code, _, err = run(capsys, "betweenness", path)
    assert code == 0
    assert [x for x in err.splitlines() if x.startswith("torchcent: warning: ")][0].count("skip=1")


@pytest.mark.slow
def test_plot(capsys, friends):
    pytest.importorskip("matplotlib")
    code, _, err = run(capsys, "betweenness", "friends.csv", "--plot", "p.png")
    assert code == 0
    assert "figure in p.png" in err
    assert Path("p.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("les_miserables", "les_miserables_graph"),
        ("lesmis", "les_miserables_graph"),
        ("karate_club", "karate_club_graph"),
        ("davis_southern_women", "davis_southern_women_graph"),
        ("florentine_families", "florentine_families_graph"),
    ],
)
def test_networks_of_networkx(capsys, tmp_path, name, function):
    out = tmp_path / "out.csv"
    code, _, _ = run(capsys, "betweenness", f"networkx:{name}", "-o", out)
    truth = networkx.betweenness_centrality(getattr(networkx, function)())
    assert code == 0
    assert scores_of(out) == pytest.approx({str(k): v for k, v in truth.items()})


# ---- the other commands


def test_info(capsys, friends):
    Path("g.txt").write_text("# Directed graph\n0 1\n1 2\n2 2\n5 6\n")
    code, out, _ = run(capsys, "info", "g.txt")
    rows = dict(line.split(maxsplit=1) for line in out.splitlines()[:9] if line)
    assert code == 0
    assert rows["vertices"].startswith("5, called 0 to 6")
    assert rows["edges"] == "3 arcs, directed"
    assert "4 rows, 1 self-loops" in out
    assert rows["components"].startswith("2; the largest has 3 vertices (60.0%)")
    assert "engine" in out and "memory" in out
    _, out, _ = run(capsys, "info", "friends.csv")
    assert "5, undirected (10 slots)" in out
    assert "2.00 neighbours on average, median 2, from 1 to 3" in out
    assert "at least 3 (two" in out  # Ada - Bob - Cleo - Eve
    assert "2 of 1" in out


def test_info_of_a_long_path(capsys, tmp_path):
    run(capsys, "generate", "grid", "--rows", 1, "--cols", 500, "-o", tmp_path / "path.npz")
    _, out, _ = run(capsys, "info", tmp_path / "path.npz")
    assert "at least 499 (two" in out


def test_info_and_scores_of_nothing(capsys, tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("# Nodes: 0 Edges: 0\n")
    code, out, _ = run(capsys, "info", path)
    assert (code, "vertices     0" in out) == (0, True)
    code, out, _ = run(capsys, "betweenness", path, "-o", tmp_path / "o.csv")
    assert (code, (tmp_path / "o.csv").read_text()) == (0, "label,degree,betweenness\n")


@pytest.mark.parametrize("name", ["g.tsv", "g.parquet", "g.pt", "g.txt.xz"])
def test_convert_keeps_labels(capsys, friends, name):
    if name == "g.parquet":
        pytest.importorskip("pyarrow")
    assert run(capsys, "convert", "friends.csv", name)[0] == 0
    run(capsys, "betweenness", name, "-o", "out.csv")
    assert scores_of("out.csv") == pytest.approx(networkx.betweenness_centrality(friends))


def test_convert_there_and_back(capsys, friends):
    assert run(capsys, "convert", "friends.csv", "g.graph")[0] == 0
    assert run(capsys, "convert", "g.graph", "g.mtx.gz")[0] == 0
    assert run(capsys, "convert", "g.mtx.gz", "g.txt", "--undirected")[0] == 0
    names = sorted(friends)
    edges = read("g.txt")
    ends = edges.vertex_labels()[edges.edge_index.numpy()].T.tolist()
    assert {frozenset(names[v - 1] for v in e) for e in ends} == set(map(frozenset, friends.edges))


def test_convert_counts_the_edges_that_are_written(capsys, tmp_path):
    """Those that are listed in both directions, or that the format merges, count once."""
    (tmp_path / "g.txt").write_text("0 1 2\n1 2 2\n2 3 2\n1 0 3\n3 3 1\n3 3 1\n")
    matrix = tmp_path / "m.npz"
    for name, count in (("m.npz", 4), ("m.mtx", 4), ("m.graph", 3), ("m.txt", 6)):
        code, _, err = run(capsys, "convert", tmp_path / "g.txt", tmp_path / name)
        assert (code, f"4 vertices, {count} edges" in err) == (0, True), err
    for name in ("a.npz", "a.csv", "a.mtx", "a.npy", "a.pt", "a.gr"):
        code, _, err = run(capsys, "convert", matrix, tmp_path / name)
        assert (code, "4 vertices, 4 edges" in err) == (0, True), err
    code, _, err = run(capsys, "convert", matrix, tmp_path / "d.txt", "--directed")
    assert (code, "4 vertices, 7 edges" in err) == (0, True), err


@pytest.mark.parametrize(
    ("arguments", "expected", "n"),
    [
        ("rmat --scale 6 --edge-factor 4 --seed 3", lambda g: g.rmat(6, 4, seed=3), 64),
        ("rmat --scale 6 --a 0.4 --b 0.2 --c 0.2", lambda g: g.rmat(6, a=0.4, b=0.2, c=0.2), 64),
        ("ba --n 50 --m 3", lambda g: g.ba(50, 3), 50),
        ("er --n 50 --p 0.1 --seed 2", lambda g: g.er(50, 0.1, seed=2), 50),
        ("er --n 50 --m 9", lambda g: g.er(50, m=9), 50),
        ("grid --rows 3 --cols 4", lambda g: g.grid(3, 4), 12),
        ("delaunay --n 30", lambda g: g.delaunay(30), 30),
        ("ws --n 30 --k 4 --p 0.2", lambda g: g.ws(30, 4, 0.2), 30),
        ("road --rows 9 --cols 9 --removed 0.2", lambda g: g.road(9, 9, 0.2), None),
    ],
)
@pytest.mark.parametrize("suffix", [".txt", ".npz"])
def test_generate(capsys, tmp_path, arguments, expected, n, suffix):
    path = tmp_path / f"g{suffix}"
    code, out, err = run(capsys, "generate", *arguments.split(), "-o", path)
    assert (code, out) == (0, "")
    index = expected(torchcent.generate)
    assert f"{index.size(1) // 2:,} edges" in err
    edges = read(path)
    assert edges.num_nodes == (n or int(index.max()) + 1)
    assert edges.graph().to_edge_index().equal(index)
    assert not edges.directed


def test_config_version_help(capsys):
    code, out, _ = run(capsys, "config")
    assert (code, out.strip()) == (0, torchcent.show_config())
    assert run(capsys, "--version")[1].strip() == torchcent.__version__
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for word in ("betweenness", "info", "convert", "generate", "config", "examples:"):
        assert word in out
    assert "examples:" in run(capsys, "betweenness", "--help")[1]


# ---- what goes wrong


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("foo", "invalid choice: 'foo'"),
        ("betweenness", "required: GRAPH"),
        ("betweenness nothing.txt", "nothing.txt: no such file"),
        ("betweenness friends.doc", "unknown suffix '.doc'; known: .txt"),
        ("betweenness bad.txt", "bad.txt:2: 1 field"),
        ("betweenness networkx:foo", "networkx:foo is unknown; accepted: les_miserables"),
        ("betweenness friends.csv --engine foo", "invalid choice: 'foo'"),
        ("betweenness friends.csv --sources 6", "6"),
        ("betweenness friends.csv --sources 0", "0"),
        ("betweenness friends.csv --sources x", "x: no such file"),
        ("betweenness friends.csv --threads 0", "--threads 0; accepted: 1 to 4096"),
        ("betweenness friends.csv --top -1", "--top -1; accepted: 0 or more"),
        ("betweenness friends.csv --memory 1", "memory"),
        ("betweenness friends.csv --memory lots", "'lots' is not a size"),
        ("betweenness friends.csv --raw", "unrecognized arguments: --raw"),
        ("betweenness friends.csv --directed --undirected", "not allowed with"),
        ("edge-betweenness friends.csv --endpoints", "unrecognized arguments: --endpoints"),
        ("edge-betweenness friends.csv --reversed", "unrecognized arguments: --reversed"),
        ("edge-betweenness friends.csv --plot p.png", "friends.csv has no coordinates"),
        ("betweenness friends.csv --num-nodes 2", "names 5 vertices"),
        ("betweenness friends.csv --format foo", "format='foo' is unknown"),
        ("betweenness friends.csv -o out.xls", "unknown suffix '.xls'"),
        ("betweenness friends.csv -o no/out.csv", "no such directory"),
        ("betweenness friends.csv --plot p.bmp", "unknown suffix '.bmp'"),
        ("betweenness friends.csv --plot no/p.png", "no such directory"),
        ("info nothing.txt", "no such file"),
        ("convert friends.csv g.foo", "graphs are not written as '.foo'"),
        ("convert friends.csv g.gml", "graphs are not written as '.gml'"),
        ("convert friends.csv no/g.txt", "no such directory"),
        ("convert nothing.txt g.txt", "no such file"),
        ("generate er --n 5 -o g.txt", "exactly one"),
        ("generate er --n 5 --p 2 -o g.txt", "p=2.0; accepted: 0 to 1"),
        ("generate ba --n 5 --m 5 -o g.txt", "m=5; accepted: 1 to n - 1 = 4"),
        ("generate foo -o g.txt", "invalid choice: 'foo'"),
        ("generate rmat --scale 3", "required: -o/--out"),
    ],
)
def test_errors_take_one_line(capsys, friends, arguments, message):
    Path("friends.doc").write_text("0 1\n")
    Path("bad.txt").write_text("0 1\n2\n")
    before = sorted(os.listdir())
    assert message in refused(capsys, *arguments.split())
    assert sorted(os.listdir()) == before


def test_wrong_output_is_told_before_the_work(capsys, friends, monkeypatch):
    def never(*_):
        raise AssertionError("the work was begun")

    monkeypatch.setattr(cli._common, "load", never)
    for arguments in (
        "betweenness friends.csv -o out.xls",
        "betweenness friends.csv -o no/out.csv",
        "betweenness friends.csv --plot p.bmp",
        "closeness friends.csv -o out.xls",
        "diameter friends.csv --effective 2",
        "apsp friends.csv -o out.csv",
        "apsp friends.csv -o no/out.npy",
        "closure friends.csv -o out.csv",
        "closure friends.csv -o no/out.npz",
    ):
        refused(capsys, *arguments.split())


def test_missing_extras(capsys, friends, monkeypatch):
    for module in ("networkx", "matplotlib", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    for arguments, extra in [
        (["networkx:karate_club"], "networkx"),
        (["friends.csv", "--plot", "p.png"], "plot"),
        (["friends.csv", "-o", "out.parquet"], "io"),
    ]:
        err = refused(capsys, "betweenness", *arguments)
        assert f"of the extra torchcent[{extra}]: pip install" in err


def test_interrupt_leaves_the_old_file(capsys, friends, monkeypatch):
    @functools.wraps(torchcent.betweenness)
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    Path("out.csv").write_text("old\n")
    measure = dataclasses.replace(MEASURES["betweenness"], function=interrupted)
    monkeypatch.setitem(MEASURES, "betweenness", measure)
    code, out, err = run(capsys, "betweenness", "friends.csv", "-o", "out.csv")
    assert (code, out, err) == (130, "", "torchcent: interrupted\n")
    assert Path("out.csv").read_text() == "old\n"
    assert sorted(os.listdir()) == ["friends.csv", "out.csv"]


@pytest.mark.slow
def test_as_a_program(friends):
    """python -m torchcent, and a reader that leaves early."""
    command = f"{sys.executable} -m torchcent betweenness friends.csv -o out.csv"
    done = subprocess.run(
        f"{command} | true; echo ${{PIPESTATUS[0]}}",
        shell=True, executable="/bin/bash", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert done.stdout.strip() in ("0", "141")


def test_scores_are_those_of_the_library(capsys, tmp_path):
    index = torchcent.generate.rmat(8, 4, seed=5)
    run(capsys, "generate", "rmat", "--scale=8", "--edge-factor=4", "--seed=5",
        "-o", tmp_path / "g.npz")  # fmt: skip
    run(capsys, "betweenness", tmp_path / "g.npz", "-o", tmp_path / "s.npy")
    truth = torchcent.betweenness(
        index, num_nodes=256, directed=False, run=torchcent.Run(dtype=torch.float64)
    )
    assert np.allclose(np.load(tmp_path / "s.npy"), truth.numpy(), rtol=1e-12)
