"""Single changes of graphs that change, beside scores of the whole graph and NetworKit.

    python benchmarks/dynamic.py            # the tables of docs/notes/dynamic.md
    python benchmarks/dynamic.py power      # of some graphs
    python benchmarks/dynamic.py --of vertices      # triangles, PageRank and Katz centrality alone

Inserted edges are between random vertices, deleted ones random edges; each is an update of its own,
and the medians of 20 are shown. NetworKit's DynBetweenness takes insertions only. In the tables of
closeness, without rows and with them, and of measures of vertices, seconds are those of the
processor with one thread. The latter are of updates without a measure ("arcs alone"), of the
function for a snapshot ("whole"), and of updates with the measure.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import networkit
import numpy as np
import scipy.sparse.linalg
import torch
from graphs import SHARED_DATA, shared, simplified

import torchcent
from torchcent import (
    DynamicBetweenness,
    DynamicCloseness,
    DynamicCounts,
    DynamicGraph,
    DynamicKatz,
    DynamicPageRank,
    Graph,
    Run,
)

GRAPHS = ("facebook_combined", "power", "PGPgiantcompo", "astro-ph")
MORE = ("soc-Epinions1-und", "web-NotreDame")  # for measures of vertices
CHANGES = 20
MOST_FOR_NETWORKIT = 6000  # vertices: its memory is quadratic
HEAD = (
    "| graph | vertices | edges | betweenness | first rows | insert | delete | NetworKit insert |"
)
HEAD_OF_DISTANCES = (
    "| graph | vertices | edges | closeness | insert | delete | first rows | insert | delete |"
)
HEAD_OF_VERTICES = (
    "| graph | vertices | edges | measure | arcs alone | whole | insert | delete | iterations |"
)
DOUBLE = Run(dtype=torch.float64)
Measure = Callable[[DynamicGraph], DynamicCounts | DynamicKatz | DynamicPageRank]
Function = Callable[[Graph], torch.Tensor]


def seconds(
    function: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    begin = clock()
    function()
    return clock() - begin


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
    inserts, deletes = changes(index, n)

    def whole(measure: Callable[..., torch.Tensor]) -> float:
        return statistics.median(
            seconds(lambda: measure(index, num_nodes=n, directed=False)) for _ in range(5)
        )

    graph = DynamicGraph(index, n, directed=False)
    between = DynamicBetweenness(graph, state="rows")
    first = seconds(partial(getattr, between, "scores"))
    cells = [shown(whole(torchcent.betweenness)), shown(first)]
    cells += [median(graph, inserts, "insert"), median(graph, deletes, "delete")]
    del between
    cells.append(of_networkit(index, n, inserts))
    return f"| {name} | {n:,} | {index.shape[1]:,} | " + " | ".join(cells) + " |"


def rows_of_distances(name: str) -> Iterator[str]:
    edges, n = simplified(*shared(name))
    index, taken = torch.from_numpy(edges), partial(seconds, clock=time.process_time)
    whole = partial(torchcent.closeness, index, num_nodes=n, directed=False)
    cells = [shown(statistics.median(taken(whole) for _ in range(5)))]
    for state in ("none", "rows"):
        graph = DynamicGraph(index, n, directed=False)
        close = DynamicCloseness(graph, state=state)
        first = taken(partial(getattr, close, "scores"))
        cells += [shown(first)] * (state == "rows")
        for kind, every in zip(("insert", "delete"), changes(index, n), strict=True):
            updates = (partial(graph.update, **{kind: edge}, strict=False) for edge in every)
            cells.append(shown(statistics.median(map(taken, updates))))
    yield f"| {name} | {n:,} | {index.shape[1]:,} | " + " | ".join(cells) + " |"


def changes(index: torch.Tensor, n: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Edges to insert and to delete."""
    generator = torch.Generator().manual_seed(1)
    inserts = [torch.randint(n, (2, 1), generator=generator) for _ in range(CHANGES)]
    places = torch.randint(index.shape[1], (CHANGES,), generator=generator)
    deletes = [index[:, place : place + 1] for place in places]
    return [edge for edge in inserts if edge[0] != edge[1]], deletes


def of_vertices(directed: bool, alpha: float) -> dict[str, tuple[Measure, Function]]:
    """By name, what follows and the function; triangles are those of undirected graphs."""
    katz = partial(torchcent.katz, alpha=alpha, run=DOUBLE)
    every: dict[str, tuple[Measure, Function]] = {
        "triangles": (partial(DynamicCounts, measure="triangles"), torchcent.triangles),
        "clustering": (
            partial(DynamicCounts, measure="clustering_coefficient"),
            partial(torchcent.clustering_coefficient, run=DOUBLE),
        ),
        "PageRank": (DynamicPageRank, partial(torchcent.pagerank, run=DOUBLE)),
        "Katz": (partial(DynamicKatz, alpha=alpha), katz),
    }
    if directed:
        del every["triangles"]
    return every


def rows_of_vertices(name: str) -> Iterator[str]:
    """Directed where the graph is; Katz centrality has 0.85 of its largest alpha."""
    arcs, n = shared(name)
    matrix = scipy.sparse.csr_array((np.ones(arcs.shape[1]), arcs), shape=(n, n))
    largest = abs(scipy.sparse.linalg.eigs(matrix, 1, return_eigenvectors=False)[0])
    directed = (matrix != matrix.T).nnz > 0
    if not directed:
        arcs, n = simplified(arcs, n)
    index, taken = torch.from_numpy(arcs), partial(seconds, clock=time.process_time)
    for each, (make, function) in of_vertices(directed, 0.85 / float(largest)).items():
        graph, plain = (DynamicGraph(index, n, directed) for _ in range(2))
        following = make(graph)
        assert following.scores.numel() == n
        first, iterations = following.statistics.iterations, []
        alone, whole, times = [], [], []
        for kind, edges in zip(("insert", "delete"), changes(index, n), strict=True):
            own = []
            for at, edge in enumerate(edges):
                update = {kind: edge, "strict": False}
                own.append(taken(partial(graph.update, **update)))
                iterations.append(following.statistics.iterations)
                alone.append(taken(partial(plain.update, **update)))
                if at % 4 == 0:  # of a snapshot with which nothing is kept yet
                    whole.append(taken(partial(function, plain.snapshot())))
            times.append(own)
        cells = [shown(statistics.median(x)) for x in (alone, whole, *times)]
        cells.append(f"{first} to {statistics.median(iterations):g}" if first else "")
        yield f"| {name} | {n:,} | {graph.num_edges:,} | {each} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*")
    parser.add_argument(
        "--of", choices=("paths", "distances", "vertices"), help="one of the tables"
    )
    args = parser.parse_args()
    if not SHARED_DATA.exists():
        parser.error(f"{SHARED_DATA} is not here")
    tables = {
        "paths": (2, HEAD, GRAPHS, lambda name: [row(name)]),
        "distances": (1, HEAD_OF_DISTANCES, GRAPHS, rows_of_distances),
        "vertices": (1, HEAD_OF_VERTICES, (*GRAPHS, *MORE), rows_of_vertices),
    }
    for threads, head, graphs, rows in [tables[args.of]] if args.of else tables.values():
        torch.set_num_threads(threads)
        print(head)
        print("|---|" + "---:|" * (head.count("|") - 2))
        for name in args.graphs or graphs:
            for line in rows(name):
                print(line, flush=True)


if __name__ == "__main__":
    main()
