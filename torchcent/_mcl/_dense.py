"""The `dense` engine: one matrix product an iteration, for small graphs and dense ones.

The flow is kept transposed, float32 [..., n, n]: row j is column j of M, so that all that is done
to columns is done along the last dimension, where they are contiguous; and (M^e)^T is the power of
M^T. Dimensions before the last two are those of a batch of graphs of one size.

Products are float32 without TF32. Nothing is subtracted, so an entry that sums n products is off by
at most n 2^-24 of itself, and by about sqrt(n) 2^-24 in fact: far less than pruning changes.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def iterate(
    rows: Tensor, expansion: int, inflation: float, threshold: float, select: int, recover: int,
    mass: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Expansion, pruning, chaos and inflation: the new flow and its summary (`_rules.Summary`)."""
    length = _count(rows)
    products, power = length.new_zeros(()), rows
    for _ in range(expansion - 1):
        products = products + (torch.count_nonzero(power, dim=-2) * length).sum()
        power = power @ rows
    pruned, summary = prune(power, threshold, select, recover, mass)
    summary = torch.cat([summary[:1], products[None].double(), summary[1:]])
    return inflate(pruned, inflation), summary


def prune(
    whole: Tensor, threshold: float, select: int, recover: int, mass: float
) -> tuple[Tensor, Tensor]:
    """Cut, recover, select, rescale (`_rules.Prune`); the summary lacks the products."""
    before = _count(whole)
    largest = whole.amax(-1)
    x = torch.where(whole >= threshold, whole, 0) if threshold > 0 else whole
    count, held = _count(x), _sum(x)
    recovering = (held < mass) & (count < before.clamp(max=recover))
    selecting = (count > select) & (select > 0) & ~recovering
    first = recovering.clone()
    if selecting.any():
        at = selecting.nonzero(as_tuple=True)
        left = x[at]
        some = _largest(left, select)
        short = (_count(some) < recover) & (_sum(some) < mass)
        selecting[at] = _count(some) < count[at]
        if short.any():
            some[short] = _largest(left[short], recover)
            recovering[tuple(index[short] for index in at)] = True
        x = x.clone() if x is whole else x
        x[at] = some
    if first.any():
        at = first.nonzero(as_tuple=True)
        x[at] = _largest(whole[at], recover)
    if threshold > 0:
        x = torch.where((_count(x) == 0)[..., None] & (whole == largest[..., None]), whole, x)
    count, held = _count(x), _sum(x)
    energy = x.amax(-1).double() - _sum(x * x)
    x = x / held.to(x.dtype)[..., None]
    told = [
        (energy * count).amax().clamp(min=0), count.sum(), (held < mass).sum(), recovering.sum(),
        selecting.sum(), held.amin(), held.sum(),
    ]  # fmt: skip
    return x, torch.stack([part.double() for part in told])


def inflate(x: Tensor, inflation: float) -> Tensor:
    """Entries ** inflation, columns rescaled to sum 1."""
    if inflation == 1:
        return x
    x = x / x.amax(-1, keepdim=True)
    x = x * x if inflation == 2 else x**inflation
    return x / _sum(x).to(x.dtype)[..., None]


def _largest(x: Tensor, most: int) -> Tensor:
    """The largest entries of each row, and what equals the smallest of these; 0 elsewhere."""
    if most >= x.shape[-1]:
        return x.clone()
    return torch.where(x >= _bar(x, most), x, 0)


def _bar(x: Tensor, most: int) -> Tensor:
    """[..., 1]: the smallest of the `most` largest of each row."""
    if x.device.type == "cpu":  # NumPy's selection is 7 to 50 times as fast as topk there
        place = x.shape[-1] - most
        return torch.from_numpy(np.partition(x.numpy(), place, axis=-1)[..., place : place + 1])
    return torch.topk(x, most, dim=-1, sorted=False).values.amin(-1, keepdim=True)


def _count(x: Tensor) -> Tensor:
    return torch.count_nonzero(x, dim=-1)


def _sum(x: Tensor) -> Tensor:
    return x.sum(-1, dtype=torch.float64)
