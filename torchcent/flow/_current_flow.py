"""Current-flow betweenness and closeness, and effective resistance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _pairs as check_pairs
from torchcent.check._run import DEFAULT, Run
from torchcent.check._values import dense, flag
from torchcent.engines.measures._measures import measure
from torchcent.flow import _solver, _trees
from torchcent.graph import Graph, _batch, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _small

Ends = tuple[Tensor, Tensor] | None  # sources and targets; None if all pairs count
_network = partial(as_graph, weights="conductances")


@measure(
    "vertices", "dtype", weights="conductances", undirected=True,
    columns=("current_flow_betweenness",),
)  # fmt: skip
def current_flow_betweenness(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    sources: Tensor | None = None,
    targets: Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Current-flow betweenness: the current through each vertex, over all pairs of vertices.

    .. math:: C_{CB}(v) = \frac{2}{(n - 1)(n - 2)} \sum_{s < t;\; s, t \ne v}
              \frac{1}{2} \sum_{e \ni v} |x_{st}(e)|

    where :math:`x_{st}(e)` is the current through edge e if a unit current enters at s and leaves
    at t. It equals the betweenness of random walks. Values equal those of NetworkX's
    ``current_flow_betweenness_centrality``.

    Args:
        edge_index: int64 [2, E], a Graph, or a graph of another library (docs/inputs.md). It must
            be undirected: each arc has its reverse with the same weight, or directed=False.
            Loops carry no current. Conductances of parallel arcs are added up; with directed=False
            the larger one of the sums of both directions counts.
        edge_weight: [E], the **conductance** of each edge, finite and >= 0, where 0 is no edge;
            None for 1 each. A large weight is a strong link, as NetworkX's ``weight`` here; in
            measures of shortest paths it is a long edge.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex. Scores are those of each
            graph alone; `sources` and `targets` name vertices of the union.
        directed: False adds missing reverse arcs.
        normalized: divide by (n - 1)(n - 2) / 2; without, the sum over unordered pairs.
        sources, targets: int64, count only currents from one of the sources to one of the targets;
            None for all vertices. Values are those of NetworkX's
            ``current_flow_betweenness_centrality_subset``, see below.
        run: how it is computed, see :class:`Run`.

    No current flows between components: such pairs add 0, and n is that of the graph, as in
    :func:`betweenness` (NetworkX refuses disconnected graphs). The time is O(k^3 + m k log k);
    :func:`current_flow_betweenness_approx` is for large graphs.

    With sources S or targets T the sum is over ordered pairs (s = t adds 0), and includes currents
    that enter or leave at v. As in NetworkX, what is subtracted for these does not depend on S and
    T, so that scores may be negative:

    .. math:: \frac{1}{c} \sum_{s \in S} \sum_{t \in T} \frac{1}{2} \sum_{e \ni v} |x_{st}(e)|
              - \frac{k - 1}{(n - 1)(n - 2)}

    where k is the number of vertices of the component of v, and c is (n - 1)(n - 2), or 2 with
    normalized=False. If S and T are all vertices, normalised scores are those without S and T.

    Returns:
        Tensor [n]; 0 in a graph with fewer than three vertices.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: ``Run(memory=)`` is too small for a block of potentials.

    Example:
        >>> import torch, torchcent
        >>> square = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
        >>> torchcent.current_flow_betweenness(square, directed=False)
        tensor([0.4167, 0.1667, 0.4167, 0.1667])

    Source:
        Brandes and Fleischer 2005, "Centrality measures based on current flow"; Newman 2005.
    """
    flag(normalized, "normalized")
    graph = _network(edge_index, edge_weight, num_nodes, batch, directed, run)
    ends = _ends(graph, sources, targets)
    check.undirected(graph, "current_flow_betweenness")
    return betweenness_of(graph, normalized, run.memory, ends).to(run.dtype)


def betweenness_of(graph: Graph, normalized: bool, memory: int | None, ends: Ends = None) -> Tensor:
    """float64 [n]: the scores of current_flow_betweenness."""
    score = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
    for part, current in _currents(graph, memory, ends):
        through = part.at_ends(current)
        if ends is None:
            through = (through - (part.size - 1)).clamp(min=0)
        score[part.vertices] = through / 2
    size = _batch.per_vertex(graph, _batch.sizes(graph))
    score = _scaled(score, size, normalized)
    if ends is None:
        return score
    label, pairs = graph.components, ((size - 1) * (size - 2)).double()
    own = (torch.bincount(label)[label] - 1) / pairs
    return torch.where(pairs > 0, score - own, 0)


