"""The workloads of the five papers, on their graphs or on stand-ins of their size.

    python benchmarks/papers.py                                    # on the CPU
    python benchmarks/papers.py --device cuda                      # all rows
    python benchmarks/papers.py --papers gpu-fan sriram --limit 600
    python benchmarks/papers.py --isolated                         # measures nothing

A row is a public call on a prepared Graph on the device, the median of --repeat after one that is
not counted. `first` is that one, on a new Graph. On the CPU, a row of more than --limit seconds, by
the time of a part of its sources, is left out, as is clustering without pruning. Sources have
neighbours (sources.py), and are drawn before the call; of rows whose `drawn` does not say so, that
is in their time. Rows without `drawn` are older, and had theirs from all vertices; --isolated adds
to them how many vertices have no neighbours.

`one_thread` has seconds of the same workload on one thread of the CPU of the same machine, from the
time of a part of its sources. "plain" is Run(engine="reference"), a search at a time, as in the
papers' sequential programs; "torchcent" is the engine that torchcent chooses. All pairs of the
graphs of Table II are not computed: their rows are distances from some sources.

The file results/papers.json holds both devices, published.json what the papers have;
counterparts.py compares the two.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gpu_weighted import body, hubs
from graphs import MissingGraph, find
from machine import conditions
from scipy.spatial import cKDTree
from sources import drawn

import torchcent
from torchcent import Graph, generate

RESULTS = Path(__file__).parent / "results" / "papers.json"
PAPERS = ["gpu-fan", "sriram", "multi-search", "cuda-mcl"]
FOUR = ("betweenness", "closeness", "eccentricity", "stress")
QUIET = torchcent.Run(progress=False)
BEFORE = "degree > 0, before the call"
#: the arguments that choose vertices, other than `sources`
BY = {"closeness": "vertices", "eccentricity": "vertices"}
#: papers whose tables have speedups over a sequential program
OVER_ONE_THREAD = ("gpu-fan", "sriram")
#: what runs on one thread of the CPU, and from how many sources; the first is a search at a time
ONE_THREAD = {
    "plain": (QUIET | torchcent.Run(engine="reference", threads=1), 32),
    "torchcent": (QUIET | torchcent.Run(threads=1), 256),
}


@dataclass(frozen=True)
class Row:
    """A workload of a paper and the call that corresponds to it."""

    paper: str
    table: str
    workload: str
    edges: Callable[[], torch.Tensor]
    measure: str  # a function of torchcent
    sources: int | None = None
    options: tuple[tuple[str, Any], ...] = ()


def real(name: str) -> Callable[[], torch.Tensor]:
    """A graph of the benchmarks' table."""
    return lambda: torch.from_numpy(find([name])[0].edges()[0])


def ba(n: int, b: int) -> Callable[[], torch.Tensor]:
    return lambda: generate.ba(n, b, seed=1)


def geometric(n: int) -> torch.Tensor:
    """rgg of the tenth DIMACS challenge: points of a square, joined if they are near."""
    points = np.random.default_rng(1).random((n, 2))
    radius = 0.55 * math.sqrt(math.log(n) / n)
    return torch.from_numpy(cKDTree(points).query_pairs(radius, output_type="ndarray").T.copy())


def stand_ins(
    at_most: Callable[[int, int], int],
) -> list[tuple[str, Callable[[], torch.Tensor]]]:
    """Of graphs of Table I that are not at hand: as many vertices, and about as many edges.

    Meshes of the plane and of a body stand for meshes, a graph with hubs for a network.
    """
    n, side = at_most(1_696_415, 300), at_most(2611, 12)
    actors, together = at_most(1_139_905, 300), at_most(57_515_616, 900)
    return [
        ("auto (points in a cube)", partial(body, at_most(448_695, 300), 14.8)),
        ("ldoor (points in a cube)", partial(body, at_most(952_203, 300), 47.9)),
        ("as-Skitter (hubs)", partial(hubs, n, at_most(11_095_298, 900), 0.7)),
        ("adaptive (grid 2611x2611)", partial(generate.grid, side, side)),
        ("thermal2 (Delaunay)", partial(generate.delaunay, at_most(1_228_045, 300), seed=1)),
        ("hollywood-2009 (hubs)", partial(hubs, actors, together, 0.4)),
        ("333SP (Delaunay)", partial(generate.delaunay, at_most(3_712_815, 300), seed=1)),
    ]


