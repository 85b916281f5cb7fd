"""Rows of distances from all vertices of a graph that changes, and their sums."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from torchcent.dynamic._arcs import Arcs, Change
from torchcent.dynamic._rows import FAR, counted, distance_fault, is_quick
from torchcent.runtime import _ops, _watch

_NO_ARCS = torch.empty(2, 0, dtype=torch.int64, device="cpu")
_UNIT = 2.0**-64  # of sums in fixed point


@dataclass
class LengthRows:
    """Distances from each of n vertices.

    Attributes:
        distance: uint8 [n, n] while it is enough, else int32; the largest value where there is no
            path.
        sums: int64 [n, 5]: for each vertex the number of others that it reaches, the sum of their
            distances, and the largest one. Then comes the sum of 1 / distance in multiples of
            2^-64 with 128 bits, the lower half first.
    """

    distance: Tensor
    sums: Tensor

    @staticmethod
    def bytes_for(num_nodes: int) -> int:
        """At most, where int32 is needed."""
        return num_nodes * (4 * num_nodes + 40)

    @classmethod
    def of(cls, arcs: Arcs, progress: bool | None) -> LengthRows:
        n = arcs.num_nodes
        for kind in FAR:
            rows = cls(
                torch.empty(n, n, dtype=kind, device="cpu"),
                torch.empty(n, 5, dtype=torch.int64, device="cpu"),
            )
            if rows._run(arcs, 0, n, (_NO_ARCS, _NO_ARCS), True, progress) is not None:
                break
        return rows

    def repaired(self, change: Change, progress: bool | None) -> tuple[LengthRows, int, int]:
        """The rows after a change; how many it touched, how many of these were computed anew."""
        old, n = self.sums.shape[0], change.after.num_nodes
        rows, changed = self, (change.removed.contiguous(), change.inserted.contiguous())
        if change.grown:
            pad = torch.nn.functional.pad
            far = FAR[self.distance.dtype]
            rows = LengthRows(
                pad(self.distance, (0, n - old, 0, n - old), value=far),
                pad(self.sums, (0, 0, 0, n - old)),
            )
        counts = rows._run(change.after, 0, old, changed, False, progress)
        more = rows._run(change.after, old, n, (_NO_ARCS, _NO_ARCS), True, progress)
        if counts is None or more is None:
            return LengthRows.of(change.after, progress), n, n
        return rows, counts[0] + more[0], counts[1] + more[1]

    def _run(
        self, arcs: Arcs, begin: int, end: int, changed: tuple[Tensor, Tensor], anew: bool,
        progress: bool | None,
    ) -> tuple[int, int] | None:  # fmt: skip
        """Computes or repairs the rows of some vertices; None if the type is not enough."""
        sources = torch.arange(begin, end, device="cpu")
        rows = self.distance[begin:end], self.sums[begin:end]

        def work(control: Tensor) -> Tensor:
            outcome: Tensor = _ops.ops.dynamic_lengths(
                list(arcs.forward), sources, *changed, *rows, control, anew, torch.get_num_threads()
            )
            return outcome

        title = "rows of distances" if anew else "rows after an update"
        return counted(_watch.prepared(work, title, progress, is_quick(sources, arcs.forward)))

    @property
    def reach(self) -> Tensor:
        return self.sums[:, 0].double()

    @property
    def farness(self) -> Tensor:
        return self.sums[:, 1].double()

    @property
    def longest(self) -> Tensor:
        return self.sums[:, 2].double()

    @property
    def harmonic(self) -> Tensor:
        low, high = self.sums[:, 3], self.sums[:, 4]
        return high.double() + (low.double() + torch.where(low < 0, 2.0**64, 0.0)) * _UNIT

    def fault(self, num_nodes: int) -> str:
        """What shows that these are no rows of such a graph; nothing if there is no such thing."""
        shapes = (num_nodes, num_nodes), (num_nodes, 5)
        if (self.distance.shape, self.sums.shape) != shapes or self.distance.dtype not in FAR:
            return "rows of another graph"
        if self.sums.dtype != torch.int64:
            return "sums of another type"
        return distance_fault(self.distance, num_nodes, FAR[self.distance.dtype])
