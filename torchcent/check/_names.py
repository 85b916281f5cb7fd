"""What a name is called here: errors about arguments and functions of other libraries."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterable
from types import ModuleType
from typing import NoReturn

#: arguments of other libraries, and what they are here; "" where it is only for the Run
_ARGUMENTS = {
    "weight": ("edge_weight", "edge_weight= names the weights of the edges, or holds them"),
    "weights": ("edge_weight", "edge_weight= names the weights of the edges, or holds them"),
    "weighted": ("edge_weight", "edge_weight=True takes the weights of the edges"),
    "distance": ("edge_weight", "edge_weight= names the lengths of the edges, or holds them"),
    "k": ("sources", "sources=k draws k vertices from which paths count"),
    "seed": ("generator", "generator=torch.Generator().manual_seed(seed)"),
    "pivots": ("sources", "sources= takes the pivots, or their number"),
    "normalised": ("normalized", "normalized="),
    "nodes": ("vertices", "vertices="),
    "nbunch": ("vertices", "vertices="),
    "cutoffs": ("cutoff", "cutoff= takes one or several"),
    "num_vertices": ("num_nodes", "num_nodes="),
    "G": ("edge_index", "the graph is the first argument, edge_index="),
    "graph": ("edge_index", "the graph is the first argument, edge_index="),
    "n_jobs": ("run", "run=torchcent.Run(threads=...)"),
    "num_threads": ("run", "run=torchcent.Run(threads=...)"),
}
_OF_RUN = (
    "engine", "reduce", "memory", "progress", "checkpoint", "devices", "group", "threads", "dtype",
)  # fmt: skip
#: functions of other libraries under names that no rule derives
_FUNCTIONS = {
    "betweenness_centrality_subset": "betweenness(graph, sources=..., targets=...)",
    "edge_betweenness_centrality": "edge_betweenness(graph)",
    "degree_centrality": "degree(graph, normalized=True)",
    "average_clustering": "clustering_coefficient(graph).mean()",
    "girvan_newman": "communities_by_betweenness(graph)",
    "all_pairs_shortest_path_length": "shortest_path_lengths(graph)",
    "single_source_shortest_path_length": "shortest_path_lengths(graph, sources=...)",
    "shortest_path_length": "shortest_path(graph, source, target).length",
    "dijkstra_path": "shortest_path(graph, source, target, edge_weight=...)",
    "subgraph": "Graph.subgraph(vertices)",
    "largest_component": "Graph.largest_component()",
    "from_networkx": "Graph.from_networkx(graph)",
    "to_networkx": "Graph.to_networkx()",
    "read_edgelist": "read(path)",
    "read_graphml": "read(path)",
    "read_gml": "read(path)",
    "read_csv": "read(path)",
    "load": "Graph.load(path), or torchcent.read(path)",
    "markov_clustering": "mcl(graph)",
}


#: modules that have the name of a theme, and what is called instead
_MODULES = {
    "approx": "betweenness_approx(graph)",
    "cluster_plot": "cluster_plot.plot_clusterings(clusterings, graph, path=...)",
    "clustering": "mcl(graph)",
    "communities": "leiden(graph), communities_by_betweenness(graph)",
    "curvature": "forman_curvature(graph), ollivier_ricci_curvature(graph)",
    "diffusion": "personalized_pagerank(graph, top_k=...), heat_kernel(graph, top_k=...)",
    "distances": "shortest_path_lengths(graph), distance_profile(graph)",
    "encodings": "laplacian_encoding(graph, k=...), heat_kernel_encoding(graph, times=...)",
    "flow": "current_flow_betweenness(graph), current_flow_closeness(graph)",
    "generate": "generate.er(n, p), generate.ba(n, m)",
    "graph": "Graph.from_edge_index(edge_index), Graph.from_networkx(graph)",
    "groups": "group_betweenness(graph, group), prominent_group(graph, k)",
    "patterns": "substructure_counts(graph), wl_colors(graph)",
    "pairs": "shortest_path_pairs(graph), shortest_path_lengths(graph)",
    "paths": "shortest_path(graph, source, target), betweenness(graph)",
    "plot": "plot.plot_network(graph), plot.plot_scores(graph, scores, path=...)",
    "streets": "read_streets(path), accessibility(graph, edge_weight)",
    "walks": "pagerank(graph), random_walk_encoding(graph, walk_length=...)",
}


class _Theme(ModuleType):
    """A module that says what to call instead of it."""

    def __call__(self, *_: object, **__: object) -> NoReturn:
        calls = _MODULES[self.__name__.removeprefix("torchcent.")].split("), ")
        hint = "), ".join(f"torchcent.{call}" for call in calls)
        raise TypeError(f"{self.__name__} is a module, not a function; there is {hint}")


def name_functions() -> None:
    """Lets all modules of a theme that are imported say what to call instead of them."""
    for name in _MODULES:
        if (module := sys.modules.get(f"torchcent.{name}")) is not None:
            module.__class__ = _Theme


class UnknownArgument(TypeError, ValueError):
    """A function has no argument of this name.

    A TypeError, as Python raises it, and a ValueError, as of every name that a function does not
    know.
    """


def unknown_argument(function: str, name: str, known: Collection[str]) -> UnknownArgument:
    place, hint = _ARGUMENTS.get(name, ("", ""))
    if name in _OF_RUN and "run" in known:
        place, hint = "run", f"run=torchcent.Run({name}=...)"
    if place not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"{near[0]}=?" if near else f"accepted: {', '.join(known)}"
    return UnknownArgument(f"{function}() has no argument {name!r}; {hint}")


def unknown_function(name: str, known: Iterable[str]) -> AttributeError:
    """torchcent has nothing of this name."""
    names = [each for each in known if not each.startswith("_")]
    plain = name.removesuffix("_centrality").removesuffix("_centralities")
    hint = ""
    if name in _FUNCTIONS:
        hint = f"; torchcent.{_FUNCTIONS[name]}"
    elif plain != name and plain in names:
        hint = f"; torchcent.{plain}(graph) is what it is called here"
    elif near := difflib.get_close_matches(name, names, 3):
        hint = f"; there is {', '.join(f'torchcent.{each}' for each in near)}"
    return AttributeError(f"module 'torchcent' has no attribute {name!r}{hint}")
