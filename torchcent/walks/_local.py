"""degree, core_number, triangles and clustering_coefficient."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import measure
from torchcent.graph import Graph, _batch, _csr, _strengths
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _ops, _small
from torchcent.walks import _matrix

DIRECTIONS = ("out", "in", "both")
_PAIRS = 2**22  # pairs of neighbours that are looked up together


@measure(
    "vertices", "dtype", weights="strengths", columns=("degree",),
    choices={"direction": DIRECTIONS},
    without={"networkx": "NetworkX looks degrees up, which takes less time than a conversion"},
)  # fmt: skip
def degree(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    direction: str = "out",
    normalized: bool = False,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Degree centrality: the number of arcs of a vertex, or the sum of their weights.

    .. math:: D(v) = \sum_u w_{vu}

    Normalised and without weights, values equal those of NetworkX's ``out_degree_centrality``,
    ``in_degree_centrality`` and ``degree_centrality``.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), a Graph, or a
            graph of another library, a matrix, an array or a table (docs/inputs.md). Parallel arcs
            are added up (with directed=False the larger one of the sums of both directions counts),
            and loops are entries of the adjacency matrix (docs/weights.md).
        edge_weight: [E], the strength of each arc, finite and >= 0, where 0 is no arc; None counts
            arcs. A Graph has its own weights.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex, as in PyG. Scores are computed per
            graph (docs/batches.md).
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        direction: "out", "in", or "both" for their sum; in a graph with directed=False all three
            are the number of edges. A loop counts once for each direction; with directed=False
            twice, as in NetworkX, because it has two ends there.
        normalized: divide by n - 1 (of each graph of a batch).
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(m) time.

    Example:
        >>> import torch, torchcent
        >>> star = torch.tensor([[0, 0, 0], [1, 2, 3]])
        >>> torchcent.degree(star, direction="in")
        tensor([0., 1., 1., 1.])
        >>> torchcent.degree(star, torch.tensor([2.0, 1.0, 0.5]), directed=False)
        tensor([3.5000, 2.0000, 1.0000, 0.5000])

    Source:
        Freeman 1978; with weights (strength): Barrat et al. 2004.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")
    check.choice(direction, "direction", DIRECTIONS)
    check.flag(normalized, "normalized")
    scores = degrees(graph, direction)
    if normalized:
        scores = scores / (_batch.per_vertex(graph, _batch.sizes(graph)) - 1).clamp(min=1)
    return scores.to(run.dtype)


def degrees(graph: Graph, direction: str) -> Tensor:
    """float64 [n], of an adjacency matrix."""
    out = _matrix.strength(graph.weight, graph.rowptr)
    if not graph.directed and graph._diagonal is not None:
        return out + graph._diagonal  # a loop has two ends
    if direction == "out" or not graph.directed:
        return out
    back = _matrix.strength(graph.back_weight, graph.transpose[0])
    return back if direction == "in" else out + back


def numbers_of_arcs(graph: Graph, direction: str = "out") -> Tensor:
    """float64 [n]: what :func:`degree` is without weights; loops and parallel arcs count."""
    return degrees(graph.unweighted()._adjacency, direction)


@measure("vertices", searches=True, weights="", columns=("core_number",))
def core_number(
    edge_index: GraphLike,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Core number: the largest k such that a vertex belongs to the k-core.

    The k-core is the largest subgraph in which every vertex has at least k neighbours. In directed
    graphs degrees are sums of incoming and outgoing arcs, as in NetworkX's ``core_number``, whose
    values these are. An edge_index with both directions of each edge then has twice the core
    numbers of the undirected graph, which ``directed=False`` gives. Neighbours count once: weights
    and parallel arcs do not matter, and loops are dropped.

    Args:
        All: as in :func:`degree`.
        run: how it is computed, see :class:`Run`.

    Returns:
        int64 Tensor [n].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(n + m) time. On CUDA there is a step for every layer of vertices that is peeled off: long
    paths have many small layers.

    Example:
        >>> import torch, torchcent
        >>> triangle_with_tail = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
        >>> torchcent.core_number(triangle_with_tail, directed=False)
        tensor([2, 2, 2, 1])

    Source:
        Seidman 1983; Batagelj and Zaversnik 2003.
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run)
    if _ops.has_kernel("core_numbers", graph.device):
        core = torch.empty(graph.num_nodes, dtype=torch.int64, device="cpu")
        back = graph.transpose if graph.directed else (graph.rowptr, graph.col)
        _ops.ops.core_numbers(graph.rowptr, graph.col, *back, graph.directed, core)
        return core
    return _peeled(graph)


def _peeled(graph: Graph) -> Tensor:
    """The same on tensors, a layer of vertices at a time."""
    sides = [(graph.rowptr, graph.col)]
    if graph.directed:
        sides.append(graph.transpose)
    degree = torch.stack([ends.diff() for ends, _ in sides]).sum(0)
    core, last = torch.zeros_like(degree), torch.zeros_like(degree)
    alive = torch.ones_like(degree, dtype=torch.bool)
    rest = torch.arange(graph.num_nodes, device=graph.device)
    while rest.numel():
        k = int(degree[rest].min())
        layer = rest[degree[rest] <= k]
        while layer.numel():
            core[layer] = k
            alive[layer] = False
            near = torch.cat([_neighbours(layer, *side) for side in sides])
            near = near[alive[near]]
            degree.index_add_(0, near, torch.full_like(near, -1))
            near = near[degree[near] <= k]
            place = torch.arange(near.numel(), device=near.device)
            last[near] = place
            layer = near[last[near] == place]
        rest = rest[alive[rest]]
    return core


def _neighbours(vertices: Tensor, rowptr: Tensor, col: Tensor) -> Tensor:
    begin = rowptr[vertices]
    return col[_csr.ranges(begin, rowptr[vertices + 1] - begin)].long()


@measure("vertices", searches=True, weights="", columns=("triangles",), undirected=True)
def triangles(
    edge_index: GraphLike,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The number of triangles of each vertex of an undirected graph.

    Values equal those of NetworkX's ``triangles``; the graph has a third of their sum. Weights,
    parallel arcs and loops do not matter.

    Args:
        All: as in :func:`degree`. Every arc needs its reverse; directed=False adds those missing.
        run: how it is computed, see :class:`Run`.

    Returns:
        int64 Tensor [n].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    :math:`O(m^{3/2})` time: each edge points to the end of higher degree, and of each vertex the
    heads of its heads are compared with its own. On the CPU all threads share the vertices, each
    with 8 n bytes; on CUDA a warp or a block looks them up in a hash table of its own.

    Example:
        >>> import torch, torchcent
        >>> triangle_with_tail = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
        >>> torchcent.triangles(triangle_with_tail, directed=False)
        tensor([1, 1, 1, 0])

    Source:
        Chiba and Nishizeki 1985; Latapy 2008.
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run).unweighted()
    check.undirected(graph, "triangles")
    return triangles_of(graph)


def triangles_of(graph: Graph) -> Tensor:
    """int64 [n], of an unweighted undirected graph."""
    if not _ops.has_kernel("triangles", graph.device):
        return _sums(_oriented(graph)).long()
    count = torch.zeros(graph.num_nodes, dtype=torch.int64, device=graph.device)
    _ops.ops.triangles(graph.rowptr, graph.col, count, torch.get_num_threads())
    return count


def triangles_by_arcs(graph: Graph) -> Tensor:
    """int64 [n], of a graph without weights, loops and parallel arcs; in directed ones, of the
    triangles of each vertex, the products of the numbers of arcs between their corners."""
    if not graph.directed:
        return triangles_of(graph)
    return 8 * triangles_of(graph) if graph.is_symmetric else _sums(_oriented(graph)).long()


@measure(
    "vertices", "dtype", searches=True, weights="strengths", columns=("clustering_coefficient",),
)  # fmt: skip
def clustering_coefficient(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Clustering coefficient: the share of the pairs of neighbours that are adjacent.

    .. math:: C(v) = \frac{2\, T(v)}{d_v (d_v - 1)} \qquad
              C(v) = \frac{T(v)}{2 \big(d_v (d_v - 1) - 2 d^\leftrightarrow_v\big)}

    for undirected graphs, where T is the number of triangles, and for directed ones, where T counts
    directed triangles. There d is the sum of in- and out-degree and :math:`d^\leftrightarrow` the
    number of arcs that have their reverse. With weights a triangle counts as
    :math:`(w_{uv} w_{vx} w_{ux})^{1/3}`, the weights divided by the largest one. Values equal those
    of NetworkX's ``clustering``.

    Args:
        edge_weight: [E], the strength of each arc, finite and >= 0, where 0 is no arc; None counts
            triangles. Parallel arcs are added up. Loops are in no triangle, but theirs may be the
            largest weight, as in NetworkX.
        directed: False adds missing reverse arcs. A graph in which every arc has its reverse, of
            the same weight, has the same coefficients by both formulas.
        Others: as in :func:`degree`. For a batch the largest weight is that of each graph.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n], 0 where there are no two neighbours.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    Time as for :func:`triangles`.

    Example:
        >>> import torch, torchcent
        >>> triangle_with_tail = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
        >>> torchcent.clustering_coefficient(triangle_with_tail, directed=False)
        tensor([1.0000, 1.0000, 0.3333, 0.0000])

    Source:
        Watts and Strogatz 1998; weights: Onnela et al. 2005; directions: Fagiolo 2007.
    """
    is_weighted = edge_weight is not None and edge_weight is not False
    if isinstance(edge_index, Graph):
        is_weighted = edge_index.is_weighted
    weights = "strengths" if is_weighted else "distances"
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights=weights)
    shares = None
    if graph.weight is not None:
        largest = _batch.per_vertex(graph, _matrix.largest_weights(graph, graph.weight))
        shares = graph.weight / _small.repeat_interleave(largest, graph.degree)
    if graph._diagonal is not None and shares is not None:
        rowptr, col, shares = _strengths.without_diagonal(graph.rowptr, graph.col, shares)
        graph = Graph(rowptr, col, None, graph.directed, shares, graph.ptr, _trusted=True)
    plain = shares is None and graph.is_symmetric
    count = triangles_of(graph).double() if plain else _sums(_oriented(graph, shares))
    if graph.is_symmetric:
        pairs = (graph.degree * (graph.degree - 1)).double() / 2
    else:
        row = _small.repeat_interleave(graph.degree)
        colptr, tail = graph.transpose
        back = _small.repeat_interleave(colptr.diff()) * graph.num_nodes + tail
        mutual = torch.isin(row * graph.num_nodes + graph.col, back)
        both = torch.zeros_like(graph.degree).index_add_(0, row, mutual.long())
        every = graph.degree + colptr.diff()
        pairs = (every * (every - 1) - 2 * both).double()
    return torch.where(pairs > 0, count / pairs.clamp(min=1), 0).to(run.dtype)


