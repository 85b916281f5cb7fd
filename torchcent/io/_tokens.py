"""Fast parsing of numbers with numpy, and integers that float64 does not hold."""

from __future__ import annotations

import re
import warnings

import numpy as np

CHUNK = 1 << 24
_LONG = re.compile(rb"(?<![0-9.eE])[0-9]{16,}(?![0-9.eE])")
_EXACT = 2**53  # float64 holds all integers up to this


class IrregularText(Exception):
    """Raised if a fast reader does not support the text; read it line by line instead."""


def number_rows(text: bytes, dtype: type[np.generic]) -> tuple[np.ndarray, np.ndarray]:
    """All numbers of a text, int64 or float64, and how many are on each line, blank ones too."""
    values, counts = [np.empty(0, dtype)], [np.empty(0, np.int64)]
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + CHUNK) + 1 or len(text)
        value, count = _number_rows(text[start:end], dtype)
        values.append(value)
        counts.append(count)
        start = end
    return np.concatenate(values), np.concatenate(counts)


def _number_rows(text: bytes, dtype: type[np.generic]) -> tuple[np.ndarray, np.ndarray]:
    raw = np.frombuffer(text, np.uint8)
    blank = raw <= 32
    before = np.concatenate([[True], blank[:-1]])
    after = np.concatenate([blank[1:], [True]])
    starts = np.flatnonzero(~blank & before)
    lengths = np.flatnonzero(~blank & after) - starts + 1
    newlines = np.flatnonzero(raw == 10)
    if raw[-1] != 10:
        newlines = np.append(newlines, len(raw))
    counts = np.diff(np.searchsorted(starts, newlines), prepend=0)
    if ((raw < 32) & (raw != 9) & (raw != 10)).any():  # control characters are not separators
        raise IrregularText
    if not len(starts):
        return np.empty(0, dtype), counts
    if dtype is np.int64:
        # 18 digits fit into int64 (numpy would silently clip longer numbers)
        if text.translate(None, b"0123456789- \t\n") or lengths.max() > 18:
            raise IrregularText
        if after[np.flatnonzero(raw == 45)].any():  # numpy reads a lone minus as 0 or as a sign
            raise IrregularText
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # numpy's signal that it stopped early
        try:
            values = np.fromstring(text, dtype, sep=" ")
        except (DeprecationWarning, ValueError):
            raise IrregularText from None
    if len(values) != len(starts):  # such as 5-3, which numpy reads as two numbers
        raise IrregularText
    return values, counts


def rounded(weight: np.ndarray | None, text: bytes | bytearray) -> int:
    """The number of weights beyond 2^53, if the text has such integers, neither 1e20 nor 1.0."""
    if weight is None or not len(weight):
        return 0
    if max(float(weight.max()), -float(weight.min())) < _EXACT:
        return 0
    if not any(len(x[0]) > 16 or int(x[0]) > _EXACT for x in _LONG.finditer(text)):
        return 0
    return int(np.count_nonzero(np.abs(weight) >= _EXACT))


def of_rounded(count: int) -> tuple[str, ...]:
    """What to say of weights that are rounded."""
    if not count:
        return ()
    return (f"{count:,} weight{'s' * (count > 1)} beyond 2^53 rounded to float64",)


def warn_of_rounded(path: str, weight: np.ndarray | None, text: bytes) -> None:
    for remark in of_rounded(rounded(weight, text)):
        warnings.warn(f"{path}: {remark}", stacklevel=5)
