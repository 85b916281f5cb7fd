"""betweenness_approx, with a guarantee for all vertices, and betweenness_adaptive, for a few."""

from __future__ import annotations

import math
import time

import torch
from torch import Tensor

from torchcent.approx import _cost, _pivots
from torchcent.approx._bounds import hoeffding_samples, last_look, mean_interval
from torchcent.approx._diameter import vertex_diameter
from torchcent.approx._progressive import Estimate, Run
from torchcent.approx._result import AdaptiveBetweenness, Approximation, Top, outward
from torchcent.approx._sampler import Sampler
from torchcent.check import (
    _approx as check_approx,
)
from torchcent.check import (
    _batch as check_batch,
)
from torchcent.check import (
    _common as check,
)
from torchcent.check import (
    _weights as check_weights,
)
from torchcent.engines import _scale
from torchcent.engines._request import Request
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.paths import _path_sums
from torchcent.runtime import _memory
from torchcent.runtime._watch import progress_bar
from torchcent.scale._arguments import Devices, Folder, Scale, scale_of, shown
from torchcent.scale._group import GroupLike

__all__ = [
    "AdaptiveBetweenness",
    "Approximation",
    "Top",
    "betweenness_adaptive",
    "betweenness_approx",
]

_OF_BATCHES = "betweenness has exact scores of each"


