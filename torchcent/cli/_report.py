"""Output of the command line: the table of scores and the description of a graph."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

import torchcent
from torchcent.engines import _hops
from torchcent.io import EdgeList
from torchcent.io._directions import both_directions
from torchcent.runtime import _ops

if TYPE_CHECKING:
    from torchcent import Graph

_WIDEST = 40
_NAMES = 5


def vertex_columns(edges: EdgeList, graph: Graph, name: str, scores: Tensor) -> dict[str, Any]:
    """Columns label, degree and score, with a row per vertex."""
    degree, score = graph.degree.cpu().numpy(), scores.cpu().numpy()
    return {"label": edges.vertex_labels(), "degree": degree, name: score}


def edge_rows(edges: EdgeList, graph: Graph) -> np.ndarray:
    """The rows of a file that stand for an edge; no loops, the first of repeated edges."""
    row, col = edges.edge_index.numpy()
    low, high = (row, col) if graph.directed else (np.minimum(row, col), np.maximum(row, col))
    _, first = np.unique(low * max(edges.num_nodes, 1) + high, return_index=True)
    found: np.ndarray = np.sort(first[row[first] != col[first]])
    return found


def edge_columns(edges: EdgeList, graph: Graph, name: str, scores: Tensor) -> dict[str, Any]:
    """Columns source, target and score, a row per edge."""
    row, col = edges.edge_index.numpy()
    first = edge_rows(edges, graph)
    labels = edges.vertex_labels()
    return {
        "source": labels[row[first]],
        "target": labels[col[first]],
        name: scores.cpu().numpy()[first],
    }


def geometry(edges: EdgeList, graph: Graph, by_edge: bool) -> Tensor | None:
    """The points of the vertices, or the lines of the edges, in the order of the columns."""
    if edges.positions is None or not by_edge:
        return edges.positions
    return edges.positions[edges.edge_index[:, edge_rows(edges, graph)].T]


def score_table(
    columns: dict[str, Any], most: int, *, share: bool = False, lowest: bool = False
) -> str:
    """The highest scores (the last column), or the lowest, as a table: rank, columns, score.

    `share` adds each score's share of the sum, for scores that are meaningful as shares.
    """
    *_, name = columns
    values = np.asarray(columns[name], np.float64)
    order = np.argsort(values if lowest else -values, kind="stable")[:most]
    total = values.sum()
    scores = _rounded(values[order])
    cells = [["rank", *columns, "share"]]
    for rank, at in enumerate(order, 1):
        part = f"{values[at] / total:.2%}" if total > 0 and np.isfinite(total) else "-"
        shown = [_cell(column[at]) for key, column in columns.items() if key != name]
        cells.append([str(rank), *shown, scores[rank - 1], part])
    numeric = [
        True,
        *(np.asarray(c).dtype.kind in "iuf" for c in columns.values()),
        True,
    ]
    if not share:
        cells, numeric = [row[:-1] for row in cells], numeric[:-1]
    text = _aligned(cells, numeric)
    rest = len(values) - len(order)
    return text + (f"\n... and {rest:,} more" if rest else "")


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


def _aligned(cells: list[list[str]], right: Sequence[bool]) -> str:
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
    text = f"{len(sizes):,}{kind}"
    if len(sizes) > 1:
        largest = sizes.max()
        text += f"; the largest has {_vertices(largest)} ({largest / sizes.sum():.1%})"
    return text


def named(edges: EdgeList, vertices: Tensor) -> str:
    """The number of vertices, and the labels of the first ones."""
    count = vertices.numel()
    names = [_cut(str(x)) for x in edges.vertex_labels()[vertices[:_NAMES].cpu().numpy()]]
    text = ": ".join([_vertices(count), ", ".join(names)]) if names else _vertices(count)
    return text + (", ..." if count > _NAMES else "")


def _vertices(count: int) -> str:
    return f"{count:,} vertex" if count == 1 else f"{count:,} vertices"


def describe(name: str, edges: EdgeList, weighted: bool = False) -> str:
    """The output of ``torchcent info``."""
    graph = edges.graph(weighted=weighted)
    degree = np.sort(graph.degree.numpy())
    n = graph.num_nodes
    row, col = edges.edge_index
    loops = int((row == col).sum())
    weight = edges.edge_weight
    in_file = f"{edges.num_edges:,} rows" + (f", {loops:,} self-loops" if loops else "")
    if loops < edges.num_edges and both_directions(row.numpy(), col.numpy()):
        in_file += ", every edge in both directions"
        if weight is not None and not both_directions(row.numpy(), col.numpy(), weight.numpy()):
            in_file += ", some of them with different weights"
    rows = {
        "graph": name,
        "vertices": f"{n:,}" + _named(edges),
        "edges": (f"{graph.num_slots:,} arcs, directed" if graph.directed else
                  f"{graph.num_slots // 2:,}, undirected ({graph.num_slots:,} slots)"),
        "in the file": in_file,
        "weights": _weights(weight, weighted),
    }  # fmt: skip
    if edges.positions is not None:
        rows["positions"] = _positions(edges)
    if n:
        rows["components"] = component_sizes(np.bincount(graph.components.numpy()))
        rows["degree"] = (
            f"{degree.mean():.2f} on average, median {np.median(degree):g}, "
            f"from {degree[0]:,} to {degree[-1]:,}"
        )
        rows["low degree"] = f"{(degree == 0).sum():,} of degree 0, {(degree == 1).sum():,} of 1"
        if _ops.available:
            depth = _hops.depth(graph.rowptr, graph.col)
            rows["depth"] = f"at least {depth:,} (two breadth-first searches)"
    return f"{aligned_rows(rows)}\n\nbetweenness would run so:\n" + "\n".join(
        f"  {line}" for line in str(torchcent.explain(graph)).split("\n")
    )


def _weights(weight: Tensor | None, used: bool) -> str:
    if weight is None or not weight.numel():
        return "none"
    how = "taken for distances" if used else "not used without --weights or --similarity"
    return f"{float(weight.min()):g} to {float(weight.max()):g}, {how}"


def _positions(edges: EdgeList) -> str:
    """Ranges of x and y, the coordinate system, and how many vertices have no position."""
    assert edges.positions is not None
    place = edges.positions[edges.positions.isfinite().all(1)]
    if not len(place):
        return "none is known"
    (west, south), (east, north) = place.amin(0).tolist(), place.amax(0).tolist()
    text = f"x {west:.8g} to {east:.8g}, y {south:.8g} to {north:.8g}"
    text += f", {edges.crs:.40}" if edges.crs else ", coordinate system unknown (--crs)"
    lacking = edges.num_nodes - len(place)
    return text + (f"; {_vertices(lacking)} without" if lacking else "")


def _named(edges: EdgeList) -> str:
    labels = edges.labels
    if labels is None or not len(labels):
        return ""
    if len(labels) == 1:
        return f", called {_cut(str(labels[0]))}"
    return f", called {_cut(str(labels[0]))} to {_cut(str(labels[-1]))}"
