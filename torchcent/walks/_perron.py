"""Leading eigenvectors of nonnegative matrices by their strong components, for graphs on which
products converge slowly: long paths and cycles, roads, equal or defective largest eigenvalues.

An irreducible matrix B has a positive eigenvector of its largest eigenvalue. For any positive x
that eigenvalue is between the smallest and the largest of (Bx)_v / x_v (Collatz and Wielandt).
Noda's iteration solves (s - B) z = x for s the upper bound: it converges quadratically. This runs
on the host, in one thread.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg
from numpy.typing import NDArray

_Numbers = NDArray[np.float64]
_Matrix = Any  # scipy.sparse.csr_array

_LEAST = 1e-280  # entries of a vector that is divided by
_EQUAL = 4e-14  # eigenvalues that rounding does not tell apart, relative
_SOLVES = 80  # of Noda's iteration, at most
# The vertices up to which a factorization is affordable, by the entries per vertex: there is little
# fill in matrices like those of trees, roads and rings.
_FACTORED = ((1_000, 1e9), (20_000, 10.0), (300_000, 5.0), (5_000_000, 2.6))


def _dot(one: _Numbers, other: _Numbers) -> float:
    """Not by BLAS, whose threads change the bits."""
    return float(np.sum(one * other))


def _length(vector: _Numbers) -> float:
    return math.sqrt(_dot(vector, vector))


def is_affordable(size: int, entries: int) -> bool:
    return any(size <= most and entries <= ratio * size for most, ratio in _FACTORED)


class _Classes(NamedTuple):
    """The strong components that have arcs inside of them, and bounds on their eigenvalues."""

    vertex: NDArray[np.int64]  # class by class
    first: NDArray[np.int64]  # [classes + 1]
    inner: _Matrix  # the arcs within classes, in the order of `vertex`
    low: _Numbers
    high: _Numbers
    x: _Numbers  # positive

    def own(self, number: int) -> slice:
        """The vertices of a class, in the order of `vertex`."""
        return slice(self.first[number], self.first[number + 1])

    def pair(self, number: int, tol: float) -> _Pair:
        own = self.own(number)
        return _irreducible(self.inner[own, own], self.x[own], tol)


def _classes(matrix: _Matrix) -> _Classes | None:
    """None if there is no cycle."""
    _, label = scipy.sparse.csgraph.connected_components(matrix, True, "strong")
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    inside = label[row] == label[matrix.indices]
    cyclic = np.zeros(label.max(initial=-1) + 1, dtype=bool)
    cyclic[label[row[inside]]] = True
    if not cyclic.any():
        return None
    order = np.argsort(label, kind="stable")
    vertex = order[cyclic[label[order]]]
    count = np.bincount(label[vertex], minlength=cyclic.size)[cyclic]
    place = np.full(matrix.shape[0], -1)
    place[vertex] = np.arange(vertex.size)
    inner = scipy.sparse.csr_array(
        (matrix.data[inside], (place[row[inside]], place[matrix.indices[inside]])),
        shape=(vertex.size, vertex.size),
    )
    none = np.zeros(count.size)
    first = np.concatenate([[0], count.cumsum()])
    return _Classes(vertex, first, inner, none, none + np.inf, np.ones(vertex.size))


def _narrowed(classes: _Classes, steps: int, enough: float) -> _Classes:
    """Bounds by products, until those of the largest eigenvalue differ by a factor of `enough`."""
    begin, count = classes.first[:-1], np.diff(classes.first)
    low, high, x = classes.low, classes.high, classes.x
    for _ in range(steps):
        image = classes.inner @ x
        ratio = image / x
        low = np.maximum(low, np.minimum.reduceat(ratio, begin))
        high = np.minimum(high, np.maximum.reduceat(ratio, begin))
        if high.max() <= enough * low.max():
            break
        x = image + x * np.repeat(high / 2, count)  # not periodic
        x = np.maximum(x / np.repeat(np.maximum.reduceat(x, begin), count), _LEAST)
    return classes._replace(low=low, high=high, x=x)


def bounds(matrix: _Matrix, alpha: float) -> tuple[float, float]:
    """Bounds on the largest eigenvalue: within a thousandth of each other, or on one side of
    1 / alpha, or as close as affordable. Both are 0 if there is no cycle."""
    classes = _classes(matrix)
    if classes is None:
        return 0.0, 0.0
    for _ in range(10):
        classes = _narrowed(classes, 30, 1.001)
        low, high = float(classes.low.max()), float(classes.high.max())
        if alpha * high < 1 or high <= 1.001 * low:
            return low, high
        if is_affordable(classes.vertex.size, classes.inner.nnz):
            leading = np.flatnonzero(classes.high >= low).tolist()
            values = [classes.pair(i, 0) for i in leading]
            return max(x.low for x in values), max(x.high for x in values)
    return low, high


def largest(matrix: _Matrix) -> float:
    """The largest eigenvalue, 0 if there is no cycle: its bounds differ by 1e-9 of it, unless that
    takes too many products."""
    classes = _classes(matrix)
    if classes is None:
        return 0.0
    classes = _narrowed(classes, 200, 1 + 1e-9)
    low, high = float(classes.low.max()), float(classes.high.max())
    if high > (1 + 1e-9) * low and is_affordable(classes.vertex.size, classes.inner.nnz):
        return max(classes.pair(x, 1e-6).high for x in np.flatnonzero(classes.high >= low).tolist())
    return high


class _Pair(NamedTuple):
    low: float
    high: float
    vector: _Numbers
    error: float  # estimated, of the vector


def _irreducible(block: _Matrix, x: _Numbers, tol: float) -> _Pair:
    """The largest eigenvalue and its positive eigenvector, by Noda's iteration from x."""
    block = block.tocsc()
    unit = scipy.sparse.identity(block.shape[0], format="csc")
    change = last = np.inf
    x = x / _length(x)
    low, high = 0.0, np.inf
    for _ in range(_SOLVES):
        ratio = (block @ x) / x
        low, high = max(low, float(ratio.min())), min(high, float(ratio.max()))
        if block.shape[0] == 1 or high - low <= 4e-16 * high:
            return _Pair(low, max(low, high), x, 0.0)
        solver = scipy.sparse.linalg.splu(
            scipy.sparse.csc_matrix(unit * (high * (1 + 4e-16)) - block),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        new = np.abs(solver.solve(x))
        if not np.isfinite(new).all():
            break
        new = np.maximum(new / new.max(), _LEAST)
        new /= _length(new)
        change, last = _length(new - x), change
        x = new
        still = change < 1e-5 and change > last / 2  # by rounding
        if still or (change <= tol / 10 and high - low <= _EQUAL / 4 * high):
            break
    return _Pair(low, max(low, high), x, change)


class Defective(Exception):
    """The power method converges like 1 / k only."""


class Unresolved(Exception):
    """Rounding does not allow the tolerance; the argument is the error that it leaves."""


def limit(matrix: _Matrix, start: _Numbers, tol: float, symmetric: bool) -> _Numbers | None:
    """Where powers of matrix + 1 lead from `start`, normalised; None if that is not affordable."""
    classes = _classes(matrix)
    if classes is None or not is_affordable(matrix.shape[0], matrix.nnz):
        return None
    classes = _narrowed(classes, 40, 1 + 1e-14)
    numbers = np.flatnonzero(classes.high >= classes.low.max()).tolist()
    pairs = {i: classes.pair(i, tol) for i in numbers}
    top = max(pair.low for pair in pairs.values())
    leading = {i: pair for i, pair in pairs.items() if pair.high >= top * (1 - _EQUAL)}
    error = max(pair.error for pair in leading.values())
    if error > tol:
        raise Unresolved(error)
    vector = np.zeros(matrix.shape[0])
    for i, pair in leading.items():
        own = classes.own(i)
        members = classes.vertex[own]
        if symmetric:
            vector[members] = pair.vector * _dot(pair.vector, start[members])
            continue
        # The eigenvector of a class and what it reaches, times its share of `start`.
        back = matrix.T.tocsr()
        beyond = _outside(back, members)
        for other in leading:
            if other != i and np.isin(classes.vertex[classes.own(other)], beyond).any():
                raise Defective
        share = 1.0
        if len(leading) > 1:
            left = _irreducible(classes.inner[own, own].T, np.ones(members.size), 1e-12).vector
            before = _outside(matrix, members)
            share = _dot(left, start[members])
            share += _dot(_onward(back, members, left, before, top), start[before])
            share /= _dot(left, pair.vector)
        vector[members] += share * pair.vector
        vector[beyond] += share * _onward(matrix, members, pair.vector, beyond, top)
    unit: _Numbers = vector / _length(vector)
    return unit


def _outside(arcs: _Matrix, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """The vertices that a class leads to, besides its own; arcs[u, v]: from u to v."""
    order = scipy.sparse.csgraph.breadth_first_order(
        arcs, int(members[0]), directed=True, return_predecessors=False
    )
    outside: NDArray[np.int64] = np.setdiff1d(order, members)
    return outside


def _onward(
    matrix: _Matrix, members: NDArray[np.int64], x: _Numbers, beyond: NDArray[np.int64], top: float
) -> _Numbers:
    """The entries of an eigenvector where it is not of a leading class: (top - M) y = M x."""
    if not beyond.size:
        return np.zeros(0)
    rows = matrix[beyond]
    inner = scipy.sparse.identity(beyond.size, format="csc") * top - rows[:, beyond]
    solver = scipy.sparse.linalg.splu(scipy.sparse.csc_matrix(inner))
    y: _Numbers = solver.solve(rows[:, members] @ x)
    return np.maximum(np.atleast_1d(y), 0)
