"""All eccentricities: by bounds where they settle most vertices, else in one pass."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from torchcent import _batch, _distance_plan
from torchcent._bounds import Bounds, as_tensor, worth
from torchcent._distance_sums import How, source_sums, vertex_sums
from torchcent.graph import Graph

FEWEST = 1024  # vertices below which a pass takes no time
TRIAL = 8  # single searches after which it is judged whether they settle enough


def eccentricities(graph: Graph, how: How, vertices: Tensor | None, disconnected: str) -> Tensor:
    """float64 [n], or one per vertex named: outgoing distances, inf where not all are reached."""
    if graph.ptr is not None and vertices is None:
        value = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
        for number in range(graph.num_graphs):
            one = eccentricities(_batch.part(graph, number), how, None, disconnected)
            value[_batch.run(graph, number)[0]] = one
        return value
    if vertices is not None:
        sums = source_sums(graph, how, vertices, outgoing=True)
    else:
        settled = _settled(graph, how)
        if settled is not None:
            return settled.double()
        sums = vertex_sums(graph, how, outgoing=True)
    value = sums.eccentricity.double()
    if disconnected == "inf":
        size = _batch.per_vertex(graph, _batch.sizes(graph))
        if vertices is not None:
            size = size[vertices]
        value[sums.reach < size - 1] = math.inf
    return value


def _settled(graph: Graph, how: How) -> Tensor | None:
    """Per vertex, by bounds and by searching what they leave open; None where a pass is better.

    Searches begin by turns at the vertex of the largest upper and of the smallest lower bound.
    """
    n = graph.num_nodes
    made, _ = _distance_plan.plan(graph, how.measure, how.engine, None, how.memory)
    if how.engine != "auto" or made.engine != "bits" or n < FEWEST:
        return None
    bounds = Bounds(graph, how, int(graph.degree.argmax()))
    if not bounds.is_whole:
        return None
    before, searches, each = n, 0, worth(bounds.root[0])
    while True:
        unsettled = np.flatnonzero(bounds.lower < bounds.upper)
        if unsettled.size == 0:
            break
        if searches == TRIAL:
            if before - unsettled.size < TRIAL * each:
                break
            before, searches = unsettled.size, 0
        if searches % 2:
            bounds.search(bounds.most_central(unsettled))
        else:
            bounds.search(int(unsettled[bounds.upper[unsettled].argmax()]))
        searches += 1
    if unsettled.size > n // 2:
        return None
    if unsettled.size:
        bounds.lower[unsettled] = bounds.largest_distances(unsettled)
    return as_tensor(bounds.lower, graph)
