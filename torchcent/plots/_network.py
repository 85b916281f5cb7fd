"""A map of a network, coloured by the scores of its vertices or edges."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _positions as check_positions
from torchcent.check import _values as check_values
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, as_graph
from torchcent.io import EdgeList
from torchcent.plots import _check as check_plot
from torchcent.plots import _page
from torchcent.plots._inks import inks
from torchcent.plots._levels import Levels
from torchcent.plots._map import Map, map_of
from torchcent.plots._page import NetworkPage
from torchcent.plots._parts import Parts
from torchcent.plots._scores import _short, check_plot_path, new_figure
from torchcent.walks._local import numbers_of_arcs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BINS = 96  # colours; the lines of each are drawn as one path, which is several times faster
_DECADES = 3  # of scores that a log scale shows at most
_WIDTH, _LEAST_WIDTH = 2.6, 0.35  # of lines, in points; fewer lines are wider
_RASTER = 20_000  # lines beyond which .svg and .pdf hold a picture of the map
_NAMES = 5
_KM_PER_DEGREE = 111.195


def plot_network(
    edge_index: GraphLike | EdgeList,
    positions: Tensor | np.ndarray | None = None,
    scores: Tensor | np.ndarray | None = None,
    labels: Sequence[Any] | np.ndarray | None = None,
    *,
    edges: bool = False,
    communities: Any = None,
    measure: str = "betweenness",
    path: str | os.PathLike[str] | None = None,
    title: str | None = None,
    lowest: bool = False,
    crs: str | None = None,
    interactive: bool = False,
) -> Figure | NetworkPage | None:
    """Draws the network at its positions, coloured by the scores.

    High scores are dark, wide and on top. Colours are in proportion to the logarithms of the
    scores, down to a thousandth of the highest. If nearly all scores lie within a factor of ten,
    they are in proportion to the scores. Where vertices are scored, an edge has the colour of its
    less central end. A million edges take a few seconds.

    An interactive figure is one HTML file that browsers open without a network connection. It has
    zoom, names, scores and ranks under the pointer, and search by name. Colours show scores or
    communities, sizes show scores. A slider fades what has a lower score, another one chooses the
    level of a sweep or division. The browser draws it with WebGL. Streets are straight lines there.

    With ``matplotlib.rcParams["savefig.transparent"] = True`` figures have no background, and
    colours that are seen on white and on black pages: high scores are red.

    Args:
        edge_index: int64 ``[2, E]``, a :class:`torchcent.Graph`, or a graph of another library. An
            :class:`EdgeList` brings its positions and crs, and streets their lines with all bends.
        positions: ``[n, 2]``, x and y of each vertex, such as
            :attr:`torchcent.EdgeList.positions`. What has no position (NaN) is omitted. None takes
            those of the EdgeList, or of :func:`torchcent.layout`.
        scores: ``[n]``, or ``[E]`` for edges; those that are not finite are omitted. None takes
            degrees, of directed graphs the number of arcs in either direction.
        labels: names ``[n]``; those of up to five of the most central vertices are shown. None is
            those of the Graph or EdgeList, unless they are numbers.
        edges: whether the scores are those of the edges.
        communities: integers ``[n]``, the community of each vertex, or what has them as `labels`,
            such as a :class:`torchcent.Clustering`. The eight largest have colours, which take the
            place of scores; edges inside of them have their colours, too. Interactive figures take
            scores as well, and a dict of several by name, of which the reader chooses. Each may be
            a list of up to 50, a :class:`torchcent.MclSweep`, or what
            :func:`torchcent.communities_by_betweenness` returns: a slider chooses the level.
        measure: name of the score, for the colour bar.
        path: .png, .svg, .pdf, or .html for an interactive figure; an existing file is replaced
            atomically. None returns the figure, which notebooks show.
        title: title of the figure; the measure and the number of vertices or edges if None.
        lowest: whether the lowest scores are the most central.
        crs: the coordinate system, None is that of the EdgeList. For one of longitude and latitude,
            such as ``"EPSG:4326"``, the map keeps proportions at its mean latitude and has a scale.
        interactive: True draws a page that can be zoomed and searched, also where `path` is None.

    Returns:
        None, or without `path` a ``matplotlib.figure.Figure``, or a :class:`NetworkPage` if
        `interactive`.

    Raises:
        ImportError: matplotlib is not installed: ``pip install matplotlib``. Interactive figures do
            not need it.
        ValueError: the suffix is unknown, arguments have different lengths, or an interactive
            figure would have more than 100,000 vertices or 500,000 edges.

    Example:
        >>> import tempfile, torch
        >>> plot_network(torch.tensor([[0, 1, 2], [1, 2, 0]])).get_suptitle()
        'Arcs of 3 vertices'
        >>> folder = tempfile.TemporaryDirectory()
        >>> square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> corners = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        >>> plot_network(square, corners, torch.tensor([0.1, 0.4, 0.2, 0.3]), edges=True,
        ...              path=folder.name + "/square.png")
        >>> folder.cleanup()
    """
    suffix, interactive = _suffix_of(path, interactive)
    if not isinstance(edge_index, EdgeList | Tensor | np.ndarray):
        edge_index = as_graph(edge_index)
    drawn = map_of(edge_index, positions)
    place, index = drawn.place, drawn.arcs
    levels, parts = {}, None
    if interactive and communities is not None:
        several = communities if isinstance(communities, dict) else {"community": communities}
        levels = {
            check_plot.text(name, "communities"): Levels.of(one, len(place))
            for name, one in several.items()
        }
    elif communities is not None:
        parts = Parts.of(communities, len(place))
    if parts is not None and (scores is not None or edges is True):
        raise ValueError("communities and scores exclude each other: both are colours")
    if scores is None:
        if edges is True:
            raise ValueError("scores must be given for edges=True, one for each edge")
        scores, measure = _degrees(edge_index, index, len(place))
    edges, lowest = check_values.flag(edges, "edges"), check_values.flag(lowest, "lowest")
    values = check_plot.numbers(scores, "scores")
    count, what = (index.shape[1], "edges") if edges else (len(place), "vertices")
    if len(values) != count:
        hint = "; scores of edges need edges=True" * (not edges and len(values) == index.shape[1])
        raise ValueError(f"scores has {len(values)} entries for {count} {what}{hint}")
    if labels is None:
        labels = _names(edge_index, of_numbers=interactive)
    names = None if labels is None else check_plot.labels(labels, len(place), "positions")
    measure = check_plot.text(measure, "measure")
    title = title if title is None else check_plot.text(title, "title")
    if crs is None and isinstance(edge_index, EdgeList):
        crs = edge_index.crs
    degrees = check_positions.is_geographic(check_positions.crs(crs))
    points, stretch = drawn.extent(), drawn.stretch(crs)
    if parts is not None:
        title = title or f"{parts.sizes.size:,} communities of {count:,} vertices"
    title = title or f"{measure.capitalize()} of {count:,} {what}"
    if interactive:
        flat, limits = place * (1, stretch), _limits(values)
        shown = _page.page(
            _page.Drawing(flat, index, values, edges, names, levels, measure, title, lowest, limits)
        )
        if path is None:
            return shown
        shown.save(path)
        return None
    # About 90 square inches in the proportions of the map.
    width, height = np.ptp(points, axis=0) if len(points) else (1.0, 1.0)
    shape = min(max((width or 1.0) / ((height * stretch) or 1.0), 0.5), 2.2)
    size = (math.sqrt(80 * shape) + 1.2, math.sqrt(80 / shape) + 0.6)
    with new_figure(path, suffix, title, size, 200, 0.02) as figure:
        axes = figure.subplots()
        drawn.frame(axes, stretch)
        if parts is not None:
            parts.draw(axes, drawn)
            parts.explain(axes)
        else:
            _draw_scores(axes, drawn, values, edges, measure, lowest)
        if not edges and names is not None:
            _draw_names(axes, place, values, names, lowest)
        if degrees and len(points):
            _draw_scale(axes, stretch)
    return figure if path is None else None


def _suffix_of(path: str | os.PathLike[str] | None, interactive: object) -> tuple[str, bool]:
    """The suffix of a figure, "" without a path, and whether it is a page."""
    suffix = "" if path is None else check_plot_path(path, page=True)
    if check_values.flag(interactive, "interactive") and suffix not in ("", ".html"):
        raise ValueError(f"interactive=True writes .html, got path={os.fspath(path or '')!r}")
    return suffix, bool(interactive) or suffix == ".html"


def check_interactive(path: str | os.PathLike[str] | None, interactive: object) -> tuple[str, bool]:
    """The same of a figure that is always written unless it is a page."""
    suffix, page = _suffix_of(path, interactive)
    if path is None and not page:
        raise TypeError("path must be a file .png, .svg or .pdf unless interactive=True")
    return suffix, page


def _degrees(graph: Any, arcs: np.ndarray, n: int) -> tuple[Tensor, str]:
    """What is known of all vertices, and its name."""
    if isinstance(graph, EdgeList):
        graph = graph.graph(edge_weight=False)
    elif not isinstance(graph, Graph):
        graph = Graph.from_edge_index(torch.from_numpy(arcs), n)
    if graph._mutual:
        return numbers_of_arcs(graph), "degree"
    return numbers_of_arcs(graph, "both"), "arcs"


def _draw_scores(
    axes: Any, drawn: Map, values: np.ndarray, edges: bool, measure: str, lowest: bool
) -> None:
    """The edges, the vertices unless the scores are of edges, and the colour bar."""
    from matplotlib.cm import ScalarMappable

    colors, norm = _scale(values, lowest)
    ends = values[drawn.arcs] if not edges else values[None]
    _draw_lines(axes, drawn, ends.max(0) if lowest else ends.min(0), colors, norm, lowest)
    if not edges:
        _draw_vertices(axes, drawn.place, values, colors, norm, lowest)
    if np.isfinite(values).any():
        bar = axes.figure.colorbar(
            ScalarMappable(norm, colors), ax=axes, shrink=0.6, aspect=32, pad=0.01,
            extend="min" if norm.vmin > values[np.isfinite(values)].min() else "neither",
        )  # fmt: skip
        bar.set_label(measure, color=inks().ink)
        bar.outline.set_visible(False)


def _names(graph: object, of_numbers: bool) -> np.ndarray | None:
    """Those of the vertices, also where they are numbers or not."""
    labels = graph.labels if isinstance(graph, EdgeList | Graph) else None
    return labels if labels is not None and (of_numbers or labels.dtype == object) else None


def _limits(values: np.ndarray) -> tuple[float, float, bool]:
    """The scores of the first and the last colour, and whether the scale is logarithmic."""
    finite = values[np.isfinite(values)]
    positive = finite[finite > 0]
    if not len(positive):
        return 0.0, 1.0, False
    high = float(positive.max())
    low = float(np.quantile(positive, 0.02))
    if high < 10 * np.quantile(positive, 0.05):
        return low, high if high > low else low + 1, False
    return max(low, high / 10**_DECADES), high, True


def _scale(values: np.ndarray, lowest: bool) -> tuple[Any, Any]:
    """Colours, and the scale of the scores."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

    shades = inks().shades[:: -1 if lowest else 1]
    low, high, is_log = _limits(values)
    colors = LinearSegmentedColormap.from_list("", shades, N=256)
    return colors, LogNorm(low, high) if is_log else Normalize(low, high)


