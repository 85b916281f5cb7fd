"""Flows that repeat: fixed points, and flows that alternate for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable

from torch import Tensor


class Cycles:
    """Finds out when a flow repeats exactly; every later one then repeats, too. A flow is read only
    if its summary has occurred before, so a cycle is found in its third round at the latest."""

    def __init__(self) -> None:
        self._count = 0
        self._summaries: set[Hashable] = set()
        self._digests: dict[bytes, int] = {}

    def period(self, summary: Hashable, flow: Callable[[], bytes]) -> int:
        """Of the flow of the next iteration: after how many iterations it repeats; 0 if unknown.
        Equal flows have equal summaries; flow() returns a digest."""
        self._count += 1
        if summary not in self._summaries:
            self._summaries.add(summary)
            return 0
        return self._count - self._digests.setdefault(flow(), self._count)


def digest(*arrays: Tensor) -> bytes:
    """32 bytes that differ whenever a bit or a shape of the arrays differs."""
    state = hashlib.blake2b(digest_size=32)
    for array in arrays:
        state.update(str((array.dtype, *array.shape)).encode())
        state.update(array.cpu().contiguous().view(-1).numpy().data)
    return state.digest()
