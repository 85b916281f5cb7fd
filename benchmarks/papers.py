"""The results of the five papers, on their graphs or on stand-ins of their size
(docs/contributing/papers.md).

    python benchmarks/papers.py                                    # on the CPU
    python benchmarks/papers.py --device cuda                      # all rows
    python benchmarks/papers.py --papers gpu-fan sriram --limit 600

A row is a public call on a prepared Graph on the device, the median of --repeat after one that is
not counted. `first` is that one, on a new Graph. On the CPU, a row of more than --limit seconds, by
the time of a part of its sources, is left out, as is clustering without pruning. Beside it stands
the paper's time in seconds and its machine. results/papers.json holds both devices.
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
from report import markdown

import torchcent
from torchcent import Graph, generate

RESULTS = Path(__file__).parent / "results" / "papers.json"
MACHINES = {
    "gpu-fan": "Tesla C2050",
    "sriram": "Tesla T10",
    "multi-search": "GTX Titan",
    "cuda-mcl": "GTX 285",
}


@dataclass(frozen=True)
class Row:
    """A figure of a paper and the call that corresponds to it."""

    paper: str
    table: str
    workload: str
    seconds: float | None  # the paper's
    edges: Callable[[], torch.Tensor]
    measure: str  # a function of torchcent
    sources: int | None = None
    options: tuple[tuple[str, Any], ...] = ()


def real(name: str) -> Callable[[], torch.Tensor]:
    """A graph of the benchmarks' table."""
    return lambda: torch.from_numpy(find([name])[0].edges()[0])


def rows() -> list[Row]:
    found = []
    ba = lambda: generate.ba(30_000, 50, seed=1)  # noqa: E731
    for measure, seconds in (
        ("betweenness", 365.5), ("closeness", 92.6), ("eccentricity", 91.4), ("stress", 338.2),
    ):  # fmt: skip
        found.append(Row("gpu-fan", "2", "BA n=30000 b=50", seconds, ba, measure))
    for n in (10_000, 30_000, 50_000):
        for b in (10, 50):
            edges = lambda n=n, b=b: generate.ba(n, b, seed=1)  # noqa: E731
            for measure in ("betweenness", "closeness", "eccentricity", "stress"):
                found.append(Row("gpu-fan", "3ab", f"BA n={n} b={b}", None, edges, measure))
    for measure in ("betweenness", "closeness", "eccentricity", "stress"):
        edges = real("breast-coexpress")
        found.append(Row("gpu-fan", "3d", "breast-coexpress", None, edges, measure))
    for scale, seconds in ((12, 1.74), (14, 7.89), (16, 39.67), (18, 189.16), (19, 402.33)):
        edges = lambda scale=scale: generate.rmat(scale, 8, seed=1)  # noqa: E731
        name = f"R-MAT scale {scale} ef 8"
        found.append(Row("sriram", "1", name, seconds, edges, "betweenness", 4096))
    edges = real("web-NotreDame")
    found.append(Row("sriram", "1", "web-NotreDame", 59.73, edges, "betweenness", 4096))
    for name, seconds, edges in (
        ("ecology1 (grid 1000x1000)", 104.0, lambda: generate.grid(1000, 1000)),
        ("kron_g500-logn19 (R-MAT scale 19 ef 48)", 523.0, lambda: generate.rmat(19, 48, seed=1)),
        ("delaunay_n21", 174.0, lambda: generate.delaunay(1 << 21, seed=1)),
        ("roadNet-CA (road-like 1400x1400)", 145.0, lambda: generate.road(1400, 1400, seed=1)),
    ):
        found.append(Row("multi-search", "III", name, seconds, edges, "betweenness", 8192))
    for name, seconds, edges in (
        ("Delaunay 2^16, all pairs", 41.0, lambda: generate.delaunay(1 << 16, seed=1)),
        ("R-MAT scale 16 ef 48, all pairs", 99.0, lambda: generate.rmat(16, 48, seed=1)),
    ):
        found.append(Row("multi-search", "text", name, seconds, edges, "shortest_path_lengths"))
    for name in ("yeast-biogrid", "hprd-release9"):
        given = (("prune", None), ("chaos", 1e-3))
        found.append(Row("cuda-mcl", "4", name, None, real(name), "mcl", options=given))
    return found


def call(row: Row, graph: Graph) -> None:
    function = getattr(torchcent, row.measure)
    options = dict(row.options)
    if row.measure == "shortest_path_lengths":
        for _ in function(graph, blocks=True, run=torchcent.Run(progress=False)):
            pass
        return
    if row.sources is not None:
        chance = torch.Generator().manual_seed(1)
        drawn = torch.randperm(graph.num_nodes, generator=chance)[: row.sources]
        options["sources"] = drawn.to(graph.device)
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
    part = Row(row.paper, row.table, row.workload, None, row.edges, row.measure, few)
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
    found = {
        "paper": row.paper,
        "table": row.table,
        "workload": row.workload,
        "measure": row.measure,
        "sources": row.sources,
        "nodes": graph.num_nodes,
        "slots": graph.num_slots,
        "first": first,
        "seconds": statistics.median(later),
        "paper_seconds": row.seconds,
        "paper_machine": MACHINES[row.paper],
    }
    beside = "" if row.seconds is None else f"   paper {row.seconds:g} s"
    where = f"{row.paper}, {row.table}: {row.workload}, {row.measure}"
    print(f"{where:<72} {found['seconds']:.4f} s (first {first:.4f}){beside}", flush=True)
    return found


def table(result: dict[str, Any], paper: str) -> str:
    """The rows of a paper: its time, and ours on each device, on a new Graph in brackets."""
    kinds = {"cuda": "H200, s (on a new Graph)", "cpu": "CPU, s (on a new Graph)"}
    measured = [kind for kind in kinds if kind in result]
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for kind in measured:
        for row in result[kind]["rows"]:
            if row["paper"] == paper:
                key = (row["table"], row["workload"], row["measure"], f"{row['sources'] or 'all'}")
                rows.setdefault(key, {})[kind] = row
    head = ["table", "workload", "measure", "sources", f"{MACHINES[paper]}, s"]
    lines = [[*head, *(kinds[kind] for kind in measured)]]
    for (number, workload, measure, sources), of in rows.items():
        theirs = next(iter(of.values()))["paper_seconds"]
        ours = (of.get(kind) for kind in measured)
        lines.append(
            [number, workload, f"`{measure}`", sources, "" if theirs is None else f"{theirs:g}"]
            + ["" if x is None else f"{x['seconds']:.3g} ({x['first']:.3g})" for x in ours]
        )
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--papers", nargs="*", choices=list(MACHINES), default=list(MACHINES))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds (60)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    under = conditions()
    found = [measured(row, given) for row in rows() if row.paper in given.papers]
    kind = torch.device(given.device).type
    known = json.loads(given.output.read_text()) if given.output.exists() else {}
    others = [
        row for row in known.get(kind, {}).get("rows", ()) if row["paper"] not in given.papers
    ]
    made = [row for row in found if row is not None]
    result = {**under, "threads": given.threads, "rows": others + made}
    if kind == "cuda":
        result["device"] = torch.cuda.get_device_name(given.device)
    given.output.write_text(json.dumps(known | {kind: result}, indent=1) + "\n")


if __name__ == "__main__":
    main()
