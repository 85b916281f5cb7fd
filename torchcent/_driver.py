"""THE loop over sources: every measure runs through it, with progress, Ctrl-C and the ladder."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent import _check, _ops, _tensor
from torchcent._plan import BATCH, Plan
from torchcent._reduce import Problem

# Batches per call: small first, so that a rung that overflows is left soon. Fixed numbers, because
# the rung of a batch decides its bits and must not depend on the machine.
_GROUPS = (8, 32, 128, 512)
_POLL_SECONDS = 0.1
_INLINE_WORK = 2e7  # sources x slots below which a thread and a bar cost more than they give
_ENGINE = {"lanes": 0, "queue": 1}


def run(problem: Problem, plan: Plan, progress: bool | None) -> Tensor:
    """Scores of the whole graph, float64, as sums over ordered pairs."""
    core = problem.core
    edges = problem.measure == "edge_betweenness"
    searched = torch.zeros(
        core.num_slots if edges else core.num_nodes, dtype=torch.float64, device=core.rowptr.device
    )
    quick = problem.sources.numel() * core.num_slots < _INLINE_WORK
    with _bar(problem.sources.numel(), problem.measure, progress, quick) as bar:
        if plan.engine == "tensor":
            _run_tensor(problem, plan.lanes, searched, bar)
        elif problem.sources.numel():
            _run_compiled(problem, plan, searched, bar, quick)
    return problem.known.index_add_(0, core.slot if edges else core.vertex, searched)


def _run_tensor(problem: Problem, lanes: int, scores: Tensor, bar: tqdm) -> None:
    for begin in range(0, problem.sources.numel(), max(lanes, 1)):
        part = slice(begin, begin + lanes)
        _tensor.accumulate(
            problem.measure,
            problem.core.rowptr,
            problem.core.col,
            problem.sources[part],
            problem.source_weight[part],
            problem.own_weight[part],
            problem.target_weight,
            problem.through_weight,
            scores,
        )
        bar.update(problem.sources[part].numel())


def _run_compiled(problem: Problem, plan: Plan, scores: Tensor, bar: tqdm, quick: bool) -> None:
    core, total = problem.core, problem.sources.numel()
    control = torch.zeros(2, dtype=torch.int64)  # cancel, sources done: shared with the kernels
    rung = 0 if plan.engine == "lanes" else 1

    def call(part: slice, rung: int) -> int:
        return int(
            _ops.ops.path_dependency(
                core.rowptr,
                core.col,
                core.colptr,
                core.row,
                problem.sources[part].contiguous(),
                problem.source_weight[part].contiguous(),
                problem.own_weight[part].contiguous(),
                problem.target_weight,
                problem.through_weight,
                scores,
                control,
                _check.MEASURES.index(problem.measure),
                _ENGINE[plan.engine],
                rung,
                plan.threads,
            )
        )

    begin = group = 0
    while begin < total:
        end = min(total, begin + _GROUPS[min(group, len(_GROUPS) - 1)] * BATCH[plan.engine])
        part = slice(begin, end)
        work = functools.partial(call, part, rung)
        rung = work() if quick else _watched(work, control, bar)
        begin, group = end, group + 1


def _watched(call: Callable[[], int], control: Tensor, bar: tqdm) -> int:
    """Runs the call in a thread, so that this one can move the bar and hear Ctrl-C at once."""
    outcome: dict[str, Any] = {}
    # Not Thread.join with a timeout: interrupted by Ctrl-C, it takes a running thread for ended.
    finished = threading.Event()

    def work() -> None:
        try:
            outcome["result"] = call()
        except BaseException as error:  # handed to the caller's thread
            outcome["error"] = error
        finally:
            finished.set()

    thread = threading.Thread(target=work, name="torchcent")
    thread.start()
    try:
        while not finished.wait(_POLL_SECONDS):
            bar.update(int(control[1]) - bar.n)
    except BaseException:
        control[0] = 1
        raise
    finally:
        thread.join()
    bar.update(int(control[1]) - bar.n)
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


class _Bar(tqdm):
    monitor_interval = 0  # no thread of its own that would outlive the run


def _bar(total: int, measure: str, progress: bool | None, quick: bool) -> tqdm:
    hidden = progress is False or (progress is None and (quick or not sys.stderr.isatty()))
    return _Bar(
        total=total,
        desc=measure,
        unit=" sources",
        unit_scale=False,
        delay=0 if progress else 2,
        disable=hidden,
        leave=bool(progress),
        dynamic_ncols=True,
    )
