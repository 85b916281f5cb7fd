"""Graphs that change in files: what is read is what was written, to the bit, and goes on alike."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import torch
from graphs import DEVICE, edge_index, path
from internals import has_kernel

import torchcent
from torchcent import (
    DynamicBetweenness,
    DynamicCloseness,
    DynamicCounts,
    DynamicGraph,
    DynamicPageRank,
    Graph,
    Run,
)

pytestmark = pytest.mark.skipif(
    DEVICE.type != "cpu" or not has_kernel("dynamic_rows", DEVICE), reason="is on the CPU, compiled"
)

#: makers of measures, each with the state that its statistics have
MEASURES = {
    "rows": lambda graph: DynamicBetweenness(graph, state="rows"),
    "none": lambda graph: DynamicBetweenness(graph, state="none", normalized=False),
    "whole": lambda graph: DynamicBetweenness(graph, state="whole"),
    "pivots": lambda graph: DynamicBetweenness(
        graph, sources=7, state="rows", generator=torch.Generator().manual_seed(3)
    ),
    "closeness": lambda graph: DynamicCloseness(graph, wf_improved=False),
    "harmonic": lambda graph: DynamicCloseness(graph, measure="harmonic", normalized=True),
    "eccentricity": lambda graph: DynamicCloseness(graph, measure="eccentricity"),
    "core_number": lambda graph: DynamicCounts(graph, measure="core_number"),
    "clustering": lambda graph: DynamicCounts(graph, measure="clustering_coefficient"),
    "pagerank": lambda graph: DynamicPageRank(graph, tol=1e-14),
}
COMPUTES = {"_start", "_of", "_compute_whole"}  # methods that compute all scores
BETWEEN = MEASURES["rows"]


def columns(edges):
    return torch.tensor(sorted(edges), dtype=torch.int64).reshape(-1, 2).T


def batch(chance, n):
    """Changes between n vertices; some make new ones."""
    most = n + chance.randint(0, 2)
    insert = [(chance.randrange(most), chance.randrange(most)) for _ in range(chance.randint(0, 6))]
    delete = [(chance.randrange(n), chance.randrange(n)) for _ in range(chance.randint(0, 12))]
    return columns(insert), columns(delete)


def change(graph, changes):
    return graph.update(*changes, grow=True, strict=False)


def random_graph(directed=False, n=30):
    chance = random.Random(5)
    edges = {(chance.randrange(n), chance.randrange(n)) for _ in range(2 * n)}
    return DynamicGraph(columns(edges), n, directed)


def same(found, expected):
    assert type(found) is type(expected)
    torch.testing.assert_close(found.scores, expected.scores, rtol=0, atol=0, equal_nan=True)
    assert torch.equal(found.changed, expected.changed)
    assert found.statistics.state == expected.statistics.state
    assert found.statistics.sources == expected.statistics.sources
    assert found.statistics.recomputed == expected.statistics.recomputed


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", MEASURES)
def test_what_is_read_is_what_was_written(tmp_path, monkeypatch, name, directed):
    """Scores, changes and statistics after a history, and after more of it."""
    graph, chance = random_graph(directed), random.Random(name)
    measure = MEASURES[name](graph)
    for _ in range(4):
        change(graph, batch(chance, graph.num_nodes))
    graph.save(tmp_path / "graph.pt", measure)
    with monkeypatch.context() as changed:
        for method in COMPUTES & set(vars(type(measure))):
            changed.delattr(type(measure), method)
        found, [again] = DynamicGraph.load(tmp_path / "graph.pt")
        assert found.snapshot() == graph.snapshot() and found.directed == directed
        assert again.statistics == measure.statistics
        same(again, measure)
    for _ in range(4):
        changes = batch(chance, graph.num_nodes)
        assert change(found, changes).inserted == change(graph, changes).inserted
        same(again, measure)
    new = MEASURES[name](graph)
    torch.testing.assert_close(again.scores, new.scores, rtol=1e-12, atol=0, equal_nan=True)


def test_rows_are_kept(tmp_path):
    """With rows the sums of all sources are there, and one edge touches few of them."""
    graph = DynamicGraph(torchcent.generate.ba(200, 3, seed=1), directed=False)
    BETWEEN(graph).scores  # noqa: B018
    measure = BETWEEN(graph)
    before = measure.scores
    graph.save(tmp_path / "graph.pt", measure)
    assert (tmp_path / "graph.pt").stat().st_size > 200 * 200 * 25
    found, [again] = DynamicGraph.load(tmp_path / "graph.pt")
    del graph, measure
    found.update(insert=torch.tensor([[150], [199]]), strict=False)
    assert again.statistics.recomputed < 200
    assert again.changed.tolist() == (again.scores != before).nonzero().flatten().tolist()


@pytest.mark.parametrize("names", [[], ["rows"], ["eccentricity", "rows", "none"]])
def test_several_measures_and_none(tmp_path, names):
    graph = random_graph()
    measures = [MEASURES[name](graph) for name in names]
    graph.save(tmp_path / "graph.pt", *measures)
    found, again = DynamicGraph.load(str(tmp_path / "graph.pt"))
    assert found.snapshot() == graph.snapshot()
    for one, other in zip(again, measures, strict=True):
        assert vars(one).keys() == vars(other).keys()  # nothing was computed for the file
        same(one, other)
    assert len(found._measures) == len(names)


def test_rows_of_long_paths(tmp_path):
    """Distances of four bytes, which a byte would not hold."""
    graph = DynamicGraph(edge_index(path(300)), directed=False)
    measure = BETWEEN(graph)
    assert measure.scores.shape == (300,)
    graph.save(tmp_path / "graph.pt", measure)
    found, [again] = DynamicGraph.load(tmp_path / "graph.pt")
    found.update(insert=torch.tensor([[0], [299]]))
    assert torch.equal(again.scores, BETWEEN(found).scores)


def test_labels_stay(tmp_path):
    named = Graph.from_edges([("a", "b"), ("b", "ü c")], directed=False)
    graph = DynamicGraph(named)
    graph.save(tmp_path / "graph.pt")
    found, _ = DynamicGraph.load(tmp_path / "graph.pt")
    assert list(found.snapshot().labels) == ["a", "b", "ü c"]


def test_after_a_failure(tmp_path, monkeypatch):
    """A measure that has nothing to keep, because an update failed, is computed when it is read."""
    graph = DynamicGraph(edge_index(path(5)), directed=False)
    measure = BETWEEN(graph)
    expected = measure.scores

    def fails(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(DynamicBetweenness, "_repair", fails)
        with pytest.raises(KeyboardInterrupt):
            graph.update(insert=torch.tensor([[0], [4]]))
    graph.save(tmp_path / "graph.pt", measure)
    _, [again] = DynamicGraph.load(tmp_path / "graph.pt")
    assert torch.equal(again.scores, expected)


def test_the_file_is_plain(tmp_path):
    """torch.load reads it with weights_only, and it says what it is."""
    graph = random_graph()
    graph.save(tmp_path / "graph.pt", BETWEEN(graph))
    content = torch.load(tmp_path / "graph.pt", weights_only=True)
    assert content["format"] == "torchcent.DynamicGraph"
    assert (content["version"], content["torchcent"]) == (1, torchcent.__version__)
    assert [each["name"] for each in content["measures"]] == ["DynamicBetweenness"]


@pytest.mark.slow
def test_what_looks_like_a_call(tmp_path):
    """Bytes of the pickle that are text or sizes are no names of functions, whatever they are."""
    for n in range(2, 70):
        graph = DynamicGraph(edge_index(path(n)), directed=False)
        measure = BETWEEN(graph)
        assert measure.scores.shape == (n,)
        graph.save(tmp_path / "graph.pt", measure)
        _, [again] = DynamicGraph.load(tmp_path / "graph.pt")
        assert torch.equal(again.scores, measure.scores)
    names = ["cab\ncd\n", "ctorch\nempty\n", "x"]
    edges = {"edge_index": torch.tensor([[0, 1], [1, 2]]), "labels": names}
    torch.save(edges, tmp_path / "edges.pt")
    assert torchcent.read(tmp_path / "edges.pt").labels.tolist() == names
    torch.save(edges | {"call": Harmful()}, tmp_path / "edges.pt")
    with pytest.raises(ValueError, match="holds .*mkdir; accepted"):
        torchcent.read(tmp_path / "edges.pt")


# ---- files that are something else


@pytest.fixture
def file(tmp_path):
    graph = random_graph()
    measure, close = BETWEEN(graph), MEASURES["harmonic"](graph)
    assert measure.scores.shape == close.scores.shape == (30,)
    graph.save(tmp_path / "graph.pt", measure, close)
    return tmp_path / "graph.pt"


def test_truncated_files(file):
    whole = file.read_bytes()
    for size in [0, 1, 2, 30, *range(100, len(whole), len(whole) // 40), len(whole) - 1]:
        file.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"graph\.pt: not a file of DynamicGraph\.save"):
            DynamicGraph.load(file)


def test_changed_bytes(file):
    """Every entry of the archive has a checksum."""
    whole, chance = file.read_bytes(), random.Random(2)
    with zipfile.ZipFile(file) as archive:
        entries = [each for each in archive.infolist() if each.file_size]
    assert len(entries) > 8
    for entry in entries:
        at = entry.header_offset
        names = int.from_bytes(whole[at + 26 : at + 28], "little")  # what precedes the bytes
        names += int.from_bytes(whole[at + 28 : at + 30], "little")
        changed = bytearray(whole)
        changed[at + 30 + names + chance.randrange(entry.file_size)] ^= 1 << chance.randrange(8)
        file.write_bytes(changed)
        with pytest.raises(ValueError, match=r"graph\.pt: not a file of DynamicGraph\.save"):
            DynamicGraph.load(file)


class Harmful:
    def __reduce__(self):
        return os.mkdir, ("harm",)


def with_state(**values):
    def alter(content):
        content["measures"][0]["state"] |= values
        return content

    return alter


def with_rows(**values):
    def alter(content):
        content["measures"][0]["state"]["_rows"] |= values
        return content

    return alter


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (lambda content: content | {"version": 2}, "is of version 2, of torchcent .*up to version"),
        (lambda content: content | {"version": "x"}, "not a file of DynamicGraph.save .version"),
        (lambda content: content | {"format": "other"}, r"\(another file\)"),
        (lambda content: content["graph"], r"a Graph, which Graph\.load reads"),
        (lambda content: content["graph"]["col"], r"\(another file\)"),
        (lambda content: content | {"graph": 7}, "its format is not named"),
        (lambda content: content | {"measures": 7}, "measures are missing"),
        (
            lambda content: content | {"graph": content["graph"] | {"directed": 3}},
            "'directed' is not True or False",
        ),
        (
            lambda content: content | {"measures": [{"name": "Pickle", "state": {}}]},
            "no measure is called Pickle",
        ),
        (
            lambda content: content | {"measures": [{"name": "DynamicBetweenness", "state": {}}]},
            "DynamicBetweenness: AttributeError",
        ),
        (with_state(_rows={"record": "Popen"}), "DynamicBetweenness: KeyError 'Popen'"),
        (with_state(_rows=3), "DynamicBetweenness: AttributeError"),
        (with_rows(sources=torch.arange(29)), "sources of another graph"),
        (with_rows(sources=torch.arange(30).flip(0)), "rows of other sources"),
        (with_rows(distance=torch.zeros(30, 29, dtype=torch.uint8)), "distance of another graph"),
        (with_rows(distance=torch.zeros(30, 30)), "distance of another graph"),
        (
            with_rows(distance=torch.full((30, 30), 30, dtype=torch.uint8)),
            "distances beyond the graph",
        ),
        (
            with_rows(distance=torch.full((30, 30), -1, dtype=torch.int32)),
            "distances beyond the graph",
        ),
        (with_rows(paths=torch.zeros(30, 30)), "paths of another graph"),
        (with_rows(sums=torch.zeros(30, 2)), "sums of another graph"),
        (lambda content: content | {"more": Harmful()}, "it holds"),
    ],
)
def test_other_contents(file, monkeypatch, alter, said):
    monkeypatch.chdir(file.parent)
    content = alter(torch.load(file, weights_only=True))
    torch.save(content, file)
    with pytest.raises(ValueError, match=said):
        DynamicGraph.load(file)
    assert not Path("harm").exists()


def test_other_files(tmp_path):
    graph = random_graph()
    graph.snapshot().save(tmp_path / "frozen.pt")
    with pytest.raises(ValueError, match=r"frozen\.pt: not a file .* which Graph\.load reads"):
        DynamicGraph.load(tmp_path / "frozen.pt")
    graph.save(tmp_path / "graph.pt")
    with pytest.raises(ValueError, match=r"not a file of Graph\.save"):
        Graph.load(tmp_path / "graph.pt")
    with pytest.raises(FileNotFoundError, match="none.pt: no such file"):
        DynamicGraph.load(tmp_path / "none.pt")
    with pytest.raises(ValueError, match="a directory"):
        DynamicGraph.load(tmp_path)
    (tmp_path / "edges.txt").write_text("0 1\n")
    with pytest.raises(ValueError, match="no zip archive"):
        DynamicGraph.load(tmp_path / "edges.txt")


def test_malformed_calls(tmp_path):
    graph, other = random_graph(), random_graph()
    follows = BETWEEN(other)
    with pytest.raises(ValueError, match=r"measures\[0\] follows another graph"):
        graph.save(tmp_path / "graph.pt", follows)
    with pytest.raises(TypeError, match=r"measures\[1\] must be a measure of this graph, got 'x'"):
        other.save(tmp_path / "graph.pt", follows, "x")
    with pytest.raises(TypeError, match="path must be"):
        graph.save(7)
    with pytest.raises(FileNotFoundError, match="no such directory"):
        graph.save(tmp_path / "none" / "graph.pt")
    assert not list(tmp_path.iterdir())


# ---- processes that are killed

WRITER = """
import sys, torch, torchcent
graph, [measure] = torchcent.DynamicGraph.load(sys.argv[1])
print("ready", flush=True)
while True:
    graph.update(insert=torch.tensor([[0], [graph.num_nodes]]), grow=True)
    graph.save(sys.argv[1], measure)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("wait", [0.02, 0.2])
