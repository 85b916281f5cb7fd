"""Potentials in a network of resistors: the grounded Laplacian of each component, solved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.graph import Graph, _csr, _segments
from torchcent.runtime import _memory, _ops, _small

_DENSE = 4  # matrices of k^2 numbers that live while one is inverted, at most
_ELIMINATED = 3  # likewise while vertices are eliminated: lists of arcs, and the matrix of the rest
_RATIO = 16  # vertices are eliminated while this many times their degree are left
_FEW = 4  # one column in so many or fewer is solved for by itself
_BLOCK = 2**25  # bytes of a block of right-hand sides, at most
_ROWS = 4  # such blocks that live at a time
_PAIRS = 64  # pairs whose currents are computed together, at most
_SORTED = 2**28  # numbers that are sorted in a call, so that Ctrl-C is heard in between


class Component(NamedTuple):
    """A connected component with two vertices or more, numbered 0 to k - 1."""

    label: int  # its number among the components
    vertices: Tensor  # int64 [k]: in the graph
    slots: Tensor  # int64 [m]: the slot u -> v, u < v, of each edge
    ends: Tensor  # int64 [2, m]: u and v within the component
    conductance: Tensor  # float64 [m]

    @property
    def size(self) -> int:
        return self.vertices.numel()

    def local(self, vertices: Tensor) -> Tensor:
        """The numbers within the component of some of its vertices."""
        return torch.searchsorted(self.vertices, vertices)

    @property
    def left(self) -> int:
        """The most vertices that elimination leaves of a graph that is nearly a tree.

        Without vertices of degree 1 and 2, c cycles have at most 2 c vertices.
        """
        cycles = self.conductance.numel() - self.size + 1  # edges more than a tree has
        return min(self.size, max(2 * cycles, 4 * _RATIO))

    @property
    def is_sparse(self) -> bool:
        """Whether elimination pays."""
        return 2 * self.conductance.numel() * _RATIO <= self.size**2

    def grounded(self) -> tuple[Tensor, int]:
        """float64 [k]: the sum of the conductances of each vertex, and that with the largest."""
        degree = self.at_ends(self.conductance)
        return degree, int(degree.argmax())

    def at_ends(self, values: Tensor) -> Tensor:
        """float64 [k]: for each vertex the sum over its edges, in the same order every time."""
        u, v = self.ends
        if u.device.type == "cpu":
            return torch.bincount(u, values, self.size) + torch.bincount(v, values, self.size)
        ends = self.ends.flatten()
        order = torch.argsort(ends, stable=True)
        edges = torch.bincount(ends, minlength=self.size)
        return _segments.of_segments(_csr.pointers(edges), values.repeat(2)[order])


def components(graph: Graph) -> Iterator[Component]:
    """All but the isolated vertices, in the order of the smallest vertices."""
    label, tail = graph.components, _small.repeat_interleave(graph.degree)
    slots = torch.nonzero(tail < graph.col).flatten()
    numbers = torch.arange(graph.num_nodes, device=graph.device)
    vertices, edges = by_label(label, numbers, numbers), by_label(label, tail[slots], slots)
    weight = graph.weight
    for number, (members, own) in enumerate(zip(vertices, edges, strict=True)):
        if own.numel():
            ends = torch.searchsorted(members, torch.stack([tail[own], graph.col[own].long()]))
            one = own.new_ones(own.numel(), dtype=torch.float64) if weight is None else weight[own]
            yield Component(number, members, own, ends, one)


def pairs_of(graph: Graph, u: Tensor, v: Tensor) -> Iterator[tuple[Component, Tensor, Tensor]]:
    """Components with pairs u, v of two vertices of theirs: which pairs, and their ends in it."""
    label = graph.components
    within = torch.nonzero((label[u] == label[v]) & (u != v)).flatten()
    if not within.numel():
        return
    of_label = by_label(label, u[within], within)
    for part in components(graph):
        here = of_label[part.label]
        if here.numel():
            yield part, here, part.local(torch.stack([u[here], v[here]]))


def by_label(label: Tensor, vertices: Tensor, values: Tensor) -> list[Tensor]:
    """For each component, the values of those of the vertices that it has."""
    own = label[vertices]
    count = torch.bincount(own, minlength=int(label.max()) + 1 if label.numel() else 0)
    return list(values[torch.argsort(own, stable=True)].split(count.tolist()))


class _Factor:
    """What elimination leaves (csrc/flow/cpu/elimination.cpp), factored to solve for columns.

    Rows and columns are those of the numbers that elimination gives; number 0 is grounded. An
    eliminated vertex passes its current on to its neighbours by their shares, and its potential is
    the mean of theirs plus `own` times that current.
    """

    def __init__(
        self, matrix: Tensor, ptr: Tensor, neighbour: Tensor, share: Tensor, own: Tensor
    ) -> None:
        import scipy.sparse

        self._left, self._own = matrix.shape[0], own.numpy()
        self._core = torch.linalg.cholesky(matrix)
        n = self._left + own.numel()
        first = np.concatenate([np.zeros(self._left, dtype=np.int64), ptr.numpy()])
        shares = scipy.sparse.csr_array((share.numpy(), neighbour.numpy(), first), (n, n))
        self._lower: Any = (scipy.sparse.eye_array(n, format="csr") - shares).tocsr()
        self._upper: Any = self._lower.T.tocsr()

    def solve(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64 [n, columns]: potentials for currents that enter."""
        from scipy.sparse.linalg import spsolve_triangular

        left = self._left
        potentials = spsolve_triangular(self._upper, right, lower=False, unit_diagonal=True)
        core = torch.cholesky_solve(torch.from_numpy(potentials[:left].copy()), self._core)
        potentials[:left] = core.numpy()
        potentials[0] = 0
        potentials[left:] *= self._own[:, None]
        return np.asarray(spsolve_triangular(self._lower, potentials, unit_diagonal=True))


