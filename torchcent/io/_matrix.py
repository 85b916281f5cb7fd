"""Matrix Market, METIS/DIMACS10 ``.graph`` and DIMACS ``.gr``."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator

import numpy as np
import torch

from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList
from torchcent.io._files import text_bytes, text_lines
from torchcent.io._tokens import IrregularText, number_rows


def read_mtx(path: str, data: bytes, directed: bool | None, limits: Budget) -> EdgeList:
    """Matrix Market: entry ``(i, j)`` is the edge i-j; labels are the file's 1..n.

    ``symmetric`` (also skew) means undirected, ``general`` directed. A symmetric file lists one
    triangle; an entry and its mirror image in one file are refused.
    """
    import scipy.io

    data = text_bytes(path, data)
    if re.match(rb"%MatrixMarket", data):  # a slip that several collections have in common
        data = b"%" + data
    if not re.match(rb"%%MatrixMarket\s", data, re.I):
        raise ValueError(
            f"{path}:1: no '%%MatrixMarket' header; a plain edge list reads with format='edges'"
        )
    limits.text("mtx", data)
    with _naming_the_line(path):
        rows, columns, count, layout, kind, symmetry = scipy.io.mminfo(io.BytesIO(data))
    if rows != columns:
        raise ValueError(f"{path}: a {rows} x {columns} matrix; an adjacency matrix is square")
    if kind == "complex":
        raise ValueError(f"{path}: complex entries; accepted: pattern, integer, real")
    limits.vertices(rows)
    if layout == "array":
        count = rows * columns if symmetry == "general" else rows * (rows - 1) // 2
    least = 2 if layout == "array" else 4  # "1\n", "1 1\n"
    if least * count > len(data) + 1:
        raise ValueError(
            f"{path}: the header says {count} entries, which take {least * count} bytes or more, "
            f"but the file has {len(data)}"
        )
    mirrored = symmetry != "general" and layout == "coordinate"
    if mirrored:  # as it stands in the file; _mirrored does the rest
        data, found = re.subn(rb"(?i)^([^\n]*\s)[a-z-]+(?=[ \t]*\n)", rb"\1general", data, count=1)
        if not found:
            raise ValueError(f"{path}:1: the header does not end with a word such as 'symmetric'")
    with _naming_the_line(path):
        matrix = scipy.io.mmread(io.BytesIO(data))
    if isinstance(matrix, np.ndarray):
        row, col = np.nonzero(matrix)
        value = matrix[row, col]
    else:
        row, col, value = matrix.row, matrix.col, matrix.data
    weight = None if kind == "pattern" else finite_weight(path, value)
    if mirrored:
        row, col, weight = _mirrored(path, row, col, weight, -1 if "skew" in symmetry else 1)
    if directed is None:
        directed = symmetry == "general"
    return one_based_edges(np.stack([row, col]), weight, rows, directed)


def _mirrored(
    path: str, row: np.ndarray, col: np.ndarray, weight: np.ndarray | None, sign: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Both triangles of a symmetric matrix from the one that the file lists."""
    below, above = row > col, row < col
    if below.any() and above.any():
        n = int(max(row.max(), col.max())) + 1
        first = row[below].astype(np.int64) * n + col[below]
        both = np.intersect1d(first, col[above].astype(np.int64) * n + row[above])
        if len(both):
            i, j = divmod(int(both[0]), n)
            raise ValueError(
                f"{path}: the header says symmetric, but entries ({i + 1}, {j + 1}) and "
                f"({j + 1}, {i + 1}) are both listed; accepted: one of them, or 'general'"
            )
    off = below | above
    if weight is not None:
        weight = np.concatenate([weight, sign * weight[off]])
    return np.concatenate([row, col[off]]), np.concatenate([col, row[off]]), weight


@contextlib.contextmanager
def _naming_the_line(path: str) -> Iterator[None]:
    """SciPy's errors about a Matrix Market file, with the file's name."""
    try:
        yield
    except MemoryError:
        raise MemoryError(f"{path}: not enough memory to read it as Matrix Market") from None
    except Exception as error:
        line = re.match(r"Line (\d+): (.*)", str(error))
        where, what = (f"{path}:{line[1]}", line[2]) if line else (path, str(error))
        raise ValueError(f"{where}: {what}") from None


def finite_weight(path: str, value: np.ndarray, what: str = "") -> np.ndarray:
    """``value`` as float64; NaN, infinity and what is no real number raise ValueError."""
    if value.dtype.kind not in "biuf":
        raise ValueError(f"{path}: {what}weights of dtype {value.dtype}; accepted: real numbers")
    weight = np.asarray(value, np.float64)
    wrong = np.flatnonzero(~np.isfinite(weight))
    if len(wrong):
        raise ValueError(
            f"{path}: {what}weight {weight[wrong[0]]} of edge {wrong[0]} is not finite"
        )
    return weight


