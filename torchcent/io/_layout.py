"""The layout of a text edge list: comments, columns and header."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field

from torchcent.check._values import shortened
from torchcent.io._files import text_lines

BLANKS = " \t"  # the only separators: no other control characters and no Unicode spaces
INTEGER = re.compile(r"-?[0-9]+")
_SEPARATORS = {"": "blanks", "\t": "tabs", ",": "commas", ";": "semicolons"}
_SOURCE = r"(source|src|from|tail|start)(_?(node|vertex))?(_?id)?|(node|id|vertex)(_?id)?_?(1|a)"
_TARGET = r"(target|dst|dest|to|head|end)(_?(node|vertex))?(_?id)?|(node|id|vertex)(_?id)?_?(2|b)"
_WEIGHT = r"weights?|w|values?|cost|length|distance|strength|score|count"
_BLANK = re.compile(rb"[ \t]*([#%][^\n]*)?")


@dataclass
class Layout:
    """How lines are split into fields."""

    separator: str  # "" means any run of blanks and tabs
    width: int
    source: int
    target: int
    weight: int | None
    header: bool
    has_names: bool = False  # the first row has ids that are not integers
    left: str | None = None  # the third column, if it holds numbers and is not taken


@dataclass
class Choice:
    """The columns that the caller chose: names, or numbers from 1."""

    source: int | str | None = None
    target: int | str | None = None
    weight: int | str | None = None

    @property
    def named(self) -> bool:
        return any(isinstance(x, str) for x in (self.source, self.target, self.weight))


@dataclass
class Declared:
    """What the comment lines of a file declare."""

    num_nodes: int | None = None
    directed: bool | None = None
    one_based: bool = False
    vertices: list[str] = field(default_factory=list)


def without_comments(data: bytes) -> tuple[bytes, int]:
    """The text from its first row on, with comment lines blanked, and that row's line number."""
    start, number = 0, 1
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        if not _BLANK.fullmatch(data, start, end):
            break
        start, number = end + 1, number + 1
    body = data[start:]
    if re.search(rb"\n[ \t]*[#%]", body):
        body = re.sub(rb"\n[ \t]*[#%][^\n]*", rb"\n", body)
    return body, number


def comment_lines(data: bytes) -> list[bytes]:
    if b"#" not in data and b"%" not in data:
        return []
    return [m.group(0) for m in re.finditer(rb"^[ \t]*[#%][^\n]*", data, re.M)]


def declared(path: str, lines: list[bytes]) -> Declared:
    """Parses the comments: ``# Nodes: n`` (SNAP, torchcent), KONECT's ``% asym`` and counts."""
    said = Declared()
    if not lines:
        return said
    comments = [line.strip()[1:].strip() for line in text_lines(path, b"\n".join(lines))]
    konect = False
    for comment in comments:
        words = comment.split()
        if found := re.search(r"\bnodes:\s*(\d+)", comment, re.I):
            said.num_nodes = counted(path, found[1])
        elif found := re.match(r"(un)?directed\b.*\bgraph\b", comment, re.I):
            said.directed = found[1] is None
        elif comment.startswith("vertex "):
            said.vertices.append(comment[7:])
        elif len(words) >= 2 and words[0] in ("sym", "asym", "bip"):
            konect = True
            if words[0] == "bip":
                raise ValueError(
                    f"{path}: a bipartite KONECT file, whose two columns number different "
                    "vertices; give the right-hand vertices ids of their own first"
                )
            said.directed = words[0] == "asym"
        elif konect and len(words) >= 2 and all(word.isdecimal() for word in words):
            said.num_nodes, said.one_based, konect = counted(path, words[1]), True, False
    return said


def counted(path: str, digits: str) -> int:
    """Returns a number of vertices or edges that a file claims."""
    if len(digits) > 18:
        raise ValueError(f"{path}: a count of {digits[:24]}..; accepted: at most 18 digits")
    return int(digits)


def split_blanks(line: str) -> list[str]:
    """Splits a line into the fields between blanks and tabs."""
    return [x for x in line.replace("\t", " ").split(" ") if x]


