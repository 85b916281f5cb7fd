"""Resistance curvature of vertices and edges."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.flow import _solver
from torchcent.graph import Graph, _csr, _segments
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _small
from torchcent.walks._connectivity import blocks_of

_network = partial(as_graph, weights="conductances")
_SMALL = 64  # vertices of components that are inverted many at a time
_BYTES = 2**25  # of their matrices


@measure("edges", "dtype", weights="conductances", undirected=True, without=NOT_IN_NETWORKX)
def resistance_curvature(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Resistance curvature of edges, from effective resistances.

    .. math:: \kappa(u, v) = \frac{2 (p_u + p_v)}{R(u, v)}, \quad
              p_v = 1 - \frac{1}{2} \sum_{w} c_{vw} R(v, w)

    where :math:`c` are conductances, :math:`R` is :func:`effective_resistance`, and :math:`p` is
    :func:`node_resistance_curvature`.

    Args:
        edge_index: int64 [2, E], a Graph, or a graph of another library (docs/inputs.md). Every arc
            needs its reverse; directed=False adds those missing. Loops carry no current.
            Conductances of parallel arcs are added up; with directed=False the larger one of the
            sums of both directions counts.
        edge_weight: [E], the **conductance** of each edge, finite and >= 0; None for 1 each. A
            column of 0 is no edge, even beside another column with the same ends.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex. Values are those of each graph alone.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [E], one value per column of edge_index (per input column of a Graph). All columns of
        an edge have its value; loops and columns of conductance 0 have 0.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: ``Run(memory=)`` is too small for a block of potentials.

    A bridge has the resistance 1 / c, so that trees take O(n) time. Other edges are solved for in
    their blocks (:func:`biconnected_components`), through which all current between their ends
    goes. Blocks of up to 64 vertices are solved many at a time. Of larger ones a dense inverse is
    taken where it fits into the memory, O(k^3) for k vertices. Otherwise k columns of it are solved
    for, some at a time, and no matrix of k^2 numbers is needed. As of other measures of current
    flow, the last digits of these may depend on the number of threads.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.resistance_curvature(path, directed=False)
        tensor([1., 0., 1.])

    Source:
        Devriendt and Lambiotte 2022, "Discrete curvature on graphs from the effective resistance".
    """
    graph = _network(edge_index, edge_weight, num_nodes, batch, directed, run)
    check.undirected(graph, "resistance_curvature")
    resistance = _resistances(graph, run.memory)
    of_vertex = _of_vertices(graph, resistance)
    ends = _small.repeat_interleave(of_vertex, graph.degree) + of_vertex.index_select(0, graph.col)
    return _csr.of_columns(2 * ends / resistance, graph.slot).to(run.dtype)


