"""Weighted betweenness on CUDA: the goals, and the strategies of Fan, Xu and Zhao 2017 on their
networks or stand-ins of the same size and kind.

Called by gpu.py, whose results it joins. Weights are whole numbers from 1 to 10, or uniform floats,
drawn by edge; networks of ../shared/data that have weights keep theirs. The weights of the paper's
gene networks are similarities, so that their stand-in has uniform floats, and whole numbers beside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from graphs import MissingGraph, lengths, shared_matrix
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sources import drawn

import torchcent
from torchcent import Graph, generate
from torchcent.check import _common as check

# Sources of the table of strategies: as many blocks as the kernel keeps on an H200, four on each of
# its 132 multiprocessors.
ROOMY = 528
AS_IS: frozenset[str] = frozenset()  # reductions of a graph before its search: none, as there
Seconds = Callable[..., tuple[float, Any]]
TABLE_2 = ["NP", "WE", "NP+warp32", "WE+warp32", "WE+warp4", "WE+warp8", "WE+warp16"]
TABLE_3 = [*TABLE_2, "NP+warp4", "NP+warp8", "NP+warp16"]
WHOLE = "bio-human-gene2, whole weights"
Network = tuple[str, Callable[[], Graph], list[str]]
NAMES = {"NP": "node_parallel", "WE": "work_efficient"}


def weighted(edges: torch.Tensor, kind: str) -> Graph:
    weight = torch.from_numpy(lengths(edges.cpu().numpy(), kind)).cuda()
    return Graph.from_edge_index(edges.cuda(), edge_weight=weight, directed=False)


def rows(rmat: Callable[[int, int], torch.Tensor], seconds: Seconds) -> list[dict[str, Any]]:
    """One row per goal: seconds for whole and for uniform weights."""
    # name: edges, sources, seconds to reach; results/published.json has those of other programs
    table: dict[str, tuple[Callable[[], torch.Tensor], int, float]] = {
        "BA n=30000 b=50": (lambda: generate.ba(30000, 50), 4096, 0.15),
        "R-MAT scale 19 ef 24": (lambda: rmat(19, 24), 1024, 0.8),
        "Delaunay 2^18": (lambda: generate.delaunay(1 << 18), 512, 0.3),
        "grid 1000x1000": (lambda: generate.grid(1000, 1000), 256, 2.0),
    }
    found = []
    for name, (make, count, target) in table.items():
        edges = make()
        graph = weighted(edges, "whole")
        sources = drawn(graph, count)
        torch.cuda.reset_peak_memory_stats()
        ours = torch.cuda.memory_allocated() - graph.nbytes  # the edges that it was made of
        taken, plan = seconds(graph, "betweenness", "auto", sources)
        peak = torch.cuda.max_memory_allocated() - ours
        few = {e: seconds(graph, "betweenness", e, sources[:128])[0] for e in ("relax", "dijkstra")}
        edge = seconds(graph, "edge_betweenness", plan.engine, sources)[0]
        uniform = weighted(edges, "uniform")
        row = {
            "name": name,
            "nodes": graph.num_nodes,
            "slots": graph.num_slots,
            "sources": count,
            "engine": plan.engine,
            "auto_is_right": few[plan.engine] == min(few.values()),
            "seconds": taken,
            "target": target,
            "edge_seconds": edge,
            "uniform_seconds": seconds(uniform, "betweenness", "auto", sources)[0],
            "error": max(error(graph, sources[:16]), error(uniform, sources[:16])),
            "memory": peak,
            "memory_predicted": plan.memory,
        }
        found.append(row)
        print(
            f"{name:24} k {count:5} {plan.engine:8}{'' if row['auto_is_right'] else ' (slower)'} "
            f"{taken:7.4f} s (at most {target:g}), uniform {row['uniform_seconds']:7.4f}, edges "
            f"{edge:7.4f}, error {row['error']:.1e}, memory {peak / 2**20:.0f} MiB, predicted "
            f"{plan.memory / 2**20:.0f}",
            flush=True,
        )
        del graph, uniform, edges
    return found


def error(graph: Graph, sources: torch.Tensor) -> float:
    """The largest relative difference from the CPU's dijkstra engine."""
    exact = torchcent.Run(dtype=torch.float64)
    scores = torchcent.betweenness(graph, sources=sources, normalized=False, run=exact).cpu()
    expected = torchcent.betweenness(
        graph.to("cpu"), sources=sources.cpu(), normalized=False,
        run=exact | torchcent.Run(engine="dijkstra"),
    )  # fmt: skip
    floor = 1e-12 * float(expected.max())
    return float(((scores - expected).abs() / (expected.abs() + floor)).max())


def body(n: int, degree: int) -> torch.Tensor:
    """Points in a cube joined to those around them, as of a finite-element mesh."""
    points = np.random.default_rng(1).random((n, 3))
    radius = (degree / n / (4 / 3 * np.pi)) ** (1 / 3)
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    return torch.from_numpy(np.ascontiguousarray(pairs.T)).long()


def network(name: str) -> Graph:
    """One of ../shared/data, with its own weights if it has any."""
    entries = shared_matrix(name).tocoo()
    edges = torch.from_numpy(np.stack([entries.row, entries.col])).long()
    if (entries.data == 1).all():
        return weighted(edges, "whole")
    weight = torch.from_numpy(entries.data).cuda()
    return Graph.from_edge_index(edges.cuda(), edge_weight=weight, directed=False)


