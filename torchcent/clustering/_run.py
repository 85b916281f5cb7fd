"""The loop over iterations: progress, Ctrl-C, memory, engines."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field
from functools import cache

import torch
from torch import Tensor
from tqdm import tqdm

from torchcent.clustering import _engines, _plan, _tensor
from torchcent.clustering._cycles import Cycles
from torchcent.clustering._flow import Flow, from_packed
from torchcent.clustering._rules import Rules, Summary
from torchcent.distribute._group import Group, agreed
from torchcent.graph._csr import pointers
from torchcent.runtime import _codes, _ops
from torchcent.runtime._codes import CANCEL, DONE
from torchcent.runtime._watch import on_device, progress_bar, watched

# Products of the first expansion below which a thread and a bar cost more than they are worth.
_INLINE_WORK, _INLINE_WORK_ON_CUDA = 2e5, 1e8
# Entries per column up to which the order of a flow's graph says which vertices are near.
_MOST_NEIGHBOURS = 256
_FORMAT = "{desc}: {postfix} {percentage:3.0f}%|{bar}| {elapsed}"


@dataclass(eq=False)
class Outcome:
    flow: Flow  # the last, inflated
    summaries: list[Summary] = field(default_factory=list)  # of every iteration
    converged: bool = False  # to the limit, or to a fixed point above it
    # (engine, first iteration) for every change of engine.
    engines: list[tuple[str, int]] = field(default_factory=list)
    near: Tensor | None = None  # an order of vertices in which neighbours are close to each other
    period: int = 0  # after how many iterations the last flow repeats, if more than 1 and noticed


def run(
    flow: Flow, rules: Rules, plan: _plan.MclPlan, progress: bool | None,
    first: Outcome | None = None, group: Group | None = None,
) -> Outcome:  # fmt: skip
    """Iterates until the chaos is below its limit.

    `first`: the outcome of an expansion, whose flow is inflated first.
    The ranks of a group share each iteration, and all get the result.
    """
    quiet()
    result = Outcome(flow, near=_near(flow) if first is None else first.near)
    if flow.num_nodes == 0:
        return Outcome(flow, [Summary.of(torch.zeros(8, device="cpu"))], True, [(plan.engine, 1)])
    control = _codes.control()
    if result.near is not None:
        control = torch.cat([control, result.near])
    # A rank that was interrupted at any line could not inform the others.
    quick = inline(plan.products, flow.device) and group is None
    ranks = 1 if group is None else group.size
    if group is not None and group.rank > 0:
        progress = False
    columns, title = -(-flow.num_nodes // ranks), f"mcl -I {rules.inflation:g}"
    with progress_bar(columns, title, progress, quick, "columns", bar_format=_FORMAT) as bar:
        loop = _engines.Loop(rules, plan, control, group, result.summaries)
        summary = None if first is None else first.summaries[0]
        work = on_device(lambda: _iterate(loop, result, summary, bar), flow.device)
        if quick:
            work()
        else:
            watched(work, control, bar)
    return result


def _near(flow: Flow) -> Tensor | None:
    """An order of the vertices in which the compiled CPU kernel keeps what it sums. Rows of one
    column are then close to each other, and in the cache together."""
    many = flow.entries > _MOST_NEIGHBOURS * flow.num_nodes
    if many or flow.device.type != "cpu" or not _ops.has_kernel("bandwidth_order", flow.device):
        return None
    colptr = pointers(flow.length)
    if not torch.equal(colptr[:-1], flow.begin):  # there are gaps between columns
        return None
    order: Tensor = _ops.ops.bandwidth_order(colptr, flow.row, colptr, flow.row)
    return order


def inline(products: float, device: torch.device) -> bool:
    """Whether an iteration is so short that a thread to monitor it would dominate its cost."""
    return products < (_INLINE_WORK_ON_CUDA if device.type == "cuda" else _INLINE_WORK)


@cache
def quiet() -> None:
    """Triggers and suppresses PyTorch's one-time warning that CSR is "in beta"."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = torch.eye(1, device="cpu").to_sparse()
        torch.sparse.mm(one, one)
        one.to_sparse_csc()


