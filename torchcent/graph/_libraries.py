"""Graphs of igraph, NetworKit, graph-tool and DGL as arguments of Graph.from_edge_index.

Every reader keeps the order of the library's vertices and edges. What tells these libraries apart
is what their classes have, so that none of them is imported.
"""

from __future__ import annotations

import warnings
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _inputs as check_inputs
from torchcent.graph import _csr, _labels
from torchcent.graph._arcs import Arcs

#: What the graphs of a library have, and hardly anything else.
IGRAPH = ("get_edgelist", "vs", "es", "is_directed")
NETWORKIT = ("iterEdges", "upperNodeIdBound", "isDirected")
GRAPH_TOOL = ("get_edges", "get_vertices", "edge_properties", "is_directed")
DGL = ("canonical_etypes", "edges", "edata", "num_nodes")


def of_igraph(graph: Any, weight: object = None, name: str = "graph") -> Arcs:
    """One arc per edge, in the order of ``graph.es``."""
    require(graph, IGRAPH, name, "an igraph.Graph")
    pairs = graph.get_edgelist()
    index = np.fromiter(chain.from_iterable(pairs), np.int64, 2 * len(pairs)).reshape(-1, 2).T
    key = check_inputs.attribute(weight, graph.es.attributes, "igraph graph")
    length = None
    if key is not None:
        length = check_inputs.numbers(graph.es[key], f"the edge attribute {key!r}")
    names = None
    if "name" in graph.vs.attributes():
        names = _labels.of_attribute(graph.vs["name"], _tell_of_names)
    return Arcs(_tensor(index), graph.vcount(), bool(graph.is_directed()), length, labels=names)


def _tell_of_names(reason: str) -> None:
    warnings.warn(
        f"the attribute 'name' of the vertices is not taken for labels: {reason}", stacklevel=6
    )


def of_networkit(graph: Any, weight: object = None, name: str = "graph") -> Arcs:
    """One arc per edge, in the order of ``graph.iterEdges()``."""
    require(graph, NETWORKIT, name, "a networkit.Graph")
    check_inputs.compact(graph.upperNodeIdBound(), graph.numberOfNodes())
    count, length = graph.numberOfEdges(), None
    if check_inputs.values_wanted(weight, "a networkit.Graph"):
        rows = chain.from_iterable(graph.iterEdgesWeights())
        table = np.fromiter(rows, np.float64, 3 * count).reshape(-1, 3)
        index, length = table[:, :2].astype(np.int64).T, torch.from_numpy(table[:, 2].copy())
    else:
        ends = chain.from_iterable(graph.iterEdges())
        index = np.fromiter(ends, np.int64, 2 * count).reshape(-1, 2).T
    return Arcs(_tensor(index), graph.numberOfNodes(), bool(graph.isDirected()), length)


def of_graph_tool(graph: Any, weight: object = None, name: str = "graph") -> Arcs:
    """One arc per edge, in the order of ``graph.edges()``.

    Vertex i is the i-th of ``graph.vertices()``: the one of index i, unless the graph is filtered.
    """
    require(graph, GRAPH_TOOL, name, "a graph_tool.Graph")
    key = check_inputs.attribute(weight, lambda: list(graph.edge_properties), "graph-tool graph")
    ends = np.asarray(graph.get_edges()).astype(np.int64)[:, :2]
    vertices = np.asarray(graph.get_vertices()).astype(np.int64)
    if len(vertices) and vertices[-1] != len(vertices) - 1:
        ends = np.searchsorted(vertices, ends)
    if not graph.is_directed():
        ends = np.sort(ends, axis=1)  # parallel edges may be listed in both directions
    length = None
    if key is not None:
        rows = np.asarray(graph.get_edges([graph.edge_properties[key]]))
        length = check_inputs.numbers(rows[:, 2], f"the edge property {key!r}")
    return Arcs(_tensor(ends.T), len(vertices), bool(graph.is_directed()), length)


def of_dgl(graph: Any, weight: object = None, name: str = "graph") -> Arcs:
    """One arc per edge, in the order of edge ids; a batched graph becomes a batch."""
    require(graph, DGL, name, "a dgl.DGLGraph")
    plain = graph.is_homogeneous and not getattr(graph, "is_block", False)
    check_inputs.homogeneous(plain, graph, "dgl.to_homogeneous(graph)")
    source, target = graph.edges(form="uv", order="eid")
    key = check_inputs.attribute(weight, lambda: list(graph.edata), "DGL graph")
    ptr = None
    if graph.batch_size > 1:
        sizes = torch.as_tensor(graph.batch_num_nodes(), device=source.device)
        ptr = _csr.pointers(sizes.long())
    length = None if key is None else graph.edata[key]
    index = torch.stack([source, target])
    return Arcs(index, graph.num_nodes(), True, length, ptr=ptr)


def require(value: Any, names: tuple[str, ...], name: str, wanted: str) -> None:
    if isinstance(value, type) or not has(type(value), names):
        raise check_inputs.other(value, name, wanted)


def has(kind: type, names: tuple[str, ...]) -> bool:
    """Whether a class has these attributes; no code of an instance runs."""
    return all(hasattr(kind, name) for name in names)


def _tensor(index: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(index))
