"""Converts PyTorch Geometric data objects to graphs, and writes results back to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchcent import graph as _graph
from torchcent.check import _common as check
from torchcent.check import _data as check_data
from torchcent.check._values import dense
from torchcent.graph import _csr


class Graph(NamedTuple):
    """The graph to compute on: that of a Data, or of several edge types of a HeteroData."""

    edge_index: Tensor
    weight: Tensor | None
    num_nodes: int
    batch: Tensor | None  # ascending
    place: Tensor | None  # number of each vertex of the data; None if unchanged
    nodes: list[tuple[Any, int]]  # stores, and how many vertices or edges they have
    edges: list[tuple[Any, int]]
    #: graphs that several functions compute on, by `directed`; None if there is only one function
    prepared: dict[bool | None, _graph.Graph | None] | None = None

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for the functions that compute on the graph."""
        names = ("edge_index", "edge_weight", "num_nodes", "batch")
        return dict(zip(names, self[:4], strict=True))

    @property
    def ptr(self) -> Tensor | None:
        """Where the vertices of each graph of a Batch begin; unlike batch, also of empty ones."""
        bounds = [store.get("ptr") for store, _ in self.nodes]
        is_sorted = self.place is None or len(bounds) > 1
        if not is_sorted or not all(isinstance(each, Tensor) for each in bounds):
            return None
        return torch.stack(bounds).sum(0).to(self.edge_index.device)

    def built(self, directed: bool | None) -> _graph.Graph | None:
        """The graph that several functions share, built once.

        None if only one computes on it, or if weights are no lengths: strengths may be 0.
        """
        if self.prepared is None:
            return None
        if directed not in self.prepared:
            weight, graph = self.weight, None
            if weight is None or bool((weight > 0).all()):
                ptr = None if self.batch is None else self.ptr
                graph = _graph.Graph.from_edge_index(
                    self.edge_index, self.num_nodes, directed is not False, weight,
                    batch=self.batch if ptr is None else None, ptr=ptr,
                )  # fmt: skip
            self.prepared[directed] = graph
        return self.prepared[directed]


def graph_of(
    data: Any, edge_types: tuple[tuple[str, str, str], ...] | None, weight: str | None
) -> Graph:
    node_stores, edge_stores = check_data.stores(data, edge_types)
    nodes, first, sizes, total = [], {}, {}, 0
    for kind, store in node_stores.items():
        first[kind] = total
        nodes.append((store, check_data.store_size(store, _name(kind))))
        sizes[kind] = nodes[-1][1]
        total += sizes[kind]
    edges, columns, weights = [], [], []
    for kind, store in edge_stores.items():
        index = check.edge_index(check_data.store_edges(store, _name(kind)))
        if kind is not None:
            index = index.clone()  # private copy
            ends = sizes[kind[0]], sizes[kind[2]]
            check_data.ids_within(index, ends, _name(kind))
            index = index + index.new_tensor([[first[kind[0]]], [first[kind[2]]]])
        edges.append((store, index.shape[1]))
        columns.append(index)
        if weight is not None:
            values, known = store.get(weight), ", ".join(store.keys())
            weights.append(check_data.named_weight(values, weight, _name(kind), known))
    edge_index = columns[0] if len(columns) == 1 else torch.cat(columns, dim=1)
    batch, place = None, None
    if all("batch" in store for store, _ in nodes):
        # A Batch keeps it on the CPU if the vertices have no features.
        batch = torch.cat([
            check_data.store_batch(store, size, _name(kind)).to(edge_index.device)
            for (kind, size), (store, _) in zip(sizes.items(), nodes, strict=True)
        ])  # fmt: skip
        if (batch[1:] < batch[:-1]).any():  # several node types, or sampled vertices
            edge_index = edge_index.clone()
            check_data.ids_within(edge_index, (total, total), "data")
            order = torch.argsort(batch, stable=True)
            place = _csr.inverse(order)
            batch, edge_index = batch[order], place[edge_index]
    together = torch.cat(weights) if weights else None
    return Graph(edge_index, together, total, batch, place, nodes, edges)


