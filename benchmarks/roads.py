"""Exact betweenness of roads by a contraction hierarchy: whole calls, from edges to scores.

    python benchmarks/roads.py             # about twenty minutes
    python benchmarks/roads.py --large     # the three largest besides: another three quarters
    python benchmarks/roads.py --graphs "road 2000x2000" --kinds whole --threads 2 --peers \
        --checkpoint ledger                # 3.95 million vertices, through a ledger
    python benchmarks/roads.py --meshes    # two graphs for which a hierarchy pays less, or not

A call builds the graph, contracts it and computes all scores. It is made with one thread and with
two (--threads), in turns: three times, once where it takes longer than --long seconds. Beside it
stand single searches (dijkstra, by hops queue) of a prepared graph, whose leaves are folded. So
does the exact weighted betweenness of NetworKit, igraph and, on the smallest graph, NetworkX. These
take hours, so they run from some random sources, as many as fit into --budget seconds, and are
extrapolated: time per source times the number of sources, plus the time in which the library builds
its graph. Scores from these sources are compared with those of a hierarchy from the same sources.

Seconds of the processor are kept besides those of the clock. On a machine with other work, only
they can be compared. results/roads.json has a row per graph and kind of length, written after each.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from contestant import disagreement
from graphs import generated, lengths, shared, simplified
from machine import conditions
from numpy.typing import NDArray
from peers import PEERS, Edges, NetworKit, Peer, Weights, unscaled_nodes
from report import markdown

import torchcent
from torchcent import Graph, Run, generate

RESULT = Path(__file__).parent / "results" / "roads.json"
TABLES = ("tn-berlin-center", "tn-chicago-regional", "tn-sydney", "luxembourg_osm")
ROADS = {"road 200x200": 200, "road 500x500": 500}
LARGE = {"road 1000x1000": 1000, "road 1414x1414": 1414, "road 2000x2000": 2000}
MESHES: dict[str, tuple[str, dict[str, int]]] = {
    "grid 100x100": ("grid", {"rows": 100, "cols": 100}),
    "Delaunay 2^14": ("delaunay", {"n": 2**14, "seed": 1}),
}
#: lengths are whole numbers of 10 to 1,000, or float64 numbers in (0.01, 1)
KINDS = ("whole", "floats", "hops")
WORDS = {"whole": "whole", "floats": "random floats", "hops": "1 (by hops)"}
SMALLEST = TABLES[0]
BY_HOPS = tuple(ROADS)
SINGLE = {True: "dijkstra", False: "queue"}
Sources = NDArray[np.int64]
Times = dict[str, float]


def edges_of(name: str) -> tuple[Edges, int]:
    if name in MESHES:
        kind, options = MESHES[name]
        return simplified(*generated(kind, **options))
    side = (ROADS | LARGE).get(name)
    arcs = shared(name) if side is None else generated("road", rows=side, cols=side, seed=1)
    return simplified(*arcs)


def weights_of(edges: Edges, kind: str) -> Weights:
    if kind == "hops":
        return None
    floats = lengths(edges, "uniform")
    return np.round(1000 * floats) if kind == "whole" else floats


def timed(call: Callable[[], Any]) -> tuple[Times, Any]:
    begin, used = time.perf_counter(), time.process_time()
    result = call()
    seconds, processor = time.perf_counter() - begin, time.process_time() - used
    return {"seconds": seconds, "cpu_seconds": processor}, result


def sampled(
    run: Callable[[Sources], Any], order: Sources, budget: float, least: int
) -> tuple[dict[str, Any], Sources, Any]:
    """Times of a run from as many sources as fit into the budget, after a short one."""
    short, _ = timed(lambda: run(order[:least]))
    count = int(budget * least / short["seconds"])
    sources = np.sort(order[: min(max(count, least), len(order))])
    times, result = timed(lambda: run(sources))
    return {"sources": len(sources), **times}, sources, result


def extrapolated(record: dict[str, Any], searches: int) -> None:
    """Adds what all searches would take, and building the graph."""
    for key in ("seconds", "cpu_seconds"):
        building = record["building"][key]
        record[f"whole_{key}"] = building + record[key] / record["sources"] * searches


class Road:
    """One graph with lengths of one kind."""

    def __init__(self, name: str, kind: str, budget: float) -> None:
        self.name, self.kind, self.budget = name, kind, budget
        self.edges, self.n = edges_of(name)
        self.weights = weights_of(self.edges, kind)
        self.index = torch.from_numpy(np.ascontiguousarray(self.edges))
        self.length = None if self.weights is None else torch.from_numpy(self.weights)
        self.order = np.random.default_rng(1).permutation(self.n)

    def graph(self) -> Graph:
        return Graph.from_edge_index(self.index, self.n, edge_weight=self.length, directed=False)

    def call(self, engine: str = "auto", folder: Path | None = None) -> torch.Tensor:
        return torchcent.betweenness(
            self.index,
            self.length,
            num_nodes=self.n,
            directed=False,
            run=Run(engine=engine, checkpoint=folder, progress=False, dtype=torch.float64),
        )

    def scores(self, graph: Graph, sources: Sources, engine: str) -> NDArray[np.float64]:
        """Raw sums over ordered pairs."""
        some = torch.from_numpy(sources)
        values = torchcent.betweenness(
            graph,
            sources=some,
            normalized=False,
            run=Run(engine=engine, reduce="fold", progress=False, dtype=torch.float64),
        )
        found = unscaled_nodes(values.numpy(), sources, self.n)
        assert found is not None
        return found

    def whole_calls(
        self, long: float, threads: list[int], folder: Path | None
    ) -> dict[str, list[Times]]:
        runs: dict[str, list[Times]] = {str(number): [] for number in threads}
        for _ in range(3):
            for number, times in runs.items():
                torch.set_num_threads(int(number))
                times.append(timed(lambda: self.call(folder=folder))[0])
            if max(times[0]["seconds"] for times in runs.values()) > long:
                break
        return runs

    def single_searches(self, graph: Graph) -> dict[str, Any]:
        """Each on one thread. Their sources are the vertices that remain after folding."""
        engine = SINGLE[graph.is_weighted]
        building, prepared = timed(self.graph)
        how = Run(engine=engine, reduce="fold")
        torchcent.explain(prepared, run=how)  # folds, and orders the vertices
        core = torchcent.explain(prepared, run=how).core_nodes

        def run(sources: Sources) -> NDArray[np.float64]:
            return self.scores(prepared, sources, engine)

        record, sources, found = sampled(run, self.order, self.budget, least=16)
        record |= {"engine": engine, "searches": core, "building": building}
        extrapolated(record, core)
        return record | disagreement(self.scores(graph, sources, "hierarchy"), found)

    def peer(self, kind: type[Peer], graph: Graph) -> dict[str, Any]:
        threads = 2 if kind.threaded else 1
        library = kind("betweenness", threads)
        building, _ = timed(lambda: library.prepare(self.edges, self.n, self.weights))
        record, sources, result = sampled(library.run, self.order, self.budget, least=4)
        record |= {"threads": threads, "building": building}
        extrapolated(record, self.n)
        theirs = library.scores(result, sources)
        if theirs is not None:
            record |= disagreement(self.scores(graph, sources, "hierarchy"), theirs)
        return record

    def row(
        self, long: float, peers: list[type[Peer]], threads: list[int], folder: Path | None
    ) -> dict[str, Any]:
        graph = self.graph()
        plan = torchcent.explain(graph)
        row: dict[str, Any] = {
            "name": self.name, "kind": self.kind, "num_nodes": self.n,
            "num_edges": self.edges.shape[1], "engine": plan.engine, "reason": plan.reason,
            "core_nodes": plan.core_nodes, "memory": plan.memory,
        }  # fmt: skip
        row["torchcent"] = self.whole_calls(long, threads, folder)
        torch.set_num_threads(1)
        row["single"] = self.single_searches(graph)
        row["peers"] = {}
        for peer in peers:
            row["peers"][peer.name] = self.peer(peer, graph)
        return row


def mesh(name: str, kind: str) -> dict[str, Any]:
    """Whole calls on one thread with a hierarchy and with each of the other engines."""
    road = Road(name, kind, 0)
    torch.set_num_threads(1)
    plan = torchcent.explain(road.graph(), run=Run(engine="hierarchy"))
    others = ("dijkstra", "relax") if kind != "hops" else ("queue", "lanes")
    runs: dict[str, Times] = {}
    expected = None
    for engine in ("hierarchy", *others):
        runs[engine], scores = timed(lambda engine=engine: road.call(engine))
        expected = scores if expected is None else expected
        torch.testing.assert_close(scores, expected, rtol=1e-4, atol=1e-9)
    auto = torchcent.explain(road.graph()).engine
    return {"name": name, "kind": kind, "num_nodes": road.n, "reason": plan.reason, "auto": auto,
            "runs": runs}  # fmt: skip


def exact_run(name: str, kind: str) -> dict[str, Any]:
    """NetworKit's class for all sources, which has no choice of them, beside its sampled one."""
    road = Road(name, kind, 0)
    library = NetworKit("betweenness", 2)
    library.prepare(road.edges, road.n, road.weights)
    times, result = timed(lambda: library.run(None))
    ours = road.call().numpy() * (road.n - 1) * (road.n - 2)
    return {"name": name, "kind": kind, **times, **disagreement(ours, library.scores(result, None))}