@measure(
    "vertices", "dtype", weights="conductances", undirected=True,
    columns=("node_resistance_curvature",), without=NOT_IN_NETWORKX,
)  # fmt: skip
def node_resistance_curvature(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Resistance curvature of vertices, from the effective resistances of their edges.

    .. math:: p_v = 1 - \frac{1}{2} \sum_{w} c_{vw} R(v, w)

    where :math:`c` are conductances and :math:`R` is :func:`effective_resistance`. Of a connected
    graph the values add up to 1.

    Args:
        All: as in :func:`resistance_curvature`.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n]; 1 for an isolated vertex.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: ``Run(memory=)`` is too small for a block of potentials.

    Time as for :func:`resistance_curvature`.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.node_resistance_curvature(path, directed=False)
        tensor([0.5000, 0.0000, 0.0000, 0.5000])

    Source:
        Devriendt and Lambiotte 2022, "Discrete curvature on graphs from the effective resistance".
    """
    graph = _network(edge_index, edge_weight, num_nodes, batch, directed, run)
    check.undirected(graph, "node_resistance_curvature")
    return _of_vertices(graph, _resistances(graph, run.memory)).to(run.dtype)


def _of_vertices(graph: Graph, resistance: Tensor) -> Tensor:
    """float64 [n]."""
    share = resistance if graph.weight is None else resistance * graph.weight
    return 1 - _segments.of_segments(graph.rowptr, share) / 2


def _resistances(graph: Graph, memory: int | None) -> Tensor:
    """float64 [num_slots]: the effective resistance between the ends of each arc."""
    apart = _blocks_apart(graph)
    resistance = torch.zeros(graph.num_slots, dtype=torch.float64, device=graph.device)
    if not graph.num_slots:
        return resistance
    label = apart.components.long()
    size = torch.bincount(label)
    _of_small(apart, label, size, resistance)
    if int(size.max()) > _SMALL:
        for part in _solver.components(apart):
            if part.size > _SMALL:
                of_edge = _of_component(part, memory)
                resistance[part.slots] = of_edge
                resistance[apart.reverse_slot[part.slots]] = of_edge
    return resistance[apart.slot]


def _blocks_apart(graph: Graph) -> Graph:
    """A graph with a component for each block, and a column for each arc.

    Current between two vertices of a block does not leave it. The vertices of a block are those
    that have it for their own, and one more for the vertex at which it hangs.
    """
    block, top = (part.to(graph.device) for part in blocks_of(graph))
    row, col = _small.repeat_interleave(graph.degree), graph.col.long()
    own, other = block[row], block[col]
    of_arc = torch.where((own == other) | (top[own.clamp(min=0)] == col) & (own >= 0), own, other)
    ends = [torch.where(block[v] == of_arc, v, graph.num_nodes + of_arc) for v in (row, col)]
    size = graph.num_nodes + top.numel()
    return _network(torch.stack(ends), graph.weight, size)


def _of_small(graph: Graph, label: Tensor, size: Tensor, resistance: Tensor) -> None:
    """Fills in components of 2 to _SMALL vertices, all of one size together.

    The matrix is the Laplacian plus a number c everywhere, whose inverse is the pseudo-inverse plus
    1 / (c k^2); the differences of its entries are the same.
    """
    order = torch.argsort(label, stable=True)
    local = _csr.inverse(order) - (size.cumsum(0) - size)[label]
    row, col = _small.repeat_interleave(graph.degree), graph.col.long()
    weight = torch.ones_like(resistance) if graph.weight is None else graph.weight
    total = _segments.of_segments(graph.rowptr, weight)
    bridge = size[label[row]] == 2
    resistance[bridge] = 1 / weight[bridge]
    for k in torch.unique(size[(size > 2) & (size <= _SMALL)]).tolist():
        for some in torch.nonzero(size == k).flatten().split(max(1, _BYTES // (8 * k * k))):
            place = torch.full_like(size, -1)
            place[some] = torch.arange(some.numel(), device=place.device)
            vertex = torch.nonzero(place[label] >= 0).flatten()
            slot = torch.nonzero(place[label[row]] >= 0).flatten()
            number, u, v = place[label[row[slot]]], local[row[slot]], local[col[slot]]
            largest = weight.new_zeros(some.numel())
            largest.scatter_reduce_(0, place[label[vertex]], total[vertex], "amax")
            matrix = (largest / k)[:, None, None].repeat(1, k, k)
            matrix[number, u, v] -= weight[slot]
            at = local[vertex]
            matrix[place[label[vertex]], at, at] += total[vertex]
            unit = torch.eye(k, dtype=matrix.dtype, device=matrix.device).expand_as(matrix)
            inverse = _small.solve(matrix, unit)
            ends = inverse[number, u, u] + inverse[number, v, v]
            resistance[slot] = ends - inverse[number, u, v] - inverse[number, v, u]


def _of_component(part: _solver.Component, memory: int | None) -> Tensor:
    """float64 [m], of its edges."""
    u, v = part.ends
    potentials = _solver.Potentials(part, memory)
    if potentials.inverse is not None:
        return potentials.resistance(u, v)
    # Columns of all vertices are fewer than those of all edges.
    number = torch.arange(part.size, device=u.device)
    own = torch.zeros(part.size, dtype=torch.float64, device=u.device)
    mutual = torch.zeros_like(part.conductance)
    for some in number.split(potentials.width):
        columns = potentials.between(some, torch.full_like(some, potentials.ground))
        own[some] = columns[some - some[0], potentials.number[some]]
        edges = torch.nonzero((u >= some[0]) & (u <= some[-1])).flatten()
        mutual[edges] = columns[u[edges] - some[0], potentials.number[v[edges]]]
    return own[u] + own[v] - 2 * mutual
