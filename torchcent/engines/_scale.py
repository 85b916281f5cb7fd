"""Every normalisation: from sums over ordered pairs to what NetworkX 3.6 returns."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from torchcent.engines._measures import MEASURES
from torchcent.engines._request import Request
from torchcent.graph import Graph, _batch
from torchcent.runtime import _memory


def of_request(scores: Tensor, graph: Graph, request: Request) -> Tensor:
    """The scores that a request asks for, from sums over ordered pairs."""
    measure = MEASURES[request.measure]
    if measure.weighted_by:
        assert request.sources is not None
        return percolation(scores, graph, request.sources)
    return scale(
        scores, graph, normalized=request.normalized, endpoints=request.endpoints,
        edges=measure.per_slot, pivots=request.sources, subset=request.targets is not None,
    )  # fmt: skip


def percolation(sums: Tensor, graph: Graph, states: Tensor) -> Tensor:
    """Over n - 2 and over the states of all vertices but the one; 0 where either is 0."""
    others = _batch.per_vertex(graph, _batch.total(graph, states)) - states
    pairs = others * (_batch.per_vertex(graph, _batch.sizes(graph)) - 2)
    return torch.where(pairs > 0, sums / pairs, 0.0)


def scale(
    scores: Tensor,
    graph: Graph,
    *,
    normalized: bool,
    endpoints: bool = False,
    edges: bool = False,
    pivots: Tensor | None = None,
    subset: bool = False,
) -> Tensor:
    """Scales sums over ordered pairs (s, t) in place, per vertex or with `edges` per slot; each
    graph of a batch by its own n and pivots.

    With N = n if endpoints or edges else n - 1 possible ends, K = N or the number of pivots, and
    c = 1 directed or 2 undirected: normalised 1 / (K (N - 1)), raw N / (K c). A pivot's own score
    lacks the pairs it begins, so K - 1 stands for K there unless endpoints count. Subset scores are
    not extrapolated. A graph without pivots keeps its zeros.
    """
    ends = _batch.sizes(graph).double()
    if not (endpoints or edges):
        ends = ends - 1
    count = ends
    if pivots is not None and not subset:
        of_graph = _batch.of_graph(graph, pivots)
        count = torch.bincount(of_graph, minlength=graph.num_graphs).double()
    few = (ends < 2) | (count == 0)
    factor = _factor(ends, count, normalized, graph.directed).masked_fill_(few, 1)
    if pivots is None or subset or endpoints or edges:
        return scores.mul_(_spread(graph, factor, edges))
    at_pivot = _factor(ends, count - 1, normalized, graph.directed).masked_fill_(few, 1)
    own = scores[pivots] * at_pivot[of_graph]
    scores.mul_(_spread(graph, factor, edges))
    scores[pivots] = own
    return scores


@_memory.reported
def closeness(farness: Tensor, reach: Tensor, others: Tensor, wf_improved: bool) -> Tensor:
    """reach / farness, 0 where nothing is reached; times the share of the other vertices that are
    (Wasserman and Faust)."""
    score = torch.where(farness == 0, 0.0, reach / farness)
    return score * (reach / others) if wf_improved else score


@_memory.reported
def harmonic(sums: Tensor, others: Tensor, normalized: bool) -> Tensor:
    return sums / others if normalized else sums


def others(graph: Graph, vertices: Tensor | None = None) -> Tensor:
    """float64: how many vertices there are besides each one, at least 1: one number for one graph,
    else one for each vertex, or of those named."""
    if graph.ptr is None:  # on the device: by a number of the host CUDA divides with other bits
        count = max(graph.num_nodes - 1, 1)
        return torch.full((), count, dtype=torch.float64, device=graph.device)
    size = _batch.sizes(graph).double() - 1
    of_graph = graph.batch if vertices is None else _batch.of_graph(graph, vertices)
    assert of_graph is not None
    return size.clamp(min=1).index_select(0, of_graph)


def from_pivots(sums: Tensor, graph: Graph, pivots: Tensor) -> Tensor:
    """Sums over all other vertices, estimated from those over k pivots of the same graph; one row
    per vertex.

    Each of the n - 1 other vertices counts as much as the pivots do on average; a pivot itself has
    k - 1 others, and with k = 1 it is told nothing: NaN. A graph without pivots keeps its zeros,
    one where all are pivots its sums.
    """
    size = _batch.sizes(graph).double()
    count = torch.bincount(_batch.of_graph(graph, pivots), minlength=graph.num_graphs).double()
    known = _batch.per_vertex(graph, (count == size) | (count == 0)).unsqueeze(1)
    told = _batch.per_vertex(graph, count).unsqueeze(1).clone()
    told[pivots] -= 1
    factor = (_batch.per_vertex(graph, size).unsqueeze(1) - 1) / told
    return torch.where(known, sums, sums * factor)


def _factor(ends: Tensor, sources: Tensor, normalized: bool, directed: bool) -> Tensor:
    raw = ends / (sources * (1 if directed else 2))
    factor = 1 / (sources * (ends - 1)) if normalized else raw
    return factor.masked_fill_(sources == 0, math.nan)  # one pivot says nothing of its own score


def _spread(graph: Graph, factor: Tensor, edges: bool) -> Tensor:
    """The factor of each graph for its vertices, or its slots."""
    if graph.ptr is None:
        return factor
    if not edges:
        return _batch.per_vertex(graph, factor)
    slots = graph.rowptr[graph.ptr].diff()
    return torch.repeat_interleave(factor, slots, output_size=graph.num_slots)
