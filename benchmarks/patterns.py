"""Cycles, cliques and colours of molecule-like graphs in one call, beside NetworkX graph by graph.

    python benchmarks/patterns.py                  # some minutes
    python benchmarks/patterns.py --graphs 2000

Cycles of 3 to 8 vertices and cliques of 3 to 5 are counted at each vertex by both, and compared.
Colours are those after three refinements; NetworkX computes hashes of them. torchcent builds its
graph in each turn, from arcs and a batch; NetworkX has its graphs. Both compute on one thread, and
times are those of the processor, which other programs do not prolong: medians of some turns.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import torch
from report import markdown

import torchcent

CYCLES = [f"cycle{k}" for k in range(3, 9)]
CLIQUES = [f"clique{k}" for k in range(3, 6)]


def molecule(chance: random.Random) -> nx.Graph:
    """10 to 40 vertices of degree 4 at most: rings of 5 and 6, fused or bonded, and chains."""
    most = chance.randint(10, 40)
    graph = nx.cycle_graph(chance.choice([5, 6, 6]))
    while len(graph) < most:
        n, kind = len(graph), chance.random()
        free = [v for v in graph if graph.degree[v] < 3]
        if not free:
            break
        at = chance.choice(free)
        if kind < 0.25:  # a ring that shares an edge
            other = [v for v in graph[at] if graph.degree[v] < 3]
            if other:
                new = range(n, n + chance.choice([3, 4, 4]))
                nx.add_path(graph, [at, *new, chance.choice(other)])
        elif kind < 0.45:
            nx.add_cycle(graph, range(n, n + chance.choice([5, 6, 6])))
            graph.add_edge(at, n)
        else:
            nx.add_path(graph, [at, *range(n, n + chance.randint(1, 3))])
    return graph


def cycles_of_networkx(graphs: list[nx.Graph]) -> torch.Tensor:
    parts = []
    for graph in graphs:
        count = [[0] * 6 for _ in graph]
        for cycle in nx.simple_cycles(graph, length_bound=8):
            for v in cycle:
                count[v][len(cycle) - 3] += 1
        parts.extend(count)
    return torch.tensor(parts)


def cliques_of_networkx(graphs: list[nx.Graph]) -> torch.Tensor:
    parts = []
    for graph in graphs:
        count = [[0] * 3 for _ in graph]
        for clique in nx.enumerate_all_cliques(graph):
            if len(clique) > 5:
                break
            if len(clique) > 2:
                for v in clique:
                    count[v][len(clique) - 3] += 1
        parts.extend(count)
    return torch.tensor(parts)


def median(call: Callable[[], Any], turns: int) -> tuple[float, Any]:
    seconds = []
    for _ in range(turns):
        began = time.process_time()
        result = call()
        seconds.append(time.process_time() - began)
    return statistics.median(seconds), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=20_000)
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    chance = random.Random(0)
    graphs = [molecule(chance) for _ in range(arguments.graphs)]
    size = torch.tensor([len(graph) for graph in graphs])
    first = (size.cumsum(0) - size).tolist()
    arcs = torch.tensor(
        [[u + at, v + at] for at, graph in zip(first, graphs, strict=True) for u, v in graph.edges]
    ).T.contiguous()
    arcs = torch.cat([arcs, arcs.flip(0)], 1)
    batch = torch.arange(len(graphs)).repeat_interleave(size)
    options = {"batch": batch}
    jobs = {
        "cycles of 3 to 8": (
            lambda: torchcent.substructure_counts(arcs, patterns=CYCLES, **options),
            lambda: cycles_of_networkx(graphs),
        ),
        "cliques of 3 to 5": (
            lambda: torchcent.substructure_counts(arcs, patterns=CLIQUES, **options),
            lambda: cliques_of_networkx(graphs),
        ),
        "colours": (
            lambda: torchcent.wl_colors(arcs, iterations=3, **options),
            lambda: [nx.weisfeiler_lehman_subgraph_hashes(graph, iterations=3) for graph in graphs],
        ),
    }
    rows = []
    for name, (ours, theirs) in jobs.items():
        ours()
        own, counts = median(ours, arguments.turns)
        peer, expected = median(theirs, max(1, arguments.turns // 2))
        if isinstance(expected, torch.Tensor):
            assert torch.equal(counts, expected), name
        rows.append([name, f"{1000 * own:.0f}", f"{1000 * peer:.0f}", f"{peer / own:.0f}"])
    print(f"{len(graphs)} graphs of {int(size.sum())} vertices and {arcs.shape[1]} arcs")
    print(markdown([("counted", "torchcent, ms", "NetworkX, ms", "times"), *rows]))


if __name__ == "__main__":
    main()
