"""BackendGraph, and the conversion from and to NetworkX."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from itertools import repeat
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse.csgraph
import torch
from torch import Tensor

from torchcent.graph import Graph, _networkx, _views
from torchcent.graph._building import build
from torchcent.nx._config import device, refusals

_KINDS = {
    (False, False): nx.Graph,
    (False, True): nx.DiGraph,
    (True, False): nx.MultiGraph,
    (True, True): nx.MultiDiGraph,
}


class _Edges:
    """An iterable that may be called, as ``edges`` of a NetworkX graph."""

    def __init__(
        self, nodes: list[Hashable], arrays: _networkx.Arrays, keys: list[Hashable] | None
    ) -> None:
        self._nodes, self._ends, self._keys = nodes, (arrays.tail, arrays.head), keys

    def __call__(self) -> Iterator[tuple[Hashable, ...]]:
        columns: list[Iterable[Hashable]] = [
            map(self._nodes.__getitem__, vertex.tolist()) for vertex in self._ends
        ]
        if self._keys is not None:
            columns.append(self._keys)
        return zip(*columns, strict=True)

    __iter__ = __call__


class BackendGraph:
    """A NetworkX graph as arrays. NetworkX caches it until the graph is modified.

    Vertex i is ``nodes[i]``. Column e of a search's :attr:`Graph.slot` is the e-th edge of
    ``graph.edges``. Instances are immutable.
    """

    __networkx_backend__ = "torchcent"

    def __init__(
        self, graph: nx.Graph, weights: Iterable[Hashable] = (), keep: bool = False
    ) -> None:
        """`weights` are edge attributes to store; `keep` stores a copy with all attributes."""
        read = as_networkx_reads(graph, *weights)
        self.arrays = _networkx.arrays(read)
        self.graph = dict(graph.graph)
        self.__networkx_cache__: dict[str, Any] = {}
        self._keys = _networkx.keys(read, self.arrays) if graph.is_multigraph() else None
        self._before = _networkx.predecessors(read, self.arrays) if graph.is_directed() else None
        self._type = type(graph).__name__
        self._weights = {
            name: edge_lengths(read, self.arrays, name, zeros=True) for name in weights
        }
        self._lacking = {name for name in weights if _networkx.lacks(read, self.arrays, name)}
        self._zeros: dict[Hashable, bool] = {}
        self._states = {v: dict(data) for v, data in graph.nodes(data=True)} if keep else None
        # of a view, whose directions may differ in attributes that nobody has asked for yet
        self._unread = read if keep and isinstance(read, _views.Snapshot) else None
        self._data = _networkx.attributes(read, self.arrays) if keep else None
        self._searched: dict[Any, Graph] = {}
        self._lengths: dict[Any, Tensor] = {}

    @property
    def nodes(self) -> list[Hashable]:
        return self.arrays.nodes

    @property
    def _adj(self) -> dict[Hashable, int]:  # required by nx.Graph.nbunch_iter
        return self.arrays.number

    def nbunch_iter(self, nbunch: Any = None) -> Iterator[Hashable]:
        found: Iterator[Hashable] = nx.Graph.nbunch_iter(self, nbunch)
        return found

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        named = f" named {self.graph['name']!r}" if self.graph.get("name") else ""
        return f"{self._type}{named} with {len(self)} nodes and {self.number_of_edges()} edges"

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.arrays.number
        except TypeError:  # not hashable
            return False

    def is_directed(self) -> bool:
        return self.arrays.directed

    def is_multigraph(self) -> bool:
        return self._keys is not None

    def number_of_nodes(self) -> int:
        return len(self.nodes)

    def number_of_edges(self) -> int:
        return self.arrays.tail.size

    @property
    def edges(self) -> _Edges:
        """(u, v), or (u, v, key) in a multigraph, in the order of NetworkX."""
        return _Edges(self.nodes, self.arrays, self._keys)

    def holds(self, weight: Hashable) -> bool:
        """Whether this edge attribute is stored, and its values are lengths."""
        return weight is None or weight in self._weights

    def weight(self, name: Hashable) -> Tensor:
        """The attribute of every edge: int64 if all are whole numbers, otherwise float64."""
        if name not in self._weights:
            if self._data is None:
                raise NotImplementedError(f"the graph was converted without the attribute {name!r}")
            if self._unread is not None and (reason := _views.irregular(self._unread, name)):
                raise NotImplementedError(reason)
            values = [data.get(name, 1) for data in self._data]
            self._weights[name] = _lengths(values, name, True)
        return self._weights[name]

    def lacks(self, name: Hashable) -> bool:
        """Whether some edges have no such attribute, and count as 1."""
        if self._data is None:
            return name in self._lacking
        return any(name not in data for data in self._data)

    def has_zeros(self, name: Hashable) -> bool:
        """Whether some edges have a weight of 0, which is a strength but not a length."""
        if name not in self._zeros:
            self._zeros[name] = bool((self.weight(name) == 0).any())
        return self._zeros[name]

    def states(self, name: Hashable) -> dict[Hashable, Any]:
        """An attribute of every node, 1 where a node lacks it."""
        if self._states is None:
            raise NotImplementedError("the graph was converted without the attributes of its nodes")
        return {node: data.get(name, 1) for node, data in self._states.items()}

    @cached_property
    def adjacency(self) -> tuple[Tensor, Tensor]:
        """CSR on the host; the neighbours of each vertex are in the order of NetworkX."""
        return _rows(self.arrays.degree, self.arrays.neighbour)

    @cached_property
    def predecessors(self) -> tuple[Tensor, Tensor]:
        """Likewise, those that a search along reversed arcs reads."""
        return self.adjacency if self._before is None else _rows(*self._before)

    def lengths(self, weight: Hashable, backwards: bool = False) -> Tensor:
        """float64, the length of each entry of `adjacency`, or `backwards` of `predecessors`."""
        if (weight, backwards) not in self._lengths:
            rowptr, col = (x.numpy() for x in (self.predecessors if backwards else self.adjacency))
            graph, n = self._on_host(weight), len(self)
            assert graph.weight is not None
            tail, head = np.repeat(np.arange(n), np.diff(rowptr)), col.astype(np.int64)
            proper = tail != head
            if backwards:
                tail, head = head, tail
            row = np.repeat(np.arange(n), np.diff(graph.rowptr.numpy()))
            place = np.searchsorted(row * n + graph.col.numpy(), (tail * n + head)[proper])
            made = np.full(col.size, np.inf)
            made[proper] = graph.weight.numpy()[place]
            self._lengths[weight, backwards] = torch.from_numpy(made)
        return self._lengths[weight, backwards]

    def search(self, weight: Hashable = None, backwards: bool = False) -> Graph:
        """The graph to search, on the configured device; `backwards` along reversed arcs."""
        where, backwards = device(), backwards and self.is_directed()
        if (weight, where, backwards) not in self._searched:
            made = self.search(weight).reversed() if backwards else self._on_host(weight).to(where)
            self._searched[weight, where, backwards] = made
        return self._searched[weight, where, backwards]

    def network(self, weight: Hashable = None) -> Graph:
        """The same for measures to which weights are strengths: one of 0 is no edge."""
        if weight is None or not self.has_zeros(weight):
            return self.search(weight)
        where = device()
        if ("strengths", weight, where) not in self._searched:
            made = build(
                Graph, self.arrays.edge_index(), num_nodes=len(self), directed=self.is_directed(),
                edge_weight=self.weight(weight), batch=None, ptr=None, memory=None,
                weights="strengths",
            )  # fmt: skip
            self._searched["strengths", weight, where] = made.to(where)
        return self._searched["strengths", weight, where]

    def _on_host(self, weight: Hashable) -> Graph:
        if (weight, None) not in self._searched:
            index = self.arrays.edge_index()
            length = None if weight is None else self.weight(weight)
            with refusals():
                made = Graph.from_edge_index(index, len(self), self.is_directed(), length)
            self._searched[weight, None] = made.with_ties("float")  # NetworkX adds float64 numbers
        return self._searched[weight, None]

    def to_networkx(self) -> nx.Graph:
        """Returns a new NetworkX graph with the stored attributes."""
        made = _KINDS[self.is_multigraph(), self.is_directed()]()
        made.graph.update(self.graph)
        made.add_nodes_from(self.nodes if self._states is None else self._states.items())
        if self._data is not None:
            edges = zip(self.edges(), self._data, strict=True)
            made.add_edges_from((*edge, attributes) for edge, attributes in edges)
            return made
        if not self._weights:
            made.add_edges_from(self.edges())
            return made
        columns = [
            zip(repeat(name), length.tolist(), strict=False)
            for name, length in self._weights.items()
        ]
        data = zip(self.edges(), zip(*columns, strict=True), strict=True)
        made.add_edges_from((*edge, dict(attributes)) for edge, attributes in data)
        return made


def _rows(degree: np.ndarray, neighbour: np.ndarray) -> tuple[Tensor, Tensor]:
    rowptr = np.concatenate([[0], degree.cumsum()])
    return torch.from_numpy(rowptr), torch.from_numpy(neighbour.astype(np.int32))


def as_networkx_reads(graph: nx.Graph, *weights: Hashable) -> Any:
    """The graph, or a snapshot of a view, in which NetworkX's algorithms find the same.

    Raises:
        NotImplementedError: they may find other things, depending on where they begin.
    """
    if (reason := _views.foreign(graph)) is not None:
        raise NotImplementedError(f"{reason}; NetworkX runs it")
    try:
        read = _views.readable(graph)
    except KeyError as error:
        raise NotImplementedError(f"the node {error.args[0]!r} has no adjacency") from None
    for name in (None, *weights):
        if (reason := _views.irregular(graph if name is None else read, name)) is not None:
            raise NotImplementedError(f"the graph is a view, and {reason}")
    return read


def edge_lengths(
    graph: nx.Graph, made: _networkx.Arrays, name: Hashable, *, zeros: bool = False
) -> Tensor:
    """An attribute of every edge as int64 or float64; with `zeros` it may be 0.

    Raises:
        NotImplementedError: the values are not lengths that torchcent supports; the message says
            why.
    """
    return _lengths(_networkx.lengths(graph, made, name), name, zeros)


def _lengths(found: list[Any], name: Hashable, zeros: bool) -> Tensor:
    what = f"the edges' attribute {name!r}"
    try:
        values = np.array(found) if found else np.zeros(0)
    except ValueError:  # sequences of different lengths
        values = np.zeros(0, object)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise NotImplementedError(f"{what} must be ints or floats, and some are not")
    wrong = ~(((values > 0) | (zeros & (values == 0))) & np.isfinite(values))
    if wrong.any():
        value = values[int(wrong.argmax())]
        least = ">= 0" if zeros else "> 0"
        raise NotImplementedError(f"{what} must be finite and {least}, and one is {value:g}")
    if values.dtype.kind != "f" and values.size and values.max() > 2**53:
        raise NotImplementedError(f"{what} holds ints beyond 2^53, which float64 does not")
    return torch.from_numpy(values.astype(np.float64 if values.dtype.kind == "f" else np.int64))


def convert_from_nx(
    graph: nx.Graph,
    edge_attrs: dict[Hashable, Any] | None = None,
    node_attrs: dict[Hashable, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    preserve_all_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> BackendGraph:
    """Converts a NetworkX graph; the dispatcher calls it and caches the result.

    Raises:
        NotImplementedError: torchcent does not support the weights. NetworkX then runs its own
            implementation, unless the backend was requested explicitly.
    """
    if any(default != 1 for default in (edge_attrs or {}).values()):
        raise NotImplementedError("edges without the attribute must count as 1")
    if not _views.is_cached(graph):
        with contextlib.suppress(AttributeError):
            graph.__networkx_cache__ = None  # as NetworkX documents: nothing is kept of this graph
    keep = preserve_all_attrs or preserve_edge_attrs or preserve_node_attrs or bool(node_attrs)
    return BackendGraph(graph, () if keep else edge_attrs or (), keep)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Converts a BackendGraph to NetworkX; returns any other result unchanged."""
    return result.to_networkx() if isinstance(result, BackendGraph) else result


def connected(graph: Any) -> bool:
    """Whether all nodes reach each other, in a graph of either kind."""
    number = {node: i for i, node in enumerate(graph)}
    ends = np.array([[number[x] for x in edge[:2]] for edge in graph.edges()]).reshape(-1, 2)
    matrix = scipy.sparse.coo_array((np.ones(len(ends)), tuple(ends.T)), (len(number),) * 2)
    parts, _ = scipy.sparse.csgraph.connected_components(
        matrix, directed=graph.is_directed(), connection="strong"
    )
    return bool(parts == 1)
