"""Text edge lists: SNAP, KONECT, Network Repository, CSV with or without a header.

One reader, :func:`read_lines`, defines the format and names the line of every error. Two fast
readers (numpy for numbers, pyarrow, if installed, for anything) handle regular input. They leave
everything else to :func:`read_lines`, so that they never decide whether a file is valid.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList, number_names, number_vertices
from torchcent.io._files import is_text, text_bytes, text_lines
from torchcent.io._layout import (
    BLANKS,
    INTEGER,
    Declared,
    Layout,
    declared,
    find_layout,
    is_number,
    split_line,
    without_comments,
)
from torchcent.io._tokens import IrregularText, integer_columns, number_rows


@dataclass
class Columns:
    """Three columns; the ids are int64 or positions in ``names``."""

    ids: np.ndarray
    names: list[str] | None
    weight: np.ndarray | None


def read_edges(
    path: str,
    data: bytes,
    limits: Budget,
    *,
    directed: bool | None = None,
    num_nodes: int | None = None,
    skip: int = 0,
    text_labels: bool = False,
) -> EdgeList:
    """Reads a text edge list; see :func:`torchcent.read`."""
    limits.text("edges", data)
    data = _skipped(path, text_bytes(path, data), skip)
    said = declared(path, data)
    body, number = without_comments(data)
    number += skip
    if not body or body.isspace():
        columns = Columns(np.empty((2, 0), np.int64), None, None)
    else:
        layout = find_layout(path, body, number)
        if text_labels or layout.has_names:
            limits.text("names", data)
        columns = _columns(path, body, layout, number, text_labels, limits)
        if not (skip or layout.header or said.num_nodes is not None):
            _warn_of_counts(path, columns)
    return _edge_list(path, columns, said, directed, num_nodes, limits)


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


def _columns(
    path: str, body: bytes, layout: Layout, number: int, text_labels: bool, limits: Budget
) -> Columns:
    start = body.find(b"\n") + 1 if layout.header else 0
    rows = body[start:] if start or not layout.header else b""
    for fast in (_read_numbers, _read_arrow):
        try:
            return fast(rows, layout, text_labels)
        except IrregularText:
            continue
    limits.lines(rows)
    return read_lines(path, rows, layout, number + layout.header, text_labels)


def _arrow() -> Any:
    """Returns the module pyarrow with its csv reader, or None if it is not installed."""
    try:
        import pyarrow.csv
    except ImportError:
        return None
    return pyarrow


def _read_numbers(rows: bytes, layout: Layout, text_labels: bool) -> Columns:
    """Reads integer ids and numeric weights with numpy."""
    if text_labels or (layout.width > 2 and _arrow()):  # pyarrow parses real numbers faster
        raise IrregularText
    separator = layout.separator.encode()
    separators = 0
    if separator:
        if any(x in rows and x != separator for x in (b" ", b"\t")):
            raise IrregularText
        separators = rows.count(separator)
        rows = rows.replace(separator, b" ")
    plain = layout.width == 2
    values, counts = number_rows(rows, np.int64 if plain else np.float64)
    if ((counts != layout.width) & (counts != 0)).any():
        raise IrregularText
    if separator and separators != (layout.width - 1) * np.count_nonzero(counts):
        raise IrregularText  # an empty field
    if not plain and not integer_columns(rows, layout.width, (layout.source, layout.target)):
        raise IrregularText
    table = values.reshape(-1, layout.width)
    ids = np.ascontiguousarray(table[:, [layout.source, layout.target]].T).astype(np.int64)
    weight = None if layout.weight is None else table[:, layout.weight].copy()
    return Columns(ids, None, _finite(weight))


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
    weight = None if layout.weight is None else table[f"f{layout.weight}"].to_numpy()
    both = [table[f"f{k}"] for k in ends]
    if integers:
        return Columns(np.stack([x.to_numpy() for x in both]), None, _finite(weight))
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
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Columns(codes.reshape(2, -1), names, _finite(weight))


def _single_blanks(rows: bytes) -> bytes:
    """Separates fields by one blank and strips blanks at both ends of each line."""
    rows = rows.replace(b"\t", b" ")
    while b"  " in rows:
        rows = rows.replace(b"  ", b" ")
    return rows.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


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
                f"{layout.width}: {line.strip()[:60]!r}"
            )
        ends = (fields[layout.source], fields[layout.target])
        for label in ends:
            if not label:
                raise ValueError(f"{path}:{at}: a vertex without a name: {line.strip()[:60]!r}")
            if not text_labels:
                first_of.setdefault(INTEGER.fullmatch(label) is not None, (at, label))
                if len(first_of) == 2:
                    (a, one), (b, name) = first_of[True], first_of[False]
                    raise ValueError(
                        f"{path}:{at}: mixed labels: {name!r} (line {b}) is a name, {one} "
                        f"(line {a}) a number; if some names look like numbers, say "
                        "text_labels=True (--text-labels)"
                    )
        sources.append(ends[0])
        targets.append(ends[1])
        if layout.weight is not None:
            weights.append(_weight(path, at, fields[layout.weight]))
    weight = None if layout.weight is None else np.array(weights, np.float64)
    if not text_labels and False not in first_of:
        try:
            ids = np.array([list(map(int, sources)), list(map(int, targets))], np.int64)
            return Columns(ids.reshape(2, -1), None, weight)
        except (OverflowError, ValueError):  # too large for int64 or int(): not numbers
            pass
    code: dict[str, int] = {}
    codes = [code.setdefault(x, len(code)) for x in sources + targets]
    return Columns(np.array(codes, np.int64).reshape(2, -1), list(code), weight)


def _weight(path: str, at: int, text: str) -> float:
    if not is_number(text):
        raise ValueError(f"{path}:{at}: weight {text!r} is not a number")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{path}:{at}: weight {text!r} is not finite")
    return value


def _warn_of_counts(path: str, columns: Columns) -> None:
    """Warns if the first row looks like the numbers of vertices and edges, not like an edge."""
    ids = columns.ids
    if columns.names is not None or ids.shape[1] < 3 or ids[1, 0] != ids.shape[1] - 1:
        return
    rest = ids[:, 1:]
    if ids[0, 0] in (rest.max(), rest.max() + 1) or ids[0, 0] == len(np.unique(rest)):
        warnings.warn(
            f"{path}: the first row, {ids[0, 0]} {ids[1, 0]}, was read as an edge, but looks like "
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
    names_only = not columns.ids.size and not all(map(INTEGER.fullmatch, said.vertices))
    if columns.names is None and not names_only:
        try:
            also = np.array(list(map(int, said.vertices)), np.int64)
        except (ValueError, OverflowError):
            raise ValueError(f"{path}: a '# vertex' comment without an integer") from None
        numbers, labels, n = number_vertices(
            limits,
            columns.ids,
            num_nodes=num_nodes,
            declared=said.num_nodes,
            also=also,
            one_based=said.one_based,
        )
    else:
        names = list(dict.fromkeys((columns.names or []) + said.vertices))
        numbers, labels, n = number_names(path, columns.ids, names, num_nodes)
    if directed is None:
        directed = bool(said.directed)
    weight = None if columns.weight is None else torch.from_numpy(np.array(columns.weight))
    return EdgeList(torch.from_numpy(np.array(numbers)), weight, labels, n, directed)
