"""The subcommands closeness, harmonic, eccentricity, diameter, apsp and closure."""

import csv
import json
import math
import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import networkx
import numpy as np
import pytest
from commands import refused, run, table
from internals import Blocks

import torchcent

# Two components if undirected, one cycle, a vertex of its own and, if directed, dead ends.
CALLS = "from,to\nAda,Bob\nBob,Cleo\nCleo,Ada\nCleo,Di\nDi,Eve\nFay,Di\nGil,Hal\nIda,Ida\n"
# One component, in both readings: a cycle with a chord.
RING = "a,b\nb,c\nc,d\nd,e\ne,a\nb,d\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("calls.csv").write_text(CALLS)
    Path("ring.csv").write_text(RING)
    return tmp_path


def network(name, directed):
    made = networkx.DiGraph() if directed else networkx.Graph()
    lines = {"calls.csv": CALLS.split()[1:], "ring.csv": RING.split()}[name]
    made.add_edges_from(line.split(",") for line in lines)
    made.remove_edges_from(list(networkx.selfloop_edges(made)))
    return made


def column(path, name):
    with open(path, newline="", encoding="utf-8") as file:
        return {row["label"]: float(row[name]) for row in csv.DictReader(file)}


def told(out):
    """Rows of 'name  value'."""
    return dict(line.split(maxsplit=1) for line in out.splitlines())


# ---- scores


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("graph", ["calls.csv", "ring.csv"])
@pytest.mark.parametrize(
    ("options", "name", "truth"),
    [
        ("closeness", "closeness", networkx.closeness_centrality),
        ("closeness --engine tensor", "closeness", networkx.closeness_centrality),
        (
            "closeness --no-wf-improved",
            "closeness",
            lambda g: networkx.closeness_centrality(g, wf_improved=False),
        ),
        (
            "closeness --reversed --threads 1 --memory 1G",
            "closeness",
            lambda g: networkx.closeness_centrality(g.reverse() if g.is_directed() else g),
        ),
        ("harmonic", "harmonic", networkx.harmonic_centrality),
        (
            "harmonic --normalized",
            "harmonic",
            lambda g: {v: x / (len(g) - 1) for v, x in networkx.harmonic_centrality(g).items()},
        ),
        (
            "harmonic --reversed",
            "harmonic",
            lambda g: networkx.harmonic_centrality(g.reverse() if g.is_directed() else g),
        ),
    ],
)
def test_scores_are_networkx(capsys, folder, threads, graph, directed, options, name, truth):
    measure, *more = options.split()
    more += ["--directed"] * directed
    code, out, _ = run(capsys, measure, graph, "-o", "out.csv", "--top", "1", *more)
    expected = truth(network(graph, directed))
    assert code == 0
    assert column("out.csv", name) == pytest.approx(expected)
    best = max(expected.values())
    assert float(table(out)[1][0][3]) == pytest.approx(best, abs=1e-5)
    assert expected[table(out)[1][0][1]] == pytest.approx(best)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("incoming", [False, True])
@pytest.mark.parametrize("component", [False, True])
def test_eccentricity(capsys, folder, directed, incoming, component):
    options = [
        *["--directed"] * directed, *["--reversed"] * incoming,
        *["--disconnected", "component"] * component,
    ]  # fmt: skip
    code, out, _ = run(capsys, "eccentricity", "calls.csv", "-o", "out.csv", *options)
    graph = network("calls.csv", directed)
    graph = graph.reverse() if incoming and directed else graph
    expected = {}
    for v, reached in networkx.all_pairs_shortest_path_length(graph):
        whole = component or len(reached) == len(graph)
        expected[v] = max(reached.values()) if whole else math.inf
    assert code == 0
    assert column("out.csv", "eccentricity") == expected
    printed = [float(row[3]) for row in table(out)[1]]
    assert printed == sorted(expected.values())  # the most central first
    degree = "out_degree" if directed else "degree"
    assert table(out)[0] == ["rank", "label", degree, "eccentricity"]


