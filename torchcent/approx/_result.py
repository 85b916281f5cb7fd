"""Result types of the approximations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch
from torch import Tensor

from torchcent.approx._estimate import certain_ranks
from torchcent.check import _common as check
from torchcent.runtime import _html

if TYPE_CHECKING:
    from torchcent.graph import Graph
    from torchcent.plots._page import NetworkPage


_SHOWN = 10  # vertices in a notebook
_EXACT = 1e-5  # maximum relative error of exact scores (docs/betweenness.md)


class Top(NamedTuple):
    """The vertices with the highest scores, in descending order.

    certain[i] means that the first i + 1 vertices are the i + 1 highest, provided that the
    intervals hold, which has probability 1 - delta. If all entries are True, the order is correct.
    `labels` are the names of the vertices, None if the graph has none.
    """

    vertices: Tensor  # int64 [k]
    scores: Tensor
    lower: Tensor
    upper: Tensor
    certain: Tensor  # bool [k]
    labels: list[Any] | None = None


@dataclass(frozen=True, eq=False)
class Approximation:
    """Scores with intervals that hold for all vertices simultaneously, with probability 1 - delta.

    Attributes:
        scores: [n], normalised estimates of ``betweenness(graph)`` or of
            ``current_flow_betweenness(graph)``; or [E], those of ``edge_betweenness(graph)``, one
            per input column.
        lower, upper: the interval of each vertex or column; NaN if there is no guarantee.
        epsilon: the largest distance between a score and an end of its interval, before rounding to
            a narrow dtype; NaN if there is no guarantee.
        delta: the probability that some score is outside its interval. It is 0 for exact scores,
            whose intervals are single numbers up to rounding.
        samples: the number of paths, pivots or pairs; for an exact run, the number of sources.
        method: "kadabra", "rk", "pivots", "pairs" or "exact".
        reached: whether the requested accuracy was reached; False if the run was cut short.
        reason: why this method was selected, and how the run ended.
    """

    scores: Tensor
    lower: Tensor
    upper: Tensor
    epsilon: float
    delta: float
    samples: int
    method: str
    reached: bool
    reason: str
    _graph: Graph = field(repr=False)
    _edges: bool = field(default=False, repr=False)

    def top(self, k: int) -> Top:
        """The k highest scores, and which of their ranks are certain.

        Example:
            >>> import torch, torchcent
            >>> star = torch.tensor([[0, 0, 0], [1, 2, 3]])
            >>> best = torchcent.betweenness_approx(star, directed=False).top(2)
            >>> best.vertices.tolist(), best.certain.tolist()
            ([0, 1], [True, False])

        Of edges, raises TypeError.
        """
        self._of_vertices("top")
        check.top(k, self._graph)
        scores, lower, upper = (
            part.double().cpu().numpy() for part in (self.scores, self.lower, self.upper)
        )
        if self.delta == 0:  # tied scores may differ in the last digits
            lower, upper = lower * (1 - _EXACT), upper * (1 + _EXACT)
        best, certain = certain_ranks(scores, lower, upper, k)
        vertices, ranks = (torch.from_numpy(x).to(self.scores.device) for x in (best, certain))
        ends = self.lower[vertices], self.upper[vertices]
        names = None
        if self._graph.labels is not None:
            names = self._graph.labels[best].tolist()
        return Top(vertices, self.scores[vertices], *ends, ranks, names)

    def _repr_html_(self) -> str:
        """The highest scores with their intervals, in notebooks."""
        title = f"{self.scores.numel():,} scores, {self.in_words}"
        if self._edges or not self.scores.numel():
            return _html.rows(title, {"reason": self.reason})
        top = self.top(min(_SHOWN, self.scores.numel()))
        names = top.vertices.tolist() if top.labels is None else top.labels
        columns = ([f"{each:.4g}" for each in part.tolist()] for part in top[1:4])
        cells = zip(names, *columns, strict=True)
        return _html.columns(title, ("vertex", "score", "lower", "upper"), cells)

    def plot(
        self, path: str | os.PathLike[str] | None = None, labels: Sequence[Any] | None = None,
        title: str | None = None, *, interactive: bool = False,
    ) -> NetworkPage | None:  # fmt: skip
        """Writes a figure of the scores with their intervals: .png, .svg or .pdf.

        The arguments are those of :func:`torchcent.plot.plot_scores`. Needs matplotlib: ``pip
        install torchcent[plot]``. With ``interactive=True``, or a path that ends in .html, the
        network is drawn instead, as by :func:`torchcent.plot.plot_network`; without a path it is
        returned.
        """
        self._of_vertices("plot")
        from torchcent.plots._network import plot_network
        from torchcent.plots._page import is_page
        from torchcent.plots._scores import plot_scores

        if title is None:
            title = f"Betweenness of {self._graph.num_nodes:,} vertices, {self.in_words}"
        if interactive or is_page(path):
            shown = plot_network(
                self._graph, None, self.scores, labels, path=path, title=title, interactive=True
            )
            return cast("NetworkPage | None", shown)
        if path is None:
            raise TypeError("path must be a file .png, .svg or .pdf unless interactive=True")
        ends = (self.lower, self.upper)
        plot_scores(self._graph, self.scores, labels, path=path, title=title, interval=ends)
        return None

    def _of_vertices(self, name: str) -> None:
        if self._edges:
            raise TypeError(f"{name} is for scores of vertices, and these are scores of edges")

    @property
    def in_words(self) -> str:
        """One line that describes the method and the accuracy."""
        if self.method == "exact":
            return "exact"
        what = self.method if self.method in ("pivots", "pairs") else "paths"
        within = ""
        if self.epsilon == self.epsilon:
            within = f", within {self.epsilon:.3g} with probability {1 - self.delta:g}"
        return f"estimated from {self.samples:,} {what}{within}"

    def __repr__(self) -> str:
        what = "columns" if self._edges else "n"
        return (
            f"Approximation({what}={self.scores.numel()}, method={self.method!r}, "
            f"epsilon={self.epsilon:.4g}, delta={self.delta:g}, samples={self.samples}, "
            f"reached={self.reached}: {self.reason})"
        )


def exact(graph: Graph, scores: Tensor, reason: str, edges: bool = False) -> Approximation:
    return Approximation(
        scores, scores, scores, epsilon=0.0, delta=0.0, samples=graph.num_nodes, method="exact",
        reached=True, reason=reason, _graph=graph, _edges=edges,
    )  # fmt: skip


def outward(lower: Tensor, upper: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Converts interval ends in [0, 1] from float64 to another dtype, rounding outward."""
    unit = torch.finfo(dtype)
    least = unit.tiny * unit.eps  # smallest positive number

    def rounded(value: Tensor, sign: int) -> Tensor:
        near = value.to(dtype)
        inward = sign * (near.double() - value) < 0
        beyond = (value * (1 + sign * unit.eps) + sign * least).clamp(0, 1).to(dtype)
        return torch.where(inward, beyond, near)

    return rounded(lower, -1), rounded(upper, 1)


@dataclass(frozen=True, eq=False)
class AdaptiveBetweenness:
    """Estimates for single vertices by Bader et al. 2007.

    Attributes:
        scores: [k], normalised, in the order of the requested vertices.
        samples: int64 [k], number of sources whose dependencies are in each estimate.
        stopped: bool [k], whether the sum exceeded c n or all sources were used.
        lower, upper: [k], epsilon times and 1 / epsilon times the score. For each vertex that met
            the stopping rule, the interval holds with probability at least 1 - 2 epsilon.
    """

    vertices: Tensor
    scores: Tensor
    samples: Tensor
    stopped: Tensor
    lower: Tensor
    upper: Tensor
