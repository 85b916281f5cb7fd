"""dual_graph: streets as vertices, and the angles between them as weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _positions as check_positions
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import within
from torchcent.graph import Graph, _csr
from torchcent.graph._arguments import GraphLike, as_graph


class DualGraph(NamedTuple):
    """Result of :func:`dual_graph`.

    Attributes:
        graph: an undirected Graph, a vertex for each street, weighted by angles in degrees.
        streets: int64 [2, s], the ends of the street of each vertex.
        column: int64 [E], the vertex of each column of edge_index; -1 for loops.
    """

    graph: Graph
    streets: Tensor
    column: Tensor


@computes()
def dual_graph(
    edge_index: GraphLike,
    positions: Tensor | np.ndarray,
    *,
    num_nodes: int | None = None,
    least: float = 1e-3,
    run: Run = DEFAULT,
) -> DualGraph:
    r"""The dual of a street network: its streets, joined where they meet, by the angle of the turn.

    A shortest path in it is a simplest one, with the least sum of turns. So :func:`betweenness` and
    :func:`closeness` of the dual are the angular measures of space syntax.

    Args:
        edge_index: the streets, whatever their direction, as in :func:`betweenness`; those between
            the same vertices are one. Weights do not matter.
        positions: [n, 2], a tensor or an array: x and y of each vertex.
        num_nodes: n; by default the largest id + 1.
        least: the weight of a turn of fewer degrees, because weights are > 0. With it, of paths
            that are equally straight the one over fewer streets is shorter.
        run: how it is computed, see :class:`Run`.

    Returns:
        :class:`DualGraph`, a named tuple of graph, streets and columns. Angles are deflections: 0
        straight on, 90 at a right angle, 180 back.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    Angles are those between the straight lines from end to end, as in momepy's dual approach. In a
    dual graph a path may leave a street by the end at which it came. So of three streets that meet,
    the way from the first to the third may be over the second. Turns often tie but for rounding,
    on which betweenness then depends; ``graph.with_ties(tie_tolerance=1e-9)`` counts such paths as
    equal (1e-6 with positions in float32).

    O(sum of the squares of the degrees) time and memory.

    Example:
        >>> import torch, torchcent
        >>> cross = torch.tensor([[0, 0, 0, 0], [1, 2, 3, 4]])
        >>> places = torch.tensor([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]])
        >>> dual = torchcent.dual_graph(cross, places)
        >>> torchcent.shortest_path_lengths(dual.graph).round().tolist()[0]
        [0.0, 90.0, 0.0, 90.0]

    Source:
        Turner 2007; Hillier and Iida 2005; momepy, ``gdf_to_nx(approach="dual")``.
    """
    graph = as_graph(edge_index, None, num_nodes, None, None, run)
    check_batch.one_graph(graph, "dual_graph", "pass the graphs one by one")
    place = check_positions.points(positions, graph.num_nodes)
    smallest = within(least, "least", "(0, 180]")
    ends, street = _streets(graph)
    # The two directions of each street, by the vertex where they begin.
    begin, end = torch.cat([ends, ends.flip(0)], 1)
    order = torch.argsort(begin, stable=True)
    begin, end, number = begin[order], end[order], order % max(ends.shape[1], 1)
    degree = torch.bincount(begin, minlength=graph.num_nodes)
    first = degree.cumsum(0) - degree
    one = torch.repeat_interleave(degree[begin])
    other = _csr.ranges(first[begin], degree[begin])
    both = number[one] < number[other]
    one, other = one[both], other[both]
    here = place[begin[one]]
    way = torch.stack([here - place[end[one]], place[end[other]] - here])
    angle = torch.rad2deg(torch.atan2(way[..., 1], way[..., 0]))
    turned = ((angle[1] - angle[0] + 180) % 360 - 180).abs().clamp(min=smallest)
    dual = Graph.from_edge_index(
        torch.stack([number[one], number[other]]), ends.shape[1], False, turned, run=run
    )
    device = graph.device
    return DualGraph(dual.to(device), ends.to(device), street.to(device))


def _streets(graph: Graph) -> tuple[Tensor, Tensor]:
    """int64 [2, s], the ends of each street, and [E], the street of each column."""
    host = graph.to("cpu")
    tail = torch.repeat_interleave(host.rowptr.diff())
    head, n = host.col.long(), max(graph.num_nodes, 1)
    key, street = torch.unique(
        torch.minimum(tail, head) * n + torch.maximum(tail, head), return_inverse=True
    )
    slot = graph.slot.cpu()
    column = torch.where(slot >= 0, street[slot.clamp(min=0)], -1) if street.numel() else slot
    return torch.stack([key // n, key % n]), column