@_memory.reported
def betweenness_approx(
    edge_index: GraphLike,
    epsilon: float = 0.01,
    delta: float = 0.1,
    *,
    method: str = "auto",
    top: int | None = None,
    max_samples: int | None = None,
    time_limit: float | None = None,
    pivots: str = "uniform",
    scaling: str = "brandes_pich",
    edge_weight: WeightLike = None,
    num_nodes: int | None = None,
    directed: bool | None = None,
    tie_tolerance: float = 0.0,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    memory: int | None = None,
    progress: bool | None = None,
    checkpoint: Folder = None,
    devices: Devices = None,
    group: GroupLike = None,
) -> Approximation:
    r"""Approximates the betweenness of every vertex to within epsilon, with probability 1 - delta.

    .. math:: P\Big(\max_v \Big| \tilde b(v) - \frac{C_B(v)}{(n - 1)(n - 2)} \Big| \le
        \varepsilon\Big) \ge 1 - \delta

    The guarantee holds for the scores of ``betweenness(graph)``, for all vertices simultaneously.
    Random shortest paths between random pairs of vertices are drawn, and b(v) is the fraction of
    paths with v in their interior. The cost depends on epsilon and on the highest scores, and
    hardly on the size of the graph.

    Args:
        edge_index: int64 [2, E], or a Graph; it may be directed, weighted and disconnected.
        epsilon: maximum absolute error, in [1e-9, 1); scores lie in [0, 1].
        delta: probability of failure, in (0, 1).
        method: "kadabra" draws paths by balanced bidirectional searches until all intervals
            (Clopper-Pearson) are narrow enough (Borassi and Natale 2016); "rk" draws a number of
            paths determined by the diameter (Riondato and Kornaropoulos 2016); "pivots" searches
            from some vertices to all others (Brandes and Pich 2007); "exact" does not sample.
            "auto" selects "exact" if that takes about two seconds or less, or less time than
            "kadabra", and "kadabra" otherwise.
        top: stop as soon as the `top` highest scores are separated from each other and from the
            rest, or are within epsilon ("kadabra" only).
        max_samples: maximum number of paths, or the number of pivots. The result reports the
            epsilon that was reached. For "pivots", None means the number given by Hoeffding's
            inequality.
        time_limit: time in seconds after which the best result so far is returned; "exact" ignores
            it.
        pivots: how pivots are chosen: "uniform", "degree" (proportional to the number of arcs,
            reweighted accordingly), "max_min" (each is the farthest from all previous ones).
        scaling: the contribution of a path from a pivot s to t to a vertex v in its interior.
            "brandes_pich": 1. "linear": 2 d(s, v) / d(s, t), and likewise for paths to pivots,
            which reduces the overestimation of vertices near pivots (Geisberger, Sanders and
            Schultes 2008). Both are unbiased. A linear pivot contributes up to 2 instead of 1, so
            the bounds require four times as many.
        edge_weight, num_nodes, directed, progress: as for :func:`betweenness`.
        tie_tolerance: as for :func:`betweenness`; a value above 0 draws paths with tensor
            operators, which is far slower.
        dtype: float64, float32, float16 or bfloat16; interval ends are rounded outward. None means
            PyTorch's default.
        memory: as for :func:`betweenness`; if memory is short, fewer threads draw concurrently.
        generator: source of all random choices; None uses torch's global generator. The same
            generator and number of samples give bitwise identical results, for any number of
            threads.
        checkpoint, devices, group: as for :func:`betweenness`; not with `time_limit`.

    Returns:
        :class:`Approximation`: scores, lower and upper ends of intervals that hold for all vertices
        simultaneously with probability 1 - delta, the resulting epsilon, and ``top(k)``. Pivots
        that are not uniform have no guarantee: the intervals and epsilon are NaN.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.

    Drawing a path visits about sqrt(m) arcs if distances are small, and a part of the graph if they
    are large. The number of paths is O((b / epsilon^2 + 1 / epsilon) ln(1 / delta)), where b is the
    highest score. Memory: 16 bytes per vertex and thread, or 48 with weights.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.betweenness_approx(path, directed=False).scores
        tensor([0.0000, 0.6667, 0.6667, 0.0000])
        >>> drawn = torchcent.betweenness_approx(
        ...     path, 0.05, directed=False, method="kadabra",
        ...     generator=torch.Generator().manual_seed(1),
        ... )
        >>> bool((drawn.scores - torch.tensor([0, 2 / 3, 2 / 3, 0])).abs().max() < 0.05)
        True

    Source:
        docs/approximation.md has the formulas, the proofs and a table for choosing a method.
    """
    begin = time.perf_counter()
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, memory=memory)
    check_batch.one_graph(graph, "betweenness_approx", _OF_BATCHES)
    epsilon = check_approx.epsilon(epsilon)
    delta = check_approx.share(delta, "delta")
    check.choice(method, "method", check_approx.METHODS)
    check.choice(pivots, "pivots", _pivots.CHOICES)
    check.choice(scaling, "scaling", _pivots.SCALINGS)
    tolerance = check_weights.tie_tolerance(tie_tolerance)
    check_approx.options(method, top, pivots, scaling, tolerance)
    if top is not None:
        check.top(top, graph)
    most = check.positive(max_samples, "max_samples")
    limit = check_approx.seconds(time_limit)
    result = check.float_dtype(dtype)
    chance = check.random_generator(generator)
    if progress is not None:
        check.flag(progress, "progress")
    budget = check.byte_budget(memory)
    deadline = None if limit is None else begin + limit
    for name, value in {"checkpoint": checkpoint, "devices": devices, "group": group}.items():
        check.at_most_one(time_limit=limit, **{name: value})
    scale = scale_of(graph, checkpoint, devices, group)
    progress = shown(scale, progress)
    if scale is not None:
        chance = scale.chance(chance)
        scale.begin(graph, {
            "measure": "betweenness_approx", "method": method, "epsilon": epsilon, "delta": delta,
            "top": top, "max_samples": most, "pivots": pivots, "scaling": scaling,
            "tie_tolerance": tolerance,
        })  # fmt: skip

    exact_cost, why = math.inf, "asked for"
    if graph.num_nodes < 3:
        method, why = "exact", "no vertex is between two others"
    elif method == "auto":
        exact_cost = _cost.exact_seconds(graph, budget)
        if scale is not None:  # it depends on threads and memory
            exact_cost = float(scale.decided("exact_cost", repr(exact_cost)))
        method = "exact" if exact_cost <= min(_cost.EXACT_SECONDS, limit or math.inf) else "kadabra"
        why = f"exact scores would take about {_in_seconds(exact_cost)}"
    if method == "pivots":
        return _from_pivots(
            graph, epsilon, delta, most, deadline, pivots, scaling, tolerance, chance, result,
            budget, progress, scale,
        )  # fmt: skip
    if method == "exact":
        return _exact(graph, why, tolerance, result, budget, progress, scale)

    def dearer(seconds: float) -> bool:
        found = exact_cost < seconds and (deadline is None or exact_cost < _left(deadline))
        return found if scale is None else bool(scale.decided("exact", found))

    sampler = Sampler(graph, chance, budget, tolerance, scale)
    share = (graph.num_nodes - 2) / graph.num_nodes  # fraction of pairs that do not end in v
    with progress_bar(0, "betweenness", progress, quick=False, unit="paths") as bar:
        run = Run(sampler, delta, most, deadline, bar)
        if method == "rk":
            diameter = vertex_diameter(graph)
            why = f"paths have at most {diameter:,} vertices"
            found = run.within_time(lambda: run.fixed(epsilon * share, diameter))
        else:
            found = run.within_time(lambda: run.progressive(epsilon * share, top, dearer))
    if run.abandoned:
        why += f", {run.expected_samples:,} paths more"
        return _exact(graph, why, tolerance, result, budget, progress, scale)
    return _approximation(graph, found, method, delta, why, 1 / share, result)


