"""Forman curvature of edges: plain, with triangles, and balanced."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run
from torchcent.curvature._cycles import edge_cycles
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.graph import Graph, _csr, _segments
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _memory, _small

KINDS = ("plain", "augmented", "balanced")
_BYTES = 80  # per slot, of the counts and the numbers beside them


@measure("edges", "dtype", undirected=True, choices={"kind": KINDS}, without=NOT_IN_NETWORKX)
def forman_curvature(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    kind: str = "plain",
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Forman curvature of edges: low where an edge joins parts that have little else in common.

    .. math:: F(u, v) = 4 - d_u - d_v \qquad F^\#(u, v) = F(u, v) + 3\, \triangle_{uv}

    for kind="plain" and "augmented", where :math:`\triangle_{uv}` is the number of triangles at the
    edge. With kind="balanced" it is the curvature of Topping et al.:

    .. math:: B(u, v) = \frac{2}{d_u} + \frac{2}{d_v} - 2 + \frac{2 \triangle_{uv}}{d_{\max}}
              + \frac{\triangle_{uv}}{d_{\min}}
              + \frac{\square^u_{uv} + \square^v_{uv}}{\gamma_{uv}\, d_{\max}}

    and 0 where the smaller one of both degrees is 1. There :math:`\square^u_{uv}` is the number of
    neighbours of u that are on a 4-cycle with the edge, without a diagonal. The most such cycles
    that one neighbour of u or v is on are :math:`\gamma_{uv}`. Without them the last term is 0.

    With weights, which only the plain curvature has, it is Forman's formula with vertices of weight
    1. The sums are over the other edges at each end:

    .. math:: F(u, v) = 2 - \sum_{ux} \sqrt{\frac{w_{uv}}{w_{ux}}}
              - \sum_{vx} \sqrt{\frac{w_{uv}}{w_{vx}}}

    Args:
        edge_index: int64 [2, E], a Graph, or a graph of another library (docs/inputs.md). Every arc
            needs its reverse; directed=False adds those missing. Loops are dropped, parallel arcs
            are one edge.
        edge_weight: [E], the weight of each edge, finite and > 0, for kind="plain"; of parallel
            arcs the smallest counts. None for 1 each.
        kind: "plain", "augmented" or "balanced".
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex. Values are those of each graph alone.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [E], one value per column of edge_index (per input column of a Graph). Both columns
        of an edge have its value, and loops 0.

    Raises:
        TypeError, ValueError: an argument is invalid, the graph is directed, or there are weights
            with another kind than "plain".
        MemoryError: ``Run(memory=)`` is too small; raised before any computation.

    Plain: O(m) time. Others: for each edge the neighbours of the neighbours of one end, on the CPU
    of the end that has fewer.

    Example:
        >>> import torch, torchcent
        >>> triangle_with_tail = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
        >>> torchcent.forman_curvature(triangle_with_tail, directed=False)
        tensor([ 0., -1., -1.,  0.])
        >>> torchcent.forman_curvature(triangle_with_tail, kind="augmented", directed=False)
        tensor([3., 2., 2., 0.])

    Source:
        Sreejith et al. 2016, "Forman curvature for complex networks". With triangles: Samal et al.
        2018. Balanced: Topping et al. 2022, "Understanding over-squashing and bottlenecks on graphs
        via curvature".
    """
    check.choice(kind, "kind", KINDS)
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    check.undirected(graph, "forman_curvature")
    if graph.is_weighted and kind != "plain":
        raise ValueError(
            f"edge_weight is for kind='plain'; the curvature of kind={kind!r} is defined without "
            "weights"
        )
    need = graph._nbytes + _BYTES * graph.num_slots
    if run.memory is not None or need >= _memory.SMALL_RUN.get(graph.device.type, 0):
        what = f"forman_curvature of {graph.num_slots} arcs"
        _memory.allow(what, need, run.memory, graph.device)
    curvature = _plain(graph) if kind == "plain" else _of_cycles(graph, kind, run.progress)
    return _csr.of_columns(curvature, graph.slot).to(run.dtype)


def _plain(graph: Graph) -> Tensor:
    """float64 [num_slots]."""
    weight = graph.weight
    if weight is None:
        at_ends = graph.degree.double() - 1
    else:
        at_ends = _segments.of_segments(graph.rowptr, weight.rsqrt())
    u = _small.repeat_interleave(at_ends, graph.degree)
    v = at_ends.index_select(0, graph.col)
    return 2 - u - v if weight is None else 4 - weight.sqrt() * (u + v)


def _of_cycles(graph: Graph, kind: str, progress: bool | None) -> Tensor:
    """float64 [num_slots]."""
    triangles, around, most = edge_cycles(graph, progress).double()
    degree = graph.degree.double()
    u = _small.repeat_interleave(degree, graph.degree)
    v = degree.index_select(0, graph.col)
    if kind == "augmented":
        augmented: Tensor = 4 - u - v + 3 * triangles
        return augmented
    return balanced(torch.minimum(u, v), torch.maximum(u, v), triangles, around, most)


def balanced(
    least: Tensor, largest: Tensor, triangles: Tensor, around: Tensor, most: Tensor
) -> Tensor:
    """The balanced curvature from the smaller and the larger degree and the cycles of each edge,
    its operations in the order of csrc/curvature/cycles.h."""
    value: Tensor = 2 / least + 2 / largest - 2 + 2 * triangles / largest + triangles / least
    value = torch.where(most > 0, value + around / (most.clamp(min=1) * largest), value)
    return torch.where(least <= 1, 0, value)
