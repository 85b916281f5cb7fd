"""File formats of mcl: label input (abc), native matrices, label dictionaries, clusterings."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from torchcent.check import _files as check_files
from torchcent.check import _values as check_values
from torchcent.check._values import dense, shortened
from torchcent.io import _rounding
from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList
from torchcent.io._files import (
    encodes,
    load_bytes,
    replacing,
    split_suffix,
    text_bytes,
    text_lines,
)  # fmt: skip
from torchcent.io._layout import BLANKS, INTEGER, Layout, is_number, split_blanks, split_line
from torchcent.io._native import cluster_matrix, clusters_of, is_native, read_matrix
from torchcent.io._quoted import is_quoted, quoted_lines, read_quoted
from torchcent.io._text import _read_arrow
from torchcent.io._tokens import IrregularText

if TYPE_CHECKING:
    from torch import Tensor

_SMALL = 1 << 16  # bytes

_COMMENT = re.compile(rb"^[ ]*#[^\n]*", re.M)


def read_abc(
    path: str, data: bytes, directed: bool | None, num_nodes: int | None, limits: Budget
) -> EdgeList:
    """Reads lines ``A B [weight]``, separated by tabs if the line has any, otherwise by blanks.

    Names are names even if they look like numbers. Vertices are numbered by first occurrence, as in
    mcl. A missing weight is 1. The graph is undirected by default.
    """
    limits.text("abc", data)
    data = text_bytes(path, data)
    rows = _COMMENT.sub(b"", data)
    try:
        if len(rows) < _SMALL:  # faster than to load the fast reader
            raise IrregularText
        source, target, weight, names = _regular(rows)
    except IrregularText:
        limits.lines(rows)
        source, target, weight, names = _by_line(path, rows)
    if num_nodes is not None and num_nodes != len(names):
        raise ValueError(f"{path}: num_nodes={num_nodes}, but the file names {len(names)} vertices")
    for remark in _rounding.remarks(_rounding.rounded(weight, rows)):
        warnings.warn(f"{path}: {remark}", stacklevel=5)
    index = torch.from_numpy(np.stack([source, target]))
    weights = None if weight is None else torch.from_numpy(np.array(weight))
    return EdgeList(index, weights, names, len(names), bool(directed))


_Parts = tuple[np.ndarray, np.ndarray, "np.ndarray | None", "list[str]"]


def _regular(rows: bytes) -> _Parts:
    """Reads a file whose lines all have the same two or three columns with the fast reader."""
    rows = rows.strip(b"\n") + b"\n"
    first = rows[: rows.find(b"\n")]
    separator = "\t" if b"\t" in first else ""
    if not separator and b"\t" in rows:  # in a line with tabs, a blank is part of a name
        raise IrregularText
    width = len(first.split(b"\t") if separator else [x for x in first.split(b" ") if x])
    if width not in (2, 3):
        raise IrregularText
    layout = Layout(separator, width, 0, 1, 2 if width == 3 else None, False)
    columns = _read_arrow(rows, layout, text_labels=True)
    assert columns.names is not None
    seen, first_at = np.unique(np.stack(columns.ends, axis=1).ravel(), return_index=True)
    order = seen[np.argsort(first_at)]
    number = np.empty(len(columns.names), np.int64)
    number[order] = np.arange(len(order))
    source, target = (number[x] for x in columns.ends)
    return source, target, columns.weight, [columns.names[k] for k in order]


def _by_line(path: str, rows: bytes) -> _Parts:
    code: dict[str, int] = {}
    ends: list[tuple[int, int]] = []
    weights: list[float] = []
    weighted = False
    for at, line in enumerate(text_lines(path, rows), 1):
        if not line.strip(BLANKS):
            continue
        fields = split_line(line, "\t") if "\t" in line else split_blanks(line)
        if len(fields) not in (2, 3) or not all(fields):
            raise ValueError(
                f"{path}:{at}: {len(fields)} fields; abc has 'A B' or 'A B weight': "
                f"{line.strip()[:60]!r}"
            )
        source, target = (code.setdefault(x, len(code)) for x in fields[:2])
        ends.append((source, target))
        if len(fields) == 3:
            if not is_number(fields[2]) or not math.isfinite(float(fields[2])):
                raise ValueError(f"{path}:{at}: weight {fields[2]!r} is not a finite number")
            weighted = True
        weights.append(float(fields[2]) if len(fields) == 3 else 1.0)
    index = np.array(ends, np.int64).reshape(-1, 2).T
    return index[0], index[1], np.array(weights) if weighted else None, list(code)


def read_tab(path: str | os.PathLike[str]) -> dict[int, str]:
    """Reads mcl's dictionary of labels (``-write-tab``): one index, tab and label per line."""
    known: dict[int, str] = {}
    for at, line in enumerate(text_lines(path, text_bytes(path, load_bytes(path))), 1):
        if not line.strip() or line.startswith("#"):
            continue
        number, _, label = line.partition("\t")
        if not re.fullmatch(" *[0-9]{1,18} *", number) or not label:
            raise ValueError(f"{path}:{at}: no index, tab and label: {line[:60]!r}")
        if known.setdefault(int(number), label) != label:
            raise ValueError(
                f"{path}:{at}: index {number.strip()} is {label[:60]!r}, but before it was "
                f"{known[int(number)][:60]!r}"
            )
    return known


