"""Comment lines of a text edge list, and what they declare."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

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
    said = re.match(rb"sep=[,;\t]\n", data)
    start, number = (0, number) if said is None else (said.end(), number + 1)
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
    said = Declared()
    if not lines:
        return said
    comments = [line.strip()[1:].strip() for line in text_lines(path, b"\n".join(lines))]
    konect = False
    for comment in comments:
        words = comment.split()
        if match := re.search(r"\bnodes:\s*(\d+)", comment, re.I):
            said.num_nodes = counted(path, match[1])
        elif match := re.match(r"(un)?directed\b.*\bgraph\b", comment, re.I):
            said.directed = match[1] is None
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
