"""What all measures of graphs that change have in common."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self, cast

import torch
from torch import Tensor

from torchcent.check._run import Run
from torchcent.dynamic._arcs import Arcs, Change
from torchcent.dynamic._graph import KINDS, DynamicGraph
from torchcent.runtime import _memory, _ops


@dataclass(frozen=True)
class Statistics:
    """What the last update took.

    Attributes:
        sources: the sources whose distances or paths the changes touched; of
            :class:`DynamicCounts`, the vertices whose counts they touched; of
            :class:`DynamicBetweennessApprox`, the samples that were drawn.
        recomputed: those of them that were searched or counted anew, instead of repaired.
        state: "rows", "none" or "whole", see :class:`DynamicBetweenness`; or "samples".
        seconds: of this measure.
        iterations: of :class:`DynamicPageRank` and :class:`DynamicKatz`, 0 of small graphs, which
            are solved directly.
    """

    sources: int
    recomputed: int
    state: str
    seconds: float
    iterations: int = 0


class DynamicMeasure(ABC):
    """Scores of a :class:`DynamicGraph` that follow its updates.

    Attributes:
        scores: [n], of the graph as it is.
        changed: int64, the vertices whose score the last update changed, in ascending order. New
            vertices are among them. Empty before the first update.
        statistics: what the last update took, see :class:`Statistics`.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        KINDS[cls.__name__] = cls

    def __init__(self, graph: DynamicGraph, run: Run) -> None:
        if not isinstance(graph, DynamicGraph):
            raise TypeError(
                f"graph must be a DynamicGraph, got {type(graph).__name__}; "
                "torchcent.DynamicGraph(graph) makes one"
            )
        self._graph, self._progress, self._memory = graph, run.progress, run.memory
        self._is_current = False
        self._before: Tensor | None = None  # scores before the last update
        self._iterations = 0
        self.statistics = Statistics(0, 0, "none", 0.0)
        graph._measures.add(self)

    def _bytes(self, num_nodes: int) -> int:
        """Of rows, for those measures that keep some."""
        raise NotImplementedError

    def _limit(self) -> int:
        return _memory.budget(self._memory, self._graph.device)

    def _fits(self, num_nodes: int) -> bool:
        return self._bytes(num_nodes) <= self._limit()

    def _require(self, num_nodes: int) -> None:
        """MemoryError if rows do not fit."""
        _memory.require("state='rows'", self._bytes(num_nodes), self._limit(), self._memory)

    def _needs_kernel(self, what: str, operator: str) -> None:
        if not _ops.has_kernel(operator, self._graph.device):
            raise ValueError(
                f"{what} needs the compiled kernels for {self._graph.device.type}, which are not "
                "installed (torchcent.show_config())"
            )

    def _needs_cpu(self, what: str) -> None:
        if self._graph.device.type != "cpu":
            raise ValueError(
                f"{what} is for graphs on the CPU, and graph is on {self._graph.device}; "
                "DynamicGraph(graph.snapshot().to('cpu')) is one"
            )

    def _needs_hops(self, what: str) -> None:
        if self._graph.is_weighted:
            raise ValueError(
                f"{what} is for graphs without weights; "
                "DynamicGraph(graph.snapshot().unweighted()) is one"
            )

    @property
    def scores(self) -> Tensor:
        self._bring_up_to_date()
        return self._scores(self._graph._arcs)

    @property
    def changed(self) -> Tensor:
        scores, before = self.scores, self._before
        if before is None:
            return torch.empty(0, dtype=torch.int64, device=scores.device)
        differs = torch.ones_like(scores, dtype=torch.bool)  # new vertices, too
        old = scores[: before.numel()]
        differs[: before.numel()] = (old != before) & ~(old.isnan() & before.isnan())
        return differs.nonzero().flatten()

    def _bring_up_to_date(self) -> None:
        if self._is_current:
            return
        begin = time.perf_counter()
        sources, state = self._start(self._graph._arcs)
        seconds = time.perf_counter() - begin
        self.statistics = Statistics(sources, sources, state, seconds, self._iterations)
        self._is_current = True

    def _follow(self, change: Change) -> None:
        """Brings the scores from one graph to the next."""
        self._bring_up_to_date()
        begin = time.perf_counter()
        before = self._scores(change.before)
        touched, recomputed, state = self._repair(change)
        self._before = before
        seconds = time.perf_counter() - begin
        self.statistics = Statistics(touched, recomputed, state, seconds, self._iterations)

    def _skip(self) -> None:
        """Follows an update that changes nothing."""
        self._before = None
        state = self.statistics.state
        self.statistics = Statistics(0, 0, state, 0.0)

    def _forget(self) -> None:
        """Leaves what is kept, which may be that of another graph."""
        self._is_current, self._before = False, None

    def _stored(self) -> dict[str, Any]:
        """What a file has of the measure: all attributes but the graph.

        They are plain values, tensors, generators, and lists, tuples, dictionaries, dataclasses and
        named tuples of such (_saved.py).
        """
        state = cast(dict[str, Any], super().__getstate__())
        return {name: value for name, value in state.items() if name != "_graph"}

    @classmethod
    def _restored(cls, graph: DynamicGraph, state: dict[str, Any]) -> Self:
        """The measure of such a state, which follows a graph."""
        measure = cls.__new__(cls)
        measure._graph = graph
        vars(measure).update(state)
        graph._measures.add(measure)
        return measure

    def _fault(self) -> str:
        """What of a restored state does not suit the graph; nothing if it does."""
        return ""

    @abstractmethod
    def _start(self, arcs: Arcs) -> tuple[int, str]:
        """Computes all that is kept; the number of sources, and the state."""

    @abstractmethod
    def _repair(self, change: Change) -> tuple[int, int, str]:
        """Follows a change; how many sources it touched, how many were searched anew, the state."""

    @abstractmethod
    def _scores(self, arcs: Arcs) -> Tensor:
        """The scores, from what is kept."""
