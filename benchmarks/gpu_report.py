"""The tables of results/h200.json, in Markdown."""

from __future__ import annotations

import math
from typing import Any

from report import markdown

L2 = 7e12  # bytes per second that rows are read at


def table(result: dict[str, Any], wanted: str, published: dict[str, Any]) -> str | None:
    """In Markdown; None for what was not measured yet. `published` is results/published.json."""
    part = {"graphs": "rows", "strategies": "rows", "summary": "rows"}.get(wanted, wanted)
    part = "encodings" if wanted == "sizes of encodings" else part
    part = "weighted_strategies" if wanted == "strategies and auto" else part
    part = "scale" if wanted.startswith("scale") else part
    if part.replace(" ", "_") not in result:
        return None
    if wanted == "weighted":
        return weighted(result, published["programs"]["rows"])
    if wanted == "strategies and auto":
        return strategies_and_auto(result)
    if wanted == "weighted strategies":
        return weighted_strategies(result, published["papers"]["fan"]["tables"]["Table 2"])
    return {
        "graphs": graphs,
        "strategies": strategies,
        "distances": distances,
        "deep": deep,
        "flow": flow,
        "roads": roads,
        "dynamic": dynamic,
        "encodings": encodings,
        "sizes of encodings": sizes_of_encodings,
        "large encodings": large_encodings,
        "multi search": multi_search,
        "mcl": mcl,
        "approximation": approximation,
        "batches": batches,
        "tests": tests,
        "scale": scale,
        "scale runs": scale_runs,
        "summary": summary,
    }[wanted](result)


def graphs(result: dict[str, Any]) -> str:
    head = ["graph", "sources", "engine", "ms from edge_index", "on a Graph", "kernels"]
    head += ["slot-GTEPS", "asked"]
    lines = [[*head, "edge / node betweenness", "error", "memory MiB (planned)"]]
    for row in result["rows"]:
        engine = row["engine"] + (f", {row['lanes']}" if row["engine"] == "lanes" else "")
        cells = [row["graph"], f"{row['sources']:,}", engine]
        cells += [f"{1e3 * row[which]:.1f}" for which in ("one_shot", "later", "seconds")]
        cells += [f"{row['gteps']:.1f}", f"{row['target']}" if row["target"] else ""]
        cells += [f"{row['edge_ratio']:.2f}", f"{row['error']:.0e}"]
        cells.append(f"{row['memory'] / 2**20:.0f} ({row['memory_predicted'] / 2**20:.0f})")
        lines.append(cells)
    return markdown(lines)


def strategies(result: dict[str, Any]) -> str:
    rows = [row for row in result["rows"] if row["strategies"]]
    lines = [["graph", *rows[0]["strategies"]]]
    for row in rows:
        lines.append([row["graph"], *(f"{speed:.1f}" for speed in row["strategies"].values())])
    return markdown(lines)


def distances(result: dict[str, Any]) -> str:
    lines = [["question", "seconds", "asked", "difference from the CPU's"]]
    for row in result["distances"]:
        cells = [row["name"], f"{row['seconds']:.3f}", f"{row['target']:g}", f"{row['error']:.0e}"]
        lines.append(cells)
    return markdown(lines)


def deep(result: dict[str, Any]) -> str:
    whats = {"closeness": "sums of sources", "harmonic": "sums of vertices", "rows": "rows"}
    lines = [["graph", "vertices", "sources", "floor", *whats.values(), "`auto`", "difference"]]
    for row in result["deep"]:
        cells = [row["graph"], f"{row['vertices']:,}", f"{row['sources']:,}"]
        traffic = 24 * row["vertices"] + 4 * row["slots"]  # queue twice, ends; slots
        cells.append(f"{traffic * row['sources'] / L2:.3g}")
        for what in whats:
            cells.append(" / ".join(f"{row['seconds'][x][what]:.3g}" for x in ("bits", "queue")))
        cells[-1] += f" ({row['rows']:,})"
        lines.append([*cells, f"`{row['auto']}`", f"{row['difference']:.0e}"])
    return markdown(lines)


