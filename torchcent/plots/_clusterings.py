"""Figures of clusterings: cluster sizes, the reordered matrix, comparison of inflations."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from torchcent.clustering._clustering import Clustering
from torchcent.clustering._mcl import MclSweep, clustering_quality
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_arcs, as_graph
from torchcent.io import EdgeList
from torchcent.plots import _check as check_plot
from torchcent.plots._inks import BLUE, ORANGE, inks
from torchcent.plots._map import map_of
from torchcent.plots._network import check_interactive, plot_network
from torchcent.plots._page import NetworkPage
from torchcent.plots._parts import Parts, color_of
from torchcent.plots._scores import _whole_numbers, figure_of_three

_SHADES = ("#2b6cb0", "#63a4dd", "#dd6b20", "#f0b429")
_LARGEST_MAP = 20_000  # vertices
_BINS = 320  # bins of the matrix in each dimension


def plot_clusterings(
    clusterings: Clustering | Sequence[Clustering] | MclSweep,
    edge_index: GraphLike | EdgeList,
    edge_weight: WeightLike = None,
    *,
    directed: bool | None = None,
    path: str | os.PathLike[str] | None = None,
    where: str = "",
    interactive: bool = False,
) -> NetworkPage | None:
    """Draws one clustering, or several clusterings of the same graph.

    For one clustering, the figure shows the cluster sizes, the chaos per iteration, and the
    adjacency matrix with vertices ordered by cluster. Clusters are then dark squares on the
    diagonal. For several, such as those of a sweep over the inflation, it shows the number of
    clusters, the quality and the sizes.

    An interactive figure is the network, with vertices coloured by cluster
    (:func:`torchcent.plot.plot_network`). A slider chooses the inflation.

    Args:
        clusterings: one or more, or a :class:`torchcent.MclSweep`.
        edge_index, edge_weight, directed: the graph, as for :func:`torchcent.mcl`. Interactive
            figures take an :class:`torchcent.EdgeList` as well, which brings names and positions.
        path: .png, .svg or .pdf, or .html for an interactive figure; an existing file is replaced
            atomically.
        where: name of the graph, for the title.
        interactive: True draws an interactive figure, and returns it if there is no `path`.

    Returns:
        None, or a :class:`torchcent.plot.NetworkPage`.

    Raises:
        ImportError: matplotlib is not installed: ``pip install matplotlib``. Interactive figures do
            not need it.
        TypeError: there is no `path`, and the figure is not interactive.
        ValueError: the suffix is unknown, or there is no clustering.

    Example:
        >>> import tempfile, torch, torchcent
        >>> square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> found = torchcent.mcl(square, directed=False)
        >>> folder = tempfile.TemporaryDirectory()
        >>> plot_clusterings(found, square, directed=False, path=folder.name + "/square.png")
        >>> folder.cleanup()
    """
    suffix, page = check_interactive(path, interactive)
    if isinstance(clusterings, MclSweep):
        clusterings = clusterings.clusterings
    several = check_plot.clusterings(clusterings)
    where = check_plot.text(where, "where")
    if page:
        several.sort(key=lambda one: one.inflation)
        title = f"Markov clustering of {where or f'{several[0].num_nodes:,} vertices'}"
        if not isinstance(edge_index, EdgeList):
            edge_index = as_graph(edge_index, None, several[0].num_nodes, None, directed)
        shown = plot_network(
            edge_index, communities={"cluster": several}, path=path, title=title, interactive=True
        )
        return cast("NetworkPage | None", shown)
    assert path is not None
    if not isinstance(edge_index, Graph):
        edge_index, _, directed, edge_weight, *_ = as_arcs(
            edge_index, several[0].num_nodes, directed, edge_weight
        )

    def fit(one: Clustering) -> dict[str, float]:
        return clustering_quality(
            one, edge_index, edge_weight, num_nodes=one.num_nodes, directed=directed
        )

    fit(several[0])  # also for a single clustering: invalid arguments raise the same errors
    several.sort(key=lambda one: one.inflation)
    first = several[0]
    title = f"Markov clustering of {where or f'{first.num_nodes:,} vertices'}"
    if len(several) == 1:
        title += f", inflation {first.inflation:g}: {first.num_clusters:,} clusters"
    with figure_of_three(path, suffix, title, [1, 1.1, 1]) as (left, middle, right):
        if len(several) == 1:
            _draw_sizes(left, several)
            _draw_matrix(middle, first, edge_index)
            _draw_chaos(right, first)
        else:
            _draw_counts(left, several)
            _draw_quality(middle, [x.inflation for x in several], [fit(x) for x in several])
            _draw_sizes(right, several)
    return None


def plot_communities(
    division: Any,
    edge_index: GraphLike | EdgeList,
    *,
    level: int | None = None,
    path: str | os.PathLike[str] | None = None,
    where: str = "",
    interactive: bool = False,
) -> NetworkPage | None:
    """Draws the communities of a level, and the modularity of all levels.

    It shows the graph with vertices coloured by community, the adjacency matrix with vertices
    ordered by community, and modularity against the number of communities. Graphs of more than
    20,000 vertices have the sizes of the communities in place of the first.

    An interactive figure is the network alone (:func:`torchcent.plot.plot_network`). A slider
    chooses the level: one of all, or of about 50 if there are more.

    Args:
        division: what :func:`torchcent.communities_by_betweenness` returns.
        edge_index: the graph that was divided. An :class:`torchcent.EdgeList` brings positions;
            otherwise vertices are where :func:`torchcent.layout` puts them.
        level: which level is shown; None is ``division.level``.
        path: .png, .svg or .pdf, or .html for an interactive figure; an existing file is replaced
            atomically.
        where: name of the graph, for the title.
        interactive: True draws an interactive figure, and returns it if there is no `path`.

    Returns:
        None, or a :class:`torchcent.plot.NetworkPage`.

    Raises:
        ImportError: matplotlib is not installed: ``pip install matplotlib``. Interactive figures do
            not need it.
        TypeError: there is no `path`, and the figure is not interactive.
        ValueError: the suffix is unknown, or there is no such level.

    Example:
        >>> import tempfile, torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> graph = torchcent.Graph.from_edge_index(path, directed=False)
        >>> division = torchcent.communities_by_betweenness(graph)
        >>> folder = tempfile.TemporaryDirectory()
        >>> plot_communities(division, graph, path=folder.name + "/path.png")
        >>> folder.cleanup()
    """
    suffix, page = check_interactive(path, interactive)
    where = check_plot.text(where, "where")
    label = division.at(division.level if level is None else level).cpu()
    level = (division.level if level is None else level) % division.counts.numel()
    parts = Parts.of(label, label.numel())
    crs = edge_index.crs if isinstance(edge_index, EdgeList) else None
    if not isinstance(edge_index, Graph | EdgeList):
        edge_index = as_graph(edge_index, None, label.numel(), None, False)
    if page:
        title = f"Communities of {where or f'{label.numel():,} vertices'}"
        division = replace(division, labels=label, level=level)
        shown = plot_network(
            edge_index, communities=division, path=path, title=title, interactive=True
        )
        return cast("NetworkPage | None", shown)
    assert path is not None
    small = label.numel() <= _LARGEST_MAP
    drawn = map_of(edge_index) if small else None
    title = f"Division of {where or f'{label.numel():,} vertices'} by edge betweenness: "
    title += f"{len(parts.sizes):,} communities"
    with figure_of_three(path, suffix, title, [1.5, 1.1, 1]) as (left, middle, right):
        if drawn is None:
            _draw_sizes(left, [parts], "communities")
        else:
            left.set(title="Communities")
            drawn.frame(left, drawn.stretch(crs))
            parts.draw(left, drawn)
            parts.explain(left)
        _draw_matrix(middle, parts, edge_index, "community", by_color=True)
        right.set(title="Levels", xlabel="communities", ylabel="modularity")
        right.grid(True)
        counts, modularity = division.counts.tolist(), division.modularity.tolist()
        right.plot(counts, modularity, "o-", color=BLUE, markersize=3, linewidth=1.6)
        right.plot(counts[level], modularity[level], "o", color=ORANGE, markersize=7)
        right.xaxis.get_major_locator().set_params(integer=True)
    return None


def _draw_sizes(axes: Any, several: Sequence[Clustering | Parts], what: str = "clusters") -> None:
    """Plots size against rank on log-log axes."""
    axes.set(title=f"Sizes of the {what}", xlabel="rank", ylabel="vertices")
    axes.set(xscale="log", yscale="log")
    axes.grid(True)
    colors = itertools.cycle([inks().ink, *_SHADES, inks().muted] if len(several) > 1 else [BLUE])
    for one, color in zip(several, colors, strict=False):
        size = torch.as_tensor(one.sizes).cpu().numpy()
        rank = np.arange(1, len(size) + 1)
        mark = {"marker": "o", "markersize": 3} if len(size) <= 60 else {}
        label = f"inflation {one.inflation:g}" if isinstance(one, Clustering) else None
        axes.plot(rank, size, color=color, linewidth=1.8, label=label, **mark)
    _whole_numbers(axes.xaxis)
    _whole_numbers(axes.yaxis)
    if len(several) > 1:
        axes.legend(frameon=False)
        return
    size = torch.as_tensor(several[0].sizes).cpu().numpy()
    alone = int((size == 1).sum())
    if len(size):
        note = f"largest {size[0]:,}\nmedian {np.median(size):g}\n{alone:,} singletons"
        axes.text(
            0.96, 0.95, note, transform=axes.transAxes, ha="right", va="top", color=inks().muted
        )


def _draw_matrix(
    axes: Any, one: Clustering | Parts, edge_index: Tensor | Graph | EdgeList,
    what: str = "cluster", *, by_color: bool = False,
) -> None:  # fmt: skip
    """Plots the density of the adjacency matrix with vertices ordered by cluster."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm
    from matplotlib.patches import Rectangle

    axes.set(title=f"Edges, vertices by {what}", xlabel=f"vertex, the largest {what} first")
    n = max(len(one.labels), 1)
    place = torch.argsort(torch.argsort(torch.as_tensor(one.labels).cpu(), stable=True))
    arcs = edge_index.to_edge_index() if isinstance(edge_index, Graph) else edge_index
    arcs = arcs.edge_index if isinstance(arcs, EdgeList) else arcs
    tail, head = (place[end.cpu().long()].numpy() for end in arcs)
    bins = min(n, _BINS)
    count, *_ = np.histogram2d(
        np.concatenate([tail, head]), np.concatenate([head, tail]), bins, [[0, n], [0, n]]
    )
    shades = LinearSegmentedColormap.from_list("", inks().densities).with_extremes(bad="none")
    axes.imshow(
        np.ma.masked_equal(count, 0), origin="upper", extent=(0, n, n, 0), cmap=shades,
        norm=LogNorm(vmin=1, vmax=max(count.max(), 2)), interpolation="nearest", aspect="equal",
    )  # fmt: skip
    begin = 0
    for number, size in enumerate(one.sizes[:40].tolist()):
        if size < 0.01 * n:
            break
        ink, width = (color_of(number), 1.6) if by_color else (ORANGE, 0.9)
        square = Rectangle((begin, begin), size, size, fill=False, edgecolor=ink, linewidth=width)
        axes.add_patch(square)
        begin += size
    axes.spines[["right", "top"]].set_visible(True)


