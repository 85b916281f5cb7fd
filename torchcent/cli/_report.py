"""Output of the command line: the table of scores and the description of a graph."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

import torchcent
from torchcent.engines.reduce import _hops
from torchcent.io import EdgeList
from torchcent.io._edge_list import both_directions
from torchcent.runtime import _ops

_WIDEST = 40
_NAMES = 5


def score_table(
    columns: dict[str, Any], most: int, *, share: bool = False, lowest: bool = False
) -> str:
    """The highest scores (the last column), or the lowest, as a table: rank, columns, score.

    `share` adds each score's share of the sum, for scores that are meaningful as shares.
    """
    *others, name = columns
    rows = score_rows(columns, most, share=share, lowest=lowest)
    scores = _rounded(np.array([row["score"] for row in rows]))
    cells = [["rank", *columns, *["share"] * share]]
    for row, score in zip(rows, scores, strict=True):
        cells.append([str(row["rank"]), *(_cell(row[key]) for key in others), score])
        if share:
            cells[-1].append("-" if row["share"] is None else f"{row['share']:.2%}")
    kinds = [np.asarray(columns[key]).dtype.kind in "iuf" for key in others]
    text = aligned(cells, [True, *kinds, True, *[True] * share])
    rest = len(columns[name]) - len(rows)
    return text + (f"\n... and {rest:,} more" if rest else "")


def score_rows(
    columns: dict[str, Any], most: int, *, share: bool = False, lowest: bool = False
) -> list[dict[str, Any]]:
    """The rows of `score_table` for programs; the score is under that name."""
    *others, name = columns
    values = np.asarray(columns[name], np.float64)
    total = float(values.sum())
    rows = []
    for rank, at in enumerate(np.argsort(values if lowest else -values, kind="stable")[:most], 1):
        row = {"rank": rank, **{key: columns[key][at] for key in others}, "score": values[at]}
        if share:
            row["share"] = values[at] / total if 0 < total < np.inf else None
        rows.append(row)
    return rows


def part_table(labels: Tensor, most: int, what: str) -> str:
    """The number of parts, and the largest as a table."""
    sizes, rows = part_rows(labels, most)
    cells = [["number", "size", "share"]]
    cells += [[str(row["number"]), str(row["size"]), f"{row['share']:.2%}"] for row in rows]
    rest = len(sizes) - len(rows)
    more = f"\n... and {rest:,} more" if rest else ""
    return f"{what}: {component_sizes(sizes)}\n\n{aligned(cells, [True] * 3)}{more}"


def part_rows(labels: Tensor, most: int) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """The sizes of all parts, and the rows of `part_table` for programs."""
    sizes = np.bincount(labels.cpu().numpy())
    order = np.argsort(-sizes, kind="stable")[:most]
    rows = [{"number": at, "size": sizes[at], "share": sizes[at] / len(labels)} for at in order]
    return sizes, rows


def members(labels: Tensor) -> list[list[int]]:
    """The vertices of each part, the largest first; of equal ones that of the first vertex."""
    order, size = torch.argsort(labels, stable=True), torch.bincount(labels)
    return sorted((part.tolist() for part in order.split(size.tolist())), key=len, reverse=True)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def _rounded(values: np.ndarray) -> list[str]:
    """Six significant digits of the largest value, and the same number of decimals for all."""
    largest = float(values.max(where=np.isfinite(values), initial=0.0))
    if (values == np.rint(values)).all() and largest < 1e15:
        return [f"{x:.0f}" for x in values]
    if not 1e-4 <= largest < 1e6:
        return [f"{x:.5e}" for x in values]
    decimals = 5 - int(np.floor(np.log10(largest)))
    return [f"{x:.{decimals}f}" for x in values]


def aligned(cells: list[list[str]], right: Sequence[bool]) -> str:
    cells = [[_cut(x) for x in row] for row in cells]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    rule = ["-" * w for w in widths]
    lines = []
    for row in [cells[0], rule, *cells[1:]]:
        parts = []
        for text, width, flush_right in zip(row, widths, right, strict=True):
            blank = " " * (width - _width(text))
            parts.append(blank + text if flush_right else text + blank)
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def _width(text: str) -> int:
    """Width on a terminal: East Asian characters take two columns, combining marks none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _cut(text: str) -> str:
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def aligned_rows(rows: Mapping[str, str]) -> str:
    """The properties of a graph, one per line."""
    return "\n".join(f"{key:<12} {value}" for key, value in rows.items())


def component_sizes(sizes: np.ndarray, kind: str = "") -> str:
    """The number of components, and the size of the largest."""
    return _components(len(sizes), sizes.max(initial=0), sizes.sum(), kind)


def _components(count: int, largest: int, n: int, kind: str = "") -> str:
    text = f"{count:,}{kind}"
    if count > 1:
        text += f"; the largest has {_vertices(largest)} ({largest / n:.1%})"
    return text


def named(edges: EdgeList, vertices: Tensor) -> str:
    """The number of vertices, and the labels of the first ones."""
    count = vertices.numel()
    names = [_cut(str(x)) for x in edges.vertex_labels()[vertices[:_NAMES].cpu().numpy()]]
    text = ": ".join([_vertices(count), ", ".join(names)]) if names else _vertices(count)
    return text + (", ..." if count > _NAMES else "")


def _vertices(count: int) -> str:
    return f"{count:,} vertex" if count == 1 else f"{count:,} vertices"