def one_based_edges(
    index: np.ndarray, weight: np.ndarray | None, n: int, directed: bool
) -> EdgeList:
    """An edge list of vertices that the file counts from 1 (``index`` counts from 0)."""
    return EdgeList(
        torch.from_numpy(np.ascontiguousarray(index, np.int64)),
        None if weight is None else torch.from_numpy(np.array(weight, np.float64)),
        np.arange(1, n + 1),
        n,
        directed,
    )


def read_metis(path: str, data: bytes, directed: bool | None, limits: Budget) -> EdgeList:
    """METIS (DIMACS10) ``.graph``: a header ``n m [fmt [ncon]]``, then a line for each vertex.

    Undirected, both directions listed, with the same weight (directed=True takes what is listed
    for arcs); ``fmt`` tells of vertex sizes, vertex weights (both skipped) and edge weights.
    Labels are the line numbers 1..n. ``m`` counts edges once.
    """
    limits.text("metis", data)
    data = text_bytes(path, data)
    if data.startswith(b"%") or b"\n%" in data:
        data, comments = re.subn(rb"(?m)^%[^\n]*\n?", b"", data)
    else:
        comments = 0
    data = data.lstrip()
    end = data.find(b"\n")
    head = text_lines(path, data[: end if end >= 0 else len(data)])[0].split()
    shown = " ".join(head)[:60]
    if not 2 <= len(head) <= 4 or not all(re.fullmatch("[0-9]{1,18}", x) for x in head):
        raise ValueError(f"{path}:1: {shown!r} is not a METIS header 'n m [fmt [ncon]]'")
    n, m = int(head[0]), int(head[1])
    form = head[2].zfill(3) if len(head) > 2 else "000"
    if not re.fullmatch("[01]{3}", form):
        raise ValueError(f"{path}:1: format {head[2]!r} in the header; accepted: 0 to 111")
    constraints = int(head[3]) if len(head) > 3 else int(form[1])
    skip = int(form[0]) + (constraints if form[1] == "1" else 0)
    step = 2 if form[2] == "1" else 1
    body = data[end + 1 :] if end >= 0 else b""
    limits.vertices(n)

    values, counts = _numbers(path, body, fractions=step == 2, first_line=2 + comments)
    if len(counts) == n - 1 or n == 0 == len(counts):  # a last vertex alone, without newline
        counts = np.append(counts, 0)[: max(n, len(counts))]
    if len(counts) < n or counts[n:].any():
        lines = len(counts) if len(counts) < n else int(np.flatnonzero(counts)[-1]) + 1
        raise ValueError(f"{path}: the header says {n} vertices, the body has {lines} lines")
    counts = counts[:n]
    wrong = np.flatnonzero((counts < skip) | ((counts - skip) % step != 0))
    if len(wrong):
        v = int(wrong[0])
        raise ValueError(
            f"{path}: line of vertex {v + 1}: {counts[v]} numbers do not make pairs of neighbour "
            f"and weight after {skip} vertex weights (format {form})"
        )
    owner = np.repeat(np.arange(n), counts)
    place = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts) - skip
    is_neighbour = (place >= 0) & (place % step == 0)
    row = owner[is_neighbour]
    neighbour = values[is_neighbour]
    col = _whole(neighbour)
    wrong = np.flatnonzero((col < 1) | (col > n) | (col != neighbour))
    if len(wrong):
        v = int(row[wrong[0]]) + 1
        raise ValueError(
            f"{path}: line of vertex {v}: neighbour {neighbour[wrong[0]]:g}; accepted: 1..{n}"
        )
    loops = int((row == col - 1).sum())
    # a self-loop stands once; some writers count it as half an edge, some as one
    if 2 * m not in (len(row), len(row) + loops):
        raise ValueError(
            f"{path}: the header says {m} edges, the body has {len(row)} entries, "
            f"which make {len(row) / 2:g}"
        )
    weight = finite_weight(path, values[(place >= 0) & (place % 2 == 1)]) if step == 2 else None
    if not directed:
        _check_both_ends(path, row, col - 1, weight, n)
    return one_based_edges(np.stack([row, col - 1]), weight, n, bool(directed))


def _whole(values: np.ndarray) -> np.ndarray:
    """int64, where what does not fit becomes 0, which no file of these formats may hold."""
    if values.dtype == np.int64:
        return values
    return np.where(np.abs(values) < 2.0**62, values, 0).astype(np.int64)


