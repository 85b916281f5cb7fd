"""Approximate betweenness on CUDA: seconds, samples, and a second opinion.

Called by gpu.py, whose results it joins. The graph is on the device already; one run after a small
one that wakes the device. The second opinion is a run on the CPU with the same generator and a
tenth of the samples: the largest difference between the two, and what their intervals allow.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

import torchcent
from torchcent import Graph


def rows(rmat: Callable[[int, int], torch.Tensor]) -> list[dict[str, Any]]:
    """One row per question; `rmat` draws an R-MAT graph on the device."""
    # name: graph, epsilon, seconds to reach
    table: dict[str, tuple[Callable[[], torch.Tensor], float, float]] = {
        "R-MAT scale 16 ef 16": (lambda: rmat(16, 16), 0.01, 1),
        "R-MAT scale 20 ef 16": (lambda: rmat(20, 16), 0.001, 5),
        "R-MAT scale 23 ef 6": (lambda: rmat(23, 6), 0.001, 60),
    }
    found = []
    for name, (make, epsilon, target) in table.items():
        edges = make()
        graph = Graph.from_edge_index(edges, int(edges.max()) + 1, directed=False)
        del edges

        def run(where: Graph, most: int | None, epsilon: float = epsilon) -> Any:
            return torchcent.betweenness_approx(
                where, epsilon, 0.1, method="kadabra", max_samples=most, dtype=torch.float64,
                generator=torch.Generator().manual_seed(1),
            )  # fmt: skip

        run(graph, 1000)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        answer = run(graph, None)
        torch.cuda.synchronize()
        taken = time.perf_counter() - begin
        second = run(graph.to("cpu"), max(1000, answer.samples // 10))
        apart = float((answer.scores.cpu() - second.scores).abs().max())
        found.append(
            {
                "name": name,
                "nodes": graph.num_nodes,
                "slots": graph.num_slots,
                "epsilon": answer.epsilon,
                "samples": answer.samples,
                "seconds": taken,
                "target": target,
                "apart": apart,
                "allowed": answer.epsilon + second.epsilon,
            }
        )
        print(
            f"{name:24} {taken:8.3f} s (at most {target:g}), {answer.samples:,} samples, apart "
            f"{apart:.1e} (at most {found[-1]['allowed']:.1e})",
            flush=True,
        )
    return found
