"""How the command ``torchcent`` handles Ctrl-C, signals that end it, and its time limit."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

OUT_OF_TIME = 124
"""The exit status of a run that reached its --time-limit, as that of timeout(1)."""
_ENDING = ("SIGTERM", "SIGUSR1")  # what Slurm and others send before they kill

_raised = False  # whether `interrupt` has raised
_number = int(signal.SIGINT)  # of the signal for which it did


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt like Python's own handler, unless one is already propagating.

    A second one would skip the code that removes temporary files.
    """
    global _raised, _number
    if came_of_interrupt(sys.exception()):
        return
    _raised, _number = True, number
    sys.unraisablehook = _ignored
    raise KeyboardInterrupt


def status_of_interrupt() -> int:
    """The exit status that shells report for a process ended by the signal, or OUT_OF_TIME."""
    return OUT_OF_TIME if _of_clock() else 128 + _number


def cause_of_interrupt() -> str:
    """What a message says of it."""
    if _of_clock():
        return "the time limit is reached"
    if _number == signal.SIGINT:
        return "interrupted"
    return f"ended by {signal.Signals(_number).name}"


def _of_clock() -> bool:
    return _number == getattr(signal, "SIGALRM", None)


@contextmanager
def ended_by_signals(seconds: float | None = None) -> Iterator[None]:
    """Lets SIGTERM, SIGUSR1, and the clock after some seconds, interrupt as Ctrl-C does.

    Signals that somebody handles or ignores already are left alone, and those of threads.
    """
    global _raised, _number
    _raised, _number = False, int(signal.SIGINT)
    usual: dict[int, Any] = {}
    alone = threading.current_thread() is not threading.main_thread()
    if seconds is not None and (alone or not hasattr(signal, "setitimer")):
        raise ValueError("--time-limit: there is no clock here that interrupts, as on Windows")
    if not alone:
        numbers = [getattr(signal, name, None) for name in _ENDING]
        for number in filter(None, numbers):
            if signal.getsignal(number) is signal.SIG_DFL:
                usual[number] = signal.signal(number, interrupt)
        if seconds is not None:
            usual[signal.SIGALRM] = signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if seconds is not None and usual:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in usual.items():
            signal.signal(number, handler)


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
