"""Edge lists of other programs, rewritten as rows of two or three fields.

They are tried where a text is no edge list as it stands: comments behind edges and dictionaries of
attributes, as NetworkX reads and writes them, and delimiters at the end of every line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from torchcent.check import _columns as check_columns
from torchcent.check._values import shortened
from torchcent.io._budget import Budget
from torchcent.io._files import OTHERS, text_lines
from torchcent.io._layout import BLANKS, Choice, Text, is_number, separator_of, split_line

_TOKEN = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([{}\[\](),:])|([^\s'"{}\[\](),:]+))"""
)
#: How formats begin that are no edge lists, and what to do about them.
_OTHERS = (
    (r"\*(vertices|network|arcs|edges|matrix)", OTHERS[".net"]),
    (r"dl[ \t,]+(n|nr|nc|nm|format)[ \t]*=", OTHERS[".dl"]),
    (
        r"<(\?xml|!doctype|html|graphml|gexf)",
        "XML, not an edge list; format='graphml' (--format graphml) reads GraphML, "
        "networkx.read_gexf GEXF",
    ),
    (r'[{\[]\s*["{\[]', OTHERS[".json"]),
)
_ADJACENCY = re.compile(rb"#[ ]*GMT \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}[ \t]*")


class Rewritten(NamedTuple):
    """A text that may be an edge list, and how to read it."""

    text: Text
    choice: Choice
    header: bool | None
    remarks: tuple[str, ...] = ()


def refuse_others(path: str, text: Text, choice: Choice) -> None:
    """Raises an error for formats of graphs that are no edge lists."""
    first = text.body[:200].lstrip()
    for begin, advice in _OTHERS:
        is_json = advice.startswith("JSON")
        if re.match(begin.encode(), first, re.I) and (
            not is_json or text.body.rstrip()[-1:] in (b"}", b"]")
        ):
            raise ValueError(f"{path}:{text.number}: {advice}")
    head = text.body.lstrip()[:2000].partition(b"\n")[0].lower()
    if b"shared name" in head and b"source" not in head and choice.source is None:
        raise ValueError(
            f"{path}:{text.number}: a table of edges of Cytoscape that does not have their ends in "
            "columns of their own; export the network itself, as GraphML or SIF"
        )
    if any(map(_ADJACENCY.fullmatch, text.above)):
        raise ValueError(
            f"{path}: an adjacency list of networkx.write_adjlist, whose rows are a vertex and its "
            "neighbors; networkx.read_adjlist makes a graph of it that can be passed, "
            "networkx.write_edgelist an edge list"
        )


def others(
    text: Text, choice: Choice, header: bool | None, marks: str, limits: Budget
) -> Iterator[Rewritten]:
    """Other ways to read the text, the likeliest first."""
    try:
        limits.lines(text.body)
        lines = text_lines(limits.path, text.body)
    except (ValueError, MemoryError):
        return  # the caller has the error
    plain = _without_remarks(lines, marks)
    if plain != lines:
        yield Rewritten(_text(text, plain), choice, header)
    if any("{" in line for line in plain[:100]):
        parts = _dictionaries(limits.path, text, plain, choice)
        if parts is not None:
            yield parts
    plain = _without_ends(plain)
    if plain != lines:
        yield Rewritten(_text(text, plain), choice, header)


def _text(text: Text, lines: list[str]) -> Text:
    return replace(text, body="\n".join(lines).encode())


def _without_remarks(lines: list[str], marks: str) -> list[str]:
    """The lines without comments behind edges, which begin with a mark after a blank."""
    if not marks:
        return lines
    mark = re.compile(rf"[ \t][{re.escape(marks)}]")
    separator = None
    plain = []
    for line in lines:
        at = mark.search(line)
        while at is not None:
            before = line[: at.start()].rstrip(BLANKS)
            if separator is None:
                separator = separator_of(before)
            fields = split_line(before, separator)
            own = not separator or line[at.start()] == separator
            if len(fields) > 1 and (own or all(map(is_number, fields))):
                line = before
                break
            at = mark.search(line, at.end() - 1)
        if separator is None and line.strip(BLANKS):
            separator = separator_of(line)
        plain.append(line)
    return plain


