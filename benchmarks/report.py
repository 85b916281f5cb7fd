"""Tables of a result: aligned text for the terminal, Markdown for the documentation.

python benchmarks/report.py [benchmarks/results/cpu.json]     # prints both again
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

ONE_THREAD = "torchcent 1 thread"
TOLERANCE = 1e-5  # relative error above which scores count as different


def speedup(row: dict[str, Any], peer: str, ours: str = "torchcent") -> float | None:
    """Median over the turns of peer's seconds per source over ours, None without both."""
    records = [row["contestants"].get(name, {}) for name in (peer, ours)]
    if any(not record.get("runs") for record in records) or any("error" in r for r in records):
        return None
    each = [[run["seconds"] / r["sources"] for run in r["runs"]] for r in records]
    return statistics.median(a / b for a, b in zip(*each, strict=True))


def one_shot(row: dict[str, Any], peer: str) -> float | None:
    """The same for a run from all sources with the building of the graph before it."""
    if speedup(row, peer) is None:
        return None
    theirs, ours = (
        r["prepare_seconds"] + r["seconds_per_source"] * row["num_nodes"]
        for r in (row["contestants"][peer], row["contestants"]["torchcent"])
    )
    return float(theirs / ours)


def peers_of(result: dict[str, Any]) -> list[str]:
    """Names of the peers with at least one time, in the order of the run."""
    names = {name: None for row in result["graphs"] for name in row["contestants"]}
    peers = [name for name in names if not name.startswith("torchcent")]
    return [peer for peer in peers if any(speedup(row, peer) for row in result["graphs"])]


def threads_of(result: dict[str, Any]) -> dict[str, int]:
    """Threads of every contestant."""
    rows = result["graphs"]
    return {name: r["threads"] for row in rows for name, r in row["contestants"].items()}


def error_text(record: dict[str, Any]) -> str:
    """What is to be said about a peer's values beside ours."""
    text = ""
    if record.get("not_finite"):
        text += f", {record['not_finite']:,} of its scores are inf or nan"
    if record.get("ours_not_finite"):
        text += f", {record['ours_not_finite']:,} of OUR scores are inf or nan"
    if "max_relative_error" in record:
        text += f", largest relative difference {record['max_relative_error']:.1e}"
        if record["max_relative_error"] > TOLERANCE:
            text += " DIFFERS"
    return text


def main_table(result: dict[str, Any]) -> list[list[str]]:
    peers, threads = peers_of(result), threads_of(result)
    columns = {f"x {peer} ({threads[peer]} thr.)": (peer, "torchcent") for peer in peers}
    if ONE_THREAD in threads:  # peers of one thread against one thread of ours
        alone = [peer for peer in peers if threads[peer] == 1]
        columns |= {f"1 thr. each: x {peer}": (peer, ONE_THREAD) for peer in alone}
    rows = [["graph", "n", "slots", "engine", "ms/source", "sources", *columns, "max rel. diff."]]
    group = None
    for row in result["graphs"]:
        ours = row["contestants"]["torchcent"]
        if row["group"] != group:
            group = row["group"]
            rows.append([f"{group}:"] + [""] * (len(rows[0]) - 1))
        each = ours.get("seconds_per_source")
        cells = [row["name"], f"{row['num_nodes']:,}", f"{row['num_slots']:,}"]
        cells += [ours.get("plan", {}).get("engine", ""), f"{1e3 * each:.4f}" if each else "failed"]
        cells.append("all" if ours.get("whole") else f"{ours.get('sources', 0):,}")
        for peer, side in columns.values():
            times = speedup(row, peer, side)
            cells.append("" if times is None else f"{times:.1f}")
        differences = [row["contestants"].get(p, {}).get("max_relative_error") for p in peers]
        known = [d for d in differences if d is not None]
        cells.append(f"{max(known):.0e}" if known else "")
        rows.append(cells)
    return rows


