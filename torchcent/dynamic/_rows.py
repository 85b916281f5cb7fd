"""Rows of sources: what a search from each has found, kept and repaired."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from torchcent.dynamic._arcs import Change
from torchcent.runtime import _ops, _watch

_EMPTY = torch.empty(0, dtype=torch.int64, device="cpu")
_NO_ROW = torch.empty(0, dtype=torch.int32, device="cpu")
FAR = {torch.uint8: 255, torch.int32: 2**31 - 1}  # in place of a distance, in rows with paths
REPAIRED, ANEW, TOO_FAR = 1, 2, 3  # what the operators say of a row
_CHECKED = 256  # rows of a file that are checked at a time
_ENDS = 256  # changed arcs whose ends are searched from at a time
_QUICK = 10_000_000  # slots and vertices of all searches, below which Ctrl-C and a bar can wait


@dataclass
class Rows:
    """Distances of k sources and, with paths, numbers of shortest paths and dependencies.

    Attributes:
        sources: int64 [k].
        distance: int32 [k, n], -1 where a source does not reach; [0, n] if rows are not kept. With
            paths, the largest value is in place of -1, and the type uint8 while it is enough.
        paths: int64 [k, n, 3], the number of shortest paths and what gives dependencies
            (csrc/dynamic/cpu/row.h), or nothing.
        sums: int64 [n, 2], the dependencies of all sources on each vertex in fixed point; [0, 2]
            without paths.
    """

    sources: Tensor
    distance: Tensor
    paths: Tensor
    sums: Tensor

    @staticmethod
    def bytes_for(sources: int, num_nodes: int, paths: bool) -> int:
        """At most, where int32 is needed."""
        return sources * num_nodes * (28 if paths else 4)

    @classmethod
    def empty(cls, sources: Tensor, num_nodes: int, paths: bool, kept: bool = True) -> Rows:
        shape = (sources.numel() if kept else 0, num_nodes)
        return cls(
            sources,
            torch.empty(shape, dtype=torch.uint8 if paths else torch.int32, device="cpu"),
            torch.empty(*shape, 3, dtype=torch.int64, device="cpu") if paths else _EMPTY,
            torch.zeros(num_nodes if paths else 0, 2, dtype=torch.int64, device="cpu"),
        )

    def fault(self, sources: Tensor, num_nodes: int, paths: bool, kept: bool) -> str:
        """What shows that these are no rows of such sources; nothing if there is no such thing."""
        rows, kind = sources.numel() if kept else 0, self.distance.dtype
        shapes = {
            "sources": (torch.int64, (sources.numel(),)),
            "distance": (kind if paths and kind in FAR else torch.int32, (rows, num_nodes)),
            "paths": (torch.int64, (rows, num_nodes, 3) if paths else (0,)),
            "sums": (torch.int64, (num_nodes if paths else 0, 2)),
        }
        for name, shape in shapes.items():
            part = getattr(self, name)
            if (part.dtype, part.shape) != shape or not part.is_contiguous():
                return f"{name} of another graph"
        if not torch.equal(self.sources, sources):
            return "rows of other sources"
        return distance_fault(self.distance, num_nodes, FAR[kind] if paths else -1)

    def compute(
        self, arcs: tuple[Tensor, ...], progress: bool | None, sources: Tensor | None = None,
        sign: int = 1,
    ) -> bool:  # fmt: skip
        """Searches from all sources, or from others whose rows are not kept, and adds to `sums`.

        Returns whether the type of distances is enough; else :meth:`widen` comes next.
        """
        start = self.sources if sources is None else sources
        rows = self.distance, self.paths
        if sources is not None:
            rows = _NO_ROW, _EMPTY

        def work(control: Tensor) -> Tensor:
            threads = torch.get_num_threads()
            outcome: Tensor = _ops.ops.dynamic_rows(
                list(arcs), start, *rows, self.sums, control, sign, threads
            )
            return outcome

        outcome = _watch.prepared(work, "rows of sources", progress, is_quick(start, arcs))
        return not bool((outcome == TOO_FAR).any())

    def widen(self) -> None:
        """Makes room for any distances, in rows that are to be computed again."""
        self.distance = torch.empty_like(self.distance, dtype=torch.int32)
        self.sums.zero_()

    def repair(
        self, arcs: tuple[Tensor, ...], removed: Tensor, inserted: Tensor, progress: bool | None
    ) -> tuple[int, int] | None:
        """Follows a change to these arcs.

        Returns how many rows it touched, and how many of these were computed anew; None if the type
        of distances is not enough.
        """

        def work(control: Tensor) -> Tensor:
            outcome: Tensor = _ops.ops.dynamic_repair(
                list(arcs), self.sources, removed.contiguous(), inserted.contiguous(),
                self.distance, self.paths, self.sums, control, torch.get_num_threads(),
            )  # fmt: skip
            return outcome

        quick = is_quick(self.sources, arcs)
        outcome = _watch.prepared(work, "rows after an update", progress, quick)
        counts = torch.bincount(outcome, minlength=TOO_FAR + 1).tolist()
        if counts[TOO_FAR]:
            return None
        return counts[REPAIRED] + counts[ANEW], counts[ANEW]

    def part(self, begin: int, end: int) -> Rows:
        """The rows of some sources, which share memory, and all sums."""
        paths = self.paths[begin:end] if self.sums.numel() else self.paths
        return Rows(self.sources[begin:end], self.distance[begin:end], paths, self.sums)

    def grow(self, sources: Tensor, num_nodes: int) -> Rows:
        """Room for more sources and vertices; the rows of new sources are not computed."""
        more = sources.numel() - self.sources.numel(), num_nodes - self.distance.shape[1]
        pad = torch.nn.functional.pad
        wide = (0, more[1], 0, more[0] if self.distance.shape[0] else 0)
        paths = self.sums.numel() > 0
        return Rows(
            sources,
            pad(self.distance, wide, value=FAR[self.distance.dtype]),
            pad(self.paths, (0, 0, *wide)) if paths else self.paths,
            pad(self.sums, (0, 0, 0, more[1])) if paths else self.sums,
        )


def distance_fault(distance: Tensor, num_nodes: int, far: int) -> str:
    """What shows that these are no distances in such a graph; nothing if there is no such thing."""
    most = min(num_nodes, FAR[distance.dtype])  # as uint8, a larger number would be another one
    for part in distance.split(_CHECKED):
        if not bool((((part >= 0) & (part < most)) | (part == far)).all()):
            return "distances beyond the graph"
    return ""


def is_quick(sources: Tensor, arcs: tuple[Tensor, ...]) -> bool:
    return sources.numel() * (arcs[0].numel() + arcs[1].numel()) < _QUICK


def touched(change: Change, sources: Tensor, paths: bool) -> Tensor:
    """bool [k]: the sources to which a change is anything, by distances to the ends of its arcs.

    With `paths`, arcs that begin or end to be on shortest paths count, else those that can change
    distances.
    """
    arcs, n = change.before, change.before.num_nodes
    result = torch.zeros(sources.numel(), dtype=torch.bool, device="cpu")
    for columns, inserts in ((change.removed, False), (change.inserted, True)):
        for part in columns.split(_ENDS, dim=1):
            ends, place = part.unique(return_inverse=True)
            rows = Rows.empty(ends[ends < n], n, paths=False)
            rows.compute(arcs.backward, None)
            distance = rows.distance[:, sources].long()
            missing = ends.numel() - distance.shape[0]
            distance = torch.nn.functional.pad(distance, (0, 0, 0, missing), value=-1)
            tail, head = distance[place[0]], distance[place[1]]
            if inserts:
                leads_on = (head < 0) | (head > tail + (0 if paths else 1))
            else:
                leads_on = head == tail + 1
            result |= (leads_on & (tail >= 0)).any(0)
    return result
