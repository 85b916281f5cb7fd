"""Sorted arcs after a few changes: the parts between these are copied, and not looked at."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

#: changed arcs up to which this is faster than to go through all
FEW = 256


def spliced(values: Tensor, gone: Tensor, place: Tensor, new: Tensor) -> Tensor:
    """Without the entries at `gone`, and with new ones before those at `place`; both ascend."""
    cuts = [(at, at + 1, -1) for at in gone.tolist()]
    cuts += [(at, at, number) for number, at in enumerate(place.tolist())]
    # What is inserted before an entry comes before that entry is left out.
    old, more = values.numpy(), new.numpy()
    parts, begin = [], 0
    for at, end, number in sorted(cuts):
        parts.append(old[begin:at])
        if number >= 0:
            parts.append(more[number : number + 1])
        begin = end
    # NumPy copies on one thread: where cores are busy, others would be waited for.
    return torch.from_numpy(np.concatenate([*parts, old[begin:]]))


def moved(ptr: Tensor, removed: Tensor, inserted: Tensor, num_nodes: int) -> Tensor:
    """Where rows begin after arcs out of these vertices have gone and come."""
    change = torch.zeros(num_nodes + 1, dtype=torch.int64, device="cpu")
    for vertices, sign in ((removed, -1), (inserted, 1)):
        change.index_add_(0, vertices + 1, torch.full_like(vertices, sign))
    torch.cumsum(change, 0, out=change)
    change[: ptr.numel()] += ptr
    change[ptr.numel() :] += ptr[-1]
    return change


def places(ptr: Tensor, col: Tensor, tails: Tensor, heads: Tensor) -> Tensor:
    """Where arcs are, or would be, among those in ascending order."""
    vertices = ptr.numel() - 1
    begin, end = ptr[tails.clamp(max=vertices)], ptr[(tails + 1).clamp(max=vertices)]
    rows = zip(begin.tolist(), end.tolist(), heads.tolist(), strict=True)
    within = [int(torch.searchsorted(col[first:last], head)) for first, last, head in rows]
    return begin + torch.tensor(within, dtype=torch.int64, device="cpu")
