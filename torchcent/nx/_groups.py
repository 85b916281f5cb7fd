"""Centrality of groups, with NetworkX's arguments and results."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

import networkx

import torchcent
from torchcent import Graph
from torchcent.nx._closure import nodes_connected
from torchcent.nx._declare import backend
from torchcent.nx._graph import BackendGraph

_BEFORE_3_7 = tuple(map(int, networkx.__version__.split(".")[:2])) < (3, 7)


def _no_groups(G: Any, groups: Any, argument: str) -> str | None:
    """Why this is no group (S), or neither a group nor several (C)."""
    if not isinstance(groups, Collection) or isinstance(groups, str):
        return f"{argument} must be a collection, got {type(groups).__name__}"
    try:
        if argument == "S" or any(node in G for node in groups):
            groups = [groups]
        sizes = [(len(group), {*group}) for group in groups]
    except TypeError:
        return f"{argument} holds what is no node"
    if not sizes or any(count == 0 or count > len(nodes) for count, nodes in sizes):
        return "a group is empty, or names a node more than once"
    there = all(node in G for _, nodes in sizes for node in nodes)
    return None if there else "a node is not in the graph"


def _departs(G: Any, C: Any, normalized: bool) -> str | None:
    largest = len(C) if any(node in G for node in C) else max(map(len, C))
    if largest > 2:
        return (
            "NetworkX divides counts of paths that avoid the first members of a group by counts of "
            "all paths, and departs from its formula for groups of three or more; "
            "torchcent.group_betweenness follows the formula"
        )
    if _BEFORE_3_7 and G.is_directed() and not nodes_connected(G):
        return (
            "the graph is not strongly connected, and NetworkX subtracts the wrong number of paths "
            "that end in the group, or fails; torchcent.group_betweenness follows the formula"
        )
    few = normalized and len(G) - largest < 2
    return "fewer than two nodes are outside of a group" if few else None


@backend(
    measure="group_betweenness", rules=[lambda G, C: _no_groups(G, C, "C"), _departs],
    docs="Groups of one or two nodes: for larger ones NetworkX departs from its own formula.",
)  # fmt: skip
def group_betweenness_centrality(
    G: BackendGraph, graph: Graph, C: Collection[Any], normalized: bool, endpoints: bool
) -> float | list[float]:
    single = any(node in G for node in C)
    groups = [G.vertices(group).tolist() for group in ([C] if single else C)]
    if not graph.scale.exact:
        raise NotImplementedError("sums of the weights are rounded, and NetworkX compares them")
    scores = torchcent.group_betweenness(
        graph, groups, normalized=bool(normalized), endpoints=bool(endpoints)
    )
    if normalized and endpoints and _BEFORE_3_7:  # which divides by the pairs outside of the group
        n = graph.num_nodes
        outside = scores.new_tensor([n - len(group) for group in groups])
        scores = scores * (n * (n - 1) / (outside * (outside - 1)))
    values: list[float] = scores.tolist()
    return values[0] if single else values


@backend(measure="group_closeness", single=True, rules=[lambda G, S: _no_groups(G, S, "S")])
def group_closeness_centrality(G: BackendGraph, graph: Graph, S: Collection[Hashable]) -> float:
    group = G.vertices(S).tolist()
    return torchcent.group_closeness(graph, group).item() or 0  # NetworkX has an int there
