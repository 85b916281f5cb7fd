"""The command line: standard input and output, JSON, outputs that cannot be written."""

import bz2
import csv
import errno
import gzip
import io
import json
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path

import networkx
import numpy as np
import pytest
import torch
from commands import refused, run

import torchcent
from _torchcent_command._parser import parser, subparsers
from torchcent import cli

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
DECLARED = json.loads((ROOT / "_torchcent_command" / "measures.json").read_text())
FRIENDS = "source,target\nAda,Bob\nBob,Cleo\nCleo,Di\nDi,Bob\nCleo,Eve\n"
EDGES = [(0, 1), (1, 2), (2, 3), (3, 1), (2, 4)]  # the same by numbers
TRUTH = networkx.betweenness_centrality(networkx.Graph(EDGES))
full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("friends.csv").write_text(FRIENDS)
    return tmp_path


@pytest.fixture
def given(monkeypatch):
    """`given(data)` makes them standard input."""

    def change(data):
        data = data.encode() if isinstance(data, str) else data
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return change


def written(name):
    """A file of that suffix with the edges, as others write it."""
    graph = networkx.Graph(EDGES)
    matrix = networkx.to_scipy_sparse_array(graph, range(5), format="csr")
    path = Path(name)
    match path.suffix:
        case ".graphml":
            networkx.write_graphml(graph, name)
        case ".gml":
            networkx.write_gml(graph, name)
        case ".mtx":
            import scipy.io

            scipy.io.mmwrite(name, matrix)
        case ".npz":
            import scipy.sparse

            scipy.sparse.save_npz(name, scipy.sparse.csr_matrix(matrix))
        case ".npy":
            np.save(name, np.array(EDGES).T)
        case ".pt":
            torch.save(torch.tensor(EDGES).T, name)
        case ".parquet":
            pyarrow, parquet = (pytest.importorskip(x) for x in ("pyarrow", "pyarrow.parquet"))
            columns = zip(*EDGES, strict=True)
            table = pyarrow.table(dict(zip(("source", "target"), map(list, columns), strict=True)))
            parquet.write_table(table, name)
        case ".gr":
            rows = "".join(f"a {u + 1} {v + 1} 1\na {v + 1} {u + 1} 1\n" for u, v in EDGES)
            path.write_text(f"c a comment\np sp 5 {2 * len(EDGES)}\n{rows}")
        case ".graph":
            rows = [" ".join(str(v + 1) for v in graph[u]) for u in range(5)]
            path.write_text(f"5 {len(EDGES)}\n" + "\n".join(rows) + "\n")
        case ".mci":
            rows = [f"{u} {' '.join(map(str, graph[u]))} $" for u in range(5)]
            head = "(mclheader\nmcltype matrix\ndimensions 5x5\n)\n(mclmatrix\nbegin\n"
            path.write_text("# by hand\n" + head + "\n".join(rows) + "\n)\n")
        case _:
            path.write_text("".join(f"{u} {v}\n" for u, v in EDGES))
    return path.read_bytes()


def scores(text):
    return sorted(float(row["betweenness"]) for row in csv.DictReader(io.StringIO(text)))


# ---- standard input


@pytest.mark.parametrize(
    "suffix",
    ["txt", "csv", "mtx", "npz", "npy", "pt", "parquet", "gr", "gml", "graphml", "mci", "graph"],
)
def test_every_format_is_found(capsys, folder, given, suffix):
    given(written(f"g.{suffix}"))
    named = ["--format", "metis"] if suffix == "graph" else []
    code, out, _ = run(capsys, "betweenness", "-", "-o", "-", "--undirected", *named)
    assert code == 0
    assert scores(out) == pytest.approx(sorted(TRUTH.values()))


def test_pace_is_found(capsys, given):
    given(
        f"c a tree\np tw 5 {len(EDGES)}\n".encode()
        + b"".join(b"%d %d\n" % (u + 1, v + 1) for u, v in EDGES)
    )
    code, out, _ = run(capsys, "betweenness", "-", "-o", "-")
    assert code == 0
    assert scores(out) == pytest.approx(sorted(TRUTH.values()))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("suffix", ["csv", "mtx"])
