"""The subcommand ``mcl``: Markov clustering, with mcl's names for equivalent options."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

import torchcent
from torchcent.check import _batch as check_batch
from torchcent.check._run import Run
from torchcent.cli import _common, _graphs, _output
from torchcent.cli import _mcl_program as _program
from torchcent.cli._graphs import TABLES
from torchcent.cli._report import aligned_rows
from torchcent.engines.measures._measures import columns
from torchcent.io import EdgeList, write_scores
from torchcent.io._files import replacing, split_suffix
from torchcent.io._mcl import cluster_lines, matrix_lines
from torchcent.plots._clusterings import plot_clusterings
from torchcent.plots._page import is_page
from torchcent.plots._scores import check_plot_path


def _mcl(args: argparse.Namespace) -> None:
    _program.prepare(args)
    if args.az or args.ax:
        print(_program.output_name(args, suffix_only=args.ax))
        return
    out = _target(args)
    if args.plot is not None:
        check_plot_path(args.plot, page=True)
    _common.prepare(args, group=True)
    options = _options(args)
    edges = _program.load(args)
    edges, options["loops"] = _program.loops(args, edges, options["loops"])
    started = time.perf_counter()
    weight = edges.edge_weight
    device = _common.place(args)
    graph: tuple[Any, Any] = (
        edges.edge_index.to(device), None if weight is None else weight.to(device)
    )  # fmt: skip
    shared = {"num_nodes": edges.num_nodes, "directed": edges.directed, **options}
    if args.sweep is None:
        clusterings = [torchcent.mcl(*graph, inflation=args.inflation, **shared)]
    else:
        swept = torchcent.mcl_sweep(*graph, inflations=args.sweep, **shared)
        clusterings = swept.clusterings
    clusterings = [_program.connected(args, edges, one) for one in clusterings]
    if not _common.leads():
        return
    run = _common.about_run(
        args, started, edges.num_nodes, edges.num_edges, edges.directed,
        edges.edge_weight is not None,
    )  # fmt: skip

    def report() -> dict[str, Any]:
        quality = {} if args.sweep is None else {"quality": swept.table}
        return run | _about(args, edges, clusterings) | quality

    def text() -> str:
        if args.sweep is not None:
            return str(swept)
        if out is not None:
            return aligned_rows(_summary(clusterings[0]))
        return "".join(_text(args, edges, clusterings[0])).removesuffix("\n")

    def draw() -> None:
        where = _common.title(args)
        drawn: tuple[Any, ...] = (edges,) if is_page(args.plot) else graph
        plot_clusterings(clusterings, *drawn, directed=edges.directed, path=args.plot, where=where)

    names = [_with_inflation(args, out, one.inflation) for one in clusterings]
    scores = _scores(args, edges)
    files = {
        name: partial(_write, args, edges, one, scores)
        for name, one in zip(names, clusterings, strict=True)
    }
    _output.finish(args, "clusters", files, report, text, None if args.plot is None else draw)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Keyword arguments of the run."""
    base = torchcent.Prune() if args.scheme is None else torchcent.Prune.scheme(args.scheme)
    if args.resource is not None:
        if args.P is None and args.p is None and args.scheme is None:
            args.P = 10.0 * args.resource
        args.S = args.resource if args.S is None else args.S
        args.R = args.resource if args.R is None else args.R
    numbers = {name: getattr(args, name) for name in ("P", "S", "R", "pct")}
    if args.no_pruning and any(x is not None for x in (*numbers.values(), args.scheme, args.p)):
        raise ValueError("--no-pruning excludes -scheme, -P, -p, -S, -R and -pct")
    own = torchcent.Prune.from_mcl(**numbers)
    parts = {"P": "threshold", "S": "select", "R": "recover", "pct": "mass"}
    prune = replace(
        base,
        **{parts[k]: getattr(own, parts[k]) for k, value in numbers.items() if value is not None},
    )
    if args.p is not None:
        prune = replace(prune, threshold=args.p)
    return {
        "prune": None if args.no_pruning else prune,
        "loops": {None: "max", "own": None}.get(args.loops, args.loops),
        "expansion": args.expansion,
        "overlap": args.overlap,
        "chaos": args.chaos,
        "max_iter": args.max_iter,
        "run": _common.run_of(args),
    }