def rows(small: bool = False) -> list[Row]:
    """All of them; `small`: those that are generated, on graphs of a few hundred vertices."""

    def at_most(size: int, least: int) -> int:
        return min(size, least) if small else size

    def grown(n: int, b: int) -> Callable[[], torch.Tensor]:
        return ba(at_most(n, 200), at_most(b, 3))

    table = [Row("gpu-fan", "2", "BA n=30000 b=50", grown(30_000, 50), each) for each in FOUR]
    growing = [("3a", 30_000, b) for b in (10, 20, 30, 40, 50)]
    growing += [("3b", n, 30) for n in (10_000, 20_000, 40_000, 50_000)]
    for figure, n, b in growing:
        name = f"BA n={n} b={b}"
        table += [Row("gpu-fan", figure, name, grown(n, b), each) for each in FOUR]
    for figure, name in (("3c", "hprd-release9"), ("3d", "breast-coexpress")):
        table += [Row("gpu-fan", figure, name, real(name), each) for each in FOUR]
    for scale in (12, 14, 16, 18, 19):
        edges = partial(generate.rmat, at_most(scale, 7), 8, seed=1)
        table.append(Row("sriram", "1", f"R-MAT scale {scale} ef 8", edges, "betweenness", 4096))
    table.append(Row("sriram", "1", "web-NotreDame", real("web-NotreDame"), "betweenness", 4096))
    side, bits = at_most(1400, 12), at_most(21, 8)
    for name, edges in (
        ("ecology1 (grid 1000x1000)", partial(generate.grid, *[at_most(1000, 12)] * 2)),
        (
            "kron_g500-logn19 (R-MAT scale 19 ef 48)",
            partial(generate.rmat, at_most(19, 7), at_most(48, 8), seed=1),
        ),
        ("delaunay_n21", partial(generate.delaunay, 1 << bits, seed=1)),
        ("rgg_n_2_21_s0", partial(geometric, 1 << bits)),
        ("roadNet-CA (road-like 1400x1400)", partial(generate.road, side, side, seed=1)),
        *stand_ins(at_most),
    ):
        table.append(Row("multi-search", "III", name, edges, "betweenness", 8192))
        # All pairs are two million rows as long: by the time of some.
        table.append(Row("multi-search", "II", name, edges, "shortest_path_lengths", 4096))
    bits = at_most(16, 7)
    for name, edges in (
        ("Delaunay 2^16, all pairs", partial(generate.delaunay, 1 << bits, seed=1)),
        ("R-MAT scale 16 ef 48, all pairs", partial(generate.rmat, bits, 48, seed=1)),
    ):
        table.append(Row("multi-search", "text", name, edges, "shortest_path_lengths"))
    unpruned = (("prune", None), ("chaos", 1e-3))
    for name in ("yeast-biogrid", "hprd-release9"):
        table.append(Row("cuda-mcl", "4", name, real(name), "mcl", options=unpruned))
    known = ("breast-coexpress", "web-NotreDame", "yeast-biogrid", "hprd-release9")
    return [row for row in table if not (small and row.workload in known)]


def call(row: Row, graph: Graph, run: torchcent.Run, options: dict[str, Any]) -> None:
    function = getattr(torchcent, row.measure)
    if row.measure == "shortest_path_lengths":
        for _ in function(graph, blocks=True, run=run, **options):
            pass
        return
    function(graph, run=run, **options)


def seconds(row: Row, graph: Graph, run: torchcent.Run = QUIET) -> float:
    options = dict(row.options)
    if row.sources is not None:
        options[BY.get(row.measure, "sources")] = drawn(graph, row.sources)
    if graph.device.type == "cuda":
        torch.cuda.synchronize(graph.device)
    begin = time.perf_counter()
    call(row, graph, run, options)
    if graph.device.type == "cuda":
        torch.cuda.synchronize(graph.device)
    return time.perf_counter() - begin


def too_long(row: Row, graph: Graph, limit: float) -> bool:
    """Whether a part of the sources says that all of them take longer than the limit."""
    if graph.device.type == "cuda":
        return False
    if row.measure not in ("betweenness", "stress", "shortest_path_lengths"):
        return row.measure == "mcl"
    few = min(512 if row.measure == "shortest_path_lengths" else 256, graph.num_nodes)
    part = replace(row, sources=few)
    return seconds(part, graph) / few * (row.sources or graph.num_nodes) > limit


