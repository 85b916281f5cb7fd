"""Shortest path lengths from one node or from all, with NetworkX's arguments and results.

Keys come in NetworkX's order: by increasing distance. Ties are in the order in which its queue
reaches the nodes (hops), or in which its heap has received them (weights).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from torchcent import Graph, shortest_path_lengths
from torchcent.nx._config import run_for_rows, running
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
    return next(_hops(G, _vertex(G, source), _levels(cutoff)))


def single_target_shortest_path_length(
    G: BackendGraph, target: Hashable, cutoff: float | None = None
) -> dict[Hashable, int]:
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return next(_hops(G, _vertex(G, target), _levels(cutoff), backwards=True))


def all_pairs_shortest_path_length(
    G: BackendGraph, cutoff: float | None = None
) -> Iterator[tuple[Hashable, dict[Hashable, int]]]:
    return zip(G.nodes, _hops(G, torch.arange(len(G), device="cpu"), _levels(cutoff)), strict=False)


def single_source_dijkstra_path_length(
    G: BackendGraph, source: Hashable, cutoff: float | None = None, weight: Hashable = "weight"
) -> dict[Hashable, float]:
    return _dijkstra(G, source, cutoff, weight)


def all_pairs_dijkstra_path_length(
    G: BackendGraph, cutoff: float | None = None, weight: Hashable = "weight"
) -> Iterator[tuple[Hashable, dict[Hashable, Any]]]:
    if weight is None:
        every = torch.arange(len(G), device="cpu")
        return zip(G.nodes, _hops(G, every, _hops_within(cutoff)), strict=False)
    return _all_pairs(G, weight, cutoff)


def dijkstra_path_length(
    G: BackendGraph, source: Hashable, target: Hashable, weight: Hashable = "weight"
) -> float:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    found = _between(G, source, target, weight) if target in G else None
    if found is None:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return found


def shortest_path_length(
    G: BackendGraph, source: Hashable = None, target: Hashable = None, weight: Hashable = None,
    method: str = "dijkstra",
) -> Any:  # fmt: skip
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    if source is None and target is None:
        if weight is None:
            return all_pairs_shortest_path_length(G)
        return all_pairs_dijkstra_path_length(G, weight=weight)
    if source is not None and target is not None:
        if weight is not None:
            return dijkstra_path_length(G, source, target, weight)
        return _hops_between(G, source, target)
    start, backwards = (target, True) if source is None else (source, False)
    if weight is not None:
        return _dijkstra(G, start, None, weight, backwards)
    if start not in G:
        raise nx.NodeNotFound(f"Source {start} is not in G")
    return next(_hops(G, _vertex(G, start), math.inf, backwards))


def _hops_between(G: BackendGraph, source: Hashable, target: Hashable) -> int:
    for what, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{what} {node} is not in G")
    found = _between(G, source, target, None)
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return int(found)


def _between(G: BackendGraph, source: Hashable, target: Hashable, weight: Hashable) -> float | None:
    row = distance_rows(G.search(weight), _vertex(G, source))[0]
    found = row[G.arrays.number[target], None]
    return numbers(found, G, weight)[0] if bool(found.isfinite()) else None


def _vertex(G: BackendGraph, node: Hashable) -> Tensor:
    return torch.tensor([G.arrays.number[node]], device="cpu")


def _levels(cutoff: float | None) -> float:
    """The last level of NetworkX's queue, which continues while cutoff > level."""
    return math.inf if cutoff is None or cutoff > _FARTHEST else math.ceil(max(cutoff, 0))


def _hops_within(cutoff: float | None) -> float:
    """The largest number of hops that is <= cutoff; the source itself is always included."""
    return math.inf if cutoff is None or cutoff > _FARTHEST else math.floor(max(cutoff, 0))


def _hops(
    G: BackendGraph, sources: Tensor, limit: float, backwards: bool = False
) -> Iterator[dict[Hashable, int]]:
    """Hops from each source; nodes in the order in which NetworkX's queue reaches them."""
    n = len(G)
    graph = G.predecessors if backwards else G.adjacency
    levels = int(min(limit, n))
    at_once = max(1, min(_ROWS, _ENTRIES // n, _WORK // max(graph[1].numel(), 1)))
    for part in sources.split(at_once):
        order = torch.full((part.numel(), n), -1, dtype=torch.int32, device="cpu")
        depth = torch.empty_like(order)
        with running():
            control = _codes.control()
            threads = torch.get_num_threads()
            _ops.ops.search_order(*graph, part, levels, order, depth, control, threads)
        reached = (order >= 0).sum(1).tolist()
        for vertex, hops, count in zip(order, depth, reached, strict=True):
            names = map(G.nodes.__getitem__, vertex[:count].tolist())
            yield dict(zip(names, hops[:count].tolist(), strict=True))


def _dijkstra(
    G: BackendGraph, source: Hashable, cutoff: float | None, weight: Hashable,
    backwards: bool = False,
) -> dict[Hashable, Any]:  # fmt: skip
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if weight is None:
        return next(_hops(G, _vertex(G, source), _hops_within(cutoff), backwards))
    rows = distance_rows(G.search(weight, backwards), _vertex(G, source))
    return next(_settled(G, rows, weight, cutoff, backwards))


def _all_pairs(G: BackendGraph, weight: Hashable, cutoff: float | None) -> Iterator[Any]:
    for sources, rows in row_blocks(G, weight):
        lengths = _settled(G, rows, weight, cutoff)
        yield from zip(map(G.nodes.__getitem__, sources.tolist()), lengths, strict=True)


def row_blocks(G: BackendGraph, weight: Hashable) -> Iterator[tuple[Tensor, Tensor]]:
    """All vertices and their distances to every vertex as in :func:`distance_rows`, in blocks."""
    graph = G.search(weight)
    if len(G) == 0:
        return
    with running():
        blocks = shortest_path_lengths(graph, blocks=True, run=run_for_rows(graph))
    assert isinstance(blocks, Iterator)
    while True:
        with running():
            block = next(blocks, None)
        if block is None:
            return
        yield block[0], _far(block[1])


def distance_rows(graph: Graph, sources: Tensor) -> Tensor:
    """float64 [k, n] on the host, inf where there is no path."""
    with running():
        rows = shortest_path_lengths(graph, sources=sources, run=run_for_rows(graph))
    assert isinstance(rows, Tensor)
    return _far(rows)


def _far(rows: Tensor) -> Tensor:
    rows = rows.cpu()
    return rows.double().masked_fill_(rows < 0, torch.inf)


def _settled(
    G: BackendGraph, rows: Tensor, weight: Hashable, cutoff: float | None, backwards: bool = False
) -> Iterator[dict[Hashable, Any]]:
    """Distances by row; nodes in the order in which NetworkX's heap releases them."""
    graph = G.predecessors if backwards else G.adjacency
    order = torch.empty(rows.shape, dtype=torch.int32, device="cpu")
    with running():
        _ops.ops.length_order(
            *graph, G.lengths(weight, backwards), rows, order, _codes.control(),
            torch.get_num_threads(),
        )  # fmt: skip
    for vertices, row in zip(order, rows, strict=True):
        vertex = vertices[vertices >= 0].long()
        distance = row[vertex]
        if cutoff is not None:  # the source itself is always included
            distance = distance[distance <= float(min(max(cutoff, 0), _FARTHEST))]
        names = map(G.nodes.__getitem__, vertex[: distance.numel()].tolist())
        yield dict(zip(names, numbers(distance, G, weight), strict=True))
