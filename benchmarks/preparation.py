"""What a user's call on a fresh edge_index waits for on the CPU, step by step, beside the peers.

    python benchmarks/preparation.py       # about five minutes; results/preparation.json

An R-MAT graph of scale 20 and edge factor 16 (31 M arcs in any order), one of scale 16, and a road
network. Steps are those of a first call; a one-shot call does them and searches from k sources.
Peers build their graph from the same arrays (NetworKit's GraphFromCoo, igraph's constructor).
Medians of three runs in turns.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import scipy.sparse
import torch
from machine import conditions
from report import markdown

import torchcent
from torchcent import Graph, generate
from torchcent.engines.reduce import _reduce

RESULT = Path(__file__).parent / "results" / "preparation.json"
THREADS, REPEAT = 2, 3
GRAPHS: dict[str, Callable[[], torch.Tensor]] = {
    "R-MAT scale 20, edge factor 16": lambda: generate.rmat(20, 16, seed=1),
    "R-MAT scale 16, edge factor 16": lambda: generate.rmat(16, 16, seed=1),
    "road-like 1000x1000": lambda: generate.road(1000, 1000, seed=1),
}


def steps(edges: torch.Tensor) -> dict[str, Callable[[], Any]]:
    """Each step on its own, on a graph that has done those before it."""
    done: dict[str, Any] = {}

    def build() -> None:
        done["graph"] = Graph.from_edge_index(edges)

    def reduce() -> None:
        done["core"] = _reduce.core(done["graph"], "degree", "all")

    return {
        "Graph": build,
        "is it symmetric": lambda: done["graph"].is_symmetric,
        "components": lambda: done["graph"].components,
        "folding, order by degree": reduce,
        "depth": lambda: done["core"].depth,
        "order of sources": lambda: done["core"].sequence,
        "slots of columns": lambda: done["graph"].slot,
    }


def one_shots(edges: torch.Tensor) -> dict[str, Callable[[], Any]]:
    joined = torch.unique(edges[0])
    order = torch.randperm(joined.numel(), generator=torch.Generator().manual_seed(3))

    def call(k: int) -> Callable[[], Any]:
        sources = joined[order[:k]]
        quiet = torchcent.Run(progress=False)
        return lambda: torchcent.betweenness(edges, sources=sources, run=quiet)

    return {f"one-shot betweenness, k={k}": call(k) for k in (4, 64)}


def peers(edges: torch.Tensor) -> dict[str, Callable[[], Any]]:
    """Only the construction, of an undirected graph from its edges in one direction."""
    n = int(edges.max()) + 1
    row, col = edges[:, edges[0] < edges[1]].numpy()
    found: dict[str, Callable[[], Any]] = {}
    try:
        kit = import_module("networkit")
        kit.setNumberOfThreads(THREADS)
        matrix = scipy.sparse.coo_array(([1.0] * len(row), (row, col)), shape=(n, n))
        found["NetworKit, construction"] = lambda: kit.GraphFromCoo(
            (matrix.data, (row, col)), n=n, directed=False
        )
    except ImportError:
        pass
    try:
        igraph = import_module("igraph")
        pairs = torch.from_numpy(edges[:, edges[0] < edges[1]].T.numpy().copy()).numpy()
        found["igraph, construction"] = lambda: igraph.Graph(n=n, edges=pairs)
    except ImportError:
        pass
    return found


def measure(name: str) -> dict[str, Any]:
    edges = GRAPHS[name]()
    chance = torch.Generator().manual_seed(0)
    edges = edges[:, torch.randperm(edges.shape[1], generator=chance)].contiguous()
    seconds: dict[str, list[float]] = {}
    for _ in range(REPEAT):
        for step, call in (steps(edges) | one_shots(edges) | peers(edges)).items():
            begin = time.perf_counter()
            call()
            seconds.setdefault(step, []).append(time.perf_counter() - begin)
    print(name, {one: round(statistics.median(x), 3) for one, x in seconds.items()}, flush=True)
    return {"name": name, "num_columns": edges.shape[1], "seconds": seconds}


def table(result: dict[str, Any]) -> str:
    rows = result["graphs"]
    lines = [["seconds, median of three", *(row["name"] for row in rows)]]
    for step in rows[0]["seconds"]:
        taken = (row["seconds"].get(step) for row in rows)
        lines.append([step, *("" if x is None else f"{statistics.median(x):.3g}" for x in taken)])
    return markdown(lines)


def main() -> None:
    torch.set_num_threads(THREADS)
    result = {**conditions(), "threads": THREADS, "graphs": [measure(name) for name in GRAPHS]}
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


if __name__ == "__main__":
    main()
