"""How the time of every public function grows on graphs of awkward shape.

    python benchmarks/exponents.py                      # about 10 minutes -> results/exponents.json
    python benchmarks/exponents.py --quick              # smaller graphs, about 3 minutes
    python benchmarks/exponents.py --calls closeness --kinds path components

Each call of exponent_calls.py runs on the graphs of exponent_graphs.py, by hops and with weights,
on one thread. The size (vertices and edges) grows by 2 to 4 until a call takes `--least` seconds.
It takes up to ten times as many while the exponent is above the expected one. Some ways to search
begin to pay off at a certain size. The exponent is the slope of log(time) over log(size), between
the largest graph and the smallest that takes at least a twelfth of its time. What takes no
noticeable time at the largest size has no exponent. Graphs are built before the time is taken,
except parallel arcs, which are a part of the call. Times are of the processor, below a tenth of a
second of the clock, since processor time may have ticks. As in timeit, Python's garbage collection
is off, and the least of a few runs counts. CUDA is hidden.

Ctrl-C writes the rows measured so far. Exponents above those that exponent_calls.py gives, by more
than the noise of 0.35 (caches, allocations), are listed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch
from exponent_calls import CALLS, Call
from exponent_graphs import KINDS, OWN, WEIGHTS, Case
from exponent_report import NOISE, is_above, is_absent
from machine import conditions

RESULTS = Path(__file__).parent / "results" / "exponents.json"
SHORTEST = 0.01  # seconds below which times say nothing
TURNS = 4
Job = tuple[int, str, str]


def jobs_of(
    names: list[str] | None, kinds: list[str] | None, chosen: list[str] | None
) -> list[Job]:
    jobs = []
    for number, call in enumerate(CALLS):
        if names and not any(
            call.name == name or call.name.split("(")[0] == name for name in names
        ):
            continue
        for kind in call.kinds or KINDS:
            if (kind == "batch" and not call.batch) or (kinds and kind not in kinds):
                continue
            jobs += [(number, kind, each) for each in call.weights if not chosen or each in chosen]
    return jobs


def measure(job: Job, least: float, limit: int, sender: Connection) -> None:
    """Sends (size, seconds, kilobytes of the process) of each size. Before each run it sends the
    size and the processor time so far, which distinguishes a run that exceeds the limit from
    preparation.
    """
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    number, kind, weights = job
    call = CALLS[number]
    largest = min(call.largest, KINDS[kind][1] if kind != OWN else 500_000)
    points: list[tuple[int, float, int]] = []
    try:
        call.prepare(Case(kind, 60 if kind != OWN else 2000, weights))()  # loads what is needed
        size = call.begins.get(kind, call.start)
        while True:
            case = Case(kind, size, weights)
            seconds = math.inf
            for turn in range(TURNS):
                run = call.prepare(case)
                sender.send({"size": case.input_size, "before": time.process_time()})
                seconds = min(seconds, seconds_of(run))
                sender.send(None)
                if seconds > 1 or (turn and not SHORTEST / 4 <= seconds <= 0.1):
                    break
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            points.append((case.input_size, seconds, peak))
            sender.send(points[-1])
            slope = exponent(points)
            above = slope is not None and slope > expected(call, kind)[0] + NOISE
            most = (4 if above else 1) * largest
            if seconds >= (10 if above else 1) * least or size >= most:
                break
            size = min(size * (4 if seconds < least / 16 else 2), most)
    except Exception as error:  # said in the table
        sender.send(f"{type(error).__name__}: {str(error)[:200]}")
    sender.close()


def seconds_of(run: Callable[[], Any]) -> float:
    gc.collect()
    gc.disable()
    clock, begin = time.perf_counter(), time.process_time()
    result = run()
    used, passed = time.process_time() - begin, time.perf_counter() - clock
    gc.enable()
    del result
    return used if used >= 0.1 else passed


def exponent(points: list[tuple[int, float, int]]) -> float | None:
    last = points[-1] if points else None
    if last is None or last[1] < SHORTEST:
        return None
    earlier = [point for point in points if point[0] < last[0] and point[1] > 0]
    known = [point for point in earlier if point[1] >= max(last[1] / 12, SHORTEST / 4)]
    if not earlier:
        return None
    first = known[0] if known else earlier[-1]  # a steep rise, of which this is a lower bound
    return math.log(last[1] / first[1]) / math.log(last[0] / first[0])


def fitted(row: dict[str, Any]) -> float | None:
    """The exponent; where a run exceeded the limit, at least that of the time it had."""
    points, found = row["points"], exponent(row["points"])
    if not row.get("late") or not points:
        return found
    (size, seconds), last = row["late"], points[-1]
    if size <= last[0] or seconds <= 0:
        return found
    least = math.log(seconds / last[1]) / math.log(size / last[0])
    return least if found is None else max(found, least)


def run(
    jobs: list[Job], least: float, limit: int, workers: int, rows: list[dict[str, Any]]
) -> None:
    """Each job in a process of its own, which ends after `limit` seconds of processor time."""
    context = multiprocessing.get_context("fork")
    waiting = list(reversed(jobs))
    running: dict[Connection, tuple[Job, Any, list[Any]]] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            job = waiting.pop()
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=measure, args=(job, least, limit, sender))
            process.start()
            sender.close()
            running[receiver] = (job, process, [])
        for receiver in wait(list(running)):
            assert isinstance(receiver, Connection)
            job, process, points = running[receiver]
            try:
                points.append(receiver.recv())
                continue
            except EOFError:
                process.join()
            del running[receiver]
            rows.append(row_of(job, points, process.exitcode, limit))
            rows[-1]["exponent"] = fitted(rows[-1])
            print(line_of(rows[-1]), flush=True)


def row_of(job: Job, given: list[Any], status: int | None, limit: int) -> dict[str, Any]:
    call, kind, weights = CALLS[job[0]], job[1], job[2]
    points = [p for p in given if isinstance(p, tuple)]
    error = next((p for p in given if isinstance(p, str)), None)
    over = status in (-signal.SIGXCPU, -signal.SIGKILL)
    late = None
    if over and given and isinstance(given[-1], dict):  # a run had begun
        late = (given[-1]["size"], limit - given[-1]["before"])
    if error is None and status and not over:
        error = f"exit status {status}"
    most, reason = expected(call, kind)
    return {
        "call": call.name, "kind": kind, "weights": weights, "points": points,
        "exponent": None, "expected": most, "reason": reason,
        "timeout": over, "late": late, "error": error,
    }  # fmt: skip


def expected(call: Call, kind: str) -> tuple[float, str]:
    return call.expected.get(kind, (1.0, ""))


def merged(earlier: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The earlier rows with the new ones in their places, in the order of the calls."""

    def key(row: dict[str, Any]) -> tuple[str, str, str]:
        return row["call"], row["kind"], row["weights"]

    both = {key(row): row for row in [*earlier, *rows]}
    found = []
    for call in CALLS:
        for kind in (*KINDS, OWN):
            most, reason = expected(call, kind)
            for weights in call.weights:
                if (row := both.get((call.name, kind, weights))) is not None:
                    found.append(row | {"expected": most, "reason": reason})
    return found


