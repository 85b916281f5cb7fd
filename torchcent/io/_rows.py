"""Rows of numbers, parsed by compiled code. Anything else is left to the readers of ``_text``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from torchcent.io._budget import Budget
from torchcent.io._comments import MARKS
from torchcent.io._layout import Layout
from torchcent.io._rounding import rounded
from torchcent.io._stream import Piece
from torchcent.io._tokens import IrregularText
from torchcent.runtime import _ops

_QUOTE = re.compile(rb'(?:\A|[\t\n]) *"')  # at the beginning of a field between tabs


@dataclass
class Columns:
    """The columns that are taken; the ids are int64 or positions in ``names``."""

    ends: tuple[np.ndarray, np.ndarray]
    names: list[str] | None
    weight: np.ndarray | None
    remark: str | None = None  # what the caller should know about the ids
    rounded: int = 0  # number of weights that float64 does not hold


class _Column:
    """An array that grows. What is allocated ahead takes memory only when it is written."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self.array = np.empty(0, dtype)
        self.size = 0

    def add(self, part: np.ndarray, share: float, limits: Budget) -> None:
        """Appends values; this share of the file has been read."""
        size = self.size + len(part)
        if size > len(self.array):
            expected = min(int(1.25 * size / max(share, 1e-9)), limits.limit // 8)
            grown = np.empty(max(expected, size + size // 4), self.array.dtype)
            grown[: self.size] = self.array[: self.size]
            self.array = grown
        self.array[self.size : size] = part
        self.size = size

    def whole(self) -> np.ndarray:
        self.array.resize(self.size, refcheck=False)
        return self.array


def read_rows(
    pieces: Iterable[Piece], layout: Layout, limits: Budget, marks: str = MARKS
) -> tuple[Columns, list[bytes]]:
    """Returns the columns of a text, and its comments, which begin with one of the marks.

    Raises:
        IrregularText: a line is neither a row of integer ids, without zeros before them, and
            numeric weights nor a comment.
        MemoryError: the rows need more memory than allowed.
    """
    if not _ops.available:
        raise IrregularText
    source, target, weight = _Column(np.int64), _Column(np.int64), _Column(np.float64)
    weighted = layout.weight is not None
    comments: list[bytes] = []
    said = beyond = 0
    tabbed = layout.quoted and layout.separator == "\t"
    for text, share in pieces:
        if tabbed and b'"' in text and _QUOTE.search(text):
            raise IrregularText  # compiled code takes a tab in quotes for a separator
        ids, value, spans, irregular = _ops.ops.read_rows(
            torch.from_numpy(np.frombuffer(text, np.uint8)),
            ord(layout.separator or "\0"),
            layout.width,
            layout.source,
            layout.target,
            -1 if layout.weight is None else layout.weight,
            torch.get_num_threads(),
        )
        if irregular.numel():
            raise IrregularText
        for begin, end in spans.tolist():
            if chr(text[begin]) not in marks:
                raise IrregularText
            comments.append(bytes(text[begin:end]))
            said += end - begin
        limits.rows(source.size + ids.shape[1], weighted, len(text), said)
        source.add(ids[0].numpy(), share, limits)
        target.add(ids[1].numpy(), share, limits)
        if weighted:
            weight.add(value.numpy(), share, limits)
            beyond += rounded(value.numpy(), text)
    ends = (source.whole(), target.whole())
    return Columns(ends, None, weight.whole() if weighted else None, None, beyond), comments
