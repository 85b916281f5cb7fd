"""The command line: --device, --checkpoint, resume, and info of the folder of a run."""

import dataclasses
import functools
import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from commands import refused, run
from internals import COMPILED, MEASURES, Ledger
from runs import SMALL, calls

import torchcent
from torchcent import cli, generate

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled library")


@pytest.fixture
def folder(tmp_path, monkeypatch, tuning):
    """With a graph, on which runs have many units; it is the current one."""
    tuning(**SMALL)
    monkeypatch.chdir(tmp_path)
    edges = generate.ba(1500, 3, seed=2)
    once = edges[:, edges[0] < edges[1]]
    torchcent.write("g.npz", torchcent.EdgeList(once, None, None, 1500, False))
    Path("states.txt").write_text("".join(f"{v} {v % 7}\n" for v in range(1500)))
    return tmp_path


@pytest.fixture
def stopping(monkeypatch):
    """`stopping(k)` lets the k-th write of sums be interrupted; `stopping.written` counts them."""
    real = Ledger.keep

    def change(number):
        change.written, change.at = 0, number

    def keep(self, *args):
        change.written += 1
        if change.written == change.at:
            raise KeyboardInterrupt
        real(self, *args)

    change(None)
    monkeypatch.setattr(Ledger, "keep", keep)
    return change


def rows(text):
    return dict(re.split(r"\s{2,}", line, maxsplit=1) for line in text.splitlines())


RUNS = {
    "betweenness": "betweenness g.npz",
    "edges": "edge-betweenness g.npz",
    "stress": "stress g.npz",
    "variant": "betweenness-variant g.npz --variant linear",
    "pivots": "betweenness g.npz --sources 300 --seed 4",
    "approx": "betweenness-approx g.npz --epsilon 0.02 --seed 4",
    "percolation": "percolation g.npz --states states.txt",
    "closeness": "closeness g.npz",
    "harmonic": "harmonic g.npz --cutoff 3 --normalized",
    "eccentricity": "eccentricity g.npz --engine bits",
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", RUNS)
def test_interrupted_and_resumed(capsys, folder, stopping, name, tuning):
    tuning(exact_for_nothing=0)
    command = RUNS[name].split()
    code, usual, _ = run(capsys, *command, "-o", "usual.json")
    assert code == 0
    stopping(2)
    code, out, err = run(capsys, *command, "-o", "out.json", "--checkpoint", "a run")
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "torchcent: interrupted; torchcent resume 'a run' continues"
    assert not os.path.exists("out.json")
    stopping(None)
    code, out, err = run(capsys, "resume", "a run")
    assert (code, out) == (0, usual)
    assert err.startswith(
        f"continues torchcent {' '.join(command)} -o out.json --checkpoint 'a run'"
    )
    assert stopping.written > 0
    assert Path("out.json").read_bytes() == Path("usual.json").read_bytes()
    stopping(None)
    assert run(capsys, *command, "-o", "out.json", "--checkpoint", "a run")[:2] == (0, usual)
    assert run(capsys, "resume", "a run")[:2] == (0, usual)
    assert stopping.written == 0


def test_distances_of_all_pairs(capsys, folder, stopping):
    run(capsys, "apsp", "g.npz", "-o", "usual.npy")
    stopping(3)
    code, _, _ = run(capsys, "apsp", "g.npz", "-o", "out.npy", "--checkpoint", "run")
    assert code == 130 and not os.path.exists("out.npy")
    told = rows(run(capsys, "info", "run")[1])
    assert re.match(r"shortest_path_lengths \(bits\): 2 of 24 units, .* sources", told["search 1"])
    stopping(None)
    for _ in range(2):  # the second finds everything there
        code, _, err = run(capsys, "resume", "run")
        assert code == 0 and "1,500 x 1,500 distances, int8, in out.npy" in err
        assert Path("out.npy").read_bytes() == Path("usual.npy").read_bytes()
    assert stopping.written == 22
    assert not list(Path().glob(".out.npy.*"))


def test_closure(capsys, folder, monkeypatch):
    real, kept = Ledger.keep_unit, []

    def keep_unit(self, number, about, results):
        if len(kept) == 1:
            raise KeyboardInterrupt
        real(self, number, about, results)
        kept.append(about.units)

    arcs = calls().to_edge_index()
    torchcent.write("d.npz", torchcent.EdgeList(arcs, None, None, 3000, True))
    _, usual, _ = run(capsys, "closure", "d.npz", "-o", "usual.npz")
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "keep_unit", keep_unit)
        assert run(capsys, "closure", "d.npz", "-o", "out.npz", "--checkpoint", "run")[0] == 130
    told = rows(run(capsys, "info", "run")[1])
    assert re.match(r"transitive_closure: 1 of \d+ units, .* columns", told["search 1"])
    assert run(capsys, "resume", "run")[:2] == (0, usual)
    with np.load("out.npz") as found, np.load("usual.npz") as expected:
        assert all(np.array_equal(found[name], expected[name]) for name in expected.files)


