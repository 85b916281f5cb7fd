"""betweenness, edge_betweenness and stress."""

from __future__ import annotations

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _cutoff as check_cutoff
from torchcent.check._cutoff import Lengths
from torchcent.check._run import DEFAULT, PATHS, Run
from torchcent.distribute._arguments import pivots_of, scale_of, shown
from torchcent.engines.measures._kernels import KERNELS, Kernel
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.engines.measures._request import Request, engine_and_strategy
from torchcent.engines.measures._visitors import Visitor
from torchcent.graph import Graph, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.paths import _path_sums


@measure(
    "vertices", *PATHS, "dtype", searches=True, columns=("betweenness",), share=True, demand=True,
    kernel=Kernel("paths", Visitor.BETWEENNESS, folds="all", tiny="betweenness", normalized=True),
)  # fmt: skip
def betweenness(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    endpoints: bool = False,
    sources: int | Tensor | None = None,
    targets: Tensor | None = None,
    cutoff: Lengths = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Betweenness centrality: the share of shortest paths that pass through each vertex.

    .. math:: C_B(v) = \sum_{s \ne v \ne t} \sigma_{st}(v) / \sigma_{st}

    where :math:`\sigma_{st}` is the number of shortest paths from s to t and :math:`\sigma_{st}(v)`
    the number of those through v. Values equal those of NetworkX's ``betweenness_centrality``, with
    targets those of ``betweenness_centrality_subset``.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), a Graph, or a
            graph of another library, a matrix, an array or a table (docs/inputs.md). Self-loops are
            dropped, duplicate arcs are merged.
        edge_weight: [E], the length of each arc, finite and > 0; None counts hops. Of duplicate
            arcs the smallest weight counts. For a graph of another library it may be the name of
            its weights (docs/inputs.md). A Graph has its own weights.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex, as in PyG. Scores are computed per
            graph and normalised by its size. `sources` and `targets` name vertices of the union; an
            int k draws k pivots per graph (docs/batches.md).
        directed: None uses the arcs as given (for a Graph, its own setting). On an edge_index that
            holds both directions, the normalised scores are NetworkX's undirected ones. False adds
            missing reverse arcs and halves raw scores.
        normalized: divide by the number of ordered pairs, (n - 1)(n - 2); with endpoints n (n - 1).
        endpoints: also count a path for its two ends.
        sources: None for all vertices; an int k draws k pivots with torch's global generator and
            extrapolates as NetworkX does with k; a tensor names the pivots, such as
            ``torch.randperm(n, generator=...)[:k]``. Floats [n] are weights a of origins.
        targets: count only paths that end at one of these vertices. `sources` (default: all) are
            then the vertices where paths begin, and nothing is extrapolated. Floats [n] are weights
            b of destinations: with demand, the pair (s, t) counts a(s) b(t) times, and scores are
            divided by the same numbers as without.
        cutoff: count only pairs at most this far apart, in hops or by weights; the search stops
            there. A list or tensor of cutoffs gives the scores of each from one search. The numbers
            by which scores are divided stay the same. No `reduce` applies.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n] on the device of the graph; with several cutoffs [n, cutoffs].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.
        MemoryError: ``Run(memory=)`` is too small for one batch; the message states both amounts.
        ValueError: `checkpoint` is the folder of another run; the message names what differs.
        OSError: `checkpoint` cannot be written; what it holds stays intact.

    The time is O(n m) with all sources: one breadth-first search each. With weights a search takes
    O(m + n log n). The memory is about 500 bytes per vertex and thread. The result is deterministic
    and independent of the number of threads.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.betweenness(path, directed=False, normalized=False)
        tensor([0., 2., 2., 0.])
        >>> arcs, length = torch.tensor([[0, 1, 0], [1, 2, 2]]), torch.tensor([1., 1., 3.])
        >>> torchcent.betweenness(arcs, length, directed=False, normalized=False)
        tensor([0., 1., 0.])

    Source:
        Freeman 1977; Brandes 2001, "A faster algorithm for betweenness centrality";
        Brandes 2008 for the variants; cutoff: Borgatti and Everett 2006; weights on a GPU: Fan, Xu
        and Zhao 2017.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, paths=True)
    request = request_of(graph, "betweenness", run, normalized, sources, targets, endpoints)
    return scores_within(graph, request, cutoff)


