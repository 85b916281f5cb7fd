"""Subcommands about groups of vertices: ``group-betweenness`` and its siblings."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

import torchcent
from torchcent.check._run import Run
from torchcent.cli import _common, _names, _output
from torchcent.cli._report import score_rows, score_table
from torchcent.io import EdgeList, read_clusters, write_scores
from torchcent.io._scores import check_scores_path

#: a graph, its groups and the arguments; the score of each group
Measure = Callable[[torchcent.Graph, list[Tensor], argparse.Namespace], Tensor]


def _betweenness(graph: torchcent.Graph, groups: list[Tensor], args: argparse.Namespace) -> Tensor:
    return torchcent.group_betweenness(
        graph, groups, normalized=args.normalized, endpoints=args.endpoints,
        run=_common.run_of(args) | Run(dtype=torch.float64),
    )  # fmt: skip


def _closeness(graph: torchcent.Graph, groups: list[Tensor], args: argparse.Namespace) -> Tensor:
    turned = graph.reversed() if args.outgoing and graph.directed else graph
    return torchcent.group_closeness(
        turned, groups, run=Run(memory=args.memory, dtype=torch.float64)
    )


def _degree(graph: torchcent.Graph, groups: list[Tensor], args: argparse.Namespace) -> Tensor:
    return torchcent.group_degree(
        graph,
        groups,
        direction="in" if args.incoming else "out",
        normalized=args.normalized,
        run=Run(memory=args.memory, dtype=torch.float64),
    )


#: the name of each score, and what computes it
_MEASURES: dict[str, tuple[str, Measure]] = {
    "group-betweenness": ("betweenness", _betweenness),
    "group-closeness": ("closeness", _closeness),
    "group-degree": ("degree", _degree),
}
#: options that are recorded with the scores
_VARIANTS = ("endpoints", "outgoing", "incoming")


def _score(args: argparse.Namespace) -> None:
    out, (name, measure) = _checked(args), _MEASURES[args.command]
    _common.check_top(args)
    listed = _listed(args)
    _common.prepare(args)
    edges, graph, started = _common.load_graph(args)
    groups = _numbered(args, edges, listed)
    scores = measure(graph, groups, args).cpu().numpy()
    _common.remark_run(args, graph, started)
    size = np.array([each.numel() for each in groups])
    columns = {"group": [_names.joined(names) for _, names in listed], "size": size, name: scores}
    about: dict[str, Any] = {"measure": f"group {name}"}
    about |= {way: True for way in _VARIANTS if getattr(args, way, False)}
    run = _common.about_run(args, graph, started)
    _deliver(args, out, columns, about, "scores")
    if args.json:
        members = {"members": [names for _, names in listed], "size": size, name: scores}
        _output.show_json(run | about | {"out": args.out} | {"top": score_rows(members, args.top)})
    elif args.top and args.out != _output.STANDARD:
        print(score_table(columns, args.top))


def _listed(args: argparse.Namespace) -> list[tuple[str, list[str]]]:
    """The names in each group, and where it was given, for messages."""
    found = [(f"--group {text}", _names.listed(text)) for text in args.group]
    if args.groups is not None:
        lines = read_clusters(args.groups)
        found += [(f"{args.groups}, group {at}", names) for at, names in enumerate(lines, 1)]
    if not found:
        raise ValueError("--group NAME,... or --groups FILE is required")
    for where, names in found:
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"{where}: {twice!r} stands there twice")
    return found


def _numbered(
    args: argparse.Namespace, edges: EdgeList, listed: list[tuple[str, list[str]]]
) -> list[Tensor]:
    number = _common.numbers_of(edges.vertex_labels())
    for where, names in listed:
        wrong = next((name for name in names if name not in number), None)
        if wrong is not None:
            raise ValueError(f"{where}: {wrong!r} is no vertex of {args.graph}")
    return [torch.tensor([number[name] for name in names]) for _, names in listed]


def _prominent(args: argparse.Namespace) -> None:
    out = _checked(args)
    _common.prepare(args)
    edges, graph, started = _common.load_graph(args)
    found = torchcent.prominent_group(
        graph,
        args.size,
        args.epsilon,
        args.delta,
        method=args.method,
        endpoints=args.endpoints,
        max_samples=args.max_samples,
        generator=torch.Generator().manual_seed(args.seed),
        run=_common.run_of(args) | Run(dtype=torch.float64),
    )
    _common.remark_run(args, graph, started)
    at = found.vertices.cpu().numpy()
    columns = {
        "label": edges.vertex_labels()[at], "degree": graph.degree.cpu().numpy()[at],
        "covered": found.scores.cpu().numpy(),
    }  # fmt: skip
    about = {
        "measure": "prominent group", "method": found.method, "samples": found.samples,
        "lower": found.lower, "optimum": found.optimum, "reached": found.reached,
        "epsilon": args.epsilon, "delta": args.delta, "seed": args.seed,
    } | ({"endpoints": True} if args.endpoints else {})  # fmt: skip
    _common.remark(args, _in_words(found, args))
    run = _common.about_run(args, graph, started)
    _deliver(args, out, columns, about, "vertices")
    rows = {"lowest": True}  # in the order in which they were chosen
    if args.json:
        _output.show_json(
            run | about | {"out": args.out} | {"top": score_rows(columns, args.size, **rows)}
        )
    elif args.out != _output.STANDARD:
        print(score_table(columns, args.size, **rows))


def _in_words(found: torchcent.ProminentGroup, args: argparse.Namespace) -> str:
    best = f"no {args.size} vertices cover more than {found.optimum:.2%} of the paths"
    if found.method == "exact":
        return f"{best} (exact gains)"
    text = f"at least {found.lower:.2%} are covered, {best}, with probability "
    text += f"{1 - args.delta:g} ({found.samples:,} random paths)"
    return text if found.reached else f"{text}; too few for --epsilon {args.epsilon:g}"


def _checked(args: argparse.Namespace) -> str | None:
    out = _output.target(args, "csv")
    if out is not None:
        check_scores_path(out)
    return out


def _deliver(
    args: argparse.Namespace, out: str | None, columns: dict[str, Any], about: dict[str, Any],
    what: str,
) -> None:  # fmt: skip
    if out is None:
        return
    about = about | {"graph": args.graph}

    def write(path: str) -> None:
        write_scores(path, columns, about, escape_formulas=args.escape_formulas)

    _output.deliver(args, what, out, write)


COMMANDS = {**dict.fromkeys(_MEASURES, _score), "prominent-group": _prominent}
