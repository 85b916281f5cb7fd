"""The command ``torchcent`` as a process: Ctrl-C and SIGKILL at any moment."""

import contextlib
import gc
import re
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphs import edge_index, random_graph
from internals import handle_interrupt
from tuning import Tuning

import _torchcent_command
import torchcent
from torchcent import cli
from torchcent.io import replacing

ROOT = Path(__file__).resolve().parents[1]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture
def handler(tuning: Tuning) -> Iterator[None]:
    """The command's handler of Ctrl-C."""
    tuning(interrupted=False)
    usual, hook = signal.signal(signal.SIGINT, handle_interrupt), sys.unraisablehook
    yield
    signal.signal(signal.SIGINT, usual)
    sys.unraisablehook = hook


def started(text: str, *arguments: str) -> subprocess.Popen[str]:
    """A process that says when it has come to its first line."""
    text = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + text
    return subprocess.Popen(
        [sys.executable, "-c", f"print('first line', flush=True)\n{text}", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_interrupt_while_importing():
    """Within the import of PyTorch: no traceback, no ImportError of something half loaded."""
    with started(
        "import sys, _torchcent_command; sys.exit(_torchcent_command.main())", "config"
    ) as run:
        assert run.stdout is not None and run.stdout.readline() == "first line\n"
        threading.Event().wait(0.3)
        run.send_signal(signal.SIGINT)
        out, errors = run.communicate()
    assert (run.returncode, out, errors) == (130, "", "torchcent: interrupted\n")


@pytest.mark.slow
def test_interrupt_of_a_background_job_is_ignored():
    """A shell starts it with SIGINT ignored, and it stays so."""
    text = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    text += "import os, _torchcent_command; os.kill(os.getpid(), signal.SIGINT)\n"
    text += (
        "status = _torchcent_command.main(); os.kill(os.getpid(), signal.SIGINT); sys.exit(status)"
    )
    with started(text, "config") as run:
        out, errors = run.communicate()
    assert run.returncode == 0, errors
    assert torchcent.__version__ in out


def test_status_is_that_of_the_command():
    with started(
        "import sys, _torchcent_command; sys.exit(_torchcent_command.main())", "foo"
    ) as run:
        out, errors = run.communicate()
    assert run.returncode == 2 and "invalid choice: 'foo'" in errors


def test_interrupt_raises(handler):
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_second_interrupt_does_not_cut_the_cleaning_short(handler, tmp_path, monkeypatch):
    unlink = Path.unlink

    def interrupted_again(path: Path, missing_ok: bool = False) -> None:
        try:  # within what handles another error, as in a library's clean-up
            raise OSError
        except OSError:
            signal.raise_signal(signal.SIGINT)
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", interrupted_again)
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "out.csv") as file:
        file.write(b"half")
        signal.raise_signal(signal.SIGINT)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt):  # and the next one counts again
        signal.raise_signal(signal.SIGINT)


def test_an_error_that_came_of_the_interrupt_is_not_told(handler, tmp_path, monkeypatch, capsys):
    """A ZipFile cannot be closed where an interrupt has left an entry open, and says so twice."""

    def interrupted(*_: object) -> None:
        with zipfile.ZipFile(tmp_path / "out.npz", "w") as archive:
            entry = archive.open("bits.npy", "w")
            signal.raise_signal(signal.SIGINT)
            entry.close()

    monkeypatch.setitem(cli.COMMANDS, "convert", interrupted)
    assert cli.main(["convert", "a.txt", "out.npz"]) == 130
    gc.collect()
    assert capsys.readouterr().err == "torchcent: interrupted\n"


def test_an_interrupt_that_became_another_error(handler, monkeypatch, capsys):
    """numpy.ndarray.tofile makes a TypeError of one that comes while it looks at its argument."""

    def swallowed(*_: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise TypeError("expected str, bytes or os.PathLike object, not BufferedWriter")

    monkeypatch.setitem(cli.COMMANDS, "convert", swallowed)
    assert cli.main(["convert", "a.txt", "out.npz"]) == 130
    assert capsys.readouterr().err == "torchcent: interrupted\n"


def test_interrupt_of_a_long_run_ends_its_threads(handler):
    """The loop over sources notes Ctrl-C under the command's handler, too, and stops kernels."""
    n = 3000
    graph = torchcent.Graph.from_edge_index(edge_index(random_graph(n, 8 * n, seed=1)).cpu(), n)
    before = set(threading.enumerate())
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            torchcent.betweenness(graph, run=torchcent.Run(engine="queue"))
    timer.join()
    assert set(threading.enumerate()) <= before  # those of earlier tests may end meanwhile
    assert signal.getsignal(signal.SIGINT) is handle_interrupt


def test_main_restores_nothing_and_leaves_in_peace(monkeypatch, handler):
    """Once the work is done, Ctrl-C no longer changes the status or prints a traceback."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(sys, "argv", ["torchcent", "config"])
    assert _torchcent_command.main() == 0
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_main_after_an_interrupt(monkeypatch, handler, capsys):
    def interrupted(*_: object) -> int:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("not interrupted")

    signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(sys, "argv", ["torchcent", "config"])
    monkeypatch.setattr("torchcent.cli.run", interrupted)
    assert _torchcent_command.main() == 130
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.slow
@POSIX
def test_random_interrupts_and_kills(request):
    """`python tools/kills.py` has a thousand of each."""
    count = "20" if request.config.option.part == 1 else "8"
    command = [sys.executable, "tools/kills.py", "--seed", "3"]
    command += ["--interrupts", count, "--kills", count]
    command += ["--fresh", "8", "--commands", "betweenness", "apsp", "parquet", "text"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "faults: 0"
    assert re.search(rf"^interrupts: {count};", done.stdout, re.M)
    assert re.search(r"status 130 [1-9]", done.stdout), "no signal came in time"
    assert re.search(r"status -9 [1-9]", done.stdout), "no signal came in time"
