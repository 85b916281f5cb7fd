"""Markov clustering on CUDA: whole runs of torchcent.mcl, from edges on the device to labels there.

Called by gpu.py, whose results it joins. Clusters are compared with the CPU's, and the first
iterations with torch.sparse.mm, which squares the same flows and does nothing else with them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from gpu_report import in_words

import torchcent
from torchcent import generate
from torchcent.clustering import _flow
from torchcent.clustering._rules import Rules

PPI3 = 23_175, 17.05  # vertices, degree: nearly as many edges as in Table 4
ITERATIONS = 4  # that are compared with torch.sparse.mm
Edges = tuple[int, torch.Tensor, torch.Tensor | None]


def clusters(n: int, size: int, inside: float, outside: float) -> Edges:
    """Clusters of consecutive vertices, with so many edges per vertex in them and to anywhere."""
    chance = torch.Generator(device="cuda").manual_seed(1)

    def draw(count: int) -> torch.Tensor:
        return torch.randint(n, (count,), generator=chance, device="cuda")

    tail = draw(int(n * inside / 2))
    other = torch.randint(size, tail.shape, generator=chance, device="cuda")
    near = torch.stack([tail, (tail // size * size + other).clamp(max=n - 1)])
    far = torch.stack([draw(int(n * outside / 2)), draw(int(n * outside / 2))])
    return n, torch.cat([near, far], 1), None


def planted(n: int, degree: float) -> Edges:
    return n, generate.planted(n, degree).cuda(), None


def random_matrix(n: int, share: float = 1) -> Edges:
    """All arcs, or a share, of random similarities: symmetric, unlike RFULL and RSPARS."""
    column, row = torch.triu_indices(n, n, 1, device="cuda")
    chance = torch.Generator(device="cuda").manual_seed(1)
    weight = torch.rand(column.numel(), generator=chance, device="cuda")
    there = torch.rand(column.numel(), generator=chance, device="cuda") < share
    return n, torch.stack([column, row])[:, there], weight[there]


def permuted(n: int, share: float = 1, device: str = "cuda") -> Edges:
    """RFULL and RSPARS as section 5.1 has them: all arcs or a share, loops of a permutation."""
    chance = torch.Generator(device=device).manual_seed(1)
    matrix = torch.rand(n, n, generator=chance, device=device, dtype=torch.float64)
    matrix *= torch.rand(n, n, generator=chance, device=device) < share
    loops = 1 + torch.randperm(n, generator=chance, device=device)
    matrix.diagonal().copy_(loops)
    edges = matrix.nonzero().T
    return n, edges, matrix[edges[0], edges[1]]


# As they run it.
QUIET = torchcent.Run(progress=False)
PAPER: dict[str, Any] = {"prune": None, "chaos": 1e-3}


# name: graph, options of mcl, seconds to reach, repetitions
TABLE: dict[str, tuple[Callable[[], Edges], dict[str, Any], float, int]] = {
    "20,000 proteins, degree 14": (lambda: planted(20_000, 14), {}, 0.25, 3),
    "20,000 proteins, degree 30": (lambda: planted(20_000, 30), {}, 0.25, 3),
    "20,000 in clusters of 60, degree 30": (lambda: clusters(20_000, 60, 22, 8), {}, 0.25, 3),
    **{
        f"RFULL, n = {n}": (partial(random_matrix, n), PAPER, target, 3)
        for n, target in ((1600, 0), (3200, 0), (4800, 0.1))
    },
    **{
        f"RSPARS (30 %), n = {n}": (partial(random_matrix, n, 0.3), PAPER, 0, 3)
        for n in (1600, 3200, 4800)
    },
    **{
        f"{name}{i}": (partial(permuted, n, share), PAPER | {"loops": None}, 0, 3)
        for name, share in (("RFULL", 1), ("RSPARS", 0.3))
        for i, n in enumerate((1600, 3200, 4800), 1)
    },
    "planted, of PPI3's size": (lambda: planted(*PPI3), PAPER, 0, 3),
    "10^6 in clusters of 50, 10^7 edges": (
        lambda: clusters(1_000_000, 50, 16, 4), {"run": torchcent.Run(engine="fused")}, 30, 1
    ),
}  # fmt: skip


def rows() -> list[dict[str, Any]]:
    found = []
    for name, (make, options, target, repeat) in TABLE.items():
        n, edges, weight = make()
        run = Run(n, edges, weight, options)
        torch.cuda.reset_peak_memory_stats()
        times = [run.seconds() for _ in range(repeat + 1)]
        result = run.result
        row = {
            "name": name,
            "nodes": n,
            "entries": run.entries,
            "engine": result.engine,
            "iterations": result.iterations,
            "clusters": result.num_clusters,
            "seconds": statistics.median(times[1:] if repeat > 1 else times),
            "target": target,
            "memory": torch.cuda.max_memory_allocated(),
            "like_the_cpu": run.like_the_cpu() if n <= 20_000 else None,
            "expansions": expansions(n, edges) if weight is None and n <= 20_000 else [],
            "tensor_seconds": run.by_torch_sparse() if weight is None and n <= 20_000 else None,
        }
        found.append(row)
        print(
            f"{name:36} {row['engine']:6} {row['seconds']:8.4f} s (at most {target:g}), "
            f"{row['iterations']} iterations, {row['clusters']:,} clusters, "
            f"{row['memory'] / 2**30:.1f} GiB, from the CPU's: {row['like_the_cpu']}, "
            f"iterations {in_words(row['expansions'])}, by torch.sparse {row['tensor_seconds']}",
            flush=True,
        )
        del run, result, edges, weight
        torch.cuda.empty_cache()
    return found


class Run:
    def __init__(
        self, n: int, edges: torch.Tensor, weight: torch.Tensor | None, options: dict[str, Any]
    ) -> None:
        self.n, self.edges, self.weight = n, edges, weight
        one_way = options.get("loops", "max") is None  # edges are the matrix, with its loops
        self.options = options | {"run": QUIET | options.get("run", QUIET), "directed": one_way}
        self.entries = edges.shape[1] if one_way else 2 * edges.shape[1] + n

    def seconds(self) -> float:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        self.result = torchcent.mcl(self.edges, self.weight, num_nodes=self.n, **self.options)
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    def by_torch_sparse(self) -> float:
        """The same with engine="tensor": products by torch.sparse.mm, in blocks that fit it."""
        how = QUIET | torchcent.Run(engine="tensor")
        torchcent.mcl(self.edges[:, :1000], num_nodes=self.n, run=how)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        torchcent.mcl(self.edges, num_nodes=self.n, directed=False, run=how)
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    def like_the_cpu(self) -> str:
        """The split/join distance to the CPU's clusters."""
        if self.options.get("prune", True) is None:
            return ""  # minutes there
        weight = None if self.weight is None else self.weight.cpu()
        there = torchcent.mcl(self.edges.cpu(), weight, num_nodes=self.n, **self.options)
        apart = torchcent.clustering_distance(self.result.labels.cpu(), there.labels)
        return str(apart.distance)


