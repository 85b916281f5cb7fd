"""Sums over distances by the engine "reference", by hops and by weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from torchcent.distances._run import Sums, run, zeros
from torchcent.distribute._units import Kind
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _plan
from torchcent.engines.reduce import _cutoffs
from torchcent.graph import Graph
from torchcent.runtime import _ops


def sums(
    graph: Graph, request: Request, sources: Tensor | None, backward: bool, of_sources: bool
) -> Sums:
    """Sums of each source, or of each vertex over the sources; None for all vertices.

    Distances are those from the sources, or to them if backward.
    """
    plan, core = _plan.plan(graph, request, None if sources is None else sources.numel())
    start = torch.arange(graph.num_nodes, device="cpu") if sources is None else sources
    rows = start.numel() if of_sources else graph.num_nodes
    total = zeros(rows, request, graph.device)
    farthest = torch.zeros_like(total[..., 0])
    csr = (core.colptr, core.row) if backward else (core.rowptr, core.col)
    weight = core.back_weight if backward else core.weight
    lengths = (
        torch.empty(0, dtype=torch.float64, device="cpu") if weight is None else weight.double()
    )
    limits = _cutoffs.limits(graph, request.cutoffs or (torch.inf,)).double()

    def compute(given: Any, part: slice, out: tuple[Tensor, ...], control: Tensor) -> None:
        arcs, start = given
        _ops.ops.reference_sums(*arcs, start[part], *out, control, limits, of_sources)

    kinds: tuple[Kind, ...] = ("rows", "rows") if of_sources else ("sum", "max")
    key = {"from": sources, "backward": backward, "of sources": of_sources}
    inputs = (*csr, lengths), start
    run(plan, request, key, inputs, (total, farthest), kinds, compute, total=start.numel())
    none = torch.empty(0, dtype=torch.int64, device="cpu")
    if not graph.is_weighted:
        last = farthest if request.cutoffs is None else farthest[:, -1]
        return Sums(total, last.int(), none)
    per_one = graph.scale.per_one
    total /= total.new_tensor([per_one, 1 / per_one, 1, 1])
    return Sums(total, graph.scale.lengths(farthest), none)
