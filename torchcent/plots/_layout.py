"""layout: positions of the vertices of a graph that has none."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import integer
from torchcent.engines.plan import _room
from torchcent.engines.reduce._hops import hops
from torchcent.graph import Graph, _batch, _pieces
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.pairs._lengths import shortest_path_lengths
from torchcent.plots import _stress
from torchcent.runtime import _memory, _small

_ALL = 600  # vertices up to which the stress is that of all pairs
_PIVOTS, _MOST_PIVOTS, _DISTANCES = 50, 300, 800_000  # as many as have so many distances
_ITERATIONS_OF_ALL = 300
_ITERATIONS, _MOST_ITERATIONS, _TERMS = 30, 150, 1e8  # as many as add up so many terms
_GAP = 2.0  # between components, in mean lengths of edges
_SHAPE = 1.3  # width of the picture divided by its height, of many components


@computes("dtype")
def layout(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
    pivots: int | None = None,
    iterations: int | None = None,
    seed: int = 0,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Positions in the plane whose distances are close to those of the graph, for figures.

    .. math:: \text{minimise} \sum_{i < j} \frac{(|x_i - x_j| - d_{ij})^2}{d_{ij}^2}

    where :math:`d_{ij}` is the distance of i and j in hops or by weights, whatever the directions
    of arcs. Of components of up to 600 vertices these are all pairs. Of larger ones they are pairs
    of neighbours, some pairs of neighbours of one vertex, and those of all vertices with pivots.
    Components are laid out side by side, the largest first, each with its longer axis from left to
    right; isolated vertices form a grid.

    Args:
        edge_index, num_nodes: as in :func:`betweenness`, of one graph, not of a batch.
        edge_weight: [E], the lengths of edges; None counts hops.
        directed: None uses the arcs as given, which makes no difference to the positions.
        pivots: of components of more than 600 vertices. Half of them are as far apart as
            possible, the others random. More take more time and give a better picture; None takes
            300 to 50, by the size.
        iterations: of a component; None takes up to 300 with all pairs, otherwise 150 to 30.
        seed: of the random numbers that keep vertices apart at first. The same seed, graph and
            machine give the same positions.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n, 2], on the device of the graph. The unit is a hop, or that of the weights.

    Raises:
        TypeError, ValueError: an argument is invalid, or the graph is a batch; the message names
            it.
        MemoryError: the distances to the pivots do not fit into ``Run(memory=)``.

    O(pivots n + m) time per iteration, on the host: 10^5 vertices take seconds. Deep and regular
    graphs, such as roads, trees and meshes, keep their shape. In a network where nearly all
    distances are 3 or 4 no picture in the plane can show them.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> places = torchcent.layout(path)
        >>> (places[1:] - places[:-1]).norm(dim=1).round(decimals=2)
        tensor([1., 1., 1.])

    Source:
        Gansner, Koren and North 2004; Brandes and Pich 2006; Ortmann, Klimenta and Brandes 2016,
        "A sparse stress model".
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run)
    if graph.ptr is not None:
        raise ValueError(
            f"layout is of one graph, but edge_index is a batch of {graph.num_graphs}; pass them "
            "one by one"
        )
    count = check.positive(pivots, "pivots")
    most = check.positive(iterations, "iterations")
    first = integer(seed, "seed")
    if first < 0:
        raise ValueError(f"seed must be >= 0, got {first}")
    whole = _undirected(graph).to("cpu")
    width = min(_pivots(whole.num_nodes) if count is None else count, whole.num_nodes)
    need = whole._nbytes + 32 * width * whole.num_nodes
    need += 200 * whole.num_slots
    if run.memory is not None or need >= _memory.SMALL_RUN["cpu"]:
        limit = _room.limit(whole, run.memory)
        what = f"layout of {graph.num_nodes} vertices with pivots={width}"
        _memory.require(what, need, limit, run.memory)
    try:
        places = _all_components(whole, count, most, np.random.default_rng(first))
    except np.linalg.LinAlgError:
        raise ValueError(
            "edge_weight has lengths that are too large for a layout in float64; divide them by "
            "the largest"
        ) from None
    return torch.from_numpy(places).to(device=graph.device, dtype=run.dtype)


def _undirected(graph: Graph) -> Graph:
    """With both directions of each arc, of the smaller weight."""
    if graph.is_symmetric:
        return graph if not graph.directed else graph._with(directed=False)
    arcs = torch.stack([_small.repeat_interleave(graph.rowptr.diff()), graph.col.long()])
    return Graph.from_edge_index(arcs, graph.num_nodes, False, edge_weight=graph.weight)


def _all_components(
    graph: Graph, pivots: int | None, iterations: int | None, chance: np.random.Generator
) -> NDArray[np.float64]:
    places = np.zeros((graph.num_nodes, 2))
    pieces = _pieces.by_component(graph)
    order, size = pieces.order.numpy(), _batch.counts(pieces.graph)[0]
    several = [number for number in np.argsort(-size, kind="stable") if size[number] > 1]
    unit = 1.0 if graph.weight is None else float(graph.weight.mean()) if graph.num_slots else 1.0
    boxes = []
    for number in several:
        own = order[_batch.run(pieces.graph, number)[0]]
        part = _batch.part(pieces.graph, number)
        places[own] = _turned(_component(part, pivots, iterations, chance))
        boxes.append(own)
    alone = np.sort(order[np.repeat(size == 1, size)])
    if len(alone):
        width = int(np.ceil(np.sqrt(len(alone) * _SHAPE)))
        row, column = np.divmod(np.arange(len(alone)), width)
        places[alone] = unit * np.stack([column, -row], 1)
        boxes.append(alone)
    _pack(places, boxes, _GAP * unit)
    return places


def _component(
    graph: Graph, pivots: int | None, iterations: int | None, chance: np.random.Generator
) -> NDArray[np.float64]:
    """Positions of a connected graph."""
    n = graph.num_nodes
    if n <= _ALL:
        distance = _distances(graph, None)
        start = _stress.pivot_mds(distance)
        return _stress.all_pairs(distance, start, iterations or _ITERATIONS_OF_ALL, chance)
    ids = _spread(graph, min(_pivots(n) if pivots is None else pivots, n), chance)
    distance = _distances(graph, ids).T
    start = _stress.pivot_mds(distance)
    length = np.ones(graph.num_slots) if graph.weight is None else graph.weight.numpy()
    begin, col = graph.rowptr.numpy(), graph.col.numpy().astype(np.int64)
    near = _stress.siblings(begin, col, length, chance)
    terms = len(ids) * n + 4 * len(near.col)
    count = iterations or int(min(max(_TERMS / terms, _ITERATIONS), _MOST_ITERATIONS))
    return _stress.some_pairs(near, np.ascontiguousarray(distance), ids, start, count, chance)


def _pivots(vertices: int) -> int:
    return min(max(_DISTANCES // vertices, _PIVOTS), _MOST_PIVOTS) if vertices else _PIVOTS


def _distances(graph: Graph, sources: NDArray[np.int64] | None) -> NDArray[np.float64]:
    ids = None if sources is None else torch.from_numpy(sources)
    run = Run(progress=False)
    lengths = shortest_path_lengths(graph, sources=ids, run=run)
    return np.asarray(lengths, dtype=np.float64)


def _spread(graph: Graph, count: int, chance: np.random.Generator) -> NDArray[np.int64]:
    """The first half are each as many hops as possible from those before it, the others random: in
    a network around a hub, far ones stand for themselves alone."""
    ids = [int(graph.degree.argmax())]
    nearest = hops(graph.rowptr, graph.col, ids[0])
    while len(ids) < (count + 1) // 2:
        ids.append(int(nearest.argmax()))
        nearest = torch.minimum(nearest, hops(graph.rowptr, graph.col, ids[-1]))
    others = np.setdiff1d(np.arange(graph.num_nodes), ids)
    drawn = chance.choice(others, min(count - len(ids), len(others)), replace=False)
    return np.concatenate([np.array(ids), np.sort(drawn)])


def _turned(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Around 0, with the longer axis from left to right, and not mirrored by chance."""
    centred = places - places.mean(0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned: NDArray[np.float64] = centred @ axes[:, ::-1]
    skew = (turned**3).sum(0)
    turned[:, skew < 0] *= -1
    return turned


def _pack(places: NDArray[np.float64], boxes: list[NDArray[np.int64]], gap: float) -> None:
    """Moves the components side by side, in rows from the top, the highest first."""
    if len(boxes) < 2:
        return
    low = np.array([places[own].min(0) for own in boxes])
    size = np.array([places[own].max(0) for own in boxes]) - low + gap
    limit = max(float(size[:, 0].max()), np.sqrt(float(size.prod(1).sum()) * _SHAPE))
    x, y, height = 0.0, 0.0, 0.0
    for number in np.argsort(-size[:, 1], kind="stable"):
        width = size[number, 0]
        if x > 0 and x + width > limit * (1 + 1e-9):
            x, y, height = 0.0, y - height, 0.0
        places[boxes[number]] += np.array([x, y - size[number, 1]]) - low[number]
        x, height = x + width, max(height, size[number, 1])
