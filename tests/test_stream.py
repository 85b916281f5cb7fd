"""`torchcent stream`: scores of a graph that changes, and runs that go on where they were."""

import bz2
import csv
import gzip
import inspect
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import networkx
import pytest
import torch
from commands import refused, run
from internals import COMPILED

import torchcent
from _torchcent_command import _stream as options

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled library")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
FRIENDS = [("Ada", "Bob"), ("Bob", "Cleo"), ("Cleo", "Di"), ("Di", "Bob"), ("Cleo", "Eve")]
CHANGES = "# of June\n+ Ada Eve\n- Di Bob\n\n+ Eve Fay\n+\tFay\tGus H.\n- Ada Eve\n"
MEASURES = {
    "betweenness": networkx.betweenness_centrality,
    "closeness": networkx.closeness_centrality,
    "harmonic": networkx.harmonic_centrality,
    "eccentricity": lambda graph: {
        v: max(networkx.single_source_shortest_path_length(graph, v).values()) for v in graph
    },
}


@pytest.fixture
def folder(tmp_path, monkeypatch, tuning):
    tuning(interrupted=False)
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text("".join(f"{u} {v}\n" for u, v in FRIENDS))
    Path("c.txt").write_text(CHANGES)
    return tmp_path


@pytest.fixture
def given(monkeypatch):
    """`given(text)` makes it standard input."""
    return lambda text: monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()))
    )


def rows(text, delimiter=","):
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def streamed(capsys, *arguments):
    """The rows on standard output."""
    code, out, err = run(capsys, "stream", *arguments)
    assert code == 0, err
    return rows(out)


def by_batch(found, first="change"):
    """The scores of each batch by names, under the first column."""
    batches = {}
    for row in found:
        *_, score = row.values()
        batches.setdefault(row[first], {})[row["label"]] = float(score)
    return batches


def history(chance, names, directed, count):
    """Lines of changes that have an effect, and the graph after each."""
    graph = networkx.DiGraph() if directed else networkx.Graph()
    graph.add_edges_from(FRIENDS)
    lines, graphs = [], []
    while len(lines) < count:
        u, v = chance.sample(names, 2)
        if graph.has_edge(u, v):
            graph.remove_edge(u, v)
            lines.append(f"- {u} {v}")
        else:
            graph.add_edge(u, v)
            lines.append(f"+ {u} {v}")
        graphs.append(graph.copy())
    return lines, graphs


# ---- scores


@pytest.mark.sweep
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("every", [1, 7])
def test_scores_after_each_batch(capsys, folder, name, directed, every):
    """Those of NetworkX, of all vertices that there are so far."""
    names = ["Ada", "Bob", "Cleo", "Di", "Eve", "Fay", "Gus"]
    lines, graphs = history(random.Random(f"{name} {every}"), names, directed, 30)
    Path("c.txt").write_text("\n".join(lines))
    words = ["g.txt", "c.txt", "--every", every, "--measure", name, "--grow"]
    found = by_batch(streamed(capsys, *words, *["--directed"] * directed))
    ends = [*range(every, 30, every), 30]
    assert list(map(int, found)) == ends
    for end in ends:
        assert found[str(end)] == pytest.approx(MEASURES[name](graphs[end - 1]), rel=1e-12)


@pytest.mark.parametrize(
    ("words", "function", "arguments"),
    [
        ("--state none", torchcent.betweenness, {}),
        ("--no-normalized", torchcent.betweenness, {"normalized": False}),
        ("--measure harmonic --normalized", torchcent.harmonic, {"normalized": True}),
        ("--measure closeness --no-wf-improved", torchcent.closeness, {"wf_improved": False}),
    ],
)
def test_options_of_measures(capsys, folder, words, function, arguments):
    found = by_batch(streamed(capsys, "g.txt", "c.txt", "--every", 9, "--grow", *words.split()))
    edges = {*FRIENDS, ("Eve", "Fay"), ("Fay", "Gus H.")} - {("Di", "Bob")}
    graph = torchcent.Graph.from_edges(sorted(edges), directed=False)
    expected = dict(zip(graph.labels, function(graph, **arguments).tolist(), strict=True))
    assert found == {"5": pytest.approx(expected)}


