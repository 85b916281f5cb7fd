"""Bounds on all eccentricities, from the distances to and from a few vertices.

With f = d(u, .), b = d(., u) and e = max f, the triangle inequality gives for every v that u
reaches and that reaches u

    e(v) >= max(b(v), e - f(v))        to u itself, and to the vertex farthest from u
    e(v) <= b(v) + e                   via u

(Takes and Kosters 2011 and 2013; Borassi et al. 2015). On a symmetric graph f = b.

Searches run on the device of the graph. The bounds are updated by short vector operations in NumPy
on the host, which take less time than launching them in PyTorch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.distances._distance_sums import source_sums
from torchcent.distances._run import farthest
from torchcent.engines import _tensor
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _room
from torchcent.engines.plan._choice import OPERATORS
from torchcent.engines.plan._costs import Bits
from torchcent.engines.reduce import _hops
from torchcent.engines.search import _weighted_rows
from torchcent.graph import Graph
from torchcent.runtime import _memory, _ops
from torchcent.runtime._codes import WIDE_BITS

Vector = NDArray[Any]  # distances: int32 hops, or float64 by weights
Indices = NDArray[np.int64]

MOST_SINGLE = 64  # sources up to which searches one by one are faster than rows of bits
_BYTES_PER_NODE = 200  # memory of the bounds


class Bounds:
    """Bounds of the (outgoing) eccentricities in the (strong) component of a vertex, the root.

    Here and where bounds are used, vertices are identified by their index in `vertex`. On a
    symmetric graph `back` is `out`.
    """

    def __init__(self, graph: Graph, request: Request, root: int) -> None:
        self.graph, self.request = graph, request
        out, back = self._distances(root)
        inside = (out >= 0) & (back >= 0)
        self.is_whole = bool(inside.all())
        self.vertex: Indices = np.flatnonzero(inside)
        size = self.vertex.size
        self.lower: Vector = np.zeros(size, out.dtype)
        self.upper: Vector = np.full(size, graph.num_nodes, out.dtype)
        self.slack = 0.0  # relative rounding error of sums of weights
        if graph.is_weighted:
            self.upper.fill(np.inf)
            # Distances of decimals are rounded once, and so are the sums of them in bounds.
            exact = graph.scale.exact and not graph.scale.digits
            self.slack = 0.0 if exact else 2.0**-51 * graph.num_nodes
        # Sum of the distances in both directions.
        self.sum: Vector = np.zeros(size, np.float64 if graph.is_weighted else np.int64)
        self.exact = np.zeros(size, bool)
        self.longest = 0.0  # longest distance found
        self.root = self._update(int(np.searchsorted(self.vertex, root)), out, back)

    def search(self, place: int) -> tuple[Vector, Vector]:
        """Distances from and to a vertex of the component."""
        return self._update(place, *self._distances(int(self.vertex[place])))

    def _distances(self, vertex: int) -> tuple[Vector, Vector]:
        out = distances_from(self.graph, self.request, vertex)
        if self.graph.is_symmetric:
            return out, out
        return out, distances_from(self.graph, self.request, vertex, backward=True)

    def _update(self, place: int, out: Vector, back: Vector) -> tuple[Vector, Vector]:
        symmetric = back is out
        if not self.is_whole:
            out = out[self.vertex]
            back = out if symmetric else back[self.vertex]
        eccentricity = out.max().item()
        farthest = eccentricity if symmetric else back.max().item()
        self.longest = max(self.longest, eccentricity, farthest)
        np.maximum(self.lower, back, out=self.lower)
        # The absolute error of a difference is that of its operands, however small the difference
        # is.
        least = eccentricity * (1 - self.slack) if self.slack else eccentricity
        np.maximum(self.lower, least - out, out=self.lower)
        np.minimum(self.upper, back + eccentricity, out=self.upper)
        self.lower[place] = self.upper[place] = eccentricity
        self.sum += out
        if not symmetric:
            self.sum += back
        self.exact[place] = True
        return out, back

    def most_central(self, places: Indices) -> int:
        """One of these vertices with the smallest lower bound; of those, the nearest."""
        lower = self.lower[places]
        places = places[lower == lower.min()]
        return int(places[self.sum[places].argmin()])

    def largest_distances(self, places: Indices, backward: bool = False) -> Vector:
        """The largest distance from each of the vertices, or to it, by a search from each."""
        graph, request = self.graph, self.request
        vertices = torch.from_numpy(self.vertex[places]).to(graph.device)
        by_hops = request.engine == "auto" and _ops.available and not graph.is_weighted
        if by_hops and graph.device.type == "cpu" and vertices.numel() <= MOST_SINGLE:
            return farthest(graph, request, vertices, backward).numpy()
        return source_sums(graph, request, vertices, not backward).eccentricity.cpu().numpy()


def worth(row: Vector) -> int:
    """The approximate number of vertices that the bits engine searches in the time of one search.

    Its work per vertex grows with the number of levels on which simultaneous searches arrive. That
    number is estimated from the spread of the distances in one row. (Measured: 2 to 6 on meshes and
    roads, 60 to 400 on small worlds.)
    """
    if row.dtype != np.int32:  # by weights, where no engine searches that many at once
        return 1
    return int(256 / min(1 + 2 * row.std(), 64.0))


def distances_from(graph: Graph, request: Request, vertex: int, backward: bool = False) -> Vector:
    """[n]: distances from the vertex, or to it; -1 where there is no path."""
    if graph.is_weighted:
        row = _weighted_rows.single(graph, request.engine, vertex, backward)
        return torch.where(torch.isfinite(row), row, -1).cpu().numpy()
    rowptr, col = graph.transpose if backward else (graph.rowptr, graph.col)
    search = _hops.hops_on_tensors if request.engine == "tensor" else _hops.hops
    return search(rowptr, col, vertex).cpu().numpy()


def as_tensor(values: Vector | Indices, graph: Graph) -> Tensor:
    return torch.from_numpy(values).to(graph.device)


def check_memory(graph: Graph, request: Request) -> None:
    """Raises MemoryError if memory does not suffice for single searches and one batch.

    This includes the bounds, the rows of the roots, and temporary vectors.
    """
    limit, n = _room.limit(graph, request.memory), graph.num_nodes
    has_kernel = _ops.has_kernel(OPERATORS["distances"][False], graph.device)
    if graph.is_weighted or request.engine == "tensor" or not has_kernel:
        search = _tensor.memory_needed(n, graph.num_slots, 1)
    elif graph.device.type == "cuda":
        search = Bits.flight(n, graph.num_slots, 1, limit)[0]
    else:
        search = Bits.row_bytes(n, WIDE_BITS)
    need = graph._nbytes + search + _BYTES_PER_NODE * n
    _memory.require(request.measure, need, limit, request.memory)
