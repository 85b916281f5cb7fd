"""Chains, the paths over vertices of degree 2, each of which is searched as one edge.

A search on the contracted graph gives distances and path counts of the kept vertices. A vertex
inside a chain is reached by its ends, whichever is nearer, so that each search counts all targets
inside a chain at once. Sources inside a chain begin at its two ends. If nearly all vertices are
sources, one sweep per kept vertex serves all sources inside the chains that end there.
All this is exact; docs/chains.md has the algebra and csrc/chains the searches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from torchcent.engines.reduce._core import Core
from torchcent.graph import _weights
from torchcent.graph._cache import Record, Slot
from torchcent.runtime import _ops
from torchcent.runtime._workspace import Workspace, workspace

# Kept vertices whose sweeps share a sum, and for which distances from the others at their chains
# are kept: at most this many, and as many as fit into so many bytes.
_BALL, _ROWS = 128, 2**28
# Chains with sources at one vertex up to which one sweep for all of them pays (kMostAt on CUDA).
_MOST_AT = 32
# Time per vertex, slot and chain of the contracted graph, in that per vertex and slot of a search
# of the whole graph, by hops and by weights: of a search for one source, and of a sweep for all
# sources inside the chains at a vertex (luxembourg_osm, tn-sydney: docs/notes/performance.md).
_ALONE, _TOGETHER = {False: 2.8, True: 1.25}, {False: 5.0, True: 2.0}
_ALONE_ON_CUDA, _TOGETHER_ON_CUDA = {False: 3.6, True: 0.95}, {False: 7.0, True: 1.8}
# Seconds of one thread of the CPU per unit of these, by hops and by weights.
_UNIT = {False: 8e-9, True: 20e-9}
# Sources on CUDA from which contraction, which is done by the host, is repaid.
_LEAST_ON_CUDA = {False: 2**13, True: 2**10}
# Length of a chain, in units of its last binary digit, up to which float64 tells where paths meet,
# by twice a distance.
_LONGEST = 2.0**52
# Chains are contracted if that takes at most this share of the time.
_SHARE = 0.9


@dataclass(frozen=True, eq=False)
class Chains(Record):
    """A core with its chains contracted: the result of the operator chains, on the core's device.

    Attributes:
        kept: core vertices, in an order of balls of neighbours.
        first: [chains + 1]; of the inner vertices. Chains with inner vertices come first.
        inner: core vertices, in the order along their chains.
        ends: int32 [2 chains]; numbers of kept vertices.
        along: [inner + chains]; the distances along each chain, int32 or float64.
        rowptr, head, arc: the contracted graph; an arc is 2 * chain, and 1 more backwards. Chains
            that return to their beginning have arcs on CUDA only.
        slots: [2 (inner + chains)]; core slots of the steps along each chain, forwards and back.
        ball: kept vertices per batch of sweeps.
        by_hops: whether every step counts 1.
    """

    kept: Tensor
    first: Tensor
    inner: Tensor
    ends: Tensor
    along: Tensor
    rowptr: Tensor
    head: Tensor
    arc: Tensor
    slots: Tensor
    ball: int
    by_hops: bool

    @staticmethod
    @Slot
    def of(core: Core) -> Chains:
        """Those of a core, kept with it."""
        least, device = _ops.ops.chain_row_bytes(*_counts(core)), core.rowptr.device
        ball = max(1, min(_BALL, _ROWS // (2 * least)))
        weight = None if core.weight is None else core.weight.cpu()
        arrays: tuple[Tensor, ...] = _ops.ops.chains(
            core.rowptr.cpu(), core.col.cpu(), weight, ball, device.type != "cpu"
        )
        vertices, first, inner, ends, along, rowptr, head, arc, slots = (
            x.to(device) for x in arrays
        )
        return Chains(
            vertices, first, inner=inner, ends=ends, along=along, rowptr=rowptr, head=head,
            arc=arc, slots=slots, ball=ball, by_hops=core.weight is None,
        )  # fmt: skip

    @cached_property
    def with_inner(self) -> int:
        return int(torch.count_nonzero(self.first.diff()))

    @cached_property
    def exact(self) -> bool:
        """Whether the places at which paths meet are found without rounding."""
        if not self.along.is_floating_point() or not self.along.numel():
            return True
        return float(self.along.max()) <= _LONGEST * _weights.unit_of(self.along)

    @cached_property
    def most_at(self) -> int:
        """The largest number of chains with inner vertices at a kept one."""
        ends = self.ends[: 2 * self.with_inner]
        return int(torch.bincount(ends).max()) if ends.numel() else 0

    @cached_property
    def most_rows(self) -> int:
        """Kept vertices from which a batch of sweeps needs distances, at most."""
        ends = self.ends[: 2 * self.with_inner].view(-1, 2).long()
        root = torch.cat([ends[:, 0], ends[:, 1]]) // self.ball
        other = torch.cat([ends[:, 1], ends[:, 0]])
        outside = root != other // self.ball
        pairs = torch.unique(root[outside] * self.kept.numel() + other[outside])
        if not pairs.numel():
            return self.ball
        return self.ball + int(torch.bincount(pairs // self.kept.numel()).max())

    @property
    def sums(self) -> int:
        """Entries of a sum of a batch (ChainLayout in chains.h)."""
        places = self.inner.numel() + 2 * self.with_inner
        return self.kept.numel() + 2 * (self.first.numel() - 1) + 10 * places

    def times(self, sources: int) -> tuple[float, float]:
        """Of a search per source, and of sweeps for all sources, as `_ALONE` counts it."""
        num_kept = self.kept.numel()
        size = num_kept + self.head.numel() + self.with_inner
        alone, together = _times(sources, num_kept, size, not self.by_hops, self.kept.is_cuda)
        return alone, together if self.most_at <= _MOST_AT else math.inf

    def together(self, sources: int, limit: int) -> bool:
        """Whether one sweep serves all sources inside the chains at a vertex.

        On CUDA, what the searches from all kept vertices find has to fit into half of the memory.
        """
        if self.kept.is_cuda and self.rows_on_cuda > limit // 2:
            return False
        alone, together = self.times(sources)
        return together < alone

    @property
    def rows_on_cuda(self) -> int:
        """Bytes of distances and path counts from all kept vertices (chain_ends.cuh)."""
        return self.kept.numel() ** 2 * (self.along.itemsize + 8)

    def workspace(self, together: bool, sources: int = 0) -> Workspace:
        """Memory of searches, or of sweeps; on CUDA for so many sources."""
        kept, inner, on_cuda = self.kept.numel(), self.inner.numel(), self.kept.is_cuda
        sizes = kept + inner, kept, self.head.numel(), inner, self.with_inner
        of_kind = on_cuda, self.along.itemsize, sizes, together
        if together and not on_cuda:
            return workspace("chain", *of_kind, self.most_rows, self.most_at)
        return workspace("chain", *of_kind, sources=sources)

    def in_words(self, together: bool) -> str:
        share = self.inner.numel() / max(self.inner.numel() + self.kept.numel(), 1)
        how = f"a sweep for each of the {self.kept.numel():,} others" if together else "contracted"
        return f"{share:.0%} of the vertices are inside of {self.with_inner:,} chains: {how}"


def _counts(core: Core) -> tuple[int, int, int]:
    """Kept vertices, slots and chains with inner vertices: bounds, without contraction."""
    inner = int(torch.count_nonzero(core.rowptr.diff() == 2))
    slots = core.num_slots - 2 * inner
    return max(core.num_nodes - inner, 1), slots, min(inner, slots // 2 + 1)


def _times(
    sources: int, num_kept: int, size: int, weighted: bool, on_cuda: bool
) -> tuple[float, float]:
    alone, together = (_ALONE_ON_CUDA, _TOGETHER_ON_CUDA) if on_cuda else (_ALONE, _TOGETHER)
    return alone[weighted] * sources * size, together[weighted] * num_kept * size


def bytes_to_contract(core: Core) -> int:
    """Memory of the Chains of a core, at most."""
    num_kept, slots, _ = _counts(core)
    inner, chains = core.num_nodes - num_kept + 1, slots // 2 + 1
    width = 4 if core.weight is None else core.weight.itemsize
    return 16 * num_kept + (24 + width) * inner + (56 + width) * chains + 4096


def may_pay(core: Core, sources: int) -> bool:
    """Whether :func:`pays` can be true, without the chains, which have not been counted yet."""
    num_kept, slots, _ = _counts(core)
    weighted = core.weight is not None
    if core.rowptr.is_cuda and sources < _LEAST_ON_CUDA[weighted]:
        return False
    least = min(_times(sources, num_kept, num_kept + slots, weighted, core.rowptr.is_cuda))
    return least <= _worthwhile(core, sources)


def pays(core: Core, chains: Chains, sources: int) -> bool:
    """Whether searches of the contracted core take less time, by counting."""
    return chains.exact and min(chains.times(sources)) <= _worthwhile(core, sources)


def seconds(core: Core, sources: int, chains: Chains | None = None) -> float:
    """Predicted for a thread of the CPU; without the chains, which may not be counted, at least."""
    weighted = core.weight is not None
    if chains is not None:
        return _UNIT[weighted] * min(chains.times(sources))
    num_kept, slots, _ = _counts(core)
    return _UNIT[weighted] * min(_times(sources, num_kept, num_kept + slots, weighted, False))


def _worthwhile(core: Core, sources: int) -> float:
    return _SHARE * sources * (core.num_slots + core.num_nodes)
