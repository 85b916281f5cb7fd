"""Closeness and harmonic centrality, with NetworkX's arguments and results."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from torchcent import Graph, closeness
from torchcent.distances import _distance_sums
from torchcent.nx._config import device, run_for_distances, running
from torchcent.nx._graph import BackendGraph
from torchcent.nx._lengths import distance_rows


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
    only = None if u is None else torch.tensor([G.arrays.number[u]], device="cpu")
    score = _closeness(G.search(distance), only, wf_improved)
    return dict(zip(G.nodes, score.tolist(), strict=True)) if u is None else score.item()


def incremental_closeness_centrality(
    G: BackendGraph, edge: tuple[Hashable, Hashable],
    prev_cc: Mapping[Hashable, float] | None = None, insertion: bool = True,
    wf_improved: bool = True,
) -> dict[Hashable, float]:  # fmt: skip
    assert prev_cc is not None
    if set(prev_cc.keys()) != set(G.nodes):
        raise nx.NetworkXError("prev_cc and G do not have the same nodes")
    ends = _ends_of(G, edge, insertion)
    changed = _changed(G, ends, insertion)
    hops = distance_rows(G.search() if insertion else changed, ends.unique())
    one, other = hops[0], hops[-1]
    # Closer to both ends by more than a hop, or not connected with them: inf - inf is nan.
    affected = torch.nonzero(~((one - other).abs() <= 1)).flatten()
    score = _closeness(changed, affected, wf_improved).tolist() if affected.numel() else []
    new = dict(zip(affected.tolist(), score, strict=True))
    return {node: new[i] if i in new else prev_cc[node] for i, node in enumerate(G.nodes)}


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
        request = _distance_sums.asked("harmonic", graph, run_for_distances(graph))
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


def _closeness(graph: Graph, vertices: Tensor | None, wf_improved: bool) -> Tensor:
    with running():
        score = closeness(
            graph,
            wf_improved=bool(wf_improved),
            vertices=vertices,
            run=run_for_distances(graph),
        )
    assert isinstance(score, Tensor)
    return score


def _ends_of(G: BackendGraph, edge: tuple[Hashable, Hashable], insertion: bool) -> Tensor:
    """The vertices of an edge, which must exist if it is to be deleted."""
    u, v = edge
    if insertion:
        for node in (u, v):
            if node not in G:
                raise nx.NodeNotFound(f"Source {node} is not in G")
    elif u not in G or v not in G or not _columns(G, u, v).numel():
        stop = "." if G.is_multigraph() else ""
        raise nx.NetworkXError(f"The edge {u}-{v} is not in the graph{stop}")
    return torch.tensor([G.arrays.number[u], G.arrays.number[v]], device="cpu")


def _columns(G: BackendGraph, u: Hashable, v: Hashable) -> Tensor:
    tail, head = G.arrays.edge_index()
    a, b = G.arrays.number[u], G.arrays.number[v]
    return torch.nonzero((tail == a) & (head == b) | (tail == b) & (head == a)).flatten()


def _changed(G: BackendGraph, ends: Tensor, insertion: bool) -> Graph:
    """The graph with the edge, or without one of those that are parallel to it."""
    arcs = G.arrays.edge_index()
    if insertion:
        arcs = torch.cat([arcs, ends[:, None]], 1)
    else:
        u, v = (G.nodes[i] for i in ends.tolist())
        keep = torch.ones(arcs.shape[1], dtype=torch.bool, device="cpu")
        keep[_columns(G, u, v)[0]] = False
        arcs = arcs[:, keep]
    return Graph.from_edge_index(arcs, len(G), directed=False).to(device())
