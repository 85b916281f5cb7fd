"""File formats of mcl: label input (abc), native matrices, label dictionaries, clusterings."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from torchcent.check import _files as check_files
from torchcent.check import _values as check_values
from torchcent.check._values import dense, shortened
from torchcent.io._budget import Budget
from torchcent.io._doubts import of_first_row
from torchcent.io._edge_list import EdgeList, of_arrays
from torchcent.io._files import (
    encodes,
    load_bytes,
    pieces_of,
    refuse_other_format,
    replacing,
    split_suffix,
    text_bytes,
    text_lines,
)  # fmt: skip
from torchcent.io._layout import BLANKS, INTEGER, Layout, is_number, split_blanks, split_line
from torchcent.io._native import cluster_matrix, clusters_of, is_native, read_matrix
from torchcent.io._options import Options
from torchcent.io._rows import Columns, read_rows
from torchcent.io._tokens import IrregularText, warn_of_rounded

if TYPE_CHECKING:
    from torch import Tensor

_COMMENT = re.compile(rb"^[ ]*#[^\n]*", re.M)


def read_abc(data: bytes, limits: Budget, options: Options) -> EdgeList:
    """Reads ``A B [weight]``, between tabs if the line has any; vertices in order of occurrence."""
    path = limits.path
    limits.text("abc", data)
    rows = _COMMENT.sub(b"", text_bytes(path, data))
    try:
        columns = _regular(rows, limits)
    except IrregularText:
        limits.lines(rows)
        columns = _by_line(path, rows)
    names, weight = columns.names or [], columns.weight
    warn_of_rounded(path, weight, rows)
    for remark in of_first_row(
        columns, "format='edges' (--format edges) with skip=1 leaves it out"
    ):
        warnings.warn(f"{path}: {remark}", stacklevel=4)
    return of_arrays(columns.ends, weight, names, len(names), bool(options.directed))


def _regular(rows: bytes, limits: Budget) -> Columns:
    """Reads a file whose lines all have the same two or three columns by compiled code."""
    rows = rows.strip(b"\n") + b"\n"
    first = rows[: rows.find(b"\n")]
    separator = "\t" if b"\t" in first else ""
    if not separator and b"\t" in rows:  # in a line with tabs, a blank is part of a name
        raise IrregularText
    width = len(first.split(b"\t") if separator else [x for x in first.split(b" ") if x])
    if width not in (2, 3) or not first.strip():  # a line of tabs alone says nothing of columns
        raise IrregularText
    layout = Layout(separator, width, 0, 1, 2 if width == 3 else None, False)
    return read_rows(pieces_of(rows), layout, limits, "", names=True, in_order=True)[0]


def _by_line(path: str, rows: bytes) -> Columns:
    code: dict[str, int] = {}
    codes: list[int] = []
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
        codes += [code.setdefault(x, len(code)) for x in fields[:2]]
        if len(fields) == 3:
            if not is_number(fields[2]) or not math.isfinite(float(fields[2])):
                raise ValueError(f"{path}:{at}: weight {fields[2]!r} is not a finite number")
            weighted = True
        weights.append(float(fields[2]) if len(fields) == 3 else 1.0)
    source, target = np.array(codes, np.int64).reshape(-1, 2).T
    return Columns((source, target), list(code), np.array(weights) if weighted else None)


def read_tab(path: str | os.PathLike[str]) -> dict[int, str]:
    """Reads mcl's dictionary of labels (``-write-tab``): one index, tab and label per line."""
    labels: dict[int, str] = {}
    for at, line in enumerate(text_lines(path, text_bytes(path, load_bytes(path))), 1):
        if not line.strip() or line.startswith("#"):
            continue
        number, _, label = line.partition("\t")
        if not re.fullmatch(" *[0-9]{1,18} *", number) or not label:
            raise ValueError(f"{path}:{at}: no index, tab and label: {line[:60]!r}")
        if labels.setdefault(int(number), label) != label:
            raise ValueError(
                f"{path}:{at}: index {number.strip()} is {label[:60]!r}, but before it was "
                f"{labels[int(number)][:60]!r}"
            )
    return labels


