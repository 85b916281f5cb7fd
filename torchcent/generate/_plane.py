"""Graphs of the plane: grids, triangulations, roads."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
import torch
from torch import Tensor

from torchcent.check._values import flag
from torchcent.generate._edges import check_room, generator, pairs, share, symmetric, whole
from torchcent.io import EdgeList


def grid(rows: int, cols: int) -> Tensor:
    """A rows x cols grid: vertex ``r * cols + c`` is joined to its 4 neighbours.

    num_nodes: ``rows * cols``.

    Example:
        >>> grid(2, 2).tolist()
        [[0, 0, 1, 1, 2, 2, 3, 3], [1, 2, 0, 3, 0, 3, 1, 2]]
    """
    rows, cols = whole("rows", rows, 0), whole("cols", cols, 0)
    u, v = _grid_pairs(rows, cols)
    return symmetric(pairs(u, v, rows * cols), rows * cols)


def _grid_pairs(rows: int, cols: int) -> tuple[np.ndarray, np.ndarray]:
    check_room(rows * cols, 2 * rows * cols, f"rows={rows}, cols={cols}")
    vertex = np.arange(rows * cols).reshape(rows, cols)
    u = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    v = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    return u, v


def delaunay(n: int, *, seed: int = 0) -> Tensor:
    """Delaunay triangulation of n random points of the unit square (a planar mesh), n >= 3.

    The model behind the DIMACS10 graphs delaunay_n*. num_nodes: n.

    Example:
        >>> delaunay(100).max().item()
        99
    """
    from scipy.spatial import Delaunay

    n = whole("n", n, 3)
    check_room(n, 9 * n, f"n={n}")
    points = generator(seed).random((n, 2))
    triangle = Delaunay(points).simplices.astype(np.int64)
    ends = np.concatenate([triangle[:, [0, 1]], triangle[:, [1, 2]], triangle[:, [2, 0]]])
    return symmetric(pairs(ends[:, 0], ends[:, 1], n), n)


@overload
def road(
    rows: int, cols: int, removed: float = 0.3, *, lengths: Literal[False] = False, seed: int = 0
) -> Tensor: ...


@overload
def road(
    rows: int, cols: int, removed: float = 0.3, *, lengths: Literal[True], seed: int = 0
) -> EdgeList: ...


def road(
    rows: int, cols: int, removed: float = 0.3, *, lengths: bool = False, seed: int = 0
) -> Tensor | EdgeList:
    """A road-like graph: the largest component of a grid with a random share of edges removed.

    It has long paths, dead ends and degrees of 1 to 4, like a street network. Vertices are
    renumbered row by row, so num_nodes is ``edge_index.max() + 1``.

    With lengths=True it is an EdgeList with a row per street. Crossings lie up to 30 m from the
    points of a grid of 100 m, which ``positions`` has in metres. Streets are up to a fifth longer
    than the straight line. The arcs are the same.

    Example:
        >>> road(20, 20).shape[0]
        2
        >>> streets = road(20, 20, lengths=True)
        >>> streets.graph(edge_weight=True).is_weighted, streets.positions.shape[1]
        (True, 2)
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    rows, cols = whole("rows", rows, 1), whole("cols", cols, 1)
    with_lengths = flag(lengths, "lengths")
    u, v = _grid_pairs(rows, cols)
    rng = generator(seed)
    keep = rng.random(len(u)) >= share("removed", removed)
    u, v = u[keep], v[keep]
    matrix = coo_matrix((np.ones(len(u), np.int8), (u, v)), shape=(rows * cols,) * 2)
    component = connected_components(matrix, directed=False)[1]
    inside = component == np.bincount(component).argmax()
    number = np.cumsum(inside) - 1
    edge = inside[u]
    n = int(inside.sum())
    keys = pairs(number[u[edge]], number[v[edge]], n)
    if not with_lengths:
        return symmetric(keys, n)
    place = np.stack(np.divmod(np.flatnonzero(inside), cols)[::-1], axis=1) * 100.0
    place += rng.uniform(-30, 30, place.shape)
    ends = np.stack(np.divmod(keys, max(n, 1)))
    straight = np.linalg.norm(place[ends[0]] - place[ends[1]], axis=1)
    length = torch.from_numpy(straight * rng.uniform(1, 1.2, keys.size))
    return EdgeList(torch.from_numpy(ends), length, None, n, positions=torch.from_numpy(place))