def test_compressed_input(capsys, folder, given, pack, suffix):
    given(pack(written(f"g.{suffix}")))
    code, out, _ = run(capsys, "betweenness", "-", "-o", "-")
    assert code == 0
    assert scores(out) == pytest.approx(sorted(TRUTH.values()))


def test_zstd_input(capsys, folder, given):
    given(pytest.importorskip("pyarrow").compress(FRIENDS.encode(), "zstd", asbytes=True))
    code, out, _ = run(capsys, "betweenness", "-", "-o", "-")
    assert (code, scores(out)) == (0, pytest.approx(sorted(TRUTH.values())))


@pytest.mark.parametrize(
    "command",
    ["betweenness", "closeness", "eccentricity", "diameter", "closure", "mcl", "info"],
)
def test_standard_input_is_the_same_as_a_file(capsys, folder, given, command):
    usual = run(capsys, command, "friends.csv")
    given(FRIENDS)
    code, out, _ = run(capsys, command, "-")
    limit = r"of .* allowed"  # of free memory
    same = [re.sub(limit, "", text) for text in (usual[1].replace("  friends.csv", "  -"), out)]
    assert code == usual[0] == 0
    assert same[0].split() == same[1].split() != []


def test_options_of_reading_reach_standard_input(capsys, given):
    given("x y z\n0 1 5\n1 2 1\n0 2 9\n")
    code, out, _ = run(
        capsys, "diameter", "-", "--skip", 1, "--weight-column", 3, "--weights", "--num-nodes", 3
    )
    assert (code, out.split()[1]) == (0, "6")


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("", "", "standard input: it is empty"),
        ("0 1\n2\n", "", "standard input:2: 1 field"),
        (b"\x1f\x8b\x08\0\0\0", "", "standard input: truncated or damaged .gz"),
        (b"PK\x03\x04 and nothing", "", "standard input"),
        ("0 1\n", "--memory 2", "standard input: "),
        ("0 1\n", "--format foo", "format='foo' is unknown"),
        ("0 1\n", "--format mtx", "standard input"),
        ("%%MatrixMarket matrix\n", "--skip 1", "skip=1 is for edge lists in text, not for mtx"),
    ],
)
def test_bad_input(capsys, given, data, options, message):
    given(data)
    assert message in refused(capsys, "info", "-", *options.split())


# ---- standard output


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "npy", "npz", "parquet"])
def test_scores_on_standard_output(capfdbinary, folder, suffix):
    """The bytes that a file of that suffix has, and nothing else."""
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    assert cli.main(["betweenness", "friends.csv", "-o", f"s.{suffix}", "--top", "0"]) == 0
    capfdbinary.readouterr()
    assert cli.main(["betweenness", "friends.csv", "-o", "-", "--to", suffix]) == 0
    found = capfdbinary.readouterr()
    if suffix == "npz":  # an archive of the time of each entry
        kept, new = np.load(f"s.{suffix}"), np.load(io.BytesIO(found.out))
        assert all((kept[name] == new[name]).all() for name in kept)
    else:
        assert found.out == Path(f"s.{suffix}").read_bytes()
    assert found.err.startswith(b"5 vertices, 5 edges, undirected")
    assert sorted(os.listdir()) == ["friends.csv", f"s.{suffix}"]


def test_the_usual_formats(capfdbinary, folder):
    """Those of --help: CSV, an edge list, a matrix, packed bits, mcl's lines."""

    def out(command):
        assert cli.main(command.split()) == 0
        return capfdbinary.readouterr().out

    assert out("closeness friends.csv -o -").startswith(b"label,degree,closeness\n")
    assert out("convert friends.csv -") == out("convert friends.csv - --to txt")
    assert b"Ada\tBob\n" in out("convert friends.csv -")
    assert out("generate grid --rows 1 --cols 3 -o -").endswith(b"\n0\t1\n1\t2\n")
    steps = dict(networkx.all_pairs_shortest_path_length(networkx.Graph(EDGES)))
    found = np.load(io.BytesIO(out("apsp friends.csv -o -")))
    assert found.tolist() == [[steps[u][v] for v in range(5)] for u in range(5)]
    assert len(np.load(io.BytesIO(out("closure friends.csv -o -")))["component"]) == 5
    assert np.load(io.BytesIO(out("closure friends.csv -o - --to npy"))).shape == (5, 5)
    assert out("mcl friends.csv -o -") == out("mcl friends.csv")
    assert os.listdir() == ["friends.csv"]


