"""The workloads of the five papers, on their graphs or on stand-ins of their size.

    python benchmarks/papers.py                                    # on the CPU
    python benchmarks/papers.py --device cuda                      # all rows
    python benchmarks/papers.py --papers gpu-fan sriram --limit 600
    python benchmarks/papers.py --isolated                         # measures nothing

A row is a public call on a prepared Graph on the device, the median of --repeat after one that is
not counted. `first` is that one, on a new Graph. On the CPU, a row of more than --limit seconds, by
the time of a part of its sources, is left out, as is clustering without pruning. Sources have
neighbours (sources.py). Rows without `drawn` are older, and had theirs from all vertices;
--isolated adds to them how many vertices have no neighbours.

The file results/papers.json holds both devices, published.json what the papers have;
counterparts.py compares the two.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from graphs import MissingGraph, find
from machine import conditions
from sources import drawn

import torchcent
from torchcent import Graph, generate

RESULTS = Path(__file__).parent / "results" / "papers.json"
PAPERS = ["gpu-fan", "sriram", "multi-search", "cuda-mcl"]
FOUR = ("betweenness", "closeness", "eccentricity", "stress")


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


def rows() -> list[Row]:
    table = [Row("gpu-fan", "2", "BA n=30000 b=50", ba(30_000, 50), each) for each in FOUR]
    grown = [("3a", 30_000, b) for b in (10, 20, 30, 40, 50)]
    grown += [("3b", n, 30) for n in (10_000, 20_000, 40_000, 50_000)]
    for figure, n, b in grown:
        name = f"BA n={n} b={b}"
        table += [Row("gpu-fan", figure, name, ba(n, b), each) for each in FOUR]
    edges = real("breast-coexpress")
    table += [Row("gpu-fan", "3d", "breast-coexpress", edges, each) for each in FOUR]
    for scale in (12, 14, 16, 18, 19):
        edges = lambda scale=scale: generate.rmat(scale, 8, seed=1)  # noqa: E731
        table.append(Row("sriram", "1", f"R-MAT scale {scale} ef 8", edges, "betweenness", 4096))
    edges = real("web-NotreDame")
    table.append(Row("sriram", "1", "web-NotreDame", edges, "betweenness", 4096))
    for name, edges in (
        ("ecology1 (grid 1000x1000)", lambda: generate.grid(1000, 1000)),
        ("kron_g500-logn19 (R-MAT scale 19 ef 48)", lambda: generate.rmat(19, 48, seed=1)),
        ("delaunay_n21", lambda: generate.delaunay(1 << 21, seed=1)),
        ("roadNet-CA (road-like 1400x1400)", lambda: generate.road(1400, 1400, seed=1)),
    ):
        table.append(Row("multi-search", "III", name, edges, "betweenness", 8192))
    for name, edges in (
        ("Delaunay 2^16, all pairs", lambda: generate.delaunay(1 << 16, seed=1)),
        ("R-MAT scale 16 ef 48, all pairs", lambda: generate.rmat(16, 48, seed=1)),
    ):
        table.append(Row("multi-search", "text", name, edges, "shortest_path_lengths"))
    unpruned = (("prune", None), ("chaos", 1e-3))
    for name in ("yeast-biogrid", "hprd-release9"):
        table.append(Row("cuda-mcl", "4", name, real(name), "mcl", options=unpruned))
    return table


def call(row: Row, graph: Graph) -> None:
    function = getattr(torchcent, row.measure)
    options = dict(row.options)
    if row.measure == "shortest_path_lengths":
        for _ in function(graph, blocks=True, run=torchcent.Run(progress=False)):
            pass
        return
    if row.sources is not None:
        options["sources"] = drawn(graph, row.sources)
    function(graph, run=torchcent.Run(progress=False), **options)


def seconds(row: Row, graph: Graph) -> float:
    begin = time.perf_counter()
    call(row, graph)
    if graph.device.type == "cuda":
        torch.cuda.synchronize(graph.device)
    return time.perf_counter() - begin


def too_long(row: Row, graph: Graph, limit: float) -> bool:
    """Whether a part of the sources says that all of them take longer than the limit."""
    if graph.device.type == "cuda":
        return False
    if row.measure not in ("betweenness", "stress"):
        return row.measure == "mcl"
    few = 256
    part = Row(row.paper, row.table, row.workload, row.edges, row.measure, few)
    return seconds(part, graph) / few * (row.sources or graph.num_nodes) > limit


def measured(row: Row, given: argparse.Namespace) -> dict[str, Any] | None:
    try:
        edges = row.edges()
    except MissingGraph as missing:
        print(f"{row.workload}: {missing}: left out", flush=True)
        return None
    graph = Graph.from_edge_index(edges.to(given.device), directed=False)
    if too_long(row, graph, given.limit):
        print(f"{row.workload}, {row.measure}: too long for the CPU: left out", flush=True)
        return None
    graph = Graph.from_edge_index(edges.to(given.device), directed=False)
    first = seconds(row, graph)
    later = [seconds(row, graph) for _ in range(given.repeat)] if first < given.limit else [first]
    taken = {
        **key(row),
        "nodes": graph.num_nodes,
        "slots": graph.num_slots,
        "isolated": int((graph.degree == 0).sum()),
        "first": first,
        "seconds": statistics.median(later),
        "drawn": "degree > 0",
    }
    if row.sources is not None:  # fewer where not as many vertices have neighbours
        taken["searched"] = min(row.sources, taken["nodes"] - taken["isolated"])
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
    for row in rows():
        wanted = given.workloads is None or row.workload in given.workloads
        taken = measured(row, given) if row.paper in given.papers and wanted else None
        if taken is not None:
            others = [x for x in part["rows"] if not key(row).items() <= x.items()]
            part["rows"] = [*others, {**taken, "conditions": under}]
            given.output.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
