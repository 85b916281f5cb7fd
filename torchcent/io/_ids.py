"""Ids in text: whether they are integers or names, and what is lost if they are integers."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from torchcent.io._tokens import IrregularText

_KINDS = re.compile(
    r"(?P<integer>0|-?[1-9][0-9]*)|(?P<padded>-?0[0-9]*)|(?P<decimal>(?:0|-?[1-9][0-9]*)\.0+)"
)
#: Those that begin with zeros, for pyarrow.
PADDED = "^-?0[0-9]|^-0"
_CHUNK = 1 << 20
BEYOND = 2**63  # stands for what is beyond 64 bits


class Mixed(IrregularText):
    """Raised if some ids are integers and others names; their places in the list."""

    def __init__(self, integer: int, name: int) -> None:
        super().__init__()
        self.integer, self.name = integer, name


class Ids(NamedTuple):
    """The integers that names stand for, or None; and what the caller should know."""

    numbers: list[int] | None
    remark: str | None = None


def of_names(names: list[str], text_labels: bool | None) -> Ids:
    """Whether the distinct ids of a file are integers.

    They are if all are, unless one of them would lose zeros; ``1.0`` beside integers is one, too.
    `text_labels` True takes all for names, False takes ``007`` for 7.

    Raises:
        Mixed: some are integers, and others neither integers nor decimals.
    """
    if text_labels:
        return Ids(None)
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        kind = _KINDS.fullmatch(name)
        first.setdefault("name" if kind is None else kind.lastgroup or "", at)
    if "padded" in first and text_labels is None:
        shown = _example(names, "padded")
        return Ids(
            None,
            f"ids such as {shown[:40]!r} begin with zeros, so that all ids are kept as text; "
            "text_labels=True (--text-labels) says so, text_labels=False (--no-text-labels) reads "
            "them as integers",
        )
    integer = min((first[x] for x in ("integer", "padded") if x in first), default=None)
    if "name" in first:
        if integer is not None:
            raise Mixed(integer, first["name"])
        return Ids(None)
    remark = None
    if "decimal" in first:
        shown = _example(names, "decimal")
        remark = (
            f"ids such as {shown[:40]!r} are read as integers; text_labels=True (--text-labels) "
            "keeps them as text"
        )
    return Ids([integer_of(name) for name in names], remark)


def _example(names: list[str], kind: str) -> str:
    """The first in the order of text, as readers see names in different orders."""
    found = ((name, _KINDS.fullmatch(name)) for name in names)
    return min(name for name, match in found if match is not None and match.lastgroup == kind)


def may_be_padded(rows: bytes) -> bool:
    """Whether there may be ids that begin with zeros; weights and dates look alike."""
    whole = np.frombuffer(rows, np.uint8)
    for start in range(0, len(whole), _CHUNK):
        part = whole[max(start - 2, 0) : start + _CHUNK]
        digit = part - np.uint8(48) < 10
        zero = part == 48
        begins = zero[:-1] & digit[1:]  # a zero before a digit,
        begins[1:] &= ~(digit[:-2] | (part[:-2] == 46))  # where a number begins
        if begins[1 if start else 0 :].any() or (zero[1:] & (part[:-1] == 45)).any():
            return True
    return False


def integer_of(digits: str) -> int:
    """The number, or BEYOND; int() takes a few thousand digits at most."""
    whole = digits.partition(".")[0]
    plain = whole.lstrip("-").lstrip("0") or "0"
    number = int(plain) if len(plain) <= 19 else 2**64
    number = -number if whole.startswith("-") else number
    return number if -(2**63) <= number < 2**63 else BEYOND
