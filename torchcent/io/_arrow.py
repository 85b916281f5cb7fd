"""Edge lists whose ids are of any kind, read with pyarrow if it is installed."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import numpy as np

from torchcent.io._budget import Budget
from torchcent.io._files import is_text
from torchcent.io._ids import BEYOND, PADDED, may_be_padded, of_names
from torchcent.io._layout import BLANKS, INTEGER, Layout
from torchcent.io._rows import Columns
from torchcent.io._tokens import IrregularText

_BEHIND = re.compile(rb'(?:^|[\t,;])[ \t]+"', re.M)
_BEHIND_TAB = re.compile(rb'(?:^|\t) +"', re.M)
#: Most fields in quotes have no quotes within, and are told first.
_OPEN = re.compile(rb'(?:^|\t)"(?![^"\n]*"(?:\t|$))(?!(?:[^"\n]|"")*"(?:\t|$))', re.M)


def _arrow() -> Any:
    """Returns the module pyarrow with its csv reader, or None if it is not installed."""
    try:
        import pyarrow.csv
    except ImportError:
        return None
    return pyarrow


def _read_arrow(
    rows: bytes, layout: Layout, text_labels: bool | None, limits: Budget | None = None
) -> Columns:
    """Reads any labels with pyarrow."""
    pa = _arrow()
    if pa is None:
        raise IrregularText
    separator = layout.separator or ("\t" if b" " not in rows else " ")
    if separator == " ":
        if layout.quoted:
            raise IrregularText
        rows = _single_blanks(rows)
    end = rows.find(b"\n")
    try:
        first = layout.split(rows[: end if end >= 0 else len(rows)].decode())
    except UnicodeDecodeError:
        raise IrregularText from None
    if len(first) != layout.width or not is_text(rows):  # pyarrow does not check these
        raise IrregularText
    ends = (layout.source, layout.target)
    integers = not text_labels and all(INTEGER.fullmatch(first[k]) for k in ends)
    padded = integers and text_labels is None and may_be_padded(rows)
    if integers and not padded:
        with contextlib.suppress(IrregularText):
            table = _parsed(pa, rows, layout, separator, pa.int64())
            source, target = (_numbers(table[f"f{k}"], np.int64) for k in ends)
            return Columns((source, target), None, _weights(table, layout))
    if limits is not None:
        limits.text("names", rows)
    table = _parsed(pa, rows, layout, separator, pa.string())
    weight = _weights(table, layout)
    both = [table[f"f{k}"] for k in ends]
    if padded and (numbers := _plain_integers(pa, both)) is not None:
        return Columns(numbers, None, weight)
    coded = pa.chunked_array([c for x in both for c in x.chunks], pa.string()).dictionary_encode()
    coded = coded.combine_chunks()
    if isinstance(coded, pa.ChunkedArray):  # more than 2 GB of names
        if coded.num_chunks != 1:
            raise IrregularText
        coded = coded.chunk(0)
    names = coded.dictionary.to_pylist()
    if any(
        not x or x != x.strip(BLANKS) or "\n" in x for x in names
    ):  # an unclosed quote: not a single row
        raise IrregularText
    codes = _numbers(pa.chunked_array([coded.indices]), np.int32).astype(np.int64)
    return columns_of_names(codes.reshape(2, -1), names, weight, text_labels)


def _plain_integers(pa: Any, ends: list[Any]) -> tuple[np.ndarray, np.ndarray] | None:
    """The numbers of two columns of text, None if not all are, or one begins with zeros."""
    import pyarrow.compute

    for end in ends:
        if pyarrow.compute.any(pyarrow.compute.match_substring_regex(end, PADDED)).as_py():
            return None
    try:
        source, target = (_numbers(end.cast(pa.int64()), np.int64) for end in ends)
    except pa.ArrowException:
        return None
    return source, target


def columns_of_names(
    codes: np.ndarray, names: list[str], weight: np.ndarray | None, text_labels: bool | None
) -> Columns:
    """The columns of ends that are places in a list of distinct ids.

    Raises:
        IrregularText: some ids are integers and others names, or beyond 64 bits.
    """
    numbers, remark = of_names(names, text_labels)
    if numbers is None:
        return Columns((codes[0], codes[1]), names, weight, remark)
    if BEYOND in numbers:
        raise IrregularText
    ids = np.array(numbers, np.int64)
    return Columns((ids[codes[0]], ids[codes[1]]), None, weight, remark)


def _parsed(pa: Any, rows: bytes, layout: Layout, separator: str, kind: Any) -> Any:
    """The table of the columns that are taken, whose ends are of a kind."""
    types = {f"f{layout.source}": kind, f"f{layout.target}": kind}
    if layout.weight is not None:
        types[f"f{layout.weight}"] = pa.float64()
    quoted = separator in ",;" or layout.quoted
    if quoted and b'"' in rows and _irregular_quotes(rows, separator):
        raise IrregularText
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(rows),
            pa.csv.ReadOptions(column_names=[f"f{k}" for k in range(layout.width)]),
            pa.csv.ParseOptions(delimiter=separator, quote_char='"' if quoted else False),
            pa.csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        raise IrregularText from None
    if b'"' in rows and table.num_rows != _filled_lines(rows):  # a quote that spans lines
        raise IrregularText
    return table


def _irregular_quotes(rows: bytes, separator: str) -> bool:
    """Whether there are quotes that pyarrow takes for others.

    They are those behind blanks, and between tabs those that do not end where the field ends, which
    are part of the field.
    """
    blanks = any(x in rows for x in ((b' "',) if separator == "\t" else (b' "', b'\t"')))
    if blanks and (_BEHIND_TAB if separator == "\t" else _BEHIND).search(rows):
        return True
    return separator == "\t" and _OPEN.search(rows) is not None


def _weights(table: Any, layout: Layout) -> np.ndarray | None:
    if layout.weight is None:
        return None
    weight = _numbers(table[f"f{layout.weight}"], np.float64)
    if not np.isfinite(weight).all():
        raise IrregularText
    return weight


def _numbers(column: Any, dtype: type[np.generic]) -> np.ndarray:
    """The numbers of a column of pyarrow, whose own to_numpy imports pandas (0.3 s)."""
    if column.null_count:
        raise IrregularText
    parts = [
        np.frombuffer(x.buffers()[1], dtype, len(x), x.offset * np.dtype(dtype).itemsize)
        for x in column.chunks
        if len(x)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def _single_blanks(rows: bytes) -> bytes:
    """Separates fields by one blank and strips blanks at both ends of each line."""
    rows = rows.replace(b"\t", b" ")
    while b"  " in rows:
        rows = rows.replace(b"  ", b" ")
    return rows.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def _filled_lines(rows: bytes) -> int:
    """The number of lines that are not empty."""
    ends = np.flatnonzero(np.frombuffer(rows, np.uint8) == 10)
    ends = np.concatenate([[-1], ends, [len(rows)]])
    return int(np.count_nonzero(np.diff(ends) > 1))