def group_table(result: dict[str, Any]) -> list[list[str]]:
    """Smallest, median and largest speed-up over each peer in each group of graphs."""
    peers = peers_of(result)
    if not peers:
        return []
    rows = [["group", *(f"x {peer}: least, median, most" for peer in peers)]]
    for group in dict.fromkeys(row["group"] for row in result["graphs"]):
        cells = [group]
        for peer in peers:
            times = [speedup(row, peer) for row in result["graphs"] if row["group"] == group]
            known = [x for x in times if x is not None]
            spread = (min(known), statistics.median(known), max(known)) if known else ()
            cells.append(", ".join(f"{x:.1f}" for x in spread))
        rows.append(cells)
    return rows


def variant_table(result: dict[str, Any]) -> list[list[str]]:
    """Engines and thread counts of ours: ms per source, and the ratio to `torchcent` itself."""
    names = {name: None for row in result["graphs"] for name in row["contestants"]}
    variants = [name for name in names if name.startswith("torchcent ")]
    if not variants:
        return []
    rows = [["graph", "torchcent ms"]]
    for variant in variants:
        label = variant.removeprefix("torchcent ")
        rows[0] += [f"{label} ms", f"{label} / torchcent"]
    for row in result["graphs"]:
        cells = [row["name"]]
        for name in ("torchcent", *variants):
            each = row["contestants"].get(name, {}).get("seconds_per_source")
            cells.append(f"{1e3 * each:.4f}" if each else "failed")
            if name != "torchcent":
                ratio = speedup(row, name)
                cells.append(f"{ratio:.2f}" if ratio else "")
        rows.append(cells)
    return rows


def memory_table(result: dict[str, Any]) -> list[list[str]]:
    """What a run took above its Graph, beside the plan, and in tables [n, 64] of float32."""
    rows = [
        ["graph", "engine", "lanes", "graph MB", "planned MB", "measured MB", "in [n, 64] tables"]
    ]
    for row in result["graphs"]:
        ours = row["contestants"]["torchcent"]
        if "memory" not in ours:
            continue
        plan, table = ours["plan"], 256 * row["num_nodes"]
        sizes = (ours["graph_bytes"], plan["memory"], ours["memory"])
        megabytes = [f"{size / 1e6:.1f}" for size in sizes]
        tables = f"{ours['memory'] / table:.1f}"
        rows.append([row["name"], plan["engine"], str(plan["lanes"]), *megabytes, tables])
    return rows


def notes(result: dict[str, Any]) -> list[str]:
    """Threads of everybody, wrong values, and why cells are empty."""
    versions, threads = result["machine"]["packages"], threads_of(result)
    told = [f"{name} {versions.get(name, '')}".strip() + f": {t}" for name, t in threads.items()]
    lines = ["Threads: " + ", ".join(told) + "."]
    for row in result["graphs"]:
        for name, record in row["contestants"].items():
            differs = record.get("max_relative_error", 0.0) > TOLERANCE
            if differs or record.get("not_finite") or record.get("ours_not_finite"):
                lines.append(f"{row['name']}, {name}" + error_text(record) + ".")
    return lines


def aligned(rows: list[list[str]]) -> str:
    body = [row for row in rows if any(row[1:])]
    widths = [max(len(row[i]) for row in body) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown(rows: list[list[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(rows[0]) - 1)
    body = [[f"*{row[0]}*", *row[1:]] if not any(row[1:]) else row for row in rows[1:]]
    return "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], rule, *body])


def print_report(result: dict[str, Any]) -> None:
    tables = {
        f"{result['measure']}: ms per source, and how many times faster": main_table(result),
        "Groups": group_table(result),
        "Engines and threads": variant_table(result),
        "Memory of a run": memory_table(result),
    }
    for form in (aligned, markdown):
        for title, rows in tables.items():
            if len(rows) > 1:
                print(f"\n{title}\n\n{form(rows)}")
    print("\n" + "\n".join(notes(result)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="print the tables of a result again")
    default = Path(__file__).parent / "results" / "cpu.json"
    parser.add_argument("result", type=Path, nargs="?", default=default)
    print_report(json.loads(parser.parse_args().result.read_text()))
