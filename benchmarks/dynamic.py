"""Single changes of graphs that change, beside scores of the whole graph and NetworKit.

    python benchmarks/dynamic.py            # the table of docs/notes/dynamic.md
    python benchmarks/dynamic.py power      # of some graphs

Inserted edges are between random vertices, deleted ones random edges; each is an update of its own,
and the medians of 20 are shown. NetworKit's DynBetweenness takes insertions only.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import networkit
import torch
from graphs import SHARED_DATA, shared, simplified

import torchcent
from torchcent import DynamicBetweenness, DynamicCloseness, DynamicGraph

GRAPHS = ("facebook_combined", "power", "PGPgiantcompo", "astro-ph")
CHANGES = 20
MOST_FOR_NETWORKIT = 6000  # vertices: its memory is quadratic
HEAD = (
    "| graph | vertices | edges | betweenness | first rows | insert | delete | NetworKit insert "
    "| closeness | insert | delete |"
)


def seconds(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def median(graph: DynamicGraph, changes: list[torch.Tensor], name: str) -> str:
    times = (graph.update(**{name: edge}, strict=False).seconds for edge in changes)
    return shown(statistics.median(times))


def of_networkit(edges: torch.Tensor, num_nodes: int, changes: list[torch.Tensor]) -> str:
    if num_nodes > MOST_FOR_NETWORKIT:
        return "-"
    graph = networkit.Graph(num_nodes)
    for u, v in edges.T.tolist():
        graph.addEdge(u, v)
    measure = networkit.centrality.DynBetweenness(graph)
    measure.run()
    times = []
    for edge in changes:
        u, v = edge.flatten().tolist()
        if not graph.hasEdge(u, v):
            graph.addEdge(u, v)
            addition = networkit.dynamics.GraphEventType.EDGE_ADDITION
            event = networkit.dynamics.GraphEvent(addition, u, v, 1.0)
            times.append(seconds(partial(measure.update, event)))
    return shown(statistics.median(times))


def shown(value: float) -> str:
    return f"{1000 * value:.3g} ms"


def row(name: str) -> str:
    edges, n = simplified(*shared(name))
    index = torch.from_numpy(edges)
    generator = torch.Generator().manual_seed(1)
    inserts = [torch.randint(n, (2, 1), generator=generator) for _ in range(CHANGES)]
    inserts = [edge for edge in inserts if edge[0] != edge[1]]
    places = torch.randint(index.shape[1], (CHANGES,), generator=generator)
    deletes = [index[:, place : place + 1] for place in places]

    def whole(measure: Callable[..., torch.Tensor]) -> float:
        return statistics.median(
            seconds(lambda: measure(index, num_nodes=n, directed=False)) for _ in range(5)
        )

    graph = DynamicGraph(index, n, directed=False)
    between = DynamicBetweenness(graph)
    first = seconds(partial(getattr, between, "scores"))
    cells = [shown(whole(torchcent.betweenness)), shown(first)]
    cells += [median(graph, inserts, "insert"), median(graph, deletes, "delete")]
    del between
    cells.append(of_networkit(index, n, inserts))
    graph = DynamicGraph(index, n, directed=False)
    close = DynamicCloseness(graph)
    cells += [shown(whole(torchcent.closeness))]
    assert close.scores.numel() == n
    cells += [median(graph, inserts, "insert"), median(graph, deletes, "delete")]
    return f"| {name} | {n:,} | {index.shape[1]:,} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS)
    names = parser.parse_args().graphs
    if not SHARED_DATA.exists():
        parser.error(f"{SHARED_DATA} is not here")
    torch.set_num_threads(2)
    print(HEAD)
    print("|---|" + "---:|" * (HEAD.count("|") - 2))
    for name in names:
        print(row(name), flush=True)


if __name__ == "__main__":
    main()
