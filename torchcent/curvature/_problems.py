"""The transport problems of edges, on tensors: what one end has more than the other, and costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.curvature._cycles import Adjacency
from torchcent.graph import Graph, _csr
from torchcent.runtime import _small

TOGETHER = 2**20  # pairs of a row and a column of problems that are solved together
_UNITS = 2**54  # of mass in a unit, about, where masses are rounded
_ROWS = 2**25  # bytes of rows of distances at a time


class Problems(NamedTuple):
    """Problems of some edges. Vertices with mass to give are rows, those with room are columns."""

    slots: Tensor  # int64 [edges]
    rows: Tensor  # int64 [edges]: how many each has
    columns: Tensor
    supply: Tensor  # float64, of the rows of all edges one after the other
    demand: Tensor
    cost: Tensor  # float64 [pairs]: of each row of an edge to each of its columns, row by row
    total: Tensor  # float64 [edges]: the mass of a unit
    length: Tensor  # float64 [edges]: the distance of both ends
    factor: Tensor  # float64 [edges]: of the curvature, for the idleness that is asked for

    def curvature(self, cost: Tensor) -> Tensor:
        """float64 [edges], from the least costs."""
        return self.factor * (1 - cost / self.total / self.length)


def sizes(graph: Graph, slots: Tensor) -> Tensor:
    """int64 [edges]: the most pairs of a row and a column that the problem of an edge can have."""
    row = _small.repeat_interleave(graph.degree)[slots]
    return (graph.degree[row] + 2) * (graph.degree[graph.col[slots].long()] + 2)


def problems(graph: Graph, slots: Tensor, alpha: float) -> Iterator[Problems]:
    """Those of the edges of these slots, some at a time."""
    adjacent = Adjacency(graph)
    for first, end in _csr.runs(sizes(graph, slots), TOGETHER):
        yield _of_edges(graph, adjacent, slots[first:end], alpha)


def _of_edges(graph: Graph, adjacent: Adjacency, slots: Tensor, alpha: float) -> Problems:
    n, degree = graph.num_nodes, graph.degree
    u, v = adjacent.row[slots], graph.col[slots].long()
    is_large = degree[u] >= degree[v]
    u, v = torch.where(is_large, u, v), torch.where(is_large, v, u)
    most, least = degree[u], degree[v]
    share_u, share_v, own_u, own_v, total, factor = _masses(graph, most, least, alpha)
    edge = torch.arange(slots.numel(), device=slots.device)
    parts = [(edge, u, own_u), (edge, v, -own_v)]
    for vertex, share in ((u, share_u), (v, -share_v)):
        count = degree[vertex]
        number = _small.repeat_interleave(edge, count)
        parts.append((number, graph.col[_csr.ranges(graph.rowptr[vertex], count)], share[number]))
    numbers, vertices, masses = (torch.cat(each) for each in zip(*parts, strict=True))
    key, place = torch.unique(numbers * n + vertices, return_inverse=True)
    mass = torch.zeros_like(key).index_add_(0, place, masses)
    sides = []
    for side in (mass > 0, mass < 0):
        own = key[side]
        count = torch.bincount(own // n, minlength=slots.numel())
        sides.append((own % n, count, mass[side].abs().double()))
    (x, rows, supply), (y, columns, demand) = sides
    each = _small.repeat_interleave(columns, rows)  # columns of each row
    number = _small.repeat_interleave(torch.arange(x.numel(), device=x.device), each)
    begin = _small.repeat_interleave(columns.cumsum(0) - columns, rows)
    cost = _distances(graph, adjacent, x[number], y[_csr.ranges(begin, each)])
    length = _distances(graph, adjacent, u, v)
    return Problems(slots, rows, columns, supply, demand, cost, total, length, factor)


def _masses(graph: Graph, most: Tensor, least: Tensor, alpha: float) -> tuple[Tensor, ...]:
    """Whole numbers: of a neighbour of each end, of the ends, of all; and the factor.

    From an idleness on, curvature is proportional to 1 - alpha. With weights that is at most 1/2.
    By hops it is 1 / (most + 1), and masses there are multiples of 1 / ((most + 1) least).
    """
    multiple = torch.lcm(most, least)
    unit = multiple * (_UNITS // multiple).clamp(min=1)
    idle = most.new_full(most.shape, alpha, dtype=torch.float64)
    if graph.is_weighted:
        idle = idle.clamp(max=0.5)
    own = (idle / (1 - idle).clamp(min=2**-60) * unit).round().long()
    factor = torch.where(idle < alpha, (1 - alpha) / (1 - idle), 1.0)
    shares = [unit // most, unit // least, own, own, unit + own]
    if not graph.is_weighted:
        linear = alpha * (most + 1) >= 1
        whole = (least, most, least, least, (most + 1) * least)
        shares = [torch.where(linear, x, y) for x, y in zip(whole, shares, strict=True)]
        factor = torch.where(linear, (1 - alpha) * (most + 1) / most, factor)
    return (*shares[:4], shares[4].double(), factor)


def _distances(graph: Graph, adjacent: Adjacency, u: Tensor, v: Tensor) -> Tensor:
    """float64 [pairs], of different vertices around one edge."""
    if graph.is_weighted:
        return _lengths(graph, u, v)
    hops = torch.full(u.shape, 3.0, dtype=torch.float64, device=u.device)
    degree = graph.degree
    for first, end in _csr.runs(torch.minimum(degree[u], degree[v]), 4 * TOGETHER):
        a, b = u[first:end], v[first:end]
        a, b = torch.where(degree[a] <= degree[b], a, b), torch.where(degree[a] <= degree[b], b, a)
        pair = _small.repeat_interleave(degree[a])
        between = graph.col[_csr.ranges(graph.rowptr[a], degree[a])].long()
        hops[first + pair[adjacent(between, b[pair])]] = 2
        hops[first:end][adjacent(a, b)] = 1
    return hops


def _lengths(graph: Graph, u: Tensor, v: Tensor) -> Tensor:
    """The lengths of shortest paths, by SciPy on the host."""
    from scipy.sparse.csgraph import dijkstra

    matrix = graph.to("cpu").to_scipy()
    sources, row = torch.unique(u.cpu(), return_inverse=True)
    heads = v.cpu()
    lengths = torch.empty(u.shape, dtype=torch.float64, device="cpu")
    farthest = 3.0 * float(matrix.data.max(initial=0)) * (1 + 1e-9)
    together = max(1, _ROWS // (8 * max(graph.num_nodes, 1)))
    for first in range(0, sources.numel(), together):
        some = sources[first : first + together].numpy()
        rows = torch.from_numpy(np.asarray(dijkstra(matrix, indices=some, limit=farthest)))
        here = torch.nonzero((row >= first) & (row < first + together)).flatten()
        lengths[here] = rows[row[here] - first, heads[here]]
    return lengths.to(u.device)
