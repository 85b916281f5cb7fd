"""Draws random shortest paths and counts the vertices in their interiors, or their edges."""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.approx import _tensor_sampler
from torchcent.approx._edge_numbers import EdgeNumbers
from torchcent.engines import _climbs, _resolution
from torchcent.engines._climbs import Climbs
from torchcent.graph import Graph
from torchcent.runtime import _codes, _memory, _ops
from torchcent.runtime._codes import CANCEL
from torchcent.runtime._watch import progress_bar, watched
from torchcent.scale import _run
from torchcent.scale._arguments import Scale
from torchcent.scale._run import Setting
from torchcent.scale._units import Search, sizes_of_samples

# Maximum bytes of a search, per vertex and per slot. By hops: depths, queues and the vertices on
# shortest paths (sample_hops.h). By weights: two tables and two queues (sample_weights.h). On CUDA,
# per block (csrc/samples/cuda/sample.cu); searches that need more run on the CPU.
_SEARCH = {
    ("cpu", False): (44, 4), ("cpu", True): (64, 64),
    ("cuda", False): (21, 0), ("cuda", True): (72, 0),
}  # fmt: skip
# Bytes per vertex, for every engine: the counts of two phases and the arrays of a check. Bytes per
# vertex and per slot, by weights on CUDA: arcs stored with their weights, in both directions
# (dijkstra.cuh); by hops, stars in both directions (sample_arcs.cuh).
_RUN, _PACKED, _STARS = 80, (40, 32), 32
# Paths that are kept at a time, to count their edges, and about their bytes; bytes per slot of the
# numbers of edges.
_TOGETHER, _PATHS, _EDGES = 2**12, 2**22, 40
# Number of slots that the span of a block can address.
_MOST_PACKED_SLOTS = 2**32 - 1


