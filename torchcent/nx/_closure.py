"""Reachability: the transitive closure, the nodes before and after one, and connectivity."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import repeat
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse.csgraph
import torch

import torchcent
from torchcent import Graph
from torchcent.nx._declare import backend
from torchcent.nx._graph import BackendGraph

_ROWS = 512


def _reflexive(reflexive: object) -> str | None:
    if reflexive is None or isinstance(reflexive, bool):
        return None
    return f"reflexive must be True, False or None, got {reflexive!r}"


@backend(measure="transitive_closure", docs="Returns a NetworkX graph.", rules=[_reflexive])
def transitive_closure(G: BackendGraph, graph: Graph, reflexive: bool | None) -> nx.Graph:
    result = G.to_networkx()
    closure = torchcent.transitive_closure(graph, reflexive=reflexive)
    for part in torch.arange(len(G), device="cpu").split(_ROWS):
        for node, row in zip(G.names(part), closure._rows(part).cpu(), strict=True):
            adjacent = result[node]
            new = [
                other for other in G.names(torch.nonzero(row).flatten()) if other not in adjacent
            ]
            result.add_edges_from(zip(repeat(node), new, strict=False))
    return result


@backend(measure="reachable", single=True)
def descendants(G: BackendGraph, graph: Graph, source: Hashable) -> set[Hashable]:
    return _reached(G, graph, source)


@backend(measure="reachable", single=True)
def ancestors(G: BackendGraph, source: Hashable) -> set[Hashable]:
    return _reached(G, G.search(backwards=True), source)


def _reached(G: BackendGraph, graph: Graph, source: Hashable) -> set[Hashable]:
    if source not in G:
        what = "digraph" if G.is_directed() else "graph"
        raise nx.NetworkXError(f"The node {source} is not in the {what}.")
    reached = torchcent.reachable(graph, G.arrays.number[source])
    return {*G.names(torch.nonzero(reached).flatten())} - {source}


def is_connected(graph: Graph) -> bool:
    """Whether vertex 0 and every other vertex reach each other."""
    return bool(torchcent.reachable(graph, 0).all()) and (
        graph.is_symmetric or bool(torchcent.reachable(graph.reversed(), 0).all())
    )


def nodes_connected(G: Any) -> bool:
    """The same of the nodes of a graph of either kind, without a call that NetworkX dispatches."""
    if isinstance(G, BackendGraph):
        return is_connected(G.search())
    number = {node: i for i, node in enumerate(G)}
    ends = np.array([[number[x] for x in edge[:2]] for edge in G.edges()]).reshape(-1, 2)
    matrix = scipy.sparse.coo_array((np.ones(len(ends)), tuple(ends.T)), (len(number),) * 2)
    parts, _ = scipy.sparse.csgraph.connected_components(
        matrix, directed=G.is_directed(), connection="strong"
    )
    return bool(parts == 1)
