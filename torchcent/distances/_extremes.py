"""diameter, radius, center and periphery, from as few searches as possible."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, SEARCHES, Run
from torchcent.distances._bounds import Bounds, as_tensor, check_memory
from torchcent.distances._distance_sums import request_for, source_sums
from torchcent.distances._eccentricity import eccentricities, of_small
from torchcent.distances._longest import LongestDistance
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._measures import IN_DIAMETER, measure
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _pieces
from torchcent.engines.search import _tiny
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.graph._pieces import pieces

MOST_SINGLE = 32  # single searches that raise bounds, before batches are used
BATCH = 512
_Find = Callable[[Graph, Request, str], tuple[float, Bounds | None]]


@measure(
    "graph", *SEARCHES, "dtype", searches=True,
    kernel=Kernel("distances", collapses=True, public=False),
    choices={"disconnected": check.DISCONNECTED}, without=IN_DIAMETER,
)  # fmt: skip
def diameter(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    disconnected: str = "inf",
    run: Run = DEFAULT,
) -> Tensor:
    r"""The largest distance between two vertices, :math:`\max_{u,v} d(u, v)`.

    Values equal those of NetworkX's ``diameter``, which rejects graphs that are not (strongly)
    connected.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), or a Graph.
        edge_weight: [E], the length of each arc, finite and > 0; None counts hops. A Graph has its
            own weights.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex, as in PyG.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        disconnected: "inf": infinite if there is a pair without a path; "component": the largest
            finite distance.
        run: how it is computed, see :class:`Run`.

    Returns:
        0-dim Tensor; 0 for fewer than two vertices. For a batch Tensor [num_graphs].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.
        MemoryError: ``Run(memory=)`` is too small for one batch; the message states both amounts.
        ValueError: `checkpoint` is the folder of another run; the message names what differs.
        OSError: `checkpoint` cannot be written; what it holds stays intact.

    The result is exact. With weights it is exact up to the rounding of sums, which depends on the
    end from which a path is summed. Most graphs take a handful of searches, O(n + m) each; graphs
    with many vertices about equally far out take more. Directed graphs that are not strongly
    connected take a search from every vertex with disconnected="component".

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.diameter(path, directed=False)
        tensor(3.)

    Source:
        Crescenzi et al. 2013 (iFUB); Borassi et al. 2015 (SumSweep).
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    request = _request("diameter", graph, disconnected, run)
    return _per_graph(graph, request, disconnected, _diameter)


@measure(
    "graph", *SEARCHES, "dtype", searches=True,
    kernel=Kernel("distances", collapses=True, public=False),
    choices={"disconnected": check.DISCONNECTED}, without=IN_DIAMETER,
)  # fmt: skip
def radius(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    disconnected: str = "inf",
    run: Run = DEFAULT,
) -> Tensor:
    r"""The smallest eccentricity, :math:`\min_v \max_u d(v, u)`.

    Values equal those of NetworkX's ``radius``.

    Args:
        disconnected: "inf": infinite if no vertex reaches all others; "component": the smallest
            eccentricity, each within the vertices that a vertex reaches; 0 if a vertex reaches
            none.
        Others: as in :func:`diameter`.
        run: how it is computed, see :class:`Run`.

    Returns:
        0-dim Tensor; 0 for fewer than two vertices. For a batch Tensor [num_graphs].

    (Strongly) connected graphs take a handful of searches, others one search from every vertex.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.radius(path, directed=False)
        tensor(2.)

    Source:
        Borassi et al. 2015.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    request = _request("radius", graph, disconnected, run)
    return _per_graph(graph, request, disconnected, _radius)


@measure(
    "graph", *SEARCHES, searches=True,
    kernel=Kernel("distances", collapses=True, public=False),
    choices={"disconnected": check.DISCONNECTED}, without=IN_DIAMETER,
)  # fmt: skip
def center(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    disconnected: str = "inf",
    run: Run = DEFAULT,
) -> Tensor:
    """The vertices whose eccentricity is the :func:`radius` (all vertices if it is infinite).

    Arguments are those of :func:`radius`. Values equal those of NetworkX's ``center``.

    Returns:
        int64 Tensor, ascending. For a batch, the vertices of all graphs, as ids in the union.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.center(path, directed=False)
        tensor([1, 2])
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    request = _request("center", graph, disconnected, run)
    return _extreme_vertices(graph, request, disconnected, _radius)


