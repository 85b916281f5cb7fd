"""Subcommands that find groups of vertices: ``prominent-group`` and ``communities``."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent.check._run import Run
from torchcent.cli import _common, _output
from torchcent.cli._clusters import check_path, write
from torchcent.cli._report import aligned, aligned_rows, score_rows, score_table
from torchcent.io import write_scores
from torchcent.io._mcl import cluster_lines
from torchcent.io._scores import check_scores_path


def _prominent(args: argparse.Namespace) -> None:
    out = _output.target(args, "csv")
    if out is not None:
        check_scores_path(out)
    _common.prepare(args)
    edges, graph, started = _common.load_graph(args)
    group = torchcent.prominent_group(
        graph, args.size, args.epsilon, args.delta, method=args.method, endpoints=args.endpoints,
        max_samples=args.max_samples, generator=torch.Generator().manual_seed(args.seed),
        run=_common.run_of(args) | Run(dtype=torch.float64),
    )  # fmt: skip
    _common.remark_run(args, graph, started)
    at = group.vertices.cpu().numpy()
    columns = {
        "label": edges.vertex_labels()[at], "degree": graph.degree.cpu().numpy()[at],
        "covered": group.scores.cpu().numpy(),
    }  # fmt: skip
    about = {
        "measure": "prominent group", "graph": args.graph, "method": group.method,
        "samples": group.samples,
        "lower": group.lower, "optimum": group.optimum, "reached": group.reached,
        "epsilon": args.epsilon, "delta": args.delta, "seed": args.seed,
    } | ({"endpoints": True} if args.endpoints else {})  # fmt: skip
    _common.remark(args, _in_words(group, args))
    run = _common.about_run(args, graph, started)
    if out is not None:
        table = partial(
            write_scores, columns=columns, metadata=about, escape_formulas=args.escape_formulas
        )
        _output.deliver(args, "vertices", out, table)
    rows = {"lowest": True}  # in the order in which they were chosen
    if args.json:
        _output.show_json(
            run | about | {"out": args.out} | {"top": score_rows(columns, args.size, **rows)}
        )
    elif args.out != _output.STANDARD:
        print(score_table(columns, args.size, **rows))


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
        check_path(out)
    _common.prepare(args)
    edges, graph, started = _common.load_graph(args)
    division = torchcent.communities_by_betweenness(
        graph, args.count, per_round=args.per_round, max_rounds=args.max_rounds,
        generator=torch.Generator().manual_seed(args.seed), **_method(args),
        run=_common.run_of(args),
    )  # fmt: skip
    level, levels = division.level, division.counts.numel()
    if args.level is not None:
        if not -levels <= args.level < levels:
            raise ValueError(f"--level {args.level}; accepted: -{levels} to {levels - 1}")
        level = args.level % levels
    members = _members(division.at(level).cpu())
    _common.remark_run(args, graph, started)
    run = _common.about_run(args, graph, started)
    names = edges.vertex_labels()
    if out is not None:
        lines = partial(
            write, labels=names, members=members, column="community",
            escape_formulas=args.escape_formulas,
        )  # fmt: skip
        _output.deliver(args, "communities", out, lines)
    if args.json:
        about = run | _about(division, level)
        about |= {"out": args.out, "levels": _rows(division)}
        if args.out is None:
            about["members"] = [names[part] for part in members]
        _output.show_json(about)
    elif args.levels and args.out != _output.STANDARD:
        print(aligned(_table(division, level), [True] * 4))
    elif out is None:
        _common.remark(args, aligned_rows(_summary(division, level, members)))
        sys.stdout.writelines(cluster_lines(members, names))
    elif args.out != _output.STANDARD:
        print(aligned_rows(_summary(division, level, members)))


def _method(args: argparse.Namespace) -> dict[str, Any]:
    if args.approx is None:
        return {}
    epsilon, delta = args.approx
    return {"method": "samples", "epsilon": epsilon, "delta": delta}


def _members(label: Tensor) -> list[list[int]]:
    """The vertices of each community, the largest first; of equal ones that of the first vertex."""
    order, size = torch.argsort(label, stable=True), torch.bincount(label)
    parts = [part.tolist() for part in order.split(size.tolist())]
    return sorted(parts, key=len, reverse=True)


def _about(division: torchcent.Communities, level: int) -> dict[str, Any]:
    return {
        "communities": int(division.counts[level]), "modularity": float(division.modularity[level]),
        "level": level, "complete": division.complete,
    }  # fmt: skip


def _rows(division: torchcent.Communities) -> list[dict[str, Any]]:
    columns = (division.removals.tolist(), division.counts.tolist(), division.modularity.tolist())
    names = ("removed", "communities", "modularity")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _table(division: torchcent.Communities, best: int) -> list[list[str]]:
    cells = [["level", "removed", "communities", "modularity"]]
    for level, row in enumerate(_rows(division)):
        mark = "* " if level == best else ""
        numbers = (f"{row['removed']:,}", f"{row['communities']:,}", f"{row['modularity']:.6f}")
        cells.append([f"{mark}{level}", *numbers])
    return cells


def _summary(
    division: torchcent.Communities, level: int, members: list[list[int]]
) -> dict[str, str]:
    levels, sizes = division.counts.numel(), [len(part) for part in members]
    removed = int(division.removals[level])
    return {
        "communities": f"{len(sizes):,} of {division.labels.numel():,} vertices",
        "largest": ", ".join(f"{size:,}" for size in sizes[:5]),
        "modularity": f"{float(division.modularity[level]):.6f}",
        "level": f"{level} of 0 to {levels - 1}, after {removed:,} edges were removed",
    }


COMMANDS = {"prominent-group": _prominent, "communities": _communities}
