"""Runs of `runs.CASES` and of the command line in processes of their own, for those who kill them.

As a program, it imports everything once and forks a process for each request on standard input,
{"case": name, "checkpoint": folder, "out": file, "options": {}} or {"arguments": [...], "folder":
...} as JSON. The answers are the id of the process and, to a further line, its status when it has
ended; until then the id is that of no other process. The program has not used a thread: a fork
would lack it.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


class Lives:
    """The program, for tests."""

    def __init__(self) -> None:
        paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._server = subprocess.Popen(
            [sys.executable, str(HERE / "lives.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"},
            bufsize=0,
        )
        assert self._answer() == "ready"

    def _answer(self) -> str:
        assert self._server.stdout is not None
        return self._server.stdout.readline().decode().strip()

    def begin(self, **request: object) -> int:
        """Starts a process and returns its id."""
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(request).encode() + b"\n")
        return int(self._answer())

    def end(self) -> int:
        """Waits for its end and returns its exit status, or the negative number of a signal."""
        assert self._server.stdin is not None
        self._server.stdin.write(b"end\n")
        return os.waitstatus_to_exitcode(int(self._answer()))

    def close(self) -> None:
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()


def live(request: dict[str, Any]) -> int:
    """What a forked process does; every unit that it begins adds a line to the file `log`."""
    import pytest
    import torch
    from internals import LocalQueue
    from runs import CASES, PAIRS, SMALL
    from tuning import tuned

    import _torchcent_command

    torch.set_num_threads(2)
    log = os.open(request["log"], os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    take = LocalQueue.take

    def noted(self: Any, control: Any) -> int | None:
        unit = take(self, control)
        if unit is not None:
            os.write(log, b"%d\n" % unit)
        return unit

    LocalQueue.take = noted  # type: ignore[method-assign]
    if "arguments" in request:
        tuned(pytest.MonkeyPatch())(**SMALL)
        os.chdir(request["folder"])
        sys.argv = ["torchcent", *request["arguments"]]
        return _torchcent_command.main()
    case = (CASES | PAIRS)[request["case"]]
    tuned(pytest.MonkeyPatch())(**case.sizes)
    options = {"checkpoint": request["checkpoint"], **request.get("options", {})}
    torch.save(tuple(case(**options)), request["out"])
    return 0


def serve() -> None:
    import internals  # noqa: F401
    import runs  # noqa: F401
    import tuning  # noqa: F401

    import torchcent.cli  # noqa: F401

    print("ready", flush=True)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = 1
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may ignore it
                status = live(json.loads(line))
            except KeyboardInterrupt:  # before the command has begun
                status = 130
            finally:
                sys.stderr.flush()
                os._exit(status)
        print(process, flush=True)
        sys.stdin.readline()
        print(os.waitpid(process, 0)[1], flush=True)


if __name__ == "__main__":
    serve()
