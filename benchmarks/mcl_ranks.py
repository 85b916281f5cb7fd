"""Markov clustering over ranks and in pieces, beside one process that holds its flows.

    python benchmarks/mcl_ranks.py --repeat 3       # -> results/mcl_ranks.json, and a table

The same cores for all: one process of two threads, and two ranks of one thread each. Contestants
take turns; what is compared is the call of mcl, and the clusters must be the same.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from machine import conditions

import torchcent
from torchcent import generate

RESULTS = Path(__file__).parent / "results" / "mcl_ranks.json"
GRAPHS = {"planted14": (20_000, 14), "planted30": (20_000, 30), "planted30, n=100000": (10**5, 30)}
#: ranks, threads of each, memory
RUNS: dict[str, tuple[int, int, int | None]] = {
    "a process, 2 threads": (1, 2, None),
    "2 ranks, 1 thread each": (2, 1, None),
    "a process, 2 threads, in pieces": (1, 2, 100_000_000),
}


def call(graph: str, threads: int, memory: int | None) -> None:
    """Clusters, in this process or this rank, and prints what it took."""
    torch.set_num_threads(threads)
    n, degree = GRAPHS[graph]
    index = generate.planted(n, degree)
    weight = torch.rand(index.shape[1], generator=torch.Generator().manual_seed(1)) + 0.15
    run = torchcent.Run(group="world" if "RANK" in os.environ else None)
    torchcent.mcl(index[:, :100], directed=False, run=run)  # libraries, connections
    run |= torchcent.Run(engine="fused", memory=memory)
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    found = torchcent.mcl(index, weight, num_nodes=n, directed=False, run=run)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
    if os.environ.get("RANK", "0") == "0":
        labels = torch.hash_tensor(found.labels).item()
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        told = {"seconds": seconds, "processor_seconds": processor, "labels": labels}
        print(json.dumps(told | {"iterations": found.iterations}))


def measured(graph: str, ranks: int, threads: int, memory: int | None) -> dict[str, Any]:
    start = [sys.executable]
    if ranks > 1:
        start += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    limit = [] if memory is None else ["--memory", str(memory)]
    done = subprocess.run(
        [*start, __file__, "--call", graph, "--threads", str(threads), *limit],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), choices=GRAPHS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--call", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.call:
        return call(args.call, args.threads, args.memory)
    rows = []
    for graph in args.graphs:
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in RUNS}
        for _ in range(args.repeat):
            for name, run in RUNS.items():
                found[name].append(measured(graph, *run))
        assert len({(x["labels"], x["iterations"]) for each in found.values() for x in each}) == 1
        for name, each in found.items():
            middle = {
                key: round(statistics.median(x[key] for x in each), 2)
                for key in ("seconds", "processor_seconds")
            }
            rows.append({"graph": graph, "run": name, **middle, "repeat": args.repeat})
            print(rows[-1], flush=True)
    RESULTS.write_text(json.dumps({"machine": conditions(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
