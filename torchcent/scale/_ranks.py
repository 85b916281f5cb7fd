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
from types import TracebackType
from typing import Any

import torch
from torch import Tensor

from torchcent.runtime._codes import CANCEL, DONE
from torchcent.scale import _digest
from torchcent.scale._group import Channel, Stopped
from torchcent.scale._hand import Shared
from torchcent.scale._units import Search

_POLL_SECONDS = 0.001
_SENDING = 2  # results of a rank on their way; each holds its outputs


class Service(threading.Thread):
    """The thread of rank 0 that answers the others.

    Args:
        channel: that of this search.
        hand: what is handed out.
        key: which search it is.
        others: the control record that counts the sources of the others.
    """

    def __init__(self, channel: Channel, hand: Shared, key: dict[str, object], others: Tensor):
        super().__init__(daemon=True, name="torchcent units of other ranks")
        self._channel, self._hand, self._others = channel, hand, others
        self._waiting: list[dict[str, Any]] = []
        self._missing = set(range(1, channel.group.size))  # ranks that have sent nothing yet
        self._members: set[int] = set()  # those that have, and have not left
        self._rung_known = False
        channel.set("key", key)

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Waits until all others have left, and tells them that none has failed."""
        if error is not None:
            self._channel.group.report(error)
        self.join()
        found = self._channel.group.failure(now=True)
        if found is None:
            self._channel.set("end", None)
        elif error is None:
            raise found

    def run(self) -> None:
        number = 0
        try:
            failed = False
            # After a failure, those that have sent nothing have nothing on its way: they may have
            # failed before this search, and others leave it as soon as they come.
            while self._members or (self._missing and not failed):
                self._answer()
                error = self._channel.group.failure()
                if error is not None:
                    failed = True
                    self._hand.fail(error)
                if self._channel.has(f"mail-{number}"):
                    self._read(self._channel.take(f"mail-{number}"))
                    number += 1
                else:
                    time.sleep(_POLL_SECONDS)
            if not self._hand.finished:  # they have left before the end
                self._hand.fail(self._channel.group.failure(now=True) or Stopped("ranks have left"))
        except BaseException as error:  # raised in the thread that waits for the hand
            self._hand.fail(error)

    def _read(self, message: dict[str, Any]) -> None:
        rank = message["rank"]
        self._missing.discard(rank)
        self._members.add(rank)
        if message["kind"] == "take":
            self._waiting.append(message)
            return
        if message["kind"] == "bye":
            self._members.discard(rank)
            return
        unit, search = message["unit"], self._hand.tally.search
        results = tuple(self._channel.receive(part, rank) for part in search.outputs(unit))
        if not self._hand.finished:
            self._others[DONE] += search.sizes[unit]
            self._hand.give(unit, results, message["rung"], message["seconds"])

    def _answer(self) -> None:
        hand = self._hand
        if not self._rung_known and hand.tally.rung is not None:
            self._rung_known = True
            self._channel.set("rung", hand.tally.rung)
        while self._waiting:
            unit = None if hand.finished else hand.take_now()
            if unit is None and not hand.finished:
                return
            message = self._waiting.pop(0)
            self._channel.set(f"reply-{message['rank']}-{message['ticket']}", unit)


class Member:
    """The hand of another rank.

    Raises:
        ValueError: it would run another search than rank 0; the message names what differs.
    """

    def __init__(self, channel: Channel, search: Search, key: dict[str, object]) -> None:
        self._channel, self._search, self._key = channel, search, key
        self._tickets = itertools.count()
        self._sending: list[Future[None]] = []
        self._sender = ThreadPoolExecutor(1)
        self._lock = threading.Lock()
        self._rung: int | None = None
        self._left = False

    def __enter__(self) -> Member:
        leading = self._wait("key", None)
        differs = _digest.difference(leading, self._key)
        if differs:
            error = ValueError(
                f"rank {self._channel.group.rank} would run another search than rank 0: {differs}; "
                "all ranks must call with the same graph and arguments"
            )
            self.__exit__(ValueError, error, None)
            raise error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Reports an error; in any case, rank 0 takes what is on its way."""
        if error is not None:
            self._channel.group.report(error)
        self._leave()

    def _leave(self) -> None:
        self._sender.shutdown()
        if not self._left:
            self._post({"kind": "bye"})
        self._left = True

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

    def give(self, unit: int, results: tuple[Tensor, ...], rung: int, seconds: float) -> None:
        on_host = [part.cpu().contiguous() for part in results]
        message = {"kind": "give", "unit": unit, "rung": int(rung), "seconds": seconds}

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
        with self._channel.ordered:
            number = self._channel.next()
            self._channel.set(f"mail-{number}", {**message, "rank": self._channel.group.rank})

    def _wait(self, name: str, control: Tensor | None) -> Any:
        """The value of an entry; None after CANCEL."""
        while not self._channel.has(name):
            error = self._channel.group.failure()
            if error is not None:
                raise error
            if control is not None and control[CANCEL]:
                return None
            time.sleep(_POLL_SECONDS)
        return self._channel.get(name)
