"""Options of subcommands about graph files: ``info``, ``convert``, ``rewired``, ``generate``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from _torchcent_command import _common

#: written by tools/declare.py
_MODELS = Path(__file__).with_name("models.json")
_TYPES = {"int": int, "float": float}


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
        "--use-tab", metavar="FILE",
        help="the dictionary between labels and the numbers in GRAPH: names the vertices again",
    )  # fmt: skip
    group.add_argument(
        "--write-tab", metavar="FILE",
        help="write the dictionary of a graph: its names, beside a format that has none",
    )  # fmt: skip
    _common.quiet_option(convert)

    rewired = add("rewired", "a random graph in which every vertex keeps its degree")
    _common.memory_option(_common.graph_options(rewired, ""))
    rewired.add_argument(
        "--swaps", type=float, default=10, metavar="X",
        help="exchanges of ends that are tried, per edge (10)",
    )  # fmt: skip
    _common.seed_option(rewired, "the draws")
    _common.out_option(rewired, "the graph", _common.WRITTEN, required=True)
    _common.quiet_option(rewired)

    add("generate", "a random or regular graph", fill=_models)
    add("config", "versions, kernels, threads")


def _models(parser: argparse.ArgumentParser) -> None:
    """Adds a subcommand for each function of torchcent.generate."""
    models = parser.add_subparsers(dest="model", required=True, metavar="MODEL")
    for model in json.loads(_MODELS.read_text(encoding="utf-8")):
        text = model["help"].removesuffix(".")
        sub = models.add_parser(model["name"], help=text, description=text)
        for option in model["options"]:
            default = option["default"]
            sub.add_argument(
                f"--{option['name'].replace('_', '-')}", type=_TYPES[option["type"]],
                default=default, required=option["required"],
                help=None if default is None else f"({default})",
            )  # fmt: skip
        _common.out_option(sub, "the graph", _common.WRITTEN, required=True)
        _common.quiet_option(sub)
        sub.set_defaults(options=[option["name"] for option in model["options"]])
