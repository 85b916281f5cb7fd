"""betweenness_approx: the scores of all vertices to within epsilon."""

from __future__ import annotations

import math
import time

import torch

from torchcent.approx import _by_pivots, _cost, _pivots
from torchcent.approx._diameter import vertex_diameter
from torchcent.approx._edge_numbers import EdgeNumbers, of_columns
from torchcent.approx._estimate import Estimate
from torchcent.approx._progressive import Outlook, Sampling
from torchcent.approx._result import Approximation, outward
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
from torchcent.check._run import DEFAULT, Run
from torchcent.engines._measures import measure
from torchcent.engines._request import Request
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.paths import _path_sums
from torchcent.runtime._watch import progress_bar
from torchcent.scale._arguments import Scale, scale_of, shown

# Samples until the widest interval is within epsilon, times epsilon squared: few, so that what
# depends on them is repaid.
_LIKELY_SAMPLES = 0.25


@measure(
    "vertices", "checkpoint", "devices", "group", "dtype", searches=True, share=True,
    choices={"method": check_approx.METHODS, "pivots": (*_pivots.CHOICES, *_pivots.LINEAR)},
    without=dict.fromkeys(
        ("functional", "columns"), "its result is an Approximation: scores with intervals"
    ),
)  # fmt: skip
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
    edge_weight: WeightLike = None,
    num_nodes: int | None = None,
    directed: bool | None = None,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
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
            (Clopper-Pearson) are narrow enough (Borassi and Natale 2016). "rk" draws a number of
            paths determined by the diameter (Riondato and Kornaropoulos 2016). "pivots" searches
            from some vertices to all others (Brandes and Pich 2007). "exact" does not sample.
            "auto" selects "exact" if that takes about two seconds or less. Otherwise it draws the
            first paths, times them and a few searches, and selects what reaches epsilon first:
            "kadabra", "exact" or "pivots" ("top" and "max_samples" exclude the latter).
        top: stop as soon as the `top` highest scores are separated from each other and from the
            rest, or are within epsilon ("kadabra" only).
        max_samples: maximum number of paths, or the number of pivots. The result reports the
            epsilon that was reached. For "pivots", None means the number given by Serfling's
            inequality, or by Hoeffding's if they are not uniform.
        time_limit: time in seconds after which the best result so far is returned; "exact" ignores
            it. The result reports the epsilon that was reached. With a limit, scores depend on the
            generator and the number of samples, and intervals also on the speed.
        pivots: how pivots are chosen: "uniform", "degree" (proportional to the number of arcs,
            reweighted accordingly), "max_min" (each is the farthest from all previous ones). A path
            from a pivot s to t contributes 1 to a vertex v in its interior. With "+linear" behind
            the choice it contributes 2 d(s, v) / d(s, t), and likewise for paths to pivots. This
            reduces the overestimation of vertices near pivots (Geisberger, Sanders and Schultes
            2008). Both are unbiased. A linear pivot contributes up to 2, so the bounds require four
            times as many.
        edge_weight, num_nodes, directed: as for :func:`betweenness`.
        generator: source of all random choices; None uses torch's global generator. The same
            generator and number of samples give bitwise identical results, for any number of
            threads.
        run: how it is computed, see :class:`Run`; dtypes may also be float16 or bfloat16, and ends
            of intervals are rounded outward.

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
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run, paths=True)
    check_batch.one_graph(graph, "betweenness_approx", check_approx.OF_BATCHES)
    return approximated(
        graph, "betweenness", epsilon=epsilon, delta=delta, method=method, top=top,
        max_samples=max_samples, time_limit=time_limit, pivots=pivots, generator=generator,
        run=run, begin=begin,
    )  # fmt: skip


