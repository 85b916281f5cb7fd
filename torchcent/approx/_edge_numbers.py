"""Numbers of edges: both slots of an undirected edge have one, and a path adds to it once."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.graph import Graph, _csr
from torchcent.runtime import _small


class EdgeNumbers:
    """The numbers of the edges of a graph: of a directed one those of its slots."""

    def __init__(self, graph: Graph) -> None:
        slot = torch.arange(graph.num_slots, device=graph.device)
        self.size = num_edges(graph)
        self.of_slot = slot  # int64 [num_slots], the edge of each slot
        if not graph.directed:
            first = torch.minimum(slot, graph.reverse_slot)
            self.of_slot = ((first == slot).cumsum(0) - 1)[first]
        self._num_nodes = graph.num_nodes
        self._key = _small.repeat_interleave(graph.degree) * graph.num_nodes + graph.col

    def add(self, counts: Tensor, vertex: Tensor, length: Tensor) -> None:
        """Adds 1 to the count of each edge of each path (see Sampler.paths)."""
        path = _small.repeat_interleave(length)
        within = path[1:] == path[:-1]
        arc = (vertex[:-1] * self._num_nodes + vertex[1:])[within].to(self._key.device)
        edge = self.of_slot[torch.searchsorted(self._key, arc)]  # keys ascend
        counts += torch.bincount(edge, minlength=self.size).to(counts.device)

    def of_columns(self, graph: Graph, values: Tensor) -> Tensor:
        """The value of the edge of each input column; 0 for self-loops."""
        return _csr.of_columns(values[self.of_slot], graph.slot)


def num_edges(graph: Graph) -> int:
    return graph.num_slots if graph.directed else (graph.num_slots + 1) // 2
