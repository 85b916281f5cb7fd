"""Current flow beside NetworkX, on the same graphs in one run.

    python benchmarks/current_flow.py            # a quarter of an hour -> results/current_flow.json
    python benchmarks/current_flow.py --graphs grid --repeat 5 --threads 2

What is measured replaces these rows of the file, and others stay. NetworkX takes minutes, so it
runs once (--turns), between two halves of the calls of torchcent, of which the median is taken.
Every call of torchcent begins with an edge_index, so that the preparation of the graph is in its
time. NetworkX's solver of betweenness is its default, "full". Of these graphs "lu" takes longer for
each edge, because it solves for all vertices between its ends. (`row` is the time of an edge: the
mean over a few edges of the middle.) Values are compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import networkx as nx
import torch
from machine import conditions
from networkx.algorithms.centrality.flow_matrix import flow_matrix_row

import torchcent

RESULTS = Path(__file__).parent / "results" / "current_flow.json"
GRAPHS: dict[str, Callable[[], torch.Tensor]] = {
    "grid": lambda: torchcent.generate.grid(70, 71),
    "ba": lambda: torchcent.generate.ba(5000, 5, seed=1),
}
TITLES = {"grid": "grid", "ba": "Barabasi-Albert"}
EXACT = torchcent.Run(dtype=torch.float64)
MEASURES: dict[str, tuple[Callable[..., Any], Callable[[nx.Graph], dict[Any, float]]]] = {
    "current_flow_closeness": (
        torchcent.current_flow_closeness, nx.current_flow_closeness_centrality,
    ),
    "current_flow_betweenness_approx": (
        lambda *args, **kwargs: torchcent.current_flow_betweenness_approx(
            *args, epsilon=0.1, method="pairs", **kwargs
        ).scores,
        lambda graph: nx.approximate_current_flow_betweenness_centrality(graph, epsilon=0.1),
    ),
    "current_flow_betweenness": (
        torchcent.current_flow_betweenness, nx.current_flow_betweenness_centrality,
    ),
}  # fmt: skip


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    before = time.perf_counter(), time.process_time()
    found = call()
    return found, time.perf_counter() - before[0], time.process_time() - before[1]


def median(times: list[tuple[Any, float, float]]) -> dict[str, float]:
    return {
        "seconds": statistics.median(x[1] for x in times),
        "processor": statistics.median(x[2] for x in times),
    }


def row(name: str, graph: nx.Graph, edges: torch.Tensor, repeat: int, turns: int) -> dict[str, Any]:
    ours_of, theirs_of = MEASURES[name]
    ours: list[tuple[Any, float, float]] = []
    theirs: list[tuple[Any, float, float]] = []
    for turn in range(turns + 1):
        for _ in range(repeat):
            ours.append(timed(lambda: ours_of(edges, directed=False, run=EXACT)))
        if turn < turns:
            theirs.append(timed(lambda: theirs_of(graph)))
    values = torch.tensor([theirs[0][0][v] for v in range(len(graph))], dtype=torch.float64)
    difference = float((ours[0][0] - values).abs().max())
    if not name.endswith("approx"):
        assert difference < 1e-6 * float(values.max()), difference
    made = {"measure": name, "torchcent": median(ours), "networkx": median(theirs)}
    made |= {"difference": difference}
    return made | {"ratio": made["networkx"]["seconds"] / made["torchcent"]["seconds"]}


def per_edge(graph: nx.Graph) -> dict[str, float]:
    """Seconds of NetworkX's solvers for an edge, without its loop over the vertices."""
    ordering = nx.utils.reverse_cuthill_mckee_ordering(graph)
    numbered = nx.relabel_nodes(graph, {v: i for i, v in enumerate(ordering)})
    found = {}
    for solver in ("full", "lu"):
        rows = flow_matrix_row(numbered, solver=solver)
        next(rows)
        begin, count = time.perf_counter(), 0
        for _ in islice(rows, 40):
            count += 1
            if time.perf_counter() - begin > 20:
                break
        found[solver] = (time.perf_counter() - begin) / count
    return found


def table(result: dict[str, Any]) -> str:
    lines = [
        "| graph | measure | NetworkX | torchcent | ratio |",
        "|---|---|---:|---:|---:|",
    ]
    for made in result["rows"]:
        theirs, ours = made["networkx"]["seconds"], made["torchcent"]["seconds"]
        lines.append(
            f"| {TITLES[made['graph']]}, {made['vertices']:,} vertices, {made['edges']:,} edges "
            f"| `{made['measure']}` | {theirs:.1f} s | {ours:.2f} s | {made['ratio']:.0f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=list(GRAPHS))
    parser.add_argument("--measures", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--repeat", type=int, default=3, help="calls of torchcent per half")
    parser.add_argument("--turns", type=int, default=1, help="calls of NetworkX")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    result: dict[str, Any] = {
        **conditions(), "networkx": nx.__version__, "threads": given.threads,
        "repeat": given.repeat, "turns": given.turns,
    }  # fmt: skip
    known = json.loads(given.output.read_text()) if given.output.exists() else {}
    rows = {(row["graph"], row["measure"]): row for row in known.get("rows", [])}
    result["per_edge"] = known.get("per_edge", {})
    for name in given.graphs:
        edges = GRAPHS[name]()
        graph = nx.Graph()
        graph.add_nodes_from(range(int(edges.max()) + 1))
        graph.add_edges_from(edges.T.tolist())
        if "current_flow_betweenness" in given.measures:
            result["per_edge"][name] = per_edge(graph)
            print(name, "seconds per edge:", result["per_edge"][name], flush=True)
        for measure in given.measures:
            size = {"vertices": len(graph), "edges": graph.number_of_edges()}
            made = {"graph": name, **size, **row(measure, graph, edges, given.repeat, given.turns)}
            rows[name, measure] = made
            result["rows"] = list(rows.values())
            given.output.write_text(json.dumps(result, indent=1) + "\n")
            print(
                f"{name} {measure:32} {made['torchcent']['seconds']:.3f} s, NetworkX "
                f"{made['networkx']['seconds']:.1f} s: x{made['ratio']:.0f}, difference "
                f"{made['difference']:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
