"""edge_betweenness_approx: the scores of all edges to within epsilon."""

from __future__ import annotations

import time

import torch

from torchcent.approx import _pivots
from torchcent.approx._approximation import approximated
from torchcent.approx._result import Approximation
from torchcent.check import _approx as check_approx
from torchcent.check import _batch as check_batch
from torchcent.check._run import DEFAULT, Run
from torchcent.engines._measures import measure
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph


@measure(
    "edges", "checkpoint", "devices", "group", "dtype", searches=True, share=True,
    choices={"method": check_approx.METHODS, "pivots": _pivots.CHOICES},
    without={"functional": "its result is an Approximation: scores with intervals"},
)  # fmt: skip
def edge_betweenness_approx(
    edge_index: GraphLike,
    epsilon: float = 0.01,
    delta: float = 0.1,
    *,
    method: str = "auto",
    max_samples: int | None = None,
    time_limit: float | None = None,
    pivots: str = "uniform",
    edge_weight: WeightLike = None,
    num_nodes: int | None = None,
    directed: bool | None = None,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
) -> Approximation:
    r"""Approximates the betweenness of every edge to within epsilon, with probability 1 - delta.

    .. math:: P\Big(\max_e \Big| \tilde b(e) - \frac{C_B(e)}{n (n - 1)} \Big| \le
        \varepsilon\Big) \ge 1 - \delta

    The guarantee holds for the scores of ``edge_betweenness(graph)``, for all edges simultaneously.
    b(e) is the fraction of random shortest paths between random pairs of vertices that use e.

    Args:
        epsilon: maximum absolute error, in [1e-9, 1); scores lie in [0, 1].
        method: "auto", "kadabra", "rk", "pivots" or "exact", as for :func:`betweenness_approx`.
            The number of paths of "rk" is given by the number of edges of the longest path. The
            number of edges takes the place of that of vertices in the bounds of the others.
        pivots: how pivots are chosen: "uniform", "degree", "max_min".
        run: how it is computed, see :class:`Run`.

    All other arguments are those of :func:`betweenness_approx`, which alone has `top` and linear
    pivots. On CUDA, "kadabra" and "rk" draw their paths on the host.

    Returns:
        :class:`Approximation`: scores and intervals [E], one per column of edge_index (per input
        column of a Graph), as :func:`edge_betweenness` returns them. Both columns of an undirected
        edge have its score, self-loops have 0. ``top`` and ``plot`` are for vertices.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.

    Drawing a path takes as long as for vertices. Memory: in addition 40 bytes per arc, and 4 MiB
    for paths.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.edge_betweenness_approx(path, directed=False).scores
        tensor([0.5000, 0.6667, 0.5000])

    Source:
        Riondato and Kornaropoulos 2016; Borassi and Natale 2016; Brandes and Pich 2007.
        docs/approximation.md has the proofs.
    """
    begin = time.perf_counter()
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run, paths=True)
    check_batch.one_graph(
        graph, "edge_betweenness_approx", "edge_betweenness has exact scores of each"
    )
    return approximated(
        graph, "edge_betweenness", epsilon=epsilon, delta=delta, method=method, top=None,
        max_samples=max_samples, time_limit=time_limit, pivots=pivots, generator=generator,
        run=run, begin=begin,
    )  # fmt: skip
