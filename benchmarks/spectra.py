"""Laplacian encodings of 20,000 molecules, beside a loop over NumPy and a transform of PyG.

    python benchmarks/spectra.py              # a minute -> results/spectra.json
    python benchmarks/spectra.py --sizes      # besides: time by the size of graphs, 2 to 512

Ours begins with an edge_index and batch. The loop fills the matrix of each graph from its columns
and takes its eigenvectors; beside it is the time of the latter alone. PyTorch Geometric begins with
Data objects. These compute a sample, and their time is scaled to the whole set. All run in turns on
the same threads, and medians are shown. Eigenvalues of the sample are compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import conditions
from small_graphs import parts, union

import torchcent

RESULT = Path(__file__).parent / "results" / "spectra.json"
GRAPHS, SAMPLE, COLUMNS = 20_000, 300, 8
SIZES = (2, 4, 8, 12, 16, 24, 32, 33, 40, 48, 49, 64, 96, 128, 129, 192, 256, 384, 512)


def seconds(call: Callable[[], Any]) -> float:
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


def matrix(n: int, arcs: Any) -> Any:
    """The symmetric Laplacian of a graph, of columns in NumPy."""
    adjacency = np.zeros((n, n))
    adjacency[arcs[0], arcs[1]] = 1
    degree = adjacency.sum(1)
    root = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1)), 0)
    return np.diag((degree > 0) * 1.0) - root[:, None] * adjacency * root


def molecules(repeat: int) -> dict[str, Any]:
    from torch_geometric.data import Data
    from torch_geometric.transforms import AddLaplacianEigenvectorPE

    some = parts("molecules")
    graphs = (some * (1 + GRAPHS // len(some)))[:GRAPHS]
    arcs, ptr = union(graphs)
    stores = [
        Data(edge_index=arcs[:, (arcs[0] >= a) & (arcs[0] < b)] - a, num_nodes=int(b - a))
        for a, b in zip(ptr[:SAMPLE].tolist(), ptr[1 : SAMPLE + 1].tolist(), strict=True)
    ]
    columns = [(each.num_nodes, each.edge_index.numpy()) for each in stores]
    sample = [matrix(*each) for each in columns]
    transform = AddLaplacianEigenvectorPE(COLUMNS, is_undirected=True)
    batch = torch.repeat_interleave(ptr.diff())
    calls: dict[str, Callable[[], Any]] = {
        "torchcent": lambda: torchcent.laplacian_encoding(arcs, k=COLUMNS, batch=batch),
        "loop over numpy.linalg.eigh": lambda: [
            np.linalg.eigh(matrix(*each))[1][:, 1 : COLUMNS + 1] for each in columns
        ],
        "numpy.linalg.eigh alone": lambda: [np.linalg.eigh(x) for x in sample],
        "AddLaplacianEigenvectorPE": lambda: [transform(x.clone()) for x in stores],
    }
    values = calls["torchcent"]().values[:SAMPLE].double().numpy()
    worst = max(
        float(np.abs(own[: len(x) - 1] - np.linalg.eigvalsh(x)[1 : COLUMNS + 1]).max(initial=0))
        for own, x in zip(values, sample, strict=True)
    )
    scale = {"torchcent": 1.0}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeat):
        for name, call in calls.items():
            times[name].append(seconds(call) * scale.get(name, GRAPHS / SAMPLE))
    medians = {name: statistics.median(x) for name, x in times.items()}
    ours = medians["torchcent"]
    return {
        "graphs": GRAPHS, "vertices": int(ptr[-1]), "seconds": medians,
        "ratios": {name: x / ours for name, x in medians.items()}, "worst difference": worst,
    }  # fmt: skip


def by_size(repeat: int) -> dict[int, float]:
    """Microseconds per graph, of batches with about as much work each."""
    found = {}
    for n in SIZES:
        count = max(1, min(4000, 40_000_000 // n**3))
        arcs = torchcent.generate.ws(n, min(4, n - 1) // 2 * 2, 0.2, seed=1) if n > 4 else None
        arcs = torchcent.generate.grid(1, n) if arcs is None else arcs
        every = torch.cat([arcs + n * i for i in range(count)], 1)
        ptr = torch.arange(count + 1) * n
        graph = torchcent.Graph.from_edge_index(every, n * count, ptr=ptr)
        times = [
            seconds(partial(torchcent.laplacian_encoding, graph, k=COLUMNS)) for _ in range(repeat)
        ]
        found[n] = 1e6 * statistics.median(times) / count
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    result = {**conditions(), "threads": given.threads, "molecules": molecules(given.repeat)}
    if given.sizes:
        result["microseconds by size"] = by_size(given.repeat)
    given.output.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result["molecules"], indent=1))
    for n, each in result.get("microseconds by size", {}).items():
        print(f"{n:4} vertices {each:10.1f} us {1e3 * each / n**3:8.3f} ns by n^3")


if __name__ == "__main__":
    main()
