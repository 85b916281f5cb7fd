"""Writes the measured tables into the documentation, between the marks that name their graphs.

    python benchmarks/tables.py [benchmarks/results]

A mark `<!-- measured: GROUP -->` or `<!-- measured: GRAPH GRAPH ... -->` begins a table of
cpu.json, and `<!-- end -->` ends it. The other marks have the keys of FILES, which names the
results:

- `<!-- distances: MEASURE [GRAPH] -->`, `<!-- mcl: all -->` or `<!-- mcl: GRAPH ... -->`;
- `<!-- reductions: DEVICE -->`, `<!-- roads: all -->` and `<!-- roads: meshes -->`;
- `<!-- reading: all -->` and `<!-- reading: start -->`, `<!-- papers: PAPER -->`;
- `<!-- exponents: NAME -->`, and `<!-- h200: NAME -->` (gpu_report.py);
- `<!-- KEY: all -->` of the others; one_shot.json is written by cpu.py.

Tables of a result that is not there stay as they are.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from pathlib import Path
from typing import Any

import approximation
import current_flow
import distance_report
import exponent_report
import gpu_report
import hierarchy_choice
import history
import loader
import one_by_one
import papers
import preparation
import public_call
import reading
import reductions
import roads
from report import ONE_THREAD, markdown, one_shot, speedup

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md", ROOT / "paper.md", *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/notes/*.md")),
]  # fmt: skip
FILES = {
    "measured": "cpu.json",
    "oneshot": "one_shot.json",
    "public": "public_call.json",
    "preparation": "preparation.json",
    "reading": "reading.json",
    "reductions": "reductions.json",
    "roads": "roads.json",
    "choice": "hierarchy_choice.json",
    "history": "history.json",
    "streets": "streets.json",
    "weights": "cpu_weighted.json",
    "distances": "distances.json",
    "flow": "current_flow.json",
    "loader": "loader.json",
    "calls": "one_by_one.json",
    "mcl": "mcl.json",
    "approximation": "approximation.json",
    "h200": "h200.json",
    "papers": "papers.json",
    "exponents": "exponents.json",
}
MARK = re.compile(rf"(<!-- ({'|'.join(FILES)}): (.+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
PEERS = {"networkit": "x NetworKit (2 threads)", "igraph": "x igraph (1 thread)"}


def table(kind: str, result: dict[str, Any], wanted: str) -> str | None:
    """What a mark asks for, in Markdown; None if that was not measured."""
    if kind in ("measured", "weights"):
        return betweenness_table(result, wanted)
    if kind == "oneshot":
        return one_shot_table(result)
    if kind == "public":
        return public_call.table(result)
    if kind == "preparation":
        return preparation.table(result)
    if kind == "papers":
        return papers.table(result, wanted)
    if kind == "reading":
        return reading.starts(result) if wanted == "start" else reading.table(result)
    if kind == "reductions":
        return reductions.table(result, wanted)
    if kind == "roads":
        return roads.table(result, wanted)
    if kind == "choice":
        return hierarchy_choice.table(result)
    if kind == "history":
        return history.table(result)
    if kind == "streets":
        return streets_table(result)
    if kind == "h200":
        return gpu_report.table(result, wanted)
    if kind == "exponents":
        return exponent_report.table(result, wanted)
    if kind == "flow":
        return current_flow.table(result)
    if kind == "loader":
        return markdown(loader.table(result))
    if kind == "calls":
        return one_by_one.table(result)
    if kind == "mcl":
        return mcl_table(result, wanted)
    if kind == "approximation":
        return markdown(approximation.table(result))
    measure, *names = wanted.split()
    rows = [row for row in result["rows"] if row["measure"] == measure]
    if names:
        known = {row["name"]: row for row in rows}
        rows = [known[name] for name in names]
    return markdown(distance_report.table(rows))


def betweenness_table(result: dict[str, Any], wanted: str) -> str:
    """The rows of a group, or of the graphs that are named."""
    rows = [row for row in result["graphs"] if wanted in (row["group"], "all")]
    if not rows:
        known = {row["name"]: row for row in result["graphs"]}
        rows = [known[name] for name in wanted.split()]
    head = ["graph", "vertices", "slots", "engine", "ms per source", "sources"]
    scaling = any(speedup(row, ONE_THREAD) is not None for row in rows)
    lines = [[*head, *PEERS.values(), *(["2 threads over 1"] if scaling else [])]]
    for row in rows:
        ours = row["contestants"]["torchcent"]
        cells = [row["name"], f"{row['num_nodes']:,}", f"{row['num_slots']:,}"]
        cells += [ours["plan"]["engine"], f"{1e3 * ours['seconds_per_source']:.4f}"]
        cells.append("all" if ours["whole"] else f"{ours['sources']:,}")
        for peer in PEERS:
            times = speedup(row, peer)
            cells.append("" if times is None else f"{times:.0f}")
        if scaling:
            more = speedup(row, ONE_THREAD)
            cells.append("" if more is None else f"{more:.2f}")
        lines.append(cells)
    return markdown(lines)


def one_shot_table(result: dict[str, Any]) -> str:
    """Runs from all sources: building and search, and times faster, with building and without."""
    head = ["graph", "vertices", "slots", "building, s", "search of all, s"]
    lines = [[*head, *(f"{name}: prepared, one-shot" for name in PEERS.values())]]
    for row in result["graphs"]:
        ours = row["contestants"]["torchcent"]
        cells = [row["name"], f"{row['num_nodes']:,}", f"{row['num_slots']:,}"]
        search = ours["seconds_per_source"] * row["num_nodes"]
        about = "" if ours["whole"] else "~"
        cells += [
            f"{ours['prepare_seconds']:.3g}",
            about + f"{search:{',.0f' if search > 99 else '.3g'}}",
        ]
        for peer in PEERS:
            times, whole = speedup(row, peer), one_shot(row, peer)
            cells.append("" if times is None else f"{times:.1f}, {whole:.1f}")
        lines.append(cells)
    return markdown(lines)


def streets_table(result: dict[str, Any]) -> str:
    """Whole calls within a radius, and those of other tools once they have their networks."""
    measures = {
        "closeness": {"cityseer": "closeness", "igraph": "harmonic"},
        "betweenness": {"cityseer": "betweenness", "igraph": "betweenness"},
        "places": {"pandana": "places"},
        "local_betweenness": {},
        "straightness": {},
    }
    tools = ["cityseer", "igraph", "pandana", "momepy"]
    lines = [["streets", "vertices", "measure", "torchcent, s", *(f"{tool}, s" for tool in tools)]]
    for row in result["rows"]:
        for measure, names in measures.items():
            each = {tool: row[tool][name] for tool, name in names.items()}
            if measure in result["momepy"]:
                each["momepy"] = result["momepy"][measure]["seconds_per_vertex"] * row["vertices"]
            seconds = [row["torchcent"][measure], *(each.get(tool) for tool in tools)]
            cells = ["" if x is None else f"{x:,.3g}" if x < 1000 else f"{x:,.0f}" for x in seconds]
            name = measure.replace("_", " ")
            lines.append([f"{row['streets']:,}", f"{row['vertices']:,}", name, *cells])
    return markdown(lines)


def mcl_table(result: dict[str, Any], wanted: str) -> str:
    """Iterations, whole runs and mcl's iterations; ratios are medians of those of the turns."""
    rows = {row["graph"]: row for row in result["graphs"]}
    names = [*rows] if wanted == "all" else wanted.split()
    head = ["graph", "vertices", "edges", "iterations, s", "whole, s", "mcl, s", "x"]
    lines = [[*head, "processor, x", "as the paper, s", "torchcent mcl, s", "mcl as a whole, s"]]
    for name in names:
        runs = rows[name]["runs"]

        def seconds(contestant: str, key: str = "seconds", runs: dict[str, Any] = runs) -> str:
            if contestant not in runs:
                return ""
            return f"{statistics.median(run[key] for run in runs[contestant]):.2f}"

        def times(key: str, runs: dict[str, Any] = runs) -> str:
            pairs = zip(runs["torchcent"], runs["mcl"], strict=True)
            return f"{statistics.median(peer[key] / ours[key] for ours, peer in pairs):.1f}"

        lines.append(
            [name, f"{rows[name]['num_nodes']:,}", f"{rows[name]['edges']:,}"]
            + [seconds("torchcent"), seconds("torchcent, whole"), seconds("mcl")]
            + [times("seconds"), times("cpu_seconds")]
            + [seconds("torchcent, whole, as the paper"), seconds("torchcent mcl")]
            + [seconds("mcl", "whole_seconds") if "torchcent mcl" in runs else ""]
        )
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="write the measured tables into the documentation")
    default = Path(__file__).parent / "results"
    parser.add_argument("results", type=Path, nargs="?", default=default)
    folder = parser.parse_args().results
    found = {
        kind: json.loads((folder / name).read_text())
        for kind, name in FILES.items()
        if (folder / name).exists()
    }

    def replaced(mark: re.Match[str]) -> str:
        begin, kind, wanted, _, end = mark.groups()
        text = table(kind, found[kind], wanted) if kind in found else None
        return mark[0] if text is None else begin + text + "\n" + end

    for page in PAGES:
        text, count = MARK.subn(replaced, page.read_text())
        if count > 0:
            page.write_text(text)
            print(f"{page.relative_to(ROOT)}: {count} tables")


if __name__ == "__main__":
    main()
