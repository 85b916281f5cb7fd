"""Limits of pairs in the units of the weights."""

from __future__ import annotations

import torch
from torch import Tensor


def in_units(limits: Tensor, unit: Tensor) -> Tensor:
    """The limit of each graph in its units; a whole number but for rounding is whole."""
    scaled = limits * unit
    near = scaled.round()
    same = (scaled - near).abs() <= 1e-12 * near.abs()
    return torch.where((unit > 1) & same, near, scaled)
