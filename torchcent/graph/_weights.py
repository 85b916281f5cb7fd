"""Weights of arcs: one per slot, and the arithmetic in which sums of them are exact.

A weight is a distance, finite and > 0. Sums are exact if all weights are multiples of one power of
two and no path reaches 2^53 of these units; there is then no rounding. If no path reaches 2^30
units, searches use int32: the largest distance plus one more arc still fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from torchcent.runtime import _ops

_FLOAT_BITS, _INT_BITS = 53, 30
_WINDOW = 2**24  # weights processed at a time: a dozen copies of them are made
_LARGEST_SHIFT = 1000  # beyond it 2^shift is close to the largest float64


def per_slot(edge_weight: Tensor, slot: Tensor, num_slots: int) -> Tensor:
    """float64 [num_slots]: the smallest weight among the columns of each slot.

    `edge_weight` must be float64; it is overwritten where there are loops.
    """
    weight = torch.full((num_slots,), torch.inf, dtype=torch.float64, device=slot.device)
    loop = slot < 0
    if num_slots and bool(loop.any()):  # needs less memory than selecting the others
        edge_weight, slot = edge_weight.masked_fill_(loop, torch.inf), slot.clamp(min=0)
    elif not num_slots:
        return weight
    del loop
    return weight.scatter_reduce_(0, slot, edge_weight, "amin")


@dataclass(frozen=True)
class Scale:
    """How weights are represented in the engines: multiplied by 2^shift.

    Attributes:
        shift: the smallest value >= 0 for which all weights become int32, or 0 if there is none.
        exact: whether sums along paths are exact.
        whole: whether the given weights are whole numbers and their sums exact.
        dtype: int32 if they fit, else float64.
    """

    shift: int
    exact: bool
    whole: bool
    dtype: torch.dtype

    @property
    def unit(self) -> float:
        """The distance that 1 stands for in the engines."""
        return 2.0**-self.shift

    def apply(self, weight: Tensor) -> Tensor:
        return (weight * 2.0**self.shift).to(self.dtype)

    def __str__(self) -> str:
        if self.dtype == torch.int32:
            return "int32" + (f", in units of 1/{2**self.shift}" if self.shift else "")
        return "float64" + (", sums exact" if self.exact else "")


HOPS = Scale(0, True, True, torch.int32)


def bytes_to_scale(num_slots: int, symmetric: bool) -> int:
    """Peak memory of Graph.scaled_weights, including the result.

    It is reached by the last digits of a window of weights, or by the scaled weights of both
    directions together with the back weights.
    """
    window = 40 * min(num_slots, _WINDOW)
    return max(window, 12 * num_slots) if symmetric else 8 * num_slots + max(window, 24 * num_slots)


def scale(weight: Tensor, num_nodes: int) -> Scale:
    """The scale for a graph with this number of vertices and these weights per slot."""
    if weight.numel() == 0:
        return HOPS
    last, largest = _digits(weight)
    shift = max(0, -last)
    longest = largest * 2.0 ** min(shift, _LARGEST_SHIFT) * max(num_nodes - 1, 1)
    if shift > _LARGEST_SHIFT or longest >= 2.0**_FLOAT_BITS:
        return Scale(0, False, False, torch.float64)
    if longest < 2.0**_INT_BITS:
        return Scale(shift, True, shift == 0, torch.int32)
    return Scale(0, True, shift == 0, torch.float64)


def _digits(weight: Tensor) -> tuple[int, float]:
    """The largest e such that all weights are multiples of 2^e, and the largest weight."""
    if _ops.has_kernel("weight_digits", weight.device):
        last, largest = _ops.ops.weight_digits(weight).tolist()
        return int(last), largest
    return min(_last_digit(part) for part in weight.split(_WINDOW)), float(weight.max())


def _last_digit(weight: Tensor) -> int:
    """The same e, of a window of the weights."""
    mantissa, exponent = torch.frexp(weight)
    digits = (mantissa * 2.0**_FLOAT_BITS).long()
    lowest = (digits & -digits).double()  # a power of two: the last nonzero digit
    return int((torch.frexp(lowest).exponent + exponent).min()) - (_FLOAT_BITS + 1)