def table(result: dict[str, Any], wanted: str) -> str | None:
    """Whole calls by the clock and of the processor, and processor times of the others over them.

    wanted: "all", or "meshes" for the table of those.
    """
    if wanted == "meshes":
        return mesh_table(result) if "meshes" in result else None
    names = {"networkit": "NetworKit", "igraph": "igraph", "networkx": "NetworkX"}
    head = ["graph", "vertices", "lengths", "2 threads, s", "1 thread, s", "processor, s"]
    lines = [[*head, "single searches, s", "x", *(f"{x}, s (x)" for x in names.values())]]
    for row in result["rows"]:
        ours = {t: _medians(runs) for t, runs in row["torchcent"].items()}
        used = ours["1" if "1" in ours else "2"]["cpu_seconds"]
        cells = [row["name"], f"{row['num_nodes']:,}", WORDS[row["kind"]]]
        cells += [_short(ours[t]["seconds"]) if t in ours else "" for t in "21"]
        cells.append(_short(used))
        single = row["single"]["whole_cpu_seconds"]
        cells += [_short(single), f"{single / used:,.0f}"]
        for name in names:
            theirs = row["peers"].get(name, {}).get("whole_cpu_seconds")
            cells.append("" if theirs is None else f"{_short(theirs)} ({theirs / used:,.0f})")
        lines.append(cells)
    return markdown(lines)


