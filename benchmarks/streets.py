"""Measures of streets within 800 m, beside cityseer, pandana, momepy and igraph.

    pip install cityseer pandana momepy igraph
    python benchmarks/streets.py                   # two networks, several minutes
    python benchmarks/streets.py --sides 60        # a small one

Networks are generate.road with lengths of about 100 m. Each call is the whole public one, from the
columns of streets. Networks of the other tools are made before the clock starts. All threads serve
cityseer, one serves momepy or igraph. A network of 40 x 40 is enough for momepy, whose seconds per
vertex are those of any size. Values are compared where the definitions agree. The figures are in
results/streets.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import igraph
import momepy
import networkx as nx
import pandana
import pandas
import torch
from cityseer.metrics import networks
from cityseer.tools import io
from machine import conditions
from shapely import LineString

import torchcent
from torchcent import EdgeList, Graph, generate

RESULT = Path(__file__).parent / "results" / "streets.json"
RADIUS = 800
SIDES = (187, 418)  # 50,000 and 250,000 streets
OF_MOMEPY = 40
F64 = torchcent.Run(dtype=torch.float64, progress=False)


def timed(call: Callable[[], Any], turns: int = 1) -> tuple[float, Any]:
    """The median of the seconds, and what the last call returns."""
    seconds = []
    for _ in range(turns):
        began = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds), result


def network(side: int) -> EdgeList:
    """With lengths of no common unit, so that no way is exactly as long as the radius."""
    streets = generate.road(side, side, lengths=True, seed=1)
    chance = torch.Generator().manual_seed(1)
    length = streets.edge_weight
    more = torch.rand(length.shape, dtype=torch.float64, generator=chance) / 100
    return dataclasses.replace(streets, edge_weight=length + more)


def error(ours: torch.Tensor, theirs: Any) -> float:
    """The largest difference, relative to the largest value."""
    other = torch.as_tensor(theirs, dtype=torch.float64)
    return float((ours - other).abs().max() / other.abs().max())


def ours(streets: EdgeList) -> dict[str, tuple[float, Any]]:
    """Seconds from the columns of streets, and values."""

    def graph() -> Graph:
        return Graph.from_edge_index(streets.edge_index, None, False, streets.edge_weight)

    calls: dict[str, Callable[[], Any]] = {
        "closeness": lambda: torchcent.distance_profile(graph(), cutoff=RADIUS, run=F64),
        "betweenness": lambda: torchcent.betweenness(
            graph(), cutoff=RADIUS, normalized=False, run=F64
        ),
        "places": lambda: torchcent.accessibility(graph(), cutoff=RADIUS, run=F64),
        "local_betweenness": lambda: torchcent.local_betweenness(
            graph(), radius=RADIUS, normalized=False, run=F64
        ),
        "straightness": lambda: torchcent.straightness(
            graph(), positions=streets.positions, cutoff=RADIUS, run=F64
        ),
    }
    return {name: timed(call, 3) for name, call in calls.items()}


def columns(streets: EdgeList) -> tuple[list[list[float]], list[list[int]], list[float]]:
    return streets.positions.tolist(), streets.edge_index.T.tolist(), streets.edge_weight.tolist()


def of_cityseer(streets: EdgeList) -> dict[str, Any]:
    place, arcs, length = columns(streets)
    theirs = nx.MultiGraph(crs="EPSG:32633")
    for v, (x, y) in enumerate(place):
        theirs.add_node(str(v), x=x, y=y)
    for (u, v), wanted in zip(arcs, length, strict=True):
        theirs.add_edge(str(u), str(v), geom=bent(place[u], place[v], wanted))
    nodes, _, structure = io.network_structure_from_nx(theirs)
    measures = {"closeness": {"density": "1", "farness": "c", "harmonic": "1/c"}}
    figures = {}
    for name, kind in ("closeness", measures), ("betweenness", {"betweenness": {"paths": "1"}}):
        both = {"closeness": {}, "betweenness": {}} | kind
        figures[name], table = timed(
            lambda both=both: networks.centrality_shortest(
                structure, nodes, distances=[RADIUS], **both
            )
        )
        table = table.set_index(table.index.astype(int)).sort_index()
        figures |= {
            f"{each} values": table[f"cc_{each}_{RADIUS}"].to_numpy()
            for each in both["closeness"] | both["betweenness"]
        }
    return figures


def bent(a: list[float], b: list[float], length: float) -> LineString:
    """A line from a to b of the wanted length: two equal pieces."""
    (ax, ay), (bx, by) = a, b
    straight = math.dist(a, b)
    aside = math.sqrt(max(length**2 - straight**2, 0)) / 2
    middle = (
        (ax + bx) / 2 - (by - ay) / straight * aside,
        (ay + by) / 2 + (bx - ax) / straight * aside,
    )
    return LineString([a, middle, b])


def of_pandana(streets: EdgeList) -> tuple[float, Any]:
    place, arcs, length = columns(streets)
    x, y, u, v = (
        pandas.Series(each) for each in (*zip(*place, strict=True), *zip(*arcs, strict=True))
    )
    theirs = pandana.Network(x, y, u, v, pandas.DataFrame({"length": length}))
    theirs.set(pandas.Series(range(len(place))), pandas.Series(1.0, range(len(place))), name="one")
    return timed(lambda: theirs.aggregate(RADIUS, type="sum", decay="flat", name="one"))


def of_igraph(streets: EdgeList, n: int) -> dict[str, Any]:
    theirs = igraph.Graph(n, streets.edge_index.T.tolist())
    weights = streets.edge_weight.tolist()
    figures = {}
    figures["betweenness"], figures["betweenness values"] = timed(
        lambda: theirs.betweenness(cutoff=RADIUS, weights=weights)
    )
    figures["harmonic"], figures["harmonic values"] = timed(
        lambda: theirs.harmonic_centrality(cutoff=RADIUS, weights=weights, normalized=False)
    )
    return figures


def of_momepy() -> dict[str, Any]:
    """Seconds per vertex, and errors, on a small network."""
    streets = network(OF_MOMEPY)
    place, arcs, length = columns(streets)
    theirs = nx.MultiGraph()
    for v, (x, y) in enumerate(place):
        theirs.add_node(v, x=x, y=y)
    theirs.add_weighted_edges_from(
        ((u, v, w) for (u, v), w in zip(arcs, length, strict=True)), weight="mm_len"
    )
    theirs = nx.relabel_nodes(theirs, {v: tuple(xy) for v, xy in enumerate(place)})
    theirs.graph["approach"] = "primal"
    options = {"radius": RADIUS, "distance": "mm_len", "weight": "mm_len", "verbose": False}
    calls = {
        "closeness": momepy.closeness_centrality,
        "local_betweenness": momepy.betweenness_centrality,
        "straightness": momepy.straightness_centrality,
    }
    attribute = {"local_betweenness": "betweenness"}
    values = ours(streets)
    graph = streets.graph(edge_weight=True)
    mine = {
        "closeness": torchcent.closeness(graph, cutoff=RADIUS, run=F64),
        "local_betweenness": values["local_betweenness"][1],
        "straightness": values["straightness"][1],
    }
    figures = {}
    for name, call in calls.items():
        seconds, scored = timed(lambda call=call: call(theirs, **options))
        key = attribute.get(name, name)
        scores = [scored.nodes[tuple(xy)][key] for xy in place]
        figures[name] = {
            "seconds_per_vertex": seconds / len(place),
            "error": error(mine[name], scores),
        }
    return figures


def measure(side: int) -> dict[str, Any]:
    streets = network(side)
    n, count = int(streets.edge_index.max()) + 1, streets.edge_index.shape[1]
    mine = ours(streets)
    profile, between = mine["closeness"][1], mine["betweenness"][1]
    row: dict[str, Any] = {"vertices": n, "streets": count}
    row["torchcent"] = {name: seconds for name, (seconds, _) in mine.items()}
    seer = of_cityseer(streets)
    row["cityseer"] = {
        "closeness": seer["closeness"],
        "betweenness": seer["betweenness"],
        "errors": {
            "density": error(profile.reach, seer["density values"]),
            "farness": error(profile.farness, seer["farness values"]),
            "harmonic": error(profile.harmonic, seer["harmonic values"]),
            "betweenness": error(between, seer["paths values"]),
        },
    }
    seconds, sums = of_pandana(streets)
    row["pandana"] = {"places": seconds, "error": error(mine["places"][1] + 1, sums.to_numpy())}
    other = of_igraph(streets, n)
    row["igraph"] = {
        "betweenness": other["betweenness"],
        "harmonic": other["harmonic"],
        "errors": {
            "betweenness": error(between, other["betweenness values"]),
            "harmonic": error(profile.harmonic, other["harmonic values"]),
        },
    }
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sides", type=int, nargs="+", default=SIDES)
    given = parser.parse_args()
    result = conditions() | {"radius": RADIUS, "momepy": of_momepy(), "rows": []}
    print(json.dumps(result["momepy"], indent=1), flush=True)
    for side in given.sides:
        row = measure(side)
        result["rows"].append(row)
        print(json.dumps(row, indent=1), flush=True)
    if tuple(given.sides) == SIDES:
        RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
