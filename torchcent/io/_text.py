"""Text edge lists: SNAP, KONECT, Network Repository, CSV with or without a header.

One reader, :func:`read_lines`, defines the format and names the line of every error. Compiled code
(``_rows``) reads regular text piece by piece while the file is decompressed, and leaves everything
else to it, so that it never decides whether a file is valid. What is no edge list as it stands may
be that of another program (``_dialects``).
"""

from __future__ import annotations

import contextlib
import math
import warnings
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from torchcent.io import _dialects, _doubts
from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList, number_names, number_vertices, of_arrays
from torchcent.io._files import load_bytes, pieces_of, pieces_of_file, text_bytes, text_lines
from torchcent.io._layout import (
    BLANKS,
    DECIMAL_COMMA,
    INTEGER,
    PLAIN_INTEGER,
    Choice,
    Declared,
    Layout,
    Text,
    declared,
    find_layout,
    first_rows,
    is_number,
    mixed_separators,
    without_comments,
)
from torchcent.io._options import Options
from torchcent.io._rows import BEYOND, Columns, Mixed, integer_of, read_rows
from torchcent.io._tokens import IrregularText, rounded


class _Reading(NamedTuple):
    """What a text holds. The layout is None if it has no rows."""

    columns: Columns
    said: Declared
    text: Text  # its body is not kept
    layout: Layout | None
    remarks: tuple[str, ...] = ()


def read_edges(data: bytes | None, limits: Budget, options: Options) -> EdgeList:
    """Reads a text edge list, the file or the data; see :func:`torchcent.read`."""
    path, reading = limits.path, None
    for names in (False, True) if data is None else ():
        if reading is None:
            with contextlib.suppress(IrregularText):
                reading = _streamed(limits, options, names)
    if reading is None:
        reading = _whole(load_bytes(path, limits) if data is None else data, limits, options)
    columns, header, text, layout, remarks = reading
    if layout is None:
        remarks += _doubts.of_no_rows(text)
    else:
        remarks += layout.remarks + _doubts.of_rows(columns, layout, options.header)
        remarks += _doubts.of_comments(columns, layout, text)
        if not (options.skip or layout.header or header.num_nodes is not None):
            remarks += _doubts.of_counts(columns)
        if options.choice == Choice():
            remarks += _doubts.of_hits(layout)
        if options.directed is None and header.directed is None:
            remarks += _doubts.of_direction(layout)
    for remark in remarks:
        warnings.warn(f"{path}: {remark}", stacklevel=4)
    return edge_list(limits, columns, header, options)


def _streamed(limits: Budget, options: Options, names: bool) -> _Reading:
    """Reads rows piece by piece, without the text of the file in memory as a whole.

    Raises:
        IrregularText: anything that is not regular, errors included. :func:`_whole` finds them.
    """
    path = limits.path
    with contextlib.closing(pieces_of_file(path, limits)) as pieces:
        head, share = next(pieces, (bytearray(), 1.0))
        second = next(pieces, None)
        try:
            data = _skipped(path, text_bytes(path, bytes(head)), options.skip)
            text = without_comments(data, options.marks, options.skip + 1)
            if second and len(first_rows(path, text.body)) < 2:
                raise IrregularText
            _dialects.refuse_others(path, text, options.choice)
            layout = find_layout(path, text, options.choice, options.header)
        except ValueError:
            raise IrregularText from None
        if not names and (options.text_labels or layout.has_names):
            raise IrregularText
        rows = bytearray(_below_header(text.body, layout))
        rest = chain([(rows, share)], [second] if second else [], pieces)
        columns, comments = read_rows(rest, layout, limits, options.marks, names=names)
    text = replace(text, body=b"", below=text.below + comments)
    if not set(layout.doubtful).isdisjoint(columns.names or ()):
        raise IrregularText
    try:
        header = declared(path, text.comments)
    except ValueError:
        raise IrregularText from None
    return _Reading(columns.typed(options.text_labels) if names else columns, header, text, layout)


def _whole(data: bytes, limits: Budget, options: Options) -> _Reading:
    """Reads any text."""
    path = limits.path
    limits.text("edges", data)
    data = _skipped(path, text_bytes(path, data), options.skip)
    text = without_comments(data, options.marks, options.skip + 1)
    header = declared(path, text.comments)
    if not text.body or text.body.isspace():
        none = np.empty(0, np.int64)
        return _Reading(Columns((none, none), None, None), header, text, None)
    _dialects.refuse_others(path, text, options.choice)
    try:
        columns, layout = _table(limits, text, options)
        return _Reading(columns, header, replace(text, body=b""), layout)
    except ValueError:
        for other in _dialects.others(text, options.choice, options.header, options.marks, limits):
            way = replace(options, choice=other.choice, header=other.header)
            with contextlib.suppress(ValueError):
                columns, layout = _table(limits, other.text, way)
                without = replace(other.text, body=b"")
                return _Reading(columns, header, without, layout, other.remarks)
        raise


def _table(limits: Budget, text: Text, options: Options) -> tuple[Columns, Layout]:
    """The columns that are taken, and where they stand."""
    layout = find_layout(limits.path, text, options.choice, options.header)
    columns = _columns(limits, text, layout, options.text_labels)
    if not set(layout.doubtful).isdisjoint(columns.names or ()):
        remark = (
            f"the first row, {' and '.join(map(repr, layout.doubtful))}, is read as an edge, "
            "because its labels occur in other rows; header=True (--header) takes them for the "
            "names of the columns"
        )
        layout = find_layout(limits.path, text, options.choice, False)
        layout.remarks += (remark,)
        columns = _columns(limits, text, layout, options.text_labels)
    return columns, layout


