"""Does method="auto" foresee well? Seconds of exact scores, foreseen and measured, and of samples.

    python benchmarks/approx_cost.py            # writes results/approx_cost.json

For each graph: the engine that exact scores take, the seconds that torchcent/_approx/_cost.py
foresees, and those measured (best of `--repeat`, the graph prepared). Also the rate in slots per
second and thread that they come to, the seconds of method="kadabra", and what auto chose. Rates of
_cost.py are the lowest of an engine here and in docs/notes/performance*.md, rounded down.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from machine import conditions

import torchcent
from torchcent import Graph, generate
from torchcent.approx import _cost
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _plan

RESULTS = Path(__file__).parent / "results" / "approx_cost.json"
GRAPHS: dict[str, tuple[Callable[[], torch.Tensor], bool]] = {
    "R-MAT scale 11": (lambda: generate.rmat(11, 8, seed=1), False),
    "R-MAT scale 13": (lambda: generate.rmat(13, 8, seed=1), False),
    "R-MAT scale 15": (lambda: generate.rmat(15, 8, seed=1), False),
    "BA n=10000 b=20": (lambda: generate.ba(10_000, 20, seed=1), False),
    "ER n=10000": (lambda: generate.er(10_000, m=40_000, seed=1), False),
    "WS n=10000": (lambda: generate.ws(10_000, 6, 0.05, seed=1), False),
    "road-like 60x60": (lambda: generate.road(60, 60, seed=1), False),
    "road-like 140x140": (lambda: generate.road(140, 140, seed=1), False),
    "Delaunay n=8000": (lambda: generate.delaunay(8000, seed=1), False),
    "R-MAT scale 11, weighted": (lambda: generate.rmat(11, 8, seed=1), True),
    "R-MAT scale 13, weighted": (lambda: generate.rmat(13, 8, seed=1), True),
    "road-like 60x60, weighted": (lambda: generate.road(60, 60, seed=1), True),
}


def best_of(repeat: int, work: Callable[[], Any]) -> tuple[float, Any]:
    times, found = [], None
    for _ in range(repeat):
        begin = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - begin)
    return min(times), found


def row(name: str, epsilon: float, repeat: int) -> dict[str, Any]:
    make, weighted = GRAPHS[name]
    edges = make()
    length = (1 + edges.sum(0) % 10).double() if weighted else None
    graph = Graph.from_edge_index(edges, directed=False, edge_weight=length)
    plan, core = _plan.plan(graph, Request("betweenness"))
    foreseen = _cost.exact_seconds(graph, None)
    torchcent.betweenness(graph, sources=64)
    exact, _ = best_of(repeat, lambda: torchcent.betweenness(graph))
    sampled, found = best_of(
        repeat, lambda: torchcent.betweenness_approx(graph, epsilon, method="kadabra")
    )
    automatic, chosen = best_of(1, lambda: torchcent.betweenness_approx(graph, epsilon))
    record = {
        "name": name, "engine": plan.engine, "threads": plan.threads, "sources": plan.sources,
        "slots": core.num_slots, "foreseen": foreseen, "exact": exact,
        "rate": plan.sources * core.num_slots / exact / max(plan.threads, 1), "epsilon": epsilon,
        "sampled": sampled, "samples": found.samples, "auto": chosen.method, "auto_took": automatic,
    }  # fmt: skip
    print(
        f"{name:26} {plan.engine:9} foreseen {foreseen:8.3f} s, exact {exact:8.3f} s, rate "
        f"{record['rate']:.1e}, sampled {sampled:7.3f} s, auto {chosen.method} {automatic:.3f} s",
        flush=True,
    )
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilon", type=float, default=0.01)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    result = {**conditions(), "rows": [row(name, given.epsilon, given.repeat) for name in GRAPHS]}
    given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
