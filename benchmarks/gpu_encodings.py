"""Encodings of graph networks on CUDA: millions of molecules, sizes of graphs, and large graphs.

Called by gpu.py, whose results it joins; by itself it prints the rows of small graphs. A call
begins with an edge_index on the device; sizes and large graphs are prepared. Times are the least of
three calls, of millions of graphs and of large ones one call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from small_graphs import parts, union

import torchcent
from torchcent import Graph

DEVICE = torch.device("cuda")
#: what is computed, the call for columns of a batch, and the seconds to reach for all together
MOLECULES: dict[str, Callable[[Any, Any], Any]] = {
    "Laplacian, k = 8": lambda arcs, batch: torchcent.laplacian_encoding(arcs, k=8, batch=batch),
    "return probabilities, 16 steps": lambda arcs, batch: torchcent.random_walk_encoding(
        arcs, walk_length=16, batch=batch
    ),
    "pairs within 3 hops": lambda arcs, batch: torchcent.shortest_path_pairs(
        arcs, batch=batch, cutoff=3
    ),
    "betweenness, closeness, degree": lambda arcs, batch: torchcent.node_features(
        arcs, batch=batch, measures=["betweenness", "closeness", "degree"]
    ),
}
COPIES = (2, 370)  # of 10,000 molecules
SIZES = (2, 8, 16, 24, 32, 33, 48, 64, 96, 128, 160, 256, 384, 512)
GRAPHS_OF_A_SIZE, ENTRIES = 264, 200_000_000


def taken(call: Callable[[], Any], turns: int) -> float:
    least = float("inf")
    for _ in range(turns):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        least = min(least, time.perf_counter() - begin)
    return least


def molecules(copies: int) -> dict[str, Any]:
    arcs, ptr = (each.to(DEVICE) for each in union(parts("molecules")))
    size = int(ptr[-1])
    shift = torch.arange(copies, device=DEVICE) * size
    every = (arcs[:, None, :] + shift[None, :, None]).reshape(2, -1)
    sizes = ptr.diff().repeat(copies)
    batch = torch.repeat_interleave(sizes)
    seconds = {
        name: taken(partial(call, every, batch), 3 if copies < 10 else 1)
        for name, call in MOLECULES.items()
    }
    print(f"{sizes.numel()} molecules: {seconds}", flush=True)
    return {"graphs": sizes.numel(), "vertices": size * copies, "seconds": seconds}


def by_size() -> dict[str, float]:
    """Microseconds per graph for the eigenvectors of small-world graphs."""
    found = {}
    for n in SIZES:
        count = max(GRAPHS_OF_A_SIZE, min(40_000, ENTRIES // n**3))
        one = torchcent.generate.ws(n, 4, 0.2, seed=1) if n > 4 else torchcent.generate.grid(1, n)
        shift = torch.arange(count, device=DEVICE) * n
        arcs = (one.to(DEVICE)[:, None, :] + shift[None, :, None]).reshape(2, -1)
        ptr = torch.arange(count + 1, device=DEVICE) * n
        graph = Graph.from_edge_index(arcs, n * count, ptr=ptr)
        call = partial(torchcent.laplacian_encoding, graph, k=8)
        found[str(n)] = 1e6 * taken(call, 3) / count
    print(f"microseconds by size: {found}", flush=True)
    return found


def large(rmat: Callable[[int, int], torch.Tensor]) -> dict[str, float]:
    """Seconds of calls on graphs that are prepared."""
    million = Graph.from_edge_index(torchcent.generate.ba(10**6, 5).to(DEVICE), 10**6)
    eigenvectors = taken(lambda: torchcent.laplacian_encoding(million, k=16), 1)
    print(f"Laplacian of a million vertices: {eigenvectors:.3f} s", flush=True)
    network = Graph.from_edge_index(rmat(21, 32), 2**21, directed=False)
    walks = taken(lambda: torchcent.personalized_pagerank(network, top_k=64), 1)
    print(f"PageRank of {network.num_slots} slots: {walks:.3f} s", flush=True)
    return {
        "Laplacian, k = 16, of BA with 1,000,000 vertices": eigenvectors,
        f"PageRank, top 64 of all vertices, R-MAT of scale 21, {network.num_slots} slots": walks,
    }


def rows() -> dict[str, Any]:
    """Of small graphs."""
    return {
        "molecules": [molecules(copies) for copies in COPIES], "microseconds by size": by_size(),
    }  # fmt: skip


if __name__ == "__main__":
    rows()
