"""Seconds of exact betweenness, predicted from rates or from a few searches, and what is cheaper.

Rates of engines are those of the slowest graphs on one machine, so that a prediction may be off by
a factor of ten on another. It decides alone only where that does no harm. Otherwise a few searches
of the engine that the plan has chosen are timed.
"""

from __future__ import annotations

import dataclasses
import math
import time
from typing import NamedTuple

import numpy as np
import torch

from torchcent.approx._bounds import mean_interval, serfling_samples
from torchcent.approx._progressive import Outlook
from torchcent.engines.blocks import _blocks
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _climbs, _plan
from torchcent.engines.plan import _hierarchy_choice as choice
from torchcent.engines.reduce import _hierarchy_costs as sweeps
from torchcent.engines.reduce import _reduce
from torchcent.engines.reduce._fold import Fold
from torchcent.engines.search import _driver, _resolution
from torchcent.graph import Graph
from torchcent.runtime import _ops
from torchcent.runtime._tuned import TUNED

EXACT_SECONDS = 2.0
"""Exact scores are computed if they take at most this long, whatever sampling would cost."""

# The rates of _tuned.py multiplied by the depth of the graph in hops. They apply if searches run
# side by side without AVX-512, whose masks skip finished lanes: the lanes reach a vertex at
# different levels, and its arcs are scanned each time. Measured with AVX2.
_TIMES_DEPTH = {"lanes": 2.5e9, "relax": 2.5e9}
_LEAST_DEPTH = 3
# The graph is not prepared for the choice of an engine, apart from folding its leaves, if even the
# fastest engine would exceed the limit by this factor.
_HOPELESS = 20
# Slots per vertex of graphs that may be roads.
_SLOTS_OF_ROADS = 6
TRUSTED = 0.1
"""Predictions are trusted up to this part of the limit."""
# Searches are timed until a run of them takes so many seconds more than the fastest run, and only
# if so many searches, at the rate of the slowest kernels, take at most this part of the time that
# is at stake. Where less than a second is at stake, the method does not depend on the clock.
_PROBE, _PROBES, _AT_STAKE, _LEAST_AT_STAKE = 0.1, 100, 0.1, 1.0
# Another method replaces sampling if it takes at most this part of the time, or of the error; and
# pivots replace exact scores, which have no error, if they take at most this part of the time.
_MARGIN, _INEXACT = 0.9, 0.5


def exact_seconds(graph: Graph, memory: int | None, measure: str = "betweenness") -> float:
    """Predicted seconds for exact scores; inf if they do not fit or would take far too long."""
    hopeless, n = _HOPELESS * EXACT_SECONDS, graph.num_nodes
    if least_seconds(graph) > hopeless:
        # The graph is not prepared to find out whether it is like a road.
        road = _climbs.possible(graph) and graph.num_slots <= _SLOTS_OF_ROADS * n
        too_long = not road or _seconds_to_sweep(n) > EXACT_SECONDS
        if too_long and least_seconds(graph, _leaves(graph)) > hopeless:
            return math.inf
    try:
        plan, core = _plan.plan(graph, Request(measure, memory=memory))
    except MemoryError:
        return math.inf
    if plan.engine == "hierarchy":
        return choice.seconds(core, plan.sources, plan.threads)
    rates, by_depth = _rates(graph)
    rate = rates[plan.engine]
    if plan.engine in by_depth:
        rate = by_depth[plan.engine] / max(core.depth, _LEAST_DEPTH)
    return plan.sources * core.num_slots / (rate * max(plan.threads or 1, 1))


def _seconds_to_sweep(n: int) -> float:
    """Seconds of exact scores by a hierarchy that is yet to be made."""
    return sweeps.seconds(n, n, torch.get_num_threads()) + sweeps.seconds_to_contract(n)


def unprepared_seconds(graph: Graph) -> float:
    """Seconds that exact scores take at least where they may take a contraction; 0 elsewhere. A
    plan would contract the graph, which alone may take longer than a run may."""
    if not _climbs.possible(graph) or _climbs.kept(graph) is not None:
        return 0.0
    return min(_seconds_to_sweep(graph.num_nodes), least_seconds(graph, _leaves(graph)))


def least_seconds(graph: Graph, leaves: int = 0) -> float:
    """A lower bound: every source that is not folded at the rate of the fastest engine."""
    work = (graph.num_nodes - leaves) * (graph.num_slots - 2 * leaves)
    return work / (max(_rates(graph)[0].values()) * _threads(graph))


def _threads(graph: Graph) -> int:
    return 1 if graph.device.type == "cuda" else torch.get_num_threads()


def _leaves(graph: Graph) -> int:
    """Vertices that folding in rounds takes away, which are nearly all of a tree."""
    return Fold.of(graph, "all").order.numel()


def _rates(graph: Graph) -> tuple[dict[str, float], dict[str, float]]:
    on_cpu = graph.device.type != "cuda"
    by_depth = _TIMES_DEPTH if on_cpu and _ops.simd != "avx512" else {}
    rates = {
        engine: TUNED[engine].rate if on_cpu else TUNED[engine].rate_on_cuda
        for engine in ("lanes", "queue", "relax", "dijkstra", "chains", "tensor")
    }
    return rates | {engine: rate / _LEAST_DEPTH for engine, rate in by_depth.items()}, by_depth


