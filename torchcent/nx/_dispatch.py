"""can_run and should_run: NetworkX's queries before a call, answered with reasons."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from torchcent.graph import _networkx
from torchcent.nx import _cache, _flow, _groups
from torchcent.nx._graph import BackendGraph, as_networkx_reads, edge_lengths
from torchcent.runtime import _ops

_SINGLE = {
    "ancestors", "descendants", "dijkstra_path_length", "group_closeness_centrality",
    "local_reaching_centrality",
    "single_source_dijkstra_path_length", "single_source_shortest_path_length",
    "single_target_shortest_path_length",
}  # fmt: skip
_NEEDS_NODES = {
    "average_shortest_path_length", "barycenter", "center", "centroid", "diameter", "eccentricity",
    "gutman_index", "hyper_wiener_index", "local_efficiency", "periphery", "radius",
    "schultz_index", "wiener_index",
}  # fmt: skip
_COMPILED = {
    "all_pairs_dijkstra_path_length", "all_pairs_shortest_path_length",
    "edge_betweenness_partition", "girvan_newman", "shortest_path_length",
    "single_source_dijkstra_path_length", "single_source_shortest_path_length",
    "single_target_shortest_path_length",
}  # fmt: skip
_COMMUNITIES = {"edge_betweenness_partition", "girvan_newman"}
# Arguments that leave nothing to search, that write to the graph, or that are functions of it.
_OTHERS = {
    "sp": "there is nothing to search", "e": "there is nothing to search",
    "paths": "there is nothing to search", "attr": "NetworkX writes it to the nodes",
    "most_valuable_edge": "it is called with a NetworkX graph",
}  # fmt: skip
# Functions of walks -> the default of max_iter.
_WALKS = {
    "clustering": 0, "core_number": 0, "eigenvector_centrality": 100, "hits": 100,
    "katz_centrality": 1000, "pagerank": 100, "subgraph_centrality": 0, "triangles": 0,
}  # fmt: skip
_UNDIRECTED = {"subgraph_centrality", "triangles"}
_MULTIGRAPHS = {"hits", "pagerank"}  # NetworkX refuses them in the others
# To these an edge of weight 0 is none, as in NetworkX.
_STRENGTHS = {"eigenvector_centrality", "hits", "katz_centrality", "pagerank"}
_METHODS = (None, "unweighted", "dijkstra", "bellman-ford")
# Below this number of nodes x edges, the overhead of a call exceeds the search time of NetworkX
# (benchmarks/networkx_backend.py --small).
_SMALL = 10_000
# Where it is another number: they search many times, in many small graphs, or NetworkX uses NumPy.
_SMALL_FOR = {
    "edge_betweenness_partition": 50, "girvan_newman": 50,
    "local_efficiency": 50_000, "floyd_warshall_numpy": 300_000,
}  # fmt: skip


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or the reason why torchcent cannot compute this. Does not consume the arguments."""
    try:
        given = _arguments(name, args, kwargs)
    except TypeError as error:
        return str(error)
    if (reason := _refusal(name, given)) is not None:
        return reason
    _cache.warn_once(given["G"], _weight(given))
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or the reason why NetworkX itself is faster."""
    given = _arguments(name, args, kwargs)
    graph = given["G"]
    if isinstance(graph, BackendGraph):
        return True
    one = name in _SINGLE or any(given.get(x) is not None for x in ("u", "source", "target"))
    if one and not _cache.holds(graph, _weight(given)):
        return "one search takes NetworkX no longer than the graph takes to convert"
    pair = given.get("source") is not None and given.get("target") is not None
    if name == "shortest_path_length" and given["weight"] is None and pair:
        return "NetworkX searches from both ends, which usually reaches fewer nodes"
    n, small = len(graph), _SMALL_FOR.get(name, _SMALL)
    if not one and n < small and n * graph.number_of_edges() < small:
        return "the graph is so small that NetworkX is faster"
    return True


def _arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    bound = _signature(name).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(getattr(sys.modules["torchcent.nx"], name))


def _weight(given: dict[str, Any]) -> Any:
    return given.get("weight", given.get("distance"))


def _refusal(name: str, given: dict[str, Any]) -> str | None:
    graph = given["G"]
    for argument, why in _OTHERS.items():
        if given.get(argument) is not None:
            return f"{argument} is given: {why}"
    if name in _NEEDS_NODES and len(graph) == 0:
        return "the graph has no nodes"
    if name == "average_shortest_path_length" and given["method"] not in _METHODS:
        return f"method={given['method']!r}: NetworkX's own"
    if name in _COMPILED and not _ops.available:
        return "this needs the compiled library"
    if (reason := _special(name, given)) is not None:
        return reason
    if name.startswith("group_") and (reason := _groups.refusal(name, given)) is not None:
        return reason
    reflexive = given.get("reflexive")
    if reflexive is not None and not isinstance(reflexive, bool):
        return f"reflexive must be True, False or None, got {reflexive!r}"
    if name in _WALKS and (reason := _walk(name, given)) is not None:
        return reason
    for rule in (_pivots, _ends, _cutoff):
        if (reason := rule(given)) is not None:
            return reason
    if (reason := _lengths(given, zeros=name in _STRENGTHS)) is not None:
        return reason
    if name in _flow.LEAST_NODES and (reason := _flow.refusal(name, given)) is not None:
        return reason
    if name == "edge_betweenness_centrality_subset" and not set(graph) <= set(given["targets"]):
        return (
            "NetworkX splits the dependency of a node that is no target evenly over its "
            "predecessors, not by path counts as its formula says; "
            "torchcent.edge_betweenness(sources=, targets=) follows the formula"
        )
    return None


def _special(name: str, given: dict[str, Any]) -> str | None:
    """What only some functions refuse."""
    graph, weight = given["G"], _weight(given)
    if name in _COMMUNITIES:
        if graph.is_multigraph():
            return "parallel edges: NetworkX removes them one by one"
        if weight is not None:
            return "weights: the edges to remove depend on the rounding of NetworkX's sums"
        if graph.is_directed() and (name != "girvan_newman" or graph.number_of_edges() == 0):
            return "the graph is directed, and NetworkX has no components of it"
    if name == "shortest_path_length" and weight is not None and given["method"] == "bellman-ford":
        return "method='bellman-ford': its order of the nodes is that of another algorithm"
    if "reaching" in name and weight is not None:
        return "weights: the result depends on which of several equal paths NetworkX takes"
    tree = not graph.is_directed() and graph.number_of_edges() == len(graph) - 1
    if name in ("barycenter", "centroid") and weight is None and tree:
        return "the graph may be a tree, for which NetworkX has a linear algorithm"
    if name in ("schultz_index", "gutman_index") and "weight" in graph:
        return "a node is called 'weight', which NetworkX takes for an argument"
    if name == "incremental_closeness_centrality" and given["prev_cc"] is None:
        return "without prev_cc NetworkX leaves the graph changed"
    nodes = given.get("nodelist")
    if nodes is not None and not (len(nodes) == len(graph) and set(nodes) == set(graph)):
        return "nodelist must hold every node once"
    return None


def _walk(name: str, given: dict[str, Any]) -> str | None:
    graph = given["G"]
    for argument in ("nodes", "nstart"):
        if given.get(argument) is not None:
            return f"{argument} is given: NetworkX's own"
    if given.get("max_iter", 0) != _WALKS[name]:
        return "max_iter is given: NetworkX's own iteration"
    if name == "hits" and given["normalized"] is not True:
        return "normalized must be True"
    if name == "hits" and given["method"] != "power_iteration":  # from NetworkX 3.7
        return f"method={given['method']!r}: NetworkX's own"
    if name == "subgraph_centrality" and given["normalized"] is not False:
        return "normalized must be False"
    if graph.is_multigraph() and name not in _MULTIGRAPHS:
        return f"{name} is not for multigraphs"
    if name in _UNDIRECTED and graph.is_directed():
        return f"{name} is for undirected graphs"
    if name in ("eigenvector_centrality", "hits") and graph.number_of_edges() == 0:
        return "the graph has no edges"
    if name == "core_number" and any(edge[0] == edge[1] for edge in graph.edges()):
        return "the graph has self-loops, which NetworkX refuses"
    of_networkx = not isinstance(graph, BackendGraph)
    if name == "subgraph_centrality" and of_networkx and _has_zeros(graph):
        return "some edges have a weight of 0, and NetworkX leaves them out"
    for argument in ("personalization", "dangling", "beta"):
        if (reason := _masses(graph, given.get(argument), argument)) is not None:
            return reason
    return None


def _has_zeros(graph: Any) -> bool:
    return any(weight == 0 for *_, weight in graph.edges(data="weight"))


def _masses(graph: Any, values: Any, argument: str) -> str | None:
    """Why these are no numbers of nodes that torchcent takes."""
    if values is None:
        return None
    if argument == "beta" and not isinstance(values, Mapping):
        values = {"beta": values}
    elif not isinstance(values, Mapping) or not set(values) <= set(graph):
        return f"{argument} must be a dictionary of nodes"
    elif argument == "beta" and len(values) < len(graph):
        return "beta lacks nodes"
    try:
        numbers = [float(x) for x in values.values()]
    except (TypeError, ValueError):
        return f"{argument} holds what is no number"
    if not all(0 <= x < math.inf for x in numbers) or not sum(numbers) > 0:
        return f"{argument} must be finite and >= 0, and not all 0"
    return None


def _pivots(given: dict[str, Any]) -> str | None:
    k = given.get("k")
    if k is None or (isinstance(k, int) and not isinstance(k, bool) and 1 <= k <= len(given["G"])):
        return None
    return f"k must be 1 to the number of nodes, got {k!r}"


def _ends(given: dict[str, Any]) -> str | None:
    if "targets" not in given:
        return None
    for name in ("sources", "targets"):
        if not isinstance(given[name], Collection):
            return f"{name} must be a collection, got {type(given[name]).__name__}"
    try:
        (count, sources), _ = ((len(x), {*x}) for x in (given["sources"], given["targets"]))
        if len(sources) < count:
            return "sources names a node more than once"
    except Exception:  # any error of a collection that cannot be iterated, such as a nested tensor
        return "sources or targets holds what is no node"
    return None


def _cutoff(given: dict[str, Any]) -> str | None:
    cutoff = given.get("cutoff")
    if cutoff is None or (isinstance(cutoff, (int, float)) and cutoff == cutoff):
        return None
    return f"cutoff must be a number, got {cutoff!r}"


def _lengths(given: dict[str, Any], zeros: bool) -> str | None:
    """Why these weights are not those of torchcent; with `zeros` they may be 0."""
    graph, weight = given["G"], _weight(given)
    if callable(weight):
        return "lengths of edges must be an attribute, not a function"
    made = graph if isinstance(graph, BackendGraph) else _cache.held(graph, weight)
    try:
        if made is None:
            read = as_networkx_reads(graph, *([] if weight is None else [weight]))
            if weight is not None:
                edge_lengths(read, _networkx.arrays(read), weight, zeros=zeros)
        elif weight is None:
            return None
        elif not zeros and made.has_zeros(weight):
            return f"the edges' attribute {weight!r} must be finite and > 0, and one is 0"
        else:
            made.weight(weight)
    except NotImplementedError as error:
        return str(error)
    return None
