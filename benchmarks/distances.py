"""torchcent against its peers on CPUs: closeness of all vertices, diameter, all pairs.

    python benchmarks/distances.py                      # everything: hours, for the peers' sake
    python benchmarks/distances.py --measures diameter --graphs grid300 MIT8 --update

Every contestant gets one whole run, in turns; then those that took less than `--budget`, and
torchcent always, run again, `--repeat` times in all, and medians are compared. A peer that would
take longer than `--time-limit` for all vertices runs from some where it can choose them. One that
cannot is given up at the limit, which then counts as its time. Scores are compared in the same run.
See benchmarks/README.md.
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
from distance_peers import MEASURES, PEERS, ROWS_COMPARED, DistanceTorchcent
from distance_report import print_report
from graphs import ALL_PAIRS, GRAPHS, MissingGraph, NamedGraph, find, largest_component
from machine import conditions
from numpy.typing import NDArray
from peers import SEED
from worker import Failed, TimedOut, Worker

RESULTS = Path(__file__).parent / "results"


def contestants(measure: str, arguments: argparse.Namespace) -> list[Contestant]:
    threads = arguments.threads
    line_up = [Contestant("torchcent", DistanceTorchcent, threads)]
    for name in arguments.peers:
        kind = PEERS[name]
        if measure in kind.measures and kind.version() is not None:
            line_up.append(Contestant(name, kind, threads if kind.threaded else 1))
    return line_up


def measure_graph(
    graph: NamedGraph, measure: str, arguments: argparse.Namespace
) -> dict[str, Any] | None:
    try:
        edges, n = largest_component(*graph.edges())
    except MissingGraph as missing:
        print(f"{graph.name}: {missing}: left out", flush=True)
        return None
    slots = 2 * edges.shape[1]
    print(f"{measure}, {graph.name}: n = {n:,}, slots = {slots:,}", flush=True)
    order = np.random.default_rng(SEED).permutation(n)
    line_up = contestants(measure, arguments)
    try:
        for one in line_up:
            one.record |= {"threads": one.threads, "version": one.kind.version(), "runs": []}
            one.worker = Worker(one.kind, measure, one.threads, arguments.time_limit)
            attempt(one, prepare, edges, order, arguments)
        for turn in range(arguments.repeat):
            for one in line_up:
                runs = one.record["runs"]
                if turn == 0 or one.ours or runs and runs[0]["seconds"] < arguments.budget:
                    attempt(one, take_turn, order, turn == 0)
        for one in line_up[1:]:
            if one.scores is not None:
                attempt(line_up[0], compare, one, order)
    finally:
        for one in line_up:
            one.close()
    for one in line_up:
        conclude(one, n)
    return {
        "name": graph.name,
        "group": graph.group,
        "measure": measure,
        "num_nodes": n,
        "num_slots": slots,
        "time_limit": arguments.time_limit,
        "contestants": {one.name: one.record for one in line_up},
        "load_at_end": os.getloadavg()[0],
    }


def attempt(one: Contestant, step: Any, *arguments: Any) -> None:
    """A step of a contestant who may have failed before, and may fail in it."""
    if one.worker is None:
        return
    try:
        step(one, *arguments)
    except TimedOut as error:
        one.record["limit"] = one.worker.time_limit
        one.fail(str(error))
    except Failed as error:
        one.fail(str(error))


def prepare(
    one: Contestant,
    edges: NDArray[np.int64],
    order: NDArray[np.int64],
    arguments: argparse.Namespace,
) -> None:
    assert one.worker is not None
    n = len(order)
    one.record |= one.worker.prepare(edges, n)
    one.num_sources = n
    if not one.ours and not one.kind.whole_only_for(one.worker.measure):
        one.num_sources = source_count(one, order, arguments)
    one.record |= {"sources": one.num_sources, "whole": one.num_sources == n}


def source_count(one: Contestant, order: NDArray[np.int64], arguments: argparse.Namespace) -> int:
    """All vertices if they are done within the time limit, else as many as fill the budget."""
    assert one.worker is not None
    n = len(order)
    k = min(n, 4 * one.threads)
    seconds = one.worker.run(chosen(order, k))["seconds"]
    while seconds < arguments.budget / 8 and k < n:
        k = min(n, 4 * k)
        seconds = one.worker.run(chosen(order, k))["seconds"]
    each = max(seconds, 1e-9) / k
    # rows of distances take memory: a peer's are as wide as float64
    most = n if one.worker.measure != "apsp" else arguments.rows
    if n <= most and n * each < arguments.time_limit / 2:
        return n
    unit = one.threads
    return min(n, most, max(unit, int(arguments.budget / each) // unit * unit))


def take_turn(one: Contestant, order: NDArray[np.int64], first: bool) -> None:
    assert one.worker is not None
    run = one.worker.run(chosen(order, one.num_sources), scores=first)
    scores = run.pop("scores")
    one.record |= run.pop("facts")
    one.scores = scores if first else one.scores
    one.record["runs"].append(run)


def compare(ours: Contestant, one: Contestant, order: NDArray[np.int64]) -> None:
    """Our scores of the peer's vertices, and its own."""
    assert ours.worker is not None and ours.scores is not None and one.scores is not None
    ids = chosen(order, one.num_sources)
    if ours.worker.measure == "apsp":
        rows = (np.arange(len(order)) if ids is None else ids)[:ROWS_COMPARED]
        same = ours.worker.run(rows, scores=True)["scores"]
    else:
        same = ours.scores if ids is None else ours.scores[ids]
    one.record |= disagreement(same, one.scores)


