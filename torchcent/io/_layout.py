"""The layout of a text edge list: comments and what they declare, columns and header."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from torchcent.check import _columns as check_columns
from torchcent.check._values import shortened
from torchcent.io._files import text_lines

MARKS = "#%"  # what comment lines begin with


@dataclass
class Text:
    """A text from its first row on, with comment lines blanked."""

    body: bytes
    number: int  # the line number of the first row
    above: list[bytes]  # comment lines above it
    below: list[bytes]  # and below

    @property
    def comments(self) -> list[bytes]:
        return self.above + self.below


def without_comments(data: bytes, marks: str = MARKS, number: int = 1) -> Text:
    """Takes lines that begin with one of the marks out of a text whose first line has a number.

    ``sep=;`` in the first line, by which spreadsheets separate fields, is left out, too.
    """
    mark = b"[" + re.escape(marks).encode() + b"]" if marks else b"(?!)"
    blank = re.compile(b"[ \t]*(" + mark + b"[^\n]*)?(?:\n|\\Z)")
    above = []
    heading = re.match(rb"sep=[,;\t]\n", data)
    start, number = (0, number) if heading is None else (heading.end(), number + 1)
    while start < len(data) and (line := blank.match(data, start)):
        if line[1] is not None:
            above.append(line[1])
        start, number = line.end(), number + 1
    body = data[start:]
    below = re.findall(b"\n[ \t]*(" + mark + b"[^\n]*)", body)
    if below:
        body = re.sub(b"\n[ \t]*" + mark + b"[^\n]*", b"\n", body)
    return Text(body, number, above, below)


@dataclass
class Declared:
    """What the comment lines of a file declare."""

    num_nodes: int | None = None
    directed: bool | None = None
    one_based: bool = False
    vertices: list[str] = field(default_factory=list)


def declared(path: str, lines: list[bytes]) -> Declared:
    """Parses the comments: ``# Nodes: n`` (SNAP, torchcent), KONECT's ``% asym`` and counts."""
    header = Declared()
    if not lines:
        return header
    comments = [line.strip()[1:].strip() for line in text_lines(path, b"\n".join(lines))]
    konect = False
    for comment in comments:
        words = comment.split()
        if match := re.search(r"\bnodes:\s*(\d+)", comment, re.I):
            header.num_nodes = counted(path, match[1])
        elif match := re.match(r"(un)?directed\b.*\bgraph\b", comment, re.I):
            header.directed = match[1] is None
        elif comment.startswith("vertex "):
            header.vertices.append(comment[7:])
        elif len(words) >= 2 and words[0] in ("sym", "asym", "bip"):
            konect = True
            if words[0] == "bip":
                raise ValueError(
                    f"{path}: a bipartite KONECT file, whose two columns number different "
                    "vertices; give the right-hand vertices ids of their own first"
                )
            header.directed = words[0] == "asym"
        elif konect and len(words) >= 2 and all(word.isdecimal() for word in words):
            header.num_nodes, header.one_based, konect = counted(path, words[1]), True, False
    return header


def counted(path: str, digits: str) -> int:
    """Returns a number of vertices or edges that a file claims."""
    if len(digits) > 18:
        raise ValueError(f"{path}: a count of {digits[:24]}..; accepted: at most 18 digits")
    return int(digits)


BLANKS = " \t"  # the only separators: no other control characters and no Unicode spaces
INTEGER = re.compile(r"-?[0-9]+")
#: Integers that are written in the one way in which they are printed.
PLAIN_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+")
#: A field with commas between semicolons: a decimal one, or those that blanks follow.
_IN_FIELD = re.compile(rf"[ \t]*{DECIMAL_COMMA.pattern}[ \t]*|[^,]*(?:, [^,]*)+")
#: A field in quotes, or a word, between blanks.
_QUOTED = re.compile(r'[ \t]*(?:"((?:[^"\\]|\\.|"")*)"(?=[ \t]|$)|([^ \t]+))')
#: A field between tabs. A quote that does not end where the field ends is part of it.
_TABBED = re.compile(r'(?:^|\t) *(?:"((?:[^"]|"")*)" *(?=\t|\Z)|([^\t]*))')
#: A field in quotes, between any separators.
_ENCLOSED = re.compile(r'(^|[\t,;]) *"(?:[^"]|"")*"(?= *(?:[\t,;]|\Z))')
_SEPARATORS = {"": "blanks", "\t": "tabs", ",": "commas", ";": "semicolons"}
ENDS = ("columns[0] (--source-column)", "columns[1] (--target-column)")


