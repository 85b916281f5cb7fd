"""Approximations from pivots, with the intervals of Hoeffding and Serfling where pivots are
uniform."""

from __future__ import annotations

import math
import time

import torch

from torchcent.approx import _pivots
from torchcent.approx._bounds import (
    hoeffding_samples,
    last_look,
    mean_interval,
    serfling_samples,
)
from torchcent.approx._edge_numbers import EdgeNumbers, of_columns
from torchcent.approx._result import Approximation, outward
from torchcent.engines import _scale
from torchcent.graph import Graph
from torchcent.scale._arguments import Scale


def approximation(
    graph: Graph, epsilon: float, delta: float, most: int | None, deadline: float | None,
    pivots: str, generator: torch.Generator | None,
    dtype: torch.dtype, memory: int | None, progress: bool | None, scale: Scale | None,
    reason: str = "", edges: EdgeNumbers | None = None,
) -> Approximation:  # fmt: skip
    """Searches from pivots until there are enough of them or the time is used up.

    Scores are those of vertices, or those of `edges`, per input column.
    """
    n, size = graph.num_nodes, graph.num_nodes if edges is None else edges.size
    choice, _, scaling = pivots.partition("+")
    largest = 2 if scaling == "linear" else 1  # maximum contribution of a pivot
    limited = deadline is not None
    asked = most
    if asked is None:  # one more: a pivot's own search does not contribute to it
        enough = serfling_samples if choice == "uniform" else hoeffding_samples
        of = 0 if edges is None else max(size, 1)
        asked = 1 + enough(epsilon / largest, last_look(delta, limited), n, of)
    count = min(asked, n)
    order = _pivots.Order(graph, choice, count, generator, scaling)
    ends = list(_pivots.blocks(count, limited))
    slots = n if edges is None else graph.num_slots
    sums, done = torch.zeros(slots, dtype=torch.float64, device=graph.device), 0
    told_by = _pivots.Pivots(graph, choice, scaling, memory, progress, scale, edges is not None)
    begin = time.perf_counter()
    for looks, end in enumerate(ends, 1):
        sums += told_by.sums(order.between(done, end))
        done = end
        if deadline is None or end == count:
            continue
        each = (time.perf_counter() - begin) / done
        if deadline - time.perf_counter() < each * (ends[looks] - done):
            break
    taken = order.between(0, done)
    promised = choice == "uniform"
    if edges is not None:
        if not graph.directed:
            sums = sums + sums[graph.reverse_slot]
        scores = sums.div_(done * (n if choice == "degree" else 1) * (n - 1))
    elif choice == "degree":
        scores = sums.div_(done * (n - 1) * (n - 2))
    else:
        scores = _scale.scale(sums, graph, normalized=True, pivots=None if done == n else taken)
    lower = upper = torch.full_like(scores, math.nan)
    radius = math.nan
    if promised and done == n:
        lower = upper = scores
        radius, delta = 0.0, 0.0
    elif promised:
        told = torch.full((slots,), float(done), dtype=torch.float64, device="cpu")
        if edges is None:
            told[taken.cpu()] -= 1
        part = last_look(delta, limited)
        if done < count:
            part = (delta - part) / (len(ends) - 1)
        failure = math.log(2 * max(size, 1) / part)  # per side, and vertex or edge
        mean = scores.cpu().numpy() / largest
        population = n - (edges is None)
        ends_of = mean_interval(mean, told.clamp_(min=1e-300).numpy(), failure, population)
        lower, upper = (
            torch.from_numpy(part * largest).clamp_(max=1).to(scores.device) for part in ends_of
        )
        widest = torch.maximum(upper - scores, scores - lower).nan_to_num(nan=1.0)
        radius = float(widest.max()) if widest.numel() else 0.0
    why = f"{reason}; " if reason else ""
    why += f"{done:,} of {n:,} vertices, {pivots}"
    if edges is not None:
        scores, lower, upper = (of_columns(graph, x) for x in (scores, lower, upper))
    return Approximation(
        scores.to(dtype), *outward(lower, upper, dtype), radius, delta, done, "pivots",
        done == count and (most is not None or done == n or radius <= epsilon), why, graph,
        edges is not None,
    )  # fmt: skip
