"""Betweenness by the rules of the GAP benchmark (Beamer, Asanovic and Patterson 2015).

    python benchmarks/gap.py                              # Kron and Urand of scale 18 on the CPU
    python benchmarks/gap.py --scale 20 --gapbs PATH/bc   # beside GAP's reference implementation
    python benchmarks/gap.py --device cuda --scale 27 --graphs kron --memory 130
    python benchmarks/gap.py --files GAP-road.mtx.gz      # GAP's other graphs, where they exist

A trial is the betweenness of 4 random sources that have neighbours; there are 16. GAP's Kron has
2^scale vertices and 16 * 2^scale edges placed as by Graph500, its Urand as many edges at random;
both are made undirected and rid of duplicates. (27 is GAP's own scale.) Building the graph is not
part of a trial by GAP's rules. Everything else is, and whatever is prepared from the graph counts
in full in the trial that does it. `first` is such a trial on a new Graph, `mean` that of the trials
after it, as for a user who asks a Graph again.

GAP's code is not part of this project: compile `bc` from its repository and name it. It gets the
same graph, in its own format, and as many threads.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import conditions
from report import markdown

import torchcent
from torchcent import Graph

RESULTS = Path(__file__).parent / "results" / "gap.json"
TRIALS, SOURCES, DEGREE = 16, 4, 16
CHUNK = 1 << 24  # edges made at a time


def kron(scale: int, device: str) -> torch.Tensor:
    """int32 [2, DEGREE * 2^scale]: Graph500's R-MAT, vertices renumbered at random."""
    chance = torch.Generator(device).manual_seed(27491095)
    place = torch.randperm(1 << scale, generator=chance, device=device, dtype=torch.int32)
    index = torch.empty(2, DEGREE << scale, dtype=torch.int32, device=device)
    for begin in range(0, index.shape[1], CHUNK):
        size = min(CHUNK, index.shape[1] - begin)
        u, v = torch.zeros(2, size, dtype=torch.int32, device=device)
        for _ in range(scale):
            x = torch.rand(size, generator=chance, device=device)
            down = x >= 0.76
            right = torch.where(down, x >= 0.95, x >= 0.57)
            u.mul_(2).add_(down)
            v.mul_(2).add_(right)
        index[0, begin : begin + size] = place[u]
        index[1, begin : begin + size] = place[v]
    return index


def urand(scale: int, device: str) -> torch.Tensor:
    """int32 [2, DEGREE * 2^scale]: ends at random."""
    chance = torch.Generator(device).manual_seed(27491095)
    shape = (2, DEGREE << scale)
    return torch.randint(1 << scale, shape, generator=chance, device=device, dtype=torch.int32)


GENERATORS: dict[str, Callable[[int, str], torch.Tensor]] = {"kron": kron, "urand": urand}


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def seconds(device: torch.device, call: Callable[[], Any]) -> tuple[float, Any]:
    wait(device)
    begin = time.perf_counter()
    found = call()
    wait(device)
    return time.perf_counter() - begin, found


