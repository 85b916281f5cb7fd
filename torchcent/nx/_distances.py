"""Eccentricity, derived measures, and the mean distance, with NetworkX's arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import networkx as nx
import torch
from torch import Tensor

import torchcent
from torchcent.nx._config import run_for_distances, running
from torchcent.nx._graph import BackendGraph

_NO_PATH = "Found infinite path length because the {} connected"
_NO_BOUNDS = "Cannot compute metric because graph is not connected."


def eccentricity(G: BackendGraph, v: Any = None, sp: None = None, weight: Hashable = None) -> Any:
    asked = list(dict.fromkeys(G.nbunch_iter(v)))
    if not asked:
        return {}
    graph = G.search(weight)
    vertices = (
        None if v is None else torch.tensor([G.arrays.number[node] for node in asked], device="cpu")
    )
    with running():
        found = torchcent.eccentricity(graph, vertices=vertices, run=run_for_distances(graph))
    if torch.isinf(found).any():
        raise nx.NetworkXError(_disconnected(G))
    values = numbers(found, G, weight)
    return values[0] if v in G else dict(zip(asked, values, strict=True))


def diameter(
    G: BackendGraph, e: None = None, usebounds: bool = False, weight: Hashable = None
) -> float:
    return _extreme(torchcent.diameter, G, usebounds, weight)


def radius(
    G: BackendGraph, e: None = None, usebounds: bool = False, weight: Hashable = None
) -> float:
    return _extreme(torchcent.radius, G, usebounds, weight)


def center(
    G: BackendGraph, e: None = None, usebounds: bool = False, weight: Hashable = None
) -> list[Hashable]:
    return _outermost(torchcent.center, G, usebounds, weight)


def periphery(
    G: BackendGraph, e: None = None, usebounds: bool = False, weight: Hashable = None
) -> list[Hashable]:
    return _outermost(torchcent.periphery, G, usebounds, weight)


def average_shortest_path_length(
    G: BackendGraph, weight: Hashable = None, method: str | None = None
) -> float:
    if len(G) == 1:
        return 0
    graph = G.search(None if method == "unweighted" else weight)
    with running():
        mean = torchcent.average_shortest_path_length(graph, run=run_for_distances(graph)).item()
    if math.isinf(mean):
        how = "strongly connected" if G.is_directed() else "connected"
        raise nx.NetworkXError(f"Graph is not {how}.")
    return mean


def numbers(distance: Tensor, G: BackendGraph, weight: Hashable) -> list[Any]:
    """Python ints where NetworkX returns ints: hops, sums of ints, and the distance to itself."""
    whole = weight is None or G.weight(weight).dtype == torch.int64
    return distance.long().tolist() if whole else [x or 0 for x in distance.double().tolist()]


def _extreme(
    measure: Callable[..., Tensor], G: BackendGraph, usebounds: bool, weight: Hashable
) -> float:
    found = _of_connected(measure, G, usebounds, weight)
    result: float = numbers(found[None], G, weight)[0]
    return result


def _outermost(
    measure: Callable[..., Tensor], G: BackendGraph, usebounds: bool, weight: Hashable
) -> list[Hashable]:
    return [G.nodes[i] for i in _of_connected(measure, G, usebounds, weight, False).tolist()]


def _of_connected(
    measure: Callable[..., Tensor], G: BackendGraph, usebounds: bool, weight: Hashable,
    scores: bool = True,
) -> Tensor:  # fmt: skip
    graph = G.search(weight)
    if not is_connected(graph):
        raise nx.NetworkXError(_disconnected(G, usebounds))
    with running():
        return measure(graph, run=run_for_distances(graph, scores))


def is_connected(graph: torchcent.Graph) -> bool:
    """Whether vertex 0 and every other vertex reach each other."""
    there = torchcent.reachable(graph, 0)
    return bool(there.all()) and (
        graph.is_symmetric or bool(torchcent.reachable(graph.reversed(), 0).all())
    )


def _disconnected(G: BackendGraph, usebounds: bool = False) -> str:
    if G.is_directed():
        return _NO_PATH.format("digraph is not strongly")
    return _NO_BOUNDS if usebounds is True else _NO_PATH.format("graph is not")
