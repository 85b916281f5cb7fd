"""File formats of mcl: label input (abc), native matrices, label dictionaries, clusterings."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from torchcent.check import _files as check_files
from torchcent.check._values import dense, shortened
from torchcent.io._budget import Budget
from torchcent.io._directions import both_directions
from torchcent.io._edge_list import EdgeList
from torchcent.io._files import encodes, load_bytes, replacing, text_bytes, text_lines
from torchcent.io._layout import BLANKS, INTEGER, Layout, is_number, split_blanks, split_line
from torchcent.io._text import _read_arrow
from torchcent.io._tokens import IrregularText

if TYPE_CHECKING:
    from torch import Tensor

_COMMENT = re.compile(rb"^[ ]*#[^\n]*", re.M)
_SECTION = re.compile(r"\((mclheader|mclcols|mclrows|mcldoms|mclmatrix)\b([^()]*)\)")


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
        source, target, weight, names = _regular(rows)
    except IrregularText:
        limits.lines(rows)
        source, target, weight, names = _by_line(path, rows)
    if num_nodes is not None and num_nodes != len(names):
        raise ValueError(f"{path}: num_nodes={num_nodes}, but the file names {len(names)} vertices")
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


def read_mci(path: str, data: bytes, directed: bool | None, limits: Budget) -> EdgeList:
    """Reads mcl's native matrix: entry i of a vector ``j i:value ... $`` is the arc j -> i.

    The labels are the ids of the file's domain: 0..n-1 unless ``mclcols`` declares others. By
    default, the graph is undirected if the matrix is symmetric.
    """
    limits.text("mci", data)
    text = "\n".join(text_lines(path, text_bytes(path, data)))
    sections = dict(_SECTION.findall(re.sub(r"^#.*", "", text, flags=re.M)))
    shape = re.search(r"dimensions\s+([0-9]{1,18})x([0-9]{1,18})\b", sections.get("mclheader", ""))
    if shape is None or "mclmatrix" not in sections:
        raise ValueError(f"{path}: no matrix of mcl: '(mclheader' or '(mclmatrix' is missing")
    if shape[1] != shape[2]:
        raise ValueError(f"{path}: a {shape[1]} x {shape[2]} matrix; that of a graph is square")
    n = limits.vertices(int(shape[1]))
    domain = _domain(path, sections, n)
    source, target, weight = _vectors(path, sections["mclmatrix"])
    numbered = [np.searchsorted(domain, part) for part in (source, target)]
    for part, number in zip((source, target), numbered, strict=True):
        wrong = number == n
        wrong[~wrong] = domain[number[~wrong]] != part[~wrong]
        if wrong.any():
            raise ValueError(f"{path}: index {part[wrong][0]} is not in the domain of the matrix")
    row, col = numbered
    if directed is None:
        directed = not both_directions(row, col, weight)
    labels = None if np.array_equal(domain, np.arange(n)) else domain
    weights = None if (weight == 1).all() else torch.from_numpy(weight)
    return EdgeList(torch.from_numpy(np.stack([row, col])), weights, labels, n, directed)


def _domain(path: str, sections: dict[str, str], n: int) -> np.ndarray:
    known = [
        _integers(path, _body(sections[name]).replace("$", " ").split())
        for name in ("mclcols", "mclrows", "mcldoms")
        if name in sections
    ]
    if not known:
        return np.arange(n)
    if any(not np.array_equal(known[0], other) for other in known[1:]):
        raise ValueError(f"{path}: columns and rows of different domains; a graph has one")
    if len(known[0]) != n:
        raise ValueError(f"{path}: {len(known[0])} indices for {n} columns")
    domain = np.unique(known[0])
    if len(domain) != n:
        raise ValueError(f"{path}: an index stands in the domain more than once")
    return domain


def _integers(path: str, words: list[str]) -> np.ndarray:
    wrong = next((x for x in words if not INTEGER.fullmatch(x) or len(x) > 18), None)
    if wrong is not None:
        raise ValueError(f"{path}: {wrong[:60]!r} is not an index")
    return np.array(words, np.int64)


def _body(section: str) -> str:
    return section.split("begin", 1)[1] if "begin" in section else section


def _vectors(path: str, section: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the column, row and value of every entry."""
    columns, counts, entries = [], [], []
    *vectors, rest = _body(section).split("$")
    if rest.strip():
        raise ValueError(f"{path}: the last vector, {rest.split()[0]}, does not end with '$'")
    for vector in vectors:
        head, *entry = vector.split() or [""]
        columns.append(head.partition(":")[0])
        counts.append(len(entry))
        entries += entry
    parts = [entry.partition(":") for entry in entries]
    column = np.repeat(_integers(path, columns), counts)
    row = _integers(path, [part[0] for part in parts])
    wrong = next((part[2] for part in parts if part[2] and not is_number(part[2])), None)
    if wrong is not None:
        raise ValueError(f"{path}: value {wrong[:60]!r} is not a number")
    value = np.array([float(part[2] or 1) for part in parts], np.float64)
    if not np.isfinite(value).all():
        raise ValueError(f"{path}: a value that is not finite")
    return column, row, value


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
) -> None:
    """Writes one cluster per line, its members separated by tabs, as ``mcl --abc`` does.

    Args:
        path: the file; the suffixes ``.gz``, ``.bz2`` and ``.xz`` compress.
        clusters: the vertices of each cluster, such as ``Clustering.clusters()``.
        labels: names ``[num_nodes]``; None means the vertex numbers.

    Raises:
        TypeError, ValueError: a member is not a vertex or has no label, or a label contains a tab
            or a line end.

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
        >>> folder.cleanup()
    """
    with replacing(path) as file:
        for line in cluster_lines(clusters, labels):
            file.write(line.encode())


def cluster_lines(
    clusters: Iterable[Tensor | Sequence[int]], labels: Sequence[Any] | np.ndarray | None = None
) -> Iterable[str]:
    """Returns the lines that :func:`write_clusters` writes."""
    names = None if labels is None else [str(x) for x in check_files.sequence(labels, "labels")]
    for name in names or []:
        if not name or any(x in name for x in "\t\n\r") or not encodes(name):
            raise ValueError(f"labels holds {name!r}, which cannot stand in a file of clusters")
    for at, cluster in enumerate(_clusters(clusters)):
        members = _members(cluster, at)
        if members and (min(members) < 0 or (names is not None and max(members) >= len(names))):
            accepted = "0 or more" if names is None else f"below the {len(names)} of labels"
            wrong = min(members) if min(members) < 0 else max(members)
            raise ValueError(f"clusters[{at}] holds {wrong}; accepted: {accepted}")
        yield "\t".join(map(str, members) if names is None else (names[v] for v in members)) + "\n"


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
    """Reads the labels of each cluster: one cluster per line, separated by tabs, else by blanks.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file is empty, binary or damaged.
    """
    lines = text_lines(path, text_bytes(path, load_bytes(path)))
    return [
        [x for x in (line.split("\t") if "\t" in line else line.split()) if x]
        for line in lines
        if line.strip() and not line.startswith("#")
    ]
