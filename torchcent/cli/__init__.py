"""The command line: ``torchcent betweenness | closeness | ... | mcl | info | resume | ...``.

Each vertex measure is a :class:`Measure` in ``MEASURES``: its name, its help, its options and the
function that computes the scores of a graph. Reading, output, table, plot and errors are shared.
Commands for pairs of vertices and whole graphs are in ``_pairs.py``, clustering is in ``_mcl.py``,
what is known of interrupted runs in ``_ledgers.py``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import torchcent
from torchcent.cli import _common, _files, _ledgers, _mcl, _pairs, _scores
from torchcent.cli._scores import MEASURES, Measure
from torchcent.runtime._interrupt import INTERRUPTED, came_of_interrupt
from torchcent.scale._group import Stopped
from torchcent.scale._ledger import recording

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
  torchcent betweenness road.gr -o scores.csv --checkpoint road.run   # keep what is finished
  torchcent info road.run                               # how far is it?
  torchcent resume road.run                             # continue after Ctrl-C, kill or a crash
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
    Stopped,
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
    resume = add("resume", "continue an interrupted run, by the command that it began with")
    resume.add_argument("checkpoint", metavar="FOLDER", help="that of --checkpoint")
    resume.set_defaults(call=_resume)
    return parser


def _resume(args: argparse.Namespace) -> None:
    """Runs a recorded command again, in the folder in which it ran."""
    folder, command = os.path.abspath(args.checkpoint), _ledgers.recorded(args.checkpoint)
    with contextlib.chdir(command.folder), recording(command._asdict()):
        again = _parser().parse_args(command.arguments)
        if again.call == _resume or "checkpoint" not in again:
            raise ValueError(f"{args.checkpoint}: {again.command} cannot be continued")
        again.checkpoint = folder  # it may have been moved
        if _common.leads():
            _common.remark(again, f"continues {command}")
        again.call(again)


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    def show(message: Warning | str, *rest: Any) -> None:
        print(f"torchcent: warning: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line. Returns the exit status: 0, 2 for invalid input, 130 for Ctrl-C."""
    checkpoint = None
    try:
        args = _parser().parse_args(arguments)
        checkpoint = getattr(args, "checkpoint", None)
        with _plain_warnings(), contextlib.ExitStack() as stack:
            if checkpoint is not None:
                given = list(sys.argv[1:] if arguments is None else arguments)
                stack.enter_context(recording(_ledgers.Command(given, os.getcwd())._asdict()))
            args.call(args)
            sys.stdout.flush()
    except SystemExit as stop:  # raised by argparse
        return int(stop.code or 0)
    except BrokenPipeError:  # the reader closed the pipe, such as `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except BaseException as error:
        if came_of_interrupt(error):
            more = ""
            if checkpoint is not None and _ledgers.is_ledger(Path(checkpoint)):
                more = f"; torchcent resume {shlex.quote(checkpoint)} continues"
            print(f"torchcent: interrupted{more}", file=sys.stderr)
            return INTERRUPTED
        if not isinstance(error, _TOLD):
            raise
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"torchcent: error: {text}", file=sys.stderr)
        return 2
    return 0