def test_pivots(capsys, folder):
    run(capsys, "closeness", "ring.csv", "--sources", "5", "-o", "out.csv")
    truth = networkx.closeness_centrality(network("ring.csv", False))
    assert column("out.csv", "closeness") == pytest.approx(truth)
    found = set()
    for seed in (1, 1, 2, 3, 4, 5):
        options = ["--sources", "2", "--seed", seed, "-o", "out.csv"]
        assert run(capsys, "harmonic", "ring.csv", *options)[0] == 0
        found.add((seed, Path("out.csv").read_text()))
    assert len({text for _, text in found}) > 1 and len(found) == 5


def test_file_tells_how(capsys, folder):
    options = ["--directed", "--no-wf-improved", "--reversed", "--sources", "3", "--seed", "7"]
    run(capsys, "closeness", "calls.csv", "-o", "out.json", *options)
    assert json.loads(Path("out.json").read_text())["metadata"] == {
        "measure": "closeness", "graph": "calls.csv", "directed": True, "sources": 3, "seed": 7,
        "wf_improved": False, "reversed": True,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["closeness", "harmonic", "eccentricity"])
def test_plot(capsys, folder, measure):
    pytest.importorskip("matplotlib")
    code, _, err = run(capsys, measure, "calls.csv", "--plot", "p.png", "--top", "0")
    assert code == 0
    assert "figure in p.png" in err
    assert Path("p.png").read_bytes()[:4] == b"\x89PNG"


# ---- diameter


@pytest.mark.parametrize("directed", [False, True])
def test_diameter(capsys, folder, directed):
    options = ["--average", "--effective", "1", *["--directed"] * directed]
    code, out, err = run(capsys, "diameter", "ring.csv", *options)
    graph = network("ring.csv", directed)
    rows = told(out)
    assert code == 0
    assert f"5 vertices, 6 edges, {'' if directed else 'un'}directed" in err
    assert int(rows["diameter"]) == networkx.diameter(graph)
    assert int(rows["radius"]) == networkx.radius(graph)
    for row, truth in (("centre", networkx.center), ("periphery", networkx.periphery)):
        count, names = re.fullmatch(r"(\d) vert\w+: (.*)", rows[row]).groups()
        assert names.split(", ") == sorted(truth(graph)) and int(count) == len(truth(graph))
    mean = networkx.average_shortest_path_length(graph)
    assert float(rows["mean"]) == pytest.approx(mean, rel=1e-5)
    within, text = rows["effective"].split(", ")
    assert float(within) == networkx.diameter(graph)
    assert text == "within which 100% of the connected pairs lie"


def test_diameter_of_a_disconnected_graph(capsys, folder):
    code, out, err = run(capsys, "diameter", "calls.csv", "--average")
    assert code == 0
    assert told(out) == {"diameter": "inf", "radius": "inf", "mean": "inf"}
    assert "--component" in err
    _, out, err = run(capsys, "diameter", "calls.csv", "--average", "--component")
    rows = told(out)
    lengths = dict(networkx.all_pairs_shortest_path_length(network("calls.csv", False)))
    farthest = {v: max(reached.values()) for v, reached in lengths.items()}
    assert int(rows["diameter"]) == max(farthest.values())
    assert int(rows["radius"]) == min(farthest.values())
    assert rows["centre"] == "1 vertex: Ida"
    distances = [d for reached in lengths.values() for d in reached.values() if d]
    assert float(rows["mean"]) == pytest.approx(np.mean(distances), rel=1e-5)
    assert "--component" not in err


def test_diameter_names_the_first_of_many(capsys, tmp_path):
    path = tmp_path / "ring.txt"
    path.write_text("".join(f"{v} {(v + 1) % 9}\n" for v in range(9)))
    rows = told(run(capsys, "diameter", path, "--quiet")[1])
    assert rows["centre"] == rows["periphery"] == "9 vertices: 0, 1, 2, 3, 4, ..."


# ---- apsp


