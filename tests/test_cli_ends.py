"""The command line at a terminal and in a batch system: how runs end, and the manual pages."""

import dataclasses
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import refused, run
from internals import COMPILED, MEASURES, Ledger
from runs import SMALL

import _torchcent_command
import torchcent
from _torchcent_command._parser import parser, subparsers
from torchcent import generate

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
LEDGERS = pytest.mark.skipif(not COMPILED, reason="needs the compiled library")
MANUAL = pytest.mark.skipif(find_spec("argparse_manpage") is None, reason="needs argparse-manpage")
#: signals that end a run, the exit status of each, and what is said
ENDS = {
    "SIGTERM": (143, "ended by SIGTERM"),
    "SIGUSR1": (138, "ended by SIGUSR1"),
    "SIGALRM": (124, "the time limit is reached"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch, tuning):
    """With a graph, on which runs have many units; it is the current one."""
    tuning(**SMALL, interrupted=False)
    monkeypatch.chdir(tmp_path)
    edges = generate.ba(1500, 3, seed=2)
    once = edges[:, edges[0] < edges[1]]
    torchcent.write("g.npz", torchcent.EdgeList(once, None, None, 1500, False))
    return tmp_path


@pytest.fixture
def signalled(monkeypatch):
    """`signalled(name)` lets this process get a signal when a ledger keeps its second sums."""
    real, state = Ledger.keep, {"name": None, "count": 0}

    def keep(self, *args):
        state["count"] += 1
        if state["count"] == 2 and state["name"] is not None:
            os.kill(os.getpid(), getattr(signal, state["name"]))
            time.sleep(0.1)  # the signal is handled by the main thread
        real(self, *args)

    monkeypatch.setattr(Ledger, "keep", keep)
    return lambda name: state.update(name=name, count=0)


@POSIX
@LEDGERS
@pytest.mark.parametrize("name", ENDS)
def test_a_signal_ends_a_run_with_its_ledger(capsys, folder, signalled, name):
    status, said = ENDS[name]
    assert run(capsys, "betweenness", "g.npz", "-o", "usual.json")[0] == 0
    usual = [signal.getsignal(getattr(signal, each)) for each in ENDS]
    signalled(name)
    limit = ["--time-limit", "1h"] if name == "SIGALRM" else []
    command = ["betweenness", "g.npz", "-o", "out.json", "--checkpoint", "a run", *limit]
    code, out, err = run(capsys, *command)
    assert (code, out) == (status, "")
    assert err.splitlines()[-1] == f"torchcent: {said}; torchcent resume 'a run' continues"
    assert not os.path.exists("out.json")
    assert [signal.getsignal(getattr(signal, each)) for each in ENDS] == usual
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    signalled(None)
    code, _, err = run(capsys, "resume", "a run", "--quiet")
    assert (code, err) == (0, "")
    assert Path("out.json").read_bytes() == Path("usual.json").read_bytes()


def instead(monkeypatch, act):
    """Puts a function in the place of betweenness."""

    @functools.wraps(torchcent.betweenness)
    def function(*_, **__):
        act()
        raise AssertionError("it went on")

    measure = dataclasses.replace(MEASURES["betweenness"], function=function)
    monkeypatch.setitem(MEASURES, "betweenness", measure)


@POSIX
def test_the_time_limit(capsys, folder, monkeypatch):
    instead(monkeypatch, lambda: time.sleep(60))
    command = ["betweenness", "g.npz", "--checkpoint", "run", "--time-limit", "0.05"]
    code, out, err = run(capsys, *command)
    assert (code, out) == (124, "")
    assert err.splitlines()[-1] == "torchcent: the time limit is reached"  # nothing is kept yet


@POSIX
def test_a_signal_without_a_ledger(capsys, folder, monkeypatch):
    instead(monkeypatch, lambda: signal.raise_signal(signal.SIGTERM))
    code, out, err = run(capsys, "betweenness", "g.npz", "-o", "out.csv")
    assert (code, out) == (143, "") and err.endswith("torchcent: ended by SIGTERM\n")
    assert not os.path.exists("out.csv")


@POSIX
def test_signals_that_others_handle_are_theirs(capsys, folder, monkeypatch):
    heard = []
    for name in ("SIGTERM", "SIGUSR1"):
        number = getattr(signal, name)
        usual = signal.signal(number, lambda number, _: heard.append(number))
        try:
            instead(monkeypatch, lambda number=number: signal.raise_signal(number))
            with pytest.raises(AssertionError, match="it went on"):
                run(capsys, "betweenness", "g.npz")
        finally:
            signal.signal(number, usual)
    assert heard == [signal.SIGTERM, signal.SIGUSR1]


def test_another_thread_has_no_signals(capsys, folder):
    codes = []
    limited = ["closeness", "g.npz", "--checkpoint", "run", "--time-limit", "60"]
    thread = threading.Thread(target=lambda: codes.append(run(capsys, "degree", "g.npz")[0]))
    thread.start()
    thread.join()
    thread = threading.Thread(target=lambda: codes.append(refused(capsys, *limited)))
    thread.start()
    thread.join()
    assert codes[0] == 0 and "no clock here that interrupts" in codes[1]


@pytest.mark.slow
@POSIX
@LEDGERS
def test_a_process_that_a_batch_system_ends(tmp_path):
    """`python -m torchcent` and SIGTERM, once its ledger is there."""
    index = generate.ba(20_000, 8, seed=1)
    torchcent.write(tmp_path / "g.npz", torchcent.EdgeList(index, directed=False))
    words = ["betweenness", "g.npz", "--checkpoint", "run", "--engine", "lanes", "--threads", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "torchcent", *words], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        while process.poll() is None and not (tmp_path / "run" / "run.json").exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
    assert (process.returncode, out) == (143, ""), err
    assert err.endswith("torchcent: ended by SIGTERM; torchcent resume run continues\n")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5", 1.5), ("90s", 90), ("90m", 5400), ("11.5h", 41400), ("2d", 172800)]
    + [("1:30", 90), ("11:30:00", 41400)],
)
def test_times(text, seconds):
    words = ["betweenness", "g.npz", "--checkpoint", "run", "--time-limit", text]
    assert parser().parse_args(words).stop_after == seconds


