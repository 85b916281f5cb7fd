"""The graphs of a data set, some at a time: put together, computed, and their results split."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Sized
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData

from torchcent.check import _data as check_data
from torchcent.check._run import Run
from torchcent.runtime._watch import progress_bar
from torchcent.transforms import _cache


class Column(NamedTuple):
    """A new attribute of some graphs, put together as in a Batch."""

    kind: Any  # the type of its vertices or edges in a HeteroData; else None
    name: str
    values: Tensor
    cuts: Tensor  # where each graph begins, and the end
    shift: Tensor | None  # what was added to the numbers of each graph
    dim: int  # of the graphs

    def parts(self, device: Any) -> list[Tensor]:
        """Those of each graph, with memory of their own."""
        count, values = self.cuts.diff(), self.values
        if self.shift is not None:  # [graphs], or of both ends [graphs, 2, 1]
            by = self.shift.flatten(1) if self.shift.dim() > 1 else self.shift[:, None]
            values = values - torch.repeat_interleave(by, count, 0).T.to(values.device)
        return [x.clone() for x in values.to(device).split(count.tolist(), self.dim)]


def encoded(
    transform: Any, dataset: Iterable[Any], names: Collection[str], folder: _cache.Folder | None,
    size: int, as_tensors: bool, progress: bool | None,
) -> Iterator[Any]:  # fmt: skip
    """What AddEncodings.encode returns."""
    graphs = iter(dataset)
    total = len(dataset) if isinstance(dataset, Sized) else None
    with progress_bar(total, "AddEncodings", progress, False, "graphs") as bar:
        while chunk := list(islice(graphs, size)):
            columns = _columns(transform, chunk, names, folder)
            if as_tensors:
                yield {
                    each.name if each.kind is None else (each.kind, each.name): each.values
                    for each in columns
                }
            else:
                yield from _completed(chunk, columns)
            bar.update(len(chunk))


def _columns(
    transform: Any, chunk: list[Any], names: Collection[str], folder: _cache.Folder | None
) -> list[Column]:
    """The new attributes of these graphs, from their file if there is one."""
    file = None if folder is None else folder.file(chunk, names)
    known = None if file is None else _cache.read(file)
    if known is not None:
        return [Column(*each) for each in known]
    batch = Batch.from_data_list([_bare(data, names) for data in chunk])
    with Run(progress=False):
        columns = _new(batch, transform(batch))
    if file is not None:
        _cache.write(file, [tuple(each._replace(values=each.values.cpu())) for each in columns])
    return columns


def _bare(data: Any, names: Collection[str]) -> Any:
    """The graph of a data object, with what the transforms need of it."""
    check_data.stores(data, None)
    wanted = ("edge_index", *names)
    if not isinstance(data, HeteroData):
        store = data.node_stores[0]
        size = check_data.store_size(store, "data")
        return Data(num_nodes=size, **{name: store[name] for name in wanted if name in store})
    bare = HeteroData()
    for store in data.node_stores:
        bare[store._key].num_nodes = check_data.store_size(store, f"data[{store._key!r}]")
    for store in (*data.node_stores, *data.edge_stores):
        for name in wanted:
            if name in store:
                bare[store._key][name] = store[name]
    return bare


def _new(before: Any, after: Any) -> list[Column]:
    """The attributes that a transform has added to a Batch, or replaced."""
    old = {_kind(store): store for store in before.stores}
    columns = []
    for store in after.stores:
        kind = _kind(store)
        for name, values in store.items():
            if kind in old and old[kind].get(name) is values:
                continue
            cuts, shift = (
                (book if kind is None else book.get(kind, {})).get(name)
                for book in (after._slice_dict, after._inc_dict)
            )
            if cuts is None:
                raise ValueError(f"the attribute {name!r} cannot be split into those of graphs")
            dim = after.__cat_dim__(name, values, store)
            columns.append(Column(kind, name, values, cuts, shift, dim or 0))
    return columns


def _kind(store: Any) -> Any:
    return getattr(store, "_key", None)


def _completed(chunk: list[Any], columns: list[Column]) -> list[Any]:
    """Copies of the data objects, with the new attributes."""
    copies = [copy.copy(data) for data in chunk]
    for column in columns:
        for data, part in zip(copies, column.parts(_device(chunk[0])), strict=True):
            store = data if column.kind is None else data[column.kind]
            store[column.name] = part
    return copies


def _device(data: Any) -> Any:
    return data.edge_stores[0]["edge_index"].device