def test_every_measure_has_its_options():
    classes = {"betweenness": torchcent.DynamicBetweenness}
    assert set(options.MEASURES) == set(MEASURES)
    for name, own in options.MEASURES.items():
        known = classes.get(name, torchcent.DynamicCloseness)
        assert set(own) <= set(inspect.signature(known).parameters)
        if known is torchcent.DynamicCloseness:
            known(torchcent.DynamicGraph(torch.tensor([[0], [1]])), measure=name)


def test_only_what_has_changed(capsys, folder):
    words = ["g.txt", "c.txt", "--every", 1, "--grow"]
    every = by_batch(streamed(capsys, *words))
    found = by_batch(streamed(capsys, *words, "--changed"))
    before = MEASURES["betweenness"](networkx.Graph(FRIENDS))
    known = {}
    for change, scores in every.items():
        last = known or {name: before[name] for name in scores if name in before}
        differ = {name: x for name, x in scores.items() if x != last.get(name)}
        if change == "1":  # another program's bits
            differ = {name: x for name, x in scores.items() if x != pytest.approx(last[name])}
        assert found.get(change, {}) == differ
        known = scores
    assert set(found["5"]) < set(every["5"])


@pytest.mark.parametrize(("name", "lowest"), [("closeness", False), ("eccentricity", True)])
def test_the_first_vertices(capsys, folder, name, lowest):
    words = ["g.txt", "c.txt", "--every", 2, "--grow", "--measure", name]
    whole = by_batch(streamed(capsys, *words))
    for change, found in by_batch(streamed(capsys, *words, "--top", 3)).items():
        order = sorted(whole[change].values(), reverse=not lowest)
        assert list(found.values()) == order[:3]
        assert found.items() <= whole[change].items()
    assert streamed(capsys, *words, "--top", 0) == []


def test_times_are_copied(capsys, folder):
    Path("c.txt").write_text("+ Ada Di 2024-01-02\n+ Ada Eve 2024-01-03\n- Ada Di 2024-02-01,5\n")
    found = by_batch(streamed(capsys, "g.txt", "c.txt", "--every", 2), "time")
    assert list(found) == ["2024-01-03", "2024-02-01,5"]


def test_a_batch_is_the_sum_of_its_changes(capsys, folder):
    """In their order: edges that come and go within a batch are nothing, but their ends stay."""
    Path("c.txt").write_text("+ Ada Fay\n- Fay Ada\n- Ada Bob\n+ Bob Ada\n+ Ada Di\n")
    found = by_batch(streamed(capsys, "g.txt", "c.txt", "--every", 9, "--grow"))
    graph = networkx.Graph([*FRIENDS, ("Ada", "Di")])
    graph.add_node("Fay")
    assert found == {"5": pytest.approx(MEASURES["betweenness"](graph))}


def test_changes_without_effect(capsys, folder):
    Path("c.txt").write_text("+ Ada Bob\n- Ada Di\n+ Eve Eve\n- Ada Zoe\n+ Ada Di\n- Ada Bob\n")
    words = ["g.txt", "c.txt", "--every", 4, "--grow", "--no-strict", "-o", "s.csv", "--json"]
    code, out, _ = run(capsys, "stream", *words)
    report = json.loads(out)
    assert code == 0
    assert [report[x] for x in ("changes", "ignored", "batches", "lines")] == [6, 4, 2, 6]
    assert [report[x] for x in ("vertices", "edges", "measure")] == [5, 5, "betweenness"]
    found = by_batch(rows(Path("s.csv").read_text()))
    assert found["4"] == pytest.approx(MEASURES["betweenness"](networkx.Graph(FRIENDS)))
    edges = [*FRIENDS[1:], ("Ada", "Di")]
    assert found["6"] == pytest.approx(MEASURES["betweenness"](networkx.Graph(edges)))
    best = max(found["6"], key=found["6"].get)
    assert report["top"][0] == {"rank": 1, "label": best, "score": found["6"][best]}