@dataclass
class Layout:
    """How lines are split into fields."""

    separator: str  # "" means any run of blanks and tabs
    width: int
    source: int
    target: int
    weight: int | None
    header: bool
    has_names: bool = False  # the first row has ids that are not plain integers
    doubtful: tuple[str, ...] = ()  # names of the columns taken that may be those of vertices
    remarks: tuple[str, ...] = ()  # what the caller should know
    said_directed: bool = False  # the first row says so, in a column "Type"
    quoted: bool = False  # fields between blanks or tabs may be in quotes, too
    named_above: bool = False  # the columns have their names in a comment
    heads: tuple[str, str] | None = None  # the names of the columns of ends
    first: tuple[list[str], ...] = ()  # the fields of the first rows

    @property
    def like_r(self) -> bool:
        """Whether fields between blanks may be in quotes."""
        return self.quoted and not self.separator

    @property
    def in_quotes(self) -> bool:
        """Whether fields between separators may be in quotes."""
        return bool(self.separator) and (self.quoted or self.separator != "\t")

    def split(self, line: str) -> list[str]:
        return split_line(line, self.separator, self.quoted)


class Choice(NamedTuple):
    """The columns that the caller chose: names, or numbers from 1."""

    source: int | str | None = None
    target: int | str | None = None
    weight: int | str | None = None


def split_blanks(line: str) -> list[str]:
    """Splits a line into the fields between blanks and tabs."""
    return [x for x in line.replace("\t", " ").split(" ") if x]


def split_line(line: str, separator: str, quoted: bool = False) -> list[str]:
    """The fields of a line, which may be in quotes; between blanks or tabs only if `quoted`."""
    if '"' not in line or (separator in ("", "\t") and not quoted):
        return [x.strip(BLANKS) for x in line.split(separator)] if separator else split_blanks(line)
    if not separator:
        parts = _QUOTED.findall(line)
        return [word or field.replace('\\"', '"').replace('""', '"') for field, word in parts]
    if separator == "\t":
        parts = _TABBED.findall(line)
        return [(word or field.replace('""', '"')).strip(BLANKS) for field, word in parts]
    try:
        fields = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    except csv.Error:  # an overlong field: every reader rejects an empty row
        return []
    return [x.strip(BLANKS) for x in fields]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def roles(
    where: str, names: Sequence[str], choice: Choice, numeric: Sequence[bool], header: bool = True
) -> tuple[int, int, int | None, tuple[str, ...]]:
    """Source, target and weight of a table, as chosen or by names, else the first; and remarks.

    Without a `header`, `names` are the first row. `numeric` tells which columns begin with numbers.
    """
    ends = check_columns.ends(names) if header else None
    free = [
        k for k, name in enumerate(names)
        if not (header and (check_columns.is_index(name) or check_columns.is_weight(name)))
    ]  # fmt: skip
    places = ends[:2] if ends else (free if len(free) > 1 else (0, 1))[:2]
    triples = (*zip(ENDS, choice[:2], places, strict=True), ("weight_column", choice[2], None))
    source, target, weight = (
        place if column is None else _chosen(where, argument, column, names)
        for argument, column, place in triples
    )
    assert source is not None and target is not None
    has_ends = choice.source is not None or choice.target is not None
    remarks = []
    if choice.weight is not None:
        pass
    elif header:
        weight = check_columns.weight(names, (source, target))
        words = weight is not None and weight < len(numeric) and not numeric[weight]
        if weight is not None and words and not check_columns.is_weight(names[weight]):
            remarks.append(
                f"column {names[weight]!r} is not taken for weights, because it does not begin "
                f"with a number; weight_column={names[weight]!r} (--weight-column) takes it"
            )
            weight = None
    elif len(names) > 2 and 2 not in (source, target):
        if numeric[2]:
            weight = 2
        elif not has_ends:
            raise ValueError(
                f"{where}: weight {names[2]!r} is not a number; if the third column has no "
                "weights, say which ones have the ends of the edges: columns= "
                "(--source-column, --target-column)"
            )
    if len({source, target, weight}) < 3:
        raise ValueError(
            f"{where}: columns and weight_column must differ, but they are "
            f"{source + 1}, {target + 1} and {'none' if weight is None else weight + 1}"
        )
    others = [k for k in free if k not in (source, target, weight)]
    if weight is None and 2 in others and any(numeric[2:3]):
        remarks.append(
            f"column {names[2]!r} holds numbers, but is not taken; "
            f"weight_column={names[2]!r} (--weight-column) takes it for weights"
        )
    if header and ends is None and not has_ends and others:
        remarks.append(
            f"columns {names[source]!r} and {names[target]!r} are taken for the ends of the edges; "
            "columns= (--source-column, --target-column) chooses others"
        )
    return source, target, weight, tuple(remarks)


