"""Groups that cover many of the sampled paths: greedy maximum coverage and its bounds."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.approx._bounds import binomial_interval
from torchcent.graph import _csr
from torchcent.runtime import _small

#: the part of the best group's coverage that a greedy choice reaches at least
GREEDY = 1 - 1 / math.e


class Paths:
    """Sampled paths as sets of vertices, with the vertices that block each of them."""

    def __init__(self, num_nodes: int, endpoints: bool) -> None:
        self._num_nodes, self._endpoints = num_nodes, endpoints
        self.count = self.nbytes = 0
        self._vertex: list[Tensor] = []
        self._path: list[Tensor] = []

    def add(self, vertex: Tensor, length: Tensor) -> None:
        """Vertices from source to target, path after path, and the number of each."""
        path = _small.repeat_interleave(length)
        if not self._endpoints:
            last = length.cumsum(0)
            inner = torch.ones_like(path, dtype=torch.bool)
            inner[last[length > 0] - 1] = False
            inner[(last - length)[length > 0]] = False
            vertex, path = vertex[inner], path[inner]
        self._vertex.append(vertex)
        self._path.append(path + self.count)
        self.nbytes += 16 * vertex.numel()
        self.count += length.numel()

    def joined(self) -> tuple[Tensor, Tensor]:
        """int64: vertices, and the path of each, ascending."""
        vertex, path = torch.cat(self._vertex), torch.cat(self._path)
        self._vertex, self._path = [vertex], [path]
        return vertex, path

    def covered(self, group: Tensor) -> Tensor:
        """int64 [k]: the number of paths with one of the first i + 1 vertices of the group."""
        vertex, path = self.joined()
        rank = torch.full((self._num_nodes,), group.numel(), device=vertex.device)
        rank[group] = torch.arange(group.numel(), device=vertex.device)
        first = torch.full((self.count,), group.numel(), device=vertex.device)
        first.scatter_reduce_(0, path, rank[vertex], "amin")
        return torch.bincount(first, minlength=group.numel() + 1)[:-1].cumsum(0)


class Greedy(NamedTuple):
    """A greedy choice: its vertices in order, and an upper bound on the paths that any k cover."""

    group: Tensor  # int64 [k]
    best: int


def greedy(paths: Paths, k: int, num_nodes: int) -> Greedy:
    """The vertex in most paths that are not covered yet, k times; the first of equal ones.

    Any k vertices cover at most what is covered after some step and the k largest gains left (Tang
    et al. 2018). They cover at most what is covered at the end divided by 1 - 1/e.
    """
    vertex, path = paths.joined()
    gain = torch.bincount(vertex, minlength=num_nodes)
    by_vertex = torch.argsort(vertex, stable=True)
    first_of_vertex = _csr.pointers(gain)
    first_of_path = _csr.pointers(torch.bincount(path, minlength=paths.count))
    is_left, count, group = torch.ones(paths.count, dtype=torch.bool, device=path.device), 0, []
    free = torch.ones(num_nodes, dtype=torch.bool, device=path.device)
    best = paths.count
    for _ in range(k):
        best = min(best, count + int(torch.topk(gain, k).values.sum()))
        best_vertex = int(torch.where(free, gain, -1).argmax())
        group.append(best_vertex)
        free[best_vertex] = False
        own = path[by_vertex[first_of_vertex[best_vertex] : first_of_vertex[best_vertex + 1]]]
        new = own[is_left[own]]
        is_left[new] = False
        count += new.numel()
        start = first_of_path[new]
        others = vertex[_csr.ranges(start, first_of_path[new + 1] - start)]
        gain -= torch.bincount(others, minlength=num_nodes)
    best = min(best, count + int(torch.topk(gain, k).values.sum()), int(count / GREEDY))
    return Greedy(torch.tensor(group, device=path.device), best)


def bounds(hits: int, best: int, samples: int, failure: float) -> tuple[float, float]:
    """A lower bound on the share that a group covers, which follows from `seen` of other samples,
    and an upper bound on the share that any group does. Each fails with probability `failure`."""
    counts, chance = np.array([hits, best]), np.full(2, failure)
    low, high = binomial_interval(counts, samples, chance, chance)
    return float(low[0]), float(high[1])