def lengths(graph, rows, columns):
    matrix = np.full((len(rows), len(columns)), -1)
    for i, u in enumerate(rows):
        for v, d in networkx.single_source_shortest_path_length(graph, u).items():
            matrix[i, columns.index(v)] = d
    return matrix


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    ("options", "dtype"),
    [([], "int8"), (["--dtype", "int32"], "int32"), (["--engine", "tensor"], "int8")],
)
def test_apsp(capsys, folder, directed, options, dtype):
    options = [*options, *["--directed"] * directed]
    code, out, err = run(capsys, "apsp", "calls.csv", "-o", "dist.npy", *options)
    graph = network("calls.csv", directed)
    found = np.load("dist.npy")
    assert (code, out) == (0, "")
    assert f"9 x 9 distances, {dtype}, in dist.npy" in err
    assert found.dtype == dtype
    assert np.array_equal(found, lengths(graph, sorted(graph), sorted(graph)))
    assert sorted(os.listdir()) == ["calls.csv", "dist.npy", "ring.csv"]


def test_apsp_of_named_and_of_drawn_vertices(capsys, folder):
    graph = network("calls.csv", False)
    columns = sorted(graph)
    Path("rows.txt").write_text("Gil\n\n  Bob\nAda\n")
    run(capsys, "apsp", "calls.csv", "-o", "dist.npy", "--sources", "rows.txt")
    assert np.array_equal(np.load("dist.npy"), lengths(graph, ["Gil", "Bob", "Ada"], columns))
    drawn = set()
    for seed in (1, 2, 3):
        options = ["-o", "dist.npy", "--sources", "3", "--seed", seed, "--quiet"]
        code, out, err = run(capsys, "apsp", "calls.csv", *options)
        rows = out.split()
        assert (code, err, len(set(rows))) == (0, "", 3)
        assert np.array_equal(np.load("dist.npy"), lengths(graph, rows, columns))
        drawn.add(out)
    assert len(drawn) > 1
    Path("rows.txt").write_text(out)  # what was printed can be given back
    first = Path("dist.npy").read_bytes()
    run(capsys, "apsp", "calls.csv", "-o", "dist.npy", "--sources", "rows.txt")
    assert Path("dist.npy").read_bytes() == first


# ---- closure


def reaching(graph, loops):
    """Pairs (u, v) with a path from u to v, by NetworkX."""
    reflexive = {"cycles": False, "all": True, "none": None}[loops]
    closed = networkx.transitive_closure(graph, reflexive)
    return {(u, v) for u, v in closed.edges} | (
        set() if graph.is_directed() else {(v, u) for u, v in closed.edges}
    )


def unpacked(path):
    """As the help says."""
    file = np.load(path)
    part, count = file["component"], len(file["bits"])
    dense = np.unpackbits(file["bits"], axis=1, count=count).view(bool)[part][:, part]
    np.fill_diagonal(dense, file["loop"])
    return dense, file


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("graph", ["calls.csv", "ring.csv"])
@pytest.mark.parametrize("loops", ["cycles", "all", "none"])
def test_closure(capsys, folder, directed, graph, loops):
    options = ["--loops", loops, *["--directed"] * directed]
    code, out, _ = run(capsys, "closure", graph, "-o", "c.npy", *options)
    made = network(graph, directed)
    names = sorted(made)
    expected = reaching(made, loops)
    dense = np.load("c.npy")
    assert (code, dense.dtype) == (0, bool)
    assert {(names[u], names[v]) for u, v in np.argwhere(dense)} == expected
    run(capsys, "closure", graph, "-o", "c.npz", *options)
    packed, file = unpacked("c.npz")
    assert np.array_equal(packed, dense)
    assert file["label"].tolist() == names
    rows, n = told(out), len(names)
    pairs = sum(u != v for u, v in expected)
    assert rows["reachable"].startswith(f"{pairs:,} of {n * (n - 1):,} pairs of different")
    count = networkx.number_strongly_connected_components if directed else (
        networkx.number_connected_components
    )  # fmt: skip
    assert re.match(r"\d+", rows["components"])[0] == str(count(made))
    on_cycles = sum(u == v for u, v in expected)
    told_of = f"{on_cycles} of {n} vertices" if directed and loops == "cycles" else None
    assert told(out.replace("on cycles", "on_cycles")).get("on_cycles") == told_of