def conclude(one: Contestant, n: int) -> None:
    runs = one.record["runs"]
    if runs:
        seconds = statistics.median(run["seconds"] for run in runs)
        one.record["seconds"] = seconds * n / one.num_sources
        one.record["memory"] = max(run["memory"] for run in runs)
        what = "" if one.record["whole"] else f", by {one.num_sources:,} vertices"
        print(f"    {one.name}: {one.record['seconds']:.4g} s{what}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measures", nargs="+", choices=MEASURES, default=MEASURES)
    parser.add_argument("--graphs", nargs="+", metavar="NAME", help="default: the whole tables")
    parser.add_argument("--peers", nargs="+", choices=[*PEERS, "none"], default=list(PEERS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--budget", type=float, default=10, help="seconds of a run to repeat (10)")
    parser.add_argument("--time-limit", type=float, default=300, help="seconds until given up")
    parser.add_argument("--rows", type=int, default=4096, help="of a peer's distances, at most")
    parser.add_argument("--update", action="store_true", help="keep the output's other rows")
    parser.add_argument("--output", type=Path, default=RESULTS / "distances.json")
    arguments = parser.parse_args()
    if "none" in arguments.peers:
        arguments.peers = []

    told = ("threads", "repeat", "budget", "time_limit")
    result = {**conditions(), **{name: getattr(arguments, name) for name in told}, "rows": []}
    output = arguments.output
    output.parent.mkdir(parents=True, exist_ok=True)
    rows = {}
    if arguments.update and output.exists():  # a row is whole in itself: all contestants in turns
        kept = json.loads(output.read_text())["rows"]
        rows = {(row["measure"], row["name"]): row for row in kept}
    tables = {measure: ALL_PAIRS if measure == "apsp" else GRAPHS for measure in MEASURES}
    order = [(measure, name) for measure, table in tables.items() for name in table]
    for measure in arguments.measures:
        for graph in find(arguments.graphs, tables[measure]):
            row = measure_graph(graph, measure, arguments)
            if row is not None:
                rows[measure, graph.name] = row
                known = [key for key in order if key in rows]
                others = [key for key in rows if key not in order]
                result["rows"] = [rows[key] for key in known + others]
                output.write_text(json.dumps(result, indent=1) + "\n")
    print_report(result)
    print(f"\nwritten to {output}")


if __name__ == "__main__":
    main()