@pytest.mark.parametrize("text", ["", "0", "-1", "5x", "1:2:3:4", "nan", "inf", "h", "1:-2"])
def test_times_that_are_none(capsys, text):
    err = refused(capsys, "betweenness", "g.npz", f"--time-limit={text}")
    assert f"{text!r} is not a time such as 600, 90m, 11.5h or 11:30:00" in err


def test_a_limit_without_a_ledger(capsys, folder):
    err = refused(capsys, "betweenness", "g.npz", "--time-limit", "60")
    assert "--time-limit needs --checkpoint FOLDER" in err
    # that of an estimate is another thing
    assert (
        run(capsys, "betweenness-approx", "g.npz", "--time-limit", "60", "--epsilon", "0.1")[0] == 0
    )


@LEDGERS
def test_resume(capsys, folder):
    words = ["closeness", "g.npz", "-o", "out.csv", "--checkpoint", "run", "--quiet"]
    assert run(capsys, *words)[0] == 0
    code, out, err = run(capsys, "resume", "run")
    assert code == 0 and err.count("\n") == 0  # the command was quiet, too
    again = run(capsys, "resume", "run", "--quiet")
    assert again == (0, out, "")


# ---- what newcomers type


def test_the_command_alone(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["torchcent"])
    assert _torchcent_command.main() == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: torchcent ") and "betweenness" in out
    assert run(capsys)[:2] == (0, out)


def test_edges(capsys, tmp_path, monkeypatch):
    """`betweenness --edges` is `edge-betweenness`, with its options."""
    monkeypatch.chdir(tmp_path)
    Path("g.csv").write_text("source,target\na,b\nb,c\nc,d\n")
    expected = run(capsys, "edge-betweenness", "g.csv", "--no-normalized")
    words = ["betweenness", "g.csv", "--edges", "--no-normalized"]
    assert run(capsys, *words)[:2] == expected[:2]
    assert "--endpoints" in refused(capsys, "betweenness", "g.csv", "--edges", "--endpoints")
    assert "--edges" in refused(capsys, "closeness", "g.csv", "--edges")


