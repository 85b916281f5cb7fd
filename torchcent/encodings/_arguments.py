"""The graph of an encoding."""

from __future__ import annotations

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import Run
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph


def network(
    edge_index: GraphLike, edge_weight: WeightLike, num_nodes: int | None, batch: Tensor | None,
    directed: bool | None, run: Run, title: str = "", weights: str = "conductances",
) -> Graph:  # fmt: skip
    """The adjacency matrix, with "conductances" without loops; with a title it is undirected."""
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights=weights)
    if title:
        check.undirected(graph, title)
    return graph
