"""Figures of ours that correspond to those of the five papers, read from the results."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

Results = dict[str, dict[str, Any]]
Ours = Callable[[Results], dict[str, str]]  # of "H200" and "CPU"
OLD, WITHIN = "old drawing", "with the drawing"
BASES = ("plain", "torchcent")  # on one thread of the CPU
SPEEDUP = "over one thread: plain (torchcent)"
AS_THE_PAPER = {
    "torchcent, whole, as the paper": "not pruned",
    "mcl, not pruned": "`mcl` not pruned",
    "torchcent, whole": "pruned",
    "mcl": "`mcl` pruned",
}
TABLE_3 = ("rt-higgs", "mt-higgs", "ER", "Kronecker")


def short(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 1000 else f"{seconds:.3g}"


def call(workload: str, measure: str) -> Ours:
    """Public calls of papers.json: on a prepared Graph and, in brackets, on a new one."""

    def of(results: Results) -> dict[str, str]:
        cells = {}
        for kind, name in (("cuda", "H200"), ("cpu", "CPU")):
            for row in results["papers.json"].get(kind, {}).get("rows", ()):
                if (row["workload"], row["measure"]) == (workload, measure):
                    cells[name] = f"{row['seconds']:.3g} ({row['first']:.3g})"
                    if row.get("searched") != row["sources"] and "drawn" in row:
                        cells[name] += f", {row['searched']:,} sources"
                    if row["sources"] and row.get("drawn") == "degree > 0":
                        cells[name] += f", {WITHIN}"
                    if row["sources"] and "drawn" not in row and row["isolated"]:
                        share = row["isolated"] / row["nodes"]
                        cells[name] += f", {OLD}: {share:.1%} of the vertices isolated"
        return cells

    return of


def over_one_thread(workload: str, measure: str) -> Ours:
    """How many times as fast as one thread of the CPU beside it: a plain program, and torchcent."""

    def of(results: Results) -> dict[str, str]:
        for row in results["papers.json"].get("cuda", {}).get("rows", ()):
            if (row["workload"], row["measure"]) == (workload, measure) and "one_thread" in row:
                times = {x: y / row["seconds"] for x, y in row["one_thread"].items()}
                return {SPEEDUP: f"{short(times['plain'])} ({short(times['torchcent'])})"}
        return {}

    return of


def range_over_one_thread(results: Results) -> dict[str, str]:
    """Least and most of the graphs of gpu-fan's Figures 3a and 3b, all four measures."""
    rows = [
        row
        for row in results["papers.json"].get("cuda", {}).get("rows", ())
        if row["paper"] == "gpu-fan" and row["table"] in ("3a", "3b") and "one_thread" in row
    ]
    if not rows:
        return {}
    times = [sorted(row["one_thread"][x] / row["seconds"] for row in rows) for x in BASES]
    plain, ours = (f"{short(each[0])} to {short(each[-1])}" for each in times)
    return {SPEEDUP: f"{plain} ({ours})"}


def all_pairs(workload: str) -> Ours:
    """Betweenness of papers.json, and all pairs of distances by the time of some sources."""
    betweenness = call(workload, "betweenness")

    def of(results: Results) -> dict[str, str]:
        cells = betweenness(results)
        for kind, name in (("cuda", "H200"), ("cpu", "CPU")):
            if name not in cells:
                continue
            said = "not run yet" if name == "H200" else ""
            for row in results["papers.json"].get(kind, {}).get("rows", ()):
                if (row["workload"], row["measure"]) == (workload, "shortest_path_lengths"):
                    joined = row["nodes"] - row["isolated"]
                    whole = row["seconds"] / row["searched"] * joined
                    said = f"{short(whole)}, by {row['searched']:,} sources"
            cells[name] += f"; all pairs {said}" if said else ""
        return cells

    return of


