"""Positions whose distances are close to those of a connected graph: stress, all pairs or a part.

The stress of positions x is the sum of w_ij (|x_i - x_j| - d_ij)^2 with w_ij = 1 / d_ij^2. Of small
graphs it is that of all pairs, majorised as by Gansner, Koren and North (2004). Of others the pairs
are those of neighbours, of neighbours of one vertex, and of each vertex with pivots. These stand
for the vertices closest to them (Ortmann, Klimenta and Brandes 2016). Positions begin with pivot
MDS (Brandes and Pich 2006).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_CLOSE = 1e-9  # of the mean distance: closer points have no direction
_STEP = 0.7  # of the way to where the neighbours and pivots of a vertex want it
_ROWS = 2048  # vertices whose distances to the pivots are in the cache
_JITTER = 0.1  # of the mean distance to a pivot: neighbours without others begin apart


class Pairs(NamedTuple):
    """Pairs of vertices in both directions, by rows, and their distances."""

    begin: Ids  # of each row
    col: Ids
    length: Floats


def pivot_mds(distance: Floats) -> Floats:
    """[n, 2] from the distances [n, k] to pivots: the two leading axes of the centred squares."""
    square = distance * distance
    centred = square - square.mean(0) - square.mean(1, keepdims=True) + square.mean()
    _, states = np.linalg.eigh(centred.T @ centred)
    places: Floats = -0.5 * centred @ states[:, ::-1][:, :2]
    if places.shape[1] < 2:
        places = np.column_stack([places, np.zeros((len(places), 2 - places.shape[1]))])
    size = np.sqrt((places**2).sum(1)).mean()
    if size > 0:
        places *= distance.mean() / size
    return places


def all_pairs(
    distance: Floats, places: Floats, iterations: int, chance: np.random.Generator
) -> Floats:
    """Majorises the stress of all pairs: [n, 2] from the distances [n, n]."""
    n = len(distance)
    off = ~np.eye(n, dtype=bool)
    weight = np.zeros((n, n))
    weight[off] = distance[off] ** -2.0
    laplacian = -weight
    np.fill_diagonal(laplacian, weight.sum(1))
    solve = np.linalg.inv(laplacian + 1 / n)  # on what sums to 0
    want = weight * distance
    places = places + chance.normal(0, _JITTER * distance.mean(), places.shape)
    before = np.inf
    for _ in range(iterations):
        apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(2))
        stress = float((weight * (apart - distance) ** 2).sum())
        if before - stress <= 1e-5 * stress:
            break
        before = stress
        pull = -want / np.maximum(apart, _CLOSE * distance.mean())
        np.fill_diagonal(pull, 0)
        np.fill_diagonal(pull, -pull.sum(1))
        places = solve @ (pull @ places)
    return places


def some_pairs(
    near: Pairs, distance: Floats, pivots: Ids, places: Floats, iterations: int,
    chance: np.random.Generator,
) -> Floats:  # fmt: skip
    """Lowers the stress of neighbours and pivots; `distance` is [n, k], to the pivots."""
    mean = float(distance.mean())
    places = places + chance.normal(0, _JITTER * mean, places.shape)
    away = np.where(distance > 0, distance, np.inf)
    weight = _represented(distance) / away**2
    want = (weight * distance).astype(np.float32)
    weight = weight.astype(np.float32)
    of_near = near.length**-2.0
    row = np.repeat(np.arange(len(places)), np.diff(near.begin))
    has = np.flatnonzero(np.diff(near.begin))
    total = weight.sum(1, dtype=np.float64)
    total[has] += np.add.reduceat(of_near, near.begin[has])
    least = _CLOSE * mean
    for _ in range(iterations):
        goal = np.zeros_like(places)
        step = places[row] - places[near.col]
        apart = np.sqrt(np.einsum("ij,ij->i", step, step))
        step *= (near.length / np.maximum(apart, least))[:, None]
        step += places[near.col]
        step *= of_near[:, None]
        goal[has] = np.add.reduceat(step, near.begin[has])
        _add_pivots(goal, places, pivots, weight, want, least)
        places = places + _STEP * (goal / total[:, None] - places)
    return places


def _represented(distance: Floats) -> Floats:
    """[n, k]: the vertices that a pivot stands for, as seen by each vertex: of those closest to the
    pivot, the ones at most half as far from it."""
    region = distance.argmin(1)
    count = np.empty_like(distance)
    for pivot in range(distance.shape[1]):
        own = np.sort(distance[region == pivot, pivot])
        count[:, pivot] = np.searchsorted(own, distance[:, pivot] / 2, side="right")
    return np.maximum(count, 1)


def _add_pivots(
    goal: Floats, places: Floats, pivots: Ids, weight: NDArray[np.float32],
    want: NDArray[np.float32], least: float,
) -> None:  # fmt: skip
    """Where the pivots want the vertices, added up."""
    own = places.astype(np.float32)
    ends = own[pivots]
    x, y = np.ascontiguousarray(ends.T)
    for begin in range(0, len(places), _ROWS):
        part = slice(begin, begin + _ROWS)
        right, up = own[part, :1] - x, own[part, 1:] - y
        ratio = right * right
        ratio += up * up
        np.sqrt(ratio, out=ratio)
        np.maximum(ratio, np.float32(least), out=ratio)
        np.divide(want[part], ratio, out=ratio)
        goal[part] += weight[part] @ ends
        goal[part, 0] += np.einsum("ij,ij->i", ratio, right)
        goal[part, 1] += np.einsum("ij,ij->i", ratio, up)


def siblings(begin: Ids, col: Ids, length: Floats, chance: np.random.Generator) -> Pairs:
    """The arcs of a graph, and some pairs of neighbours of a vertex, with their way over it.

    The neighbours of each vertex are paired in two rounds around it, so that leaves spread.
    """
    n = len(begin) - 1
    row = np.repeat(np.arange(n), np.diff(begin))
    tails, heads, lengths = [row], [col], [length]
    for _ in range(2):
        order = np.lexsort((chance.random(len(col)), row))
        first, second = order, np.roll(order, -1)
        last = np.flatnonzero(np.diff(row, append=-1))  # the last slot of each row
        second[last] = order[begin[row[last]]]
        some = col[first] != col[second]
        u, v, way = col[first][some], col[second][some], (length[first] + length[second])[some]
        tails += [u, v]
        heads += [v, u]
        lengths += [way, way]
    tail, head, way = np.concatenate(tails), np.concatenate(heads), np.concatenate(lengths)
    order = np.lexsort((way, head, tail))  # of equal pairs the shortest, which may be an edge
    tail, head, way = tail[order], head[order], way[order]
    first = np.flatnonzero((np.diff(tail, prepend=-1) != 0) | (np.diff(head, prepend=-1) != 0))
    tail, head, way = tail[first], head[first], way[first]
    bounds = np.searchsorted(tail, np.arange(n + 1))
    return Pairs(bounds, head, way)
