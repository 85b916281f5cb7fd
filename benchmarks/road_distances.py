"""Sums over distances of roads by a hierarchy, beside betweenness of the same sources.

    python benchmarks/road_distances.py                       # some minutes
    python benchmarks/road_distances.py "road 200x200"        # some of the graphs

Seconds of the processor on one thread for closeness, harmonic centrality and betweenness of all
vertices, in turns, the fastest of several; the graph has been contracted before. A hierarchy is
asked for. On the largest graph the sources are a ball of neighbours. Beside it stands the largest
relative error of harmonic centrality, against single searches from some vertices. Processor seconds
are nearly the same on a machine with other work.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import conditions
from report import markdown
from roads import LARGE, WORDS, Road, timed

import torchcent
from torchcent import Graph, Run

RESULT = Path(__file__).parent / "results" / "road_distances.json"
MEASURES = ("closeness", "harmonic", "betweenness")
GRAPHS: dict[str, tuple[str, ...]] = {
    "road 200x200": ("whole", "floats", "hops"),
    "road 500x500": ("whole", "floats"),
    "road 1000x1000": ("whole",),
    "luxembourg_osm": ("whole", "floats"),
}
BALL, CHECKED = 2**16, 64
F64 = torch.float64


def ball(graph: Graph, size: int) -> torch.Tensor:
    """So many vertices around the one in the middle."""
    rowptr, col = graph.rowptr.numpy(), graph.col.numpy()
    queue, seen = [graph.num_nodes // 2], {graph.num_nodes // 2}
    for v in queue:
        if len(queue) >= size:
            break
        for u in col[rowptr[v] : rowptr[v + 1]].tolist():
            if u not in seen:
                seen.add(u)
                queue.append(u)
    return torch.tensor(sorted(queue[:size]))


def calls(graph: Graph, sources: torch.Tensor | None) -> dict[str, Callable[[], torch.Tensor]]:
    run = Run(engine="hierarchy", dtype=F64, progress=False)
    return {
        "closeness": lambda: torchcent.closeness(graph, vertices=sources, run=run),
        "harmonic": lambda: torchcent.harmonic(graph, vertices=sources, run=run),
        "betweenness": lambda: torchcent.betweenness(graph, sources=sources, run=run),
    }


def row(name: str, kind: str, turns: int) -> dict[str, Any]:
    graph = Road(name, kind, 0).graph()
    for call in calls(graph, torch.arange(3)).values():
        call()  # contracts
    sources = ball(graph, BALL) if name in LARGE else None
    seconds: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    scores = torch.empty(0)
    for _ in range(turns):
        for measure, call in calls(graph, sources).items():
            times, found = timed(call)
            seconds[measure].append(times["cpu_seconds"])
            scores = found if measure == "harmonic" else scores
    some = torch.from_numpy(np.random.default_rng(1).permutation(len(scores))[:CHECKED])
    vertices = some if sources is None else sources[some]
    engine = Run(engine="bits" if kind == "hops" else "dijkstra", dtype=F64, progress=False)
    expected = torchcent.harmonic(graph, vertices=vertices, run=engine)
    return {
        "name": name, "kind": kind, "num_nodes": graph.num_nodes, "sources": len(scores),
        "cpu_seconds": {measure: min(each) for measure, each in seconds.items()},
        "error": float((scores[some] / expected - 1).abs().max()),
    }  # fmt: skip


def table(result: dict[str, Any]) -> str:
    lines = [
        ["graph", "vertices", "sources", "lengths", *(f"{measure}, s" for measure in MEASURES),
         "harmonic / betweenness", "error of harmonic"],
    ]  # fmt: skip
    for each in result["rows"]:
        seconds = each["cpu_seconds"]
        lines.append(
            [each["name"], f"{each['num_nodes']:,}", f"{each['sources']:,}", WORDS[each["kind"]]]
            + [f"{seconds[measure]:.3g}" for measure in MEASURES]
            + [f"{seconds['harmonic'] / seconds['betweenness']:.2f}", f"{each['error']:.0e}"]
        )
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graphs", nargs="*", default=list(GRAPHS), help=", ".join(GRAPHS))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RESULT)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    result: dict[str, Any] = {**conditions(), "rows": []}
    for name in asked.graphs:
        for kind in GRAPHS[name]:
            result["rows"].append(row(name, kind, asked.turns))
            print(result["rows"][-1], flush=True)
    asked.output.write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


if __name__ == "__main__":
    main()
