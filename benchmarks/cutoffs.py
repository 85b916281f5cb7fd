"""Betweenness within cutoffs: five from one search against one plain run, and against igraph's.

    python benchmarks/cutoffs.py

Two threads; igraph has one. Plain runs and runs with five cutoffs take turns, seven times; igraph
runs once. Wall-clock times, and the seconds of all cores together, which other work on the machine
disturbs less. Scores are compared. results/cutoffs.json holds the figures.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import torch
from machine import conditions
from torch import Tensor

import torchcent
from torchcent import Graph

RESULT = Path(__file__).parent / "results" / "cutoffs.json"
THREADS, TURNS = 2, 7


def graphs() -> dict[str, tuple[Tensor, Tensor | None, list[int]]]:
    """Arcs, weights, and five cutoffs."""
    n = 10_000

    def of(graph: nx.Graph) -> Tensor:
        return torch.tensor(list(graph.edges)).T.contiguous()

    ba = of(nx.barabasi_albert_graph(n, 5, seed=1))
    smaller = of(nx.barabasi_albert_graph(n // 2, 5, seed=1))
    random = of(nx.fast_gnp_random_graph(n, 10 / n, seed=1))
    small_world = of(nx.watts_strogatz_graph(n, 10, 0.1, seed=1))
    grid = of(nx.convert_node_labels_to_integers(nx.grid_2d_graph(100, 100)))
    chance = torch.Generator().manual_seed(1)
    lengths = torch.randint(1, 11, smaller.shape[1:], generator=chance).double()
    return {
        "Barabasi-Albert": (ba, None, [1, 2, 3, 4, 5]),
        "Erdos-Renyi": (random, None, [1, 2, 3, 4, 5]),
        "Watts-Strogatz": (small_world, None, [2, 3, 4, 5, 6]),
        "grid": (grid, None, [10, 20, 30, 40, 50]),
        "Barabasi-Albert, lengths 1-10": (smaller, lengths, [3, 6, 9, 12, 15]),
    }


def timed(call: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    wall, cores = time.perf_counter(), time.process_time()
    found = call()
    return {"wall": time.perf_counter() - wall, "cores": time.process_time() - cores}, found


def median(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: round(statistics.median(run[key] for run in runs), 4) for key in runs[0]}


def measure(name: str, arcs: Tensor, weight: Tensor | None, cutoffs: list[int]) -> dict[str, Any]:
    graph = Graph.from_edge_index(arcs, directed=False, edge_weight=weight)
    theirs = igraph.Graph(graph.num_nodes, arcs.T.tolist())
    lengths = None if weight is None else weight.tolist()

    quiet = torchcent.Run(progress=False)

    def run(**options: Any) -> Tensor:
        return torchcent.betweenness(
            graph, normalized=False, run=quiet | torchcent.Run(dtype=torch.float64), **options
        )

    ours: dict[str, list[dict[str, float]]] = {"plain": [], "five": []}
    named = tuple(ours)
    ours |= {f"{cutoff}": [] for cutoff in cutoffs}
    run()  # prepares the graph
    scores = run(cutoff=cutoffs)
    for _ in range(TURNS):
        for key, runs in ours.items():
            limit = {"plain": None, "five": cutoffs}[key] if key in named else int(key)
            runs.append(timed(partial(run, cutoff=limit))[0])
    row: dict[str, Any] = {
        "graph": name, "vertices": graph.num_nodes, "edges": graph.num_slots // 2,
        "cutoffs": cutoffs, "engine": torchcent.explain(graph, cutoff=cutoffs).engine,
        "engine of plain": torchcent.explain(graph).engine,
        **{key: median(runs) for key, runs in ours.items() if key in named},
    }  # fmt: skip
    row["five / plain"] = {x: round(row["five"][x] / row["plain"][x], 2) for x in row["plain"]}
    row["single"] = []
    for place, cutoff in enumerate(cutoffs):
        own = median(ours[f"{cutoff}"])
        seconds, found = timed(
            partial(theirs.betweenness, directed=False, cutoff=cutoff, weights=lengths)
        )
        wanted = torch.tensor(found, dtype=torch.float64)
        error = (scores[:, place] - wanted).abs().max() / wanted.max().clamp(min=1)
        row["single"].append(
            {
                "cutoff": cutoff, "torchcent": own,
                "igraph": {key: round(x, 4) for key, x in seconds.items()},
                "ratio of wall": round(seconds["wall"] / own["wall"], 1),
                # igraph has one thread, so that two perfect ones would take half of ours
                "ratio of cores": round(THREADS * seconds["cores"] / own["cores"], 1),
                "error": float(error),
            }
        )  # fmt: skip
        print(name, row["single"][-1], flush=True)
    print({key: row[key] for key in ("graph", "plain", "five", "five / plain")}, flush=True)
    return row


def main() -> None:
    torch.set_num_threads(THREADS)
    result = conditions() | {"threads": THREADS, "igraph": igraph.__version__, "rows": []}
    for name, (arcs, weight, cutoffs) in graphs().items():
        result["rows"].append(measure(name, arcs, weight, cutoffs))
        RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
