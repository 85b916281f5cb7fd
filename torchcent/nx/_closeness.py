"""Closeness and harmonic centrality, with NetworkX's arguments and results."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import networkx as nx
import torch

from torchcent import closeness
from torchcent.distances import _distance_sums
from torchcent.nx._config import distance_engine, running
from torchcent.nx._graph import BackendGraph


def closeness_centrality(
    G: BackendGraph,
    u: Hashable = None,
    distance: Hashable = None,
    wf_improved: bool = True,
    *,
    sp: None = None,
) -> Any:
    if u is not None and u not in G:
        raise nx.NodeNotFound(
            f"Source {u} is not in G" if distance is None else f"Node {u} not found in graph"
        )
    graph = G.search(distance)
    only = None if u is None else torch.tensor([G.arrays.number[u]], device="cpu")
    with running():
        score = closeness(
            graph, wf_improved=bool(wf_improved), vertices=only,
            dtype=torch.float64, engine=distance_engine(graph), progress=False,
        )  # fmt: skip
    assert isinstance(score, torch.Tensor)
    return dict(zip(G.nodes, score.tolist(), strict=True)) if u is None else score.item()


def harmonic_centrality(
    G: BackendGraph, nbunch: Any = None, distance: Hashable = None, sources: Any = None
) -> dict[Hashable, float]:
    asked = set(G.nbunch_iter(nbunch))
    beginnings = set(G.nbunch_iter(sources))
    if not asked or not beginnings:
        return dict.fromkeys(asked, 0)
    graph, number = G.search(distance), G.arrays.number
    vertices = torch.tensor([number[node] for node in asked], device="cpu")
    with running():
        request = _distance_sums.asked(
            "harmonic", graph, distance_engine(graph), None, False, torch.float64
        )
        if len(beginnings) < len(G):
            begin = torch.tensor([number[node] for node in beginnings], device=graph.device)
            total = _distance_sums.vertex_sums(graph, request, sources=begin).harmonic.cpu()[
                vertices
            ]
        elif len(asked) < len(G):
            total = _distance_sums.source_sums(graph, request, vertices.to(graph.device)).harmonic
        else:
            total = _distance_sums.vertex_sums(graph, request).harmonic.cpu()[vertices]
    return {node: score or 0 for node, score in zip(asked, total.tolist(), strict=True)}
