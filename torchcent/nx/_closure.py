"""Reachability: the transitive closure as a NetworkX graph, and the nodes before and after one."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import repeat

import networkx as nx
import torch

import torchcent
from torchcent.check._run import quiet
from torchcent.nx._graph import BackendGraph

_ROWS = 512


def transitive_closure(G: BackendGraph, reflexive: bool | None = False) -> nx.Graph:
    result = G.to_networkx()
    closure = torchcent.transitive_closure(G.search(), reflexive=reflexive, run=quiet())
    for part in torch.arange(len(G), device="cpu").split(_ROWS):
        for vertex, row in zip(part.tolist(), closure._rows(part).cpu(), strict=True):
            node = G.nodes[vertex]
            known = result[node]
            reached = map(G.nodes.__getitem__, torch.nonzero(row).flatten().tolist())
            new = [other for other in reached if other not in known]
            result.add_edges_from(zip(repeat(node), new, strict=False))
    return result


def descendants(G: BackendGraph, source: Hashable) -> set[Hashable]:
    return _reached(G, G.search(), source)


def ancestors(G: BackendGraph, source: Hashable) -> set[Hashable]:
    return _reached(G, G.search().reversed() if G.is_directed() else G.search(), source)


def _reached(G: BackendGraph, graph: torchcent.Graph, source: Hashable) -> set[Hashable]:
    if source not in G:
        what = "digraph" if G.is_directed() else "graph"
        raise nx.NetworkXError(f"The node {source} is not in the {what}.")
    there = torchcent.reachable(graph, G.arrays.number[source])
    found = {G.nodes[i] for i in torch.nonzero(there).flatten().tolist()}
    return found - {source}
