"""Curvature of edges beside GraphRicciCurvature, on the same graphs in one run.

    pip install GraphRicciCurvature
    python benchmarks/curvature.py                      # a few minutes, prints a table
    python benchmarks/curvature.py --graphs karate --peer-turns 5 --output curvature.json

Each time is the median of several calls. GraphRicciCurvature takes long on the larger graph, so it
runs fewer times (--peer-turns). Every call of torchcent begins with an edge_index, and every call
of GraphRicciCurvature with a NetworkX graph, and with as many processes as torchcent has threads.
Values are compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import torch
from machine import conditions
from report import markdown

import torchcent

GRAPHS: dict[str, Callable[[], nx.Graph]] = {
    "karate": lambda: nx.Graph(nx.karate_club_graph().edges),
    "ba": lambda: nx.barabasi_albert_graph(2000, 5, seed=1),
}
TITLES = {"karate": "karate club", "ba": "Barabasi-Albert, n = 2,000, m = 5"}
EXACT = torchcent.Run(dtype=torch.float64)


def of_forman(method: str) -> Callable[[nx.Graph], nx.Graph]:
    def compute(graph: nx.Graph) -> nx.Graph:
        from GraphRicciCurvature.FormanRicci import FormanRicci

        peer = FormanRicci(graph, method=method)
        peer.compute_ricci_curvature()
        return peer.G

    return compute


def of_ollivier(method: str) -> Callable[[nx.Graph], nx.Graph]:
    def compute(graph: nx.Graph) -> nx.Graph:
        from GraphRicciCurvature.OllivierRicci import OllivierRicci

        peer = OllivierRicci(
            graph, alpha=0.5, method=method, exp_power=0, proc=torch.get_num_threads()
        )
        peer.compute_ricci_curvature()
        return peer.G

    return compute


#: name -> our function and its arguments, the peer, its attribute, and how far values may differ
CALLS: dict[str, tuple[Callable[..., torch.Tensor], dict[str, Any], Any, str, float]] = {
    "plain Forman": (
        torchcent.forman_curvature, {"kind": "plain"}, of_forman("1d"), "formanCurvature", 1e-9,
    ),
    "balanced Forman": (
        torchcent.forman_curvature, {"kind": "balanced"}, of_forman("balanced"),
        "formanCurvature", 1e-9,
    ),
    "Ollivier-Ricci, exact": (
        torchcent.ollivier_ricci_curvature, {}, of_ollivier("OTD"), "ricciCurvature", 1e-6,
    ),
    "Ollivier-Ricci, Sinkhorn": (
        torchcent.ollivier_ricci_curvature, {"method": "sinkhorn"}, of_ollivier("Sinkhorn"),
        "ricciCurvature", 1.0,
    ),
}  # fmt: skip


def timed(call: Callable[[], Any], turns: int) -> tuple[Any, list[float]]:
    seconds = []
    for _ in range(turns):
        began = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - began)
    return result, seconds


def row(name: str, graph: nx.Graph, turns: int, peer_turns: int) -> dict[str, Any]:
    function, options, peer, attribute, most = CALLS[name]
    edges = torch.tensor(list(graph.edges)).T.contiguous()
    function(edges, directed=False, run=EXACT, **options)  # the first call loads libraries
    ours, half = timed(lambda: function(edges, directed=False, run=EXACT, **options), turns)
    theirs, seconds = timed(lambda: peer(graph), peer_turns)
    _, rest = timed(lambda: function(edges, directed=False, run=EXACT, **options), turns)
    values = torch.tensor([theirs.edges[e][attribute] for e in graph.edges], dtype=torch.float64)
    difference = float((ours - values).abs().max())
    assert difference < most, (name, difference)
    own = statistics.median(half + rest)
    return {
        "seconds": own, "peer_seconds": statistics.median(seconds), "peer_turns": len(seconds),
        "ratio": statistics.median(seconds) / own, "difference": difference,
    }  # fmt: skip


def rewired(graph: nx.Graph, turns: int) -> float:
    """Seconds of an iteration of sdrf, which has no peer here."""
    edges, count = torch.tensor(list(graph.edges)).T.contiguous(), 100
    generator = torch.Generator().manual_seed(0)
    options: dict[str, Any] = {"directed": False, "tau": 20.0, "generator": generator}
    _, long = timed(lambda: torchcent.sdrf(edges, iterations=count + 1, **options), turns)
    _, short = timed(lambda: torchcent.sdrf(edges, iterations=1, **options), turns)
    return (statistics.median(long) - statistics.median(short)) / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS), choices=list(GRAPHS))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--peer-turns", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    result: dict[str, Any] = {**conditions(), "threads": arguments.threads, "rows": {}}
    cells = [("graph", "curvature", "torchcent, ms", "GraphRicciCurvature, ms", "ratio")]
    for key in arguments.graphs:
        graph = GRAPHS[key]()
        rows = result["rows"][key] = {}
        for name in CALLS:
            if key == "ba" and name.endswith("Sinkhorn"):
                continue  # it takes minutes
            found = rows[name] = row(name, graph, arguments.turns, arguments.peer_turns)
            print(key, name, found, flush=True)
            times = (f"{1000 * found[x]:,.2f}" for x in ("seconds", "peer_seconds"))
            cells.append((TITLES[key], name, *times, f"{found['ratio']:,.0f}"))
        rows["sdrf"] = {"seconds": rewired(graph, arguments.turns)}
        cells.append((TITLES[key], "sdrf, an iteration", f"{1000 * rows['sdrf']['seconds']:.3f}"))
        cells[-1] += ("", "")
    print(markdown(cells))
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