def _name(kind: object) -> str:
    return "data" if kind is None else f"data[{kind!r}]"


def give_nodes(
    data: Any, graph: Graph, values: Tensor, name: str | None, dtype: torch.dtype | None = None
) -> None:
    if graph.place is not None:
        values = values[graph.place]
    begin = 0
    for store, size in graph.nodes:
        part = values[begin : begin + size]
        _give(data, store, part, name, "x", store.get("ptr"), dtype)
        begin += size


def give_edges(
    data: Any, graph: Graph, values: Tensor, name: str | None, dtype: torch.dtype | None = None
) -> None:
    if not graph.edges:
        raise ValueError("edges of a metapath are not in the data, and have no attributes")
    begin = 0
    for store, size in graph.edges:
        entries = _book(data, "_slice_dict") or {}
        cuts = (entries if store._key is None else entries.get(store._key, {})).get("edge_index")
        _give(data, store, values[begin : begin + size], name, "edge_attr", cuts, dtype)
        begin += size


def _give(
    data: Any, store: Any, values: Tensor, name: str | None, features: str, cuts: Tensor | None,
    dtype: torch.dtype | None,
) -> None:  # fmt: skip
    """Writes a store's part of the values as an attribute or as columns next to its features.

    They have the dtype of these features, else the given one, or the default.

    `cuts` holds the boundaries of the graphs of a batch, for to_data_list.
    """
    into = features if name is None else name
    old = check_data.store_features(store, features) if name is None else None
    if values.is_floating_point():
        values = values.to((dtype or torch.get_default_dtype()) if old is None else old.dtype)
    if name is None and values.dim() == 1:
        values = values[:, None]
    if old is not None:
        values = torch.cat([old, values.to(old.device)], dim=1)
    store[into] = values
    if cuts is not None and int(cuts[-1]) == values.shape[0]:
        _enter(data, store, into, cuts, None)


def give_graphs(data: Any, values: Tensor, name: str) -> None:
    """Writes a row of values per graph."""
    ptr = data.node_stores[0].get("ptr")
    store = data._global_store if hasattr(data, "edge_types") else data.node_stores[0]
    store[name] = values
    if ptr is not None and ptr.numel() - 1 == values.shape[0]:
        _enter(data, store, name, torch.arange(values.shape[0] + 1, device="cpu"), None)


def give_pairs(data: Any, graph: Graph, index: Tensor, values: Tensor, name: str) -> None:
    """Writes pairs of vertices as `name`_index, and their values as `name`."""
    if hasattr(data, "edge_types"):
        return _give_pairs_of_types(data, graph, index, values, name)
    store, batch = data.node_stores[0], graph.batch
    ptr, ends = store.get("ptr"), index
    if graph.place is not None:
        ends = torch.argsort(graph.place)[index]
    store[f"{name}_index"], store[name] = ends, values
    if batch is not None and ptr is not None:
        count = torch.bincount(batch[index[0]], minlength=ptr.numel() - 1)
        cuts = _csr.pointers(count)
        _enter(data, store, name, cuts, None)
        _enter(data, store, f"{name}_index", cuts, ptr[:-1].cpu())


def replace_edges(data: Any, graph: Graph, index: Tensor, values: Tensor, name: str) -> None:
    """Puts other edges, in the order of their graphs, in the place of those of a Data, with a value
    each as `name`; other attributes of edges are removed."""
    store, batch = data.node_stores[0], graph.batch
    for key in [key for key in store if store.is_edge_attr(key)]:
        del store[key]
    ends = index if graph.place is None else torch.argsort(graph.place)[index]
    store["edge_index"], store[name] = ends, values
    if batch is not None and (ptr := store.get("ptr")) is not None:
        count = torch.bincount(batch[index[0]], minlength=ptr.numel() - 1)
        cuts = _csr.pointers(count)
        _enter(data, store, name, cuts, None)
        _enter(data, store, "edge_index", cuts, ptr[:-1].cpu())