def _steps(values: np.ndarray, norm: Any, lowest: bool) -> tuple[np.ndarray, np.ndarray]:
    """The order of drawing, the most central last, and the colour of each as a number in [0, 1]."""
    finite = np.flatnonzero(np.isfinite(values))
    shade = np.clip(norm(np.maximum(values[finite], norm.vmin)), 0, 1)
    order = np.argsort(-shade if lowest else shade, kind="stable")
    return finite[order], shade[order]


def _draw_lines(
    axes: Any, drawn: Map, values: np.ndarray, colors: Any, norm: Any, lowest: bool
) -> None:
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    sizes, begins = drawn.sizes, np.cumsum(drawn.sizes) - drawn.sizes
    unknown = np.repeat(np.arange(len(sizes)), sizes)[~np.isfinite(drawn.points).all(1)]
    values = values.copy()
    values[unknown] = np.nan
    order, shade = _steps(values, norm, lowest)
    if not len(order):
        return
    step = np.minimum((shade * _BINS).astype(int), _BINS - 1)
    ends = np.flatnonzero(np.diff(step)) + 1
    starts = np.concatenate([[0], ends])
    middle = (step[starts] + 0.5) / _BINS
    part = min(max(math.log10(len(order)) - 2, 0) / 4, 1)  # 0 at 100 lines, 1 at 10^6
    thin, wide = _LEAST_WIDTH + 0.6 * (1 - part), _WIDTH - 1.0 * part
    central = 1 - middle if lowest else middle
    paths = []
    for some in np.split(order, ends):
        count = sizes[some]
        first = np.cumsum(count) - count
        at = np.arange(count.sum()) + np.repeat(begins[some] - first, count)
        codes = np.full(len(at), Path.LINETO, np.uint8)
        codes[first] = Path.MOVETO
        paths.append(Path(drawn.points[at], codes))
    collection = PathCollection(
        paths, facecolors="none", edgecolors=colors(middle), capstyle="round", joinstyle="round",
        linewidths=thin + (wide - thin) * central**3, rasterized=len(order) > _RASTER,
    )  # fmt: skip
    axes.add_collection(collection, autolim=False)


