"""Distances to chosen vertices of each graph of a batch: landmarks."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _encodings as check_encodings
from torchcent.check import _landmarks as check_landmarks
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import choice, number
from torchcent.engines.plan import _room
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.pairs._draws import Draws, ranked, seed_of
from torchcent.pairs._lengths import shortest_path_lengths
from torchcent.pairs._near import near_pairs
from torchcent.runtime import _memory


class LandmarkDistances(NamedTuple):
    """Result of :func:`landmark_distances`.

    Attributes:
        distance: [n, k], of each vertex and the landmarks of its graph.
        landmarks: int64 [k], for a batch [num_graphs, k]; -1 where a graph has fewer vertices.
    """

    distance: Tensor
    landmarks: Tensor


@computes(searches=True)
def landmark_distances(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    landmarks: int | Tensor,
    selection: str = "degree",
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    direction: str = "from",
    unreachable: float = -1,
    dtype: torch.dtype | None = None,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
) -> LandmarkDistances:
    r"""Distances between each vertex and k landmarks of its graph.

    .. math:: D_{vj} = d(l_j, v)

    in hops or, with weights, as the length of a shortest path: a positional encoding of k columns.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), a Graph, or a
            graph of another library, a matrix, an array or a table (docs/inputs.md). Self-loops are
            dropped, duplicate arcs are merged.
        edge_weight: [E], the length of each arc, finite and > 0; None counts hops. Of duplicate
            arcs the smallest weight counts. A Graph has its own weights.
        landmarks: k, of which graphs with fewer vertices take all. Or their ids: [k], for a batch
            [num_graphs, k], with -1 for none.
        selection: which k vertices. "degree" takes those with the most outgoing arcs, of equal ones
            the lowest. "random" draws them. "farthest" begins with that of highest degree. It then
            takes the vertex with the largest distance to the landmarks before it, first of all one
            that they do not reach.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex, as in PyG; None for one graph.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        direction: distances "from" the landmarks, or "to" them.
        unreachable: the value where there is no path, and of columns without a landmark.
        dtype: of the distances: torch.int8, int16, int32, int64, float32 or float64; with weights
            the last two. None is int32, with weights torch.get_default_dtype().
        generator: for selection="random"; None takes PyTorch's global one. It draws a single
            number. With it, the landmarks of a graph depend on its own arcs, not on its batch.
        run: how it is computed, see :class:`Run`.

    Returns:
        LandmarkDistances with `distance` [n, k] and `landmarks` [k] or [num_graphs, k].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: the result does not fit into ``Run(memory=)``, or half of the free memory;
            raised before any search.
        OverflowError: a distance does not fit the dtype.

    A search per landmark, each within its graph: O(k m) time for graphs of m arcs in all, with
    weights O(k m log m). Strategy "farthest" searches one landmark of each graph at a time.

    Example:
        >>> import torch, torchcent
        >>> path_and_pair = torch.tensor([[0, 1, 2, 4], [1, 2, 3, 5]])
        >>> batch = torch.tensor([0, 0, 0, 0, 1, 1])
        >>> found = torchcent.landmark_distances(
        ...     path_and_pair, landmarks=3, selection="farthest", batch=batch, directed=False
        ... )
        >>> found.landmarks
        tensor([[ 1,  3,  0],
                [ 4,  5, -1]])
        >>> found.distance
        tensor([[ 1,  3,  0],
                [ 0,  2,  1],
                [ 1,  1,  2],
                [ 2,  0,  3],
                [ 0,  1, -1],
                [ 1,  0, -1]], dtype=torch.int32)

    Source:
        Potamias et al. 2009, "Fast shortest path distance estimation in large networks"; Li et al.
        2020, "Distance encoding".
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    chosen = check_landmarks.landmarks(landmarks, graph)
    choice(selection, "selection", check_landmarks.SELECTIONS)
    kind, fill = values(graph, dtype, unreachable)
    source = check.random_generator(generator)
    draws = isinstance(chosen, int) and selection == "random"
    if not draws:
        check_landmarks.no_generator(source, "none are made here")
    width = chosen if isinstance(chosen, int) else chosen.shape[1]
    allow(graph, width, kind, run, f"landmark_distances of {width} landmarks")
    key = Draws(graph, seed_of(source)).column(0) if draws else -graph.degree
    graph = towards(graph, direction)
    if isinstance(chosen, int) and selection == "farthest":
        rows, raw = _farthest(graph, key, chosen, run)
    else:
        rows = _first(graph, key, chosen) if isinstance(chosen, int) else chosen
        column = torch.arange(width, device=graph.device).expand_as(rows)
        there = rows >= 0
        raw = distances(graph, rows[there], column[there], width, run, "landmark_distances")
    return LandmarkDistances(stored(raw, kind, fill), rows[0] if graph.ptr is None else rows)