def _target(args: argparse.Namespace) -> str | None:
    """The file of the clusters, which can be written; None if they are printed."""
    path = _output.target(args, "txt")
    if path is not None:
        if args.out == _output.STANDARD and args.sweep is not None:
            raise ValueError("-o -: not with --sweep, where each inflation has a file of its own")
        _graphs.check_clusters(path)
    holds = path is not None and (split_suffix(path)[0] in TABLES or _graphs.is_graph(path))
    if args.beside_cluster and not holds:
        raise ValueError(
            "--with needs -o with a table or a graph file; accepted: "
            + " ".join((*TABLES, *_graphs.GRAPHS))
        )
    if args.beside_cluster:
        check_batch.measures(args.beside_cluster, columns())
    return path


def _about(
    args: argparse.Namespace, edges: EdgeList, results: list[torchcent.Clustering]
) -> dict[str, Any]:
    """What ``--json`` prints; the clusters themselves unless they have a file."""
    names = edges.vertex_labels()
    several = []
    for one in results:
        several.append({
            "inflation": one.inflation, "clusters": one.num_clusters, "sizes": one.sizes,
            "iterations": one.iterations, "overlapping": one.overlaps.numel(),
        })  # fmt: skip
        if args.out is None:
            several[-1]["members"] = [names[part.cpu().numpy()] for part in one.clusters(False)]
    return {"out": args.out, "plot": args.plot, "clusterings": several}


def _scores(args: argparse.Namespace, edges: EdgeList) -> dict[str, Tensor]:
    """The columns of --with, by hops: weights are similarities here."""
    names = args.beside_cluster
    if not names:
        return {}
    graph = edges.graph().to(_common.place(args))
    run = Run(memory=args.memory, progress=False if args.quiet else None)
    scores = torchcent.node_features(graph, measures=names, run=run)
    return dict(zip(names, scores.unbind(1), strict=True))


def _write(
    args: argparse.Namespace, edges: EdgeList, one: torchcent.Clustering,
    scores: dict[str, Tensor], path: str,
) -> None:  # fmt: skip
    table: dict[str, Any] = {"cluster": one.labels} | scores
    if _graphs.is_graph(path):
        _graphs.write(args, path, edges, table)
    elif split_suffix(path)[0] in TABLES:
        about = {"graph": args.graph, "inflation": one.inflation}
        table = {"label": np.asarray(edges.vertex_labels())} | table
        write_scores(path, table, about, escape_formulas=args.escape_formulas)
    else:
        with replacing(path) as file:
            file.writelines(text.encode() for text in _text(args, edges, one, path))


def _text(
    args: argparse.Namespace, edges: EdgeList, one: torchcent.Clustering, path: str = ""
) -> Iterable[str]:
    """The clusters as mcl writes them: lines of labels, or a native matrix."""
    clusters = _program.arranged(args, edges, one)
    if args.native or split_suffix(path)[0] == ".mci":
        return matrix_lines(clusters, edges.labels, edges.num_nodes, _program.command_line(args))
    return cluster_lines(clusters, edges.labels)


def _with_inflation(args: argparse.Namespace, path: str | None, inflation: float) -> str | None:
    """With --sweep as mcl does: of clusters.txt.gz and 1.4, clusters.I14.txt.gz."""
    if path is None or args.sweep is None:
        return path
    folder, name = os.path.split(path)
    suffix = "".join(split_suffix(name))
    stem = name[: len(name) - len(suffix)] if suffix else name
    digits = f"{inflation:.1f}" if round(inflation, 1) == inflation else f"{inflation:g}"
    return os.path.join(folder, f"{stem}.I{digits.replace('.', '')}{suffix}")


def _summary(one: torchcent.Clustering) -> dict[str, str]:
    size = one.sizes
    alone = int((size == 1).sum())
    rows = {
        "clusters": f"{one.num_clusters:,} of {one.num_nodes:,} vertices, {alone:,} singletons",
        "largest": ", ".join(f"{x:,}" for x in size[:5].tolist()),
        "iterations": f"{one.iterations} ({one.engine})",
    }
    if one.overlaps.numel():
        rows["overlap"] = f"{one.overlaps.numel():,} vertices flow to several clusters"
    return rows


COMMANDS = {"mcl": _mcl}
