"""Checks that float64 distinguishes every path from the same path plus one more arc."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _weights as check_weights
from torchcent.engines._tensor import _weighted
from torchcent.graph import Graph
from torchcent.graph._cache import Slot


@Slot
def check(graph: Graph) -> None:
    """Raises ValueError if an arc is so short that it may not change a sum of weights; asked once
    for a graph."""
    if graph.scale.exact:
        return
    assert graph.weight is not None
    smallest = float(graph.weight.min())
    most = min(graph.num_nodes - 1, graph.num_slots)  # arcs of a path, in one direction each
    longest = 2 * float(torch.topk(graph.weight, most).values.sum())
    if smallest <= longest * torch.finfo(torch.float64).eps and graph.is_symmetric:
        longest = min(longest, _longest_path(graph, graph.weight))
    check_weights.resolvable(smallest, longest)


def _longest_path(graph: Graph, weight: Tensor) -> float:
    """An upper bound on all distances: twice the eccentricity of one vertex per component."""
    label = graph.components
    first = torch.full((int(label.max()) + 1,), graph.num_nodes, device=label.device)
    first.scatter_reduce_(0, label, torch.arange(graph.num_nodes, device=label.device), "amin")
    many = graph.degree[first] > 0
    longest = 0.0
    for source in first[many].split(1):
        lengths = _weighted.distances(graph.rowptr, graph.col, weight, source)
        longest = max(longest, 2 * float(lengths[torch.isfinite(lengths)].max()))
    return longest
