"""Arcs: what every kind of graph is converted to before it becomes a Graph."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor


class Arcs(NamedTuple):
    """The arguments of Graph.from_edge_index, in its order.

    `directed` is None for a matrix, which is undirected if it is symmetric. `matrix` says that the
    columns are the stored entries of one, of which those of one place are added up. `labels` are
    the names of the vertices, each once; None if they are called 0 to n - 1.
    """

    edge_index: Tensor
    num_nodes: int | None
    directed: bool | None
    edge_weight: Tensor | None = None
    batch: Tensor | None = None
    ptr: Tensor | None = None
    matrix: bool = False
    labels: Any = None
