"""Rows of sources: what a search from each has found, kept and repaired."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from torchcent.dynamic._arcs import Arcs, Change
from torchcent.pairs._lengths import shortest_path_lengths
from torchcent.runtime import _memory, _ops, _watch
from torchcent.runtime._workspace import workspace

FAR = {torch.uint8: 255, torch.int32: 2**31 - 1}  # in place of a distance
REPAIRED, ANEW, TOO_FAR, TOO_MANY = 1, 2, 3, 4  # what the operators say of a row
_SHARE = {torch.int64: 16, torch.int32: 8}  # bytes of it in csrc/dynamic/cuda, by type of paths
_BLOCKS = 8  # of a multiprocessor, at most
_SHARE_OF_BLOCKS, _LEAST = 6, 2**28  # they have a sixth of the memory of rows, or so many bytes
_FEW = 64  # changed arcs for whose rows Ctrl-C can wait on CUDA
_CHECKED = 256  # rows of a file that are checked at a time
_ENDS = 256  # changed arcs whose ends are searched from at a time
_QUICK = 10_000_000  # slots and vertices of all searches, below which Ctrl-C and a bar can wait


@dataclass
class Rows:
    """Distances of k sources, numbers of shortest paths, and dependencies.

    Attributes:
        sources: int64 [k].
        distance: uint8 [k, n], or int32 where that is not enough; the largest value where a source
            does not reach. [0, n] if rows are not kept.
        paths: int64 [k, n, 3], the number of shortest paths and what gives dependencies
            (csrc/dynamic/cpu/row.h), or int32 [k, n, 3] of less precision (csrc/dynamic/cuda).
        sums: int64 [n, 2], the dependencies of all sources on each vertex in fixed point.
    """

    sources: Tensor
    distance: Tensor
    paths: Tensor
    sums: Tensor
    _room: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self._room = torch.empty(0, dtype=torch.uint8, device=self.sums.device)

    @staticmethod
    def bytes_for(sources: int, num_nodes: int, device: torch.device, narrow: bool) -> int:
        """At most on the CPU, where int32 is needed; on CUDA with uint8, and room for blocks."""
        if device.type == "cpu":
            return sources * num_nodes * 28
        kind = torch.int32 if narrow else torch.int64
        rows = sources * num_nodes * (1 + 3 * kind.itemsize)
        each = _bytes_of_block(num_nodes, torch.uint8, kind)
        return rows + each * _blocks(each, max(rows // _SHARE_OF_BLOCKS, _LEAST), device)

    @classmethod
    def empty(cls, sources: Tensor, num_nodes: int, kept: bool, narrow: bool) -> Rows:
        shape, device = (sources.numel() if kept else 0, num_nodes), sources.device
        return cls(
            sources,
            torch.empty(shape, dtype=torch.uint8, device=device),
            torch.empty(*shape, 3, dtype=torch.int32 if narrow else torch.int64, device=device),
            torch.zeros(num_nodes, 2, dtype=torch.int64, device=device),
        )

    def fault(self, sources: Tensor, num_nodes: int, kept: bool) -> str:
        """What shows that these are no rows of such sources; nothing if there is no such thing."""
        rows, kind = sources.numel() if kept else 0, self.distance.dtype
        shapes = {
            "sources": (torch.int64, (sources.numel(),)),
            "distance": (kind if kind in FAR else torch.int32, (rows, num_nodes)),
            "paths": (torch.int64, (rows, num_nodes, 3)),
            "sums": (torch.int64, (num_nodes, 2)),
        }
        for name, shape in shapes.items():
            part = getattr(self, name)
            if (part.dtype, part.shape) != shape or not part.is_contiguous():
                return f"{name} of another graph"
        if not torch.equal(self.sources, sources):
            return "rows of other sources"
        return distance_fault(self.distance, num_nodes, FAR[kind])

    def compute(
        self, arcs: tuple[Tensor, ...], progress: bool | None, sources: Tensor | None = None,
        sign: int = 1,
    ) -> bool:  # fmt: skip
        """Searches from all sources, or from others whose rows are not kept, and adds to `sums`.

        Returns whether the type of distances is enough; else :meth:`widen` comes next.
        """
        start = self.sources if sources is None else sources
        if not start.numel():
            return True
        rows = self.distance, self.paths
        if sources is not None:
            rows = self.distance.new_empty(0, dtype=torch.int32), self.paths[:0]
        room = self._workspace(rows[0].dtype)

        def work(control: Tensor) -> Tensor:
            outcome: Tensor = _ops.ops.dynamic_rows(
                list(arcs), start, *rows, self.sums, control, room, sign, torch.get_num_threads()
            )
            return outcome

        quick = is_quick(start, arcs)
        outcome = _watch.prepared(work, "rows of sources", progress, quick, start.device)
        return counted(outcome) is not None

    def widen(self) -> None:
        """Makes room for any distances, in rows that are to be computed again."""
        shape, device = self.distance.shape, self.distance.device
        self.distance = self.distance.new_empty(0)  # first: there may be room for one of them only
        self.distance = torch.empty(shape, dtype=torch.int32, device=device)
        self.sums.zero_()
        self._room = self._room[:0]  # its arrays have other places

    def repair(
        self, arcs: tuple[Tensor, ...], removed: Tensor, inserted: Tensor, progress: bool | None
    ) -> tuple[int, int] | None:
        """Follows a change to these arcs.

        Returns how many rows it touched, and how many of these were computed anew; None if the type
        of distances is not enough.
        """

        room = self._workspace(self.distance.dtype)

        def work(control: Tensor) -> Tensor:
            outcome: Tensor = _ops.ops.dynamic_repair(
                list(arcs), self.sources, removed.contiguous(), inserted.contiguous(),
                self.distance, self.paths, self.sums, control, room, torch.get_num_threads(),
            )  # fmt: skip
            return outcome

        quick = is_quick(self.sources, arcs)
        device = self.sources.device
        quick |= device.type != "cpu" and removed.shape[1] + inserted.shape[1] <= _FEW
        return counted(_watch.prepared(work, "rows after an update", progress, quick, device))

    def part(self, begin: int, end: int) -> Rows:
        """The rows of some sources, which share memory, and all sums."""
        sources, distance, paths = (x[begin:end] for x in (self.sources, self.distance, self.paths))
        rows = Rows(sources, distance, paths, self.sums)
        rows._room = self._workspace(self.distance.dtype)
        return rows

    def grow(self, sources: Tensor, num_nodes: int, kept: bool) -> Rows:
        """Room for more sources and vertices; the rows of new sources are not computed."""
        more = sources.numel() - self.sources.numel(), num_nodes - self.distance.shape[1]
        pad = torch.nn.functional.pad
        wide = (0, more[1], 0, more[0] if kept else 0)  # of a graph that was empty, too
        return Rows(
            sources,
            pad(self.distance, wide, value=FAR[self.distance.dtype]),
            pad(self.paths, (0, 0, *wide)),
            pad(self.sums, (0, 0, 0, more[1])),
        )

    def _workspace(self, hops: torch.dtype) -> Tensor:
        """What blocks need on CUDA, zeros between two calls; nothing on the CPU."""
        device = self.sums.device
        if device.type != "cpu" and not self._room.numel():
            each = _bytes_of_block(self.sums.shape[0], hops, self.paths.dtype)
            most = (self.distance.nbytes + self.paths.nbytes) // _SHARE_OF_BLOCKS
            if not most:  # rows are not kept, and blocks have some in about as much memory
                most = _memory.budget(None, device) // 4
            size = each * _blocks(each, max(most, _LEAST), device)
            self._room = torch.zeros(size, dtype=torch.uint8, device=device)
        return self._room


def _blocks(each: int, most: int, device: torch.device) -> int:
    """How many have so many bytes each."""
    processors = torch.cuda.get_device_properties(device).multi_processor_count
    return min(_BLOCKS * processors, max(most // each, 1))


def _bytes_of_block(num_nodes: int, hops: torch.dtype, kind: torch.dtype) -> int:
    return workspace("dynamic", num_nodes, _SHARE[kind], hops.itemsize).each


def counted(outcome: Tensor) -> tuple[int, int] | None:
    """How many rows were touched, and computed anew; None if distances do not fit their type."""
    counts = torch.bincount(outcome, minlength=TOO_MANY + 1).tolist()
    if counts[TOO_MANY]:
        raise OverflowError("too many shortest paths for rows on CUDA")
    return None if counts[TOO_FAR] else (counts[REPAIRED] + counts[ANEW], counts[ANEW])


def distance_fault(distance: Tensor, num_nodes: int, far: int) -> str:
    """What shows that these are no distances in such a graph; nothing if there is no such thing."""
    most = min(num_nodes, FAR[distance.dtype])  # as uint8, a larger number would be another one
    for part in distance.split(_CHECKED):
        if not bool((((part >= 0) & (part < most)) | (part == far)).all()):
            return "distances beyond the graph"
    return ""


def is_quick(sources: Tensor, arcs: tuple[Tensor, ...]) -> bool:
    return sources.numel() * (arcs[0].numel() + arcs[1].numel()) < _QUICK


def _distances(arcs: Arcs, ends: Tensor) -> Tensor:
    """To these vertices from all others; -1 where there is no path."""
    if not ends.numel():
        return ends.new_empty(0, arcs.num_nodes)
    return torch.as_tensor(shortest_path_lengths(arcs.turned().frozen, sources=ends)).long()


def touched(change: Change, sources: Tensor) -> Tensor:
    """bool [k]: the sources to which a change is anything, by distances to the ends of its arcs.

    Arcs count that begin or end to be on shortest paths.
    """
    arcs, n = change.before, change.before.num_nodes
    result = torch.zeros(sources.numel(), dtype=torch.bool, device=sources.device)
    for columns, inserts in ((change.removed, False), (change.inserted, True)):
        for part in columns.split(_ENDS, dim=1):
            ends, place = part.unique(return_inverse=True)
            distance = _distances(arcs, ends[ends < n])[:, sources]
            missing = ends.numel() - distance.shape[0]
            distance = torch.nn.functional.pad(distance, (0, 0, 0, missing), value=-1)
            tail, head = distance[place[0]], distance[place[1]]
            leads_on = (head < 0) | (head > tail) if inserts else head == tail + 1
            result |= (leads_on & (tail >= 0)).any(0)
    return result
