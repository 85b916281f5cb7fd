"""Sums over distances from sweeps of a hierarchy, by hops and by weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from torchcent.distances._run import Sums, in_lengths, in_order, limits_of, of_weights, run
from torchcent.distribute._units import Kind
from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._request import Request, weights
from torchcent.engines.plan import _plan
from torchcent.engines.plan._plan import Plan
from torchcent.engines.reduce._core import Core
from torchcent.engines.reduce._hierarchy import Hierarchy, levels
from torchcent.graph import Graph
from torchcent.runtime import _ops

# Sources from which a contraction is repaid by hops, if it is for all vertices.
_FEWEST_SOURCES = 2048
# Pivots from which sweeps take less time than searches; on CUDA, where sums that do not collapse
# are of a sweep from every vertex, their share of the vertices.
_FEWEST, _FEWEST_SHARE = 1024, 1 / 25
# The share of the vertices from which sums that collapse, of a sweep from every vertex, take less
# time than sweeps from the pivots to all: without reciprocals and with them.
_COLLAPSED = 1 / 5, 1 / 2
# Vertices from which sums of reciprocals are faster by sweeps that collapse, on the CPU, than by
# those that reach every vertex: road networks from 30,000, triangulations from 60,000.
_LEAST_COLLAPSED = 35_000
# Of a vertex within a cutoff: sums of two batches of a thread, and its largest distance.
_BYTES_PER_SUM = 2 * 24 + 8


def chosen(graph: Graph, request: Request, sources: int) -> Request:
    """The request for sums by hops of so many sources: by a hierarchy where all have those."""
    if request.engine != "auto" or sources < _FEWEST_SOURCES or request.cutoffs is not None:
        return request
    of_all, _ = _plan.plan(graph, request)
    return request._replace(engine="hierarchy") if of_all.engine == "hierarchy" else request


def repays(graph: Graph, request: Request, pivots: int) -> bool:
    """Whether sums over so many pivots are faster by sweeps than by searches from them."""
    on_cuda = graph.device.type == "cuda"
    if on_cuda and not KERNELS[request.measure].collapses:
        return request.cutoffs is None and pivots >= graph.num_nodes * _FEWEST_SHARE
    return pivots >= _FEWEST and not (on_cuda and request.cutoffs is not None)


def threads_of_sums(graph: Graph, request: Request, plan: Plan) -> int:
    """Threads that can have sums of all vertices within the memory that is allowed."""
    each = _BYTES_PER_SUM * len(request.cutoffs or (None,)) * graph.num_nodes
    return max(min(plan.threads, (plan.memory_limit - plan.memory) // max(each, 1)), 0)


def vertex_sums(
    graph: Graph, request: Request, plan: Plan, core: Core, pivots: Tensor | None, outgoing: bool
) -> Sums:
    """Sums per vertex over the distances from all others, or from the pivots; or to them."""
    if pivots is not None and graph.device.type == "cpu":
        of_all = _COLLAPSED[not KERNELS[request.measure].collapses] * graph.num_nodes
        collapse = _collapse(request, core) and pivots.numel() >= of_all
        threads = threads_of_sums(graph, request, plan)
        if threads and not collapse:
            plan = replace(plan, threads=threads)
            return _scattered(graph, request, plan, core, pivots, outgoing)
    every = torch.arange(graph.num_nodes, device=graph.device)
    return source_sums(graph, request, plan, core, every, outgoing, pivots)


def _collapse(request: Request, core: Core) -> bool:
    """Whether sums of each source are by sweeps that collapse, on the CPU."""
    if request.cutoffs is not None:
        return False
    return KERNELS[request.measure].collapses or core.num_nodes >= _LEAST_COLLAPSED


def _scattered(
    graph: Graph, request: Request, plan: Plan, core: Core, pivots: Tensor, outgoing: bool
) -> Sums:
    """Sums per vertex over the pivots, to which the sweep from each of them adds."""
    graph, hierarchy, limits = _swept(graph, request, core, outgoing)
    start, _ = in_order(core, pivots, outgoing)
    start = start[hierarchy.in_order(start)]
    sums, farthest = of_weights(core.num_nodes, request, graph.device)

    def compute(given: Any, part: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        swept, start = given
        _ops.ops.hierarchy_vertex_sums(swept, start[part], *out, control, plan.threads, limits)

    key = {"from": pivots, "outgoing": outgoing}
    inputs, outputs = (hierarchy.swept, start), (sums, farthest)
    run(plan, request, key, inputs, outputs, ("sum", "max"), compute, total=start.numel())
    return _found(graph, hierarchy, outputs, core.vertex, graph.num_nodes)


def _swept(
    graph: Graph, request: Request, core: Core, backward: bool
) -> tuple[Graph, Hierarchy, Tensor | None]:
    """The graph in the units of the sweeps, the hierarchy, and limits in its units."""
    graph = _plan.of_many_distances(graph, request)
    whole = Hierarchy.of(core)
    assert whole is not None
    hierarchy, limits = whole.along(backward), limits_of(graph, request)
    return graph, hierarchy, None if limits is None else (limits.double() / hierarchy.unit).floor()


def _found(
    graph: Graph, hierarchy: Hierarchy, outputs: tuple[Tensor, Tensor], place: Tensor, count: int
) -> Sums:
    sums = in_lengths(graph, outputs, place, count, hierarchy.unit)
    return sums if graph.is_weighted else replace(sums, eccentricity=sums.eccentricity.int())


def source_sums(
    graph: Graph, request: Request, plan: Plan, core: Core, sources: Tensor, outgoing: bool,
    targets: Tensor | None = None,
) -> Sums:  # fmt: skip
    """Sums per source over the distances from all vertices, or from the targets; or to them."""
    graph, hierarchy, limits = _swept(graph, request, core, not outgoing)
    start, place = in_order(core, sources, not outgoing)
    turn = hierarchy.in_order(start)
    start, place = start[turn], place[turn]
    sums, farthest = of_weights(start.numel(), request, graph.device)
    target = weights(graph, targets).index_select(0, core.vertex)
    # A measure may need distances alone, their reciprocals alone, or both.
    kernel = KERNELS[plan.measure]
    distances, reciprocals = not kernel.reciprocals, not kernel.collapses
    lanes = plan.lanes if _collapse(request, core) else 0

    def compute(given: Any, part: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        swept, start, target = given
        of_part = start[part], target, *out, control, reciprocals
        if start.is_cuda:
            _ops.ops.hierarchy_level_sums(*swept, *of_part, plan.flight)
        else:
            _ops.ops.hierarchy_sums(swept, *of_part, lanes, plan.threads, limits, distances)

    key = {"of": sources, "to": targets, "outgoing": outgoing}
    on_cuda = graph.device.type == "cuda"
    inputs = levels(hierarchy, graph.device) if on_cuda else hierarchy.swept, start, target
    rows: tuple[Kind, ...] = "rows", "rows"
    run(plan, request, key, inputs, (sums, farthest), rows, compute, total=start.numel())
    return _found(graph, hierarchy, (sums, farthest), place, sources.numel())
