"""Approximations from pivots, with the intervals of Hoeffding and Serfling where pivots are
uniform."""

from __future__ import annotations

import math
import time

import torch

from torchcent.approx import _pivots
from torchcent.approx._bounds import hoeffding_samples, last_look, mean_interval, serfling_samples
from torchcent.approx._edge_numbers import num_edges
from torchcent.approx._result import Approximation, outward
from torchcent.engines.measures import _normalize
from torchcent.engines.measures._request import Request
from torchcent.graph import Graph, _csr


def approximation(
    graph: Graph, request: Request, *, epsilon: float, delta: float, most: int | None,
    deadline: float, pivots: str, generator: torch.Generator | None, reason: str,
) -> Approximation:  # fmt: skip
    """Searches from pivots until there are enough of them or the time is used up. Scores are those
    of vertices or, of "edge_betweenness", of edges, per input column."""
    edges = request.measure == "edge_betweenness"
    n = graph.num_nodes
    size, slots = (num_edges(graph), graph.num_slots) if edges else (n, n)
    choice, _, scaling = pivots.partition("+")
    largest = 2 if scaling == "linear" else 1  # maximum contribution of a pivot
    goal, early = most, deadline < math.inf
    last = last_look(delta, early)
    if goal is None:  # one more: a pivot's own search does not contribute to it
        enough = serfling_samples if choice == "uniform" else hoeffding_samples
        goal = 1 + enough(epsilon / largest, last, n, max(size, 1) if edges else 0)
    count = min(goal, n)
    order = _pivots.Order(graph, choice, count, generator, scaling)
    ends = list(_pivots.blocks(count, early))
    total, samples = torch.zeros(slots, dtype=torch.float64, device=graph.device), 0
    searches = _pivots.Pivots(
        graph, choice, scaling, request.memory, request.progress, request.scale, edges
    )
    begin = time.perf_counter()
    for looks, end in enumerate(ends, 1):
        total += searches.sums(order.between(samples, end))
        samples = end
        if not early or end == count:
            continue
        each = (time.perf_counter() - begin) / end
        if deadline - time.perf_counter() < each * (ends[looks] - end):
            break
    sources = order.between(0, samples)
    if edges:
        if not graph.directed:
            total = total + total[graph.reverse_slot]
        scores = total.div_(samples * (n if choice == "degree" else 1) * (n - 1))
    elif choice == "degree":
        scores = total.div_(samples * (n - 1) * (n - 2))
    else:
        draws = None if samples == n else sources
        scores = _normalize.scale(total, graph, normalized=True, pivots=draws)
    lower = upper = torch.full_like(scores, math.nan)
    radius = math.nan
    if choice == "uniform" and samples == n:
        lower = upper = scores
        radius, delta = 0.0, 0.0
    elif choice == "uniform":
        number = torch.full((slots,), float(samples), dtype=torch.float64, device="cpu")
        if not edges:
            number[sources.cpu()] -= 1
        part = last if samples == count else (delta - last) / (len(ends) - 1)
        failure = math.log(2 * max(size, 1) / part)  # per side, and vertex or edge
        mean = scores.cpu().numpy() / largest
        population = n - (not edges)
        interval = mean_interval(mean, number.clamp_(min=1e-300).numpy(), failure, population)
        lower, upper = (
            torch.from_numpy(end * largest).clamp_(max=1).to(scores.device) for end in interval
        )
        widest = torch.maximum(upper - scores, scores - lower).nan_to_num(nan=1.0)
        radius = float(widest.max()) if widest.numel() else 0.0
    if edges:
        scores, lower, upper = (_csr.of_columns(x, graph.slot) for x in (scores, lower, upper))
    enough_samples = most is not None or samples == n or radius <= epsilon
    return Approximation(
        scores.to(request.dtype), *outward(lower, upper, request.dtype), radius, delta, samples,
        method="pivots", reached=samples == count and enough_samples,
        reason=f"{reason}; " * bool(reason) + f"{samples:,} of {n:,} vertices, {pivots}",
        _graph=graph, _edges=edges,
    )  # fmt: skip
