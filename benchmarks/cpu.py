"""torchcent against its peers on CPUs, one graph after the other: seconds per source.

    python benchmarks/cpu.py                                  # everything, about 12 minutes
    python benchmarks/cpu.py --graphs grid300 MIT8 --peers networkit igraph
    python benchmarks/cpu.py --scaling --engines --peers none # torchcent alone: threads, engines
    python benchmarks/cpu.py --weights whole                  # with weights

On every graph each contestant gets as many sources as fill its time (`--budget`), all of them where
they fit. Then all contestants run in turns, `--repeat` times, and the medians are compared. Scores
are compared with the peers' in the same run. See benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from pathlib import Path
from typing import Any

import numpy as np
from contestant import Contestant, chosen, disagreement
from graphs import MissingGraph, NamedGraph, find, lengths
from machine import conditions
from numpy.typing import NDArray
from peers import PEERS, SEED, Edges, Torchcent, Weights
from report import ONE_THREAD, error_text, print_report, speedup
from worker import Failed, Worker

RESULTS = Path(__file__).parent / "results"


def contestants(arguments: argparse.Namespace) -> list[Contestant]:
    threads = arguments.threads
    line_up = [Contestant("torchcent", Torchcent, threads)]
    if arguments.engines:
        for engine in ("relax", "dijkstra") if arguments.weights else ("lanes", "queue"):
            name = f"torchcent {engine}"
            line_up.append(Contestant(name, Torchcent, threads, {"engine": engine}))
    if arguments.scaling:
        line_up.append(Contestant(ONE_THREAD, Torchcent, 1))
    for name in arguments.peers:
        kind = PEERS[name]
        if kind.version() is None:
            print(f"{name} is not installed (pip install torchcent[bench]): left out")
        else:
            line_up.append(Contestant(name, kind, threads if kind.threaded else 1))
    return line_up


def source_count(
    contestant: Contestant, worker: Worker, order: NDArray[np.int64], arguments: argparse.Namespace
) -> int:
    """How many sources fill the budget: all, or a multiple of the threads (ours: and of 64 lanes).

    A call's fixed cost (igraph sets up two adjacency lists) is then a few percent at most.
    """
    # An exact run is what torchcent is for, so that it gets more time, and four times that where it
    # does all sources then.
    budget = arguments.budget * (4 if contestant.ours else 1)
    whole = budget * (4 if contestant.ours else 2)
    n, threads = len(order), contestant.threads
    if contestant.kind.whole_only_for(arguments.measure):
        return n
    # ours takes batches of 64: enough of them for every thread, several times over
    unit = 64 * threads if contestant.ours else threads
    k = min(n, 4 * unit)
    seconds = worker.run(chosen(order, k))["seconds"]  # a warm-up too
    while seconds < budget / 8 and k < n:
        k = min(n, 4 * k)
        seconds = worker.run(chosen(order, k))["seconds"]
    fitting = int(budget * k / max(seconds, 1e-9))
    if seconds / k * n <= whole:
        return n
    least = 8 * unit if contestant.ours else 2 * unit
    return min(n, max(least, fitting // unit * unit))


def measure_graph(graph: NamedGraph, arguments: argparse.Namespace) -> dict[str, Any] | None:
    try:
        edges, n = graph.edges()
    except MissingGraph as missing:
        print(f"{graph.name}: {missing}: left out", flush=True)
        return None
    slots = 2 * edges.shape[1]
    weights = lengths(edges, arguments.weights) if arguments.weights else None
    kind = f", {arguments.weights} weights" if arguments.weights else ""
    print(f"{graph.name}: n = {n:,}, slots = {slots:,}{kind}", flush=True)
    order = np.random.default_rng(SEED).permutation(n)
    line_up = contestants(arguments)
    try:
        for one in line_up:
            start(one, line_up[0], (edges, n, weights), order, arguments)
        for turn in range(arguments.repeat):
            for one in line_up:
                take_turn(one, order, last=turn == arguments.repeat - 1)
        compare(line_up, order)
    finally:
        for one in line_up:
            one.close()
    for one in line_up:
        conclude(one)
    row = {
        "name": graph.name + kind,
        "group": graph.group,
        "num_nodes": n,
        "num_slots": slots,
        "contestants": {one.name: one.record for one in line_up},
    }
    row["speedup"] = {one.name: speedup(row, one.name) for one in line_up[1:]}
    return row


def start(
    one: Contestant,
    reference: Contestant,
    graph: tuple[Edges, int, Weights],
    order: NDArray[np.int64],
    arguments: argparse.Namespace,
) -> None:
    edges, n, weights = graph
    one.record |= {"threads": one.threads, "version": one.kind.version()}
    refusal = one.kind.refusal(n, edges.shape[1], arguments.measure, weights is not None)
    if refusal is not None:
        return one.fail(refusal)
    limit = arguments.time_limit
    try:
        # In a process of its own: the other one's memory is that of one graph.
        again = Worker(one.kind, arguments.measure, one.threads, limit, **one.options)
        builds = [again.prepare(edges, n, weights) for _ in range(arguments.repeat)]
        again.close()
        one.worker = Worker(one.kind, arguments.measure, one.threads, limit, **one.options)
        one.record |= one.worker.prepare(edges, n, weights)
        one.record["prepare_seconds"] = statistics.median(b["prepare_seconds"] for b in builds)
        one.num_sources = source_count(one, one.worker, order, arguments)
        if one.name == ONE_THREAD:
            one.num_sources = reference.num_sources
    except Failed as error:
        one.fail(str(error))
    one.record |= {"sources": one.num_sources, "whole": one.num_sources == n, "runs": []}


def take_turn(one: Contestant, order: NDArray[np.int64], last: bool) -> None:
    if one.worker is None:
        return
    try:
        run = one.worker.run(chosen(order, one.num_sources), scores=last)
    except Failed as error:
        return one.fail(str(error))
    one.scores = run.pop("scores")
    one.record |= run.pop("facts")
    one.record["runs"].append(run)


def compare(line_up: list[Contestant], order: NDArray[np.int64]) -> None:
    """Our scores against everybody's (other engines and thread counts of ours, too)."""
    ours = line_up[0]
    for one in line_up[1:]:
        if one.scores is None or ours.worker is None:
            continue
        try:
            same = ours.worker.run(chosen(order, one.num_sources), scores=True)["scores"]
        except Failed as error:
            return ours.fail(str(error))
        one.record |= disagreement(same, one.scores)


