"""Matrix Market, METIS/DIMACS10 ``.graph`` and DIMACS ``.gr``."""

from __future__ import annotations

import contextlib
import re
import warnings
from typing import NamedTuple

import numpy as np

from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList, both_directions, of_arrays
from torchcent.io._files import text_bytes, text_lines
from torchcent.io._options import Options
from torchcent.io._tokens import IrregularText, number_rows

_HEADER = (
    rb"%%?MatrixMarket[ \t]+matrix[ \t]+(coordinate|array)[ \t]+"
    rb"(pattern|integer|unsigned-integer|real|double|complex)[ \t]+"
    rb"(general|symmetric|skew-symmetric|hermitian)[ \t]*"
)
_SIZE = re.compile("[0-9]{1,18}")
#: row, column and weight
Entries = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def read_mtx(data: bytes, limits: Budget, options: Options) -> EdgeList:
    """Reads Matrix Market; one triangle of a symmetric matrix, whose graph is undirected."""
    # scipy.io.mmread is not used: it reads out of bounds on some damaged files
    path = limits.path
    limits.text("mtx", data)
    data = text_bytes(path, data)
    first, body, at = _head(data, re.compile(rb"[ \t]*(?:%[^\n]*)?(?:\n|\Z)"))
    head = data[: max(data.find(b"\n"), 0) or len(data)]
    if not re.match(rb"%%?MatrixMarket\s", head, re.I):
        raise ValueError(
            f"{path}:1: no '%%MatrixMarket' header; a plain edge list reads with format='edges'"
        )
    header = re.fullmatch(_HEADER, head, re.I)
    if header is None:
        line = text_lines(path, head)[0][:90]
        raise ValueError(
            f"{path}:1: {line!r}; accepted: '%%MatrixMarket matrix', coordinate or array, "
            "pattern, integer or real, general, symmetric or skew-symmetric"
        )
    layout, kind, symmetry = (x.decode().lower() for x in header.groups())
    if kind == "complex":
        raise ValueError(f"{path}: complex entries; accepted: pattern, integer, real")
    fields = text_lines(path, first)[0].split()
    width = 3 if layout == "coordinate" else 2
    if len(fields) != width or not all(map(_SIZE.fullmatch, fields)):
        raise ValueError(
            f"{path}:{at - 1}: {' '.join(fields)[:60]!r} where {width} sizes are expected"
        )
    rows, columns, *_ = sizes = [int(x) for x in fields]
    if rows != columns:
        raise ValueError(f"{path}: a {rows} x {columns} matrix; an adjacency matrix is square")
    limits.vertices(rows)
    if b"\n%" in body or body.startswith(b"%"):
        body = re.sub(rb"(?m)^%[^\n]*", b"", body)
    numbers = _numbers(path, body, fractions=kind != "pattern", first_line=at)
    if layout == "array":
        if kind == "pattern":
            raise ValueError(f"{path}:1: an array has no pattern; accepted: integer, real")
        edges = _array_entries(numbers.values, rows, symmetry, limits)
    else:
        form = "i j" if kind == "pattern" else "i j value"
        edges = numbers.entries(form, rows, sizes[2], ("the header", "entry", "entries"))
        if symmetry != "general":
            edges = _mirrored(path, edges, symmetry == "skew-symmetric")
    directed = options.directed
    return one_based_edges(edges, rows, symmetry == "general" if directed is None else directed)


def _head(data: bytes, comment: re.Pattern[bytes]) -> tuple[bytes, bytes, int]:
    """The first line that is not a comment, the rest, and the number of the next line."""
    start, number = 0, 1
    while start < len(data) and (line := comment.match(data, start)):
        start, number = line.end(), number + 1
    first, _, rest = data[start:].partition(b"\n")
    return first, rest, number + 1


class _Numbers(NamedTuple):
    """The numbers of the lines below a header."""

    path: str
    values: np.ndarray
    counts: np.ndarray  # of each line
    first_line: int

    def entries(self, form: str, n: int, count: int, words: tuple[str, str, str]) -> Entries:
        """The ends, counted from 0, and the third number of each line, if it is of this form."""
        path, values, counts, first_line = self
        head, one, many = words
        width = 2 if form == "i j" else 3
        wrong = np.flatnonzero((counts != width) & (counts != 0))
        if len(wrong):
            k = wrong[0]
            raise ValueError(
                f"{path}:{first_line + k}: {counts[k]} numbers where {form!r} has {width}"
            )
        table = values.reshape(-1, width)
        if len(table) != count:
            raise ValueError(f"{path}: {head} says {count} {many}, the body has {len(table)}")
        ends = _whole(table[:, :2])
        wrong = np.flatnonzero(((ends < 1) | (ends > n) | (ends != table[:, :2])).any(1))
        if len(wrong):
            line = first_line + int(np.flatnonzero(counts)[wrong[0]])
            u, v = table[wrong[0], :2]
            raise ValueError(f"{path}:{line}: {one} {u:g} {v:g}; accepted: 1..{n}")
        weight = None if width == 2 else finite_weight(path, table[:, 2])
        return ends[:, 0] - 1, ends[:, 1] - 1, weight


