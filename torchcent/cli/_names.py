"""Files and options that name vertices: a name per line, or a name and a number.

Names may hold blanks, tabs and commas. A name that is no vertex as it stands is read without its
double quotes, as in CSV, where it may hold line ends, too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator

from torchcent.io import read_clusters
from torchcent.io._files import load_bytes, split_suffix, text_bytes, text_lines
from torchcent.io._layout import separator_of

#: names of the column with the parts, in the tables that are written; otherwise it is the last one
_OF_PARTS = ("community", "cluster")

_NAME_AND_NUMBER = re.compile(r"(.*?)(?:[ \t]*[,;\t][ \t]*|\s+)([^\s,;]+)", re.DOTALL)


def read_states(path: str, known: Collection[str]) -> Iterator[tuple[int, str, float]]:
    """The line number, the name and the number of each line: what stands last is the number.

    Raises:
        ValueError: a line ends with no number, except for a header.
    """
    for number, line in _logical(path, known, with_number=True):
        match = _NAME_AND_NUMBER.fullmatch(line)
        name, text = (match[1], match[2]) if match else ("", line)
        try:
            state = float(text)
        except ValueError:
            if number == 1:  # header
                continue
            raise ValueError(f"{path}:{number}: {text!r} is not a number") from None
        yield number, plain(name, known), state


def read_names(path: str, known: Collection[str]) -> Iterator[tuple[int, str]]:
    """The line number and the name of each line."""
    for number, line in _logical(path, known, with_number=False):
        yield number, plain(line, known)


def read_parts(path: str) -> Iterator[tuple[str, str, str]]:
    """Where each vertex stands, its name and its part: in lines of names, or in a table.

    Raises:
        ValueError: a table has no column `label`, or a row that is too short.
    """
    if split_suffix(path)[0] not in (".csv", ".tsv"):
        for at, names in enumerate(read_clusters(path), 1):
            yield from ((f"{path}, community {at}", name, str(at)) for name in names)
        return
    text = text_bytes(path, load_bytes(path)).decode("utf-8-sig")
    separator = separator_of(text.partition("\n")[0]) or ","
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    header = next(rows, [])
    if "label" not in header or len(header) < 2:
        raise ValueError(f"{path}: has no columns 'label' and 'community' in its first row")
    label = header.index("label")
    part = next((header.index(x) for x in _OF_PARTS if x in header), len(header) - 1)
    for row in rows:
        where = f"{path}:{rows.line_num}"
        if len(row) != len(header):
            raise ValueError(f"{where}: has {len(row)} values; its header has {len(header)}")
        yield where, row[label], row[part]


def plain(name: str, known: Collection[str]) -> str:
    """The name, without quotes where it is no vertex with them."""
    if name in known or len(name) < 2 or not (name[0] == name[-1] == '"'):
        return name
    return name[1:-1].replace('""', '"')


def listed(text: str) -> list[str]:
    """The names between commas; one in double quotes may hold commas."""
    if not re.search(r'(^|,)"', text):
        return text.split(",")
    try:
        return next(csv.reader([text], strict=True))
    except csv.Error as error:
        raise ValueError(f"{text!r}: names in quotes are those of CSV ({error})") from None


def joined(names: list[str]) -> str:
    """Names between commas, as :func:`listed` reads them."""
    return ",".join(
        '"' + name.replace('"', '""') + '"' if "," in name or name[:1] == '"' else name
        for name in names
    )


def _logical(path: str, names: Collection[str], with_number: bool) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, those of a quoted name with line ends together."""
    lines = text_lines(path, text_bytes(path, load_bytes(path)))
    at = 0
    while at < len(lines):
        first, line = at + 1, lines[at].strip()
        at += 1
        match = _NAME_AND_NUMBER.fullmatch(line) if with_number else None
        name = line if match is None else match[1]
        if line.startswith('"') and line.count('"') % 2 and name not in names:
            end = at
            while end < len(lines) and lines[end].count('"') % 2 == 0:
                end += 1
            if end < len(lines):
                line = "\n".join([lines[at - 1], *lines[at : end + 1]]).strip()
                at = end + 1
        if line:
            yield first, line
