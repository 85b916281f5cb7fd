"""EdgeList, the contents of a graph file, and the mapping of vertex ids to vertex numbers."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _files as check_files
from torchcent.check import _positions as check_positions
from torchcent.check import _values as check_values
from torchcent.check import _weights as check_weights
from torchcent.check._values import shortened
from torchcent.graph import Graph, _labels
from torchcent.graph._graph import named
from torchcent.io._budget import Budget
from torchcent.runtime import _ops

_HASHED = 1 << 20  # arcs that are hashed at a time


@dataclass(frozen=True, eq=False)
class Streets:
    """The lines of which edges were made.

    Attributes:
        lines: a GeoDataFrame, with all columns of the file; lines of several parts are divided.
        rows: int64 ``[E]``, the row of the line of each edge; a street that leads both ways in a
            directed graph has two edges.
    """

    lines: Any
    rows: Tensor


@dataclass(frozen=True, eq=False)
class EdgeList:
    """The edges of a file, in file order, and the labels of its vertices.

    Self-loops and repeated edges are kept; :meth:`graph` has both beside its arcs, for measures of
    strengths.

    Attributes:
        edge_index: int64 ``[2, E]``, vertex numbers from 0 to ``num_nodes - 1``.
        edge_weight: float64 ``[E]``, or None if the file has no weights.
        labels: the label of each vertex in the file: an array ``[num_nodes]`` of int64 or of
            ``str`` objects. None if the ids in the file are the vertex numbers themselves.
        num_nodes: number of vertices, including isolated vertices if the file lists them.
        directed: whether a line ``a b`` is an arc from a to b only.
        positions: float64 ``[num_nodes, 2]``, x and y of each vertex, NaN where they are unknown;
            None if the file has none.
        crs: the coordinate system of the positions, such as ``"EPSG:4326"``: x and y are longitude
            and latitude in degrees. None if it is not known.
        streets: the :class:`Streets` of a file of lines (:func:`read_streets`), else None.

    Example:
        >>> import torch
        >>> edges = EdgeList(torch.tensor([[0, 1], [1, 2]]), labels=["Ada", "Bob", "Cleo"])
        >>> edges.num_nodes, edges.directed, edges.vertex_labels()[2]
        (3, False, 'Cleo')
    """

    edge_index: Tensor
    edge_weight: Tensor | None = None
    labels: Any = None
    num_nodes: int = -1
    directed: bool = False
    positions: Tensor | None = None
    crs: str | None = None
    streets: Streets | None = None

    def __post_init__(self) -> None:
        index = self.edge_index
        if not isinstance(index, Tensor):
            raise TypeError(f"edge_index must be a tensor, got {type(index).__name__}")
        check_values.dense(index, "edge_index")
        if index.dim() != 2 or index.size(0) != 2:
            raise ValueError(f"edge_index must have shape [2, E], got {list(index.shape)}")
        if index.dtype != torch.int64:
            raise TypeError(f"edge_index must be int64, got {index.dtype}")
        check_values.flag(self.directed, "directed")
        if isinstance(self.num_nodes, bool) or not isinstance(self.num_nodes, Integral):
            raise TypeError(f"num_nodes must be an int, got {shortened(self.num_nodes)}")
        if self.num_nodes >= 2**31:
            raise ValueError(f"num_nodes={shortened(self.num_nodes)}; accepted: below 2^31")
        labels = None if self.labels is None else _label_array(self.labels)
        object.__setattr__(self, "labels", labels)
        low, high = (int(index.min()), int(index.max())) if index.numel() else (0, -1)
        if self.num_nodes < 0:
            object.__setattr__(self, "num_nodes", high + 1 if labels is None else len(labels))
        if labels is not None and len(labels) != self.num_nodes:
            raise ValueError(f"{len(labels)} labels for num_nodes={self.num_nodes} vertices")
        if low < 0 or high >= self.num_nodes:
            wrong = low if low < 0 else high
            raise ValueError(f"edge_index holds {wrong}; num_nodes={self.num_nodes} allows less")
        weight = self.edge_weight
        if weight is not None:
            if not isinstance(weight, Tensor):
                kind = type(weight).__name__
                raise TypeError(f"edge_weight must be a tensor or None, got {kind}")
            check_values.dense(weight, "edge_weight")
            if weight.shape != (index.size(1),):
                shape = list(weight.shape)
                raise ValueError(f"edge_weight must have shape [{index.size(1)}], got {shape}")
        check_positions.crs(self.crs)
        check_positions.of_vertices(self.positions, self.num_nodes)
        if self.streets is not None and len(self.streets.rows) != index.size(1):
            count = len(self.streets.rows)
            raise ValueError(f"streets has {count} rows for {index.size(1)} edges")

    @property
    def num_edges(self) -> int:
        """Number of edges (columns of ``edge_index``)."""
        return int(self.edge_index.size(1))

    def _pairs(self, directed: bool) -> np.ndarray:
        """A number of the ends of each edge, if not `directed` of both directions."""
        ends = self.edge_index.numpy()
        low, high = ends if directed else np.sort(ends, 0)
        pairs: np.ndarray = low * max(self.num_nodes, 1) + high
        return pairs

    def vertex_labels(self) -> np.ndarray:
        """The labels ``[num_nodes]``; the vertex numbers if ``labels`` is None."""
        return np.arange(self.num_nodes) if self.labels is None else np.asarray(self.labels)

    def _selected(self, stays: Tensor) -> EdgeList:
        """Some of the edges, and all vertices."""
        weight = None if self.edge_weight is None else self.edge_weight[stays]
        index = self.edge_index[:, stays]
        return replace(self, edge_index=index, edge_weight=weight, streets=None)

    def edge_name(self, edge: int) -> str:
        """The edge as the file names it, for messages."""
        u, v = self.vertex_labels()[self.edge_index[:, edge].numpy()]
        return f"edge {u} {v} (row {edge + 1})"

    def graph(self, directed: bool | None = None, *, edge_weight: bool = False) -> Graph:
        """The :class:`torchcent.Graph` of these edges.

        Args:
            directed: overrides ``self.directed``.
            edge_weight: True uses the weights as distances; False ignores them.

        Raises:
            ValueError: there are no weights, or a weight is not a valid distance (the message names
                the first such edge).
        """
        directed = self.directed if directed is None else directed
        wanted = check_values.flag(edge_weight, "edge_weight")
        weight = self.edge_weight if wanted else None
        if wanted and self.edge_weight is None:
            raise ValueError("edge_weight=True, but the edges have no weights")
        if weight is not None:
            check_weights.distances(weight, self.edge_name)
        graph = Graph.from_edge_index(self.edge_index, self.num_nodes, directed, weight)
        return named(graph, self._names)

    @property
    def _names(self) -> Any:
        """The labels, for a graph, which has each once."""
        return _labels.of_attribute(self.labels, _tell_of_labels)

    def __repr__(self) -> str:
        first = [] if self.labels is None else self.labels[:1].tolist()
        example = f"{first[0]!r}.." if first else "none"
        return (
            f"EdgeList(num_nodes={self.num_nodes}, num_edges={self.num_edges}, "
            f"directed={self.directed}, weighted={self.edge_weight is not None}, labels={example}"
            f"{'' if self.positions is None else ', positions'})"
        )


def _tell_of_labels(reason: str) -> None:
    warnings.warn(f"the graph has no labels: {reason}", stacklevel=6)


def of_arrays(
    ends: Tensor | Sequence[np.ndarray], weight: np.ndarray | None, labels: Any, num_nodes: int,
    directed: bool,
) -> EdgeList:  # fmt: skip
    """The edges between vertices of two arrays, or of a tensor ``[2, E]``."""
    index = ends if isinstance(ends, Tensor) else _joined(ends)
    weights = None if weight is None else torch.from_numpy(np.require(weight, np.float64, "W"))
    return EdgeList(index, weights, labels, num_nodes, directed)


def _label_array(labels: Any) -> np.ndarray:
    """An int64 array if all labels are integers, otherwise an object array."""
    if isinstance(labels, np.ndarray) and labels.dtype == np.int64 and labels.ndim == 1:
        return labels
    names = check_files.sequence(labels, "labels")
    if names and all(isinstance(x, (int, np.integer)) for x in names):
        try:
            return np.array(names, np.int64)
        except OverflowError:
            wrong = max(names, key=abs)
            raise ValueError(f"labels holds {wrong}, which is beyond int64; pass strings") from None
    array = np.empty(len(names), object)
    array[:] = names
    return array


def number_vertices(
    limits: Budget,
    ends: Sequence[np.ndarray] | np.ndarray,
    *,
    num_nodes: int | None = None,
    declared: int | None = None,
    also: np.ndarray | None = None,
    one_based: bool = False,
) -> tuple[Tensor, np.ndarray | None, int]:
    """Maps ids to vertex numbers: ``(numbers [2, E], labels or None, n)``.

    Ids in 0..n-1 are the numbers, if n is given, declared or their count; 1..n are shifted.
    All others are numbered in increasing order, in memory bounded by the number of edges.
    """
    more = np.empty(0, np.int64) if also is None else also
    arrays = [x for x in (*ends, more) if x.size]
    n = declared if num_nodes is None else num_nodes
    if n is not None:
        limits.vertices(n)
    if not arrays:
        return _joined(ends), None, n or 0
    low, high = min(int(x.min()) for x in arrays), max(int(x.max()) for x in arrays)
    if n is not None:
        if low >= 0 and high < n and not (one_based and low >= 1):
            return _joined(ends), None, n
        if low >= 1 and high <= n:
            return _joined(ends).sub_(1), np.arange(1, n + 1), n
        if one_based and num_nodes is None:
            raise ValueError(
                f"{limits.path}: the file says {n} vertices, but its ids go from {low} to {high}; "
                f"accepted: 1..{n}"
            )
        if num_nodes is not None:
            raise ValueError(
                f"{limits.path}: num_nodes={num_nodes}, but the ids go from {low} to {high}; "
                f"accepted: 0..{num_nodes - 1} or 1..{num_nodes}"
            )
    span = high - low + 1
    limits.numbering(len(ends[0]), span)
    labels = distinct_ids(*ends, more)
    if n is not None and len(labels) != n:
        what = f"{limits.path}: the file says {n} vertices, but its edges name {len(labels)}"
        if len(labels) > n:
            raise ValueError(what)
        warnings.warn(f"{what}; only these are taken, others have no ids", stacklevel=4)
    if len(labels) >= 2**31:
        raise ValueError(f"{limits.path}: {len(labels)} vertices; accepted: below 2^31")
    compact = low == 0 and len(labels) == span
    return _places(labels, ends), None if compact else labels, len(labels)


def distinct_ids(*ids: np.ndarray) -> np.ndarray:
    """The distinct ids of up to three int64 arrays, in increasing order."""
    if not _ops.available:
        return np.unique(np.concatenate(ids))
    arrays = [_tensor(x) for x in ids] + [_tensor(np.empty(0, np.int64))] * (3 - len(ids))
    distinct: np.ndarray = _ops.ops.distinct_ids(*arrays, torch.get_num_threads()).numpy()
    return distinct


def _places(labels: np.ndarray, ends: Sequence[np.ndarray] | np.ndarray) -> Tensor:
    """Where the ids, ``[2, E]``, stand among the labels."""
    if not _ops.available:
        return torch.from_numpy(np.searchsorted(labels, np.stack(tuple(ends))))
    places: Tensor = _ops.ops.id_places(*map(_tensor, (labels, *ends)), torch.get_num_threads())
    return places


def _tensor(ids: np.ndarray) -> Tensor:
    return torch.from_numpy(np.require(ids, np.int64, ["C", "W"]))


def _joined(ends: Sequence[np.ndarray] | np.ndarray) -> Tensor:
    return torch.from_numpy(np.stack(tuple(ends)))


def number_names(
    where: str, codes: Sequence[np.ndarray] | np.ndarray, names: list[str], num_nodes: int | None
) -> tuple[Tensor, list[str], int]:
    """Maps places of distinct names to vertex numbers in alphabetical order, as above."""
    if num_nodes is not None and num_nodes != len(names):
        raise ValueError(
            f"{where}: num_nodes={num_nodes}, but the file names {len(names)} vertices"
        )
    order = sorted(range(len(names)), key=names.__getitem__)
    labels = [names[place] for place in order]
    if labels != names:
        number = np.empty(len(names), np.int64)
        number[order] = np.arange(len(names))
        codes = [number[x] for x in codes]
    return _joined(codes), labels, len(names)


def arcs(
    edges: EdgeList, loops: bool = True, largest: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Row, column and weight of every arc once, sorted; both directions if undirected.

    Of repeated arcs it is the smallest weight, or the `largest`.
    """
    row, col = edges.edge_index.numpy()
    weight = None if edges.edge_weight is None else edges.edge_weight.double().numpy()
    if not edges.directed:
        row, col = np.concatenate([row, col]), np.concatenate([col, row])
        weight = None if weight is None else np.concatenate([weight, weight])
    keys = (col, row) if weight is None else (-weight if largest else weight, col, row)
    order = np.lexsort(keys)
    row, col = row[order], col[order]
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (col[1:] != col[:-1])
    if not loops:
        first &= row != col
    return row[first], col[first], None if weight is None else weight[order][first]


def both_directions(row: np.ndarray, col: np.ndarray, weight: np.ndarray | None = None) -> bool:
    """Whether every arc has its reverse, of equal weight and as often.

    Sums of hashes with a random key that differ are certain, equal ones wrong with odds of 2^-64.
    """
    key = np.uint64(secrets.randbits(64))
    forth = back = 0
    for start in range(0, len(row), _HASHED):
        u, v = (x[start : start + _HASHED].astype(np.uint64) for x in (row, col))
        length = np.full(1, key)
        if weight is not None:  # 0.0 and -0.0 are equal
            length = _mixed((weight[start : start + _HASHED] + 0.0).view(np.uint64) ^ key)
        forth += int(_mixed(_mixed(u ^ length) + v).sum(dtype=np.uint64))
        back += int(_mixed(_mixed(v ^ length) + u).sum(dtype=np.uint64))
    return forth % 2**64 == back % 2**64


def _mixed(x: np.ndarray) -> np.ndarray:
    """A bijection of 64 bits in which each bit depends on all (SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = x ^ (x >> np.uint64(31))
    return mixed
