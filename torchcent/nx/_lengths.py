"""Shortest path lengths from one node or from all, with NetworkX's arguments and results.

Keys come in NetworkX's order: by increasing distance. Ties are in the order in which its queue
reaches the nodes (hops), or in the order of G.nodes (weights).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from torchcent import Graph, shortest_path_lengths
from torchcent.nx._config import row_engine, running
from torchcent.nx._distances import numbers
from torchcent.nx._graph import BackendGraph
from torchcent.runtime import _codes, _ops

_FARTHEST = 1e308  # an upper bound on path lengths; an int can have any number of digits
_ROWS, _ENTRIES, _WORK = 512, 2**24, 10**8  # sources, vertices and scanned arcs per call


def single_source_shortest_path_length(
    G: BackendGraph, source: Hashable, cutoff: float | None = None
) -> dict[Hashable, int]:
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return next(_hops(G, torch.tensor([G.arrays.number[source]], device="cpu"), cutoff))


def single_target_shortest_path_length(
    G: BackendGraph, target: Hashable, cutoff: float | None = None
) -> dict[Hashable, int]:
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return next(
        _hops(G, torch.tensor([G.arrays.number[target]], device="cpu"), cutoff, backwards=True)
    )


def all_pairs_shortest_path_length(
    G: BackendGraph, cutoff: float | None = None
) -> Iterator[tuple[Hashable, dict[Hashable, int]]]:
    return zip(G.nodes, _hops(G, torch.arange(len(G), device="cpu"), cutoff), strict=False)


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
        row = _rows(G.search(weight), torch.tensor([G.arrays.number[source]], device="cpu"))[0]
        found = row[G.arrays.number[target]]
    if found is None or found < 0 or torch.isinf(found):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    result: float = numbers(found[None], G, weight)[0]
    return result


def _hops(
    G: BackendGraph, sources: Tensor, cutoff: float | None, backwards: bool = False
) -> Iterator[dict[Hashable, int]]:
    """Hops from each source; nodes in the order in which NetworkX's queue reaches them."""
    n = len(G)
    graph = G.adjacency
    if backwards and G.is_directed():  # in this case, NetworkX orders ties as in G.nodes
        colptr, row = G.search().transpose
        graph = colptr.cpu(), row.cpu()
    limit = n
    if cutoff is not None and cutoff < n:  # NetworkX continues while cutoff > level
        limit = math.ceil(max(cutoff, 0))
    at_once = max(1, min(_ROWS, _ENTRIES // n, _WORK // max(graph[1].numel(), 1)))
    for part in sources.split(at_once):
        order = torch.full((part.numel(), n), -1, dtype=torch.int32, device="cpu")
        depth = torch.empty_like(order)
        with running():
            control = _codes.control()
            threads = torch.get_num_threads()
            _ops.ops.search_order(*graph, part, limit, order, depth, control, threads)
        reached = (order >= 0).sum(1).tolist()
        for vertex, hops, count in zip(order, depth, reached, strict=True):
            names = map(G.nodes.__getitem__, vertex[:count].tolist())
            yield dict(zip(names, hops[:count].tolist(), strict=True))


def _all_pairs(G: BackendGraph, weight: Hashable, cutoff: float | None) -> Iterator[Any]:
    graph = G.search(weight)
    if len(G) == 0:
        return
    with running():
        blocks = shortest_path_lengths(graph, blocks=True, engine=row_engine(graph), progress=False)
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
    rows = _rows(graph, torch.tensor([G.arrays.number[node]], device="cpu"))
    return _reached(G, rows[0], weight, cutoff)


def _rows(graph: Graph, sources: Tensor) -> Tensor:
    with running():
        rows = shortest_path_lengths(
            graph, sources=sources, engine=row_engine(graph), progress=False
        )
    assert isinstance(rows, Tensor)
    return rows.cpu()


def _reached(
    G: BackendGraph, row: Tensor, weight: Hashable, cutoff: float | None
) -> dict[Hashable, Any]:
    """The reached nodes by increasing distance."""
    there = (row >= 0) & torch.isfinite(row)
    if cutoff is not None:
        # The source itself is always included. Compares in float64: hops are int32, which cutoff
        # may exceed.
        there &= row.double() <= float(min(max(cutoff, 0), _FARTHEST))
    vertex = torch.nonzero(there).flatten()
    distance, order = torch.sort(row[vertex], stable=True)
    names = map(G.nodes.__getitem__, vertex[order].tolist())
    return dict(zip(names, numbers(distance, G, weight), strict=True))