def _draw_chaos(axes: Any, one: Clustering) -> None:
    axes.set(title="Convergence", xlabel="iteration", ylabel="chaos")
    axes.grid(True)
    chaos = np.array(one.chaos_history)
    at = np.flatnonzero(chaos > 0)
    axes.plot(at + 1, chaos[at], "o-", color=BLUE, markersize=3.5, linewidth=1.6)
    if len(at):
        axes.set_yscale("log")
    axes.xaxis.get_major_locator().set_params(integer=True)


def _draw_counts(axes: Any, several: Sequence[Clustering]) -> None:
    axes.set(title="Clusters by inflation", xlabel="inflation", yscale="log")
    axes.grid(True)
    rate = [x.inflation for x in several]
    rows = {
        "clusters": [x.num_clusters for x in several],
        "of them singletons": [int((x.sizes == 1).sum()) for x in several],
        "vertices in the largest": [int(x.sizes.max()) for x in several],
    }
    for (name, values), color in zip(rows.items(), (BLUE, inks().muted, ORANGE), strict=True):
        points = [(r, v) for r, v in zip(rate, values, strict=True) if v]
        if points:
            axes.plot(*zip(*points, strict=True), "o-", color=color, label=name)
    _whole_numbers(axes.yaxis)
    axes.legend(frameon=False)


def _draw_quality(axes: Any, rate: list[float], quality: list[dict[str, float]]) -> None:
    least = min(0.0, *(row["modularity"] for row in quality))
    axes.set(title="Quality by inflation", xlabel="inflation", ylim=(least, 1.02))
    axes.grid(True)
    names = {
        "modularity": inks().ink, "efficiency": BLUE, "mass_fraction": ORANGE,
        "area_fraction": inks().muted,
    }  # fmt: skip
    for name, color in names.items():
        values = [row[name] for row in quality]
        axes.plot(rate, values, "o-", color=color, label=name.replace("_", " "))
    axes.axhline(0, color=inks().grid, linewidth=1)
    axes.legend(frameon=False)
