"""betweenness_approx, edge_betweenness_approx: the scores of all to within epsilon."""

from __future__ import annotations

import math
import time

import torch

from torchcent.approx import _by_pivots, _cost, _pivots
from torchcent.approx._estimate import Estimate
from torchcent.approx._progressive import Outlook, Sampling
from torchcent.approx._result import Approximation, exact, outward
from torchcent.approx._sampler import Sampler
from torchcent.check import _approx as check_approx
from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run
from torchcent.distribute._arguments import scale_of, shown
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.engines.measures._request import Request
from torchcent.engines.reduce import _hops
from torchcent.engines.search import _weighted_rows
from torchcent.graph import Graph, _batch, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.graph._pieces import component_sizes, pieces
from torchcent.paths import _path_sums
from torchcent.runtime._watch import progress_bar

# Samples until the widest interval is within epsilon, times epsilon squared, if they are few: what
# depends on them is to be repaid. A road of 1.9 million vertices takes 2.2, 1.0 and 0.65 for an
# epsilon of 0.05, 0.01 and 0.003.
_LIKELY_SAMPLES = 0.65


@measure(
    "vertices", "checkpoint", "devices", "group", "dtype", searches=True, share=True,
    choices={"method": check_approx.METHODS, "pivots": (*_pivots.CHOICES, *_pivots.LINEAR)},
    without=NOT_IN_NETWORKX | dict.fromkeys(
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
    return _approximated(
        graph, "betweenness", epsilon=epsilon, delta=delta, method=method, top=top,
        max_samples=max_samples, time_limit=time_limit, pivots=pivots, generator=generator,
        run=run, begin=begin,
    )  # fmt: skip


@measure(
    "edges", "checkpoint", "devices", "group", "dtype", searches=True, share=True,
    choices={"method": check_approx.METHODS, "pivots": _pivots.CHOICES},
    without=NOT_IN_NETWORKX | {"functional": "its result is an Approximation, with intervals"},
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
    return _approximated(
        graph, "edge_betweenness", epsilon=epsilon, delta=delta, method=method,
        max_samples=max_samples, time_limit=time_limit, pivots=pivots, generator=generator,
        run=run, begin=begin,
    )  # fmt: skip


def _approximated(
    graph: Graph, measure: str, *, epsilon: float, delta: float, method: str, pivots: str,
    max_samples: int | None, time_limit: float | None, generator: torch.Generator | None,
    run: Run, begin: float, top: int | None = None,
) -> Approximation:  # fmt: skip
    """The scores of all vertices or, of "edge_betweenness", of all edges, per input column."""
    edges = measure == "edge_betweenness"
    epsilon, delta = check_approx.epsilon(epsilon), check_approx.share(delta, "delta")
    check.choice(method, "method", check_approx.METHODS)
    check.choice(
        pivots, "pivots", _pivots.CHOICES if edges else (*_pivots.CHOICES, *_pivots.LINEAR)
    )
    check_approx.options(method, top, pivots, graph)
    if top is not None:
        check.top(top, graph)
    most = check.positive(max_samples, "max_samples")
    limit = time_limit
    if time_limit is not None:
        limit = check.within(time_limit, "time_limit", "(0, inf)", "a positive number of seconds")
    chance = check.random_generator(generator)
    deadline = math.inf if limit is None else begin + limit
    for name in ("checkpoint", "devices", "group"):
        check.at_most_one(time_limit=limit, **{name: getattr(run, name)})
    scale = scale_of(graph, run)
    request = Request(
        measure, normalized=True, memory=run.memory, progress=shown(scale, run.progress),
        dtype=run.dtype, scale=scale,
    )  # fmt: skip
    if scale is not None:
        chance = scale.chance(chance)
        scale.begin(graph, {
            "measure": f"{measure}_approx", "method": method, "epsilon": epsilon, "delta": delta,
            "top": top, "max_samples": most, "pivots": pivots,
        })  # fmt: skip

    why, auto = "asked for", method == "auto"
    if graph.num_nodes < 3 or (edges and graph.num_slots == 0):
        method, auto = "exact", False
        why = "there are few vertices, or no edges" if edges else "no vertex is between two others"
    elif auto:
        exact_cost = _at_once(graph, request, limit or math.inf)
        if scale is not None:  # it depends on the clock, threads and memory
            exact_cost = float(scale.decided("exact_cost", repr(exact_cost)))
        method = "exact" if exact_cost <= min(_cost.EXACT_SECONDS, limit or math.inf) else "kadabra"
        why = f"exact scores would take {_in_seconds(exact_cost)}"

    reason = ""  # why pivots replace samples
    if method in ("kadabra", "rk"):
        sampler = Sampler(
            graph, chance, memory=run.memory, scale=scale, edges=edges,
            expected=min(_LIKELY_SAMPLES / epsilon**2, most or math.inf),
            seconds=deadline - time.perf_counter(), progress=request.progress,
        )  # fmt: skip

        def rival(outlook: Outlook) -> str:
            nonlocal why
            choice, cost = "", None
            if auto and _cost.is_worth_timing(graph, outlook, deadline - time.perf_counter()):
                cost = _cost.measured(graph, run.memory, measure)
                choice = _cost.cheaper(
                    outlook, cost, graph.num_nodes, epsilon, delta,
                    deadline - time.perf_counter(), with_pivots=top is None and most is None,
                    edges=sampler.size if edges else 0,
                )  # fmt: skip
            if auto and scale is not None:
                choice = str(scale.decided("instead", choice))
            if cost is not None:
                why = f"exact scores would take {_in_seconds(cost.exact)}"
            return choice

        # The share of pairs that do not end in a vertex.
        share = 1.0 if edges else (graph.num_nodes - 2) / graph.num_nodes
        with progress_bar(0, measure, request.progress, quick=False, unit="paths") as bar:
            sampling = Sampling(sampler, epsilon * share, delta, top, most, deadline, bar)
            if method == "rk":
                diameter = vertex_diameter(graph)
                why = f"paths have at most {diameter:,} vertices"
                # Inner vertices, or edges, and 2.
                estimate = sampling.within_time(lambda: sampling.fixed(diameter + edges))
            else:
                estimate = sampling.within_time(lambda: sampling.progressive(rival))
        if not sampling.instead:
            return _of_samples(
                sampler, estimate, request, method=method, delta=delta, factor=1 / share,
                why=why, limit=limit,
            )  # fmt: skip
        method = sampling.instead
        reason = why = f"{why}, {sampling.expected_samples:,} paths more"
    if method == "pivots":
        return _by_pivots.approximation(
            graph, request, epsilon=epsilon, delta=delta, most=most, deadline=deadline,
            pivots=pivots, generator=chance, reason=reason,
        )  # fmt: skip
    scores = _path_sums.scores(graph, request)
    if edges:
        scores = _csr.of_columns(scores, graph.slot)
    return exact(graph, scores.to(run.dtype), why, edges)


def _at_once(graph: Graph, request: Request, limit: float) -> float:
    """Seconds of exact scores, by a few searches where the prediction is close to the limit."""
    cost = _cost.unprepared_seconds(graph)
    if cost > limit:
        return cost
    cost = _cost.exact_seconds(graph, request.memory, request.measure)
    if _cost.TRUSTED * _cost.EXACT_SECONDS < cost <= min(_cost.EXACT_SECONDS, limit):
        return _cost.measured(graph, request.memory, request.measure).exact
    return cost


def _in_seconds(cost: float) -> str:
    return f"about {cost:.2g} s" if cost < math.inf else "a minute or more"


def _of_samples(
    sampler: Sampler, estimate: Estimate, request: Request, *, method: str, delta: float,
    factor: float, why: str, limit: float | None,
) -> Approximation:  # fmt: skip
    """Converts shares of all pairs to normalised scores by multiplying with the factor."""
    graph, edges = sampler.graph, sampler.edges
    scores, lower, upper = (
        torch.from_numpy(part * factor).clamp_(max=1)
        for part in (estimate.score, estimate.low, estimate.high)
    )
    scores, lower, upper = (
        estimate.of_all(part, sampler.size, graph.device)
        for part in (scores.to(request.dtype), *outward(lower, upper, request.dtype))
    )
    if edges is not None:
        scores, lower, upper = (edges.of_columns(graph, part) for part in (scores, lower, upper))
    radius = min(estimate.radius * factor, 1.0)
    end = "enough samples"
    if not estimate.reached:
        by = "" if limit is None else f" by the limit of {limit:g} s"
        end = f"cut short{by} at epsilon={radius:.3g}"
    return Approximation(
        scores, lower, upper, radius, delta, estimate.samples, method=method,
        reached=estimate.reached, reason=f"{why}; {end}", _graph=graph, _edges=edges is not None,
    )  # fmt: skip


def vertex_diameter(graph: Graph) -> int:
    """An upper bound on the vertex diameter, for vc_dimension(). In a component of a symmetric
    graph, no path is longer than the sum of the two largest distances from any one vertex. With
    weights, a path has at most as many arcs as the smallest weight fits into that length. In
    directed graphs no distance bounds the others, and the number of vertices is used (Riondato and
    Kornaropoulos 2016, section 4.1)."""
    if graph.num_nodes == 0:
        return 0
    size = component_sizes(graph)
    if not graph.is_symmetric:
        return int(size.max())
    lightest = None
    if graph.weight is not None and graph.num_slots:
        units = graph.scale.apply(graph.weight.min())
        lightest = float(graph.scale.lengths(units.double()))
    # Each component is a graph of its own, so that a search costs what it reaches.
    parts = graph if size.numel() == 1 else pieces(graph).graph
    bound = 1
    for component in torch.argsort(size, descending=True, stable=True).tolist():
        most = int(size[component])
        if most <= bound:
            break
        bound = max(bound, min(most, _diameter_from(_batch.part(parts, component), lightest)))
    return bound


def _diameter_from(graph: Graph, lightest: float | None) -> int:
    """The bound of a connected graph, from its first vertex of maximum degree."""
    root = int(torch.nonzero(graph.degree == graph.degree.max())[0])
    if lightest is None:
        depth = _hops.hops(graph.rowptr, graph.col, root)
        return int(depth.topk(min(2, depth.numel())).values.clamp(min=0).sum()) + 1
    row = _weighted_rows.single(graph, "auto", root, False)
    far = row[torch.isfinite(row)].topk(min(2, int(torch.isfinite(row).sum()))).values.sum()
    return math.ceil(float(far) / lightest * (1 + 2.0**-20)) + 1