def _left(deadline: float) -> float:
    return deadline - time.perf_counter()


def _in_seconds(cost: float) -> str:
    return f"{cost:.2g} s" if cost < math.inf else "a minute or more"


def _exact(
    graph: Graph, why: str, tie_tolerance: float, dtype: torch.dtype, memory: int | None,
    progress: bool | None, scale: Scale | None,
) -> Approximation:  # fmt: skip
    request = Request(
        "betweenness", normalized=True, tie_tolerance=tie_tolerance, memory=memory,
        progress=progress, dtype=dtype, scale=scale,
    )  # fmt: skip
    scores = _path_sums.scores(graph, request).to(dtype)
    return Approximation(
        scores, scores, scores, 0.0, 0.0, graph.num_nodes, "exact", True, why, graph
    )


def _approximation(
    graph: Graph, found: Estimate, method: str, delta: float, why: str, factor: float,
    dtype: torch.dtype,
) -> Approximation:  # fmt: skip
    """Converts shares of all pairs to normalised scores by multiplying with the factor."""
    scores, lower, upper = (
        torch.from_numpy(part * factor).clamp_(max=1)
        for part in (found.scores, found.lower, found.upper)
    )
    scores, lower, upper = (
        found.of_all(part, graph.num_nodes, graph.device)
        for part in (scores.to(dtype), *outward(lower, upper, dtype))
    )
    ended = "enough samples" if found.reached else "cut short"
    return Approximation(
        scores, lower, upper, min(found.radius * factor, 1.0), delta, found.samples, method,
        found.reached, f"{why}; {ended}", graph,
    )  # fmt: skip


def _from_pivots(
    graph: Graph, epsilon: float, delta: float, most: int | None, deadline: float | None,
    choice: str, scaling: str, tie_tolerance: float, generator: torch.Generator | None,
    dtype: torch.dtype, memory: int | None, progress: bool | None, scale: Scale | None,
) -> Approximation:  # fmt: skip
    n = graph.num_nodes
    largest = 2 if scaling == "linear" else 1  # maximum contribution of a pivot
    limited = deadline is not None
    asked = most
    if asked is None:  # one more: a pivot's own search does not contribute to it
        asked = 1 + hoeffding_samples(epsilon / largest, last_look(delta, limited), n)
    count = min(asked, n)
    order = _pivots.Order(graph, choice, count, generator, scaling)
    ends = list(_pivots.blocks(count, limited))
    sums, done = torch.zeros(n, dtype=torch.float64, device=graph.device), 0
    told_by = _pivots.Pivots(graph, choice, scaling, memory, progress, tie_tolerance, scale)
    begin = time.perf_counter()
    for looks, end in enumerate(ends, 1):
        sums += told_by.sums(order.between(done, end))
        done = end
        if deadline is None or end == count:
            continue
        each = (time.perf_counter() - begin) / done
        if _left(deadline) < each * (ends[looks] - done):
            break
    taken = order.between(0, done)
    promised = choice == "uniform"
    if choice == "degree":
        scores = sums.div_(done * (n - 1) * (n - 2))
    else:
        scores = _scale.scale(sums, graph, normalized=True, pivots=None if done == n else taken)
    lower = upper = torch.full_like(scores, math.nan)
    radius = math.nan
    if promised and done == n:
        lower = upper = scores
        radius, delta = 0.0, 0.0
    elif promised:
        told = torch.full((n,), float(done), dtype=torch.float64, device="cpu")
        told[taken.cpu()] -= 1
        part = last_look(delta, limited)
        if done < count:
            part = (delta - part) / (len(ends) - 1)
        failure = math.log(2 * n / part)  # per side and vertex
        mean = scores.cpu().numpy() / largest
        ends_of = mean_interval(mean, told.clamp_(min=1e-300).numpy(), failure)
        lower, upper = (
            torch.from_numpy(part * largest).clamp_(max=1).to(scores.device) for part in ends_of
        )
        radius = float(torch.maximum(upper - scores, scores - lower).nan_to_num(nan=1.0).max())
    why = f"{done:,} of {n:,} vertices, {choice}, scaling {scaling}"
    return Approximation(
        scores.to(dtype), *outward(lower, upper, dtype), radius, delta, done, "pivots",
        done == count and (most is not None or done == n or radius <= epsilon), why, graph,
    )  # fmt: skip


