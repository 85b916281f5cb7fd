"""Converts NetworkX graphs to arrays in the order of NetworkX, at the speed of its dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, compress
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _inputs as check_inputs
from torchcent.check._values import dense, flag, shortened

if TYPE_CHECKING:
    import networkx

_VALUES = methodcaller("values")


@dataclass(frozen=True, eq=False)
class Arrays:
    """The structure of a networkx graph.

    Attributes:
        nodes: in the order of ``graph.nodes``; vertex i is nodes[i].
        number: maps each node to its vertex.
        degree: int64 [n], number of neighbours of each vertex.
        neighbour: int64, the neighbours of each vertex in turn, in the order of its adjacency;
            parallel edges lead to the same neighbour.
        first: bool, which of these are the first occurrence of their edge; None if all are
            (directed).
        copies: int64, number of parallel edges to each neighbour of `first`; None without parallel
            edges.
        tail, head: int64 [E], the ends of every edge, in the order of ``graph.edges``.
    """

    nodes: list[Hashable]
    number: dict[Hashable, int]
    degree: np.ndarray
    neighbour: np.ndarray
    first: np.ndarray | None
    copies: np.ndarray | None
    tail: np.ndarray
    head: np.ndarray

    @property
    def directed(self) -> bool:
        return self.first is None

    def edge_index(self) -> Tensor:
        """int64 [2, E], one column per edge."""
        return torch.from_numpy(np.stack([self.tail, self.head]))


def arrays(graph: networkx.Graph) -> Arrays:
    """Extracts the arrays in O(n + m): about one second for some millions of edges.

    `graph` is plain or a snapshot (``_views.readable``), here and below.
    """
    nodes = list(graph)
    n = len(nodes)
    number = dict(zip(nodes, range(n), strict=True))
    degree, neighbour = _rows(graph._adj, nodes, number)
    tail, head = np.repeat(np.arange(n), degree), neighbour
    # An undirected edge is in both adjacencies and is listed with the node that comes first.
    first = None if graph.is_directed() else tail <= head
    if first is not None:
        tail, head = tail[first], head[first]
    copies = None
    if graph.is_multigraph():
        copies = np.fromiter(map(len, _per_neighbour(graph, first)), np.int64, tail.size)
        tail, head = np.repeat(tail, copies), np.repeat(head, copies)
    return Arrays(
        nodes, number, degree=degree, neighbour=neighbour, first=first, copies=copies, tail=tail,
        head=head,
    )  # fmt: skip


def predecessors(graph: networkx.DiGraph, parts: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """Number of predecessors of each vertex, and the predecessors in the order of NetworkX."""
    return _rows(graph._pred, parts.nodes, parts.number)


def _rows(
    adjacency: Any, nodes: list[Hashable], number: dict[Hashable, int]
) -> tuple[np.ndarray, np.ndarray]:
    n = len(nodes)
    degree = np.fromiter(map(len, adjacency.values()), np.int64, n)
    heads: Any = chain.from_iterable(adjacency.values())
    if nodes != list(range(n)):
        heads = map(number.__getitem__, heads)
    return degree, np.fromiter(heads, np.int64, int(degree.sum()))


def data(graph: networkx.Graph, parts: Arrays) -> Iterator[dict[Hashable, Any]]:
    """The attributes of every edge, in the order of graph.edges."""
    rows: Any = _per_neighbour(graph, parts.first)
    return chain.from_iterable(map(_VALUES, rows)) if graph.is_multigraph() else iter(rows)


def lengths(graph: networkx.Graph, parts: Arrays, weight: Hashable) -> list[Any]:
    """The attribute `weight` of every edge, 1 where it is missing, in the order of graph.edges."""
    return [attributes.get(weight, 1) for attributes in data(graph, parts)]


def require(graph: networkx.Graph, parts: Arrays, weight: str, name: str) -> None:
    """Refuses an attribute that no edge has. NetworkX takes 1 for all of them."""
    if not any(weight in attributes for attributes in data(graph, parts)):
        _require(data(graph, parts), weight, name)


def _require(attributes: Iterable[dict[Hashable, Any]], weight: str, name: str) -> None:
    known = dict.fromkeys(key for each in attributes for key in (*each, None))
    if known and weight not in known:
        del known[None]
        raise check_inputs.no_attribute(name, weight, "networkx graph", list(known))


def keys(graph: networkx.Graph, parts: Arrays) -> list[Hashable]:
    """The keys of a multigraph's edges, in the order of graph.edges."""
    return list(chain.from_iterable(_per_neighbour(graph, parts.first)))