def test_diameter_keeps_several_ledgers(capsys, folder, stopping):
    command = ["diameter", "g.npz", "--average", "--effective", "0.9", "--engine", "bits"]
    _, usual, _ = run(capsys, *command)
    stopping(2)
    assert run(capsys, *command, "--checkpoint", "run")[0] == 130
    found = rows(run(capsys, "info", "run")[1])
    assert found["command"].startswith(f"torchcent {' '.join(command)} --checkpoint run (in ")
    assert found["run"] == "diameter" and found["state"].endswith(
        "; torchcent resume run continues"
    )
    stopping(None)
    assert run(capsys, "resume", "run")[:2] == (0, usual)
    assert stopping.written > 0
    found = rows(run(capsys, "info", "run")[1])
    assert "(100.0%)" in found["mean 1"] and "(100.0%)" in found["effective 1"]
    stopping(None)
    assert run(capsys, "resume", "run")[:2] == (0, usual)
    assert stopping.written == 0


def test_resume_from_elsewhere(capsys, folder, stopping, tmp_path_factory, monkeypatch):
    """Relative paths are those of the first run; the folder itself may have been moved."""
    run(capsys, "closeness", "g.npz", "-o", "usual.npy")
    stopping(2)
    run(capsys, "closeness", "g.npz", "-o", "out.npy", "--checkpoint", "run", "--quiet")
    stopping(None)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    shutil.move(folder / "run", "moved")
    assert run(capsys, "resume", "moved")[0] == 0
    assert os.getcwd() == str(elsewhere) and sorted(os.listdir()) == ["moved"]
    assert np.array_equal(np.load(folder / "out.npy"), np.load(folder / "usual.npy"))
    assert not (folder / "run").exists()


def test_the_last_command_counts(capsys, folder, stopping):
    run(capsys, "closeness", "g.npz", "--checkpoint", "run", "--top", "1")
    again = [
        "closeness",
        "g.npz",
        "--checkpoint",
        "run",
        "--top",
        "2",
        "--no-wf-improved",
        "-o",
        "s.csv",
    ]
    _, out, _ = run(capsys, *again)
    stopping(None)
    assert run(capsys, "resume", "run")[:2] == (0, out)
    assert stopping.written == 0


def test_a_refused_command_is_not_recorded(capsys, folder, stopping):
    _, out, _ = run(capsys, "closeness", "g.npz", "--checkpoint", "run")
    refused(capsys, "closeness", "g.npz", "--checkpoint", "run", "--cutoff", "2")
    refused(capsys, "closeness", "no.npz", "--checkpoint", "run")
    assert run(capsys, "resume", "run")[:2] == (0, out)


