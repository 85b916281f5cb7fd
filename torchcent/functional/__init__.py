"""Operators for use inside models: torch.compile captures them without a graph break.

Every measure of vertices is here, and edge_betweenness and node_features. Each function is the one
of the same name in torchcent, for an edge_index, as a single operator. It takes num_nodes, which
determines the shape of the result before anything is computed.
"""

from torchcent.functional._arcs import (
    clustering_coefficient,
    core_number,
    current_flow_betweenness,
    current_flow_closeness,
    degree,
    eigenvector,
    hits,
    information_centrality,
    katz,
    pagerank,
    subgraph_centrality,
    triangles,
)
from torchcent.functional._distances import closeness, distance_profile, eccentricity, harmonic
from torchcent.functional._features import node_features
from torchcent.functional._paths import (
    betweenness,
    betweenness_variant,
    edge_betweenness,
    percolation,
    stress,
)

__all__ = [
    "betweenness",
    "betweenness_variant",
    "closeness",
    "clustering_coefficient",
    "core_number",
    "current_flow_betweenness",
    "current_flow_closeness",
    "degree",
    "distance_profile",
    "eccentricity",
    "edge_betweenness",
    "eigenvector",
    "harmonic",
    "hits",
    "information_centrality",
    "katz",
    "node_features",
    "pagerank",
    "percolation",
    "stress",
    "subgraph_centrality",
    "triangles",
]
