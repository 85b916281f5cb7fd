"""Markov clustering over ranks: each holds the whole flow and computes a share of the next.

A column of the next flow depends on the columns of the flow that it refers to and on nothing else.
A flow therefore has the same bits however its columns are dealt.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

import torch
from torch import Tensor

from torchcent.clustering import _pieces, _plan, _tensor
from torchcent.clustering._flow import Flow
from torchcent.clustering._rules import WHOLE, Rules, Share
from torchcent.distribute._group import Group, agreed
from torchcent.runtime import _memory


def plan(
    group: Group | None, flow: Flow, rules: Rules, engine: str, memory: int | None, call: object
) -> _plan.MclPlan:
    """The plan of a run, which is the same on all ranks; `call`: the other arguments. ValueError if
    ranks were called with different ones, MemoryError if the run does not fit."""
    if group is None:
        return _plan.plan(flow, rules, engine, memory)
    limit = _limit(
        group, memory, flow.device, repr((flow.num_nodes, flow.entries, rules, engine, call))
    )
    with agreed(group):
        return _plan.plan(flow, rules, engine, memory, (group.size, limit))


def _limit(group: Group, memory: int | None, device: torch.device, call: str) -> int:
    """Bytes that each rank may use. Of the free memory of a host, its ranks share half."""
    budget = _memory.budget(memory, device)
    ranks = group.all_gather((socket.gethostname(), budget, memory, call))
    for rank, (*_, limit, other) in enumerate(ranks):
        if (limit, other) != ranks[0][2:]:
            raise ValueError(
                f"the ranks of group must be called with the same arguments: memory={limit} and "
                f"{other} on rank {rank}, memory={ranks[0][2]} and {ranks[0][3]} on rank 0"
            )
    if memory is not None:
        return memory
    hosts = [host for host, *_ in ranks]
    on_cpu = device.type == "cpu"
    least: int = min(free // (hosts.count(host) if on_cpu else 1) for host, free, *_ in ranks)
    return least


def share_of(group: Group | None, flow: Flow, consecutive: bool) -> Share:
    """The share of this rank: of about as many products as those of the others."""
    if group is None:
        return WHOLE
    if not consecutive:  # dealt by the operator
        return group.rank, group.rank + 1, group.size
    n = flow.num_nodes
    upto = flow.sums(flow.length.double()).cumsum(0)
    goals = torch.arange(1, group.size, dtype=torch.float64, device=flow.device) / group.size
    cuts = [0, *torch.searchsorted(upto, goals * upto[-1]).tolist(), n]
    return cuts[group.rank], cuts[group.rank + 1], n


def exchange(
    group: Group, part: Flow, summary: Tensor, space: int, refuse: Callable[[], MemoryError]
) -> tuple[Flow, Tensor]:
    """The flow of the columns of all ranks, those of a rank together, and its summary. `part` is
    compact, and is overwritten; `space`: bytes for it and the result."""
    count = torch.tensor([part.row.numel()], dtype=torch.float64, device="cpu")
    rows = group.rows(torch.cat([count, summary]))
    counts = [int(count) for count in rows[:, 0].tolist()]
    total = sum(counts)
    with group.agreed():
        if part.nbytes + _pieces.ENTRY * total > space:
            raise refuse()
        before = sum(counts[: group.rank])
        begin = torch.where(part.length > 0, part.begin + before, 0)
        row, value = part.row.new_empty(total), part.value.new_empty(total)
    group.sum(begin)
    length = group.sum(part.length)
    group.fill(row, counts, part.row)
    group.fill(value, counts, part.value)
    return Flow(begin, length, row, value), _tensor.combine(rows[:, 1:])
