"""Errors about PyTorch Geometric data and the attributes that transforms add to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check._values import dense, shortened, wrong_type, wrong_value

# When PyTorch Geometric makes a batch, it adds offsets to attributes with these in their names.
_COUNTED = ("index", "batch")
_RESERVED = (
    "adj", "adj_t", "edge_stores", "edge_type", "edge_types", "face", "keys", "node_stores",
    "node_type", "node_types", "num_edges", "num_features", "num_nodes", "ptr", "stores",
)  # fmt: skip
_UNCOUNTED = "does not specify its number of vertices; set num_nodes"


def attribute(value: object, of: str, argument: str = "attr_name") -> str | None:
    """The name of an attribute of "nodes" or "edges", or None for columns of their features."""
    return None if value is None else required_attribute(value, of, "or None", argument)


def required_attribute(value: object, of: str, instead: str, argument: str = "attr_name") -> str:
    if not isinstance(value, str):
        raise wrong_type(argument, f"a str {instead}", value)
    if not value.isidentifier() or value.startswith("_"):
        accepted = "a name such as 'centrality' that does not begin with '_'"
        raise wrong_value(argument, accepted, value)
    name = f"{argument}={shortened(value)}"
    for part in _COUNTED:
        if part in value:
            raise ValueError(
                f"{name} contains {part!r}: torch_geometric treats such attributes as ids and adds "
                "offsets to them when it makes batches; choose another name"
            )
    if value in _RESERVED:
        raise ValueError(f"{name} is a name reserved by torch_geometric")
    taken = "in a graph with as many edges as vertices torch_geometric would take it for"
    if of == "nodes" and "edge" in value:
        raise ValueError(
            f"{name} contains 'edge': {taken} an attribute of edges; choose another name"
        )
    if of == "edges" and "edge" not in value:
        raise ValueError(
            f"{name} lacks 'edge': {taken} an attribute of vertices; put 'edge_' before it"
        )
    return value


def weight_attribute(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        accepted = "the name of an attribute of edges, such as 'edge_weight', or None"
        raise wrong_type("edge_weight", accepted, value)
    return value


def edge_types(value: object) -> tuple[tuple[str, str, str], ...] | None:
    """The edge types of a HeteroData, each (source, relation, target)."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or not value or isinstance(value[0], str):
        accepted = "a list of (source, relation, target), or None for all"
        raise wrong_type("edge_types", accepted, value)
    for one in value:
        if not isinstance(one, tuple) or list(map(type, one)) != [str, str, str]:
            raise TypeError(
                f"edge_types must hold (source, relation, target), got {shortened(one)}"
            )
    return tuple(value)