def split_line(line: str, separator: str) -> list[str]:
    if not separator:
        return split_blanks(line)
    if '"' in line and separator in ",;":
        try:
            return [x.strip(BLANKS) for x in next(csv.reader([line], delimiter=separator))]
        except csv.Error:  # an overlong field: every reader rejects an empty row
            return []
    return [x.strip(BLANKS) for x in line.split(separator)]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def find_layout(path: str, body: bytes, number: int, choice: Choice) -> Layout:
    """Finds the separator, width, header and column roles from the first two rows."""
    first, *rest = first_rows(path, body)
    separator = next((x for x in "\t,;" if x in first), "")
    if separator == "\t" and all(map(is_number, split_blanks(first))):
        separator = ""
    fields = split_line(first, separator)
    if len(fields) < 2:
        raise ValueError(
            f"{path}:{number}: {first.strip()[:60]!r} has one field; an edge needs two, "
            "between blanks, tabs, commas or semicolons"
        )
    names = [x.lower() for x in fields]
    below = split_line(rest[0], separator) if rest else []
    taken = [
        x - 1 if isinstance(x, int) else k for k, x in enumerate((choice.source, choice.target))
    ]
    header = choice.named or _is_header(fields, names, below, taken)
    source, target, weight = 0, 1, None
    if header:
        roles = [_find(names, kind) for kind in (_SOURCE, _TARGET)]
        if None not in roles and roles[0] != roles[1]:
            source, target = roles  # type: ignore[assignment]
    where = f"{path}:{number}"
    if choice.source is not None:
        source = _chosen(where, "source_column", choice.source, fields)
    if choice.target is not None:
        target = _chosen(where, "target_column", choice.target, fields)
    if choice.weight is not None:
        weight = _chosen(where, "weight_column", choice.weight, fields)
    elif header:
        weight = _find(names, _WEIGHT, (source, target))
    elif len(fields) > 2 and 2 not in (source, target):
        if any(map(is_number, [*fields[2:3], *below[2:3]])):
            weight = 2
        elif choice.source is None and choice.target is None:
            raise ValueError(
                f"{where}: weight {fields[2]!r} is not a number; if the third column has no "
                "weights, say which ones have the ends of the edges: source_column=, "
                "target_column= (--source-column, --target-column)"
            )
    if len({source, target, weight}) < 3:
        raise ValueError(
            f"{where}: source_column, target_column and weight_column must differ, but they are "
            f"{source + 1}, {target + 1} and {'none' if weight is None else weight + 1}"
        )
    row = below if header else fields
    ends = row[source : source + 1] + row[target : target + 1]
    has_names = not all(map(INTEGER.fullmatch, ends))
    left = None
    if weight is None and 2 not in (source, target) and any(map(is_number, row[2:3])):
        left = fields[2]
    return Layout(separator, len(fields), source, target, weight, header, has_names, left)


def _chosen(where: str, argument: str, column: int | str, fields: list[str]) -> int:
    """The place of a column that the caller chose."""
    if isinstance(column, int):
        if column > len(fields):
            raise ValueError(f"{where}: {argument}={column}, but the row has {len(fields)} columns")
        return column - 1
    for known in (fields, [x.lower() for x in fields]):
        if known.count(column) == 1:
            return known.index(column)
    shown = ", ".join(map(repr, fields))
    raise ValueError(
        f"{where}: {argument}={shortened(column)} is no column of the header: {shown[:200]}"
    )


def mixed_separators(fields: list[str], separator: str) -> str:
    """Advice for fields of which one holds numbers between separators other than the file's."""
    for text in fields:
        parts = [x for x in re.split(r"[ \t,;]+", text) if x]
        quoted = separator != "" and separator in text
        if len(parts) > 1 and all(map(is_number, parts)) and not quoted:
            name = _SEPARATORS[separator]
            return f"; {name} separate the fields of this file, use them throughout"
    return ""


def first_rows(path: str, body: bytes) -> list[str]:
    """Returns the first two rows that are not blank."""
    rows: list[bytes] = []
    start = 0
    while len(rows) < 2 and start < len(body):
        end = body.find(b"\n", start)
        end = len(body) if end < 0 else end
        if body[start:end].strip(b" \t"):
            rows.append(body[start:end])
        start = end + 1
    return text_lines(path, b"\n".join(rows))


def _find(names: list[str], kind: str, taken: tuple[int, ...] = ()) -> int | None:
    return next((k for k, x in enumerate(names) if re.fullmatch(kind, x) and k not in taken), None)


def _is_header(fields: list[str], names: list[str], below: list[str], taken: list[int]) -> bool:
    """Whether a row is a header: it has two known column names, or words above numbers."""
    if any(map(is_number, fields)):
        return False
    if _find(names, _SOURCE) is not None and _find(names, _TARGET) is not None:
        return True
    if len(below) != len(fields):
        return False
    ids = [INTEGER.fullmatch(below[k]) is not None for k in taken if k < len(below)]
    return all(ids) or (not any(ids) and len(below) > 2 and is_number(below[2]))
