"""The diameter of a strongly connected graph, from few searches.

A pair (s, t) is settled when d(s, t) is known to be at most low, the largest distance found. The
distances of a root u are kept. A root settles s if d(s, u) + max d(u, t) <= low over all t that are
not settled themselves, and likewise for t. Each settled vertex lowers the maxima of all roots. With
one root, and vertices searched from the farthest inwards, this is iFUB (Crescenzi et al. 2013). The
maximum over all t (Takes and Kosters 2011) settles less but needs no stored distances, so every
search contributes it. Roots are chosen as in SumSweep (Borassi et al. 2015): vertices far from all
previous roots, which find long distances, and most central ones, which settle vertices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from torchcent.distances._bounds import Bounds, Indices, Vector, worth

ROOTS = 8
TRIAL = 8  # single searches between checks that they settle enough
FEW = 16  # worth() up to which single searches are tried before batches
BATCH = 512
BATCHES = 16  # at a time, if they are shared or kept
_WORTH_ANOTHER_ROUND = 16  # repeat if the last round dropped more than 1/16


@dataclass(eq=False)
class _Side:
    """Vertices at which longer paths may begin (or end), with their distances to the roots."""

    place: Indices
    rows: list[Vector]  # per root, the distance from each vertex to it (or to each vertex)

    def keep(self, mask: NDArray[np.bool_]) -> None:
        if not mask.all():
            self.place, self.rows = self.place[mask], [row[mask] for row in self.rows]

    def drop(self, which: Indices) -> None:
        mask = np.ones(self.place.size, bool)
        mask[which] = False
        self.keep(mask)


class LongestDistance:
    """The search for the diameter of the component of `bounds`."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.low = bounds.longest
        out, back = bounds.root
        everything = np.arange(out.size)
        self.begin = _Side(everything, [back])
        self.end = self.begin if back is out else _Side(everything, [out])

    def run(self) -> float:
        for turn in range(1, ROOTS):
            if not self._settle():
                return self.low
            self._add_root(*self._search(self._next_root(turn)))
        if worth(self.bounds.root[0]) <= FEW:
            self._search_singly()
        # With others, it must not depend on the threads of each.
        alone = self.bounds.request.scale is None
        size = BATCH * (torch.get_num_threads() if alone else BATCHES)
        while self._settle():
            self._search_batch(size)
            size *= 2
        return self.low

    @property
    def enough(self) -> float:
        """The bound at which a path is settled: `low`, or slightly less where sums are rounded."""
        return self.low * (1 - self.bounds.slack)

    def _settle(self) -> bool:
        """Drops vertices whose paths are at most `low` long; returns whether others are left."""
        begin, end = self.begin, self.end
        if self.bounds.slack:  # else searched vertices are settled by their own bounds
            for side in {id(side): side for side in (begin, end)}.values():
                side.keep(~self.bounds.exact[side.place])
        while begin.place.size and end.place.size:
            before = begin.place.size + end.place.size
            begin.keep(self._bound(begin, end) > self.enough)
            if end is not begin and begin.place.size:
                end.keep(self._bound(end, begin) > self.enough)
            fewer = before - begin.place.size - end.place.size
            if fewer * _WORTH_ANOTHER_ROUND <= before:
                return begin.place.size > 0 and end.place.size > 0
        return False

    def _bound(self, side: _Side, other: _Side) -> Vector:
        """For each vertex, an upper bound on the length of a path from it to the other side."""
        bound: Vector = side.rows[0] + other.rows[0].max()
        for row, onward in zip(side.rows[1:], other.rows[1:], strict=True):
            np.minimum(bound, row + onward.max(), out=bound)
        if side is self.begin:
            np.minimum(bound, self.bounds.upper[side.place], out=bound)
        return bound

    def _search(self, place: int) -> tuple[Vector, Vector]:
        out, back = self.bounds.search(place)
        self.low = max(self.low, self.bounds.longest)
        return out, back

    def _add_root(self, out: Vector, back: Vector) -> None:
        self.begin.rows.append(back[self.begin.place])
        if self.end is not self.begin:
            self.end.rows.append(out[self.end.place])

    def _next_root(self, turn: int) -> int:
        """Two vertices farthest from all roots, then a most central one, in turn."""
        bounds = self.bounds
        if turn % 3 == 0:
            return bounds.most_central(np.flatnonzero(~bounds.exact))
        fresh = self.begin.place[~bounds.exact[self.begin.place]]
        return int(fresh[bounds.sum[fresh].argmax()])

    def _search_singly(self) -> None:
        """Searches one by one: on meshes each settles a neighbourhood, until few are left."""
        least = TRIAL * worth(self.bounds.root[0])
        before, searches = self.bounds.vertex.size, 0
        while self._settle():
            left = self.begin.place.size
            if searches == TRIAL:
                if before - left < least:
                    return
                before, searches = left, 0
            bound = self._bound(self.begin, self.end)
            places = self.begin.place[bound == bound.max()]
            self._search(int(places[self.bounds.sum[places].argmax()]))
            searches += 1

    def _search_batch(self, size: int) -> None:
        fewer = self.begin.place.size <= self.end.place.size
        side, other = (self.begin, self.end) if fewer else (self.end, self.begin)
        far = np.argsort(-self._bound(side, other), kind="stable")[:size]
        lengths = self.bounds.largest_distances(side.place[far], backward=side is not self.begin)
        self.low = max(self.low, lengths.max().item())
        side.drop(far)