def _array_entries(values: np.ndarray, n: int, symmetry: str, limits: Budget) -> Entries:
    """The nonzeros of a dense column-major matrix, of which a triangle is listed if symmetric."""
    skew = symmetry == "skew-symmetric"
    count = n * n if symmetry == "general" else n * (n - 1) // 2 if skew else n * (n + 1) // 2
    if len(values) != count:
        raise ValueError(
            f"{limits.path}: {count} values make {n} x {n}, the body has {len(values)}"
        )
    limits.allow(40 * n * n, f"a dense matrix of {n} x {n}")
    if symmetry == "general":
        matrix = values.reshape(n, n).T
    else:
        col, row = np.triu_indices(n, 1 if skew else 0)
        matrix = np.zeros((n, n))
        matrix[row, col] = values
        matrix[col, row] = -values if skew else values
    row, col = np.nonzero(matrix)
    return row, col, finite_weight(limits.path, matrix[row, col])


def _mirrored(path: str, entries: Entries, skew: bool) -> Entries:
    """Both triangles of a symmetric matrix, of which the file lists one."""
    row, col, weight = entries
    below, above = row > col, row < col
    if below.any() and above.any():
        n = int(max(row.max(), col.max())) + 1
        both = np.intersect1d(row[below] * n + col[below], col[above] * n + row[above])
        if len(both):
            i, j = divmod(int(both[0]), n)
            raise ValueError(
                f"{path}: the header says symmetric, but entries ({i + 1}, {j + 1}) and "
                f"({j + 1}, {i + 1}) are both listed; accepted: one of them, or 'general'"
            )
    off = below | above
    if weight is not None:
        weight = np.concatenate([weight, -weight[off] if skew else weight[off]])
    return np.concatenate([row, col[off]]), np.concatenate([col, row[off]]), weight


def finite_weight(path: str, value: np.ndarray, what: str = "") -> np.ndarray:
    """The value as float64, if all are finite real numbers."""
    if value.dtype.kind not in "biuf":
        raise ValueError(f"{path}: {what}weights of dtype {value.dtype}; accepted: real numbers")
    weight = np.asarray(value, np.float64)
    if value.dtype.kind in "iu" and ((value > 2**53).any() or (weight < -(2.0**53)).any()):
        warnings.warn(f"{path}: {what}weights beyond 2^53 are rounded", stacklevel=5)
    wrong = np.flatnonzero(~np.isfinite(weight))
    if len(wrong):
        raise ValueError(
            f"{path}: {what}weight {weight[wrong[0]]} of edge {wrong[0]} is not finite"
        )
    return weight


def one_based_edges(entries: Entries, n: int, directed: bool) -> EdgeList:
    """The edges, counted from 0, of a file that counts from 1."""
    return of_arrays(entries[:2], entries[2], np.arange(1, n + 1), n, directed)


