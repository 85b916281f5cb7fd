"""The loop over sources for measures that count paths: progress, Ctrl-C and the ladder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.engines import _tensor
from torchcent.engines._chains import Chains
from torchcent.engines._choice import too_deep_for_lanes
from torchcent.engines._measures import MEASURES
from torchcent.engines._plan import Plan
from torchcent.engines._reduce import Problem
from torchcent.engines._room import calls_on_cuda
from torchcent.runtime import _codes, _ops
from torchcent.runtime._codes import CANCEL, Rung
from torchcent.runtime._watch import on_device, progress_bar, watched

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


def run(problem: Problem, plan: Plan, progress: bool | None) -> Tensor:
    """Scores of the whole graph, float64, as sums over ordered pairs."""
    core = problem.core
    edges = MEASURES[problem.measure].per_slot
    searched = torch.zeros(
        core.num_slots if edges else core.num_nodes, dtype=torch.float64, device=core.rowptr.device
    )
    quick = _is_quick(problem, plan)
    name = "betweenness" if problem.measure == "linear" else problem.measure
    total = plan.sources if plan.together else problem.sources.numel()
    with progress_bar(total, name, progress, quick) as bar:
        if plan.engine == "tensor":
            _run_tensor(problem, plan.lanes, searched, bar)
        elif plan.engine == "chains":
            _run_chains(problem, plan, searched, bar, quick)
        elif problem.sources.numel():
            _run_compiled(problem, plan, searched, bar, quick)
    return problem.total(searched)


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


def _run_tensor(problem: Problem, lanes: int, scores: Tensor, bar: tqdm) -> None:
    visitor = MEASURES[problem.measure].visitor
    assert visitor is not None
    for begin in range(0, problem.sources.numel(), max(lanes, 1)):
        part = slice(begin, begin + lanes)
        _tensor.accumulate(
            visitor,
            problem.core.rowptr,
            problem.core.col,
            problem.sources[part],
            problem.source_weight[part],
            problem.own_weight[part],
            problem.target_weight,
            problem.through_weight,
            scores,
            problem.core.weight,
            problem.tie_tolerance,
        )
        bar.update(problem.sources[part].numel())


def _run_chains(problem: Problem, plan: Plan, scores: Tensor, bar: tqdm, quick: bool) -> None:
    chains = Chains.of(problem.core)
    weight = torch.zeros_like(problem.target_weight)
    weight.index_copy_(0, problem.sources, problem.source_weight)
    control = _codes.control(plan.workspace)
    edges = MEASURES[problem.measure].per_slot

    def call(part: slice, rung: int) -> int:
        return int(
            _ops.ops.chain_dependency(
                chains.kept, chains.first, chains.inner, chains.ends, chains.along, chains.rowptr,
                chains.head, chains.arc, chains.slots if edges else None,
                problem.sources[part].contiguous(), weight, problem.target_weight, scores, control,
                chains.by_hops, plan.together, chains.ball, rung, plan.threads,
            )
        )  # fmt: skip

    def work() -> None:
        _in_calls(call, "dijkstra", problem, control, Rung.FLOAT64)

    if quick:
        work()
    else:
        watched(on_device(work, plan.device), control, bar)


def _run_compiled(problem: Problem, plan: Plan, scores: Tensor, bar: tqdm, quick: bool) -> None:
    core = problem.core
    narrow = plan.engine in ("lanes", "relax") and not _in_float64.get()
    first = Rung.FLOAT32 if narrow else Rung.FLOAT64
    visitor = MEASURES[problem.measure].visitor
    assert visitor is not None
    control, launch = _codes.control(plan.workspace), plan.launch
    on_cuda = core.rowptr.is_cuda

    def call(part: slice, rung: int) -> int:
        counted = (
            problem.sources[part].contiguous(),
            problem.source_weight[part].contiguous(),
            problem.own_weight[part].contiguous(),
            problem.target_weight,
            problem.through_weight,
            scores,
            control,
            visitor,
            _codes.ENGINE[plan.engine],
            rung,
        )
        if core.weight is None:
            return int(
                _ops.ops.path_dependency(
                    core.rowptr, core.col, core.colptr, core.row, *counted, *launch, core.copies
                )
            )
        return int(
            _ops.ops.weighted_dependency(
                core.rowptr, core.col, core.weight, core.colptr, core.row, core.back_weight,
                *counted, launch.threads, problem.tie_tolerance, *launch[1:], core.copies,
            )
        )  # fmt: skip

    def work() -> None:
        deep = on_cuda and plan.engine == "queue" and core.depth > _DEEP
        _in_calls(call, plan.engine, problem, control, Rung.WIDE if deep else first)

    if quick:
        work()
    else:
        watched(on_device(work, core.rowptr.device), control, bar)


def _in_calls(
    call: Callable[[slice, int], int], engine: str, problem: Problem, control: Tensor, rung: int
) -> None:
    """Calls an operator for all sources, on CUDA some at a time (see calls_on_cuda)."""
    total, begin = problem.sources.numel(), 0
    on_cuda = problem.core.rowptr.is_cuda
    for size in calls_on_cuda(engine, total) if on_cuda else [total]:
        if begin and control[CANCEL]:
            break
        rung = call(slice(begin, begin + size), int(rung))
        begin += size
