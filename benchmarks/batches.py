"""Many small graphs at once, beside NetworkX in a loop over a sample of them.

    python benchmarks/batches.py                  # all -> results/batches.json
    python benchmarks/batches.py --repeat 9 --threads 2

Every call begins with an edge_index and ptr, so that the preparation of the graph is in its time.
Medians by the clock, and seconds of the processor in all threads: on a busy machine the latter are
the better measure. NetworkX computes the same of a sample, from graphs that are made already, and
its time is scaled to the whole set. The values of the sample are compared.
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
from small_graphs import SETS, Part, parts, union

import torchcent
from torchcent import generate

RESULTS = Path(__file__).parent / "results" / "batches.json"
SAMPLE = 100
LARGE = 2**16


def timed(call: Callable[[], Any], repeat: int) -> dict[str, float]:
    call()
    clock, processor = [], []
    for _ in range(repeat):
        before = time.perf_counter(), time.process_time()
        call()
        clock.append(time.perf_counter() - before[0])
        processor.append(time.process_time() - before[1])
    return {"seconds": statistics.median(clock), "processor": statistics.median(processor)}


def networkx(graphs: list[Part], weight: str | None) -> tuple[dict[str, float], list[float]]:
    """Betweenness and closeness of each graph; the time of them, and the former."""
    made = []
    for n, edges in graphs:
        graph = nx.Graph()
        graph.add_nodes_from(range(n))
        graph.add_weighted_edges_from((u, v, 1 + (u + v) % 4) for u, v in edges)
        made.append(graph)
    before, scores = (time.perf_counter(), time.process_time()), []
    for graph in made:
        scores += nx.betweenness_centrality(graph, weight=weight).values()
        nx.closeness_centrality(graph, distance=weight)
    took = time.perf_counter() - before[0], time.process_time() - before[1]
    return {"seconds": took[0], "processor": took[1]}, scores


def set_row(name: str, repeat: int) -> dict[str, Any]:
    graphs = parts(name)
    arcs, ptr = union(graphs)
    batch = torch.repeat_interleave(ptr.diff())
    weight = (1 + (arcs - ptr[torch.repeat_interleave(ptr.diff())[arcs[0]]]).sum(0) % 4).double()
    row: dict[str, Any] = {
        "set": name, "graphs": len(graphs), "vertices": int(ptr[-1]), "slots": arcs.shape[1],
    }  # fmt: skip
    calls: dict[str, Callable[[], Any]] = {
        "preparation": lambda: torchcent.Graph.from_edge_index(arcs, ptr=ptr),
        "betweenness and closeness": lambda: torchcent.node_features(arcs, batch=batch),
        "edge betweenness": lambda: torchcent.edge_betweenness(arcs, batch=batch),
        "diameter": lambda: torchcent.diameter(arcs, batch=batch),
        "weighted": lambda: torchcent.node_features(arcs, weight, batch=batch),
    }
    row["torchcent"] = {what: timed(call, repeat) for what, call in calls.items()}
    size = int(ptr[SAMPLE])
    for what, lengths in (("betweenness and closeness", None), ("weighted", weight)):
        took, expected = networkx(graphs[:SAMPLE], None if lengths is None else "weight")
        found = torchcent.betweenness(
            arcs, lengths, batch=batch, run=torchcent.Run(dtype=torch.float64)
        )[:size]
        ours = row["torchcent"][what]
        row.setdefault("networkx", {})[what] = {
            "sample": SAMPLE,
            **{key: value * len(graphs) / SAMPLE for key, value in took.items()},
            "ratio": took["seconds"] * len(graphs) / SAMPLE / ours["seconds"],
            "ratio_processor": took["processor"] * len(graphs) / SAMPLE / ours["processor"],
            "difference": float((found - torch.tensor(expected, dtype=found.dtype)).abs().max()),
        }
    return row


def mixed_row(repeat: int) -> dict[str, Any]:
    """1,000 molecules and one R-MAT graph, together and apart: closeness, and betweenness with all
    vertices of the former and 256 pivots of the latter."""
    arcs, ptr = union(parts("molecules")[:1000])
    large = generate.rmat(16, 8, seed=1)
    small = int(ptr[-1])
    joined = torch.cat([arcs, large + small], dim=1)
    batch = torch.repeat_interleave(ptr.diff())
    every_batch = torch.cat([batch, torch.full((LARGE,), ptr.numel() - 1)])
    pivots = torch.unique(large)[:256]  # with neighbours
    every = torch.cat([torch.arange(small), pivots + small])
    row: dict[str, Any] = {"graphs": 1001, "vertices": small + LARGE, "slots": joined.shape[1]}
    closeness, betweenness = torchcent.closeness, torchcent.betweenness
    calls: dict[str, dict[str, Callable[[], Any]]] = {
        "closeness": {
            "small": lambda: closeness(arcs, batch=batch),
            "large": lambda: closeness(large, num_nodes=LARGE),
            "together": lambda: closeness(joined, batch=every_batch),
        },
        "betweenness": {
            "small": lambda: betweenness(arcs, batch=batch),
            "large": lambda: betweenness(large, num_nodes=LARGE, sources=pivots),
            "together": lambda: betweenness(joined, batch=every_batch, sources=every),
        },
    }
    for name, parts_of in calls.items():
        took = {what: timed(call, repeat) for what, call in parts_of.items()}
        row[name] = {**took}
        for key in ("seconds", "processor"):
            apart = took["small"][key] + took["large"][key]
            row[name][f"{key} together / apart"] = took["together"][key] / apart
    return row


def table(result: dict[str, Any]) -> str:
    """Milliseconds of a whole set, and times NetworkX; then large graphs among small ones."""
    calls = list(result["sets"][0]["torchcent"])
    lines = [["set", "graphs", "vertices", "slots"]]
    for call in calls:
        lines[0] += [call, "x NetworkX"] if call in result["sets"][0]["networkx"] else [call]
    for row in result["sets"]:
        cells = [row["set"], *(f"{row[key]:,}" for key in ("graphs", "vertices", "slots"))]
        for call in calls:
            cells.append(f"{1e3 * row['torchcent'][call]['seconds']:,.1f}")
            if call in row["networkx"]:
                cells.append(f"{row['networkx'][call]['ratio']:.0f}")
        lines.append(cells)
    together = ", ".join(
        f"{name} {result['mixed'][name]['seconds together / apart']:.2f}"
        for name in ("betweenness", "closeness")
    )
    what = "A thousand molecules and an R-MAT graph of 2^16 vertices in one batch"
    return markdown(lines) + f"\n\n{what}, over the sum of the times apart: {together}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    result: dict[str, Any] = {**conditions(), "threads": given.threads, "repeat": given.repeat}
    result["sets"] = []
    for name in SETS:
        row = set_row(name, given.repeat)
        result["sets"].append(row)
        for what, took in row["torchcent"].items():
            print(f"{name:14} {what:26} {took['seconds'] * 1e3:9.1f} ms "
                  f"{took['processor'] * 1e3:9.1f} ms of the processor", flush=True)  # fmt: skip
        for what, took in row["networkx"].items():
            ratios = f"x{took['ratio']:.0f}, by processor x{took['ratio_processor']:.0f}"
            print(f"{name:14} {what:26} NetworkX {ratios}, difference {took['difference']:.0e}")
    result["mixed"] = mixed_row(max(1, given.repeat // 2))
    for what in ("closeness", "betweenness"):
        print(f"mixed sizes, {what}: together / apart "
              f"{result['mixed'][what]['seconds together / apart']:.2f}")  # fmt: skip
    given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
