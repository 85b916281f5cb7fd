"""Small graphs one by one: what a call costs, beside NetworkX and igraph.

    python benchmarks/one_by_one.py       # two minutes -> results/one_by_one.json, and tables.py

Each call has one graph: torchcent an edge_index that it has not seen, or a prepared Graph. NetworkX
and igraph have a list of edges, from which they build their graph, or such a graph. In each round
every contestant goes through all graphs. The times are medians over graphs and rounds. Scores of
betweenness are compared.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import torch
from machine import conditions
from report import markdown
from small_graphs import SETS, Part

import torchcent

RESULT = Path(__file__).parent / "results" / "one_by_one.json"
Calls = dict[str, Callable[[], Any]]


def path(draw: random.Random) -> Part:
    return 10, [(v, v + 1) for v in range(9)]


def rough(draw: random.Random) -> Part:
    """100 vertices, 300 edges at random."""
    edges = {(v, draw.randrange(v)) for v in range(1, 100)}
    while len(edges) < 300:
        u, v = draw.sample(range(100), 2)
        edges.add((max(u, v), min(u, v)))
    return 100, sorted(edges)


KINDS: dict[str, Callable[[random.Random], Part]] = {
    "path of 10": path,
    "molecules": SETS["molecules"][0],
    "ego networks": SETS["ego networks"][0],
    "random, 100": rough,
}
#: name: (function, whether by weights, of NetworkX, of igraph)
MEASURES: dict[str, tuple[Any, bool, Any, Any]] = {
    "betweenness": (
        torchcent.betweenness, False, nx.betweenness_centrality,
        lambda graph, _: graph.betweenness(),
    ),
    "betweenness, weighted": (
        torchcent.betweenness, True, lambda g: nx.betweenness_centrality(g, weight="weight"),
        lambda graph, weight: graph.betweenness(weights=weight),
    ),
    "edge_betweenness": (
        torchcent.edge_betweenness, False, nx.edge_betweenness_centrality,
        lambda graph, _: graph.edge_betweenness(),
    ),
    "closeness": (
        torchcent.closeness, False, nx.closeness_centrality,
        lambda graph, _: graph.closeness(),
    ),
    "harmonic": (
        torchcent.harmonic, False, nx.harmonic_centrality,
        lambda graph, _: graph.harmonic_centrality(),
    ),
    "eccentricity": (
        torchcent.eccentricity, False, nx.eccentricity, lambda graph, _: graph.eccentricity(),
    ),
    "diameter": (torchcent.diameter, False, nx.diameter, lambda graph, _: graph.diameter()),
    "node_features": (torchcent.node_features, False, None, None),
}  # fmt: skip


def networkx(n: int, edges: list[tuple[int, int]], weight: list[float]) -> nx.Graph:
    made = nx.Graph()
    made.add_nodes_from(range(n))
    made.add_weighted_edges_from((u, v, w) for (u, v), w in zip(edges, weight, strict=True))
    return made


def calls_of(measure: str, part: Part) -> Calls:
    ours, weighted, theirs, of_igraph = MEASURES[measure]
    n, edges = part
    index = torch.tensor(edges).T.contiguous()
    weight = [1.0 + (u + v) % 4 for u, v in edges]
    length = torch.tensor(weight) if weighted else None
    own = weight if weighted else None
    graph = torchcent.Graph.from_edge_index(index, n, directed=False, edge_weight=length)
    found: Calls = {
        "torchcent": lambda: ours(index, length, num_nodes=n, directed=False),
        "prepared": lambda: ours(graph),
    }
    if theirs is not None:
        import igraph

        made, other = networkx(n, edges, weight), igraph.Graph(n, edges)
        found |= {
            "networkx": lambda: theirs(networkx(n, edges, weight)),
            "networkx, prepared": lambda: theirs(made),
            "igraph": lambda: of_igraph(igraph.Graph(n, edges), own),
            "igraph, prepared": lambda: of_igraph(other, own),
        }
    return found


def drawn(kind: str, count: int) -> list[Part]:
    """Connected graphs: NetworkX has no eccentricity of others."""
    draw, found = random.Random(1), []
    while len(found) < count:
        part = KINDS[kind](draw)
        if nx.is_connected(networkx(*part, [1.0] * len(part[1]))):
            found.append(part)
    return found


def row(kind: str, measure: str, graphs: int, rounds: int) -> dict[str, Any]:
    parts = drawn(kind, graphs)
    seconds: dict[str, list[float]] = {}
    difference = 0.0
    calls = [calls_of(measure, part) for part in parts]
    if measure.startswith("betweenness"):
        for each in calls:
            scores = torch.tensor(list(each["networkx"]().values()))
            difference = max(difference, float((each["torchcent"]() - scores).abs().max()))
    for _ in range(rounds):
        for name in calls[0]:
            for each in calls:
                begin = time.perf_counter()
                each[name]()
                seconds.setdefault(name, []).append(time.perf_counter() - begin)
    return {
        "graphs": kind, "measure": measure, "difference": difference,
        "vertices": statistics.mean(part[0] for part in parts),
        "edges": statistics.mean(len(part[1]) for part in parts),
        "seconds": {name: statistics.median(taken) for name, taken in seconds.items()},
    }  # fmt: skip


def table(result: dict[str, Any]) -> str:
    """Microseconds of a call."""
    columns = (
        "torchcent", "prepared", "networkx", "networkx, prepared", "igraph", "igraph, prepared",
    )  # fmt: skip
    names = [
        "torchcent", "a prepared `Graph`", "NetworkX", "its graph made", "igraph", "its graph made",
    ]  # fmt: skip
    lines = [["graphs", "vertices", "edges", "measure", *names]]
    for each in result["rows"]:
        took = each["seconds"]
        shown = [f"{1e6 * took[name]:,.0f}" if name in took else "" for name in columns]
        size = [f"{each['vertices']:.0f}", f"{each['edges']:.0f}"]
        lines.append([each["graphs"], *size, each["measure"], *shown])
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=30, help="of each kind")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    result: dict[str, Any] = {**conditions(), "threads": given.threads, "rows": []}
    for kind in KINDS:
        for measure in MEASURES:
            result["rows"].append(row(kind, measure, given.graphs, given.rounds))
    given.output.write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


if __name__ == "__main__":
    main()
