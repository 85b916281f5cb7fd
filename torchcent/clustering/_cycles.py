"""Flows that repeat: fixed points, and flows that alternate for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable

from torch import Tensor


class Cycles:
    """Finds out when a flow repeats exactly; every later one then repeats, too.

    A flow is read only if its summary has occurred before, which is rare in runs that converge.
    A cycle is therefore found in its third round at the latest. Instead of flows, 32 bytes of each
    are kept.
    """

    def __init__(self) -> None:
        self._count = 0
        self._told: set[Hashable] = set()
        self._seen: dict[bytes, int] = {}

    def period(self, told: Hashable, read: Callable[[], bytes]) -> int:
        """Of the flow of the next iteration: after how many iterations it repeats; 0 if unknown.

        Args:
            told: a summary of the flow that leads to it: equal flows have equal summaries.
            read: returns a digest of the flow.
        """
        self._count += 1
        if told not in self._told:
            self._told.add(told)
            return 0
        return self._count - self._seen.setdefault(read(), self._count)


def digest(*arrays: Tensor) -> bytes:
    """32 bytes that differ whenever a bit or a shape of the arrays differs."""
    found = hashlib.blake2b(digest_size=32)
    for array in arrays:
        found.update(str((array.dtype, *array.shape)).encode())
        found.update(array.cpu().contiguous().view(-1).numpy().data)
    return found.digest()
