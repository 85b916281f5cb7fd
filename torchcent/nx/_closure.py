"""The transitive closure as a graph, with NetworkX's result type."""

from __future__ import annotations

from itertools import repeat

import networkx as nx
import torch

import torchcent
from torchcent.nx._graph import BackendGraph

_ROWS = 512


def transitive_closure(G: BackendGraph, reflexive: bool | None = False) -> nx.Graph:
    result = G.to_networkx()
    closure = torchcent.transitive_closure(G.search(), reflexive=reflexive, progress=False)
    for part in torch.arange(len(G), device="cpu").split(_ROWS):
        for vertex, row in zip(part.tolist(), closure._rows(part).cpu(), strict=True):
            node = G.nodes[vertex]
            known = result[node]
            reached = map(G.nodes.__getitem__, torch.nonzero(row).flatten().tolist())
            new = [other for other in reached if other not in known]
            result.add_edges_from(zip(repeat(node), new, strict=False))
    return result
