"""The diameter of a strongly connected graph, from few searches.

A pair (s, t) is settled when d(s, t) is known to be at most low, the largest distance found. A root
u, whose distances are kept, settles s altogether if d(s, u) + max d(u, t) <= low over the t that
are not settled themselves, and t likewise; whatever that settles lowers the maxima of all roots.
With one root and vertices searched from the farthest inwards this is iFUB (Crescenzi et al. 2013).
The maximum over all t (Takes and Kosters 2011) settles less, but needs no distances to be kept, so
every search contributes it. Roots are chosen as in SumSweep (Borassi et al. 2015): far from
everything so far, to find long distances, and most central, to settle.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from torchcent._bounds import Bounds, largest_distances, worth

ROOTS = 8
TRIAL = 8  # single searches after which it is judged whether they settle enough
FEW = 16  # vertices that are no reason to hurry to the bits engine
BATCH = 512
_WORTH_ANOTHER_ROUND = 16  # of dropping, if the last one dropped more than this part


@dataclass
class _Side:
    """Vertices with which longer paths than known may begin (or end), by distance to the roots."""

    vertex: Tensor  # int64 [k]
    rows: Tensor  # int32 [roots, k]: from each vertex to the roots (from the roots to it)

    def keep(self, mask: Tensor) -> None:
        if bool(mask.all()):
            return
        self.vertex, self.rows = self.vertex[mask], self.rows[:, mask]

    def drop(self, place: Tensor) -> None:
        left = torch.ones_like(self.vertex, dtype=torch.bool)
        left[place] = False
        self.keep(left)

    def add(self, row: Tensor) -> None:
        self.rows = torch.cat([self.rows, row[self.vertex].unsqueeze(0)])


class LongestDistance:
    """The search for the diameter of the component of the first vertex searched."""

    def __init__(self, bounds: Bounds, out: Tensor, back: Tensor) -> None:
        self.bounds = bounds
        self.low = bounds.longest
        self.worth = worth(out)
        self.inside = torch.nonzero(out >= 0).flatten()
        none = out.new_empty(0, self.inside.numel())
        self.begin = _Side(self.inside, none)
        self.end = self.begin if out is back else _Side(self.inside, none)
        self._add_root(out, back)

    def run(self) -> int:
        for turn in range(1, ROOTS):
            if not self._settle():
                return self.low
            self._add_root(*self._search(self._next_root(turn)))
        if self.worth <= FEW:
            self._search_singly()
        size = BATCH * torch.get_num_threads()
        while self._settle():
            self._search_batch(size)
            size *= 2
        return self.low

    def _settle(self) -> bool:
        """Drops vertices whose paths are at most `low` long; are there others?"""
        begin, end = self.begin, self.end
        while begin.vertex.numel() and end.vertex.numel():
            before = begin.vertex.numel() + end.vertex.numel()
            begin.keep(self._bound(begin, end) > self.low)
            if end is not begin and begin.vertex.numel():
                end.keep(self._bound(end, begin) > self.low)
            dropped = before - begin.vertex.numel() - end.vertex.numel()
            if dropped * _WORTH_ANOTHER_ROUND <= before:
                return begin.vertex.numel() > 0 and end.vertex.numel() > 0
        return False

    def _bound(self, side: _Side, other: _Side) -> Tensor:
        """For each vertex the length that no path from it to the other side can exceed."""
        bound = (side.rows + other.rows.amax(dim=1, keepdim=True)).amin(dim=0)
        if side is self.begin:
            bound = torch.minimum(bound, self.bounds.upper[side.vertex])
        return bound

    def _search(self, vertex: int) -> tuple[Tensor, Tensor]:
        out, back = self.bounds.search(vertex)
        self.low = max(self.low, self.bounds.longest)
        return out, back

    def _add_root(self, out: Tensor, back: Tensor) -> None:
        self.begin.add(back)
        if self.end is not self.begin:
            self.end.add(out)

    def _next_root(self, turn: int) -> int:
        """By turns the vertex farthest from all roots, twice, and a most central one."""
        bounds, unsearched = self.bounds, self.inside[~self.bounds.searched[self.inside]]
        if turn % 3 == 0:
            return bounds.most_central(unsearched)
        fresh = self.begin.vertex[~bounds.searched[self.begin.vertex]]
        return int(fresh[bounds.sum[fresh].argmax()])

    def _search_singly(self) -> None:
        """On meshes each search settles a neighbourhood, until only the last few are left."""
        before, searches = self.inside.numel(), 0
        while self._settle():
            left = self.begin.vertex.numel()
            if searches == TRIAL:
                if before - left < TRIAL * self.worth:
                    return
                before, searches = left, 0
            bound = self._bound(self.begin, self.end)
            ids = self.begin.vertex[bound == bound.max()]
            self._search(int(ids[self.bounds.sum[ids].argmax()]))
            searches += 1

    def _search_batch(self, size: int) -> None:
        fewer = self.begin.vertex.numel() <= self.end.vertex.numel()
        side, other = (self.begin, self.end) if fewer else (self.end, self.begin)
        size = min(size, side.vertex.numel())
        far = torch.topk(self._bound(side, other), size).indices
        found = largest_distances(
            self.bounds.graph, self.bounds.how, side.vertex[far], backward=side is not self.begin
        )
        self.low = max(self.low, int(found.max()))
        side.drop(far)
