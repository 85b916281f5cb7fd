"""A figure that shows the distribution of the scores of a graph."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from torch import Tensor

from torchcent.check import _files as check_files
from torchcent.check import _values as check_values
from torchcent.graph import Graph
from torchcent.io import replacing
from torchcent.io._files import check_target, known_suffix
from torchcent.plots import _check as check_plot
from torchcent.plots._inks import BLUE, ORANGE, inks, style
from torchcent.runtime._optional import need
from torchcent.walks._local import numbers_of_arcs

SUFFIXES = (".png", ".svg", ".pdf")

_MANY = 3000  # number of points above which a density replaces dots
_NAMES = 15


def plot_scores(
    graph: Graph | Tensor | np.ndarray,
    scores: Tensor | np.ndarray,
    labels: Sequence[Any] | np.ndarray | None = None,
    *,
    measure: str = "betweenness",
    path: str | os.PathLike[str],
    title: str | None = None,
    share: bool = True,
    lowest: bool = False,
    interval: tuple[Tensor | np.ndarray, Tensor | np.ndarray] | None = None,
) -> None:
    """Writes a figure: distribution of the scores, score against degree, the top names.

    Left: for every score x, the share of vertices with a score of at least x, on log-log axes,
    where a power law is a straight line. Middle: score against degree, as dots or, for many
    vertices, as a density; scores of 0 have a separate row. Right: the highest scores. The axes are
    linear if nearly all scores lie within a factor of ten.

    Args:
        graph: a :class:`torchcent.Graph`, whose degrees are those of :func:`torchcent.degree`
            without weights; or numbers ``[n]`` in place of them.
        scores: ``[n]``, nonnegative; scores that are not finite are omitted.
        labels: names ``[n]``; the vertex numbers if None.
        measure: name of the score, for the axes.
        path: .png, .svg or .pdf; an existing file is replaced atomically.
        title: title of the figure; the measure and the number of vertices if None.
        share: also show the highest scores as shares of the sum.
        lowest: show the lowest scores, which are the most central, instead of the highest.
        interval: ``[n]`` each, lower and upper ends of an interval for each score, drawn for the
            scores shown by name.

    Raises:
        ImportError: matplotlib is not installed: ``pip install matplotlib``.
        ValueError: the suffix is unknown, or arguments have different lengths.

    Example:
        >>> import tempfile, torch
        >>> folder = tempfile.TemporaryDirectory()
        >>> plot_scores(torch.tensor([1, 2, 1]), torch.tensor([0.0, 1.0, 0.0]),
        ...             ["Ada", "Bob", "Cleo"], path=folder.name + "/path.png")
        >>> folder.cleanup()
    """
    suffix = check_plot_path(path)
    values = check_plot.numbers(scores, "scores")
    arcs = numbers_of_arcs(graph) if isinstance(graph, Graph) else graph
    degree = check_plot.numbers(arcs, "graph", len(values), finite=True)
    kind = "out-degree" if isinstance(graph, Graph) and graph.directed else "degree"
    names = check_plot.labels(labels, len(values))
    ends = check_plot.interval(interval, len(values))
    measure = check_plot.text(measure, "measure")
    title = title if title is None else check_plot.text(title, "title")
    share, lowest = check_values.flag(share, "share"), check_values.flag(lowest, "lowest")
    title = title or f"{measure.capitalize()} of {len(values):,} vertices"
    with figure_of_three(path, suffix, title, [1, 1.15, 1.05]) as (left, middle, right):
        _draw_distribution(left, values, measure)
        # Vertices with a finite, positive score, the most central first.
        order = np.argsort(values if lowest else -values, kind="stable")
        best = order[(np.isfinite(values) & (values > 0))[order]]
        _draw_against_degree(middle, degree, values, names, measure, best, kind)
        _draw_top(
            right, values, names, measure, best[:_NAMES], share=share, lowest=lowest, ends=ends
        )


@contextmanager
def new_figure(
    path: str | os.PathLike[str] | None, suffix: str, title: str, size: tuple[float, float],
    dpi: int, margin: float = 0.008,
) -> Iterator[Any]:  # fmt: skip
    """A matplotlib Figure, which is written to the path at the end, if there is one."""
    need("matplotlib", "plot", "plotting")
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    settings: Any = style()  # for mypy the same with matplotlib's types and without
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title, x=margin, ha="left", fontsize=14, fontweight="bold")
        yield figure
        if path is None:
            return
        with replacing(path) as file:
            figure.savefig(file, format=suffix[1:], dpi=dpi)


@contextmanager
def figure_of_three(
    path: str | os.PathLike[str], suffix: str, title: str, widths: list[float]
) -> Iterator[Any]:
    """The axes of three plots side by side."""
    with new_figure(path, suffix, title, (13.5, 4.8), 160) as figure:
        axes = figure.subplots(1, 3, width_ratios=widths)
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08, wspace=0.03)
        yield axes


def check_plot_path(path: str | os.PathLike[str], *, page: bool = False) -> str:
    """Returns the suffix; ValueError or ImportError if the figure cannot be written.

    `page` is whether it may be interactive: .html, which needs no matplotlib.
    """
    path = check_files.path(path)
    suffix = known_suffix(path, (*SUFFIXES, ".html") if page else SUFFIXES)
    if suffix != ".html":
        need("matplotlib", "plot", "plotting")
    check_target(path)
    return suffix


def _draw_distribution(axes: Any, values: np.ndarray, measure: str) -> None:
    """Plots the share of vertices with a score of at least x."""
    share_label = "share of vertices that score at least this"
    axes.set(title="How the scores are spread", xlabel=measure, ylabel=share_label)
    positive = np.sort(values[np.isfinite(values) & (values > 0)])
    if not len(positive):
        _nothing(axes, "every score is 0")
        return
    level, first = np.unique(positive, return_index=True)
    share = (len(positive) - first) / len(values)
    axes.step(level, share, where="pre", color=BLUE, linewidth=2)
    if len(level) <= 60:
        axes.plot(level, share, "o", color=BLUE, markersize=3.5)
    if not _is_narrow(positive):
        axes.set(xscale="log", yscale="log", ylim=(0.6 / len(values), 1.6))
    elif _is_whole(positive):
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(True)
    zero = float((values == 0).mean())
    median = np.median(values)
    note = f"{zero:.0%} score 0" if zero >= 0.005 else f"median {median:.3g}"
    axes.text(0.03, 0.05, note, transform=axes.transAxes, color=inks().muted)


def _is_narrow(positive: np.ndarray) -> bool:
    """Whether the scores, except for a few small ones, span less than a factor of ten."""
    return bool(positive.max() < 10 * np.quantile(positive, 0.05))


def _is_whole(values: np.ndarray) -> bool:
    return bool((values == np.rint(values)).all())


def _draw_against_degree(
    axes: Any, degree: np.ndarray, values: np.ndarray, names: Any, measure: str, best: np.ndarray,
    kind: str,
) -> None:  # fmt: skip
    axes.set(title=f"Score against {kind}", xlabel=kind, ylabel=measure)
    visible = np.isfinite(values) & (degree > 0)
    positive = visible & (values > 0)
    if not positive.any():
        _nothing(axes, "every score is 0")
        return
    scale = "linear" if _is_narrow(values[positive]) else "log"
    axes.set(xscale="log", yscale=scale)
    axes.grid(True)
    if positive.sum() > _MANY:
        from matplotlib.colors import LinearSegmentedColormap, LogNorm

        shades = LinearSegmentedColormap.from_list("", inks().densities)
        hexagons = axes.hexbin(
            degree[positive], values[positive], xscale="log", yscale=scale, gridsize=45,
            cmap=shades, norm=LogNorm(), linewidths=0.1, mincnt=1,
        )  # fmt: skip
        bar = axes.figure.colorbar(hexagons, ax=axes, pad=0.01, aspect=40)
        bar.set_label("vertices", color=inks().muted)
        bar.outline.set_visible(False)
    else:
        axes.scatter(
            degree[positive], values[positive], s=26, color=BLUE, alpha=0.55, edgecolors="none"
        )
    zero = visible & (values == 0)
    low, floor = _set_limits(values[positive], scale == "log", bool(zero.any()), axes)
    if floor is not None:
        at = np.unique(degree[zero])
        axes.axhline(floor, color=inks().grid, linewidth=1)
        axes.scatter(at, np.full(len(at), floor), s=22, color=inks().muted, marker="|")
        apart = " (and the isolated)" if (degree == 0).any() else ""
        axes.annotate(
            f"{zero.sum():,} vertices{apart} score 0", (0.99, floor), xytext=(0, 3), ha="right",
            xycoords=("axes fraction", "data"), textcoords="offset points", color=inks().muted,
        )  # fmt: skip
    widest, narrowest = degree[visible].max(), degree[visible].min()
    axes.set_xlim(narrowest / 1.25, widest * (widest / narrowest) ** 0.12 * 1.25)
    _whole_numbers(axes.xaxis)
    if scale == "linear" and _is_whole(values[positive]):
        axes.yaxis.get_major_locator().set_params(integer=True)
    if floor is not None:
        _add_zero(axes.yaxis, low, floor)
    best = best[positive[best]]
    is_tie = len(best) > 3 and values[best[3]] == values[best[0]]  # naming would be arbitrary
    best = best[: 0 if is_tie else 3]
    axes.plot(degree[best], values[best], "o", markersize=5, color=ORANGE)
    _name(axes, degree[best], values[best], [_short(names[v], 18) for v in best])


def _set_limits(
    values: np.ndarray, log: bool, zeros: bool, axes: Any
) -> tuple[float, float | None]:
    """Of the score axis. Returns the lowest score, and the position of zeros, if there are any.
    Zeros get a separate row below: a log axis has no 0, and on a narrow axis 0 is far away."""
    low, high = values.min(), values.max()
    if log:
        margin = (high / low) ** 0.08
        floor = low / margin**1.5 if zeros else None
        axes.set_ylim((floor or low) / margin, high * margin**1.6)
    else:
        margin = 0.08 * ((high - low) or high)
        floor = low - 1.5 * margin if zeros else None
        axes.set_ylim((low if floor is None else floor) - margin, high + 1.6 * margin)
    return low, floor


def _name(axes: Any, x: np.ndarray, y: np.ndarray, names: list[str]) -> None:
    """Places names left or right of their points, or omits them, so that none overlap."""
    where = axes.transAxes.inverted().transform(axes.transData.transform(np.column_stack([x, y])))
    # left end, right end and height of occupied areas: initially the points themselves
    areas: list[tuple[float, float, float]] = [(x - 0.015, x + 0.015, y) for x, y in where]
    for (place, height), name in zip(where, names, strict=True):
        width, gap = 0.022 * len(name), 0.016
        for start in (place - gap - width, place + gap):
            inside = start >= 0 and start + width <= 1
            free = all(
                start > b or start + width < a or abs(height - h) > 0.032 for a, b, h in areas
            )
            if inside and free:
                areas.append((start, start + width, height))
                on_left = start < place
                axes.annotate(
                    name, (place, height), xycoords="axes fraction",
                    xytext=(-7 if on_left else 7, 0),
                    textcoords="offset points", ha="right" if on_left else "left", va="center",
                    color=ORANGE, parse_math=False,
                )  # fmt: skip
                break


def _whole_numbers(axis: Any) -> None:
    """Formats a log axis of counts as plain numbers, even below one decade."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    subs = range(1, 10) if high / low < 12 else (1, 2, 5) if high / low < 200 else (1,)
    axis.set_major_locator(LogLocator(subs=tuple(subs)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else ""))
    axis.set_minor_formatter(NullFormatter())