def test_a_pipe_of_several(capfd, given, folder):
    text = FRIENDS
    for command in ("convert - - --to mtx", "convert - - --to gr", "betweenness - -o -"):
        given(text)
        assert cli.main(command.split()) == 0
        text = capfd.readouterr().out
    assert scores(text) == pytest.approx(sorted(TRUTH.values()))


def test_names_of_drawn_rows_do_not_come_between(capfdbinary, folder):
    assert cli.main(["apsp", "friends.csv", "-o", "-", "--sources", "2", "--quiet"]) == 0
    found = capfdbinary.readouterr()
    assert np.load(io.BytesIO(found.out)).shape == (2, 5)
    assert len(found.err.split()) == 2


class Parts(io.RawIOBase):
    """Takes at most seven bytes at a time, as an unbuffered pipe may."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data[:7])
        return min(len(data), 7)


def test_output_that_takes_parts(folder, monkeypatch):
    raw = Parts()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, write_through=True))
    assert cli.main(["betweenness", "friends.csv", "-o", "-"]) == 0
    assert scores(raw.data.decode()) == pytest.approx(sorted(TRUTH.values()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("betweenness friends.csv -o - --json", "-o - and --json exclude each other"),
        ("betweenness friends.csv -o s.csv --to csv", "--to: only with -o -"),
        ("betweenness friends.csv --to csv", "--to: only with -o -"),
        ("betweenness friends.csv -o - --to cvs", "did you mean csv?"),
        ("convert friends.csv g.txt --to csv", "--to: only with -o -"),
        ("mcl friends.csv -o - --sweep 2,3", "-o -: not with --sweep"),
        ("convert friends.csv - --directed --to graph", "standard output: METIS holds undirected"),
    ],
)
def test_bad_output(capsys, folder, arguments, message):
    assert message in refused(capsys, *arguments.split())
    assert os.listdir() == ["friends.csv"]


def test_no_binary_data_on_a_terminal(capsys, folder, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "is a terminal" in refused(capsys, "apsp", "friends.csv", "-o", "-")
    assert run(capsys, "betweenness", "friends.csv", "-o", "-")[0] == 0


# ---- JSON


def object_of(capsys, *arguments):
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 0 and out.count("\n") == 1

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(out, parse_constant=refuse)


def test_json_of_scores(capsys, folder):
    found = object_of(capsys, "betweenness", "friends.csv", "--top", 2, "-o", "s.csv")
    assert [found[x] for x in ("command", "graph", "out")] == [
        "betweenness",
        "friends.csv",
        "s.csv",
    ]
    assert [found[x] for x in ("vertices", "edges", "directed", "weighted")] == [5, 5, False, False]
    names = ["Ada", "Bob", "Cleo", "Di", "Eve"]
    best = sorted(TRUTH, key=TRUTH.get, reverse=True)[:2]
    assert [row["label"] for row in found["top"]] == [names[v] for v in best]
    assert [row["score"] for row in found["top"]] == pytest.approx([TRUTH[v] for v in best])
    share = [TRUTH[v] / sum(TRUTH.values()) for v in best]
    assert [row["share"] for row in found["top"]] == pytest.approx(share)
    assert [row["rank"] for row in found["top"]] == [1, 2]
    edge = object_of(capsys, "edge-betweenness", "friends.csv", "--top", 1)["top"][0]
    truth = networkx.edge_betweenness_centrality(networkx.Graph(EDGES))
    (u, v), score = max(truth.items(), key=lambda item: item[1])
    assert ({edge["source"], edge["target"]}, edge["score"]) == ({names[u], names[v]}, score)


def test_json_of_the_others(capsys, folder):
    graph = networkx.Graph(EDGES)
    found = object_of(capsys, "diameter", "friends.csv", "--average", "--effective", "0.9")
    assert (found["diameter"], found["radius"]) == (
        networkx.diameter(graph),
        networkx.radius(graph),
    )
    names = ["Ada", "Bob", "Cleo", "Di", "Eve"]
    assert found["center"] == [names[v] for v in sorted(networkx.center(graph))]
    assert len(found["periphery"]) == len(networkx.periphery(graph))
    assert found["mean"] == pytest.approx(networkx.average_shortest_path_length(graph))
    Path("two.txt").write_text("0 1\n2 3\n")
    found = object_of(capsys, "diameter", "two.txt")
    assert [found[x] for x in ("diameter", "radius", "center", "periphery")] == [None] * 4
    assert object_of(capsys, "eccentricity", "two.txt")["top"][0]["score"] is None
    found = object_of(capsys, "closure", "two.txt")
    assert (found["reachable_pairs"], found["components"], found["largest_component"]) == (4, 2, 2)
    found = object_of(capsys, "mcl", "two.txt", "--sweep", "2,3")
    assert [one["members"] for one in found["clusterings"]] == [[[0, 1], [2, 3]]] * 2
    assert [row["clusters"] for row in found["quality"]] == [2, 2]
    found = object_of(capsys, "apsp", "friends.csv", "-o", "d.npy", "--sources", "2")
    assert (found["shape"], found["dtype"], len(found["sources"])) == ([2, 5], "int8", 2)
    assert np.load("d.npy").shape == (2, 5)


def test_json_of_info(capsys, folder):
    Path("g.txt").write_text("# Directed graph\n0 1 2.5\n1 2 1\n2 2 1\n5 6 4\n")
    found = object_of(capsys, "info", "g.txt")
    assert [found[x] for x in ("vertices", "edges", "directed", "rows", "self_loops")] == [
        5, 3, True, 4, 1,
    ]  # fmt: skip
    assert found["labels"] == [0, 6] and found["both_directions"] is False
    assert found["weights"] == {
        "min": 1.0, "max": 4.0, "used": False, "by_direction": False,
    }  # fmt: skip
    assert found["positions"] is None
    assert (found["components"], found["largest_component"]) == (2, 3)
    assert found["plan"]["engine"] in ("tiny", "tensor") and found["plan"]["device"] == "cpu"
    found = object_of(capsys, "info", "friends.csv")
    degree = dict(networkx.Graph(EDGES).degree).values()
    assert found["degree"] == {
        "mean": np.mean(list(degree)), "median": 2, "min": min(degree), "max": max(degree),
    }  # fmt: skip
    run(capsys, "closeness", "friends.csv", "--checkpoint", "kept")
    found = object_of(capsys, "info", "kept")
    assert found["arguments"] == ["closeness", "friends.csv", "--checkpoint", "kept"]
    assert found["folder"] == str(folder) and not found["damaged"] and not found["in_use"]


def test_every_key_of_json_is_on_the_page(capsys, folder):
    page = (DOCS / "command_line.md").read_text().partition("## JSON")[2].partition("\n## ")[0]
    known = set(re.findall(r"`(\w+)`", page))

    def keys(value):
        if isinstance(value, dict):
            yield from value
            for name, each in value.items():
                if name != "run":  # depends on the measure
                    yield from keys(each)
        elif isinstance(value, list):
            for each in value:
                yield from keys(each)

    run(capsys, "closeness", "friends.csv", "--checkpoint", "kept")
    commands = [
        "diameter friends.csv --average --effective 0.9", "apsp friends.csv -o d.npy",
        "closure friends.csv --directed", "mcl friends.csv", "info friends.csv", "info kept",
        "communities friends.csv", "prominent-group friends.csv -k 2",
        "stream friends.csv changes.txt --every 1 -o s.csv",
    ]  # fmt: skip
    Path("changes.txt").write_text("+ Ada Di\n")
    for command in commands:
        found = object_of(capsys, *command.split())
        assert set(keys(found)) <= known, command
        assert found["command"] == command.split()[0]
    options = {x: each._option_string_actions for x, each in subparsers(parser()).items()}
    with_json = {name for name, known in options.items() if "--json" in known}
    of_measures = {each["name"].replace("_", "-") for each in DECLARED}  # test_cli_measures.py
    assert with_json == {command.split()[0] for command in commands} | of_measures


# ---- outputs that cannot be written


@pytest.fixture
def idle(monkeypatch):
    """Reading a graph, or making one, is an error."""

    def never(*_, **__):
        raise AssertionError("the work was begun")

    monkeypatch.setattr(cli._common, "read_graph", never)
    monkeypatch.setattr(torchcent.generate, "grid", never)


@pytest.mark.parametrize(
    ("path", "message"),
    [("no/s{}", "no such directory"), ("taken{}", "is a directory"), ("shut/s{}", "no permission")],
)
@pytest.mark.parametrize(
    ("command", "suffix"),
    [
        ("betweenness friends.csv -o", ".csv"),
        ("closeness friends.csv -o", ".npz"),
        ("closeness friends.csv --plot", ".png"),
        ("apsp friends.csv -o", ".npy"),
        ("closure friends.csv -o", ".npz"),
        ("mcl friends.csv -o", ".txt"),
        ("communities friends.csv -o", ".txt"),
        ("prominent-group friends.csv -k 2 -o", ".csv"),
        ("group-degree friends.csv --group Bob -o", ".csv"),
        ("mcl friends.csv --plot", ".svg"),
        ("convert friends.csv", ".mtx"),
        ("generate grid --rows 2 --cols 2 -o", ".txt"),
    ],
)
def test_outputs_are_checked_first(
    capsys, folder, idle, monkeypatch, command, suffix, path, message
):
    if "--plot" in command:
        pytest.importorskip("matplotlib")
    os.mkdir("shut")
    os.mkdir(f"taken{suffix}")
    access = os.access  # root may write everywhere
    monkeypatch.setattr(
        os, "access", lambda name, mode: "shut" not in str(name) and access(name, mode)
    )
    assert message in refused(capsys, *command.split(), path.format(suffix))


@pytest.mark.parametrize(
    "arguments",
    [
        "betweenness friends.csv -o s.csv.zst", "convert friends.csv g.gml",
        "convert friends.csv g.txt.zst", "generate grid --rows 2 --cols 2 -o g.foo",
        "mcl friends.csv -o c.txt.zst", "mcl friends.csv --plot c.gif",
    ],
)  # fmt: skip
def test_formats_are_checked_first(capsys, folder, idle, arguments):
    refused(capsys, *arguments.split())


@pytest.mark.parametrize("module", ["matplotlib", "pyarrow"])
def test_packages_are_checked_first(capsys, folder, idle, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    commands = {
        "matplotlib": ("closeness friends.csv --plot p.png", "mcl friends.csv --plot p.png"),
        "pyarrow": ("closeness friends.csv -o s.parquet", "convert friends.csv g.parquet",
                    "closeness friends.csv -o - --to parquet"),
    }  # fmt: skip
    for command in commands[module]:
        assert "of the extra torchcent[" in refused(capsys, *command.split())


def rescued(err):
    """The file that the last line of the messages names."""
    return Path(re.search(r"are in (.*?)(;|$)", err.splitlines()[-1])[1])


@full
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("betweenness friends.csv -o", "s.csv"),
        ("betweenness friends.csv -o", "s.npz"),
        ("betweenness friends.csv -o", "s.parquet"),
        ("mcl friends.csv -o", "c.txt"),
        ("closure friends.csv -o", "c.npy"),
    ],
)
def test_a_full_disk_does_not_lose_the_results(capsys, folder, command, name):
    """A real refusal to write: the file is the device that is always full."""
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    os.symlink("/dev/full", name)
    code, _, err = run(capsys, *command.split(), name)
    assert code == 2
    assert re.search(rf"error: {name} could not be written \(.*No space left on device", err)
    run(capsys, *command.split(), f"other-{name}")
    kept = rescued(err)
    try:
        if name.endswith("npz"):
            assert np.load(kept)["betweenness"].tolist() == pytest.approx(list(TRUTH.values()))
        else:
            assert kept.read_bytes() == Path(f"other-{name}").read_bytes()
    finally:
        kept.unlink()
        kept.parent.rmdir()


def test_nothing_can_be_written(capsys, folder, monkeypatch, tuning):
    """Not elsewhere either: the ledger still has the work."""

    def fails(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    tuning(write_scores=fails)
    monkeypatch.setattr("tempfile.mkdtemp", fails)
    command = ["closeness", "friends.csv", "-o", "s.csv"]
    code, _, err = run(capsys, *command)
    assert code == 2 and err.endswith("the scores could not be written elsewhere either\n")
    code, _, err = run(capsys, *command, "--checkpoint", "kept")
    assert code == 2 and err.endswith("; torchcent resume kept writes them without the work\n")
    monkeypatch.undo()
    os.chdir(folder)
    assert run(capsys, "resume", "kept")[0] == 0
    assert Path("s.csv").read_text().startswith("label,degree,closeness\n")


@full
def test_standard_output_on_a_full_disk(capsys, folder, monkeypatch):
    with open("/dev/full", "wb", buffering=0) as device:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(device, write_through=True))
        code = cli.main(["betweenness", "friends.csv", "-o", "-"])
        monkeypatch.undo()
    err = capsys.readouterr().err
    kept = rescued(err)
    assert code == 2 and "standard output could not be written" in err
    assert scores(kept.read_text()) == pytest.approx(sorted(TRUTH.values()))
    kept.unlink()
    kept.parent.rmdir()


def test_a_pipe_by_name(folder):
    """A path of what is no regular file is written to, not replaced."""
    if not os.path.exists("/proc/self/fd"):
        pytest.skip("needs /proc")
    source, sink = os.pipe()
    with os.fdopen(source, "rb") as reader:
        torchcent.io.write_clusters(f"/proc/self/fd/{sink}", [[0, 2], [1]])
        os.close(sink)
        assert reader.read() == b"0\t2\n1\n"


@pytest.mark.slow
@pytest.mark.sweep(cases=3)
@pytest.mark.parametrize(
    "errors, command, files",
    [
        (False, "betweenness friends.csv -o out.csv --plot out.png", ("out.csv", "out.png")),
        (True, "betweenness friends.csv -o out.csv --plot out.png", ("out.csv", "out.png")),
        (False, "betweenness friends.csv -o out.csv --json", ("out.csv",)),
        (False, "group-degree friends.csv --group Ada,Bob -o out.csv", ("out.csv",)),
        (False, "prominent-group friends.csv -k 2 -o out.csv", ("out.csv",)),
        (False, "communities friends.csv -o out.csv", ("out.csv",)),
        (False, "closure friends.csv -o out.npz", ("out.npz",)),
        (False, "betweenness friends.csv -o - --plot out.png", ("out.png",)),
        (False, "mcl friends.csv -o out.txt --plot out.png --json", ("out.txt", "out.png")),
        (False, "mcl friends.csv -o out.txt --plot out.png", ("out.txt", "out.png")),
    ],
)
def test_a_reader_that_leaves_early_does_not_cost_the_files(folder, errors, command, files):
    """As `| head` and `2>&1 | head` with unbuffered output, or with more than a buffer holds."""
    reader, writer = os.pipe()
    os.close(reader)
    unbuffered = {**os.environ, "PYTHONUNBUFFERED": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "torchcent", *command.split()], check=False, env=unbuffered,
            stdout=writer, stderr=writer if errors else subprocess.PIPE,
        )  # fmt: skip
    finally:
        os.close(writer)
    assert done.returncode == 141
    assert all(Path(name).stat().st_size > 0 for name in files)
    if not errors:
        assert b"Traceback" not in done.stderr


@pytest.mark.slow
@full
def test_a_full_disk_for_the_table_does_not_cost_the_files(folder):
    command = [sys.executable, "-m", "torchcent", "betweenness", "friends.csv", "-o", "out.csv"]
    with open("/dev/full", "wb") as disk:
        done = subprocess.run(command, stdout=disk, stderr=subprocess.PIPE, check=False)
    assert done.returncode != 0
    assert Path("out.csv").read_text().count("\n") == 6
