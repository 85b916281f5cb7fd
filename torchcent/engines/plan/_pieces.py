"""When a graph of many components is searched as a batch of graphs, one for each.

A search of the whole graph has rows of all its vertices, whatever it reaches; so many searches of
small components would take time quadratic in the number of vertices.
"""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _room
from torchcent.graph import Graph, _batch
from torchcent.graph._pieces import Pieces, pieces, searched_share
from torchcent.runtime import _ops

# Components are searched as graphs of their own if they have at most this share of all pairs of
# vertices: then that takes less time, however well searches of the whole graph go together.
MOST_PAIRS = 1 / 4
LEAST = 1024  # vertices of components that are searched together, other than by the tiny engine
FEWEST_SEARCHES = 64  # below which rows of the whole graph take no more time than its components
_BYTES_PER_NODE = 64  # to find the components, and to sort by them


def of(graph: Graph, request: Request, searches: int | None = None) -> Pieces | None:
    """The components to search as graphs of a batch, or None to search the graph as it is.

    Where the tiny engine cannot take small ones, they are put together. `searches`: the number of
    sources; None for all vertices.
    """
    if graph.ptr is not None or request.engine != "auto":
        return None
    if (graph.num_nodes if searches is None else searches) < FEWEST_SEARCHES:
        return None
    tiny = request.cutoffs is None and KERNELS[request.measure].tiny
    least = 1 if tiny and _ops.has_kernel("tiny", graph.device) else LEAST
    if graph.num_nodes < 4 * least or not fits(graph, request):
        return None
    return None if searched_share(graph) > MOST_PAIRS else pieces(graph, least)


def put_together(graph: Graph, request: Request) -> Graph:
    """A batch whose measure the tiny engine does not have, its small graphs put together.

    Not if weights have a unit in some of them, but not in all together: it decides about ties. In
    fixed point the graphs that are put together have that of the coarsest of them.
    """
    tiny = request.cutoffs is None and KERNELS[request.measure].tiny
    if graph.ptr is None or tiny or request.engine != "auto":
        return graph  # the bits of an engine that was asked for are those of each graph alone
    if graph.num_nodes >= LEAST * graph.num_graphs:
        return graph
    same = graph.scale.exact or bool(
        (torch.frexp(graph._scaled_per_graph[1]).mantissa == 0.5).all()
    )
    return _batch.merged(graph, LEAST) if same else graph


def fits(graph: Graph, request: Request) -> bool:
    """Whether there is room for a copy of the graph."""
    if request.memory is None:
        return True
    copies = 2 * graph._nbytes + _BYTES_PER_NODE * graph.num_nodes
    return copies <= _room.limit(graph, request.memory) // 2


def in_batch(split: Pieces, chosen: Tensor | None) -> Tensor | None:
    """The chosen vertices in the batch, or the weights of all vertices."""
    if chosen is None:
        return None
    if chosen.is_floating_point():
        return chosen.index_select(0, split.order)
    return split.rank.index_select(0, chosen)


def of_batch(graph: Graph, split: Pieces, request: Request) -> Request:
    """The request for the batch, with the memory that the graph leaves."""
    memory = request.memory
    return request._replace(
        sources=in_batch(split, request.sources), targets=in_batch(split, request.targets),
        memory=None if memory is None else max(memory - graph._nbytes, 0),
    )  # fmt: skip
