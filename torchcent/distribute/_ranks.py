"""Ranks: rank 0 hands out units through the store of the process group, and has the sums.

Every message is an entry of the store with the next number of a counter, so that rank 0 reads them
in the order in which they were sent. Results follow their message through the group. Nothing waits
in a collective while others compute: each wait also ends when a rank has reported an error.
"""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor

from torchcent.distribute._group import POLL_SECONDS as _POLL_SECONDS
from torchcent.distribute._group import Channel, Stopped, check_same
from torchcent.distribute._queue import LocalQueue
from torchcent.distribute._units import Result, Search
from torchcent.runtime._codes import CANCEL, DONE

_SENDING = 2  # results of a rank on their way; each holds its outputs


class Service(threading.Thread):
    """The thread of rank 0 that answers the others; `others` counts the sources of these."""

    def __init__(self, channel: Channel, queue: LocalQueue, key: dict[str, object], others: Tensor):
        super().__init__(daemon=True, name="torchcent units of other ranks")
        self._channel, self._queue, self._others = channel, queue, others
        self._waiting: list[dict[str, Any]] = []
        self._missing = set(range(1, channel.group.size))  # ranks that have sent nothing yet
        self._members: set[int] = set()  # those that have, and have not left
        self._rung_sent = False
        channel.set("key", key)

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Waits until all others have left, and tells them that none has failed."""
        group = self._channel.group
        if error is not None:
            group.report(error)
        self.join()
        failure = group.failure(now=True)
        if failure is None:
            self._channel.set("end", None)
        elif error is None:
            raise failure

    def run(self) -> None:
        number, group, failure = 0, self._channel.group, None
        try:
            # After a failure, those that have sent nothing have nothing on its way: they may have
            # failed before this search, and others leave it as soon as they come.
            while self._members or (self._missing and failure is None):
                self._answer()
                failure = failure or group.failure()
                if failure is not None:
                    self._queue.fail(failure)
                if self._channel.has(f"mail-{number}"):
                    self._read(self._channel.take(f"mail-{number}"))
                    number += 1
                else:
                    time.sleep(_POLL_SECONDS)
            if not self._queue.at_end:  # they have left before the end
                self._queue.fail(group.failure(now=True) or Stopped("ranks have left"))
        except BaseException as error:  # raised in the thread that waits for the queue
            self._queue.fail(error)

    def _read(self, message: dict[str, Any]) -> None:
        rank, kind = message["rank"], message["kind"]
        self._missing.discard(rank)
        self._members.add(rank)
        if kind == "take":
            self._waiting.append(message)
        elif kind == "bye":
            self._members.discard(rank)
        else:
            unit, search = message["unit"], self._queue.totals.search
            parts = tuple(self._channel.receive(part, rank) for part in search.outputs(unit))
            if not self._queue.at_end:
                self._others[DONE] += search.sizes[unit]
                self._queue.give(Result(unit, parts, message["rung"], message["seconds"]))

    def _answer(self) -> None:
        queue = self._queue
        if not self._rung_sent and queue.totals.rung is not None:
            self._rung_sent = True
            self._channel.set("rung", queue.totals.rung)
        while self._waiting:
            unit = None if queue.at_end else queue.take_now()
            if unit is None and not queue.at_end:
                return
            message = self._waiting.pop(0)
            self._channel.set(f"reply-{message['rank']}-{message['ticket']}", unit)


class RemoteQueue:
    """The queue as another rank has it; ValueError if that would run another search."""

    def __init__(self, channel: Channel, search: Search, key: dict[str, object]) -> None:
        self._channel, self._search, self._key = channel, search, key
        self._tickets = itertools.count()
        self._sending: list[Future[None]] = []
        self._sender = ThreadPoolExecutor(1)
        self._lock = threading.Lock()
        self._rung: int | None = None
        self._is_member = True

    def __enter__(self) -> RemoteQueue:
        try:
            check_same(self._channel.group, self._wait("key", None), self._key)
        except ValueError as error:
            self.__exit__(None, error, None)
            raise
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Reports an error; in any case, rank 0 takes what is on its way."""
        if error is not None:
            self._channel.group.report(error)
        self._leave()

    def _leave(self) -> None:
        self._sender.shutdown()
        if self._is_member:
            self._post({"kind": "bye"})
        self._is_member = False

    def take(self, control: Tensor) -> int | None:
        ticket = next(self._tickets)
        self._post({"kind": "take", "ticket": ticket})
        unit = self._wait(f"reply-{self._channel.group.rank}-{ticket}", control)
        return None if unit is None else int(unit)

    def rung(self, control: Tensor, wait: bool) -> int:
        if self._rung is None and (wait or self._channel.has("rung")):
            self._rung = self._wait("rung", control)
        return self._search.rung if self._rung is None else self._rung

    def outputs(self, unit: int, device: torch.device) -> tuple[Tensor, ...]:
        return tuple(torch.zeros_like(part, device=device) for part in self._search.outputs(unit))

    def give(self, result: Result) -> None:
        on_host = [part.cpu().contiguous() for part in result.parts]
        message = {
            "kind": "give", "unit": result.unit, "rung": int(result.rung),
            "seconds": result.seconds,
        }  # fmt: skip

        def send() -> None:
            self._post(message)
            for part in on_host:
                self._channel.send(part)

        with self._lock:
            while len(self._sending) >= _SENDING:
                self._sending.pop(0).result()
            self._sending.append(self._sender.submit(send))

    def end(self, controls: Tensor) -> None:
        """Waits for the end of the search, when all results have arrived and none has failed."""
        while self._sending:
            self._sending.pop(0).result()
        self._leave()
        self._wait("end", controls[0])

    def _post(self, message: dict[str, Any]) -> None:
        with self._channel.lock:
            number = self._channel.next()
            self._channel.set(f"mail-{number}", {**message, "rank": self._channel.group.rank})

    def _wait(self, name: str, control: Tensor | None) -> Any:
        """The value of an entry; None after CANCEL."""
        return self._channel.wait(name, lambda: control is not None and bool(control[CANCEL]))