class Potentials:
    """Columns of the inverse of the Laplacian without the row and the column of one vertex.

    That vertex, the one with the largest sum of conductances, has the potential 0. The inverse is
    dense, by Cholesky, if it fits in the memory allowed. Otherwise there is a sparse LU
    decomposition by SciPy on the host, and columns are solved for in blocks. On the CPU vertices of
    low degree are eliminated before a dense inversion (csrc/flow/cpu/elimination.cpp); of few
    columns only those are solved for (_Factor).
    """

    def __init__(self, part: Component, memory: int | None, columns: int | None = None) -> None:
        """`columns`: how many will be solved for, if they are few; None for all."""
        self.part, k = part, part.size
        self.device = part.vertices.device
        limit = _memory.budget(memory, self.device)
        degree, self.ground = part.grounded()
        self.number = torch.arange(k, device=self.device)  # the row and column of each vertex
        self.inverse: Tensor | None = None
        self._factor: Any = None
        self.free = limit  # bytes that may still be used
        if columns is not None and _FEW * max(columns, part.left) <= k:
            pass  # The factor of a graph that is nearly a tree is sparse, and the inverse is dense.
        elif part.is_sparse and _ops.has_kernel("eliminated", self.device):
            if fits(k, memory, self.device):
                self._eliminate(limit, columns is not None and _FEW * columns <= k)
        elif _DENSE * 8 * k * k <= limit:
            self.inverse = self._dense(degree)
        if self.inverse is not None:
            self.free -= 8 * k * k
        elif self._factor is None:
            self._factor = self._sparse(degree)
        self.width = max(1, min(_BLOCK, self.free // _ROWS) // (8 * k))
        if self.width == 1 and _ROWS * 8 * k > limit:
            raise _memory.refuse("a block of potentials", _ROWS * 8 * k, limit, memory)

    def _dense(self, degree: Tensor) -> Tensor:
        u, v = self.part.ends
        matrix = torch.diag(degree)
        matrix[u, v] = matrix[v, u] = -self.part.conductance
        matrix[self.ground] = matrix[:, self.ground] = 0
        matrix[self.ground, self.ground] = 1
        return _inverse(matrix, self.ground)

    def _eliminate(self, limit: int, few: bool) -> None:
        number, matrix, *steps = _elimination(self.part, self.ground)
        left, every = matrix.numel(), self.part.size**2
        if few:
            if 8 * _DENSE * left <= limit:
                self.number, self._numbers = number, np.arange(self.part.size)
                self._factor = _Factor(matrix, *steps)
                self.free -= 8 * left
            return
        # The allocator may keep the lists of arcs, two numbers for each.
        if 8 * max((_DENSE + 2) * left, every + _DENSE * left) <= limit:
            self.number = number
            self.inverse = _ops.ops.expanded(_inverse(matrix, 0), *steps, torch.get_num_threads())

    def _sparse(self, degree: Tensor) -> Any:
        import scipy.sparse
        import scipy.sparse.linalg

        k, (u, v) = self.part.size, self.part.ends.cpu().numpy()
        c = self.part.conductance.cpu().numpy()
        diagonal = np.arange(k)
        rows, columns = np.concatenate([u, v, diagonal]), np.concatenate([v, u, diagonal])
        values = np.concatenate([-c, -c, degree.cpu().numpy()])
        matrix = scipy.sparse.csc_array((values, (rows, columns)), (k, k))
        self._numbers = np.delete(diagonal, self.ground)
        core = matrix[self._numbers][:, self._numbers].tocsc()
        options = {"SymmetricMode": True}
        return scipy.sparse.linalg.splu(
            core, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options
        )

    def between(self, u: Tensor, v: Tensor) -> Tensor:
        """float64 [pairs, k]: potentials if a unit current enters at u and leaves at v.

        Columns are those of `number`.
        """
        if self.inverse is not None:
            return self.inverse[self.number[u]] - self.inverse[self.number[v]]
        right = np.zeros((self.part.size, u.numel()))
        each = np.arange(u.numel())
        right[self.number[u].cpu().numpy(), each] += 1
        right[self.number[v].cpu().numpy(), each] -= 1
        return self._solve(right)

    def columns(self, vertices: Tensor) -> Tensor | None:
        """float64 [k, vertices]: columns of the inverse; None if they do not fit in the memory."""
        if 2 * 8 * self.part.size * vertices.numel() > self.free:
            return None
        inverse = vertices.new_empty((self.part.size, vertices.numel()), dtype=torch.float64)
        parts = zip(vertices.split(self.width), inverse.split(self.width, 1), strict=True)
        for some, columns in parts:
            columns.copy_(self.between(some, torch.full_like(some, self.ground)).T)
        return inverse

    def row_sums(self) -> Tensor:
        """float64 [k]: the sum of each row of the inverse."""
        if self.inverse is not None:
            return self.inverse.sum(1)[self.number]
        return self._solve(np.ones((self.part.size, 1)))[0, self.number]

    def diagonal(self) -> Tensor:
        """float64 [k]: resistances to the grounded vertex."""
        if self.inverse is not None:
            return self.inverse.diagonal()[self.number]
        vertices = torch.arange(self.part.size, device=self.device)
        return self.resistance(vertices, torch.full_like(vertices, self.ground))

    def resistance(self, u: Tensor, v: Tensor) -> Tensor:
        """float64 [pairs]: the effective resistance of each pair."""
        if self.inverse is not None:
            inverse, u, v = self.inverse, self.number[u], self.number[v]
            return inverse[u, u] + inverse[v, v] - inverse[u, v] - inverse[v, u]
        parts = [u.new_empty(0, dtype=torch.float64)]
        for a, b in zip(u.split(self.width), v.split(self.width), strict=True):
            rows = self.between(a, b)
            a, b = (self.number[x][:, None] for x in (a, b))
            parts.append((rows.gather(1, a) - rows.gather(1, b)).flatten())
        return torch.cat(parts)

    def _solve(self, right: np.ndarray) -> Tensor:
        result = np.zeros((right.shape[1], self.part.size))
        result[:, self._numbers] = self._factor.solve(right[self._numbers]).T
        return torch.from_numpy(result).to(self.device)


def own_and_sums(part: Component, memory: int | None) -> tuple[Tensor, Tensor]:
    """float64 [k] both: resistances to the grounded vertex, and sums of the rows of the inverse.

    With elimination they need few entries of it (csrc/flow/cpu/selected.cpp).
    """
    device = part.vertices.device
    possible = part.is_sparse and _ops.has_kernel("selected", device)
    if possible and fits(part.left, memory, device):
        number, matrix, *steps = _elimination(part, part.grounded()[1])
        if (_DENSE + 2) * 8 * matrix.numel() <= _memory.budget(memory, device):
            own, sums = _ops.ops.selected(_inverse(matrix, 0), *steps)
            return own[number], sums[number]
    potentials = Potentials(part, memory)
    return potentials.diagonal(), potentials.row_sums()


def fits(size: int, memory: int | None, device: torch.device) -> bool:
    """Whether there may be a dense inverse of a component with so many vertices."""
    matrices = _ELIMINATED if _ops.has_kernel("eliminated", device) else _DENSE
    return matrices * 8 * size * size <= _memory.budget(memory, device)


def total_currents(potentials: Potentials, s: Tensor, t: Tensor) -> Tensor:
    """float64 [m]: the current through each edge, summed over the pairs s, t of vertices."""
    part, width = potentials.part, min(potentials.width, _PAIRS)
    u, v = potentials.number[part.ends]
    currents = torch.zeros_like(part.conductance)
    together = max(1, _BLOCK // (8 * width))  # edges
    for a, b in zip(s.split(width), t.split(width), strict=True):
        columns = potentials.between(a, b).T.contiguous()
        for first in range(0, u.numel(), together):
            some = slice(first, first + together)
            currents[some] += (columns[u[some]] - columns[v[some]]).abs_().sum(1)
    return currents * part.conductance


def throughput(part: Component, memory: int | None) -> Tensor:
    """float64 [m]: the current through each edge, summed over all unordered pairs of vertices.

    The current is linear in the two potentials: for s and t it is the difference of the entries s
    and t of one row. The sum of the absolute differences of k numbers follows from their order.
    """
    potentials = Potentials(part, memory)
    inverse, k = potentials.inverse, part.size
    rank = torch.arange(1 - k, k, 2, dtype=torch.float64, device=potentials.device)
    currents = []
    u, v = part.ends
    if inverse is not None and _ops.has_kernel("row_spreads", potentials.device):
        threads, together = torch.get_num_threads(), max(1, _SORTED // k)
        for ends in potentials.number[part.ends].split(together, 1):
            currents.append(_ops.ops.row_spreads(inverse, *ends, threads))
        return torch.cat(currents) * part.conductance
    for a, b in zip(u.split(potentials.width), v.split(potentials.width), strict=True):
        currents.append(_sort(potentials.between(a, b)) @ rank)
    return torch.cat(currents) * part.conductance


def throughput_between(part: Component, s: Tensor, t: Tensor, memory: int | None) -> Tensor:
    """float64 [m]: the current through each edge, summed over all pairs of one of s and one of t.

    Only the columns of these vertices are needed.
    """
    potentials, ends, rows = Potentials(part, memory), part.ends, None
    columns = torch.cat([s, t])
    if potentials.inverse is not None:
        rows, ends = potentials.inverse, potentials.number[ends]
        columns = torch.cat([potentials.number[x].sort().values for x in (s, t)])
    else:
        few, place = torch.unique(columns, return_inverse=True)
        rows = potentials.columns(few)
        columns = columns if rows is None else place
    currents, width = [], columns.numel()
    if rows is not None and _ops.has_kernel("row_crossings", potentials.device):
        threads = torch.get_num_threads()
        for some in ends.split(max(1, _SORTED // width), 1):
            currents.append(_ops.ops.row_crossings(rows, *some, columns, s.numel(), threads))
    else:
        # Twice as many numbers live for each column as in a block of right-hand sides.
        together = max(1, potentials.width * part.size // (2 * width))
        for u, v in ends.split(min(together, potentials.width), 1):
            if rows is None:
                x = potentials.between(u, v)[:, columns]
            else:
                x = rows[u[:, None], columns] - rows[v[:, None], columns]
            currents.append(_crossing(x, s.numel()))
    return torch.cat(currents) * part.conductance


def _crossing(rows: Tensor, sources: int) -> Tensor:
    """float64 [rows]: the sum of |x_s - x_t| over s of the first columns and t of the others.

    Each gap between two numbers in order counts for the pairs on both sides of it.
    """
    values, order = rows.sort(1)
    s = (order < sources).cumsum(1)
    t = torch.arange(1, rows.shape[1] + 1, device=rows.device) - s
    pairs = s * (rows.shape[1] - sources - t) + t * (sources - s)
    return (values.diff(dim=1) * pairs[:, :-1]).sum(1)


def _elimination(part: Component, ground: int) -> Any:
    return _ops.ops.eliminated(part.ends, part.conductance, part.size, ground, _RATIO)


def _inverse(matrix: Tensor, ground: int) -> Tensor:
    """The inverse, with a row and a column of zeros for the grounded vertex."""
    inverse = _small.positive_inverse(matrix)
    inverse[ground, ground] = 0
    return inverse


def _sort(rows: Tensor) -> Tensor:
    if rows.device.type != "cpu":
        return rows.sort(1).values
    values = rows.numpy()
    values.sort(axis=1)  # vectorised, several times faster than PyTorch's
    return rows