def summary(
    name: str, edges: EdgeList, weighted: bool = False, device: str = "cpu"
) -> dict[str, Any]:
    """What ``torchcent info`` finds, under the keys of ``--json``, and the plan of betweenness."""
    graph = edges.graph(edge_weight=weighted)
    degree = graph.degree.numpy()
    n, weight = graph.num_nodes, edges.edge_weight
    row, col = edges.edge_index
    loops = int((row == col).sum())
    labels = edges.labels
    report: dict[str, Any] = {
        "graph": name,
        "vertices": n,
        "edges": graph.num_slots if graph.directed else graph.num_slots // 2,
        "directed": graph.directed,
        "labels": [labels[0], labels[-1]] if labels is not None and len(labels) else None,
        "rows": edges.num_edges,
        "self_loops": loops,
        "both_directions": loops < edges.num_edges and both_directions(row.numpy(), col.numpy()),
        "weights": None,
        "positions": None if edges.positions is None else _positions(edges),
    }
    if weight is not None and weight.numel():
        least, most = float(weight.min()), float(weight.max())
        report["weights"] = {"min": least, "max": most, "used": weighted}
        same = not report["both_directions"] or both_directions(
            row.numpy(), col.numpy(), weight.numpy()
        )
        report["weights"]["by_direction"] = not same
    if n:
        sizes = np.bincount(graph.components.numpy())
        report["components"], report["largest_component"] = len(sizes), sizes.max()
        report["degree"] = _spread(degree)
        if graph.directed:
            incoming = np.bincount(graph.col.numpy(), minlength=n)
            report["in_degree"], report["in_degree_0"] = _spread(incoming), (incoming == 0).sum()
        report["degree_0"], report["degree_1"] = (degree == 0).sum(), (degree == 1).sum()
        if _ops.available:
            report["depth_at_least"] = _hops.depth(graph.rowptr, graph.col)
    report["plan"] = torchcent.explain(graph.to(device))
    return report


def describe(report: Mapping[str, Any]) -> str:
    """The output of ``torchcent info``, given `summary`."""
    edges, labels, weights = report["edges"], report["labels"], report["weights"]
    in_file = f"{report['rows']:,} rows"
    in_file += f", {report['self_loops']:,} self-loops" if report["self_loops"] else ""
    if report["both_directions"]:
        in_file += ", every edge in both directions"
        if weights is not None and weights["by_direction"]:
            in_file += ", some of them with different weights"
    called = ""
    if labels is not None:
        first, last = (_cut(str(label)) for label in labels)
        called = f", called {first}" + (f" to {last}" if report["vertices"] > 1 else "")
    rows = {
        "graph": report["graph"],
        "vertices": f"{report['vertices']:,}{called}",
        "edges": (f"{edges:,} arcs, directed" if report["directed"] else
                  f"{edges:,}, undirected ({2 * edges:,} slots)"),
        "in the file": in_file,
        "weights": "none" if weights is None else _weights(weights),
    }  # fmt: skip
    if report["positions"] is not None:
        rows["positions"] = _in_place(report["positions"])
    if "degree" in report:
        degree = report["degree"]
        count, largest = report["components"], report["largest_component"]
        rows["components"] = _components(count, largest, report["vertices"])
        low = f"{report['degree_0']:,} of degree 0, {report['degree_1']:,} of 1"
        if report["directed"]:
            rows["out-degree"] = _in_words(degree)
            rows["in-degree"] = _in_words(report["in_degree"])
            low = f"{report['degree_0']:,} of out-degree 0, {report['degree_1']:,} of 1; "
            low += f"{report['in_degree_0']:,} of in-degree 0"
        else:
            rows["degree"] = _in_words(degree)
        rows["low degree"] = low
    if "depth_at_least" in report:
        rows["depth"] = f"at least {report['depth_at_least']:,} (two breadth-first searches)"
    return f"{aligned_rows(rows)}\n\nbetweenness would run so:\n" + "\n".join(
        f"  {line}" for line in str(report["plan"]).split("\n")
    )


def _spread(degree: np.ndarray) -> dict[str, Any]:
    return {
        "mean": degree.mean(), "median": np.median(degree), "min": degree.min(),
        "max": degree.max(),
    }  # fmt: skip


def _in_words(degree: Mapping[str, Any]) -> str:
    return (
        f"{degree['mean']:.2f} neighbours on average, median {degree['median']:g}, "
        f"from {degree['min']:,} to {degree['max']:,}"
    )


def _weights(report: Mapping[str, Any]) -> str:
    how = "taken for distances" if report["used"] else "not used without --weights or --similarity"
    return f"{report['min']:g} to {report['max']:g}, {how}"


def _positions(edges: EdgeList) -> dict[str, Any]:
    """Ranges of x and y, the coordinate system, and how many vertices have no position."""
    assert edges.positions is not None
    place = edges.positions[edges.positions.isfinite().all(1)]
    report: dict[str, Any] = {"crs": edges.crs, "lacking": edges.num_nodes - len(place)}
    if len(place):
        low, high = place.amin(0).tolist(), place.amax(0).tolist()
        report |= {"x": [low[0], high[0]], "y": [low[1], high[1]]}
    return report


def _in_place(report: Mapping[str, Any]) -> str:
    if "x" not in report:
        return "none is known"
    (west, east), (south, north) = report["x"], report["y"]
    text = f"x {west:.8g} to {east:.8g}, y {south:.8g} to {north:.8g}"
    text += f", {report['crs']:.40}" if report["crs"] else ", coordinate system unknown (--crs)"
    return text + (f"; {_vertices(report['lacking'])} without" if report["lacking"] else "")