def gapbs(program: Path, graph: Graph, threads: int) -> float:
    """Mean seconds of a trial of GAP's own code on the same graph."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.sg"
        with open(path, "wb") as file:
            file.write(np.array([graph.directed], bool).tobytes())
            file.write(np.array([graph.num_slots, graph.num_nodes], np.int64).tobytes())
            sides = [(graph.rowptr, graph.col)] + [graph.transpose] * graph.directed
            for part in (part for side in sides for part in side):
                file.write(part.cpu().numpy().tobytes())
        given = [program, "-f", path, "-i", str(SOURCES), "-n", str(TRIALS)]
        environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
        said = subprocess.run(given, env=environment, capture_output=True, text=True, check=True)
    found = re.search(r"Average Time:\s+([0-9.]+)", said.stdout)
    assert found is not None, said.stdout
    return float(found[1])


def row(name: str, build: Callable[[], Graph], given: argparse.Namespace) -> dict[str, Any]:
    device = torch.device(given.device)
    memory = None if given.memory is None else int(given.memory * 1e9)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    building, graph = seconds(device, build)
    chance = torch.Generator().manual_seed(1)
    degree = graph.degree.cpu()
    sources = []
    while len(sources) < TRIALS * SOURCES:
        v = int(torch.randint(graph.num_nodes, (), generator=chance))
        if degree[v] > 0 and v not in sources[len(sources) // SOURCES * SOURCES :]:
            sources.append(v)
    trials = torch.tensor(sources, device=device).view(TRIALS, SOURCES)

    run = torchcent.Run(memory=memory, progress=False)

    def trial(i: int) -> torch.Tensor:
        return torchcent.betweenness(graph, sources=trials[i], run=run)

    first, scores = seconds(device, lambda: trial(0))
    later = [seconds(device, lambda i=i: trial(i))[0] for i in range(TRIALS)]
    plan = torchcent.explain(graph, sources=trials[0], run=run)
    found = {
        "graph": name,
        "nodes": graph.num_nodes,
        "slots": graph.num_slots,
        "build": building,
        "first": first,
        "mean": statistics.mean(later),
        "median": statistics.median(later),
        "engine": plan.engine,
        "lanes": plan.lanes,
        "finite": bool(scores.isfinite().all()),
    }
    if device.type == "cuda":
        found |= {
            "peak_bytes": torch.cuda.max_memory_allocated(device),
            "predicted_bytes": plan.memory,
        }
    if given.gapbs:
        found["gapbs_mean"] = gapbs(given.gapbs, graph, given.threads)
        found["speedup"] = found["gapbs_mean"] / found["mean"]
        found["speedup_first"] = found["gapbs_mean"] / first
    return found


def table(result: dict[str, Any]) -> str:
    """Seconds of a trial, on a Graph that was asked before and on a new one."""
    head = ["graph", "vertices", "slots", "on", "mean trial, s", "first, s"]
    lines = [[*head, "GAP's bc, s", "x", "engine", "peak GB (planned)"]]
    for kind in ("cpu", "cuda"):
        for row in result[kind]["rows"]:
            place = (
                result[kind]["device"] if kind == "cuda" else f"{result[kind]['threads']} threads"
            )
            cells = [row["graph"], f"{row['nodes']:,}", f"{row['slots']:,}", place]
            cells += [f"{row['mean']:.3f}", f"{row['first']:.3f}"]
            cells += [f"{row[key]:.3g}" if key in row else "" for key in ("gapbs_mean", "speedup")]
            peak = [row[key] / 1e9 for key in ("peak_bytes", "predicted_bytes") if key in row]
            cells += [row["engine"], "{:.1f} ({:.1f})".format(*peak) if peak else ""]
            lines.append(cells)
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=int, default=18)
    parser.add_argument("--graphs", nargs="*", choices=list(GENERATORS), default=list(GENERATORS))
    parser.add_argument("--files", nargs="*", type=Path, default=[], help="graphs to read")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--memory", type=float, help="GB; default: half of what is free")
    parser.add_argument("--gapbs", type=Path, help="GAP's program bc, to run beside")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    memory = None if given.memory is None else int(given.memory * 1e9)
    rows = []

    def add(name: str, index: torch.Tensor, n: int, directed: bool) -> None:
        held = [index]  # given up as soon as the graph is built
        del index

        def build() -> Graph:
            return Graph.from_edge_index(held.pop(), n, directed, run=torchcent.Run(memory=memory))

        rows.append(row(name, build, given))
        report(rows[-1])

    for name in given.graphs:
        scale = given.scale
        add(f"{name} {scale}", GENERATORS[name](scale, given.device), 1 << scale, False)
    for path in given.files:
        edges = torchcent.read(path)
        add(path.name, edges.edge_index.to(given.device), edges.num_nodes, edges.directed)
    result = {**conditions(), "device": given.device, "threads": given.threads, "rows": rows}
    if given.device != "cpu":
        result["device"] = torch.cuda.get_device_name(given.device)
    known = json.loads(given.output.read_text()) if given.output.exists() else {}
    known["cuda" if given.device.startswith("cuda") else "cpu"] = result
    given.output.write_text(json.dumps(known, indent=1) + "\n")


def report(row: dict[str, Any]) -> None:
    beside = ""
    if "gapbs_mean" in row:
        beside = f"   gapbs {row['gapbs_mean']:.3f} s ({row['speedup']:.1f}x)"
    if "peak_bytes" in row:
        peak, told = row["peak_bytes"] / 1e9, row["predicted_bytes"] / 1e9
        beside += f"   peak {peak:.1f} GB, predicted for a later call {told:.1f}"
    print(
        f"{row['graph']:<14} n {row['nodes']:>11,} slots {row['slots']:>13,}   build "
        f"{row['build']:.3f} s   first {row['first']:.3f} s   mean {row['mean']:.4f} s"
        f"   {row['engine']} {row['lanes']}{beside}",
        flush=True,
    )


if __name__ == "__main__":
    main()