def find_layout(path: str, text: Text, choice: Choice, header: bool | None = None) -> Layout:
    """The separator, width, header (None decides) and columns, found in the first two rows."""
    where = f"{path}:{text.number}"
    first, *rest = first_rows(path, text.body)
    separator = separator_of(first, *rest)
    quoted = separator == "\t"
    if not separator and '"' in first:  # as R writes it: all are in quotes or numbers
        quoted = all(not word or is_number(word) for _, word in _QUOTED.findall(first))
    fields = split_line(first, separator, quoted)
    if len(fields) < 2:
        raise ValueError(
            f"{where}: {first.strip()[:60]!r} has one field; an edge needs two, "
            "between blanks, tabs, commas or semicolons"
        )
    below = split_line(rest[0], separator, quoted) if rest else []
    if header is not False and len(below) == len(fields) + 1 and check_columns.ends(fields):
        fields, header = ["", *fields], True  # R gives the column of row names no name
    ends = check_columns.ends(fields)
    _refuse_matrix(where, fields, below)
    above = None if header else _names_above(text, fields, separator)
    names = fields
    doubtful: tuple[str, ...] = ()
    if titles := [x for x in choice if isinstance(x, str)]:
        if above and all(x in above for x in titles) and not all(x in fields for x in titles):
            header = False
        elif header is False:
            raise ValueError(
                f"{where}: header=False (--no-header), but {shortened(titles[0])} names a column"
            )
        header = header is None or header
    elif header is None:
        places = [
            x - 1 if isinstance(x, int) else k for k, x in enumerate((choice.source, choice.target))
        ]
        header = _is_header(fields, ends, below, places, separator)
        if header and ends is not None and not ends.certain:
            doubtful = (fields[ends.source], fields[ends.target])
    if not header and above:
        names = above
    row = below if header else fields
    sample = zip(row, below if len(below) == len(row) else row, strict=True)
    numeric = [any(_is_weight(x, separator) for x in both) for both in sample]
    has_header = header or names is not fields
    source, target, weight, remarks = roles(where, names, choice, numeric, has_header)
    examples = [row[k] for k in (source, target) if k < len(row)]
    has_names = not all(map(PLAIN_INTEGER.fullmatch, examples))
    kind = next((k for k, x in enumerate(names) if x.lower() == "type"), len(row))
    directed = has_header and [x.lower() for x in row[kind:][:1]] == ["directed"]
    return Layout(
        separator, len(fields), source=source, target=target, weight=weight, header=header,
        has_names=has_names, doubtful=doubtful, remarks=remarks, said_directed=directed,
        quoted=quoted, named_above=names is above,
        heads=(names[source], names[target]) if has_header else None,
        first=(fields, below) if below else (fields,),
    )  # fmt: skip


