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
from torchcent.clustering._rules import Rules, Share
from torchcent.runtime import _memory
from torchcent.scale._group import Group, agreed


def plan(
    group: Group | None, flow: Flow, rules: Rules, engine: str, memory: int | None, call: object
) -> _plan.MclPlan:
    """The plan of a run, which is the same on all ranks.

    Args:
        call: the other arguments, in which ranks must not differ.

    Raises:
        MemoryError: the run does not fit.
        ValueError: the ranks were called with different arguments.
    """
    if group is None:
        return _plan.plan(flow, rules, engine, memory)
    about = (flow.num_nodes, flow.entries, rules, engine, call)
    limit = _limit(group, memory, flow.device, repr(about))
    with agreed(group):
        return _plan.plan(flow, rules, engine, memory, (group.size, limit))


def _limit(group: Group, memory: int | None, device: torch.device, call: str) -> int:
    """Bytes that each rank may use. Of the free memory of a host, its ranks share half."""
    own = _memory.budget(memory, device)
    ranks = group.all_gather((socket.gethostname(), own, memory, call))
    for rank, (*_, limit, other) in enumerate(ranks):
        if (limit, other) != ranks[0][2:]:
            raise ValueError(
                f"the ranks of group must be called with the same arguments: memory={limit} and "
                f"{other} on rank {rank}, memory={ranks[0][2]} and {ranks[0][3]} on rank 0"
            )
    if memory is not None:
        return memory
    hosts = [host for host, *_ in ranks]
    shared = device.type == "cpu"
    least: int = min(free // (hosts.count(host) if shared else 1) for host, free, *_ in ranks)
    return least


def share_of(group: Group, flow: Flow, consecutive: bool) -> Share:
    """The share of this rank: of about as many products as those of the others."""
    if not consecutive:  # dealt by the operator
        return group.rank, group.rank + 1, group.size
    n = flow.num_nodes
    upto = flow.sums(flow.length.double()).cumsum(0)
    goals = torch.arange(1, group.size, dtype=torch.float64, device=flow.device) / group.size
    cuts = [0, *torch.searchsorted(upto, goals * upto[-1]).tolist(), n]
    return cuts[group.rank], cuts[group.rank + 1], n


def exchange(
    group: Group, own: Flow, told: Tensor, room: int, refuse: Callable[[], MemoryError]
) -> tuple[Flow, Tensor]:
    """The flow of the columns of all ranks, those of a rank together; and its summary.

    Args:
        own: a compact flow, which is overwritten; columns of other ranks are empty.
        room: bytes for it and the result.
    """
    count = torch.tensor([own.row.numel()], dtype=torch.float64, device="cpu")
    known = group.rows(torch.cat([count, told]))
    counts = [int(count) for count in known[:, 0].tolist()]
    total = sum(counts)
    with group.agreed():
        if own.nbytes + _pieces.ENTRY * total > room:
            raise refuse()
        before = sum(counts[: group.rank])
        begin = torch.where(own.length > 0, own.begin + before, 0)
        row, value = own.row.new_empty(total), own.value.new_empty(total)
    group.sum(begin)
    length = group.sum(own.length)
    group.fill(row, counts, own.row)
    group.fill(value, counts, own.value)
    return Flow(begin, length, row, value), _tensor.combine(known[:, 1:])