def expansions(n: int, edges: torch.Tensor) -> list[dict[str, Any]]:
    """Seconds of the first iterations, and of torch.sparse.mm for the product alone of each."""
    flow, found = first_flow(n, edges), []
    rules = Rules(2, torchcent.Prune()).arguments()
    for _ in range(ITERATIONS):
        control = torch.zeros(4, dtype=torch.int64)
        arguments = (flow.begin, flow.length, flow.row, flow.value, control, *rules, 1)
        (*new, summary), seconds = timed(partial(torch.ops.torchcent.mcl_iterate, *arguments))
        colptr, row, value = flow.packed()
        matrix = torch.sparse_csr_tensor(colptr.int(), row.int(), value, (n, n))
        try:
            _, sparse = timed(partial(torch.sparse.mm, matrix, matrix))
        except RuntimeError as error:  # "insufficient resources"
            sparse, _ = None, error
        del matrix
        torch.cuda.empty_cache()
        found.append({"products": summary[1].item(), "fused": seconds, "torch_sparse": sparse})
        flow = _flow.Flow(*new)
    return found


def first_flow(n: int, edges: torch.Tensor) -> _flow.Flow:
    graph = torchcent.Graph.from_edge_index(edges, n, directed=False)
    return _flow.build(graph, _flow.similarities(graph, None), "max", None)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and the median of three times after a first one."""
    times = []
    for _ in range(4):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        made = work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return made, statistics.median(times[1:])
