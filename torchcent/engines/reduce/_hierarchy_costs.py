"""The decision for or against a hierarchy: its constants, and the times that they predict.

`benchmarks/hierarchy_choice.py` measures those by hops again: both engines on narrow strips, grids,
triangulations, roads and directed ones (docs/hierarchy.md has the table).
"""

from __future__ import annotations

import math

import numpy as np

#: sources side by side
LANES = 1024
# Of so many sources, twice as many are taken side by side, to add up distances and to count paths:
# it is up to a quarter faster for distances and, on roads of millions, a sixth for path counts by
# weights, and there are still batches for all threads. By hops, path counts take a sixth longer.
_MANY = {False: (2**16, 2**18), True: (2**17,)}
#: sources from which contraction is repaid, by hops and by weights: it takes as long as so many
#: searches of the whole graph
LEAST = {False: 2048, True: 512}
#: the same for distances on CUDA, where searches take a small part of the time, and those by hops a
#: smaller one: the host contracts. By hops, roads of 490,000 vertices take as long both ways.
LEAST_ON_CUDA = {False: 2**19, True: 2**12}
#: sources from which a contraction is repaid for rows of distances by hops, on the CPU
LEAST_OF_ROWS = 2**12
#: strong components per vertex up to which sweeps are faster, by hops and by weights: a batch has
#: sources of one. Where a fifth of the streets of a road are one-way, there are 0.03, and as fast
#: as searches are sweeps with 0.15 to 0.25 by hops and 0.3 by weights.
MOST_COMPONENTS = {False: 1 / 8, True: 1 / 4}
#: slots per vertex, of arcs both ways, up to which it is tried for distances by hops. Bits are so
#: fast that a contraction in vain takes as long as they do, and grids leave too many arcs.
MOST_SLOTS_OF_BITS = 3.2
#: the same for path counts of graphs on CUDA, which the host contracts: beyond it, as in meshes of
#: bodies, it contracts in vain for longer than the device searches
MOST_SLOTS_FOR_HOST = 8.0
#: binary logarithm of the paths of an arc up to which path counts, which are products of a few, are
#: likely to stay within float64. Beyond it sources are searched one at a time.
MOST_PATHS = 450.0
#: arcs per edge up to which sweeps are faster than searches, before those are removed that exceed
#: distances: by hops and by weights, and by hops up to which `seconds_by_hops` may decide
MOST_FILL, MOST_FILL_BY_HOPS = {False: 4.0, True: 12.0}, 12.0
# That contraction takes 1 to 15 microseconds per vertex, and unpacking as long again. It is made
# where searches take this many times as long.
_DEEP_CONTRACTION, _SEARCHES = 8e-6, 20
# Path counts by hops: nanoseconds of a search per vertex and slot, of one at a time and of lanes
# that fill with neighbours. They are lower bounds: grids, and triangulations of few levels.
_SEARCH = {"queue": 3.3, "lanes": 2.0}
# And of a sweep per arc, or pair of directed arcs: if counts fit float32 (it is 0.05 to 0.42), and
# if they do not. Lanes agree the less, the more ties there are, hence the fewer arcs are longer
# than distances: 0.7 if these are a share of 0.15 or more, 0.7 to 1 if it is 0.1 (roads, hexagons),
# and 1 to 1.3 on grids, where it is 0.02 or less and hardly two lanes agree.
_SWEEP_IN_FLOAT32, _SWEEP, _FEW_TIES, _PER_SHARE, _SWEEP_OF_TIES = 0.45, 0.7, 0.15, 4.6, 1.3
# Binary logarithms of path counts up to which they fit float32, and float64. Beyond these sweeps
# take ten times as long.
_FLOAT32, _FLOAT64 = 99.0, 960.0
# Seconds of contraction per vertex. Microseconds of a thread per source, by the logarithm of the
# number of vertices; beyond the largest, its power of 0.7 (docs/hierarchy.md).
_CONTRACTION, _LARGEST = 5e-6, 1_976_000
_SIZES = [math.log(size) for size in (13_000, 49_000, 247_000, 988_000, _LARGEST)]
_EACH = [7.5, 8.7, 35.0, 95.0, 168.0]
# So many times as long by hops, where ties abound.
_BY_HOPS = 4.0
# Slots per second of searches from many sources of a road on CUDA, by hops and by weights: 0.22 and
# 3.0 ms for each source of 1.94 million vertices.
_SLOTS_ON_CUDA = {False: 2.3e10, True: 1.7e9}


def lanes(sources: int, paths: bool, by_hops: bool) -> int:
    """Sources side by side, to count paths or to add up distances."""
    doubled = 0 if paths and by_hops else sum(sources >= many for many in _MANY[paths])
    return LANES << doubled


def seconds_to_contract(num_nodes: int) -> float:
    """Predicted, for a road."""
    return _CONTRACTION * num_nodes


def seconds(num_nodes: int, sources: int, threads: int, by_hops: bool = False) -> float:
    """Predicted for sweeps from so many sources of a road of so many vertices."""
    each = float(np.interp(math.log(max(num_nodes, 1)), _SIZES, _EACH)) * 1e-6
    beyond: float = max(num_nodes / _LARGEST, 1.0) ** 0.7
    return sources * each * beyond * (_BY_HOPS if by_hops else 1.0) / max(threads, 1)


def seconds_of_searches_on_cuda(num_slots: int, sources: int, by_hops: bool) -> float:
    """Predicted for paths from so many sources of a road, one search for each."""
    return sources * num_slots / _SLOTS_ON_CUDA[not by_hops]


def seconds_of_searches(size: int, sources: int, engine: str) -> float:
    """Predicted for path counts by hops on one thread, from the number of vertices and slots."""
    return _SEARCH.get(engine, 0) * 1e-9 * size * sources


def fill_by_hops(num_nodes: int, searches: float) -> float:
    """Arcs per edge up to which to contract in order to find out whether it saves such searches."""
    repaid = searches >= _SEARCHES * _DEEP_CONTRACTION * num_nodes
    return MOST_FILL_BY_HOPS if repaid else MOST_FILL[False]


def seconds_by_hops(
    arcs: float, removed: float, paths: float, sources: int, in_float64: bool = False
) -> float:
    """Predicted for sweeps that count paths by hops on one thread.

    Args:
        arcs: of the hierarchy; two directed ones count as one.
        removed: the share of arcs that were longer than distances.
        paths: the binary logarithm of the most paths between two vertices.
        in_float64: whether they are not counted in float32.
    """
    if paths > _FLOAT64:
        return math.inf
    ties = min(_SWEEP + _PER_SHARE * max(_FEW_TIES - removed, 0), _SWEEP_OF_TIES)
    in_float32 = paths <= _FLOAT32 and not in_float64
    return (_SWEEP_IN_FLOAT32 if in_float32 else ties) * 1e-9 * arcs * sources


def seconds_to_unpack(num_nodes: int) -> float:
    """Predicted for a hierarchy of many arcs, once."""
    return _DEEP_CONTRACTION * num_nodes
