"""Eccentricity, derived measures, and the mean distance, with NetworkX's arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import torchcent
from torchcent import Graph
from torchcent.nx._config import DISTANCES, running
from torchcent.nx._declare import backend
from torchcent.nx._graph import BackendGraph

_NO_PATH = "Found infinite path length because the {} connected"
_NO_BOUNDS = "Cannot compute metric because graph is not connected."
_METHODS = (None, "unweighted", "dijkstra", "bellman-ford")


@backend(measure="eccentricity", engines=DISTANCES, least=1)
def eccentricity(G: BackendGraph, graph: Graph, v: Any, weight: Hashable) -> Any:
    nodes = list(dict.fromkeys(G.nbunch_iter(v)))
    if not nodes:
        return {}
    distances = torchcent.eccentricity(graph, vertices=None if v is None else G.vertices(nodes))
    if torch.isinf(distances).any():
        raise nx.NetworkXError(_disconnected(G))
    values = numbers(distances, G, weight)
    return values[0] if v in G else dict(zip(nodes, values, strict=True))


def _of_connected(measure: Callable[..., Tensor]) -> Callable[..., Any]:
    def extreme(G: BackendGraph, graph: Graph, usebounds: bool, weight: Hashable) -> Any:
        if not is_connected(graph):
            raise nx.NetworkXError(_disconnected(G, usebounds))
        result = measure(graph)  # a distance, or vertices
        return G.names(result) if result.ndim else numbers(result[None], G, weight)[0]

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


def numbers(distances: Tensor, G: BackendGraph, weight: Hashable) -> list[Any]:
    """Python ints where NetworkX returns ints: hops, sums of ints, and the distance to itself."""
    whole = weight is None or G.weight(weight).dtype == torch.int64
    return distances.long().tolist() if whole else [x or 0 for x in distances.double().tolist()]


def is_connected(graph: Graph) -> bool:
    """Whether vertex 0 and every other vertex reach each other."""
    return bool(torchcent.reachable(graph, 0).all()) and (
        graph.is_symmetric or bool(torchcent.reachable(graph.reversed(), 0).all())
    )


def _disconnected(G: BackendGraph, usebounds: bool = False) -> str:
    if G.is_directed():
        return _NO_PATH.format("digraph is not strongly")
    return _NO_BOUNDS if usebounds is True else _NO_PATH.format("graph is not")
