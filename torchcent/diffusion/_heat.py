"""The heat kernel of each vertex, as sparse rows."""

from __future__ import annotations

from torch import Tensor

from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import within
from torchcent.diffusion import _rows, _steps
from torchcent.diffusion._rows import DiffusionRows
from torchcent.graph._arguments import GraphLike, WeightLike


@computes(*_rows.USES)
def heat_kernel(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    t: float = 5.0,
    eps: float = 1e-4,
    top_k: int | None = None,
    sources: Tensor | None = None,
    normalization: str = "row",
    run: Run = DEFAULT,
) -> DiffusionRows:
    r"""The approximate heat kernel of each vertex, as sparse rows.

    .. math:: H = e^{-t (I - P)} = e^{-t} \sum_{k \ge 0} \frac{t^k}{k!} P^k,
              \quad P_{uv} = w_{uv} / s_u, \quad s_u = \sum_x w_{ux}

    Entry (s, v) is the probability that a walk from s is at v at the time t, if it takes steps at
    the rate 1. It is the other matrix of graph diffusion convolution, and favours vertices within
    some t hops more than :func:`personalized_pagerank` does.

    Args:
        edge_index, edge_weight, num_nodes, batch, directed: as in :func:`personalized_pagerank`.
        t: the time, in (0, 1000].
        eps, top_k, sources, normalization: as in :func:`personalized_pagerank`.
        run: how it is computed, see :class:`Run`. Its checkpoint needs `top_k`.

    Returns:
        DiffusionRows, as from :func:`personalized_pagerank`. A walk ends where there is no
        outgoing arc, and what is left of its probability is lost: the row of an isolated vertex is
        :math:`e^{-t}` at that vertex.

    No entry is too large. Of a symmetric matrix, each is too small by at most `eps` times
    :math:`s_v`, apart from rounding. In general it is by at most `eps` times the largest
    :math:`\sum_u s_u (P^k)_{uv}` of all k. Values have the same bits everywhere, as those of
    :func:`personalized_pagerank`.

    Raises:
        TypeError, ValueError, MemoryError: as :func:`personalized_pagerank`.

    A vertex moves mass once in each of some t + 9 sqrt(t) + 20 steps at most. The work of a source
    does not depend on the size of the graph, only on t and `eps`.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> found = torchcent.heat_kernel(path, directed=False, t=1.0, top_k=2)
        >>> found.target.view(4, 2)
        tensor([[0, 1],
                [1, 2],
                [1, 2],
                [2, 3]])
        >>> found.value.view(4, 2)
        tensor([[0.4658, 0.4160],
                [0.5167, 0.2243],
                [0.2243, 0.5167],
                [0.4160, 0.4658]])

    Source:
        Kloster and Gleich 2014, "Heat kernel based community detection", with bounds of the steps
        that have the least work; Gasteiger, Weissenberger and Günnemann 2019.
    """
    graph = _rows.graph_of(edge_index, edge_weight, num_nodes, batch, directed, run)
    time = within(t, "t", "(0, 1000]")
    bound = within(eps, "eps", "(0, 1]")
    steps, options = _steps.of_time(time, bound), {"t": time, "eps": bound}
    return _rows.compute(
        _rows.request("heat_kernel", graph, steps, options, sources, top_k, normalization, run)
    )
