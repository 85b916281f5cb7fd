"""Subcommands about graph files: ``info``, ``convert``, ``generate``, and ``config``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor

import torchcent
from torchcent import generate
from torchcent.cli import _common, _ledgers
from torchcent.cli._report import describe
from torchcent.io import EdgeList, write

#: help, function, and type and default of each option (... if it is required)
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
        "largest component of a grid with a share of edges removed: like a road network",
        generate.road,
        {"rows": (int, ...), "cols": (int, ...), "removed": (float, 0.3), "seed": (int, 0)},
    ),
    "planted": (
        "n vertices in planted clusters of skewed sizes, like protein interactions",
        generate.planted,
        {
            "n": (int, ...),
            "degree": (float, 20.0),
            "mixing": (float, 0.3),
            "smallest": (int, 3),
            "largest": (int, 400),
            "seed": (int, 0),
        },
    ),
}


def add_parsers(add: _common.Add) -> None:
    info = add("info", "summary of a graph and the execution plan, or of a --checkpoint folder")
    _common.memory_option(_common.graph_options(info))
    info.set_defaults(call=_info)

    convert = add("convert", "convert a graph file to another format")
    _common.memory_option(_common.graph_options(convert))
    convert.add_argument("out", metavar="OUT", help="file to write; its suffix selects the format")
    convert.set_defaults(call=_convert)

    made = add("generate", "a random or regular graph")
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

    config = add("config", "versions, kernels, threads")
    config.set_defaults(call=lambda args: print(torchcent.show_config()))


def _info(args: argparse.Namespace) -> None:
    if _ledgers.is_ledger(Path(args.graph)):
        print(_ledgers.describe(args.graph))
        return
    print(describe(args.graph, _common.load(args), _common.weighted(args)))


def _convert(args: argparse.Namespace) -> None:
    edges = _common.load(args)
    write(args.out, edges)
    print(f"{args.out}: {edges.num_nodes:,} vertices", file=sys.stderr)


def _generate(args: argparse.Namespace) -> None:
    values = {k: getattr(args, k) for k in args.options}
    index = args.function(**values)
    known: dict[str, Callable[[], int]] = {
        "rmat": lambda: 1 << args.scale,
        "grid": lambda: args.rows * args.cols,
        "road": lambda: int(index.max()) + 1 if index.numel() else 1,
    }
    n = known[args.model]() if args.model in known else args.n
    once = index[:, index[0] < index[1]]
    write(args.out, EdgeList(once, None, None, n, False))
    print(f"{args.out}: {n:,} vertices, {once.size(1):,} edges", file=sys.stderr)
