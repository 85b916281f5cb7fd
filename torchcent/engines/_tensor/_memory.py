"""The number of lanes of a batch, and their memory.

For each vertex, a lane keeps its depth, its position within its level, and the level's own entries
(lane, vertex, sigma). For each arc of the shortest-path DAG it keeps tail, head and slot. The
expansion of one frontier is added, whose arcs may be all arcs of the graph. A star searched from
its hub and a complete bipartite graph are the worst cases; the figures below are their needs,
rounded up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchcent.runtime import _memory

if TYPE_CHECKING:
    from torchcent.graph import Graph

BYTES_PER_NODE = 128
BYTES_PER_SLOT = 80

# Larger batches gain little and delay Ctrl-C, which takes effect between two operators. The limit
# does not depend on the free memory, so neither do the batches, nor the bits of their sums.
LARGEST_BATCH = 2**29


def memory_needed(num_nodes: int, num_slots: int, lanes: int, own: int = 0) -> int:
    """Upper bound on the bytes of a batch of `lanes` sources, besides the graph and the scores.

    `own` is the additional memory of a visitor (multisearch.py) per lane.
    """
    return lanes * (num_nodes * BYTES_PER_NODE + num_slots * BYTES_PER_SLOT + own)


def lanes_that_fit(num_nodes: int, num_slots: int, memory: int, own: int = 0) -> int:
    """The number of lanes that fit in `memory` bytes; 0 if not even one fits."""
    each = max(1, memory_needed(num_nodes, num_slots, lanes=1, own=own))
    return max(0, min(memory // each, max(1, LARGEST_BATCH // each)))


def lanes_of_run(
    what: str, graph: Graph, memory: int | None, own: int = 0, reserve: int = 0
) -> int:
    """The number of lanes of a run, beside the graph and a reserve.

    Raises:
        MemoryError: not even one fits.
    """
    n, m, fixed = graph.num_nodes, graph.num_slots, graph._nbytes + reserve
    limit = _memory.budget(memory, graph.device)
    _memory.require(what, fixed + memory_needed(n, m, 1, own), limit, memory)
    return lanes_that_fit(n, m, limit - fixed, own)


def weighted_extra(num_nodes: int, num_slots: int) -> int:
    """Additional bytes per lane on a weighted graph, for `own`.

    They hold distances, and the tight arcs sorted by either end.
    """
    return 64 * num_nodes + 96 * num_slots
