"""Personalised PageRank of each vertex, as sparse rows."""

from __future__ import annotations

from torch import Tensor

from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import within
from torchcent.diffusion import _rows, _steps
from torchcent.diffusion._rows import DiffusionRows
from torchcent.graph._arguments import GraphLike, WeightLike


@computes(*_rows.USES)
def personalized_pagerank(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    restart: float = 0.15,
    eps: float = 1e-4,
    top_k: int | None = None,
    sources: Tensor | None = None,
    normalization: str = "row",
    run: Run = DEFAULT,
) -> DiffusionRows:
    r"""Approximate personalised PageRank from each vertex, as sparse rows.

    .. math:: \Pi = \rho \sum_{k \ge 0} (1 - \rho)^k P^k, \quad P_{uv} = w_{uv} / s_u,
              \quad s_u = \sum_x w_{ux}

    Entry (s, v) is the probability that a walk from s ends at v, if it ends at each vertex with
    the probability :math:`\rho` = `restart`. For the matrix of graph diffusion convolution, of
    APPNP and of PPRGo, only the entries that matter are computed.

    Args:
        edge_index, num_nodes, batch, directed: as in :func:`degree`.
        edge_weight: [E], the strength of each arc, finite and >= 0, where 0 is no arc; None uses 1.
        restart: :math:`\rho`, in [1e-6, 1]. It is ``alpha`` of PyTorch Geometric's ``GDC`` and
            ``get_ppr``, and 1 - ``alpha`` of :func:`pagerank` and of NetworkX.
        eps: bound on the error of an entry, per unit of the strength of its target, in (0, 1].
        top_k: only so many entries of each source, the largest; of equal ones those with the
            smaller target. None for all that are not 0.
        sources: int64 [S], only rows of these vertices, in this order. None for all vertices.
        normalization: "row" as above. "sym" takes :math:`D^{-1/2} A D^{-1/2}` in the place of P,
            with D the diagonal of the strengths: entries are multiplied by
            :math:`\sqrt{s_s / s_v}`. It is for symmetric matrices.
        run: how it is computed, see :class:`Run`. Its checkpoint needs `top_k`.

    Returns:
        DiffusionRows with `ptr` [S + 1], `target` [P] and `value` [P], a sparse matrix in CSR form.
        A walk ends where there is no outgoing arc, with what is left of its probability lost: the
        row of an isolated vertex is `restart` at that vertex.

    No entry is too large. Of a symmetric matrix, each is too small by at most `eps` times
    :math:`s_v`. In general it is by at most `eps` times :math:`\sum_u s_u \Pi_{uv}`. Both are
    apart from rounding, of 2^-62 for each arc that mass follows. With "sym" entries and bounds are
    multiplied alike. PyTorch Geometric's ``get_ppr`` has the same bound. Without weights, values
    have the same bits on all devices, for any number of threads and in a batch.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: the rows do not fit into ``Run(memory=)``, or half of the free memory. With
            `top_k` it is raised before; without it the size of rows is known when they are there.

    The work of a source is at most 1 / (`restart` `eps`) arcs, and those of the source: it does not
    depend on the size of the graph. Memory is n `top_k` entries of 12 bytes, and 48 bytes per
    vertex and thread.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> found = torchcent.personalized_pagerank(path, directed=False, top_k=2)
        >>> found.target.view(4, 2)
        tensor([[0, 1],
                [1, 2],
                [1, 2],
                [2, 3]])
        >>> found.value.view(4, 2)
        tensor([[0.3022, 0.3581],
                [0.4213, 0.2803],
                [0.2803, 0.4213],
                [0.3581, 0.3022]])

    Source:
        Andersen, Chung and Lang 2006, "Local graph partitioning using PageRank vectors";
        Gasteiger, Weissenberger and Günnemann 2019, "Diffusion improves graph learning".
    """
    graph = _rows.graph_of(edge_index, edge_weight, num_nodes, batch, directed, run)
    ending = within(restart, "restart", "[1e-6, 1]")
    bound = within(eps, "eps", "(0, 1]")
    steps, options = _steps.of_restarts(ending, bound), {"restart": ending, "eps": bound}
    return _rows.compute(
        _rows.request(
            "personalized_pagerank", graph, steps, options, sources, top_k, normalization, run
        )
    )
