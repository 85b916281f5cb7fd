"""torchcent: centrality of graphs as PyTorch tensors."""

from torchcent import generate
from torchcent._config import __version__, show_config
from torchcent._plan import Plan
from torchcent.apsp import shortest_path_lengths
from torchcent.betweenness import betweenness, edge_betweenness, explain, stress
from torchcent.closure import Closure, reachable, transitive_closure
from torchcent.graph import Graph
from torchcent.io import EdgeList, read, write
from torchcent.multisearch import Visitor, include_path, multi_search

__all__ = [
    "Closure",
    "EdgeList",
    "Graph",
    "Plan",
    "Visitor",
    "__version__",
    "betweenness",
    "edge_betweenness",
    "explain",
    "generate",
    "include_path",
    "multi_search",
    "reachable",
    "read",
    "shortest_path_lengths",
    "show_config",
    "stress",
    "transitive_closure",
    "write",
]
