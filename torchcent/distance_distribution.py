"""What the distances of all pairs look like: distribution, mean, effective diameter."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from torchcent import _batch, _check, _check_weights, _memory
from torchcent._distance_sums import How, asked, distance_rows, vertex_sums
from torchcent.graph import Graph, as_graph


def distance_distribution(
    edge_index: Tensor | Graph,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    ptr: Tensor | None = None,
    directed: bool | None = None,
    sources: int | Tensor | None = None,
    generator: torch.Generator | None = None,
    engine: str = "auto",
    memory: int | None = None,
    progress: bool | None = None,
) -> Tensor:
    """How many ordered pairs (u, v) lie at each distance: entry L counts those with d(u, v) = L.

    Entry 0 is n, for each vertex and itself; the last is the number of pairs at the diameter (the
    largest finite distance). Unconnected pairs are not counted: their number is n^2 less the sum.

    Args:
        edge_weight: as in :func:`closeness`, but whole numbers: there is an entry for every length
            up to the longest. Others are refused: round them to multiples of a unit.
        sources: only distances from these sources, k drawn with `generator` or named by a tensor,
            extrapolated by n / k: an unbiased estimate.
        Others: as in :func:`closeness`.

    Returns:
        int64 Tensor [depth + 1]; a float64 one where `sources` make it an estimate. Of a batch
        [num_graphs, depth + 1], with the largest depth and zeros after that of a graph.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.distance_distribution(path, directed=False)
        tensor([4, 6, 4, 2])
    """
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, batch, ptr)
    how = asked("distance_distribution", graph, engine, memory, progress, None)
    pivots = _check.sources(sources, graph, _check.random_generator(generator))
    rows = list(_pairs(graph, how, pivots))
    if graph.ptr is None:
        return rows[0]
    longest = max((row.numel() for row in rows), default=1)
    dtype = torch.int64 if pivots is None else torch.float64
    table = torch.zeros(graph.num_graphs, longest, dtype=dtype, device=graph.device)
    for row, found in zip(table, rows, strict=True):
        row[: found.numel()] = found
    return table


def effective_diameter(
    edge_index: Tensor | Graph,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    ptr: Tensor | None = None,
    directed: bool | None = None,
    q: float = 0.9,
    sources: int | Tensor | None = None,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    engine: str = "auto",
    memory: int | None = None,
    progress: bool | None = None,
) -> Tensor:
    r"""The distance within which a share q of all connected pairs lie, interpolated.

    With N(L) the number of ordered pairs of different vertices at distance at most L and
    :math:`N = N(\infty)`, take the smallest L with :math:`N(L) \ge q N`; the result is

    .. math:: L - 1 + \frac{q N - N(L - 1)}{N(L) - N(L - 1)}

    This is SNAP's linear interpolation; SNAP also counts each vertex with itself.

    Args:
        edge_weight: whole numbers, as in :func:`distance_distribution`.
        q: in (0, 1]; 1 gives the largest finite distance.
        sources: an estimate, as in :func:`distance_distribution`.
        Others: as in :func:`closeness`.

    Returns:
        0-dim Tensor; 0 where no two vertices are connected. Of a batch Tensor [num_graphs].

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.effective_diameter(path, directed=False, q=0.75)
        tensor(1.7500)

    Source:
        Leskovec, Kleinberg and Faloutsos 2005.
    """
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, batch, ptr)
    how = asked("effective_diameter", graph, engine, memory, progress, dtype)
    share = _check.quantile(q)
    pivots = _check.sources(sources, graph, _check.random_generator(generator))
    found = [_quantile(pairs, share) for pairs in _pairs(graph, how, pivots)]
    value = torch.stack(found) if found else torch.empty(0, device=graph.device)
    return (value if graph.ptr is not None else value[0]).to(how.dtype)


def average_shortest_path_length(
    edge_index: Tensor | Graph,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    ptr: Tensor | None = None,
    directed: bool | None = None,
    disconnected: str = "inf",
    dtype: torch.dtype | None = None,
    engine: str = "auto",
    memory: int | None = None,
    progress: bool | None = None,
) -> Tensor:
    r"""The mean distance of all ordered pairs of different vertices.

    .. math:: \frac{1}{n (n - 1)} \sum_{u \ne v} d(u, v)

    Values equal NetworkX's ``average_shortest_path_length``, which refuses disconnected graphs.

    Args:
        disconnected: "inf": infinite where some pair is unconnected; "component": the mean over
            the connected pairs, NaN if there are none.
        Others: as in :func:`closeness`.

    Returns:
        0-dim Tensor; 0 for fewer than two vertices. Of a batch Tensor [num_graphs].

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.average_shortest_path_length(path, directed=False)
        tensor(1.3333)
    """
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, batch, ptr)
    how = asked("average_shortest_path_length", graph, engine, memory, progress, dtype)
    _check.choice(disconnected, "disconnected", _check.DISCONNECTED)
    one_only = disconnected == "component"
    mean = [_mean(_batch.part(graph, number), how, one_only) for number in range(graph.num_graphs)]
    value = torch.tensor(mean, dtype=how.dtype, device=graph.device)
    return value if graph.ptr is not None else value[0]


def _mean(graph: Graph, how: How, connected_only: bool) -> float:
    n = graph.num_nodes
    if n < 2:
        return 0.0
    sums = vertex_sums(graph, how)
    pairs, total = float(sums.reach.sum()), float(sums.farness.sum())
    if not connected_only and pairs < n * (n - 1):
        return math.inf
    return total / pairs if pairs else math.nan


def _quantile(pairs: Tensor, share: float) -> Tensor:
    within = torch.cat([pairs.new_zeros(1), pairs[1:].cumsum(0)]).double()
    if within[-1] == 0:
        return within[-1]
    wanted = share * within[-1]
    last = int(torch.searchsorted(within, wanted))
    before, after = within[last - 1], within[last]
    return last - 1 + (wanted - before) / (after - before)


def _pairs(graph: Graph, how: How, pivots: Tensor | None) -> Iterator[Tensor]:
    """Of each graph, ordered pairs by distance, up to the largest; float64 if extrapolated."""
    own = _batch.chosen(graph, pivots)
    for number in range(graph.num_graphs):
        yield _pairs_of_one(_batch.part(graph, number), how, own(number))


def _pairs_of_one(graph: Graph, how: How, pivots: Tensor | None) -> Tensor:
    if pivots is not None and pivots.numel() == 0:
        return torch.zeros(1, dtype=torch.float64, device=graph.device)
    if graph.is_weighted:
        levels = _weighted_levels(graph, how, pivots)
    else:
        levels = vertex_sums(graph, how, sources=pivots, levels=True).levels
        levels = levels[: max(int(torch.count_nonzero(levels)), 1)]
    if pivots is None or pivots.numel() == graph.num_nodes:
        return levels
    return levels.double() * (graph.num_nodes / pivots.numel())


def _weighted_levels(graph: Graph, how: How, pivots: Tensor | None) -> Tensor:
    """Pairs by distance, of whole weights: int64 [longest + 1]."""
    _check_weights.whole_weights(graph, how.measure)
    sources = torch.arange(graph.num_nodes, device=graph.device) if pivots is None else pivots
    limit = _memory.budget(how.memory, graph.device)
    levels = torch.zeros(1, dtype=torch.int64, device=graph.device)
    for rows in distance_rows(graph, how, sources):
        found = rows[torch.isfinite(rows)].long()
        longest = int(found.max()) if found.numel() else 0
        needed = graph.nbytes + 24 * (longest + 1)
        if needed > limit:
            what = f"{how.measure}, with an entry for each distance up to {longest},"
            raise _memory.refuse(what, needed, limit, how.memory)
        count = torch.bincount(found, minlength=levels.numel())
        count[: levels.numel()] += levels
        levels = count
    return levels
