"""Current flow on CUDA: seconds, the seconds to reach, and a second solver's currents.

Called by gpu.py, whose results it joins. The edges are on the device already, and the preparation
of the graph is in the time; median of 3. The currents of a few edges are found again by SciPy's
conjugate gradients on the whole Laplacian. Resistances are checked by Foster's theorem, by which
those of the edges of a connected graph sum to n - 1.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
import torch

import torchcent

REPEAT = 3
EDGES = 4  # whose currents are found by another solver
GRAPHS: dict[str, Callable[[], torch.Tensor]] = {
    "Barabasi-Albert, 30,000 vertices": lambda: torchcent.generate.ba(30_000, 5, seed=1),
    "grid, 29,929 vertices": lambda: torchcent.generate.grid(173, 173),
}
TARGET = 60.0


def timed(call: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, float]:
    times = []
    for _ in range(REPEAT):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        found = call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return found, statistics.median(times)


def currents(edges: torch.Tensor) -> np.ndarray:
    """The normalised scores of the first edges, each of which is there in both directions."""
    u, v = edges.numpy()
    n = int(edges.max()) + 1
    one = np.ones(u.size)
    matrix = scipy.sparse.coo_array((one, (u, v)), (n, n)).tocsr()
    matrix = scipy.sparse.csgraph.laplacian(matrix)
    found = []
    for a, b in zip(u[:EDGES], v[:EDGES], strict=True):
        right = np.zeros(n)
        right[a], right[b] = 1, -1
        potential, failed = scipy.sparse.linalg.cg(matrix, right, rtol=1e-12, maxiter=20 * n)
        assert not failed
        found.append(np.sort(potential) @ np.arange(1 - n, n, 2) / ((n - 1) * (n - 2)))
    return np.array(found)


def rows() -> list[dict[str, Any]]:
    table = []
    for name, make in GRAPHS.items():
        edges = make()
        there, n = edges.cuda(), int(edges.max()) + 1
        keep: dict[str, Any] = {"directed": False, "run": torchcent.Run(dtype=torch.float64)}
        of_edges, seconds = timed(partial(torchcent.edge_current_flow_betweenness, there, **keep))
        expected = currents(edges)
        error = float(np.abs(of_edges[:EDGES].cpu().numpy() / expected - 1).max())
        _, of_closeness = timed(partial(torchcent.current_flow_closeness, there, **keep))
        once = there[:, there[0] < there[1]]
        foster = torchcent.effective_resistance(there, pairs=once, **keep).sum()
        table.append(
            {
                "graph": name, "vertices": n, "edges": once.shape[1], "target": TARGET,
                "betweenness": seconds, "closeness": of_closeness, "error": error,
                "foster": float(foster / (n - 1) - 1),
            }
        )  # fmt: skip
        print(name, {key: value for key, value in table[-1].items() if key != "graph"}, flush=True)
    return table
