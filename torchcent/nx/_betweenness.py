"""Betweenness of nodes and edges, with NetworkX's arguments and results."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from torchcent import betweenness, edge_betweenness, percolation
from torchcent.nx._config import run_for_paths, running
from torchcent.nx._graph import BackendGraph


def betweenness_centrality(
    G: BackendGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Hashable = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Hashable, float]:
    graph = G.search(weight)
    with running():
        score = betweenness(
            graph,
            normalized=bool(normalized),
            endpoints=bool(endpoints),
            sources=_pivots(G, None if k == len(G) else k, seed),
            run=run_for_paths(graph),
        )
    return dict(zip(G.nodes, score.tolist(), strict=True))


def edge_betweenness_centrality(
    G: BackendGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Hashable = None,
    seed: Any = None,
) -> dict[tuple[Hashable, ...], float]:
    graph = G.search(weight)
    with running():
        score = edge_betweenness(
            graph,
            normalized=bool(normalized),
            sources=_pivots(G, k, seed),
            run=run_for_paths(graph),
        )
    return _per_edge(G, score, weight)


def betweenness_centrality_subset(
    G: BackendGraph,
    sources: Iterable[Hashable],
    targets: Iterable[Hashable],
    normalized: bool = False,
    weight: Hashable = None,
) -> dict[Hashable, float]:
    graph = G.search(weight)
    ends = _ends(G, sources, targets)
    if ends is None:
        return dict.fromkeys(G.nodes, 0.0)
    with running():
        score = betweenness(
            graph,
            normalized=bool(normalized),
            sources=ends[0],
            targets=ends[1],
            run=run_for_paths(graph),
        )
    return dict(zip(G.nodes, score.tolist(), strict=True))


def edge_betweenness_centrality_subset(
    G: BackendGraph,
    sources: Iterable[Hashable],
    targets: Iterable[Hashable],
    normalized: bool = False,
    weight: Hashable = None,
) -> dict[tuple[Hashable, ...], float]:
    graph = G.search(weight)
    ends = _ends(G, sources, targets)
    if ends is None:
        return dict.fromkeys(G.edges(), 0.0)
    with running():
        score = edge_betweenness(
            graph,
            normalized=bool(normalized),
            sources=ends[0],
            targets=ends[1],
            run=run_for_paths(graph),
        )
    return _per_edge(G, score, weight)


def percolation_centrality(
    G: BackendGraph,
    attribute: Hashable = "percolation",
    states: Mapping[Hashable, float] | None = None,
    weight: Hashable = None,
) -> dict[Hashable, float]:
    if states is None:
        states = G.states(attribute)
    if len(G) < 3 or len(states) != len(G) or any(node not in states for node in G):
        raise NotImplementedError("torchcent needs three nodes and more, and a state for each")
    graph = G.search(weight)
    with running():
        score = percolation(
            graph,
            states=torch.tensor([float(states[node]) for node in G], dtype=torch.float64),
            run=run_for_paths(graph),
        )
    return dict(zip(G.nodes, score.tolist(), strict=True))


def _pivots(G: BackendGraph, k: int | None, seed: Any) -> Tensor | None:
    """Draws pivots as NetworkX does, so that a seed gives the same pivots."""
    if k is None:
        return None
    drawn = nx.utils.create_py_random_state(seed).sample(G.nodes, k)
    return torch.tensor([G.arrays.number[node] for node in drawn], device="cpu")


def _ends(
    G: BackendGraph, sources: Iterable[Hashable], targets: Iterable[Hashable]
) -> tuple[Tensor, Tensor] | None:
    """Vertices of the sources and targets; None if either is empty.

    As in NetworkX, an unknown source raises KeyError, and an unknown target is ignored.
    """
    number = G.arrays.number
    begin = [number[node] for node in sources]
    end = {number[node] for node in targets if node in number}
    return (
        (torch.tensor(begin, device="cpu"), torch.tensor(sorted(end), device="cpu"))
        if begin and end
        else None
    )


def _per_edge(G: BackendGraph, score: Tensor, weight: Hashable) -> dict[Any, float]:
    """Scores per edge. In a multigraph, the shortest parallel edges share a score; others get 0."""
    if G.is_multigraph():
        graph = G.search(weight)
        shortest = graph.slot >= 0
        if weight is not None and graph.weight is not None:
            shortest[shortest.clone()] = (
                G.weight(weight).to(graph.device)[shortest] == graph.weight[graph.slot[shortest]]
            )
        slot = graph.slot[shortest]
        sharing = torch.bincount(slot, minlength=graph.num_slots)
        share = torch.zeros_like(score)
        share[shortest] = score[shortest] / sharing[slot]
        score = share
    return dict(zip(G.edges(), score.tolist(), strict=True))
