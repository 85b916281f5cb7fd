"""Rows of weighted distances: one search per source, in the number format of the engines."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from torchcent.engines._tensor import _weighted
from torchcent.engines.reduce import _reduce
from torchcent.engines.reduce._core import Core
from torchcent.engines.reduce._hierarchy import Hierarchy
from torchcent.graph import Graph
from torchcent.runtime import _ops
from torchcent.runtime._codes import ENGINE, Launch, control


def direction(core: Core, backward: bool) -> tuple[Tensor, ...]:
    """CSR and weights, then those of the transpose; swapped to search along reversed arcs."""
    assert core.weight is not None and core.back_weight is not None
    there = core.rowptr, core.col, core.weight
    back = core.colptr, core.row, core.back_weight
    return (*back, *there) if backward else (*there, *back)


def arcs(graph: Graph, backward: bool = False, engine: str = "") -> tuple[Tensor, ...]:
    """Those of the whole graph, in which rows have an entry for every vertex.

    For the engine "hierarchy", they are those of its hierarchy.
    """
    if engine == "hierarchy":
        core = _reduce.core(graph, "degree", "no")
        hierarchy = Hierarchy.of(core)
        assert hierarchy is not None
        return hierarchy.along(backward).rows_of(core)
    return direction(_reduce.core(graph, "given", "no"), backward)


def empty(graph: Graph, rows: int, device: torch.device | None = None) -> Tensor:
    """[rows, n] to fill: int32 in units of Graph.scale with -1, or float64 with inf for no path."""
    shape = rows, graph.num_nodes
    return torch.empty(shape, dtype=graph.scale.dtype, device=device or graph.device)


def fill(
    arcs: Sequence[Tensor],
    engine: str,
    sources: Tensor,
    out: Tensor,
    shared: Tensor,
    launch: Launch,
    limits: Tensor | None = None,
) -> None:
    """Writes the distances from each source, or to it, to `out`.

    Beyond the last of the limits (_cutoffs.limits) there may be none.
    """
    if engine == "tensor":
        farthest = torch.inf if limits is None else float(limits[-1])
        rows = _weighted.distances(arcs[0], arcs[1], arcs[2], sources, farthest)
        if out.dtype == torch.int32:
            rows = torch.where(torch.isfinite(rows), rows, -1)
        out.copy_(rows)
    elif engine == "hierarchy":
        *core_arcs, unit = arcs
        if sources.is_cuda:
            _ops.ops.hierarchy_level_distances(*core_arcs, sources, out, shared, launch.flight)
        else:
            _ops.ops.hierarchy_distances(*core_arcs, sources, out, shared, launch.threads)
        if float(unit) != 1:
            out.mul_(unit)
    else:
        _ops.ops.weighted_distances(arcs, sources, out, shared, ENGINE[engine], launch, limits)


def lengths(graph: Graph, rows: Tensor) -> Tensor:
    """float64: the rows in the units of the weights, inf for no path."""
    if rows.dtype != torch.int32:
        return graph.scale.lengths(rows)
    return graph.scale.lengths(rows.double()).masked_fill_(rows < 0, torch.inf)


def single(graph: Graph, engine: str, vertex: int, backward: bool = False) -> Tensor:
    """float64 [n]: distances from one vertex, or to it, inf for no path."""
    out = empty(graph, 1)
    source = torch.tensor([vertex], device=graph.device)
    compiled = _ops.has_kernel("weighted_distances", graph.device) and engine != "tensor"
    way = "dijkstra" if compiled and engine != "relax" else engine if compiled else "tensor"
    fill(arcs(graph, backward), way, source, out, control(), Launch(threads=1))
    return lengths(graph, out)[0]
