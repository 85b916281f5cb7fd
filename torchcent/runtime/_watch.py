"""Runs long work with a progress bar and a clean response to Ctrl-C."""

from __future__ import annotations

import functools
import signal
import sys
import threading
import time
import weakref
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.runtime._codes import CANCEL, DONE, control
from torchcent.runtime._interrupt import interrupt

_POLL_SECONDS = 0.1
_HOST = torch.device("cpu")
_ELAPSED = "{desc}: {elapsed}"

T = TypeVar("T")


def watched(work: Callable[[], None], control: Tensor, bar: tqdm) -> None:
    """Runs work in a thread, so that this one can update the bar and respond to Ctrl-C at once.

    `control` is the record shared with the operators (`_codes.control`), or [k, 4] for several:
    they stop soon after CANCEL is set, and count completed sources in DONE. If the system cannot
    start a thread, this one runs the work, and Ctrl-C takes effect when the current operator has
    ended.
    """
    with _noted_interrupt() as interrupted:
        thread = _Thread(work)
        try:
            while thread.works():
                show_done(bar, control)
                if interrupted:
                    control[..., CANCEL] = 1
        except BaseException:
            control[..., CANCEL] = 1
            raise
        finally:
            thread.join()
    if not thread.begun:
        work()
    show_done(bar, control)
    if thread.errors:
        raise thread.errors[0]


def at_work(
    work: Callable[[], None], control: Tensor, bar: tqdm, device: torch.device, inline: bool
) -> None:
    """Runs work on a device: in this thread, if it is inline, or :func:`watched`."""
    if inline:
        work()
        show_done(bar, control)
    else:
        watched(on_device(work, device), control, bar)


def prepared(
    work: Callable[[Tensor], T], title: str, progress: bool | None = False, quick: bool = False,
    device: torch.device = _HOST,
) -> T:  # fmt: skip
    """The result of a preparation, which takes a control record and can be interrupted.

    Its length is not known: the bar shows the time that has passed. Quick work is done at once.
    """
    shared, results = control(), []
    if quick:
        return work(shared)
    with progress_bar(0, title, progress, quick, bar_format=_ELAPSED) as bar:
        watched(on_device(lambda: results.append(work(shared)), device), shared, bar)
    return results[0]


class _Token:
    """An object that a thread references for as long as the thread exists."""


class _Thread:
    """A thread whose end is detected even if it never began to run.

    threading.Thread waits for a signal from the new thread, forever if the thread has no memory to
    send it. Here the thread holds the last reference to a token, and has ended when the token is
    gone.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self.begun = False
        self.errors: list[BaseException] = []
        self._finished = threading.Event()

        def run(token: _Token) -> None:
            del token  # only the thread's arguments hold it, no traceback does
            self.begun = True
            try:
                work()
            except BaseException as error:  # raised again in the caller's thread
                self.errors.append(error)
            finally:
                self._finished.set()

        token = _Token()
        self._held = weakref.ref(token)
        # RuntimeError: the system cannot start a thread.
        with suppress(RuntimeError, MemoryError):
            start_new_thread(run, (token,))

    def works(self) -> bool:
        """Returns whether it is still working, after a short wait or as soon as it has ended."""
        return self._held() is not None and not self._finished.wait(_POLL_SECONDS)

    def join(self) -> None:
        while self.works():
            pass
        while self._held() is not None:  # about to exit
            time.sleep(0)
        if self.begun and not self._finished.is_set() and not self.errors:
            self.errors.append(MemoryError("no memory was left for the thread that computes"))


def on_device(work: Callable[[], None], device: torch.device) -> Callable[[], None]:
    """Binds the work to the current device and stream, which are settings of each thread."""
    if device.type != "cuda":
        return work
    stream = torch.cuda.current_stream(device)

    def work_there() -> None:
        with torch.cuda.device(device), torch.cuda.stream(stream):
            work()

    return work_there


@contextmanager
def _noted_interrupt() -> Iterator[list[int]]:
    """Records Ctrl-C in the list and raises it at the end, when nothing is left half done.

    Raised at any line, it could interrupt the start or the join of the thread and leave it running.
    Handlers other than Python's own and the command's are left in place.
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
    monitor_interval = 0  # no monitor thread, which would outlive the run


@functools.cache
def _hidden_bar() -> tqdm:
    """One for all runs: a quick run should not wait for the making of what is not shown."""
    return _Bar(disable=True)


def progress_bar(
    total: int | None, title: str, progress: bool | None, quick: bool, unit: str = "sources",
    bar_format: str | None = None,
) -> tqdm:  # fmt: skip
    """A progress bar, shown on a terminal after two seconds; `progress` forces or hides it.

    It counts up where the total is not known.
    """
    if progress is False or (progress is None and (quick or not sys.stderr.isatty())):
        return _hidden_bar()
    return _Bar(
        total=total,
        desc=title,
        unit=f" {unit}",
        unit_scale=False,
        delay=0 if progress else 2,
        leave=bool(progress),
        dynamic_ncols=True,
        bar_format=bar_format,
    )


def show_done(bar: tqdm, control: Tensor) -> None:
    """Lets a bar show the completed sources."""
    if not bar.disable:
        bar.update(int(control[..., DONE].sum()) - bar.n)


def start_at(bar: tqdm, done: int) -> None:
    """Lets a bar begin where an earlier run has stopped."""
    if done and not bar.disable:
        bar.initial = bar.n = bar.last_print_n = done
        bar.refresh()
