"""Limits of pairs in the units of the weights."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.graph import Graph


def in_units(graph: Graph, limit: float, weighted: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The weights and the unit of each graph, both empty for hops, and the limit in these units.

    A limit that is a whole number but for rounding is whole.
    """
    none = torch.empty(0, dtype=torch.float64, device=graph.device)
    limits = none.new_full((graph.num_graphs,), limit)
    if not weighted:
        return none, none, limits
    weight, unit = graph._scaled_per_graph
    scaled = limits * unit
    near = scaled.round()
    same = (scaled - near).abs() <= 1e-12 * near.abs()
    return weight, unit, torch.where((unit > 1) & same, near, scaled)
