"""PageRank, Katz, eigenvector, HITS, cores, triangles and clustering beside igraph and NetworKit.

    python benchmarks/walks.py                  # an R-MAT graph of 10^7 slots -> results/walks.json
    python benchmarks/walks.py --graph ba --repeat 5 --threads 2

The graph is undirected and held by each library in its own form beforehand; only the call is timed.
All contestants run in turns, and a ratio is the median over the turns of the ratio of that turn.
igraph has one thread. Scores of torchcent are float64. `tol` of PageRank is 1e-10 in torchcent, an
error that the sum of all scores does not exceed. igraph's PRPACK converges to about as much, and
NetworKit's has `tol` 1e-10 for the change in the Euclidean norm. Nobody computes subgraph
centralities of all vertices at this size; torchcent's are those of 16 vertices. The peers return no
triangles per vertex: beside ours stand their clustering coefficients, which are found from them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from graphs import generated, simplified
from machine import conditions

import torchcent

RESULTS = Path(__file__).parent / "results" / "walks.json"
GRAPHS: dict[str, dict[str, Any]] = {
    "rmat": {"kind": "rmat", "scale": 18, "edge_factor": 21, "seed": 1},
    "ba": {"kind": "ba", "n": 250_000, "m": 20, "seed": 1},
    "small": {"kind": "rmat", "scale": 10, "edge_factor": 8, "seed": 1},
}
F64 = torch.float64
Calls = dict[str, Callable[[], Any]]


def ours(edges: np.ndarray, n: int) -> Calls:
    graph = torchcent.Graph.from_edge_index(torch.from_numpy(edges), n, directed=False)
    some = torch.arange(16)
    return {
        "pagerank": lambda: torchcent.pagerank(graph, run=torchcent.Run(dtype=F64)),
        "katz": lambda: torchcent.katz(graph, alpha=1e-4, run=torchcent.Run(dtype=F64)),
        "eigenvector": lambda: torchcent.eigenvector(graph, run=torchcent.Run(dtype=F64)),
        "hits": lambda: torchcent.hits(graph, run=torchcent.Run(dtype=F64)),
        "core_number": lambda: torchcent.core_number(graph),
        "triangles": lambda: torchcent.triangles(graph),
        "clustering_coefficient": lambda: torchcent.clustering_coefficient(
            graph, run=torchcent.Run(dtype=F64)
        ),
        "subgraph_centrality": lambda: torchcent.subgraph_centrality(graph, vertices=some),
    }


def of_igraph(edges: np.ndarray, n: int) -> Calls:
    igraph = import_module("igraph")
    warnings.filterwarnings("ignore", category=RuntimeWarning)  # of parts that are not connected
    graph = igraph.Graph(n=n, edges=edges.T)
    coefficients = lambda: graph.transitivity_local_undirected(mode="zero")  # noqa: E731
    return {
        "pagerank": lambda: graph.pagerank(),
        "eigenvector": lambda: graph.eigenvector_centrality(),
        "hits": lambda: graph.hub_score(),
        "core_number": lambda: graph.coreness(),
        "triangles": coefficients,  # which count the triangles of each vertex; no call returns them
        "clustering_coefficient": coefficients,
    }


def of_networkit(edges: np.ndarray, n: int) -> Calls:
    nk = import_module("networkit")
    graph = nk.GraphFromCoo((edges[0], edges[1]), n=n)
    graph.indexEdges()

    def pagerank() -> Any:
        run = nk.centrality.PageRank(graph, damp=0.85, tol=1e-10)
        run.run()
        return run.scores()

    return {
        "pagerank": pagerank,
        "eigenvector": lambda: nk.centrality.EigenvectorCentrality(graph, tol=1e-10).run().scores(),
        "core_number": lambda: nk.centrality.CoreDecomposition(graph).run().scores(),
        "clustering_coefficient": lambda: (
            nk.centrality.LocalClusteringCoefficient(graph, turbo=True).run().scores()
        ),
        "triangles": lambda: (
            nk.centrality.LocalClusteringCoefficient(graph, turbo=True).run().scores()
        ),
    }


def values(name: str, found: Any) -> np.ndarray:
    """Scores in a common scale, to compare them."""
    if name == "hits" and not isinstance(found, list):
        found = found.hubs
    scores = np.asarray(found, dtype=float)
    if name in ("eigenvector", "hits", "katz", "pagerank"):
        scores = scores / np.linalg.norm(scores)
    return np.nan_to_num(scores)


def difference(name: str, found: Any, other: Any) -> float | None:
    if name == "triangles":
        return None  # the peers' calls give coefficients, which are compared in a row of their own
    one, two = values(name, found), values(name, other)
    return float(np.abs(one - two).max() / max(np.abs(two).max(), 1e-300))


def timed(call: Callable[[], Any]) -> tuple[float, float, Any]:
    before = time.perf_counter(), time.process_time()
    found = call()
    return time.perf_counter() - before[0], time.process_time() - before[1], found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", choices=GRAPHS, default="rmat")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--measures", nargs="+")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    edges, n = simplified(*generated(**GRAPHS[given.graph]))
    result: dict[str, Any] = {
        **conditions(), "threads": given.threads, "repeat": given.repeat, "graph": given.graph,
        "vertices": n, "slots": 2 * edges.shape[1], "rows": [],
    }  # fmt: skip
    print(f"{given.graph}: {n} vertices, {2 * edges.shape[1]} slots", flush=True)
    peers: dict[str, Calls] = {}
    for name, load in (("igraph", of_igraph), ("networkit", of_networkit)):
        try:
            peers[name] = load(edges, n)
        except ImportError:
            print(f"{name} is not installed")
    if "networkit" in peers:
        import_module("networkit").setNumberOfThreads(given.threads)
    calls = ours(edges, n)
    for measure in given.measures or calls:
        contestants = {"torchcent": calls[measure]}
        contestants |= {name: own[measure] for name, own in peers.items() if measure in own}
        took: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
        found: dict[str, Any] = {}
        for _ in range(given.repeat):
            for name, call in contestants.items():
                clock, processor, found[name] = timed(call)
                took[name].append((clock, processor))
        row: dict[str, Any] = {"measure": measure}
        for name, times in took.items():
            row[name] = {
                "seconds": statistics.median(t for t, _ in times),
                "processor": statistics.median(t for _, t in times),
            }
            if name != "torchcent":
                turns = zip(times, took["torchcent"], strict=True)
                row[name]["ratio"] = statistics.median(t[0] / own[0] for t, own in turns)
                row[name]["difference"] = difference(measure, found["torchcent"], found[name])
        result["rows"].append(row)
        shown = (
            f"{name} {row[name]['seconds']:.3f} s (x{row[name]['ratio']:.2f}, "
            f"difference {row[name]['difference']})"
            for name in took
            if name != "torchcent"
        )
        print(f"{measure:24} {row['torchcent']['seconds']:.3f} s;", ", ".join(shown), flush=True)
    given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
