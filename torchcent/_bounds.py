"""What searches from a few vertices tell about the eccentricities of all.

With f = d(u, .), b = d(., u) and e = max f, the triangle inequality gives for every v that u
reaches and that reaches u

    e(v) >= max(b(v), e - f(v))        to u itself, and to the vertex farthest from u
    e(v) <= b(v) + e                   by way of u

(Takes and Kosters 2011 and 2013; Borassi et al. 2015). On a symmetric graph f = b.
"""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent import _ops
from torchcent._distance_sums import How, farthest, source_sums
from torchcent._tensor import _distances as tensor_engine
from torchcent.graph import Graph

MOST_SINGLE = 64  # sources up to which searches one by one beat rows of bits


class Bounds:
    """Bounds of the (outgoing) eccentricities in the component of the first vertex searched."""

    def __init__(self, graph: Graph, how: How) -> None:
        n, device = graph.num_nodes, graph.device
        self.graph, self.how = graph, how
        self.lower = torch.zeros(n, dtype=torch.int32, device=device)
        self.upper = torch.full((n,), n, dtype=torch.int32, device=device)
        self.sum = torch.zeros(n, dtype=torch.int64, device=device)  # distances, there and back
        self.searched = torch.zeros(n, dtype=torch.bool, device=device)
        self.longest = 0  # distance found

    def search(self, vertex: int) -> tuple[Tensor, Tensor]:
        """Distances from and to the vertex, int32 [n] each; -1 where there is no path."""
        out = distances_from(self.graph, self.how, vertex)
        back = out
        if not self.graph.is_symmetric:
            back = distances_from(self.graph, self.how, vertex, backward=True)
        farthest = int(out.max())
        self.longest = max(self.longest, farthest, farthest if back is out else int(back.max()))
        both = (out >= 0) & (back >= 0)
        self.lower = torch.where(
            both, torch.maximum(self.lower, torch.maximum(back, farthest - out)), self.lower
        )
        self.upper = torch.where(both, torch.minimum(self.upper, back + farthest), self.upper)
        self.lower[vertex] = self.upper[vertex] = farthest
        self.sum += out + back
        self.searched[vertex] = True
        return out, back

    def most_central(self, vertices: Tensor) -> int:
        """Of these vertices, one of the smallest lower bound; of those, the nearest."""
        lower = self.lower[vertices]
        vertices = vertices[lower == lower.min()]
        return int(vertices[self.sum[vertices].argmin()])


def worth(row: Tensor) -> int:
    """About how many vertices the bits engine searches from in the time of a single search.

    Its work on a vertex grows with the number of levels on which searches side by side arrive:
    estimated from how far the distances of one row spread. (Measured: 2 to 6 on meshes and roads,
    60 to 400 on small worlds.)
    """
    spread = 1 + 2 * float(row[row >= 0].double().std(correction=0))
    return int(256 / min(spread, 64.0))


def distances_from(graph: Graph, how: How, vertex: int, backward: bool = False) -> Tensor:
    """int32 [n]: distances from the vertex, or to it; -1 where there is no path."""
    rowptr, col = graph.transpose if backward else (graph.rowptr, graph.col)
    if how.engine != "tensor" and _ops.runs_on(graph.device):
        return _ops.ops.depths(rowptr, col, vertex)
    row = torch.empty(1, graph.num_nodes, dtype=torch.int32, device=graph.device)
    tensor_engine.distances(rowptr, col, torch.tensor([vertex], device=graph.device), row)
    return row[0]


def largest_distances(graph: Graph, how: How, vertices: Tensor, backward: bool = False) -> Tensor:
    """int32 [k]: the largest distance from each of the vertices, or to it, over existing paths."""
    one_by_one = how.engine == "auto" and _ops.available and graph.device.type == "cpu"
    if one_by_one and vertices.numel() <= MOST_SINGLE:
        return farthest(graph, how, vertices, backward)
    return source_sums(graph, how, vertices, outgoing=not backward).eccentricity
