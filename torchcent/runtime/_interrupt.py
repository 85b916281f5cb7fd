"""How the command ``torchcent`` takes Ctrl-C."""

from __future__ import annotations

import sys
from types import FrameType

INTERRUPTED = 130
"""The exit status that shells give a process that Ctrl-C ended: 128 + SIGINT."""

_raised = False  # has `interrupt`?


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
