"""Lengths of shortest paths, from one node or from all, with NetworkX's arguments and results."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from torchcent import Graph, shortest_path_lengths
from torchcent.nx._config import distance_engine, running
from torchcent.nx._distances import numbers
from torchcent.nx._graph import BackendGraph


def single_source_shortest_path_length(
    G: BackendGraph, source: Hashable, cutoff: float | None = None
) -> dict[Hashable, int]:
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return _from(G, G.search(), source, None, _hops(cutoff))


def single_target_shortest_path_length(
    G: BackendGraph, target: Hashable, cutoff: float | None = None
) -> dict[Hashable, int]:
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    graph = G.search()
    return _from(G, graph.reversed() if graph.directed else graph, target, None, _hops(cutoff))


def all_pairs_shortest_path_length(
    G: BackendGraph, cutoff: float | None = None
) -> Iterator[tuple[Hashable, dict[Hashable, int]]]:
    return _all_pairs(G, None, _hops(cutoff))


def single_source_dijkstra_path_length(
    G: BackendGraph, source: Hashable, cutoff: float | None = None, weight: Hashable = "weight"
) -> dict[Hashable, float]:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    return _from(G, G.search(weight), source, weight, cutoff)


def all_pairs_dijkstra_path_length(
    G: BackendGraph, cutoff: float | None = None, weight: Hashable = "weight"
) -> Iterator[tuple[Hashable, dict[Hashable, float]]]:
    return _all_pairs(G, weight, cutoff)


def dijkstra_path_length(
    G: BackendGraph, source: Hashable, target: Hashable, weight: Hashable = "weight"
) -> float:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    found = None
    if target in G:
        row = _rows(G.search(weight), torch.tensor([G.arrays.number[source]]))[0]
        found = row[G.arrays.number[target]]
    if found is None or found < 0 or torch.isinf(found):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return numbers(found[None], G, weight)[0]


def _hops(cutoff: float | None) -> float | None:
    """NetworkX goes on while cutoff > level: so 1.5 is 2, and what is below 0 is 0."""
    if cutoff is None or math.isinf(cutoff):
        return None if cutoff is None or cutoff > 0 else 0
    return max(0, math.ceil(cutoff))


def _all_pairs(G: BackendGraph, weight: Hashable, cutoff: float | None) -> Iterator[Any]:
    graph = G.search(weight)
    if len(G) == 0:
        return
    with running():
        blocks = shortest_path_lengths(
            graph, blocks=True, engine=distance_engine(graph), progress=False
        )
    assert isinstance(blocks, Iterator)
    while True:
        with running():
            block = next(blocks, None)
        if block is None:
            return
        for source, row in zip(block[0].tolist(), block[1].cpu(), strict=True):
            yield G.nodes[source], _reached(G, row, weight, cutoff)


def _from(
    G: BackendGraph, graph: Graph, node: Hashable, weight: Hashable, cutoff: float | None
) -> dict[Hashable, Any]:
    rows = _rows(graph, torch.tensor([G.arrays.number[node]]))
    return _reached(G, rows[0], weight, cutoff)


def _rows(graph: Graph, sources: Tensor) -> Tensor:
    with running():
        rows = shortest_path_lengths(
            graph, sources=sources, engine=distance_engine(graph), progress=False
        )
    assert isinstance(rows, Tensor)
    return rows.cpu()


def _reached(
    G: BackendGraph, row: Tensor, weight: Hashable, cutoff: float | None
) -> dict[Hashable, Any]:
    """The nodes that are reached, the nearest first."""
    there = (row >= 0) & torch.isfinite(row)
    if cutoff is not None:
        there &= row <= max(cutoff, 0)  # the node itself is always among them
    vertex = torch.nonzero(there).flatten()
    distance, order = torch.sort(row[vertex], stable=True)
    names = map(G.nodes.__getitem__, vertex[order].tolist())
    return dict(zip(names, numbers(distance, G, weight), strict=True))
