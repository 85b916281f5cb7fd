"""A network as a page that can be zoomed and searched: one HTML file, which asks for no other.

sigma.js draws it by WebGL (web/LICENSES.txt); web/page.js colours, names and finds.
"""

from __future__ import annotations

import html
import json
import os
import re
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from torchcent.io import replacing
from torchcent.io._files import check_target, known_suffix
from torchcent.plots._inks import DARK_SHADES, SHADES
from torchcent.plots._levels import Levels
from torchcent.plots._parts import COLORS

MOST_VERTICES, MOST_EDGES = 100_000, 500_000  # that a browser draws in a few seconds
_DIGITS = 6  # of positions and scores


def is_page(path: str | os.PathLike[str] | None) -> bool:
    """Whether a figure there is interactive."""
    return path is not None and os.path.splitext(path)[1].lower() == ".html"


class NetworkPage:
    """An interactive figure, which notebooks show; returned by :func:`plot_network`.

    Attributes:
        html: the page.

    Example:
        >>> import torch
        >>> from torchcent.plot import plot_network
        >>> page = plot_network(torch.tensor([[0, 1, 2], [1, 2, 0]]), interactive=True)
        >>> page.html[:15]
        '<!doctype html>'
    """

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file .html; an existing file is replaced atomically."""
        known_suffix(path, (".html",))
        check_target(path)
        with replacing(path) as file:
            file.write(self.html.encode())

    def _repr_html_(self) -> str:
        page = html.escape(self.html)
        return f'<iframe srcdoc="{page}" style="border:0;height:600px;width:100%"></iframe>'

    def __repr__(self) -> str:
        title = re.search("<title>(.*?)</title>", self.html, re.S)
        return f"NetworkPage({html.unescape(title[1]) if title else ''!r})"


class Drawing(NamedTuple):
    """What a page shows: vertices at `place` [n, 2], edges `arcs` [2, E], `scores` of either."""

    place: np.ndarray
    arcs: np.ndarray
    scores: np.ndarray
    edges: bool
    names: np.ndarray | None
    levels: dict[str, Levels]
    measure: str
    title: str
    lowest: bool
    limits: tuple[float, float, bool]  # lowest and highest colour, whether the scale is a log one


def page(drawing: Drawing) -> NetworkPage:
    """Leaves out loops, what has no position, and vertices or edges without a finite score."""
    inside = np.isfinite(drawing.place).all(1)
    if not drawing.edges:
        inside &= np.isfinite(drawing.scores)
    tail, head = drawing.arcs
    drawn = inside[tail] & inside[head] & (tail != head)
    if drawing.edges:
        drawn &= np.isfinite(drawing.scores)
    _check_size(int(inside.sum()), int(drawn.sum()))
    ids = np.flatnonzero(inside)
    number = np.cumsum(inside) - 1
    scores = drawing.scores[drawn if drawing.edges else inside]
    names = None if drawing.names is None else [str(name) for name in drawing.names[ids]]
    low, high, log = drawing.limits
    data = {
        "of": "edges" if drawing.edges else "vertices",
        "measure": drawing.measure, "lowest": drawing.lowest,
        "scale": {"low": low, "high": high, "log": log},
        "shades": {"light": SHADES, "dark": DARK_SHADES},
        "x": _short(drawing.place[ids, 0]), "y": _short(drawing.place[ids, 1]),
        "names": names, "ids": None if inside.all() else ids.tolist(),
        "score": _short(scores), "rank": _ranks(scores, drawing.lowest),
        "source": number[tail[drawn]].tolist(), "target": number[head[drawn]].tolist(),
        "communities": [_several(name, one, ids) for name, one in drawing.levels.items()],
        "colors": COLORS, "shown": 0 if drawing.levels else None,
    }  # fmt: skip
    return NetworkPage(_fill(drawing.title, data))


def _several(name: str, levels: Levels, ids: np.ndarray) -> dict[str, Any]:
    rows = zip(levels.names, levels.parts, levels.colors(), strict=True)
    return {
        "name": name, "at": levels.at,
        "levels": [
            {"name": level, "label": part.labels[ids].tolist(), "sizes": part.sizes.tolist(),
             "color": colors}
            for level, part, colors in rows
        ],
    }  # fmt: skip


def _check_size(vertices: int, edges: int) -> None:
    for what, count, most in (
        ("vertices", vertices, MOST_VERTICES), ("edges", edges, MOST_EDGES)
    ):  # fmt: skip
        if count > most:
            raise ValueError(
                f"an interactive figure has up to {most:,} {what}, got {count:,}; draw a part of "
                "the graph, or write .png"
            )


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.{_DIGITS}g}") for value in values.tolist()]


def _ranks(scores: np.ndarray, lowest: bool) -> list[int]:
    """From 1 on; equal scores share the best of their ranks."""
    values, inverse, counts = np.unique(
        scores if lowest else -scores, return_inverse=True, return_counts=True
    )
    first = np.cumsum(counts) - counts + 1
    ranks: list[int] = first[inverse].tolist()
    return ranks


def _fill(title: str, data: dict[str, Any]) -> str:
    def part(name: str) -> str:
        return (files("torchcent.plots") / "web" / name).read_text(encoding="utf-8")

    parts = {
        "title": html.escape(title),
        "licenses": part("LICENSES.txt"),
        "style": part("page.css"),
        # No text of a graph may end the element that it is in.
        "data": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "graphology": part("graphology.min.js"),
        "sigma": part("sigma.min.js"),
        "script": part("page.js"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], part("page.html"))
