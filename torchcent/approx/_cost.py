"""What exact betweenness would cost, in seconds: sources x slots over the rate of the engine."""

from __future__ import annotations

import torch

from torchcent.engines import _plan
from torchcent.engines._request import Request
from torchcent.graph import Graph
from torchcent.runtime import _ops

EXACT_SECONDS = 2.0
"""Up to this many, exact scores are taken whatever samples would cost."""

# Slots per second, one source each: on a CPU per thread, on CUDA in all. The lowest rates of
# docs/performance*.md and of benchmarks/approx_cost.py, and of an H200 in benchmarks/gpu.py.
_RATES = {
    "cpu": {"lanes": 1.5e9, "queue": 1e8, "relax": 1.5e8, "dijkstra": 4e7, "tensor": 5e6},
    "cuda": {"lanes": 8e10, "queue": 2.5e10, "relax": 6e10, "dijkstra": 2.5e9, "tensor": 1e8},
}
# The same times the depth of the graph in hops, where searches run side by side and there is no
# AVX-512 whose masks would skip what is done: they reach a vertex at different levels, and its arcs
# are looked at each time. Measured on AVX2.
_TIMES_DEPTH = {"lanes": 2.5e9, "relax": 2.5e9}
_LEAST_DEPTH = 3
# A graph is not prepared to see which engine it gets if even the fastest would take so much longer.
_HOPELESS = 20


def exact_seconds(graph: Graph, memory: int | None) -> float:
    """About how long exact scores take; inf where they would not fit, or nearly for ever."""
    on_cpu = graph.device.type != "cuda"
    rates = dict(_RATES["cpu" if on_cpu else "cuda"])
    by_depth = _TIMES_DEPTH if on_cpu and _ops.simd != "avx512" else {}
    rates |= {engine: rate / _LEAST_DEPTH for engine, rate in by_depth.items()}
    work = graph.num_nodes * graph.num_slots
    if work / (max(rates.values()) * _threads(graph)) > _HOPELESS * EXACT_SECONDS:
        return float("inf")
    try:
        plan, core = _plan.plan(graph, Request("betweenness", memory=memory))
    except MemoryError:
        return float("inf")
    rate = rates[plan.engine]
    if plan.engine in by_depth:
        rate = by_depth[plan.engine] / max(core.depth, _LEAST_DEPTH)
    return plan.sources * core.num_slots / (rate * max(plan.threads or 1, 1))


def _threads(graph: Graph) -> int:
    return 1 if graph.device.type == "cuda" else torch.get_num_threads()
