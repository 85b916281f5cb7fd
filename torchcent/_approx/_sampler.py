"""Draws random shortest paths, and counts how often each vertex is inside of one."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from torchcent import _memory, _ops, _resolution
from torchcent._approx import _tensor_sampler
from torchcent.graph import Graph

# Bytes of a search at most, per vertex and per slot: depths, queues, what lies on shortest paths
# (csrc/cpu/sample_hops.h); with weights two tables and two heaps (sample_weights.h); on CUDA
# (sample.cu) of a block, which leaves what needs more to the CPU.
_BY_HOPS, _BY_WEIGHTS, _ON_CUDA = (44, 4), (64, 32), (16, 0)
# Per vertex, whatever draws: counts of two phases, and what a check makes of them.
_OF_A_RUN = 80


class Sampler:
    """Samples 0, 1, 2, ... of a seed; what they are depends on nothing else.

    `control` is an int64 tensor on the host that the operators share: [cancel, samples done, arcs
    looked at].
    """

    def __init__(
        self, graph: Graph, generator: torch.Generator | None, memory: int | None = None,
        tie_tolerance: float = 0.0,
    ) -> None:  # fmt: skip
        self.graph, self._tie_tolerance = graph, tie_tolerance
        self.drawn = 0
        self.control = torch.zeros(3, dtype=torch.int64)
        where = generator.device if generator is not None else torch.device("cpu")
        self.seed = int(torch.randint(2**62, (1,), generator=generator, device=where))
        if graph.is_weighted:
            _resolution.check(graph)
        self._where, cpu = graph.device, torch.device("cpu")
        self._compiled = tie_tolerance == 0 and self._has_kernel(cpu)
        if self._compiled and not self._has_kernel(self._where):
            self._where = cpu  # CUDA has none for weights, and tensors would take far longer
        self._room = self._searches_that_fit(memory)

    def _has_kernel(self, device: torch.device) -> bool:
        weighted = self.graph.is_weighted
        return _ops.has_kernel("weighted_sample_paths" if weighted else "sample_paths", device)

    def _searches_that_fit(self, memory: int | None) -> int:
        """At a time: threads, or blocks on CUDA."""
        graph, where = self.graph, self._where
        n, m = graph.num_nodes, graph.num_slots
        fixed = graph.nbytes + _OF_A_RUN * n
        what = "drawing shortest paths, one at a time,"
        limit = _memory.budget(memory, graph.device)
        if where != graph.device:  # there the graph and the counts; all else on the host
            if fixed > limit:
                raise _memory.refuse(what, fixed, limit, memory)
            memory = None
            limit = _memory.budget(None, where)
        if not self._compiled:
            each = _tensor_sampler.memory_needed(graph)
        else:
            per_vertex, per_slot = _BY_WEIGHTS if graph.is_weighted else _BY_HOPS
            if where.type == "cuda":
                per_vertex, per_slot = _ON_CUDA
            each = per_vertex * n + per_slot * m
        if fixed + each > limit:
            raise _memory.refuse(what, fixed + each, limit, memory)
        return (limit - fixed) // max(each, 1)

    def draw(self, count: int) -> Tensor | None:
        """int64 [n], of the next so many samples; None if cancelled."""
        graph = self.graph if self._where == self.graph.device else self.host
        counts = torch.zeros(graph.num_nodes, dtype=torch.int64, device=graph.device)
        number = (self.seed, self.drawn, count, counts, self.control)
        colptr, row = graph.transpose
        searches = self._room
        if self._where.type == "cpu":
            searches = min(searches, torch.get_num_threads())
        if not self._compiled:
            _tensor_sampler.sample_paths(graph, *number, self._tie_tolerance)
        elif graph.is_weighted:
            weight, back_weight = graph.scaled_weights
            _ops.ops.weighted_sample_paths(
                graph.rowptr, graph.col, weight, colptr, row, back_weight, graph.scale.exact,
                *number, searches,
            )  # fmt: skip
        else:
            left = _ops.ops.sample_paths(graph.rowptr, graph.col, colptr, row, *number, searches)
            if left.numel() and not self.control[0]:
                counts += self._on_host(left)
        if self.control[0]:
            return None
        self.drawn += count
        return counts.to(self.graph.device)

    @cached_property
    def host(self) -> Graph:
        """The graph on the CPU."""
        return self.graph.to("cpu")

    def _on_host(self, numbers: Tensor) -> Tensor:
        """The same of single samples, on the CPU: those whose path counts are beyond float64."""
        graph = self.host
        counts = torch.zeros(graph.num_nodes, dtype=torch.int64)
        arcs = (graph.rowptr, graph.col, *graph.transpose)
        for number in numbers.tolist():
            _ops.ops.sample_paths(*arcs, self.seed, number, 1, counts, self.control, 1)
        return counts.to(self.graph.device)
