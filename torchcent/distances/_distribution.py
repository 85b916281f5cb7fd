"""Statistics of the distances of all pairs: distribution, mean, effective diameter."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.check._run import DEFAULT, SEARCHES, Run
from torchcent.distances import _small_levels
from torchcent.distances._distance_sums import (
    request_for,
    small_sums,
    source_sums,
    vertex_sums,
)
from torchcent.distances._weighted_sums import distance_counts, distance_rows
from torchcent.distribute._arguments import pivots_of
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._measures import IN_DIAMETER, NOT_IN_NETWORKX, measure
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _pieces, _room
from torchcent.engines.search import _tiny
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.graph._pieces import Pieces
from torchcent.runtime import _memory


@measure(
    "graph", *SEARCHES, searches=True, kernel=Kernel("distances"),
    without=NOT_IN_NETWORKX | IN_DIAMETER,
)  # fmt: skip
def distance_distribution(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    sources: int | Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """The number of ordered pairs (u, v) at each distance: entry L counts those with d(u, v) = L.

    Entry 0 is n, for the pairs of each vertex with itself. The last entry is the number of pairs at
    the diameter (the largest finite distance). Unconnected pairs are not counted; their number is
    n^2 minus the sum.

    Args:
        edge_weight: as in :func:`closeness`, but whole numbers, because there is an entry for every
            length up to the longest. Round other weights to multiples of a unit.
        sources: count only distances from these sources, k that are drawn or those named by
            a tensor, and extrapolate by n / k: an unbiased estimate.
        Others: as in :func:`closeness`.
        run: how it is computed, see :class:`Run`.

    Returns:
        int64 Tensor [depth + 1]; float64 if `sources` make it an estimate. For a batch [num_graphs,
        depth + 1] with the largest depth of all graphs; shorter rows are padded with zeros.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.distance_distribution(path, directed=False)
        tensor([4, 6, 4, 2])
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    request = request_for("distance_distribution", graph, run)
    pivots = _pivots(graph, request, sources)
    request.begin(graph)
    table, large = _pairs(graph, request, pivots)
    rows = dict(large)
    longest = max((row.numel() for row in rows.values()), default=1)
    table = torch.nn.functional.pad(table, (0, max(longest - table.shape[1], 0)))
    for number, row in rows.items():
        table[number, : row.numel()] = row
    return table if graph.ptr is not None else table[0]


