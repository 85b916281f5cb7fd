"""Tables of single features, whose scripts import peers that tables.py does without."""

from __future__ import annotations

from typing import Any

from report import markdown


def cutoffs(result: dict[str, Any]) -> str:
    """Five cutoffs over one plain run, and igraph over torchcent for each cutoff, by the clock."""
    lines = [["graph", "vertices", "edges", "cutoffs", "five / plain", "igraph / torchcent, each"]]
    for row in result["rows"]:
        cells = [row["graph"], f"{row['vertices']:,}", f"{row['edges']:,}"]
        cells.append(", ".join(f"{cutoff:g}" for cutoff in row["cutoffs"]))
        cells.append(f"{row['five / plain']['wall']:.2f}")
        lines.append([*cells, ", ".join(f"{one['ratio of wall']:g}" for one in row["single"])])
    return markdown(lines)


def communities(result: dict[str, Any]) -> str:
    """Seconds by the clock and of the processor."""
    lines = [["planted partition", "call", "seconds", "of the processor", "modularity"]]
    for part in ("small", "large"):
        vertices = f"{result[part]['vertices']:,} vertices, " if "vertices" in result[part] else ""
        title = f"{vertices}{result[part]['edges']:,} edges"
        for name, row in result[part].items():
            if isinstance(row, dict):
                cells = [title, name, f"{row['seconds']:.2f}", f"{row['processor']:.2f}"]
                lines.append([*cells, f"{row['modularity']:.3f}" if "modularity" in row else ""])
    return markdown(lines)


def groups(result: dict[str, Any]) -> str:
    lines = [["graph and group", "torchcent, s", "NetworkX, s", "x"]]
    for name, row in result["rows"].items():
        cells = [f"{row[peer]['seconds']:.3g}" for peer in ("torchcent", "networkx")]
        lines.append([name, *cells, f"{row['times']['seconds']:.0f}"])
    return markdown(lines)


def walks(result: dict[str, Any]) -> str:
    peers = {"igraph": "igraph", "networkit": "NetworKit"}
    lines = [["function", "torchcent, s"]]
    for name in peers.values():
        lines[0] += [f"{name}, s", "x"]
    for row in result["rows"]:
        cells = [f"`{row['measure']}`", f"{row['torchcent']['seconds']:.2f}"]
        for peer in peers:
            known = row.get(peer)
            cells += [f"{known['seconds']:.2f}", f"{known['ratio']:.1f}"] if known else ["", ""]
        lines.append(cells)
    size = f"{result['vertices']:,} vertices and {result['slots']:,} slots"
    return f"An R-MAT graph of {size}:\n\n" + markdown(lines)


def coverage(result: dict[str, Any]) -> str:
    """Of runs of approximations: how many scores were too far off, or outside of an interval."""
    head = ["graph", "runs", "off by more than epsilon", "outside of an interval"]
    lines = [[*head, "largest error", "adaptive: most wrong of a vertex"]]
    for row in result["rows"]:
        cells = [row["name"], *(str(row[key]) for key in ("runs", "off_by_more_than_epsilon"))]
        cells += [str(row["outside_of_an_interval"]), f"{row['largest_error']:.4f}"]
        lines.append([*cells, str(row["adaptive"]["most_wrong_of_a_vertex"])])
    allowed = f"epsilon {result['epsilon']:g}, delta {result['delta']:g}"
    return f"With {allowed}:\n\n" + markdown(lines)
