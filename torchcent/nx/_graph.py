"""BackendGraph, the conversion from and to NetworkX, and NetworkX's cache."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Collection, Hashable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from torchcent.graph import Graph, _networkx, _views
from torchcent.graph._building import build
from torchcent.nx._config import device, refusals

_HOST = torch.device("cpu")
_ITS_WARNING = r"(?s)Note: conversions to backend graphs are saved to cache.*'torchcent' backend"
_warned = False


class _Edges(list[tuple[Hashable, ...]]):
    """A list that may be called, as ``edges`` of a NetworkX graph."""

    def __call__(self) -> Iterator[tuple[Hashable, ...]]:
        return iter(self)


class _Attribute(NamedTuple):
    """An attribute of every edge, 1 where it is missing.

    Attributes:
        values: int64 if all are whole numbers, otherwise float64.
        lacks: whether some edges have no such attribute.
        zeros: whether some are 0, which is a strength but not a length.
    """

    values: Tensor
    lacks: bool
    zeros: bool

    @classmethod
    def of(cls, data: list[dict[Hashable, Any]], name: Hashable) -> _Attribute:
        values = edge_lengths([of_edge.get(name, 1) for of_edge in data], name, zeros=True)
        lacks = any(name not in of_edge for of_edge in data)
        return cls(values, lacks, bool((values == 0).any()))


class BackendGraph:
    """A NetworkX graph as arrays. NetworkX caches it until the graph is modified.

    Vertex i is ``nodes[i]``. Column e of a search's :attr:`Graph.slot` is the e-th edge of
    ``graph.edges``. Instances are immutable.
    """

    __networkx_backend__ = "torchcent"

    def __init__(
        self, graph: nx.Graph, weights: Collection[Hashable] = (), keep: bool = False
    ) -> None:
        """`weights` are edge attributes to store; `keep` stores a copy with all attributes."""
        view = as_networkx_reads(graph, *weights)
        self.arrays = _networkx.arrays(view)
        self.graph = dict(graph.graph)
        self.__networkx_cache__: dict[str, Any] = {}
        self._keys = _networkx.keys(view, self.arrays) if graph.is_multigraph() else None
        self._before = _networkx.predecessors(view, self.arrays) if graph.is_directed() else None
        self._type = type(graph).__name__
        data = list(_networkx.data(view, self.arrays)) if keep or weights else []
        self._weights = {name: _Attribute.of(data, name) for name in weights}
        self._states = {v: dict(data) for v, data in graph.nodes(data=True)} if keep else None
        # of a view, whose directions may differ in attributes that nobody has asked for yet
        self._unread = view if keep and isinstance(view, _views.Snapshot) else None
        self._data = [dict(of_edge) for of_edge in data] if keep else None
        self._searched: dict[Any, Graph] = {}
        self._lengths: dict[Any, Tensor] = {}

    @property
    def nodes(self) -> list[Hashable]:
        return self.arrays.nodes

    @property
    def _adj(self) -> dict[Hashable, int]:  # required by nx.Graph.nbunch_iter
        return self.arrays.number

    def nbunch_iter(self, nbunch: Any = None) -> Iterator[Hashable]:
        nodes: Iterator[Hashable] = nx.Graph.nbunch_iter(self, nbunch)
        return nodes

    def names(self, vertices: Tensor) -> list[Hashable]:
        """The nodes that these vertices are."""
        return list(map(self.nodes.__getitem__, vertices.tolist()))

    def vertex(self, node: Hashable, absent: str = "Source {} is not in G") -> Tensor:
        """The vertex as a tensor [1]; NodeNotFound with this text if there is none."""
        if node not in self:
            raise nx.NodeNotFound(absent.format(node))
        return self.vertices([node])

    def vertices(self, nodes: Iterable[Hashable]) -> Tensor:
        """int64 on the host, the vertices of these nodes; KeyError for others."""
        number = self.arrays.number
        return torch.tensor([number[node] for node in nodes], dtype=torch.int64, device="cpu")

    def by_node(self, values: Tensor) -> dict[Hashable, Any]:
        return dict(zip(self.nodes, values.tolist(), strict=True))

    def numbers(self, distances: Tensor, weight: Hashable) -> list[Any]:
        """Python ints where NetworkX has ints: hops, sums of ints, and the distance to itself."""
        if weight is None or self.weight(weight).dtype == torch.int64:
            return distances.long().tolist()
        return [x or 0 for x in distances.double().tolist()]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        name = f" named {self.graph['name']!r}" if self.graph.get("name") else ""
        return f"{self._type}{name} with {len(self)} nodes and {self.number_of_edges()} edges"

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
        columns = [self.names(torch.from_numpy(x)) for x in (self.arrays.tail, self.arrays.head)]
        keys = [] if self._keys is None else [self._keys]
        return _Edges(zip(*columns, *keys, strict=True))

    def holds(self, weight: Hashable) -> bool:
        """Whether this edge attribute is stored, and its values are lengths."""
        return weight is None or weight in self._weights

    def weight(self, name: Hashable) -> Tensor:
        """The attribute of every edge: int64 if all are whole numbers, otherwise float64."""
        return self.attribute(name).values

    def attribute(self, name: Hashable) -> _Attribute:
        if name not in self._weights:
            if self._data is None:
                raise NotImplementedError(f"the graph was converted without the attribute {name!r}")
            if self._unread is not None and (reason := _views.irregular(self._unread, name)):
                raise NotImplementedError(reason)
            self._weights[name] = _Attribute.of(self._data, name)
        return self._weights[name]

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
            graph, n = self.search(weight, where=_HOST), len(self)
            assert graph.weight is not None
            tail, head = np.repeat(np.arange(n), np.diff(rowptr)), col.astype(np.int64)
            proper = tail != head
            if backwards:
                tail, head = head, tail
            row = np.repeat(np.arange(n), np.diff(graph.rowptr.numpy()))
            place = np.searchsorted(row * n + graph.col.numpy(), (tail * n + head)[proper])
            lengths = np.full(col.size, np.inf)
            lengths[proper] = graph.weight.numpy()[place]
            self._lengths[weight, backwards] = torch.from_numpy(lengths)
        return self._lengths[weight, backwards]

    def search(
        self, weight: Hashable = None, *, backwards: bool = False, strengths: bool = False,
        where: torch.device | None = None,
    ) -> Graph:  # fmt: skip
        """The graph on the configured device; with `strengths` an edge of weight 0 is none."""
        where = device() if where is None else where
        backwards = backwards and self.is_directed()
        strengths = strengths and weight is not None and self.attribute(weight).zeros
        key = weight, backwards, strengths, where
        if key not in self._searched:
            if backwards:
                graph = self.search(weight, where=where).reversed()
            elif where != _HOST:
                graph = self.search(weight, strengths=strengths, where=_HOST).to(where)
            else:
                graph = self._built(weight, strengths)
            self._searched[key] = graph
        return self._searched[key]

    def _built(self, weight: Hashable, strengths: bool) -> Graph:
        index, values = self.arrays.edge_index(), None if weight is None else self.weight(weight)
        n, directed = len(self), self.is_directed()
        with refusals():
            if strengths:
                options: Any = dict.fromkeys(("batch", "ptr", "memory"))
                return build(Graph, index, n, directed, values, weights="strengths", **options)
            # NetworkX adds float64 numbers
            return Graph.from_edge_index(index, n, directed, values, ties="float")

    def to_networkx(self) -> nx.Graph:
        """Returns a new NetworkX graph with the stored attributes."""
        kind = f"{'Multi' * self.is_multigraph()}{'Di' * self.is_directed()}Graph"
        graph: nx.Graph = getattr(nx, kind)()
        graph.graph.update(self.graph)
        graph.add_nodes_from(self.nodes if self._states is None else self._states.items())
        if self._data is None and not self._weights:
            graph.add_edges_from(self.edges())
            return graph
        rows = zip(*(x.values.tolist() for x in self._weights.values()), strict=True)
        data = self._data or (dict(zip(self._weights, row, strict=True)) for row in rows)
        edges = zip(self.edges(), data, strict=True)
        graph.add_edges_from((*edge, attributes) for edge, attributes in edges)
        return graph


def _rows(degree: np.ndarray, neighbour: np.ndarray) -> tuple[Tensor, Tensor]:
    rowptr = np.concatenate([[0], degree.cumsum()])
    return torch.from_numpy(rowptr), torch.from_numpy(neighbour.astype(np.int32))


def as_networkx_reads(graph: nx.Graph, *weights: Hashable) -> Any:
    """The graph, or a snapshot of a view; NotImplementedError if NetworkX may read another one."""
    if (reason := _views.foreign(graph)) is not None:
        raise NotImplementedError(f"{reason}; NetworkX runs it")
    try:
        view = _views.readable(graph)
    except KeyError as error:
        raise NotImplementedError(f"the node {error.args[0]!r} has no adjacency") from None
    for name in (None, *weights):
        if (reason := _views.irregular(graph if name is None else view, name)) is not None:
            raise NotImplementedError(f"the graph is a view, and {reason}")
    return view


def edge_lengths(attributes: list[Any], name: Hashable, zeros: bool) -> Tensor:
    """int64 or float64, with `zeros` >= 0; NotImplementedError for what torchcent does not take."""
    what = f"the edges' attribute {name!r}"
    try:
        values = np.array(attributes) if attributes else np.zeros(0)
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
    preserve_all_attrs: bool = False,
    **_: object,  # name, graph_name, preserve_graph_attrs
) -> BackendGraph:
    """Converts a NetworkX graph; the dispatcher calls it and caches the result.

    Raises NotImplementedError for weights that torchcent does not take. NetworkX then runs its own
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


def has_loops(graph: Any) -> bool:
    if isinstance(graph, BackendGraph):
        return bool((graph.arrays.tail == graph.arrays.head).any())
    return any(edge[0] == edge[1] for edge in graph.edges())


def cache_entry(graph: Any, weight: Hashable) -> BackendGraph | None:
    """The graph in NetworkX's cache that has this attribute."""
    cache = getattr(graph, "__networkx_cache__", None) or {}
    graphs = list(cache.get("backends", {}).get("torchcent", {}).values())
    return next((x for x in graphs if isinstance(x, BackendGraph) and x.holds(weight)), None)


def warn_once(graph: Any, weight: Hashable) -> None:
    """Called before each call of a function.

    NetworkX warns that it uses a cached graph, with a text that names the function, so that Python
    shows it again for every function. After the first of these, they are filtered out.
    """
    global _warned
    if "cache" in nx.config.warnings_to_ignore or cache_entry(graph, weight) is None:
        return
    if _warned:
        warnings.filterwarnings("ignore", _ITS_WARNING, UserWarning)
    _warned = True
