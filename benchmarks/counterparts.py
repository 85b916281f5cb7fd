"""The tables and figures of the five papers beside what corresponds to them here, in Markdown.

What a paper prints is in results/published.json, by paper, table and row. Ours are read from the
other results. A row without ours says why in its last column, which also says whether the workload
is the same; the machines never are. The rows are in counterpart_rows.py.
"""

from __future__ import annotations

from typing import Any

from counterpart_figures import OLD, SPEEDUP, Results, call, over_one_thread
from counterpart_rows import NO_PROGRAM, PAPERS, STAND_IN, Counterpart
from report import markdown


def number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,}"


def theirs(published: dict[str, Any], paper: str, each: Counterpart) -> str:
    """The figures of a row with their columns and their unit."""
    tables = published["papers"][paper]["tables"]
    if each.table == "Tables I to III":
        vertices, slots = tables["Table I"]["rows"][each.row]
        (pairs,) = tables["Table II"]["rows"][each.row]
        said = printed(tables["Table III"], each.row)
        return f"{vertices} and {slots} million; all pairs {pairs:,} s; {said}"
    if each.table not in tables or each.row not in tables[each.table]["rows"]:
        return ""
    if (paper, each.table) == ("fan", "Table 2"):
        return strategies_there(tables, each.row)
    return printed(tables[each.table], each.row)


def printed(table: dict[str, Any], row: str) -> str:
    pairs = zip(table["columns"], table["rows"][row], strict=True)
    known = [(name, number(x)) for name, x in pairs if x is not None]
    if table["unit"] == "s":
        return ", ".join(f"{name} {x}" + " s" * (name != "speedup") for name, x in known)
    if table["unit"] == "count":
        return ", ".join(f"{x} {name}" for name, x in known)
    if table["columns"][:2] == ["least", "most"] and len(known) > 1:
        mean = f", mean {known[2][1]}" if len(known) > 2 else ""
        return f"{known[0][1]} to {known[1][1]}{mean} {table['unit']}"
    if len(known) == 1 and len(table["columns"]) == 1:
        return f"{known[0][1]} {table['unit']}"
    return ", ".join(f"{name} {x}" for name, x in known) + f" ({table['unit']})"


def strategies_there(tables: dict[str, Any], row: str) -> str:
    """Of four threads, of the node-parallel strategy and of the best, which also per source."""
    table = tables["Table 2"]
    known = dict(zip(table["columns"], table["rows"][row], strict=True))
    times = {n: x for n, x in known.items() if x is not None and n.startswith(("NP", "WE"))}
    if row not in tables["Table 1"]["rows"]:
        return ", ".join(f"{name} {number(x)} s" for name, x in times.items())
    best = min(times, key=times.__getitem__)
    each = 1e6 * times[best] / tables["Table 1"]["rows"][row][0]
    threads = known["CPU, 4 threads"]
    return (
        f"4 threads {number(threads)} s, NP {number(times['NP'])} s, best {best} "
        f"{number(times[best])} s or {each:,.0f} us per source"
    )


def table(results: Results, wanted: str) -> str | None:
    """Of a paper, or one of the others below."""
    if wanted == "gpu-fan graphs":
        return graphs(results)
    if wanted == "programs":
        return programs(results)
    published = results["published.json"]
    machine = f"Theirs: {published['papers'][wanted]['machine']}.\n\n"
    networks = results["h200.json"]["weighted_strategies"]
    stand_ins = {row["name"]: row["stands_for_it"] for row in networks}
    lines = [["table", "row", "theirs", "graph here", "H200, s", "CPU, s", "fair"]]
    speedups = [each.speedup(results) if each.speedup else {} for each in PAPERS[wanted]]
    if any(speedups):  # of the results that have them
        lines[0].insert(5, SPEEDUP)
    for each, times in zip(PAPERS[wanted], speedups, strict=True):
        ours = each.ours(results) if each.ours else {}
        name = stand_ins.get(each.row, each.graph) if each.kind == STAND_IN else each.graph
        graph = each.kind if not name else f"{name}: {each.kind}"
        cells = [each.table, each.row, theirs(published, wanted, each), graph]
        fair = each.fair
        if each.ours is not None and not ours:
            fair = "no: not run yet"
        elif any(OLD in cell for cell in ours.values()):
            fair = "no: sources without neighbours end at once"
        elif times and fair == NO_PROGRAM:
            fair = "yes"
        over = [times.get(SPEEDUP, "")] if any(speedups) else []
        lines.append([*cells, ours.get("H200", ""), *over, ours.get("CPU", ""), fair])
    return machine + markdown(lines).replace("---:", "---")


def graphs(results: Results) -> str:
    """Seconds of four measures on the graphs of gpu-fan, on the H200 and on the CPU."""
    measures = ("betweenness", "closeness", "eccentricity", "stress")
    known = results["papers.json"]
    rows = [x for kind in ("cuda", "cpu") for x in known[kind]["rows"] if x["paper"] == "gpu-fan"]
    columns = ["H200", "CPU"]
    if any("one_thread" in row for row in known["cuda"]["rows"]):
        columns.append(SPEEDUP)
    heads = (f"{measure}: {', '.join(columns).split(':')[0]}" for measure in measures)
    lines = [["graph", *heads]]
    for name in dict.fromkeys(row["workload"] for row in rows):
        cells = [
            call(name, measure)(results) | over_one_thread(name, measure)(results)
            for measure in measures
        ]
        parts = ([cell.get(at, "-").split(" ")[0] for at in columns] for cell in cells)
        lines.append([name, *(", ".join(part) for part in parts)])
    return markdown(lines)


def programs(results: Results) -> str:
    """Other programs on the graphs of gpu_weighted.py."""
    others = results["published.json"]["programs"]
    lines = [["graph", "sources", "torchcent", *others["columns"]]]
    for row in results["h200.json"]["weighted"]:
        cells = [row["name"], f"{row['sources']:,}", f"{row['seconds']:.3g}"]
        lines.append([*cells, *others["rows"][row["name"]]])
    return others["about"].replace("`weighted`", "the weighted table") + "\n\n" + markdown(lines)
