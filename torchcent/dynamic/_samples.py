"""Random shortest paths of a graph that changes: what is kept, and what a change touches."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from torchcent.dynamic._arcs import Arcs, Change
from torchcent.runtime import _ops, _watch

_FARTHER = 2**31 - 1  # than any distance: that of pairs without a path
_QUICK = 10_000_000  # arcs, below which Ctrl-C and a bar can wait
_SCANNED = 4  # arcs of a search in the time that drawing a path takes for one
#: bytes of a sample, and of a vertex of its path, with the room that is left for others
BYTES, PATH_BYTES = 64, 8


@dataclass
class Draws:
    """Draws paths between given pairs, every one with random numbers of its own.

    Attributes:
        seed: of all random numbers.
        number: of the next path.
        arcs: that a path takes, about.
        threads: at most.
    """

    seed: int
    progress: bool | None
    number: int = 0
    arcs: int = 0
    threads: int = 1

    def paths(self, arcs: Arcs, pairs: Tensor) -> tuple[Tensor, Tensor, int]:
        """Paths from source to target, one after the other, the number of vertices of each, 0 where
        there is none, and the arcs that were scanned."""
        count = pairs.shape[1]
        length = torch.zeros(count, dtype=torch.int64, device="cpu")
        scanned = 0

        def work(control: Tensor) -> Tensor:
            nonlocal scanned
            vertex: Tensor = _ops.ops.draw_paths(
                *arcs.forward, self.seed, self.number, count, length, control, self._threads,
                pairs.contiguous(),
            )  # fmt: skip
            scanned = int(control[3])
            return vertex

        quick = self.arcs > 0 and count * self.arcs < _QUICK
        vertex = _watch.prepared(work, "shortest paths", self.progress, quick)
        self.number += count
        return vertex, length, scanned

    def mark(
        self, arcs: Arcs, changed: Tensor, pairs: Tensor, distance: Tensor, marks: Tensor
    ) -> None:
        """Marks the pairs for which a way by a changed arc may be no longer than a distance."""
        if not changed.numel():
            return

        def work(control: Tensor) -> None:
            _ops.ops.dynamic_touched(
                list(arcs.forward), changed.contiguous(), pairs, distance, marks, control,
                not arcs.directed, _SCANNED * self.arcs, self._threads,
            )  # fmt: skip

        quick = changed.shape[1] * (arcs.rowptr.numel() + arcs.col.numel()) < _QUICK
        _watch.prepared(work, "pairs after an update", self.progress, quick)

    @property
    def _threads(self) -> int:
        return min(self.threads, torch.get_num_threads())

    def touched(self, change: Change, samples: Samples, marks: Tensor) -> None:
        """Marks samples, int8 [k], whose shortest paths may be others after a change.

        Let G be the graph before, G' without the deleted arcs, and G'' that with the inserted ones.
        Shortest paths from s to t in them are the sets P, P' and P'', of lengths d, d' and d''.

        Deletions: if no deleted arc is on a path of P, all of P is left in G'. No other path of G'
        is as short, since G' is a part of G. So P' = P. An arc (u, v) is on a path of P if and only
        if d(s, u) + 1 + d(v, t) = d(s, t), or no more than that, in G.

        Insertions: if no inserted arc is on a path of P'', all of P'' is in G', so that P' = P''
        likewise. If (u, v) is on one, d''(s, u) + 1 + d''(v, t) = d''(s, t) <= d'(s, t). Conversely
        that sum <= d'(s, t) means that there is a path as short as those of P' that is not in G',
        and P'' differs from P'. Where deletions have touched nothing, d' = d.

        So distances in G are those for deleted arcs, and distances in G'' for inserted ones.
        """
        distance = samples.distance
        removed, inserted = _once(change.removed, change), _once(change.inserted, change)
        self.mark(change.before, removed, samples.pairs, distance, marks)
        self.mark(change.after, inserted, samples.pairs, distance, marks)
        if not inserted.numel():
            return
        apart = (distance < 0) & (marks == 0)
        if not bool(apart.any()):
            return
        # Pairs without a path get one by arcs that join what has not been joined. If there is but
        # one, a path uses it once, and the rest of the path is in G'.
        joining = self._joining(change, inserted, int(apart.sum()))
        arcs = change.after
        if joining.shape[1] == 1 and not removed.numel():
            arcs = change.before
            if int(joining.max()) >= arcs.num_nodes:
                return  # the arc is a dead end for all pairs of old vertices
        farther = torch.where(apart, _FARTHER, -1).int()
        self.mark(arcs, joining, samples.pairs, farther, marks)

    def _joining(self, change: Change, inserted: Tensor, most: int) -> Tensor:
        """Those inserted arcs whose tails did not reach their heads; all if it is not worth it."""
        if change.removed.numel() or inserted.shape[1] > most:
            return inserted
        joins = torch.ones(inserted.shape[1], dtype=torch.bool, device="cpu")
        old = (inserted < change.before.num_nodes).all(0).nonzero().flatten()
        joins[old] = self.paths(change.before, inserted[:, old])[1] == 0
        return inserted[:, joins]


def _once(arcs: Tensor, change: Change) -> Tensor:
    """Edges of undirected graphs in one direction."""
    return arcs if change.after.directed else arcs[:, arcs[0] < arcs[1]]


@dataclass
class Samples:
    """Pairs of vertices and a random shortest path between each.

    Attributes:
        pairs: int64 [2, k], sources and targets.
        distance: int32 [k], -1 where there is no path.
        place, length: int64 [k], where the inner vertices of each path are in `path`.
        path: int32, with gaps.
        used: the entries of `path` before which all are.
        counts: int64 [n], the paths of which each vertex is an inner one.
    """

    pairs: Tensor
    distance: Tensor
    place: Tensor
    length: Tensor
    path: Tensor
    used: int
    counts: Tensor

    @classmethod
    def empty(cls, num_nodes: int) -> Samples:
        none = torch.zeros(0, dtype=torch.int64, device="cpu")
        counts = torch.zeros(num_nodes, dtype=torch.int64, device="cpu")
        return cls(none.view(2, 0), none.int(), none, none, none.int(), 0, counts)

    @property
    def size(self) -> int:
        return self.distance.numel()

    def suit(self, num_nodes: int) -> bool:
        """Whether they can be samples of a graph, by shapes and numbers alone."""
        k, pairs, path = self.size, self.pairs, self.path[: self.used]
        ends = self.place + self.length
        return (
            pairs.shape == (2, k)
            and self.place.shape == self.length.shape == (k,)
            and self.counts.shape == (num_nodes,)
            and (pairs.dtype, self.distance.dtype) == (torch.int64, torch.int32)
            and self.counts.dtype == torch.int64
            and path.numel() == self.used
            and bool(((pairs >= 0) & (pairs < num_nodes)).all() and (pairs[0] != pairs[1]).all())
            and bool(((path >= 0) & (path < num_nodes)).all())
            and bool(((self.place >= 0) & (self.length >= 0) & (ends <= self.used)).all())
        )

    def grow(self, num_nodes: int) -> None:
        more = num_nodes - self.counts.numel()
        self.counts = torch.nn.functional.pad(self.counts, (0, more))

    def extend(self, pairs: Tensor) -> Tensor:
        """Room for more pairs; their numbers."""
        first, more = self.size, (0, pairs.shape[1])
        pad = torch.nn.functional.pad
        self.pairs = torch.cat([self.pairs, pairs], 1)
        self.distance = pad(self.distance, more, value=-1)
        self.place, self.length = pad(self.place, more), pad(self.length, more)
        return torch.arange(first, self.size, device="cpu")

    def put(self, samples: Tensor, vertex: Tensor, length: Tensor) -> None:
        """New paths, from source to target, for these samples."""
        before = self.inner(samples).long()
        self.counts.index_add_(0, before, torch.full_like(before, -1))
        inner = _without_ends(vertex, length)
        self.counts.index_add_(0, inner, torch.ones_like(inner))
        self.distance[samples] = (length - 1).int()
        size = (length - 2).clamp(min=0)
        self.length[samples] = 0
        if self.used + inner.numel() > self.path.numel():
            self._close_gaps(inner.numel())
        self.place[samples] = self.used + size.cumsum(0) - size
        self.length[samples] = size
        self.path[self.used : self.used + inner.numel()] = inner
        self.used += inner.numel()

    def inner(self, samples: Tensor) -> Tensor:
        """The inner vertices of these, one path after the other."""
        length = self.length[samples]
        begin = self.place[samples] - (length.cumsum(0) - length)
        place = begin.repeat_interleave(length)
        return self.path[place + torch.arange(place.numel(), device="cpu")]

    def _close_gaps(self, more: int) -> None:
        """Moves all paths to a tensor of twice the size that they and `more` entries need."""
        paths = self.inner(torch.arange(self.size, device="cpu"))
        self.used = paths.numel()
        self.place = self.length.cumsum(0) - self.length
        self.path = paths.new_empty(2 * (self.used + more))
        self.path[: self.used] = paths


def _without_ends(vertex: Tensor, length: Tensor) -> Tensor:
    """Paths one after the other, without the first and the last vertex of each."""
    last = length.cumsum(0)
    is_inner = torch.ones_like(vertex, dtype=torch.bool)
    exists = length > 0
    is_inner[last[exists] - 1] = False
    is_inner[(last - length)[exists]] = False
    return vertex[is_inner]


def random_pairs(count: int, num_nodes: int, generator: torch.Generator, old: int = 0) -> Tensor:
    """int64 [2, count]: ordered pairs of distinct vertices, each with the same probability. Of
    those with a vertex from `old` on, if there are old ones."""
    n, new = num_nodes, num_nodes - old
    from_new = new * (n - 1)  # pairs whose source is new; then those whose target alone is
    number = torch.randint(from_new + old * new, (count,), generator=generator, device="cpu")
    rest = number - from_new
    source = torch.where(rest < 0, old + number // (n - 1), rest // new)
    target = number % (n - 1)
    target = torch.where(rest < 0, target + (target >= source).long(), old + rest % new)
    return torch.stack([source, target])
