"""The `dense` engine: one matrix product per iteration, for small and for dense graphs.

The flow is stored transposed, float32 [..., n, n]: row j is column j of M. All column operations
then run along the last, contiguous dimension, and (M^e)^T is the power of M^T. Leading dimensions
are those of a batch of graphs of equal size.

Products of up to 1,024 rows are summed in float64 and rounded once. The result then does not depend
on the order of summation, and a flow keeps the symmetries of its graph, as in the `fused` engine.
Larger products are sums of n nonnegative float32 products, with a relative error of at most n
2^-24, typically about sqrt(n) 2^-24. This is far less than the effect of pruning. TF32 is not used.
On CUDA, large products are sums of products of bfloat16 parts, with the same precision
(`_product`).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

# Size up to which products are summed in float64. Above it, bfloat16 parts are faster on CUDA (half
# the time on an H200). Tensor cores drop bits of their sums, so sums of the largest parts are
# split.
_EXACT, _PIECE = 1024, 1024


def iterate(
    rows: Tensor, expansion: int, inflation: float, threshold: float, select: int, recover: int,
    mass: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """One iteration: expansion, pruning, chaos and inflation. Returns the new flow, and the summary
    (`_rules.Summary`) of every graph, float64 [..., 8]."""
    length = _count(rows)
    products, power = length.new_zeros(rows.shape[:-2]), rows
    for _ in range(expansion - 1):
        products = products + (_count(power, -2) * length).sum(-1)
        power = _product(power, rows)
    rows, summary = prune(power, threshold, select, recover, mass)
    products = products[..., None].double()
    return inflate(rows, inflation), torch.cat(
        [summary[..., :1], products, summary[..., 1:]], dim=-1
    )


def prune(
    whole: Tensor, threshold: float, select: int, recover: int, mass: float
) -> tuple[Tensor, Tensor]:
    """Cuts, recovers and selects (`_rules.Prune`); the summary lacks the products."""
    x = torch.where(whole >= threshold, whole, 0) if threshold > 0 else whole
    count, sums = _count(x), _sum(x)
    recovering = (sums < mass) & (count < recover)
    if recovering.any():
        recovering &= count < _count(whole)
    selecting = (count > select) & (select > 0) & ~recovering
    if (recovering | selecting).any():
        x = _limit(
            x, whole, count=count, recovering=recovering, selecting=selecting, select=select,
            recover=recover, mass=mass,
        )  # fmt: skip
        count, sums = _count(x), _sum(x)
    empty = count == 0
    if empty.any():
        largest = whole.amax(-1, keepdim=True)
        x = torch.where(empty[..., None] & (whole == largest), whole, x)
        count, sums = _count(x), _sum(x)
    energy = x.amax(-1).double() - _sum(x * x)
    parts = [
        (energy * count).amax(-1).clamp(min=0), count.sum(-1), (sums < mass).sum(-1),
        recovering.sum(-1), selecting.sum(-1), sums.amin(-1), sums.sum(-1),
    ]  # fmt: skip
    return x, torch.stack([part.double() for part in parts], dim=-1)


def _product(left: Tensor, right: Tensor) -> Tensor:
    """left @ right in float32."""
    if left.shape[-1] <= _EXACT:
        wide = left.double()
        return (wide @ (wide if left is right else right.double())).float()
    on_cuda = left.device.type == "cuda" and left.dim() == 2
    if not on_cuda or torch.cuda.get_device_capability(left.device) < (8, 0):
        return left @ right
    a = _parts(left)
    b = a if left is right else _parts(right)

    def times(i: int, j: int, piece: slice = slice(None)) -> Tensor:
        return torch.mm(a[i][:, piece], b[j][piece], out_dtype=torch.float32)

    product = times(2, 0)  # the smallest first; omitted products are below 2^-24
    for i, j in ((0, 2), (1, 1), (1, 0), (0, 1)):
        product += times(i, j)
    for begin in range(0, right.shape[0], _PIECE):
        product += times(0, 0, slice(begin, begin + _PIECE))
    return product


def _parts(x: Tensor) -> list[Tensor]:
    """Splits x into three bfloat16 parts of 8 bits each, whose sum is x."""
    parts = []
    for _ in range(3):
        parts.append(x.bfloat16())
        x = x - parts[-1]
    return parts


def _limit(
    x: Tensor, whole: Tensor, count: Tensor, recovering: Tensor, selecting: Tensor, select: int,
    recover: int, mass: float,
) -> Tensor:  # fmt: skip
    """Selects and recovers in the columns that need it; sets the two masks."""
    first, x = recovering.clone(), x.clone() if x is whole else x
    if selecting.any():
        at = selecting.nonzero(as_tuple=True)
        every = x[at]
        some = _largest(every, select)
        short = (_count(some) < recover) & (_sum(some) < mass)
        selecting[at] = _count(some) < count[at]
        if short.any():
            some[short] = _largest(every[short], recover)
            recovering[tuple(index[short] for index in at)] = True
        x[at] = some
    if first.any():
        at = first.nonzero(as_tuple=True)
        x[at] = _largest(whole[at], recover)
    return x


def inflate(x: Tensor, inflation: float) -> Tensor:
    """Raises entries to the power and rescales columns to sum 1, as csrc/mcl/flow.h does."""
    exact = x.shape[-1] <= _EXACT
    if inflation != 1:
        x = x * x.amax(-1, keepdim=True).reciprocal_()
        if inflation == 2:
            x.mul_(x)
        elif exact:
            x.copy_(x.double().clamp_(max=1).pow_(inflation))
        else:
            x.pow_(inflation)
    scale = _sum(x).reciprocal_()[..., None]
    return x * scale.to(x.dtype) if not exact else torch.mul(x, scale).to(x.dtype)


def _largest(x: Tensor, most: int) -> Tensor:
    """Keeps the largest entries of each row and ties with the smallest of them; 0 elsewhere."""
    place = x.shape[-1] - most
    if place <= 0:
        return x.clone()
    if x.device.type == "cpu":  # on the CPU, NumPy's selection is 7 to 50 times faster than topk
        least = torch.from_numpy(np.partition(x.numpy(), place, axis=-1)[..., place : place + 1])
    else:
        least = torch.topk(x, most, dim=-1, sorted=False).values.amin(-1, keepdim=True)
    return torch.where(x >= least, x, 0)


def _count(x: Tensor, dim: int = -1) -> Tensor:
    """Counts positive entries; 5 times as fast as count_nonzero on a CPU, exact below 2^24."""
    return torch.sign(x).sum(dim).long()


def _sum(x: Tensor) -> Tensor:
    return x.sum(-1, dtype=torch.float64)