def with_tab(edges: EdgeList, path: str | os.PathLike[str]) -> EdgeList:
    """The edges with the labels of a dictionary for their indices."""
    labels = read_tab(path)
    names = [labels.get(v, str(v)) for v in edges.vertex_labels().tolist()]
    return replace(edges, labels=names)


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
    if format is None:
        refuse_other_format(path, "clusters", (".txt", ".mci"))
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
    """The text of a native matrix of clusters, in pieces."""
    parts = _members(clusters)
    ids = integer_labels(labels)
    if ids is None and num_nodes is None:
        ids = np.arange(max((v for part in parts for v in part), default=-1) + 1)
    elif ids is None:
        ids = np.arange(check_files.count(num_nodes, "n"))
    return cluster_matrix(_members(parts, len(ids)), ids, comment)


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
    """The lines that :func:`write_clusters` writes."""
    names = None if labels is None else [str(x) for x in check_files.sequence(labels, "labels")]
    for name in names or []:
        if not encodes(name):
            raise ValueError(f"labels holds {name!r}, which cannot stand in a file of clusters")
    parts = _members(clusters)
    _members(parts, 2**63 if names is None else len(names))
    rows = [list(map(str, x)) if names is None else [names[v] for v in x] for x in parts]
    quotes = any(_breaks(row, at) for row in rows for at in range(len(row)))
    if quotes:
        yield _QUOTED_NAMES + "\n"
    for row in rows:
        fields = [
            quoted(name) if quotes and (name[:1] == '"' or _breaks(row, at)) else name
            for at, name in enumerate(row)
        ]
        yield "\t".join(fields) + "\n"


def _members(clusters: Any, n: int | None = None) -> list[list[int]]:
    """The vertices of each cluster, below n if that is known."""
    if isinstance(clusters, torch.Tensor):
        dense(clusters, "clusters")
    try:
        parts = list(clusters)
    except TypeError:
        raise TypeError(f"clusters must be a sequence, got {shortened(clusters)}") from None
    for at, cluster in enumerate(parts):
        members = parts[at] = check_files.sequence(cluster, f"clusters[{at}]")
        if not all(isinstance(x, Integral) and not isinstance(x, bool) for x in members):
            raise TypeError(f"clusters[{at}] must hold vertex numbers, got {members!r:.60}")
        if n is not None and members and (min(members) < 0 or max(members) >= n):
            accepted = "0 or more" if n == 2**63 else f"below the {n} of labels"
            wrong = min(members) if min(members) < 0 else max(members)
            raise ValueError(f"clusters[{at}] holds {wrong}; accepted: {accepted}")
    return parts


#: mcl writes names as they are and has no quotes, so that a name may begin with one. A file in
#: which quotes have a meaning therefore begins with a comment that says so.
_QUOTED_NAMES = "# names in double quotes, as in CSV"
_QUOTED_MARK = re.compile(
    rb"(?:\xef\xbb\xbf)?" + _QUOTED_NAMES.encode() + rb"[ \t]*(?:\r\n|\r|\n|\Z)"
)
#: A name in quotes or a word, and what ends it.
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^\t\n]*?))\r?([\t\n]|\Z)')


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _breaks(row: list[str], at: int) -> bool:
    """Whether a name in a line would be read as something else."""
    name = row[at]
    if not name.strip() or any(x in name for x in "\t\n\r\0"):
        return True
    if at == 0 and (name[0] in "#\ufeff" or name.lstrip().startswith("(mclheader")):
        return True
    return len(row) == 1 and name.split() != [name]


def _read_quoted(path: str, data: bytes) -> Iterator[list[str]]:
    """The names of each line, of which some are in quotes and may hold line ends."""
    text = "\n".join(text_lines(path, data.removeprefix(b"\xef\xbb\xbf")))
    row: list[str] = []
    begins, is_comment = True, False
    for field in _FIELD.finditer(text):
        name, word, end = field.groups()
        is_comment = (word or "").startswith("#") if begins else is_comment
        if name is not None and not is_comment:
            row.append(name.replace('""', '"'))
        elif word and not is_comment:
            if word[0] == '"':
                line = text.count("\n", 0, field.start()) + 1
                start = text[field.start() :].partition("\n")[0][:60]
                raise ValueError(f"{path}:{line}: a quote that does not end there: {start!r}")
            row.append(word)
        begins = end != "\t"
        if begins and row:
            yield row
            row = []


def read_clusters(path: str | os.PathLike[str]) -> list[list[str]]:
    """Reads the labels of each cluster from lines or from a native matrix of mcl.

    Lines hold one cluster each, separated by tabs, else by blanks. Names in the quotes of
    :func:`write_clusters` are read as they were. The labels of a matrix are the ids of its rows;
    ``mcxdump -tabr`` or ``torchcent convert --use-tab`` give them names.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file is empty, binary or damaged.
    """
    path = check_files.path(path)
    data = load_bytes(path)
    if is_native(data):
        return clusters_of(read_matrix(data, Budget.of(path)))
    if _QUOTED_MARK.match(data):
        return list(_read_quoted(path, data))
    lines = text_lines(path, text_bytes(path, data))
    return [
        [x for x in (line.split("\t") if "\t" in line else line.split()) if x]
        for line in lines
        if line.strip() and not line.startswith("#")
    ]