@measure(
    "vertices", *PATHS, "dtype", searches=True, columns=("stress",), share=True, demand=True,
    without=NOT_IN_NETWORKX,
    # Paths that end in a folded leaf pass through its parent once per path, not once.
    kernel=Kernel("paths", Visitor.STRESS, folds="one", tiny="stress"),
)  # fmt: skip
def stress(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = False,
    sources: int | Tensor | None = None,
    targets: Tensor | None = None,
    cutoff: Lengths = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Stress centrality: the number of shortest paths that pass through each vertex.

    .. math:: C_S(v) = \sum_{s \ne v \ne t} \sigma_{st}(v)

    Arguments are those of :func:`betweenness`, without endpoints. The score is a count. It grows
    with the number of shortest paths, exponentially on meshes, and is inf where it exceeds the
    result's dtype.

    Returns:
        Tensor [n], or [n, cutoffs]. With directed=False each path counts once, not once per
        direction.
        normalized=True divides by the same number as betweenness.

    Example:
        >>> import torch, torchcent
        >>> square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> torchcent.stress(square, directed=False)
        tensor([1., 1., 1., 1.])

    Source:
        Shimbel 1953; Brandes 2008, section 3.7.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, paths=True)
    request = request_of(graph, "stress", run, normalized, sources, targets)
    return scores_within(graph, request, cutoff)


@measure(
    "edges", *PATHS, "dtype", searches=True, share=True, demand=True,
    kernel=Kernel(
        "paths", Visitor.EDGE_BETWEENNESS, per_slot=True, folds="all", tiny="edge_betweenness",
        normalized=True,
    ),
)  # fmt: skip
def edge_betweenness(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    sources: int | Tensor | None = None,
    targets: Tensor | None = None,
    cutoff: Lengths = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Edge betweenness: the share of shortest paths that use each edge.

    .. math:: C_B(e) = \sum_{s \ne t} \sigma_{st}(e) / \sigma_{st}

    Arguments are those of :func:`betweenness`. Values equal those of NetworkX's
    ``edge_betweenness_centrality`` and its subset variant. Normalised scores are divided by n (n -
    1).

    Returns:
        Tensor [E] or [E, cutoffs], a score per column of edge_index (per input column of a Graph).
        Duplicate arcs share a score; self-loops have score 0. In a directed graph each arc has its
        own score. With directed=False both columns of an undirected edge have the score of the
        edge.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.edge_betweenness(path, directed=False, normalized=False)
        tensor([3., 4., 3.])

    Source:
        Girvan and Newman 2002; Brandes 2008, algorithm 7.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, paths=True)
    request = request_of(graph, "edge_betweenness", run, normalized, sources, targets)
    of_slot = scores_within(graph, request, cutoff)
    return _csr.of_columns(of_slot, graph.slot)


def scores_within(graph: Graph, request: Request, cutoff: Lengths) -> Tensor:
    """The scores within each cutoff, in the dtype of the request."""
    if request.engine == "tiny" and not KERNELS[request.measure].tiny:
        raise ValueError(
            f"engine='tiny' does not compute {request.measure}; leave Run(engine='auto')"
        )
    limits = check_cutoff.cutoffs(cutoff, request.engine)
    if limits is not None:
        request = request._replace(cutoffs=limits.lengths)
    scores = _path_sums.scores(graph, request)
    return (scores if limits is None else limits.of(scores)).to(request.dtype)


def request_of(
    graph: Graph, measure: str, run: Run, normalized: bool = True,
    sources: int | Tensor | None = None, targets: Tensor | None = None, endpoints: bool = False,
) -> Request:  # fmt: skip
    """The validated arguments."""
    check.flag(normalized, "normalized")
    check.flag(endpoints, "endpoints")
    engine, strategy = engine_and_strategy(graph, run.engine)
    scale = scale_of(graph, run)
    pivots = pivots_of(sources, graph, scale, weighted=True)
    ends = None if targets is None else check.vertices_or_weights(targets, "targets", graph)
    check.ids_beside_weights(pivots, ends, graph.num_nodes)
    return Request(
        measure, engine, strategy=strategy, sources=pivots, targets=ends, endpoints=endpoints,
        normalized=normalized, memory=run.memory, progress=shown(scale, run.progress),
        dtype=run.dtype, reduce=run.reduce, scale=scale,
    )  # fmt: skip
