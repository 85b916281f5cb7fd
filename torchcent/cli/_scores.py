"""Subcommands of measures: scores as a table, a file, a figure, JSON."""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent.check import _common as check
from torchcent.check._run import Run
from torchcent.cli import _arguments, _columns, _common, _graphs, _output
from torchcent.cli._report import members, part_rows, part_table, score_rows, score_table
from torchcent.engines.measures._measures import Measure
from torchcent.io import EdgeList, write_clusters, write_scores
from torchcent.io._files import split_suffix
from torchcent.io._scores import GEO_SUFFIXES, check_scores_path
from torchcent.io._streets import write_street_table
from torchcent.plots._network import plot_network
from torchcent.plots._page import is_page
from torchcent.plots._scores import check_plot_path, plot_scores


def score(args: argparse.Namespace, measure: Measure) -> None:
    # fail fast: check everything possible before the computation
    out, plot = _output.target(args, "csv"), getattr(args, "plot", None)
    if out is not None:
        _check_out(measure, out)
    if plot is not None:
        check_plot_path(plot, page=True)
        if _columns.are_several(measure, _arguments.own_options(measure, args)):
            raise ValueError("--plot: not for several columns of scores")
    if args.top < 0:
        raise ValueError(f"--top {args.top}; accepted: 0 or more")
    check.at_most_one(**{x: getattr(args, x, None) for x in ("time_limit", "checkpoint")})
    groups = _arguments.listed_groups(args) if measure.of == "groups" else []
    _common.prepare(args, devices="devices" in measure.uses, group="group" in measure.uses)
    weights = "distances" if measure.weights in ("lengths", "") else measure.weights
    job = _common.load_graph(args, weights)
    edges, graph = job.edges, job.graph
    _check_positions(args, measure, out, edges)
    values = _arguments.arguments(measure, args, edges, graph, groups)
    turned = graph.reversed() if getattr(args, "reversed", False) and graph.directed else graph
    how = _common.run_of(args)
    if "dtype" in measure.uses:
        how |= Run(dtype=getattr(torch, args.dtype))
    result = measure.function(turned, **values, run=how)
    if not _common.leads():
        return
    run = job.finish()
    estimate = None
    if isinstance(result, torchcent.Approximation):
        _common.remark(args, f"{result.in_words} ({result.reason})")
        estimate = None if result.method == "exact" else result
    scores = _columns.score_columns(measure, result, values)
    names = [members for _, members in groups]
    columns = _columns.table(measure, edges, graph, names, scores)
    about = _about(args, measure, graph, estimate, weights)
    style = {"share": measure.share, "lowest": measure.lowest}

    def write(path: str) -> None:
        if measure.parts_of and _graphs.holds_lines(path):
            write_clusters(path, members(result.cpu()), edges.vertex_labels())
            return
        named = {name.replace(" ", "_"): column.cpu() for name, column in scores.items()}
        if _graphs.is_graph(path):
            of_edges = measure.of == "edges"
            _graphs.write(args, path, edges, *(({}, named) if of_edges else (named,)))
            return
        if measure.of == "edges" and edges.streets and split_suffix(path)[0] in GEO_SUFFIXES:
            write_street_table(path, _columns.of_streets(measure, edges, graph, named))
            return
        write_scores(
            path, {name.replace(" ", "_"): column for name, column in columns.items()}, about,
            escape_formulas=args.escape_formulas, geometry=_columns.geometry(measure, edges, graph),
            crs=edges.crs,
        )  # fmt: skip

    def report() -> dict[str, Any]:
        files = {"out": args.out, "plot": plot}
        if measure.parts_of:
            sizes, rows = part_rows(result, args.top)
            return run | about | files | {measure.parts_of: len(sizes), "top": rows}
        listed = columns
        if groups:  # programs read lists of names
            listed = {"members": names} | {x: each for x, each in columns.items() if x != "group"}
        top = score_rows(listed, args.top, **style)
        return run | about | files | {"top": top}

    def text() -> str:
        if not args.top:
            return ""
        if measure.parts_of:
            name = _columns.name_of(measure)
            return part_table(
                result, args.top, name if measure.parts_of in name else measure.parts_of
            )
        return score_table(columns, args.top, **style)

    _output.finish(
        args, "scores", {out: write}, report,
        text,
        None if plot is None else lambda: _plot(args, measure, job, scores, estimate),
    )  # fmt: skip


