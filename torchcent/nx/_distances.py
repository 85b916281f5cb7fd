"""Closeness, eccentricity, what derives from them, and the mean distance, as in NetworkX."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import torchcent
from torchcent import Graph
from torchcent.nx._closure import is_connected
from torchcent.nx._config import DISTANCES, device, running
from torchcent.nx._declare import backend
from torchcent.nx._graph import BackendGraph
from torchcent.nx._lengths import distance_rows
from torchcent.nx._sums import sums_of

_NO_PATH = "Found infinite path length because the {} connected"
_NO_BOUNDS = "Cannot compute metric because graph is not connected."
_METHODS = (None, "unweighted", "dijkstra", "bellman-ford")


@backend(measure="closeness", engines=DISTANCES)
def closeness_centrality(
    G: BackendGraph, graph: Graph, u: Hashable, weight: Hashable, wf_improved: bool
) -> Tensor | float:
    if u is None:
        return _closeness(graph, None, wf_improved)
    text = "Source {} is not in G" if weight is None else "Node {} not found in graph"
    return _closeness(graph, G.vertex(u, text), wf_improved).item()


@backend(
    measure="closeness",
    docs="Only with backend='torchcent', since NetworkX modifies the graph; this does not.",
    rules=[lambda prev_cc: prev_cc is None and "without prev_cc NetworkX leaves the graph changed"],
)
def incremental_closeness_centrality(
    G: BackendGraph,
    edge: Any,
    prev_cc: Mapping[Hashable, float],
    insertion: bool,
    wf_improved: bool,
) -> dict[Hashable, float]:
    if set(prev_cc.keys()) != set(G.nodes):
        raise nx.NetworkXError("prev_cc and G do not have the same nodes")
    ends, changed = _changed(G, edge, insertion)
    hops = distance_rows(G.search() if insertion else changed, ends.unique())
    one, other = hops[0], hops[-1]
    # Closer to both ends by more than a hop, or not connected with them: inf - inf is nan.
    affected = torch.nonzero(~((one - other).abs() <= 1)).flatten()
    scores = {node: prev_cc[node] for node in G.nodes}
    if affected.numel():
        with running(changed, DISTANCES):
            values = _closeness(changed, affected, wf_improved).tolist()
        scores.update(zip(G.names(affected), values, strict=True))
    return scores


@backend(measure="harmonic", engines=DISTANCES)
def harmonic_centrality(G: BackendGraph, graph: Graph, nbunch: Any, sources: Any) -> Any:
    nodes, start = set(G.nbunch_iter(nbunch)), set(G.nbunch_iter(sources))
    if not nodes or not start:
        return dict.fromkeys(nodes, 0)
    vertices = G.vertices(nodes)
    if len(start) < len(G):  # a sum over these alone, which torchcent.harmonic has not
        scores = sums_of(graph, "harmonic", G.vertices(start)).harmonic[vertices]
    elif len(nodes) < len(G):
        scores = torchcent.harmonic(graph, vertices=vertices)
    else:
        scores = torchcent.harmonic(graph).cpu()[vertices]
    return {node: score or 0 for node, score in zip(nodes, scores.tolist(), strict=True)}


@backend(measure="eccentricity", engines=DISTANCES, least=1)
def eccentricity(G: BackendGraph, graph: Graph, v: Any, weight: Hashable) -> Any:
    nodes = list(dict.fromkeys(G.nbunch_iter(v)))
    if not nodes:
        return {}
    distances = torchcent.eccentricity(graph, vertices=None if v is None else G.vertices(nodes))
    if torch.isinf(distances).any():
        raise nx.NetworkXError(_disconnected(G))
    values = G.numbers(distances, weight)
    return values[0] if v in G else dict(zip(nodes, values, strict=True))


def _of_connected(measure: Callable[..., Tensor]) -> Callable[..., Any]:
    def extreme(G: BackendGraph, graph: Graph, usebounds: bool, weight: Hashable) -> Any:
        if not is_connected(graph):
            raise nx.NetworkXError(_disconnected(G, usebounds))
        result = measure(graph)  # a distance, or vertices
        return G.names(result) if result.ndim else G.numbers(result[None], weight)[0]

    return extreme


for _measure in (torchcent.diameter, torchcent.radius, torchcent.center, torchcent.periphery):
    _name = _measure.__name__
    backend(_name, measure=_name, engines=DISTANCES, least=1)(_of_connected(_measure))


@backend(
    measure="average_shortest_path_length", least=1,
    rules=[lambda method: method not in _METHODS and f"method={method!r}: NetworkX's own"],
)  # fmt: skip
def average_shortest_path_length(G: BackendGraph, weight: Hashable, method: str | None) -> float:
    if len(G) == 1:
        return 0
    graph = G.search(None if method == "unweighted" else weight)
    with running(graph, DISTANCES):
        mean = torchcent.average_shortest_path_length(graph).item()
    if math.isinf(mean):
        how = "strongly connected" if G.is_directed() else "connected"
        raise nx.NetworkXError(f"Graph is not {how}.")
    return mean


def _disconnected(G: BackendGraph, usebounds: bool = False) -> str:
    if G.is_directed():
        return _NO_PATH.format("digraph is not strongly")
    return _NO_BOUNDS if usebounds is True else _NO_PATH.format("graph is not")


def _closeness(graph: Graph, vertices: Tensor | None, wf_improved: bool) -> Tensor:
    return torchcent.closeness(graph, wf_improved=bool(wf_improved), vertices=vertices)


def _changed(G: BackendGraph, edge: Any, insertion: bool) -> tuple[Tensor, Graph]:
    """The ends of an edge, and the graph with it or without one of those parallel to it."""
    arcs, (u, v) = G.arrays.edge_index(), edge
    if insertion:
        ends = torch.cat([G.vertex(u), G.vertex(v)])
        arcs = torch.cat([arcs, ends[:, None]], 1)
    else:
        there = u in G and v in G
        ends = G.vertices(edge) if there else torch.full((2,), -1, device="cpu")
        parallel = (arcs.sort(0).values == ends.sort().values[:, None]).all(0).nonzero()
        if not len(parallel):
            stop = "." if G.is_multigraph() else ""
            raise nx.NetworkXError(f"The edge {u}-{v} is not in the graph{stop}")
        arcs = torch.cat([arcs[:, : parallel[0]], arcs[:, parallel[0] + 1 :]], 1)
    return ends, Graph.from_edge_index(arcs, len(G), directed=False).to(device())