def _add_zero(axis: Any, low: float, floor: float) -> None:
    """Keeps the ticks within the scores and adds 0 for the row of zeros."""
    from matplotlib.ticker import NullLocator

    top = axis.get_view_interval()[1]
    ticks = [t for t in axis.get_majorticklocs() if low <= t <= top]
    axis.set_ticks([floor, *ticks], ["0", *axis.get_major_formatter().format_ticks(ticks)])
    axis.set_minor_locator(NullLocator())


def _draw_top(
    axes: Any, values: np.ndarray, names: Any, measure: str, best: np.ndarray, *, share: bool,
    lowest: bool, ends: np.ndarray | None,
) -> None:  # fmt: skip
    axes.set_title("Lowest scores" if lowest else "Highest scores")
    if not len(best):
        _nothing(axes, "every score is 0")
        return
    place = np.arange(len(best))
    axes.barh(place, values[best], color=BLUE, height=0.68)
    axes.set_yticks(place, [_short(names[v], 24) for v in best], parse_math=False)
    axes.set_ylim(max(len(best), 5) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.xaxis.set_visible(False)
    total = values.sum(where=np.isfinite(values))
    reach = values[best]  # where the numbers are printed
    if ends is not None and np.isfinite(ends[:, best]).all():
        axes.hlines(place, ends[0, best], ends[1, best], color=ORANGE, linewidth=2)
        reach = ends[1, best]
    for y, v, x in zip(place, best, reach, strict=True):
        part = f" ({values[v] / total:.1%})" if share else ""
        text = f"  {values[v]:.3g} {part}".rstrip()
        axes.text(x, y, text, va="center", color=inks().muted, fontsize=8.5)
    axes.set_xlim(0, reach.max() * 1.42)
    note = f"{measure} (share of the sum)" if share else measure
    axes.text(1, 0, note, transform=axes.transAxes, color=inks().muted, ha="right", va="top")


def _nothing(axes: Any, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=inks().muted)
    axes.set(xticks=[], yticks=[])


def _short(label: Any, most: int) -> str:
    text = str(label)
    return text if len(text) <= most else text[: most - 1] + "…"
