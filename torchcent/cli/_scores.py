"""Subcommands that score vertices or edges: table, file, figure."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent.check import _common as check
from torchcent.check._run import Run
from torchcent.cli import _common, _output
from torchcent.cli._names import read_states
from torchcent.cli._report import (
    edge_columns,
    edge_rows,
    geometry,
    score_rows,
    score_table,
    vertex_columns,
)
from torchcent.io import EdgeList, write_scores
from torchcent.io._files import split_suffix
from torchcent.io._scores import GEO_SUFFIXES, check_scores_path
from torchcent.plots._network import plot_network
from torchcent.plots._scores import check_plot_path, plot_scores


@dataclass(frozen=True)
class Measure:
    """What a subcommand that scores a graph computes.

    Attributes:
        run: ``(graph, arguments) -> (title of the scores, scores)``; scores are ``[n]``, or one per
            input column if ``arguments.edges``; with several cutoffs there is a column for each.
        share: whether to show each score's share of the sum.
        lowest: whether the lowest scores are the most central, and are listed first.
        weights: what weights are, as the metadata of a file of scores names them.
    """

    run: Callable[[torchcent.Graph, argparse.Namespace], tuple[str, Tensor]]
    share: bool = False
    lowest: bool = False
    weights: str = "distances"


def _approximation(graph: torchcent.Graph, args: argparse.Namespace) -> torchcent.Approximation:
    """Computes scores to within `--approx`; options that it does not support raise an error."""
    refused = {
        "--stress": args.stress, "--variant": args.variant, "--endpoints": args.endpoints,
        "--raw": args.normalized is False, "--sources": args.sources is not None,
        "--tie-tolerance": args.tie_tolerance != 0, "--engine": args.engine != "auto",
        "--reduce": args.reduce != "auto", "--cutoff": args.cutoff is not None,
    }  # fmt: skip
    for option, given in refused.items():
        if given:
            raise ValueError(f"--approx and {option} exclude each other")
    approximate = torchcent.edge_betweenness_approx if args.edges else torchcent.betweenness_approx
    return approximate(
        graph, *args.approx, time_limit=args.time_limit,
        generator=torch.Generator().manual_seed(args.seed), **_arguments(args),
    )  # fmt: skip


def _betweenness(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    if args.variant:
        return _variant(graph, args)
    name = "edge betweenness" if args.edges else "stress" if args.stress else "betweenness"
    if args.endpoints and name != "betweenness":
        raise ValueError(f"--endpoints: not for {name}")
    options = {**_pivots(graph, args), **_arguments(args), "cutoff": args.cutoff}
    if args.normalized is not None:
        options["normalized"] = args.normalized
    if args.edges:
        return name, torchcent.edge_betweenness(graph, **options)
    if args.stress:
        return name, torchcent.stress(graph, **options)
    return name, torchcent.betweenness(graph, endpoints=args.endpoints, **options)


def _variant(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    refused = {
        "--endpoints": args.endpoints, "--tie-tolerance": args.tie_tolerance != 0,
        "--reduce": args.reduce != "auto", "--cutoff": args.cutoff is not None,
    }  # fmt: skip
    for option, given in refused.items():
        if given:
            raise ValueError(f"--variant and {option} exclude each other")
    scores = torchcent.betweenness_variant(
        graph, variant=args.variant.replace("-", "_"), normalized=args.normalized is not False,
        **_pivots(graph, args), **_arguments(args),
    )  # fmt: skip
    return f"{args.variant.replace('-', ' ')} betweenness", scores


def _closeness(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    options = {**_pivots(graph, args), **_arguments(args), "cutoff": args.cutoff}
    score = torchcent.closeness(
        _turned(graph, args.outgoing), wf_improved=not args.classic, **options
    )
    assert isinstance(score, Tensor)  # without `top`
    return "closeness", score


def _harmonic(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    options = {**_pivots(graph, args), **_arguments(args), "normalized": args.normalized}
    options["cutoff"] = args.cutoff
    return "harmonic centrality", torchcent.harmonic(_turned(graph, args.outgoing), **options)


def _eccentricity(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    options = {**_arguments(args), "disconnected": "component" if args.component else "inf"}
    return "eccentricity", torchcent.eccentricity(_turned(graph, args.incoming), **options)


def _percolation(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    vertex = _common.numbers_of(args.vertex_labels())
    states = torch.zeros(graph.num_nodes, dtype=torch.float64)
    for number, name, state in read_states(args.states, vertex):
        if name not in vertex:
            raise ValueError(f"{args.states}:{number}: {name!r} is no vertex of {args.graph}")
        states[vertex[name]] = state
    score = torchcent.percolation(graph, states=states, **_arguments(args))
    return "percolation", score


def _walk(measure: Callable[..., Tensor], whole: bool = False) -> Callable[..., tuple[str, Tensor]]:
    """Runs a measure of walks. With --weights, weights are strengths. Scores may be whole."""

    def run(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
        run = Run(memory=args.memory)
        if not whole:
            run |= Run(dtype=torch.float64)
        return args.command, measure(graph, run=run).to(getattr(torch, args.dtype))

    return run


def _pagerank(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    measure = partial(torchcent.pagerank, alpha=args.alpha)
    return _walk(measure)(graph, args)


def _current_flow(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    measure = torchcent.current_flow_betweenness
    if args.edges:
        measure = torchcent.edge_current_flow_betweenness
    name, scores = _walk(partial(measure, normalized=args.normalized is not False))(graph, args)
    return f"edge-{name}" if args.edges else name, scores


#: the options of each are in ``_torchcent_command/_scores.py``
MEASURES = {
    "betweenness": Measure(_betweenness, share=True),
    "percolation": Measure(_percolation),
    "closeness": Measure(_closeness),
    "harmonic": Measure(_harmonic),
    "eccentricity": Measure(_eccentricity, lowest=True),
    "pagerank": Measure(_pagerank, share=True, weights="strengths"),
    "degree": Measure(_walk(torchcent.degree), weights="strengths"),
    "eigenvector": Measure(_walk(torchcent.eigenvector), weights="strengths"),
    "core": Measure(_walk(torchcent.core_number, whole=True)),
    "clustering": Measure(_walk(torchcent.clustering_coefficient), weights="strengths"),
    "current-flow-betweenness": Measure(_current_flow, weights="conductances"),
    "current-flow-closeness": Measure(
        _walk(torchcent.current_flow_closeness), weights="conductances"
    ),
}


def _pivots(graph: torchcent.Graph, args: argparse.Namespace) -> dict[str, Any]:
    if args.sources is None:
        return {}
    chance = torch.Generator().manual_seed(args.seed)
    return {"sources": check.sources(args.sources, graph, chance)}


def _turned(graph: torchcent.Graph, other_way: bool) -> torchcent.Graph:
    return graph.reversed() if other_way and graph.directed else graph


def _arguments(args: argparse.Namespace) -> dict[str, Any]:
    return {"run": _common.run_of(args) | Run(dtype=getattr(torch, args.dtype))}


def score(args: argparse.Namespace) -> None:
    # fail fast: check everything possible before the computation
    by_edge, measure = getattr(args, "edges", False), MEASURES[args.command]
    out = _output.target(args, "csv")
    if out is not None:
        check_scores_path(out)
    if args.plot is not None:
        check_plot_path(args.plot)
    _common.check_top(args)
    approx, limit = getattr(args, "approx", None), getattr(args, "time_limit", None)
    if args.plot is not None and isinstance(getattr(args, "cutoff", None), list):
        raise ValueError("--plot: not for several cutoffs")
    if limit is not None and approx is None:
        raise ValueError("--time-limit: only with --approx")
    if limit is not None and args.checkpoint is not None:
        raise ValueError("--time-limit and --checkpoint exclude each other")
    _common.prepare(args, devices=True, group=True)
    edges, graph, started = _common.load_graph(args, measure.weights)
    _check_positions(args, out, edges, by_edge)
    args.vertex_labels = edges.vertex_labels
    found = None
    if approx is not None:
        found = _approximation(graph, args)
        name, scores = "edge betweenness" if by_edge else "betweenness", found.scores
    else:
        name, scores = measure.run(graph, args)
    if not _common.leads():
        return
    _common.remark_run(args, graph, started)
    run = _common.about_run(args, graph, started)
    if found is not None:
        _common.remark(args, f"{found.in_words} ({found.reason})")
    several = scores.dim() == 2
    names = [f"{name} within {length:g}" for length in args.cutoff] if several else [name]
    columns: dict[str, Any] = {}
    of_names = scores.unbind(1) if several else [scores]
    for each, column in zip(names, of_names, strict=True):
        columns |= (edge_columns if by_edge else vertex_columns)(edges, graph, each, column)
    about = {"measure": name, "graph": args.graph, "directed": graph.directed}
    if found is not None and found.method != "exact":
        # The score stays the last column, by which rows are ranked.
        rows = edge_rows(edges, graph) if by_edge else slice(None)
        last = columns.pop(name)
        for end, values in (("lower", found.lower), ("upper", found.upper)):
            columns[end] = values.cpu()[rows].numpy()
        columns[name] = last
        about |= {
            "epsilon": found.epsilon, "delta": found.delta, "method": found.method,
            "samples": found.samples, "seed": args.seed,
        }  # fmt: skip
    shown = {"share": measure.share, "lowest": measure.lowest}
    if getattr(args, "states", None) is not None:
        about |= {"states": args.states}
    if getattr(args, "variant", None) is not None:
        about |= {"variant": args.variant}
    if getattr(args, "sources", None) is not None:
        about |= {"sources": args.sources, "seed": args.seed}
    about |= {way: True for way in _VARIANTS if getattr(args, way, False)}
    if getattr(args, "cutoff", None) is not None:
        about |= {"cutoff": args.cutoff}
    if graph.is_weighted:
        about |= {"weights": args.similarity or measure.weights}
        if getattr(args, "ties", "decimal") != "decimal":
            about |= {"ties": args.ties}
        if getattr(args, "tie_tolerance", 0):
            about |= {"tie_tolerance": args.tie_tolerance}
    if out is not None:
        table = {k.replace(" ", "_"): v for k, v in columns.items()}
        place = geometry(edges, graph, by_edge)

        def write(path: str) -> None:
            write_scores(
                path, table, about, escape_formulas=args.escape_formulas, geometry=place,
                crs=edges.crs,
            )  # fmt: skip

        if args.out != _output.STANDARD:
            _output.deliver(args, "scores", out, write)
    if args.plot is not None:
        pivots = f", estimated from {args.sources:,} pivots" if about.get("sources") else ""
        title = f"{name.capitalize()} in {_common.title(args)}{pivots}"
        interval = None
        if found is not None and found.method != "exact":
            title, interval = f"{title}, {found.in_words}", (found.lower, found.upper)
        if edges.positions is not None:
            named = edges.labels is not None and edges.labels.dtype == object
            rows = edge_rows(edges, graph) if by_edge else slice(None)
            plot_network(
                edges.edge_index[:, rows] if by_edge else graph.to_edge_index(), edges.positions,
                scores[rows], edges.labels if named else None, edges=by_edge, measure=name,
                path=args.plot, title=title,
                lowest=measure.lowest, crs=edges.crs,
            )  # fmt: skip
        else:
            plot_scores(
                graph, scores, edges.labels, measure=name, path=args.plot, title=title,
                interval=interval, **shown,
            )  # fmt: skip
        _common.remark(args, f"figure in {args.plot}")
    if out is not None and args.out == _output.STANDARD:
        _output.deliver(args, "scores", out, write)
    if args.json:
        top = score_rows(columns, args.top, **shown)
        _output.show_json(run | about | {"out": args.out, "plot": args.plot, "top": top})
    elif args.top and args.out != _output.STANDARD:
        print(score_table(columns, args.top, **shown))


def _check_positions(
    args: argparse.Namespace, out: str | None, edges: EdgeList, by_edge: bool
) -> None:
    """Checks, before the computation, the outputs that need positions."""
    lacks = f"{args.graph} has no coordinates; --coordinates FILE gives them"
    if out is not None:
        if edges.positions is None and split_suffix(out)[0] in GEO_SUFFIXES:
            raise ValueError(f"{out}: {lacks}")
        check_scores_path(out, edges.crs)
    if args.plot is not None and by_edge and edges.positions is None:
        raise ValueError(f"--plot with --edges draws a map, but {lacks}")


#: options that are recorded in the metadata of a file of scores
_VARIANTS = ("classic", "outgoing", "incoming", "component")