def hubs(n: int, edges: int, exponent: float) -> torch.Tensor:
    """Of the shape of a network of retweets: few hubs with most of the edges, none isolated.

    Each vertex is joined to an older one, and further edges begin anywhere. Both end at vertices
    with chances of (place + 1)^-exponent.
    """
    chance = np.random.default_rng(1)
    root = 1 - exponent

    def end(below: NDArray[np.int64]) -> NDArray[np.int64]:
        share = chance.random(below.shape) * ((below + 1.0) ** root - 1)
        return np.minimum((share + 1) ** (1 / root) - 1, below - 1).astype(np.int64)

    grown, more = np.arange(1, n), np.full(edges - n + 1, n)
    pairs = [np.stack([grown, end(grown)]), np.stack([chance.integers(0, n, more.size), end(more)])]
    return torch.from_numpy(np.concatenate(pairs, axis=1))


def networks(rmat: Callable[[int, int], torch.Tensor]) -> dict[str, Network]:
    """Of Tables 2 and 3: what stands for each, and the strategies that the paper has of it."""
    return {
        "bio-human-gene2": (
            "BA n=14340 b=630, uniform weights",
            lambda: weighted(generate.ba(14340, 630), "uniform"), TABLE_2,
        ),
        WHOLE: ("BA n=14340 b=630", lambda: weighted(generate.ba(14340, 630), "whole"), TABLE_2),
        "ca-MathSciNet-dir": (
            "BA n=391529 b=2", lambda: weighted(generate.ba(391_529, 2), "whole"), TABLE_2,
        ),
        "actors": ("itself", lambda: network("actor-imdb"), TABLE_2),
        "rt-higgs": (
            "hubs n=425008", lambda: weighted(hubs(425_008, 732_827, 0.95), "whole"), TABLE_3,
        ),
        "mt-higgs": ("itself", lambda: network("higgs-mention"), TABLE_3),
        "rec-amazon": ("itself", lambda: network("rec-amazon"), TABLE_2),
        "sc-shipsec1": (
            "140,385 points in a cube", lambda: weighted(body(140_385, 24), "whole"), TABLE_2,
        ),
        "ER": (
            "Erdos-Renyi n=131072", lambda: weighted(generate.er(1 << 17, m=1 << 18), "whole"),
            TABLE_3,
        ),
        "Kronecker": ("R-MAT scale 17 ef 2", lambda: weighted(rmat(17, 2), "whole"), TABLE_3),
    }  # fmt: skip


def strategies(rmat: Callable[[int, int], torch.Tensor], seconds: Seconds) -> list[dict[str, Any]]:
    """Seconds per source of each strategy, on the networks of Tables 2 and 3 of the paper."""
    found = []
    for name, (stand_in, make, names) in networks(rmat).items():
        try:
            graph = make()
        except MissingGraph as missing:
            print(f"{name:18} left out: {missing}", flush=True)
            continue
        sources = drawn(graph, ROOMY)
        row = {
            "name": name,
            "stands_for_it": stand_in,
            "nodes": graph.num_nodes,
            "slots": graph.num_slots,
            "sources": sources.numel(),
            "locked": {s: per_source(seconds, graph, sources, s, True) for s in names},
            "unlocked": {s: per_source(seconds, graph, sources, s, False) for s in names},
            "auto": per_source(seconds, graph, sources, "", False),
        }
        found.append(row)
        best = row["locked"]
        print(
            f"{name:18} ({stand_in}) us per source, locked:",
            *(f"{s} {1e6 * best[s]:.1f}," for s in names),
            f"auto {1e6 * row['auto']:.1f}",
            flush=True,
        )
        del graph
    return found


def code_of(graph: Graph, name: str, locked: bool) -> int:
    """The operator's code of a strategy that is named as in the paper."""
    strategy, _, width = name.partition("+warp")
    full = NAMES.get(strategy, "auto")
    if width:
        full = "warp_centric" if strategy == "WE" else f"{full}+warp_centric"
    if locked:
        full += "+locked"
    return check.strategy(full, int(width or 32), "dijkstra", graph)


def per_source(
    seconds: Seconds, graph: Graph, sources: torch.Tensor, name: str, locked: bool
) -> float:
    code = code_of(graph, name, locked)
    taken = seconds(graph, "betweenness", "dijkstra", sources, code, repeat=1, reduce=AS_IS)[0]
    return taken / sources.numel()


def rounds(graph: Graph, source: int) -> int:
    """Levels that a search settles: all vertices below the least distance plus lightest arc."""
    rowptr, col, weight = graph.rowptr, graph.col.long(), graph.weight
    assert weight is not None
    degree = rowptr.diff()
    tail = torch.repeat_interleave(torch.arange(graph.num_nodes, device=col.device), degree)
    far = torch.full((graph.num_nodes,), torch.inf, dtype=torch.float64, device=col.device)
    lightest = far.scatter_reduce(0, tail, weight.double(), "amin")
    distance, unsettled = far.clone(), far.clone()
    distance[source] = unsettled[source] = 0
    settled = torch.zeros_like(degree, dtype=torch.bool)
    count = 0
    while bool((unsettled < torch.inf).any()):
        level = torch.nonzero(unsettled < (unsettled + lightest).min()).flatten()
        settled[level] = True
        count += 1
        many = degree[level]
        base = torch.repeat_interleave(rowptr[level] - (many.cumsum(0) - many), many)
        slot = base + torch.arange(base.numel(), device=base.device)
        length = torch.repeat_interleave(distance[level], many) + weight[slot]
        distance.scatter_reduce_(0, col[slot], length, "amin")
        unsettled = torch.where(settled, torch.inf, distance)
    return count