def approximation(result: dict[str, Any]) -> str:
    head = ["graph", "vertices", "slots", "method", "epsilon", "samples", "seconds", "asked"]
    lines = [[*head, "samples a second", "apart", "allowed"]]
    for row in result["approximation"]:
        linear = "scaling" in row or "linear" in row.get("pivots", "")
        method = "pivots, linear" if linear else row["method"]
        cells = [row["name"].split(", ")[0], f"{row['nodes']:,}", f"{row['slots']:,}", method]
        if row["name"].endswith("weights"):
            cells[0] += ", weights"
        cells += [f"{row['epsilon']:.1g}", f"{row['samples']:,}", f"{row['seconds']:.3f}"]
        cells.append(f"{row['target']:g}" if row["target"] else "")
        pace = row.get("samples_per_second")  # of whole runs with a time limit
        cells.append(f"{pace:,.0f}" if pace else "")
        lines.append([*cells, f"{row['apart']:.1e}", f"{row['allowed']:.1e}"])
    return markdown(lines)


def batches(result: dict[str, Any]) -> str:
    head = ["set", "graphs", "betweenness and closeness, ms", "asked", "of it preparation"]
    lines = [[*head, "edge betweenness, prepared", "weighted", "difference from the CPU's"]]
    for row in result["batches"]:
        cells = [row["name"], f"{row['graphs']:,}", f"{1e3 * row['seconds']:.2f}"]
        cells += [f"{1e3 * row['target']:g}" if row["target"] else ""]
        cells += [f"{1e3 * row[key]:.2f}" for key in ("preparation", "edges", "weighted")]
        lines.append([*cells, f"{row['error']:.0e}"])
    return markdown(lines)


def weighted(result: dict[str, Any], others: dict[str, list[str]]) -> str:
    head = ["graph", "sources", "engine", "whole weights", "asked", "uniform", "edge scores"]
    lines = [[*head, "code of the paper", "EasyGraph", "error", "memory MiB (planned)"]]
    for row in result["weighted"]:
        cells = [row["name"], f"{row['sources']:,}", row["engine"], f"{row['seconds']:.3f}"]
        cells += [f"{row['target']:g}", f"{row['uniform_seconds']:.3f}"]
        cells += [f"{row['edge_seconds']:.3f}", *others[row["name"]]]
        cells.append(f"{row['error']:.0e}")
        cells.append(f"{row['memory'] / 2**20:.0f} ({row['memory_predicted'] / 2**20:.0f})")
        lines.append(cells)
    return markdown(lines)


def mcl(result: dict[str, Any]) -> str:
    head = ["graph", "iterations", "clusters", "engine", "seconds", "asked", "peak GiB"]
    compared = "ms of the first iterations / of torch.sparse.mm for their product alone"
    lines = [[*head, "distance to the CPU's clusters", "engine `tensor`, seconds", compared]]
    for row in result["mcl"]:
        cells = [row["name"], str(row["iterations"]), f"{row['clusters']:,}", row["engine"]]
        cells += [
            f"{row['seconds']:.3f}",
            f"{row['target'] or '':}",
            f"{row['memory'] / 2**30:.1f}",
        ]
        cells.append(row["like_the_cpu"] or "")
        cells.append("" if row["tensor_seconds"] is None else f"{row['tensor_seconds']:.2f}")
        lines.append([*cells, in_words(row["expansions"])])
    return markdown(lines)


def scale(result: dict[str, Any]) -> str:
    """One device against several: seconds, efficiency, bits (gpu_scale.py)."""
    rows = {name: row for name, row in result["scale"].items() if "efficiency" in row}
    counts = sorted({count for row in rows.values() for count in row["seconds"]}, key=int)
    head = ["run", "slots", *(f"{n} GPU{'s' * (n != '1')}, seconds" for n in counts)]
    lines = [[*head, *(f"efficiency of {n}" for n in counts[1:]), "bits of one"]]
    for name, row in rows.items():
        calls = {name: (row["seconds"], row["efficiency"])}
        if "again" in row:
            calls = {
                f"{name}, first call": calls[name],
                f"{name}, next call": (row["again"], row["efficiency_again"]),
            }
        for call, (seconds, efficiency) in calls.items():
            cells = [call, f"{row['slots']:,}"]
            cells += [f"{seconds[n]:.2f}" if n in seconds else "" for n in counts]
            cells += [f"{efficiency[n]:.2f}" if n in seconds else "" for n in counts[1:]]
            lines.append([*cells, "yes" if row["same_bits"] else "no"])
    return markdown(lines)


