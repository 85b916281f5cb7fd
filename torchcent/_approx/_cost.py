"""What exact betweenness would cost, in seconds: sources x slots over the rate of the engine."""

from __future__ import annotations

import torch

from torchcent import _ops, _plan
from torchcent.graph import Graph

EXACT_SECONDS = 2.0
"""Up to this many, exact scores are taken whatever samples would cost."""

# Slots per second, one source each: on a CPU per thread, on CUDA in all. The lowest rates of
# docs/performance*.md and of benchmarks/approx_cost.py, and of an H200 in benchmarks/gpu.py.
_RATES = {
    "cpu": {"lanes": 1.5e9, "queue": 1e8, "relax": 1.5e8, "dijkstra": 1.5e7, "tensor": 5e6},
    "cuda": {"lanes": 8e10, "queue": 2.5e10, "relax": 6e10, "dijkstra": 2.5e9, "tensor": 1e8},
}
# Without AVX-512's gathers, and so without its masks: measured on AVX2.
_LANES_WITHOUT_AVX512 = 2.5e8
# A graph is not prepared to see which engine it gets if even the fastest would take so much longer.
_HOPELESS = 20


def exact_seconds(graph: Graph, memory: int | None) -> float:
    """About how long exact scores take; inf where they would not fit, or nearly for ever."""
    rates = dict(_RATES["cuda" if graph.device.type == "cuda" else "cpu"])
    if graph.device.type != "cuda" and _ops.simd != "avx512":
        rates["lanes"] = _LANES_WITHOUT_AVX512
    work = graph.num_nodes * graph.num_slots
    if work / (max(rates.values()) * _threads(graph)) > _HOPELESS * EXACT_SECONDS:
        return float("inf")
    try:
        plan, core = _plan.plan(graph, "betweenness", "auto", None, memory)
    except MemoryError:
        return float("inf")
    threads = plan.threads if plan.threads else 1
    return plan.sources * core.num_slots / (rates[plan.engine] * threads)


def _threads(graph: Graph) -> int:
    return 1 if graph.device.type == "cuda" else torch.get_num_threads()
