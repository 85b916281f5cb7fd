"""What a map of a network shows: places of vertices, and lines of edges."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from torchcent.check import _positions as check_positions
from torchcent.graph import Graph
from torchcent.graph._arguments import as_graph
from torchcent.io import EdgeList
from torchcent.plots import _check as check_plot
from torchcent.plots._layout import layout
from torchcent.runtime._optional import need


class Map(NamedTuple):
    """What is drawn: vertices at `place` [n, 2], and the edges `arcs` [2, E] as lines.

    The line of each edge is the next ``sizes[e]`` of `points`.
    """

    place: np.ndarray
    arcs: np.ndarray
    points: np.ndarray
    sizes: np.ndarray

    def extent(self) -> np.ndarray:
        """All places that have one."""
        every: np.ndarray = np.concatenate([self.place, self.points])
        known: np.ndarray = every[np.isfinite(every).all(1)]
        return known

    def stretch(self, crs: str | None) -> float:
        """How much longer a unit of y is than one of x, which matters if they are degrees."""
        points = self.extent()
        if not len(points) or not check_positions.is_geographic(check_positions.crs(crs)):
            return 1.0
        return 1 / math.cos(math.radians(min(abs(points[:, 1].mean()), 85)))

    def frame(self, axes: Any, stretch: float) -> None:
        """Prepares axes for the map."""
        axes.set_aspect(stretch)
        axes.set_axis_off()
        points = self.extent()
        if len(points):
            low, high = points.min(0), points.max(0)
            margin = 0.02 * max(*(high - low), 1e-9)
            axes.set_xlim(low[0] - margin, high[0] + margin)
            axes.set_ylim(low[1] - margin, high[1] + margin)


def map_of(graph: Any, positions: Tensor | np.ndarray | None = None) -> Map:
    """That of a graph or EdgeList; without positions, at those of a layout."""
    if not isinstance(graph, EdgeList | Tensor | np.ndarray):
        graph = as_graph(graph)
    shapes = None
    if isinstance(graph, EdgeList):
        if positions is None and graph.positions is not None:
            positions, shapes = graph.positions, graph.streets
        columns: Any = graph.edge_index
        graph = graph.graph(edge_weight=False) if positions is None else columns
    else:
        columns = graph
        if isinstance(graph, Graph):
            arcs = graph.to_edge_index()
            columns = arcs if graph.directed else arcs[:, arcs[0] <= arcs[1]]  # an edge once
    if positions is None:
        positions = layout(graph)
    place = check_plot.points(positions)
    if isinstance(graph, Graph) and len(place) != graph.num_nodes:
        raise ValueError(f"positions has {len(place)} rows for {graph.num_nodes} vertices")
    index = check_plot.edge_index(columns, len(place))
    if shapes is None:
        return Map(place, index, place[index.T].reshape(-1, 2), np.full(index.shape[1], 2))
    shapely = need("shapely", "geo", "lines of streets")
    lines = shapes.lines.geometry.to_numpy()[shapes.rows.numpy()]
    return Map(place, index, shapely.get_coordinates(lines), shapely.get_num_coordinates(lines))