def write_clusters(
    path: str | os.PathLike[str],
    clusters: Iterable[Tensor | Sequence[int]],
    labels: Sequence[Any] | np.ndarray | None = None,
    *,
    format: str | None = None,
    num_nodes: int | None = None,
    comment: str = "",
) -> None:
    """Writes clusters as ``mcl`` does: a line of labels per cluster, or a native matrix.

    Names that a line would not hold, such as one with a tab, or with a blank where it is alone,
    stand in double quotes, as in CSV. The first line of the file then is a comment that says so;
    all other files are those of ``mcl``, byte for byte.

    Args:
        path: the file; the suffixes ``.gz``, ``.bz2`` and ``.xz`` compress.
        clusters: the vertices of each cluster, such as ``Clustering.clusters()``.
        labels: names ``[num_nodes]``; None means the vertex numbers.
        format: "lines" for one cluster per line, its members separated by tabs, as ``mcl --abc``
            writes it; "mci" for a native matrix with a column per cluster and a row per vertex,
            which ``mcxdump``, ``clm info`` and ``clm dist`` read. Its ids are integers, so that
            labels must be. None means "mci" if the path ends in .mci, otherwise "lines".
        num_nodes: number of rows of a matrix; by default that of the labels, or the largest vertex
            + 1.
        comment: first line of a matrix, without its ``#``.

    Raises:
        TypeError, ValueError: a member is not a vertex or has no label, a label is not valid text,
            or is no integer where the format is "mci".

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name) / "clusters.txt"
        >>> write_clusters(path, [[0, 2], [1]], ["Ada", "Bob", "Cleo"])
        >>> print(path.read_text(), end="")
        Ada	Cleo
        Bob
        >>> read_clusters(path)
        [['Ada', 'Cleo'], ['Bob']]
        >>> write_clusters(path, [[0, 2], [1]], format="mci")
        >>> read_clusters(path)
        [['0', '2'], ['1']]
        >>> folder.cleanup()
    """
    path = check_files.path(path)
    if format is not None:
        check_values.choice(format, "format", ("lines", "mci"))
    if format == "mci" or (format is None and split_suffix(path)[0] == ".mci"):
        lines = matrix_lines(clusters, labels, num_nodes, comment)
    else:
        lines = cluster_lines(clusters, labels)
    with replacing(path) as file:
        for line in lines:
            file.write(line.encode())


