"""Diffusion on tensors of any device: synchronous steps on pairs of a source and a vertex."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.diffusion._steps import WHOLE, Steps
from torchcent.graph import _csr
from torchcent.runtime import _small
from torchcent.runtime._codes import CANCEL


class Arcs(NamedTuple):
    """What a diffusion reads of a graph.

    Attributes:
        strength: float64 [n], the sum of the weights out of each vertex.
        scale: float64 [n]: an entry is divided by that of its source, and multiplied by that of
            its target; None if there is none.
    """

    rowptr: Tensor
    col: Tensor
    weight: Tensor | None
    strength: Tensor
    scale: Tensor | None


class Rows(NamedTuple):
    """Sparse rows of some sources: `size` entries of each, in ascending order of targets."""

    size: Tensor
    target: Tensor
    value: Tensor


class _Pairs(NamedTuple):
    """Pairs in ascending order, as source * n + vertex, with the residual mass and that which
    stays."""

    key: Tensor
    rest: Tensor
    mass: Tensor

    def with_shares(self, key: Tensor, share: Tensor) -> _Pairs:
        keys, place = torch.unique(torch.cat([self.key, key]), return_inverse=True)
        size = self.key.numel()
        rest = keys.new_zeros(keys.numel()).index_add_(0, place, torch.cat([self.rest, share]))
        mass = keys.new_zeros(keys.numel()).index_add_(0, place[:size], self.mass)
        return _Pairs(keys, rest, mass)


def rows(
    arcs: Arcs, sources: Tensor, steps: Steps, top: int, dtype: torch.dtype, control: Tensor
) -> Rows:
    """Those of these sources; with `top` the largest entries of each."""
    n, bounds, gains = arcs.strength.numel(), *steps.table.tolist()
    number = torch.arange(sources.numel(), device=sources.device)
    key = number * n + sources
    pairs = _Pairs(key, torch.full_like(key, int(WHOLE)), torch.zeros_like(key))
    step, here = 0, torch.arange(key.numel(), device=key.device)
    while here.numel() and not control[CANCEL]:
        at = min(step, len(gains) - 1)
        amount = pairs.rest[here]
        own = (amount.double() * gains[at]).long()
        pairs.mass[here] += own
        if steps.lasts:
            pairs.rest[here] = 0
        else:
            pairs.rest.zero_()
        step += 1
        if not steps.lasts and step == len(gains):
            break
        pairs = pairs.with_shares(*_shares(arcs, steps.follow, pairs.key[here], amount))
        bound = bounds[min(step, len(bounds) - 1)]
        most = bound * arcs.strength[pairs.key % n]
        here = torch.nonzero(pairs.rest > most.clamp(max=WHOLE).long())[:, 0]
    return _selected(arcs, sources, pairs, top, dtype)


def _shares(arcs: Arcs, follow: float, key: Tensor, amount: Tensor) -> tuple[Tensor, Tensor]:
    """What mass of these pairs brings to others: pairs, some of them several times, and shares."""
    vertex = key % arcs.strength.numel()
    begin = arcs.rowptr[vertex]
    degree = arcs.rowptr[vertex + 1] - begin
    each = amount.double() * (follow / arcs.strength[vertex])
    slot = _csr.ranges(begin, degree)
    share = _small.repeat_interleave(torch.where(degree > 0, each, 0), degree)
    if arcs.weight is not None:
        share = share * arcs.weight[slot]
    head = _small.repeat_interleave(key - vertex, degree) + arcs.col[slot]
    whole = share.long()
    return head[whole > 0], whole[whole > 0]


def _selected(arcs: Arcs, sources: Tensor, pairs: _Pairs, top: int, dtype: torch.dtype) -> Rows:
    n, count = arcs.strength.numel(), sources.numel()
    key, mass = pairs.key[pairs.mass > 0], pairs.mass[pairs.mass > 0]
    row, target = key // n, key % n
    rank = mass.double()
    if arcs.scale is not None:
        rank = rank * arcs.scale[target]
    if top:
        order = torch.argsort(rank, descending=True, stable=True)
        order = order[torch.argsort(row[order], stable=True)]
        size = torch.bincount(row, minlength=count)
        place = torch.arange(order.numel(), device=key.device)
        first = _small.repeat_interleave(size.cumsum(0) - size, size)
        large = order[place - first < top].sort().values
        row, target, rank = row[large], target[large], rank[large]
    factor = torch.full((count,), 1 / WHOLE, dtype=torch.float64, device=key.device)
    if arcs.scale is not None:
        factor = factor / arcs.scale[sources]
    value = (rank * factor[row]).to(dtype)
    return Rows(torch.bincount(row, minlength=count), target, value)