@_memory.reported
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
    tie_tolerance: float = 0.0,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    memory: int | None = None,
    progress: bool | None = None,
    checkpoint: Folder = None,
    devices: Devices = None,
    group: GroupLike = None,
) -> AdaptiveBetweenness:
    r"""Estimates the betweenness of a few vertices, with as many sources as their scores require.

    Distinct sources s are drawn, and for each requested vertex v the dependencies
    :math:`\delta_s(v)` are added up until the sum exceeds c n. After k sources, the estimate is

    .. math:: \tilde b(v) = \frac{1}{k (n - 2)} \sum_{i=1}^{k} \delta_{s_i}(v).

    The higher the score, the fewer sources are needed: about c (n - 1) / (n b(v)). By Theorem 1 of
    Bader et al., epsilon t sources estimate a vertex of raw score n^2 / t to within a factor of 1 /
    epsilon with probability at least 1 - 2 epsilon.

    Args:
        edge_index: int64 [2, E], or a Graph; it may be directed, weighted and disconnected.
        vertices: [k], distinct; all share the same sources. The stopping rule is checked after each
            batch of at least 64 sources, so k can be slightly larger than necessary.
        c: the threshold of the stopping rule, at least 2.
        epsilon: in (0, 0.5); affects only the guarantee, not the computation.
        max_samples: maximum number of sources, for vertices of low scores; None means n / 20, but
            at least 64.
        edge_weight, num_nodes, directed, tie_tolerance, generator, dtype, memory, progress: as for
            :func:`betweenness`.
        checkpoint, devices, group: as for :func:`betweenness`.

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
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, memory=memory)
    check_batch.one_graph(graph, "betweenness_adaptive", _OF_BATCHES)
    wanted = check.vertices(vertices, "vertices", graph)
    c = check_approx.at_least(c, "c", 2)
    epsilon = check_approx.share(epsilon, "epsilon", 0.5)
    tolerance = check_weights.tie_tolerance(tie_tolerance)
    most = check.positive(max_samples, "max_samples")
    result = check.float_dtype(dtype)
    chance = check.random_generator(generator)
    if progress is not None:
        check.flag(progress, "progress")
    budget = check.byte_budget(memory)
    scale = scale_of(graph, checkpoint, devices, group)
    progress = shown(scale, progress)
    if scale is not None:
        chance = scale.chance(chance)
        scale.begin(graph, {
            "measure": "betweenness_adaptive", "vertices": wanted, "c": c, "max_samples": most,
            "tie_tolerance": tolerance,
        })  # fmt: skip
    n = graph.num_nodes
    count = min(n, most if most is not None else max(_pivots.BATCH, n // 20))
    order = _pivots.Order(graph, "uniform", count, chance).between(0, count)
    total = torch.zeros(n, dtype=torch.float64, device=graph.device)
    sums = total.new_zeros(wanted.numel())
    samples = torch.zeros_like(wanted)
    stopped = torch.zeros_like(wanted, dtype=torch.bool)
    done = 0
    while done < count and not bool(stopped.all()):
        end = min(count, done + max(_pivots.BATCH, done // 4))
        total += _pivots.dependency_sums(
            graph, order[done:end], budget, progress, tie_tolerance=tolerance, scale=scale
        )
        done = end
        sums = torch.where(stopped, sums, total[wanted])
        samples[~stopped] = done
        stopped |= sums > c * n
    # The dependency of a source on itself does not count.
    own = (order[None, :] == wanted[:, None]) & (
        torch.arange(count, device=graph.device) < samples[:, None]
    )
    scores = sums / ((samples - own.sum(1)).clamp(min=1) * max(n - 2, 1))
    lower = torch.where(stopped, scores * epsilon, math.nan)
    upper = torch.where(stopped, (scores / epsilon).clamp(max=1), math.nan)
    ends = outward(lower, upper, result)
    return AdaptiveBetweenness(wanted, scores.to(result), samples, stopped, *ends)
