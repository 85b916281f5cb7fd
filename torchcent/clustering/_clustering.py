"""Clustering: a partition of the vertices of a graph, and the comparison of two clusterings."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _labels as check_labels
from torchcent.check._values import dense
from torchcent.clustering import _check as check_mcl
from torchcent.runtime import _html
from torchcent.runtime._optional import need

_SHOWN, _SHOWN_OF_EACH = 10, 8  # clusters in a notebook, and vertices of each


@dataclass(frozen=True, eq=False, repr=False)
class Clustering:
    """Clusters of the vertices of a graph, or of each graph of a batch; returned by :func:`mcl`.

    Attributes:
        labels: int64 [n]; the number of each vertex's cluster, as in :meth:`clusters`. With
            overlap="keep", the first of its clusters.
        attractors: int64; the attractors of the flow, ascending.
        overlaps: int64; the vertices that flow to several clusters (usually none), ascending.
        iterations: number of iterations of expansion and inflation.
        chaos_history: the chaos of every iteration.
        converged: whether the last chaos is below the limit, or the last iteration changed nothing.
        inflation: the requested inflation.
        engine: the engines that ran, such as "fused", or "dense, fused from iteration 4".
        flow: the last flow if return_flow=True, a sparse CSC tensor [n, n]; otherwise None.
        cluster_ptr: int64 [num_graphs + 1] for a batch, whose clusters are numbered graph by graph:
            graph i has the clusters cluster_ptr[i] to cluster_ptr[i + 1] - 1. None for a single
            graph.
    """

    labels: Tensor
    attractors: Tensor
    overlaps: Tensor
    iterations: int
    chaos_history: tuple[float, ...]
    converged: bool
    inflation: float
    engine: str
    flow: Tensor | None
    _members: Tensor = field()
    _offset: tuple[int, ...] = field()
    cluster_ptr: Tensor | None = None
    _labels: np.ndarray | None = None

    @overload
    def clusters(self, labels: Literal[False]) -> list[Tensor]: ...

    @overload
    def clusters(self, labels: Any = None) -> list[Any]: ...

    def clusters(self, labels: Any = None) -> list[Any]:
        """The vertices of each cluster, ascending: their names, or int64 tensors.

        The clusters (of each graph) are sorted by decreasing size, ties by their lowest vertex.
        With overlap="keep", a vertex can be in several clusters.

        Args:
            labels: None gives lists of the names that vertices have in the graph (its ``labels``),
                or tensors of their numbers if they have none. A sequence of n names gives lists of
                these, False tensors.

        Raises:
            TypeError, ValueError: `labels` has not one name of each vertex.

        Example:
            >>> import torch, torchcent
            >>> pair_and_one = torchcent.mcl(torch.tensor([[0, 1], [1, 0]]), num_nodes=3)
            >>> pair_and_one.clusters()
            [tensor([0, 1]), tensor([2])]
            >>> pair_and_one.clusters(["Ada", "Bob", "Cleo"])
            [['Ada', 'Bob'], ['Cleo']]
        """
        ends = zip(self._offset[:-1], self._offset[1:], strict=True)
        parts = [self._members[begin:end] for begin, end in ends]
        if labels is False or (labels is None and self._labels is None):
            return parts
        own = self._labels if labels is None else labels
        names = check_labels.sequence(own, self.num_nodes)
        return [[names[vertex] for vertex in part.tolist()] for part in parts]

    def _repr_html_(self) -> str:
        """The largest clusters, in notebooks."""
        cells = []
        for number, members in enumerate(self.clusters()[:_SHOWN]):
            first = members[:_SHOWN_OF_EACH]
            names = map(str, first.tolist() if isinstance(first, Tensor) else first)
            more = ", ..." if len(members) > _SHOWN_OF_EACH else ""
            cells.append((number, len(members), ", ".join(names) + more))
        return _html.columns(repr(self), ("cluster", "size", "vertices"), cells)

    @property
    def num_clusters(self) -> int:
        return len(self._offset) - 1

    @property
    def num_nodes(self) -> int:
        return self.labels.numel()

    @property
    def sizes(self) -> Tensor:
        """int64 [num_clusters], descending (for a batch, within each graph)."""
        return torch.tensor(self._offset, device=self.labels.device).diff()

    @property
    def device(self) -> torch.device:
        return self.labels.device

    def agreement(self, standard: Tensor | Clustering) -> dict[str, float]:
        """Agreement of the labels with a gold standard.

        Args:
            standard: labels [n]; vertices with a negative label are ignored.

        Returns:
            "ari" and "nmi": scikit-learn's ``adjusted_rand_score`` and
            ``normalized_mutual_info_score``, 1 for identical clusterings.

        Raises:
            ImportError: scikit-learn is not installed: ``pip install scikit-learn``.
        """
        metrics = need("sklearn.metrics", "cluster", "Clustering.agreement")
        labels = labels_of(standard).cpu()
        check_mcl.same_size(self.num_nodes, labels.numel())
        here, there = (x[labels >= 0].numpy() for x in (self.labels.cpu(), labels))
        return {
            "ari": float(metrics.adjusted_rand_score(there, here)),
            "nmi": float(metrics.normalized_mutual_info_score(there, here)),
        }

    def plot(self, graph: Any, path: Any = None, *, interactive: bool = False) -> Any:
        """Draws the clusters, as :func:`torchcent.cluster_plot.plot_clusterings` does.

        Args:
            graph: the graph that was clustered, as for :func:`mcl`.
            path: .png, .svg, .pdf or .html.
            interactive: True draws the network as a page, and returns it if there is no `path`.

        Example:
            >>> import torch, torchcent
            >>> arcs = torch.tensor([[0, 1], [1, 2]])
            >>> path = torchcent.Graph.from_edge_index(arcs, directed=False)
            >>> torchcent.mcl(path).plot(path, interactive=True)
            NetworkPage('Markov clustering of 3 vertices')
        """
        return draw(self, graph, path, interactive)

    def __len__(self) -> int:
        return self.num_clusters

    def __repr__(self) -> str:
        size = self.sizes.cpu()
        alone = int((size == 1).sum())
        first = ", ".join(map(str, size[:5].tolist())) + (", ..." if len(size) > 5 else "")
        state = "converged" if self.converged else "NOT converged"
        overlap = f"{self.overlaps.numel()} vertices in overlap, " if self.overlaps.numel() else ""
        return (
            f"Clustering({self.num_clusters} clusters of {self.num_nodes} vertices: {first}; "
            f"{alone} singletons, {overlap}inflation {self.inflation:g}, {state} in "
            f"{self.iterations} iterations, {self.engine})"
        )


def draw(clusterings: Any, graph: Any, path: Any, interactive: bool) -> Any:
    """The figure of one or several; figures know clusterings, so they are imported when needed."""
    figures = import_module("torchcent.cluster_plot")
    return figures.plot_clusterings(clusterings, graph, path=path, interactive=interactive)


class SplitJoin(NamedTuple):
    """The split/join distance of two clusterings, and its parts.

    Attributes:
        distance: first + second; 0 for identical clusterings.
        first: number of vertices that must leave their cluster in the first clustering to obtain
            the largest common subclustering; 0 if the first is a subclustering of the second.
        second: the same for the second clustering.
    """

    distance: int
    first: int
    second: int


def clustering_distance(first: Clustering | Tensor, second: Clustering | Tensor) -> SplitJoin:
    """Split/join distance: the number of vertices to move to turn one clustering into the other.

    .. math:: d(A, B) = \\bigl(n - \\sum_{a \\in A} \\max_{b \\in B} |a \\cap b|\\bigr)
              + \\bigl(n - \\sum_{b \\in B} \\max_{a \\in A} |a \\cap b|\\bigr)

    Args:
        first, second: clusterings of the same vertices, or their labels [n].

    Returns:
        SplitJoin: the distance and its two parts, as computed by ``clm dist``.

    Example:
        >>> import torch, torchcent
        >>> torchcent.clustering_distance(torch.tensor([0, 0, 1, 1]), torch.tensor([0, 0, 0, 1]))
        SplitJoin(distance=2, first=1, second=1)

    Source:
        van Dongen 2000, "Performance criteria for graph clustering and Markov cluster experiments".
    """
    a, b = labels_of(first), labels_of(second)
    check_mcl.same_size(a.numel(), b.numel())
    # The vertices that must leave their cluster in each to reach the meet of the two.
    label_a, label_b = (torch.unique(x, return_inverse=True)[1] for x in (a, b.to(a.device)))
    columns = label_b.max() + 1 if label_b.numel() else 1
    pair, count = torch.unique(label_a * columns + label_b, return_counts=True)
    moves = []
    for label in (pair // columns, pair % columns):
        largest = torch.zeros_like(count).scatter_reduce_(0, label, count, "amax")
        moves.append(a.numel() - int(largest.sum()))
    return SplitJoin(sum(moves), *moves)


def labels_of(value: Clustering | Tensor) -> Tensor:
    if isinstance(value, Clustering):
        return value.labels
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iu":
            raise TypeError(f"a clustering must have integer labels [n], got {value.dtype}")
        value = torch.from_numpy(value)
    if isinstance(value, Tensor):
        dense(value, "a clustering")
    whole = isinstance(value, Tensor) and not (value.is_floating_point() or value.is_complex())
    if not isinstance(value, Tensor) or not whole or value.dim() != 1:
        kind = type(value).__name__
        raise TypeError(
            f"a clustering must be a torchcent.Clustering or integer labels [n], got {kind}"
        )
    return value.to(torch.int64, copy=True)  # private copy
