"""What goes in: the kinds of objects that every function takes as a graph.

FAMILIES is the only list of them. A family is recognised by what its class has, not by its
library, so that nothing is imported for it, and subclasses and look-alikes are accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from torchcent.check import _inputs as check_inputs
from torchcent.graph import _edges, _foreign, _libraries
from torchcent.graph._arcs import Arcs
from torchcent.graph._libraries import has

#: The argument of every function: an edge_index, a Graph, or an object of one of the families.
GraphLike = Any
#: Numbers per edge; with an object of a library also the name of its weights, or True for values
#: that have no name.
WeightLike = Any


class Family(NamedTuple):
    """Objects of one kind.

    Attributes:
        matches: whether a class is of the family.
        read: called with the object, the name of its weight (True for values without a name, None
            for no weights) and the name of the argument.
    """

    matches: Callable[[type], bool]
    read: Callable[[Any, Any, str], Arcs]


def of_data(data: Any, weight: Any, name: str) -> Arcs:
    return _foreign.of_data(data, weight, name)


def _edge_list(edges: Any, weight: Any, name: str) -> Arcs:
    """An EdgeList, as torchcent.read returns it."""
    weighted = check_inputs.values_wanted(weight, f"{name}, an EdgeList,")
    length = edges.edge_weight if weighted else None
    parts = (edges.edge_index, edges.num_nodes, edges.directed, length)
    return Arcs(*parts, labels=edges._names)


#: In this order.
FAMILIES = (
    Family(lambda kind: issubclass(kind, (np.ndarray, list, tuple)), _edges.of_pairs),
    Family(lambda kind: has(kind, _foreign.NETWORKX), _foreign.of_networkx),
    Family(lambda kind: has(kind, _libraries.IGRAPH), _libraries.of_igraph),
    Family(lambda kind: has(kind, _libraries.NETWORKIT), _libraries.of_networkit),
    Family(lambda kind: has(kind, _libraries.GRAPH_TOOL), _libraries.of_graph_tool),
    Family(lambda kind: has(kind, _libraries.DGL), _libraries.of_dgl),
    Family(lambda kind: has(kind, ("stores", "edge_stores", "num_nodes")), of_data),
    Family(lambda kind: has(kind, ("tocoo", "nnz", "format")), _foreign.of_scipy),
    Family(lambda kind: has(kind, ("coo", "sparse_sizes")), _edges.of_sparse),
    Family(lambda kind: has(kind, ("edge_name", "vertex_labels")), _edge_list),
    Family(_edges.is_table, _edges.of_table),
)


def arcs(value: GraphLike, edge_weight: WeightLike, name: str = "edge_index") -> Arcs:
    """The arcs of an object of one of the families, or of a tensor that is not an edge_index.

    Weights are taken from the object only if they are asked for: by name, or with True.
    """
    reader: Callable[[Any, Any, str], Arcs]
    if isinstance(value, Tensor):
        reader = of_data if _foreign.is_edge_index(value) else _edges.of_sparse
    else:
        families = () if isinstance(value, type) else FAMILIES
        family_of_value = next((family for family in families if family.matches(type(value))), None)
        if family_of_value is None:
            raise check_inputs.unknown(value, name)
        reader = family_of_value.read
    return read(reader, value, edge_weight, name)


def read(
    reader: Callable[[Any, Any, str], Arcs], value: Any, edge_weight: WeightLike, name: str
) -> Arcs:
    """The arcs of an object, with its own weights if these are named, or with the numbers given."""
    if edge_weight is None or isinstance(edge_weight, (str, bool)):
        return reader(value, None if edge_weight is False else edge_weight, name)
    edges = reader(value, None, name)
    return edges._replace(edge_weight=check_inputs.numbers(edge_weight, "edge_weight"))


def is_plain(value: object) -> bool:
    """Whether it is a tensor to be taken as an edge_index, or refused as one."""
    if type(value) is Tensor:
        return value.layout not in _edges.SPARSE
    return isinstance(value, Tensor) and not (
        _foreign.is_edge_index(value) or value.layout in _edges.SPARSE
    )


def settled(
    value: GraphLike, num_nodes: int | None, directed: bool | None, edge_weight: WeightLike,
    batch: Tensor | None = None,
) -> Arcs:  # fmt: skip
    """The arcs of an object with the other arguments, of which none may contradict it."""
    edges = arcs(value, edge_weight)
    own = edges.batch is not None or edges.ptr is not None
    check_inputs.one_batch(batch is not None, own, value)
    return edges._replace(
        num_nodes=check_inputs.size(num_nodes, edges.num_nodes, value),
        directed=check_inputs.directedness(directed, edges.directed, value),
        batch=edges.batch if own else batch,
    )  # fmt: skip
