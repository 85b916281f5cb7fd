"""All eccentricities: from bounds if these settle most vertices, else in one pass."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from torchcent.distances._bounds import Bounds, as_tensor, worth
from torchcent.distances._distance_sums import small_sums, source_sums, vertex_sums
from torchcent.distances._run import Sums
from torchcent.engines.measures._request import Request
from torchcent.engines.search import _tiny
from torchcent.graph import Graph, _batch
from torchcent.runtime import _ops

FEWEST = 1024  # vertices below which one pass takes no noticeable time
TRIAL = 8  # single searches between checks that they settle enough


def eccentricities(
    graph: Graph, request: Request, vertices: Tensor | None, disconnected: str
) -> Tensor:
    """float64 [n], or one per given vertex: along outgoing arcs, inf if not all are reached."""
    if vertices is not None:
        sums = source_sums(graph, request, vertices, outgoing=True)
        return _of_sums(sums, graph, disconnected, vertices)
    small, large = _tiny.split(graph, request.engine)
    if graph.ptr is None and large:
        exact = _by_bounds(graph, request)
        if exact is not None:
            return exact.double()
        return _of_sums(vertex_sums(graph, request, outgoing=True), graph, disconnected)
    value = of_small(graph, request, small, disconnected)
    for number in large:
        one = eccentricities(_batch.part(graph, number), request, None, disconnected)
        value[_batch.run(graph, number)[0]] = one
    return value


def of_small(graph: Graph, request: Request, small: _tiny.Numbers, disconnected: str) -> Tensor:
    """The same for these graphs by the tiny engine; values of other vertices are undefined."""
    if small.size == 0:
        return torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
    return _of_sums(small_sums(graph, request, small, outgoing=True), graph, disconnected)


def _of_sums(sums: Sums, graph: Graph, disconnected: str, vertices: Tensor | None = None) -> Tensor:
    value = sums.eccentricity.double()
    if disconnected == "inf":
        others: Tensor | int = graph.num_nodes - 1
        if graph.ptr is not None:
            others = _batch.per_vertex(graph, _batch.sizes(graph) - 1)
            others = others if vertices is None else others[vertices]
        value.masked_fill_(sums.reach < others, math.inf)
    return value


def _by_bounds(graph: Graph, request: Request) -> Tensor | None:
    """The eccentricities from bounds and searches; None where one pass over all is better.

    Searches start alternately at the vertex with the largest upper bound and at the one with the
    smallest lower bound. Vertices that remain open are searched.
    """
    n = graph.num_nodes
    if request.engine != "auto" or graph.is_weighted or n < FEWEST:
        return None
    if not _ops.has_kernel("distance_sums", graph.device):
        return None
    # The plan of one pass is not asked for, because it may contract the graph.
    bounds = Bounds(graph, request, int(graph.degree.argmax()))
    if not bounds.is_whole:
        return None
    before, searches, each = n, 0, worth(bounds.root[0])
    while True:
        doubtful = np.flatnonzero(bounds.lower < bounds.upper)
        if doubtful.size == 0:
            break
        if searches == TRIAL:
            if before - doubtful.size < TRIAL * each:
                break
            before, searches = doubtful.size, 0
        if searches % 2:
            bounds.search(bounds.most_central(doubtful))
        else:
            bounds.search(int(doubtful[bounds.upper[doubtful].argmax()]))
        searches += 1
    if doubtful.size > n // 2:
        return None
    if doubtful.size:
        bounds.lower[doubtful] = bounds.largest_distances(doubtful)
    return as_tensor(bounds.lower, graph)