def test_info_of_a_directed_graph(capsys, tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("source,target\na,b\na,c\na,d\nb,d\n")
    out = run(capsys, "info", path, "--directed")[1]
    rows = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in out.split("\n\n")[0].splitlines())
    assert rows["out-degree"] == "1.00 neighbours on average, median 0.5, from 0 to 3"
    assert rows["in-degree"] == "1.00 neighbours on average, median 1, from 0 to 2"
    assert rows["low degree"] == "2 of out-degree 0, 1 of 1; 1 of in-degree 0"
    assert "degree       2.00 neighbours on average" in run(capsys, "info", path)[1]


# ---- manual pages


@MANUAL
def test_every_subcommand_has_a_page():
    from _torchcent_command._man import pages

    texts = pages()
    commands = subparsers(parser())
    assert set(texts) == {"torchcent", *(f"torchcent-{name}" for name in commands)}
    for name, each in commands.items():
        text = texts[f"torchcent-{name}"]
        assert text.startswith(f'.TH TORCHCENT\\-{name.upper().replace("-", chr(92) + "-")} "1"')
        for action in each._actions:
            for flag in action.option_strings:
                if action.help != "==SUPPRESS==" and flag not in ("-h", "--help"):
                    assert flag.replace("-", "\\-") in text, (name, flag)
        assert (
            f"torchcent\\-{name}(1)".replace("-", "\\-").replace("\\\\", "\\") in texts["torchcent"]
        )


@MANUAL
@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("words", [[], ["mcl"], ["betweenness"], ["generate"]])
def test_pages_are_troff(capsys, words):
    code, text, _ = run(capsys, "man", *words)
    assert code == 0
    done = subprocess.run(
        ["groff", "-man", "-wmac", "-Tascii"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "macro" not in done.stderr  # lines that cannot be adjusted are no fault
    plain = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "GRAPH is a file (edge lists .txt .tsv" in plain and ".gml, .npz, .npy" in plain


def test_pages_that_are_refused(capsys, monkeypatch):
    assert "invalid choice: 'mlc'" in refused(capsys, "man", "mlc")
    monkeypatch.setitem(sys.modules, "argparse_manpage", None)
    monkeypatch.setitem(sys.modules, "argparse_manpage.manpage", None)
    err = refused(capsys, "man")
    assert "manual pages need argparse-manpage, of the extra torchcent[completion]" in err


@pytest.mark.parametrize(
    "words",
    [
        ["betweenness", "g.csv", "-o", "./g.csv"],
        ["betweenness", "g.csv", "--coordinates", "p.csv", "-o", "p.csv"],
        ["mcl", "g.csv", "-o", "g.csv"],
        ["rewired", "g.csv", "-o", "g.csv"],
        ["bridges", "g.csv", "-o", "g.csv"],
        ["stream", "g.csv", "c.txt", "--every", "1", "-o", "g.csv"],
        ["stream", "g.csv", "c.csv", "--every", "1", "-o", "c.csv"],
        ["percolation", "g.csv", "--states", "p.csv", "-o", "p.csv"],
        ["mcl", "g.csv", "--use-tab", "c.txt", "-o", "c.txt"],
        ["mcl", "g.mci", "-write-graph", "g.mci", "-o", "x.txt"],
    ],
)
def test_what_is_read_is_not_replaced(capsys, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    texts = {"g.csv": "source,target\n0,1\n1,2\n", "p.csv": "id,x,y\n0,1,1\n"}
    texts |= {"c.txt": "+ 0 2\n", "c.csv": "+ 0 2\n", "g.mci": "(mclheader"}
    for name, text in texts.items():
        Path(name).write_text(text)
    assert ", too; accepted: another file" in refused(capsys, *words)
    assert {name: Path(name).read_text() for name in texts} == texts
    assert run(capsys, "convert", "g.csv", "g.csv")[0] == 0  # which keeps the graph
