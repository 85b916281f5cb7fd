"""Numbers of names, in the order in which these first appear."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from operator import getitem
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.runtime import _ops

#: Names from which compiled code numbers them, which takes a while to begin.
MANY = 2**12
_TEXT = ("str", "cat", "enum")  # in names of types of pandas, polars and pyarrow
_STRINGS = ("string", "large_string", "string_view")  # of Arrow
_NUL = torch.empty(0, dtype=torch.int64, device="cpu")


class Text(NamedTuple):
    """A column of names as bytes: the i-th is ``text[offsets[i]:offsets[i + 1]]``.

    Without offsets, each ends with a NUL. ``take(places)`` has some of the names themselves, and
    there are `size` of them.
    """

    text: Tensor
    offsets: Tensor
    take: Callable[[np.ndarray], list[Any]]
    size: int


def of_list(names: list[Any]) -> Text | None:
    """The column of a list of strings; None if there are others."""
    text = _joined(names)
    if text is None:
        return None
    return Text(text, _NUL, lambda at: list(map(names.__getitem__, at.tolist())), len(names))


def of_pairs(pairs: Sequence[Sequence[Any]]) -> Text | None:
    """The column of the names in pairs, one after the other; None if there are others."""
    text = _joined(chain.from_iterable(pairs))
    if text is None:
        return None

    def take(at: np.ndarray) -> list[Any]:
        rows = map(pairs.__getitem__, (at >> 1).tolist())
        return list(map(getitem, rows, (at & 1).tolist()))

    return Text(text, _NUL, take, 2 * len(pairs))


def _joined(names: Iterable[Any]) -> Tensor | None:
    try:
        text = bytearray("\0".join(names), "utf-8", "surrogatepass")
    except TypeError:
        return None
    text.append(0)
    return torch.frombuffer(text, dtype=torch.uint8)


def of_row(names: Any) -> Text | None:
    """The column of a list, or of an array of strings of one or of any width, or of objects."""
    if isinstance(names, np.ndarray) and (names.dtype.kind != "U" or not names.dtype.itemsize):
        names = names.tolist()
    if not isinstance(names, np.ndarray):
        return of_list(names)
    names = np.array(names, order="C")
    text = names.view(np.uint8)
    letters = names.view(np.uint32)
    if names.dtype.isnative and letters.max(initial=0) < 2**7:  # a byte of each says it all
        text = letters.astype(np.uint8)
    offsets = torch.arange(names.size + 1, device="cpu") * (text.size // max(1, names.size))
    return Text(torch.from_numpy(text), offsets, lambda at: names[at].tolist(), names.size)


def of_columns(columns: Sequence[Any]) -> tuple[Tensor, np.ndarray] | None:
    """As :func:`of_text`, of columns of a table of pandas, polars or pyarrow."""
    known = list(map(_known, columns))
    if all(map(is_coded, known)):
        return _as_first_used(*places(known))
    texts = [of_arrow(each) if hasattr(each, "chunks") else each for each in known]
    return of_text(texts, len(texts))


def _known(column: Any) -> Any:
    """A column of text, none of it missing, as a chunked array of Arrow or a Text; else None."""
    kind = str(getattr(column, "dtype", getattr(column, "type", None))).lower()
    if kind == "object":
        return of_list(column.to_numpy().tolist())
    if not any(word in kind for word in _TEXT):
        return None
    try:
        import pyarrow

        chunks = pyarrow.chunked_array(column)
    except (ImportError, TypeError):  # TypeError: of an older pandas
        return of_list(column.to_numpy().tolist())
    values = chunks.type.value_type if is_coded(chunks) else chunks.type
    return chunks if str(values) in _STRINGS and not chunks.null_count else None


def is_coded(array: Any) -> bool:
    """Whether an array of Arrow holds places in a dictionary."""
    return str(getattr(array, "type", "")).startswith("dictionary")


def places(columns: Sequence[Any]) -> tuple[np.ndarray, Any]:
    """Places ``[sides, rows]`` in one array of Arrow, of chunked arrays with dictionaries.

    A name may stand there several times.
    """
    import pyarrow

    codes, words, size = [], [], 0
    for column in columns:
        chunks = column.unify_dictionaries().chunks if column.num_chunks > 1 else column.chunks
        for chunk in chunks:
            codes.append(chunk.indices.to_numpy(zero_copy_only=False).astype(np.int64) + size)
        if chunks:
            words.append(chunks[0].dictionary.cast(pyarrow.large_string()))
            size += len(words[-1])
    if not words:
        return np.empty((len(columns), 0), np.int64), pyarrow.array([], pyarrow.large_string())
    return np.concatenate(codes).reshape(len(columns), -1), pyarrow.concat_arrays(words)


def distinct(words: Any, ordered: bool) -> tuple[np.ndarray, list[str]]:
    """The number of each word of an array of Arrow among the distinct ones, and these.

    They come in the order of their letters if that is asked for and compiled code has numbered
    them, else as they first stand.
    """
    import pyarrow

    text = [of_arrow(pyarrow.chunked_array([words]))]
    ids, names = of_text(text, 1, ordered) or of_any(words.to_pylist())
    return ids.numpy().reshape(-1), list(names)


def _as_first_used(codes: np.ndarray, words: Any) -> tuple[Tensor, np.ndarray] | None:
    """Numbers in the order in which names first stand, row by row; None if one is missing."""
    if words.null_count:
        return None
    number, names = distinct(words, ordered=False)
    codes = number[codes]
    flat = codes.T.reshape(-1)
    first = np.full(len(names), flat.size)
    first[flat[::-1]] = np.arange(flat.size)[::-1]  # of those that repeat, the last is kept
    order = np.argsort(first)[: np.count_nonzero(first < flat.size)]
    number = np.empty(len(names), np.int64)
    number[order] = np.arange(order.size)
    used = np.array(names, object)[order]
    return None if "" in used.tolist() else (torch.from_numpy(number[codes]), used)


def of_arrow(chunks: Any) -> Text:
    """The column of a chunked array of Arrow that holds text, none of it missing."""
    import pyarrow

    kind = pyarrow.large_string()
    if is_coded(chunks):
        parts = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in chunks.chunks]
        chunks = pyarrow.chunked_array(parts, kind)
    array = chunks.cast(kind).combine_chunks()
    _, ends, text = array.buffers()
    offsets = np.frombuffer(ends, np.int64)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(text or b"", np.uint8)[offsets[0] : offsets[-1]]
    return Text(
        torch.from_numpy(data.copy()),
        torch.from_numpy(offsets - offsets[0]),
        lambda at: array.take(pyarrow.array(at)).to_pylist(),
        len(array),
    )


def of_text(
    columns: Sequence[Text | None], sides: int, ordered: bool = False
) -> tuple[Tensor, np.ndarray] | None:
    """The vertex of each name, row by row, int64 [sides, rows], and the names, as objects.

    One column may hold several sides in turn. None if a column is not text, a name is empty, or
    compiled code does not number them.
    """
    known = [column for column in columns if column is not None]
    if not _ops.available or len(known) < len(columns):
        return None
    ids, first = _ops.ops.name_numbers(
        [column.text for column in known], [column.offsets for column in known],
        sides, torch.get_num_threads(), ordered,
    )  # fmt: skip
    whole = ids.numel() == sum(column.size for column in known)
    if not first.numel() or not whole:  # or a name holds a NUL
        return None
    names = np.empty(first.numel(), object)
    row, side = np.divmod(first.numpy(), len(known))
    for k, column in enumerate(known):
        names[side == k] = column.take(row[side == k])
    return None if "" in names.tolist() else (ids, names)


def of_any(names: Sequence[Hashable]) -> tuple[Tensor, list[Any]]:
    """As :func:`of_text`, of whatever can be the key of a dict, int64 [E]."""
    number: dict[Any, int] = Numbers()
    ids = np.fromiter(map(number.__getitem__, names), np.int64, len(names))
    return torch.from_numpy(ids), list(number)


class Numbers(dict[Any, int]):
    """The number of each key, by first use."""

    def __missing__(self, name: Any) -> int:
        number = self[name] = len(self)
        return number