def mesh_table(result: dict[str, Any]) -> str:
    """Seconds of the processor of whole calls on one thread."""
    lines = [["graph", "vertices", "lengths", "hierarchy, s", "the fastest other, s", "x", "auto"]]
    for row in result["meshes"]:
        used = {engine: times["cpu_seconds"] for engine, times in row["runs"].items()}
        ours = used.pop("hierarchy")
        best = min(used, key=lambda engine: used[engine])
        cells = [row["name"], f"{row['num_nodes']:,}", WORDS[row["kind"]], _short(ours)]
        lines.append([*cells, f"{_short(used[best])} ({best})", f"{used[best] / ours:.1f}"])
        lines[-1].append(row["auto"])
    return markdown(lines)


def _medians(runs: list[Times]) -> Times:
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def _short(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 99.5 else f"{seconds:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", nargs="+", help="some of them")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--large", action="store_true", help="the two largest as well")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--checkpoint", type=Path, help="a new folder for the ledger of a run")
    parser.add_argument("--peers", nargs="*", default=["networkit", "igraph", "networkx"])
    parser.add_argument("--budget", type=float, default=10, help="seconds of a run from sources")
    parser.add_argument("--long", type=float, default=20, help="seconds: longer calls run once")
    parser.add_argument("--meshes", action="store_true", help="the meshes alone")
    parser.add_argument("--exact", action="store_true", help="NetworKit from all sources, once")
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args()
    names = given.graphs or [*TABLES, *ROADS, *(LARGE if given.large else ())]
    known = json.loads(given.output.read_text()) if given.output.exists() else {"rows": []}
    rows = {(row["name"], row["kind"]): row for row in known["rows"]}
    result = {**known, **conditions()}
    small = generate.road(60, 60, seed=1)
    torchcent.betweenness(small, run=Run(engine="hierarchy"))  # loads the code
    if given.exact:
        result["exact"] = exact_run(SMALLEST, "whole")
    if given.meshes:
        result["meshes"] = [mesh(name, kind) for name in MESHES for kind in ("whole", "hops")]
    for name in names if not (given.exact or given.meshes) else ():
        for kind in given.kinds:
            if kind == "hops" and name not in BY_HOPS:
                continue
            peers = [PEERS[x] for x in given.peers if x in PEERS and PEERS[x].version()]
            peers = [x for x in peers if x.name != "networkx" or name == SMALLEST]
            road = Road(name, kind, given.budget)
            row = road.row(given.long, peers, given.threads, given.checkpoint)
            rows[name, kind] = row
            result["rows"] = [*rows.values()]
            given.output.write_text(json.dumps(result, indent=1) + "\n")
            print(str(table({"rows": [row]}, "all")).splitlines()[-1], flush=True)
    given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
