"""multi_search: many breadth-first searches with a visitor of one's own, in Python or C++."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _visitor as check_visitor
from torchcent.check import _weights as check_weights
from torchcent.engines import _tensor
from torchcent.engines._tensor._search import Search
from torchcent.graph import Graph
from torchcent.graph._arguments import as_graph
from torchcent.runtime import _memory
from torchcent.runtime._watch import progress_bar

_BYTES_PER_SLOT = 16  # of what `visit` is handed, besides what the tensor engine has as well


class Visitor:
    """What to do along the searches of :func:`multi_search`; override the hooks that you need.

    Sources are searched in batches, each source in a *lane* of its batch, all lanes a level at a
    time. Hooks get tensors on the graph's device: `lane`, `vertex`, `u`, `v` and `slot` are int64,
    ordered by lane, then vertex (arcs: by lane, u, v), and `depth` is the depth of `u` or `vertex`,
    an int. This is what happens to a batch::

        init(graph, sources)
        while there is a frontier:
            prior(lane, vertex, depth)       # the frontier, before it is searched from
            visit(lane, u, v, slot, depth)   # all arcs out of it
            post(lane, vertex, depth + 1)    # what was reached by them: the next frontier
        finalize()

    Attributes:
        depth: int32 [lanes, n], set before `init`: hops from each lane's source, -1 where it has
            not been reached. In `visit` the heads of the arcs have theirs already, so that
            ``self.depth[lane, v] > depth`` selects the arcs of shortest paths.
        merge: what becomes of the results of the batches. "cat": each has one row per lane, and
            they are put one after the other, in the order of the sources. "sum": they are added
            up, one after the other.

    Source:
        McLaughlin and Bader 2015, "Fast execution of simultaneous breadth-first searches on sparse
        graphs". There a hook sees one vertex or arc at a time, here a tensor of them.
    """

    depth: Tensor
    merge: str = "cat"

    def init(self, graph: Graph, sources: Tensor) -> None:
        """A batch begins; `sources` is int64 [lanes]. Sums over the batch start here."""

    def prior(self, lane: Tensor, vertex: Tensor, depth: int) -> bool | Tensor | None:
        """Return False to search no further, or a bool tensor [pairs] to go on from those only."""

    def visit(self, lane: Tensor, u: Tensor, v: Tensor, slot: Tensor, depth: int) -> None:
        """The arcs u -> v out of the frontier; `slot` is their place in ``graph.col``."""

    def post(self, lane: Tensor, vertex: Tensor, depth: int) -> None:
        """The pairs just reached, all at this depth; empty at the end."""

    def finalize(self) -> Tensor | None:
        """The batch's result, or None where the visitor keeps it to itself."""

    def bytes_per_source(self, graph: Graph) -> int:
        """Bytes that the visitor keeps per lane, for `memory`; results do not count.

        There is room for 24 bytes per vertex and 24 per arc without saying so.
        """
        return 0


@_memory.reported
def multi_search(
    edge_index: Tensor | Graph,
    sources: Tensor | None = None,
    visitor: Visitor | None = None,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
    memory: int | None = None,
    progress: bool | None = None,
) -> Tensor | None:
    """Breadth-first searches from many sources, with the hooks of a visitor called on the way.

    Args:
        edge_index: int64 [2, E] or a Graph, without weights: searches go by hops (for weights there
            is :func:`shortest_path_lengths`). Self-loops are dropped, copies of an arc merged.
        sources: int64 [k], different vertices; None for all.
        visitor: an instance of a class derived from :class:`Visitor`.
        num_nodes: n; by default the largest id + 1.
        directed: False adds missing reverse arcs.
        memory: bytes that may be used, which decides how many sources a batch has; None allows
            half of what is free. Results do not count.
        progress: None shows a bar on a terminal after two seconds; True and False force.

    Returns:
        What the visitor's `merge` makes of the results that `finalize` returned; None if those
        were None. Without sources (a graph without vertices) one empty batch is run.

    Raises:
        TypeError, ValueError: naming the argument, before anything runs; or what a hook returned.
        MemoryError: with both figures, if `memory` does not allow for one source.

    O(k (n + m)) time and about 128 n + 96 m bytes per lane. The same input, device and `memory`
    give the same bits if the visitor's own operators do. Ctrl-C is raised between two of them.

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
        McLaughlin and Bader 2015. docs/multi_search.md has more examples, and the hooks in C++.
    """
    graph = as_graph(edge_index, num_nodes, directed, memory=memory)
    check_weights.no_weight(graph, "multi_search")
    if sources is None:
        ids = torch.arange(graph.num_nodes, device=graph.device)
    else:
        ids = check.vertices(sources, "sources", graph)
    visitor = check_visitor.visitor(visitor, Visitor)
    if progress is not None:
        check.flag(progress, "progress")
    lanes = _lanes(graph, visitor, ids.numel(), check.byte_budget(memory))
    result: Tensor | None = None
    with progress_bar(ids.numel(), type(visitor).__name__, progress, quick=False) as bar:
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
    """Directory of ``multi_search.h`` (C++) and ``multi_search.cuh`` (CUDA), for `-I`.

    Example:
        >>> import os, torchcent
        >>> os.path.exists(os.path.join(torchcent.include_path(), "multi_search.h"))
        True
    """
    package = Path(__file__).parent
    installed = package / "include"
    return str(
        installed if installed.is_dir() else package.parent / "csrc" / "include" / "torchcent"
    )  # of a checkout


def _searched(graph: Graph, sources: Tensor, visitor: Visitor) -> Tensor | None:
    """One batch, and what the visitor has made of it."""
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
        if visits:  # what is no argument of it takes no memory meanwhile
            visitor.visit(lane[tail], vertex[tail], graph.col[slot].long(), slot, depth)
        visitor.post(search.lane, search.vertex, search.level)
    return visitor.finalize()


def _lanes(graph: Graph, visitor: Visitor, sources: int, memory: int | None) -> int:
    """How many sources a batch has."""
    limit = _memory.budget(memory, graph.device)
    n, m = graph.num_nodes, graph.num_slots
    own = _BYTES_PER_SLOT * m + check_visitor.visitor_bytes(visitor.bytes_per_source(graph))
    lanes = _tensor.lanes_that_fit(n, m, limit - graph.nbytes, own)
    if lanes < 1:
        needed = graph.nbytes + _tensor.memory_needed(n, m, 1, own)
        raise _memory.refuse("multi_search, one source at a time,", needed, limit, memory)
    return max(1, min(sources, lanes))
