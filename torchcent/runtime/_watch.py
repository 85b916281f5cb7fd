"""Runs long work so that its progress is seen and Ctrl-C leaves nothing behind."""

from __future__ import annotations

import signal
import sys
import threading
import time
import weakref
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.runtime._codes import CANCEL, DONE
from torchcent.runtime._interrupt import interrupt

_POLL_SECONDS = 0.1


def watched(work: Callable[[], None], control: Tensor, bar: tqdm) -> None:
    """Works in a thread, so that this one can move the bar and hear Ctrl-C at once.

    `control` is the record that the operators share (`_codes.control`): they stop soon after CANCEL
    is set, and count in DONE. Where the system grants no thread the work is done in this one, and
    Ctrl-C is heard when the operator at work has ended.
    """
    with _noted_interrupt() as interrupted:
        thread = _Thread(work)
        try:
            while thread.works():
                bar.update(int(control[DONE]) - bar.n)
                if interrupted:
                    control[CANCEL] = 1
        except BaseException:
            control[CANCEL] = 1
            raise
        finally:
            thread.join()
    if not thread.begun:
        work()
    bar.update(int(control[DONE]) - bar.n)
    if thread.errors:
        raise thread.errors[0]


class _Token:
    """What a thread holds as long as it is there."""


class _Thread:
    """A thread that is known to have ended even if it could not even begin.

    threading.Thread waits for a sign of the new thread, for ever if that has no memory to give it.
    Here the thread holds the last reference to a token, and has ended when that is gone.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self.begun = False
        self.errors: list[BaseException] = []
        self._finished = threading.Event()

        def run(token: _Token) -> None:
            del token  # it is the thread's arguments that hold it, not a traceback
            self.begun = True
            try:
                work()
            except BaseException as error:  # handed to the caller's thread
                self.errors.append(error)
            finally:
                self._finished.set()

        token = _Token()
        self._held = weakref.ref(token)
        # RuntimeError: no thread is granted.
        with suppress(RuntimeError, MemoryError):
            start_new_thread(run, (token,))

    def works(self) -> bool:
        """Is it at work still? Tells after a moment, or when the thread has finished."""
        return self._held() is not None and not self._finished.wait(_POLL_SECONDS)

    def join(self) -> None:
        while self.works():
            pass
        while self._held() is not None:  # on its way out
            time.sleep(0)
        if self.begun and not self._finished.is_set() and not self.errors:
            self.errors.append(MemoryError("no memory was left for the thread that computes"))


def on_device(work: Callable[[], None], device: torch.device) -> Callable[[], None]:
    """The work, on the device and the stream that are current here: they belong to a thread."""
    if device.type != "cuda":
        return work
    stream = torch.cuda.current_stream(device)

    def work_there() -> None:
        with torch.cuda.device(device), torch.cuda.stream(stream):
            work()

    return work_there


@contextmanager
def _noted_interrupt() -> Iterator[list[int]]:
    """Ctrl-C is noted in the list and raised at the end, where nothing is left half done.

    Raised at any line, it could hit the start or the join of the thread and leave it running.
    Handlers other than Python's own, and the command's, are left in place.
    """
    noted: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    if not main or handler not in (signal.default_int_handler, interrupt):
        yield noted
        return
    signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, handler)
    if noted:
        raise KeyboardInterrupt


class _Bar(tqdm):
    monitor_interval = 0  # no thread of its own that would outlive the run


def progress_bar(
    total: int, title: str, progress: bool | None, quick: bool, unit: str = "sources",
    bar_format: str | None = None,
) -> tqdm:  # fmt: skip
    """A bar that shows itself after two seconds on a terminal; `progress` forces it or not."""
    hidden = progress is False or (progress is None and (quick or not sys.stderr.isatty()))
    return _Bar(
        total=total,
        desc=title,
        unit=f" {unit}",
        unit_scale=False,
        delay=0 if progress else 2,
        disable=hidden,
        leave=bool(progress),
        dynamic_ncols=True,
        bar_format=bar_format,
    )
