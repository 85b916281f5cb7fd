"""Weights in fixed point, for measures that count shortest paths.

Sums of most float64 numbers, such as lengths of streets that were computed from coordinates, are
rounded, and rounding then decides which paths tie. Rounded once, to multiples of a small enough
power of two, the weights add up exactly. The unit is as small as the longest distance allows:
float64 has the same resolution there, so nothing is lost to those who add the weights as they are.

The longest distance is not known, so that the unit follows from an upper bound on it. An undirected
component has no distance beyond twice the largest one from any vertex. A shortest path of a
directed graph leaves each vertex once. The part of it inside of a strongly connected component is
bounded by a search from one of its vertices and one to it.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from torchcent.graph import _segments, _weights
from torchcent.graph._cache import Slot
from torchcent.graph._graph import Graph
from torchcent.graph._weights import DECIMAL, Ties
from torchcent.runtime import _ops
from torchcent.runtime._codes import ENGINE, Launch, control

# Vertices of components that are not searched, which would gain a few bits: as many as graphs have
# in batches at most (engines/search/_tiny.py), whose units are found together.
_SMALL = 512
_MOST = 16  # components that are searched


def of(graph: Graph) -> Graph:
    """The graph in fixed point, kept with it; itself if its sums are exact, or cannot be.

    Each graph of a batch has the unit that it has alone.
    """
    if graph.weight is None or graph._ties != DECIMAL or graph.scale.exact:
        return graph
    return _rounded(graph, graph.weight) or graph


@Slot
def _rounded(graph: Graph, weight: Tensor) -> Graph | None:
    scale = "fixed point" if graph.ptr is not None else _scale(graph, weight)
    return None if scale is None else graph._with(_ties=Ties(scale))


def _scale(graph: Graph, weight: Tensor) -> _weights.Scale | None:
    return _weights.fixed_point(weight, longest(graph, weight))


def longest(graph: Graph, weight: Tensor) -> float:
    """An upper bound on all distances, but for rounding."""
    heaviest = _segments.largest_of_segments(graph.rowptr, weight)
    if graph.num_nodes <= _SMALL:
        ends = torch.tensor([0, graph.num_nodes], device=graph.device)
        return float(_segments.of_segments(ends, heaviest))
    if graph.device.type != "cpu":  # the search is short, and one for a single thread
        arrays = (graph.rowptr.cpu(), graph.col.cpu(), None, graph.directed, weight.cpu())
        host = Graph(*arrays, _trusted=True)
        return _of_components(host, heaviest.cpu())
    return _of_components(graph, heaviest)


def _of_components(graph: Graph, heaviest: Tensor) -> float:
    """The bound of the component that has the largest, after searches where they may lower it."""
    label = graph.components
    size = torch.bincount(label)
    bound = torch.bincount(label, heaviest)
    for _ in range(_MOST):
        worst = int(bound.argmax())
        if size[worst] <= _SMALL:
            break
        size[worst] = 0  # is searched now
        inside = label == worst
        root = int(torch.where(inside, graph.degree, -1).argmax())
        bound[worst] = torch.minimum(bound[worst], _from(graph, root, inside, heaviest))
    return float(bound.max())


def _from(graph: Graph, root: int, inside: Tensor, heaviest: Tensor) -> Tensor:
    """A bound on the distances in the component of a vertex."""
    there = _distances(graph, root)
    if graph.is_symmetric:
        return 2 * there[inside].max()
    back = _distances(graph, root, backward=True)
    mutual = torch.isfinite(there) & torch.isfinite(back)
    outside = heaviest[inside & ~mutual].sum()
    return there[mutual].max() + back[mutual].max() + heaviest[mutual].max() + outside


def _distances(graph: Graph, vertex: int, backward: bool = False) -> Tensor:
    """float64 [n]: sums of the weights from one vertex, or to it; inf for no path."""
    assert graph.weight is not None and graph.back_weight is not None
    arcs = (graph.rowptr, graph.col, graph.weight), (*graph.transpose, graph.back_weight)
    there, back = reversed(arcs) if backward else arcs
    if not _ops.has_kernel("weighted_distances", graph.device):
        import scipy.sparse.csgraph

        rowptr, col, weight = (part.numpy() for part in there)
        matrix = scipy.sparse.csr_array((weight, col, rowptr), (graph.num_nodes,) * 2)
        lengths: np.ndarray = scipy.sparse.csgraph.dijkstra(matrix, indices=vertex)
        return torch.from_numpy(lengths)
    out = graph.weight.new_empty((1, graph.num_nodes))
    source, launch = torch.tensor([vertex], device="cpu"), Launch(threads=1)
    _ops.ops.weighted_distances((*there, *back), source, out, control(), ENGINE["dijkstra"], launch)
    return out[0]