def clustered(on_device: str, on_host: str, contestant: str) -> Ours:
    """Whole runs of mcl on both, and the iterations of the program mcl."""

    def of(results: Results) -> dict[str, str]:
        (row,) = (row for row in results["h200.json"]["mcl"] if row["name"] == on_device)
        (runs,) = (x["runs"] for x in results["mcl.json"]["graphs"] if x["graph"] == on_host)
        host, peer = (
            statistics.median(run["seconds"] for run in runs[name]) for name in (contestant, "mcl")
        )
        return {"H200": short(row["seconds"]), "CPU": f"{short(host)}; `mcl` {short(peer)}"}

    return of


def as_the_paper(name: str) -> Ours:
    """Of the paper's own input: runs without pruning on both, and `mcl` with and without."""

    def of(results: Results) -> dict[str, str]:
        cells = {}
        for row in results["h200.json"]["mcl"]:
            if row["name"] == name:
                cells["H200"] = f"{short(row['seconds'])}; {row['clusters']:,} clusters"
        for row in results["mcl.json"]["graphs"]:
            if row["graph"] == name:
                key, of_processor = "seconds", ""
                if row["conditions"]["note"]:  # busy: the clock says little then
                    key, of_processor = "cpu_seconds", "seconds of the processor: "
                parts = [
                    f"{words} {short(statistics.median(run[key] for run in row['runs'][x]))}"
                    for x, words in AS_THE_PAPER.items()
                    if x in row["runs"]
                ]
                clusters = row["runs"]["torchcent, whole"][-1]["clusters"]
                cells["CPU"] = f"{of_processor}{', '.join(parts)}; {clusters:,} clusters"
        return cells

    return of


def proteins(name: str) -> Ours:
    def of(results: Results) -> dict[str, str]:
        (runs,) = (x["runs"] for x in results["mcl.json"]["graphs"] if x["graph"] == name)
        host, peer = (
            statistics.median(run["seconds"] for run in runs[each])
            for each in ("torchcent, whole", "mcl")
        )
        return {
            "H200": call(name, "mcl")(results)["H200"],
            "CPU": f"{short(host)}; `mcl` {short(peer)}",
        }

    return of


def strategies(name: str) -> Ours:
    """Microseconds per source of the best of the paper's strategies, and of auto."""

    def of(results: Results) -> dict[str, str]:
        (row,) = (x for x in results["h200.json"]["weighted_strategies"] if x["name"] == name)
        best = {kind: min(row[kind], key=row[kind].__getitem__) for kind in ("locked", "unlocked")}
        cells = [
            f"{words} {short(1e6 * row[kind][best[kind]])} ({best[kind]})"
            for kind, words in (("locked", "with locks"), ("unlocked", "without"))
        ]
        return {"H200": ", ".join([*cells, f"`auto` {short(1e6 * row['auto'])} us per source"])}

    return of


def warps(strategy: str) -> Ours:
    """Microseconds per source on the networks of Table 3 that were measured with a strategy."""

    def of(results: Results) -> dict[str, str]:
        rows = {row["name"]: row["locked"] for row in results["h200.json"]["weighted_strategies"]}
        known = [name for name in TABLE_3 if strategy in rows.get(name, {})]
        cells = ", ".join(f"{name} {short(1e6 * rows[name][strategy])}" for name in known)
        return {"H200": f"{cells} us per source"} if known else {}

    return of


def best_over_plain(results: Results) -> dict[str, str]:
    """Of the networks of Table 2, with locks; beside the paper's for those of low mean degree."""
    table = results["published.json"]["papers"]["fan"]["tables"]["Table 2"]
    rows = [
        row for row in results["h200.json"]["weighted_strategies"] if row["name"] in table["rows"]
    ]  # fmt: skip
    gains = {row["name"]: row["locked"]["NP"] / min(row["locked"].values()) for row in rows}
    low = [row["name"] for row in rows if row["slots"] < 32 * row["nodes"]]
    there = []
    for name in low:
        times = dict(zip(table["columns"], table["rows"][name], strict=True))
        there.append(times["NP"] / min(times[s] for s in rows[0]["locked"]))
    ours, theirs = statistics.mean(gains[name] for name in low), statistics.mean(there)
    return {
        "H200": f"mean {statistics.mean(gains.values()):.3g} on {len(gains)} networks, with locks; "
        f"on the {len(low)} of low degree {ours:.3g}, where the paper's is {theirs:.3g}"
    }


