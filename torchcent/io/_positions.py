"""Positions of vertices: DIMACS ``.co`` files and tables with columns for the id, x and y."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import replace
from itertools import dropwhile
from typing import Any, NamedTuple

import numpy as np
import torch

from torchcent.check import _positions as check_positions
from torchcent.check._values import shortened
from torchcent.io._arrays import parsing
from torchcent.io._budget import Budget
from torchcent.io._cells import objects
from torchcent.io._edge_list import EdgeList
from torchcent.io._files import COMPRESSIONS, load_bytes, split_suffix, text_bytes, text_lines
from torchcent.io._layout import (
    DECIMAL_COMMA,
    PLAIN_INTEGER,
    is_number,
    separator_of,
    split_blanks,
    split_line,
)
from torchcent.io._options import Options
from torchcent.io._tokens import IrregularText, number_rows
from torchcent.runtime._optional import need

#: names of columns and attributes, in lower case; those of degrees imply WGS 84
_PAIRS = (
    ("x", "y"), ("lon", "lat"), ("lng", "lat"), ("long", "lat"), ("longitude", "latitude"),
    ("easting", "northing"), ("x_coord", "y_coord"), ("xcoord", "ycoord"),
)  # fmt: skip
_IDS = ("id", "node", "vertex", "label", "name", "osmid", "node_id", "vertex_id", "nodeid")
_MICRODEGREES = 1e6


class Table(NamedTuple):
    """The rows of a file of positions."""

    ids: np.ndarray  # [k], int64 or str objects
    positions: np.ndarray  # float64 [k, 2]
    crs: str | None


def with_positions(edges: EdgeList, limits: Budget, options: Options) -> EdgeList:
    """The edges with positions of the file `coordinates`, or of ``name.co`` beside ``name.gr``."""
    path, crs = limits.path, options.crs
    place = options.coordinates or (_beside(path) if edges.positions is None else None)
    if place is not None:
        try:
            return _joined(edges, _read(replace(limits, path=place), crs), place)
        except ValueError as error:
            if options.coordinates is not None:
                raise
            warnings.warn(f"its positions are not taken: {error}", stacklevel=4)
    if crs is not None:
        if edges.positions is None:
            raise ValueError(f"{path}: crs={shortened(crs)}, but there are no coordinates")
        check_positions.crs(crs)
        check_positions.within(path, edges.positions.numpy(), crs)
        return replace(edges, crs=crs)
    return edges


def _beside(path: str) -> str | None:
    suffix, packed = split_suffix(path)
    stem = path[: -len(suffix + packed)] + ".co"
    names = (stem + packed for packed in ("", *COMPRESSIONS))
    return next(filter(os.path.isfile, names), None) if suffix == ".gr" else None


def _read(limits: Budget, crs: str | None) -> Table:
    path = limits.path
    data = load_bytes(path, limits)
    suffix = split_suffix(path)[0]
    if suffix == ".parquet":
        table = _read_parquet(data, crs, limits)
    else:
        limits.text("names", data)
        data = text_bytes(path, data)
        dimacs = re.match(rb"(?:c(?:[ \t][^\n]*)?\n|\s)*p[ \t]+aux\b", data)
        table = (_read_co if suffix == ".co" or dimacs else _read_text)(path, data, crs)
    check_positions.crs(table.crs)
    wrong = np.flatnonzero(~np.isfinite(table.positions).all(1))
    if len(wrong):
        x, y = table.positions[wrong[0]]
        raise ValueError(f"{path}: position ({x:g}, {y:g}) of {table.ids[wrong[0]]} is not finite")
    check_positions.within(path, table.positions, table.crs)
    return table


def _read_co(path: str, data: bytes, crs: str | None) -> Table:
    """DIMACS: ``c`` comments, ``p aux sp co n``, and a line ``v id x y`` per vertex.

    x and y are millionths of a degree, unless they are beyond its range or `crs` is another system.
    """
    rows = re.sub(rb"(?m)^[cp](?:[ \t][^\n]*)?$", b"", data)
    try:
        values, counts = number_rows(re.sub(rb"(?m)^v(?=[ \t])", b" ", rows), np.float64)
        if ((counts != 0) & (counts != 3)).any():
            raise IrregularText
    except IrregularText:
        for number, line in enumerate(text_lines(path, rows), 1):
            fields = line.split()
            fits = len(fields) == 4 and fields[0] == "v" and all(map(is_number, fields[1:]))
            if fields and not fits:
                start = line.strip()[:60]
                raise ValueError(
                    f"{path}:{number}: {start!r} where 'v id x y' is expected"
                ) from None
        raise ValueError(f"{path}: not a text of lines 'v id x y'") from None
    table = values.reshape(-1, 3)
    promised = re.search(rb"(?m)^p[ \t]+aux[ \t]+sp[ \t]+co[ \t]+(\d{1,18})[ \t]*$", data)
    if promised and int(promised[1]) != len(table):
        raise ValueError(
            f"{path}: the line 'p' says {int(promised[1])} vertices, the body has {len(table)}"
        )
    wrong = np.flatnonzero((table[:, 0] != np.rint(table[:, 0])) | (np.abs(table[:, 0]) >= 2.0**53))
    if len(wrong):
        raise ValueError(f"{path}: id {table[wrong[0], 0]:g} is not a whole number")
    ids, positions = table[:, 0].astype(np.int64), table[:, 1:].copy()
    largest = np.abs(positions).max(0, initial=0.0)
    degrees = crs is None or check_positions.is_geographic(check_positions.crs(crs))
    if degrees and (largest <= (180e6, 90e6)).all() and largest.max(initial=0) > 180:
        positions /= _MICRODEGREES
        crs = crs or check_positions.WGS84
    return Table(ids, positions, crs)


def _read_text(path: str, data: bytes, crs: str | None) -> Table:
    """A table with a header that names x and y, or of three columns: id, x, y."""
    lines = enumerate(text_lines(path, data), 1)
    above = dropwhile(lambda x: not x[1].strip() or _is_comment(x[1]), lines)
    numbered = [(number, line) for number, line in above if line.strip()]
    if not numbered:
        raise ValueError(f"{path}: no rows")
    number, first = numbered[0]
    separator = separator_of(first, *(line for _, line in numbered[1:2]))
    if separator == "\t" and all(map(is_number, split_blanks(numbered[-1][1].rstrip("; \t")))):
        separator = ""  # runs of tabs and blanks
    quoted = separator == "\t"
    heads = split_line(first, separator, quoted)
    number_of = _decimal if separator == ";" else float
    if any(is_number(x) or DECIMAL_COMMA.fullmatch(x) for x in heads[1:]):
        columns, degrees, body = (0, 1, 2), False, numbered
        if len([x for x in heads if x]) < 3:
            raise ValueError(f"{path}:{number}: {first.strip()[:60]!r} where id, x, y are expected")
    else:
        columns, degrees = _columns(f"{path}:{number}", heads)
        body = numbered[1:]
    words, places = [], []
    for number, line in body:
        fields = split_line(line, separator, quoted)
        try:
            name, x, y = (fields[at] for at in columns)
            places.append((number_of(x), number_of(y)))
        except (IndexError, ValueError):
            if _is_comment(line):  # others are the names of vertices
                continue
            raise ValueError(
                f"{path}:{number}: {line.strip()[:60]!r} has no id, x and y in columns "
                f"{', '.join(str(at + 1) for at in columns)}"
            ) from None
        words.append(name)
    crs = check_positions.WGS84 if crs is None and degrees else crs
    positions = np.array(places, np.float64).reshape(-1, 2)
    return Table(_ids(words), positions, crs)


def _decimal(text: str) -> float:
    """A number between semicolons, which may have a decimal comma."""
    return float(text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text)


def _is_comment(line: str) -> bool:
    return line.lstrip()[:1] in ("#", "%")


def _columns(where: str, heads: list[str]) -> tuple[tuple[int, int, int], bool]:
    """The columns of the id, x and y, and whether x and y are degrees by their names."""
    names = [head.strip("~ \t").lower() for head in heads]
    for x, y in _PAIRS:
        if x in names and y in names:
            at = names.index(x), names.index(y)
            rest = [k for k in range(len(names)) if k not in at]
            ids = [k for word in _IDS for k in rest if names[k] == word]
            if not rest:
                break
            return ((ids or rest)[0], *at), y in ("lat", "latitude")
    text = ", ".join(map(repr, heads))
    raise ValueError(
        f"{where}: the columns are {text[:200]}; accepted: an id, and x and y, lon and lat, or "
        "longitude and latitude"
    )


def _ids(words: list[Any]) -> np.ndarray:
    """int64 if all are integers that lose no zeros, else str objects."""
    try:
        if not all(isinstance(word, int) or PLAIN_INTEGER.fullmatch(word) for word in words):
            raise ValueError
        return np.array([int(word) for word in words], np.int64)
    except (TypeError, ValueError, OverflowError):
        return objects(map(str, words))


def _read_parquet(data: bytes, crs: str | None, limits: Budget) -> Table:
    path = limits.path
    pa = need("pyarrow", "io", "reading .parquet")
    parquet = need("pyarrow.parquet", "io", "reading .parquet")
    with parsing(path, "a parquet file"):
        file = parquet.ParquetFile(pa.BufferReader(data))
        names, rows = file.schema_arrow.names, file.metadata.num_rows
    limits.allow(400 * rows, f"{rows} rows")
    columns, degrees = _columns(path, names)
    with parsing(path, "a parquet file"):
        ids, *places = (
            file.read(columns=[names[at]]).column(0).to_numpy(zero_copy_only=False)
            for at in columns
        )
    for name, place in zip((names[at] for at in columns[1:]), places, strict=True):
        if place.dtype.kind not in "iuf":
            raise ValueError(f"{path}: column {name!r} holds {place.dtype}; accepted: numbers")
    crs = check_positions.WGS84 if crs is None and degrees else crs
    ids = ids.astype(np.int64) if ids.dtype.kind in "iu" else _ids(ids.tolist())
    return Table(ids, np.stack(places, 1).astype(np.float64), crs)


def _joined(edges: EdgeList, table: Table, path: str) -> EdgeList:
    """Finds the position of each vertex by its label."""
    labels, ids = edges.vertex_labels(), table.ids
    if labels.dtype == object and ids.dtype != object:
        ids = objects(map(str, ids.tolist()))
    elif labels.dtype != object and ids.dtype == object:
        try:  # 007 in the table, where the graph has the number 7
            ids = np.array([int(x) for x in ids.tolist()], np.int64)
        except (ValueError, OverflowError):
            labels = objects(map(str, labels.tolist()))
    distinct, first = np.unique(ids, return_index=True)
    if len(distinct) < len(ids):
        repeated = np.delete(ids, first)[0]
        raise ValueError(f"{path}: id {repeated} has more than one position")
    is_known, positions = np.zeros(len(labels), bool), np.full((len(labels), 2), np.nan)
    if len(distinct) and len(labels):
        place = np.searchsorted(distinct, labels).clip(max=len(distinct) - 1)
        is_known = distinct[place] == labels
        positions[is_known] = table.positions[first[place[is_known]]]
    if len(labels) and not is_known.any():
        raise ValueError(
            f"{path}: none of its {len(ids)} ids, such as {ids[:1].tolist()}, is one of the graph, "
            f"such as {labels[:1].tolist()}"
        )
    if not is_known.all():
        warnings.warn(
            f"{path}: {int((~is_known).sum())} of {len(labels)} vertices have no position there, "
            f"such as {labels[~is_known][0]}",
            stacklevel=5,
        )
    return replace(edges, positions=torch.from_numpy(positions), crs=table.crs)


def of_attributes(nodes: list[dict[Any, Any]], crs: Any) -> tuple[np.ndarray | None, str | None]:
    """Positions [n, 2] and their system, from attributes of nodes or ``graphics`` of GML."""
    for x, y in _PAIRS:
        places = np.full((len(nodes), 2), np.nan)
        for at, node in enumerate(nodes):
            own = node.get("graphics") if isinstance(node.get("graphics"), dict) else {}
            places[at] = [_number(_named(node, key, _named(own, key, None))) for key in (x, y)]
        places[np.isnan(places).any(1)] = np.nan
        if not np.isnan(places).all():
            system = check_positions.WGS84 if y in ("lat", "latitude") else None
            return places, system if crs is None else str(crs)
    return None, None


def _named(node: Any, key: str, default: Any) -> Any:
    for name in (key, key.capitalize(), key.upper()):
        if name in node:
            return node[name]
    return default


def _number(value: Any) -> float:
    """A finite number, also as text; else NaN."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, np.number)):
        return np.nan
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return np.nan
    return number if np.isfinite(number) else np.nan