class _Oriented(NamedTuple):
    """Each edge once, from the end of lower degree, in numbers by ascending degree. `value` is what
    the edge contributes to the product of a triangle: 1 or the cube root of its weight, in directed
    graphs the sum over both arcs."""

    vertex: Tensor
    rowptr: Tensor
    head: Tensor
    value: Tensor


def _oriented(graph: Graph, shares: Tensor | None = None) -> _Oriented:
    """`shares` are the weights, divided by the largest."""
    n, degree = graph.num_nodes, graph.degree
    tail, head = _small.repeat_interleave(degree), graph.col.long()
    value = (
        head.new_ones(head.numel(), dtype=torch.float64) if shares is None else shares ** (1 / 3)
    )
    if not graph.is_symmetric:
        degree = degree + graph.transpose[0].diff()
    vertex = torch.argsort(degree, stable=True)
    rank = _csr.inverse(vertex)
    tail, head = rank[tail], rank[head]
    key = torch.minimum(tail, head) * n + torch.maximum(tail, head)
    if graph.is_symmetric:
        up = tail < head
        key, order = torch.sort(key[up])
        value = value[up][order]
    else:
        key, place = torch.unique(key, return_inverse=True)
        value = value.new_zeros(key.numel()).index_add_(0, place, value)
    count = torch.bincount(key // max(n, 1), minlength=n)
    return _Oriented(vertex, _csr.pointers(count), key % max(n, 1), value)


def _sums(edges: _Oriented) -> Tensor:
    """float64 [n]: the sum of the products of the triangles of each vertex."""
    n = edges.vertex.numel()
    sums = torch.zeros(n, dtype=torch.float64, device=edges.head.device)
    tail = _small.repeat_interleave(edges.rowptr.diff())
    key = tail * n + edges.head
    ahead = edges.rowptr[1:][tail] - torch.arange(1, key.numel() + 1, device=key.device)
    for start, stop in _csr.runs(ahead, _PAIRS):
        count = ahead[start:stop]
        arc = torch.arange(start, stop, device=key.device)
        one, other = _small.repeat_interleave(arc, count), _csr.ranges(arc + 1, count)
        closing = edges.head[one] * n + edges.head[other]
        third = torch.searchsorted(key, closing).clamp_(max=key.numel() - 1)
        hit = key[third] == closing
        one, other, third = one[hit], other[hit], third[hit]
        product = edges.value[one] * edges.value[other] * edges.value[third]
        for corner in (tail[one], edges.head[one], edges.head[other]):
            sums.index_add_(0, corner, product)
    return torch.empty_like(sums).index_copy_(0, edges.vertex, sums)
