"""closeness, harmonic and eccentricity; _profile.py has all of them from one traversal."""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _cutoff as check_cutoff
from torchcent.check._cutoff import Cutoffs, Lengths
from torchcent.check._run import DEFAULT, SEARCHES, Run
from torchcent.distances import _eccentricity, _top_closeness
from torchcent.distances._distance_sums import (
    of_each_cutoff,
    over_all,
    request_for,
    source_sums,
    vertex_sums,
)
from torchcent.distances._run import Sums
from torchcent.distribute._arguments import pivots_of
from torchcent.engines.measures import _normalize
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._measures import measure
from torchcent.engines.measures._request import Request
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph


@overload
def closeness(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    wf_improved: bool = True,
    sources: int | Tensor | None = None,
    vertices: Tensor | None = None,
    cutoff: Lengths = None,
    top: None = None,
    run: Run = ...,
) -> Tensor: ...


@overload
def closeness(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    wf_improved: bool = True,
    sources: int | Tensor | None = None,
    vertices: Tensor | None = None,
    cutoff: Lengths = None,
    top: int,
    run: Run = ...,
) -> tuple[Tensor, Tensor]: ...


@measure(
    "vertices", *SEARCHES, "dtype", searches=True, columns=("closeness",),
    kernel=Kernel("distances", collapses=True, rounds=True, folds="one"),
)  # fmt: skip
def closeness(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    wf_improved: bool = True,
    sources: int | Tensor | None = None,
    vertices: Tensor | None = None,
    cutoff: Lengths = None,
    top: int | None = None,
    run: Run = DEFAULT,
) -> Tensor | tuple[Tensor, Tensor]:
    r"""Closeness centrality: the reciprocal of the mean distance from the other vertices.

    .. math:: C(v) = \frac{r_v}{\sum_u d(u, v)} \cdot \frac{r_v}{n - 1}

    where the sum is over the :math:`r_v` vertices that reach v. The second factor (Wasserman and
    Faust) corrects for small components; it is 1 on a connected graph and omitted with
    ``wf_improved=False``. A vertex that no other vertex reaches has score 0. Values equal those of
    NetworkX's ``closeness_centrality``.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), a Graph, or a
            graph of another library, a matrix, an array or a table (docs/inputs.md). Self-loops are
            dropped, duplicate arcs are merged.
        edge_weight: [E], the length of each arc, finite and > 0; None counts hops. Of duplicate
            arcs the smallest weight counts. For a graph of another library it may be the name of
            its weights (docs/inputs.md). A Graph has its own weights.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex, as in PyG. Scores are computed per
            graph. `sources` and `vertices` name vertices of the union; an int k draws k pivots per
            graph. `top` is for a single graph (docs/batches.md).
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs. Distances are along incoming paths, as in NetworkX (NetworKit: outgoing);
            for outgoing ones pass ``Graph.from_edge_index(edge_index).reversed()``.
        wf_improved: apply the second factor.
        sources: estimate all scores from the distances from these sources only: k pivots that are
            drawn, or the vertices named by a tensor. The mean over the pivots other than v replaces
            the mean over all vertices; a single pivot has no estimate of its own score (NaN). With
            all n vertices the scores are exact.
        vertices: compute exact scores of these vertices only, by one search each.
        cutoff: count only pairs at most this far apart, in hops or by weights; searches end there.
            None counts all pairs. r_v is then the number of vertices within the cutoff, as in
            igraph. A list or tensor of cutoffs gives scores for each, from one search within the
            largest (by hops on CUDA, a search within each). The engine is that of the largest
            below inf; each column has the bits of this engine for its cutoff alone.
        top: return only the k largest scores. They are exact, and not all scores are computed where
            that is cheaper.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n]; with `vertices` [len(vertices)]; with several cutoffs a column for each; with
        `top` (values [k], indices [k]) as in ``torch.topk``, with ties ordered by ascending index.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.
        MemoryError: ``Run(memory=)`` is too small for one batch; the message states both amounts.
        ValueError: `checkpoint` is the folder of another run; the message names what differs.
        OSError: `checkpoint` cannot be written; what it holds stays intact.

    The bits engine takes O(n m / 512) operations on rows of 512 bits, and more if the searches have
    little in common. Each of `vertices` takes O(m) time, and O(m + n log n) with weights. Of graphs
    with many components, n and m are those of each component (docs/notes/exponents.md).

    Example:
        >>> import torch, torchcent
        >>> star = torch.tensor([[0, 0, 0], [1, 2, 3]])
        >>> torchcent.closeness(star, directed=False)
        tensor([1.0000, 0.6000, 0.6000, 0.6000])
        >>> torchcent.closeness(star, torch.tensor([1, 2, 4]), directed=False)
        tensor([0.4286, 0.3333, 0.2727, 0.2000])

    Source:
        Sabidussi 1966; Wasserman and Faust 1994, p. 201; pivots: Eppstein and Wang 2004; bits:
        Then et al. 2014; top: Bergamini et al. 2019.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    limits = check_cutoff.cutoffs(cutoff, run.engine.name)
    request = request_for("closeness", graph, run, limits)
    check.flag(wf_improved, "wf_improved")
    check.at_most_one(sources=sources, vertices=vertices, top=top)
    check.at_most_one(top=top, cutoff=cutoff)
    if top is not None:
        check_batch.one_graph(graph, "top", "sort the scores of each graph")
        count = check.top(top, graph)
        request.begin(graph)
        values, indices = _top_closeness.top_closeness(graph, request, count, wf_improved)
        return values.to(request.dtype), indices
    ids = None if vertices is None else check.vertices(vertices, "vertices", graph)
    ends = pivots_of(sources, graph, request.scale), ids
    return _scores(
        graph, request, limits, ends,
        lambda sums, others: _normalize.closeness(sums.farness, sums.reach, others, wf_improved),
    )  # fmt: skip


@measure(
    "vertices", *SEARCHES, "dtype", searches=True, columns=("harmonic",),
    kernel=Kernel("distances", reciprocals=True, rounds=True, folds="one"),
)  # fmt: skip
def harmonic(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = False,
    sources: int | Tensor | None = None,
    vertices: Tensor | None = None,
    cutoff: Lengths = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Harmonic centrality: the sum of the reciprocal distances from the other vertices.

    .. math:: H(v) = \sum_{u \ne v} \frac{1}{d(u, v)}

    where :math:`1 / \infty = 0`. Values equal those of NetworkX's ``harmonic_centrality``.

    Args:
        normalized: divide by n - 1, so that the largest possible score is 1.
        Others: as in :func:`closeness`. With `sources` the sum over all vertices is estimated
            (NetworkX's option of that name returns the sum over the sources only).
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n]; with `vertices` [len(vertices)]; with several cutoffs a column for each.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.harmonic(path, directed=False)
        tensor([1.5000, 2.0000, 1.5000])

    Source:
        Marchiori and Latora 2000; Boldi and Vigna 2014.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    limits = check_cutoff.cutoffs(cutoff, run.engine.name)
    request = request_for("harmonic", graph, run, limits)
    check.flag(normalized, "normalized")
    check.at_most_one(sources=sources, vertices=vertices)
    ids = None if vertices is None else check.vertices(vertices, "vertices", graph)
    ends = pivots_of(sources, graph, request.scale), ids
    return _scores(
        graph, request, limits, ends,
        lambda sums, others: _normalize.harmonic(sums.harmonic, others, normalized),
    )  # fmt: skip


@measure(
    "vertices", *SEARCHES, "dtype", searches=True, columns=("eccentricity",), lowest=True,
    kernel=Kernel("distances", collapses=True, rounds=True, folds="one"),
    choices={"disconnected": check.DISCONNECTED},
)  # fmt: skip
def eccentricity(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    disconnected: str = "inf",
    vertices: Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Eccentricity: the distance to the farthest vertex.

    .. math:: \varepsilon(v) = \max_u d(v, u)

    along outgoing paths, as in NetworkX's ``eccentricity``, which rejects disconnected graphs.

    Args:
        disconnected: "inf": infinite where v does not reach all vertices; "component": the largest
            distance to a vertex that v reaches, 0 if it reaches none.
        vertices: compute only these, by one search each.
        Others: as in :func:`closeness`.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n]; with `vertices` [len(vertices)].

    On meshes and roads a few searches give bounds that determine most values (Takes and Kosters
    2013). The remaining vertices are searched from, many at a time.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.eccentricity(path, directed=False)
        tensor([3., 2., 2., 3.])
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    request = request_for("eccentricity", graph, run)
    check.choice(disconnected, "disconnected", check.DISCONNECTED)
    ids = None if vertices is None else check.vertices(vertices, "vertices", graph)
    request.begin(graph)
    return _eccentricity.eccentricities(graph, request, ids, disconnected).to(request.dtype)


def _scores(
    graph: Graph, request: Request, limits: Cutoffs | None,
    ends: tuple[Tensor | None, Tensor | None], 
    score: Callable[[Sums, Tensor], Tensor],
) -> Tensor:  # fmt: skip
    """The scores of the sums over pivots or all vertices, or of some vertices; for cutoffs a column
    for each."""
    pivots, vertices = ends
    others = _normalize.others(graph, vertices)

    def find(request: Request) -> Sums:
        if vertices is not None:
            return source_sums(graph, request, vertices)
        return vertex_sums(graph, request, sources=pivots)

    if limits is None:
        return score(over_all(find(request), graph, pivots), others).to(request.dtype)
    request.begin(graph)  # one ledger for all searches
    parts = of_each_cutoff(graph, request, find)
    columns = [score(over_all(each, graph, pivots), others) for each in parts]
    return limits.of(torch.stack(columns, 1)).to(request.dtype)
