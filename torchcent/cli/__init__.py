"""The command line: ``torchcent betweenness | closeness | ... | mcl | info | generate``.

Each vertex measure is a :class:`Measure` in ``MEASURES``: its name, its help, its options and the
function that computes the scores of a graph. Reading, output, table, plot and errors are shared.
Commands for pairs of vertices and whole graphs are in ``_pairs.py``, clustering is in ``_mcl.py``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import torchcent
from torchcent.cli import _files, _mcl, _pairs, _scores
from torchcent.cli._scores import MEASURES, Measure
from torchcent.runtime._interrupt import INTERRUPTED, came_of_interrupt

__all__ = ["MEASURES", "Measure", "main"]

_EXAMPLES = """\
  torchcent betweenness friends.csv --top 10            # the ten most central vertices
  torchcent betweenness soc.txt.gz -o scores.csv --plot scores.png
  torchcent betweenness road.gr --sources 512 --seed 1  # estimate from 512 pivots
  torchcent betweenness web.mtx --approx 0.001 --time-limit 60
  torchcent betweenness networkx:les_miserables --edges         # edges instead of vertices
  torchcent betweenness road.gr --weights               # by the lengths in the file
  torchcent betweenness ppi.tsv --similarity inverse    # the third column is a similarity
  torchcent closeness soc.txt.gz -o scores.csv          # exact, of all vertices
  torchcent closeness links.csv --directed --outgoing   # distances from the vertex, not to it
  torchcent harmonic road.gr --sources 512 --normalized
  torchcent eccentricity roads.csv --component          # within each component
  torchcent diameter roads.csv --average --effective 0.9
  torchcent apsp friends.csv -o dist.npy                # distances of all pairs
  torchcent apsp roads.csv -o dist.npy --sources 100 > rows.txt
  torchcent closure calls.csv --directed -o calls.npz   # who reaches whom
  torchcent mcl ppi.abc -I 2.0 -o clusters.txt          # Markov clustering, like mcl
  torchcent mcl ppi.tsv --sweep 1.4,2,4,6 --plot sweep.png      # which inflation?
  torchcent info web.mtx                                # a summary and the execution plan
  torchcent convert web.mtx.gz web.parquet
  torchcent generate rmat --scale 16 --edge-factor 8 -o rmat.npz"""

_GRAPHS = """\
GRAPH is a file (edge lists .txt .tsv .csv .edges .el, .abc, .mci, .mtx, .graph, .gr, .graphml,
.gml, .npz, .npy, .pt, .parquet; each also .gz .bz2 .xz .zst) or networkx:NAME with NAME one of
les_miserables, karate_club, davis_southern_women, florentine_families."""


def _epilog(command: str = "", more: str = "") -> str:
    """The examples of a command, or of all commands, additional text, and the forms of GRAPH."""
    lines = [x for x in _EXAMPLES.split("\n") if x.startswith(f"  torchcent {command}")]
    return "\n\n".join(filter(None, ["\n".join(["examples:", *lines]), more, _GRAPHS]))


#: errors whose messages are printed without a traceback
_TOLD = (
    ValueError, TypeError, OSError, ImportError, MemoryError, NotImplementedError, OverflowError,
)  # fmt: skip


class _Parser(argparse.ArgumentParser):
    """Reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"torchcent: error: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="torchcent", description="Exact centrality, distances and clustering of graphs.",
        epilog=_epilog(), formatter_class=raw,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=torchcent.__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, text: str, more: str = "") -> argparse.ArgumentParser:
        return commands.add_parser(
            name, help=text, description=text[0].upper() + text[1:] + ".",
            epilog=_epilog(name, more), formatter_class=raw,
        )  # fmt: skip

    _scores.add_parsers(add)
    _pairs.add_parsers(add)
    _mcl.add_parsers(add)
    _files.add_parsers(add)
    return parser


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    def show(message: Warning | str, *rest: Any) -> None:
        print(f"torchcent: warning: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line. Returns the exit status: 0, 2 for invalid input, 130 for Ctrl-C."""
    try:
        args = _parser().parse_args(arguments)
        with _plain_warnings():
            args.call(args)
            sys.stdout.flush()
    except SystemExit as stop:  # raised by argparse
        return int(stop.code or 0)
    except BrokenPipeError:  # the reader closed the pipe, such as `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except BaseException as error:
        if came_of_interrupt(error):
            print("torchcent: interrupted", file=sys.stderr)
            return INTERRUPTED
        if not isinstance(error, _TOLD):
            raise
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"torchcent: error: {text}", file=sys.stderr)
        return 2
    return 0
