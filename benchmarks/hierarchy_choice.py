"""Where `auto` takes a hierarchy by hops: what both engines take, and the constants of the choice.

    python benchmarks/hierarchy_choice.py                       # about ten minutes
    python benchmarks/hierarchy_choice.py "strip 8x5000"        # some of the graphs

A row has seconds of the processor on one thread for betweenness of all vertices: of a hierarchy,
its contraction included, and of a queue and of lanes. They run from some sources, twice, and are
extrapolated by the difference: a hierarchy from pieces of 1,024 neighbours, lanes from balls of 64,
a queue from random vertices. Beside them stand the engine that `auto` takes, and how many times as
long that is as the fastest, a contraction in vain included.

The last columns are what torchcent/engines/reduce/_hierarchy_costs.py predicts from:

- nanoseconds of a sweep per arc, where two directed ones count as one;
- the share of arcs that exceed distances;
- the binary logarithm of the most paths between two vertices far apart;
- nanoseconds of the faster search per vertex and slot.

Processor seconds are nearly the same on a machine with other work.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from graphs import MissingGraph, generated, shared, simplified
from machine import conditions
from peers import Edges
from report import markdown

import torchcent
from torchcent import Graph, Run
from torchcent.engines.plan import _choice, _hierarchy_choice
from torchcent.engines.reduce import _reduce
from torchcent.engines.reduce._hierarchy import Hierarchy
from torchcent.engines.reduce._hierarchy_costs import LANES, MOST_FILL_BY_HOPS
from torchcent.runtime._codes import BATCH

RESULT = Path(__file__).parent / "results" / "hierarchy_choice.json"
OTHERS = ("queue", "lanes")


def strip(rows: int, cols: int) -> Edges:
    return simplified(*generated("grid", rows=rows, cols=cols))[0]


def mesh(n: int) -> Edges:
    return simplified(*generated("delaunay", n=n, seed=1))[0]


def road(side: int, removed: float = 0.3) -> Edges:
    return simplified(*generated("road", rows=side, cols=side, removed=removed, seed=1))[0]


def ring(n: int, neighbours: int, moved: float) -> Edges:
    return simplified(*generated("ws", n=n, k=neighbours, p=moved, seed=1))[0]


def hexagons(side: int) -> Edges:
    edges = strip(side, side)
    row, col = edges[0] // side, edges[0] % side
    return edges[:, (edges[1] - edges[0] == 1) | ((row + col) % 2 == 0)]


def one_way(edges: Edges, share: float) -> Edges:
    """Arcs in both directions, but for a share of the edges, which have a random one."""
    chance = np.random.default_rng(1)
    single = chance.random(edges.shape[1]) < share
    turned = chance.random(edges.shape[1]) < 0.5
    ahead = np.where(turned, edges[::-1], edges)
    return np.concatenate([ahead, ahead[::-1, ~single]], axis=1)


UNDIRECTED: dict[str, Callable[[], Edges]] = {
    "strip 4x10000": lambda: strip(4, 10_000),
    "strip 8x5000": lambda: strip(8, 5000),
    "strip 16x2500": lambda: strip(16, 2500),
    "strip 20x1000": lambda: strip(20, 1000),
    "strip 64x320": lambda: strip(64, 320),
    "grid 125x125": lambda: strip(125, 125),
    "grid 200x200": lambda: strip(200, 200),
    "hexagons 150x150": lambda: hexagons(150),
    "Delaunay 2^14": lambda: mesh(2**14),
    "Delaunay 2^16": lambda: mesh(2**16),
    "road 200x200": lambda: road(200),
    "road 200x200, 20 % removed": lambda: road(200, 0.2),
    "road 200x200, 10 % removed": lambda: road(200, 0.1),
    "small world 20000, 4, 1 %": lambda: ring(20_000, 4, 0.01),
    "small world 20000, 4, 10 %": lambda: ring(20_000, 4, 0.1),
    "R-MAT 14": lambda: simplified(*generated("rmat", scale=14, edge_factor=8, seed=1))[0],
    "4elt": lambda: simplified(*shared("4elt"))[0],
    "deezer-HU": lambda: simplified(*shared("deezer-HU"))[0],
}
DIRECTED: dict[str, Callable[[], Edges]] = {
    "grid 125x125, 10 % one-way": lambda: one_way(strip(125, 125), 0.1),
    "grid 200x200, 30 % one-way": lambda: one_way(strip(200, 200), 0.3),
    "Delaunay 2^15, 20 % one-way": lambda: one_way(mesh(2**15), 0.2),
    "road 200x200, 5 % one-way": lambda: one_way(road(200), 0.05),
    "road 200x200, 10 % removed, 10 % one-way": lambda: one_way(road(200, 0.1), 0.1),
}


def used(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    result = call()
    return time.process_time() - begin, result


def cut(vertices: torch.Tensor, size: int) -> torch.Tensor:
    """Pieces of so many, without the rest."""
    return vertices[: vertices.numel() // size * size].view(-1, size)


class Sample:
    """One graph, from some of whose sources the engines run."""

    def __init__(self, name: str) -> None:
        self.name = name
        edges = torch.from_numpy(np.ascontiguousarray((UNDIRECTED | DIRECTED)[name]()))
        self.graph = Graph.from_edge_index(edges, directed=name in DIRECTED)
        self.core = _reduce.core(self.graph, "degree", "all")
        self.chance = np.random.default_rng(1)

    def seconds(self, engine: str, pieces: torch.Tensor, few: int, many: int) -> float:
        """Of a source, by the difference between few and many of these pieces."""
        count = min(many, len(pieces))
        order = torch.from_numpy(self.chance.permutation(len(pieces))[:count])

        def run(some: torch.Tensor) -> float:
            how = Run(engine=engine, reduce="fold", progress=False)
            sources = pieces[some].flatten()
            return used(lambda: torchcent.betweenness(self.graph, sources=sources, run=how))[0]

        run(order[:1])
        fewer = run(order[:few])
        return (run(order) - fewer) / ((count - few) * pieces.shape[1])

    def row(self) -> dict[str, Any]:
        core = self.core
        row: dict[str, Any] = {
            "name": self.name, "num_nodes": self.graph.num_nodes, "searched": core.searched,
            "directed": not self.graph.is_symmetric,
        }  # fmt: skip
        planning, plan = used(lambda: torchcent.explain(self.graph, run=Run(progress=False)))
        # Directed graphs are searched in pieces, the largest perhaps by a hierarchy.
        swept = plan.engine == "mixed" and "by hierarchy" in plan.reason
        row |= {"engine": "hierarchy" if swept else plan.engine, "planning": planning}
        contracting, hierarchy = used(lambda: Hierarchy.of(core, MOST_FILL_BY_HOPS))
        size = core.num_nodes + core.num_slots
        if hierarchy is not None:
            near = core.vertex[hierarchy.vertex[hierarchy.sequence.long()]]
            each = self.seconds("hierarchy", cut(near, LANES), 1, 4)
            arcs = hierarchy.num_arcs / (2 if hierarchy.is_directed else 1)
            row |= {
                "hierarchy": planning + contracting + each * core.searched,
                "per_arc": each / arcs, "removed": 1 - arcs / hierarchy.possible,
                "paths": _hierarchy_choice.most_paths_of_pairs(core),
            }  # fmt: skip
        single = core.vertex[torch.from_numpy(self.chance.permutation(core.num_nodes))]
        others = {"queue": self.seconds("queue", single[:, None], 32, 160)}
        if _choice.too_deep_for_lanes(core):
            core = _reduce.core(self.graph, "bandwidth", "all", BATCH["lanes"])
        others["lanes"] = self.seconds(
            "lanes", cut(core.vertex[core.sequence], BATCH["lanes"]), 2, 8
        )
        row["others"] = {engine: each * core.searched for engine, each in others.items()}
        row["per_slot"] = {engine: each / size for engine, each in others.items()}
        return row


def table(result: dict[str, Any]) -> str:
    lines = [
        ["graph", "vertices", "hierarchy, s", "queue, s", "lanes, s", "auto", "x the best",
         "ns per arc", "removed", "log2 of paths", "ns of a search"],
    ]  # fmt: skip
    for row in result["rows"]:
        every = row["others"] | ({"hierarchy": row["hierarchy"]} if "hierarchy" in row else {})
        chosen = every.get(row["engine"])
        if chosen is not None and row["engine"] != "hierarchy":
            chosen += row["planning"]  # with a contraction in vain
        cells = [row["name"], f"{row['num_nodes']:,}"]
        cells += [f"{every[x]:.3g}" if x in every else "" for x in ("hierarchy", *OTHERS)]
        cells += [row["engine"], "" if chosen is None else f"{chosen / min(every.values()):.2f}"]
        if "hierarchy" in row:
            cells += [f"{1e9 * row['per_arc']:.2f}", f"{row['removed']:.2f}", f"{row['paths']:.0f}"]
        cells += [""] * (len(lines[0]) - 1 - len(cells))
        lines.append([*cells, f"{1e9 * min(row['per_slot'].values()):.2f}"])
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    every = [*UNDIRECTED, *DIRECTED]
    parser.add_argument("graphs", nargs="*", default=every, help="some of them")
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args()
    torch.set_num_threads(1)
    known = json.loads(given.output.read_text())["rows"] if given.output.exists() else []
    rows = {row["name"]: row for row in known}
    head = conditions()
    for name in given.graphs:
        try:
            rows[name] = Sample(name).row()
        except MissingGraph as error:
            print(f"{name}: {error}")
            continue
        print(table({"rows": [rows[name]]}).splitlines()[-1], flush=True)
        result = {**head, "rows": [rows[name] for name in every if name in rows]}
        given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