def test_closure_without_a_file(capsys, folder):
    code, out, err = run(capsys, "closure", "calls.csv", "--directed", "--quiet")
    assert (code, err) == (0, "")
    assert "7 strongly connected; the largest has 3 vertices (33.3%)" in out
    assert sorted(os.listdir()) == ["calls.csv", "ring.csv"]


def test_closure_of_many_components(capsys, tmp_path):
    """More columns than a byte has bits, and rows that do not end with a byte."""
    path = tmp_path / "chain.txt"
    path.write_text("".join(f"{v} {v + 1}\n" for v in range(100)))
    run(capsys, "closure", path, "--directed", "-o", tmp_path / "c.npz")
    dense, file = unpacked(tmp_path / "c.npz")
    assert np.array_equal(dense, np.triu(np.ones((101, 101), bool), 1))
    assert file["bits"].shape == (101, 13)
    assert "label" not in file


# ---- nothing, and what goes wrong


@pytest.mark.parametrize("n", [0, 1])
def test_graphs_without_edges(capsys, tmp_path, n):
    path = tmp_path / "g.txt"
    path.write_text(f"# Nodes: {n} Edges: 0\n")
    for measure in ("closeness", "harmonic", "eccentricity"):
        code, _, err = run(capsys, measure, path, "-o", tmp_path / "o.csv")
        assert (code, f"{n} vertices, 0 edges" in err) == (0, True)
        assert len((tmp_path / "o.csv").read_text().splitlines()) == 1 + n
    code, out, _ = run(capsys, "diameter", path, "--average", "--effective", "0.5")
    rows = told(out)
    assert (code, rows["diameter"], rows["radius"], rows["mean"]) == (0, "0", "0", "0")
    assert run(capsys, "apsp", path, "-o", tmp_path / "d.npy")[0] == 0
    assert np.load(tmp_path / "d.npy").tolist() == [[0]] * n
    for suffix in ("npy", "npz"):
        code, out, _ = run(capsys, "closure", path, "-o", tmp_path / f"c.{suffix}")
        assert (code, told(out)["components"]) == (0, str(n))
    assert np.load(tmp_path / "c.npy").shape == (n, n)
    assert unpacked(tmp_path / "c.npz")[0].shape == (n, n)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("closeness", "required: GRAPH"),
        ("closeness nothing.txt", "nothing.txt: no such file"),
        ("closeness calls.csv --engine lanes", "invalid choice: 'lanes'"),
        ("closeness calls.csv --sources 10", "10"),
        ("closeness calls.csv --threads 0", "--threads 0; accepted: 1 to 4096"),
        ("closeness calls.csv --memory 1", "memory"),
        ("closeness calls.csv --edges", "unrecognized arguments: --edges"),
        ("harmonic calls.csv --top -1", "--top -1; accepted: 0 or more"),
        ("eccentricity calls.csv -o out.xls", "unknown suffix '.xls'"),
        ("eccentricity calls.csv --plot p.bmp", "unknown suffix '.bmp'"),
        ("diameter", "required: GRAPH"),
        ("diameter nothing.txt", "nothing.txt: no such file"),
        ("diameter calls.csv --engine lanes", "invalid choice: 'lanes'"),
        ("diameter calls.csv --engine queue --device cpu", "distances on CUDA only"),
        ("diameter calls.csv --effective 0", "--effective 0; accepted: more than 0, at most 1"),
        ("diameter calls.csv --effective nan", "--effective nan; accepted"),
        ("diameter calls.csv --threads 0", "--threads 0; accepted"),
        ("diameter calls.csv --memory 1", "memory"),
        ("apsp calls.csv", "required: -o/--out"),
        ("apsp calls.csv -o d.csv", "unknown suffix '.csv'; accepted: .npy"),
        ("apsp calls.csv -o no/d.npy", "no such directory"),
        ("apsp calls.csv -o d.npy --sources 0", "--sources 0; accepted: a file of names, or 1 to"),
        ("apsp calls.csv -o d.npy --sources 10", "number of vertices, 9"),
        ("apsp calls.csv -o d.npy --sources none.txt", "none.txt: no such file"),
        ("apsp calls.csv -o d.npy --sources odd.txt", "odd.txt:2: 'Zoe' is no vertex of calls.csv"),
        ("apsp calls.csv -o d.npy --sources two.txt", "two.txt:3: 'Ada' stands there twice"),
        ("apsp calls.csv -o d.npy --sources empty.txt", "empty.txt: empty file"),
        ("apsp calls.csv -o d.npy --dtype float", "invalid choice: 'float'"),
        ("apsp calls.csv -o d.npy --memory 1", "memory"),
        ("apsp long.txt -o d.npy --dtype int8", "does not fit torch.int8"),
        ("closure calls.csv -o c.csv", "unknown suffix '.csv'; accepted: .npy .npz"),
        ("closure calls.csv -o no/c.npy", "no such directory"),
        ("closure calls.csv --loops some", "invalid choice: 'some'"),
        ("closure calls.csv --memory 1", "memory"),
        ("closure calls.csv --engine bits", "unrecognized arguments"),
    ],
)
def test_errors_take_one_line(capsys, folder, arguments, message):
    Path("odd.txt").write_text("Ada\nZoe\n")
    Path("two.txt").write_text("Ada\nBob\nAda\n")
    Path("empty.txt").write_text("\n")
    Path("long.txt").write_text("".join(f"{v} {v + 1}\n" for v in range(200)))
    before = sorted(os.listdir())
    assert message in refused(capsys, *arguments.split())
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("command", ["apsp", "closure"])
def test_full_disk_is_told_before_the_work(capsys, folder, monkeypatch, command):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=80))
    before = sorted(os.listdir())
    assert "81 bytes" in refused(capsys, command, "calls.csv", "-o", "out.npy")
    assert sorted(os.listdir()) == before
    assert run(capsys, "closure", "calls.csv", "-o", "out.npz")[0] == 0  # packed


