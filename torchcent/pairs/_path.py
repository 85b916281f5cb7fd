"""shortest_path: one shortest path between two vertices, or between the vertices of many pairs."""

from __future__ import annotations

import math
from numbers import Integral
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import dense, shortened
from torchcent.engines.plan import _climbs, _room
from torchcent.engines.plan._climbs import Climbs
from torchcent.engines.reduce import _hops
from torchcent.engines.search import _weighted_rows
from torchcent.graph import Graph, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.runtime import _codes, _ops

Vertices = int | Tensor


class ShortestPath(NamedTuple):
    """A shortest path, as :func:`shortest_path` returns it.

    Attributes:
        path: int64 [k], its vertices from source to target; empty if there is no path.
        length: the number of its arcs or, with weights, their sum; inf if there is no path.
    """

    path: Tensor
    length: float


@computes(searches=True)
def shortest_path(
    edge_index: GraphLike,
    source: Vertices,
    target: Vertices,
    *,
    edge_weight: WeightLike = None,
    num_nodes: int | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> ShortestPath | list[ShortestPath]:
    r"""One shortest path from a source to a target, or one for each of many pairs.

    .. math:: v_0 = s, \dots, v_k = t \quad \text{with} \quad
        \sum_{i=1}^{k} w(v_{i-1}, v_i) = d(s, t)

    where w is the weight of an arc, or 1. Of several shortest paths it is any.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), a Graph, or a
            graph of another library, a matrix, an array or a table (docs/inputs.md). Self-loops are
            dropped, duplicate arcs are merged.
        source: a vertex, or a tensor [p] of the sources of many pairs.
        target: a vertex, or a tensor [p] of the targets of the same pairs. A vertex is paired with
            each of many sources or targets.
        edge_weight: [E], the length of each arc, finite and > 0; None counts hops. Of duplicate
            arcs the smallest weight counts. For a graph of another library it may be the name of
            its weights (docs/inputs.md). A Graph has its own weights.
        num_nodes: n; by default the largest id + 1.
        directed: None uses the arcs as given (for a Graph, its own setting); False adds missing
            reverse arcs.
        run: how it is computed, see :class:`Run`.

    Returns:
        :class:`ShortestPath`, a named tuple of the path, int64 [k] on the device of the graph, and
        its length; a list of them if source or target is a tensor. Without a path from source to
        target, the path is empty and the length inf. From a vertex to itself it is that vertex,
        and the length 0.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.

    The time is that of one search per distinct source, on the host. With a Graph that is like a
    road, many pairs, or scores computed before, make a contraction hierarchy, which is kept with
    the graph: then a path takes microseconds (docs/approximation.md).

    Example:
        >>> import torch, torchcent
        >>> arcs = torch.tensor([[0, 1, 0, 2], [1, 3, 2, 3]])
        >>> torchcent.shortest_path(arcs, 0, 3, edge_weight=torch.tensor([1.0, 2.0, 0.5, 0.5]))
        ShortestPath(path=tensor([0, 2, 3]), length=1.0)
        >>> torchcent.shortest_path(arcs, 3, 0)
        ShortestPath(path=tensor([], dtype=torch.int64), length=inf)
        >>> [length for _, length in torchcent.shortest_path(arcs, 0, torch.tensor([0, 1, 3]))]
        [0.0, 1.0, 2.0]

    Source:
        Dijkstra 1959; Geisberger et al. 2012 for hierarchies.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run, paths=True)
    check_batch.one_graph(graph, "shortest_path", "pass the graphs one by one")
    sources, targets = _ends(source, "source", graph), _ends(target, "target", graph)
    if 1 not in (sources.numel(), targets.numel()) and sources.numel() != targets.numel():
        raise ValueError(
            f"source has {sources.numel()} vertices and target {targets.numel()}: "
            "pass as many, or one of either"
        )
    sources, targets = torch.broadcast_tensors(sources, targets)
    climbs = _climbs.made(graph, torch.unique(sources).numel(), _room.limit(graph, run.memory))
    host = graph.to("cpu")
    pairs = torch.stack([sources, targets])
    paths = _by_search(host, pairs) if climbs is None else _by_climbs(host, climbs, pairs)
    paths = [each._replace(path=each.path.to(graph.device)) for each in paths]
    if isinstance(source, Tensor) or isinstance(target, Tensor):
        return paths
    return paths[0]


def _ends(value: object, name: str, graph: Graph) -> Tensor:
    """int64 [p] on the host."""
    n = graph.num_nodes
    if isinstance(value, Integral) and not isinstance(value, bool):
        vertex = int(value)
        if not 0 <= vertex < n:
            raise _no_vertex(vertex, name, n)
        return torch.tensor([vertex], device="cpu")
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name} must be a vertex or a tensor of vertices, got {type(value).__name__}"
        )
    if value.device != graph.device and value.device.type != "cpu":
        raise ValueError(f"{name} is on {value.device}, but the graph is on {graph.device}")
    dense(value, name)
    if value.dtype == torch.bool or value.is_floating_point() or value.is_complex():
        raise TypeError(f"{name} must hold integer vertex ids, got {value.dtype}")
    if value.dim() > 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {list(value.shape)}")
    ids = value.reshape(-1).to(device="cpu", dtype=torch.int64, copy=True)
    wrong = ids[(ids < 0) | (ids >= n)]
    if wrong.numel():
        raise _no_vertex(int(wrong[0]), name, n)
    return ids


def _no_vertex(value: object, name: str, num_nodes: int) -> ValueError:
    extent = f"vertices are 0 to {num_nodes - 1}" if num_nodes else "the graph has no vertices"
    return ValueError(f"{name} has vertex {shortened(value)}, but {extent}")


def _by_climbs(graph: Graph, climbs: Climbs, pairs: Tensor) -> list[ShortestPath]:
    apart = torch.nonzero(pairs[0] != pairs[1]).flatten()
    ends, size = pairs[:, apart].contiguous(), torch.zeros_like(apart)
    path = _ops.ops.hierarchy_draw_paths(
        climbs.arrays, climbs.height, seed=0, number=0, count=apart.numel(), length=size,
        control=_codes.control(), threads=torch.get_num_threads(), pairs=ends,
    )  # fmt: skip
    lengths = _lengths(graph, path, size)
    paths = [ShortestPath(pairs[:1, i].clone(), 0.0) for i in range(pairs.shape[1])]
    parts = path.split(size.tolist())
    for i, each, length in zip(apart.tolist(), parts, lengths.tolist(), strict=True):
        paths[i] = ShortestPath(each.clone(), length)
    return paths


def _lengths(graph: Graph, path: Tensor, size: Tensor) -> Tensor:
    """float64: the lengths of paths of so many vertices each, one after the other."""
    number = torch.repeat_interleave(size)
    within = torch.nonzero(number[1:] == number[:-1]).flatten()
    step = torch.ones(within.numel(), dtype=torch.float64, device="cpu")
    if graph.is_weighted:
        weight = graph.scaled_weights[0]
        assert weight is not None
        arcs = torch.stack([path[within], path[within + 1]]).int()
        step = weight[_csr.slots(arcs, graph.rowptr, graph.col)].double()
    total = torch.zeros(size.numel(), dtype=torch.float64, device="cpu").index_add_(
        0, number[within], step
    )
    return graph.scale.lengths(total).masked_fill_(size == 0, torch.inf)


def _by_search(graph: Graph, pairs: Tensor) -> list[ShortestPath]:
    """By a search from each source, and backtracking."""
    paths = [ShortestPath(pairs[:1, i].clone(), 0.0) for i in range(pairs.shape[1])]
    for source in torch.unique(pairs[0]).tolist():
        distance = _distances(graph, source)
        for i in torch.nonzero((pairs[0] == source) & (pairs[1] != source)).flatten().tolist():
            paths[i] = _backtrack(graph, distance, source, int(pairs[1, i]))
    return paths


def _distances(graph: Graph, source: int) -> Tensor:
    """From the source, in units of the weights; negative or inf where there is no path."""
    if not graph.is_weighted:
        return _hops.hops(graph.rowptr, graph.col, source)
    out = _weighted_rows.empty(graph, 1)
    has_kernel = _ops.has_kernel("weighted_distances", graph.device)
    start = torch.tensor([source], device="cpu")
    _weighted_rows.fill(
        _weighted_rows.arcs(graph), "dijkstra" if has_kernel else "tensor", start, out,
        _codes.control(), _codes.Launch(threads=1),
    )  # fmt: skip
    return out[0]


def _backtrack(graph: Graph, distance: Tensor, source: int, target: int) -> ShortestPath:
    total = float(distance[target])
    if total < 0 or math.isinf(total):
        return ShortestPath(torch.empty(0, dtype=torch.int64, device="cpu"), math.inf)
    colptr, row = (part.numpy() for part in graph.transpose)
    weight = None if graph.weight is None else graph.scaled_weights[1]
    to, path = distance.numpy(), [target]
    while path[-1] != source:
        v = path[-1]
        before = row[colptr[v] : colptr[v + 1]]
        step = 1 if weight is None else weight[colptr[v] : colptr[v + 1]].numpy()
        near = to[before]
        tight = (near >= 0) & (near + step == to[v])
        path.append(int(before[np.argmax(tight)]))
    length = torch.tensor(total, dtype=torch.float64, device="cpu")
    return ShortestPath(torch.tensor(path[::-1], device="cpu"), float(graph.scale.lengths(length)))