def one_thread(row: Row, graph: Graph) -> dict[str, float]:
    """Seconds of the workload on one thread of the CPU, from the time of a part of its sources."""
    graph, taken = graph.to("cpu"), {}
    searched = min(row.sources or graph.num_nodes, int((graph.degree > 0).sum()))
    for name, (run, few) in ONE_THREAD.items():
        whole = name == "torchcent" and row.measure in BY  # hundreds of searches share a pass
        count = searched if whole else min(few, searched)
        part = row if whole else replace(row, sources=count)
        seconds(replace(row, sources=1), graph, run)
        taken[name] = seconds(part, graph, run) / count * searched
    return taken


def measured(row: Row, edges: torch.Tensor, given: argparse.Namespace) -> dict[str, Any] | None:
    graph = Graph.from_edge_index(edges.to(given.device), directed=False)
    if too_long(row, graph, given.limit):
        print(f"{row.workload}, {row.measure}: too long for the CPU: left out", flush=True)
        return None
    graph = Graph.from_edge_index(edges.to(given.device), directed=False)
    first = seconds(row, graph)
    began, used = time.process_time(), 0.0
    later = [first]
    if first < given.limit:
        later = [seconds(row, graph) for _ in range(given.repeat)]
        used = (time.process_time() - began) / given.repeat
    taken = {
        **key(row),
        "nodes": graph.num_nodes,
        "slots": graph.num_slots,
        "isolated": int((graph.degree == 0).sum()),
        "first": first,
        "seconds": statistics.median(later),
        "drawn": BEFORE,
    }
    if row.sources is not None:  # fewer where not as many vertices have neighbours
        taken["searched"] = min(row.sources, taken["nodes"] - taken["isolated"])
    if used and graph.device.type == "cpu":  # of all threads: others may use the cores as well
        taken["cpu_seconds"] = used
    if row.paper in OVER_ONE_THREAD:
        taken["one_thread"] = one_thread(row, graph)
    where = f"{row.paper}, {row.table}: {row.workload}, {row.measure}"
    print(f"{where:<72} {taken['seconds']:.4f} s (first {first:.4f})", flush=True)
    return taken


def key(row: Row) -> dict[str, Any]:
    names = ("paper", "table", "workload", "measure", "sources")
    return {name: getattr(row, name) for name in names}


def count_isolated(known: dict[str, Any]) -> None:
    """How many vertices of the graphs from whose vertices sources were drawn have no neighbours."""
    for row in rows():
        of = [x for each in known.values() for x in each["rows"] if x["workload"] == row.workload]
        if row.sources is None or not of:
            continue
        graph = Graph.from_edge_index(row.edges(), directed=False)
        for each in of:
            assert (each["nodes"], each["slots"]) == (graph.num_nodes, graph.num_slots)
            each["isolated"] = int((graph.degree == 0).sum())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--papers", nargs="*", choices=PAPERS, default=PAPERS)
    parser.add_argument("--workloads", nargs="*", help="some of them, e.g. web-NotreDame")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds (60)")
    parser.add_argument("--isolated", action="store_true", help="counts vertices of known rows")
    parser.add_argument("--small", action="store_true", help="of a few hundred vertices: a trial")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    known = json.loads(given.output.read_text()) if given.output.exists() else {}
    if given.isolated:
        count_isolated(known)
        given.output.write_text(json.dumps(known, indent=1) + "\n")
        return
    kind = torch.device(given.device).type
    part = known.setdefault(kind, {"rows": []})
    under = {**conditions(), "threads": given.threads}
    if kind == "cuda":
        under["device"] = torch.cuda.get_device_name(given.device)
    wanted = [row for row in rows(given.small) if row.paper in given.papers]
    for workload, of in groupby(wanted, lambda row: row.workload):
        if given.workloads is not None and workload not in given.workloads:
            continue
        edges = None
        for row in of:
            try:
                edges = row.edges() if edges is None else edges
            except MissingGraph as missing:
                print(f"{workload}: {missing}: left out", flush=True)
                break
            taken = measured(row, edges, given)
            if taken is not None:
                others = [x for x in part["rows"] if not key(row).items() <= x.items()]
                part["rows"] = [*others, {**taken, "conditions": under}]
                given.output.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
