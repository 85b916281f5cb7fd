"""Views and subclasses of NetworkX graphs: what is read of them, and where it is no one graph.

A plain graph keeps one dictionary of attributes per edge, and both its ends lead to it. A view (of
a subgraph, of a directed graph as an undirected one, reversed, ...) computes its adjacency from
that of another graph whenever it is read. A subclass may do anything.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

_KINDS = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")
#: What the structure is read with. A class with its own may not be what its adjacency says.
_STRUCTURE = frozenset({
    "_adj", "_succ", "_pred", "_node", "adj", "succ", "pred", "nodes", "edges", "out_edges",
    "neighbors", "successors", "predecessors", "adjacency", "get_edge_data", "has_edge",
    "has_node", "nbunch_iter", "is_multigraph", "__iter__", "__len__", "__contains__",
    "__getitem__", "order", "number_of_nodes", "number_of_edges", "size",
})  # fmt: skip
#: What NetworkX's algorithms call besides.
_ALGORITHMS = frozenset({
    "degree", "in_degree", "out_degree", "in_edges", "is_directed", "has_successor",
    "has_predecessor", "copy", "subgraph", "edge_subgraph", "reverse", "to_directed",
    "to_undirected", "to_directed_class", "to_undirected_class",
})  # fmt: skip
#: What modifies a graph, and clears NetworkX's cache of it.
_CHANGES = frozenset({
    "add_node", "add_nodes_from", "remove_node", "remove_nodes_from", "add_edge", "add_edges_from",
    "add_weighted_edges_from", "remove_edge", "remove_edges_from", "update", "clear",
    "clear_edges",
})  # fmt: skip
_FACTORIES = frozenset({
    "node_dict_factory", "adjlist_outer_dict_factory", "adjlist_inner_dict_factory",
    "edge_key_dict_factory", "edge_attr_dict_factory",
})  # fmt: skip
#: Properties, which NetworkX keeps in the dictionary of an instance.
_CACHED = frozenset({
    "_adj", "_succ", "_pred", "_node", "adj", "succ", "pred", "nodes", "edges", "out_edges",
    "in_edges", "degree", "in_degree", "out_degree",
})  # fmt: skip
_MAPPING = frozenset({
    "__getitem__", "__iter__", "__len__", "__contains__", "__missing__", "get", "items", "keys",
    "values",
})  # fmt: skip


class Snapshot:
    """The adjacency of a graph at this moment, in dictionaries, in the order of its nodes.

    The dictionaries of attributes are those of the graph.
    """

    def __init__(self, graph: Any) -> None:
        nodes, self._multigraph = list(graph), bool(graph.is_multigraph())
        self._directed = bool(graph.is_directed())
        self._adj = {node: self._row(graph._adj[node]) for node in nodes}
        self._pred = None
        if self._directed and hasattr(graph, "_pred"):
            self._pred = {node: self._row(graph._pred[node]) for node in nodes}

    def _row(self, row: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
        if self._multigraph:
            return {node: dict(keys.items()) for node, keys in row.items()}
        return dict(row.items())

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._adj)

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return self._multigraph


def is_plain(graph: Any) -> bool:
    """Whether it is one of NetworkX's four classes with an adjacency of its own."""
    own = _own(graph)
    return (
        _is_base(type(graph))
        and type(own.get("_adj")) is dict
        and "_graph" not in own
        and not (_overridden(own, _STRUCTURE | _ALGORITHMS) or _FACTORIES & own.keys())
    )


def readable(graph: Any) -> Any:
    """The graph if it is plain, else a snapshot of it."""
    return graph if is_plain(graph) or isinstance(graph, Snapshot) else Snapshot(graph)


def is_cached(graph: Any) -> bool:
    """Whether NetworkX's cache notices changes: those of a view are made in another graph."""
    own = _own(graph)
    return "_graph" not in own and not any(
        vars(kind).keys() & _CHANGES for kind in _own_classes(type(graph))
    )


