"""Sums over the distances of all pairs, with NetworkX's arguments and results."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from torchcent import Graph
from torchcent.distances import _distance_sums
from torchcent.distances._run import Sums
from torchcent.nx._config import run_for_distances, running
from torchcent.nx._distances import is_connected, numbers
from torchcent.nx._graph import BackendGraph
from torchcent.nx._lengths import distance_rows, row_blocks


def global_efficiency(G: BackendGraph) -> float:
    pairs = len(G) * (len(G) - 1)
    return sums_of(G.search()).harmonic.sum().item() / pairs if pairs else 0


def wiener_index(G: BackendGraph, weight: Hashable = None) -> float:
    graph = G.search(weight)
    if not is_connected(graph):
        return math.inf
    total: float = sum(numbers(sums_of(graph).farness, G, weight))
    return total if G.is_directed() else total / 2


def hyper_wiener_index(G: BackendGraph, weight: Hashable = None) -> float:
    return _pair_sum(G, weight, lambda rows, _: rows + rows**2)


def schultz_index(G: BackendGraph, weight: Hashable = None) -> float:
    degree = _degree(G)
    return _pair_sum(G, weight, lambda rows, of: rows * (degree[of, None] + degree))


def gutman_index(G: BackendGraph, weight: Hashable = None) -> float:
    degree = _degree(G)
    return _pair_sum(G, weight, lambda rows, of: rows * degree[of, None] * degree)


def harmonic_diameter(G: BackendGraph, sp: None = None, *, weight: Hashable = None) -> float:
    total, n = sums_of(G.search(weight)).harmonic.sum().item(), len(G)
    if total != 0:
        return n * (n - 1) / total
    return math.inf if n > 1 else math.nan


def barycenter(
    G: BackendGraph, weight: Hashable = None, attr: None = None, sp: None = None
) -> list[Hashable]:
    graph = G.search(weight)
    if not is_connected(graph):
        raise nx.NetworkXNoPath(
            f"Input graph {G} is disconnected, so every induced subgraph "
            "has infinite barycentricity."
        )
    if weight is None or G.weight(weight).dtype == torch.int64:
        total = sums_of(G.search(weight, backwards=True)).farness.tolist()
    else:  # which sums of floats are equal depends on their rounding: added as NetworkX adds them
        blocks = (rows.sort().values for _, rows in row_blocks(G, weight))
        total = [sum(row.tolist()) for rows in blocks for row in rows]
    least = min(total)
    return [node for node, value in zip(G.nodes, total, strict=True) if value == least]


centroid = barycenter  # the name since NetworkX 3.7


def global_reaching_centrality(
    G: BackendGraph, weight: None = None, normalized: bool = True
) -> float:
    _check_reaching(G)
    total = sums_of(G.search(backwards=True))
    n = len(G)
    if G.is_directed():
        local = [(reach - 1) / (n - 1) for reach in total.reach.tolist()]
    else:
        local = [value / (n - 1) for value in total.harmonic.tolist()]
    most = max(local)
    result: float = sum(most - value for value in local) / (n - 1)
    return result


def local_reaching_centrality(
    G: BackendGraph, v: Hashable, paths: None = None, weight: None = None, normalized: bool = True
) -> float:
    _check_reaching(G)
    if v not in G:
        raise nx.NodeNotFound(f"Source {v} not in G")
    row = distance_rows(G.search(), torch.tensor([G.arrays.number[v]], device="cpu"))[0]
    hops = row[(row > 0) & row.isfinite()]
    total = hops.numel() if G.is_directed() else sum((1 / hops).tolist())
    return total / (len(G) - 1)


def floyd_warshall_numpy(
    G: BackendGraph, nodelist: list[Hashable] | None = None, weight: Hashable = "weight"
) -> np.ndarray:
    n = len(G)
    result = np.empty((n, n))
    for sources, rows in row_blocks(G, weight):
        result[sources.numpy()] = rows.numpy()
    if nodelist is not None:
        order = [G.arrays.number[node] for node in nodelist]
        result = result[np.ix_(order, order)]
    return result


def _check_reaching(G: BackendGraph) -> None:
    if G.number_of_edges() == 0:
        raise nx.NetworkXError("Size of G must be positive")
    if len(G) == 1:
        raise nx.NetworkXError(
            "local_reaching_centrality of a single node with self-loop not well-defined"
        )


def sums_of(graph: Graph) -> Sums:
    """Sums over the distances to every vertex."""
    with running():
        request = _distance_sums.asked("harmonic", graph, run_for_distances(graph))
        found = _distance_sums.vertex_sums(graph, request)
    return Sums(found.total.cpu(), found.eccentricity, found.levels)


def _pair_sum(G: BackendGraph, weight: Hashable, term: Callable[[Tensor, Tensor], Tensor]) -> float:
    """Half the sum of term(distances, vertices of their rows), inf if the graph is disconnected."""
    if not is_connected(G.search(weight)):
        return math.inf
    total: Any = 0
    for sources, rows in row_blocks(G, weight):
        for part in torch.arange(len(rows), device="cpu").split(max(1, 2**22 // len(G))):
            value = term(rows[part], sources.cpu()[part]).sum(1)
            total += sum(numbers(value, G, weight))
    result: float = total / 2
    return result


def _degree(G: BackendGraph) -> Tensor:
    """The degree of each vertex; a loop counts twice."""
    ends = np.concatenate([G.arrays.tail, G.arrays.head])
    return torch.from_numpy(np.bincount(ends, minlength=len(G)).astype(np.float64))
