"""distance_profile: all that the distances of a vertex give, from one traversal."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _cutoff as check_cutoff
from torchcent.check._cutoff import Lengths
from torchcent.check._run import DEFAULT, SEARCHES, Run
from torchcent.distances._distance_sums import of_each_cutoff, over_all, request_for, vertex_sums
from torchcent.distances._run import Sums
from torchcent.distribute._arguments import pivots_of
from torchcent.engines.measures import _normalize
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.engines.measures._request import Request
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph


class DistanceProfile(NamedTuple):
    """The results of one traversal, as tensors [n]; ``torch.stack(profile, 1)`` is a matrix.

    With several cutoffs they are [n, cutoffs].
    """

    closeness: Tensor
    harmonic: Tensor
    eccentricity: Tensor
    reach: Tensor
    farness: Tensor


@measure(
    "vertices", *SEARCHES, "dtype", searches=True, columns=("reach", "farness"),
    kernel=Kernel("distances", rounds=True, folds="one"), without=NOT_IN_NETWORKX,
)  # fmt: skip
def distance_profile(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    sources: int | Tensor | None = None,
    cutoff: Lengths = None,
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
        cutoff: count only pairs at most this far apart, in hops or by weights; searches end there.
            The reach is then the number of places within the cutoff, and the eccentricity the
            distance to the farthest of them. A list or tensor of cutoffs gives a column for each
            (by hops with `sources` and on CUDA from a search for each, else from one).
        wf_improved: as in :func:`closeness`.
        normalized: as in :func:`harmonic`.
        Others: as in :func:`closeness`.
        run: how it is computed, see :class:`Run`.

    Returns:
        DistanceProfile (a named tuple): closeness, harmonic, eccentricity, reach, farness, each a
        Tensor [n], or with several cutoffs [n, cutoffs]. The eccentricity is over the vertices that
        reach v; it covers the whole graph where ``reach == n - 1``. On directed graphs
        :func:`eccentricity` uses outgoing arcs instead.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.distance_profile(path, directed=False).farness
        tensor([6., 4., 4., 6.])
        >>> metres = torch.tensor([300.0, 400.0, 500.0])
        >>> torchcent.distance_profile(path, metres, directed=False, cutoff=[500, 800]).reach
        tensor([[1., 2.],
                [2., 2.],
                [2., 3.],
                [1., 1.]])
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    limits = check_cutoff.cutoffs(cutoff, run.engine.name)
    request = request_for("distance_profile", graph, run, limits)
    check.flag(wf_improved, "wf_improved")
    check.flag(normalized, "normalized")
    pivots = pivots_of(sources, graph, request.scale)
    others = _normalize.others(graph)

    def columns(sums: Sums) -> tuple[Tensor, ...]:
        sums = over_all(sums, graph, pivots)
        return (
            _normalize.closeness(sums.farness, sums.reach, others, wf_improved),
            _normalize.harmonic(sums.harmonic, others, normalized),
            sums.eccentricity.double(),
            sums.reach,
            sums.farness,
        )

    def find(request: Request) -> Sums:
        return vertex_sums(graph, request, sources=pivots)

    if limits is None:
        return DistanceProfile(*(each.to(request.dtype) for each in columns(find(request))))
    request.begin(graph)  # one ledger for all searches
    # By hops there are vertices at all distances up to the farthest, but not pivots.
    apart = pivots is not None and not graph.is_weighted
    requests = [request]
    if apart:
        requests = [request._replace(cutoffs=(each,)) for each in limits.lengths]
    parts = [columns(sums) for each in requests for sums in of_each_cutoff(graph, each, find)]
    several = (limits.of(torch.stack(each, 1)) for each in zip(*parts, strict=True))
    return DistanceProfile(*(each.to(request.dtype) for each in several))