def inflated(flow: Flow, inflation: float) -> Flow:
    """The flow with its entries raised to the power and its columns rescaled."""
    _, row, value = flow.packed()
    columns = _tensor.Columns(flow.num_nodes, flow.columns(), row, value)
    _, column, row, value = _tensor.inflate(columns, inflation)
    return from_packed(pointers(torch.bincount(column, minlength=flow.num_nodes)), row, value)


def _iterate(loop: _engines.Loop, result: Outcome, first: Summary | None, bar: tqdm) -> None:
    """`first`: the summary of the flow if it is expanded and pruned, but not inflated."""
    rules = loop.rules
    with agreed(loop.group):
        if first is not None:
            result.flow = inflated(result.flow, rules.inflation)
            result.summaries.append(first)
            result.converged = first.chaos < rules.chaos
        engine = _engines.ENGINES[loop.plan.engine](loop, result.flow)
        result.flow = None  # type: ignore[assignment]  # the engine holds it, and frees it
    cycles = Cycles()
    while not (result.converged or result.period > 0 or len(result.summaries) >= rules.max_iter):
        if not result.engines or result.engines[-1][0] != engine.name:
            result.engines.append((engine.name, len(result.summaries) + 1))
        begin = time.perf_counter()
        summary = engine.step()
        if loop.control[CANCEL]:
            break
        seconds = time.perf_counter() - begin
        result.summaries.append(summary)
        with agreed(loop.group):
            result.converged = summary.chaos < rules.chaos
            if not result.converged:
                period = cycles.period(summary, engine.digest)
                # A fixed point above the limit, as on highly symmetric graphs, or a cycle.
                result.converged = period == 1
                result.period = period if period > 1 else 0
            # The bar itself shows the columns of this iteration.
            bar.set_postfix_str(_progress(result.summaries, rules.chaos, seconds), refresh=False)
            loop.control[DONE] = 0
            if loop.plan.may_switch and rules.expansion == 2:
                engine = engine.better() or engine
    with agreed(loop.group):
        result.flow = engine.flow()


def _progress(summaries: list[Summary], goal: float, seconds: float) -> str:
    """The text of the bar; `seconds`: of the last iteration."""
    rest = seconds_left([summary.chaos for summary in summaries], goal, seconds)
    last = summaries[-1]
    text = f"iteration {len(summaries)}, chaos {last.chaos:.2g}, {last.entries:,} entries"
    if rest is not None:
        text += f", about {rest:.0f} s left" if rest >= 1 else ", nearly done"
    return text


def seconds_left(chaos: list[float], goal: float, seconds: float) -> float | None:
    """Predicted from the recent decrease of the chaos and the time per iteration; None while it is
    not decreasing. The chaos first rises, then falls, in the end faster than geometrically, so the
    prediction is nearly always too long."""
    if len(chaos) < 3 or not chaos[-1] < chaos[-2] < chaos[-3] or goal <= 0:
        return None
    if chaos[-1] <= goal:
        return 0.0
    rate = math.log(chaos[-1] / chaos[-3]) / 2
    return seconds * math.log(goal / chaos[-1]) / rate


def warn_if_stuck(result: Outcome, rules: Rules, one_way: bool) -> None:
    """`one_way`: whether there are arcs without their reverse."""
    if result.converged:
        return
    last = result.summaries[-1].chaos if result.summaries else math.inf
    text = (
        f"mcl has not converged in {len(result.summaries)} iterations: chaos is {last:.2g}, "
        f"not below {rules.chaos:g}; the clusters are those of the flow as it is"
    )
    if result.period > 0:
        text += f"; it repeats every {result.period} iterations and would never converge"
    if result.period > 0 and one_way:
        text += "; some arcs have no reverse: directed=False adds it"
    warnings.warn(text, stacklevel=4)