def stores(
    data: Any, chosen: tuple[tuple[str, str, str], ...] | None
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Vertex stores and edge stores by type; a Data has one of each, of type None."""
    if not hasattr(data, "node_stores") or not hasattr(data, "edge_stores"):
        raise TypeError(
            f"data must be a torch_geometric Data, Batch or HeteroData, got {type(data).__name__}"
        )
    if not hasattr(data, "edge_types"):
        if chosen is not None:
            raise ValueError(
                f"edge_types are for a HeteroData, got a {type(data).__name__}; leave them out"
            )
        return {None: data.node_stores[0]}, {None: data.edge_stores[0]}
    for one in chosen or ():
        if one not in data.edge_types:
            raise ValueError(f"edge_types contains {one}, but data has {data.edge_types}")
    if not data.edge_types:
        raise ValueError("data has no edge types, and so no graph")
    edges = {kind: data[kind] for kind in chosen or data.edge_types}
    ends = {end for source, _, target in edges for end in (source, target)}
    for kind in ends.difference(data.node_types):
        raise ValueError(f"data[{kind!r}] {_UNCOUNTED}")
    return {kind: data[kind] for kind in data.node_types if chosen is None or kind in ends}, edges


def store_edges(store: Any, what: str) -> Tensor:
    """The edge_index of a store, as a plain tensor."""
    if "edge_index" not in store:
        hint = ""
        if "adj_t" in store or "adj" in store:
            hint = "; put the transform before ToSparseTensor"
        raise ValueError(f"{what} has no edge_index{hint}")
    index = store["edge_index"]
    edges: Tensor = index.as_tensor() if hasattr(index, "as_tensor") else index
    return edges


def store_size(store: Any, what: str) -> int:
    try:
        size = store.num_nodes
    # torch_geometric infers it from the first vertex attribute, which may have no shape.
    except (IndexError, RuntimeError) as error:
        raise ValueError(f"{what} {_UNCOUNTED}: {error}") from None
    if size is None:
        raise ValueError(f"{what} {_UNCOUNTED}")
    return int(size)


def edge_attributes(store: Any) -> list[str]:
    """The names of those that have a row per edge, as torch_geometric tells from their shapes."""
    names = []
    for name in store.keys():  # noqa: SIM118 (a store is no dict)
        try:
            is_of_edges = store.is_edge_attr(name)
        except RuntimeError as error:
            raise ValueError(f"{name} of data has no shape: {error}") from None
        if is_of_edges:
            names.append(name)
    return names


def store_batch(store: Any, size: int, what: str) -> Tensor:
    """The graph of each vertex of a store."""
    value = store["batch"]
    if not isinstance(value, Tensor):
        raise wrong_type(f"batch of {what}", "a torch.Tensor", type(value))
    dense(value, f"batch of {what}")
    check_batch.integers(value, f"batch of {what}")
    if value.shape != (size,):
        raise ValueError(f"batch of {what} must have shape [{size}], got {list(value.shape)}")
    return value.long()


def ids_within(index: Tensor, sizes: tuple[int, int], what: str) -> None:
    """Checks the vertex ids of edges, before they are renumbered."""
    for row, size in zip(index, sizes, strict=True):
        if row.numel():
            low, high = (int(x) for x in torch.aminmax(row))
            check.ids_within(low, high, size, f"edge_index of {what}")


def named_weight(value: object, name: str, what: str, known: str = "") -> Tensor:
    """The tensor that is named as the weights, [E] or [E, 1], a common shape of edge_attr."""
    if not isinstance(value, Tensor):
        others = f", only {known}; edge_weight=None takes none" if known else ""
        raise ValueError(
            f"edge_weight={shortened(name)}: {what} has no tensor of this name{others}"
        )
    return value[:, 0] if value.dim() == 2 and value.shape[1] == 1 else value


def labels(stores: Iterable[tuple[Any, int]], key: object, name: str) -> Tensor | None:
    """The attribute that has the labels of the vertices or edges of these stores."""
    if key is None:
        return None
    if not isinstance(key, str):
        raise wrong_type(name, "the name of an attribute or None", key)
    values = [(store.get(key), store) for store, _ in stores]
    for value, store in values:
        if not isinstance(value, Tensor):
            known = ", ".join(map(str, store.keys()))
            raise ValueError(
                f"{name}={shortened(key)}: data has no tensor of this name, only {known}; "
                f"{name}=None takes none"
            )
    return torch.cat([value for value, _ in values])


def store_features(store: Any, name: str) -> Tensor | None:
    """The matrix to which columns are appended, or None if there is none."""
    if name not in store or store[name] is None:
        return None
    value = store[name]
    if not isinstance(value, Tensor) or value.layout != torch.strided:
        raise TypeError(
            f"data.{name} must be a dense tensor to append columns to it; give attr_name a name"
        )
    if not value.is_floating_point():
        raise TypeError(
            f"data.{name} is {value.dtype}, which would truncate scores to whole numbers; make it "
            f"floating-point (data.{name}.float()), or give attr_name a name"
        )
    if value.dim() > 2:
        raise ValueError(
            f"data.{name} must be [rows] or [rows, columns] to append columns to it, got shape "
            f"{list(value.shape)}; give attr_name a name"
        )
    return value[:, None] if value.dim() == 1 else value
