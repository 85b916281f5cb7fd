"""Options of ``stream``: scores of a graph that changes."""

from __future__ import annotations

import argparse

from _torchcent_command import _common

#: measures that follow a graph, with their own options (torchcent.dynamic)
MEASURES = {
    "betweenness": ("normalized", "state"),
    "closeness": ("wf_improved",),
    "harmonic": ("normalized",),
    "eccentricity": (),
}

_CHANGES = """\
CHANGES is a file, also .gz .bz2 .xz .zst, or - for standard input. Each line is a change: '+ u v'
inserts an edge, '- u v' deletes one, where u and v are names of vertices in GRAPH. With --weights,
'+ u v w' inserts an edge of length w, also in the place of one that is deleted before it. A further
column is a time, which all lines have or none. Columns are separated by tabs if a line has any,
otherwise by blanks. Empty lines and those that begin with # are skipped.

Rows of scores are 'change,label,betweenness', where change is the number of changes so far, or
'time,label,betweenness' with the time of the last one. They are written after each batch. Without
--checkpoint, a file OUT appears when all is done.

With --checkpoint FILE the same command continues after an interruption, kill -9 among them. OUT
then has the bytes of a run without one. CHANGES is read again from its first line, and may have
grown since."""


def add_parsers(add: _common.Add) -> None:
    text = "scores of a graph whose edges come and go, after every N changes"
    add("stream", text, _CHANGES, fill=_options)


def _options(parser: argparse.ArgumentParser) -> None:
    reading = _common.graph_options(parser, "")
    reading.add_argument(
        "--weights", action=argparse.BooleanOptionalAction, default=None,
        help="use the weights of GRAPH as distances, finite and > 0 (default: they do not count, "
        "with a message)",
    )  # fmt: skip
    parser.add_argument(
        "changes", metavar="CHANGES", help="a file of changes, or - for standard input"
    )
    parser.add_argument(
        "--every", type=int, required=True, metavar="N",
        help="changes in a batch; the last one may have fewer",
    )  # fmt: skip
    parser.add_argument(
        "--measure", choices=tuple(MEASURES), default="betweenness",
        help="which scores (betweenness); eccentricity is that within what a vertex reaches",
    )  # fmt: skip
    parser.add_argument(
        "--normalized", action=argparse.BooleanOptionalAction, default=None,
        help="betweenness by the number of pairs (default: yes), harmonic by n - 1 (default: no)",
    )  # fmt: skip
    parser.add_argument(
        "--state", choices=("auto", "rows", "none", "whole"),
        help="what betweenness keeps (auto): rows takes 25 bytes for each pair of vertices, none "
        "searches before and after each batch, whole computes all scores again",
    )  # fmt: skip
    parser.add_argument(
        "--wf-improved", action=argparse.BooleanOptionalAction, default=None,
        help="closeness times the share of the vertices that reach the vertex (default: yes)",
    )  # fmt: skip
    parser.add_argument("--grow", action="store_true", help="names that are new make new vertices")
    parser.add_argument(
        "--strict", action=argparse.BooleanOptionalAction, default=True,
        help="--no-strict skips loops, edges that are there already, and deletions of edges that "
        "are not there; by default they are errors",
    )  # fmt: skip
    rows = parser.add_mutually_exclusive_group()
    rows.add_argument(
        "--top", type=int, metavar="K", help="rows of the K first vertices only, in their order"
    )
    rows.add_argument(
        "--changed", action="store_true", help="rows of vertices whose score has changed only"
    )
    _common.out_option(parser, "the scores (default: standard output)", ("csv", "tsv"))
    _common.escape_option(parser)
    _common.json_option(parser)
    running = _common.run_options(parser)
    running.add_argument(
        "--checkpoint", metavar="FILE",
        help="keep the graph, its scores and what is done there: the same command continues",
    )  # fmt: skip
