"""The command line: ``torchcent betweenness | info | convert | generate | config``.

A measure is one :class:`Measure` in ``MEASURES``: its name, its help, its own options and the
function that turns a graph into scores. Reading, output, table, plot and errors are common.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from torch import Tensor

import torchcent
from torchcent import generate
from torchcent._report import describe, edge_columns, score_table, vertex_columns
from torchcent.io import EdgeList, from_networkx, read, write, write_scores
from torchcent.io._arrays import need
from torchcent.io._scores import check_scores_path
from torchcent.plot import check_plot_path, plot_scores

_NETWORKS = {
    "les_miserables": "les_miserables_graph",
    "lesmis": "les_miserables_graph",
    "karate_club": "karate_club_graph",
    "karate": "karate_club_graph",
    "davis_southern_women": "davis_southern_women_graph",
    "florentine_families": "florentine_families_graph",
}

_EXAMPLES = """\
examples:
  torchcent betweenness friends.csv --top 10            # the ten most central vertices
  torchcent betweenness soc.txt.gz -o scores.csv --plot scores.png
  torchcent betweenness road.gr --sources 512 --seed 1  # estimate from 512 pivots
  torchcent betweenness networkx:les_miserables --edges         # edges instead of vertices
  torchcent info web.mtx                                # what it is, how it would run
  torchcent convert web.mtx.gz web.parquet
  torchcent generate rmat --scale 16 --edge-factor 8 -o rmat.npz