@measure(
    "graph", *SEARCHES, searches=True,
    kernel=Kernel("distances", collapses=True, public=False),
    choices={"disconnected": check.DISCONNECTED}, without=IN_DIAMETER,
)  # fmt: skip
def periphery(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    disconnected: str = "inf",
    run: Run = DEFAULT,
) -> Tensor:
    """The vertices whose eccentricity is the :func:`diameter`.

    Arguments are those of :func:`diameter`. Values equal those of NetworkX's ``periphery``.

    Returns:
        int64 Tensor, ascending. For a batch, the vertices of all graphs, as ids in the union.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.periphery(path, directed=False)
        tensor([0, 3])
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    request = _request("periphery", graph, disconnected, run)
    return _extreme_vertices(graph, request, disconnected, _diameter)


def _request(measure: str, graph: Graph, disconnected: str, run: Run) -> Request:
    check.choice(disconnected, "disconnected", check.DISCONNECTED)
    request = request_for(measure, graph, run)
    request.begin(graph)
    return request


def _per_graph(graph: Graph, request: Request, disconnected: str, find: _Find) -> Tensor:
    """The extreme eccentricity of the graph, or of each graph of a batch."""
    small, large = _tiny.split(graph, request.engine)
    if small.size:
        value = _outermost(graph, request, of_small(graph, request, small, disconnected))
    else:
        value = torch.zeros(graph.num_graphs, dtype=torch.float64, device=graph.device)
    for number in large:
        one = _batch.part(graph, number)
        check_memory(one, request)
        value[number] = find(one, request, disconnected)[0]
    value = value.to(request.dtype)
    return value[0] if graph.ptr is None else value


def _extreme_vertices(graph: Graph, request: Request, disconnected: str, find: _Find) -> Tensor:
    """The vertices that have the extreme eccentricity, of all graphs."""
    small, large = _tiny.split(graph, request.engine)
    extreme = torch.zeros(graph.num_nodes, dtype=torch.bool, device=graph.device)
    if small.size:
        lengths = of_small(graph, request, small, disconnected)
        extreme = lengths == _batch.per_vertex(graph, _outermost(graph, request, lengths))
    for number in large:
        one = _batch.part(graph, number)
        check_memory(one, request)
        value, bounds = find(one, request, disconnected)
        own = _with_eccentricity(one, request, value, bounds, disconnected)
        extreme[_batch.run(graph, number)[0]] = False
        extreme[own + _batch.run(graph, number)[0].start] = True
    return torch.nonzero(extreme).flatten()


def _outermost(graph: Graph, request: Request, eccentricity: Tensor) -> Tensor:
    smallest = request.measure in ("radius", "center")
    return (_batch.smallest if smallest else _batch.largest)(graph, eccentricity)


def _diameter(graph: Graph, request: Request, disconnected: str) -> tuple[float, Bounds | None]:
    """The diameter, and bounds of all eccentricities if the graph is strongly connected."""
    if graph.num_nodes == 0:
        return 0, None
    bounds = Bounds(graph, request, int(graph.degree.argmax()))
    if bounds.is_whole:
        return LongestDistance(bounds).run(), bounds
    if disconnected == "inf":
        return math.inf, None
    if not graph.is_symmetric or not _pieces.fits(graph, request):
        return float(eccentricities(graph, request, None, "component").max()), None
    return _largest_diameter(graph, request, bounds.longest), None


def _largest_diameter(graph: Graph, request: Request, low: float) -> float:
    """The largest diameter of all components of a symmetric graph; `low` is a distance in one.

    Each component is a graph of its own, so that a search costs what it reaches. Small ones are
    searched together, also by an engine that has to search the graph as a whole.
    """
    longest_arc = 1.0 if graph.weight is None or not graph.num_slots else float(graph.weight.max())
    split, order = pieces(graph)[:2]
    size = _batch.counts(split)[0]
    small, large = _tiny.split(split, request.engine)
    together = bool(small.size) or not large
    if not together:
        small = np.flatnonzero(size <= _tiny.AUTO_NODES)
        large = np.flatnonzero(size > _tiny.AUTO_NODES).tolist()
    for number in sorted(large, key=lambda number: -int(size[number])):
        # Not longer even if the component is a path, and so are all that follow.
        if (int(size[number]) - 1) * longest_arc <= low:
            break
        one = _batch.part(split, number)
        low = max(low, LongestDistance(Bounds(one, request, int(one.degree.argmax()))).run())
    small = small[(size[small] - 1) * longest_arc > low]
    if small.size and together:
        return max(low, float(of_small(split, request, small, "component").max()))
    if small.size:
        mask = torch.zeros(split.num_graphs, dtype=torch.bool, device=graph.device)
        mask[torch.from_numpy(small).to(graph.device)] = True
        vertices = order[_batch.per_vertex(split, mask)]
        low = max(low, float(source_sums(graph, request, vertices, True).eccentricity.max()))
    return low


def _radius(graph: Graph, request: Request, disconnected: str) -> tuple[float, Bounds | None]:
    """The radius, and bounds of all eccentricities if the graph is strongly connected.

    The most promising vertex is searched. If its eccentricity exceeds its lower bound, a vertex
    farthest from it is searched next, which raises the bounds of all vertices that are as far from
    that one.
    """
    if graph.num_nodes == 0:
        return 0, None
    bounds = Bounds(graph, request, int(graph.degree.argmax()))
    if not bounds.is_whole:
        if graph.is_symmetric and disconnected == "inf":
            return math.inf, None
        return float(eccentricities(graph, request, None, disconnected).min()), None
    best = bounds.root[0].max().item()
    for _ in range(MOST_SINGLE):
        promising = np.flatnonzero((bounds.lower < best) & ~bounds.exact)
        if promising.size == 0:
            return best, bounds
        place = bounds.most_central(promising)
        low = bounds.lower[place]
        out, _ = bounds.search(place)
        best = min(best, out.max().item())
        farthest = int(out.argmax())
        if out.max() > low and not bounds.exact[farthest]:
            best = min(best, bounds.search(farthest)[0].max().item())
    return _smallest(bounds, best), bounds


def _smallest(bounds: Bounds, best: float) -> float:
    """The radius, by searches from all vertices that may be below `best`, most central first."""
    while True:
        places = np.flatnonzero((bounds.lower < best) & ~bounds.exact)
        if places.size == 0:
            return best
        batch = places[np.lexsort((bounds.sum[places], bounds.lower[places]))][:BATCH]
        lengths = bounds.largest_distances(batch)
        bounds.lower[batch] = bounds.upper[batch] = lengths
        bounds.exact[batch] = True
        best = min(best, lengths.min().item())


def _with_eccentricity(
    graph: Graph, request: Request, value: float, bounds: Bounds | None, disconnected: str
) -> Tensor:
    """All vertices of this eccentricity, ascending; searches from those that bounds leave open."""
    outermost = torch.amin if request.measure == "center" else torch.amax
    if bounds is None:
        everything = torch.arange(graph.num_nodes, device=graph.device)
        if everything.numel() == 0 or (value == math.inf and graph.is_symmetric):
            return everything
        lengths = eccentricities(graph, request, None, disconnected)
        return everything[lengths == outermost(lengths)]
    lower, upper = bounds.lower, bounds.upper
    if bounds.slack:  # search from all that rounding may have misplaced
        near = value * bounds.slack
        places = np.flatnonzero((lower <= value + near) & (upper >= value - near))
        lengths = torch.from_numpy(bounds.largest_distances(places))
        places = places[(lengths == outermost(lengths)).numpy()]
        return as_tensor(bounds.vertex[places], graph)
    doubtful = np.flatnonzero((lower <= value) & (upper >= value) & (lower < upper))
    if doubtful.size:
        lower[doubtful] = upper[doubtful] = bounds.largest_distances(doubtful)
    return as_tensor(np.flatnonzero((lower == value) & (upper == value)), graph)
