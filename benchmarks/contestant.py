"""One column of a table on one graph, and what is done with its scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import Peer, Scores, Torchcent
from worker import Worker


@dataclass
class Contestant:
    """A library with its options, its worker, its times."""

    name: str
    kind: type[Peer]
    threads: int
    options: dict[str, Any] = field(default_factory=dict)
    worker: Worker | None = None
    num_sources: int = 0
    scores: Scores = None
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def ours(self) -> bool:
        return issubclass(self.kind, Torchcent)

    def fail(self, reason: str) -> None:
        self.record["error"] = reason
        print(f"    {self.name}: {reason}", flush=True)
        self.close()

    def close(self) -> None:
        if self.worker is not None:
            self.worker.close()
        self.worker = None


def chosen(order: NDArray[np.int64], k: int) -> NDArray[np.int64] | None:
    return None if k == len(order) else np.sort(order[:k])


def disagreement(ours: Scores, theirs: Scores) -> dict[str, Any]:
    """Largest error of ours relative to theirs where finite, and how many are not finite.

    Scores under 1e-9 of the largest count as that large: a sum that cancels to 1e-13 is no error.
    """
    assert ours is not None and theirs is not None
    finite = np.isfinite(theirs) & np.isfinite(ours)
    floor = max(1e-9 * float(np.abs(ours[finite]).max(initial=0.0)), 1e-300)
    error = np.abs(ours - theirs)[finite] / np.maximum(np.abs(theirs[finite]), floor)
    return {
        "max_relative_error": float(error.max(initial=0.0)),
        "not_finite": int((~np.isfinite(theirs)).sum()),
        "ours_not_finite": int((~np.isfinite(ours)).sum()),
    }
