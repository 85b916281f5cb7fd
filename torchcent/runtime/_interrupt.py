"""How the command ``torchcent`` handles Ctrl-C."""

from __future__ import annotations

import sys
from types import FrameType

INTERRUPTED = 130
"""The exit status that shells report for a process ended by Ctrl-C: 128 + SIGINT."""

_raised = False  # whether `interrupt` has raised


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt like Python's own handler, unless one is already propagating.

    A second one would skip the code that removes temporary files.
    """
    global _raised
    if came_of_interrupt(sys.exception()):
        return
    _raised = True
    sys.unraisablehook = _ignored
    raise KeyboardInterrupt


def came_of_interrupt(error: BaseException | None) -> bool:
    """Returns whether an error is a KeyboardInterrupt or was raised while one was propagating.

    For example, closing a ZipFile raises if the interrupt left an entry open. NumPy's C code can
    replace an interrupt by a TypeError that does not refer to it, so any error counts once
    `interrupt` has raised.
    """
    if _raised and error is not None:
        return True
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _ignored(unraisable: object) -> None:
    """Ignores errors of partially written objects that are freed after an interrupt."""
