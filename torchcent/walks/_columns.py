"""The columns of node_features that are not of shortest paths: functions of the arcs alone."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from torchcent.check._run import Run
from torchcent.graph import Graph
from torchcent.walks import _local, _spectral, _subgraph
from torchcent.walks._pagerank import pagerank

_EXACT = Run(dtype=torch.float64)

COLUMNS: dict[str, Callable[[Graph], Tensor]] = {
    "pagerank": lambda graph: pagerank(graph, run=_EXACT),
    "katz": lambda graph: _spectral.katz(graph, run=_EXACT),
    "eigenvector": lambda graph: _spectral.eigenvector(graph, run=_EXACT),
    "hubs": lambda graph: _spectral.hits(graph, run=_EXACT).hubs,
    "authorities": lambda graph: _spectral.hits(graph, run=_EXACT).authorities,
    "subgraph_centrality": lambda graph: _subgraph.subgraph_centrality(graph, run=_EXACT),
    "core_number": _local.core_number,
    "triangles": _local.triangles,
    "clustering_coefficient": lambda graph: _local.clustering_coefficient(graph, run=_EXACT),
}


def column(name: str, graph: Graph) -> Tensor:
    """float64 [n]; weights, which are lengths to the other columns, do not matter."""
    return COLUMNS[name](graph.unweighted()).double()
