"""Several GPUs of one host: efficiency, bits, large graphs, a run that is killed.

    python benchmarks/gpu_scale.py                         # all GPUs -> results/<device>.json
    python benchmarks/gpu_scale.py --limit 540             # ends in time; the next call continues
    python benchmarks/gpu_scale.py --part "killed, resumed" mcl ...
    python benchmarks/gpu_scale.py --device cpu --small --output FILE     # tests the script

Each part runs in processes of its own, and the file is written after each. A part that is there
already, of these sources and as many devices, is not measured again (--again does). Efficiency is
seconds on one device / (devices x seconds on several), of the public call on a prepared Graph that
is on the first device. Copying it to the others is part of the call.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from gpu_scale_jobs import TASKS
from gpu_status import ROOT, digest

JOBS = Path(__file__).with_name("gpu_scale_jobs.py")
#: seconds after which a part is given up
MOST = {"killed, resumed": 540, "mcl": 500, "mcl, ranks": 500, "R-MAT scale 25 ef 16": 500}
MOST_OF_OTHERS = 400


class Late(Exception):
    """A part has not ended in time."""


class Run:
    """Starts jobs, on so many devices, until a moment."""

    def __init__(self, device: str, small: bool, counts: list[int], until: float) -> None:
        self._device, self._small, self.counts, self._until = device, small, counts, until

    @property
    def most(self) -> int:
        return max(self.counts)

    def start(self, job: str, *options: str, ranks: int = 0) -> subprocess.Popen[str]:
        command = [sys.executable]
        if ranks:
            command += ["-m", "torch.distributed.run", "--standalone"]
            command += ["--nproc-per-node", str(ranks)]
        command += [str(JOBS), job, "--device", self._device, *options]
        command += ["--ranked"] if ranks else []
        command += ["--small"] if self._small else []
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip

    def result(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        """What a job prints."""
        try:
            out, _ = process.communicate(timeout=max(self._until - time.monotonic(), 1))
        except subprocess.TimeoutExpired:
            self.kill(process)
            raise Late from None
        except BaseException:
            self.kill(process)
            raise
        if process.returncode:
            raise RuntimeError(f"{process.args}: status {process.returncode}")
        found: dict[str, Any] = json.loads(out.splitlines()[-1])
        return found

    def kill(self, process: subprocess.Popen[str]) -> None:
        """SIGKILL to the job and all that it has started; torchrun ends its ranks before."""
        if "torch.distributed.run" in process.args:  # type: ignore[operator]
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def job(self, job: str, *options: str, ranks: int = 0) -> dict[str, Any]:
        return self.result(self.start(job, *options, ranks=ranks))


def compared(run: Run, name: str) -> dict[str, Any]:
    return run.job("compare", "--name", name, "--counts", *map(str, run.counts))


def large(run: Run) -> dict[str, Any]:
    return run.job("large", "--counts", str(run.most))


def mcl(run: Run) -> dict[str, Any]:
    """On one device; in pieces if it does not hold the flow."""
    return run.job("clustering")


def mcl_of_ranks(run: Run) -> dict[str, Any]:
    return run.job("clustering", ranks=run.most)


def ranks(run: Run) -> dict[str, Any]:
    """Betweenness by ranks against one: the first call of a process, and the next."""
    found = {str(count): run.job("whole", ranks=count) for count in run.counts}

    def efficiency(call: str) -> dict[str, float]:
        return {n: found["1"][call] / (int(n) * each[call]) for n, each in found.items()}

    return {
        "nodes": found["1"]["nodes"], "slots": found["1"]["slots"],
        "seconds": {n: each["seconds"] for n, each in found.items()},
        "efficiency": efficiency("seconds"),
        "again": {n: each["again"] for n, each in found.items()},
        "efficiency_again": efficiency("again"),
        "same_bits": len({each["bits"] for each in found.values()}) == 1,
    }  # fmt: skip


def killed(run: Run) -> dict[str, Any]:
    """A run of one device that is killed twice at random moments, and resumed."""
    begun = time.monotonic()
    alone = run.job("whole")
    took = time.monotonic() - begun
    chance = random.Random()
    with tempfile.TemporaryDirectory() as folder:
        ledger = os.path.join(folder, "run")
        spent, kills = 0.0, []
        for _ in range(2):
            wait = took - alone["seconds"] + chance.uniform(0.1, 0.6) * alone["seconds"]
            begun = time.monotonic()
            process = run.start("whole", "--checkpoint", ledger)
            time.sleep(wait)
            ended = process.poll() is not None
            run.kill(process)
            spent += time.monotonic() - begun
            kills.append({"after": wait, "ended_before": ended, "files": files(ledger)})
        begun = time.monotonic()
        last = run.job("whole", "--checkpoint", ledger)
        spent += time.monotonic() - begun
    start = took - alone["seconds"]  # of the process and the graph
    return {
        "nodes": alone["nodes"], "slots": alone["slots"], "seconds": alone["seconds"],
        "start_seconds": start, "kills": kills, "all_seconds": spent,
        "lost_seconds": spent - 3 * start - alone["seconds"],
        "same_bits": last["bits"] == alone["bits"],
    }  # fmt: skip


def files(folder: str) -> list[str]:
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


PARTS: dict[str, Callable[[Run], dict[str, Any]]] = {
    **{name: lambda run, name=name: compared(run, name) for name in TASKS},  # type: ignore[misc]
    "ranks, R-MAT scale 19 ef 48, all sources": ranks,
    "R-MAT scale 25 ef 16": large,
    "mcl": mcl,
    "mcl, ranks": mcl_of_ranks,
    "killed, resumed": killed,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--limit", type=float, default=1e9, help="seconds of the whole call")
    parser.add_argument("--again", action="store_true", help="also what is there already")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--small", action="store_true", help="sizes that only test the script")
    parser.add_argument("--output", type=Path, help="default: results/<device>.json")
    args = parser.parse_args()
    if args.small and args.output is None:
        parser.error("--small measures nothing: it needs an --output of its own")
    until = time.monotonic() + args.limit
    total = torch.cuda.device_count() if args.device == "cuda" else 3
    if not total:
        parser.error("there is no CUDA device")
    counts = [n for n in (1, 2, 3, 4, 8) if n <= total and (n != 3 or args.device == "cpu")]
    name = torch.cuda.get_device_name() if args.device == "cuda" else "cpu"
    output = args.output or ROOT / "benchmarks/results" / f"{name.split()[-1].lower()}.json"
    result: dict[str, Any] = json.loads(output.read_text()) if output.exists() else {}
    scale = result.setdefault("scale", {})
    here, late = digest(), []
    for part in args.part:
        known = scale.get(part, {})
        if not args.again and (known.get("digest"), known.get("of")) == (here, max(counts)):
            print(f"{part}: is there", flush=True)
            continue
        left = until - time.monotonic()
        try:
            if left < 10:
                raise Late
            most = min(left, MOST.get(part, MOST_OF_OTHERS))
            run = Run(args.device, args.small, counts, time.monotonic() + most)
            found = PARTS[part](run)
        except Late:
            late.append(part)
            print(f"{part}: not in time", flush=True)
            continue
        except RuntimeError as error:
            late.append(part)
            print(f"{part}: failed: {error}", flush=True)
            continue
        about = {"digest": here, "of": max(counts), "device": name, "torch": torch.__version__}
        about["drawn"] = "degree > 0"  # sources
        about["date"] = datetime.datetime.now(datetime.UTC).date().isoformat()
        scale[part] = {**found, **about}
        if all(scale.get(each, {}).get("digest") == here for each in PARTS):
            result.setdefault("digests", {})["scale"] = here
        output.write_text(json.dumps(result, indent=1) + "\n")
        print(f"{part}: {found}", flush=True)
    if "mcl" in scale and "mcl, ranks" in scale:
        same = scale["mcl"]["bits"] == scale["mcl, ranks"]["bits"]
        print(f"clusters of ranks equal those of one device: {same}")
    print("left: " + (", ".join(late) or "nothing"), flush=True)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