def test_numbers_as_names(capsys, folder):
    Path("g.txt").write_text("0 1\n1 2\n")
    Path("c.txt").write_text("+ 2 7\n+ 7 007\n")
    found = by_batch(streamed(capsys, "g.txt", "c.txt", "--every", 2, "--grow"))
    path = networkx.Graph([("0", "1"), ("1", "2"), ("2", "7"), ("7", "007")])
    assert found == {"2": pytest.approx(MEASURES["betweenness"](path))}


# ---- where changes come from and scores go


def test_standard_input(capsys, folder, given):
    expected = streamed(capsys, "g.txt", "c.txt", "--every", 2, "--grow")
    given(CHANGES)
    assert streamed(capsys, "g.txt", "-", "--every", 2, "--grow", "-o", "-") == expected
    given(Path("g.txt").read_text())
    assert streamed(capsys, "-", "c.txt", "--every", 2, "--grow") == expected
    given(CHANGES)
    assert "one of them must be a file" in refused(capsys, "stream", "-", "-", "--every", 2)


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)])
def test_compressed_changes(capsys, folder, suffix, pack):
    expected = streamed(capsys, "g.txt", "c.txt", "--every", 2, "--grow")
    packed = pack(CHANGES.replace("\n", "\r\n").encode("utf-8-sig"))
    Path(f"c.txt.{suffix}").write_bytes(packed)
    words = ["g.txt", f"c.txt.{suffix}", "--every", 2, "--grow"]
    assert streamed(capsys, *words) == expected
    Path(f"c.txt.{suffix}").write_bytes(packed[:-9])
    err = run(capsys, "stream", *words)[2]
    assert f"c.txt.{suffix}: truncated or damaged .{suffix} file" in err


def test_files_of_scores(capsys, folder):
    """A file has the rows of standard output; names are quoted, or escaped if that is asked for."""
    Path("c.txt").write_text('+\tAda\t=a, "b"\n')
    words = ["stream", "g.txt", "c.txt", "--every", 2, "--grow"]
    out = run(capsys, *words)[1]
    assert out.splitlines()[-1] == '1,"=a, ""b""",0.0'
    assert run(capsys, *words, "-o", "s.csv")[:2] == (0, "")
    assert Path("s.csv").read_text() == out
    assert run(capsys, *words, "-o", "s.tsv", "--escape-formulas")[0] == 0
    assert Path("s.tsv").read_text().splitlines()[-1] == '1\t\'=a, "b"\t0.0'
    assert run(capsys, *words, "-o", "-", "--to", "tsv")[1].startswith("change\tlabel\tbetw")


