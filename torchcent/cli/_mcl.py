"""The subcommand ``mcl``: Markov clustering, with mcl's names for equivalent options."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

import torchcent
from torchcent.cli import _common
from torchcent.cli._report import aligned_rows
from torchcent.io import EdgeList, write_clusters, write_scores
from torchcent.io._files import check_folder, split_suffix
from torchcent.io._mcl import cluster_lines, read_tab
from torchcent.io._scores import check_scores_path
from torchcent.plots._clusterings import plot_clusterings
from torchcent.plots._scores import check_plot_path

#: suffixes of tables with a row per vertex; all others are written in mcl's line format
_TABLES = (".csv", ".npz", ".parquet", ".json")

_MORE = """\
Clusters are written as mcl writes them: a cluster a line, its members between tabs, the largest
first. A file OUT that ends in .csv, .json, .npz or .parquet is a table of vertices and the numbers
of their clusters instead. With --sweep each inflation has a file of its own: clusters.I14.txt is
that of inflation 1.4 for -o clusters.txt.
Weights are similarities: the larger, the closer. Without --directed an edge leads both ways, as in
mcl --abc; of copies of an edge the largest weight counts."""


def add_parsers(add: _common.Add) -> None:
    parser = add("mcl", "Markov clustering, as van Dongen's mcl does it", _MORE)
    _common.graph_options(parser, weights=False)
    group = parser.add_argument_group("weights")
    group.add_argument("--abc", action="store_true", help="the file is mcl's label input")
    group.add_argument("--use-tab", metavar="FILE", help="mcl's dictionary of labels for a matrix")
    group.add_argument("--unweighted", action="store_true", help="ignore the weights")

    group = parser.add_argument_group("clustering")
    rate = group.add_mutually_exclusive_group()
    rate.add_argument(
        "-I", "--inflation", type=float, default=2.0, metavar="R",
        help="granularity, typically 1.2 to 5; larger values give smaller clusters (2)",
    )  # fmt: skip
    rate.add_argument(
        "--sweep",
        type=_numbers,
        metavar="R,R,...",
        help="several inflations, with a table of their quality",
    )
    group.add_argument("-e", "--expansion", type=int, default=2, metavar="E", help="(2)")
    loops = group.add_mutually_exclusive_group()
    loops.add_argument(
        "-c", dest="loops", type=float, metavar="C", help="loops are C times the largest weight (1)"
    )
    loops.add_argument(
        "--loops", choices=("max", "one", "own"), help="own: only the loops of the input"
    )
    group.add_argument(
        "--overlap", choices=("cut", "keep", "split"), default="cut",
        help="treatment of vertices in several clusters (cut)",
    )  # fmt: skip
    group.add_argument("--chaos", type=float, default=1e-4, metavar="X", help="stop below (1e-4)")
    group.add_argument("-L", "--max-iter", type=int, default=10000, metavar="N", help="(10000)")

    group = parser.add_argument_group("pruning")
    group.add_argument(
        "-scheme", "--scheme", type=int, metavar="K", help="mcl's resource scheme, 1 to 7 (6)"
    )
    group.add_argument("-P", type=float, metavar="N", help="cut entries below 1/N (10000); 0: none")
    group.add_argument("-S", type=int, metavar="N", help="select N entries (1100); 0: all")
    group.add_argument("-R", type=int, metavar="N", help="recover N entries (1400); 0: none")
    group.add_argument(
        "-pct", "--pct", type=float, metavar="PCT", help="recover columns below PCT percent (90)"
    )
    group.add_argument("--no-pruning", action="store_true", help="keep every entry")

    parser.add_argument("-o", "--out", metavar="OUT", help="file to write (default: print)")
    _common.escape_option(parser)
    parser.add_argument(
        "--plot", metavar="FILE", help="figure of the clusters, or of the sweep: .png .svg .pdf"
    )
    running = _common.run_options(parser, "auto, fused, dense or tensor")
    running.add_argument(
        "-te", "--te", dest="threads", type=int, metavar="T", help="same as --threads"
    )
    parser.set_defaults(call=_mcl)


def _mcl(args: argparse.Namespace) -> None:
    if args.out is not None:
        _check_out(args.out)
    if args.plot is not None:
        check_plot_path(args.plot)
    options = _options(args)
    _common.set_threads(args)
    edges = _load(args)
    started = time.perf_counter()
    graph: tuple[Any, Any] = (edges.edge_index, edges.edge_weight)
    shared = {
        "num_nodes": edges.num_nodes, "directed": edges.directed, "group": _common.world(),
        **options,
    }  # fmt: skip
    if args.sweep is None:
        found = [torchcent.mcl(*graph, inflation=args.inflation, **shared)]
    else:
        swept = torchcent.mcl_sweep(*graph, inflations=args.sweep, **shared)
        found = swept.clusterings
    if not _common.leads():
        return
    seconds = time.perf_counter() - started
    kind = "directed" if edges.directed else "undirected"
    kind += ", weighted" if edges.edge_weight is not None else ""
    _common.remark(
        args, f"{edges.num_nodes:,} vertices, {edges.num_edges:,} edges, {kind}; {seconds:.2f} s"
    )
    _write(args, edges, found)
    if args.sweep is not None:
        print(swept)
    elif args.out is not None:
        print(aligned_rows(_summary(found[0])))
    if args.plot is not None:
        where = os.path.basename(args.graph).removeprefix("networkx:")
        plot_clusterings(found, *graph, directed=edges.directed, path=args.plot, where=where)
        _common.remark(args, f"figure in {args.plot}")


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list such as 1.4,2,4,6") from None


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Keyword arguments of the run."""
    base = torchcent.Prune() if args.scheme is None else torchcent.Prune.scheme(args.scheme)
    given = {name: getattr(args, name) for name in ("P", "S", "R", "pct")}
    if args.no_pruning and any(x is not None for x in (*given.values(), args.scheme)):
        raise ValueError("--no-pruning excludes -scheme, -P, -S, -R and -pct")
    own = torchcent.Prune.from_mcl(**given)
    parts = {"P": "threshold", "S": "select", "R": "recover", "pct": "mass"}
    prune = replace(
        base,
        **{parts[k]: getattr(own, parts[k]) for k, value in given.items() if value is not None},
    )
    return {
        "prune": None if args.no_pruning else prune,
        "loops": {None: "max", "own": None}.get(args.loops, args.loops),
        "expansion": args.expansion,
        "overlap": args.overlap,
        "chaos": args.chaos,
        "max_iter": args.max_iter,
        **_common.run_arguments(args),
    }


