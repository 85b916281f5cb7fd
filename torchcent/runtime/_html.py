"""Small tables in HTML, as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

_CELL = '<td style="text-align:left">'


def rows(title: str, values: Mapping[str, object]) -> str:
    """A table with a row for each name and value."""
    lines = (
        f'<tr><th style="text-align:left">{escape(name)}</th>{_CELL}{escape(str(value))}</td></tr>'
        for name, value in values.items()
    )
    return _table(title, "", lines)


def columns(title: str, heads: Sequence[str], cells: Iterable[Sequence[object]]) -> str:
    """A table with a head above each column."""
    head = "".join(f'<th style="text-align:left">{escape(each)}</th>' for each in heads)
    lines = (
        "<tr>" + "".join(f"{_CELL}{escape(str(value))}</td>" for value in row) + "</tr>"
        for row in cells
    )
    return _table(title, f"<thead><tr>{head}</tr></thead>", lines)


def _table(title: str, head: str, lines: Iterable[str]) -> str:
    caption = f'<caption style="text-align:left">{escape(title)}</caption>'
    return f"<table>{caption}{head}<tbody>{''.join(lines)}</tbody></table>"
