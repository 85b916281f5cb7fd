"""Shortest path lengths from one node or from all, with NetworkX's arguments and results.

Keys come in NetworkX's order: by increasing distance. Ties are in the order in which its queue
reaches the nodes (hops), or in which its heap has received them (weights).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeAlias

import networkx as nx
import torch
from torch import Tensor

from torchcent import Graph, shortest_path_lengths
from torchcent.nx._config import ROWS, running, threads
from torchcent.nx._declare import backend
from torchcent.nx._graph import BackendGraph
from torchcent.runtime import _codes, _ops

Lengths: TypeAlias = dict[Hashable, Any]
OfAll: TypeAlias = Iterator[tuple[Hashable, Lengths]]
_LENGTHS: dict[str, Any] = {"measure": "shortest_path_lengths", "enters": True}
_NO_NODE, _NO_TARGET = "Node {} not found in graph", "Target {} is not in G"
_ORDER = "method='bellman-ford': its order of the nodes is that of another algorithm"
_BOTH_ENDS = "NetworkX searches from both ends, which usually reaches fewer nodes"
_FARTHEST = 1e308  # an upper bound on path lengths; an int can have any number of digits
_ROWS, _ENTRIES, _WORK = 512, 2**24, 10**8  # sources, vertices and scanned arcs per call


@backend(**_LENGTHS, single=True, compiled=True)
def single_source_shortest_path_length(G: BackendGraph, source: Any, cutoff: Any) -> Lengths:
    return _from(G, G.vertex(source), None, _within(cutoff, math.ceil))


@backend(**_LENGTHS, single=True, compiled=True)
def single_target_shortest_path_length(G: BackendGraph, target: Any, cutoff: Any) -> Lengths:
    return _from(G, G.vertex(target, _NO_TARGET), None, _within(cutoff, math.ceil), True)


@backend(**_LENGTHS, compiled=True)
def all_pairs_shortest_path_length(G: BackendGraph, cutoff: Any) -> OfAll:
    return _from_all(G, None, _within(cutoff, math.ceil))


@backend(**_LENGTHS, single=True, compiled=True)
def single_source_dijkstra_path_length(
    G: BackendGraph, source: Any, cutoff: Any, weight: Hashable
) -> Lengths:
    rounded = math.floor if weight is None else float
    return _from(G, G.vertex(source, _NO_NODE), weight, _within(cutoff, rounded))


@backend(**_LENGTHS, compiled=True)
def all_pairs_dijkstra_path_length(G: BackendGraph, cutoff: Any, weight: Hashable) -> OfAll:
    return _from_all(G, weight, _within(cutoff, math.floor if weight is None else float))


@backend(**_LENGTHS, single=True)
def dijkstra_path_length(G: BackendGraph, source: Any, target: Any, weight: Hashable) -> Any:
    start = G.vertex(source, _NO_NODE)
    if source == target:
        return 0
    row = distance_rows(G.search(weight), start)[0]
    if target not in G or not (distance := row[G.vertex(target)]).isfinite():
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return G.numbers(distance, weight)[0]


@backend(
    **_LENGTHS, compiled=True,
    rules=[lambda weight, method: weight is not None and method == "bellman-ford" and _ORDER],
    slower=[lambda source, target, weight: weight is None and _both(source, target) and _BOTH_ENDS],
)  # fmt: skip
def shortest_path_length(
    G: BackendGraph, source: Any, target: Any, weight: Hashable, method: str
) -> Any:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    if source is None and target is None:
        return _from_all(G, weight, math.inf)
    if not _both(source, target):
        text = "Source {} is not in G" if weight is None else _NO_NODE
        backwards = source is None
        return _from(
            G, G.vertex(target if backwards else source, text), weight, backwards=backwards
        )
    if weight is not None:
        return dijkstra_path_length(G, source, target, weight)
    start, end = G.vertex(source), G.vertex(target, _NO_TARGET)
    hops = distance_rows(G.search(), start)[0, end]
    if not hops.isfinite():
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return int(hops)


def _both(source: Any, target: Any) -> bool:
    return source is not None and target is not None


def _within(cutoff: float | None, rounded: Callable[[float], float]) -> float:
    """The lengths up to a cutoff; the source itself is always included.

    NetworkX's queue continues while cutoff > level, so that the last level is rounded up.
    """
    return math.inf if cutoff is None or cutoff > _FARTHEST else rounded(max(cutoff, 0))


def _from(
    G: BackendGraph, start: Tensor, weight: Hashable, limit: float = math.inf,
    backwards: bool = False,
) -> Lengths:  # fmt: skip
    if weight is None:
        return next(_hops(G, start, limit, backwards))
    rows = distance_rows(G.search(weight, backwards=backwards), start)
    return next(_settled(G, rows, weight, limit, backwards))


def _from_all(G: BackendGraph, weight: Hashable, limit: float) -> OfAll:
    if weight is None:
        rows = _hops(G, torch.arange(len(G), device="cpu"), limit)
    else:
        blocks = row_blocks(G, weight)
        rows = (row for _, block in blocks for row in _settled(G, block, weight, limit))
    return zip(G.nodes, rows, strict=False)


def _hops(
    G: BackendGraph, sources: Tensor, limit: float, backwards: bool = False
) -> Iterator[Lengths]:
    """Hops from each source; nodes in the order in which NetworkX's queue reaches them."""
    n = len(G)
    graph = G.predecessors if backwards else G.adjacency
    levels = int(min(limit, n))
    at_once = max(1, min(_ROWS, _ENTRIES // n, _WORK // max(graph[1].numel(), 1)))
    for part in sources.split(at_once):
        order = torch.full((part.numel(), n), -1, dtype=torch.int32, device="cpu")
        depth = torch.empty_like(order)
        with threads() as number:
            _ops.ops.search_order(*graph, part, levels, order, depth, _codes.control(), number)
        counts = (order >= 0).sum(1).tolist()
        for vertices, hops, count in zip(order, depth, counts, strict=True):
            yield dict(zip(G.names(vertices[:count]), hops[:count].tolist(), strict=True))


def row_blocks(G: BackendGraph, weight: Hashable) -> Iterator[tuple[Tensor, Tensor]]:
    """All vertices and their distances to every vertex as in :func:`distance_rows`, in blocks."""
    graph = G.search(weight)
    if len(G) == 0:
        return
    with running(graph, ROWS):
        blocks: Any = shortest_path_lengths(graph, blocks=True)
    while True:
        with running(graph, ROWS):
            block = next(blocks, None)
        if block is None:
            return
        yield block[0], _far(block[1])


def distance_rows(graph: Graph, sources: Tensor) -> Tensor:
    """float64 [k, n] on the host, inf where there is no path."""
    with running(graph, ROWS):
        rows: Any = shortest_path_lengths(graph, sources=sources)
    return _far(rows)


def _far(rows: Tensor) -> Tensor:
    rows = rows.cpu()
    return rows.double().masked_fill_(rows < 0, torch.inf)


def _settled(
    G: BackendGraph, rows: Tensor, weight: Hashable, limit: float, backwards: bool = False
) -> Iterator[Lengths]:
    """Distances by row; nodes in the order in which NetworkX's heap releases them."""
    graph = G.predecessors if backwards else G.adjacency
    order = torch.empty(rows.shape, dtype=torch.int32, device="cpu")
    lengths = G.lengths(weight, backwards)
    with threads() as number:
        _ops.ops.length_order(*graph, lengths, rows, order, _codes.control(), number)
    for vertices, row in zip(order, rows, strict=True):
        vertex = vertices[vertices >= 0].long()
        distance = row[vertex]
        distance = distance[distance <= limit]
        nodes = G.names(vertex[: distance.numel()])
        yield dict(zip(nodes, G.numbers(distance, weight), strict=True))