def _without_ends(lines: list[str]) -> list[str]:
    """The lines without the delimiters at the end of every one of them."""
    separator = separator_of(next((line for line in lines if line.strip(BLANKS)), ""))
    if not separator:
        return lines
    strip = BLANKS.replace(separator, "")
    ends = [line.rstrip(strip) for line in lines]
    count = min((len(x) - len(x.rstrip(separator)) for x in ends if x.strip(BLANKS)), default=0)
    return [x[: len(x) - count] if x.strip(BLANKS) else x for x in ends] if count else lines


def _dictionaries(path: str, text: Text, lines: list[str], choice: Choice) -> Rewritten | None:
    """Rows of two ends and a dictionary, such as networkx.write_edgelist writes."""
    pairs: list[tuple[int, str, dict[str, str]]] = []
    separator = None
    for number, line in enumerate(lines, text.number):
        row = line.strip(BLANKS)
        if not row:
            continue
        at = row.find("{")
        if at < 0 or not row.endswith("}"):
            return None
        if separator is None:
            separator = separator_of(row[:at].rstrip(BLANKS))
        ends = row[:at].rstrip(BLANKS).removesuffix(separator)
        if len(split_line(ends, separator)) != 2:
            return None
        start = row[at:]
        attributes = (_attributes if len(start) < 100 else _attributes.__wrapped__)(start)
        if attributes is None:
            raise ValueError(f"{path}:{number}: {start[:60]!r} is not a dictionary of attributes")
        pairs.append((number, ends, attributes))
    if not pairs:
        return None
    keys = list(dict.fromkeys(key for _, _, data in pairs[:1000] for key in data))
    place = check_columns.weight(keys)
    key = None if place is None else keys[place]
    remarks = []
    if isinstance(choice.weight, str):
        key = choice.weight
        for number, _, data in pairs:
            if not is_number(data.get(key, "")):
                raise ValueError(
                    f"{path}:{number}: the edge has no number {shortened(key)}; weight_column= "
                    "names an attribute of every edge"
                )
    elif key is not None:
        numeric = sum(is_number(data.get(key, "")) for _, _, data in pairs)
        if numeric < len(pairs):
            remarks.append(
                f"{numeric} of {len(pairs)} edges have a number as their {key!r}; weights are left "
                "out"
            )
            key = None
    else:
        other = next((x for x in keys if is_number(pairs[0][2].get(x, ""))), None)
        if other is not None:
            remarks.append(
                f"attribute {other!r} holds numbers, but is not taken; weight_column={other!r} "
                "(--weight-column) takes it for weights"
            )
    between = separator or " "
    rows = {
        number: ends if key is None else f"{ends}{between}{data[key]}"
        for number, ends, data in pairs
    }
    body = [rows.get(number, "") for number, _ in enumerate(lines, text.number)]
    columns = Choice(choice.source, choice.target, None if key is None else 3)
    return Rewritten(_text(text, body), columns, False, tuple(remarks))


@lru_cache(maxsize=1024)
def _attributes(text: str) -> dict[str, str] | None:
    """The plain values of a dictionary that Python printed, as text; None if it is none."""
    tokens = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        tokens.append(token)
        at = token.end()
    if len(tokens) < 2 or tokens[0][3] != "{":
        return None
    data: dict[str, str] = {}
    depth, start = 1, 1
    for place, token in enumerate(tokens[1:], 1):
        depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(token[3], 0)
        if depth == 0 and place != len(tokens) - 1:
            return None
        if depth == 0 or (depth == 1 and token[3] == ","):
            item = tokens[start:place]
            if item:
                key = next((x for x in item[0].group(1, 2, 4) if x is not None), None)
                if key is None or len(item) < 3 or item[1][3] != ":":
                    return None
                data[key] = _value([x[3] or x[4] for x in item[2:]])
            start = place + 1
    return data if depth == 0 else None


def _value(words: list[str | None]) -> str:
    """The number that the tokens of a value are, as text: 2.5 or np.float64(2.5)."""
    if len(words) == 4 and words[1] == "(" and words[3] == ")":
        words = words[2:3] if re.fullmatch(r"(np|numpy)\.\w+", words[0] or "") else []
    return words[0] or "" if len(words) == 1 else ""
