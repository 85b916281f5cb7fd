"""The numbers of each engine in torchcent/runtime/_tuned.py, measured again.

    python benchmarks/tuned.py          # on one thread of the CPU, about a minute
    python benchmarks/tuned.py --cuda   # on a device

rate: sources x slots per second of public calls on a prepared Graph, median of 3. On the CPU it is
by the time of the process, so that other processes do not matter. The rate of the table is that of
the slowest graphs. Two columns of seconds follow from the measured rate. One is for a unit on two
threads, or ON_CUDA times as much work on a device; the other for the most work without a thread.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from sources import drawn

import torchcent
from torchcent import Graph, Run, generate
from torchcent.distribute._units import ON_CUDA
from torchcent.runtime._tuned import TUNED

Case = tuple[Callable[[], Graph], Callable[..., Any], int]  # graph, call, sources


def weighted(edges: torch.Tensor) -> Graph:
    length = 1.0 + (edges[0] ^ edges[1]) % 100
    return Graph.from_edge_index(edges, directed=False, edge_weight=length)


def unweighted(edges: torch.Tensor) -> Graph:
    return Graph.from_edge_index(edges, directed=False)


def small_ones() -> Graph:
    edges = generate.er(40, m=100, seed=1)
    count = 2000
    first = 40 * torch.arange(count).repeat_interleave(edges.shape[1])
    batch = torch.arange(count).repeat_interleave(40)
    return Graph.from_edge_index(
        edges.repeat(1, count) + first, 40 * count, batch=batch, directed=False
    )


def paths(engine: str, **options: Any) -> Callable[..., Any]:
    run = Run(engine=engine, progress=False, **options)
    return lambda graph, sources: torchcent.betweenness(graph, sources=sources, run=run)


def sums(engine: str) -> Callable[..., Any]:
    run = Run(engine=engine, progress=False)
    return lambda graph, sources: torchcent.closeness(graph, vertices=sources, run=run)


def road(side: int) -> torch.Tensor:
    return generate.road(side, side, seed=1)


CASES: dict[str, Case] = {
    "lanes": (lambda: unweighted(generate.rmat(15, 8, seed=1)), paths("lanes"), 1024),
    "queue": (lambda: unweighted(road(300)), paths("queue"), 64),
    "relax": (lambda: weighted(generate.rmat(13, 8, seed=1)), paths("relax"), 512),
    "dijkstra": (lambda: weighted(road(300)), paths("dijkstra"), 64),
    "chains": (lambda: weighted(road(300)), paths("auto", reduce=("fold", "chains")), 64),
    "hierarchy": (lambda: weighted(road(200)), sums("hierarchy"), 0),
    "bits": (lambda: unweighted(generate.rmat(15, 8, seed=1)), sums("bits"), 8192),
    "tensor": (lambda: unweighted(generate.rmat(12, 8, seed=1)), paths("tensor"), 64),
    "tiny": (small_ones, lambda graph, _: torchcent.betweenness(graph), 0),
    "closure": (
        lambda: Graph.from_edge_index(generate.er(20_000, m=19_000, seed=1)[:, ::2]),
        lambda graph, _: torchcent.transitive_closure(graph),
        0,
    ),
    "walks": (
        small_ones,
        lambda graph, _: torchcent.random_walk_encoding(graph, walk_length=_STEPS),
        0,
    ),
    "reference": (lambda: unweighted(road(100)), paths("reference"), 64),
}  # fmt: skip


_STEPS = 16  # of walks, each with the work of a search


def rate(case: Case, device: str) -> float:
    make, call, count = case
    graph = make().to(device)
    slots, n = graph.num_slots, graph.num_nodes
    work = float(n) * slots
    if graph.ptr is not None:
        size = n // graph.num_graphs
        work = float(size) * slots
    sources = None
    if count:
        sources = drawn(graph, count)
        work = float(count) * slots
    times = []
    for _ in range(4):
        clock = time.process_time if device == "cpu" else time.perf_counter
        begin = clock()
        call(graph, sources)
        if device != "cpu":
            torch.cuda.synchronize()
        times.append(clock() - begin)
    return work / statistics.median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuda", action="store_true")
    device = "cuda" if parser.parse_args().cuda else "cpu"
    torch.set_num_threads(1)
    print(f"{'engine':<10} {'rate':>9} {'table':>9} {'unit [s]':>9} {'inline [s]':>10}")
    for engine, case in CASES.items():
        if device == "cuda" and engine in ("reference", "closure", "walks"):
            continue  # of the host
        tuned = TUNED[engine]
        measured = rate(case, device) * (_STEPS if engine == "walks" else 1)
        if device == "cuda":
            table, unit, inline = tuned.rate_on_cuda, ON_CUDA * tuned.unit, tuned.inline_on_cuda
        else:
            table, unit, inline = tuned.rate, tuned.unit / 2, tuned.inline
        print(
            f"{engine:<10} {measured:9.2g} {table:9.2g} {unit / measured:9.2g} "
            f"{inline / measured:10.2g}",
            flush=True,
        )


if __name__ == "__main__":
    main()
