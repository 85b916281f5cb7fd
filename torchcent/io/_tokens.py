"""Fast parsing of numbers with numpy, shared by all text readers."""

from __future__ import annotations

import warnings

import numpy as np

CHUNK = 1 << 24
_SPACE = b" \t\n"


class IrregularText(Exception):
    """Raised if the fast reader does not support the text; read it line by line instead."""


def number_rows(text: bytes, dtype: type[np.generic]) -> tuple[np.ndarray, np.ndarray]:
    """Returns all numbers of a text and the number of fields on each line.

    Args:
        text: numbers separated by blanks, tabs and newlines.
        dtype: ``np.int64`` or ``np.float64``.

    Returns:
        values ``[T]`` of ``dtype`` and counts int64 ``[L]`` with ``counts.sum() == T``. Blank lines
        count 0. The text after the last newline is a line unless it is empty.

    Raises:
        IrregularText: a field is not a number, or is too long to be exact.
    """
    values, counts = [np.empty(0, dtype)], [np.empty(0, np.int64)]
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + CHUNK) + 1 or len(text)
        part = text[start:end]
        value, count = _number_rows(part, dtype)
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
    other = text.translate(None, b"0123456789-" + _SPACE)
    # 18 digits fit into int64 (numpy would silently clip longer numbers)
    if dtype is np.int64 and (other or lengths.max() > 18):
        raise IrregularText
    if dtype is np.int64 and b"-" in text:  # numpy misreads a lone minus as 0 or as a sign
        minus = np.flatnonzero(raw == 45)
        if after[minus].any():
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
