"""Weights of arcs: one per slot, and the arithmetic in which sums of them are exact.

A weight is a distance, finite and > 0. Sums are exact if all weights are multiples of one power of
two and no path reaches 2^53 of these units; there is then no rounding. If no path reaches 2^30
units, searches use int32: the largest distance plus one more arc still fits.

Decimal fractions such as 0.13 are no multiples of a power of two, and sums of their float64 values
break ties at random. If all weights are decimals of few digits, the engines compute with multiples
of a power of ten instead, so that ties are those of the numbers that were written.
Other weights are rounded by measures that count paths (_fixed_point.py), to multiples of a power of
two. If all are multiples of a part of the smallest but for the rounding of float64, as multiples of
1/3 are, that part is the unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.graph import _segments
from torchcent.runtime import _ops, _small

_FLOAT_BITS, _INT_BITS = 53, 30
_WINDOW = 2**24  # weights processed at a time: a dozen copies of them are made
_MOST_DIGITS = 6  # behind the point of a decimal weight
_DOUBLE_DIGITS, _SINGLE_DIGITS = 15, 6  # that float64 and float32 numbers tell apart
_SAMPLE = 1000  # weights whose digits are counted before those of all
_LARGEST_SHIFT = 1000  # beyond it 2^shift is close to the largest float64
# Fixed point: distances and chains (engines/reduce/_chains.py) have less than 2^52 units, whatever
# rounding adds to a bound on them, and weights at least 2^16, of which they lose 2^-17 at most.
_FIXED_BITS, _LEAST_BITS, _ROUNDING = 52, 16, 1 + 2.0**-10
_MOST_FIXED = 512  # units beyond 2^512 or below 2^-512 are left to float64
# Multiples of the smallest weight or of one of this many parts of it: how large, and how close.
_MOST_PARTS, _MOST_UNITS, _CLOSE = 12, 2**20, 2.0**-51


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
    """How weights are represented in the engines: multiplied by `per_one`.

    Attributes:
        per_one: units in a distance of 1: a power of two, or 10^digits.
        exact: whether sums along paths are exact.
        whole: whether the given weights are whole numbers and their sums exact.
        dtype: int32 if they fit, else float64.
        digits: of decimal weights, behind the point; 0 for others.
        bits: of weights in fixed point, rounded to multiples of 2^-bits; None for others.
        multiples: whether weights are multiples of 1 / per_one but for rounding.
    """

    per_one: float
    exact: bool
    whole: bool
    dtype: torch.dtype
    digits: int = 0
    bits: int | None = None
    multiples: bool = False

    @property
    def rounds(self) -> bool:
        """Whether weights are rounded to whole units."""
        return self.digits > 0 or self.bits is not None or self.multiples

    def apply(self, weight: Tensor) -> Tensor:
        scaled = weight * self.per_one
        return (scaled.round_() if self.rounds else scaled).to(self.dtype)

    def lengths(self, units: Tensor) -> Tensor:
        """Floats in the units of the weights, correctly rounded."""
        return units if self.per_one == 1 else divide(units, self.per_one)

    def __str__(self) -> str:
        if self.bits is not None:
            return f"float64, fixed point in units of 2^{-self.bits}, sums exact"
        if self.multiples:
            return f"float64, in units of {1 / self.per_one:.6g}, sums exact"
        of = f", in units of 1/{self.per_one:.0f}" if self.per_one != 1 else ""
        if self.dtype == torch.int32:
            return f"int32{of}"
        return "float64" + (f"{of}, sums exact" if self.exact else "")


class Ties(NamedTuple):
    """Which paths are equally short.

    Attributes:
        sums: what lengths are sums of: "decimal" numbers where weights are such, "float" numbers,
            or units of a given scale, as of the graph that this one is part of. In a batch there
            are "fixed point" numbers, with a scale for each graph.
        tolerance: relative, of lengths.
    """

    sums: str | Scale = "decimal"
    tolerance: float = 0.0


DECIMAL = Ties()


def divide(values: Tensor, by: float) -> Tensor:
    """values / by, correctly rounded: CUDA multiplies by the reciprocal of a Python number."""
    return values / values.new_full((), by)


HOPS = Scale(1, True, True, torch.int32)


def bytes_to_scale(num_slots: int, symmetric: bool) -> int:
    """Peak memory of Graph.scaled_weights, including the result.

    It is reached by the last digits of a window of weights, or by the scaled weights of both
    directions together with the back weights.
    """
    window = 40 * min(num_slots, _WINDOW)
    return max(window, 12 * num_slots) if symmetric else 8 * num_slots + max(window, 24 * num_slots)


def scale(weight: Tensor, num_nodes: int, *, decimals: bool = True) -> Scale:
    """The scale for a graph with this number of vertices and these weights per slot.

    decimals=False takes decimal fractions for the float64 numbers next to them.
    """
    if weight.numel() == 0:
        return HOPS
    last, largest, digits = _digits(weight, _MOST_DIGITS if decimals else 0)
    shift, arcs = max(0, -last), max(num_nodes - 1, 1)
    if digits:
        units = round(largest * 10.0**digits) * arcs
        if units < 2**_FLOAT_BITS:
            dtype = torch.int32 if units < 2**_INT_BITS else torch.float64
            return Scale(10.0**digits, True, False, dtype, digits)
    longest = largest * 2.0 ** min(shift, _LARGEST_SHIFT) * arcs
    if shift > _LARGEST_SHIFT or longest >= 2.0**_FLOAT_BITS:
        return Scale(1, False, False, torch.float64)
    if longest < 2.0**_INT_BITS:
        return Scale(2.0**shift, True, shift == 0, torch.int32)
    return Scale(1, True, shift == 0, torch.float64)


def fixed_point(weight: Tensor, longest: float) -> Scale | None:
    """The scale of weights rounded to multiples of a power of two, if no distance is longer.

    They keep a unit of their own if it suffices: whole numbers and decimals are not rounded, and
    multiples of one number, such as 1/3 and 2/3, tie as such. None if the smallest weight would
    have too few units: there is no such scale.
    """
    last, largest, digits = _digits(weight, _MOST_DIGITS)
    longest = (longest + largest) * _ROUNDING
    if digits and longest * 10.0**digits < 2.0**_FIXED_BITS:
        return Scale(10.0**digits, True, False, torch.float64, digits)
    if not math.isfinite(longest):
        return None
    bits = _FIXED_BITS - math.frexp(longest)[1]
    if bits >= -last:
        return Scale(1, True, last >= 0, torch.float64)
    if abs(bits) > _MOST_FIXED:
        return None
    if parts := _parts(weight):
        per_one = parts / float(weight.min())
        if longest * per_one < 2.0**_FIXED_BITS:
            return Scale(per_one, True, False, torch.float64, multiples=True)
    if float(weight.min()) * 2.0**bits < 2**_LEAST_BITS:
        return None
    return Scale(2.0**bits, True, False, torch.float64, bits=bits)


def _parts(weight: Tensor) -> int:
    """The least number of parts of the smallest weight of which all are multiples; 0 for none."""
    smallest = weight.min()
    every = torch.arange(1, _MOST_PARTS + 1, device=weight.device)
    possible = _are_multiples(weight[:_SAMPLE] / smallest, every[:, None]).all(1)
    for parts in every[possible].tolist():
        if all(bool(_are_multiples(x / smallest, parts).all()) for x in weight.split(_WINDOW)):
            return int(parts)
    return 0


def _are_multiples(ratio: Tensor, parts: int | Tensor) -> Tensor:
    """Whether each is a whole number of these parts of 1, within rounding."""
    units = ratio * parts
    whole = units.round()
    return ((units - whole).abs() <= whole * _CLOSE) & (whole <= _MOST_UNITS)


def decimals_of_graphs(
    weight: Tensor, slots: Tensor, nodes: Tensor, longest: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The weights of a batch in the units of each of its graphs, and the units in a distance of 1.

    Graphs whose weights are decimals have multiples of a power of ten, as :func:`scale` would give
    them alone. The others keep their weights or, if no distance in them is longer than `longest`,
    have those of :func:`fixed_point`.

    Args:
        weight: float64 [m].
        slots, nodes: int64 [graphs], the numbers of slots and of vertices of each graph.
        longest: float64 [graphs].
    """
    first = torch.cat([slots.new_zeros(1), slots.cumsum(0)])

    def all_of(holds: Tensor) -> Tensor:
        return _segments.largest_of_segments(first, (~holds).double()) == 0  # of no slots, too

    last = _last_digits(weight)
    is_open = ~all_of(last >= -_MOST_DIGITS)
    digits = torch.zeros_like(slots)
    arcs = (nodes - 1).clamp(min=1)
    largest = _segments.largest_of_segments(first, weight)
    bound = None if longest is None else (longest + largest) * _ROUNDING
    if bool(is_open.any()):
        single = _small.repeat_interleave(all_of(weight.float() == weight), slots)
        for number in range(1, _MOST_DIGITS + 1):
            fits = (largest * 10.0**number).round_() * arcs < 2.0**_FLOAT_BITS
            if bound is not None:
                fits |= bound * 10.0**number < 2.0**_FIXED_BITS
            matches = is_open & all_of(_are_decimals(weight, number, single))
            digits[matches & fits] = number
            is_open &= ~matches
    per_one, rounds = 10.0 ** digits.double(), digits > 0
    if bound is not None:
        last = -_segments.largest_of_segments(first, -last.double())
        smallest = -_segments.largest_of_segments(first, -weight)
        bits, inexact = _bits_of_graphs(bound, last)
        shift = (-last).clamp(min=0)
        units = largest * 2.0 ** shift.clamp(max=_LARGEST_SHIFT) * arcs
        exact = (shift <= _LARGEST_SHIFT) & (units < 2.0**_FLOAT_BITS)
        own = inexact & ~(rounds | exact)
        ratio = weight / _small.repeat_interleave(smallest, slots)
        matches, unit = torch.zeros_like(own), 2.0**bits
        for parts in range(1, _MOST_PARTS + 1):
            if not bool((own & ~matches).any()):
                break
            multiples = own & ~matches & all_of(_are_multiples(ratio, parts))
            unit = torch.where(multiples, parts / smallest, unit)
            matches |= multiples
        matches &= bound * unit < 2.0**_FIXED_BITS
        unit = torch.where(matches, unit, 2.0**bits)
        fixed = matches | (own & (smallest * unit >= 2.0**_LEAST_BITS))
        per_one, rounds = torch.where(fixed, unit, per_one), rounds | fixed
    units, rounded = (_small.repeat_interleave(each, slots) for each in (per_one, rounds))
    return torch.where(rounded, (weight * units).round_(), weight), per_one