def _check_both_ends(
    path: str, row: np.ndarray, col: np.ndarray, weight: np.ndarray | None, n: int
) -> None:
    """Every entry must stand on the lines of both its ends, with one weight."""
    forth, back = row * n + col, col * n + row
    if weight is None:
        forth.sort()
        back.sort()
    else:
        first, second = np.lexsort((weight, forth)), np.lexsort((weight, back))
        forth, back = forth[first], back[second]
    wrong = np.flatnonzero(forth != back)
    if len(wrong):
        # the smaller of the two stands in one of the sorted arrays more often than in the other
        one, other = int(forth[wrong[0]]), int(back[wrong[0]])
        u, v = divmod(min(one, other), n)
        if other < one:
            u, v = v, u
        raise ValueError(
            f"{path}: line of vertex {u + 1}: neighbour {v + 1}, but the line of vertex {v + 1} "
            f"does not list {u + 1} as often; METIS lists an edge at both ends "
            "(directed=True takes what is listed for arcs)"
        )
    if weight is not None:
        wrong = np.flatnonzero(weight[first] != weight[second])
        if len(wrong):
            k = wrong[0]
            u, v = divmod(int(forth[k]), n)
            raise ValueError(
                f"{path}: line of vertex {u + 1}: neighbour {v + 1} has weight "
                f"{weight[first][k]:g}, but the line of vertex {v + 1} gives {u + 1} weight "
                f"{weight[second][k]:g}; accepted: one weight"
            )


def read_gr(path: str, data: bytes, directed: bool | None, limits: Budget) -> EdgeList:
    """DIMACS shortest-path ``.gr``: ``c`` comments, ``p sp n m``, an arc a line ``a u v weight``.

    Directed; labels are the file's 1..n.
    """
    limits.text("gr", data)
    data = text_bytes(path, data)
    lines = re.compile(rb"^(?:c(?:[ \t][^\n]*)?|[ \t]*)(?:\n|\Z)", re.M)
    start = number = 0
    while start < len(data) and (found := lines.match(data, start)):
        start, number = found.end(), number + 1
    end = data.find(b"\n", start)
    head = data[start : end if end >= 0 else len(data)]
    problem = re.fullmatch(rb"p[ \t]+(?:sp|aux)?[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]*", head)
    if not problem:
        shown = text_lines(path, head[:60])[0]
        raise ValueError(f"{path}:{number + 1}: {shown!r} where 'p sp n m' is expected")
    n, m = limits.vertices(int(problem[1])), int(problem[2])
    body = data[end + 1 :] if end >= 0 else b""
    if b"\nc" in body or body.startswith(b"c"):
        body = re.sub(rb"(?m)^c[^\n]*", b"", body)
    plain = body.replace(b"\na", b"\n ")
    if body.startswith(b"a"):
        plain = b" " + plain[1:]
    at = number + 2
    values, counts = _numbers(path, plain, fractions=True, first_line=at, shown=body)
    wrong = np.flatnonzero((counts != 3) & (counts != 0))
    if len(wrong):
        raise ValueError(
            f"{path}:{at + wrong[0]}: {counts[wrong[0]]} numbers where 'a u v weight' has three"
        )
    table = values.reshape(-1, 3)
    if len(table) != m:
        raise ValueError(f"{path}: the line 'p' says {m} arcs, the body has {len(table)}")
    ends = _whole(table[:, :2])
    wrong = np.flatnonzero(((ends < 1) | (ends > n) | (ends != table[:, :2])).any(1))
    if len(wrong):
        line = at + int(np.flatnonzero(counts)[wrong[0]])
        u, v = table[wrong[0], :2]
        raise ValueError(f"{path}:{line}: arc {u:g} {v:g}; accepted: 1..{n}")
    weight = finite_weight(path, table[:, 2])
    return one_based_edges(ends.T - 1, weight, n, directed is not False)


def _numbers(
    path: str, text: bytes, *, fractions: bool, first_line: int, shown: bytes | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """:func:`number_rows`, with the first thing that is not a number named by its line."""
    kinds: list[type[np.generic]] = [np.int64, np.float64] if fractions else [np.int64]
    for dtype in kinds:
        try:
            return number_rows(text, dtype)
        except IrregularText:
            pass
    lines = text_lines(path, text)
    for at, line in enumerate(lines):
        try:
            number_rows(line.encode(), kinds[-1])
        except IrregularText:
            show = line if shown is None else text_lines(path, shown)[at]
            raise ValueError(
                f"{path}:{first_line + at}: {show.strip()[:60]!r} is not a row of numbers"
            ) from None
    raise ValueError(f"{path}: not a text of numbers")
