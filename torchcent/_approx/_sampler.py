"""Draws random shortest paths, and counts how often each vertex is inside of one."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from torchcent import _ops, _resolution
from torchcent._approx import _tensor_sampler
from torchcent.graph import Graph


class Sampler:
    """Samples 0, 1, 2, ... of a seed; what they are depends on nothing else.

    `control` is an int64 tensor on the host that the operators share: [cancel, samples done, arcs
    looked at].
    """

    def __init__(self, graph: Graph, generator: torch.Generator | None) -> None:
        self.graph = graph
        self.drawn = 0
        self.control = torch.zeros(3, dtype=torch.int64)
        where = generator.device if generator is not None else torch.device("cpu")
        self.seed = int(torch.randint(2**62, (1,), generator=generator, device=where))
        if graph.is_weighted:
            _resolution.check(graph)

    def draw(self, count: int) -> Tensor | None:
        """int64 [n], of the next so many samples; None if cancelled."""
        graph = self.graph
        name = "weighted_sample_paths" if graph.is_weighted else "sample_paths"
        if not _ops.has_kernel(name, graph.device) and _ops.has_kernel(name, torch.device("cpu")):
            graph = self.host  # CUDA has none for weights, and tensors would take far longer
        counts = torch.zeros(graph.num_nodes, dtype=torch.int64, device=graph.device)
        number = (self.seed, self.drawn, count, counts, self.control)
        colptr, row = graph.transpose
        threads = torch.get_num_threads()
        if not _ops.has_kernel(name, graph.device):
            _tensor_sampler.sample_paths(graph, *number)
        elif graph.is_weighted:
            weight, back_weight = graph.scaled_weights
            _ops.ops.weighted_sample_paths(
                graph.rowptr, graph.col, weight, colptr, row, back_weight, graph.scale.exact,
                *number, threads,
            )  # fmt: skip
        else:
            left = _ops.ops.sample_paths(graph.rowptr, graph.col, colptr, row, *number, threads)
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
