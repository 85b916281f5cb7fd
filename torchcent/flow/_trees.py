"""Currents through the trees attached to a graph, which need no potentials.

A tree is joined to the rest of the graph by a single edge. The whole current of every pair on both
of its sides flows through it, whatever the conductances. These currents are whole numbers, so that
the score of a leaf is 0 and not what is left by rounding.
"""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.engines.reduce._fold import Fold, in_component, tree_slots
from torchcent.graph import Graph
from torchcent.runtime import _ops


def currents(graph: Graph, ends: tuple[Tensor, Tensor] | None) -> Tensor | None:
    """float64 [slots]: half of the sum over ordered pairs, -1 where an edge belongs to no tree.

    None if there are no trees. `ends` are the sources and the targets; None takes all vertices.
    """
    if not _ops.has_kernel("fold", graph.device):
        return None
    fold = Fold.of(graph, "all")
    if not fold.order.numel():
        return None
    through = torch.full((graph.num_slots,), -1.0, dtype=torch.float64, device=graph.device)
    leaf, up, down = tree_slots(fold, graph)
    (inside_a, total_a), (inside_b, total_b) = (
        (fold.hanging(graph, weight)[leaf], in_component(graph, weight)[leaf])
        for weight in (_indicator(graph, vertices) for vertices in ends or (None, None))
    )
    crossing = inside_a * (total_b - inside_b) + (total_a - inside_a) * inside_b
    through[up] = through[down] = crossing / 2
    return through


def _indicator(graph: Graph, vertices: Tensor | None) -> Tensor:
    if vertices is None:
        return graph._ones
    return graph._ones.new_zeros(graph.num_nodes).index_fill_(0, vertices, 1)