def matrix_lines(
    clusters: Iterable[Tensor | Sequence[int]],
    labels: Sequence[Any] | np.ndarray | None = None,
    num_nodes: int | None = None,
    comment: str = "",
) -> Iterable[str]:
    """Returns the text of a native matrix of clusters, in pieces."""
    members = [_members(cluster, at) for at, cluster in enumerate(_clusters(clusters))]
    largest = max((v for part in members for v in part), default=-1)
    ids = integer_labels(labels)
    if ids is None:
        ids = np.arange(largest + 1 if num_nodes is None else check_files.count(num_nodes, "n"))
    _check_members(members, len(ids))
    return cluster_matrix(members, ids, comment)


def integer_labels(labels: Sequence[Any] | np.ndarray | None) -> np.ndarray | None:
    """The labels as ids of a matrix."""
    if labels is None:
        return None
    names = check_files.sequence(labels, "labels")
    wrong = next((x for x in names if not INTEGER.fullmatch(str(x)) or int(x) < 0), None)
    if wrong is not None:
        raise ValueError(
            f"labels holds {wrong!r}; vertices of a matrix are integers >= 0: write lines, or use "
            "mcl's dictionaries of labels (--use-tab)"
        )
    return np.array(names, np.int64).reshape(-1)


def cluster_lines(
    clusters: Iterable[Tensor | Sequence[int]], labels: Sequence[Any] | np.ndarray | None = None
) -> Iterable[str]:
    """Returns the lines that :func:`write_clusters` writes."""
    names = None if labels is None else [str(x) for x in check_files.sequence(labels, "labels")]
    for name in names or []:
        if not encodes(name):
            raise ValueError(f"labels holds {name!r}, which cannot stand in a file of clusters")
    parts = [_members(cluster, at) for at, cluster in enumerate(_clusters(clusters))]
    _check_members(parts, None if names is None else len(names))
    yield from quoted_lines(
        [list(map(str, x)) if names is None else [names[v] for v in x] for x in parts]
    )


def _check_members(clusters: list[list[int]], n: int | None) -> None:
    for at, members in enumerate(clusters):
        if members and (min(members) < 0 or (n is not None and max(members) >= n)):
            accepted = "0 or more" if n is None else f"below the {n} of labels"
            wrong = min(members) if min(members) < 0 else max(members)
            raise ValueError(f"clusters[{at}] holds {wrong}; accepted: {accepted}")


def _clusters(clusters: Any) -> list[Any]:
    if isinstance(clusters, torch.Tensor):
        dense(clusters, "clusters")
    try:
        return list(clusters)
    except TypeError:
        raise TypeError(f"clusters must be a sequence, got {shortened(clusters)}") from None


def _members(cluster: Any, at: int) -> list[int]:
    members = check_files.sequence(cluster, f"clusters[{at}]")
    if not all(isinstance(x, Integral) and not isinstance(x, bool) for x in members):
        raise TypeError(f"clusters[{at}] must hold vertex numbers, got {members!r:.60}")
    return members


def read_clusters(path: str | os.PathLike[str]) -> list[list[str]]:
    """Reads the labels of each cluster from lines or from a native matrix of mcl.

    Lines hold one cluster each, separated by tabs, else by blanks. Names in the quotes of
    :func:`write_clusters` are read as they were. The labels of a matrix are the ids of its rows;
    ``mcxdump -tabr`` or ``torchcent convert --use-tab`` give them names.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file is empty, binary or damaged.
    """
    data = load_bytes(path)
    if is_native(data):
        return clusters_of(read_matrix(str(path), data, Budget.of(str(path))))
    if is_quoted(data):
        return read_quoted(path, data)
    lines = text_lines(path, text_bytes(path, data))
    return [
        [x for x in (line.split("\t") if "\t" in line else line.split()) if x]
        for line in lines
        if line.strip() and not line.startswith("#")
    ]
