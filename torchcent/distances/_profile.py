"""distance_profile: all that the distances of a vertex give, from one traversal."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, SEARCHES, Run
from torchcent.distances._distance_sums import over_all, request_for, vertex_sums
from torchcent.distribute._arguments import pivots_of
from torchcent.engines.measures import _normalize
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._measures import measure
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph


class DistanceProfile(NamedTuple):
    """The results of one traversal, as tensors [n]; ``torch.stack(profile, 1)`` is a matrix."""

    closeness: Tensor
    harmonic: Tensor
    eccentricity: Tensor
    reach: Tensor
    farness: Tensor


@measure(
    "vertices", *SEARCHES, "dtype", searches=True, columns=("reach", "farness"),
    kernel=Kernel("distances", rounds=True, folds="one"),
)  # fmt: skip
def distance_profile(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    sources: int | Tensor | None = None,
    wf_improved: bool = True,
    normalized: bool = False,
    run: Run = DEFAULT,
) -> DistanceProfile:
    r"""Closeness, harmonic centrality, eccentricity, reach and farness, in one traversal.

    All of them are computed from the distances d(u, v) from the other vertices u to v (along
    incoming arcs; for outgoing ones pass ``graph.reversed()``). Sums are over the u that reach v:

    .. math:: reach(v) = \sum_u 1, \quad farness(v) = \sum_u d(u, v), \quad
              eccentricity(v) = \max_u d(u, v)

    Args:
        sources: as in :func:`closeness`; with k pivots the eccentricity is the largest distance
            from a pivot, which is a lower bound.
        wf_improved: as in :func:`closeness`.
        normalized: as in :func:`harmonic`.
        Others: as in :func:`closeness`.
        run: how it is computed, see :class:`Run`.

    Returns:
        DistanceProfile (a named tuple): closeness, harmonic, eccentricity, reach, farness, each a
        Tensor [n]. The eccentricity is over the vertices that reach v; it covers the whole graph
        where ``reach == n - 1``. On directed graphs :func:`eccentricity` uses outgoing arcs
        instead.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.distance_profile(path, directed=False).farness
        tensor([6., 4., 4., 6.])
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    request = request_for("distance_profile", graph, run)
    check.flag(wf_improved, "wf_improved")
    check.flag(normalized, "normalized")
    pivots = pivots_of(sources, graph, request.scale)
    sums = over_all(vertex_sums(graph, request, sources=pivots), graph, pivots)
    columns = (
        _normalize.closeness(sums.farness, sums.reach, _normalize.others(graph), wf_improved),
        _normalize.harmonic(sums.harmonic, _normalize.others(graph), normalized),
        sums.eccentricity,
        sums.reach,
        sums.farness,
    )
    return DistanceProfile(*(column.to(request.dtype) for column in columns))
