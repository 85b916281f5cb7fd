"""Text edge lists: SNAP, KONECT, Network Repository, CSV with or without a header.

One reader, :func:`read_lines`, defines the format and names the line of every error. Two fast
readers handle regular input: compiled code rows of numbers (``_rows``), which it reads piece by
piece while the file is decompressed, and pyarrow, if installed, anything. They leave everything
else to :func:`read_lines`, so that they never decide whether a file is valid.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from itertools import chain
from typing import Any

import numpy as np
import torch

from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList, distinct_ids, number_names, number_vertices
from torchcent.io._files import is_text, load_bytes, text_bytes, text_lines
from torchcent.io._layout import (
    BLANKS,
    INTEGER,
    Choice,
    Declared,
    Layout,
    comment_lines,
    declared,
    find_layout,
    first_rows,
    is_number,
    mixed_separators,
    split_line,
    without_comments,
)
from torchcent.io._rows import Columns, read_rows
from torchcent.io._stream import pieces_of, pieces_of_file
from torchcent.io._tokens import IrregularText


def read_edges(
    path: str,
    limits: Budget,
    *,
    directed: bool | None = None,
    num_nodes: int | None = None,
    skip: int = 0,
    text_labels: bool = False,
    choice: Choice | None = None,
    data: bytes | None = None,
) -> EdgeList:
    """Reads a text edge list, the file or the data; see :func:`torchcent.read`."""
    choice = choice or Choice()
    found = None
    if data is None:
        with contextlib.suppress(IrregularText):
            found = _streamed(path, limits, skip, text_labels, choice)
    if found is None:
        data = load_bytes(path, limits) if data is None else data
        found = _whole(path, data, limits, skip, text_labels, choice)
    columns, said, layout = found
    if layout and not (skip or layout.header or said.num_nodes is not None):
        _warn_of_counts(path, columns)
    if layout and layout.left is not None:
        warnings.warn(
            f"{path}: column {layout.left!r} holds numbers, but is not taken; "
            f"weight_column={layout.left!r} (--weight-column) takes it for weights",
            stacklevel=3,
        )
    return _edge_list(path, columns, said, directed, num_nodes, limits)


_Found = tuple[Columns, Declared, Layout | None]


def _streamed(path: str, limits: Budget, skip: int, text_labels: bool, choice: Choice) -> _Found:
    """Reads rows of numbers piece by piece, without the text of the file in memory as a whole.

    Raises:
        IrregularText: anything that is not regular, errors included. :func:`_whole` finds them.
    """
    if text_labels:
        raise IrregularText
    with contextlib.closing(pieces_of_file(path, limits)) as pieces:
        head, share = next(pieces, (bytearray(), 1.0))
        second = next(pieces, None)
        try:
            data = _skipped(path, text_bytes(path, bytes(head)), skip)
            body, number = without_comments(data)
            if second and len(first_rows(path, body)) < 2:
                raise IrregularText
            layout = find_layout(path, body, number + skip, choice)
        except ValueError:
            raise IrregularText from None
        if layout.has_names:
            raise IrregularText
        rows = _below_header(body, layout)
        rest = chain([(bytearray(rows), share)], [second] if second else [], pieces)
        columns, comments = read_rows(rest, layout, limits)
    try:
        return columns, declared(path, comment_lines(data) + comments), layout
    except ValueError:
        raise IrregularText from None


def _whole(
    path: str, data: bytes, limits: Budget, skip: int, text_labels: bool, choice: Choice
) -> _Found:
    """Reads any text."""
    limits.text("edges", data)
    data = _skipped(path, text_bytes(path, data), skip)
    said = declared(path, comment_lines(data))
    body, number = without_comments(data)
    number += skip
    if not body or body.isspace():
        none = np.empty(0, np.int64)
        return Columns((none, none), None, None), said, None
    layout = find_layout(path, body, number, choice)
    if text_labels or layout.has_names:
        limits.text("names", data)
    return _columns(path, body, layout, number, text_labels, limits), said, layout


def _skipped(path: str, data: bytes, skip: int) -> bytes:
    """Returns ``data`` without its first ``skip`` lines."""
    start = 0
    for passed in range(skip):
        if start == len(data):
            lines = f"{passed} line{'s' * (passed != 1)}"
            raise ValueError(f"{path}: skip={skip}, but the file has {lines}")
        end = data.find(b"\n", start)
        start = len(data) if end < 0 else end + 1
    return data[start:] if start else data


def _below_header(body: bytes, layout: Layout) -> bytes:
    """The rows below the header."""
    end = body.find(b"\n") + 1 if layout.header else 0
    return body[end:] if end or not layout.header else b""


def _columns(
    path: str, body: bytes, layout: Layout, number: int, text_labels: bool, limits: Budget
) -> Columns:
    rows = _below_header(body, layout)
    try:
        return _read_numbers(rows, layout, text_labels, limits)
    except IrregularText:
        pass
    try:
        return _read_arrow(rows, layout, text_labels)
    except IrregularText:
        limits.lines(rows)
        return read_lines(path, rows, layout, number + layout.header, text_labels)


def _read_numbers(rows: bytes, layout: Layout, text_labels: bool, limits: Budget) -> Columns:
    """Reads integer ids and numeric weights with compiled code."""
    if text_labels or layout.has_names:
        raise IrregularText
    return read_rows(pieces_of(rows), layout, limits)[0]


def _arrow() -> Any:
    """Returns the module pyarrow with its csv reader, or None if it is not installed."""
    try:
        import pyarrow.csv
    except ImportError:
        return None
    return pyarrow


def _read_arrow(rows: bytes, layout: Layout, text_labels: bool) -> Columns:
    """Reads any labels with pyarrow."""
    pa = _arrow()
    if pa is None:
        raise IrregularText
    separator = layout.separator or ("\t" if b" " not in rows else " ")
    if separator == " ":
        rows = _single_blanks(rows)
    end = rows.find(b"\n")
    try:
        first = split_line(rows[: end if end >= 0 else len(rows)].decode(), layout.separator)
    except UnicodeDecodeError:
        raise IrregularText from None
    ends = (layout.source, layout.target)
    if len(first) != layout.width or not is_text(rows):  # pyarrow does not check these
        raise IrregularText
    integers = not text_labels and all(INTEGER.fullmatch(first[k]) for k in ends)
    types = dict.fromkeys((f"f{k}" for k in ends), pa.int64() if integers else pa.string())
    if layout.weight is not None:
        types[f"f{layout.weight}"] = pa.float64()
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(rows),
            pa.csv.ReadOptions(column_names=[f"f{k}" for k in range(layout.width)]),
            pa.csv.ParseOptions(
                delimiter=separator, quote_char='"' if separator in ",;" else False
            ),
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
    weight = None if layout.weight is None else _numbers(table[f"f{layout.weight}"], np.float64)
    both = [table[f"f{k}"] for k in ends]
    if integers:
        source, target = (_numbers(x, np.int64) for x in both)
        return Columns((source, target), None, _finite(weight))
    coded = pa.chunked_array([c for x in both for c in x.chunks], pa.string()).dictionary_encode()
    coded = coded.combine_chunks()
    if isinstance(coded, pa.ChunkedArray):  # more than 2 GB of names
        if coded.num_chunks != 1:
            raise IrregularText
        coded = coded.chunk(0)
    names = coded.dictionary.to_pylist()
    numeric = sum(INTEGER.fullmatch(x) is not None for x in names)
    if any(
        not x or x != x.strip(BLANKS) or "\n" in x for x in names
    ):  # an unclosed quote: not a single row
        raise IrregularText
    if numeric and not text_labels:
        raise IrregularText
    codes = _numbers(pa.chunked_array([coded.indices]), np.int32).astype(np.int64)
    source, target = codes.reshape(2, -1)
    return Columns((source, target), names, _finite(weight))


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


def _finite(weight: np.ndarray | None) -> np.ndarray | None:
    if weight is not None and not np.isfinite(weight).all():
        raise IrregularText
    return weight


def read_lines(
    path: str, rows: bytes, layout: Layout, number: int = 1, text_labels: bool = False
) -> Columns:
    """Reads line by line. This reader defines the format.

    Args:
        path: the file, for messages.
        rows: the text below the header, without comments.
        layout: how a line is split.
        number: the line number of the first of these lines in the file.
        text_labels: treat ids as names even if they look like numbers.

    Raises:
        ValueError: a line is invalid; the message names the file and the line.
    """
    sources: list[str] = []
    targets: list[str] = []
    weights: list[float] = []
    first_of: dict[bool, tuple[int, str]] = {}  # is it a number -> where first seen
    for at, line in enumerate(text_lines(path, rows), number):
        if not line.strip(BLANKS):
            continue
        fields = split_line(line, layout.separator)
        if len(fields) != layout.width:
            plural = "s" if len(fields) > 1 else ""
            raise ValueError(
                f"{path}:{at}: {len(fields)} field{plural} where the lines before have "
                f"{layout.width}: {line.strip()[:60]!r}{mixed_separators(fields, layout.separator)}"
            )
        ends = (fields[layout.source], fields[layout.target])
        for label in ends:
            if not label:
                raise ValueError(f"{path}:{at}: a vertex without a name: {line.strip()[:60]!r}")
            if not text_labels:
                integer = INTEGER.fullmatch(label) is not None
                if integer and len(label) > 18 and _id(label) == 2**63:
                    raise ValueError(
                        f"{path}:{at}: id {label[:40]} is beyond 64 bits; accepted: -2^63 to "
                        "2^63 - 1, or text_labels=True (--text-labels) to take ids for names"
                    )
                first_of.setdefault(integer, (at, label))
                if len(first_of) == 2:
                    (a, one), (b, name) = first_of[True], first_of[False]
                    advice = mixed_separators([name], layout.separator) or (
                        "; if some names look like numbers, say text_labels=True (--text-labels)"
                    )
                    raise ValueError(
                        f"{path}:{at}: mixed labels: {name!r} (line {b}) is a name, {one} "
                        f"(line {a}) a number{advice}"
                    )
        sources.append(ends[0])
        targets.append(ends[1])
        if layout.weight is not None:
            weights.append(_weight(path, at, fields[layout.weight]))
    weight = None if layout.weight is None else np.array(weights, np.float64)
    if not text_labels and False not in first_of:
        ids = (np.array(list(map(_id, end)), np.int64) for end in (sources, targets))
        return Columns((next(ids), next(ids)), None, weight)
    code: dict[str, int] = {}
    codes = [code.setdefault(x, len(code)) for x in sources + targets]
    source, target = np.array(codes, np.int64).reshape(2, -1)
    return Columns((source, target), list(code), weight)


def _id(digits: str) -> int:
    """The number, or 2^63 if it is beyond 64 bits; int() takes a few thousand digits at most."""
    plain = digits.lstrip("-").lstrip("0") or "0"
    number = int(plain) if len(plain) <= 19 else 2**64
    number = -number if digits.startswith("-") else number
    return number if -(2**63) <= number < 2**63 else 2**63


def _weight(path: str, at: int, text: str) -> float:
    if not is_number(text):
        raise ValueError(f"{path}:{at}: weight {text!r} is not a number")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{path}:{at}: weight {text!r} is not finite")
    return value


def _warn_of_counts(path: str, columns: Columns) -> None:
    """Warns if the first row looks like the numbers of vertices and edges, not like an edge."""
    source, target = columns.ends
    if columns.names is not None or len(source) < 3 or target[0] != len(target) - 1:
        return
    rest = (source[1:], target[1:])
    largest = max(x.max() for x in rest)
    if source[0] in (largest, largest + 1) or source[0] == len(distinct_ids(*rest)):
        warnings.warn(
            f"{path}: the first row, {source[0]} {target[0]}, was read as an edge, but looks like "
            "the numbers of vertices and edges; if so, say skip=1 (--skip 1)",
            stacklevel=4,
        )


def _edge_list(
    path: str,
    columns: Columns,
    said: Declared,
    directed: bool | None,
    num_nodes: int | None,
    limits: Budget,
) -> EdgeList:
    labels: np.ndarray | None
    names_only = not len(columns.ends[0]) and not all(map(INTEGER.fullmatch, said.vertices))
    if columns.names is None and not names_only:
        try:
            also = np.array(list(map(int, said.vertices)), np.int64)
        except (ValueError, OverflowError):
            raise ValueError(f"{path}: a '# vertex' comment without an integer") from None
        numbers, labels, n = number_vertices(
            limits,
            columns.ends,
            num_nodes=num_nodes,
            declared=said.num_nodes,
            also=also,
            one_based=said.one_based,
        )
    else:
        names = list(dict.fromkeys((columns.names or []) + said.vertices))
        numbers, labels, n = number_names(path, columns.ends, names, num_nodes)
    if directed is None:
        directed = bool(said.directed)
    weight = columns.weight
    weights = None if weight is None else torch.from_numpy(np.require(weight, requirements="W"))
    return EdgeList(numbers, weights, labels, n, directed)
