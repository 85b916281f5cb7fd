"""Executes the search of a plan: its units, the calls of each, progress and Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from torchcent.distribute import _run
from torchcent.distribute._arguments import Scale
from torchcent.distribute._digest import Key
from torchcent.distribute._units import Compute, Kind, Search, sizes
from torchcent.engines.plan._flight import calls_on_cuda
from torchcent.engines.plan._plan import Plan
from torchcent.runtime._codes import DONE
from torchcent.runtime._tuned import TUNED


def execute(
    plan: Plan, key: Key, inputs: Any, outputs: tuple[Tensor, ...], kinds: tuple[Kind, ...],
    compute: Compute, *, total: int, progress: bool | None, scale: Scale | None,
    title: str = "", rung: int = 0, quick: bool | None = None, at_once: bool = False,
) -> None:  # fmt: skip
    """Computes the outputs of all sources of a plan.

    Args:
        key: what the bits of the outputs depend on besides graph, request and plan, by name.
        kinds: how the outputs of units are added (`_units.Kind`).
        total: the number of sources.
        quick: whether no bar and no thread is worth its time; by default from the work.
        at_once: whether all sources are one unit and one call.
    """
    if total == 0:
        return
    quick = is_quick(plan, plan.sources) if quick is None else quick
    device = plan.device.type
    whole = {
        "search": plan.measure, "engine": plan.engine, "sources": total, "slots": plan.core_slots,
        "lanes": plan.lanes, **key,
    }  # fmt: skip
    parts = [total] if at_once else sizes(plan.engine, device, total, plan.core_slots)
    search = Search(
        whole, parts, inputs, outputs, kinds, compute, rung,
        calls=None if at_once else _calls(plan),
    )  # fmt: skip
    _run.execute(
        search, plan.device, scale, title=title or plan.measure, progress=progress, quick=quick,
        workspace=plan.workspace, inline=plan.engine == "tensor",
    )  # fmt: skip


def is_quick(plan: Plan, sources: int) -> bool:
    """Whether searches from so many sources are done before a thread or a bar pays off."""
    tuned = TUNED[plan.engine]
    on_cuda = plan.device.type == "cuda" and plan.engine != "tensor"
    return sources * plan.core_slots < (tuned.inline_on_cuda if on_cuda else tuned.inline)


def on_tensors(compute: Callable[[Any, slice, tuple[Tensor, ...]], None]) -> Compute:
    """Counts the sources that a function of PyTorch's operators has searched from."""

    def counted(
        inputs: Any, part: slice, outputs: tuple[Tensor, ...], rung: int, control: Tensor
    ) -> int:
        compute(inputs, part, outputs)
        control[DONE] += part.stop - part.start
        return rung

    return counted


def _calls(plan: Plan) -> Callable[[int], list[int]] | None:
    """How many sources an engine takes at a time; None for any number.

    Those of PyTorch's operators take what fits into memory. On CUDA see calls_on_cuda.
    """
    if plan.engine == "tensor":
        lanes = max(plan.lanes, 1)
        return lambda total: [min(lanes, total - begin) for begin in range(0, total, lanes)]
    engine = "dijkstra" if plan.engine == "chains" else plan.engine
    if plan.device.type != "cuda" or engine not in ("lanes", "queue", "relax", "dijkstra"):
        return None
    return lambda total: calls_on_cuda(engine, total)
