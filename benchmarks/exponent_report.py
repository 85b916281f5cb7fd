"""Tables of exponents.py: how times grow, and what grows faster than it should."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from report import markdown

NOISE = 0.35
OWN = "own"


def is_above(row: dict[str, Any]) -> bool:
    return row["exponent"] is not None and row["exponent"] > row["expected"] + NOISE


def is_absent(row: dict[str, Any]) -> bool:
    """Whether a package that the call needs is not installed."""
    return row["error"] is not None and row["error"].startswith("ImportError")


def table(result: dict[str, Any], wanted: str) -> str:
    """`all`: the largest exponent of each call on each kind of graph, of those with and without
    weights. `above`: the rows above what is expected; `reasons`: why more than 1 is."""
    rows = result["rows"]
    if wanted == "above":
        return above(rows)
    if wanted == "reasons":
        return reasons(rows)
    cells: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cells[row["call"]][row["kind"]].append(row)
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    lines = [["call", *kinds]]
    for name, own in cells.items():
        lines.append([f"`{name}`", *(cell(own.get(kind, [])) for kind in kinds)])
    return markdown(lines)


def cell(rows: list[dict[str, Any]]) -> str:
    if rows and all(map(is_absent, rows)):
        return "not available"
    if not rows or all(row["error"] for row in rows):
        return "failed" if rows else ""
    values = [row["exponent"] for row in rows if row["exponent"] is not None]
    if not values:
        return "late" if any(row.get("late") for row in rows) else "<"
    text, most = f"{max(values):.1f}", max(row["expected"] for row in rows)
    if most != 1:
        text += f" ({most:g})"
    return f"**{text}**" if any(map(is_above, rows)) else text


def above(rows: list[dict[str, Any]]) -> str:
    lines = [["call", "graph", "weights", "exponent", "expected", "largest size", "seconds"]]
    for row in filter(is_above, rows):
        size, seconds, _ = row["points"][-1]
        lines.append(
            [f"`{row['call']}`", row["kind"], row["weights"], f"{row['exponent']:.1f}"]
            + [f"{row['expected']:g}", f"{size:,}", f"{seconds:.2f}"]
        )
    return markdown(lines)


def reasons(rows: list[dict[str, Any]]) -> str:
    """The calls of each reason for an exponent above 1."""
    calls: dict[tuple[str, float], dict[str, None]] = defaultdict(dict)
    for row in rows:
        if row["expected"] > 1:
            calls[row["reason"], row["expected"]][f"`{row['call']}` ({row['kind']})"] = None
    lines = [["exponent", "reason", "calls"]]
    for (reason, most), names in sorted(calls.items()):
        kinds: dict[str, list[str]] = defaultdict(list)
        for name in names:
            call, kind = (
                name[:-1].split(" (", 1) if name.count(" (") == 1 else name[:-1].rsplit(" (", 1)
            )
            kinds[call].append(kind)
        lines.append(
            [f"{most:g}", reason, "; ".join(f"{c}: {', '.join(k)}" for c, k in kinds.items())]
        )
    return markdown(lines)
