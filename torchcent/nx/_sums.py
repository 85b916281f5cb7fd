"""Sums over the distances of all pairs, with NetworkX's arguments and results."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from torchcent import Graph
from torchcent.check._run import surrounding
from torchcent.distances import _distance_sums
from torchcent.distances._run import Sums
from torchcent.nx._closure import is_connected
from torchcent.nx._config import DISTANCES, device, running
from torchcent.nx._declare import backend
from torchcent.nx._graph import BackendGraph
from torchcent.nx._lengths import distance_rows, row_blocks

_HOPS = "Only without weights: with them the result depends on which of equal paths is taken."
_NAMED = "a node is called 'weight', which NetworkX takes for an argument"
_TIES = "weights: the result depends on which of several equal paths NetworkX takes"
_TREE = "the graph may be a tree, for which NetworkX has a linear algorithm"
_WORK = 2**23  # arcs looked at per batch of neighbourhoods


@backend()
def global_efficiency(G: BackendGraph, graph: Graph) -> float:
    pairs = len(G) * (len(G) - 1)
    return sums_of(graph, "harmonic").harmonic.sum().item() / pairs if pairs else 0


@backend(least=1, small=50_000)
def local_efficiency(G: BackendGraph) -> float:
    """The neighbourhoods of many vertices are searched as the graphs of a batch."""
    n = len(G)
    rowptr, col = (x.numpy() for x in G.adjacency)  # a loop makes a vertex its own neighbour
    degree = np.diff(rowptr)
    work = np.bincount(np.repeat(np.arange(n), degree), degree[col], n).cumsum()
    total, begin = 0.0, 0
    while begin < n:
        limit = _WORK + (work[begin - 1] if begin else 0)
        end = max(begin + 1, int(np.searchsorted(work, limit, side="right")))
        total += _efficiencies(rowptr, col, begin, end)
        begin = end
    return total / n


@backend(least=1)
def wiener_index(G: BackendGraph, graph: Graph, weight: Hashable) -> float:
    if not is_connected(graph):
        return math.inf
    total: float = sum(G.numbers(sums_of(graph, "closeness").farness, weight))
    return total if G.is_directed() else total / 2


@backend(least=1)
def hyper_wiener_index(G: BackendGraph, weight: Hashable) -> float:
    return _pair_sum(G, weight, lambda rows, one, other: rows + rows**2)


@backend(least=1, rules=[lambda G: "weight" in G and _NAMED])
def schultz_index(G: BackendGraph, weight: Hashable) -> float:
    return _pair_sum(G, weight, lambda rows, one, other: rows * (one + other))


@backend(least=1, rules=[lambda G: "weight" in G and _NAMED])
def gutman_index(G: BackendGraph, weight: Hashable) -> float:
    return _pair_sum(G, weight, lambda rows, one, other: rows * one * other)


@backend()
def harmonic_diameter(G: BackendGraph, graph: Graph) -> float:
    total, n = sums_of(graph, "harmonic").harmonic.sum().item(), len(G)
    if total != 0:
        return n * (n - 1) / total
    return math.inf if n > 1 else math.nan


@backend(
    least=1,
    rules=[
        lambda G, weight: (
            weight is None and not G.is_directed() and G.number_of_edges() == len(G) - 1 and _TREE
        )
    ],
)
def barycenter(G: BackendGraph, graph: Graph, weight: Hashable) -> list[Hashable]:
    if not is_connected(graph):
        raise nx.NetworkXNoPath(
            f"Input graph {G} is disconnected, so every induced subgraph "
            "has infinite barycentricity."
        )
    if weight is None or G.weight(weight).dtype == torch.int64:
        totals = sums_of(G.search(weight, backwards=True), "closeness").farness.tolist()
    else:  # which sums of floats are equal depends on their rounding: added as NetworkX adds them
        blocks = (rows.sort().values for _, rows in row_blocks(G, weight))
        totals = [sum(row.tolist()) for rows in blocks for row in rows]
    least = min(totals)
    return [node for node, total in zip(G.nodes, totals, strict=True) if total == least]


@backend(docs=_HOPS, rules=[lambda weight: weight is not None and _TIES])
def global_reaching_centrality(G: BackendGraph) -> float:
    _check_reaching(G)
    sums, others = sums_of(G.search(backwards=True), "distance_profile"), len(G) - 1
    totals = sums.reach - 1 if G.is_directed() else sums.harmonic
    local = [total / others for total in totals.tolist()]
    most = max(local)
    result: float = sum(most - value for value in local) / others
    return result


@backend(docs=_HOPS, rules=[lambda weight: weight is not None and _TIES], single=True)
def local_reaching_centrality(G: BackendGraph, graph: Graph, v: Hashable) -> float:
    _check_reaching(G)
    row = distance_rows(graph, G.vertex(v, "Source {} not in G"))[0]
    hops = row[(row > 0) & row.isfinite()]
    total = hops.numel() if G.is_directed() else sum((1 / hops).tolist())
    return total / (len(G) - 1)


@backend(
    measure="shortest_path_lengths", small=300_000,
    rules=[
        lambda G, nodelist: (
            nodelist is not None and not (len(nodelist) == len(G) and set(nodelist) == set(G))
            and "nodelist must hold every node once"
        )
    ],
)  # fmt: skip
def floyd_warshall_numpy(
    G: BackendGraph, nodelist: list[Hashable] | None, weight: Hashable
) -> np.ndarray:
    result = np.empty((len(G), len(G)))
    for sources, rows in row_blocks(G, weight):
        result[sources.numpy()] = rows.numpy()
    if nodelist is not None:
        order = G.vertices(nodelist).numpy()
        result = result[np.ix_(order, order)]
    return result


def _check_reaching(G: BackendGraph) -> None:
    if G.number_of_edges() == 0:
        raise nx.NetworkXError("Size of G must be positive")
    if len(G) == 1:
        raise nx.NetworkXError(
            "local_reaching_centrality of a single node with self-loop not well-defined"
        )


def sums_of(graph: Graph, measure: str, sources: Tensor | None = None) -> Sums:
    """The sums of a measure over the distances from every vertex, or the sources, to all."""
    with running(graph, DISTANCES):
        request = _distance_sums.request_for(measure, graph, surrounding())
        if sources is not None:
            sources = sources.to(graph.device)
        sums = _distance_sums.vertex_sums(graph, request, sources=sources)
    return replace(sums, total=sums.total.cpu())


def _pair_sum(
    G: BackendGraph, weight: Hashable, term: Callable[[Tensor, Tensor, Tensor], Tensor]
) -> float:
    """Half the sum of terms of the distances and the degrees of both ends; a loop counts twice.

    It is inf if the graph is disconnected.
    """
    if not is_connected(G.search(weight)):
        return math.inf
    ends = np.concatenate([G.arrays.tail, G.arrays.head])
    degree = torch.from_numpy(np.bincount(ends, minlength=len(G)).astype(np.float64))
    total: Any = 0
    for sources, rows in row_blocks(G, weight):
        for part in torch.arange(len(rows), device="cpu").split(max(1, 2**22 // len(G))):
            value = term(rows[part], degree[sources.cpu()[part], None], degree).sum(1)
            total += sum(G.numbers(value, weight))
    result: float = total / 2
    return result


def _efficiencies(rowptr: np.ndarray, col: np.ndarray, begin: int, end: int) -> float:
    """The sum of the efficiencies of the neighbourhoods of vertices from `begin` to `end` - 1."""
    n = len(rowptr) - 1
    size = np.diff(rowptr[begin : end + 1])
    owner = np.repeat(np.arange(end - begin), size)
    # Members of all neighbourhoods, by neighbourhood and vertex.
    member = np.sort(owner * n + col[rowptr[begin] : rowptr[end]])
    if member.size == 0:
        return 0.0
    vertex = member % n
    # Candidates for their arcs: to the neighbours of each member that are members as well.
    count = rowptr[vertex + 1] - rowptr[vertex]
    tail = np.repeat(np.arange(member.size), count)
    slot = np.arange(tail.size) + np.repeat(rowptr[vertex] - (count.cumsum() - count), count)
    other = owner[tail] * n + col[slot]
    head = np.searchsorted(member, other).clip(max=member.size - 1)
    there = member[head] == other
    arcs = torch.from_numpy(np.stack([tail[there], head[there]])).to(device())
    ptr = torch.from_numpy(np.concatenate([[0], size.cumsum()])).to(device())
    graph = Graph.from_edge_index(arcs, member.size, ptr=ptr)
    pairs = size * (size - 1.0)
    harmonic = sums_of(graph, "harmonic").harmonic.numpy()
    return float((np.bincount(owner, harmonic, size.size) / np.maximum(pairs, 1)).sum())
