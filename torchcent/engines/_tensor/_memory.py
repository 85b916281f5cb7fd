"""How many lanes a batch has, and how much memory they take.

Every lane keeps, for each vertex, its depth, its position within its level, and the level's own
entries (lane, vertex, sigma); for each arc of the shortest-path DAG tail, head and
slot. On top comes the expansion of one frontier, whose arcs may be all arcs of the graph: a star
searched from its hub and a complete bipartite graph are the worst cases, and the figures below
are what these take, rounded up.
"""

BYTES_PER_NODE = 128
BYTES_PER_SLOT = 80

# Larger batches gain little, and between two operators of a very large one Ctrl-C would wait long.
# As this does not depend on what is free, neither do the batches, nor the bits of their sums.
LARGEST_BATCH = 2**29


def memory_needed(num_nodes: int, num_slots: int, lanes: int, own: int = 0) -> int:
    """Bytes that a batch of `lanes` sources takes at most, besides the graph and the scores.

    `own` is what a visitor (multisearch.py) wants for each lane.
    """
    return lanes * (num_nodes * BYTES_PER_NODE + num_slots * BYTES_PER_SLOT + own)


def lanes_that_fit(num_nodes: int, num_slots: int, memory: int, own: int = 0) -> int:
    """How many lanes a batch gets from `memory` bytes; 0 if not even one fits."""
    each = max(1, memory_needed(num_nodes, num_slots, lanes=1, own=own))
    return max(0, min(memory // each, max(1, LARGEST_BATCH // each)))


def weighted_extra(num_nodes: int, num_slots: int) -> int:
    """What a lane takes on top on a weighted graph, as `own`: distances, and the tight arcs sorted
    by either end."""
    return 64 * num_nodes + 96 * num_slots
