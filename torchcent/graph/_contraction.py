"""The order in which vertices of a graph are contracted (engines/reduce/_hierarchy.py)."""

from __future__ import annotations

import math
from functools import cached_property

import torch
from torch import Tensor

from torchcent.graph import _csr
from torchcent.graph._cache import Keeper
from torchcent.runtime import _ops
from torchcent.runtime._watch import prepared

#: slots up to which a contraction takes at most a second
QUICK_SLOTS = 2**18
_BYTES_OF_LISTS = 48  # of a vertex or slot; 19 for roads, 40 for grids


class Contraction(Keeper):
    """An order of contraction, found when it is first needed.

    It does not depend on lengths or directions, so that all graphs of the same arcs share it. The
    order of a graph serves its subgraphs, too: of the vertices that are left, those that came first
    come first.

    Attributes:
        order: int32 [n], the vertices, first contracted first, on the host; None if it is not
            known.
    """

    def __init__(
        self, rowptr: Tensor, col: Tensor, order: Tensor | None = None,
        whole: tuple[Contraction, Tensor] | None = None,
    ) -> None:  # fmt: skip
        self.order, self._given = order, order is not None
        self._rowptr, self._col, self._whole = rowptr, col, whole
        self._in_vain = 0.0  # arcs per edge within which there is no order

    def part(self, rowptr: Tensor, col: Tensor, vertices: Tensor) -> Contraction:
        """That of a subgraph, whose vertices are these."""
        return Contraction(rowptr, col, whole=(self, vertices))

    @property
    def is_part(self) -> bool:
        return self._whole is not None

    @property
    def is_known(self) -> bool:
        return self.order is not None or (self._whole is not None and self._whole[0].is_known)

    @property
    def is_given(self) -> bool:
        """Whether the order is from a file, where it may be a bad one."""
        return self._given if self._whole is None else self._whole[0].is_given

    @cached_property
    def _is_mutual(self) -> bool:
        """Whether every arc has its reverse."""
        return _csr.is_symmetric(self._rowptr.cpu(), self._col.cpu())

    @property
    def bytes_to_find(self) -> int:
        """Memory for the lists of neighbours during a contraction, at most; 0 if it is known."""
        if self.is_known:
            return 0
        if self._whole is not None:
            return self._whole[0].bytes_to_find
        directions = 1 if self._is_mutual else 2
        return _BYTES_OF_LISTS * (self._rowptr.numel() + directions * self._col.numel())

    def find(self, most_fill: float, progress: bool | None = False) -> Tensor | None:
        """The order; None if the arcs would certainly exceed so many per edge."""
        if self.order is None and self._whole is not None:
            whole, vertices = self._whole
            if whole.find(most_fill, progress) is not None:
                self.order = whole.among(vertices).int()
        if self.order is None and most_fill > self._in_vain:
            limit = most_fill if most_fill < math.inf else 0
            arcs = self._rowptr.cpu(), self._col.cpu()
            if not self._is_mutual:
                arcs = _csr.both_ways(*arcs)[:2]
            threads = torch.get_num_threads()

            def search(control: Tensor) -> Tensor:
                order: Tensor = _ops.ops.hierarchy_order(*arcs, limit, control, threads)
                return order

            sequence = prepared(search, "contracting", progress, arcs[1].numel() < QUICK_SLOTS)
            if sequence.numel() == self._rowptr.numel() - 1:
                self.order = sequence.int()
            else:
                self._in_vain = most_fill
        return self.order

    def among(self, vertices: Tensor) -> Tensor:
        """int64: the numbers of these vertices, first contracted first, on the host.

        The order is known.
        """
        assert self.order is not None
        place = torch.empty_like(self.order)
        every = torch.arange(place.numel(), dtype=place.dtype, device="cpu")
        place.index_copy_(0, self.order.long(), every)
        return place.index_select(0, vertices.cpu()).argsort()

    def without_order(self) -> Contraction:
        """Another that finds the order anew; itself if that is from a file."""
        return self if self._given else Contraction(self._rowptr, self._col, whole=self._whole)

    @property
    def _parts(self) -> tuple[object, ...]:
        """The arrays that it adds: its arcs, which may be those of a larger graph, count there."""
        return self.order, *(self._whole or ())[1:]

    def forget(self) -> None:
        self.order, self._given = None, False
        if self._whole is not None:
            self._whole[0].forget()
