"""A contestant in a process of its own, so that no library's threads or memory disturb another."""

from __future__ import annotations

import multiprocessing
import os
import resource
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import Edges, Peer, Weights

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
LEAST_SECONDS = 0.2  # a run from all sources of a small graph is called again until then


class Failed(RuntimeError):
    """The contestant raised, died or took too long; the message says which."""


class TimedOut(Failed):
    """It took too long."""


class Worker:
    """Starts `kind(measure, threads, **options)` in a new process and passes calls on to it."""

    def __init__(
        self, kind: type[Peer], measure: str, threads: int, time_limit: float, **options: Any
    ) -> None:
        self.measure, self.time_limit = measure, time_limit
        before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        arguments = (theirs, kind, measure, threads, options)
        self.process = context.Process(target=_serve, args=arguments, daemon=True)
        self.process.start()
        theirs.close()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

    def prepare(self, edges: Edges, num_nodes: int, weights: Weights = None) -> dict[str, Any]:
        return self._call("prepare", edges, num_nodes, weights)

    def run(self, sources: NDArray[np.int64] | None, scores: bool = False) -> dict[str, Any]:
        """Wall and CPU seconds, peak bytes so far above the prepared graph, maybe the scores."""
        return self._call("run", sources, scores)

    def close(self) -> None:
        self.connection.close()  # which ends it, unless it is in the middle of a run
        self.process.join(timeout=2)
        self.process.kill()
        self.process.join()

    def _call(self, *message: Any) -> dict[str, Any]:
        try:
            self.connection.send(message)
            if not self.connection.poll(self.time_limit):
                raise TimedOut(f"took more than {self.time_limit:g} s")
            reply = self.connection.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            self.process.join()
            raise Failed(f"the process died with code {self.process.exitcode}") from error
        if isinstance(reply, str):
            raise Failed(reply)
        return reply


def _serve(
    connection: Connection, kind: type[Peer], measure: str, threads: int, options: dict[str, Any]
) -> None:
    peer = kind(measure, threads, **options)
    resident = 0
    while True:
        try:
            call, *arguments = connection.recv()
        except EOFError:
            return
        try:
            if call == "prepare":
                reply: dict[str, Any] | str = _prepare(peer, *arguments)
                resident = _reset_peak()
            else:
                reply = _run(peer, resident, *arguments)
        except Exception as error:
            reply = f"{type(error).__name__}: {error}"
        try:
            connection.send(reply)
        except BrokenPipeError:  # it took too long, and nobody waits any more
            return


def _prepare(peer: Peer, edges: Edges, num_nodes: int, weights: Weights) -> dict[str, Any]:
    start = time.perf_counter()
    facts = peer.prepare(edges, num_nodes, weights)
    seconds = time.perf_counter() - start
    peer.settle()
    return {"prepare_seconds": seconds, **facts}


def _run(
    peer: Peer, resident: int, sources: NDArray[np.int64] | None, scores: bool
) -> dict[str, Any]:
    start, cpu_start, calls = time.perf_counter(), time.process_time(), 0
    while calls == 0 or time.perf_counter() - start < LEAST_SECONDS:
        result = peer.run(sources)
        calls += 1
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    return {
        "seconds": seconds / calls,
        "cpu_seconds": cpu_seconds / calls,
        "memory": _peak() - resident,
        "scores": peer.scores(result, sources) if scores else None,
        "facts": peer.facts(sources) if scores else {},
    }


def _status(field: str) -> int | None:
    """A size in bytes from Linux's /proc/self/status."""
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return 1024 * int(line.split()[1])
    except OSError:
        pass
    return None


def _peak() -> int:
    peak = _status("VmHWM")
    return peak if peak is not None else 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _reset_peak() -> int:
    """Bytes resident now; where the kernel allows it, the peak starts again from here."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return _peak()
    resident = _status("VmRSS")
    return resident if resident is not None else _peak()
