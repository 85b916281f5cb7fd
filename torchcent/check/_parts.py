"""Errors about vertices of which a graph is made."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check._values import dense, wrong_type

_NAMES = "; graph.vertices(names) gives the ids of names"


def vertices(value: Any, size: int, device: torch.device) -> Tensor:
    """bool [n]: which vertices are chosen, by ids or by a mask."""
    if isinstance(value, Tensor):
        dense(value, "vertices")
        chosen = value.detach()
    else:
        try:
            array = np.asarray(value if isinstance(value, np.ndarray) else list(value))
        except (TypeError, ValueError):
            raise wrong_type("vertices", "ids of vertices or bool [n]", value) from None
        if array.dtype.kind not in "iub" and array.size:
            raise TypeError(f"vertices must be ids or bool [n], got {array.dtype}{_NAMES}")
        kind = bool if array.dtype == bool else np.int64
        chosen = torch.from_numpy(array.astype(kind))
    chosen = chosen.to(device)
    if chosen.dim() != 1:
        raise ValueError(f"vertices must have one dimension, got shape {list(chosen.shape)}")
    if chosen.dtype == torch.bool:
        if chosen.numel() != size:
            raise ValueError(f"vertices: a mask of {chosen.numel()}; accepted: {size}, one of each")
        return chosen
    if chosen.is_floating_point() or chosen.is_complex():
        raise TypeError(f"vertices must be ids or bool [n], got {chosen.dtype}{_NAMES}")
    chosen = chosen.long()
    if chosen.numel():
        low, high = torch.stack(torch.aminmax(chosen)).tolist()
        if low < 0 or high >= size:
            wrong = low if low < 0 else high
            raise ValueError(f"vertices holds {wrong}; accepted: ids from 0 to {size - 1}{_NAMES}")
    inside = torch.zeros(size, dtype=torch.bool, device=device)
    inside[chosen] = True
    return inside
