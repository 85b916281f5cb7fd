"""The command line: ``torchcent betweenness | closeness | ... | mcl | info | resume | ...``.

The options are defined beside the package, in ``_torchcent_command``, without importing PyTorch.
Measures are derived from their declarations: ``_scores.py`` runs those that have scores,
``_whole.py`` those of a whole graph. ``_arguments.py`` has the arguments of their functions,
``_columns.py`` their results. Commands for pairs of vertices
and whole graphs are in ``_pairs.py``, those that find groups in ``_groups.py`` and ``_mcl.py``,
that for graphs that change in ``_stream.py`` and ``_changes.py``. What is known of interrupted runs
is in ``_ledgers.py``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import _torchcent_command
from _torchcent_command._parser import parsed
from torchcent.cli import (
    _common,
    _files,
    _groups,
    _ledgers,
    _mcl,
    _pairs,
    _scores,
    _stream,
    _whole,
)
from torchcent.distribute._group import Stopped
from torchcent.distribute._ledger import recording
from torchcent.engines.measures._measures import MEASURES
from torchcent.runtime._interrupt import (
    came_of_interrupt,
    cause_of_interrupt,
    ended_by_signals,
    status_of_interrupt,
)

__all__ = ["COMMANDS", "main", "run"]

#: errors whose messages are printed without a traceback
_TOLD = (
    ValueError, TypeError, OSError, ImportError, MemoryError, NotImplementedError, OverflowError,
    Stopped,
)  # fmt: skip


def _resume(args: argparse.Namespace) -> None:
    """Runs a recorded command again, in the folder in which it ran."""
    folder, command = os.path.abspath(args.checkpoint), _ledgers.recorded(args.checkpoint)
    with contextlib.chdir(command.folder), recording(command._asdict()):
        again = parsed(command.arguments)
        if again.command == "resume" or "checkpoint" not in again:
            raise ValueError(f"{args.checkpoint}: {again.command} cannot be continued")
        again.checkpoint = folder  # it may have been moved
        again.quiet = again.quiet or args.quiet
        if args.stop_after is not None:
            again.stop_after = args.stop_after
        if _common.leads():
            _common.remark(again, f"continues {command}")
        _call(again)


#: what runs the subcommands that are no measures
COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    **_pairs.COMMANDS, **_groups.COMMANDS, **_mcl.COMMANDS, **_stream.COMMANDS, **_files.COMMANDS,
    "resume": _resume,
}  # fmt: skip


def _call(args: argparse.Namespace) -> None:
    seconds = getattr(args, "stop_after", None)
    if seconds is not None and args.checkpoint is None:
        raise ValueError("--time-limit needs --checkpoint FOLDER, which keeps what is finished")
    if args.command == "resume":  # the command that continues has the limit
        _resume(args)
        return
    with ended_by_signals(seconds):
        COMMANDS.get(args.command, _measure)(args)


def _measure(args: argparse.Namespace) -> None:
    """Runs the subcommand of a measure."""
    measure = MEASURES[args.command.replace("-", "_")]
    (_whole.describe if measure.of == "graph" else _scores.score)(args, measure)


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Prints warnings as lines, each once: steps of a command may find the same."""
    texts: set[str] = set()

    def show(message: Warning | str, *rest: Any) -> None:
        if str(message) not in texts:
            texts.add(str(message))
            print(f"torchcent: warning: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line. Returns the exit status.

    It is 0, 2 for invalid input, 128 + the number of a signal that ended it (130 for Ctrl-C, 143
    for SIGTERM), 124 after --time-limit.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    args = _torchcent_command.begin(words)
    return args if isinstance(args, int) else run(args, words)


def run(args: argparse.Namespace, arguments: list[str]) -> int:
    """Runs a subcommand, given the parsed arguments and the arguments themselves."""
    checkpoint = getattr(args, "checkpoint", None)
    try:
        with _plain_warnings(), contextlib.ExitStack() as stack:
            if checkpoint is not None:
                stack.enter_context(recording(_ledgers.Command(arguments, os.getcwd())._asdict()))
            _call(args)
            sys.stdout.flush()
    except SystemExit as stop:  # a recorded command that this version does not have
        return int(stop.code or 0)
    except BrokenPipeError:  # the reader closed the pipe, such as `| head`
        return _torchcent_command.closed_pipe()
    except BaseException as error:
        if came_of_interrupt(error):
            more = ""
            if checkpoint is not None and _ledgers.is_ledger(Path(checkpoint)):
                more = f"; torchcent resume {shlex.quote(checkpoint)} continues"
            elif checkpoint is not None and os.path.isfile(checkpoint):  # of stream
                more = "; the same command continues"
            print(f"torchcent: {cause_of_interrupt()}{more}", file=sys.stderr)
            return status_of_interrupt()
        if not isinstance(error, _TOLD):
            raise
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"torchcent: error: {text}", file=sys.stderr)
        return 2
    return 0
