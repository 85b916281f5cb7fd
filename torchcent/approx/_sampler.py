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
from torchcent.distribute import _run
from torchcent.distribute._arguments import Scale
from torchcent.distribute._run import Setting
from torchcent.distribute._units import Search, sizes_of_samples
from torchcent.engines.plan import _climbs
from torchcent.engines.plan._climbs import Climbs
from torchcent.engines.search import _resolution
from torchcent.graph import Graph
from torchcent.runtime import _codes, _memory, _ops
from torchcent.runtime._codes import CANCEL
from torchcent.runtime._watch import progress_bar, watched
from torchcent.runtime._workspace import workspace

# Bytes per vertex, for every engine: the counts of two phases and the arrays of a check.
_RUN = 80
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
    paths tie, these may be others than searches draw."""

    def __init__(
        self, graph: Graph, generator: torch.Generator | None, memory: int | None = None,
        scale: Scale | None = None, edges: bool = False,
        expected: float = 0, seconds: float = math.inf, progress: bool | None = False,
    ) -> None:  # fmt: skip
        self.graph, self._scale = graph, scale
        self.samples, self._ahead = 0, 0
        self.control = _codes.control()
        where = generator.device if generator is not None else torch.device("cpu")
        self.seed = int(torch.randint(2**62, (1,), generator=generator, device=where))
        if graph.is_weighted:
            _resolution.check(graph)
        self._where, cpu = graph.device, torch.device("cpu")
        self._climbs: Climbs | None = None
        self._has_operators = graph.tie_tolerance == 0 and self._has_kernel(cpu)
        if self._has_operators and (edges or not self._has_kernel(self._where)):
            self._where = cpu  # tensor operators would be far slower
        self.edges = EdgeNumbers(graph) if edges else None
        self.size = graph.num_nodes if self.edges is None else self.edges.size
        if self._has_operators and not (scale is not None and scale.is_spread):
            limit = _memory.budget(memory, graph.device) - graph._nbytes - _RUN * self.size
            climbs = _climbs.made(graph, expected, limit, seconds, progress)
            if climbs is not None and climbs.nbytes + climbs.bytes_per_thread > limit:
                climbs = None
            # Paths that tie depend on it, so that a run that continues has to do the same.
            if scale is not None:
                if not scale.decided("climbs", climbs is not None):
                    climbs = None
                elif climbs is None:
                    climbs = _climbs.made(graph, math.inf, progress=progress)
            self._climbs = climbs
        self._searches = self._searches_that_fit(memory)

    def jump(self, number: int) -> None:
        """Goes on with the samples from a number on, beyond those that have been drawn."""
        self._ahead = number - self.samples

    def _operator(self, name: str = "sample_paths") -> str:
        if self._climbs is not None:
            return f"hierarchy_{name}"
        return f"weighted_{name}" if self.graph.is_weighted else name

    def _has_kernel(self, device: torch.device) -> bool:
        on_cuda = device.type == "cuda" and self.graph.is_weighted
        too_many = on_cuda and self.graph.num_slots > _MOST_PACKED_SLOTS
        return not too_many and _ops.has_kernel(self._operator(), device)

    def _searches_that_fit(self, memory: int | None) -> int:
        """Number of concurrent searches: threads on the CPU, blocks on CUDA."""
        graph, where = self.graph, self._where
        n, m = graph.num_nodes, graph.num_slots
        base = graph._nbytes + _RUN * self.size
        base += 0 if self.edges is None else _PATHS + _EDGES * m
        what = "drawing shortest paths, one at a time,"
        limit = _memory.budget(memory, graph.device)
        if where != graph.device:  # a copy of the graph and the counts there; the rest on the host
            _memory.require(what, base, limit, memory)
            memory = None
            limit = _memory.budget(None, where)
        if not self._has_operators:
            each = _tensor_sampler.memory_needed(graph)
        elif self._climbs is not None:
            base += self._climbs.nbytes
            each = self._climbs.bytes_per_thread
        else:
            weight_bytes = 8 if graph.is_weighted else 0  # at most
            sizes = weight_bytes, n, m, not graph.directed
            space = workspace("sample", where.type == "cuda", *sizes)
            base, each = base + space.fixed, space.each
        _memory.require(what, base + each, limit, memory)
        return (limit - base) // max(each, 1)

    def draw(self, count: int, bar: tqdm | None = None, alone: bool = False) -> Tensor | None:
        """int64 [size]: counts of the next `count` samples; None if cancelled. alone: one device
        draws them, so that the time it takes does not depend on the others."""
        graph = self.graph if self._where == self.graph.device else self.host
        counts = torch.zeros(self.size, dtype=torch.int64, device=graph.device)
        first = self.samples + self._ahead

        def compute(
            arrays: Any, part: slice, out: tuple[Tensor, ...], level: int, control: Tensor
        ) -> int:
            samples = first + part.start, part.stop - part.start, out[0], control
            if self.edges is not None:
                self._count_edges(graph, arrays, *samples)
            elif not self._has_operators:
                _tensor_sampler.sample_paths(graph, self.seed, *samples)
            else:
                rest = self._call(arrays, *samples)
                if rest.numel() and not control[CANCEL]:
                    out[0].add_(self._on_host(rest, control).to(out[0].device))
            return level

        kind = "samples" if self.edges is None else "edge samples"
        key = {"search": kind, "seed": self.seed, "first": first, "samples": count}
        if self._climbs is not None:
            key["by"] = "climbs"
        alone = alone and self._scale is not None and self._scale.is_spread
        in_units = self._scale is not None and not alone
        parts = sizes_of_samples(graph.device.type, first, count) if in_units else [count]
        search = Search(key, parts, self._arrays(graph), (counts,), ("sum",), compute)
        bar = progress_bar(count, "", False, True) if bar is None else bar
        setting = Setting(graph.device, 0, bar, False, self.control, self.samples, alone)
        _run.run(search, setting, self._scale)
        if self.control[CANCEL]:
            return None
        self.samples += count
        return counts.to(self.graph.device)

    def paths(self, count: int, bar: tqdm) -> tuple[Tensor, Tensor] | None:
        """The next samples themselves: int64 vertices from source to target, sample after sample,
        and int64 [count], the number of each, 0 where there is no path. None if cancelled. They are
        on the host where the CPU draws them."""
        graph = self.host if self._has_operators else self.graph
        parts: list[tuple[Tensor, Tensor]] = []
        work = partial(
            self._paths, graph, self._arrays(graph), self.samples + self._ahead, count, self.control
        )
        watched(lambda: parts.append(work()), self.control, bar)
        if self.control[CANCEL]:
            return None
        self.samples += count
        return parts[0]

    def _paths(
        self, graph: Graph, arrays: tuple[Tensor, ...], first: int, count: int, control: Tensor
    ) -> tuple[Tensor, Tensor]:
        length = torch.zeros(count, dtype=torch.int64, device=graph.device)
        samples = first, count, length, control
        if not self._has_operators:
            return _tensor_sampler.draw_paths(graph, self.seed, *samples), length
        threads = min(self._searches, torch.get_num_threads())
        return self._call(arrays, *samples, threads, self._operator("draw_paths")), length

    def _count_edges(
        self, graph: Graph, arrays: tuple[Tensor, ...], first: int, count: int, counts: Tensor,
        control: Tensor,
    ) -> None:  # fmt: skip
        """Adds the number of samples that use each edge."""
        assert self.edges is not None
        if self._climbs is not None:
            of_slots = torch.zeros(graph.num_slots, dtype=torch.int64, device=graph.device)
            _ops.ops.hierarchy_sample_arcs(
                arrays, self._climbs.height, graph.rowptr, graph.col, seed=self.seed,
                number=first, count=count, counts=of_slots, control=control, threads=self._threads,
            )  # fmt: skip
            counts.index_add_(0, self.edges.of_slot, of_slots)
            return
        for begin in range(first, first + count, _TOGETHER):
            if control[CANCEL]:
                return
            size = min(_TOGETHER, first + count - begin)
            self.edges.add(counts, *self._paths(graph, arrays, begin, size, control))

    @property
    def _threads(self) -> int:
        on_cpu = self._where.type == "cpu"
        return min(self._searches, torch.get_num_threads()) if on_cpu else self._searches

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
        threads: int | None = None, operator: str = "",
    ) -> Tensor:  # fmt: skip
        """Calls the operator. Returns the samples, on the host, that a device leaves to the CPU."""
        inputs: tuple[Any, ...] = arrays
        if self._climbs is not None:
            inputs = arrays, self._climbs.height
        elif self.graph.is_weighted:
            inputs = *arrays, self.graph.scale.exact
        result: Tensor = getattr(_ops.ops, operator or self._operator())(
            *inputs, self.seed, first, count, counts, control, threads or self._threads
        )
        return result

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
