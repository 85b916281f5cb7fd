"""Structural features of pairs of vertices: their distance, and what their neighbours share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _encodings as check_encodings
from torchcent.check import _landmarks as check_landmarks
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import number
from torchcent.engines.plan import _room
from torchcent.graph import Graph, _csr, _segments
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.pairs._lengths import shortest_path_lengths
from torchcent.pairs._near import near_pairs
from torchcent.runtime import _memory, _small

MEASURES = (
    "distance", "common_neighbors", "jaccard", "adamic_adar", "resource_allocation",
    "preferential_attachment",
)  # fmt: skip
_PROBES = 2**22  # neighbours that are looked up together


@computes("dtype", searches=True)
def pair_features(
    edge_index: GraphLike,
    pairs: Tensor,
    edge_weight: WeightLike = None,
    *,
    measures: str | Sequence[str] = MEASURES,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    cutoff: float | None = None,
    unreachable: float = -1,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Structural features of given pairs of vertices, for link prediction or as edge features.

    With N(u) the neighbours of u, d(u) their number, and sums over the common neighbours
    :math:`w \in N(u) \cap N(v)`, the columns of a pair (u, v) are

    ========================= ==============================================
    "distance"                the length of a shortest path from u to v
    "common_neighbors"        :math:`|N(u) \cap N(v)|`
    "jaccard"                 :math:`|N(u) \cap N(v)| / |N(u) \cup N(v)|`
    "adamic_adar"             :math:`\sum_w 1 / \log d(w)`
    "resource_allocation"     :math:`\sum_w 1 / d(w)`
    "preferential_attachment" :math:`d(u) d(v)`
    ========================= ==============================================

    Values equal those of NetworkX's functions for link prediction in graphs without loops, which do
    not count here.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), a Graph, or a
            graph of another library, a matrix, an array or a table (docs/inputs.md). Self-loops are
            dropped, duplicate arcs are merged.
        pairs: int64 [2, P], a pair per column, in any order and with repetitions. For the features
            of edges pass `edge_index` itself.
        edge_weight: [E], the length of each arc, for the distance; None counts hops. The other
            columns do not depend on it.
        measures: names of columns, one or several of those above.
        num_nodes: n; by default the largest id + 1 of `edge_index`.
        batch: int64 [n], ascending: the graph of each vertex, as in PyG.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs. Only the distance is defined for directed graphs.
        cutoff: pairs farther apart count as unreachable; None for no limit.
        unreachable: the distance where there is no path, such as between graphs of a batch.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [P, columns]. The Jaccard coefficient of two isolated vertices is 0. A pair of a
        vertex u with itself has the neighbours of u in common; if one of them has no other
        neighbour, "adamic_adar" is inf.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: ``Run(memory=)`` is too small; raised before any computation.

    Common neighbours of each distinct pair take O(min(d(u), d(v)) log m) time: a hub costs what its
    partners have. Distances take a search from each distinct vertex u, up to the cutoff. Memory
    besides the result is O(m + P).

    Example:
        >>> import torch, torchcent
        >>> square_and_diagonal = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
        >>> torchcent.pair_features(
        ...     square_and_diagonal, torch.tensor([[1, 0], [3, 1]]), directed=False,
        ...     measures=["distance", "common_neighbors", "jaccard", "resource_allocation"],
        ... )
        tensor([[2.0000, 2.0000, 1.0000, 0.6667],
                [1.0000, 1.0000, 0.2500, 0.3333]])

    Source:
        Liben-Nowell and Kleinberg 2007, "The link-prediction problem for social networks"; Adamic
        and Adar 2003; Zhou, Lü and Zhang 2009 for resource allocation.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    ends = check_landmarks.pairs(pairs, graph)
    names = check_batch.measures(measures, MEASURES)
    limit, far = check_encodings.cutoff(cutoff), number(unreachable, "unreachable")
    plain = graph.unweighted()
    for name in names:
        if name != "distance":
            check.undirected(plain, f"measures={name!r}")
    count = ends.shape[1]
    need = graph._nbytes + count * (8 * len(names) + 96) + 16 * graph.num_slots
    if run.memory is not None or need >= _memory.SMALL_RUN.get(graph.device.type, 0):
        limit_of_memory = _room.limit(graph, run.memory)
        _memory.require(f"pair_features of {count} pairs", need, limit_of_memory, run.memory)
    columns = _of_neighbors(plain, ends, [x for x in names if x != "distance"])
    if "distance" in names:
        length = _distances(graph, ends, limit, run)
        columns["distance"] = torch.where(length < 0, far, length)
    return torch.stack([columns[name] for name in names], 1).to(run.dtype)


def _of_neighbors(graph: Graph, ends: Tensor, names: list[str]) -> dict[str, Tensor]:
    """float64 [P] for each name."""
    u, v = ends
    degree = graph.degree.double()
    columns = {}
    if "preferential_attachment" in names:
        columns["preferential_attachment"] = degree[u] * degree[v]
    weights = {
        "common_neighbors": torch.ones_like(degree),
        "adamic_adar": 1 / degree.log(),
        "resource_allocation": 1 / degree,
    }
    own = [name for name in weights if name in names]
    if "jaccard" in names and "common_neighbors" not in own:
        own.append("common_neighbors")
    if own:
        sums = _over_common(graph, ends, torch.stack([weights[name] for name in own], 1))
        columns |= dict(zip(own, sums.unbind(1), strict=True))
    if "jaccard" in names:
        common = columns["common_neighbors"]
        columns["jaccard"] = common / (degree[u] + degree[v] - common).clamp(min=1)
    return columns


def _over_common(graph: Graph, ends: Tensor, values: Tensor) -> Tensor:
    """float64 [P, k]: sums of the values, [n, k], of common neighbours.

    The neighbours of the end that has fewer are looked up among those of the other one.
    """
    n, degree = graph.num_nodes, graph.degree
    u, v = ends
    swap = (degree[u] > degree[v]) | ((degree[u] == degree[v]) & (u > v))
    key = torch.where(swap, v * n + u, u * n + v)
    key, pair = torch.unique(key, return_inverse=True)
    few = key // max(n, 1)
    many = key - few * n
    known = _csr.rows(graph.rowptr) * n + graph.col  # ascending
    sums = values.new_zeros(key.numel(), values.shape[1])
    size = degree[few]
    for begin, end in _csr.runs(size, _PROBES):
        some = slice(begin, end)
        slot = _csr.ranges(graph.rowptr[few[some]], size[some])
        middle = graph.col[slot].long()
        probe = _small.repeat_interleave(many[some], size[some]) * n + middle
        place = torch.searchsorted(known, probe).clamp_(max=known.numel() - 1)
        shared = known[place] == probe
        # Only common ones are added up: 1 / log 1 is infinite.
        of = _small.repeat_interleave(torch.arange(end - begin, device=key.device), size[some])
        number = torch.bincount(of[shared], minlength=end - begin)
        sums[some] = _segments.of_segments(_csr.pointers(number), values[middle[shared]])
    return sums[pair]


def _distances(graph: Graph, ends: Tensor, limit: float, run: Run) -> Tensor:
    """float64 [P]: from the first to the second vertex, -1 if that is farther than the limit."""
    n, length = graph.num_nodes, ends.new_full(ends.shape[1:], -1, dtype=torch.float64)
    if not length.numel():
        return length
    if not graph.is_weighted and graph.is_symmetric:  # hops are the same both ways
        both = [torch.unique(end).numel() for end in ends]
        ends = ends.flip(0) if both[1] < both[0] else ends
    source, place = torch.unique(ends[0], return_inverse=True)
    order = torch.argsort(place)
    bounds = _csr.pointers(torch.bincount(place, minlength=source.numel())).tolist()
    own = Run(memory=run.memory, progress=run.progress)
    whole = graph.ptr is None and not graph.is_weighted and limit == math.inf
    if whole:
        begin = 0
        for rows, distance in shortest_path_lengths(graph, sources=source, blocks=True, run=own):
            end = begin + rows.numel()
            some = order[bounds[begin] : bounds[end]]
            length[some] = distance[place[some] - begin, ends[1, some]].double()
            begin = end
        return length
    for near in near_pairs(graph, source, limit, own, "pair_features"):
        end = near.first + near.sizes.numel()
        rows = order[bounds[near.first] : bounds[end]]
        if not near.vertex.numel():
            continue
        there = ((near.first + near.place) * n + near.vertex).to(length.device)
        value = near.distance.to(length.device)
        own_key = place[rows] * n + ends[1, rows]
        entry = torch.searchsorted(there, own_key).clamp_(max=there.numel() - 1)
        length[rows] = torch.where(there[entry] == own_key, value[entry], -1)
    return length