def conclude(one: Contestant) -> None:
    runs = one.record.get("runs")
    if not runs:
        return
    k = one.num_sources
    one.record["seconds_per_source"] = statistics.median(run["seconds"] for run in runs) / k
    one.record["memory"] = max(run["memory"] for run in runs)
    each = 1e3 * one.record["seconds_per_source"]
    what = "all" if one.record["whole"] else "some"
    note = f"    {one.name}: {each:.4f} ms per source, {what} {k:,}"
    print(note + error_text(one.record), flush=True)


def place(row: dict[str, Any], order: list[str]) -> int:
    name = row["name"].partition(",")[0]
    return [*order, name].index(name)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", nargs="+", metavar="NAME", help="default: the whole table")
    parser.add_argument("--peers", nargs="+", choices=[*PEERS, "none"], default=list(PEERS))
    measures = Torchcent.measures
    parser.add_argument("--measure", choices=measures, default=measures[0])
    parser.add_argument("--weights", choices=("whole", "uniform"), help="1 to 10, or (0.01, 1)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--budget", type=float, default=1.5, help="seconds per run (1.5)")
    parser.add_argument("--time-limit", type=float, default=120, help="seconds until given up")
    parser.add_argument("--scaling", action="store_true", help="torchcent with one thread, too")
    parser.add_argument("--engines", action="store_true", help="lanes and queue on every graph")
    parser.add_argument("--update", action="store_true", help="keep the output's other graphs")
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/cpu.json")
    arguments = parser.parse_args()
    if "none" in arguments.peers:
        arguments.peers = []
    suffix = "" if arguments.measure == measures[0] else f"_{arguments.measure}"
    suffix += "_weighted" if arguments.weights else ""
    output = arguments.output or RESULTS / f"cpu{suffix}.json"

    result: dict[str, Any] = {
        **conditions(),
        "measure": arguments.measure,
        "weights": bool(arguments.weights),
        "threads": arguments.threads,
        "repeat": arguments.repeat,
        "budget_seconds": arguments.budget,
        "graphs": [],
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    rows = {}
    if arguments.update and output.exists():  # a row is whole in itself: all contestants in turns
        rows = {row["name"]: row for row in json.loads(output.read_text())["graphs"]}
    order = [graph.name for graph in find(None)]
    for graph in find(arguments.graphs):
        row = measure_graph(graph, arguments)
        if row is not None:
            row["load_at_end"] = os.getloadavg()[0]
            rows[row["name"]] = row
            result["graphs"] = sorted(rows.values(), key=lambda row: place(row, order))
            output.write_text(json.dumps(result, indent=1) + "\n")
    print_report(result)
    print(f"\nwritten to {output}")


if __name__ == "__main__":
    main()