def _per_neighbour(graph: networkx.Graph, first: np.ndarray | None) -> Any:
    """The adjacency's values for each neighbour, once per pair of an undirected graph."""
    data: Any = chain.from_iterable(map(_VALUES, graph._adj.values()))
    return data if first is None else compress(data, first.tolist())


def is_graph(value: object) -> bool:
    """Whether it can be read as a graph of NetworkX, of whatever class."""
    parts = ("nodes", "edges", "_adj")
    return not isinstance(value, type) and all(hasattr(value, part) for part in parts)


def set_attributes(
    graph: networkx.Graph,
    name: str,
    scores: Tensor,
    *,
    edges: bool = False,
    edge_weight: str | None = None,
) -> None:
    """Writes scores into a NetworkX graph, as attributes of its nodes or edges.

    Args:
        graph: the graph that :meth:`Graph.from_networkx` was called with, such as a MultiDiGraph of
            osmnx.
        name: of the attribute.
        scores: ``[n]`` in the order of ``graph.nodes``, or ``[E]`` in that of ``graph.edges``: what
            measures of ``Graph.from_networkx(graph)`` return.
        edges: whether these are the scores of edges. Of parallel edges of a multigraph, the
            shortest share the score and the others get 0, as in NetworkX.
        edge_weight: the attribute that holds the lengths of parallel edges; None: all are as long.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: there are more or fewer scores than nodes or edges, or no edge has the attribute
            `edge_weight`.

    Example:
        >>> import networkx, torchcent
        >>> roads = networkx.MultiDiGraph()
        >>> _ = roads.add_edge("a", "b", length=1.0)
        >>> _ = roads.add_edge("a", "b", length=5.0)
        >>> _ = roads.add_edge("b", "c", length=2.0)
        >>> graph = torchcent.Graph.from_networkx(roads, edge_weight="length")
        >>> torchcent.set_attributes(roads, "betweenness", torchcent.betweenness(graph))
        >>> torchcent.set_attributes(
        ...     roads, "flow", torchcent.edge_betweenness(graph, normalized=False), edges=True,
        ...     edge_weight="length",
        ... )
        >>> roads.nodes["b"]["betweenness"], list(roads.edges(data="flow"))
        (0.5, [('a', 'b', 2.0), ('a', 'b', 0.0), ('b', 'c', 2.0)])
    """
    if not is_graph(graph):
        raise TypeError(f"graph must be a networkx graph, got {type(graph).__name__}")
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, got {shortened(name)}")
    if not isinstance(scores, Tensor):
        raise TypeError(f"scores must be a tensor, got {type(scores).__name__}")
    dense(scores, "scores")
    flag(edges, "edges")
    what, count = ("edges", graph.number_of_edges()) if edges else ("nodes", len(graph))
    if scores.shape != (count,):
        raise ValueError(f"scores has shape {list(scores.shape)}, but the graph has {count} {what}")
    values: list[float] = scores.detach().cpu().tolist()
    if not edges:
        for node, value in zip(graph.nodes, values, strict=True):
            graph.nodes[node][name] = value
        return
    if graph.is_multigraph():
        values = _shared(graph, values, edge_weight)
    for (*_, attributes), value in zip(graph.edges(data=True), values, strict=True):
        attributes[name] = value


def _shared(graph: networkx.Graph, scores: list[float], weight: str | None) -> list[float]:
    """The score of each parallel edge, given that of all shortest ones between its ends."""
    if weight is not None:
        _require([attributes for *_, attributes in graph.edges(data=True)], weight, "edge_weight")
    lengths = [1 if weight is None else x for *_, x in graph.edges(data=weight or "", default=1)]
    directed = graph.is_directed()
    ends = [(u, v) if directed else frozenset((u, v)) for u, v in graph.edges()]
    shortest: dict[Hashable, float] = {}
    for pair, length in zip(ends, lengths, strict=True):
        shortest[pair] = min(length, shortest.get(pair, length))
    sharing = Counter(
        pair for pair, length in zip(ends, lengths, strict=True) if length == shortest[pair]
    )
    return [
        score / sharing[pair] if length == shortest[pair] else 0.0
        for pair, length, score in zip(ends, lengths, scores, strict=True)
    ]
