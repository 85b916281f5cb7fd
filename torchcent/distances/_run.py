"""What the sums of hops and of weights share: the sums, the order of sources, the run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor

from torchcent.distribute._digest import Key
from torchcent.distribute._units import Kind
from torchcent.engines.measures._request import Request
from torchcent.engines.plan._plan import Plan
from torchcent.engines.reduce import _cutoffs
from torchcent.engines.reduce._core import Core
from torchcent.engines.search._execute import execute
from torchcent.graph import Graph
from torchcent.runtime import _codes, _ops
from torchcent.runtime._codes import DONE
from torchcent.runtime._tuned import TUNED
from torchcent.runtime._watch import at_work, progress_bar

FAR, HARMONIC, FARTHER, REACH = range(4)  # columns of sums: d, 1/d, 1/(d + 1), pairs


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over distances, per vertex of the graph or per source."""

    total: Tensor  # float64 [n, 4], or for cutoffs [n, cutoffs, 4]
    # int32 [n], float64 by weights, over the vertices reached; for cutoffs by weights [n, cutoffs],
    # by hops over those within the last
    eccentricity: Tensor
    levels: Tensor = torch.empty(0, dtype=torch.int64, device="cpu")  # [n + 1]: pairs by distance

    @classmethod
    def zeros(cls, count: int, graph: Graph, request: Request, levels: int = 0) -> Sums:
        """The sums of so many vertices or sources, and of pairs by so many distances."""
        total = zeros(count, request, graph.device)
        farthest = torch.zeros(count, dtype=torch.int32, device=graph.device)
        if graph.is_weighted:
            farthest = torch.zeros_like(total[..., 0])
        return cls(total, farthest, torch.zeros(levels, dtype=torch.int64, device=graph.device))

    def within(self, column: int, cutoff: float) -> Sums:
        """Those of one of several cutoffs, from searches along all arcs.

        By hops, there are vertices at each distance up to the largest.
        """
        if self.eccentricity.dim() == 2:
            farthest = self.eccentricity[:, column]
        else:
            most = min(math.floor(min(cutoff, 2.0**31 - 1)), 2**31 - 1)
            farthest = self.eccentricity.clamp(max=most)
        return replace(self, total=self.total[:, column], eccentricity=farthest)

    @property
    def farness(self) -> Tensor:
        return self.total[..., FAR]

    @property
    def harmonic(self) -> Tensor:
        return self.total[..., HARMONIC]

    @property
    def reach(self) -> Tensor:
        return self.total[..., REACH]


def zeros(count: int, request: Request, device: torch.device) -> Tensor:
    """The sums of so many vertices or sources."""
    several = () if request.cutoffs is None else (len(request.cutoffs),)
    return torch.zeros(count, *several, 4, dtype=torch.float64, device=device)


def of_weights(count: int, request: Request, device: torch.device) -> tuple[Tensor, Tensor]:
    """What searches by weights add up, zero: d, 1/d, 1 and the largest d, in units of weights."""
    farthest = torch.zeros_like(zeros(count, request, device)[..., 0])
    return farthest.new_zeros(*farthest.shape, 3), farthest


def in_lengths(
    graph: Graph, found: tuple[Tensor, Tensor], place: Tensor, count: int, unit: float = 1.0
) -> Sums:
    """Those sums of so many vertices, at their places; `unit` is that of distances, in units."""
    sums, farthest = found
    per_one = graph.scale.per_one / unit
    total = sums.new_zeros(count, *sums.shape[1:-1], 4)
    for column, at, units in ((FAR, 0, per_one), (HARMONIC, 1, 1 / per_one), (REACH, 2, 1.0)):
        # Without operators that wake PyTorch's threads for a few thousand elements.
        own = sums[..., at] if units == 1 else sums[..., at] / units
        total[..., column].index_copy_(0, place, own)
    lengths = graph.scale.lengths(farthest if unit == 1 else farthest * unit)
    return Sums(total, lengths.new_zeros(count, *lengths.shape[1:]).index_copy_(0, place, lengths))


def limits_of(graph: Graph, request: Request) -> Tensor | None:
    """On the CPU; not among the inputs that are copied to each device."""
    return None if request.cutoffs is None else _cutoffs.limits(graph, request.cutoffs)


def direction(core: Core, backward: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """CSR and its transpose; swapped to search along reversed arcs."""
    if backward:
        return core.colptr, core.row, core.rowptr, core.col
    return core.rowptr, core.col, core.colptr, core.row


def in_order(core: Core, sources: Tensor | None, backward: bool) -> tuple[Tensor, Tensor]:
    """The core vertices to search from, and their positions in `sources`.

    Vertices of a batch are close together. Vertices without arcs to follow are omitted, because
    searches from them find nothing.
    """
    order = core.sequence
    begins = direction(core, backward)[0].diff() > 0
    if sources is None:
        start = order.masked_select(begins.index_select(0, order))
        return start, start
    # By operators that do not wake PyTorch's threads for a few thousand elements, as indexing does.
    every = torch.arange(core.num_nodes, device=sources.device)
    at = torch.full((core.fold.parent.numel(),), -1, device=sources.device)
    own = at.index_copy_(0, core.vertex, every).index_select(0, sources)
    place = torch.nonzero(own >= 0).flatten()
    place = place.masked_select(begins.index_select(0, own.index_select(0, place)))
    own = own.index_select(0, place)
    rank = torch.empty_like(order).index_copy_(0, order, every)
    turn = torch.argsort(rank.index_select(0, own))
    return own.index_select(0, turn), place.index_select(0, turn)


def farthest(graph: Graph, request: Request, sources: Tensor, backward: bool) -> Tensor:
    """int32 [k]: the largest distance from each source, or to it, by single searches; CPU only."""
    rowptr, col = graph.transpose if backward else (graph.rowptr, graph.col)
    summary = sources

    def work(control: Tensor) -> None:
        nonlocal summary
        summary = _ops.ops.search_summary(rowptr, col, sources, control, torch.get_num_threads())

    quick = sources.numel() * graph.num_slots < TUNED["queue"].inline
    with progress_bar(sources.numel(), request.measure, request.progress, quick) as bar:
        control = _codes.control()
        at_work(partial(work, control), control, bar, graph.device, quick)
    return summary[:, 0].int()


#: computes the sources of a slice into outputs: (inputs, slice, outputs, control)
Part: TypeAlias = Callable[[Any, slice, tuple[Tensor, ...], Tensor], None]


def run(
    plan: Plan, request: Request, key: Key, inputs: Any, outputs: tuple[Tensor, ...],
    kinds: tuple[Kind, ...], part: Part, *, total: int,
) -> None:  # fmt: skip
    """Computes the outputs of all sources, in units; `key` is what they depend on."""

    def compute(
        inputs: Any, sources: slice, out: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        part(inputs, sources, out, control)
        if plan.engine == "tensor":
            control[DONE] += sources.stop - sources.start
        return rung

    execute(
        plan, key, inputs, outputs, kinds, compute, total=total, progress=request.progress,
        scale=request.scale,
    )  # fmt: skip
