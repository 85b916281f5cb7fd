"""Predicted seconds of exact betweenness: sources x slots over the rate of the engine."""

from __future__ import annotations

import torch

from torchcent.engines import _plan
from torchcent.engines._request import Request
from torchcent.graph import Graph
from torchcent.runtime import _ops

EXACT_SECONDS = 2.0
"""Exact scores are computed if they take at most this long, whatever sampling would cost."""

# Slots per second for one source: per thread on a CPU, in total on CUDA. The lowest rates of
# docs/performance*.md and benchmarks/approx_cost.py, and of an H200 in benchmarks/gpu.py.
_RATES = {
    "cpu": {"lanes": 1.5e9, "queue": 1e8, "relax": 1.5e8, "dijkstra": 4e7, "tensor": 5e6},
    "cuda": {"lanes": 8e10, "queue": 2.5e10, "relax": 6e10, "dijkstra": 2.5e9, "tensor": 1e8},
}
# The same rates multiplied by the depth of the graph in hops. They apply if searches run side by
# side without AVX-512, whose masks skip finished lanes: the lanes reach a vertex at different
# levels, and its arcs are scanned each time. Measured with AVX2.
_TIMES_DEPTH = {"lanes": 2.5e9, "relax": 2.5e9}
_LEAST_DEPTH = 3
# The graph is not preprocessed for the choice of an engine if even the fastest engine would exceed
# the limit by this factor.
_HOPELESS = 20


def exact_seconds(graph: Graph, memory: int | None) -> float:
    """Predicted seconds for exact scores; inf if they do not fit or would take far too long."""
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
