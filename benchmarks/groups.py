"""Group betweenness beside NetworkX, on the same graphs in one run.

    python benchmarks/groups.py                  # -> results/groups.json
    python benchmarks/groups.py --repeat 5 --threads 2

Calls alternate. Every call of torchcent begins with an edge_index, so that the preparation of the
graph is in its time. Medians by the clock, and seconds of the processor in all threads: on a busy
machine the latter are the better measure. NetworkX counts wrongly in groups of three and more
(docs/groups.md): the values of the groups of two are compared.
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

import torchcent

RESULTS = Path(__file__).parent / "results" / "groups.json"
GRAPHS = {
    "small-world, 1,000 vertices, 5,000 edges": lambda: nx.watts_strogatz_graph(
        1000, 10, 0.1, seed=1
    ),
    "random, 1,500 vertices, 6,000 edges": lambda: nx.gnm_random_graph(1500, 6000, seed=1),
}
GROUPS = {"2 vertices": [[0, 500]], "10 vertices": [list(range(0, 1000, 100))]}
NAMES = ("seconds", "processor")


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    before = time.perf_counter(), time.process_time()
    found = call()
    return found, time.perf_counter() - before[0], time.process_time() - before[1]


def row(graph: nx.Graph, groups: list[list[int]], repeat: int) -> dict[str, Any]:
    arcs = torch.tensor(list(graph.edges)).T
    ours, theirs = [], []
    for _ in range(repeat):
        theirs.append(timed(lambda: nx.group_betweenness_centrality(graph, groups)))
        ours.append(
            timed(
                lambda: torchcent.group_betweenness(
                    arcs,
                    groups,
                    directed=False,
                    num_nodes=len(graph),
                    run=torchcent.Run(dtype=torch.float64),
                )
            )
        )
    if len(groups[0]) == 2:
        assert abs(ours[0][0].item() - theirs[0][0][0]) < 1e-9 * theirs[0][0][0]
    median = {
        who: {name: statistics.median(x[i] for x in times) for i, name in enumerate(NAMES, 1)}
        for who, times in (("torchcent", ours), ("networkx", theirs))
    }
    ratio = {name: median["networkx"][name] / median["torchcent"][name] for name in NAMES}
    return {**median, "times": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    rows = {}
    for name, make in GRAPHS.items():
        graph = make()
        torchcent.group_betweenness(graph, GROUPS["2 vertices"])  # the first call of a process
        for size, groups in GROUPS.items():
            rows[f"{name}; {size}"] = row(graph, groups, asked.repeat)
            print(name, size, rows[f"{name}; {size}"]["times"], flush=True)
    found = {"conditions": conditions(), "threads": asked.threads, "rows": rows}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