def _skipped(path: str, data: bytes, skip: int) -> bytes:
    """The data without their first ``skip`` lines."""
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


def _columns(limits: Budget, text: Text, layout: Layout, text_labels: bool | None) -> Columns:
    rows = _below_header(text.body, layout)
    with contextlib.suppress(IrregularText):
        return _compiled(rows, layout, text_labels, limits)
    limits.lines(rows)
    columns = read_lines(limits.path, rows, layout, text.number + layout.header, text_labels)
    return replace(columns, rounded=rounded(columns.weight, rows))


def _compiled(rows: bytes, layout: Layout, text_labels: bool | None, limits: Budget) -> Columns:
    """Reads rows without comments; what looks like one is a row."""
    if not (text_labels or layout.has_names):
        with contextlib.suppress(IrregularText):
            return read_rows(pieces_of(rows), layout, limits, "")[0]
    return read_rows(pieces_of(rows), layout, limits, "", names=True)[0].typed(text_labels)


def read_lines(
    path: str, rows: bytes, layout: Layout, number: int = 1, text_labels: bool | None = None
) -> Columns:
    """Reads rows, of which the first has a number, line by line. This defines the format."""
    code: dict[str, int] = {}
    lines: list[int] = []  # where each id was first seen
    codes: list[int] = []
    weights: list[float] = []
    points: set[str] = set()
    for at, line in enumerate(text_lines(path, rows), number):
        if not line.strip(BLANKS):
            continue
        fields = layout.split(line)
        if len(fields) != layout.width:
            plural = "s" if len(fields) > 1 else ""
            raise ValueError(
                f"{path}:{at}: {len(fields)} field{plural} where the lines before have "
                f"{layout.width}: {line.strip()[:60]!r}{mixed_separators(fields, layout.separator)}"
            )
        for label in (fields[layout.source], fields[layout.target]):
            if not label:
                raise ValueError(f"{path}:{at}: a vertex without a name: {line.strip()[:60]!r}")
            if label not in code:
                code[label] = len(lines)
                lines.append(at)
            codes.append(code[label])
        if layout.weight is not None:
            weights.append(_weight(path, at, fields[layout.weight], layout.separator, points))
    weight = None if layout.weight is None else np.array(weights, np.float64)
    names = list(code)
    source, target = np.array(codes, np.int64).reshape(-1, 2).T
    try:
        return Columns((source, target), names, weight).typed(text_labels)
    except Mixed as mixed:
        one, name = names[mixed.integer], names[mixed.name]
        a, b = lines[mixed.integer], lines[mixed.name]
        advice = mixed_separators([name], layout.separator) or (
            "; if some names look like numbers, say text_labels=True (--text-labels)"
        )
        raise ValueError(
            f"{path}:{max(a, b)}: mixed labels: {name!r} (line {b}) is a name, {one} (line {a}) a "
            f"number{advice}"
        ) from None
    except IrregularText:
        label = next(x for x in names if integer_of(x) == BEYOND)
        raise ValueError(
            f"{path}:{lines[code[label]]}: id {label[:40]} is beyond 64 bits; accepted: -2^63 to "
            "2^63 - 1, or text_labels=True (--text-labels) to take ids for names"
        ) from None


def _weight(path: str, at: int, text: str, separator: str, points: set[str]) -> float:
    """The number, with a decimal point or, where no commas separate fields, a decimal comma."""
    number = text
    if separator != "," and DECIMAL_COMMA.fullmatch(text):
        number = text.replace(",", ".")
        points.add(",")
    elif "." in text:
        points.add(".")
    if not is_number(number):
        raise ValueError(f"{path}:{at}: weight {text!r} is not a number")
    if len(points) > 1:
        raise ValueError(f"{path}:{at}: weight {text!r}, but there are decimal points and commas")
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{path}:{at}: weight {text!r} is not finite")
    return value


def edge_list(limits: Budget, columns: Columns, said: Declared, options: Options) -> EdgeList:
    labels: Any
    columns = _with_names(columns, said.vertices, options.text_labels)
    if columns.names is None:
        try:
            also = np.array(list(map(int, said.vertices)), np.int64)
        except (ValueError, OverflowError):
            raise ValueError(f"{limits.path}: a '# vertex' comment without an integer") from None
        numbers, labels, n = number_vertices(
            limits, columns.ends, num_nodes=options.num_nodes, declared=said.num_nodes, also=also,
            one_based=said.one_based,
        )  # fmt: skip
    else:
        names = columns.names
        if said.vertices:
            names = list(dict.fromkeys(names + said.vertices))
        numbers, labels, n = number_names(limits.path, columns.ends, names, options.num_nodes)
    directed = bool(said.directed) if options.directed is None else options.directed
    return of_arrays(numbers, columns.weight, labels, n, directed)


def _with_names(columns: Columns, isolated: list[str], text_labels: bool | None) -> Columns:
    """The same ids as names, if that is what those of the vertices without edges are."""
    if columns.names is not None or not isolated:
        return columns
    integers = INTEGER if text_labels is False else PLAIN_INTEGER
    if all(map(integers.fullmatch, isolated)):
        return columns
    if len(columns.ends[0]) and not all(map(INTEGER.fullmatch, isolated)):
        return columns  # an error
    ids, codes = np.unique(np.concatenate(columns.ends), return_inverse=True)
    source, target = codes.reshape(2, -1)
    return replace(columns, ends=(source, target), names=list(map(str, ids.tolist())))