def _check_out(measure: Measure, out: str, crs: str | None = None) -> None:
    """Raises an error if the scores cannot be written there."""
    if measure.of == "groups":
        check_scores_path(out, crs)
    elif measure.parts_of and _graphs.holds_lines(out):
        _graphs.check_clusters(out)
    else:
        _graphs.check_scores(out, crs)


def _check_positions(
    args: argparse.Namespace, measure: Measure, out: str | None, edges: EdgeList
) -> None:
    """Checks, before the computation, what needs positions."""
    lacks = f"{args.graph} has no coordinates; --coordinates FILE gives them"
    if edges.positions is None and "places" in measure.needs.values():
        raise ValueError(lacks)
    if out is not None:
        if edges.positions is None and split_suffix(out)[0] in GEO_SUFFIXES:
            raise ValueError(f"{out}: {lacks}")
        _check_out(measure, out, edges.crs)
    of_edges = measure.of == "edges" and edges.positions is None
    if of_edges and args.plot is not None and not is_page(args.plot):
        raise ValueError(f"--plot of edges draws a map, but {lacks}")


def _about(
    args: argparse.Namespace, measure: Measure, graph: torchcent.Graph,
    estimate: torchcent.Approximation | None, weights: str,
) -> dict[str, Any]:  # fmt: skip
    """What files and JSON say of the scores."""
    about = {"measure": _columns.name_of(measure), "graph": args.graph, "directed": graph.directed}
    about |= _arguments.about(measure, args)
    if estimate is not None:
        values = {x: getattr(estimate, x) for x in ("epsilon", "delta", "method", "samples")}
        # NaN where there is no guarantee
        about |= {name: None if x != x else x for name, x in values.items()} | {"seed": args.seed}
    if graph.is_weighted:
        about |= {"weights": args.similarity or weights}
        usual = {"ties": "decimal", "tie_tolerance": 0}
        about |= {x: getattr(args, x) for x in usual if getattr(args, x, usual[x]) != usual[x]}
    return about


def _plot(
    args: argparse.Namespace, measure: Measure, job: _common.Job, scores: dict[str, Tensor],
    estimate: torchcent.Approximation | None,
) -> None:  # fmt: skip
    """Writes the figure: a map where there are positions."""
    edges, graph, by_edge = job.edges, job.graph, measure.of == "edges"
    name, values = [*scores.items()][-1]
    title = f"{name.capitalize()} in {_common.title(args)}"
    if _arguments.is_random(args):
        title += f", estimated from {args.sources:,} pivots"
    if estimate is not None:
        title += f", {estimate.in_words}"
    if measure.parts_of:
        count = int(values.max()) + 1 if len(values) else 0
        title = f"{_common.title(args)}: {count:,} {measure.parts_of}"
        drawn = edges.positions is not None or is_page(args.plot)
        where = edges if drawn else graph
        plot_network(where, communities=values, path=args.plot, title=title)
    elif edges.positions is not None or is_page(args.plot):
        if by_edge:
            edges, values = _columns.drawn(measure, edges, graph, values)
        plot_network(
            edges, None, values, edges=by_edge, measure=name, path=args.plot, title=title,
            lowest=measure.lowest,
        )  # fmt: skip
    else:
        plot_scores(
            graph, values, edges.labels, measure=name, path=args.plot, title=title,
            interval=None if estimate is None else (estimate.lower, estimate.upper),
            share=measure.share, lowest=measure.lowest,
        )  # fmt: skip
