"""A run in a process of its own, and Ctrl-C while it is at work."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

THREADS = 2
TESTS = str(Path(__file__).parent)

# A shell's background job starts with SIGINT ignored.
SCRIPT = """
import signal, sys, threading
import torch, torchcent

sys.path.append({tests!r})

signal.signal(signal.SIGINT, signal.default_int_handler)
torch.set_num_threads({threads})
{prepare}
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", *(thread.name for thread in threading.enumerate()), flush=True)
{afterwards}
"""


def assert_stops(
    prepare: str,
    call: str,
    *arguments: str,
    within: float = 1,
    begun: Callable[[], bool] | None = None,
    afterwards: str = "",
    said_afterwards: str = "",
) -> None:
    """A call that would take minutes ends within so many seconds of a Ctrl-C, with its threads.

    Seconds of both threads at work, where the system tells: other processes may share the cores.

    `prepare` and `call` are Python text, `arguments` their sys.argv[1:]. Ctrl-C comes once the call
    has `begun`: half a second after it was made, if that cannot be told.
    """
    code = SCRIPT.format(
        tests=TESTS,
        threads=THREADS,
        prepare=prepare.strip(),
        call=call,
        afterwards=afterwards.strip(),
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None and run.stdout.readline() == "ready\n"
        if begun is None:
            time.sleep(0.5)
        else:
            while run.poll() is None and not begun():
                time.sleep(0.01)
        before = worked(run.pid)
        run.send_signal(signal.SIGINT)
        said = run.stdout.readline()
        took = worked(run.pid) - before
        rest, errors = run.communicate()
    assert said == "interrupted MainThread\n", errors
    assert rest == said_afterwards and run.returncode == 0, errors
    assert took < within


def worked(process: int) -> float:
    """Seconds that its threads have worked, each a share; by the clock where there is no /proc."""
    file = Path(f"/proc/{process}/stat")
    if not file.exists():
        return time.monotonic()
    ticks = file.read_text().rpartition(")")[2].split()[11:13]  # in the process, in the system
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK") / THREADS
