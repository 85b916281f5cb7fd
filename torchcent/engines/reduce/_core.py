"""The core: the part of a graph that is searched, after reductions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from torchcent.engines.measures._problem import Reduction
from torchcent.engines.reduce import _hops
from torchcent.engines.reduce._fold import Fold
from torchcent.engines.reduce._twins import Twins
from torchcent.graph._cache import Record, Slot
from torchcent.graph._contraction import Contraction
from torchcent.runtime import _ops
from torchcent.runtime._codes import CHUNK, LONG_CHUNK, MANY_SLOTS


@dataclass(frozen=True, eq=False)
class Core(Record):
    """The part of a graph that is searched, renumbered."""

    rowptr: Tensor
    col: Tensor
    colptr: Tensor
    row: Tensor
    vertex: Tensor  # core vertex -> graph vertex
    origin: Tensor | None  # the slots, if they are known from the beginning
    order: str  # "degree", "bandwidth" or "given"
    chain: tuple[Reduction, ...]  # the reductions applied
    weight: Tensor | None = None  # per slot, scaled by Graph.scale; None counts hops
    back_weight: Tensor | None = None  # per slot of the transpose
    balls: Tensor | None = None  # the sequence, if it is one of balls
    contraction: Contraction | None = None  # of the graph

    @property
    def num_nodes(self) -> int:
        return self.rowptr.numel() - 1

    @property
    def num_slots(self) -> int:
        return self.col.numel()

    @property
    def fold(self) -> Fold:
        """The first link."""
        first = self.chain[0]
        assert isinstance(first, Fold)
        return first

    @property
    def twins(self) -> Twins | None:
        """The second link, if there is one."""
        last = self.chain[-1]
        return last if isinstance(last, Twins) else None

    @Slot
    def slot(self) -> Tensor | None:
        """Core slot -> graph slot; None: see with_slots."""
        return self.origin

    @Slot
    def copies(self) -> Tensor | None:
        """float64 [n]: the number of twins that each core vertex stands for."""
        return None if self.twins is None else self.twins.copies.index_select(0, self.vertex)

    @Slot
    def sequence(self) -> Tensor:
        """All core vertices, neighbours together: the order in which sources fill batches.

        In a core in degree order (vertex 0 is the largest hub), it is breadth-first from the hub.
        Sources of one batch then share frontiers and thus arcs, which is up to 2.5 times as fast
        as degree order.
        """
        if self.balls is not None:
            return self.balls
        if self.order != "degree":
            return torch.arange(self.num_nodes, device=self.rowptr.device)
        order: Tensor = _ops.ops.breadth_first(
            self.rowptr, self.col, self.colptr, self.row, self.from_hub
        )
        Core.from_hub.forget(self)
        return order

    @cached_property
    def searched(self) -> int:
        """Number of vertices with outgoing arcs, from which a search reaches another vertex."""
        return int((self.rowptr.diff() > 0).sum())

    @cached_property
    def chunks(self) -> int:
        """Number of chunks of the hubs of both directions, into which CUDA kernels split them."""
        size = CHUNK if self.num_slots < MANY_SLOTS else LONG_CHUNK
        total = 0
        for pointers in {id(part): part for part in (self.rowptr, self.colptr)}.values():
            degree = pointers.diff()
            total = max(total, int((-(-degree // size) * (degree > size)).sum()))
        return total

    @Slot
    def from_hub(self) -> Tensor | None:
        """int32 [n]: the hops from vertex 0, if this is the hub and a search of its own on CUDA."""
        symmetric = self.colptr is self.rowptr
        if self.order != "degree" or not symmetric or not self.num_nodes or not self.col.is_cuda:
            return None
        return _hops.hops(self.rowptr, self.col, 0)

    @Slot
    def rim(self) -> tuple[int, Tensor]:
        """See :func:`_hops.rim`."""
        return _hops.rim(self.rowptr, self.col, self.from_hub)

    @property
    def depth(self) -> int:
        return self.rim[0]
