"""The graphs of a batch: as separate graphs, and results per graph of a union.

A batch is sorted: the vertices and the slots of each graph are contiguous, so the results of one
graph are a slice of those of the union.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.graph import Graph, _fixed_point, _segments
from torchcent.graph._cache import Slot
from torchcent.graph._strengths import Strengths

Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]


@Slot
def bounds(graph: Graph) -> Bounds:
    """The first vertex and the first slot of each graph, with the totals at the end, on the host.

    A single graph is a batch of one.
    """
    if graph.ptr is None:
        return np.array([0, graph.num_nodes]), np.array([0, graph.num_slots])
    both = torch.stack([graph.ptr, graph.rowptr[graph.ptr]]).cpu().numpy()
    return both[0], both[1]


@Slot
def counts(graph: Graph) -> Bounds:
    """The number of vertices and of slots of each graph, on the host."""
    vertex, slot = bounds(graph)
    return vertex[1:] - vertex[:-1], slot[1:] - slot[:-1]


def part(graph: Graph, number: int) -> Graph:
    """One graph of a batch, as if it had been given alone; cached with the batch."""
    if graph.ptr is None:
        return graph
    parts = _by_number(graph)
    if number not in parts:
        vertices, slots = run(graph, number)
        # In fixed point, each has its own scale.
        ties = graph._ties
        if ties.sums == "fixed point":
            ties = ties._replace(sums="decimal")
        rowptr = _shifted(graph.rowptr[vertices.start : vertices.stop + 1], slots.start)
        col = _shifted(graph.col[slots], vertices.start)
        contraction = None
        if graph._contraction.is_part or graph._contraction.is_known:
            own = torch.arange(vertices.start, vertices.stop, device="cpu")
            contraction = graph._contraction.part(rowptr, col, own)
        piece = Graph(
            rowptr, col, None, graph.directed,
            None if graph.weight is None else graph.weight[slots], _trusted=True, _ties=ties,
            _multiplicity=_own(graph._multiplicity, vertices, slots),
            _sums=_own(graph._sums, vertices, slots), _contraction=contraction,
            _diagonal=None if graph._diagonal is None else graph._diagonal[vertices],
        )  # fmt: skip
        parts[number] = piece if ties == graph._ties else _fixed_point.of(piece)
    return parts[number]


@Slot
def _by_number(graph: Graph) -> dict[int, Graph]:
    return {}


def merged(graph: Graph, least: int) -> Graph:
    """The same union, whose small graphs are put together until they have `least` vertices.

    For sums over pairs, which lie within one graph: a call for each of many small graphs takes
    longer than its searches.
    """
    if graph.ptr is None:
        return graph
    last = bounds(graph)[0]
    ends = [0]
    while ends[-1] < graph.num_nodes:
        following = int(np.searchsorted(last, ends[-1] + least))
        ends.append(int(last[min(following, last.size - 1)]))
    if len(ends) == last.size:
        return graph
    ptr = torch.tensor(ends, device=graph.device)
    return graph._with(slot=None, _ids=None, ptr=ptr)


def _own(strengths: Strengths, vertices: slice, slots: slice) -> Strengths:
    """Those of one graph."""
    by_slot, loops = strengths
    return Strengths(
        None if by_slot is None else by_slot[slots], None if loops is None else loops[vertices]
    )


def _shifted(ids: Tensor, start: int) -> Tensor:
    """ids - start; on the CPU without waking PyTorch's threads, which then compete with ours."""
    return ids - start if ids.is_cuda else torch.from_numpy(ids.numpy() - start)


def run(graph: Graph, number: int) -> tuple[slice, slice]:
    """The ranges of the vertices and the slots of one graph."""
    vertex, slot = bounds(graph)
    return (
        slice(int(vertex[number]), int(vertex[number + 1])),
        slice(int(slot[number]), int(slot[number + 1])),
    )


def chosen(graph: Graph, vertices: Tensor | None) -> Callable[[int], Tensor | None]:
    """A function that returns which of these vertices of the union belong to a given graph.

    Vertices are numbered within the graph, and their order is kept; None stays None. If `vertices`
    are weights, float64 [n], the function returns those of the graph.
    """
    if vertices is None:
        return lambda number: None
    if vertices.is_floating_point():
        values = vertices
        return lambda number: values[run(graph, number)[0]]
    first = bounds(graph)[0]
    ordered = vertices[torch.argsort(of_graph(graph, vertices), stable=True)]
    starts = torch.from_numpy(first).to(vertices.device)
    begin = torch.searchsorted(vertices.sort().values, starts).tolist()
    return lambda number: ordered[begin[number] : begin[number + 1]] - int(first[number])


def places(graph: Graph, vertices: Tensor) -> Callable[[int], Tensor]:
    """A function that returns where in `vertices` those of a given graph are, ascending."""
    owner = of_graph(graph, vertices)
    order = torch.argsort(owner, stable=True)
    last = torch.bincount(owner, minlength=graph.num_graphs).cumsum(0).tolist()
    return lambda number: order[last[number - 1] if number else 0 : last[number]]


def of_graph(graph: Graph, vertices: Tensor) -> Tensor:
    """The graph of each of these vertices."""
    return torch.zeros_like(vertices) if graph.batch is None else graph.batch[vertices]


def sizes(graph: Graph) -> Tensor:
    """int64 [num_graphs]: number of vertices of each graph."""
    if graph.ptr is None:
        return torch.from_numpy(np.array([graph.num_nodes])).to(graph.device)
    return graph.ptr.diff()


def per_vertex(graph: Graph, values: Tensor) -> Tensor:
    """The value of its graph for each vertex."""
    if graph.batch is None:
        return values.expand(graph.num_nodes, *values.shape[1:])
    return values.index_select(0, graph.batch)


def total(graph: Graph, values: Tensor) -> Tensor:
    """The sum over the vertices of each graph, in an order that its size determines (_segments)."""
    return _segments.of_segments(ends(graph), values)


def largest(graph: Graph, values: Tensor) -> Tensor:
    """The largest value of each graph; 0 for an empty graph."""
    if graph.ptr is None:
        return values.amax(0, keepdim=True) if graph.num_nodes else values.new_zeros(1)
    return _segments.largest_of_segments(graph.ptr, values)


def smallest(graph: Graph, values: Tensor) -> Tensor:
    """The smallest value of each graph; 0 for an empty graph."""
    return -largest(graph, -values)


@Slot
def ends(graph: Graph) -> Tensor:
    """Where the vertices of each graph begin, and the last one ends."""
    if graph.ptr is not None:
        return graph.ptr
    return torch.tensor([0, graph.num_nodes], device=graph.device)