GRAPH is a file (edge lists .txt .tsv .csv .edges .el, .mtx, .graph, .gr, .graphml, .gml, .npz,
.npy, .pt, .parquet; each also .gz .bz2 .xz) or networkx:NAME with NAME one of
les_miserables, karate_club, davis_southern_women, florentine_families."""


@dataclass(frozen=True)
class Measure:
    """A subcommand that scores a graph.

    Attributes:
        help: one line.
        options: adds the measure's own options.
        run: ``(graph, arguments) -> (title of the scores, scores)``; scores are ``[n]``, or one
            for each input column if ``arguments.edges``.
    """

    help: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[torchcent.Graph, argparse.Namespace], tuple[str, Tensor]]


def _betweenness_options(parser: argparse.ArgumentParser) -> None:
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--edges", action="store_true", help="score the edges, not the vertices")
    kind.add_argument("--stress", action="store_true", help="count paths: stress centrality")
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument(
        "--normalized", action="store_true", default=None,
        help="divide by the number of pairs (the default; not of --stress)",
    )  # fmt: skip
    scale.add_argument("--raw", dest="normalized", action="store_false", help="do not divide")
    parser.add_argument("--endpoints", action="store_true", help="the ends of a path count too")
    parser.add_argument(
        "--sources", type=int, metavar="K", help="estimate from K random pivots instead of all"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="for --sources (0)")


def _betweenness(graph: torchcent.Graph, args: argparse.Namespace) -> tuple[str, Tensor]:
    name = "edge betweenness" if args.edges else "stress" if args.stress else "betweenness"
    if args.endpoints and name != "betweenness":
        raise ValueError(f"--endpoints: not for {name}")
    options: dict[str, Any] = {"sources": args.sources, **_run_options(args)}
    if args.sources is not None:
        options["generator"] = torch.Generator().manual_seed(args.seed)
    if args.normalized is not None:
        options["normalized"] = args.normalized
    if args.edges:
        return name, torchcent.edge_betweenness(graph, **options)
    if args.stress:
        return name, torchcent.stress(graph, **options)
    return name, torchcent.betweenness(graph, endpoints=args.endpoints, **options)


MEASURES = {
    "betweenness": Measure(
        "shortest paths through each vertex or edge", _betweenness_options, _betweenness
    ),
}


def _run_options(args: argparse.Namespace) -> dict[str, Any]:
    """What every measure takes."""
    return {
        "engine": args.engine,
        "memory": args.memory,
        "dtype": getattr(torch, args.dtype),
        "progress": False if args.quiet else None,
    }


def _size(text: str) -> int:
    """``500M``, ``4G``, ... in bytes."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    try:
        return int(float(number) * (units[unit] if unit else 1))
    except (ValueError, KeyError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 500M or 4G") from None


class _Parser(argparse.ArgumentParser):
    """Errors in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"torchcent: error: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="torchcent",
        description="Exact centrality of graphs.",
        epilog=_EXAMPLES,
        formatter_class=raw,
    )
    parser.add_argument("--version", action="version", version=torchcent.__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    for name, measure in MEASURES.items():
        sub = commands.add_parser(
            name, help=measure.help, description=measure.help, epilog=_EXAMPLES,
            formatter_class=raw,
        )  # fmt: skip
        _graph_options(sub)
        measure.options(sub)
        _score_options(sub)
        sub.set_defaults(call=_score, measure=measure)

    info = commands.add_parser("info", help="what a graph is, and how it would run")
    _graph_options(info)
    info.set_defaults(call=_info)

    convert = commands.add_parser("convert", help="a graph file into another format")
    _graph_options(convert)
    convert.add_argument("out", metavar="OUT", help="the format goes by its suffix")
    convert.set_defaults(call=_convert)

    made = commands.add_parser("generate", help="a random or regular graph")
    models = made.add_subparsers(dest="model", required=True, metavar="MODEL")
    for model, (text, function, options) in _MODELS.items():
        sub = models.add_parser(model, help=text, description=text)
        for option, (kind, default) in options.items():
            sub.add_argument(
                f"--{option.replace('_', '-')}", type=kind, default=default,
                required=default is ..., help=None if default in (..., None) else f"({default})",
            )  # fmt: skip
        sub.add_argument("-o", "--out", required=True, metavar="OUT", help="graph file to write")
        sub.set_defaults(call=_generate, function=function, options=options)

    config = commands.add_parser("config", help="versions, kernels, threads")
    config.set_defaults(call=lambda args: print(torchcent.show_config()))
    return parser


#: help, function, and each option's type and default (... if it must be given)
_MODELS: dict[str, tuple[str, Callable[..., Tensor], dict[str, tuple[Any, Any]]]] = {
    "rmat": (
        "R-MAT of 2^scale vertices: skewed degrees, as in social networks",
        generate.rmat,
        {
            "scale": (int, ...),
            "edge_factor": (int, 16),
            "a": (float, 0.57),
            "b": (float, 0.19),
            "c": (float, 0.19),
            "seed": (int, 0),
        },
    ),
    "ba": (
        "Barabasi-Albert: n vertices, each new one joins m",
        generate.ba,
        {"n": (int, ...), "m": (int, ...), "seed": (int, 0)},
    ),
    "er": (
        "Erdos-Renyi: n vertices, each pair joined with probability p, or m edges",
        generate.er,
        {"n": (int, ...), "p": (float, None), "m": (int, None), "seed": (int, 0)},
    ),
    "grid": ("a grid of rows x cols", generate.grid, {"rows": (int, ...), "cols": (int, ...)}),
    "delaunay": (
        "Delaunay triangulation of n random points",
        generate.delaunay,
        {"n": (int, ...), "seed": (int, 0)},
    ),
    "ws": (
        "Watts-Strogatz: a ring of n vertices and k neighbours, rewired with probability p",
        generate.ws,
        {"n": (int, ...), "k": (int, ...), "p": (float, ...), "seed": (int, 0)},
    ),
    "road": (
        "a grid without a share of its edges, largest component: like a road network",
        generate.road,
        {"rows": (int, ...), "cols": (int, ...), "removed": (float, 0.3), "seed": (int, 0)},
    ),
}


def _graph_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", metavar="GRAPH", help="a graph file, or networkx:NAME")
    group = parser.add_argument_group("reading")
    side = group.add_mutually_exclusive_group()
    side.add_argument(
        "--directed", action="store_true", default=None,
        help="a line 'a b' leads from a to b only (default: as the file says, else undirected)",
    )  # fmt: skip
    side.add_argument("--undirected", dest="directed", action="store_false", help="both ways")
    group.add_argument("--format", help="instead of the suffix: edges, mtx, metis, gr, ...")
    group.add_argument("--num-nodes", type=int, metavar="N", help="vertices, with isolated ones")
    group.add_argument("--skip", type=int, default=0, metavar="L", help="lines at the top to skip")
    group.add_argument(
        "--text-labels", action="store_true", help="ids are names, even if they look like numbers"
    )


def _score_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--out", metavar="OUT",
        help="write the scores: .csv .tsv .npy .npz .parquet .json",
    )  # fmt: skip
    parser.add_argument("--plot", metavar="FILE", help="write a figure: .png .svg .pdf")
    parser.add_argument("--top", type=int, default=20, metavar="N", help="rows to print (20)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar, no remarks")
    group = parser.add_argument_group("running")
    group.add_argument("--engine", default="auto", help="auto, lanes, queue or tensor")
    group.add_argument("--threads", type=int, metavar="T", help="default: all cores")
    group.add_argument("--memory", type=_size, metavar="SIZE", help="at most, such as 4G")
    group.add_argument("--dtype", choices=("float32", "float64"), default="float64")


def _load(args: argparse.Namespace) -> EdgeList:
    library, _, name = args.graph.partition(":")
    if library != "networkx" or os.path.exists(args.graph):
        return read(
            args.graph,
            directed=args.directed,
            format=args.format,
            num_nodes=args.num_nodes,
            skip=args.skip,
            text_labels=args.text_labels,
        )
    if name not in _NETWORKS:
        raise ValueError(f"networkx:{name} is unknown; accepted: {', '.join(_NETWORKS)}")
    networkx = need("networkx", "networkx", args.graph)
    return from_networkx(getattr(networkx, _NETWORKS[name])(), args.directed)


def _score(args: argparse.Namespace) -> None:
    # what can be told beforehand is told before the hours of work
    if args.out is not None:
        check_scores_path(args.out)
    if args.plot is not None:
        check_plot_path(args.plot)
        if getattr(args, "edges", False):
            raise ValueError("--plot: for vertices only, not with --edges")
    if args.top < 0:
        raise ValueError(f"--top {args.top}; accepted: 0 or more")
    if args.threads is not None:
        if args.threads < 1:
            raise ValueError(f"--threads {args.threads}; accepted: 1 or more")
        torch.set_num_threads(args.threads)
    edges = _load(args)
    if edges.edge_weight is not None:
        _remark(args, f"{args.graph}: its weights are not used")
    started = time.perf_counter()
    graph = edges.graph()
    name, scores = args.measure.run(graph, args)
    seconds = time.perf_counter() - started
    kind = "directed" if graph.directed else "undirected"
    count = graph.num_slots if graph.directed else graph.num_slots // 2
    _remark(args, f"{graph.num_nodes:,} vertices, {count:,} edges, {kind}; {seconds:.2f} s")
    if getattr(args, "edges", False):
        columns = edge_columns(edges, graph, name, scores)
    else:
        columns = vertex_columns(edges, graph, name, scores)
    if args.top:
        print(score_table(columns, args.top))
    about = {"measure": name, "graph": args.graph, "directed": graph.directed}
    if getattr(args, "sources", None) is not None:
        about |= {"sources": args.sources, "seed": args.seed}
    if args.out is not None:
        write_scores(args.out, {k.replace(" ", "_"): v for k, v in columns.items()}, about)
        _remark(args, f"scores in {args.out}")
    if args.plot is not None:
        where = os.path.basename(args.graph).removeprefix("networkx:")
        pivots = f", estimated from {args.sources:,} pivots" if about.get("sources") else ""
        title = f"{name.capitalize()} in {where}{pivots}"
        plot_scores(graph, scores, edges.labels, measure=name, path=args.plot, title=title)
        _remark(args, f"figure in {args.plot}")


def _remark(args: argparse.Namespace, text: str) -> None:
    if not args.quiet:
        print(text, file=sys.stderr)


def _info(args: argparse.Namespace) -> None:
    print(describe(args.graph, _load(args)))


def _convert(args: argparse.Namespace) -> None:
    edges = _load(args)
    write(args.out, edges)
    print(f"{args.out}: {edges.num_nodes:,} vertices", file=sys.stderr)


def _generate(args: argparse.Namespace) -> None:
    values = {k: getattr(args, k) for k in args.options}
    index = args.function(**values)
    known = {
        "rmat": lambda: 1 << args.scale,
        "grid": lambda: args.rows * args.cols,
        "road": lambda: int(index.max()) + 1 if index.numel() else 1,
    }
    n = known[args.model]() if args.model in known else args.n
    once = index[:, index[0] < index[1]]
    write(args.out, EdgeList(once, None, None, n, False))
    print(f"{args.out}: {n:,} vertices, {once.size(1):,} edges", file=sys.stderr)


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    def show(message: Warning | str, *rest: Any) -> None:
        print(f"torchcent: warning: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status: 0, 2 for a wrong input, 130 for Ctrl-C."""
    try:
        args = _parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        with _plain_warnings():
            args.call(args)
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("torchcent: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # such as `| head`: whoever reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ValueError, TypeError, OSError, ImportError, MemoryError, NotImplementedError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"torchcent: error: {text}", file=sys.stderr)
        return 2
    return 0
