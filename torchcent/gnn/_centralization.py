"""centralization: how far a whole network is from a star."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import choice
from torchcent.engines.measures._measures import columns, plain_columns
from torchcent.gnn._features import node_features
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, as_graph


@computes("dtype")
def centralization(
    edge_index: GraphLike,
    measure: str = "betweenness",
    *,
    scores: Tensor | None = None,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Centralization: how much the most central vertex of a graph exceeds the others (Freeman).

    .. math:: C = \frac{\sum_v \big(\max_u c(u) - c(v)\big)}{\max_S \sum_v \big(\max_u c_S(u) -
              c_S(v)\big)}

    where S is the star of as many vertices. Its sum is the largest possible one for degree,
    closeness and betweenness, so that C is between 0 and 1.

    Args:
        edge_index, num_nodes, batch, directed: as in :func:`degree`; without weights. Loops
            are dropped and parallel arcs merged, for all measures.
        measure: a column of :func:`node_features` other than "percolation", with
            ``normalized=True``: "degree", "closeness", "betweenness", "eigenvector", ...
        scores: [n], the scores of this measure in the same normalisation, if they are known; None
            computes them.
        run: how it is computed, see :class:`Run`.

    The star has both directions of each edge in undirected graphs. In directed ones (also of mutual
    arcs, unless directed=False) there are stars with arcs from the center, to the center and in
    both directions. The one with the largest sum is used.

    Returns:
        Tensor without dimensions; for a batch [G]. NaN where the star's sum is 0: with fewer than
        two vertices, in undirected graphs of two, and for measures that are equal for all vertices
        of a star.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.centralization(path, "degree", directed=False)
        tensor(1.)
        >>> cycle = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> torchcent.centralization(cycle, "closeness", directed=False)
        tensor(0.)

    Source:
        Freeman 1978.
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run)
    choice(measure, "measure", plain_columns())
    if graph.is_weighted:
        raise ValueError(
            "centralization compares with a star without weights, but the Graph has weights; pass "
            "graph.unweighted()"
        )
    if graph._repeated:  # compared with a star, which has neither loops nor parallel arcs
        graph = graph._with(slot=None, _ids=None, _repeated=False, _multiplicity=None)
    if scores is None:
        values = _scores(graph, measure, run.memory, run.progress)
    else:
        values = check.per_vertex(scores, "scores", graph)
    sizes = _batch.sizes(graph)
    spread = _spread(graph, values)
    largest = {n: _of_star(n, measure, graph) for n in set(sizes.tolist())}
    most = torch.tensor(
        [largest[n] for n in sizes.tolist()], dtype=torch.float64, device=graph.device
    )
    shares = torch.where(most > 0, spread / most, torch.nan).to(run.dtype)
    return shares[0] if graph.ptr is None else shares


def _scores(graph: Graph, measure: str, memory: int | None, progress: bool | None) -> Tensor:
    return node_features(
        graph, measures=measure, run=Run(memory=memory, progress=progress, dtype=torch.float64)
    )[:, 0]


def _spread(graph: Graph, values: Tensor) -> Tensor:
    """The sum of the differences from the largest score, of each graph."""
    return _batch.total(graph, _batch.per_vertex(graph, _batch.largest(graph, values)) - values)


def _of_star(n: int, measure: str, graph: Graph) -> float:
    """The largest sum of the stars of n vertices."""
    if n < 2:
        return 0.0
    leaves = torch.arange(1, n, device=graph.device)
    out = torch.stack([torch.zeros_like(leaves), leaves])
    both = torch.cat([out, out.flip(0)], 1)
    spreads = []
    for arcs in (both, out, out.flip(0)) if graph.directed else (both,):
        if arcs is not both and (measure == "eigenvector" or columns()[measure].undirected):
            continue  # arcs of one direction do not have it
        star = Graph.from_edge_index(arcs, n, graph.directed)
        spread = float(_spread(star, _scores(star, measure, None, False)))
        spreads.append(spread if spread > 1e-9 * n else 0.0)  # rounding
    return max(spreads)
