"""Tables of a result of distances.py: aligned text for the terminal, Markdown for documentation.

python benchmarks/distance_report.py [benchmarks/results/distances.json]     # prints both again
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from report import aligned, error_text, markdown

TITLES = {
    "closeness": "Closeness of all vertices, seconds",
    "diameter": "Diameter, seconds",
    "apsp": "Distances between all pairs, seconds",
}
NAMES = {"scipy": "SciPy", "networkit": "NetworKit", "igraph": "igraph"}


def seconds_text(record: dict[str, Any]) -> str:
    """Of all vertices; ~ where only some were run, > where the run was given up."""
    if "limit" in record:
        return f"> {record['limit']:g}"
    if "seconds" not in record:
        return "failed"
    return ("" if record["whole"] else "~") + _digits(record["seconds"])


def speedup_text(row: dict[str, Any], peer: str) -> str:
    ours, theirs = row["contestants"]["torchcent"], row["contestants"][peer]
    if "seconds" not in ours or not {"seconds", "limit"} & theirs.keys():
        return ""
    mark = "> " if "limit" in theirs else ""
    return mark + _digits((theirs["limit"] if mark else theirs["seconds"]) / ours["seconds"], 2)


def _digits(value: float, most: int = 3) -> str:
    """Significant digits, and all those before the point."""
    if value >= 10 ** (most - 1):
        return f"{value:,.0f}"
    return f"{value:#.{most}g}".rstrip(".")


def table(rows: list[dict[str, Any]]) -> list[list[str]]:
    """One measure: times of everybody, and how many times longer than ours they are."""
    peers = list(dict.fromkeys(p for row in rows for p in row["contestants"] if p in NAMES))
    threads = {p: r["threads"] for row in rows for p, r in row["contestants"].items()}
    named = {p: f"{NAMES[p]} ({threads[p]} thr.)" for p in peers}
    head = ["graph", "vertices", "slots", f"torchcent ({threads['torchcent']} thr.)"]
    lines = [[*head, *named.values(), *(f"x {NAMES[p]}" for p in peers)]]
    for row in rows:
        everybody = row["contestants"]
        cells = [row["name"], f"{row['num_nodes']:,}", f"{row['num_slots']:,}"]
        cells += [seconds_text(everybody[p]) for p in ("torchcent", *peers)]
        lines.append([*cells, *(speedup_text(row, p) for p in peers)])
    return lines


def tables(result: dict[str, Any]) -> dict[str, list[list[str]]]:
    """The table of every measure that was run."""
    measures = dict.fromkeys(row["measure"] for row in result["rows"])
    return {m: table([row for row in result["rows"] if row["measure"] == m]) for m in measures}


def notes(result: dict[str, Any]) -> list[str]:
    """What went wrong, and the largest difference between values."""
    lines = []
    for row in result["rows"]:
        for name, record in row["contestants"].items():
            text = error_text(record)
            if "DIFFERS" in text or "error" in record:
                reason = record.get("error", "")
                lines.append(f"{row['measure']}, {row['name']}, {name}: {reason}{text}")
    differences = [
        record["max_relative_error"]
        for row in result["rows"]
        for record in row["contestants"].values()
        if "max_relative_error" in record
    ]
    if differences:
        lines.append(f"largest relative difference: {max(differences):.1e}")
    return lines


def print_report(result: dict[str, Any]) -> None:
    for form in (aligned, markdown):
        for measure, rows in tables(result).items():
            print(f"\n{TITLES[measure]}\n\n{form(rows)}")
    print("\n" + "\n".join(notes(result)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="print the tables of a result again")
    default = Path(__file__).parent / "results" / "distances.json"
    parser.add_argument("result", type=Path, nargs="?", default=default)
    print_report(json.loads(parser.parse_args().result.read_text()))
