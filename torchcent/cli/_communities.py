"""The subcommand ``communities``: division of a graph by edge betweenness."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent.cli import _common, _output
from torchcent.cli._clusters import check_path, write
from torchcent.cli._report import aligned, aligned_rows
from torchcent.io._mcl import cluster_lines


def _communities(args: argparse.Namespace) -> None:
    out = _output.target(args, "txt")
    if out is not None:
        check_path(out)
    _common.prepare(args)
    edges, graph, started = _common.load_graph(args)
    found = torchcent.communities_by_betweenness(
        graph, args.count, per_round=args.per_round, max_rounds=args.max_rounds,
        generator=torch.Generator().manual_seed(args.seed), **_method(args),
        run=_common.run_of(args),
    )  # fmt: skip
    level, levels = found.level, found.counts.numel()
    if args.level is not None:
        if not -levels <= args.level < levels:
            raise ValueError(f"--level {args.level}; accepted: -{levels} to {levels - 1}")
        level = args.level % levels
    members = _members(found.at(level).cpu())
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
        about = run | _about(found, level)
        about |= {"out": args.out, "levels": _rows(found)}
        if args.out is None:
            about["members"] = [names[part] for part in members]
        _output.show_json(about)
    elif args.levels and args.out != _output.STANDARD:
        print(aligned(_table(found, level), [True] * 4))
    elif out is None:
        _common.remark(args, aligned_rows(_summary(found, level, members)))
        sys.stdout.writelines(cluster_lines(members, names))
    elif args.out != _output.STANDARD:
        print(aligned_rows(_summary(found, level, members)))


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


def _about(found: torchcent.Communities, level: int) -> dict[str, Any]:
    return {
        "communities": int(found.counts[level]), "modularity": float(found.modularity[level]),
        "level": level, "complete": found.complete,
    }  # fmt: skip


def _rows(found: torchcent.Communities) -> list[dict[str, Any]]:
    columns = (found.removals.tolist(), found.counts.tolist(), found.modularity.tolist())
    names = ("removed", "communities", "modularity")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _table(found: torchcent.Communities, chosen: int) -> list[list[str]]:
    cells = [["level", "removed", "communities", "modularity"]]
    for level, row in enumerate(_rows(found)):
        mark = "* " if level == chosen else ""
        numbers = (f"{row['removed']:,}", f"{row['communities']:,}", f"{row['modularity']:.6f}")
        cells.append([f"{mark}{level}", *numbers])
    return cells


def _summary(found: torchcent.Communities, level: int, members: list[list[int]]) -> dict[str, str]:
    levels, sizes = found.counts.numel(), [len(part) for part in members]
    removed = int(found.removals[level])
    return {
        "communities": f"{len(sizes):,} of {found.labels.numel():,} vertices",
        "largest": ", ".join(f"{size:,}" for size in sizes[:5]),
        "modularity": f"{float(found.modularity[level]):.6f}",
        "level": f"{level} of 0 to {levels - 1}, after {removed:,} edges were removed",
    }


COMMANDS = {"communities": _communities}