def test_a_killed_process_leaves_a_whole_file(tmp_path, wait):
    graph = DynamicGraph(torchcent.generate.ba(300, 3, seed=1), directed=False)
    measure = BETWEEN(graph)
    assert measure.scores.shape == (300,)
    file = tmp_path / "graph.pt"
    graph.save(file, measure)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        before = file.stat().st_ino
        with contextlib.suppress(TimeoutError):
            while file.stat().st_ino == before:  # it has saved once
                time.sleep(0.001)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
    found, [again] = DynamicGraph.load(file)
    assert found.num_nodes > 300
    new = DynamicBetweenness(found, state="none", run=Run(progress=False))
    assert torch.equal(again.scores, new.scores)
    assert all(each.name.startswith(".graph.pt.") for each in tmp_path.iterdir() if each != file)


def test_narrow_rows_are_computed_again(tmp_path):
    """Those of CUDA, which the CPU has no operators for."""
    graph = random_graph()
    measure = BETWEEN(graph)
    expected = measure.scores.clone()
    measure._narrow, measure._rows.paths = True, measure._rows.paths.int()
    graph.save(tmp_path / "graph.pt", measure)
    other, [restored] = DynamicGraph.load(tmp_path / "graph.pt")
    assert torch.equal(restored.scores, expected) and restored.statistics.state == "rows"
    other.update(insert=columns([(0, 1), (2, 3), (4, 9)]), strict=False)
    assert torch.equal(restored.scores, BETWEEN(other).scores)
