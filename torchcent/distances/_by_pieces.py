"""Distances of a graph of many components: each component is a graph of a batch.

A search of the whole graph has rows of all its vertices, whatever it reaches; so many searches of
small components would take time quadratic in the number of vertices.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from torchcent.distances._run import Sums
from torchcent.engines import _room
from torchcent.engines._request import Request
from torchcent.graph import Graph
from torchcent.graph._pieces import Pieces, component_sizes, pieces, searched_share
from torchcent.runtime import _ops

# Components are searched as graphs of their own if they have at most this share of all pairs of
# vertices: then that takes less time, however well searches of the whole graph go together.
MOST_PAIRS = 1 / 4
FEWEST_SEARCHES = 64  # below which rows of the whole graph take no more time than its components
_BYTES_PER_NODE = 64  # to find the components, and to sort by them


def of(graph: Graph, request: Request, searches: int | None = None) -> Pieces | None:
    """The components to search as graphs of a batch, or None to search the graph as it is.

    `searches`: the number of sources; None for all vertices.
    """
    if not _worth(graph, request, searches) or not _ops.has_kernel("tiny", graph.device):
        return None
    return pieces(graph)


def _worth(graph: Graph, request: Request, searches: int | None) -> bool:
    if graph.ptr is not None or request.engine != "auto" or request.cutoffs is not None:
        return False
    if (graph.num_nodes if searches is None else searches) < FEWEST_SEARCHES:
        return False
    return fits(graph, request) and searched_share(graph) <= MOST_PAIRS


def fits(graph: Graph, request: Request) -> bool:
    """Whether there is room for a copy of the graph."""
    if request.memory is None:
        return True
    copies = 2 * graph.nbytes + _BYTES_PER_NODE * graph.num_nodes
    return copies <= _room.limit(graph, request.memory) // 2


def count_of(graph: Graph) -> int:
    """The number of components."""
    return component_sizes(graph).numel()


def given_order(split: Pieces, found: Sums, levels: bool) -> Sums:
    """Sums of the batch as those of the graph."""
    rank = split.rank
    pairs = found.levels
    if levels:
        assert split.graph.ptr is not None and split.graph.batch is not None
        place = torch.nonzero(pairs).flatten()
        first = split.graph.ptr.index_select(0, split.graph.batch.index_select(0, place))
        pairs = pairs.new_zeros(rank.numel() + 1).index_add_(0, place - first, found.levels[place])
    return replace(
        found, total=found.total.index_select(0, rank),
        eccentricity=found.eccentricity.index_select(0, rank), levels=pairs,
    )  # fmt: skip


def in_batch(split: Pieces, sources: Tensor | None) -> Tensor | None:
    """These vertices in the batch."""
    return None if sources is None else split.rank.index_select(0, sources)
