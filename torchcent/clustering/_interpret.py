"""Interpretation of the limit of the flow as clusters: attractors, their basins, and overlap.

The rules are those of mcl (van Dongen 2000, chapter 6 for idempotent matrices, extended to flows
that have not fully converged):

- Entries of column j that are at least a bar are the arcs that leave j. With loop s and largest
  entry x, the bar is 0.999 s + 0.001 x if s < x, else s / 1.01.
- A vertex with an arc to itself is an *attractor*. Attractors connected by arcs, in either
  direction, form a system. Each system defines a cluster.
- All other vertices belong to the clusters of all systems that they reach along arcs.
- Vertices that reach no attractor, which exist only if the flow does not converge, are clustered by
  the arcs among themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from torchcent.clustering._flow import Flow
from torchcent.graph._components import components

if TYPE_CHECKING:
    import scipy.sparse

OVERLAPS = ("cut", "keep", "split")
_DEEPEST = 64  # squarings of the arcs: paths of any length


@dataclass(frozen=True, eq=False)
class Interpretation:
    """Clusters, graph by graph, by decreasing size (ties by the lowest vertex)."""

    label: np.ndarray  # int64 [n], the first cluster of each vertex
    members: np.ndarray  # of all clusters, ascending within each; overlap "keep" repeats some
    offset: np.ndarray  # the start of each cluster in members, and the end
    attractors: np.ndarray  # int64, ascending
    overlaps: np.ndarray  # int64, the vertices that flow to several systems, ascending
    graph: np.ndarray  # of each cluster


def interpret(flow: Flow, overlap: str, graph: np.ndarray | None = None) -> Interpretation:
    """The clusters of a flow; for a batch, `graph` holds the graph of each vertex. `overlap`
    determines the treatment of vertices in several clusters. "cut" keeps them in the cluster with
    the most attractors (ties by the lowest attractor). "keep" leaves them in all, and "split" forms
    a new cluster for each combination of clusters."""
    n = flow.num_nodes
    graph = np.zeros(n, np.int64) if graph is None else graph
    column, row = _arcs(flow)
    attractor = np.zeros(n, bool)
    attractor[column[row == column]] = True
    head = np.flatnonzero(attractor)
    vertex, overlaps = np.arange(n), np.zeros(0, np.int64)
    cluster = _single(column, row, n)
    if cluster is None:
        system = _systems(column, row, attractor)
        cluster = _only(column, row, head, system, n)
        if cluster is None:
            membership = _membership(column, row, attractor, system)
            overlaps = np.flatnonzero(np.diff(membership.indptr) > 1)
            if overlap == "keep":
                vertex, cluster = membership.nonzero()
            else:
                cluster = membership.indices[membership.indptr[:-1]].astype(np.int64)
                if overlap == "split" and len(overlaps):
                    cluster = _split(membership, cluster, overlaps)
    label, members, offset = _order(vertex, cluster, graph)
    return Interpretation(label, members, offset, head, overlaps, graph[members[offset[:-1]]])


def _arcs(flow: Flow) -> tuple[np.ndarray, np.ndarray]:
    """The arcs: columns and rows of the entries that are at least the bar of their column."""
    n = flow.num_nodes
    colptr, row, value = (part.cpu().numpy() for part in flow.packed())
    column = np.repeat(np.arange(n), np.diff(colptr))
    value = value.astype(np.float64)
    loop, largest = np.zeros(n), np.zeros(n)
    is_loop = row == column
    loop[column[is_loop]] = value[is_loop]
    np.maximum.at(largest, column, value)
    bar = np.where(loop < largest, 0.999 * loop + 0.001 * largest, loop / 1.01)
    large = value >= bar[column]
    return column[large], row[large]


def _single(column: np.ndarray, row: np.ndarray, n: int) -> np.ndarray | None:
    """The attractor that each vertex reaches, if a single arc leaves every vertex; otherwise None.
    This is the usual limit. Each attractor is then a system of its own."""
    if len(column) != n or (column != np.arange(n)).any():
        return None
    end, before = row.astype(np.int64), None
    for _ in range(_DEEPEST):
        end, before = end[end], end
        if np.array_equal(end, before):
            break
    return end if (row[end] == end).all() else None


def _systems(column: np.ndarray, row: np.ndarray, attractor: np.ndarray) -> np.ndarray:
    """The system of each attractor, the one with the most attractors first, then by the lowest."""
    among = attractor[column] & attractor[row] & (column != row)
    count = int(attractor.sum())
    if not among.any():
        return np.arange(count)
    number = np.cumsum(attractor) - 1
    degree = np.bincount(number[column[among]], minlength=count)
    rowptr = torch.from_numpy(np.concatenate([[0], np.cumsum(degree)]))
    arcs = torch.from_numpy(number[row[among]].astype(np.int32))
    system = components(rowptr, arcs, symmetric=False).numpy()
    rank: np.ndarray = np.argsort(np.argsort(-np.bincount(system), kind="stable"))[system]
    return rank


def _only(
    column: np.ndarray, row: np.ndarray, head: np.ndarray, system: np.ndarray, n: int
) -> np.ndarray | None:
    """The system of each vertex if every vertex reaches exactly one; otherwise None. Along the
    arcs, the lowest and the highest of the systems that each vertex reaches spread; the two are the
    same if there is only one."""
    begin = np.searchsorted(column, np.arange(n + 1))
    if (begin[1:] == begin[:-1]).any():
        return None
    lowest, highest = np.full(n, n), np.full(n, -1)
    lowest[head] = highest[head] = system
    for _ in range(_DEEPEST):
        low = np.minimum(lowest, np.minimum.reduceat(lowest[row], begin[:-1]))
        high = np.maximum(highest, np.maximum.reduceat(highest[row], begin[:-1]))
        if np.array_equal(low, lowest) and np.array_equal(high, highest):
            break
        lowest, highest = low, high
    else:
        return None
    lowest[head] = highest[head] = system
    return lowest if np.array_equal(lowest, highest) else None


def _membership(
    column: np.ndarray, row: np.ndarray, attractor: np.ndarray, system: np.ndarray
) -> scipy.sparse.csr_array:
    """bool [n, clusters]: the clusters of each vertex, the systems first."""
    import scipy.sparse.csgraph

    def matrix(row: np.ndarray, column: np.ndarray, columns: int) -> scipy.sparse.csr_array:
        ones = np.ones(len(row), bool)
        return scipy.sparse.csr_array((ones, (row, column)), shape=(len(attractor), columns))

    systems = int(system.max(initial=-1)) + 1
    arcs = matrix(column, row, len(attractor))
    heads = matrix(np.flatnonzero(attractor), system, systems)
    ends, before = heads, -1
    for _ in range(_DEEPEST):
        if ends.nnz == before:
            break
        before = ends.nnz
        ends = (arcs @ ends + heads).astype(bool)
    members = scipy.sparse.csr_array(ends.multiply(~attractor[:, None])) + heads
    rest = np.flatnonzero(np.diff(members.tocsr().indptr) == 0)
    extra, part = scipy.sparse.csgraph.connected_components(arcs[rest][:, rest], directed=False)
    members = members.tocoo()
    vertex = np.concatenate([members.row, rest])
    membership = matrix(vertex, np.concatenate([members.col, systems + part]), systems + extra)
    membership.sort_indices()
    return membership


def _split(
    membership: scipy.sparse.csr_array, cluster: np.ndarray, several: np.ndarray
) -> np.ndarray:
    """Forms a cluster for every combination of clusters."""
    cluster = cluster.copy()
    numbers: dict[tuple[int, ...], int] = {}
    begin = membership.indptr
    for v in several.tolist():
        key = tuple(membership.indices[begin[v] : begin[v + 1]].tolist())
        cluster[v] = membership.shape[1] + numbers.setdefault(key, len(numbers))
    return cluster


def _order(
    vertex: np.ndarray, cluster: np.ndarray, graph: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Label per vertex, members and offsets, given pairs (vertex, cluster) in any numbering."""
    cluster = np.unique(cluster, return_inverse=True)[1]
    n, size = len(graph), np.bincount(cluster)
    lowest = np.full(len(size), n, np.int64)
    np.minimum.at(lowest, cluster, vertex)
    order = np.lexsort((lowest, -size, graph[lowest]))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    cluster = place[cluster]
    label = np.full(n, len(size), np.int64)
    np.minimum.at(label, vertex, cluster)
    offset = np.concatenate([[0], np.cumsum(size[order])])
    return label, vertex[np.lexsort((vertex, cluster))].astype(np.int64), offset