def _bits_of_graphs(bound: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """Those of :func:`fixed_point` for each graph, and whether weights have to be rounded."""
    bits = _FIXED_BITS - torch.frexp(bound).exponent.double()
    return bits, torch.isfinite(bound) & (bits < -last) & (bits.abs() <= _MOST_FIXED)


def _digits(weight: Tensor, most: int) -> tuple[int, float, int]:
    """The largest e such that all weights are multiples of 2^e, the largest weight, and the digits
    behind the point of decimals. The digits are at most `most`, and 0 if multiples of 2^e are such
    decimals."""
    if _ops.has_kernel("weight_digits", weight.device):
        last, largest, digits = _ops.ops.weight_digits(weight, most).tolist()
        return int(last), largest, int(digits)
    last = min(int(_last_digits(part).min()) for part in weight.split(_WINDOW))
    return last, float(weight.max()), _decimal_digits(weight, most) if last < -most else 0


def _decimal_digits(weight: Tensor, most: int) -> int:
    """The least number of digits behind the point with which all weights are written; 0 for none.

    A decimal of at most 15 digits is the only one of that length for its float64 number. Weights
    that are float32 numbers are decimals of at most 6 digits, likewise.
    """
    parts = weight.split(_WINDOW)
    single = all(bool((part.float() == part).all()) for part in parts)
    for number in range(1, most + 1):
        if all(bool(_are_decimals(x, number, single).all()) for x in (weight[:_SAMPLE], *parts)):
            return number
    return 0


def _are_decimals(weight: Tensor, digits: int, single: Tensor | bool) -> Tensor:
    """Whether each weight is the float64 number (`single`: float32 number) next to a decimal."""
    units = (weight * 10.0**digits).round_()
    decimal = divide(units, 10.0**digits)
    of_double = (decimal == weight) & (units < 10.0**_DOUBLE_DIGITS)
    of_single = (decimal.float() == weight.float()) & (units < 10.0**_SINGLE_DIGITS)
    return torch.where(torch.as_tensor(single, device=weight.device), of_single, of_double)


def unit_of(weight: Tensor) -> float:
    """The largest power of two of which all weights are multiples."""
    return 2.0 ** int(_last_digits(weight).min())


def _last_digits(weight: Tensor) -> Tensor:
    """The largest e for each weight such that it is a multiple of 2^e."""
    mantissa, exponent = torch.frexp(weight)
    digits = (mantissa * 2.0**_FLOAT_BITS).long()
    lowest = (digits & -digits).double()  # a power of two: the last nonzero digit
    return torch.frexp(lowest).exponent + exponent - (_FLOAT_BITS + 1)
