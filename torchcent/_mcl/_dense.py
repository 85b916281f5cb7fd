"""The `dense` engine: one matrix product an iteration, for small graphs and dense ones.

The flow is kept transposed, float32 [..., n, n]: row j is column j of M, so that all that is done
to columns is done along the last dimension, where they are contiguous; and (M^e)^T is the power of
M^T. Dimensions before the last two are those of a batch of graphs of one size.

Products are float32 without TF32. Nothing is subtracted, so an entry that sums n products is off by
at most n 2^-24 of itself, and by about sqrt(n) 2^-24 in fact: far less than pruning changes.
"""

from __future__ import annotations

import torch
from torch import Tensor


def iterate(
    rows: Tensor, expansion: int, inflation: float, threshold: float, select: int, recover: int,
    mass: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Expansion, pruning, chaos and inflation: the new flow and its summary (`_rules.Summary`)."""
    power = rows @ rows
    for _ in range(expansion - 2):
        power = power @ rows
    pruned, summary = prune(power, threshold, select, recover, mass)
    return inflate(pruned, inflation), summary


def prune(
    x: Tensor, threshold: float, select: int, recover: int, mass: float
) -> tuple[Tensor, Tensor]:
    """Cut, recover, select, rescale (`_rules.Prune`)."""
    n = x.shape[-1]
    before = _count(x)
    whole = x
    if threshold > 0:
        x = torch.where(whole >= threshold, whole, 0)
    elif select > 0:
        x = whole.clone()
    count = _count(x)
    cut = count < before
    held = _sum(x)
    recovering = cut & (held < mass) & (count < recover)
    selecting = (count > select) & (select > 0) & ~recovering
    if selecting.any():
        at = selecting.nonzero(as_tuple=True)
        x[at] = _largest(x[at], min(select, n))
        held = _sum(x)
        again = selecting & (held < mass) & (select < recover)
        recovering, selecting = recovering | again, selecting & ~again
    if recovering.any():
        at = recovering.nonzero(as_tuple=True)
        x[at] = _largest(whole[at], min(recover, n))
    if cut.any():
        count = _count(x)
        empty = count == 0
        x.diagonal(dim1=-2, dim2=-1)[empty] = 1
    count, held = _count(x), _sum(x)
    x = x / held.to(x.dtype)[..., None]
    chaos = ((x.amax(-1).double() - _sum(x * x)) * count).amax().clamp(min=0)
    told = [chaos, before.sum(), count.sum(), cut.sum(), recovering.sum(), selecting.sum()]
    return x, torch.stack([part.double() for part in [*told, held.amin()]])


def inflate(x: Tensor, inflation: float) -> Tensor:
    """Entries ** inflation, columns rescaled to sum 1."""
    if inflation == 1:
        return x
    x = x / x.amax(-1, keepdim=True)
    x = x * x if inflation == 2 else x**inflation
    return x / _sum(x).to(x.dtype)[..., None]


def _largest(x: Tensor, most: int) -> Tensor:
    """The largest entries of each row, of equal ones the first; 0 elsewhere."""
    bar = torch.topk(x, most, dim=-1, sorted=True).values[..., -1:]
    above, equal = x > bar, x == bar
    room = most - above.sum(-1, keepdim=True)
    return torch.where(above | (equal & (equal.cumsum(-1) <= room)), x, 0)


def _count(x: Tensor) -> Tensor:
    return torch.count_nonzero(x, dim=-1)


def _sum(x: Tensor) -> Tensor:
    return x.sum(-1, dtype=torch.float64)