def read_metis(data: bytes, limits: Budget, options: Options) -> EdgeList:
    """Reads METIS (DIMACS10) ``.graph``: a header ``n m [fmt [ncon]]``, then one line per vertex.

    ``fmt`` declares edge weights, and sizes and weights of vertices, which are ignored.
    """
    path = limits.path
    limits.text("metis", data)
    data = text_bytes(path, data)
    comments = 0
    if data.startswith(b"%") or b"\n%" in data:
        data, comments = re.subn(rb"(?m)^%[^\n]*\n?", b"", data)
    first, _, body = data.lstrip().partition(b"\n")
    head = text_lines(path, first)[0].split()
    line = " ".join(head)[:60]
    if not 2 <= len(head) <= 4 or not all(map(_SIZE.fullmatch, head)):
        raise ValueError(f"{path}:1: {line!r} is not a METIS header 'n m [fmt [ncon]]'")
    n, m = int(head[0]), int(head[1])
    form = head[2].zfill(3) if len(head) > 2 else "000"
    if not re.fullmatch("[01]{3}", form):
        raise ValueError(f"{path}:1: format {head[2]!r} in the header; accepted: 0 to 111")
    constraints = int(head[3]) if len(head) > 3 else int(form[1])
    skip = int(form[0]) + (constraints if form[1] == "1" else 0)
    step = 2 if form[2] == "1" else 1
    limits.vertices(n)

    _, values, counts, _ = _numbers(path, body, fractions=step == 2, first_line=2 + comments)
    if len(counts) == n - 1 or n == 0 == len(counts):  # an isolated last vertex, without a newline
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
    row, neighbour = owner[is_neighbour], values[is_neighbour]
    col = _whole(neighbour)
    wrong = np.flatnonzero((col < 1) | (col > n) | (col != neighbour))
    if len(wrong):
        v = int(row[wrong[0]]) + 1
        raise ValueError(
            f"{path}: line of vertex {v}: neighbour {neighbour[wrong[0]]:g}; accepted: 1..{n}"
        )
    col -= 1
    # a self-loop is listed once; some writers count it as half an edge, others as one
    if 2 * m not in (len(row), len(row) + int((row == col).sum())):
        raise ValueError(
            f"{path}: the header says {m} edges, the body has {len(row)} entries, "
            f"which make {len(row) / 2:g}"
        )
    weight = finite_weight(path, values[(place >= 0) & (place % 2 == 1)]) if step == 2 else None
    directed = bool(options.directed)
    if not directed:
        _check_both_ends(path, row, col, weight, n)
    return one_based_edges((row, col, weight), n, directed)


def _whole(values: np.ndarray) -> np.ndarray:
    """As int64; values that do not fit become 0, which these formats never allow."""
    if values.dtype == np.int64:
        return values
    return np.where(np.abs(values) < 2.0**62, values, 0).astype(np.int64)


def _check_both_ends(
    path: str, row: np.ndarray, col: np.ndarray, weight: np.ndarray | None, n: int
) -> None:
    """Checks that both ends list every edge, with equal weights."""
    if both_directions(row, col, weight):
        return
    forth, back = row * n + col, col * n + row
    first, second = (
        np.argsort(x) if weight is None else np.lexsort((weight, x)) for x in (forth, back)
    )
    forth, back = forth[first], back[second]
    wrong = np.flatnonzero(forth != back)
    if len(wrong):
        # the smaller key occurs more often in one of the sorted arrays than in the other
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


def read_gr(data: bytes, limits: Budget, options: Options) -> EdgeList:
    """Reads DIMACS ``.gr``: ``c`` comments, ``p sp n m``, arcs ``a u v weight``; or both ways.

    After ``p tw n m`` (PACE, tree decompositions) come edges ``u v``.
    """
    path = limits.path
    limits.text("gr", data)
    data = text_bytes(path, data)
    head, body, at = _head(data, re.compile(rb"(?:c(?:[ \t][^\n]*)?|[ \t]*)(?:\n|\Z)"))
    problem = re.fullmatch(rb"p[ \t]+(?:sp|aux|(tw))?[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]*", head)
    if not problem:
        line = text_lines(path, head[:60])[0]
        raise ValueError(f"{path}:{at - 1}: {line!r} where 'p sp n m' or 'p tw n m' is expected")
    n, m = limits.vertices(int(problem[2])), int(problem[3])
    if b"\nc" in body or body.startswith(b"c"):
        body = re.sub(rb"(?m)^c[^\n]*", b"", body)
    directed = options.directed
    if problem[1]:
        numbers = _numbers(path, body, fractions=False, first_line=at)
        edges = numbers.entries("i j", n, m, ("the line 'p'", "edge", "edges"))
        return one_based_edges(edges, n, bool(directed))
    plain = body.replace(b"\na", b"\n ")
    if body.startswith(b"a"):
        plain = b" " + plain[1:]
    numbers = _numbers(path, plain, fractions=True, first_line=at, shown=body)
    arcs = numbers.entries("a u v weight", n, m, ("the line 'p'", "arc", "arcs"))
    return one_based_edges(arcs, n, not both_directions(*arcs) if directed is None else directed)


def _numbers(
    path: str, text: bytes, *, fractions: bool, first_line: int, shown: bytes | None = None
) -> _Numbers:
    """The numbers of a text; the error names the line of the first invalid one."""
    kinds: list[type[np.generic]] = [np.int64, np.float64] if fractions else [np.int64]
    for dtype in kinds:
        with contextlib.suppress(IrregularText):
            return _Numbers(path, *number_rows(text, dtype), first_line)
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
