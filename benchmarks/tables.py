"""Writes the measured tables into the documentation, between the marks that name their graphs.

    python benchmarks/tables.py [benchmarks/results]
    python benchmarks/tables.py --check    # writes nothing; exits 1 if a page differs

A mark `<!-- measured: GROUP -->` or `<!-- measured: GRAPH GRAPH ... -->` begins a table of
cpu.json, and `<!-- end -->` ends it. The other marks have the keys of WRITERS:

- `<!-- conditions: FILE ... -->`, what files of results were measured on (about.py);
- `<!-- distances: MEASURE [GRAPH] -->`, `<!-- mcl: all -->` or `<!-- mcl: GRAPH ... -->`;
- `<!-- reductions: DEVICE -->`, `<!-- roads: all -->` and `<!-- roads: meshes -->`;
- `<!-- reading: all -->` and `<!-- reading: start -->`, `<!-- papers: PAPER -->`;
- `<!-- exponents: NAME -->`, and `<!-- h200: NAME -->` (gpu_report.py);
- `<!-- KEY: all -->` of the others; one_shot.json is written by cpu.py.

Tables of a result that is not there stay as they are. The data of notebooks/papers.ipynb is written
as well (papers_extract.py).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import about
import approximation
import batches
import billion
import counterparts
import country
import current_flow
import distance_report
import exponent_report
import gap
import gpu_hybrid_bc
import gpu_profile
import gpu_report
import graph_encodings
import hierarchy_choice
import history
import loader
import one_by_one
import papers_extract
import preparation
import public_call
import reading
import reductions
import road_distances
import roads
import single_tables
from report import ONE_THREAD, markdown, one_shot, speedup

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results"
PAGES = [
    ROOT / "README.md", ROOT / "paper.md", *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/notes/*.md")),
]  # fmt: skip
PEERS = {"networkit": "x NetworKit (2 threads)", "igraph": "x igraph (1 thread)"}
Results = dict[str, Any]  # by name of the file


def of(name: str, table: Callable[..., str]) -> Callable[[Results, str], str]:
    """A table of one result that has no choice of rows."""
    return lambda results, wanted: table(results[name])


def chosen(name: str, table: Callable[..., str]) -> Callable[[Results, str], str]:
    return lambda results, wanted: table(results[name], wanted)


def h200(results: Results, wanted: str) -> str | None:
    return gpu_report.table(results["h200.json"], wanted, results["published.json"])


def read(results: Results, wanted: str) -> str:
    of_all = reading.starts if wanted == "start" else reading.table
    return of_all(results["reading.json"])


def distances(results: Results, wanted: str) -> str:
    measure, *names = wanted.split()
    rows = [row for row in results["distances.json"]["rows"] if row["measure"] == measure]
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


def ranges(result: dict[str, Any], wanted: str) -> str:
    """Least and most of the ratios of the tables, in a sentence: of peers, or of two threads."""

    def of_rows(rows: list[dict[str, Any]], peer: str) -> str:
        times = [x for row in rows if (x := speedup(row, peer)) is not None]
        form = ".1f" if peer == ONE_THREAD else ".0f"
        return f"{min(times):{form}} to {max(times):{form}} times"

    if wanted == "threads":
        return f"Two threads are {of_rows(result['graphs'], ONE_THREAD)} as fast as one."
    meshes = [row for row in result["graphs"] if row["group"].startswith("mesh")]
    others = [row for row in result["graphs"] if not row["group"].startswith("mesh")]
    said = (
        f"NetworKit {of_rows(rows, 'networkit')} as long, and igraph {of_rows(rows, 'igraph')}"
        for rows in (others, meshes)
    )
    takes = "On two cores, exact betweenness of social, web and protein networks takes"
    return f"{takes} {next(said)}. Of meshes and roads, searches take {next(said)}."


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


WRITERS: dict[str, Callable[[Results, str], str | None]] = {
    "conditions": lambda results, wanted: about.table(results, wanted.split()),
    "measured": chosen("cpu.json", betweenness_table),
    "ranges": chosen("cpu.json", ranges),
    "weights": chosen("cpu_weighted.json", betweenness_table),
    "oneshot": of("one_shot.json", one_shot_table),
    "public": of("public_call.json", public_call.table),
    "preparation": of("preparation.json", preparation.table),
    "reading": read,
    "reductions": chosen("reductions.json", reductions.table),
    "roads": chosen("roads.json", roads.table),
    "sums": of("road_distances.json", road_distances.table),
    "country": of("country.json", country.table),
    "billion": of("billion.json", lambda result: billion.table(result["rows"])),
    "choice": of("hierarchy_choice.json", hierarchy_choice.table),
    "history": of("history.json", history.table),
    "streets": of("streets.json", streets_table),
    "distances": distances,
    "flow": of("current_flow.json", current_flow.table),
    "loader": of("loader.json", lambda result: markdown(loader.table(result))),
    "calls": of("one_by_one.json", one_by_one.table),
    "mcl": chosen("mcl.json", mcl_table),
    "approximation": of("approximation.json", lambda result: markdown(approximation.table(result))),
    "batches": of("batches.json", batches.table),
    "encodings": of("encodings.json", graph_encodings.table),
    "gap": of("gap.json", gap.table),
    **{
        name: of(f"{name}.json", getattr(single_tables, name))
        for name in ("communities", "coverage", "cutoffs", "groups", "walks")
    },
    "h200": h200,
    "papers": counterparts.table,
    "hybrid": of("hybrid_bc.json", gpu_hybrid_bc.table),
    "profile": of("profile.json", gpu_profile.table),
    "exponents": chosen("exponents.json", exponent_report.table),
}
MARK = re.compile(rf"(<!-- ({'|'.join(WRITERS)}): (.+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def load(folder: Path = RESULTS) -> Results:
    return {path.name: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def rewritten(text: str, results: Results) -> tuple[str, int]:
    """A page with its tables as the results have them, and how many tables it has."""

    def replaced(mark: re.Match[str]) -> str:
        begin, kind, wanted, _, end = mark.groups()
        try:
            table = WRITERS[kind](results, wanted)
        except KeyError as missing:
            if f"{missing.args[0]}".endswith(".json"):
                return mark[0]
            raise
        return mark[0] if table is None else begin + table + "\n" + end

    return MARK.subn(replaced, text)


def main() -> int:
    parser = argparse.ArgumentParser(description="write the measured tables into the documentation")
    parser.add_argument("results", type=Path, nargs="?", default=RESULTS)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if they differ")
    given = parser.parse_args()
    results, stale = load(given.results), 0
    for page in PAGES:
        before = page.read_text()
        text, count = rewritten(before, results)
        if given.check and text != before:
            print(f"{page.relative_to(ROOT)}: not what the results have")
            stale += 1
        elif count > 0 and not given.check:
            page.write_text(text)
            print(f"{page.relative_to(ROOT)}: {count} tables")
    extract = papers_extract.FILE.read_text()
    if results.keys() >= papers_extract.NEEDED:
        extract = papers_extract.text(results)
    if not given.check:
        papers_extract.FILE.write_text(extract)
    elif papers_extract.FILE.read_text() != extract:
        print(f"{papers_extract.FILE.relative_to(ROOT)}: not what the results have")
        stale += 1
    return min(stale, 1)


if __name__ == "__main__":
    raise SystemExit(main())