def test_runs_without_units_continue_too(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["betweenness", "networkx:karate_club", "--checkpoint", "run"]
    _, out, _ = run(capsys, *command)
    assert run(capsys, "resume", "run")[:2] == (0, out)


# ---- info


def test_info(capsys, folder, stopping):
    stopping(6)
    run(capsys, "betweenness", "g.npz", "--checkpoint", "run", "--sources", "1400")
    before = {path: path.read_bytes() for path in Path("run").iterdir()}
    code, out, err = run(capsys, "info", "run")
    assert (code, err) == (0, "")
    assert {path: path.read_bytes() for path in Path("run").iterdir()} == before
    told = rows(out)
    assert told["ledger"] == "run"
    assert told["command"] == (
        f"torchcent betweenness g.npz --checkpoint run --sources 1400 (in {folder})"
    )
    assert re.fullmatch("betweenness, sources=[0-9a-f]{12}", told["run"])
    assert told["graph"].startswith("1,500 vertices, 8,982 slots, undirected, ")
    assert told["made by"].startswith(f"torchcent {torchcent.__version__}, PyTorch ")
    pattern = (
        r"betweenness \(lanes\): 5 of (\d+) units, (\d+) of (1,[\d,]+) sources \((.*)%\); "
        r"(\S+) s of work, about (\S+) s remain"
    )
    units, done, total, share, spent, left = re.fullmatch(pattern, told["search 1"]).groups()
    total = int(total.replace(",", ""))
    assert int(units) > 5
    assert float(share) == pytest.approx(100 * int(done) / total, abs=0.05)
    rest = float(spent) * (total - int(done)) / int(done)
    assert float(left) == pytest.approx(rest, rel=0.02)
    assert told["state"] == "unfinished; torchcent resume run continues"
    assert told["on disk"].endswith(" KiB in 3 files")
    stopping(None)
    run(capsys, "resume", "run")
    told = rows(run(capsys, "info", "run")[1])
    assert re.search(r"(\d+) of \1 units, (\S+) of \2 sources \(100.0%\); \S+ s of work$",
                     told["search 1"])  # fmt: skip
    assert told["state"].startswith("all searches that have begun are finished")


def test_info_of_a_call_in_python(capsys, tmp_path):
    torchcent.closeness(
        generate.grid(5, 5), cutoff=3.0, run=torchcent.Run(checkpoint=tmp_path / "run")
    )
    told = rows(run(capsys, "info", tmp_path / "run")[1])
    assert told["run"] == "closeness, cutoff=3.0" and "command" not in told
    assert told["state"].endswith("; the same call continues")


def test_info_names_damaged_files(capsys, folder):
    run(capsys, "closeness", "g.npz", "--checkpoint", "run")
    for name in ("search-000.npz", "command.json", "run.json"):
        path = Path("run", name)
        path.write_bytes(path.read_bytes()[:-1])
    code, out, err = run(capsys, "info", "run")
    assert (code, err) == (0, "")
    damaged = [line for line in out.splitlines() if line.startswith("damaged")]
    for line, name in zip(damaged, ("run.json", "command.json", "search-000.npz"), strict=True):
        assert re.fullmatch(rf"damaged +{name}: .*; it is not used", line)
    code, _, err = run(capsys, "closeness", "g.npz", "--checkpoint", "run")
    assert code == 0 and err.count("is damaged and is not used") == 2
    assert "\ndamaged" not in run(capsys, "info", "run")[1]


def test_info_of_nothing_finished(capsys, folder, stopping):
    stopping(1)
    run(capsys, "closeness", "g.npz", "--checkpoint", "run")
    told = rows(run(capsys, "info", "run")[1])
    assert told["state"].startswith("nothing is finished yet; ") and "search 1" not in told


def test_info_of_another_folder(capsys, folder):
    Path("mine").mkdir()
    Path("mine", "run.json").write_text('{"lr": 0.1}')
    assert "mine is no ledger: it holds 'run.json'" in refused(capsys, "info", "mine")
    Path("empty").mkdir()
    assert "empty" in refused(capsys, "info", "empty")


# ---- what goes wrong


def test_resume_of_nothing(capsys, folder):
    assert "none: no such folder" in refused(capsys, "resume", "none")
    assert "g.npz: no such folder" in refused(capsys, "resume", "g.npz")
    Path("empty").mkdir()
    assert "empty is no ledger, the folder of --checkpoint" in refused(capsys, "resume", "empty")
    assert os.listdir("empty") == []
    torchcent.closeness(generate.grid(5, 5), run=torchcent.Run(checkpoint="python"))
    assert "python has no recorded command; it is of a call" in refused(capsys, "resume", "python")
    assert "required: FOLDER" in refused(capsys, "resume")


def test_resume_with_a_damaged_command(capsys, folder):
    _, out, _ = run(capsys, "closeness", "g.npz", "--checkpoint", "run")
    path = Path("run/command.json")
    path.write_bytes(path.read_bytes().replace(b"g.npz", b"h.npz"))
    assert "command.json is damaged (truncated or changed)" in refused(capsys, "resume", "run")
    assert run(capsys, "closeness", "g.npz", "--checkpoint", "run")[:2] == (0, out)
    assert run(capsys, "resume", "run")[:2] == (0, out)


def test_resume_with_other_input(capsys, folder, stopping):
    stopping(2)
    run(capsys, "closeness", "g.npz", "--checkpoint", "run", "--quiet")
    stopping(None)
    shutil.move("g.npz", "aside.npz")
    assert "g.npz: no such file" in refused(capsys, "resume", "run")
    run(capsys, "generate", "ba", "--n", "1500", "--m", "3", "--seed", "3", "-o", "g.npz")
    err = refused(capsys, "resume", "run")
    assert re.search("holds another run: graph is '1500 .* there and '1500 .* here; pass", err)
    shutil.move("aside.npz", "g.npz")
    assert run(capsys, "resume", "run")[0] == 0


def test_resume_in_a_folder_that_is_gone(capsys, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    run(capsys, "betweenness", "networkx:karate_club", "--checkpoint", tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone").rmdir()
    assert "the command ran in" in refused(capsys, "resume", "run")


def test_resume_runs_nothing_else(capsys, folder):
    """A folder from somebody else cannot have any command run that has no --checkpoint."""
    run(capsys, "closeness", "g.npz", "--checkpoint", "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli._ledgers._records, "read_record", lambda path: {
            "arguments": ["convert", "g.npz", "g.mtx"], "folder": str(folder)})  # fmt: skip
        assert "convert cannot be continued" in refused(capsys, "resume", "run")
    assert not os.path.exists("g.mtx")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("closeness g.npz --device gpu", "--device gpu; accepted: cpu"),
        ("closeness g.npz --device cuda:99", "--device cuda:99; accepted: cpu"),
        ("mcl g.npz --device x", "--device x; accepted: cpu"),
        ("diameter g.npz --device x", "--device x; accepted: cpu"),
        ("apsp g.npz -o d.npy --device x", "--device x; accepted: cpu"),
        ("closure g.npz --device x", "--device x; accepted: cpu"),
        ("closeness g.npz --memory 0", "--memory 0; accepted: 1 or more bytes"),
        ("closeness g.npz --memory=-4G", "; accepted: 1 or more bytes"),
        ("closeness g.npz --memory 4Q", "argument --memory: '4Q' is not a size such as 500M or 4G"),
        ("mcl g.npz --threads 0", "--threads 0; accepted: 1 to 4096"),
        ("closeness g.npz --checkpoint g.npz", "g.npz' is a file; accepted: a new or empty folder"),
        ("closeness g.npz --checkpoint .", "is no ledger: it holds"),
        ("mcl g.npz --checkpoint x", "unrecognized arguments: --checkpoint"),
        ("diameter g.npz --checkpoint .", "'.' is not of this command: it holds 'g.npz'; accepted"),
        ("closure g.npz --device all", "--device all: closure uses one device"),
        ("apsp g.npz -o d.csv", "d.csv: unknown suffix '.csv'; accepted: .npy, .zarr"),
        ("betweenness-approx none.npz --epsilon 0.1 --time-limit 9 --checkpoint x",
         "time_limit and checkpoint exclude each other"),
    ],
)  # fmt: skip
def test_errors(capsys, folder, arguments, message):
    before = sorted(os.listdir())
    assert message in refused(capsys, *arguments.split())
    assert sorted(os.listdir()) == before


