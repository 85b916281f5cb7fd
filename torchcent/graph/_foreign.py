"""Graphs of SciPy, NetworkX and PyTorch Geometric as arguments of Graph.from_edge_index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _data as check_data
from torchcent.check import _inputs as check_inputs
from torchcent.check import _sparse as check_sparse
from torchcent.check import _weights as check_weights
from torchcent.graph import _edges, _labels, _networkx, _views
from torchcent.graph._arcs import Arcs

if TYPE_CHECKING:
    import networkx


#: What every NetworkX graph has, and hardly anything else.
NETWORKX = ("nodes", "edges", "adj", "add_edges_from", "is_multigraph")


def of_scipy(matrix: Any, weight: object = None, name: str = "matrix") -> Arcs:
    """One arc per stored entry; those of one place are added up."""
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise check_inputs.other(matrix, name, "a scipy.sparse matrix")
    n = check_sparse.square(name, matrix.shape)
    entries = check_sparse.of_matrix(name, matrix)
    index = torch.from_numpy(np.stack([entries.row, entries.col]))
    wanted = check_inputs.values_wanted(weight, name)
    weights = check_sparse.weights(name, entries.data) if wanted else None
    return Arcs(index, n, None, weights, matrix=True)


def of_networkx(graph: networkx.Graph, weight: object, name: str = "graph") -> Arcs:
    """One arc per edge, in the order of ``graph.edges``."""
    if weight is not None and not isinstance(weight, str):
        raise check_inputs.no_name(weight)
    if not _networkx.is_graph(graph):
        raise check_inputs.other(graph, name, "a networkx graph")
    view = networkx_graph(graph, weight, name)
    arrays = _networkx.arrays(view)
    length = None
    if weight is not None:
        _networkx.require(view, arrays, weight, "edge_weight")
        lengths = _networkx.lengths(view, arrays, weight)
        length = check_weights.networkx_weights(lengths, graph.edges(), weight)
    names = _labels.of_nodes(arrays.nodes)
    return Arcs(arrays.edge_index(), len(arrays.nodes), arrays.directed, length, labels=names)


def networkx_graph(graph: Any, weight: str | None, name: str = "graph") -> Any:
    """The graph, or a snapshot of a view or of another class.

    Raises:
        ValueError: its two directions differ, or its class has a structure of its own.
    """
    reason = _views.structure(graph)
    view = graph if reason else _views.readable(graph)
    if reason := reason or _views.irregular(view, weight):
        kind = f"networkx.{'Multi' * graph.is_multigraph()}{'Di' * graph.is_directed()}Graph"
        raise ValueError(
            f"{name} is a view, or not of a class of networkx, and {reason}; pass a copy of it, "
            f"{kind}({name}), or of a view the graph that it shows"
        )
    return view


def of_data(data: Any, weight: object, name: str = "data") -> Arcs:
    """The columns of a torch_geometric Data, Batch or EdgeIndex; of a Data also its ``adj_t``.

    `weight` is the name of an edge attribute, or True for ``edge_weight`` or the values of an
    EdgeIndex.
    """
    if weight is not None and not isinstance(weight, (bool, str)):
        raise check_inputs.no_name(weight)
    hetero = hasattr(type(data), "edge_types") and hasattr(type(data), "stores")
    check_inputs.homogeneous(not hetero, data, "data.to_homogeneous()")
    index: Any = getattr(data, "edge_index", data)
    transposed = None
    if index is None and getattr(data, "adj_t", None) is not None:
        transposed = _edges.of_sparse(data.adj_t, bool(weight), f"{name}.adj_t")
        index = transposed.edge_index.flip(0)
    if index is None:
        raise ValueError(f"{name} has no edge_index")
    if not isinstance(index, Tensor):
        raise check_inputs.other(data, name, "a torch_geometric Data or EdgeIndex")
    length = None
    if transposed is not None:
        length = transposed.edge_weight
    elif isinstance(weight, str) and weight != "edge_weight":
        known = ", ".join(_attributes(data, index))
        length = check_data.named_weight(getattr(data, weight, None), weight, name, known)
    elif weight:
        length = check_weights.data_weight(data, index, ", ".join(_attributes(data, index)))
    size, batch, ptr = None, None, None
    if index is not data:
        size, ptr = data.num_nodes, getattr(data, "ptr", None)
        batch = getattr(data, "batch", None) if ptr is None else None
    if is_edge_index(index):
        size = index.sparse_size(0) if size is None else size
        index = index.as_tensor()
    return Arcs(index, size, True, length, batch, ptr, matrix=transposed is not None)


def _attributes(data: Any, index: Tensor) -> list[str]:
    """What may be weights: the attributes of a Data with a number for each edge."""
    if index is data or not hasattr(data, "keys"):
        return []
    names = data.keys() if callable(data.keys) else data.keys
    columns = index.shape[-1:]
    tensors = {name: data[name] for name in names if isinstance(data[name], Tensor)}
    fits = (columns, (*columns, 1))
    return sorted(name for name, value in tensors.items() if value.shape in fits)


def is_edge_index(index: object) -> bool:
    return isinstance(index, Tensor) and hasattr(index, "get_csr")
