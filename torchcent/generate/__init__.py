"""Random and regular graphs for tests, benchmarks and demonstrations.

Every function returns an ``edge_index``, int64 ``[2, E]``, of an undirected simple graph: both
directions of every edge, no self-loops, no duplicates, sorted by source, then target. The same
arguments and seed give the same graph. Isolated vertices do not appear in an edge_index: pass
``num_nodes`` (given below for each generator) to the function that takes the graph. Only
:func:`rewired` returns a Graph, and :func:`road` an EdgeList if it has lengths.
"""

from torchcent.generate._degrees import configuration_model, rewired
from torchcent.generate._models import ba, er, planted, rmat, ws
from torchcent.generate._plane import delaunay, grid, road

__all__ = [
    "ba", "configuration_model", "delaunay", "er", "grid", "planted", "rewired", "rmat", "road",
    "ws",
]  # fmt: skip