@measure(
    "graph", *SEARCHES, "dtype", searches=True, kernel=Kernel("distances"),
    without=NOT_IN_NETWORKX | IN_DIAMETER,
)  # fmt: skip
def effective_diameter(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    q: float = 0.9,
    sources: int | Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The distance within which a share q of all connected pairs lies, interpolated.

    Let :math:`N = N(\infty)`, where N(L) is the number of ordered pairs of distinct vertices at
    distance at most L. With the smallest L for which :math:`N(L) \ge q N`, the result is

    .. math:: L - 1 + \frac{q N - N(L - 1)}{N(L) - N(L - 1)}

    This is SNAP's linear interpolation; SNAP also counts each vertex with itself.

    Args:
        edge_weight: whole numbers, as in :func:`distance_distribution`.
        q: in (0, 1]; 1 gives the largest finite distance.
        sources: an estimate, as in :func:`distance_distribution`.
        Others: as in :func:`closeness`.
        run: how it is computed, see :class:`Run`.

    Returns:
        0-dim Tensor; 0 if no two vertices are connected. For a batch Tensor [num_graphs].

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.effective_diameter(path, directed=False, q=0.75)
        tensor(1.7500)

    Source:
        Leskovec, Kleinberg and Faloutsos 2005.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    request = request_for("effective_diameter", graph, run)
    share = check.within(q, "q", "(0, 1]")
    pivots = _pivots(graph, request, sources)
    request.begin(graph)
    table, large = _pairs(graph, request, pivots)
    value = _quantile(table, share)
    for number, pairs in large:
        value[number] = _quantile(pairs[None], share)[0]
    return (value if graph.ptr is not None else value[0]).to(request.dtype)


@measure(
    "graph", *SEARCHES, "dtype", searches=True,
    kernel=Kernel("distances", collapses=True, rounds=True, folds="one"),
    choices={"disconnected": check.DISCONNECTED}, without=IN_DIAMETER,
)  # fmt: skip
def average_shortest_path_length(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    disconnected: str = "inf",
    run: Run = DEFAULT,
) -> Tensor:
    r"""The mean distance over all ordered pairs of distinct vertices.

    .. math:: \frac{1}{n (n - 1)} \sum_{u \ne v} d(u, v)

    Values equal those of NetworkX's ``average_shortest_path_length``, which rejects disconnected
    graphs.

    Args:
        disconnected: "inf": infinite if any pair is unconnected; "component": the mean over the
            connected pairs, NaN if there are none.
        Others: as in :func:`closeness`.
        run: how it is computed, see :class:`Run`.

    Returns:
        0-dim Tensor; 0 for fewer than two vertices. For a batch Tensor [num_graphs].

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1], [1, 2]])
        >>> torchcent.average_shortest_path_length(path, directed=False)
        tensor(1.3333)
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    request = request_for("average_shortest_path_length", graph, run)
    check.choice(disconnected, "disconnected", check.DISCONNECTED)
    sums = vertex_sums(graph, request)
    pairs, total = _batch.total(graph, sums.reach), _batch.total(graph, sums.farness)
    n = _batch.sizes(graph)
    mean = total / pairs  # NaN without pairs
    if disconnected == "inf":
        mean[pairs < n * (n - 1)] = math.inf
    mean[n < 2] = 0
    mean = mean.to(request.dtype)
    return mean if graph.ptr is not None else mean[0]


def _pivots(graph: Graph, request: Request, sources: int | Tensor | None) -> Tensor | None:
    """None for all vertices, also if all are named, because nothing is extrapolated then."""
    pivots = pivots_of(sources, graph, request.scale)
    return None if pivots is not None and pivots.numel() == graph.num_nodes else pivots


def _pairs(
    graph: Graph, request: Request, pivots: Tensor | None
) -> tuple[Tensor, Iterator[tuple[int, Tensor]]]:
    """[num_graphs, longest + 1]: pairs by distance of small graphs, counted together, and zeros;
    and the numbers of the others, each with its pairs by distance."""
    if graph.is_weighted:
        small, large = _small_levels.split(graph, request)
    else:
        small, large = _tiny.split(graph, request.engine)
    own = _batch.chosen(graph, pivots)
    rows = ((x, _pairs_of_one(_batch.part(graph, x), request, own(x))) for x in large)
    return _small_pairs(graph, request, pivots, small), rows


def _quantile(pairs: Tensor, share: float) -> Tensor:
    """The distance within which this share of pairs lies, for each row of pairs by distance."""
    within = torch.cat([torch.zeros_like(pairs[:, :1]), pairs[:, 1:].cumsum(1)], dim=1).double()
    if within.shape[1] == 1:
        return within[:, 0]  # no two vertices are connected
    goal = share * within[:, -1:]
    last = torch.searchsorted(within, goal).clamp(min=1, max=within.shape[1] - 1)
    before, after = within.gather(1, last - 1), within.gather(1, last)
    value = last - 1 + (goal - before) / (after - before)
    return torch.where(goal == 0, 0, value)[:, 0]


def _small_pairs(
    graph: Graph, request: Request, pivots: Tensor | None, small: _tiny.Numbers
) -> Tensor:
    """[num_graphs, longest + 1]: pairs by distance of these graphs, zeros for all others."""
    dtype = torch.int64 if pivots is None else torch.float64
    if small.size == 0:
        return torch.zeros(graph.num_graphs, 1, dtype=dtype, device=graph.device)
    if graph.is_weighted:
        check_weights.whole_weights(graph, request.measure)
        number, distance, pairs = _small_levels.levels(graph, small, pivots)
    else:
        levels = small_sums(graph, request, small, pivots, levels=True).levels
        place = torch.nonzero(levels).flatten()
        number = _batch.of_graph(graph, place)
        distance = place if graph.ptr is None else place - graph.ptr[number]
        pairs = levels[place]
    longest = int(distance.max()) if distance.numel() else 0
    _check_memory(graph, request, longest, graph.num_graphs)
    table = pairs.new_zeros(graph.num_graphs, longest + 1)
    table[number, distance] = pairs
    if pivots is None:
        return table
    count = torch.bincount(_batch.of_graph(graph, pivots), minlength=graph.num_graphs)
    return table * (_batch.sizes(graph).double() / count.clamp(min=1)).unsqueeze(1)


def _pairs_of_one(graph: Graph, request: Request, pivots: Tensor | None) -> Tensor:
    """The pairs by distance of a graph, up to its largest distance."""
    if pivots is not None and pivots.numel() == 0:
        return torch.zeros(1, dtype=torch.float64, device=graph.device)
    if graph.is_weighted:
        levels = _weighted_levels(graph, request, pivots)
    else:
        levels = vertex_sums(graph, request, sources=pivots, levels=True).levels
        levels = levels[: max(int(torch.count_nonzero(levels)), 1)]
    if pivots is None or pivots.numel() == graph.num_nodes:
        return levels
    return levels.double() * (graph.num_nodes / pivots.numel())


def _weighted_levels(graph: Graph, request: Request, pivots: Tensor | None) -> Tensor:
    """Pairs by distance for whole weights: int64 [longest + 1]."""
    check_weights.whole_weights(graph, request.measure)
    split = _pieces.of(graph, request, None if pivots is None else pivots.numel())
    if split is not None:
        return _levels_of_pieces(split, _pieces.of_batch(graph, split, request), pivots)
    sources = torch.arange(graph.num_nodes, device=graph.device) if pivots is None else pivots
    if request.scale is not None and sources.numel():
        # Units need tables of one length: the distances are computed twice.
        farthest = source_sums(graph, request, sources, outgoing=True).eccentricity
        longest = int(farthest.max())
        _check_memory(graph, request, longest)
        return distance_counts(graph, request, sources, longest)
    levels = torch.zeros(1, dtype=torch.int64, device=graph.device)
    for rows in distance_rows(graph, request, sources):
        lengths = rows[torch.isfinite(rows)].long()
        _check_memory(graph, request, int(lengths.max()) if lengths.numel() else 0)
        count = torch.bincount(lengths, minlength=levels.numel())
        count[: levels.numel()] += levels
        levels = count
    return levels


def _levels_of_pieces(split: Pieces, request: Request, pivots: Tensor | None) -> Tensor:
    """The same, of a graph whose components are the graphs of a batch."""
    graph, sources = split.graph, _pieces.in_batch(split, pivots)
    small, large = _small_levels.split(graph, request)
    own = _batch.chosen(graph, sources)
    parts = []
    if small.size:
        _, distance, pairs = _small_levels.levels(graph, small, sources)
        longest = int(distance.max()) if distance.numel() else 0
        _check_memory(graph, request, longest)
        parts.append(pairs.new_zeros(longest + 1).index_add_(0, distance, pairs))
    for number in large:
        starts = own(number)
        if starts is None or starts.numel():
            parts.append(_weighted_levels(_batch.part(graph, number), request, starts))
    longest = max(part.numel() for part in parts)
    levels = torch.zeros(longest, dtype=torch.int64, device=graph.device)
    for part in parts:
        levels[: part.numel()] += part
    return levels


def _check_memory(graph: Graph, request: Request, longest: int, graphs: int = 1) -> None:
    need = graph._nbytes + 24 * graphs * (longest + 1)
    if request.memory is None and need < _memory.SMALL_RUN.get(graph.device.type, 0):
        return
    limit = _room.limit(graph, request.memory)
    what = f"{request.measure}, with an entry for each distance up to {longest},"
    _memory.require(what, need, limit, request.memory)
