"""Weights of arcs: one per slot, and the arithmetic in which sums of them are exact.

A weight is a distance, finite and > 0. Sums are exact if all weights are multiples of one power of
two and no path reaches 2^53 of these units; then every rounding question is moot. If no path
reaches 2^30 units, searches run on int32: an arc beyond the farthest vertex still fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_FLOAT_BITS, _INT_BITS = 53, 30
_WINDOW = 2**24  # weights to look at together: a dozen copies of them are made
_LARGEST_SHIFT = 1000  # beyond it 2^shift is near the end of float64


def per_slot(edge_weight: Tensor, slot: Tensor, num_slots: int) -> Tensor:
    """float64 [num_slots]: the smallest weight of the columns of each slot, float64 as well.

    `edge_weight` is changed where there are loops.
    """
    weight = torch.full((num_slots,), torch.inf, dtype=torch.float64, device=slot.device)
    loop = slot < 0
    if num_slots and bool(loop.any()):  # takes less memory than picking out the other columns
        edge_weight, slot = edge_weight.masked_fill_(loop, torch.inf), slot.clamp(min=0)
    elif not num_slots:
        return weight
    del loop
    return weight.scatter_reduce_(0, slot, edge_weight, "amin")


@dataclass(frozen=True)
class Scale:
    """How the weights of a graph are handed to the engines: multiplied by 2^shift.

    Attributes:
        shift: the smallest >= 0 that makes int32 of them, or 0 where none does.
        exact: sums along paths are exact.
        whole: the weights are whole numbers as they were given, and their sums exact.
        dtype: int32 if they fit, else float64.
    """

    shift: int
    exact: bool
    whole: bool
    dtype: torch.dtype

    @property
    def unit(self) -> float:
        """What a distance of 1 of the engines stands for."""
        return 2.0**-self.shift

    def apply(self, weight: Tensor) -> Tensor:
        return (weight * 2.0**self.shift).to(self.dtype)

    def __str__(self) -> str:
        if self.dtype == torch.int32:
            return "int32" + (f", in units of 1/{2**self.shift}" if self.shift else "")
        return "float64" + (", sums exact" if self.exact else "")


HOPS = Scale(0, True, True, torch.int32)


def bytes_to_scale(num_slots: int, symmetric: bool) -> int:
    """Memory at the peak of Graph.scaled_weights, the result included: the last digits of a window
    of weights, or both directions in the numbers of the engines, and back weights."""
    window = 40 * min(num_slots, _WINDOW)
    return max(window, 12 * num_slots) if symmetric else 8 * num_slots + max(window, 24 * num_slots)


def scale(weight: Tensor, num_nodes: int) -> Scale:
    """The scale for a graph of so many vertices with these weights per slot."""
    if weight.numel() == 0:
        return HOPS
    shift = max(0, *(-_last_digit(part) for part in weight.split(_WINDOW)))
    largest = float(weight.max())
    longest = largest * 2.0 ** min(shift, _LARGEST_SHIFT) * max(num_nodes - 1, 1)
    if shift > _LARGEST_SHIFT or longest >= 2.0**_FLOAT_BITS:
        return Scale(0, False, False, torch.float64)
    if longest < 2.0**_INT_BITS:
        return Scale(shift, True, shift == 0, torch.int32)
    return Scale(0, True, shift == 0, torch.float64)


def _last_digit(weight: Tensor) -> int:
    """The largest e so that all weights are multiples of 2^e."""
    mantissa, exponent = torch.frexp(weight)
    digits = (mantissa * 2.0**_FLOAT_BITS).long()
    lowest = (digits & -digits).double()  # a power of two, the last digit that is not 0
    return int((torch.frexp(lowest).exponent + exponent).min()) - (_FLOAT_BITS + 1)
