"""Exact betweenness of a country by lengths: real road networks side by side, 24 million vertices.

    python benchmarks/country.py DIRECTORY                       # the networks by themselves
    python benchmarks/country.py DIRECTORY --whole ledger        # and the country, all sources

DIRECTORY holds road networks of the 9th DIMACS challenge as graphs of PACE (NY.gr, FLA.gr, ...;
B. Strasser, road-graphs-pace16 on GitHub), which have no lengths: whole ones from 10 to 1,000 are
drawn. The country is a sheet of rows and columns of these networks in turn, each with lengths of
its own, and --crossings edges between the borders of neighbours. A border is the vertices that are
nearest, by hops, to an end of the network. West and east are the ends of a long shortest path,
north and south two vertices far from both.

Rates are seconds of the processor per source on one thread: the difference between many and few
blocks of 8,192 neighbouring sources. The contraction and the unpacking of flows, which a run does
once, are not in them. `checked` compares sums from a few sources with those of single searches.
results/country.json has a row per network, with the
digest of the sources that it is of.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from graphs import generated
from machine import conditions
from numpy.typing import NDArray
from report import markdown
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order

import torchcent
from torchcent import Graph, Run

RESULT = Path(__file__).parent / "results" / "country.json"
NETWORKS = ("NY", "BAY", "COL", "FLA", "NW", "NE")
#: roads of generate.road with as many vertices as the smallest and the largest network
GENERATED = {"road 520x520": 520, "road 1240x1240": 1240}
BLOCK, FEW, MANY = 8192, 2, 16
Edges = NDArray[np.int64]


def network(directory: Path, name: str) -> tuple[Edges, int]:
    if name in GENERATED:
        return generated("road", rows=GENERATED[name], cols=GENERATED[name], seed=1)
    read = torchcent.read(directory / f"{name}.gr")
    return read.edge_index.numpy(), read.num_nodes


class Neighbours:
    """Vertices in the order of their distance by hops."""

    def __init__(self, edges: Edges, num_nodes: int) -> None:
        ones = np.ones(edges.shape[1], dtype=np.int8)
        matrix = csr_matrix((ones, (edges[0], edges[1])), (num_nodes, num_nodes))
        self.matrix = (matrix + matrix.T).tocsr()

    def of(self, vertex: int) -> NDArray[np.int32]:
        order: NDArray[np.int32] = breadth_first_order(
            self.matrix, vertex, return_predecessors=False
        )
        return order


def borders(edges: Edges, num_nodes: int, length: int) -> list[NDArray[np.int32]]:
    """West, east, north and south: vertices that are nearest to four ends."""
    neighbours = Neighbours(edges, num_nodes)
    east = neighbours.of(int(neighbours.of(0)[-1]))
    west = neighbours.of(int(east[-1]))
    place = np.empty((2, num_nodes), dtype=np.int64)
    for row, order in zip(place, (west, east), strict=True):
        row[order] = np.arange(num_nodes)
    north = neighbours.of(int(place.min(axis=0).argmax()))
    south = neighbours.of(int(north[-1]))
    return [order[:length] for order in (west, east, north, south)]


def country(directory: Path, vertices: int, crossings: int) -> tuple[Edges, int]:
    """The sheet of networks, and how many there are."""
    parts = []
    for name in NETWORKS:
        edges, n = network(directory, name)
        parts.append((edges, n, borders(edges, n, crossings)))
    tiles: list[tuple[int, int]] = []  # the network, and its first vertex
    total = 0
    while total < vertices:
        which = len(tiles) % len(parts)
        tiles.append((which, total))
        total += parts[which][1]
    columns = int(np.ceil(np.sqrt(len(tiles))))
    roads = [parts[which][0] + first for which, first in tiles]
    for at, (which, first) in enumerate(tiles):
        for other, (ours, theirs) in ((at + 1, (1, 0)), (at + columns, (3, 2))):
            same_row = other == at + columns or other % columns
            if other < len(tiles) and same_row:
                to, start = tiles[other]
                ends = parts[which][2][ours] + first, parts[to][2][theirs] + start
                roads.append(np.stack(ends).astype(np.int64))
    return np.concatenate(roads, axis=1), len(tiles)


def lengths(count: int) -> torch.Tensor:
    return torch.randint(10, 1001, (count,), generator=torch.Generator().manual_seed(1))


class Measured:
    """A network with lengths, prepared."""

    def __init__(self, name: str, edges: Edges, memory: int | None = None) -> None:
        self.edges, self.memory = edges, memory
        begin = time.process_time()
        self.graph = Graph.from_edge_index(
            torch.from_numpy(edges), directed=False, edge_weight=lengths(edges.shape[1])
        )
        plan = torchcent.explain(self.graph, run=Run(engine="hierarchy", memory=memory))
        self.row: dict[str, Any] = {
            "name": name, "num_nodes": self.graph.num_nodes, "num_edges": edges.shape[1],
            "core_nodes": plan.core_nodes, "reason": plan.reason, "memory": plan.memory,
            "contraction": time.process_time() - begin,
        }  # fmt: skip

    def sources(self, neighbours: Neighbours, blocks: int) -> torch.Tensor:
        places = np.random.default_rng(7).integers(self.graph.num_nodes, size=blocks)
        some = [neighbours.of(int(place))[:BLOCK] for place in places]
        return torch.from_numpy(np.unique(np.concatenate(some)).astype(np.int64))

    def rate(self) -> dict[str, Any]:
        neighbours = Neighbours(self.edges, self.graph.num_nodes)
        run = Run(engine="hierarchy", memory=self.memory)
        counts, times = [], []
        for blocks in (FEW, MANY):
            sources = self.sources(neighbours, blocks)
            begin = time.process_time()
            torchcent.betweenness(self.graph, sources=sources, run=run)
            times.append(time.process_time() - begin)
            counts.append(sources.numel())
        per_source = (times[1] - times[0]) / (counts[1] - counts[0])
        return {"sources": counts, "cpu_seconds": times, "per_source": per_source}

    def checked(self) -> dict[str, Any]:
        sources = torch.from_numpy(np.random.default_rng(5).integers(self.graph.num_nodes, size=4))
        scores = [
            torchcent.betweenness(
                self.graph,
                sources=sources,
                run=Run(engine=engine, dtype=torch.float64, memory=self.memory),
            )
            for engine in ("hierarchy", "dijkstra")
        ]
        relative = (scores[0] - scores[1]).abs() / scores[1].clamp(min=1e-300)
        zeros = ((scores[0] == 0) != (scores[1] == 0)).sum()
        return {"sources": 4, "relative": float(relative.max()), "zeros": int(zeros)}

    def whole(self, ledger: Path) -> dict[str, Any]:
        """All sources on all threads."""
        begin, used = time.perf_counter(), time.process_time()
        scores = torchcent.betweenness(self.graph, run=Run(checkpoint=ledger, memory=self.memory))
        seconds, processor = time.perf_counter() - begin, time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {"threads": torch.get_num_threads(), "seconds": seconds, "cpu_seconds": processor,
                "peak_memory": peak, "sum_of_scores": float(scores.double().sum()),
                "largest": float(scores.max())}  # fmt: skip


def table(result: dict[str, Any]) -> str:
    head = ["network", "vertices", "after folding", "arcs per vertex, height", "contraction, s"]
    lines = [[*head, "µs per source", "all sources, two threads", "memory", "sources"]]
    for row in result["rows"]:
        arcs, height = row["reason"].split(", at most ")
        shape = f"{arcs.split()[0]}, {height.split()[0]}"
        whole = row.get("whole")
        lines.append(
            [row["name"], f"{row['num_nodes']:,}", f"{row['core_nodes']:,}", shape]
            + [f"{row['contraction']:.3g}", f"{row['rate']['per_source'] * 1e6:.3g}"]
            + ([f"{whole['seconds'] / 60:.3g} min"] if whole else [""])
            + ([f"{whole['peak_memory'] / 2**30:.3g} GiB"] if whole else [""])
            + [row["digest"][:8]]
        )
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", type=Path, help="of the road networks")
    parser.add_argument("--networks", nargs="*", default=[*NETWORKS, *GENERATED])
    parser.add_argument("--whole", type=Path, help="a new folder for the ledger of the country")
    parser.add_argument("--vertices", type=int, default=24_000_000, help="of the country, at least")
    parser.add_argument("--crossings", type=int, default=100, help="edges between two neighbours")
    parser.add_argument("--memory", type=float, help="GiB that the country may take")
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args()
    known = json.loads(given.output.read_text()) if given.output.exists() else {"rows": []}
    rows = {row["name"]: row for row in known["rows"]}
    result = {**known, **conditions()}
    threads = torch.get_num_threads()

    def keep(row: dict[str, Any]) -> None:
        rows[row["name"]] = row | {"date": result["date"], "digest": result["digest"]}
        result["rows"] = [*rows.values()]
        given.output.write_text(json.dumps(result, indent=1) + "\n")
        print(table({"rows": [rows[row["name"]]]}).splitlines()[-1], flush=True)

    for name in given.networks:
        torch.set_num_threads(1)
        measured = Measured(name, network(given.directory, name)[0])
        keep(measured.row | {"rate": measured.rate(), "checked": measured.checked()})
    if given.whole:
        torch.set_num_threads(threads)
        edges, tiles = country(given.directory, given.vertices, given.crossings)
        memory = None if given.memory is None else int(given.memory * 2**30)
        measured = Measured(f"country of {tiles} networks", edges, memory)
        measured.row["crossings"] = given.crossings
        print(measured.row, flush=True)
        torch.set_num_threads(1)
        measured.row |= {"rate": measured.rate(), "checked": measured.checked()}
        keep(measured.row)
        torch.set_num_threads(threads)
        keep(measured.row | {"whole": measured.whole(given.whole)})


if __name__ == "__main__":
    main()
