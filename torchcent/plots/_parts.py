"""Communities as colours: of vertices, of the edges inside of them, and their names."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from torchcent.clustering._clustering import labels_of
from torchcent.plots._inks import inks
from torchcent.plots._map import Map

#: Of a contrast of at least 3 with white and with black. Any two are told apart without red, green
#: or blue cones: simulated so, their distance in CIELAB is at least 27.
COLORS = (
    "#0096ff", "#e17800", "#00695a", "#b40f0f", "#7800ff", "#969669", "#a500a5", "#c378b4",
)  # fmt: skip
_RASTER = 20_000  # lines beyond which .svg and .pdf hold a picture of the map


class Parts(NamedTuple):
    """The communities of a graph, numbered from the largest one.

    Attributes:
        labels: int64 [n], that of each vertex.
        sizes: int64, how many vertices each has.
    """

    labels: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, communities: Any, n: int) -> Parts:
        """Those of labels, or of what has labels; ValueError if they are of other vertices."""
        label = labels_of(getattr(communities, "labels", communities)).cpu()
        if label.numel() != n:
            raise ValueError(f"communities has {label.numel()} entries for {n} vertices")
        label = torch.unique(label, return_inverse=True)[1]
        size = torch.bincount(label)
        order = size.argsort(descending=True, stable=True)
        return cls(order.argsort()[label].numpy(), size[order].numpy())

    def draw(self, axes: Any, drawn: Map) -> None:
        """The map: what lies outside of the communities with colours is grey, vertices hollow."""
        from matplotlib.collections import LineCollection

        count, muted = len(drawn.arcs[0]), inks().muted
        part = min(max(math.log10(max(count, 1)) - 2, 0) / 4, 1)  # 0 at 100 lines, 1 at 10^6
        ends = self.labels[drawn.arcs]
        of_lines = np.where((ends[0] == ends[1]) & (ends[0] < len(COLORS)), ends[0], -1)
        lines = np.split(drawn.points, np.cumsum(drawn.sizes)[:-1]) if count else []
        width, dense = 1.3 - 0.9 * part, count > _RASTER
        for number in range(-1, min(len(COLORS), len(self.sizes))):
            some = [lines[at] for at in np.flatnonzero(of_lines == number)]
            ink = muted if number < 0 else COLORS[number]
            axes.add_collection(
                LineCollection(some, colors=ink, alpha=0.5, linewidths=width, rasterized=dense),
                autolim=False,
            )
        area = min(max(30_000 / max(len(self.labels), 1), 1), 60)  # square points
        for number in range(min(len(COLORS) + 1, len(self.sizes))):
            of_vertices = np.minimum(self.labels, len(COLORS)) == number
            axes.scatter(
                *drawn.place[of_vertices].T, s=area, zorder=3, rasterized=dense,
                **_mark(number),
            )  # fmt: skip

    def explain(self, axes: Any, **place: Any) -> None:
        """A legend with the sizes."""
        from matplotlib.lines import Line2D

        shown = min(len(COLORS), len(self.sizes))
        texts = [f"{size:,} vertices" if size > 1 else "1 vertex" for size in self.sizes[:shown]]
        if len(self.sizes) > shown:
            rest, more = len(self.sizes) - shown, int(self.sizes[shown:].sum())
            texts.append(f"{more:,} in {rest:,} other{'s' * (rest > 1)}")
        marks = []
        for number in range(len(texts)):
            mark = _mark(number)
            face, edge = mark["facecolors"], mark["edgecolors"]
            marks.append(
                Line2D([], [], linestyle="", marker="o", markersize=7, markerfacecolor=face,
                       markeredgecolor=edge)
            )  # fmt: skip
        if texts:
            where = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} | place
            axes.legend(marks, texts, frameon=False, labelcolor=inks().ink, **where)


def color_of(number: int) -> str:
    """That of the community of this rank."""
    return COLORS[number] if number < len(COLORS) else inks().muted


def _mark(number: int) -> dict[str, Any]:
    """The look of a vertex; beyond the colours it is hollow, since a grey one would be hard to
    tell from some of them."""
    if number < len(COLORS):
        return {"facecolors": COLORS[number], "edgecolors": "none"}
    return {"facecolors": "none", "edgecolors": inks().muted, "linewidths": 0.9}
