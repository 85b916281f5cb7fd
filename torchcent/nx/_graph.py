"""BackendGraph, and the conversion from and to NetworkX."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from itertools import repeat
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from torchcent.graph import Graph, _networkx
from torchcent.nx._config import device, refusals

_KINDS = {
    (False, False): nx.Graph,
    (False, True): nx.DiGraph,
    (True, False): nx.MultiGraph,
    (True, True): nx.MultiDiGraph,
}


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
        self.arrays = _networkx.arrays(graph)
        self.graph = dict(graph.graph)
        self.__networkx_cache__: dict[str, Any] = {}
        self._keys = _networkx.keys(graph, self.arrays) if graph.is_multigraph() else None
        self._weights = {name: edge_lengths(graph, self.arrays, name) for name in weights}
        self._source = graph.copy() if keep else None
        self._searched: dict[Any, Graph] = {}

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

    def edges(self) -> Iterator[tuple[Hashable, ...]]:
        """(u, v), or (u, v, key) in a multigraph, in the order of NetworkX."""
        ends: list[Iterable[Hashable]] = [
            map(self.nodes.__getitem__, vertex.tolist())
            for vertex in (self.arrays.tail, self.arrays.head)
        ]
        if self._keys is not None:
            ends.append(self._keys)
        return zip(*ends, strict=True)

    def holds(self, weight: Hashable) -> bool:
        """Whether this edge attribute is stored, and its values are lengths."""
        return weight is None or weight in self._weights

    def weight(self, name: Hashable) -> Tensor:
        """The attribute of every edge: int64 if all are whole numbers, otherwise float64."""
        if name not in self._weights:
            if self._source is None:
                raise NotImplementedError(f"the graph was converted without the attribute {name!r}")
            self._weights[name] = edge_lengths(self._source, self.arrays, name)
        return self._weights[name]

    def states(self, name: Hashable) -> dict[Hashable, Any]:
        """An attribute of every node, 1 where a node lacks it."""
        if self._source is None:
            raise NotImplementedError("the graph was converted without the attributes of its nodes")
        found: dict[Hashable, Any] = nx.get_node_attributes(self._source, name, default=1)
        return found

    @cached_property
    def adjacency(self) -> tuple[Tensor, Tensor]:
        """CSR on the host; the neighbours of each vertex are in the order of NetworkX."""
        rowptr = np.concatenate([[0], self.arrays.degree.cumsum()])
        return torch.from_numpy(rowptr), torch.from_numpy(self.arrays.neighbour.astype(np.int32))

    def search(self, weight: Hashable = None) -> Graph:
        """The graph to search, on the configured device."""
        where = device()
        if (weight, where) not in self._searched:
            self._searched[weight, where] = self._on_host(weight).to(where)
        return self._searched[weight, where]

    def _on_host(self, weight: Hashable) -> Graph:
        if (weight, None) not in self._searched:
            index = self.arrays.edge_index()
            length = None if weight is None else self.weight(weight)
            with refusals():
                made = Graph.from_edge_index(index, len(self), self.is_directed(), length)
            self._searched[weight, None] = made._with_float_ties  # NetworkX adds float64 numbers
        return self._searched[weight, None]

    def to_networkx(self) -> nx.Graph:
        """Returns a new NetworkX graph with the stored attributes."""
        if self._source is not None:
            return self._source.copy()
        made = _KINDS[self.is_multigraph(), self.is_directed()]()
        made.graph.update(self.graph)
        made.add_nodes_from(self.nodes)
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


def edge_lengths(graph: nx.Graph, made: _networkx.Arrays, name: Hashable) -> Tensor:
    """An attribute of every edge as int64 or float64.

    Raises:
        NotImplementedError: the values are not lengths that torchcent supports; the message says
            why.
    """
    found = _networkx.lengths(graph, made, name)
    what = f"the edges' attribute {name!r}"
    try:
        values = np.array(found) if found else np.zeros(0)
    except ValueError:  # sequences of different lengths
        values = np.zeros(0, object)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise NotImplementedError(f"{what} must be ints or floats, and some are not")
    wrong = ~((values > 0) & np.isfinite(values))
    if wrong.any():
        value = values[int(wrong.argmax())]
        raise NotImplementedError(f"{what} must be finite and > 0, and one is {value:g}")
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
    keep = preserve_all_attrs or preserve_edge_attrs or preserve_node_attrs or bool(node_attrs)
    return BackendGraph(graph, () if keep else edge_attrs or (), keep)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Converts a BackendGraph to NetworkX; returns any other result unchanged."""
    return result.to_networkx() if isinstance(result, BackendGraph) else result