def test_an_error_leaves_the_older_file(capsys, folder):
    Path("s.csv").write_text("as before")
    Path("c.txt").write_text("+ Ada Di\n+ Ada Di\n")
    err = refused(capsys, "stream", "g.txt", "c.txt", "--every", 1, "-o", "s.csv")
    assert "c.txt:2: Ada Di is an edge already; --no-strict skips such lines" in err
    assert Path("s.csv").read_text() == "as before" and len(os.listdir()) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("+ Ada Di\n* Ada Di\n", "c.txt:2: '*' is no change; accepted: + and -"),
        ("+Ada Di\n", "c.txt:1: '+Ada' is no change"),
        ("+ Ada\n", "c.txt:1: 2 columns; accepted: +, two vertices and, if there is one, a time"),
        ("- Ada Bob 3 4\n", "c.txt:1: 5 columns; accepted: -, two"),
        ("+\tAda\t\tDi\n", "c.txt:1: empty columns"),
        ("# x\n\n+ Ada Zoe\n", "c.txt:3: 'Zoe' is no vertex of g.txt; --grow makes new ones"),
        ("+ Ada Ada\n", "c.txt:1: Ada Ada is a loop; --no-strict"),
        ("- Ada Di\n", "c.txt:1: Ada Di is no edge; --no-strict"),
        ("- Ada Bob\n- Bob Ada\n", "c.txt:2: Bob Ada is no edge"),
        ("+ Ada Di 1\n+ Ada Eve\n", "c.txt:2: no time, but the first change has one"),
        ("+ Ada Di\n+ Ada Eve 1\n", "c.txt:2: a time, which is a column more than the first"),
        (b"+ Ada Di\n+ Ada \xff\n", "c.txt:2: byte 0xff is not UTF-8 text"),
    ],
)
def test_bad_lines(capsys, folder, text, message):
    Path("c.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert message in refused(capsys, "stream", "g.txt", "c.txt", "--every", 5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("g.txt none.txt --every 1", "none.txt: no such file"),
        ("g.txt . --every 1", ".: is a directory"),
        ("none.txt c.txt --every 1", "none.txt: no such file"),
        ("g.txt c.txt", "required: --every"),
        ("g.txt c.txt --every 0", "--every 0; accepted: 1 or more"),
        ("g.txt c.txt --every 1 --top -1", "--top -1; accepted: 0 or more"),
        ("g.txt c.txt --every 1 --top 1 --changed", "not allowed with argument --top"),
        ("g.txt c.txt --every 1 --measure degree", "invalid choice: 'degree'"),
        (
            "g.txt c.txt --every 1 --measure closeness --normalized",
            "--normalized is not for closeness",
        ),
        ("g.txt c.txt --every 1 --measure harmonic --state rows", "--state is not for harmonic"),
        ("g.txt c.txt --every 1 --wf-improved", "--wf-improved is not for betweenness"),
        ("g.txt c.txt --every 1 -o s.json", "s.json: scores of a stream are written as .csv .tsv"),
        ("g.txt c.txt --every 1 -o s.csv.gz", "are written as .csv .tsv"),
        ("g.txt c.txt --every 1 -o no/s.csv", "no such directory"),
        ("g.csv c.txt --every 1 -o g.csv", "-o g.csv is GRAPH, too"),
        ("g.txt c.csv --every 1 -o ./c.csv", "-o ./c.csv is CHANGES, too"),
        ("g.txt c.txt --every 1 --json", "--json needs -o FILE"),
        ("g.txt c.txt --every 1 -o - --json", "-o - and --json exclude each other"),
        ("g.txt c.txt --every 1 --checkpoint k.pt", "--checkpoint needs -o FILE"),
        ("g.txt c.txt --every 1 --checkpoint no/k.pt -o s.csv", "no such directory"),
        ("g.txt c.txt --every 1 --device all", "--device all"),
        ("g.txt c.txt --every 1 --weights", "--weights, but g.txt has no weights"),
        ("w.csv c.txt --every 1 --weights", "c.txt:2: 3 columns; accepted: +, two vertices, the"),
    ],
)
def test_bad_calls(capsys, folder, words, message):
    Path("w.csv").write_text("source,target,weight\nAda,Bob,2\n")
    before = sorted(os.listdir())
    assert message in refused(capsys, "stream", *words.split())
    assert sorted(os.listdir()) == before


def test_weights_are_left_out(capsys, folder):
    expected = streamed(capsys, "g.txt", "c.txt", "--every", 5, "--grow")
    text = "source,target,weight\n" + "".join(f"{u},{v},2.5\n" for u, v in FRIENDS)
    Path("w.csv").write_text(text)
    words = ["w.csv", "c.txt", "--every", 5, "--grow"]
    assert streamed(capsys, *words, "--no-weights") == expected
    code, out, err = run(capsys, "stream", *words)
    assert code == 0 and rows(out) == expected
    assert "w.csv: its weights are not used (--weights uses them as lengths" in err


