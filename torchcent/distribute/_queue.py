"""The queue of the units of a search: workers take units from it and give it their results."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Protocol

import torch
from torch import Tensor

from torchcent.distribute._totals import Totals
from torchcent.distribute._units import Result, Search
from torchcent.runtime._codes import CANCEL, DONE

_POLL_SECONDS = 0.05
# Units per worker that may be finished before their turn: their results wait in memory, or, with a
# ledger, on the disk. A worker may thus be so many times as slow as the others before they wait.
_AHEAD = 4


class WorkQueue(Protocol):
    """What a worker knows of the others."""

    def take(self, control: Tensor) -> int | None:
        """The next unit; None if there is none, or after CANCEL."""

    def rung(self, control: Tensor, wait: bool) -> int:
        """The rung on which units begin: that of the search until the first unit has been finished,
        for which `wait` waits."""

    def outputs(self, unit: int, device: torch.device) -> tuple[Tensor, ...]:
        """Zero-filled outputs of a unit."""

    def give(self, result: Result) -> None: ...


class LocalQueue:
    """The queue of the process that has the sums, shared by threads."""

    def __init__(self, totals: Totals, workers: int) -> None:
        self.totals = totals
        self._home = home = totals.search.totals[0].device
        self._stream = torch.cuda.current_stream(home) if home.type == "cuda" else None
        self._asides: dict[torch.device, torch.cuda.Stream] = {}
        self._busy = False  # whether the device of the sums, on CUDA, computes a unit
        self._ahead = _AHEAD * workers if workers > 1 else 1
        self._out: set[int] = set()
        self._change = threading.Condition()
        self._error: BaseException | None = None

    @property
    def at_end(self) -> bool:
        return self._error is not None or self.totals.complete

    def take(self, control: Tensor) -> int | None:
        with self._change:
            while not (self.at_end or control[CANCEL]):
                unit = self.take_now()
                if unit is not None:
                    return unit
                self._change.wait(_POLL_SECONDS)
        return None

    def take_now(self) -> int | None:
        """The first unit that nobody has; None if there is none, or it would be too far ahead."""
        with self._change:
            first = self.totals.next
            last = min(first + self._ahead, len(self.totals.search.sizes))
            for unit in range(first, last):
                if unit not in self._out and not self.totals.has(unit):
                    self._out.add(unit)
                    return unit
        return None

    def rung(self, control: Tensor, wait: bool) -> int:
        with self._change:
            while wait and self.totals.rung is None and not (self.at_end or control[CANCEL]):
                self._change.wait(_POLL_SECONDS)
            rung = self.totals.rung
            return self.totals.search.rung if rung is None else rung

    def outputs(self, unit: int, device: torch.device) -> tuple[Tensor, ...]:
        with self._change:
            self._busy = self._busy or self._is_home(device)
        return self.totals.outputs(unit, device)

    def _is_home(self, device: torch.device) -> bool:
        return self._stream is not None and device == self._home

    def give(self, result: Result) -> None:
        device = result.parts[0].device
        with self._change:
            if self._is_home(device):
                self._busy = False
            elif device.type == "cuda" and device not in self._asides:
                self._asides[device] = torch.cuda.Stream(device)
            # An addition would wait for the unit that this device computes, and the giver with it.
            self._add(result, free=not self._busy)
            self._out.discard(result.unit)
            self._change.notify_all()

    def _add(self, result: Result, free: bool) -> None:
        """Adds it, and those that wait: these are copied on streams that wait for no unit."""
        asides = list(self._asides.values()) if free else []
        with ExitStack() as stack:
            for stream in (*asides, self._stream):  # the last is that in which the sums are read
                stack.enter_context(torch.cuda.stream(stream))
            self.totals.add(result, free)
        for stream in asides:
            stream.synchronize()  # what has been copied can be overwritten now

    def fail(self, error: BaseException) -> None:
        """Lets all workers stop; the first error counts."""
        with self._change:
            self._error = self._error or error
            self._change.notify_all()

    def check(self) -> None:
        """Raises the error of a worker."""
        if self._error is not None:
            raise self._error


def work(
    queue: WorkQueue, search: Search, inputs: object, device: torch.device, control: Tensor,
    show: Callable[[], None] | None = None,
) -> None:  # fmt: skip
    """Computes units until there are none, or CANCEL is set."""
    while (unit := queue.take(control)) is not None:
        begin, rung = time.perf_counter(), queue.rung(control, wait=False)
        while True:
            parts = queue.outputs(unit, device)
            highest = search.run(inputs, search.part(unit), parts, rung, control, show)
            if control[CANCEL]:
                return
            # Units that began before the first was finished have to be on its rung.
            right = queue.rung(control, wait=True) if unit else rung
            if right == rung:
                break
            rung, control[DONE] = right, control[DONE] - search.sizes[unit]
        if device.type == "cuda":
            torch.cuda.current_stream(device).synchronize()
        queue.give(Result(unit, parts, highest, time.perf_counter() - begin))
