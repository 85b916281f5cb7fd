"""The levels of shortest paths of a graph, by PyTorch's operators, with path counts of any size."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.engines._tensor import _weighted
from torchcent.engines._tensor._scaled import Number, Scaled
from torchcent.engines._tensor._search import Levels, shortest_path_levels
from torchcent.graph import Graph


def levels(graph: Graph, sources: Tensor, backward: bool = False) -> Levels:
    """The levels of shortest paths from the sources, or `backward` to them.

    Path counts are float64, or, where these overflow, a mantissa and an exponent.
    """
    rowptr, col = graph.transpose if backward else (graph.rowptr, graph.col)
    weight = graph.scaled_weights[1 if backward else 0]

    def search(one: Number) -> Levels | None:
        if weight is None:
            return shortest_path_levels(rowptr, col, sources, one)
        return _weighted.shortest_path_levels(
            rowptr, col, weight, sources, one, graph.tie_tolerance
        )

    one = torch.ones(sources.numel(), dtype=torch.float64, device=sources.device)
    result = search(one)
    if result is None:
        result = search(Scaled.of(one))
    assert result is not None, "scaled path counts have no upper limit"
    return result