def _draw_vertices(
    axes: Any, place: np.ndarray, values: np.ndarray, colors: Any, norm: Any, lowest: bool
) -> None:
    values = np.where(np.isfinite(place).all(1), values, np.nan)
    order, shade = _steps(values, norm, lowest)
    area = min(max(30_000 / max(len(order), 1), 0.4), 50)  # square points: the map has 400,000
    central = 1 - shade if lowest else shade
    axes.scatter(
        *place[order].T, s=area * (0.35 + 2.4 * central**3), c=colors(shade), linewidths=0,
        zorder=3, rasterized=len(order) > _RASTER,
    )  # fmt: skip


def _draw_names(
    axes: Any, place: np.ndarray, values: np.ndarray, names: np.ndarray, lowest: bool
) -> None:
    """Names the most central vertices, unless a name would cover another one."""
    from matplotlib.patheffects import withStroke

    ids = np.flatnonzero(np.isfinite(values) & np.isfinite(place).all(1) & (values > 0))
    best = ids[np.argsort(values[ids] if lowest else -values[ids], kind="stable")][:_NAMES]
    areas: list[np.ndarray] = []
    around = inks().halo
    halo = [withStroke(linewidth=2.5, foreground=around)] if around else []
    view = axes.transAxes.inverted()
    for v in best:
        at = view.transform(axes.transData.transform(place[v]))
        if any(abs(at[0] - x) < 0.2 and abs(at[1] - y) < 0.025 for x, y in areas):
            continue
        areas.append(at)
        right = at[0] > 0.8
        axes.annotate(
            _short(names[v], 30), place[v], xytext=(-6 if right else 6, 4),
            textcoords="offset points", ha="right" if right else "left", fontsize=9,
            color=inks().ink, weight="normal" if halo else "bold", parse_math=False, zorder=4,
            path_effects=halo,
        )  # fmt: skip


def _draw_scale(axes: Any, stretch: float) -> None:
    """A bar of a round number of kilometres at the lower left."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    per_degree = _KM_PER_DEGREE / stretch
    most = (right - left) * per_degree / 4
    if not most > 0:
        return
    unit = 10.0 ** math.floor(math.log10(most))
    length = next(k * unit for k in (5, 2, 1) if k * unit <= most)
    height = bottom + 0.01 * (top - bottom)
    axes.plot([left, left + length / per_degree], [height, height], color=inks().muted, linewidth=2)
    text = f"{length:g} km" if length >= 1 else f"{length * 1000:g} m"
    axes.annotate(
        text, (left, height), xytext=(0, 4), textcoords="offset points", color=inks().muted
    )
