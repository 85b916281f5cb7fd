"""Options of the subcommands about graph files: ``info``, ``convert``, ``generate``."""

from __future__ import annotations

from typing import Any

from _torchcent_command import _common

#: help, and type and default of each option (... if it is required)
MODELS: dict[str, tuple[str, dict[str, tuple[Any, Any]]]] = {
    "rmat": (
        "R-MAT of 2^scale vertices: skewed degrees, as in social networks",
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
        {"n": (int, ...), "m": (int, ...), "seed": (int, 0)},
    ),
    "er": (
        "Erdos-Renyi: n vertices, each pair joined with probability p, or m edges",
        {"n": (int, ...), "p": (float, None), "m": (int, None), "seed": (int, 0)},
    ),
    "grid": ("a grid of rows x cols", {"rows": (int, ...), "cols": (int, ...)}),
    "delaunay": (
        "Delaunay triangulation of n random points",
        {"n": (int, ...), "seed": (int, 0)},
    ),
    "ws": (
        "Watts-Strogatz: a ring of n vertices and k neighbours, rewired with probability p",
        {"n": (int, ...), "k": (int, ...), "p": (float, ...), "seed": (int, 0)},
    ),
    "road": (
        "largest component of a grid with a share of edges removed: like a road network",
        {"rows": (int, ...), "cols": (int, ...), "removed": (float, 0.3), "seed": (int, 0)},
    ),
    "planted": (
        "n vertices in planted clusters of skewed sizes, like protein interactions",
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
    _common.graph_options(info)
    _common.json_option(info)
    _common.run_options(info)

    convert = add("convert", "convert a graph file, or clusters of mcl, to another format")
    _common.memory_option(_common.graph_options(convert))
    convert.add_argument(
        "out", metavar="OUT",
        help="file to write, whose suffix selects the format; - is standard output",
    )  # fmt: skip
    _common.to_option(convert, _common.WRITTEN)
    group = convert.add_argument_group("files of mcl")
    group.add_argument(
        "--clusters", action="store_true",
        help="GRAPH holds clusters, in lines or a matrix; OUT is lines, a matrix (.mci) or a table "
        "(.csv .json .npz .parquet). Matrices that are not square are clusters anyway",
    )  # fmt: skip
    group.add_argument(
        "--use-tab",
        metavar="FILE",
        help="the dictionary between labels and the numbers in GRAPH: names the vertices again",
    )
    group.add_argument(
        "--write-tab", metavar="FILE",
        help="write the dictionary of a graph: its names, beside a format that has none",
    )  # fmt: skip
    _common.quiet_option(convert)

    made = add("generate", "a random or regular graph")
    models = made.add_subparsers(dest="model", required=True, metavar="MODEL")
    for model, (text, options) in MODELS.items():
        sub = models.add_parser(model, help=text, description=text)
        for option, (kind, default) in options.items():
            sub.add_argument(
                f"--{option.replace('_', '-')}", type=kind, default=default,
                required=default is ..., help=None if default in (..., None) else f"({default})",
            )  # fmt: skip
        _common.out_option(sub, "the graph", _common.WRITTEN, required=True)
        _common.quiet_option(sub)
        sub.set_defaults(options=tuple(options))

    add("config", "versions, kernels, threads")
