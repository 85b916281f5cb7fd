"""Subcommands that score vertices or edges: table, file, figure."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent.cli import _common
from torchcent.cli._report import edge_columns, score_table, vertex_columns
from torchcent.io import write_scores
from torchcent.io._files import load_bytes, text_bytes, text_lines
from torchcent.io._scores import check_scores_path
from torchcent.plots._scores import check_plot_path, plot_scores


@dataclass(frozen=True)
class Measure:
    """A subcommand that scores a graph.

    Attributes:
        help: one line of help.
        options: adds the measure's own options.
        run: ``(graph, arguments) -> (title of the scores, scores)``; scores are ``[n]``, or one per
            input column if ``arguments.edges``.
        engines: the accepted values of ``--engine``.
        share: whether to show each score's share of the sum.
        lowest: whether the lowest scores are the most central, and are listed first.
        checkpoint: whether it accepts `--checkpoint`.
    """

    help: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[torchcent.Graph, argparse.Namespace], tuple[str, Tensor]]
    engines: str = _common.DISTANCE_ENGINES
    share: bool = False
    lowest: bool = False
    checkpoint: bool = False


def _betweenness_options(parser: argparse.ArgumentParser) -> None:
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--edges", action="store_true", help="score the edges, not the vertices")
    kind.add_argument("--stress", action="store_true", help="count paths: stress centrality")
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument(
        "--normalized", action="store_true", default=None,
        help="divide by the number of pairs (the default, except for --stress)",
    )  # fmt: skip
    scale.add_argument("--raw", dest="normalized", action="store_false", help="do not divide")
    parser.add_argument("--endpoints", action="store_true", help="also count the ends of a path")
    parser.add_argument(
        "--tie-tolerance", type=float, default=0.0, metavar="T",
        help="with weights: relative tolerance within which paths count as shortest (0)",
    )  # fmt: skip
    _reduce_option(parser)
    _pivot_options(parser)
    parser.add_argument(
        "--approx", type=_accuracy, metavar="EPS[,DELTA]",
        help="estimate all scores to within EPS, with probability 1 - DELTA (0.1)",
    )  # fmt: skip
    parser.add_argument(
        "--time-limit", type=float, metavar="SECONDS",
        help="with --approx: return the best estimates after this time",
    )  # fmt: skip


def _reduce_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reduce", type=_reductions, default="auto", metavar="HOW",
        help="exact reductions before the search: auto (those that pay), none, or some of "
        "fold,blocks,twins,chains",
    )  # fmt: skip


def _reductions(text: str) -> str | list[str]:
    return text if text in ("auto", "none") else text.split(",")


def _accuracy(text: str) -> tuple[float, float]:
    """Parses ``0.01`` or ``0.01,0.1``."""
    epsilon, _, delta = text.partition(",")
    try:
        return float(epsilon), float(delta or 0.1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not EPS or EPS,DELTA") from None


def _approximation(graph: torchcent.Graph, args: argparse.Namespace) -> torchcent.Approximation:
    """Computes scores to within `--approx`; options that it does not support raise an error."""
    refused = {
        "--edges": args.edges, "--stress": args.stress, "--endpoints": args.endpoints,
        "--raw": args.normalized is False, "--sources": args.sources is not None,
        "--tie-tolerance": args.tie_tolerance != 0, "--engine": args.engine != "auto",
        "--reduce": args.reduce != "auto",
    }  # fmt: skip
    for option, given in refused.items():
        if given:
            raise ValueError(f"--approx and {option} exclude each other")
    options = _arguments(args)
    del options["engine"]
    return torchcent.betweenness_approx(
        graph, *args.approx, time_limit=args.time_limit,
        generator=torch.Generator().manual_seed(args.seed), **options,
    )  # fmt: skip


def _betweenness(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    name = "edge betweenness" if args.edges else "stress" if args.stress else "betweenness"
    if args.endpoints and name != "betweenness":
        raise ValueError(f"--endpoints: not for {name}")
    options = {**_pivots(args), **_arguments(args), "tie_tolerance": args.tie_tolerance}
    options["reduce"] = args.reduce
    if args.normalized is not None:
        options["normalized"] = args.normalized
    if args.edges:
        return name, torchcent.edge_betweenness(graph, **options)
    if args.stress:
        return name, torchcent.stress(graph, **options)
    return name, torchcent.betweenness(graph, endpoints=args.endpoints, **options)


def _closeness_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--classic", action="store_true",
        help="1 / mean distance, without Wasserman and Faust's factor for disconnected graphs",
    )  # fmt: skip
    _cutoff_option(parser)
    _outgoing_option(parser)
    _pivot_options(parser)


def _closeness(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    options = {**_pivots(args), **_arguments(args), "cutoff": args.cutoff}
    score = torchcent.closeness(
        _turned(graph, args.outgoing), wf_improved=not args.classic, **options
    )
    assert isinstance(score, Tensor)  # without `top`
    return "closeness", score


def _harmonic_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--normalized", action="store_true", help="divide by n - 1")
    _cutoff_option(parser)
    _outgoing_option(parser)
    _pivot_options(parser)


def _harmonic(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    options = {**_pivots(args), **_arguments(args), "normalized": args.normalized}
    options["cutoff"] = args.cutoff
    return "harmonic centrality", torchcent.harmonic(_turned(graph, args.outgoing), **options)


def _eccentricity_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--component", action="store_true",
        help="only over reachable vertices (otherwise inf if some are unreachable)",
    )  # fmt: skip
    parser.add_argument(
        "--incoming", action="store_true", help="distances to the vertex, not from it"
    )


def _eccentricity(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    options = {**_arguments(args), "disconnected": "component" if args.component else "inf"}
    return "eccentricity", torchcent.eccentricity(_turned(graph, args.incoming), **options)


def _percolation_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--states", metavar="FILE", required=True,
        help="one vertex and its state, a number >= 0, per line; other vertices have 0",
    )  # fmt: skip
    _reduce_option(parser)


def _percolation(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    vertex = {str(label): v for v, label in enumerate(args.vertex_labels().tolist())}
    states = torch.zeros(graph.num_nodes, dtype=torch.float64)
    lines = text_lines(args.states, text_bytes(args.states, load_bytes(args.states)))
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name, _, text = re.sub(r"\s*[,;\t]\s*|\s+(?=\S+$)", "\t", line.strip()).rpartition("\t")
        try:
            state = float(text)
        except ValueError:
            if number == 1:  # header
                continue
            raise ValueError(f"{args.states}:{number}: {text!r} is not a number") from None
        if name not in vertex:
            raise ValueError(f"{args.states}:{number}: {name!r} is no vertex of {args.graph}")
        states[vertex[name]] = state
    score = torchcent.percolation(graph, states=states, reduce=args.reduce, **_arguments(args))
    return "percolation", score


def _no_options(parser: argparse.ArgumentParser) -> None:
    """Measures that have only the common options."""


def _walk(measure: Callable[..., Tensor]) -> Callable[..., tuple[str, Tensor]]:
    """Runs a measure of walks. With --weights, weights are strengths."""

    def run(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
        if args.engine != "auto":
            raise ValueError(f"--engine {args.engine}: {args.measure_name} has only auto")
        scores = measure(graph, memory=_common.run_arguments(args)["memory"])
        return args.measure_name, scores.to(getattr(torch, args.dtype))

    return run


def _pagerank_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--alpha", type=float, default=0.85, metavar="A",
        help="probability of following an arc (0.85)",
    )  # fmt: skip


def _pagerank(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    return _walk(lambda given, **options: torchcent.pagerank(
        given, alpha=args.alpha, dtype=torch.float64, **options
    ))(graph, args)  # fmt: skip


MEASURES = {
    "betweenness": Measure(
        "shortest paths through each vertex or edge", _betweenness_options, _betweenness,
        "auto, lanes, queue or tensor; with weights auto, relax, dijkstra or tensor", share=True,
        checkpoint=True,
    ),
    "percolation": Measure(
        "percolation through each vertex, given a state of each vertex", _percolation_options,
        _percolation, "auto, lanes, queue or tensor; with weights auto, relax, dijkstra or tensor",
        checkpoint=True,
    ),
    "closeness": Measure(
        "reciprocal of the mean distance to each vertex", _closeness_options, _closeness,
        checkpoint=True,
    ),
    "harmonic": Measure(
        "sum of the reciprocal distances to each vertex", _harmonic_options, _harmonic,
        checkpoint=True,
    ),
    "eccentricity": Measure(
        "distance from each vertex to the farthest one, the smallest first",
        _eccentricity_options, _eccentricity, lowest=True,
    ),
    "pagerank": Measure(
        "share of a random walk's time at each vertex", _pagerank_options, _pagerank, "auto",
        share=True,
    ),
    "degree": Measure(
        "number of arcs out of each vertex, or the sum of their weights", _no_options,
        _walk(partial(torchcent.degree, dtype=torch.float64)), "auto",
    ),
    "eigenvector": Measure(
        "eigenvector centrality", _no_options,
        _walk(partial(torchcent.eigenvector, dtype=torch.float64)), "auto",
    ),
    "core": Measure("core number of each vertex", _no_options, _walk(torchcent.core_number), "auto"),
    "clustering": Measure(
        "share of the pairs of neighbours of each vertex that are adjacent", _no_options,
        _walk(partial(torchcent.clustering_coefficient, dtype=torch.float64)), "auto",
    ),
}  # fmt: skip


def _cutoff_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cutoff", type=float, metavar="LENGTH", help="count only pairs at most so far apart"
    )


def _outgoing_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--outgoing", action="store_true", help="distances from the vertex, not to it"
    )


def _pivot_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sources", type=int, metavar="K", help="estimate from K random pivots instead of all"
    )
    _common.seed_option(parser)


def _pivots(args: argparse.Namespace) -> dict[str, Any]:
    if args.sources is None:
        return {}
    return {"sources": args.sources, "generator": torch.Generator().manual_seed(args.seed)}


def _turned(graph: torchcent.Graph, other_way: bool) -> torchcent.Graph:
    return graph.reversed() if other_way and graph.directed else graph


def _arguments(args: argparse.Namespace) -> dict[str, Any]:
    return {**_common.run_arguments(args), "dtype": getattr(torch, args.dtype)}


def add_parsers(add: _common.Add) -> None:
    """Adds a subcommand for each measure."""
    for name, measure in MEASURES.items():
        parser = add(name, measure.help)
        _common.graph_options(parser)
        measure.options(parser)
        parser.add_argument(
            "-o", "--out", metavar="OUT",
            help="write the scores: .csv .tsv .npy .npz .parquet .json",
        )  # fmt: skip
        _common.escape_option(parser)
        parser.add_argument("--plot", metavar="FILE", help="write a figure: .png .svg .pdf")
        parser.add_argument("--top", type=int, default=20, metavar="N", help="rows to print (20)")
        running = _common.run_options(parser, measure.engines)
        running.add_argument("--dtype", choices=("float32", "float64"), default="float64")
        if measure.checkpoint:
            _common.checkpoint_option(running)
        parser.set_defaults(call=_score, measure=measure, measure_name=name)


def _score(args: argparse.Namespace) -> None:
    # fail fast: check everything possible before the computation
    by_edge = getattr(args, "edges", False)
    if args.out is not None:
        check_scores_path(args.out)
    if args.plot is not None:
        check_plot_path(args.plot)
        if by_edge:
            raise ValueError("--plot: for vertices only, not with --edges")
    if args.top < 0:
        raise ValueError(f"--top {args.top}; accepted: 0 or more")
    approx, limit = getattr(args, "approx", None), getattr(args, "time_limit", None)
    if limit is not None and approx is None:
        raise ValueError("--time-limit: only with --approx")
    if limit is not None and args.checkpoint is not None:
        raise ValueError("--time-limit and --checkpoint exclude each other")
    _common.prepare(args, devices=args.measure.checkpoint, group=args.measure.checkpoint)
    edges, graph, started = _common.load_graph(args)
    args.vertex_labels = edges.vertex_labels
    found = None
    if approx is not None:
        found = _approximation(graph, args)
        name, scores = "betweenness", found.scores
    else:
        name, scores = args.measure.run(graph, args)
    if not _common.leads():
        return
    _common.remark_run(args, graph, started)
    if found is not None:
        _common.remark(args, f"{found.in_words} ({found.reason})")
    columns = (edge_columns if by_edge else vertex_columns)(edges, graph, name, scores)
    about = {"measure": name, "graph": args.graph, "directed": graph.directed}
    if found is not None and found.method != "exact":
        # The score stays the last column, by which rows are ranked.
        columns = {
            "lower": found.lower.cpu().numpy(),
            "upper": found.upper.cpu().numpy(),
            **columns,
        }
        columns = {key: columns[key] for key in ("label", "degree", "lower", "upper", name)}
        about |= {
            "epsilon": found.epsilon, "delta": found.delta, "method": found.method,
            "samples": found.samples, "seed": args.seed,
        }  # fmt: skip
    shown = {"share": args.measure.share, "lowest": args.measure.lowest}
    if args.top:
        print(score_table(columns, args.top, **shown))
    if getattr(args, "states", None) is not None:
        about |= {"states": args.states}
    if getattr(args, "sources", None) is not None:
        about |= {"sources": args.sources, "seed": args.seed}
    about |= {way: True for way in _VARIANTS if getattr(args, way, False)}
    if getattr(args, "cutoff", None) is not None:
        about |= {"cutoff": args.cutoff}
    if graph.is_weighted:
        about |= {"weights": args.similarity or "distances"}
        if getattr(args, "tie_tolerance", 0):
            about |= {"tie_tolerance": args.tie_tolerance}
    if args.out is not None:
        table = {k.replace(" ", "_"): v for k, v in columns.items()}
        write_scores(args.out, table, about, escape_formulas=args.escape_formulas)
        _common.remark(args, f"scores in {args.out}")
    if args.plot is not None:
        where = os.path.basename(args.graph).removeprefix("networkx:")
        pivots = f", estimated from {args.sources:,} pivots" if about.get("sources") else ""
        title = f"{name.capitalize()} in {where}{pivots}"
        interval = None
        if found is not None and found.method != "exact":
            title, interval = f"{title}, {found.in_words}", (found.lower, found.upper)
        plot_scores(
            graph, scores, edges.labels, measure=name, path=args.plot, title=title,
            interval=interval, **shown,
        )  # fmt: skip
        _common.remark(args, f"figure in {args.plot}")


#: options that are recorded in the metadata of a file of scores
_VARIANTS = ("classic", "outgoing", "incoming", "component")
