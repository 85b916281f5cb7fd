"""multi_search: many breadth-first searches with a custom visitor, in Python or C++."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _visitor as check_visitor
from torchcent.check import _weights as check_weights
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.engines import _tensor
from torchcent.engines._tensor._search import Search
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, as_graph
from torchcent.runtime._watch import progress_bar

_BYTES_PER_SLOT = 16  # arguments of `visit` that the tensor engine does not hold itself


class Visitor:
    """Callbacks during the searches of :func:`multi_search`; override the hooks that you need.

    Sources are searched in batches. Each source is a *lane* of its batch, and all lanes advance one
    level at a time. Hooks receive tensors on the graph's device: `lane`, `vertex`, `u`, `v` and
    `slot` are int64, ordered by lane, then vertex (arcs: by lane, u, v). `depth` is an int, the
    depth of `u` or `vertex`. A batch runs as follows::

        init(graph, sources)
        while there is a frontier:
            prior(lane, vertex, depth)       # the frontier, before it is expanded
            visit(lane, u, v, slot, depth)   # all arcs out of it
            post(lane, vertex, depth + 1)    # the vertices just reached: the next frontier
        finalize()

    Attributes:
        depth: int32 [lanes, n], set before `init`: hops from each lane's source, -1 where not yet
            reached. In `visit` the heads of the arcs already have their depth, so
            ``self.depth[lane, v] > depth`` selects the arcs of shortest paths.
        merge: how the results of the batches are combined. "cat": each result has one row per lane,
            and the rows are concatenated in the order of the sources. "sum": the results are added,
            batch by batch.

    Source:
        McLaughlin and Bader 2015, "Fast execution of simultaneous breadth-first searches on sparse
        graphs". There a hook receives one vertex or arc at a time, here a tensor of them.
    """

    depth: Tensor
    merge: str = "cat"

    def init(self, graph: Graph, sources: Tensor) -> None:
        """Called at the start of a batch; `sources` is int64 [lanes]. Reset per-batch sums here."""

    def prior(self, lane: Tensor, vertex: Tensor, depth: int) -> bool | Tensor | None:
        """Returns False to stop, or a bool tensor [pairs] that marks the pairs to continue from."""

    def visit(self, lane: Tensor, u: Tensor, v: Tensor, slot: Tensor, depth: int) -> None:
        """Called with the arcs u -> v out of the frontier; `slot` is their index in `graph.col`."""

    def post(self, lane: Tensor, vertex: Tensor, depth: int) -> None:
        """Called with the pairs just reached, all at this depth; there are none at the end."""

    def finalize(self) -> Tensor | None:
        """Returns the result of the batch, or None if the visitor keeps it."""

    def bytes_per_source(self, graph: Graph) -> int:
        """Bytes that the visitor keeps per lane, for `memory`; results do not count.

        24 bytes per vertex and 24 bytes per arc are available without being declared.
        """
        return 0


@computes()
def multi_search(
    edge_index: GraphLike,
    sources: Tensor | None = None,
    visitor: Visitor | None = None,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor | None:
    """Runs breadth-first searches from many sources and calls the hooks of a visitor.

    Args:
        edge_index: int64 [2, E] or a Graph, without weights: searches count hops (for weights use
            :func:`shortest_path_lengths`). Self-loops are dropped, duplicate arcs are merged.
        sources: int64 [k], distinct vertices; None for all.
        visitor: an instance of a subclass of :class:`Visitor`.
        num_nodes: n; by default the largest id + 1.
        directed: False adds missing reverse arcs.
        run: how it is computed, see :class:`Run`.

    Returns:
        The results of `finalize`, combined as specified by the visitor's `merge`; None if they are
        None. Without sources (a graph without vertices) one empty batch is run.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation. Also raised if a hook returns an invalid value.
        MemoryError: ``Run(memory=)`` is too small for a single source; the message states both
            amounts.

    O(k (n + m)) time and about 128 n + 96 m bytes per lane. Results are bitwise identical for the
    same input, device and `memory` if the visitor's own operators are deterministic. Ctrl-C takes
    effect between two operators.

    Example:
        >>> import torch, torchcent
        >>> class HopCount(torchcent.Visitor):  # vertices within k hops of each source
        ...     def __init__(self, k):
        ...         self.k = k
        ...     def prior(self, lane, vertex, depth):
        ...         return depth < self.k
        ...     def finalize(self):
        ...         return (self.depth >= 0).sum(1)
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.multi_search(path, visitor=HopCount(2), directed=False)
        tensor([3, 4, 4, 3])

    Source:
        McLaughlin and Bader 2015. docs/multi_search.md has more examples and the hooks in C++.
    """
    graph = as_graph(edge_index, None, num_nodes, None, directed, run)
    check_weights.no_weight(graph, "multi_search")
    if sources is None:
        ids = torch.arange(graph.num_nodes, device=graph.device)
    else:
        ids = check.vertices(sources, "sources", graph)
    visitor = check_visitor.visitor(visitor, Visitor)
    lanes = _lanes(graph, visitor, ids.numel(), run.memory)
    result: Tensor | None = None
    with progress_bar(ids.numel(), type(visitor).__name__, run.progress, quick=False) as bar:
        for begin in range(0, max(ids.numel(), 1), lanes):
            batch = ids[begin : begin + lanes]
            part = check_visitor.visitor_result(
                _searched(graph, batch, visitor), visitor, batch.numel()
            )
            if part is not None and visitor.merge == "cat":
                if result is None:
                    result = part.new_empty((ids.numel(), *part.shape[1:]))
                result[begin : begin + lanes] = part
            elif part is not None:
                result = part.clone() if result is None else result.add_(part)
            bar.update(batch.numel())
    return result


def include_path() -> str:
    """The directory of ``multi_search.h`` (C++) and ``multi_search.cuh`` (CUDA), for `-I`.

    Example:
        >>> import os, torchcent
        >>> os.path.exists(os.path.join(torchcent.include_path(), "multi_search.h"))
        True
    """
    package = Path(__file__).parent
    installed = package / "include"
    return str(
        installed if installed.is_dir() else package.parent / "csrc" / "include" / "torchcent"
    )  # in a checkout


def _searched(graph: Graph, sources: Tensor, visitor: Visitor) -> Tensor | None:
    """Searches one batch and returns the visitor's result."""
    search = Search(graph.rowptr, graph.col, sources)
    visits = type(visitor).visit is not Visitor.visit
    visitor.depth = search.depth
    visitor.init(graph, sources)
    while search.vertex.numel():
        lane, vertex, depth = search.lane, search.vertex, search.level
        wanted = check_visitor.prior_result(visitor.prior(lane, vertex, depth), lane)
        if wanted is False:
            break
        tail, slot = search.step(None if wanted is True else wanted)[:2]
        if visits:  # temporaries, freed after the call
            visitor.visit(lane[tail], vertex[tail], graph.col[slot].long(), slot, depth)
        visitor.post(search.lane, search.vertex, search.level)
    return visitor.finalize()


def _lanes(graph: Graph, visitor: Visitor, sources: int, memory: int | None) -> int:
    """The number of sources per batch."""
    own = _BYTES_PER_SLOT * graph.num_slots + check_visitor.visitor_bytes(
        visitor.bytes_per_source(graph)
    )
    lanes = _tensor.lanes_of_run("multi_search, one source at a time,", graph, memory, own)
    return max(1, min(sources, lanes))