def line_of(row: dict[str, Any]) -> str:
    value = row["exponent"]
    last = row["points"][-1] if row["points"] else (0, 0.0, 0)
    text = f"{row['call']:40} {row['kind']:11} {row['weights']:7}"
    text += f"{'' if value is None else format(value, '.2f'):>6} of {row['expected']:.1f}"
    text += f"  {last[0]:>9,} {last[1]:8.3f} s"
    marks = ["ABOVE"] * is_above(row) + ["TIMEOUT"] * row["timeout"]
    marks += ["(not available)"] * is_absent(row)
    return text + " " + " ".join(marks + [row["error"]] * (row["error"] is not None))


def without_cuda() -> None:
    """Begins anew without a GPU: a process cannot be forked once CUDA has been initialised."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") != "":
        environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def main() -> int:
    parser = argparse.ArgumentParser(description="fit how times grow with the size of graphs")
    parser.add_argument("--quick", action="store_true", help="smaller graphs")
    parser.add_argument("--calls", nargs="+")
    parser.add_argument("--kinds", nargs="+")
    parser.add_argument("--least", type=float, help="seconds of the largest run")
    parser.add_argument("--limit", type=int, default=10, help="processor seconds of a row")
    parser.add_argument("--weights", nargs="+", choices=WEIGHTS)
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--update", action="store_true", help="keep the other rows of the output")
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    least = args.least or (0.05 if args.quick else 0.2)
    found = conditions()
    begin = time.monotonic()
    rows: list[dict[str, Any]] = []
    jobs = jobs_of(args.calls, args.kinds, args.weights)
    with tempfile.TemporaryDirectory(prefix="exponents") as folder:
        tempfile.tempdir = folder  # for the processes that are started
        try:
            run(jobs, least, args.limit, args.workers, rows)
        except KeyboardInterrupt:
            print(f"stopped after {len(rows)} of {len(jobs)} rows")
    seconds = time.monotonic() - begin
    if args.update and args.output.exists():
        earlier = json.loads(args.output.read_text())
        rows, seconds = merged(earlier["rows"], rows), seconds + earlier["seconds"]
        for row in rows:
            row["exponent"] = fitted(row)
    found |= {"seconds": seconds, "least": least, "rows": rows}
    lines = ",\n".join(json.dumps(row) for row in found.pop("rows"))
    head = json.dumps(found, indent=1).removesuffix("\n}")
    args.output.write_text(f'{head},\n "rows": [\n{lines}\n]}}\n')
    above = [row for row in rows if is_above(row)]
    print(f"{len(rows)} rows in {found['seconds']:.0f} s, {len(above)} above what is expected:")
    for row in above:
        print(line_of(row))
    return 1 if above else 0


if __name__ == "__main__":
    without_cuda()
    sys.exit(main())
