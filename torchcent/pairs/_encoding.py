"""Shortest-path encodings of a batch of graphs: padded matrices, or lists of pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _encodings as check_encodings
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.engines.plan import _room
from torchcent.engines.search import _tiny
from torchcent.graph import Graph, _batch
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.pairs import _trees
from torchcent.pairs._limits import in_units
from torchcent.runtime import _memory, _ops
from torchcent.runtime._codes import control
from torchcent.runtime._tuned import TUNED
from torchcent.runtime._watch import at_work, progress_bar

_SEARCH = 48  # bytes per vertex and thread (csrc/tiny/cpu/pair_search.h)


class ShortestPathEncoding(NamedTuple):
    """Result of :func:`shortest_path_encoding`.

    Attributes:
        distance: [G, N, N], from the vertex of the row to that of the column.
        edges: int64 [G, N, N, L], the columns of edge_index along a shortest path, padded with -1;
            None unless paths=True.
    """

    distance: Tensor
    edges: Tensor | None


class ShortestPathPairs(NamedTuple):
    """Result of :func:`shortest_path_pairs`.

    Attributes:
        pairs: int64 [2, P], both vertices of each one, in lexicographic order.
        distance: [P], from the first to the second.
        edges: int64 [P, L], the columns of edge_index along a shortest path, padded with -1; None
            unless paths=True.
    """

    pairs: Tensor
    distance: Tensor
    edges: Tensor | None


@computes(searches=True)
def shortest_path_encoding(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    cutoff: float | None = None,
    max_nodes: int | None = None,
    unreachable: float = -1,
    padding: float = -1,
    paths: bool | int = False,
    dtype: torch.dtype | None = None,
    run: Run = DEFAULT,
) -> ShortestPathEncoding:
    r"""Distances between all vertices of each graph of a batch, as padded matrices.

    .. math:: D_{gij} = d(v_i, v_j) \text{ in graph } g

    in hops or, with weights, as the length of a shortest path: the spatial encoding of Graphormer.
    With paths=True also the edges of one shortest path for each pair, of which Graphormer's edge
    encoding averages the features.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), a Graph, or a
            graph of another library, a matrix, an array or a table (docs/inputs.md). Self-loops are
            dropped, duplicate arcs are merged.
        edge_weight: [E], the length of each arc, finite and > 0; None counts hops. Of duplicate
            arcs the smallest weight counts. A Graph has its own weights.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex, as in PyG; None for one graph.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        cutoff: pairs farther apart count as unreachable; their paths are not searched.
        max_nodes: N, at least the number of vertices of the largest graph, which is the default.
        unreachable: the value for pairs of vertices without a path within the cutoff.
        padding: the value in rows and columns of vertices that a graph does not have.
        paths: also return the edges along a shortest path. Of several, that is the one whose last
            arc begins at the vertex of lowest id, and so on backwards. True returns whole paths; a
            number L truncates longer ones to as many edges, as dgl.nn.PathEncoder does.
        dtype: of the distances: torch.int8, int16, int32, int64, float32 or float64; with weights
            the last two. None uses the narrowest of int8, int16 and int32 that holds N - 1 (or the
            cutoff) and both fill values; with weights torch.get_default_dtype(). An index of
            torch.nn.Embedding needs int32 or int64.
        run: how it is computed, see :class:`Run`.

    Returns:
        ShortestPathEncoding with `distance` [G, N, N], and `edges` [G, N, N, L] or None. A single
        graph is a batch of one. Edges are numbers of columns of `edge_index` (of a Graph, those of
        the edge_index that it was made from; of duplicates the first). An arc that directed=False
        has added has the number of its reverse.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: the result does not fit into ``Run(memory=)``, or half of the free memory;
            raised before. A batch with one large graph needs N^2 entries for every graph:
            :func:`shortest_path_pairs` does not.
        OverflowError: a distance does not fit the dtype.

    O(m) time per vertex, of the slots m of its graph, with weights O(m log m). The result does not
    depend on the number of threads, and that of a graph not on the others of its batch.

    Example:
        >>> import torch, torchcent
        >>> path_and_pair = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
        >>> batch = torch.tensor([0, 0, 0, 1, 1])
        >>> found = torchcent.shortest_path_encoding(path_and_pair, batch=batch)
        >>> found.distance
        tensor([[[ 0,  1,  2],
                 [ 1,  0,  1],
                 [ 2,  1,  0]],
        <BLANKLINE>
                [[ 0,  1, -1],
                 [ 1,  0, -1],
                 [-1, -1, -1]]], dtype=torch.int8)
        >>> found = torchcent.shortest_path_encoding(path_and_pair[:, :4], paths=True)
        >>> found.edges[0, 0]  # from vertex 0: the columns of edge_index
        tensor([[-1, -1],
                [ 0, -1],
                [ 0,  2]])

    Source:
        Ying et al. 2021, "Do transformers really perform badly for graph representation?"
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    limit = check_encodings.cutoff(cutoff)
    sizes = _batch.counts(graph)[0]
    width = check_encodings.width(max_nodes, int(sizes.max(initial=0)))
    kind = check_encodings.dtype(dtype, graph)
    if kind is None:
        kind = check_encodings.narrowest(graph, width, limit, (unreachable, padding))
    fills = (
        check_encodings.fill(unreachable, "unreachable", kind),
        check_encodings.fill(padding, "padding", kind),
    )
    searches = _Searches(graph, limit, kind, run, "shortest_path_encoding")
    num_edges = check_encodings.path_room(paths)
    shape = graph.num_graphs, width, width
    cells = math.prod(shape)
    what = f"[{graph.num_graphs}, max_nodes={width}, {width}]"
    what += f" with paths={num_edges}" if num_edges else ""
    searches.allow(cells * (kind.itemsize + 8 * (num_edges or 0)), what)
    distance = torch.empty(shape, dtype=kind, device=graph.device)
    searches.paths = num_edges != 0
    none = torch.empty(0, dtype=torch.int64, device=graph.device)
    if not num_edges:
        longest = searches.matrices(distance, none, *fills)
        if num_edges == 0:
            return ShortestPathEncoding(distance, None)
        num_edges = longest
        searches.allow(cells * (kind.itemsize + 8 * num_edges), f"paths of up to {num_edges} edges")
    edges = torch.empty(*shape, num_edges, dtype=torch.int64, device=graph.device)
    if edges.numel():
        searches.matrices(distance, edges, *fills)
    return ShortestPathEncoding(distance, edges)


