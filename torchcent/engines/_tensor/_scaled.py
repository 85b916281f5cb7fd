"""Numbers with their own exponent, for path counts beyond the range of float64.

A chain of 1100 diamonds has 2^1100 shortest paths from end to end, a 1000 x 1000 grid about
2^1994. Within one level of a grid the counts span that whole range, so one common scale per level
is not enough: every number is a pair (mantissa, exponent).

The measures are written once, for tensors and for `Scaled` alike.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._scatter import scatter_sum

# The exponent of zero: below every other, so that zero never determines the scale of a sum.
ZERO = -(2.0**40)


class Scaled:
    """mantissa * 2^exponent: float64 tensors of one shape, 0.5 <= |mantissa| < 1 or 0."""

    def __init__(self, mantissa: Tensor, exponent: Tensor) -> None:
        mantissa, shift = torch.frexp(mantissa)
        self.mantissa = mantissa
        self.exponent = torch.where(mantissa == 0, ZERO, exponent + shift)

    @staticmethod
    def of(value: Number) -> Scaled:
        """Converts a float64 tensor; returns a `Scaled` unchanged."""
        return value if isinstance(value, Scaled) else Scaled(value, torch.zeros_like(value))

    def __getitem__(self, index: Tensor | slice) -> Scaled:
        return Scaled(self.mantissa[index], self.exponent[index])

    def __add__(self, other: Number) -> Scaled:
        other = Scaled.of(other)
        top = torch.maximum(self.exponent, other.exponent)
        return Scaled(self.to_scale(top) + other.to_scale(top), top)

    def __mul__(self, other: Number) -> Scaled:
        other = Scaled.of(other)
        return Scaled(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def __rtruediv__(self, other: Tensor) -> Scaled:
        return Scaled(other / self.mantissa, -self.exponent)

    __radd__, __rmul__ = __add__, __mul__

    def to_scale(self, exponent: Tensor) -> Tensor:
        """The mantissas of the numbers for these exponents."""
        return self.mantissa * torch.exp2(self.exponent - exponent)

    def sum_by(self, index: Tensor, size: int) -> Scaled:
        """Sums by index, each in the scale of its largest term."""
        top = self.exponent.new_full((size,), ZERO)
        top.scatter_reduce_(0, index, self.exponent, "amax")
        return Scaled(scatter_sum(self.to_scale(top[index]), index, size), top)


Number = Tensor | Scaled


def sum_by(values: Number, index: Tensor, size: int) -> Number:
    """Entry i is the sum of values[j] over all j with index[j] == i."""
    if isinstance(values, Scaled):
        return values.sum_by(index, size)
    return scatter_sum(values, index, size)


def as_float(values: Number) -> Tensor:
    """Plain float64; inf where the number itself is beyond its range."""
    if isinstance(values, Scaled):
        # Two halves, because 2^exponent alone may overflow where the product does not.
        half = torch.floor(values.exponent / 2)
        return values.mantissa * torch.exp2(half) * torch.exp2(values.exponent - half)
    return values