@pytest.mark.parametrize("measure", ["betweenness", "closeness"])
@pytest.mark.parametrize("directed", [False, True])
def test_weights(capsys, folder, measure, directed):
    """Edges come, go and change their length, against NetworkX after each batch."""
    chance = random.Random(7)
    graph = networkx.DiGraph() if directed else networkx.Graph()
    names = list("abcdefghij")
    for _ in range(18):
        u, v = chance.sample(names, 2)
        graph.add_edge(u, v, weight=chance.randint(1, 9))
    text = "".join(f"{u},{v},{w}\n" for u, v, w in graph.edges(data="weight"))
    Path("w.csv").write_text("source,target,weight\n" + text)
    lines, every, expected = [], 4, {}
    for number in range(1, 41):
        if lines and lines[-1].startswith("-") and chance.random() < 0.5:  # another length
            u, v = lines[-1].split()[1:3]
        else:
            u, v = chance.sample(names, 2)
        if graph.has_edge(u, v):
            graph.remove_edge(u, v)
            lines.append(f"- {u} {v} day{number}")
        else:
            length = chance.randint(1, 9)
            graph.add_edge(u, v, weight=length)
            lines.append(f"+ {u} {v} {length} day{number}")
        if number % every == 0:
            name, option = {
                "betweenness": ("betweenness_centrality", "weight"),
                "closeness": ("closeness_centrality", "distance"),
            }[measure]
            expected[f"day{number}"] = getattr(networkx, name)(graph, **{option: "weight"})
    Path("c.txt").write_text("\n".join(lines) + "\n")
    options = ["--weights", "--measure", measure, *(["--directed"] if directed else [])]
    found = by_batch(streamed(capsys, "w.csv", "c.txt", "--every", every, *options), "time")
    assert found.keys() == expected.keys()
    for time_, scores in expected.items():
        assert {v: found[time_][v] for v in scores} == pytest.approx(scores, abs=1e-6)


def test_a_checkpoint_of_lengths(capsys, folder):
    Path("w.csv").write_text("source,target,weight\nAda,Bob,2\nBob,Cleo,1.5\nAda,Cleo,4\n")
    changes = ["- Ada Bob", "+ Ada Bob 5", "+ Cleo Di 0.25", "- Ada Cleo"]
    words = ["w.csv", "c.txt", "--every", 1, "--weights", "--grow"]
    for count in (2, 4):
        Path("c.txt").write_text("\n".join(changes[:count]) + "\n")
        code, _, err = run(capsys, "stream", *words, "-o", "s.csv", "--checkpoint", "k.pt")
        assert code == 0, err
    assert "continues after line 2" in err
    code, out, err = run(capsys, "stream", *words)
    assert code == 0 and Path("s.csv").read_text() == out


@pytest.mark.parametrize("length", ["0", "-1", "nan", "inf", "x"])
def test_bad_lengths(capsys, folder, length):
    Path("w.csv").write_text("source,target,weight\nAda,Bob,2\nBob,Cleo,1\n")
    Path("c.txt").write_text(f"+ Ada Cleo {length}\n")
    err = refused(capsys, "stream", "w.csv", "c.txt", "--every", 1, "--weights")
    assert f"c.txt:1: '{length}' is no length; accepted: finite numbers above 0" in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
def test_a_full_disk(capsys, folder):
    os.symlink("/dev/full", "s.csv")
    err = run(capsys, "stream", "g.txt", "c.txt", "--every", 1, "--grow", "-o", "s.csv")[2]
    assert "error: s.csv could not be written (No space left on device)" in err


# ---- a process that others write to and read from


def started(*words, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "torchcent", "stream", *map(str, words)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}, **options,
    )  # fmt: skip


