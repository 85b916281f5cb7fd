"""mcl's native matrices: graphs, and clusterings with a column per cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO, NamedTuple

import numpy as np
import torch

from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList, arcs, both_directions, of_arrays
from torchcent.io._files import encodes, text_bytes, text_lines
from torchcent.io._layout import INTEGER, is_number
from torchcent.io._options import Options
from torchcent.io._tokens import warn_of_rounded
from torchcent.runtime import _ops

_SECTION = re.compile(r"\((mclheader|mclcols|mclrows|mcldoms|mclmatrix)\b([^()]*)\)")
_MARK = re.compile(rb"\s*+(?:#[^\n]*+\n\s*+)*+\(mclheader\b")

_WIDTH = 70  # of the lines that mcl writes
_MOST_DIGITS = 18  # of an id, which fits 64 bits then


class Matrix(NamedTuple):
    """The entries of a matrix, by numbers of rows and columns, and the ids of these."""

    rows: np.ndarray
    columns: np.ndarray
    row: np.ndarray
    column: np.ndarray
    value: np.ndarray


def is_native(data: bytes) -> bool:
    """Whether the data are a native matrix, after comments."""
    return _MARK.match(data) is not None


def read_matrix(data: bytes, limits: Budget, graph: bool = False) -> Matrix:
    """Reads a matrix: entry i of a vector ``j i:value ... $`` is in column j and row i."""
    path = limits.path
    limits.text("mci", data)
    text = "\n".join(text_lines(path, text_bytes(path, data)))
    sections = dict(_SECTION.findall(re.sub(r"#.*", "", text)))
    shape = re.search(r"dimensions\s+([0-9]{1,18})x([0-9]{1,18})\b", sections.get("mclheader", ""))
    if shape is None or "mclmatrix" not in sections:
        raise ValueError(f"{path}: no matrix of mcl: '(mclheader' or '(mclmatrix' is missing")
    if graph and shape[1] != shape[2]:
        raise ValueError(
            f"{path}: a {shape[1]} x {shape[2]} matrix; that of a graph is square. This may be a "
            "clustering: torchcent convert or torchcent.io.read_clusters read it"
        )
    if graph:
        section = next((x for x in ("mcldoms", "mclcols", "mclrows") if x in sections), None)
        if section is not None:
            sections["mcldoms"] = sections[section]
    rows = _domain(path, sections, "mclrows", limits.vertices(int(shape[1])))
    columns = _domain(path, sections, "mclcols", limits.vertices(int(shape[2])))
    body = _body(sections["mclmatrix"])
    column, row, value = _compiled_vectors(body) or _vectors(path, body)
    warn_of_rounded(path, value, body.encode())
    row, column = _numbered(path, rows, row), _numbered(path, columns, column)
    return Matrix(rows, columns, row, column, value)


def read_mci(data: bytes, limits: Budget, options: Options) -> EdgeList:
    """Reads the matrix of a graph: entry i of the vector j is the arc j -> i."""
    path, directed = limits.path, options.directed
    matrix = read_matrix(data, limits, graph=True)
    n = len(matrix.rows)
    if not np.array_equal(matrix.rows, matrix.columns):
        raise ValueError(f"{path}: columns and rows of different domains; a graph has one")
    if directed is None:
        directed = not both_directions(matrix.column, matrix.row, matrix.value)
    labels = None if np.array_equal(matrix.rows, np.arange(n)) else matrix.rows
    weight = None if (matrix.value == 1).all() else matrix.value
    return of_arrays((matrix.column, matrix.row), weight, labels, n, directed)


def clusters_of(matrix: Matrix) -> list[list[str]]:
    """The ids of the rows of each column."""
    order = np.lexsort((matrix.row, matrix.column))
    ids = matrix.rows[matrix.row[order]].astype(str).tolist()
    ends = np.cumsum(np.bincount(matrix.column, minlength=len(matrix.columns))).tolist()
    return [ids[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def _domain(path: str, sections: dict[str, str], name: str, n: int) -> np.ndarray:
    """The ids of rows or columns, ascending."""
    section = sections.get(name, sections.get("mcldoms"))
    if section is None:
        return np.arange(n)
    ids = _integers(path, _body(section).replace("$", " ").split())
    if len(ids) != n:
        raise ValueError(f"{path}: {len(ids)} indices for {n} {name.removeprefix('mcl')}")
    domain = np.unique(ids)
    if len(domain) != n:
        raise ValueError(f"{path}: an index stands in the domain more than once")
    return domain


def _numbered(path: str, domain: np.ndarray, ids: np.ndarray) -> np.ndarray:
    last = len(domain) - 1
    counted = last >= 0 and domain[0] == 0 and domain[-1] == last  # from 0 on: ids are numbers
    if counted and ids.min(initial=0) >= 0 and ids.max(initial=0) <= last:
        return ids
    number = np.searchsorted(domain, ids)
    wrong = number == len(domain)
    wrong[~wrong] = domain[number[~wrong]] != ids[~wrong]
    if wrong.any():
        raise ValueError(f"{path}: index {ids[wrong][0]} is not in the domain of the matrix")
    return number


def _integers(path: str, words: list[str]) -> np.ndarray:
    wrong = next((x for x in words if not INTEGER.fullmatch(x) or len(x) > _MOST_DIGITS), None)
    if wrong is not None:
        raise ValueError(f"{path}: {wrong[:60]!r} is not an index")
    return np.array(words, np.int64)


def _body(section: str) -> str:
    return section.split("begin", 1)[1] if "begin" in section else section


def _compiled_vectors(body: str) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """As _vectors, by compiled code; None if it does not read these."""
    if not _ops.available or not body.isascii():
        return None
    text = torch.from_numpy(np.frombuffer(body.encode(), np.uint8).copy())
    ids, value, irregular = _ops.ops.read_vectors(text, torch.get_num_threads())
    return None if irregular.numel() else (ids[0].numpy(), ids[1].numpy(), value.numpy())


def _vectors(path: str, body: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The column, row and value of every entry."""
    *vectors, rest = (part.split() or [""] for part in body.split("$"))
    if rest != [""]:
        raise ValueError(f"{path}: the last vector, {rest[0]}, does not end with '$'")
    columns = _integers(path, [vector[0].partition(":")[0] for vector in vectors])
    parts = [entry.partition(":") for vector in vectors for entry in vector[1:]]
    column = np.repeat(columns, [len(vector) - 1 for vector in vectors])
    row = _integers(path, [part[0] for part in parts])
    wrong = next((part[2] for part in parts if part[2] and not is_number(part[2])), None)
    if wrong is not None:
        raise ValueError(f"{path}: value {wrong[:60]!r} is not a number")
    value = np.array([float(part[2] or 1) for part in parts], np.float64)
    if not np.isfinite(value).all():
        raise ValueError(f"{path}: a value that is not finite")
    return column, row, value


