"""Numbers of a whole graph that follow from its arcs: reciprocity, transitivity, assortativity."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import measure
from torchcent.graph import Graph, _batch, _csr
from torchcent.graph._arguments import GraphLike, as_graph
from torchcent.walks._local import triangles_of

#: what would be slower there
_FAST = {"networkx": "NetworkX looks degrees up, which takes less time than a conversion"}


@measure("graph", "dtype", weights="", without=_FAST)
def reciprocity(
    edge_index: GraphLike,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The share of the arcs whose reverse is an arc, too.

    .. math:: r = \frac{|\{(u, v) : u \to v,\; v \to u\}|}{m}

    It is 1 for undirected graphs. Values equal those of NetworkX's ``overall_reciprocity`` for
    graphs without loops, which do not count here. Parallel arcs count once.

    Args:
        edge_index: int64 [2, E], a Graph, or a graph of another library, a matrix, an array or a
            table (docs/inputs.md).
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex, as in PyG.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        run: how it is computed, see :class:`Run`.

    Returns:
        0-dim Tensor, NaN without arcs. For a batch Tensor [num_graphs].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(n + m log m) time.

    Example:
        >>> import torch, torchcent
        >>> torchcent.reciprocity(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 3]]))
        tensor(0.5000)

    Source:
        Wasserman and Faust 1994.
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run)
    arcs = _batch.total(graph, graph.degree.double())
    if graph._mutual:
        return _result(graph, arcs / arcs, run)
    row, col, n = _csr.rows(graph.rowptr), graph.col.long(), graph.num_nodes
    there = row * n + col  # ascending
    back = col * n + row
    place = torch.searchsorted(there, back).clamp_(max=max(there.numel() - 1, 0))
    mutual = row.new_zeros(n).index_add_(0, row, (there[place] == back).long())
    return _result(graph, _batch.total(graph, mutual.double()) / arcs, run)


@measure("graph", "dtype", searches=True, weights="", undirected=True)
def transitivity(
    edge_index: GraphLike,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The share of the paths of two edges whose ends are adjacent, of an undirected graph.

    .. math:: T = \frac{3\; \text{triangles}}{\text{pairs of edges at a vertex}}
              = \frac{\sum_v 2 T(v)}{\sum_v d_v (d_v - 1)}

    where :func:`triangles` gives T(v). Vertices count by their pairs of neighbours, whereas the
    mean of :func:`clustering_coefficient` counts all alike. Values equal those of NetworkX's
    ``transitivity``. Weights, parallel edges and loops do not matter.

    Args:
        All: as in :func:`reciprocity`. Every arc needs its reverse; directed=False adds those
            missing.

    Returns:
        0-dim Tensor, 0 if no vertex has two neighbours. For a batch Tensor [num_graphs].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    Time as for :func:`triangles`.

    Example:
        >>> import torch, torchcent
        >>> triangle_with_tail = torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]])
        >>> torchcent.transitivity(triangle_with_tail, directed=False)
        tensor(0.6000)

    Source:
        Luce and Perry 1949; Newman, Watts and Strogatz 2002.
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run).unweighted()
    check.undirected(graph, "transitivity")
    closed = _batch.total(graph, 2 * triangles_of(graph).double())
    pairs = _batch.total(graph, (graph.degree * (graph.degree - 1)).double())
    return _result(graph, closed / pairs.clamp(min=1), run)


@measure("graph", "dtype", weights="", without=_FAST)
def assortativity(
    edge_index: GraphLike,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Degree assortativity: the correlation between the degrees at both ends of an arc.

    .. math:: r = \frac{\sum_{u \to v} (d_u - \bar d)(e_v - \bar e)}
              {\sqrt{\sum_{u \to v} (d_u - \bar d)^2 \, \sum_{u \to v} (e_v - \bar e)^2}}

    where :math:`d_u` is the out-degree, :math:`e_v` the in-degree, and the means are over all arcs.
    In undirected graphs each edge counts in both directions. Positive values mean that vertices of
    high degree are joined to each other. Values equal those of NetworkX's
    ``degree_assortativity_coefficient`` for graphs without loops, which do not count here. Parallel
    arcs count once.

    Args:
        All: as in :func:`reciprocity`.

    Returns:
        0-dim Tensor, NaN where all degrees at one side are equal. For a batch Tensor [num_graphs].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(n + m) time.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.assortativity(path, directed=False)
        tensor(-0.5000)

    Source:
        Newman 2003; directed: Foster et al. 2010.
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run)
    out, back = graph.degree.double(), graph.transpose[0].diff().double()
    arcs = _batch.total(graph, out)
    away_out = out - _batch.per_vertex(graph, _batch.total(graph, out * out) / arcs)
    away_back = back - _batch.per_vertex(graph, _batch.total(graph, back * back) / arcs)
    row, col = _csr.rows(graph.rowptr), graph.col.long()
    heads = torch.zeros_like(out).index_add_(0, row, away_back[col])
    products = _batch.total(graph, away_out * heads)
    squares = [_batch.total(graph, degree * away.square())
               for degree, away in ((out, away_out), (back, away_back))]  # fmt: skip
    return _result(graph, products / (squares[0] * squares[1]).sqrt(), run)


def _result(graph: Graph, values: Tensor, run: Run) -> Tensor:
    """A number, or one of each graph of a batch."""
    return (values if graph.ptr is not None else values[0]).to(run.dtype)
