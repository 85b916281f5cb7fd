"""Writes the measured tables into the documentation, between the marks that name their graphs.

    python benchmarks/tables.py [benchmarks/results/cpu.json]

A mark `<!-- measured: GROUP -->` or `<!-- measured: GRAPH GRAPH ... -->` begins a table and
`<!-- end -->` ends it.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from report import ONE_THREAD, markdown, speedup

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "docs" / "performance.md"]
MARK = re.compile(r"(<!-- measured: (.+?) -->\n)(.*?)(\n<!-- end -->)", re.DOTALL)
PEERS = {"networkit": "x NetworKit (2 threads)", "igraph": "x igraph (1 thread)"}


def table(result: dict[str, Any], wanted: str) -> str:
    """The rows of a group, or of the graphs that are named, in Markdown."""
    rows = [row for row in result["graphs"] if row["group"] == wanted]
    if not rows:
        known = {row["name"]: row for row in result["graphs"]}
        rows = [known[name] for name in wanted.split()]
    head = ["graph", "vertices", "slots", "engine", "ms per source", "sources"]
    lines = [[*head, *PEERS.values(), "2 threads over 1"]]
    for row in rows:
        ours = row["contestants"]["torchcent"]
        cells = [row["name"], f"{row['num_nodes']:,}", f"{row['num_slots']:,}"]
        cells += [ours["plan"]["engine"], f"{1e3 * ours['seconds_per_source']:.4f}"]
        cells.append("all" if ours["whole"] else f"{ours['sources']:,}")
        for peer in PEERS:
            times = speedup(row, peer)
            cells.append("" if times is None else f"{times:.0f}")
        more = speedup(row, ONE_THREAD)
        cells.append("" if more is None else f"{more:.2f}")
        lines.append(cells)
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="write the measured tables into the documentation")
    default = Path(__file__).parent / "results" / "cpu.json"
    parser.add_argument("result", type=Path, nargs="?", default=default)
    result = json.loads(parser.parse_args().result.read_text())
    for page in PAGES:
        text, count = MARK.subn(
            lambda mark: f"{mark[1]}{table(result, mark[2])}{mark[4]}", page.read_text()
        )
        if count == 0:
            raise SystemExit(f"{page} has no mark <!-- measured: ... -->")
        page.write_text(text)
        print(f"{page.relative_to(ROOT)}: {count} tables")


if __name__ == "__main__":
    main()