def foreign(graph: Any) -> str | None:
    """Why NetworkX may read other things in this graph than its adjacency; None if it does not."""
    if is_plain(graph):
        return None
    names = _STRUCTURE | _ALGORITHMS
    if (reason := _of_class(type(graph), names)) is not None:
        return reason
    if name := min(_overridden(_own(graph), names), default=None):
        return f"the graph has {name!r} of its own"
    adjacency = (graph._adj, graph._pred) if graph.is_directed() else (graph._adj,)
    for kind in {kind for each in adjacency for kind in _mappings(each, graph.is_multigraph())}:
        if not _is_ordinary(kind):
            return f"its adjacency holds a mapping of the class {kind.__name__}"
    return None


def structure(graph: Any) -> str | None:
    """Why the adjacency cannot be read as that of the graph; None if it can.

    Graphs of classes that only resemble NetworkX's are what their adjacency says.
    """
    if is_plain(graph) or not any(map(_is_base, type(graph).__mro__)):
        return None
    return _of_class(type(graph), _STRUCTURE)


def _of_class(kind: type, names: frozenset[str]) -> str | None:
    """Which of the names a class has that comes before NetworkX's."""
    for each in _own_classes(kind):
        if name := min(vars(each).keys() & names, default=None):
            return f"the class {each.__name__} has {name!r} of its own"
    return None


def irregular(graph: Any, weight: Hashable = None) -> str | None:
    """Where the two directions of an edge differ, or successors and predecessors; else None.

    Args:
        graph: a graph or a snapshot of it.
        weight: the attribute of the edges that must agree, too.
    """
    if is_plain(graph):
        return None
    try:
        view = readable(graph)
    except KeyError as error:
        return f"the node {error.args[0]!r} has no adjacency"
    if not isinstance(graph, Snapshot) and list(graph._adj) != list(view):
        return "the order of its nodes is not that of its adjacency"
    back = view._pred if view.is_directed() else view._adj
    if back is None:
        return None
    if sum(map(len, back.values())) != sum(map(len, view._adj.values())):
        return "its successors are not its predecessors"
    for u, row in view._adj.items():
        for v, data in row.items():
            other = back.get(v, {}).get(u)
            if other is None:
                return f"the edge from {u!r} to {v!r} is not there from the other end"
            if other is not data and not _same(data, other, weight, view.is_multigraph()):
                return f"the edge between {u!r} and {v!r} depends on the direction"
    return None


def _same(one: Any, other: Any, weight: Hashable, multigraph: bool) -> bool:
    if not multigraph:
        return weight is None or _equal(one.get(weight, 1), other.get(weight, 1))
    return one.keys() == other.keys() and all(
        _same(data, other[key], weight, False) for key, data in one.items()
    )


def _equal(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


def _own(graph: Any) -> Mapping[str, Any]:
    return vars(graph) if hasattr(graph, "__dict__") else {}


def _is_base(kind: type) -> bool:
    return kind.__name__ in _KINDS and kind.__module__.startswith("networkx.classes.")


def _own_classes(kind: type) -> list[type]:
    """The classes that come before NetworkX's."""
    return [each for each in kind.__mro__ if each is not object and not _is_base(each)]


def _overridden(own: Mapping[str, Any], names: frozenset[str]) -> set[str]:
    return set((names - _CACHED) & own.keys())


def _mappings(adjacency: Any, multigraph: bool) -> Iterator[type]:
    """The classes of all mappings of an adjacency, down to the attributes of edges."""
    yield type(adjacency)
    for row in adjacency.values():
        yield type(row)
        for data in row.values():
            yield type(data)
            if multigraph:
                yield from map(type, data.values())


def _is_ordinary(kind: type) -> bool:
    """Whether it is a dictionary, or a view of NetworkX."""
    if kind in (dict, OrderedDict) or kind.__module__ == "networkx.classes.coreviews":
        return True
    before = kind.__mro__[: kind.__mro__.index(dict)] if issubclass(kind, dict) else ()
    return bool(before) and not any(vars(each).keys() & _MAPPING for each in before)
