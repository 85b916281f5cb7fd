"""Approximate betweenness against NetworKit's KADABRA: seconds, samples, and errors where known.

    python benchmarks/approximation.py          # writes results/approximation.json
    python benchmarks/approximation.py --graphs rmat16_ef16 --repeat 5    # replaces this row

Both run with the same epsilon and delta and the same number of threads, in turns, each run in a
process of its own with the graph ready in it. Medians are compared. A contestant whose run takes
longer than `--time-limit` has no more turns. Rows of other graphs in the output stay. The rows of
`rules` have how many samples other published rules would have needed for the same graph, from the
best scores known. They are those of Riondato and Kornaropoulos, and of Pellegrina and Vandin
(SILVAN, without its first phase).
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from graphs import generated, largest_component, simplified
from machine import conditions
from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results" / "approximation.json"
Edges = tuple[NDArray[np.int64], int]
GRAPHS: dict[str, Callable[[], Edges]] = {
    "rmat16_ef16": partial(generated, "rmat", scale=16, edge_factor=16, seed=1),
    "ba_30k_b50": partial(generated, "ba", n=30_000, m=50, seed=1),
    "road40k": partial(generated, "road", rows=200, cols=200, seed=1),
    "road250k": partial(generated, "road", rows=500, cols=500, seed=1),
}


def torchcent_run(edges: Edges, epsilon: float, delta: float, threads: int, seed: int) -> Any:
    import torch

    import torchcent

    torch.set_num_threads(threads)
    graph = torchcent.Graph.from_edge_index(torch.from_numpy(edges[0]), edges[1], directed=False)
    begin = time.perf_counter()
    found = torchcent.betweenness_approx(
        graph, epsilon, delta, method="kadabra", run=torchcent.Run(dtype=torch.float64),
        generator=torch.Generator().manual_seed(seed),
    )  # fmt: skip
    seconds = time.perf_counter() - begin
    return seconds, found.samples, found.scores.numpy()


def networkit_run(edges: Edges, epsilon: float, delta: float, threads: int, seed: int) -> Any:
    import networkit

    networkit.setNumberOfThreads(threads)
    networkit.setSeed(seed, False)
    graph = networkit.GraphFromCoo((edges[0][0], edges[0][1]), n=edges[1])
    begin = time.perf_counter()
    found = networkit.centrality.KadabraBetweenness(graph, epsilon, delta)
    found.run()
    seconds = time.perf_counter() - begin
    scores = np.zeros(edges[1])
    for vertex, score in found.ranking():
        scores[vertex] = score
    return seconds, found.getNumberOfIterations(), scores


CONTESTANTS = {"torchcent": torchcent_run, "networkit": networkit_run}


def _child(pipe: Any, name: str, *arguments: Any) -> None:
    pipe.send(CONTESTANTS[name](*arguments))


def timed(name: str, limit: float, *arguments: Any) -> Any:
    """What the contestant returns, or None after the limit."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    child = context.Process(target=_child, args=(there, name, *arguments))
    child.start()
    there.close()
    found = None
    try:
        if here.poll(limit):
            found = here.recv()
    except EOFError:
        pass
    if found is None:
        child.kill()
    child.join()
    return found


def silvan_samples(scores: NDArray[np.float64], epsilon: float, delta: float) -> int:
    """Pellegrina and Vandin 2023, from the largest variance and the mean number of inner vertices:
    (2 v + 2 epsilon / 3) / epsilon^2 * (ln(2 rho / v) + ln(1 / delta))."""
    variance, inner = float((scores * (1 - scores)).max()), float(scores.sum())
    return math.ceil(
        (2 * variance + 2 * epsilon / 3) / epsilon**2
        * (math.log(2 * inner / variance) + math.log(1 / delta))
    )  # fmt: skip


def rk_samples(edges: Edges, epsilon: float, delta: float) -> int:
    import torch

    import torchcent
    from torchcent.approx._approximation import vertex_diameter
    from torchcent.approx._bounds import vc_samples

    graph = torchcent.Graph.from_edge_index(torch.from_numpy(edges[0]), edges[1], directed=False)
    return vc_samples(epsilon, delta, vertex_diameter(graph))


def row(name: str, given: argparse.Namespace) -> dict[str, Any]:
    edges = largest_component(*simplified(*GRAPHS[name]()))
    epsilon, delta = given.epsilon, given.delta
    record: dict[str, Any] = {
        "name": name, "num_nodes": edges[1], "num_slots": 2 * edges[0].shape[1],
        "epsilon": epsilon, "delta": delta, "threads": given.threads,
        "time_limit": given.time_limit,
        "contestants": {
            kind: {"seconds": [], "samples": [], "gave_up": False} for kind in CONTESTANTS
        },
    }  # fmt: skip
    scores: dict[str, NDArray[np.float64]] = {}
    for turn in range(given.repeat):
        for kind in CONTESTANTS:
            runs = record["contestants"][kind]
            if runs["gave_up"]:
                continue
            found = timed(kind, given.time_limit, edges, epsilon, delta, given.threads, turn + 1)
            if found is None:
                runs["gave_up"] = True
                continue
            runs["seconds"].append(found[0])
            runs["samples"].append(found[1])
            scores[kind] = found[2]
    for kind, runs in record["contestants"].items():
        runs["median"] = statistics.median(runs["seconds"]) if runs["seconds"] else None
        median = f"{runs['median']:.3f} s" if runs["seconds"] else f"> {given.time_limit:g} s"
        print(f"{name:12} {kind:10} {median}, samples {runs['samples']}", flush=True)
    if len(scores) == 2:
        apart = float(np.abs(scores["torchcent"] - scores["networkit"]).max())
        record["largest_difference"] = apart
    if "torchcent" in scores:
        record["rules"] = {
            "rk": rk_samples(edges, epsilon, delta),
            "silvan": silvan_samples(scores["torchcent"], epsilon, delta),
        }
    return record


def table(result: dict[str, Any]) -> list[list[str]]:
    """The rows as cells, for tables.py."""
    lines = [
        ["graph", "vertices", "slots", "seconds", "samples", "NetworKit", "its samples", "times",
         "SILVAN's bound", "Riondato's"]
    ]  # fmt: skip
    for row in result["rows"]:
        ours, theirs = (row["contestants"][kind] for kind in CONTESTANTS)
        limit = row["time_limit"]
        done = bool(theirs["seconds"])
        ratio = (theirs["median"] if done else limit) / ours["median"]
        lines.append(
            [
                row["name"], f"{row['num_nodes']:,}", f"{row['num_slots']:,}",
                f"{ours['median']:.3g}", f"{statistics.median(ours['samples']):,.0f}",
                f"{theirs['median']:.3g}" if done else f"> {limit:g}",
                f"{statistics.median(theirs['samples']):,.0f}" if done else "",
                f"{'' if done else '> '}{ratio:.3g}",
                f"{row['rules']['silvan']:,}", f"{row['rules']['rk']:,}",
            ]
        )  # fmt: skip
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS), choices=list(GRAPHS))
    parser.add_argument("--epsilon", type=float, default=0.01)
    parser.add_argument("--delta", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=120)
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    rows: dict[str, Any] = {}
    if given.output.exists():
        rows = {old["name"]: old for old in json.loads(given.output.read_text())["rows"]}
    result = conditions()
    for name in given.graphs:
        rows[name] = row(name, given)
        ordered = [rows[known] for known in GRAPHS if known in rows]
        given.output.write_text(json.dumps({**result, "rows": ordered}, indent=1) + "\n")


if __name__ == "__main__":
    main()