def approximated(
    graph: Graph, measure: str, epsilon: float, delta: float, method: str, top: int | None,
    max_samples: int | None, time_limit: float | None, pivots: str,
    generator: torch.Generator | None,
    run: Run, begin: float,
) -> Approximation:  # fmt: skip
    """The scores of all vertices or, of "edge_betweenness", of all edges, per input column."""
    edges = measure == "edge_betweenness"
    epsilon = check_approx.epsilon(epsilon)
    delta = check_approx.share(delta, "delta")
    check.choice(method, "method", check_approx.METHODS)
    known = _pivots.CHOICES if edges else (*_pivots.CHOICES, *_pivots.LINEAR)
    check.choice(pivots, "pivots", known)
    check_approx.options(method, top, pivots, graph)
    if top is not None:
        check.top(top, graph)
    most = check.positive(max_samples, "max_samples")
    limit = check_approx.seconds(time_limit)
    result = run.dtype
    chance = check.random_generator(generator)
    budget = run.memory
    deadline = None if limit is None else begin + limit
    for name in ("checkpoint", "devices", "group"):
        check.at_most_one(time_limit=limit, **{name: getattr(run, name)})
    scale = scale_of(graph, run)
    progress = shown(scale, run.progress)
    if scale is not None:
        chance = scale.chance(chance)
        scale.begin(graph, {
            "measure": f"{measure}_approx", "method": method, "epsilon": epsilon, "delta": delta,
            "top": top, "max_samples": most, "pivots": pivots,
        })  # fmt: skip

    why = "asked for"
    auto = method == "auto"
    if graph.num_nodes < 3 or (edges and graph.num_slots == 0):
        method, why, auto = "exact", "no vertex is between two others", False
        if edges:
            why = "there are few vertices, or no edges"
    elif auto:
        exact_cost = _at_once(graph, budget, measure, limit or math.inf)
        if scale is not None:  # it depends on the clock, threads and memory
            exact_cost = float(scale.decided("exact_cost", repr(exact_cost)))
        method = "exact" if exact_cost <= min(_cost.EXACT_SECONDS, limit or math.inf) else "kadabra"
        why = f"exact scores would take {_in_seconds(exact_cost)}"

    def rival(outlook: Outlook) -> str:
        nonlocal why
        found, cost = "", None
        left = math.inf if deadline is None else deadline - time.perf_counter()
        if auto and _cost.is_worth_timing(graph, outlook, left):
            cost = _cost.measured(graph, budget, measure)
            left = math.inf if deadline is None else deadline - time.perf_counter()
            uniform = top is None and most is None
            of = sampler.size if sampler is not None and edges else 0
            found = _cost.cheaper(
                outlook, cost, num_nodes=graph.num_nodes, epsilon=epsilon, delta=delta, left=left,
                with_pivots=uniform, edges=of,
            )  # fmt: skip
        if auto and scale is not None:
            found = str(scale.decided("instead", found))
        if cost is not None:
            why = f"exact scores would take {_in_seconds(cost.exact)}"
        return found

    sampler: Sampler | None = None
    if method in ("kadabra", "rk"):
        left = math.inf if deadline is None else deadline - time.perf_counter()
        expected = min(_LIKELY_SAMPLES / epsilon**2, most or math.inf)
        sampler = Sampler(
            graph, chance, memory=budget, scale=scale, edges=edges, expected=expected,
            seconds=left, progress=progress,
        )  # fmt: skip
        share = (graph.num_nodes - 2) / graph.num_nodes  # of pairs that do not end in v
        if edges:
            share = 1.0
        with progress_bar(0, measure, progress, quick=False, unit="paths") as bar:
            sampling = Sampling(sampler, delta, most, deadline, bar)
            if method == "rk":
                diameter = vertex_diameter(graph) + edges  # inner vertices, or edges, and 2
                why = f"paths have at most {diameter - edges:,} vertices"
                found = sampling.within_time(lambda: sampling.fixed(epsilon * share, diameter))
            else:
                found = sampling.within_time(
                    lambda: sampling.progressive(epsilon * share, top, rival)
                )
        if not sampling.instead:
            return _approximation(
                graph, found, method=method, delta=delta, why=why, factor=1 / share, dtype=result,
                limit=limit, sampler=sampler,
            )  # fmt: skip
        method = sampling.instead
        why += f", {sampling.expected_samples:,} paths more"
    if method == "pivots":
        return _by_pivots.approximation(
            graph, epsilon, delta=delta, most=most, deadline=deadline, pivots=pivots,
            generator=chance, dtype=result, memory=budget, progress=progress, scale=scale,
            reason=why if sampler else "", edges=EdgeNumbers(graph) if edges else None,
        )  # fmt: skip
    return _exact(graph, measure, why, result, budget, progress, scale)


def _at_once(graph: Graph, memory: int | None, measure: str, limit: float) -> float:
    """Seconds of exact scores, by a few searches where the prediction is close to the limit."""
    cost = _cost.unprepared_seconds(graph)
    if cost > limit:
        return cost
    cost = _cost.exact_seconds(graph, memory, measure)
    if _cost.TRUSTED * _cost.EXACT_SECONDS < cost <= min(_cost.EXACT_SECONDS, limit):
        return _cost.measured(graph, memory, measure).exact
    return cost


def _in_seconds(cost: float) -> str:
    return f"about {cost:.2g} s" if cost < math.inf else "a minute or more"


def _exact(
    graph: Graph, measure: str, why: str, dtype: torch.dtype,
    memory: int | None, progress: bool | None, scale: Scale | None,
) -> Approximation:  # fmt: skip
    request = Request(
        measure, normalized=True, memory=memory,
        progress=progress, dtype=dtype, scale=scale,
    )  # fmt: skip
    scores = _path_sums.scores(graph, request)
    if measure == "edge_betweenness":
        scores = of_columns(graph, scores)
    scores = scores.to(dtype)
    return Approximation(
        scores,
        scores,
        upper=scores,
        epsilon=0.0,
        delta=0.0,
        samples=graph.num_nodes,
        method="exact",
        reached=True,
        reason=why,
        _graph=graph,
        _edges=measure == "edge_betweenness",
    )


def _approximation(
    graph: Graph, found: Estimate, method: str, delta: float, why: str, factor: float,
    dtype: torch.dtype, limit: float | None, sampler: Sampler,
) -> Approximation:  # fmt: skip
    """Converts shares of all pairs to normalised scores by multiplying with the factor."""
    scores, lower, upper = (
        torch.from_numpy(part * factor).clamp_(max=1)
        for part in (found.score, found.low, found.high)
    )
    scores, lower, upper = (
        found.of_all(part, sampler.size, graph.device)
        for part in (scores.to(dtype), *outward(lower, upper, dtype))
    )
    if sampler.edges is not None:
        scores, lower, upper = (
            sampler.edges.of_columns(graph, part) for part in (scores, lower, upper)
        )
    radius = min(found.radius * factor, 1.0)
    ended = "enough samples"
    if not found.reached:
        by = "" if limit is None else f" by the limit of {limit:g} s"
        ended = f"cut short{by} at epsilon={radius:.3g}"
    return Approximation(
        scores, lower, upper=upper, epsilon=radius, delta=delta, samples=found.samples,
        method=method, reached=found.reached, reason=f"{why}; {ended}", _graph=graph,
        _edges=sampler.edges is not None,
    )  # fmt: skip
