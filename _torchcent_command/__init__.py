"""The command ``torchcent``: its options, and Ctrl-C from the start.

This is a package beside torchcent. Importing torchcent takes a second or two (PyTorch): --version,
--help, completion and wrong arguments do without. An interrupt during the import would end in a
traceback, or in an ImportError of a partially loaded library.
"""

import contextlib
import gc
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn


def main() -> int:
    """The entry point of the console script; returns the exit status."""
    # Background jobs of a shell ignore Ctrl-C; this setting is kept.
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _leave)
    arguments = sys.argv[1:]
    args = begin(arguments)
    if isinstance(args, int):
        return args
    # What an import leaves stays: the collector need not look at it, now or when the process ends.
    gc.disable()
    from torchcent.cli import run
    from torchcent.runtime._interrupt import interrupt, status_of_interrupt

    gc.freeze()
    gc.enable()
    try:
        if ours:
            signal.signal(signal.SIGINT, interrupt)
        status = run(args, arguments)
        if ours:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = status_of_interrupt()
    return status


def begin(arguments: Sequence[str]) -> Namespace | int:
    """The parsed arguments, or the exit status if nothing remains to be done."""
    try:
        from _torchcent_command._parser import parsed

        args = parsed(arguments or ["--help"])
        text = _text(args)
        if text is None:
            return args
        print(text, flush=True)
        return 0
    except ImportError as error:  # of what writes scripts for shells
        print(f"torchcent: error: {error}", file=sys.stderr)
        return 2
    except SystemExit as stop:  # raised by argparse
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
            return int(stop.code or 0)
        return closed_pipe()
    except BrokenPipeError:  # the reader closed the pipe, such as `| head`
        return closed_pipe()


def _text(args: Namespace) -> str | None:
    """What subcommands about the command itself print; None of all others."""
    if args.command == "completion":
        from _torchcent_command._completion import script

        return script(args.shell)
    if args.command == "man":
        from _torchcent_command._man import pages

        return pages()["torchcent" if args.page is None else f"torchcent-{args.page}"]
    return None


def closed_pipe() -> int:
    """Lets Python end without a message where standard output is closed; the exit status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Terminates the process while there is nothing to clean up."""
    os.write(2, b"torchcent: interrupted\n")
    os._exit(130)
