"""percolation: betweenness for spreading from vertices that have a state."""

from __future__ import annotations

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, PATHS, Run
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._measures import measure
from torchcent.engines.measures._visitors import Visitor
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.paths import _path_sums
from torchcent.paths._betweenness import request_of


@measure(
    "vertices", *PATHS, "dtype", searches=True, columns=("percolation",),
    kernel=Kernel(
        "paths", Visitor.BETWEENNESS, folds="all", tiny="betweenness", normalized=True,
        weighted_by="states", normalization="percolation",
    ),
)  # fmt: skip
def percolation(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    states: Tensor,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Percolation centrality: the share of percolated shortest paths through each vertex.

    .. math:: PC(v) = \frac{1}{n - 2} \sum_{s \ne v \ne t}
              \frac{\sigma_{st}(v)}{\sigma_{st}} \frac{x_s}{\sum_i x_i - x_v}

    where :math:`x_s` is the state of s, such as its level of infection. If all states are equal, it
    is the normalised betweenness. Values equal those of NetworkX's ``percolation_centrality``.

    Args:
        states: [n], finite and >= 0, floats, integers or booleans: the state of each vertex (for a
            batch, of each vertex of the union).
        run: how it is computed, see :class:`Run`.

    All other arguments are those of :func:`betweenness`. Only vertices whose state is not 0 are
    searched from, in O(m) time each.

    Returns:
        Tensor [n]. The score is 0 in a graph with fewer than three vertices, and where no other
        vertex has a nonzero state (NetworkX divides by zero in both cases). For a batch, n and the
        sum of the states are those of each graph.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.
        MemoryError: ``Run(memory=)`` is too small for one batch; the message states both amounts.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.percolation(path, states=torch.tensor([1.0, 0.5, 0.0, 0.0]), directed=False)
        tensor([0.0000, 1.0000, 0.5000, 0.0000])

    Source:
        Piraveenan, Prokopenko and Hossain 2013, "Percolation centrality: quantifying graph-
        theoretic impact of nodes during percolation in networks".
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, paths=True)
    request = request_of(graph, "percolation", run)
    request = request._replace(sources=check.per_vertex(states, "states", graph))
    return _path_sums.scores(graph, request).to(request.dtype)
