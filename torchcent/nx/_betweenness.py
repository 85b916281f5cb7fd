"""Betweenness of nodes and edges, with NetworkX's arguments and results."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from torchcent import betweenness, edge_betweenness, percolation
from torchcent.graph import Graph
from torchcent.nx._config import PATHS
from torchcent.nx._declare import backend
from torchcent.nx._graph import BackendGraph

_EXACT = "Paths are counted in float64; ties are exact, as in NetworkX."


def _departs(G: Any, targets: Iterable[Hashable]) -> bool | str:
    return not set(G) <= set(targets) and (
        "NetworkX splits the dependency of a node that is no target evenly over its predecessors, "
        "not by path counts as its formula says; torchcent.edge_betweenness(sources=, targets=) "
        "follows the formula"
    )


@backend("betweenness_centrality_subset", measure="betweenness", docs=_EXACT, engines=PATHS)
@backend(measure="betweenness", docs=_EXACT, engines=PATHS)
def betweenness_centrality(
    G: BackendGraph, graph: Graph, normalized: bool, endpoints: bool = False,
    k: int | None = None, seed: Any = None, sources: Any = None, targets: Any = None,
) -> Tensor:  # fmt: skip
    ends = _ends(G, None if k == len(G) else k, seed, sources, targets)
    if ends is None:
        return torch.zeros(len(G), dtype=torch.float64, device="cpu")
    return betweenness(graph, normalized=bool(normalized), endpoints=bool(endpoints), **ends)


@backend(
    "edge_betweenness_centrality_subset", measure="edge_betweenness", engines=PATHS,
    docs="Only where every node is a target: elsewhere NetworkX departs from its own formula.",
    rules=[_departs],
)  # fmt: skip
@backend(measure="edge_betweenness", docs=_EXACT, engines=PATHS)
def edge_betweenness_centrality(
    G: BackendGraph, graph: Graph, normalized: bool, weight: Hashable,
    k: int | None = None, seed: Any = None, sources: Any = None, targets: Any = None,
) -> dict[Any, float]:  # fmt: skip
    ends = _ends(G, k, seed, sources, targets)
    if ends is None:
        return dict.fromkeys(G.edges(), 0.0)
    scores = edge_betweenness(graph, normalized=bool(normalized), **ends)
    return _by_edge(G, graph, scores, weight)


@backend(measure="percolation", docs=_EXACT, engines=PATHS)
def percolation_centrality(
    G: BackendGraph, graph: Graph, attribute: Hashable, states: Mapping[Hashable, float] | None
) -> Tensor:
    if states is None:
        states = G.states(attribute)
    if len(G) < 3 or len(states) != len(G) or any(node not in states for node in G):
        raise NotImplementedError("torchcent needs three nodes and more, and a state for each")
    values = torch.tensor([float(states[node]) for node in G], dtype=torch.float64, device="cpu")
    return percolation(graph, states=values)


def _ends(
    G: BackendGraph, k: int | None, seed: Any, sources: Any, targets: Any
) -> dict[str, Any] | None:
    """Sources and targets as vertices, or None if there are none of either.

    As in NetworkX, pivots are those of the seed, an unknown source raises KeyError, and an unknown
    target is ignored.
    """
    if sources is None:
        if k is None:
            return {}
        return {"sources": G.vertices(nx.utils.create_py_random_state(seed).sample(G.nodes, k))}
    start, end = G.vertices(sources), G.vertices({node for node in targets if node in G})
    return {"sources": start, "targets": end.sort().values} if len(start) and len(end) else None


def _by_edge(G: BackendGraph, graph: Graph, scores: Tensor, weight: Hashable) -> dict[Any, float]:
    """By edge. In a multigraph, the shortest parallel edges share a score; others get 0."""
    if G.is_multigraph():
        shortest = graph.slot >= 0
        if weight is not None and graph.weight is not None:
            shortest[shortest.clone()] = (
                G.weight(weight).to(graph.device)[shortest] == graph.weight[graph.slot[shortest]]
            )
        slot = graph.slot[shortest]
        sharing = torch.bincount(slot, minlength=graph.num_slots)
        share = torch.zeros_like(scores)
        share[shortest] = scores[shortest] / sharing[slot]
        scores = share
    return dict(zip(G.edges(), scores.tolist(), strict=True))