class Sampler:
    """Draws samples 0, 1, 2, ... of a seed; each sample depends on the seed and its number only.

    `control` is the record shared by the operators (`_codes.control`), `size` the number of
    vertices or, with `edges`, of edges. If a hierarchy is kept with the graph, or repaid by the
    `expected` number of samples within `seconds`, paths are drawn by climbs in it. Where shortest
    paths tie, these may be others than searches draw.
    """

    def __init__(
        self, graph: Graph, generator: torch.Generator | None, memory: int | None = None,
        scale: Scale | None = None, edges: bool = False,
        expected: float = 0, seconds: float = math.inf, progress: bool | None = False,
    ) -> None:  # fmt: skip
        self.graph, self._scale = graph, scale
        self.drawn, self._ahead = 0, 0
        self.control = _codes.control()
        where = generator.device if generator is not None else torch.device("cpu")
        self.seed = int(torch.randint(2**62, (1,), generator=generator, device=where))
        if graph.is_weighted:
            _resolution.check(graph)
        self._where, cpu = graph.device, torch.device("cpu")
        self._climbs: Climbs | None = None
        self._compiled = graph.tie_tolerance == 0 and self._has_kernel(cpu)
        if self._compiled and (edges or not self._has_kernel(self._where)):
            self._where = cpu  # tensor operators would be far slower
        self.edges = EdgeNumbers(graph) if edges else None
        self.size = graph.num_nodes if self.edges is None else self.edges.size
        self._climbs = self._hierarchy(expected, memory, seconds, progress)
        self._room = self._searches_that_fit(memory)

    def _hierarchy(
        self, expected: float, memory: int | None, seconds: float, progress: bool | None
    ) -> Climbs | None:
        if not self._compiled or self._scale is not None and self._scale.is_spread:
            return None
        limit = _memory.budget(memory, self.graph.device) - self.graph._nbytes - _RUN * self.size
        found = _climbs.made(self.graph, expected, limit, seconds, progress)
        if found is not None and found.nbytes + found.bytes_per_thread > limit:
            found = None
        # Paths that tie depend on it, so that a run that continues has to do the same.
        if self._scale is not None and self._scale.decided("climbs", found is not None):
            return found or _climbs.made(self.graph, math.inf, progress=progress)
        return found if self._scale is None else None

    def jump(self, number: int) -> None:
        """Goes on with the samples from a number on, beyond those that have been drawn."""
        self._ahead = number - self.drawn

    def _operator(self, name: str = "sample_paths") -> str:
        if self._climbs is not None:
            return f"hierarchy_{name}"
        return f"weighted_{name}" if self.graph.is_weighted else name

    def _has_kernel(self, device: torch.device) -> bool:
        packed = device.type == "cuda" and self.graph.is_weighted
        if packed and self.graph.num_slots > _MOST_PACKED_SLOTS:
            return False
        return _ops.has_kernel(self._operator(), device)

    def _searches_that_fit(self, memory: int | None) -> int:
        """Number of concurrent searches: threads on the CPU, blocks on CUDA."""
        graph, where = self.graph, self._where
        n, m = graph.num_nodes, graph.num_slots
        fixed = graph._nbytes + _RUN * self.size
        fixed += 0 if self.edges is None else _PATHS + _EDGES * m
        what = "drawing shortest paths, one at a time,"
        limit = _memory.budget(memory, graph.device)
        if where != graph.device:  # a copy of the graph and the counts there; the rest on the host
            if fixed > limit:
                raise _memory.refuse(what, fixed, limit, memory)
            memory = None
            limit = _memory.budget(None, where)
        if not self._compiled:
            each = _tensor_sampler.memory_needed(graph)
        elif self._climbs is not None:
            fixed += self._climbs.nbytes
            each = self._climbs.bytes_per_thread
        else:
            per_vertex, per_slot = _SEARCH[where.type, graph.is_weighted]
            each = per_vertex * n + per_slot * m
            if where.type == "cuda":
                fixed += _PACKED[0] * n + _PACKED[1] * m if graph.is_weighted else _STARS * n
        if fixed + each > limit:
            raise _memory.refuse(what, fixed + each, limit, memory)
        return (limit - fixed) // max(each, 1)

    def draw(self, count: int, bar: tqdm | None = None, alone: bool = False) -> Tensor | None:
        """int64 [size]: counts of the next `count` samples; None if cancelled.

        alone: one device draws them, so that the time it takes does not depend on the others.
        """
        graph = self.graph if self._where == self.graph.device else self.host
        counts = torch.zeros(self.size, dtype=torch.int64, device=graph.device)
        first = self.drawn + self._ahead

        def compute(
            given: Any, part: slice, out: tuple[Tensor, ...], rung: int, control: Tensor
        ) -> int:
            number = first + part.start, part.stop - part.start, out[0], control
            if self.edges is not None:
                self._count_edges(graph, given, *number)
                return rung
            if not self._compiled:
                _tensor_sampler.sample_paths(graph, self.seed, *number)
                return rung
            left = self._call(given, *number, self._searches)
            if left.numel() and not control[CANCEL]:
                out[0].add_(self._on_host(left, control).to(out[0].device))
            return rung

        kind = "samples" if self.edges is None else "edge samples"
        key = {"search": kind, "seed": self.seed, "first": first, "samples": count}
        if self._climbs is not None:
            key["by"] = "climbs"
        alone = alone and self._scale is not None and self._scale.is_spread
        cut = self._scale is not None and not alone
        parts = sizes_of_samples(graph.device.type, first, count) if cut else [count]
        search = Search(key, parts, self._arrays(graph), (counts,), ("sum",), compute)
        bar = progress_bar(count, "", False, True) if bar is None else bar
        setting = Setting(graph.device, 0, bar, False, self.control, self.drawn, alone)
        _run.run(search, setting, self._scale)
        if self.control[CANCEL]:
            return None
        self.drawn += count
        return counts.to(self.graph.device)

    def paths(self, count: int, bar: tqdm) -> tuple[Tensor, Tensor] | None:
        """The next `count` samples themselves; None if cancelled.

        Returns int64 vertices from source to target, sample after sample, and int64 [count], the
        number of each, 0 where there is no path. They are on the host where the CPU draws them.
        """
        graph = self.host if self._compiled else self.graph
        found: list[tuple[Tensor, Tensor]] = []
        given, first = self._arrays(graph), self.drawn + self._ahead
        work = partial(self._drawn, graph, given, first, count, self.control)
        watched(lambda: found.append(work()), self.control, bar)
        if self.control[CANCEL]:
            return None
        self.drawn += count
        return found[0]

    def _drawn(
        self, graph: Graph, given: tuple[Tensor, ...], first: int, count: int, control: Tensor
    ) -> tuple[Tensor, Tensor]:
        length = torch.zeros(count, dtype=torch.int64, device=graph.device)
        number = first, count, length, control
        if not self._compiled:
            found = _tensor_sampler.draw_paths(graph, self.seed, *number)
            return found, length
        threads = min(self._room, torch.get_num_threads())
        return self._call(given, *number, threads, self._operator("draw_paths")), length

    def _count_edges(
        self, graph: Graph, given: tuple[Tensor, ...], first: int, count: int, counts: Tensor,
        control: Tensor,
    ) -> None:  # fmt: skip
        """Adds the number of samples that use each edge."""
        assert self.edges is not None
        if self._climbs is not None:
            of_slots = torch.zeros(graph.num_slots, dtype=torch.int64, device=graph.device)
            _ops.ops.hierarchy_sample_arcs(
                given, self._climbs.height, graph.rowptr, graph.col, self.seed, first, count,
                of_slots, control, self._searches,
            )  # fmt: skip
            counts.index_add_(0, self.edges.of_slot, of_slots)
            return
        for begin in range(first, first + count, _TOGETHER):
            if control[CANCEL]:
                return
            size = min(_TOGETHER, first + count - begin)
            self.edges.add(counts, *self._drawn(graph, given, begin, size, control))

    @property
    def _searches(self) -> int:
        if self._where.type != "cpu":
            return self._room
        return min(self._room, torch.get_num_threads())

    def _arrays(self, graph: Graph) -> tuple[Tensor, ...]:
        """What the operator reads."""
        if self._climbs is not None:
            return self._climbs.arrays
        colptr, row = graph.transpose
        if not graph.is_weighted:
            return graph.rowptr, graph.col, colptr, row
        weight, back_weight = graph.scaled_weights
        assert weight is not None and back_weight is not None
        return graph.rowptr, graph.col, weight, colptr, row, back_weight

    def _call(
        self, arrays: tuple[Tensor, ...], first: int, count: int, counts: Tensor, control: Tensor,
        searches: int, operator: str = "",
    ) -> Tensor:  # fmt: skip
        """Calls the operator. Returns the samples, on the host, that a device leaves to the CPU."""
        call = getattr(_ops.ops, operator or self._operator())
        read: tuple[Any, ...] = arrays
        if self._climbs is not None:
            read = arrays, self._climbs.height
        elif self.graph.is_weighted:
            read = *arrays, self.graph.scale.exact
        found: Tensor = call(*read, self.seed, first, count, counts, control, searches)
        return found

    @cached_property
    def host(self) -> Graph:
        """The graph on the CPU."""
        return self.graph.to("cpu")

    def _on_host(self, numbers: Tensor, control: Tensor) -> Tensor:
        """Draws single samples on the CPU: those whose path counts overflow float64."""
        graph = self.host
        counts = torch.zeros(graph.num_nodes, dtype=torch.int64, device="cpu")
        for number in numbers.tolist():
            self._call(self._arrays(graph), number, 1, counts, control, 1)
        return counts
