"""Rows of edges, parsed by compiled code; whether ids are integers or names.

What is not read here is left to ``_text.read_lines``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from torchcent.io._budget import Budget
from torchcent.io._files import Piece, is_text
from torchcent.io._layout import MARKS, Layout
from torchcent.io._tokens import IrregularText, rounded
from torchcent.runtime import _ops

_KINDS = re.compile(
    r"(?P<integer>0|-?[1-9][0-9]*)|(?P<padded>-?0[0-9]*)|(?P<decimal>(?:0|-?[1-9][0-9]*)\.0+)"
)
BEYOND = 2**63  # stands for what is beyond 64 bits


class Mixed(IrregularText):
    """Raised if some ids are integers and others names; their places in the list."""

    def __init__(self, integer: int, name: int) -> None:
        super().__init__()
        self.integer, self.name = integer, name


def of_names(names: list[str], text_labels: bool | None) -> tuple[list[int] | None, str | None]:
    """The integers that the distinct ids of a file are, or None; and what the caller should know.

    One that would lose zeros makes all of them names; ``1.0`` beside integers is one, too.
    """
    without_digits = "\n".join(names).encode().translate(None, b"-.0123456789")
    if text_labels or b"\n\n" not in b"\n%b\n" % without_digits:  # no name is of digits only
        return None, None
    first: dict[str, int] = {}  # of each kind
    least: dict[str, str] = {}  # for messages, as readers see names in different orders
    for at, name in enumerate(names):
        match = _KINDS.fullmatch(name)
        kind = "name" if match is None else match.lastgroup or ""
        first.setdefault(kind, at)
        least[kind] = min(name, least.get(kind, name))
    if "padded" in first and text_labels is None:
        return None, (
            f"ids such as {least['padded'][:40]!r} begin with zeros, so that all ids are kept as "
            "text; text_labels=True (--text-labels) says so, text_labels=False "
            "(--no-text-labels) reads them as integers"
        )
    integer = min((first[x] for x in ("integer", "padded") if x in first), default=None)
    if "name" in first:
        if integer is not None:
            raise Mixed(integer, first["name"])
        return None, None
    remark = None
    if "decimal" in first:
        remark = (
            f"ids such as {least['decimal'][:40]!r} are read as integers; text_labels=True "
            "(--text-labels) keeps them as text"
        )
    return [integer_of(name) for name in names], remark


def integer_of(digits: str) -> int:
    """The number, or BEYOND; int() takes a few thousand digits at most."""
    whole = digits.partition(".")[0]
    plain = whole.lstrip("-").lstrip("0") or "0"
    number = int(plain) if len(plain) <= 19 else 2**64
    number = -number if whole.startswith("-") else number
    return number if -(2**63) <= number < 2**63 else BEYOND


_PIECE = 1 << 25


@dataclass
class Columns:
    """The columns that are taken; the ids are int64 or positions in ``names``."""

    ends: tuple[np.ndarray, np.ndarray]
    names: list[str] | None
    weight: np.ndarray | None
    remark: str | None = None  # what the caller should know about the ids
    rounded: int = 0  # number of weights that float64 does not hold

    def typed(self, text_labels: bool | None) -> Columns:
        """The same with integers for names, if these are integers."""
        numbers, remark = of_names(self.names or [], text_labels)
        if numbers is None or self.names is None:
            return replace(self, remark=remark)
        if BEYOND in numbers:
            raise IrregularText
        ids = np.array(numbers, np.int64)
        source, target = self.ends
        return replace(self, ends=(ids[source], ids[target]), names=None, remark=remark)


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


def _larger(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Pieces in which names repeat, as each distinct name of a piece takes time."""
    text, share = bytearray(), 0.0
    for part, share in pieces:
        text += part
        if len(text) > _PIECE:
            yield text, share
            text = bytearray()
    yield text, share


def read_rows(
    pieces: Iterable[Piece], layout: Layout, limits: Budget, marks: str = MARKS,
    *, names: bool = False, in_order: bool = False,
) -> tuple[Columns, list[bytes]]:  # fmt: skip
    """The columns of a text, whose ids are integers or any `names`, and its comments.

    Names are those of :class:`Columns`, `in_order` of their occurrence or any other.
    """
    if not _ops.available:
        raise IrregularText
    source, target, weight = _Column(np.int64), _Column(np.int64), _Column(np.float64)
    weighted = layout.weight is not None
    comments: list[bytes] = []
    known: list[str] = []
    code: dict[str, int] = {}  # of the names that are known, if there are several pieces
    nbytes = beyond = 0  # bytes of comments, and rounded weights
    for text, share in _larger(pieces) if names else pieces:
        if (names and not is_text(text)) or (layout.like_r and b'"' in text):
            raise IrregularText
        ids, value, spans, irregular, lines = _ops.ops.read_rows(
            torch.from_numpy(np.frombuffer(text, np.uint8)),
            ord(layout.separator or "\0"),
            layout.width,
            layout.source,
            layout.target,
            -1 if layout.weight is None else layout.weight,
            threads=torch.get_num_threads(),
            names=names,
            quotes=layout.in_quotes,
            sorted=names and not in_order,  # what lies in order is numbered sooner
        )
        if irregular.numel():
            raise IrregularText
        for begin, end in spans.tolist():
            if chr(text[begin]) not in marks:
                raise IrregularText
            comments.append(bytes(text[begin:end]))
            nbytes += end - begin
        if names:
            words = lines.numpy().tobytes().decode().split("\n")[:-1]
            if known:
                code = code or {name: k for k, name in enumerate(known)}
                places = [code.setdefault(x, len(code)) for x in words]
                ids = torch.from_numpy(np.array(places, np.int64))[ids]
                known += [x for x, k in zip(words, places, strict=True) if k >= len(known)]
            else:
                known = words
        limits.rows(source.size + ids.shape[1], weighted, len(text), nbytes + 100 * len(known))
        source.add(ids[0].numpy(), share, limits)
        target.add(ids[1].numpy(), share, limits)
        if weighted:
            weight.add(value.numpy(), share, limits)
            beyond += rounded(value.numpy(), text)
    if names:
        limits.allow(64 * source.size + 400 * len(known), f"numbering {len(known)} names")
    columns = Columns(
        (source.whole(), target.whole()),
        known if names else None,
        weight.whole() if weighted else None,
        rounded=beyond,
    )
    return columns, comments
