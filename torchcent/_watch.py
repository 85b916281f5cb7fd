"""Runs long work so that its progress is seen and Ctrl-C leaves nothing behind."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from tqdm import tqdm

_POLL_SECONDS = 0.1


def watched(work: Callable[[], None], control: Tensor, bar: tqdm) -> None:
    """Works in a thread, so that this one can move the bar and hear Ctrl-C at once.

    `control` is an int64 tensor [cancel, sources done, ...] on the host, which the operators share:
    they stop soon after the first entry is set, and count in the second.
    """
    errors: list[BaseException] = []
    finished = threading.Event()

    def run() -> None:
        try:
            work()
        except BaseException as error:  # handed to the caller's thread
            errors.append(error)
        finally:
            finished.set()

    with _noted_interrupt() as interrupted:
        thread = threading.Thread(target=run, name="torchcent")
        thread.start()
        try:
            while not finished.wait(_POLL_SECONDS):
                bar.update(int(control[1]) - bar.n)
                if interrupted:
                    control[0] = 1
        except BaseException:
            control[0] = 1
            raise
        finally:
            finished.wait()
            thread.join()
    bar.update(int(control[1]) - bar.n)
    if errors:
        raise errors[0]


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
    Handlers other than Python's own are left in place.
    """
    noted: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield noted
        return
    signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
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
