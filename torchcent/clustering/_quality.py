"""Quality of a clustering.

Efficiency, mass and area fraction follow van Dongen, "Performance criteria for graph clustering and
Markov cluster experiments" (INS-R0012, 2000), on the stochastic flow with loops, as in ``clm
info``. Modularity is Newman's, on the similarities; for directed graphs that of Leicht and Newman
2008.
"""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.clustering._flow import Flow
from torchcent.engines._tensor._scatter import scatter_sum
from torchcent.graph import Graph, _csr

FIGURES = ("efficiency", "modularity", "mass_fraction", "area_fraction")


def fit(flow: Flow, graph: Graph, similarity: Tensor, label: Tensor) -> dict[str, float]:
    """efficiency, modularity, mass_fraction and area_fraction of disjoint clusters."""
    if flow.num_nodes == 0:
        return dict.fromkeys(FIGURES, 0.0)
    efficiency, mass = _efficiency(flow, label)
    size = torch.bincount(label).double()
    n = flow.num_nodes
    return {
        "efficiency": efficiency,
        "modularity": _modularity(graph, similarity, label),
        "mass_fraction": mass,
        "area_fraction": float((size * (size - 1)).sum()) / (n * (n - 1)) if n > 1 else 0.0,
    }


def _efficiency(flow: Flow, label: Tensor) -> tuple[float, float]:
    """Efficiency and mass fraction, as means over the vertices. Vertex v of cluster P has flow p
    with support S and centre c = sum p^2. Its efficiency is 1 - (|P| - p(P) / c + p(not P) / c) /
    |P or S|."""
    n = flow.num_nodes
    _, row, value = flow.packed()
    column, value = flow.columns(), value.double()
    inside = label[row] == label[column]
    center = scatter_sum(value * value, column, n)
    within = scatter_sum(value * inside, column, n)
    beyond = scatter_sum(value * ~inside, column, n)
    size = torch.bincount(label)[label]
    union = size + flow.length.long() - torch.bincount(column[inside], minlength=n)
    each = 1 - (size - (within - beyond) / center) / union
    return float(each.mean()), float(within.mean())


def _modularity(graph: Graph, similarity: Tensor, label: Tensor) -> float:
    """Sum over clusters of w_in / w - k_out k_in / w^2, where w is the weight of all arcs."""
    total = float(similarity.sum())
    if total == 0:
        return 0.0
    tail, head = _csr.rows(graph.rowptr), graph.col.long()
    count = int(label.max()) + 1
    inside = float((similarity * (label[tail] == label[head])).sum())
    out = scatter_sum(similarity, label[tail], count) / total
    into = scatter_sum(similarity, label[head], count) / total
    return inside / total - float((out * into).sum())
