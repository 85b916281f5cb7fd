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
# Pivots from which a sweep from every vertex takes less time than a row of distances from each
# pivot. Sums of reciprocals do not collapse: there, it is a share of all vertices.
_FEWEST, _FEWEST_SHARE = 1024, 1 / 25


def chosen(graph: Graph, request: Request, sources: int) -> Request:
    """The request for sums by hops of so many sources: by a hierarchy where all have those."""
    if request.engine != "auto" or sources < _FEWEST_SOURCES or request.cutoffs is not None:
        return request
    of_all, _ = _plan.plan(graph, request)
    return request._replace(engine="hierarchy") if of_all.engine == "hierarchy" else request


def repays(graph: Graph, request: Request, pivots: int) -> bool:
    """Whether sums over so many pivots are faster as sums over targets than from rows."""
    if request.cutoffs is not None and graph.device.type == "cuda":
        return False
    collapses = KERNELS[request.measure].collapses and request.cutoffs is None
    return pivots >= (_FEWEST if collapses else graph.num_nodes * _FEWEST_SHARE)


def vertex_sums(
    graph: Graph, request: Request, plan: Plan, core: Core, pivots: Tensor | None, outgoing: bool
) -> Sums:
    """Sums per vertex over the distances from all others, or from the pivots; or to them."""
    every = torch.arange(graph.num_nodes, device=graph.device)
    return source_sums(graph, request, plan, core, every, outgoing, pivots)


def source_sums(
    graph: Graph, request: Request, plan: Plan, core: Core, sources: Tensor, outgoing: bool,
    targets: Tensor | None = None,
) -> Sums:  # fmt: skip
    """Sums per source over the distances from all vertices, or from the targets; or to them."""
    graph = _plan.of_many_distances(graph, request)
    whole = Hierarchy.of(core)
    assert whole is not None
    hierarchy = whole.along(not outgoing)
    start, place = in_order(core, sources, not outgoing)
    turn = hierarchy.in_order(start)
    start, place = start[turn], place[turn]
    sums, farthest = of_weights(start.numel(), request, graph.device)
    limits = limits_of(graph, request)
    if limits is not None:
        limits = (limits.double() / hierarchy.unit).floor()
    target = weights(graph, targets).index_select(0, core.vertex)
    reciprocals = not KERNELS[plan.measure].collapses

    def compute(given: Any, part: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        swept, start, target = given
        of_part = start[part], target, *out, control, reciprocals
        if start.is_cuda:
            _ops.ops.hierarchy_level_sums(*swept, *of_part, plan.flight)
        else:
            _ops.ops.hierarchy_sums(swept, *of_part, plan.lanes, plan.threads, limits)

    key = {"of": sources, "to": targets, "outgoing": outgoing}
    on_cuda = graph.device.type == "cuda"
    inputs = levels(hierarchy, graph.device) if on_cuda else hierarchy.swept, start, target
    rows: tuple[Kind, ...] = "rows", "rows"
    run(plan, request, key, inputs, (sums, farthest), rows, compute, total=start.numel())
    found = in_lengths(graph, (sums, farthest), place, sources.numel(), hierarchy.unit)
    return found if graph.is_weighted else replace(found, eccentricity=found.eccentricity.int())