def is_worth_timing(graph: Graph, outlook: Outlook, limit: float) -> bool:
    """Whether timing searches costs little compared with drawing the paths."""
    probe = _PROBES * graph.num_slots / (_rates(graph)[0]["dijkstra"] * _threads(graph))
    at_stake = min(outlook.samples * outlook.seconds, limit)
    return at_stake >= _LEAST_AT_STAKE and probe <= _AT_STAKE * at_stake


class _Timed(NamedTuple):
    """A run of searches from some pivots; folding leaves fewer searches than pivots."""

    searches: int
    pivots: int
    seconds: float


class Measured(NamedTuple):
    """Seconds found by timing a few searches."""

    exact: float  # of exact scores; inf if they do not fit
    pivot: float  # of one more pivot


def measured(graph: Graph, memory: int | None, measure: str = "betweenness") -> Measured:
    """Times searches of the engine that exact scores would take, from vertices far apart. Starting
    a run takes up to a tenth of a second on graphs with long chains. Therefore the cost of a search
    is that of the further searches of a longer run, over the fastest run of all. A search from one
    vertex comes first and does not count: it starts threads, or loads kernels."""
    request = Request(measure, memory=memory)
    try:
        plan, core = _plan.plan(graph, request)
        if graph.is_weighted:
            _resolution.check(graph)
        alone = dataclasses.replace(plan, together=False)
        batch = max(plan.lanes, 1) * max(plan.threads, plan.flight, 1)

        def timed(count: int) -> _Timed:
            apart = torch.arange(count, device=graph.device) * graph.num_nodes // count
            problem = _reduce.problem(graph, core, measure, apart, None, False)
            begin = time.perf_counter()
            _driver.run(problem, alone, progress=False)
            if graph.device.type == "cuda":
                torch.cuda.synchronize(graph.device)
            return _Timed(problem.sources.numel(), count, time.perf_counter() - begin)

        timed(1)
        if plan.engine == "hierarchy":  # neighbouring sources, which these are not, take less time
            run = timed(min(batch, graph.num_nodes))
            exact = choice.seconds(core, plan.sources, plan.threads)
            return Measured(exact, run.seconds / run.pivots)
        runs: list[_Timed] = []
        while True:
            count = min(batch * (2 * 4 ** (len(runs) - 1) if runs else 1), graph.num_nodes)
            runs.append(timed(count))
            complete = count >= min(core.num_nodes, graph.num_nodes)
            if complete or runs[-1].seconds - min(run.seconds for run in runs) >= _PROBE:
                break
        start, each, pivot = _costs(runs, complete)
        exact = start + each * plan.sources
        blocks = _blocks.chosen(graph, request)
        if blocks is not None:
            exact = min(exact, each / max(core.num_slots, 1) * blocks.work(None))
    except MemoryError:
        return Measured(math.inf, math.inf)
    return Measured(exact, pivot)


def _costs(runs: list[_Timed], complete: bool) -> tuple[float, float, float]:
    """Seconds to start a run, of each further search of the core, and of each further pivot.
    If `complete`, the last run has as many sources as the core has vertices: nothing is
    extrapolated."""
    last = runs[-1]
    if complete:
        return 0.0, last.seconds / max(last.searches, 1), last.seconds / max(last.pivots, 1)
    base = min(runs, key=lambda run: run.seconds)
    further = last.seconds - base.seconds
    each = further / max(last.searches - base.searches, 1)
    start = max(base.seconds - each * base.searches, 0.0)
    return start, each, further / (last.pivots - base.pivots)


def cheaper(
    outlook: Outlook, cost: Measured, num_nodes: int, epsilon: float, delta: float, limit: float,
    with_pivots: bool, edges: int = 0,
) -> str:  # fmt: skip
    """The method that reaches epsilon before "kadabra" does: "exact", "pivots", or "". If none of
    the three reaches it within the limit, "pivots" if their intervals will be narrower than those
    of the samples. Other pivots than uniform ones have no guarantee."""
    seconds = {"kadabra": outlook.samples * outlook.seconds * _MARGIN, "exact": cost.exact}
    if with_pivots:
        pivots = cost.pivot * (1 + serfling_samples(epsilon, delta, num_nodes, edges))
        if pivots <= _INEXACT * cost.exact or cost.exact >= limit:
            seconds["pivots"] = pivots
    best = min(seconds, key=seconds.__getitem__)
    if seconds[best] < limit:
        return best if best != "kadabra" else ""
    if not with_pivots or not math.isfinite(cost.pivot):
        return ""
    number = np.array([max(_MARGIN * limit / cost.pivot, 1.0)])
    failure = math.log(2 * (edges or num_nodes) / delta)
    others = num_nodes - (not edges)
    _, high = mean_interval(np.array([outlook.highest]), number, failure, others)
    narrower = float(high[0]) - outlook.highest < _MARGIN * outlook.radius(limit)
    return "pivots" if narrower else ""
