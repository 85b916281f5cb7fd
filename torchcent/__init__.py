"""torchcent: centrality of graphs as PyTorch tensors."""

from torchcent import generate
from torchcent._config import __version__, show_config
from torchcent._plan import Plan
from torchcent.betweenness import betweenness, edge_betweenness, explain, stress
from torchcent.graph import Graph
from torchcent.io import EdgeList, read, write

__all__ = [
    "EdgeList",
    "Graph",
    "Plan",
    "__version__",
    "betweenness",
    "edge_betweenness",
    "explain",
    "generate",
    "read",
    "show_config",
    "stress",
    "write",
]
