"""Subcommands of measures: scores as a table, a file, a figure, JSON."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent.check._run import Run
from torchcent.cli import _arguments, _columns, _common, _output
from torchcent.cli._report import score_rows, score_table
from torchcent.engines._measures import MEASURES, Measure
from torchcent.io import EdgeList, write_scores
from torchcent.io._files import split_suffix
from torchcent.io._scores import GEO_SUFFIXES, check_scores_path
from torchcent.plots._network import plot_network
from torchcent.plots._scores import check_plot_path, plot_scores


@dataclass(frozen=True)
class _Scored:
    """A measure of a graph, with the names of the groups if it is one of groups."""

    measure: Measure
    edges: EdgeList
    graph: torchcent.Graph
    result: Any
    scores: dict[str, Tensor]
    groups: list[list[str]]

    @property
    def estimate(self) -> torchcent.Approximation | None:
        """The result if it has intervals."""
        has_ends = isinstance(self.result, torchcent.Approximation)
        return self.result if has_ends and self.result.method != "exact" else None

    @property
    def columns(self) -> dict[str, Any]:
        if self.measure.of == "groups":
            return _columns.of_groups(self.groups, self.scores)
        of = _columns.of_edges if self.measure.of == "edges" else _columns.of_vertices
        return of(self.edges, self.graph, self.scores)


def score(args: argparse.Namespace) -> None:
    # fail fast: check everything possible before the computation
    measure = MEASURES[args.command.replace("-", "_")]
    out = _output.target(args, "csv")
    if out is not None:
        check_scores_path(out)
    plot = getattr(args, "plot", None)
    if plot is not None:
        check_plot_path(plot)
        if _columns.are_several(measure, _arguments.own_options(measure, args)):
            raise ValueError("--plot: not for several columns of scores")
    _common.check_top(args)
    groups = _arguments.listed_groups(args) if measure.of == "groups" else []
    _common.prepare(args, devices="devices" in measure.uses, group="group" in measure.uses)
    weights = "distances" if measure.weights in ("lengths", "") else measure.weights
    edges, graph, started = _common.load_graph(args, weights)
    _check_positions(args, measure, out, edges)
    values = _arguments.arguments(measure, args, edges, graph, groups)
    turned = graph.reversed() if getattr(args, "reversed", False) and graph.directed else graph
    how = _common.run_of(args)
    if "dtype" in measure.uses:
        how |= Run(dtype=getattr(torch, args.dtype))
    result = measure.function(turned, **values, run=how)
    if not _common.leads():
        return
    _common.remark_run(args, graph, started)
    run = _common.about_run(args, graph, started)
    if isinstance(result, torchcent.Approximation):
        _common.remark(args, f"{result.in_words} ({result.reason})")
    scores = _columns.score_columns(measure, result, values)
    scored = _Scored(measure, edges, graph, result, scores, [names for _, names in groups])
    _deliver(args, scored, out, run, _about(args, scored, weights))


def _check_positions(
    args: argparse.Namespace, measure: Measure, out: str | None, edges: EdgeList
) -> None:
    """Checks, before the computation, the outputs that need positions."""
    lacks = f"{args.graph} has no coordinates; --coordinates FILE gives them"
    if out is not None:
        if edges.positions is None and split_suffix(out)[0] in GEO_SUFFIXES:
            raise ValueError(f"{out}: {lacks}")
        check_scores_path(out, edges.crs)
    if measure.of == "edges" and args.plot is not None and edges.positions is None:
        raise ValueError(f"--plot of edges draws a map, but {lacks}")


def _about(args: argparse.Namespace, scored: _Scored, weights: str) -> dict[str, Any]:
    """What files and JSON say of the scores."""
    measure, graph = scored.measure, scored.graph
    about = {"measure": _columns.name_of(measure), "graph": args.graph, "directed": graph.directed}
    about |= _arguments.about(measure, args)
    if scored.estimate is not None:
        reached = {
            name: getattr(scored.estimate, name)
            for name in ("epsilon", "delta", "method", "samples")
        }
        # NaN where there is no guarantee
        about |= {name: None if x != x else x for name, x in reached.items()} | {"seed": args.seed}
    if graph.is_weighted:
        about |= {"weights": args.similarity or weights}
        if getattr(args, "ties", "decimal") != "decimal":
            about |= {"ties": args.ties}
        if getattr(args, "tie_tolerance", 0):
            about |= {"tie_tolerance": args.tie_tolerance}
    return about


def _deliver(
    args: argparse.Namespace, scored: _Scored, out: str | None, run: dict[str, Any],
    about: dict[str, Any],
) -> None:  # fmt: skip
    """Writes the file and the figure, and then prints."""
    measure, columns = scored.measure, scored.columns
    style = {"share": measure.share, "lowest": measure.lowest}
    plot = getattr(args, "plot", None)

    def write(path: str) -> None:
        of_groups = measure.of == "groups"
        place = _columns.geometry(scored.edges, scored.graph, measure.of == "edges")
        write_scores(
            path, {name.replace(" ", "_"): column for name, column in columns.items()}, about,
            escape_formulas=args.escape_formulas, geometry=None if of_groups else place,
            crs=scored.edges.crs,
        )  # fmt: skip

    if out is not None and args.out != _output.STANDARD:
        _output.deliver(args, "scores", out, write)
    if plot is not None:
        _plot(args, scored)
        _common.remark(args, f"figure in {plot}")
    if out is not None and args.out == _output.STANDARD:
        _output.deliver(args, "scores", out, write)
    if args.json:
        members = {"group": "members"} if measure.of == "groups" else {}
        listed = {members.get(name, name): column for name, column in columns.items()}
        if members:
            listed["members"] = scored.groups
        top = score_rows(listed, args.top, **style)
        _output.show_json(run | about | {"out": args.out, "plot": plot, "top": top})
    elif args.top and args.out != _output.STANDARD:
        print(score_table(columns, args.top, **style))


def _plot(args: argparse.Namespace, scored: _Scored) -> None:
    """Writes the figure: a map where there are positions."""
    measure, edges, graph, estimate = scored.measure, scored.edges, scored.graph, scored.estimate
    by_edge, (name, scores) = measure.of == "edges", [*scored.scores.items()][-1]
    title = f"{name.capitalize()} in {_common.title(args)}"
    if _arguments.is_random(args):
        title += f", estimated from {args.sources:,} pivots"
    if estimate is not None:
        title += f", {estimate.in_words}"
    if edges.positions is not None:
        has_names = edges.labels is not None and edges.labels.dtype == object
        rows = _columns.edge_rows(edges, graph) if by_edge else slice(None)
        plot_network(
            edges.edge_index[:, rows] if by_edge else graph.to_edge_index(), edges.positions,
            scores[rows], edges.labels if has_names else None, edges=by_edge, measure=name,
            path=args.plot, title=title, lowest=measure.lowest, crs=edges.crs,
        )  # fmt: skip
    else:
        plot_scores(
            graph, scores, edges.labels, measure=name, path=args.plot, title=title,
            interval=None if estimate is None else (estimate.lower, estimate.upper),
            share=measure.share, lowest=measure.lowest,
        )  # fmt: skip
