"""Integers in text that float64, the type of the weights, does not hold."""

from __future__ import annotations

import re

import numpy as np

_LONG = re.compile(rb"(?<![0-9.eE])[0-9]{16,}(?![0-9.eE])")
_EXACT = 2**53  # float64 holds all integers up to this


def rounded(weight: np.ndarray | None, text: bytes | bytearray) -> int:
    """The number of weights beyond 2^53, if the text from which they are has such integers.

    Numbers with a point or an exponent were floating-point numbers before.
    """
    if weight is None or not len(weight):
        return 0
    if max(float(weight.max()), -float(weight.min())) < _EXACT:
        return 0
    if not any(len(x[0]) > 16 or int(x[0]) > _EXACT for x in _LONG.finditer(text)):
        return 0
    return int(np.count_nonzero(np.abs(weight) >= _EXACT))


def remarks(count: int) -> tuple[str, ...]:
    """What the caller should know."""
    if not count:
        return ()
    return (f"{count:,} weight{'s' * (count > 1)} beyond 2^53 rounded to float64",)
