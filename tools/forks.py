"""What tools/kills.py interrupts and kills: forks of a process that has imported everything.

A request on standard input, {"arguments": [...], "folder": ..., "phases": a file, "ends": ...} as
JSON, is answered by the id of a process that runs the command there. Its status follows when it has
ended. The command notes in the first byte of the file which phase it is in.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

PHASES = (
    "importing", "starting", "reading", "building", "searching", "writing", "renaming", "leaving",
)  # fmt: skip


def mark_phases(shared: mmap.mmap) -> None:
    """Has the command note in the first byte of `shared` which phase it is in."""
    from torchcent import cli
    from torchcent.cli import _common
    from torchcent.io import EdgeList, _files

    def enters(phase: str, after: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def marked(*args: Any, **named: Any) -> Any:
            shared[0] = PHASES.index(phase)
            result = function(*args, **named)
            shared[0] = PHASES.index(after)
            return result

        return marked

    @contextlib.contextmanager
    def writing(raw: Any, compression: str) -> Iterator[Any]:
        shared[0] = PHASES.index("writing")
        with compressing(raw, compression) as file:
            yield file

    def renamed(*args: Any, **named: Any) -> None:
        shared[0] = PHASES.index("renaming")
        time.sleep(0.001)
        replace(*args, **named)
        time.sleep(0.001)
        shared[0] = PHASES.index("leaving")

    compressing, replace = _files.compressing, os.replace
    cli.run = enters("starting", "leaving", cli.run)
    _common.read_graph = enters("reading", "building", _common.read_graph)
    EdgeList.graph = enters("building", "searching", EdgeList.graph)  # type: ignore[method-assign]
    _files.compressing = writing  # type: ignore[assignment]
    os.replace = renamed  # type: ignore[assignment]


def phases_at(path: str) -> mmap.mmap:
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 1)


def command(arguments: list[str]) -> int:
    """What the console script does."""
    sys.argv = ["torchcent", *arguments]
    from _torchcent_command import main

    return main()


def fork_server() -> int:
    """Answers requests until there are no more; the children return into the interpreter."""
    # Not pyarrow, which starts a thread.
    for name in ("torchcent.cli", "scipy.sparse", "matplotlib.backends.backend_agg"):
        importlib.import_module(name)
    assert len(os.listdir("/proc/self/task")) == 1, "threads do not survive a fork"
    gc.freeze()  # or every child would copy all pages
    print("ready", flush=True)
    # Not by iterating: nothing of what comes next may be read ahead and be seen by the child.
    while line := os.read(0, 1 << 16):
        asked = json.loads(line)
        process = os.fork()
        if not process:
            os.chdir(asked["folder"])
            for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
                mode = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
                path = os.devnull if number == 0 else f"{asked['folder']}.{name}"
                os.dup2(os.open(path, mode, 0o644), number)
            mark_phases(phases_at(asked["phases"]))
            signal.signal(signal.SIGINT, signal.default_int_handler)
            status = command(asked["arguments"])
            if asked["ends"]:
                return status
            sys.stdout.flush()
            os._exit(status)  # what takes ten times as long as the rest: freeing what was imported
        print(process, flush=True)
        print(os.waitpid(process, 0)[1], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(fork_server())
