"""Distance measures on CUDA: seconds, the seconds to reach, and whether the CPU finds the same.

Called by gpu.py, whose results it joins. The graph is on the device already; median of 3.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

import torchcent
from torchcent import Graph, generate

REPEAT = 3
SAMPLE = 64  # sources that the CPU searches from, too


def closeness(graph: Graph) -> tuple[Callable[[], Any], Callable[[Any], float]]:
    def error(scores: torch.Tensor) -> float:
        some = torch.arange(0, graph.num_nodes, max(1, graph.num_nodes // SAMPLE))
        expected = torchcent.closeness(
            graph.to("cpu"), vertices=some, run=torchcent.Run(dtype=torch.float64)
        )
        return float((scores.cpu()[some] - expected).abs().max() / expected.max())

    return lambda: torchcent.closeness(graph, run=torchcent.Run(dtype=torch.float64)), error


def lengths(graph: Graph) -> tuple[Callable[[], Any], Callable[[Any], float]]:
    out = torch.empty(graph.num_nodes, graph.num_nodes, dtype=torch.int16, device=graph.device)

    def error(rows: torch.Tensor) -> float:
        some = torch.arange(0, graph.num_nodes, max(1, graph.num_nodes // SAMPLE))
        expected = torchcent.shortest_path_lengths(graph.to("cpu"), sources=some, dtype=torch.int16)
        return float((rows[some.to(rows.device)].cpu() != expected).sum())

    return lambda: torchcent.shortest_path_lengths(graph, out=out, dtype=torch.int16), error


def closure(graph: Graph) -> tuple[Callable[[], Any], Callable[[Any], float]]:
    def error(found: torchcent.Closure) -> float:
        return float(abs(found.count() - torchcent.transitive_closure(graph.to("cpu")).count()))

    return lambda: torchcent.transitive_closure(graph), error


def undirected(edges: torch.Tensor) -> Graph:
    return Graph.from_edge_index(edges.cuda(), int(edges.max()) + 1, directed=False)


def directed(edges: torch.Tensor) -> Graph:
    return Graph.from_edge_index(edges.cuda(), int(edges.max()) + 1)


def rows(rmat: Callable[[int, int], torch.Tensor]) -> list[dict[str, Any]]:
    """One row per question; `rmat` draws an R-MAT graph on the device."""
    # name: graph, question, seconds to reach
    table: dict[str, tuple[Callable[[], Graph], Callable[..., Any], float]] = {
        "closeness, BA n=30000 b=50": (
            lambda: undirected(generate.ba(30000, 50)), closeness, 0.05
        ),
        "closeness, R-MAT scale 20 ef 16": (lambda: undirected(rmat(20, 16)), closeness, 20),
        "distances, grid 256x256": (lambda: undirected(generate.grid(256, 256)), lengths, 2),
        "distances, R-MAT scale 16 ef 8": (lambda: undirected(rmat(16, 8)), lengths, 2),
        "closure, directed R-MAT scale 16 ef 8": (lambda: directed(rmat(16, 8)), closure, 2),
    }  # fmt: skip
    found = []
    for name, (make, question, target) in table.items():
        graph = make()
        ask, error = question(graph)
        times = []
        for _ in range(REPEAT + 1):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            answer = ask()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
        taken = statistics.median(times[1:])
        found.append({"name": name, "seconds": taken, "target": target, "error": error(answer)})
        print(f"{name:40} {taken:8.3f} s (at most {target:g}), error {found[-1]['error']:.1e}")
        del graph, ask, error, answer
    return found
