"""The loop over sources for measures that count paths: progress, Ctrl-C and the ladder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.distribute import _run
from torchcent.distribute._arguments import Scale
from torchcent.distribute._run import Setting
from torchcent.distribute._units import Compute, Search, sizes
from torchcent.engines import _cutoffs, _tensor
from torchcent.engines._chains import Chains
from torchcent.engines._choice import too_deep_for_lanes
from torchcent.engines._hierarchy import Hierarchy
from torchcent.engines._kernels import KERNELS
from torchcent.engines._plan import Plan
from torchcent.engines._reduce import Problem
from torchcent.engines._room import calls_on_cuda
from torchcent.runtime import _codes, _ops
from torchcent.runtime._codes import CANCEL, DONE, Rung, Visitor
from torchcent.runtime._watch import prepared, progress_bar

# Depth from which the queue engine on CUDA starts with mantissa-exponent pairs. Counts may double
# with every level, and float64 ends at 2^1024. Pairs cost no more than float64, while a failed
# attempt doubles the time.
_DEEP = 1000
# Sources x slots below which a thread and a bar do not pay off. The first CUDA call of a thread
# costs 0.7 ms; a device does this much work in 50 ms, with lanes and without.
_INLINE_WORK, _INLINE_LANES_ON_CUDA, _INLINE_WORK_ON_CUDA = 2e7, 2e10, 1e9
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
    quick = _is_quick(problem, plan)
    name = problem.measure if KERNELS[problem.measure].public else "betweenness"
    total = plan.sources if plan.together else problem.sources.numel()
    if total:
        with progress_bar(total, name, progress, quick) as bar:
            inputs, compute = _search(problem, plan, bar)
            search = Search(
                _key(plan, problem, total), _sizes(plan, total), inputs, (sums,), ("sum",),
                compute, _first_rung(problem, plan),
            )  # fmt: skip
            inline = quick or plan.engine == "tensor"
            _run.run(search, Setting(plan.device, plan.workspace, bar, inline), scale)
    if hierarchy is not None:
        reverse = core.col if edges else None
        if edges and not hierarchy.is_directed:
            reverse = _ops.ops.reverse_slots(core.rowptr, core.col)
        sums = hierarchy.scores(sums, reverse)
        if not edges and hierarchy.is_directed:
            sums += _endpoints(problem, plan, hierarchy)
    return problem.total(sums)


def _sizes(plan: Plan, total: int) -> list[int]:
    if plan.together:  # every sweep has sources of many chains
        return [total]
    return sizes(plan.engine, plan.device.type, total, plan.core_slots)


def _key(plan: Plan, problem: Problem, total: int) -> dict[str, object]:
    return {
        "from": problem.sources, "weights": problem.source_weight,
        "search": plan.measure, "engine": plan.engine, "sources": total, "slots": plan.core_slots,
        "lanes": plan.lanes, "sweeps": plan.together, "float64": _in_float64.get(),
    }  # fmt: skip


def _first_rung(problem: Problem, plan: Plan) -> int:
    if plan.engine in ("lanes", "relax", "hierarchy") and not _in_float64.get():
        return Rung.FLOAT32
    limits, core = problem.limits, problem.core
    far = limits is None or float(limits[-1]) > _DEEP
    deep = core.rowptr.is_cuda and plan.engine == "queue" and far and core.depth > _DEEP
    return Rung.WIDE if deep else Rung.FLOAT64


def _search(problem: Problem, plan: Plan, bar: tqdm) -> tuple[Inputs, Compute]:
    if plan.engine == "tensor":
        return _inputs(problem), _on_tensors(problem, plan.lanes, bar)
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
    work = problem.sources.numel() * problem.core.num_slots
    if plan.engine == "chains":
        work = plan.sources * plan.core_slots
    if plan.device.type != "cuda" or plan.engine == "tensor":
        return work < _INLINE_WORK
    # Not for a requested traversal that does not suit the graph: it may take minutes.
    single = plan.engine in ("queue", "dijkstra", "chains")
    suits = plan.strategy == 0 and (single or not too_deep_for_lanes(problem.core))
    most = _INLINE_LANES_ON_CUDA if plan.engine == "lanes" else _INLINE_WORK_ON_CUDA
    return suits and work < most


def _on_tensors(problem: Problem, lanes: int, bar: tqdm) -> Compute:
    visitor = KERNELS[problem.measure].visitor
    assert visitor is not None
    weighted = problem.core.weight is not None

    def compute(
        inputs: Inputs, unit: slice, scores: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        rowptr, col, *rest = inputs.arcs
        for begin in range(unit.start, unit.stop, max(lanes, 1)):
            part = slice(begin, min(begin + lanes, unit.stop))
            weight = rest[0] if weighted else None
            how = weight, problem.graph.tie_tolerance, problem.limits
            batch: Any = rowptr, col, *inputs.of(part), scores[0], *how
            _tensor.accumulate(visitor, *batch)
            control[DONE] += part.stop - part.start
            bar.update(max(int(control[DONE]) - bar.n, 0))
        return rung

    return compute


def _on_chains(problem: Problem, plan: Plan) -> tuple[Any, Compute]:
    chains = Chains.of(problem.core)
    weight = torch.zeros_like(problem.target_weight)
    weight.index_copy_(0, problem.sources, problem.source_weight)
    arcs = (
        chains.kept, chains.first, chains.inner, chains.ends, chains.along, chains.rowptr,
        chains.head, chains.arc,
    )  # fmt: skip
    slots = chains.slots if KERNELS[problem.measure].per_slot else None

    def call(arguments: Any, part: slice, scores: Tensor, rung: int, control: Tensor) -> int:
        arcs, slots, sources, *weights = arguments
        sources = sources if plan.together else sources[part].contiguous()
        return int(
            _ops.ops.chain_dependency(
                arcs, slots, sources, *weights, scores, control, chains.by_hops,
                plan.together, chains.ball, rung, plan.threads,
            )
        )  # fmt: skip

    arguments = arcs, slots, problem.sources, weight, problem.target_weight
    return arguments, _in_calls(call, None if plan.together else "dijkstra", plan.device)


def _on_hierarchy(problem: Problem, plan: Plan) -> tuple[Any, Compute]:
    hierarchy = Hierarchy.of(problem.core)
    assert hierarchy is not None
    order = hierarchy.in_order(problem.sources)
    starts = problem.sources[order], problem.source_weight[order]
    measure = KERNELS[problem.measure]
    of_paths = measure.per_slot, measure.visitor is Visitor.STRESS

    def call(arguments: Any, part: slice, flows: Tensor, rung: int, control: Tensor) -> int:
        swept, starts, targets = arguments
        return int(
            _ops.ops.hierarchy_dependency(
                swept, *(each[part].contiguous() for each in starts), targets, flows, control,
                *of_paths, plan.lanes, rung, plan.threads,
            )
        )  # fmt: skip

    return (hierarchy.swept, starts, problem.target_weight), _in_calls(call, None, plan.device)


def _by_reference(problem: Problem, plan: Plan) -> Compute:
    weighted = problem.core.weight is not None
    limits = _cutoffs.limits(problem.graph, plan.cutoffs or (torch.inf,)).double()
    visitor = KERNELS[problem.measure].visitor

    def call(inputs: Inputs, part: slice, scores: Tensor, rung: int, control: Tensor) -> int:
        rowptr, col, weight = inputs.arcs[:3]
        lengths = weight.double() if weighted else scores.new_empty(0)
        _ops.ops.reference_dependency(
            rowptr, col, lengths, *inputs.of(part), scores, control, limits, visitor,
            problem.graph.tie_tolerance,
        )  # fmt: skip
        return rung

    return _in_calls(call, None, plan.device)


def _endpoints(problem: Problem, plan: Plan, hierarchy: Hierarchy) -> Tensor:
    """Of core vertices: c per target of a source, and h per source of a vertex."""
    total = torch.zeros(problem.core.num_nodes, dtype=torch.float64)
    vertices = torch.arange(total.numel())
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
            _ops.ops.hierarchy_sums(swept, *arguments, control, False, plan.lanes, plan.threads)

        prepared(add_up, "endpoints", False, _is_quick(problem, plan))
        total.index_add_(0, starts, sums[:, 2] * weight)
    return total


def _compiled(problem: Problem, plan: Plan) -> Compute:
    visitor = KERNELS[problem.measure].visitor
    assert visitor is not None
    launch = plan.launch

    def call(inputs: Inputs, part: slice, scores: Tensor, rung: int, control: Tensor) -> int:
        engine = _codes.ENGINE[plan.engine]
        first = inputs.arcs, *inputs.of(part), scores, control, visitor, engine, rung, launch
        rest = inputs.copies, problem.limits
        if problem.core.weight is None:
            return int(_ops.ops.path_dependency(*first, *rest, problem.mirrored))
        return int(_ops.ops.weighted_dependency(*first, problem.graph.tie_tolerance, *rest))

    return _in_calls(call, plan.engine, plan.device)


def _in_calls(
    call: Callable[[Any, slice, Tensor, int, Tensor], int], engine: str | None, device: torch.device
) -> Compute:
    """Calls an operator for all sources of a unit, for an engine on CUDA some at a time.

    See calls_on_cuda.
    """

    def compute(
        arguments: Any, unit: slice, scores: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        begin, total = unit.start, unit.stop - unit.start
        for size in calls_on_cuda(engine, total) if engine and device.type == "cuda" else [total]:
            if begin > unit.start and control[CANCEL]:
                break
            rung = call(arguments, slice(begin, begin + size), scores[0], int(rung), control)
            begin += size
        return rung

    return compute