def _ends(graph: Graph, sources: Tensor | None, targets: Tensor | None) -> Ends:
    if sources is None and targets is None:
        return None
    every = torch.arange(graph.num_nodes, device=graph.device)
    return (
        every if sources is None else check.vertices(sources, "sources", graph),
        every if targets is None else check.vertices(targets, "targets", graph),
    )


def _currents(
    graph: Graph, memory: int | None, ends: Ends
) -> Iterator[tuple[_solver.Component, Tensor]]:
    """Components, and the current through each edge, summed over unordered pairs.

    With ends it is half of the sum over ordered pairs, and components without pairs are left out.
    """
    through_trees = _trees.currents(graph, ends)
    of_label = [_solver.by_label(graph.components, x, x) for x in ends or ()]
    for part in _solver.components(graph):
        if ends is None:
            current = _solver.throughput(part, memory)
        else:
            s, t = (own[part.label] for own in of_label)
            if not (s.numel() and t.numel()):
                continue
            current = _solver.throughput_between(part, part.local(s), part.local(t), memory) / 2
        if through_trees is not None:
            of_trees = through_trees[part.slots]
            current = torch.where(of_trees >= 0, of_trees, current)
        yield part, current


@measure("edges", "dtype", weights="conductances", undirected=True)
def edge_current_flow_betweenness(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    sources: Tensor | None = None,
    targets: Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Current-flow betweenness of edges: the current through each, over all pairs of vertices.

    .. math:: C_{CB}(e) = \frac{1}{(n - 1)(n - 2)} \sum_{s < t} |x_{st}(e)|

    Arguments and conventions are those of :func:`current_flow_betweenness`; weights are
    **conductances**. Values equal those of NetworkX's ``edge_current_flow_betweenness_centrality``:
    with normalized=False half of the sum. With `sources` or `targets` they are half of the sum over
    ordered pairs of a source and a target. This is divided by (n - 1)(n - 2), or by 2 with
    normalized=False, as in ``edge_current_flow_betweenness_centrality_subset``.

    Returns:
        Tensor [E], one score per column of edge_index (per input column of a Graph). Both columns
        of an edge have its score, and parallel edges the current through all of them. Loops and
        edges of conductance 0 have 0. Normalised scores are 0 in a graph with fewer
        than three vertices (NetworkX divides by zero).

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: ``Run(memory=)`` is too small for a block of potentials.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.edge_current_flow_betweenness(path, directed=False, normalized=False)
        tensor([1.5000, 2.0000, 1.5000])

    Source:
        Brandes and Fleischer 2005, "Centrality measures based on current flow".
    """
    flag(normalized, "normalized")
    graph = _network(edge_index, edge_weight, num_nodes, batch, directed, run)
    ends = _ends(graph, sources, targets)
    check.undirected(graph, "edge_current_flow_betweenness")
    score = torch.zeros(graph.num_slots, dtype=torch.float64, device=graph.device)
    for part, current in _currents(graph, run.memory, ends):
        score[part.slots] = current / 2
        score[graph.reverse_slot[part.slots]] = current / 2
    size = _batch.per_vertex(graph, _batch.sizes(graph))
    score = _scaled(score, size[_small.repeat_interleave(graph.degree)], normalized)
    return _csr.of_columns(score, graph.slot).to(run.dtype)


@measure(
    "vertices", "dtype", weights="conductances", undirected=True,
    columns=("current_flow_closeness",),
)  # fmt: skip
def current_flow_closeness(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Current-flow closeness: the reciprocal of the sum of effective resistances.

    .. math:: C_{CC}(v) = 1 / \sum_{w} R(v, w)

    The sum is over the connected component of v; compare values within a component only. Arguments
    are those of :func:`current_flow_betweenness`; weights are **conductances**. Values equal those
    of NetworkX's ``current_flow_closeness_centrality``, which are not multiplied by n - 1. The time
    is O(k^3) for a dense component of k vertices, on the CPU O(c^3) if elimination leaves c, so
    that it is O(k) for a tree.

    Returns:
        Tensor [n]; 0 for an isolated vertex (NetworkX divides by zero).

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: ``Run(memory=)`` is too small for a block of potentials.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.current_flow_closeness(path, directed=False)
        tensor([0.1667, 0.2500, 0.2500, 0.1667])

    Source:
        Brandes and Fleischer 2005, "Centrality measures based on current flow".
    """
    graph = _network(edge_index, edge_weight, num_nodes, batch, directed, run)
    check.undirected(graph, "current_flow_closeness")
    score = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
    for part in _solver.components(graph):
        own, sums = _solver.own_and_sums(part, run.memory)
        score[part.vertices] = 1 / (part.size * own + own.sum() - 2 * sums)
    return score.to(run.dtype)


@measure(
    "vertices", "dtype", weights="conductances", undirected=True,
    columns=("information_centrality",),
)  # fmt: skip
def information_centrality(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """Information centrality: another name of :func:`current_flow_closeness`, as in NetworkX.

    Stephenson and Zelen's information is n times as large, the harmonic mean of 1 / R(v, w) over
    all w, v itself included.

    Example:
        >>> import torch, torchcent
        >>> triangle = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> torchcent.information_centrality(triangle, directed=False)
        tensor([0.7500, 0.7500, 0.7500])

    Source:
        Stephenson and Zelen 1989, "Rethinking centrality: methods and examples".
    """
    return current_flow_closeness(
        edge_index,
        edge_weight,
        num_nodes=num_nodes,
        batch=batch,
        directed=directed,
        run=Run(memory=run.memory, dtype=run.dtype),
    )


@measure("pairs", "dtype", weights="conductances", undirected=True)
def effective_resistance(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    pairs: Tensor,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Effective resistance between pairs of vertices.

    .. math:: R(u, v) = L^+_{uu} + L^+_{vv} - 2 L^+_{uv}

    where :math:`L^+` is the pseudo-inverse of the Laplacian: the voltage between u and v if a unit
    current flows from u to v. Values equal those of NetworkX's ``resistance_distance`` with
    ``invert_weight=False``.

    Args:
        pairs: int64 [2, P], vertices u and v; repetitions are allowed. A few in a component need
            no inverse: O(k) time for one that is nearly a tree, about O(k^1.5) for a planar one, at
            most O(k^3). Many take the time of :func:`current_flow_betweenness`.
        run: how it is computed, see :class:`Run`.

    All other arguments are those of :func:`current_flow_betweenness`; weights are
    **conductances**.

    Returns:
        Tensor [P]; 0 if u = v, inf if they are not connected.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is directed.
        MemoryError: ``Run(memory=)`` is too small for a block of potentials.

    Example:
        >>> import torch, torchcent
        >>> triangle = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> torchcent.effective_resistance(
        ...     triangle, pairs=torch.tensor([[0, 1], [1, 1]]), directed=False
        ... )
        tensor([0.6667, 0.0000])

    Source:
        Klein and Randic 1993, "Resistance distance".
    """
    graph = _network(edge_index, edge_weight, num_nodes, batch, directed, run)
    if not isinstance(pairs, Tensor):
        raise TypeError(f"pairs must be a tensor [2, P], got {type(pairs).__name__}")
    dense(pairs, "pairs")
    if pairs.dim() != 2 or pairs.shape[0] != 2:
        raise ValueError(f"pairs must have shape [2, P], got {list(pairs.shape)}")
    u, v = check_pairs.vertex_pairs(
        pairs[0], pairs[1], graph.num_nodes, graph.device, ("pairs[0]", "pairs[1]")
    )
    check.undirected(graph, "effective_resistance")
    resistance = torch.full(u.shape, math.inf, dtype=torch.float64, device=graph.device)
    for part, here, ends in _solver.pairs_of(graph, u, v):
        potentials = _solver.Potentials(part, run.memory, columns=here.numel())
        resistance[here] = potentials.resistance(*ends)
    return resistance.masked_fill_(u == v, 0).to(run.dtype)


def _scaled(score: Tensor, size: Tensor, normalized: bool) -> Tensor:
    if not normalized:
        return score
    pairs = ((size - 1) * (size - 2)).double()
    return torch.where(pairs > 0, 2 * score / pairs, 0)
