"""Options of the subcommands about groups of vertices that are found."""

from __future__ import annotations

import argparse

from _torchcent_command import _common

#: formats of communities: lines of labels, mcl's native matrix, tables
CLUSTERS = ("txt", "mci", "csv", "tsv", "json", "npz", "parquet", *_common.GRAPHS)

_COMMUNITIES = """\
Communities are written one per line, names separated by tabs, the largest first. A file OUT that
ends in .csv, .tsv, .json, .npz or .parquet is a table of vertices and the numbers of their
communities instead, one that ends in .graphml, .gexf, .cx2 or .sif the graph with these numbers.
By default they are those of the largest modularity, with --count those of the last level.
A round takes the time of 'edge-betweenness', and there are as many as edges: for a large graph,
use --count or --max-rounds, and --per-round."""


def add_parsers(add: _common.Add) -> None:
    text = "vertices that together cover the most shortest paths"
    add("prominent-group", text, fill=_prominent_options)
    text = "division of a graph by edge betweenness"
    add("communities", text, _COMMUNITIES, fill=_community_options)


def _prominent_options(parser: argparse.ArgumentParser) -> None:
    _common.graph_options(parser)
    parser.add_argument(
        "-k", "--size", type=int, required=True, metavar="K", help="number of vertices to find"
    )
    parser.add_argument(
        "--epsilon", type=float, default=0.1, metavar="E",
        help="the score is at least 1 - 1/e - E of the best possible one (0.1)",
    )  # fmt: skip
    parser.add_argument(
        "--delta", type=float, default=0.1, metavar="D",
        help="probability with which that may fail (0.1)",
    )  # fmt: skip
    parser.add_argument(
        "--method", choices=("auto", "exact", "samples"), default="auto",
        help="exact gains, random paths, or by the size of the graph (auto)",
    )  # fmt: skip
    parser.add_argument("--max-samples", type=int, metavar="N", help="draw at most N paths")
    parser.add_argument("--endpoints", action="store_true", help="also count the ends of a path")
    _common.tie_options(parser)
    _common.seed_option(parser, "random paths")
    _common.out_option(parser, "the vertices", _common.PLAIN_TABLES)
    _common.escape_option(parser)
    _common.json_option(parser)
    _common.run_options(parser)


def _community_options(parser: argparse.ArgumentParser) -> None:
    _common.graph_options(parser)
    parser.add_argument(
        "--count", type=int, metavar="N", help="end at the first division into N communities"
    )
    parser.add_argument(
        "--level", type=int, metavar="L",
        help="write the communities of this level, from 0; -1 is the last",
    )  # fmt: skip
    parser.add_argument(
        "--levels", action="store_true",
        help="print a table of all levels: edges removed, communities, modularity; * is the level "
        "that is written",
    )  # fmt: skip
    parser.add_argument(
        "--per-round", type=_per_round, default=1, metavar="K",
        help="edges removed between computations: a number, or a share such as 0.02 (1)",
    )  # fmt: skip
    parser.add_argument("--max-rounds", type=int, metavar="R", help="end after R rounds")
    parser.add_argument(
        "--approx", type=_common.accuracy, metavar="EPS[,DELTA]",
        help="scores from random paths: within EPS in each round, with probability 1 - DELTA (0.1)",
    )  # fmt: skip
    _common.seed_option(parser, "--approx")
    _common.out_option(parser, "the communities", CLUSTERS)
    _common.escape_option(parser)
    parser.add_argument(
        "--plot", metavar="FILE",
        help="write a figure of the graph with the communities in colours: .png .svg .pdf; "
        "as .html, to zoom and search in a browser",
    )  # fmt: skip
    _common.json_option(parser)
    _common.run_options(parser)


def _per_round(text: str) -> int | float:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number or a share") from None