@pytest.mark.slow
def test_scores_come_as_changes_do(folder):
    words = ["g.txt", "-", "--every", 1, "--top", 1, "--quiet"]
    with started(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"- Bob Cleo\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"change,label,betweenness\n"
        assert process.stdout.readline().startswith(b"1,")
        process.stdin.write(b"+ Bob Cleo\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"2,")
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


# ---- runs that go on


COMMAND = ["stream", "g.txt", "c.txt", "--every", "2", "--grow", "--state", "rows", "-o", "s.csv"]
KEPT = [*COMMAND, "--checkpoint", "kept.pt", "--quiet"]


def test_a_finished_run_goes_on(capsys, folder):
    """The same call does nothing; when CHANGES has grown, it has the scores of what is new."""
    assert run(capsys, *KEPT) == (0, "", "")
    before = Path("s.csv").read_bytes()
    code, _, err = run(capsys, *KEPT[:-1])
    assert code == 0 and err.startswith("c.txt: continues after line 7\n")
    assert Path("s.csv").read_bytes() == before
    Path("s.csv").write_bytes(before + b"what a killed run has written")
    Path("c.txt").write_text(f"{CHANGES}+ Ada Zoe\n- Fay Eve\n")
    assert run(capsys, *KEPT)[0] == 0
    found = Path("s.csv").read_bytes()
    assert found.startswith(before)
    new = by_batch(rows(found.decode()))["7"]
    edges = {*FRIENDS, ("Fay", "Gus H."), ("Ada", "Zoe")} - {("Di", "Bob")}
    assert new == pytest.approx(MEASURES["betweenness"](networkx.Graph(sorted(edges))))


def test_a_bad_line_is_mended(capsys, folder):
    """Batches before it are kept, and the next call goes on there."""
    assert run(capsys, *COMMAND)[0] == 0
    usual = Path("s.csv").read_bytes()
    Path("c.txt").write_text(CHANGES.replace("- Ada Eve", "= Ada Eve"))
    assert "c.txt:7: '=' is no change" in refused(capsys, *KEPT)
    assert usual.startswith(Path("s.csv").read_bytes()) and Path("kept.pt").exists()
    Path("c.txt").write_text(CHANGES)
    assert run(capsys, *KEPT)[0] == 0
    assert Path("s.csv").read_bytes() == usual


def edited(name, change):
    return lambda: Path(name).write_text(change(Path(name).read_text()))


@pytest.mark.parametrize(
    ("damage", "more", "message"),
    [
        (lambda: None, ["--every", "3"], "kept.pt is of another call: every is 2 there and 3 here"),
        (lambda: None, ["--top", "3"], "top is None there and 3 here"),
        (edited("g.txt", lambda text: text + "Bob Zoe\n"), [], "of another call: graph is '5 vert"),
        (edited("g.txt", lambda text: text.replace("Di", "Do")), [], "another call: names is"),
        (edited("c.txt", lambda text: text.replace("June", "July")), [], "c.txt: its first 7 line"),
        (edited("c.txt", lambda text: text[:20]), [], "c.txt: its first 7 lines are not those"),
        (edited("s.csv", lambda text: text[:-1]), [], "s.csv does not begin with the"),
        (edited("s.csv", lambda text: text.replace("Ada", "Ida")), [], "s.csv does not begin with"),
        (lambda: os.remove("s.csv"), [], "s.csv: no such file, of which --checkpoint has"),
        (lambda: Path("kept.pt").write_bytes(b"PK"), [], "kept.pt: not a file of DynamicGraph.sav"),
        (
            lambda: torchcent.DynamicGraph(torch.tensor([[0], [1]])).save("kept.pt"),
            [], "kept.pt is a graph, but no checkpoint of stream",
        ),
    ],
)  # fmt: skip
def test_checkpoints_of_something_else(capsys, folder, damage, more, message):
    assert run(capsys, *KEPT)[0] == 0
    damage()
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    assert message in refused(capsys, *KEPT, *more)
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


def test_a_checkpoint_is_no_ledger(capsys, folder):
    assert run(capsys, *KEPT)[0] == 0
    message = "kept.pt: no such folder; a file of stream --checkpoint continues with the same comm"
    assert message in refused(capsys, "resume", "kept.pt")


@POSIX
def test_another_process_at_work(capsys, folder, monkeypatch):
    assert run(capsys, *KEPT)[0] == 0
    before = Path("s.csv").read_bytes()
    with open("s.csv", "rb") as file:
        fcntl = pytest.importorskip("fcntl")
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "s.csv: another process is at work on it" in refused(capsys, *KEPT)
    assert run(capsys, *KEPT)[0] == 0 and Path("s.csv").read_bytes() == before


def test_an_interrupt(capsys, folder, monkeypatch):
    assert run(capsys, *COMMAND)[0] == 0
    usual = Path("s.csv").read_bytes()
    update, count = torchcent.DynamicGraph.update, [0]

    def interrupted(*arguments, **options):
        count[0] += 1
        if count[0] == 3:
            raise KeyboardInterrupt
        return update(*arguments, **options)

    with monkeypatch.context() as changed:
        changed.setattr(torchcent.DynamicGraph, "update", interrupted)
        code, out, err = run(capsys, *KEPT)
    assert (code, out) == (130, "")
    assert err == "torchcent: interrupted; the same command continues\n"
    assert run(capsys, *KEPT)[0] == 0
    assert Path("s.csv").read_bytes() == usual


# A process that has imported all and used no thread; its forks run the command, and kill themselves
# before or after the given number of events: updates, bytes that go to the disk, renamings.
FORKS = """
import json, os, signal, sys
import torch, torchcent
from torchcent import cli

torch.set_num_threads(1)
left = 0

def event():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def watched(owner, name):
    real = getattr(owner, name)

    def act(*arguments, **options):
        event()
        result = real(*arguments, **options)
        event()
        return result

    setattr(owner, name, act)

def status(events):
    global left
    child = os.fork()
    if child == 0:
        left = events
        os._exit(cli.main(sys.argv[1:]))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

for owner, name in ((torchcent.DynamicGraph, "update"), (os, "fsync"), (os, "replace")):
    watched(owner, name)
for line in sys.stdin:
    print(json.dumps([status(events) for events in json.loads(line)]), flush=True)
"""


@pytest.mark.slow
@POSIX
def test_killed_at_every_step(capsys, folder):
    """A run that is killed before or after every event, and goes on, has the same bytes."""
    chance = random.Random(4)
    names = ["Ada", "Bob", "Cleo", "Di", "Eve", "Fay", "Gus"]
    Path("c.txt").write_text("\n".join(history(chance, names, False, 16)[0]))
    assert run(capsys, *COMMAND)[0] == 0
    usual = Path("s.csv").read_bytes()
    Path("s.csv").unlink()
    with subprocess.Popen(
        [sys.executable, "-c", FORKS, *KEPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}, text=True,
    ) as process:  # fmt: skip

        def statuses(*events):
            process.stdin.write(f"{json.dumps(events)}\n")
            process.stdin.flush()
            found = json.loads(process.stdout.readline())
            assert Path("s.csv").read_bytes() == usual
            left = set(os.listdir()) - {"g.txt", "c.txt", "s.csv", "kept.pt"}
            assert all(name.startswith(".kept.pt.") for name in left)
            for name in (*left, "s.csv", "kept.pt"):
                os.remove(name)
            return found

        assert statuses(0) == [0]
        killed = 0
        for events in range(1, 200):
            first, second = statuses(events, 0)
            assert second == 0
            if first == 0:
                break
            assert first == -signal.SIGKILL
            killed += 1
        assert killed > 25  # 8 updates and some checkpoints
        for _ in range(5):
            *several, last = statuses(*(chance.randint(1, killed) for _ in range(3)), 0)
            assert last == 0 and set(several) <= {0, -signal.SIGKILL}
        process.stdin.close()


@POSIX
@pytest.mark.slow
def test_a_killed_process(capsys, folder):
    """kill -9 of the command itself, some moments after it has written its checkpoint."""
    edges = torchcent.generate.ba(300, 3, seed=1)
    once = edges[:, edges[0] < edges[1]]
    torchcent.write("g.npz", torchcent.EdgeList(once, None, None, 300, False))
    chance = random.Random(6)
    changes = [(chance.choice("+-"), *chance.sample(range(300), 2)) for _ in range(900)]
    Path("c.txt").write_text("".join(f"{sign} {u} {v}\n" for sign, u, v in changes))
    words = ["g.npz", "c.txt", "--every", 3, "--no-strict", "--state", "rows", "--quiet", "-o"]

    def mark():
        return os.path.exists("kept.pt") and os.stat("kept.pt").st_ino

    killed = 0
    for _ in range(2):
        before = mark()
        with started(*words, "s.csv", "--checkpoint", "kept.pt") as process:
            while process.poll() is None and mark() == before:
                time.sleep(0.002)
            time.sleep(chance.random() / 10)
            process.kill()
        killed += process.returncode == -signal.SIGKILL
    assert started(*words, "s.csv", "--checkpoint", "kept.pt").wait() == 0
    assert killed > 0
    assert run(capsys, "stream", *words, "usual.csv")[0] == 0
    assert Path("s.csv").read_bytes() == Path("usual.csv").read_bytes()


@pytest.mark.slow
def test_a_reader_that_leaves(folder):
    words = ["g.txt", "-", "--every", 1, "--grow"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with started(*words, **pipes) as process:
        process.stdout.close()
        process.stdin.write(CHANGES.encode())
        process.stdin.close()
        errors = process.stderr.read()
    assert (process.returncode, errors) == (141, b"")