def adaptive(results: Results) -> dict[str, str]:
    rows = results["coverage.json"]["rows"]
    good = all(row["adaptive"]["most_wrong_of_a_vertex"] == 0 for row in rows)
    runs = " and ".join(sorted({str(row["runs"]) for row in rows}))
    said = "all" if good else "not all"
    return {"CPU": f"{runs} runs on each of {len(rows)} graphs: {said} estimates within the factor"}


def traversals(kind: str, graph: str) -> Ours:
    """Strategies of one kernel on the largest graph of a curve, or as gpu.py has them of one."""

    def of(results: Results) -> dict[str, str]:
        names = ("cooperative", "work_efficient", "edge_parallel")
        curve = [x for x in curves(results, "multi-search 3") if x["kind"] == kind]
        if curve:
            last = max(curve, key=lambda row: int(row["scale"]))
            said = (f"{name.replace('_', '-')} {short(last[name])}" for name in names)
            return {"H200": f"betweenness, scale {last['scale']}: {', '.join(said)} us per source"}
        (row,) = (row for row in results["h200.json"]["rows"] if row["graph"] == graph)
        said = (f"{name.replace('_', '-')} {row['strategies'][name]:.3g}" for name in names)
        return {"H200": f"betweenness of {graph}, slot-GTEPS: {', '.join(said)}"}

    return of


def curves(results: Results, figure: str) -> list[dict[str, Any]]:
    """What gpu_figures.py has of a figure; nothing if it was not run."""
    rows: list[dict[str, Any]] = results["h200.json"].get("figures", {}).get(figure, [])
    return rows


def between(values: list[float]) -> str:
    return f"{short(min(values))} to {short(max(values))}"


def over_edges(results: Results) -> dict[str, str]:
    """Figure 2 of gpu-fan: how many times as fast as a thread per edge and a block per source."""
    rows = curves(results, "gpu-fan 2")
    if not rows:
        return {}
    gains = [[row["edge_parallel"] / row[name] for row in rows] for name in ("cooperative", "auto")]
    return {
        "H200": f"cooperative {between(gains[0])}, `auto` {between(gains[1])} times as fast as "
        f"edge-parallel on {len(rows)} networks"
    }


def at_once(results: Results) -> dict[str, str]:
    """Figure 3 of Sriram et al.: how many times as fast as on one multiprocessor."""
    rows = {
        row["at_once"]: row["seconds"]
        for row in curves(results, "sriram 3") if row["strategy"] == "node_parallel"
    }  # fmt: skip
    if not rows:
        return {}
    gains = ", ".join(f"{short(rows[1] / rows[n])} on {n}" for n in sorted(rows) if n > 1)
    return {"H200": f"times as fast as on one, node-parallel: {gains}"}


def panels(results: Results) -> dict[str, str]:
    """Figure 3 of Fan, Xu and Zhao: the strategies over the node-parallel one."""
    rows = curves(results, "fan 3")
    if not rows:
        return {}
    names = ("WE", "NP+warp32", "WE+warp32")
    said = (f"{name} {between([row['NP'] / row[name] for row in rows])}" for name in names)
    return {"H200": f"times as fast as NP: {', '.join(said)} on {len(rows)} graphs, with locks"}


def doubled(results: Results) -> dict[str, str]:
    """Figure 2 of multi-search: seconds of twice the edges, and of twice the vertices."""
    rows = {(x["scale"], x["degree"]): x["seconds"] for x in curves(results, "multi-search 2")}
    if not rows:
        return {}
    edges = [y / rows[s, d // 2] for (s, d), y in rows.items() if (s, d // 2) in rows]
    vertices = [y / rows[s - 1, d] for (s, d), y in rows.items() if (s - 1, d) in rows]
    means = f"{statistics.mean(edges):.3g}, twice the vertices {statistics.mean(vertices):.3g}"
    return {"H200": f"twice the edges {means} times the seconds"}
