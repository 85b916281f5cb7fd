"""Why strategies of Fan, Xu and Zhao are as fast as they are: counters of Nsight Compute.

    python benchmarks/gpu_profile.py          # with `ncu` and a CUDA device -> results/profile.json

ncu runs this script once per network (`--network`), which searches from as many sources as the
table of strategies (gpu_weighted.py), once with each strategy. A strategy is one launch of the
kernel dijkstra_paths, whose counters become a row, in the order of the launches. `rounds` is how
many levels a search settles, counted by a search on tensors: the vertices of a level are what the
threads of a block share.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from graphs import MissingGraph
from machine import conditions
from report import markdown
from sources import drawn

RESULT = Path(__file__).parent / "results" / "profile.json"
#: of gpu_weighted.networks: those of the paper's extremes, and weights that make a difference
NETWORKS = (
    "bio-human-gene2", "ca-MathSciNet-dir", "mt-higgs", "bio-human-gene2, whole weights",
)  # fmt: skip
#: strategy, and whether with locks
RUNS = [(s, True) for s in ("NP", "WE", "NP+warp32", "WE+warp32", "WE+warp8")]
RUNS += [("NP", False), ("WE+warp32", False)]
STALLS = {
    "memory": "long_scoreboard",
    "barrier": "barrier",
    "queue of memory": "lg_throttle",
    "fence": "membar",
    "branch": "branch_resolving",
    "fixed latency": "wait",
    "shared memory": "short_scoreboard",
    "not selected": "not_selected",
}
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
METRICS = {
    "seconds": "gpu__time_duration.sum",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "threads of a warp": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "issue slots": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "instructions": "smsp__inst_executed.sum",
    "memory": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "memory, bytes": "dram__bytes.sum",
    "L2, sectors": "lts__t_sectors.sum",
    "L2 hits": "lts__t_sector_hit_rate.pct",
    "L1 hits": "l1tex__t_sector_hit_rate.pct",
}
UNSURE = {"L2, atomics": "lts__t_sectors_op_atom.sum"}  # not every ncu knows it
NANO = {"seconds": 1e-9}  # of the base unit that ncu prints
NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?$")


def workload(network: str, labels: Path) -> None:
    """What ncu runs: a launch per strategy. Writes which, and the rounds of a search."""
    import gpu  # imports all parts of the benchmark, which reading results does not need
    from gpu_weighted import AS_IS, ROOMY, code_of, networks, rounds

    stand_in, make, _ = networks(gpu.rmat)[network]
    graph = make()
    sources = drawn(graph, ROOMY)
    for name, locked in RUNS:
        code = code_of(graph, name, locked)
        gpu.seconds(graph, "betweenness", "dijkstra", sources, code, repeat=0, reduce=AS_IS)
    about = {
        "stands_for_it": stand_in, "sources": sources.numel(), "nodes": graph.num_nodes,
        "slots": graph.num_slots, "rounds": [rounds(graph, int(s)) for s in sources[:2]],
    }  # fmt: skip
    labels.write_text(json.dumps(about))


def parsed(text: str) -> list[dict[str, float]]:
    """The counters of each launch, from `ncu --csv --page raw --print-units base`."""
    lines = text[text.index('"ID"') :].splitlines()
    table = list(csv.reader(line for line in lines if line and not line.startswith("==")))
    head, rows = table[0], [row for row in table[1:] if row[0]]  # the second has units
    names = METRICS | UNSURE | {f"stall: {k}": STALL.format(x) for k, x in STALLS.items()}
    launches = []
    for row in rows:
        cells = dict(zip(head, row, strict=True))
        values = {k: cells[x].replace(",", "") for k, x in names.items() if x in cells}
        launches.append(
            {k: float(x) * NANO.get(k, 1) for k, x in values.items() if NUMBER.match(x)}
        )
    return launches


def profiled(network: str, folder: Path) -> list[dict[str, Any]]:
    """Rows of a network; without the counters of UNSURE if this ncu does not have them."""
    labels, log = folder / "labels.json", folder / "ncu.csv"
    for metrics in (METRICS | UNSURE, METRICS):
        wanted = [*metrics.values(), *map(STALL.format, STALLS.values())]
        command = [
            "ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
            "--kernel-name", "regex:dijkstra_paths", "--metrics", ",".join(wanted),
            "--log-file", str(log), sys.executable, __file__, "--network", network,
            "--labels", str(labels),
        ]  # fmt: skip
        labels.unlink(missing_ok=True)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and not labels.exists():
            raise MissingGraph(done.stdout)
        known = log.read_text() if log.exists() else ""
        launches = parsed(known) if '"ID"' in known else []
        if done.returncode == 0 and len(launches) == len(RUNS):
            about = json.loads(labels.read_text())
            runs = zip(RUNS, launches, strict=True)
            return [
                {"network": network, **about, "strategy": s, "locks": locked, **x}
                for (s, locked), x in runs
            ]
        print(f"{network}: {len(launches)} launches", done.stdout, done.stderr, known[-2000:])
    raise RuntimeError(f"ncu did not profile {network}")


def version() -> str:
    shown = subprocess.run(["ncu", "--version"], capture_output=True, text=True, check=True).stdout
    return shown.strip().splitlines()[-1]


def table(result: dict[str, Any]) -> str:
    """Counters of each strategy, per source where they are sums."""
    head = ["network", "rounds", "strategy", "us per source", "warps active, %"]
    head += ["threads of 32", "issue slots, %", "M warp instructions", "M sectors of L2"]
    lines = [[*head, "M of them atomics", "L2 hits, %", "memory, %", "stalls"]]
    before = ""
    for row in result["rows"]:
        first = row["network"] != before
        before = row["network"]
        each = 1e6 * row["sources"]
        stalls = {k.removeprefix("stall: "): x for k, x in row.items() if k.startswith("stall: ")}
        most = sorted(stalls, key=stalls.__getitem__, reverse=True)[:3]
        total = sum(stalls.values())
        lines.append([
            row["network"] if first else "",
            f"{sum(row['rounds']) / len(row['rounds']):,.0f}" if first else "",
            row["strategy"] + (" with locks" if row["locks"] else ""),
            f"{1e12 * row['seconds'] / each:,.4g}", f"{row['occupancy']:.0f}",
            f"{row['threads of a warp']:.1f}", f"{row['issue slots']:.0f}",
            f"{row['instructions'] / each:.3g}", f"{row['L2, sectors'] / each:.3g}",
            f"{row['L2, atomics'] / each:.3g}" if "L2, atomics" in row else "",
            f"{row['L2 hits']:.0f}", f"{row['memory']:.0f}",
            ", ".join(f"{name} {100 * stalls[name] / total:.0f} %" for name in most),
        ])  # fmt: skip
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", nargs="*", default=NETWORKS, help="some of them")
    parser.add_argument("--network", help="search with each strategy, as ncu runs it")
    parser.add_argument("--labels", type=Path, help="where --network says what it ran")
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args()
    if given.network is not None:
        try:
            workload(given.network, given.labels)
        except MissingGraph as missing:
            print(missing)
        return
    result = {**conditions(), "device": torch.cuda.get_device_name(), "ncu": version(), "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        for network in given.networks:
            try:
                rows = profiled(network, Path(folder))
            except (MissingGraph, RuntimeError) as error:
                print(f"{network}: left out: {error}", flush=True)
                continue
            result["rows"] += rows
            given.output.write_text(json.dumps(result, indent=1) + "\n")
            for row in rows:
                print(row, flush=True)


if __name__ == "__main__":
    main()
