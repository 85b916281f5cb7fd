"""Betweenness of a graph that changes."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _values as values
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.dynamic._graph import Arcs, Change, DynamicGraph
from torchcent.dynamic._measure import DynamicMeasure
from torchcent.dynamic._rows import Rows, touched
from torchcent.engines.measures import _normalize
from torchcent.graph import Graph
from torchcent.runtime import _memory

_STATES = ("auto", "rows", "none")
_UNIT = 2.0**-64  # of sums in fixed point


class DynamicBetweenness(DynamicMeasure):
    r"""Exact betweenness of a :class:`DynamicGraph`, which follows its updates.

    .. math:: C_B(v) = \sum_{s \ne v \ne t} \sigma_{st}(v) / \sigma_{st}

    After an update, sources to which all changed edges lie between equal distances are left alone:
    nothing has changed for them. With ``state="rows"``, distances, path counts and dependencies of
    the others are repaired where they change, from those of neighbours. With ``state="none"``,
    these sources are searched in the graph before and in the graph after. Dependencies are added up
    in fixed point with 64 bits behind the point, without rounding. So scores do not drift: they
    have the bits of a new DynamicBetweenness of the same edges, whatever happened before.

    Args:
        graph: the graph to follow. Measures are updated as long as they are referenced.
        sources: None for all, or an int k or a tensor of pivots, as in :func:`betweenness`. They
            stay the same.
        normalized: as in :func:`betweenness`.
        state: "rows" keeps 20 bytes for each source and vertex; "none" keeps nothing; "auto" keeps
            rows where they take at most ``Run(memory=)``, or half of the free memory.
        generator: of random pivots.
        run: memory and progress, see :class:`Run`. Threads are PyTorch's at each update.

    Attributes:
        scores: float64 [n]; equal to :func:`betweenness` of the snapshot within 1e-12 of each
            score, but for what that engine rounds.
        changed: int64, the vertices whose score the last update changed.
        statistics: sources touched and searched anew, and seconds of the last update.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: ``state="rows"`` does not fit.
        OverflowError: there are more than 10^308 shortest paths between two vertices.

    The first scores take O(k (n + m)) time, later ones by what changed; an update of which much
    of the graph is part costs as much as the first. Not on CUDA.

    Example:
        >>> import torch, torchcent
        >>> graph = torchcent.DynamicGraph(torch.tensor([[0, 1, 2], [1, 2, 3]]), directed=False)
        >>> follows = torchcent.DynamicBetweenness(graph, normalized=False)
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
        super().__init__(graph, run.progress)
        values.choice(state, "state", _STATES)
        self._normalized = values.flag(normalized, "normalized")
        self._pivots = check.sources(sources, graph.snapshot(), generator)
        count = graph.num_nodes if self._pivots is None else self._pivots.numel()
        needed = Rows.bytes_for(count, graph.num_nodes, True)
        limit = _memory.budget(run.memory, torch.device("cpu"))
        if state == "rows":
            _memory.require("state='rows'", needed, limit, run.memory)
        self._keeps_rows = state == "rows" or (state == "auto" and needed <= limit)

    def _sources(self, num_nodes: int) -> Tensor:
        return torch.arange(num_nodes, device="cpu") if self._pivots is None else self._pivots

    def _start(self, arcs: Arcs) -> tuple[int, str]:
        sources = self._sources(arcs.num_nodes)
        self._rows = Rows.empty(sources, arcs.num_nodes, True, self._keeps_rows)
        self._rows.compute(arcs.forward, self._progress, None if self._keeps_rows else sources)
        return sources.numel(), "rows" if self._keeps_rows else "none"

    def _repair(self, change: Change) -> tuple[int, int, str]:
        rows, after = self._rows, change.after
        old = rows.sources.numel()
        if change.grown:
            rows = rows.grow(self._sources(after.num_nodes), after.num_nodes)
        present, more = rows.part(0, old), rows.part(old, rows.sources.numel())
        if self._keeps_rows:
            arcs = after.forward
            outcome = present.repair(arcs, change.removed, change.inserted, self._progress)
            more.compute(arcs, self._progress)
            count, anew = int((outcome > 0).sum()), int((outcome == 2).sum())
        else:
            again = present.sources[touched(change, present.sources, paths=True)]
            before = change.before_with(after.num_nodes).forward
            rows.compute(before, self._progress, again, sign=-1)
            rows.compute(after.forward, self._progress, torch.cat([again, more.sources]))
            count = anew = again.numel()
        self._rows = rows
        new = more.sources.numel()
        return count + new, anew + new, "rows" if self._keeps_rows else "none"

    def _scores(self, arcs: Arcs) -> Tensor:
        low, high = self._rows.sums.unbind(1)
        unsigned = low.double() + torch.where(low < 0, 2.0**64, 0.0)
        scores = high.double() + unsigned * _UNIT
        return _normalize.scale(
            scores, cast(Graph, arcs), normalized=self._normalized, pivots=self._pivots
        )
