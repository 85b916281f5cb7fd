"""What is doubtful about an edge list that could be read: one warning for each."""

from __future__ import annotations

import re

import numpy as np

from torchcent.check import _columns as check_columns
from torchcent.io._edge_list import distinct_ids
from torchcent.io._layout import BLANKS, INTEGER, Layout, Text, is_number
from torchcent.io._rows import Columns
from torchcent.io._tokens import of_rounded

#: A row of BLAST's -outfmt 6: names, percent identity, seven whole numbers, E-value, bit score.
_HIT = re.compile(
    r"[^\t]+\t[^\t]+\t[0-9.]+(\t[0-9]+){7}\t([0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|e-[0-9]+)\t"
    r"[0-9.]+(e[-+]?[0-9]+)?"
)
_LARGEST_E_VALUE = 5000.0
_ROW = re.compile(rb"[#%][^\s#%][^\n]*[ \t,;][^\n]*")
_WORDS = "comments=None (--comments none)"


def of_counts(columns: Columns) -> tuple[str, ...]:
    """Whether the first row looks like the numbers of vertices and edges, not like an edge."""
    source, target = columns.ends
    if columns.names is not None or len(source) < 3 or target[0] != len(target) - 1:
        return ()
    rest = (source[1:], target[1:])
    largest = max(x.max() for x in rest)
    if source[0] in (largest, largest + 1) or source[0] == len(distinct_ids(*rest)):
        return (
            f"the first row, {source[0]} {target[0]}, was read as an edge, but looks like the "
            "numbers of vertices and edges; if so, say skip=1 (--skip 1)",
        )
    return ()


def of_rows(columns: Columns, layout: Layout, header: bool | None) -> tuple[str, ...]:
    """Whether the first row may be a header, or the rows a matrix; and what its ids are."""
    remarks: tuple[str, ...] = () if columns.remark is None else (columns.remark,)
    remarks += of_rounded(columns.rounded)
    count = len(columns.ends[0])
    has_names = layout.heads is not None and check_columns.ends(layout.heads) is not None
    if columns.names is None and not has_names and _is_square(columns, layout):
        remarks += (of_square(layout.width, "numpy.loadtxt(...)"),)
    if columns.names is None and layout.heads is not None:
        shared = check_columns.shared_ids(layout.heads, *columns.ends)
        remarks += () if shared is None else (shared,)
    if header is None and layout.doubtful and not count:
        names = " and ".join(map(repr, layout.doubtful))
        remarks += (
            f"the only row, {names}, is taken for the names of columns; header=False (--no-header) "
            "reads an edge",
        )
    if header is None and not layout.header and not layout.named_above:
        remarks += of_first_row(
            columns,
            "header=True (--header) or skip=1 (--skip 1) leaves them out; if not, header=False "
            "(--no-header) says so",
        )
    return remarks


def of_direction(layout: Layout) -> tuple[str, ...]:
    """Whether undirected edges seem to have a direction, by a column "Type" or by their names."""
    if layout.said_directed:
        return (check_columns.undirected("the column 'Type' of the first row says directed"),)
    return () if layout.heads is None else check_columns.direction(layout.heads)


def of_hits(layout: Layout) -> tuple[str, ...]:
    """Whether rows without a header are hits of BLAST, whose third column became the weight."""
    if layout.separator != "\t" or layout.heads is not None:
        return ()
    for fields in layout.first:
        row = _HIT.fullmatch("\t".join(fields))
        if row is None or float(re.sub("^e", "1e", row[2])) > _LARGEST_E_VALUE:
            return ()
    return (
        "the rows look like hits of BLAST (-outfmt 6), and the third column, percent identity, is "
        "taken for weights; format='blast' (--format blast, mcl --blast) takes the E-values as "
        "similarities, weight_column=3 (--weight-column 3) says so",
    )


def of_first_row(columns: Columns, advice: str) -> tuple[str, ...]:
    """Whether the first row may be a header, as its labels occur in no other."""
    if columns.weight is not None or columns.names is None or not _is_alone(columns):
        return ()
    first = [columns.names[end[0]] for end in columns.ends]
    if all(map(is_number, first)):
        return ()
    examples = " and ".join(repr(x[:40]) for x in first)
    return (
        f"the labels of the first row, {examples}, occur in no other row; if they are the names of "
        f"the columns, {advice}",
    )


def of_square(size: int, table: str) -> str:
    return (
        f"{size} rows of {size} columns were read as edges; if they are a matrix, pass "
        f"scipy.sparse.csr_array({table}) instead"
    )


def _is_square(columns: Columns, layout: Layout) -> bool:
    """Whether the rows may be a matrix; one of 3 columns has a diagonal of 0, or only 0 and 1."""
    parts = [*columns.ends, *([] if columns.weight is None else [columns.weight])]
    count, width = len(parts[0]), layout.width
    above = count == width + 1 and all(x[0] == k for k, x in enumerate(parts))
    if width < 3 or not (count == width or above):
        return False
    if width > 3 and not above:
        return True
    rows = [x[int(above) :] for x in parts]
    binary = all(np.isin(x, (0, 1)).all() for x in rows)
    return binary or all(x[k] == 0 for k, x in enumerate(rows))


def _is_alone(columns: Columns) -> bool:
    """Whether the two names of the first row occur in no other, and most others are not so."""
    source, target = columns.ends
    if columns.names is None or len(source) < 2:
        return False
    degree = np.bincount(np.concatenate((source, target)))
    ends = 1 + (source == target)  # a loop has both
    alone = (degree[source] == ends) & (degree[target] == ends)
    return bool(alone[0]) and (len(source) < 4 or 2 * int(alone[1:].sum()) <= len(source) - 1)


def of_comments(columns: Columns, layout: Layout, text: Text) -> tuple[str, ...]:
    """How many lines that were left out as comments could be rows; one above may be a header."""
    if columns.names is None and layout.source == 0:
        return ()  # no number begins with a mark
    above, below = (
        [line for line in lines if _could_be_row(line, columns, layout)]
        for lines in (text.above, text.below)
    )
    if len(above) < 2 and layout.weight is None:
        above = []
    return _left_out(above + below, "though they could be rows")


def of_no_rows(text: Text) -> tuple[str, ...]:
    """Whether all rows of a text may have been left out as comments."""
    lines = [line for line in text.comments if _ROW.fullmatch(line)]
    return _left_out(lines, "and there are no rows")


def _left_out(lines: list[bytes], why: str) -> tuple[str, ...]:
    if not lines:
        return ()
    start = lines[0][:60].decode(errors="replace").strip()
    count = "1 line that begins" if len(lines) == 1 else f"{len(lines)} lines that begin"
    left = "is" if len(lines) == 1 else "are"
    return (
        f"{count} with {lines[0][:1].decode()!r}, such as {start!r}, {left} left out as comments, "
        f"{why if len(lines) > 1 else why.replace('they', 'it').replace('rows', 'a row')}; "
        f"{_WORDS} reads them",
    )


def _could_be_row(comment: bytes, columns: Columns, layout: Layout) -> bool:
    """Whether a comment, whose mark no blank follows, is a row like the others."""
    line = comment.decode(errors="replace").strip(BLANKS)
    if line[1:2] in ("", " ", "\t"):
        return False
    fields = layout.split(line)
    if len(fields) != layout.width:
        return False
    ends = (fields[layout.source], fields[layout.target])
    if not all(ends) or (columns.names is None and not all(map(INTEGER.fullmatch, ends))):
        return False
    return layout.weight is None or is_number(fields[layout.weight].replace(",", "."))
