"""betweenness_adaptive: the scores of a few vertices from sources shared by all of them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from torchcent.approx import _pivots
from torchcent.approx._result import AdaptiveBetweenness, outward
from torchcent.check import _approx as check_approx
from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.distribute._arguments import scale_of, shown
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph


@computes("checkpoint", "devices", "group", "dtype", searches=True)
def betweenness_adaptive(
    edge_index: GraphLike,
    vertices: Tensor,
    c: float = 5.0,
    *,
    epsilon: float = 0.25,
    max_samples: int | None = None,
    edge_weight: WeightLike = None,
    num_nodes: int | None = None,
    directed: bool | None = None,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
) -> AdaptiveBetweenness:
    r"""Estimates the betweenness of a few vertices, with as many sources as their scores require.

    Distinct sources s are drawn, and for each requested vertex v the dependencies
    :math:`\delta_s(v)` are added up until the sum exceeds c n. After k sources, the estimate is

    .. math:: \tilde b(v) = \frac{1}{k (n - 2)} \sum_{i=1}^{k} \delta_{s_i}(v).

    The higher the score, the fewer sources are needed: about c (n - 1) / (n b(v)). By Theorem 1 of
    Bader et al., epsilon t sources are enough for a vertex of raw score n^2 / t. The estimate is
    within a factor of 1 / epsilon with probability at least 1 - 2 epsilon.

    Args:
        edge_index: int64 [2, E], or a Graph; it may be directed, weighted and disconnected.
        vertices: [k], distinct; all share the same sources. The stopping rule is checked after each
            batch of at least 64 sources, so k can be slightly larger than necessary.
        c: the threshold of the stopping rule, at least 2.
        epsilon: in (0, 0.5); affects only the guarantee, not the computation.
        max_samples: maximum number of sources, for vertices of low scores; None means n / 20, but
            at least 64.
        edge_weight, num_nodes, directed, generator:
            as for :func:`betweenness`.
        run: how it is computed, see :class:`Run`.

    Returns:
        :class:`AdaptiveBetweenness`: scores [k], number of sources, whether the stopping rule was
        met, and the ends of the intervals of the guarantee.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.

    Example:
        >>> import torch, torchcent
        >>> star = torch.tensor([[0] * 99, list(range(1, 100))])
        >>> hub = torchcent.betweenness_adaptive(star, torch.tensor([0]), directed=False)
        >>> hub.scores, hub.samples, hub.stopped
        (tensor([1.]), tensor([64]), tensor([True]))

    Source:
        Bader, Kintali, Madduri and Mihail 2007; on a GPU: Sriram et al. 2009.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run, paths=True)
    check_batch.one_graph(graph, "betweenness_adaptive", check_approx.OF_BATCHES)
    ids = check.vertices(vertices, "vertices", graph, optional=False)
    c = check.within(c, "c", "[2, inf)", "at least 2 and finite")
    epsilon = check_approx.share(epsilon, "epsilon", 0.5)
    most = check.positive(max_samples, "max_samples")
    chance = check.random_generator(generator)
    scale = scale_of(graph, run)
    progress = shown(scale, run.progress)
    if scale is not None:
        chance = scale.chance(chance)
        scale.begin(graph, {
            "measure": "betweenness_adaptive", "vertices": ids, "c": c, "max_samples": most,
        })  # fmt: skip
    n = graph.num_nodes
    count = min(n, most if most is not None else max(_pivots.BATCH, n // 20))
    order = _pivots.Order(graph, "uniform", count, chance).between(0, count)
    total = torch.zeros(n, dtype=torch.float64, device=graph.device)
    sums = total.new_zeros(ids.numel())
    samples, enough = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
    begin = 0
    while begin < count and not bool(enough.all()):
        end = min(count, begin + max(_pivots.BATCH, begin // 4))
        total += _pivots.dependency_sums(graph, order[begin:end], run.memory, progress, scale=scale)
        begin = end
        sums = torch.where(enough, sums, total[ids])
        samples[~enough] = end
        enough |= sums > c * n
    # The dependency of a source on itself does not count.
    numbers = torch.arange(count, device=graph.device)
    itself = (order[None, :] == ids[:, None]) & (numbers < samples[:, None])
    scores = sums / ((samples - itself.sum(1)).clamp(min=1) * max(n - 2, 1))
    lower = torch.where(enough, scores * epsilon, math.nan)
    upper = torch.where(enough, (scores / epsilon).clamp(max=1), math.nan)
    return AdaptiveBetweenness(
        ids, scores.to(run.dtype), samples, enough, *outward(lower, upper, run.dtype)
    )