def separator_of(first: str, below: str = "") -> str:
    """What separates the fields of the first row, and of the one below it."""
    outside = _ENCLOSED.sub(r"\1", first) if '"' in first else first
    separator = next((x for text in (outside, first) for x in "\t,;" if x in text), "")
    blanks = split_blanks(first)
    if separator == "\t" and all(map(is_number, blanks)):
        return ""
    if separator == ",":  # or decimal commas, or commas in names?
        rows = [row.split(";") for row in (first, below) if row]
        fields = [field for row in rows for field in row if "," in field]
        if 1 < len(rows[0]) == len(rows[-1]) and all(map(_IN_FIELD.fullmatch, fields)):
            return ";"
        for other, fields in ((";", first.split(";")), ("", blanks)):
            commas = [x for x in fields if "," in x]
            if len(fields) > 2 and all(DECIMAL_COMMA.fullmatch(x.strip(BLANKS)) for x in commas):
                return other if other or commas == fields[2:] else separator
    return separator


def _names_above(text: Text, fields: list[str], separator: str) -> list[str] | None:
    """The names of the columns in the comment above the first row, as SNAP and BioGRID have it."""
    if not text.above:
        return None
    last = text.above[-1][1:].decode(errors="replace").strip(BLANKS)
    for mark in dict.fromkeys((separator, "\t", ",", "")):
        names = split_line(last, mark)
        if len(names) == len(fields) and check_columns.ends(names) is not None:
            return names
    return None


def _refuse_matrix(where: str, fields: list[str], below: list[str]) -> None:
    """Refuses a matrix whose rows and columns have names."""
    same = len(fields) == len(below) > 2 and below[0] == fields[1]
    if fields[0] == "" and same and all(map(is_number, below[1:])):
        raise ValueError(
            f"{where}: a matrix with names of its rows and columns, not a list of edges; read it "
            "with pandas.read_csv(..., index_col=0), and pass the table as a graph"
        )


def _chosen(where: str, argument: str, column: int | str, fields: Sequence[str]) -> int:
    if isinstance(column, int):
        if column > len(fields):
            raise ValueError(f"{where}: {argument}={column}, but the row has {len(fields)} columns")
        return column - 1
    for names in (list(fields), [x.lower() for x in fields]):
        if names.count(column) == 1:
            return names.index(column)
    text = ", ".join(map(repr, fields))
    raise ValueError(
        f"{where}: {argument}={shortened(column)} is no column of the header: {text[:200]}"
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
    """The first two rows that are not blank."""
    rows = (x[0] for x in re.finditer(rb"[^\n]+", body) if x[0].strip(b" \t"))
    return text_lines(path, b"\n".join(islice(rows, 2)))


def _is_weight(text: str, separator: str) -> bool:
    comma = separator != "," and DECIMAL_COMMA.fullmatch(text) is not None
    return comma or is_number(text)


def _is_header(
    fields: list[str], ends: check_columns.Ends | None, below: list[str], places: list[int],
    separator: str,
) -> bool:  # fmt: skip
    """Whether a row has two known names, words above numbers, or an empty name as R writes it."""
    if any(_is_weight(x, separator) for x in fields):
        return False
    if fields[0] == "" and len(fields) > 2:
        return True
    if ends is not None:
        beside = [below[k] for k in ends[:2] if k < len(below)] if ends.stem else []
        alike = re.compile(rf"{ends.stem}[_ -]?([0-9]+|[a-z])", re.I)
        return not any(map(alike.search, beside))  # gene1, gene2 above gene7, gene9
    if len(below) != len(fields):
        return False
    ids = [INTEGER.fullmatch(below[k]) is not None for k in places if k < len(below)]
    return all(ids) or (not any(ids) and len(below) > 2 and _is_weight(below[2], separator))