@pytest.mark.parametrize(
    ("command", "file", "where"),
    [
        ("apsp", "out.npy", (Blocks, "compute")),
        ("closure", "out.npy", (torchcent.Closure, "_rows")),
        ("closure", "out.npz", (torchcent.Closure, "_rows")),
    ],
)
def test_interrupt_leaves_the_old_file(capsys, folder, monkeypatch, command, file, where):
    """Ctrl-C when the new file has been begun."""

    def interrupted(*_):
        assert any(name.endswith(".tmp") for name in os.listdir())
        raise KeyboardInterrupt

    Path(file).write_text("old\n")
    before = sorted(os.listdir())
    monkeypatch.setattr(*where, interrupted)
    code, _, err = run(capsys, command, "calls.csv", "-o", file)
    assert (code, err.splitlines()[-1]) == (130, "torchcent: interrupted")
    assert Path(file).read_text() == "old\n"
    assert sorted(os.listdir()) == before


def test_help_has_examples(capsys):
    for command in ("closeness", "harmonic", "eccentricity", "diameter", "apsp", "closure"):
        code, out, _ = run(capsys, command, "--help")
        assert code == 0
        assert f"examples:\n  torchcent {command} " in out
        assert command in run(capsys, "--help")[1]


def test_scores_are_those_of_the_library(capsys, tmp_path):
    index = torchcent.generate.rmat(8, 4, seed=5)
    run(capsys, "generate", "rmat", "--scale=8", "--edge-factor=4", "--seed=5",
        "-o", tmp_path / "g.npz")  # fmt: skip
    run(capsys, "closeness", tmp_path / "g.npz", "-o", tmp_path / "s.npy", "--dtype", "float32")
    truth = torchcent.closeness(index, num_nodes=256, directed=False)
    assert np.allclose(np.load(tmp_path / "s.npy"), truth.numpy())
