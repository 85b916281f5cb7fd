"""Subcommands of measures: what measures.json says of their declarations, as options."""

from __future__ import annotations

import argparse
import json
import os
from functools import cache, partial
from pathlib import Path
from typing import Any

from _torchcent_command import _common

#: written by tools/declare.py
_DECLARED = Path(__file__).with_name("measures.json")

_GROUPS = """\
A group is a list of vertices, by the names that the file has for them. FILE has one group per line,
its names separated by tabs, or by blanks if there is no tab: the form in which mcl and communities
write clusters. In --group, a name in double quotes may hold commas. Each group has a score of its
own."""


@cache
def declared() -> dict[str, dict[str, Any]]:
    """The measures by their names in Python."""
    measures = json.loads(_DECLARED.read_text(encoding="utf-8"))
    return {measure["name"]: measure for measure in measures}


def add_parsers(add: _common.Add) -> None:
    """Adds a subcommand for each measure; its options are added when they are needed."""
    for measure in declared().values():
        text = measure["help"].removesuffix(".")
        more = _GROUPS if measure["of"] == "groups" else ""
        name = measure["name"].replace("_", "-")
        add(name, text, more, fill=partial(_options, measure=measure))


def _options(parser: argparse.ArgumentParser, measure: dict[str, Any]) -> None:
    uses, of_groups = measure["uses"], measure["of"] == "groups"
    _common.graph_options(parser, measure["weights"])
    for option in measure["options"]:
        _option(parser, **option)
    if measure["of"] == "graph":
        if measure["members"]:
            _common.out_option(parser, f"the {measure['members']}", _common.PLAIN_TABLES)
            _common.escape_option(parser)
        _common.json_option(parser)
        _common.run_options(parser)
        return
    if measure["of"] == "vertices" and f"edge_{measure['name']}" in declared():
        parser.add_argument(
            "--edges", action="store_true",
            help=f"scores of the edges: the subcommand edge-{measure['name'].replace('_', '-')}, "
            "with its options",
        )  # fmt: skip
    if measure["of"] != "edges":
        parser.add_argument("--reversed", action="store_true", help="turn every arc around")
    if measure["weights"] == "lengths" and measure["family"] != "distances":
        _common.tie_options(parser)
    if "reduce" in uses:
        parser.add_argument(
            "--reduce", type=_reductions, default="auto", metavar="HOW",
            help="exact reductions before the search: auto (those that pay), none, or some of "
            "fold,blocks,twins,chains",
        )  # fmt: skip
    if measure["seed"]:
        _common.seed_option(parser, "random choices")
    what = "the groups with their scores" if of_groups else "the scores"
    formats = _common.PLAIN_TABLES if of_groups else (*_common.TABLES, *_common.GRAPHS)
    if measure["parts_of"]:
        what, formats = f"the {measure['parts_of']}", (*formats, "txt", "mci")
    _common.out_option(parser, what, formats)
    _common.escape_option(parser)
    if not of_groups:
        parser.add_argument(
            "--plot", metavar="FILE",
            help="write a figure: .png .svg .pdf; "
            + (f"a map coloured by {measure['parts_of']}" if measure["parts_of"] else
               "with coordinates, a map coloured by the scores")
            + "; as .html, the network to zoom and search in a browser",
        )  # fmt: skip
    _common.top_option(parser)
    _common.json_option(parser)
    engines = [engine for engine in measure["engines"] if engine != "tiny"]
    running = _common.run_options(parser, engines if "engine" in uses else ())
    if "dtype" in uses:
        running.add_argument(
            "--dtype", choices=("float32", "float64"), default="float64",
            help="type of the scores (float64)",
        )  # fmt: skip
    if "checkpoint" in uses:
        own = any(option["name"] == "time_limit" for option in measure["options"])
        _common.checkpoint_option(running, limited=not own)


def _option(
    parser: argparse.ArgumentParser, *, name: str, flag: str, kind: str, help: str, required: bool,
    default: Any, choices: list[str], random: bool, automatic: bool, demand: str,
) -> None:  # fmt: skip
    """Adds the option of an argument, by its kind (torchcent.engines.measures._measures.Option)."""
    if kind == "group":
        parser.add_argument("--group", action="append", default=[], metavar="NAME,...", help=help)
        parser.add_argument("--groups", metavar="FILE", help="a file with one group per line")
        return
    by_kind: dict[str, dict[str, Any]] = {
        "flag": {"action": argparse.BooleanOptionalAction},
        "number": (
            {"type": _number_or_auto, "metavar": "X|auto"}
            if automatic
            else {"type": float, "metavar": "X"}
        ),
        "count": {"type": int, "metavar": "N"},
        "word": {"choices": choices},
        "lengths": {"type": _lengths, "metavar": "LENGTH[,...]"},
        "vertices": (
            {"type": _common.vertices, "metavar": "FILE|K"} if random else {"metavar": "FILE"}
        ),
        "values": {"metavar": "FILE"},
        "value": {"type": _number_or_file, "metavar": "FILE|X"},
        "parts": {"metavar": "FILE"},
        "decay": {"type": _decay, "metavar": "NAME,X"},
        "columns": {"type": _common.names, "metavar": "NAME,..."},
    }
    details = by_kind[kind]
    text = f"{help}, or K random ones" if random else help
    text += ", or auto: one that suits the graph" * automatic
    if default is not None:
        text += f" (default: {_shown(default)})"
    if kind != "flag":
        details["required"] = required
    group = parser.add_mutually_exclusive_group() if demand else parser
    action = group.add_argument(f"--{flag.replace('_', '-')}", help=text, **details)
    action.default = default  # here, since some versions of Python add that of a flag to its help
    if demand:
        group.add_argument(
            f"--{demand}", metavar="FILE",
            help=f"how much {'begins' if name == 'sources' else 'ends'} at each vertex: its name "
            "and a number >= 0 per line; a path counts as often as the product of its ends",
        )  # fmt: skip


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    return ",".join(default) if isinstance(default, list) else f"{default}"


def _reductions(text: str) -> str | list[str]:
    return text if text in ("auto", "none") else text.split(",")


def _lengths(text: str) -> float | list[float]:
    """Parses ``2`` or ``2,3,4``."""
    lengths = _common.numbers(text)
    return lengths if len(lengths) > 1 else lengths[0]


def _decay(text: str) -> list[str | float]:
    """Parses ``exponential,0.005``."""
    name, _, number = text.rpartition(",")
    try:
        return [name, float(number)]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}; accepted: a name and a number, such as exponential,0.005"
        ) from None


def _number_or_auto(text: str) -> float | None:
    try:
        return None if text == "auto" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: a number or auto") from None


def _number_or_file(text: str) -> float | str:
    try:
        return text if os.path.exists(text) else float(text)
    except ValueError:
        return text