def _load(args: argparse.Namespace) -> EdgeList:
    if args.abc:
        if args.format is not None:
            raise ValueError("--abc and --format exclude each other")
        args.format = "abc"
    edges = _common.read_graph(args)
    if args.unweighted:
        edges = replace(edges, edge_weight=None)
    if args.use_tab is None:
        return edges
    known = read_tab(args.use_tab)
    ids = edges.vertex_labels().tolist()
    return replace(edges, labels=[known.get(v, str(v)) for v in ids])


def _check_out(path: str) -> None:
    if split_suffix(path)[0] in _TABLES:
        check_scores_path(path)
    else:
        check_folder(path)


def _write(args: argparse.Namespace, edges: EdgeList, found: list[torchcent.Clustering]) -> None:
    if args.out is None:
        if args.sweep is None:
            sys.stdout.writelines(cluster_lines(found[0].clusters(), edges.labels))
        return
    for one in found:
        path = args.out if args.sweep is None else _with_inflation(args.out, one.inflation)
        if split_suffix(path)[0] in _TABLES:
            label = np.asarray(edges.vertex_labels())
            about = {"graph": args.graph, "inflation": one.inflation}
            columns: dict[str, Any] = {"label": label, "cluster": one.labels}
            write_scores(path, columns, about, escape_formulas=args.escape_formulas)
        else:
            write_clusters(path, one.clusters(), edges.labels)
        _common.remark(args, f"clusters in {path}")


def _with_inflation(path: str, inflation: float) -> str:
    """Inserts the inflation as mcl does: clusters.txt.gz and 1.4 give clusters.I14.txt.gz."""
    folder, name = os.path.split(path)
    suffix = "".join(split_suffix(name))
    stem = name[: len(name) - len(suffix)] if suffix else name
    digits = f"{inflation:.1f}" if round(inflation, 1) == inflation else f"{inflation:g}"
    return os.path.join(folder, f"{stem}.I{digits.replace('.', '')}{suffix}")


def _summary(found: torchcent.Clustering) -> dict[str, str]:
    size = found.sizes
    alone = int((size == 1).sum())
    rows = {
        "clusters": f"{found.num_clusters:,} of {found.num_nodes:,} vertices, {alone:,} singletons",
        "largest": ", ".join(f"{x:,}" for x in size[:5].tolist()),
        "iterations": f"{found.iterations} ({found.engine})",
    }
    if found.overlaps.numel():
        rows["overlap"] = f"{found.overlaps.numel():,} vertices flow to several clusters"
    return rows
