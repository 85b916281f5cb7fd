"""The command ``torchcent``, which answers Ctrl-C from its first line on.

A module of its own, outside of the package: importing that takes a second or two (PyTorch), and an
interrupt within it would end in a traceback, or in an ImportError of a library half loaded.
"""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""The exit status that shells give a process that Ctrl-C ended: 128 + SIGINT."""


_raised = False  # has `interrupt`?


def main() -> int:
    """The entry point of the console script: returns the exit status."""
    # Whoever starts a job in the background has it ignore Ctrl-C; then it stays so.
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _leave)
    from torchcent.cli import main as command

    try:
        if ours:
            signal.signal(signal.SIGINT, interrupt)
        status = command()
        if ours:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done: leave in peace
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = INTERRUPTED
    return status


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt, as Python's own handler does, but not a second one while the first
    is on its way out: it would skip what removes temporary files."""
    global _raised
    if came_of_interrupt(sys.exception()):
        return
    _raised = True
    sys.unraisablehook = _ignored
    raise KeyboardInterrupt


def came_of_interrupt(error: BaseException | None) -> bool:
    """Is it a KeyboardInterrupt, or what was raised while that was on its way out? A ZipFile, for
    one, refuses to be closed where the interrupt left an entry open; NumPy's C code has made a
    TypeError of it that does not name it, so that any error counts once `interrupt` has raised."""
    if _raised and error is not None:
        return True
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _ignored(unraisable: object) -> None:
    """What is freed after an interrupt, half written, may complain in vain."""


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Ends the process where there is nothing to clean up yet."""
    os.write(2, b"torchcent: interrupted\n")
    os._exit(INTERRUPTED)