def values(graph: Graph, dtype: object, unreachable: object) -> tuple[torch.dtype, float]:
    """The dtype of the result, and the value where there is no path."""
    kind = check_encodings.dtype(dtype, graph)
    if kind is None:
        kind = check_encodings.narrowest(graph, 2, 1) if graph.is_weighted else torch.int32
    filling = number(unreachable, "unreachable")
    if math.isinf(filling) and kind.is_floating_point:
        return kind, filling
    return kind, check_encodings.fill(unreachable, "unreachable", kind)


def allow(graph: Graph, width: int, kind: torch.dtype, run: Run, what: str, more: int = 0) -> None:
    """Raises MemoryError if so many columns, and `more` bytes, do not fit."""
    need = graph._nbytes + graph.num_nodes * width * (kind.itemsize + 18) + more
    if run.memory is not None or need >= _memory.SMALL_RUN.get(graph.device.type, 0):
        what += f" for {graph.num_nodes} vertices"
        _memory.require(what, need, _room.limit(graph, run.memory), run.memory)


def towards(graph: Graph, direction: str) -> Graph:
    """The graph along whose arcs is searched."""
    choice(direction, "direction", check_landmarks.DIRECTIONS)
    return graph.reversed() if direction == "to" else graph


def stored(raw: Tensor, kind: torch.dtype, unreachable: float) -> Tensor:
    if not kind.is_floating_point and raw.numel():
        check_encodings.fits(int(raw.max()), kind)
    values = raw.to(kind)
    return values if unreachable == -1 else values.masked_fill_(raw < 0, unreachable)


def _first(graph: Graph, key: Tensor, count: int) -> Tensor:
    """int64 [num_graphs, count]: the vertices of lowest keys of each graph, then -1."""
    order, place = ranked(graph, key)
    near = place < count
    rows = order.new_full((graph.num_graphs, count), -1)
    rows[_batch.of_graph(graph, order[near]), place[near]] = order[near]
    return rows


def _farthest(graph: Graph, key: Tensor, count: int, run: Run) -> tuple[Tensor, Tensor]:
    """The landmarks of each graph, one after the other, and their distances, -1 for none.

    The first one has the lowest key.
    """
    size = _batch.counts(graph)[0]
    columns, rows = list[Tensor](), list[Tensor]()
    for place in range(min(count, int(size.max(initial=0)))):
        row = _first(graph, key, 1)
        row = torch.where(_batch.sizes(graph)[:, None] > place, row, -1)
        there = row[row >= 0]
        raw = distances(graph, there, torch.zeros_like(there), 1, run, "landmark_distances")
        far = torch.where(raw < 0, torch.inf, raw.double())[:, 0]
        key = torch.maximum(key, -far) if columns else -far
        key[there] = 1  # never again
        columns.append(raw)
        rows.append(row)
    missing = count - len(rows)
    rows += [graph.rowptr.new_full((graph.num_graphs, 1), -1)] * missing
    none = torch.float64 if graph.is_weighted else torch.int32
    blank = torch.full((graph.num_nodes, missing), -1, dtype=none, device=graph.device)
    return torch.cat(rows, 1), torch.cat([*columns, blank], 1)


def distances(
    graph: Graph, sources: Tensor, column: Tensor, width: int, run: Run, title: str
) -> Tensor:
    """int32 [n, width], or float64 with weights: distances from the sources, each in its column;
    -1 where there is no path."""
    kind = torch.float64 if graph.is_weighted else torch.int32
    raw = torch.full((graph.num_nodes, width), -1, dtype=kind, device=graph.device)
    if not sources.numel():
        return raw
    own, begin = Run(memory=run.memory, progress=run.progress), 0
    if graph.ptr is None and not graph.is_weighted:
        for rows, distance in shortest_path_lengths(graph, sources=sources, blocks=True, run=own):
            raw[:, column[begin : begin + rows.numel()]] = distance.T.to(kind)
            begin += rows.numel()
        return raw
    for near in near_pairs(graph, sources, math.inf, own, title):
        place = column[(near.first + near.place).to(column.device)]
        raw[near.vertex.to(raw.device), place] = near.distance.to(raw.device, kind)
    return raw
