"""Names in quotes: lines of names between tabs, of which some would not be read as they are.

mcl writes names as they are and has no quotes, so that a name may begin with one. A file in which
quotes have a meaning therefore begins with a comment that says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from torchcent.io._files import text_lines

HEADER = "# names in double quotes, as in CSV"
_MARK = re.compile(rb"(?:\xef\xbb\xbf)?" + HEADER.encode() + rb"[ \t]*(?:\r\n|\r|\n|\Z)")
_FIELD = re.compile(r'"((?:[^"]|"")*)"|([^\t\n]*)')
_NATIVE = "(mclheader"  # what a matrix begins with


def is_quoted(data: bytes) -> bool:
    """Whether the file says that some names are in quotes."""
    return _MARK.match(data) is not None


def quoted_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of names; with quotes where they are needed, after a line that says so."""
    needed = any(
        _breaks(name, at == 0, len(row) == 1) for row in rows for at, name in enumerate(row)
    )
    if needed:
        yield HEADER + "\n"
    for row in rows:
        if needed:
            row = [
                quoted(name) if name[:1] == '"' or _breaks(name, at == 0, len(row) == 1) else name
                for at, name in enumerate(row)
            ]
        yield "\t".join(row) + "\n"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _breaks(name: str, first: bool, alone: bool) -> bool:
    """Whether a name in a line would be read as something else."""
    if not name.strip() or any(x in name for x in "\t\n\r\0"):
        return True
    if first and (name[0] in "#\ufeff" or name.lstrip().startswith(_NATIVE)):
        return True
    return alone and name.split() != [name]


def read_quoted(path: str | os.PathLike[str], data: bytes) -> list[list[str]]:
    """The names of each line; empty lines and comments are left out.

    Raises:
        ValueError: a quote does not end, or text follows it; the message names the line.
    """
    text = "\n".join(text_lines(path, data.removeprefix(b"\xef\xbb\xbf")))
    rows: list[list[str]] = []
    row: list[str] = []
    at, begins = 0, True
    while at < len(text):
        if begins and text[at] == "#":
            at = _end_of_line(text, at) + 1
            continue
        found = _FIELD.match(text, at)
        assert found is not None  # the second part matches nothing, too
        name, at = found[1], found.end()
        if name is None and found[2][:1] != '"':
            name = found[2].removesuffix("\r")
            if name:
                row.append(name)
        elif name is not None and text[at : at + 1] in ("", "\t", "\n", "\r"):
            row.append(name.replace('""', '"'))
            at += text[at : at + 1] == "\r"
        else:
            line = text.count("\n", 0, found.start()) + 1
            shown = text[found.start() : _end_of_line(text, found.start())]
            raise ValueError(f"{path}:{line}: a quote that does not end there: {shown[:60]!r}")
        begins = text[at : at + 1] != "\t"
        if begins and row:
            rows.append(row)
            row = []
        at += 1
    if row:
        rows.append(row)
    return rows


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