def _give_pairs_of_types(data: Any, graph: Graph, index: Tensor, values: Tensor, name: str) -> None:
    """Writes the pairs as edges of a type (source, `name`, target) for each two node types."""
    ends = index if graph.place is None else torch.argsort(graph.place)[index]
    sizes = torch.tensor([size for _, size in graph.nodes], device=index.device)
    last = sizes.cumsum(0)
    kind = torch.searchsorted(last, ends, right=True)
    ends = ends - (last - sizes)[kind]
    for a, (source, _) in enumerate(graph.nodes):
        for b, (target, _) in enumerate(graph.nodes):
            own = torch.nonzero((kind[0] == a) & (kind[1] == b))[:, 0]
            store = data[source._key, name, target._key]
            store["edge_index"], store[name] = ends[:, own], values[own]
            if graph.batch is None or "ptr" not in source or "ptr" not in target:
                continue
            first = torch.stack([source["ptr"][:-1], target["ptr"][:-1]], 1)[:, :, None].cpu()
            count = torch.bincount(graph.batch[index[0, own]], minlength=len(first))
            cuts = _csr.pointers(count)
            _enter(data, store, name, cuts, None)
            _enter(data, store, "edge_index", cuts, first)


def rewire(data: Any, graph: Graph, index: Tensor) -> None:
    """Writes other edges of a Data or Batch.

    Attributes of edges keep the values of those that stay, and are 0 for new ones.
    """
    (store, size), n = graph.edges[0], max(graph.num_nodes, 1)
    key, order = (graph.edge_index[0] * n + graph.edge_index[1]).sort(stable=True)
    new, found = index[0] * n + index[1], torch.zeros_like(index[0], dtype=torch.bool)
    column = torch.zeros_like(new)
    for wanted in (index[1] * n + index[0], new):  # the arc itself, or else its reverse
        place = torch.searchsorted(key, wanted).clamp(max=max(size - 1, 0))
        if size:
            is_there = key[place] == wanted
            column = torch.where(is_there, order[place], column)
            found |= is_there
    names = [name for name in check_data.edge_attributes(store) if name != "edge_index"]
    batch, ptr = graph.batch, store.get("ptr")
    cuts = None
    if batch is not None and ptr is not None:
        count = torch.bincount(batch[index[0]], minlength=ptr.numel() - 1)
        cuts = _csr.pointers(count)
    for name in names:
        values = store[name]
        dense(values, name)
        at, kept = column.to(values.device), found.to(values.device)
        rows = values[at] if size else values.new_zeros((at.numel(), *values.shape[1:]))
        store[name] = torch.where(kept.view(-1, *[1] * (values.dim() - 1)), rows, 0)
    store["edge_index"] = index if graph.place is None else torch.argsort(graph.place)[index]
    slices = _book(data, "_slice_dict")
    if cuts is not None and slices is not None:
        ends = {name: cuts.cpu() for name in (*names, "edge_index") if name in slices}
        data._slice_dict = {**slices, **ends}  # data is a copy


def _enter(data: Any, store: Any, into: str, cuts: Tensor, offsets: Tensor | None) -> None:
    """Lets to_data_list split an attribute, and subtract the offsets of each graph."""
    for book, entry in (("_slice_dict", cuts.cpu()), ("_inc_dict", offsets)):
        entries = _book(data, book)
        if entries is None:
            return
        new: dict[Any, Any] = {into: entry}
        if getattr(store, "_key", None) is not None:  # of a HeteroData
            new = {store._key: {**entries.get(store._key, {}), into: entry}}
        setattr(data, book, {**entries, **new})  # data is a copy


def _book(data: Any, name: str) -> dict[Any, Any] | None:
    """The record of Batch.from_data_list for to_data_list; None if it did not create the data."""
    try:
        entries: dict[Any, Any] = getattr(data, name)
    except (AttributeError, KeyError):  # HeteroData: KeyError for *_dict
        return None
    return entries
