"""Betweenness of a graph that changes."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _values as values
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.dynamic._arcs import Arcs, Change
from torchcent.dynamic._choice import Choice, is_dense
from torchcent.dynamic._graph import DynamicGraph
from torchcent.dynamic._measure import DynamicMeasure
from torchcent.dynamic._rows import Rows, touched
from torchcent.engines.measures import _normalize
from torchcent.graph import Graph
from torchcent.paths._betweenness import betweenness
from torchcent.runtime import _ops

_STATES = ("auto", "rows", "none", "whole")
_UNIT = 2.0**-64  # of sums in fixed point


class DynamicBetweenness(DynamicMeasure):
    r"""Exact betweenness of a :class:`DynamicGraph`, which follows its updates.

    .. math:: C_B(v) = \sum_{s \ne v \ne t} \sigma_{st}(v) / \sigma_{st}

    After an update, sources to which all changed edges lie between equal distances are left alone:
    nothing has changed for them. With ``state="rows"``, distances, path counts and dependencies of
    the others are repaired where they change. With ``state="none"``, these sources are searched in
    the graph before and in the graph after. Dependencies are added up in fixed point with 64 bits
    behind the point, without rounding. So scores do not drift: they have the bits of a new
    DynamicBetweenness of the same edges, whatever happened before. With ``state="whole"``,
    :func:`betweenness` of the whole graph is computed at each update. That is the only state of
    graphs with weights. A graph on CUDA is followed there.

    Args:
        graph: the graph to follow. Measures are updated as long as they are referenced.
        sources: None for all, or an int k or a tensor of pivots, as in :func:`betweenness`. They
            stay the same.
        normalized: as in :func:`betweenness`.
        state: "rows" keeps 25 bytes for each source and vertex, 28 where distances are more than
            253; on CUDA 13 and 16, where that is more than fits. "none" and "whole" keep none.
            "auto" begins with the whole. After 40 updates of at most 8 edges each it takes rows,
            if there were at least 4 edges per vertex. Rows must fit in ``Run(memory=)``, or half
            of the free memory. A larger update leads back to the whole.
        generator: of random pivots.
        run: memory and progress, see :class:`Run`. Threads are PyTorch's at each update.

    Attributes:
        scores: float64 [n]; equal to :func:`betweenness` of the snapshot within 1e-12 of each
            score, but for what that engine rounds; with ``state="whole"`` the same bits. Rows of 13
            bytes are within 1e-6 of it.
        changed: int64, the vertices whose score the last update changed.
        statistics: sources touched and searched anew, and seconds of the last update.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: ``state="rows"`` does not fit.
        OverflowError: the state is "rows" or "none", and there are more than 10^308 shortest paths
            between two vertices. On CUDA these are 2^53 or 2^62 / n, and 2^32 in rows of 13 bytes.

    The first scores take O(k (n + m)) time, later ones by what changed; an update of which much
    of the graph is part costs as much as the first.

    Example:
        >>> import torch, torchcent
        >>> graph = torchcent.DynamicGraph(torch.tensor([[0, 1, 2], [1, 2, 3]]), directed=False)
        >>> follows = torchcent.DynamicBetweenness(graph, normalized=False, state="rows")
        >>> graph.update(insert=torch.tensor([[1], [3]])).inserted
        1
        >>> follows.scores
        tensor([0., 2., 0., 0.], dtype=torch.float64)
        >>> follows.statistics.sources
        3

    Source:
        Brandes 2001; sources and repairs as of Green, McColl and Bader 2012.
    """

    @computes()
    def __init__(
        self,
        graph: DynamicGraph,
        *,
        sources: int | Tensor | None = None,
        normalized: bool = True,
        state: str = "auto",
        generator: torch.Generator | None = None,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(graph, run)
        values.choice(state, "state", _STATES)
        self._normalized = values.flag(normalized, "normalized")
        self._pivots = check.sources(sources, graph.snapshot(), generator)
        self._rows: Rows | None = None
        self._narrow = False  # rows
        if state in ("rows", "none"):
            self._needs_hops(f"state={state!r}")
            self._needs_kernel(f"state={state!r}", "dynamic_rows")
        if state == "rows":
            self._require(graph.num_nodes)
        self._state = "whole" if state == "auto" else state
        is_open = state == "auto" and not graph.is_weighted and is_dense(graph)
        is_open = is_open and _ops.has_kernel("dynamic_rows", graph.device)
        self._choice = Choice(is_open and self._fits(graph.num_nodes))

    def _stored(self) -> dict[str, Any]:
        state = super()._stored()
        if self._narrow:  # rows of 13 bytes, which the CPU does not have: computed again
            state |= {"_rows": None, "_narrow": False, "_is_current": False, "_before": None}
        return state

    def _fault(self) -> str:
        if not self._is_current:
            return ""
        n = self._graph.num_nodes
        if self._rows is not None:
            return self._rows.fault(self._sources(n), n, self._state == "rows")
        suits = self._values.dtype == torch.float64 and self._values.shape == (n,)
        return "" if suits else "scores of another graph"

    def _bytes(self, num_nodes: int) -> int:
        count = num_nodes if self._pivots is None else self._pivots.numel()
        return Rows.bytes_for(count, num_nodes, self._graph.device, self._narrow)

    def _require(self, num_nodes: int) -> None:
        """Chooses the type of rows that fits, if there are none; MemoryError if no type does."""
        if self._rows is None and self._graph.device.type != "cpu" and not self._fits(num_nodes):
            self._narrow = True
        super()._require(num_nodes)

    def _sources(self, num_nodes: int) -> Tensor:
        if self._pivots is not None:
            return self._pivots
        return torch.arange(num_nodes, device=self._graph.device)

    def _start(self, arcs: Arcs) -> tuple[int, str]:
        sources = self._sources(arcs.num_nodes)
        if self._state == "whole":
            self._compute_whole(arcs)
        else:
            rows = Rows.empty(sources, arcs.num_nodes, self._state == "rows", self._narrow)
            self._compute(rows, arcs)
            self._rows = rows
        return sources.numel(), self._state

    def _compute(self, rows: Rows, arcs: Arcs) -> None:
        if self._state == "none":
            rows.compute(arcs.forward, self._progress, rows.sources)
        elif not rows.compute(arcs.forward, self._progress):
            rows.widen()
            rows.compute(arcs.forward, self._progress)

    def _compute_whole(self, arcs: Arcs) -> None:
        self._rows = None  # no longer those of this graph
        run = Run(progress=self._progress, memory=self._memory, dtype=torch.float64)
        self._values = betweenness(
            arcs.frozen, sources=self._pivots, normalized=self._normalized, run=run
        )

    def _repair(self, change: Change) -> tuple[int, int, str]:
        if self._choice.is_open:
            takes_rows = self._choice.takes_rows(change) and self._fits(change.after.num_nodes)
            self._state = "rows" if takes_rows else "whole"
        elif self._state == "rows" and change.grown:
            self._require(change.after.num_nodes)
        try:
            if self._rows is not None and self._state != "whole":
                return *self._repair_rows(self._rows, change), self._state
            count, state = self._start(change.after)
        except OverflowError:
            if not self._choice.is_open:
                raise
            self._choice.is_open, self._state = False, "whole"  # counts paths beyond float64
            count, state = self._start(change.after)
        return count, count, state

    def _repair_rows(self, rows: Rows, change: Change) -> tuple[int, int]:
        """How many sources the change touched, and how many of them were searched anew."""
        after = change.after
        old = rows.sources.numel()
        if change.grown:
            sources = self._sources(after.num_nodes)
            rows = rows.grow(sources, after.num_nodes, self._state == "rows")
        present, more = rows.part(0, old), rows.part(old, rows.sources.numel())
        if self._state == "rows":
            arcs = after.forward
            counts = present.repair(arcs, change.removed, change.inserted, self._progress)
            if counts is None or not more.compute(arcs, self._progress):
                rows.widen()
                self._compute(rows, after)
                counts = old, old
        else:
            again = present.sources[touched(change, present.sources)]
            before = change.before_with(after.num_nodes).forward
            rows.compute(before, self._progress, again, sign=-1)
            rows.compute(after.forward, self._progress, torch.cat([again, more.sources]))
            counts = again.numel(), again.numel()
        self._rows = rows
        new = more.sources.numel()
        return counts[0] + new, counts[1] + new

    def _scores(self, arcs: Arcs) -> Tensor:
        if self._rows is None:
            return self._values
        low, high = self._rows.sums.unbind(1)
        unsigned = low.double() + torch.where(low < 0, 2.0**64, 0.0)
        scores = high.double() + unsigned * _UNIT
        return _normalize.scale(
            scores, cast(Graph, arcs), normalized=self._normalized, pivots=self._pivots
        )