def scale_runs(result: dict[str, Any]) -> str:
    """Large runs, and one that is killed."""
    lines = [["run", "vertices", "slots or entries", "seconds", ""]]
    for name, row in result["scale"].items():
        if "efficiency" in row:
            continue
        if "gteps" in row:
            more = f"{row['devices']} GPUs, {row['sources']:,} sources, {row['gteps']:.0f} GTEPS"
            more += "" if "drawn" in row else ", old drawing"
        elif "kills" in row:
            more = f"killed twice: {row['lost_seconds']:.1f} s lost, "
            more += "the same bits" if row["same_bits"] else "other bits"
        else:
            more = f"{row['iterations']} iterations, {row['clusters']:,} clusters, "
            pieces = f"{row['pieces']} pieces" if row["pieces"] != 1 else "in one piece"
            more += f"{row['ranks']} ranks" if row["ranks"] > 1 else pieces
        size = row.get("slots", row.get("entries"))
        lines.append([name, f"{row['nodes']:,}", f"{size:,}", f"{row['seconds']:.1f}", more])
    return markdown(lines)


def flow(result: dict[str, Any]) -> str:
    lines = [["graph", "edges", "betweenness", "closeness", "largest difference"]]
    for row in result["flow"]:
        most = max(row["error"], abs(row["foster"]))
        times = (f"{row[name]:.2f} s" for name in ("betweenness", "closeness"))
        lines.append([row["graph"], f"{row['edges']:,}", *times, f"{most:.0e}"])
    return markdown(lines)


def roads(result: dict[str, Any]) -> str:
    lines = [["graph", "vertices", "contraction, s", "measure", "device, s", "host, s (threads)"]]
    lines[0].append("searches, s")
    for row in result["roads"]:
        for measure in row["searched"]:
            cells = [row["graph"], f"{row['vertices']:,}", f"{row['contraction']:.2f}", measure]
            times = row["seconds"][measure]
            cells += [f"{times['device']:.3g}", f"{times['host']:.3g} ({row['threads']})"]
            lines.append([*cells, f"{row['searched'][measure]['dijkstra']:,.0f}"])
    return markdown(lines)


def dynamic(result: dict[str, Any]) -> str:
    lines = [["graph", "edges", "bytes of a pair", "whole", "first rows", "insert", "delete"]]
    lines[0] += [f"insert {size}" for size in result["dynamic"][0]["batches"]]
    for row in result["dynamic"]:
        old = ", old drawing" if "pivots" in row["graph"] and "drawn" not in row else ""
        cells = [row["graph"] + old, f"{row['edges']:,}", str(row["bytes"])]
        cells += [f"{1e3 * row['whole']:.0f} ms", f"{row['first']:.1f} s"]
        times = row["insert"], row["delete"], *row["batches"].values()
        lines.append([*cells, *(f"{1e3 * seconds:.1f} ms" for seconds in times)])
    return markdown(lines)


def encodings(result: dict[str, Any]) -> str:
    """Of molecules: seconds of each call, and of all of them."""
    rows = result["encodings"]["molecules"]
    lines = [["molecules", "vertices", *rows[0]["seconds"], "together"]]
    for row in rows:
        times = [*row["seconds"].values()]
        cells = [f"{1e3 * seconds:,.0f} ms" for seconds in (*times, sum(times))]
        lines.append([f"{row['graphs']:,}", f"{row['vertices']:,}", *cells])
    return markdown(lines)


def sizes_of_encodings(result: dict[str, Any]) -> str:
    """Microseconds per graph, and times what the sizes on both sides let expect."""
    known = {int(n): x for n, x in result["encodings"]["microseconds by size"].items()}
    sizes = [*known]
    lines = [["vertices", *map(str, sizes)], ["us per graph"], ["times the trend", ""]]
    lines[1] += [
        f"{x:.2g}" if x < 1 else f"{x:,.3g}" if x < 100 else f"{x:,.0f}" for x in known.values()
    ]
    for below, n, above in zip(sizes, sizes[1:], sizes[2:], strict=False):
        share = math.log(n / below) / math.log(above / below)
        lines[2].append(f"{known[n] / (known[below] ** (1 - share) * known[above] ** share):.2f}")
    lines[2].append("")
    return markdown(lines)


def large_encodings(result: dict[str, Any]) -> str:
    rows = result["large_encodings"].items()
    return markdown([["call", "seconds"], *([name, f"{seconds:.2f}"] for name, seconds in rows)])


