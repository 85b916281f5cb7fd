"""The loop over sources for measures that count paths: progress, Ctrl-C and the ladder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchcent.distribute._arguments import Scale
from torchcent.distribute._units import Compute
from torchcent.engines import _tensor
from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._visitors import Visitor
from torchcent.engines.plan._choice import too_deep_for_lanes
from torchcent.engines.plan._plan import Plan
from torchcent.engines.reduce import _cutoffs
from torchcent.engines.reduce._chains import Chains
from torchcent.engines.reduce._hierarchy import Hierarchy
from torchcent.engines.reduce._reduce import Problem
from torchcent.engines.search._execute import execute, is_quick, on_tensors
from torchcent.runtime import _codes, _ops
from torchcent.runtime._codes import Rung
from torchcent.runtime._watch import prepared

# Depth from which the queue engine on CUDA starts with mantissa-exponent pairs. Counts may double
# with every level, and float64 ends at 2^1024. Pairs cost no more than float64, while a failed
# attempt doubles the time.
_DEEP = 1000
# By hops, the automatic choice is the cooperative kernel.
_FOR_ANY_DEPTH = (_codes.Strategy.AUTO, _codes.Strategy.COOPERATIVE)
_in_float64: ContextVar[bool] = ContextVar("_in_float64", default=False)


@contextmanager
def counts_in_float64() -> Iterator[None]:
    """Lets lanes and relax start on the second rung of the ladder: error 1e-9 instead of 1e-5."""
    token = _in_float64.set(True)
    try:
        yield
    finally:
        _in_float64.reset(token)


def run(problem: Problem, plan: Plan, progress: bool | None, scale: Scale | None = None) -> Tensor:
    """Scores of the whole graph, float64, as sums over ordered pairs.

    With limits there is a column for each.
    """
    core = problem.core
    edges = KERNELS[problem.measure].per_slot
    rows = () if problem.limits is None else (problem.limits.numel(),)
    hierarchy = Hierarchy.of(core) if plan.engine == "hierarchy" else None
    size = core.num_slots if edges else core.num_nodes
    if hierarchy is not None:
        size = hierarchy.entries(edges)
    sums = torch.zeros((*rows, size), dtype=torch.float64, device=core.rowptr.device)
    total = plan.sources if plan.together else problem.sources.numel()
    inputs, compute = _search(problem, plan)
    execute(
        plan, _key(problem, plan), inputs, (sums,), ("sum",), compute, total=total,
        progress=progress, scale=scale, rung=_first_rung(problem, plan),
        title=problem.measure if KERNELS[problem.measure].public else "betweenness",
        quick=_is_quick(problem, plan),
        at_once=plan.together,  # every sweep has sources of many chains
    )  # fmt: skip
    if hierarchy is not None:
        reverse = core.col if edges else None
        if edges and not hierarchy.is_directed:
            reverse = _ops.ops.reverse_slots(core.rowptr, core.col)
        sums = hierarchy.scores(sums, reverse)
        if not edges and hierarchy.is_directed:
            sums += _endpoints(problem, plan, hierarchy)
    return problem.total(sums)


def _key(problem: Problem, plan: Plan) -> dict[str, object]:
    return {
        "from": problem.sources, "weights": problem.source_weight, "sweeps": plan.together,
        "float64": _in_float64.get(),
    }  # fmt: skip


def _first_rung(problem: Problem, plan: Plan) -> int:
    if plan.engine in ("lanes", "relax", "hierarchy") and not _in_float64.get():
        return Rung.FLOAT32
    limits, core = problem.limits, problem.core
    far = limits is None or float(limits[-1]) > _DEEP
    deep = core.rowptr.is_cuda and plan.engine == "queue" and far and core.depth > _DEEP
    return Rung.WIDE if deep else Rung.FLOAT64


def _search(problem: Problem, plan: Plan) -> tuple[Any, Compute]:
    if plan.engine == "tensor":
        return _inputs(problem), _on_tensors(problem)
    if plan.engine == "chains":
        return _on_chains(problem, plan)
    if plan.engine == "hierarchy":
        return _on_hierarchy(problem, plan)
    if plan.engine == "reference":
        return _inputs(problem), _by_reference(problem, plan)
    return _inputs(problem), _compiled(problem, plan)


class Inputs(NamedTuple):
    """What the searches of one graph read; without weights, `arcs` has only four tensors."""

    arcs: tuple[Tensor, ...]  # rowptr, col and weight, those of the transpose
    starts: tuple[Tensor, ...]  # sources and their weights: a, c
    ends: tuple[Tensor, ...]  # weights of all vertices: b, h
    copies: Tensor | None

    def of(self, part: slice) -> tuple[Tensor, ...]:
        """The starts of a part of the sources, and the ends."""
        return (*(each[part].contiguous() for each in self.starts), *self.ends)


def _inputs(problem: Problem) -> Inputs:
    core = problem.core
    arcs = core.rowptr, core.col, core.weight, core.colptr, core.row, core.back_weight
    return Inputs(
        tuple(part for part in arcs if part is not None),
        (problem.sources, problem.source_weight, problem.own_weight),
        (problem.target_weight, problem.through_weight),
        core.copies,
    )


def _is_quick(problem: Problem, plan: Plan) -> bool:
    sources = plan.sources if plan.engine == "chains" else problem.sources.numel()
    if plan.device.type != "cuda" or not is_quick(plan, sources):
        return is_quick(plan, sources)
    # Not for a requested traversal that does not suit a deep graph: it may take minutes.
    suits = plan.engine not in ("lanes", "relax") and plan.strategy in _FOR_ANY_DEPTH
    return suits or not too_deep_for_lanes(problem.core)


def _on_tensors(problem: Problem) -> Compute:
    visitor = KERNELS[problem.measure].visitor
    assert visitor is not None
    weighted = problem.core.weight is not None

    def compute(inputs: Inputs, part: slice, scores: tuple[Tensor, ...]) -> None:
        rowptr, col, *rest = inputs.arcs
        how = rest[0] if weighted else None, problem.graph.tie_tolerance, problem.limits
        batch: Any = rowptr, col, *inputs.of(part), scores[0], *how
        _tensor.accumulate(visitor, *batch)

    return on_tensors(compute)


def _on_chains(problem: Problem, plan: Plan) -> tuple[Any, Compute]:
    chains = Chains.of(problem.core)
    weight = torch.zeros_like(problem.target_weight)
    weight.index_copy_(0, problem.sources, problem.source_weight)
    arcs = (
        chains.kept, chains.first, chains.inner, chains.ends, chains.along, chains.rowptr,
        chains.head, chains.arc,
    )  # fmt: skip
    slots = chains.slots if KERNELS[problem.measure].per_slot else None

    def compute(
        inputs: Any, part: slice, scores: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        arcs, slots, sources, *weights = inputs
        sources = sources if plan.together else sources[part].contiguous()
        return int(
            _ops.ops.chain_dependency(
                arcs, slots, sources, *weights, scores[0], control, by_hops=chains.by_hops,
                together=plan.together, ball=chains.ball, rung=rung, threads=plan.threads,
            )
        )  # fmt: skip

    return (arcs, slots, problem.sources, weight, problem.target_weight), compute


def _on_hierarchy(problem: Problem, plan: Plan) -> tuple[Any, Compute]:
    hierarchy = Hierarchy.of(problem.core)
    assert hierarchy is not None
    order = hierarchy.in_order(problem.sources)
    starts = problem.sources[order], problem.source_weight[order]
    measure = KERNELS[problem.measure]
    how = {
        "directions": measure.per_slot, "each_path": measure.visitor is Visitor.STRESS,
        "lanes": plan.lanes, "threads": plan.threads,
    }  # fmt: skip

    def compute(
        inputs: Any, part: slice, flows: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        swept, starts, targets = inputs
        return int(
            _ops.ops.hierarchy_dependency(
                swept, *(each[part].contiguous() for each in starts), targets, flows[0], control,
                rung=rung, **how,
            )
        )  # fmt: skip

    return (hierarchy.swept, starts, problem.target_weight), compute


def _by_reference(problem: Problem, plan: Plan) -> Compute:
    weighted = problem.core.weight is not None
    limits = _cutoffs.limits(problem.graph, plan.cutoffs or (torch.inf,)).double()
    visitor = KERNELS[problem.measure].visitor

    def compute(
        inputs: Inputs, part: slice, scores: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        rowptr, col, weight = inputs.arcs[:3]
        lengths = weight.double() if weighted else scores[0].new_empty(0)
        _ops.ops.reference_dependency(
            rowptr, col, lengths, *inputs.of(part), scores[0], control, limits=limits,
            measure=visitor, tolerance=problem.graph.tie_tolerance,
        )  # fmt: skip
        return rung

    return compute


def _endpoints(problem: Problem, plan: Plan, hierarchy: Hierarchy) -> Tensor:
    """Of core vertices: c per target of a source, and h per source of a vertex."""
    total = torch.zeros(problem.core.num_nodes, dtype=torch.float64, device="cpu")
    vertices = torch.arange(total.numel(), device="cpu")
    origins = total.index_add(0, problem.sources, problem.source_weight)
    ways = (
        (False, problem.sources, problem.target_weight, problem.own_weight),
        (True, vertices, origins, problem.through_weight),
    )
    for backward, starts, ends, weight in ways:
        if not weight.any():
            continue
        swept = hierarchy.along(backward).swept
        sums, farthest = total.new_zeros(starts.numel(), 3), total.new_zeros(starts.numel())
        arguments = starts, ends, sums, farthest

        def add_up(
            control: Tensor,
            swept: tuple[Tensor, ...] = swept,
            arguments: tuple[Tensor, ...] = arguments,
        ) -> None:
            _ops.ops.hierarchy_sums(
                swept, *arguments, control, False, plan.lanes, plan.threads, distances=False
            )

        prepared(add_up, "endpoints", False, _is_quick(problem, plan))
        total.index_add_(0, starts, sums[:, 2] * weight)
    return total


def _compiled(problem: Problem, plan: Plan) -> Compute:
    visitor = KERNELS[problem.measure].visitor
    assert visitor is not None
    launch = plan.launch

    def compute(
        inputs: Inputs, part: slice, scores: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        engine = _codes.ENGINE[plan.engine]
        first = inputs.arcs, *inputs.of(part), scores[0], control, visitor, engine, rung, launch
        rest = inputs.copies, problem.limits
        if problem.core.weight is None:
            return int(_ops.ops.path_dependency(*first, *rest, problem.mirrored))
        return int(_ops.ops.weighted_dependency(*first, problem.graph.tie_tolerance, *rest))

    return compute