def test_no_cuda(capsys, folder, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    err = refused(capsys, "closeness", "g.npz", "--device", "cuda")
    assert "--device cuda; accepted: cpu; this PyTorch finds no CUDA device" in err


def test_some_cuda(capsys, folder, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    err = refused(capsys, "closeness", "g.npz", "--device", "cuda:2")
    assert "--device cuda:2; accepted: cpu, cuda, all, cuda:0, cuda:1" in err


@pytest.mark.parametrize(
    ("text", "number"), [("4G", 2**32), ("512M", 2**29), ("1.5m", 3 * 2**19), ("1000000000", 10**9)]
)
def test_memory(capsys, folder, monkeypatch, text, number):
    given = []

    @functools.wraps(torchcent.closeness)
    def closeness(graph, **more):
        given.append(more)
        return graph.degree.double()

    measure = dataclasses.replace(MEASURES["closeness"], function=closeness)
    monkeypatch.setitem(MEASURES, "closeness", measure)
    assert run(capsys, "closeness", "g.npz", "--memory", text, "--device", "cpu")[0] == 0
    assert given[0]["run"].memory == number and given[0]["run"].checkpoint is None


def test_recorded_as_json(capsys, folder):
    run(capsys, "closeness", "g.npz", "--checkpoint", "run", "--quiet")
    value = json.loads(Path("run/command.json").read_text())["value"]
    arguments = ["closeness", "g.npz", "--checkpoint", "run", "--quiet"]
    assert value == {"arguments": arguments, "folder": str(folder)}