def multi_search(result: dict[str, Any]) -> str:
    """Milliseconds of the visitors of multi_search.cu, and of torchcent's own functions."""
    head = [
        "graph",
        "vertices",
        "slots",
        f"vertices within {result['multi_search'][0]['hops']} hops",
    ]
    names = ["vertices within some hops", "distances of all pairs", "betweenness"]
    lines = [[*head, *names[1:], "difference of betweenness"]]
    for row in result["multi_search"]:
        cells = [row["graph"], f"{row['nodes']:,}", f"{row['slots']:,}"]
        for name in names:
            cells.append(" / ".join(f"{1e3 * row[name][x]:.3g}" for x in ("header", "torchcent")))
        lines.append([*cells, f"{row['error']:.0e}"])
    return markdown(lines)


def in_words(found: list[dict[str, Any]]) -> str:
    """Milliseconds, fused/torch.sparse.mm, of each iteration."""
    return ", ".join(
        f"{1e3 * row['fused']:.1f}/"
        + ("-" if row["torch_sparse"] is None else f"{1e3 * row['torch_sparse']:.1f}")
        for row in found
    )


def weighted_strategies(result: dict[str, Any], paper: dict[str, Any]) -> str:
    """Times of NP over those of each strategy: the paper's, ours with its locks and without."""
    rows = [row for row in result["weighted_strategies"] if row["name"] in paper["rows"]]
    names = [name for name in paper["columns"] if name.startswith(("NP", "WE"))]
    lines = [["network", "", *names, "auto", "us per source, NP"]]
    for row in rows:
        title = row["name"] + (
            f" ({row['stands_for_it']})" if row["stands_for_it"] != "itself" else ""
        )
        for kind, column in (("paper", "paper"), ("with locks", "locked"), ("without", "unlocked")):
            seconds = dict(zip(paper["columns"], paper["rows"][row["name"]], strict=True))
            times = seconds if kind == "paper" else row[column]
            cells = [title if kind == "paper" else "", kind]
            cells += [f"{times['NP'] / times[name]:.2f}" for name in names]
            cells.append("" if kind == "paper" else f"{times['NP'] / row['auto']:.1f}")
            cells.append("" if kind == "paper" else f"{1e6 * times['NP']:.0f}")
            lines.append(cells)
    return markdown(lines)


def strategies_and_auto(result: dict[str, Any]) -> str:
    """The fastest of the paper's strategies over auto, with locks and without."""
    lines = [["network", "best with locks", "x auto", "best without", "x auto"]]
    for row in result["weighted_strategies"]:
        cells = [row["name"]]
        for kind in ("locked", "unlocked"):
            best = min(row[kind], key=row[kind].__getitem__)
            cells += [best, f"{row[kind][best] / row['auto']:.2f}"]
        lines.append(cells)
    return markdown(lines)


def tests(result: dict[str, Any]) -> str:
    known = result["tests"]
    names = [name for name in ("passed", "failed", "skipped") if name in known]
    counts = ", ".join(f"{known[name]:,} {name}" for name in names)
    part = known.get("part", 1)
    counts += f" ({part:.0%} of each large sweep)" if part < 1 else ""
    left_out = known.get("reasons", {}).get("deselected", {})
    by = "; ".join(f"{number:,} by {reason}" for reason, number in left_out.items())
    counts += f"; left out: {by}" if by else ""
    tools = "; ".join(f"{tool}: {clean(runs)}" for tool, runs in result["sanitizer"].items())
    digests = result["digests"]
    tools += "" if digests["sanitizer"] == digests["tests"] else " (of older sources)"
    faster = sum(row["auto_is_right"] for row in result["rows"])
    return (
        f"Tests on the device: {counts}. compute-sanitizer on small graphs of every kind: {tools}. "
        f"`auto` took the faster of `lanes` and `queue` on {faster} of these "
        f"{len(result['rows'])} graphs. {result['date']}, torch {result['versions']['torch']}."
    )


def clean(runs: dict[str, str]) -> str:
    """In how many runs there was no error, and what the others said."""
    good = [said for said in runs.values() if said.startswith("0 ") and "exit" not in said]
    others = "".join(f", {run}: {said}" for run, said in runs.items() if said not in good)
    return f"no error in {len(good)} of {len(runs)} runs{others}"


def summary(result: dict[str, Any]) -> str:
    speeds = ", ".join(f"{row['graph']} {row['gteps']:.0f}" for row in result["rows"])
    return f"On one H200, 10^9 slots times sources per second: {speeds}."