def cluster_matrix(
    clusters: Sequence[Sequence[int]], ids: np.ndarray, comment: str = ""
) -> Iterator[str]:
    """The lines of a native matrix with a column per cluster, as mcl writes it."""
    width = len(str(int(ids.max()) + 1)) if len(ids) else 1
    if len(ids) and int(ids.max()) == 2**31 - 1:  # its successor is not an integer of mcl
        width = 1
    if comment:
        yield f"# {comment}\n"
    yield f"(mclheader\nmcltype matrix\ndimensions {len(ids)}x{len(clusters)}\n)\n"
    if not np.array_equal(np.sort(ids), np.arange(len(ids))):
        yield "(mclrows\n"
        yield from _wrapped("", 0, np.sort(ids).tolist(), width)
        yield ")\n"
    yield "(mclmatrix\nbegin\n"
    for number, cluster in enumerate(clusters):
        members = np.sort(ids[np.asarray(cluster, np.int64)]).tolist()
        yield from _wrapped(f"{number:<{width}}", width + 2, members, width)
    yield ")\n"


def _wrapped(head: str, indent: int, ids: list[int], width: int) -> Iterator[str]:
    """The lines of a vector, broken where the next id may not fit."""
    parts, length = [head], len(head)
    for number in ids:
        if length + 1 + width > _WIDTH:
            yield "".join(parts) + "\n"
            parts, length = [" " * indent], indent
        parts.append(f" {number}")
        length += len(parts[-1])
    yield "".join(parts) + " $\n"


def write_mci(file: IO[bytes], edges: EdgeList, path: str) -> None:
    """Writes the matrix of a graph; of repeated edges the largest weight, as mcl reads them."""
    labels = edges.labels
    if labels is not None and labels.dtype != object:
        wrong = labels[(labels < 0) | (labels >= 10**_MOST_DIGITS)]
        if len(wrong):
            raise ValueError(
                f"{path}: id {wrong[0]} cannot stand in this format; accepted: 0 to "
                f"10^{_MOST_DIGITS} - 1"
            )
    has_names = labels is None or labels.dtype == object
    ids = np.arange(edges.num_nodes) if has_names else labels
    place = torch.from_numpy(np.argsort(np.argsort(ids)))
    ids = np.sort(ids)
    row, col, value = arcs(replace(edges, edge_index=place[edges.edge_index]), largest=True)
    file.write(f"(mclheader\nmcltype matrix\ndimensions {len(ids)}x{len(ids)}\n)\n".encode())
    if not np.array_equal(ids, np.arange(len(ids))):
        file.write(f"(mcldoms\n{' '.join(map(str, ids.tolist()))} $\n)\n".encode())
    file.write(b"(mclmatrix\nbegin\n")
    words = list(map(str, ids[col].tolist()))
    if value is not None:
        words = [f"{word}:{x!r}" for word, x in zip(words, value.tolist(), strict=True)]
    ends = np.cumsum(np.bincount(row, minlength=len(ids))).tolist()
    for vertex, begin, end in zip(ids.tolist(), [0, *ends], ends, strict=False):
        if begin < end:
            file.write(f"{vertex} {' '.join(words[begin:end])} $\n".encode())
    file.write(b")\n")


def write_tab(file: IO[bytes], edges: EdgeList, first: int | None = None) -> None:
    """Writes mcl's dictionary of labels; vertex 0 is `first`, None takes integers as they are."""
    labels = edges.vertex_labels()
    numbers = np.arange(len(labels)) + (first or 0)
    if first is None and labels.dtype != object:
        numbers = labels
    for number, label in zip(numbers.tolist(), map(str, labels.tolist()), strict=True):
        if not label or "\n" in label or "\r" in label or not encodes(label):
            raise ValueError(f"label {label!r} cannot stand in a dictionary of labels; try .pt")
        file.write(f"{number}\t{label}\n".encode())
