"""The components of a graph as a batch of graphs, so that searches cost what they reach."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.graph import Graph, _batch, _csr
from torchcent.graph._cache import Slot
from torchcent.runtime import _small


class Pieces(NamedTuple):
    """A graph whose vertices are reordered, so that its components are the graphs of a batch."""

    graph: Graph
    order: Tensor  # int64 [n]: the vertex of the given graph
    rank: Tensor  # int64 [n]: the vertex of the batch
    slot: Tensor | None  # int64 [num_slots]: the slot of the graph; None if they are the same


@Slot
def component_sizes(graph: Graph) -> Tensor:
    """int64 [components], on the device of the graph."""
    return torch.bincount(graph.components)


def searched_share(graph: Graph) -> float:
    """The share of all pairs of vertices that lie in the same component."""
    if graph.num_nodes == 0:
        return 1.0
    size = component_sizes(graph).double()
    return float(size.square().sum()) / graph.num_nodes**2


def pieces(graph: Graph, least: int = 1) -> Pieces:
    """The (weakly) connected components, by their smallest vertices; O(n + m), kept with the graph.

    Vertices keep their order within each. Smaller components than `least` are put together until
    they have as many vertices.
    """
    every = _by_least(graph)
    if 1 not in every:
        every[1] = by_component(graph)
    if least not in every:
        every[least] = every[1]._replace(graph=_batch.merged(every[1].graph, least))
    return every[least]


@Slot
def _by_least(graph: Graph) -> dict[int, Pieces]:
    return {}


def by_component(graph: Graph) -> Pieces:
    """The same, not kept."""
    size = component_sizes(graph)
    ptr = _csr.pointers(size)
    label, rowptr, col, weight = graph.components, graph.rowptr, graph.col, graph.weight
    every = torch.arange(graph.num_nodes, device=graph.device)
    order = rank = every
    slot = None
    if bool((label[1:] < label[:-1]).any()):
        order = torch.argsort(label, stable=True)
        degree = rowptr.diff().index_select(0, order)
        begin = _csr.pointers(degree)
        slot = _small.repeat_interleave(
            rowptr.index_select(0, order) - begin[:-1], degree, output_size=col.numel()
        ).add_(torch.arange(col.numel(), device=graph.device))
        rank = torch.empty_like(order).index_copy_(0, order, every)
        rowptr, col = begin, rank.index_select(0, col.index_select(0, slot).long()).int()
        weight = None if weight is None else weight.index_select(0, slot)
    union = Graph(
        rowptr, col, None, graph.directed, weight, ptr, _trusted=True,
        _ties=graph._ties, _contraction=graph._contraction.part(rowptr, col, order),
    )  # fmt: skip
    return Pieces(union, order, rank, slot)


def around(graph: Graph, vertices: Tensor) -> tuple[Graph, Tensor]:
    """The components that hold any of these vertices, as one graph, and the vertices in it.

    The graph itself if these are most of it.
    """
    with_vertices = torch.zeros_like(component_sizes(graph), dtype=torch.bool)
    with_vertices[graph.components.index_select(0, vertices)] = True
    inside = with_vertices.index_select(0, graph.components)
    size = int(torch.count_nonzero(inside))
    if 2 * size > graph.num_nodes:
        return graph, vertices
    rank = inside.cumsum(0) - 1
    degree = graph.rowptr.diff()
    slots = _small.repeat_interleave(inside, degree, output_size=graph.num_slots)
    rowptr = _csr.pointers(degree[inside])
    part = Graph(
        rowptr, rank.index_select(0, graph.col[slots].long()).int(), None, graph.directed,
        None if graph.weight is None else graph.weight[slots], _trusted=True,
        _ties=graph._ties,
    )  # fmt: skip
    return part, rank.index_select(0, vertices)
