"""Numbers of names, in the order in which these first appear."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.runtime import _ops

#: Names from which compiled code numbers them, which takes a while to begin.
MANY = 2**12
_TEXT = ("str", "cat", "enum")  # in names of types of pandas, polars and pyarrow
_NUL = torch.empty(0, dtype=torch.int64, device="cpu")


class Text(NamedTuple):
    """A column of names as bytes: the i-th is ``text[offsets[i]:offsets[i + 1]]``.

    Without offsets, each ends with a NUL. `names` are the same as a list, or an array of NumPy or
    Arrow.
    """

    text: Tensor
    offsets: Tensor
    names: Any

    def take(self, places: np.ndarray) -> Any:
        if isinstance(self.names, list):
            return list(map(self.names.__getitem__, places.tolist()))
        some = self.names.take(places)
        return some.tolist() if isinstance(some, np.ndarray) else some.to_pylist()


def of_list(names: list[Any]) -> Text | None:
    """The column of a list of strings; None if there are others."""
    try:
        text = bytearray("\0".join((*names, "")), "utf-8", "surrogatepass")
    except TypeError:
        return None
    return Text(torch.frombuffer(text, dtype=torch.uint8), _NUL, names)


def of_array(names: np.ndarray) -> Text | None:
    """The column of an array of strings of one or of any width, or of objects."""
    if names.dtype.kind != "U" or not names.dtype.itemsize:
        return of_list(names.tolist())
    names = np.array(names, order="C")
    offsets = torch.arange(names.size + 1, device="cpu") * names.dtype.itemsize
    return Text(torch.from_numpy(names.view(np.uint8)), offsets, names)


def of_column(column: Any) -> Text | None:
    """The column of a table of pandas, polars or pyarrow that holds text, none of it missing."""
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
    values = chunks.type.value_type if pyarrow.types.is_dictionary(chunks.type) else chunks.type
    if "string" not in str(values) or chunks.null_count:
        return None
    array = chunks.cast(pyarrow.large_string()).combine_chunks()
    _, ends, text = array.buffers()
    offsets = np.frombuffer(ends, np.int64)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(text or b"", np.uint8)[offsets[0] : offsets[-1]]
    return Text(torch.from_numpy(data.copy()), torch.from_numpy(offsets - offsets[0]), array)


def of_text(columns: Sequence[Text | None]) -> tuple[Tensor, np.ndarray] | None:
    """The vertex of each name, row by row, int64 [rows, columns], and the names, as objects.

    None if a column is not text, or compiled code does not number it.
    """
    known = [column for column in columns if column is not None]
    if not _ops.available or len(known) < len(columns):
        return None
    ids, first = _ops.ops.name_numbers(
        [column.text for column in known], [column.offsets for column in known],
        torch.get_num_threads(),
    )  # fmt: skip
    if not first.numel() or len(ids) != len(known[0].names):  # or a name holds a NUL
        return None
    row, side = np.divmod(first.numpy(), len(known))
    names = np.empty(first.numel(), object)
    for k, column in enumerate(known):
        names[side == k] = column.take(row[side == k])
    return ids, names


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
