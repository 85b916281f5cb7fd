"""Subcommands that find groups of vertices: ``prominent-group`` and ``communities``."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent.check._run import Run
from torchcent.cli import _columns, _common, _graphs, _output
from torchcent.cli._clusters import write
from torchcent.cli._report import aligned, aligned_rows, members, score_rows, score_table
from torchcent.io import write_scores
from torchcent.io._mcl import cluster_lines
from torchcent.io._scores import check_scores_path
from torchcent.plots._clusterings import plot_communities
from torchcent.plots._page import is_page
from torchcent.plots._scores import check_plot_path


def _prominent(args: argparse.Namespace) -> None:
    out = _output.target(args, "csv")
    if out is not None:
        check_scores_path(out)
    _common.prepare(args)
    job = _common.load_graph(args)
    group = torchcent.prominent_group(
        job.graph, args.size, args.epsilon, args.delta, method=args.method,
        endpoints=args.endpoints, max_samples=args.max_samples,
        generator=torch.Generator().manual_seed(args.seed),
        run=_common.run_of(args) | Run(dtype=torch.float64),
    )  # fmt: skip
    run = job.finish()
    at = group.vertices.cpu().numpy()
    columns = {"label": job.edges.vertex_labels()[at]}
    columns |= {name: arcs[at] for name, arcs in _columns.degree(job.graph).items()}
    columns["covered"] = group.scores.cpu().numpy()
    about = {
        "measure": "prominent group", "graph": args.graph, "method": group.method,
        "samples": group.samples,
        "lower": group.lower, "optimum": group.optimum, "reached": group.reached,
        "epsilon": args.epsilon, "delta": args.delta, "seed": args.seed,
    } | ({"endpoints": True} if args.endpoints else {})  # fmt: skip
    _common.remark(args, _in_words(group, args))
    rows = {"lowest": True}  # in the order in which they were chosen
    table = partial(
        write_scores, columns=columns, metadata=about, escape_formulas=args.escape_formulas
    )

    def report() -> dict[str, Any]:
        top = score_rows(columns, args.size, **rows)
        return run | about | {"out": args.out, "top": top}

    text = partial(score_table, columns, args.size, **rows)
    _output.finish(args, "vertices", {out: table}, report, text)


def _in_words(group: torchcent.ProminentGroup, args: argparse.Namespace) -> str:
    best = f"no {args.size} vertices cover more than {group.optimum:.2%} of the paths"
    if group.method == "exact":
        return f"{best} (exact gains)"
    text = f"at least {group.lower:.2%} are covered, {best}, with probability "
    text += f"{1 - args.delta:g} ({group.samples:,} random paths)"
    return text if group.reached else f"{text}; too few for --epsilon {args.epsilon:g}"


def _communities(args: argparse.Namespace) -> None:
    out = _output.target(args, "txt")
    if out is not None:
        _graphs.check_clusters(out)
    if args.plot is not None:
        check_plot_path(args.plot, page=True)
    _common.prepare(args)
    job = _common.load_graph(args)
    method = {}
    if args.approx is not None:
        method = dict(zip(("epsilon", "delta"), args.approx, strict=True)) | {"method": "samples"}
    division = torchcent.communities_by_betweenness(
        job.graph, args.count, per_round=args.per_round, max_rounds=args.max_rounds,
        generator=torch.Generator().manual_seed(args.seed), **method,
        run=_common.run_of(args),
    )  # fmt: skip
    level, levels = division.level, division.counts.numel()
    if args.level is not None:
        if not -levels <= args.level < levels:
            raise ValueError(f"--level {args.level}; accepted: -{levels} to {levels - 1}")
        level = args.level % levels
    parts = members(division.at(level).cpu())
    run, names = job.finish(), job.edges.vertex_labels()
    rows = _rows(division)
    if out is not None and _graphs.is_graph(out):
        column = {"community": _numbers(parts, job.graph.num_nodes)}
        table = partial(_graphs.write, args, edges=job.edges, vertices=column)
    else:
        table = partial(
            write, labels=names, members=parts, column="community",
            escape_formulas=args.escape_formulas,
        )  # fmt: skip

    def report() -> dict[str, Any]:
        about = {name: rows[level][name] for name in ("communities", "modularity")}
        about |= {"level": level, "complete": division.complete}
        about |= {"out": args.out, "plot": args.plot, "levels": rows}
        listed = {"members": [names[part] for part in parts]} if args.out is None else {}
        return run | about | listed

    def text() -> str:
        if args.levels:
            return aligned(_table(rows, level), [True] * 4)
        lines = aligned_rows(_summary(rows, level, parts))
        if out is not None:
            return lines
        _common.remark(args, lines)
        return "".join(cluster_lines(parts, names)).removesuffix("\n")

    def draw() -> None:
        mapped = job.edges.positions is not None or is_page(args.plot)
        where, name = job.edges if mapped else job.graph, _common.title(args)
        plot_communities(division, where, level=level, path=args.plot, where=name)

    _output.finish(
        args, "communities", {out: table}, report, text, None if args.plot is None else draw
    )


def _numbers(members: list[list[int]], n: int) -> Tensor:
    """The number of the community of each vertex."""
    label = torch.empty(n, dtype=torch.int64, device="cpu")
    for number, part in enumerate(members):
        label[part] = number
    return label


def _rows(division: torchcent.Communities) -> list[dict[str, Any]]:
    """The levels of a division."""
    columns = (division.removals.tolist(), division.counts.tolist(), division.modularity.tolist())
    names = ("removed", "communities", "modularity")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _table(rows: list[dict[str, Any]], best: int) -> list[list[str]]:
    cells = [["level", "removed", "communities", "modularity"]]
    for level, row in enumerate(rows):
        mark = "* " if level == best else ""
        numbers = (f"{row['removed']:,}", f"{row['communities']:,}", f"{row['modularity']:.6f}")
        cells.append([f"{mark}{level}", *numbers])
    return cells


def _summary(rows: list[dict[str, Any]], level: int, members: list[list[int]]) -> dict[str, str]:
    sizes = [len(part) for part in members]
    return {
        "communities": f"{len(sizes):,} of {sum(sizes):,} vertices",
        "largest": ", ".join(f"{size:,}" for size in sizes[:5]),
        "modularity": f"{rows[level]['modularity']:.6f}",
        "level": f"{level} of 0 to {len(rows) - 1}, after {rows[level]['removed']:,} edges were "
        "removed",
    }


COMMANDS = {"prominent-group": _prominent, "communities": _communities}