@computes(searches=True)
def shortest_path_pairs(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    cutoff: float | None = None,
    paths: bool | int = False,
    dtype: torch.dtype | None = None,
    run: Run = DEFAULT,
) -> ShortestPathPairs:
    r"""All pairs of vertices with a path between them, at most `cutoff` long, and their distances.

    .. math:: \{(u, v, d(u, v)) : d(u, v) \le k\}

    A sparse form of :func:`shortest_path_encoding`: no padding, one list for a batch, and within a
    few hops also of large graphs. Each vertex is a pair with itself, at distance 0.

    Args:
        cutoff: k, a number of hops or, with weights, a length; None for all pairs with a path.
        Others: as in :func:`shortest_path_encoding`.
        run: how it is computed, see :class:`Run`.

    Returns:
        ShortestPathPairs with `pairs` [2, P], `distance` [P], and `edges` [P, L] or None.

    Raises:
        TypeError, ValueError, OverflowError: as in :func:`shortest_path_encoding`.
        MemoryError: the result does not fit into ``Run(memory=)``, or half of the free memory;
            raised after pairs have been counted, before it is allocated.

    Each vertex is searched up to the cutoff, twice: the first search counts the pairs.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> found = torchcent.shortest_path_pairs(path, cutoff=2)
        >>> found.pairs
        tensor([[0, 0, 0, 1, 1, 1, 2, 2, 3],
                [0, 1, 2, 1, 2, 3, 2, 3, 3]])
        >>> found.distance
        tensor([0, 1, 2, 0, 1, 2, 0, 1, 0], dtype=torch.int8)

    Source:
        Ying et al. 2021, "Do transformers really perform badly for graph representation?"
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    limit = check_encodings.cutoff(cutoff)
    kind = check_encodings.dtype(dtype, graph)
    if kind is None:
        largest = int(_batch.counts(graph)[0].max(initial=0))
        kind = check_encodings.narrowest(graph, largest, limit)
    num_edges = check_encodings.path_room(paths)
    searches = _Searches(graph, limit, kind, run, "shortest_path_pairs")
    searches.paths = num_edges != 0
    searches.allow(16 * graph.num_nodes, f"counting the pairs of {graph.num_nodes} vertices")
    count = torch.zeros(graph.num_nodes, dtype=torch.int64, device=graph.device)
    longest = searches.counts(count)
    num_edges = longest if num_edges is None else num_edges
    pairs = int(count.sum())
    searches.allow(
        pairs * (16 + kind.itemsize + 8 * num_edges) + 16 * graph.num_nodes,
        f"{pairs} pairs" + (f" with paths={num_edges}" if num_edges else ""),
    )
    index = torch.empty(2, pairs, dtype=torch.int64, device=graph.device)
    distance = torch.empty(pairs, dtype=kind, device=graph.device)
    edges = None
    if searches.paths:
        edges = torch.empty(pairs, num_edges, dtype=torch.int64, device=graph.device)
    searches.pairs(count.cumsum(0) - count, index, distance, count[:0] if edges is None else edges)
    return ShortestPathPairs(index, distance, edges)


class _Searches:
    """The searches of one call: compiled, or on tensors."""

    def __init__(self, graph: Graph, limit: float, kind: torch.dtype, run: Run, title: str) -> None:
        self.graph, self.kind, self.title = graph, kind, title
        self.memory, self.progress = run.memory, run.progress
        self.limit_of_memory: int | None = None
        size, slots = _batch.counts(graph)
        self.quick = float(size @ slots) < TUNED["tiny"].inline
        self.ptr = _batch.ends(graph)
        self.weight, self.unit, self.limit = in_units(graph, limit, graph.is_weighted)
        self.has_kernel = _ops.has_kernel("pair_matrices", graph.device)
        self.paths = False  # whether paths are wanted, now or in another search
        self._edge: Tensor | None = None

    def allow(self, result: int, what: str) -> None:
        """Raises MemoryError if a result of so many bytes, and the graph, are too large."""
        largest = int(_batch.counts(self.graph)[0].max(initial=0))
        need = self.graph._nbytes + result + 8 * self.graph.num_graphs
        need += torch.get_num_threads() * largest * _SEARCH
        if self.memory is not None or need >= _memory.SMALL_RUN.get(self.graph.device.type, 0):
            limit = _room.limit(self.graph, self.memory)
            _memory.require(f"{self.title} of {what}", need, limit, self.memory)
            self.limit_of_memory = limit - need

    def matrices(self, out: Tensor, paths: Tensor, unreachable: float, padding: float) -> int:
        """Fills the matrices; returns the most arcs of a path."""
        edge = self._edges()
        if not self.has_kernel:
            longest = _trees.matrices(self._searches(edge), out, paths, unreachable, padding)
        else:
            arguments = (*self._arcs(True), edge, out, paths, unreachable, padding)
            total = out.shape[0] * out.shape[1]
            longest = self._watch(_ops.ops.pair_matrices, arguments, total)
        return self._check(longest)

    def counts(self, count: Tensor) -> int:
        """Counts the pairs of each vertex; returns the most arcs of a path."""
        if not self.has_kernel:
            return self._check(_trees.counts(self._searches(self._edges()), count))
        arguments = (*self._arcs(False), count)
        return self._check(self._watch(_ops.ops.pair_counts, arguments, count.numel()))

    def pairs(self, begin: Tensor, index: Tensor, out: Tensor, paths: Tensor) -> None:
        edge = self._edges()
        if not self.has_kernel:
            _trees.pairs(self._searches(edge), index, out, paths)
        else:
            arguments = (*self._arcs(True), edge, begin, index, out, paths)
            self._watch(_ops.ops.pair_list, arguments, begin.numel())

    def _check(self, longest: int) -> int:
        if not self.graph.is_weighted:
            check_encodings.fits(longest, self.kind)
        return longest

    def _arcs(self, unit: bool) -> tuple[Tensor, ...]:
        graph = self.graph
        units = (self.unit,) if unit else ()
        return (graph.rowptr, graph.col, self.weight, *units, self.ptr, self.limit)

    def _searches(self, edge: Tensor) -> _trees.Searches:
        weight = self.weight if self.graph.is_weighted else None
        return _trees.Searches(
            self.graph, weight, self.unit, self.ptr, self.limit, edge, self.limit_of_memory
        )

    def _edges(self) -> Tensor:
        """The column of each slot, if there are paths."""
        if self._edge is None:
            graph = self.graph
            self._edge = torch.empty(0, dtype=torch.int64, device=graph.device)
            if self.paths:
                if graph.is_weighted:
                    _tiny.resolvable(graph, np.arange(graph.num_graphs))
                self._edge = columns(graph)
        return self._edge

    def _watch(self, operator: Callable[..., Tensor], arguments: Any, total: int) -> int:
        graph, record, results = self.graph, control(), list[Tensor]()
        threads = _tiny.threads_for(*_batch.counts(graph), graph.is_weighted)

        def work() -> None:
            results.append(operator(*arguments, record, threads))

        with progress_bar(total, self.title, self.progress, self.quick, "vertices") as bar:
            at_work(work, record, bar, torch.device("cpu"), self.quick)
            bar.update(total - bar.n)
        return int(results[0])


def columns(graph: Graph) -> Tensor:
    """int64 [num_slots]: the first column of edge_index of each slot, or of its reverse."""
    slot = graph.slot
    last = slot.numel()
    first = torch.full((graph.num_slots,), last, dtype=torch.int64, device=graph.device)
    column = torch.arange(last, device=graph.device)
    is_arc = slot >= 0
    first.scatter_reduce_(0, slot[is_arc], column[is_arc], "amin")
    if not graph.directed and bool((first == last).any()):
        first = torch.where(first == last, first[graph.reverse_slot], first)
    return first
