"""Converts graphs of other libraries to arguments of Graph.from_edge_index, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _sparse as check_sparse
from torchcent.check import _weights as check_weights
from torchcent.check._values import shortened
from torchcent.graph import _networkx
from torchcent.runtime._optional import need

if TYPE_CHECKING:
    import networkx

    from torchcent.graph import Graph


class Arcs(NamedTuple):
    """The arguments of Graph.from_edge_index, in its order."""

    edge_index: Tensor
    num_nodes: int | None
    directed: bool
    edge_weight: Tensor | None = None
    batch: Tensor | None = None
    ptr: Tensor | None = None


def of_scipy(matrix: Any, directed: bool, weighted: bool) -> Arcs:
    """One arc per stored entry."""
    import scipy.sparse

    check.flag(weighted, "weighted")
    if not scipy.sparse.issparse(matrix):
        raise TypeError(f"matrix must be a scipy.sparse matrix, got {type(matrix).__name__}")
    n = check_sparse.square("matrix", matrix.shape)
    entries = check_sparse.of_matrix("matrix", matrix)
    index = torch.from_numpy(np.stack([entries.row, entries.col]))
    weight = check_sparse.weights("matrix", entries.data) if weighted else None
    return Arcs(index, n, directed, weight)


def of_networkx(graph: networkx.Graph, weight: str | None) -> Arcs:
    """One arc per edge, in the order of ``graph.edges``."""
    if weight is not None and not isinstance(weight, str):
        raise TypeError(f"weight must be the name of an attribute or None, got {shortened(weight)}")
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "_adj")):
        raise TypeError(f"graph must be a networkx graph, got {type(graph).__name__}")
    made = _networkx.arrays(graph)
    length = None
    if weight is not None:
        found = _networkx.lengths(graph, made, weight)
        length = check_weights.networkx_weights(found, graph.edges(), weight)
    return Arcs(made.edge_index(), len(made.nodes), made.directed, length)


def of_data(data: Any, directed: bool, weighted: bool) -> Arcs:
    """The columns of a torch_geometric Data, Batch or EdgeIndex."""
    check.flag(directed, "directed")
    check.flag(weighted, "weighted")
    index: Any = getattr(data, "edge_index", data)
    if index is None:
        raise ValueError("data has no edge_index")
    if not isinstance(index, Tensor):
        raise TypeError(
            f"data must be a torch_geometric Data or EdgeIndex, got {type(data).__name__}"
        )
    weight = check_weights.data_weight(data, index) if weighted else None
    size, batch, ptr = None, None, None
    if index is not data:
        size, ptr = data.num_nodes, getattr(data, "ptr", None)
        batch = getattr(data, "batch", None) if ptr is None else None
    if _is_edge_index(index):
        size = index.sparse_size(0) if size is None else size
        index = index.as_tensor()
    return Arcs(index, size, directed, weight, batch, ptr)


def to_networkx(graph: Graph) -> networkx.Graph:
    networkx = need("networkx", "networkx", "Graph.to_networkx")
    made = networkx.DiGraph() if graph.directed else networkx.Graph()
    made.add_nodes_from(range(graph.num_nodes))
    row, col = graph.to_edge_index().tolist()
    if graph.weight is None:
        made.add_edges_from(zip(row, col, strict=True))
    else:
        made.add_weighted_edges_from(zip(row, col, graph.weight.tolist(), strict=True))
    return made


def _is_edge_index(index: Tensor) -> bool:
    return hasattr(index, "get_csr")
