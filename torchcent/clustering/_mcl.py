"""mcl and mcl_sweep: Markov clustering, compatible with van Dongen's mcl."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.clustering import _batch, _interpret, _plan, _quality, _ranks, _run
from torchcent.clustering import _check as check_mcl
from torchcent.clustering._clustering import (
    Clustering,
    SplitJoin,
    clustering_distance,
    draw,
    labels_of,
)
from torchcent.clustering._prepare import prepare
from torchcent.clustering._rules import Prune
from torchcent.distribute._group import agreed, group_of
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_arcs
from torchcent.runtime import _memory

__all__ = [
    "Clustering", "MclSweep", "Prune", "SplitJoin", "clustering_distance", "clustering_quality",
    "mcl", "mcl_sweep",
]  # fmt: skip

_DEFAULT = Prune()


@computes("engine", "group", searches=True)
def mcl(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    inflation: float = 2.0,
    expansion: int = 2,
    loops: str | float | None = "max",
    prune: Prune | None = _DEFAULT,
    chaos: float = 1e-4,
    max_iter: int = 10000,
    overlap: str = "cut",
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    return_flow: bool = False,
    run: Run = DEFAULT,
) -> Clustering:
    r"""Markov clustering: finds groups of vertices that a random walk seldom leaves.

    Column j of the column-stochastic flow matrix M is the distribution of the walker's next vertex
    from vertex j. M is expanded, pruned and inflated until it converges:

    .. math:: M \leftarrow M^e, \qquad
              M_{ij} \leftarrow M_{ij}^r \Big/ \sum_k M_{kj}^r

    Expansion spreads the flow, inflation strengthens it where it is strong. With the default
    arguments, the clusters are those of van Dongen's ``mcl`` with its default options.

    Args:
        edge_index: int64 [2, E], a Graph without weights, or a graph of another library. An
            undirected edge is listed in both directions, as in PyG; column j of the flow holds the
            arcs that *leave* j. mcl is designed for symmetric graphs.
        edge_weight: [E], similarities, finite and >= 0; 0 means that there is no arc, and so does a
            negative number, with a warning. Of parallel arcs the largest counts, as in mcl, with a
            warning if they differ; entries of a matrix at one place are added up, as its library
            does. None means 1 for all arcs. For a graph of another library it may be the name of
            its weights (docs/inputs.md). (The weights of a Graph are distances and raise an error.)
        inflation: r > 1. Larger values give more and smaller clusters; common values are 1.4, 2, 4,
            6.
        expansion: e, from 2 to 1000; each step is a matrix product.
        loops: the loop of each vertex. "max" gives it the vertex's largest similarity (1 if there
            are no arcs), as mcl does. A number c multiplies that by c (mcl's ``-c``), and "one"
            gives 1. These options ignore the loops of the input. None uses the input's own loops
            and adds none.
        prune: which entries are dropped after expansion (see :class:`Prune`); None keeps all.
        chaos: convergence threshold: stop when (largest entry - sum of squares) x entries is below
            this value in every column.
        max_iter: maximum number of iterations; a warning is issued if it is reached.
        overlap: treatment of vertices that flow to several clusters: "cut" keeps them in one,
            "keep" in all, "split" forms separate clusters of them.
        num_nodes: n; by default the largest id + 1. Isolated vertices are singletons.
        batch: for a union of many graphs, the graph of each vertex or the first vertex of each
            graph (docs/batches.md). Each graph is iterated until its own chaos is below the limit,
            and no cluster contains vertices of two graphs. Clusters are numbered graph by graph, by
            decreasing size within each (:attr:`Clustering.cluster_ptr`).
        directed: None uses the given arcs; False adds missing reverse arcs and uses the larger of
            the two similarities, as mcl does for label input (``--abc``).
        return_flow: whether the result includes the last flow.
        run: how it is computed, see :class:`Run`.

    Returns:
        Clustering, on the device of the graph.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.
        MemoryError: the flow does not fit; the message gives both sizes.

        With ``group``, an error of a rank is raised on all.

    Results are bitwise reproducible for the same graph, device and engine, for any number of
    threads. An iteration takes O(n k^2) time with k entries per column; 10 to 100 iterations are
    typical.

    Example:
        >>> import torch, torchcent
        >>> two_triangles = torch.tensor([[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]])
        >>> found = torchcent.mcl(two_triangles, directed=False)
        >>> found.labels
        tensor([0, 0, 0, 1, 1, 1])
        >>> found.num_clusters, found.converged
        (2, True)

    Source:
        van Dongen 2000, "Graph clustering by flow simulation"; Bustamam, Burrage and Hamilton 2010,
        on CUDA with ELLPACK-R (the chaos of their Eq. 3 tends to 1, not to 0: docs/clustering.md).
    """
    ranks = group_of(run.group)
    with agreed(ranks):
        rate = check_mcl.inflation(inflation)
        rules = check_mcl.rules(expansion, prune, rate, chaos, max_iter)
        check.choice(overlap, "overlap", _interpret.OVERLAPS)
        check.flag(return_flow, "return_flow")
        setup = prepare(
            edge_index, edge_weight, loops=loops, num_nodes=num_nodes, directed=directed,
            run=run, batch=batch,
        )  # fmt: skip
        ptr = setup.graph.ptr
        if ptr is not None and ranks is not None:
            raise ValueError(
                "Run(group=) does not go with batch=: give each rank some of the graphs"
            )
    if ptr is not None:
        result = _batch.run(setup.take(), ptr, rules, setup.engine, run.memory, run.progress)
    else:
        plan = _ranks.plan(ranks, setup.flow, rules, setup.engine, run.memory, overlap)
        result = _run.run(setup.take(), rules, plan, run.progress, group=ranks)
    with agreed(ranks):
        _run.warn_if_stuck(result, rules, setup.one_way)
        return _clustering(result, rate, overlap, return_flow, setup.labels, ptr)


@dataclass(frozen=True, repr=False)
class MclSweep:
    """Clusterings of a graph for several inflations, returned by :func:`mcl_sweep`; printable.

    Attributes:
        inflations: the requested inflations.
        clusterings: a Clustering for each inflation.
        table: a row for each inflation: inflation, clusters, largest, singletons, efficiency,
            modularity, mass_fraction, area_fraction (see :func:`clustering_quality`), and distance.
            The last is the split/join distance to the clustering of the previous row (0 in the
            first row).
    """

    inflations: list[float]
    clusterings: list[Clustering]
    table: list[dict[str, float]]

    def __len__(self) -> int:
        return len(self.clusterings)

    def __getitem__(self, place: int) -> Clustering:
        return self.clusterings[place]

    def plot(self, graph: Any, path: Any = None, *, interactive: bool = False) -> Any:
        """Draws the clusterings, as :func:`torchcent.cluster_plot.plot_clusterings` does.

        A page, written to a path .html or returned with ``interactive=True``, has a slider that
        chooses the inflation. The arguments are those of :meth:`Clustering.plot`.
        """
        return draw(self, graph, path, interactive)

    def __repr__(self) -> str:
        return f"MclSweep(inflations={self.inflations})\n{self}"

    def __str__(self) -> str:
        if not self.table:
            return ""
        cells = [list(self.table[0])]
        for row in self.table:
            whole = ("clusters", "largest", "singletons", "distance")
            cells.append([
                f"{row[k]:,}" if k in whole else f"{row[k]:g}" if k == "inflation"
                else f"{row[k]:.5f}" for k in row
            ])  # fmt: skip
        width = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(w) for cell, w in zip(row, width, strict=True)) for row in cells
        )


@computes("engine", "group", searches=True)
def mcl_sweep(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    inflations: Sequence[float] = (1.4, 2.0, 4.0, 6.0),
    *,
    expansion: int = 2,
    loops: str | float | None = "max",
    prune: Prune | None = _DEFAULT,
    chaos: float = 1e-4,
    max_iter: int = 10000,
    overlap: str = "cut",
    num_nodes: int | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> MclSweep:
    """Markov clustering for several inflations, which share the first expansion.

    Args:
        inflations: each > 1.
        run: how it is computed, see :class:`Run`.

    All other arguments are as for :func:`mcl`.

    Returns:
        MclSweep: the clusterings, and a table of their quality that helps to choose the inflation.

    Example:
        >>> import torch, torchcent
        >>> two_triangles = torch.tensor([[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]])
        >>> sweep = torchcent.mcl_sweep(two_triangles, inflations=[1.4, 2, 6], directed=False)
        >>> [found.num_clusters for found in sweep.clusterings]
        [1, 2, 2]
        >>> [row["modularity"] > 0.35 for row in sweep.table]
        [False, True, True]
    """
    ranks = group_of(run.group)
    with agreed(ranks):
        rates = check_mcl.inflations(inflations)
        rules = check_mcl.rules(expansion, prune, rates[0], chaos, max_iter)
        check.choice(overlap, "overlap", _interpret.OVERLAPS)
        setup = prepare(
            edge_index, edge_weight, loops=loops, num_nodes=num_nodes, directed=directed, run=run
        )
    plan = _ranks.plan(ranks, setup.flow, rules, setup.engine, run.memory, (rates, overlap))
    # The first expansion, with pruning, of all inflations.
    once = replace(rules, inflation=1.0, chaos=math.inf, max_iter=1)
    first = _run.run(setup.flow, once, plan, run.progress, group=ranks)
    clusterings: list[Clustering] = []
    table = []
    for rate in rates:
        rules = replace(rules, inflation=rate)
        result = _run.run(first.flow, rules, plan, run.progress, first, ranks)
        result.engines = first.engines[:1] + [
            change for change in result.engines if change[0] != first.engines[0][0]
        ]
        with agreed(ranks):
            _run.warn_if_stuck(result, rules, setup.one_way)
            last = _clustering(result, rate, overlap, False, setup.labels)
            clusterings.append(last)
            size = last.sizes
            table.append({
                "inflation": last.inflation,
                "clusters": last.num_clusters,
                "largest": int(size[0]) if len(size) else 0,
                "singletons": int((size == 1).sum()),
                **_quality.fit(setup.flow, setup.graph, setup.similarity, last.labels),
                "distance": clustering_distance(*clusterings[-2:]).distance
                if clusterings[1:]
                else 0,
            })  # fmt: skip
    return MclSweep(rates, clusterings, table)


@_memory.reported
def clustering_quality(
    clustering: Clustering | Tensor,
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
) -> dict[str, float]:
    """How well a clustering fits a graph; computes the measures of ``clm info``.

    Args:
        clustering: a Clustering, or labels [n], numbered from 0.
        edge_index, edge_weight, num_nodes, directed: as for :func:`mcl`.

    Returns:
        A dict with

        - efficiency: from 0 to 1, the mean over the vertices of how well the cluster covers the
          vertex's flow without being larger than needed;
        - modularity: Newman's modularity of the similarities;
        - mass_fraction: the mean share of a vertex's flow (loop included) that stays in its
          cluster;
        - area_fraction: pairs within clusters divided by all pairs.

    Example:
        >>> import torch, torchcent
        >>> square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> halves = torch.tensor([0, 0, 1, 1])
        >>> quality = torchcent.clustering_quality(halves, square, directed=False)
        >>> quality["modularity"], round(quality["area_fraction"], 4)
        (0.0, 0.3333)
    """
    labels = labels_of(clustering)
    if not isinstance(edge_index, Graph):
        edge_index, num_nodes, directed, edge_weight, *_ = as_arcs(
            edge_index, num_nodes, directed, edge_weight
        )
    if num_nodes is None and not isinstance(edge_index, Graph):
        num_nodes = labels.numel()
        arcs = check.edge_index(edge_index)
        highest = int(arcs.max()) if arcs.numel() else -1
        if highest >= num_nodes:
            raise ValueError(
                f"clustering has {num_nodes} labels, but edge_index contains vertex id {highest}"
            )
    setup = prepare(
        edge_index, edge_weight, loops="max", num_nodes=num_nodes, directed=directed, run=DEFAULT
    )
    check_mcl.same_size(labels.numel(), setup.flow.num_nodes)
    label = torch.unique(labels.to(setup.flow.device), return_inverse=True)[1]
    return _quality.fit(setup.flow, setup.graph, setup.similarity, label)


@computes("engine", searches=True)
def explain_mcl(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    expansion: int = 2,
    loops: str | float | None = "max",
    prune: Prune | None = _DEFAULT,
    num_nodes: int | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> _plan.MclPlan:
    """The execution plan of :func:`mcl`: engine, reason, size of the first expansion, memory.

    Raises the same errors that :func:`mcl` raises before it starts.

    Example:
        >>> import torch, torchcent
        >>> everybody = torch.ones(50, 50).nonzero().T
        >>> torchcent.explain_mcl(everybody).engine
        'dense'
    """
    rules = check_mcl.rules(expansion, prune)
    setup = prepare(
        edge_index, edge_weight, loops=loops, num_nodes=num_nodes, directed=directed, run=run
    )
    return _plan.plan(setup.flow, rules, setup.engine, run.memory)


def _clustering(
    result: _run.Outcome, inflation: float, overlap: str, return_flow: bool,
    labels: np.ndarray | None, ptr: Tensor | None = None,
) -> Clustering:  # fmt: skip
    flow, graph = result.flow, None
    if ptr is not None:
        graph = np.repeat(np.arange(ptr.numel() - 1), ptr.diff().cpu().numpy())
    parts = _interpret.interpret(flow, overlap, graph)

    def there(array: np.ndarray) -> Tensor:
        return torch.as_tensor(array, dtype=torch.int64, device=flow.device)

    matrix = None
    if return_flow:
        matrix = torch.sparse_csc_tensor(
            *flow.packed(), (flow.num_nodes,) * 2, device=flow.device, check_invariants=False
        )
    cluster_ptr = None
    if ptr is not None:
        cluster_ptr = there(np.searchsorted(parts.graph, np.arange(ptr.numel())))
    first, *others = result.engines or [("none", 1)]
    engine = ", ".join([first[0], *(f"{name} from iteration {at}" for name, at in others)])
    return Clustering(
        there(parts.label), there(parts.attractors), there(parts.overlaps),
        iterations=len(result.summaries),
        chaos_history=tuple(summary.chaos for summary in result.summaries),
        converged=result.converged, inflation=inflation, engine=engine, flow=matrix,
        _members=there(parts.members), _offset=tuple(parts.offset.tolist()),
        cluster_ptr=cluster_ptr, _labels=labels,
    )  # fmt: skip
