"""Centrality of groups, with NetworkX's arguments and results."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

import networkx
import torch

import torchcent
from torchcent.check._run import Run, quiet
from torchcent.nx._config import running
from torchcent.nx._graph import BackendGraph, connected

_BEFORE_3_7 = tuple(map(int, networkx.__version__.split(".")[:2])) < (3, 7)


def group_betweenness_centrality(
    G: BackendGraph,
    C: Collection[Any],
    normalized: bool = True,
    weight: Hashable = None,
    endpoints: bool = False,
) -> float | list[float]:
    single = any(node in G for node in C)
    number = G.arrays.number
    groups = [[number[node] for node in group] for group in ([C] if single else C)]
    graph = G.search(weight)
    if not graph.scale.exact:
        raise NotImplementedError("sums of the weights are rounded, and NetworkX compares them")
    with running():
        scores = torchcent.group_betweenness(
            graph,
            groups,
            normalized=bool(normalized),
            endpoints=bool(endpoints),
            run=quiet() | Run(dtype=torch.float64),
        )
    if normalized and endpoints and _BEFORE_3_7:  # which divides by the pairs outside of the group
        n = graph.num_nodes
        outside = scores.new_tensor([n - len(group) for group in groups])
        scores = scores * (n * (n - 1) / (outside * (outside - 1)))
    found: Any = scores.tolist()
    result: float | list[float] = found[0] if single else found
    return result


def group_closeness_centrality(
    G: BackendGraph, S: Collection[Hashable], weight: Hashable = None
) -> float:
    group = [G.arrays.number[node] for node in S]
    with running():
        found = torchcent.group_closeness(G.search(weight), group, run=Run(dtype=torch.float64))
    return found.item() or 0  # NetworkX has an int there


def refusal(name: str, given: dict[str, Any]) -> str | None:
    """Why NetworkX has to compute this."""
    graph, argument = given["G"], "S" if name == "group_closeness_centrality" else "C"
    value = given[argument]
    if not isinstance(value, Collection) or isinstance(value, str):
        return f"{argument} must be a collection, got {type(value).__name__}"
    try:
        groups = [value] if argument == "S" or any(node in graph for node in value) else value
        sizes = [(len(group), {*group}) for group in groups]
    except TypeError:
        return f"{argument} holds what is no node"
    if not sizes or any(count == 0 or count > len(own) for count, own in sizes):
        return "a group is empty, or names a node more than once"
    if not all(node in graph for _, own in sizes for node in own):
        return "a node is not in the graph"
    if argument == "S":
        return None
    if max(count for count, _ in sizes) > 2:
        return (
            "NetworkX divides counts of paths that avoid the first members of a group by counts of "
            "all paths, and departs from its formula for groups of three or more; "
            "torchcent.group_betweenness follows the formula"
        )
    if _BEFORE_3_7 and graph.is_directed() and not connected(graph):
        return (
            "the graph is not strongly connected, and NetworkX subtracts the wrong number of paths "
            "that end in the group, or fails; torchcent.group_betweenness follows the formula"
        )
    if given["normalized"] and len(graph) - max(count for count, _ in sizes) < 2:
        return "fewer than two nodes are outside of a group"
    return None
