"""The efficiency of neighbourhoods."""

from __future__ import annotations

import numpy as np
import torch

from torchcent import Graph
from torchcent.nx._config import device
from torchcent.nx._graph import BackendGraph
from torchcent.nx._sums import sums_of

_WORK = 2**23  # arcs looked at per batch of neighbourhoods


def local_efficiency(G: BackendGraph) -> float:
    """The neighbourhoods of many vertices are searched as the graphs of a batch."""
    n = len(G)
    rowptr, col = (x.numpy() for x in G.adjacency)  # a loop makes a vertex its own neighbour
    degree = np.diff(rowptr)
    work = np.bincount(np.repeat(np.arange(n), degree), degree[col], n).cumsum()
    total, begin = 0.0, 0
    while begin < n:
        limit = _WORK + (work[begin - 1] if begin else 0)
        end = max(begin + 1, int(np.searchsorted(work, limit, side="right")))
        total += _efficiencies(rowptr, col, begin, end)
        begin = end
    return total / n


def _efficiencies(rowptr: np.ndarray, col: np.ndarray, begin: int, end: int) -> float:
    """The sum of the efficiencies of the neighbourhoods of vertices from `begin` to `end` - 1."""
    n = len(rowptr) - 1
    size = np.diff(rowptr[begin : end + 1])
    owner = np.repeat(np.arange(end - begin), size)
    # Members of all neighbourhoods, by neighbourhood and vertex.
    member = np.sort(owner * n + col[rowptr[begin] : rowptr[end]])
    vertex = member % n
    # Candidates for their arcs: to the neighbours of each member that are members as well.
    count = rowptr[vertex + 1] - rowptr[vertex]
    tail = np.repeat(np.arange(member.size), count)
    slot = np.arange(tail.size) + np.repeat(rowptr[vertex] - (count.cumsum() - count), count)
    other = owner[tail] * n + col[slot]
    head = np.searchsorted(member, other)
    there = np.zeros(tail.size, bool)
    inside = head < member.size
    there[inside] = member[head[inside]] == other[inside]
    arcs = torch.from_numpy(np.stack([tail[there], head[there]])).to(device())
    ptr = torch.from_numpy(np.concatenate([[0], size.cumsum()])).to(device())
    if member.size == 0:
        return 0.0
    graph = Graph.from_edge_index(arcs, member.size, ptr=ptr)
    pairs = size * (size - 1.0)
    harmonic = sums_of(graph).harmonic.numpy()
    return float((np.bincount(owner, harmonic, size.size) / np.maximum(pairs, 1)).sum())
