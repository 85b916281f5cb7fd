"""Approximate betweenness on CUDA: seconds, samples, and a second opinion.

Called by gpu.py, whose results it joins. The graph is on the device already; one run after a small
one that wakes the device. The second opinion is a run on the CPU with the same generator and a
tenth of the samples. It gives the largest difference between the two, what their intervals allow,
and how many samples a second that took. With a time limit: the samples of the result per second of
the whole run, and by how much the limit is exceeded. The rows of pivots are of a graph of the size
of kron_g500-logn19 (524,288 vertices, 43.6 M slots). Weights are whole numbers from 1 to 10.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

import torchcent
from torchcent import Graph, generate

PIVOTS = 8192
LIMIT = 3.0  # seconds


def rows(rmat: Callable[[int, int], torch.Tensor]) -> list[dict[str, Any]]:
    """One row per question; `rmat` draws an R-MAT graph on the device."""
    paths, by_pivots = {"method": "kadabra"}, {"method": "pivots"}
    linear = {"method": "pivots", "pivots": "uniform+linear"}
    # name: graph, epsilon, seconds to reach (0: none asked for), method, most samples
    table: dict[str, tuple[Callable[[], torch.Tensor], float, float, dict[str, str], int | None]]
    table = {
        "R-MAT scale 16 ef 16": (lambda: rmat(16, 16), 0.01, 1, paths, None),
        "R-MAT scale 20 ef 16": (lambda: rmat(20, 16), 0.001, 5, paths, None),
        "R-MAT scale 23 ef 6": (lambda: rmat(23, 6), 0.001, 60, paths, None),
        "road-like 500x500": (lambda: generate.road(500, 500, seed=1).cuda(), 0.01, 0, paths, None),
        "road-like 1400x1400": (
            lambda: generate.road(1400, 1400, seed=1).cuda(),
            0.02,
            0,
            paths,
            None,
        ),
        "R-MAT scale 20 ef 16, weights": (lambda: rmat(20, 16), 0.001, 0, paths, None),
        "road-like 500x500, weights": (
            lambda: generate.road(500, 500, seed=1).cuda(),
            0.01,
            0,
            paths,
            None,
        ),
        "road-like 1400x1400, weights": (
            lambda: generate.road(1400, 1400, seed=1).cuda(),
            0.02,
            0,
            paths,
            None,
        ),
        "R-MAT scale 19 ef 48, pivots": (lambda: rmat(19, 48), 0.01, 0, by_pivots, PIVOTS),
        "R-MAT scale 19 ef 48, linear": (lambda: rmat(19, 48), 0.01, 0, linear, PIVOTS),
    }
    found = []
    for name, (make, epsilon, target, options, limit) in table.items():
        edges, length = make(), None
        if name.endswith("weights"):
            length = (1 + torch.arange(edges.shape[1], device=edges.device) % 10).double()
        graph = Graph.from_edge_index(edges, int(edges.max()) + 1, False, length)
        del edges, length

        def run(
            where: Graph,
            most: int | None,
            epsilon: float = epsilon,
            options: Any = options,
            **more: Any,
        ) -> Any:
            return torchcent.betweenness_approx(
                where, epsilon, 0.1, max_samples=most, run=torchcent.Run(dtype=torch.float64),
                generator=torch.Generator().manual_seed(1), **options, **more,
            )  # fmt: skip

        run(graph, 1000)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        answer = run(graph, limit)
        torch.cuda.synchronize()
        taken = time.perf_counter() - begin
        pace = late = None
        if options is paths:
            begin = time.perf_counter()
            limited = run(graph, None, 1e-6, time_limit=LIMIT)
            torch.cuda.synchronize()
            whole = time.perf_counter() - begin
            pace, late = limited.samples / whole, whole - LIMIT
        there = graph.to("cpu")
        begin = time.perf_counter()
        second = run(there, max(800, answer.samples // 10))
        rate = second.samples / (time.perf_counter() - begin)
        apart = float((answer.scores.cpu() - second.scores).abs().max())
        found.append(
            {
                "name": name,
                "nodes": graph.num_nodes,
                "slots": graph.num_slots,
                **options,
                "epsilon": answer.epsilon,
                "samples": answer.samples,
                "seconds": taken,
                "target": target,
                "apart": apart,
                "allowed": answer.epsilon + second.epsilon,
                "cpu_samples_per_second": rate,
                "samples_per_second": pace,
                "seconds_late": late,
            }
        )
        print(
            f"{name:24} {taken:8.3f} s (at most {target:g}), {answer.samples:,} samples, apart "
            f"{apart:.1e} (at most {found[-1]['allowed']:.1e})"
            + (f", {pace:,.0f} a second and {late:.2f} s late at a time limit" if pace else ""),
            flush=True,
        )
    return found
