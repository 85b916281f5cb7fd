"""Text files piece by piece: a file is decompressed while the rows before are parsed."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from torchcent.io import _packed
from torchcent.io._budget import Budget
from torchcent.io._files import split_suffix
from torchcent.io._tokens import IrregularText

#: A piece of text that ends at a line end, and the share of the file up to there.
Piece = tuple[bytearray, float]
_Item = TypeVar("_Item")
_LONGEST = 4  # pieces of a line


def pieces_of_file(path: str, limits: Budget) -> Generator[Piece, None, None]:
    """The pieces of a regular file, decompressed according to its suffix.

    Raises:
        IrregularText: not a regular file, damaged, or a line that is too long. Reading the file as
            a whole gives the message.
        ImportError: the compression needs an extra.
        MemoryError: the compression needs more memory than allowed.
    """
    if not os.path.isfile(path):
        raise IrregularText
    try:
        yield from _ahead(_pieces(path, limits))
    except _packed.DAMAGED:
        raise IrregularText from None


def pieces_of(text: bytes) -> Iterator[Piece]:
    """The pieces of a text in memory."""
    view, start = memoryview(text), 0
    while start < len(text):
        end = text.find(b"\n", start + _packed.CHUNK) + 1 or len(text)
        yield bytearray(view[start:end]), end / len(text)
        start = end


def _pieces(path: str, limits: Budget) -> Iterator[Piece]:
    with open(path, "rb") as raw:
        size = os.fstat(raw.fileno()).st_size
        parts = filter(None, _packed.chunks(raw, split_suffix(path)[1], limits))
        chunk, rest = next(parts, b""), b""
        while chunk:
            share = min(raw.tell() / size, 1.0)
            following = next(parts, b"")
            end = chunk.rfind(b"\n") + 1 if following else len(chunk)
            if end:
                yield bytearray().join((rest, memoryview(chunk)[:end])), share
                rest = b""
            rest += chunk[end:]
            if len(rest) > _LONGEST * _packed.CHUNK:
                raise IrregularText
            chunk = following


def _ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """The same items. From the third on, a thread makes one while the one before is in use."""
    few = [item for _, item in zip(range(2), items, strict=False)]
    yield from few
    if len(few) < 2:
        return
    with ThreadPoolExecutor(1) as pool:
        try:
            coming = pool.submit(next, items, None)
        except RuntimeError:  # the system grants no thread
            yield from items
            return
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
