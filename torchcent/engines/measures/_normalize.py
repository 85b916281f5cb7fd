"""All normalisations: from sums over ordered pairs to the values of NetworkX 3.6."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._request import Request
from torchcent.graph import Graph, _batch
from torchcent.runtime import _memory, _small


def of_request(scores: Tensor, graph: Graph, request: Request) -> Tensor:
    """The scores that a request specifies, from sums over ordered pairs."""
    return SCORES[KERNELS[request.measure].normalization](scores, graph, request)


def _betweenness(scores: Tensor, graph: Graph, request: Request) -> Tensor:
    measure, pivots, targets = KERNELS[request.measure], request.sources, request.targets
    demand = pivots is not None and pivots.is_floating_point()
    return scale(
        scores, graph, normalized=request.normalized, endpoints=request.endpoints,
        edges=measure.per_slot, pivots=None if demand else pivots,
        subset=demand or targets is not None, halved=measure.halved,
    )  # fmt: skip


def _percolation(scores: Tensor, graph: Graph, request: Request) -> Tensor:
    """Divides by n - 2 and by the sum of the states of all other vertices; 0 if either is 0."""
    states = request.sources
    assert states is not None
    others = _batch.per_vertex(graph, _batch.total(graph, states)) - states
    pairs = others * (_batch.per_vertex(graph, _batch.sizes(graph)) - 2)
    return torch.where(pairs > 0, scores / pairs, 0.0)


#: by the name that a Kernel has
SCORES = {"betweenness": _betweenness, "percolation": _percolation}


def scale(
    scores: Tensor,
    graph: Graph,
    *,
    normalized: bool,
    endpoints: bool = False,
    edges: bool = False,
    pivots: Tensor | None = None,
    subset: bool = False,
    halved: bool = True,
) -> Tensor:
    """Scales sums over ordered pairs (s, t) in place, per vertex or with `edges` per slot.

    Each graph of a batch is scaled by its own n and pivots. Let N be the number of possible ends, n
    if endpoints or edges, else n - 1. Let K be N or the number of pivots, and c be 2 if undirected
    and halved, else 1. The factor is 1 / (K (N - 1)) if normalised, else N / (K c). A pivot's own
    score lacks the pairs that begin there, so K - 1 replaces K for it unless endpoints count.
    Subset scores are not extrapolated. A graph without pivots keeps its zeros.
    """
    extrapolated = pivots is not None and not subset
    halved = halved and not graph.directed
    own = pivots if extrapolated and not (endpoints or edges) else None
    if graph.ptr is None:
        size = graph.num_nodes - (not (endpoints or edges))
        sources = pivots.numel() if pivots is not None and extrapolated else size
        factor, at_pivot = (
            1.0 if size < 2 or sources == 0 else _factor(size, k, normalized, halved)
            for k in (sources, sources - 1)
        )
        if own is None:
            return scores.mul_(factor)
        return scores.mul_(torch.full_like(scores, factor).index_fill_(0, own, at_pivot))
    ends = _batch.sizes(graph).double()
    if not (endpoints or edges):
        ends = ends - 1
    count = ends
    if pivots is not None and extrapolated:
        of_graph = _batch.of_graph(graph, pivots)
        count = torch.bincount(of_graph, minlength=graph.num_graphs).double()
    few = (ends < 2) | (count == 0)
    factors, at_pivots = (
        _factors(ends, k, normalized, halved).masked_fill_(few, 1) for k in (count, count - 1)
    )
    if own is None:
        return scores.mul_(_spread(graph, factors, edges))
    return scores.mul_(_spread(graph, factors, edges).index_copy_(0, own, at_pivots[of_graph]))


@_memory.reported
def closeness(farness: Tensor, reach: Tensor, others: Tensor, wf_improved: bool) -> Tensor:
    """reach / farness, 0 where nothing is reached.

    With `wf_improved` it is multiplied by the share of other vertices that are reached (Wasserman
    and Faust).
    """
    score = (reach / farness).masked_fill_(farness == 0, 0)
    return score * (reach / others) if wf_improved else score


@_memory.reported
def harmonic(sums: Tensor, others: Tensor, normalized: bool) -> Tensor:
    return sums / others if normalized else sums


def others(graph: Graph, vertices: Tensor | None = None) -> Tensor:
    """float64: the number of vertices besides each one, at least 1.

    It is one number for a single graph, else one per vertex, or per vertex in `vertices`.
    """
    if graph.ptr is None:  # on the device: CUDA rounds a division by a host scalar differently
        count = max(graph.num_nodes - 1, 1)
        return torch.full((), count, dtype=torch.float64, device=graph.device)
    size = _batch.sizes(graph).double() - 1
    of_graph = graph.batch if vertices is None else _batch.of_graph(graph, vertices)
    assert of_graph is not None
    return size.clamp(min=1).index_select(0, of_graph)


def from_pivots(sums: Tensor, graph: Graph, pivots: Tensor) -> Tensor:
    """Estimates sums over all other vertices from sums over the k pivots of the same graph.

    There is one row per vertex. Each of the n - 1 other vertices counts as much as the pivots do on
    average. A pivot has k - 1 other pivots; with k = 1 it has no estimate of its own score: NaN. A
    graph without pivots keeps its zeros, and a graph in which all vertices are pivots keeps its
    sums.
    """
    size = _batch.sizes(graph).double()
    count = torch.bincount(_batch.of_graph(graph, pivots), minlength=graph.num_graphs).double()
    exact = _batch.per_vertex(graph, (count == size) | (count == 0)).unsqueeze(1)
    number = _batch.per_vertex(graph, count).unsqueeze(1).clone()
    number.index_add_(0, pivots, number.new_full((pivots.numel(), 1), -1))
    factor = (_batch.per_vertex(graph, size).unsqueeze(1) - 1) / number
    return torch.where(exact, sums, sums * factor)


def _factor(ends: int, sources: int, normalized: bool, halved: bool) -> float:
    if sources == 0:
        return math.nan  # a single pivot has no own estimate
    return 1 / (sources * (ends - 1)) if normalized else ends / (sources * (2 if halved else 1))


def _factors(ends: Tensor, sources: Tensor, normalized: bool, halved: bool) -> Tensor:
    """The same, per graph of a batch."""
    raw = ends / (sources * (2 if halved else 1))
    factor = 1 / (sources * (ends - 1)) if normalized else raw
    return factor.masked_fill_(sources == 0, math.nan)


def _spread(graph: Graph, factor: Tensor, edges: bool) -> Tensor:
    """The factor of its graph for each vertex, or each slot."""
    if not edges:
        return _batch.per_vertex(graph, factor)
    assert graph.ptr is not None
    slots = graph.rowptr[graph.ptr].diff()
    return _small.repeat_interleave(factor, slots, output_size=graph.num_slots)
