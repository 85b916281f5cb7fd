"""Blocks of directed graphs: what hangs on a vertex counts as far as it is reachable.

A path from a block to another passes through the same cut vertices as in an undirected graph. For
a vertex v of the block X let A_X(v) be the sum of the weights of v and of all outside of X that
reach v. R_X(v) is that of all others inside of X, with what hangs on them, that reach v. B_X(v) and
S_X(v) are likewise of what v reaches. Then

    A_X(v) = a_v + sum over the other blocks Y of v of R_Y(v),
    C(v) = sum over the blocks X of v of C_X(v) + S_X(v) (A_X(v) - a_v),

where C_X counts the pairs of X with the weights A_X and B_X. The second term are the pairs of
different blocks of v. An arc lies in one block; a bridge from u to v gets A_X(u) B_X(v).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.graph import Graph, _csr
from torchcent.graph._cache import Record, Slot
from torchcent.runtime import _ops, _small


class Reduced(NamedTuple):
    """The weights of the copies that are searched, and what is counted in closed form."""

    sources: Tensor
    targets: Tensor
    known: Tensor


@dataclass(frozen=True, eq=False)
class Reach(Record):
    """The blocks of a directed graph, bridges too, as graphs of a batch, on the host.

    Attributes:
        union: the blocks of two and more vertices.
        vertex: [union.num_nodes]; the vertex of the graph that each one is a copy of.
        top: [blocks]; the vertex of each block that is closest to the root of its component.
        searched: [union.num_nodes]; whether its block has three and more vertices.
        bridge: slots of the union in blocks of two vertices.
        slot: [bridge]; the slots of the graph.
    """

    union: Graph
    vertex: Tensor
    top: Tensor
    searched: Tensor
    bridge: Tensor
    slot: Tensor

    @staticmethod
    def of(rowptr: Tensor, col: Tensor, block: Tensor, top: Tensor) -> Reach:
        ptr, vertex, begin, head, slot = _ops.ops.block_union(
            rowptr, col, block, top, 2, torch.get_num_threads()
        )
        union = Graph(begin, head, None, True, None, ptr, _trusted=True)
        big = _small.repeat_interleave(ptr.diff() > 2, ptr.diff())
        bridge = torch.nonzero(~big.index_select(0, union.col.long())).flatten()
        return Reach(union, vertex, top, big, bridge, slot.index_select(0, bridge))

    @property
    def nbytes(self) -> int:
        own = (self.vertex, self.top, self.searched, self.bridge, self.slot)
        extra = self.union.num_slots * 12 + self.vertex.numel() * (8 + 4 * 8)  # transpose and sums
        return self.union._nbytes + extra + sum(x.numel() * x.itemsize for x in own)

    def bridges(self) -> tuple[Tensor, Tensor]:
        """The lower ends of the arcs that are alone in their blocks, downwards and upwards."""
        row = _csr.rows(self.union.rowptr).index_select(0, self.bridge)
        tail, head = (
            self.vertex.index_select(0, end)
            for end in (row, self.union.col.index_select(0, self.bridge))
        )
        assert self.union.ptr is not None
        number = _csr.rows(self.union.ptr).index_select(0, row)
        down = self.top.index_select(0, number) == tail
        return head[down], tail[~down]

    def reduce(self, graph: Graph, a: Tensor, b: Tensor, per_slot: bool, ends: bool) -> Reduced:
        """For the weights of sources and of targets; sums are kept if every vertex counts once.

        `ends`: pairs count for their ends, too.
        """
        of = sums if a is graph._ones and b is graph._ones else sums.compute
        device = a.device
        a, b = a.cpu(), b.cpu()
        a_outside, b_outside, a_inside, b_inside = of(self, a, b)
        own_a, own_b = a.index_select(0, self.vertex), b.index_select(0, self.vertex)
        of_a, of_b = own_a + a_outside, own_b + b_outside
        if per_slot:
            scores = torch.zeros(graph.num_slots, dtype=torch.float64, device="cpu")
            row = _csr.rows(self.union.rowptr).index_select(0, self.bridge)
            col = self.union.col.index_select(0, self.bridge)
            scores[self.slot] = of_a.index_select(0, row) * of_b.index_select(0, col)
        else:
            counted = b_inside * a_outside
            if ends:
                # The search of a block counts its pairs for an end v with the weights A_X(v) and
                # B_X(v) instead of a_v and b_v; bridges are not searched.
                searched = a_outside * b_inside + b_outside * a_inside
                counted += torch.where(
                    self.searched, -searched, own_a * b_inside + own_b * a_inside
                )
            scores = torch.zeros(a.numel(), dtype=torch.float64, device="cpu")
            scores.index_add_(0, self.vertex, counted)
        return Reduced(
            of_a[self.searched].to(device), of_b[self.searched].to(device), scores.to(device)
        )


@Slot
def sums(reach: Reach, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    """A_X - a, B_X - b, R_X and S_X of each copy."""
    union = reach.union
    parts: tuple[Tensor, ...] = _ops.ops.block_reach(
        union.ptr, reach.vertex, union.rowptr, union.col, *union.transpose, top=reach.top,
        source=a, target=b, threads=torch.get_num_threads(),
    )  # fmt: skip
    return parts
