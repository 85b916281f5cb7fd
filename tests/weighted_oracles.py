"""Slow, obviously right answers for graphs with weights; no code shared with torchcent.

A graph is a number of vertices and a dict {(u, v): weight} of arcs, weights of any number type:
with Fractions nothing is rounded, with floats a distance is the smallest of the sums from the
source on, as NetworkX has it. Path counts are integers and scores fractions.
"""

from collections.abc import Iterable
from fractions import Fraction
from numbers import Real

Weights = dict[tuple[int, int], Real]


def distances(n: int, weights: Weights, source: int) -> list[Real | None]:
    """By relaxing all arcs until nothing changes; None where there is no path."""
    distance: list[Real | None] = [None] * n
    distance[source] = 0
    changed = True
    while changed:
        changed = False
        for (u, v), weight in weights.items():
            if distance[u] is None:
                continue
            length = distance[u] + weight
            if distance[v] is None or length < distance[v]:
                distance[v], changed = length, True
    return distance


def tight_arcs(
    weights: Weights, distance: list[Real | None], tolerance: float = 0
) -> list[tuple[int, int]]:
    """Arcs on shortest paths, those of near vertices first."""
    tight = []
    for (u, v), weight in weights.items():
        if u == v or distance[u] is None:
            continue
        length = distance[u] + weight
        if tolerance == 0:
            fits = length == distance[v]
        else:
            fits = distance[u] < distance[v] and length <= distance[v] * (1 + tolerance)
        if fits:
            tight.append((u, v))
    return sorted(tight, key=lambda arc: distance[arc[0]])


def path_counts(n: int, tight: list[tuple[int, int]], start: int) -> list[int]:
    """Number of ways from `start` to every vertex over arcs that are sorted by distance."""
    counts = [0] * n
    counts[start] = 1
    for u, v in tight:
        counts[v] += counts[u]
    return counts


def sums(
    measure: str,
    n: int,
    weights: Weights,
    slots: Iterable[tuple[int, int]],
    sources: Iterable[int],
    source_weight: list[int],
    own_weight: list[int],
    target_weight: list[int],
    through_weight: list[int],
    tolerance: float = 0,
) -> list[Fraction]:
    """What engines add for these sources (oracles.weighted_sums, with weights)."""
    slots = list(slots)
    total = [Fraction(0)] * (len(slots) if measure == "edge_betweenness" else n)
    for s in sources:
        tight = tight_arcs(weights, distances(n, weights, s), tolerance)
        inside = set(tight)
        onward = [path_counts(n, tight, v) for v in range(n)]
        sigma = onward[s]
        for t in range(n):
            if t == s or sigma[t] == 0:
                continue
            whole = 1 if measure == "stress" else sigma[t]
            if measure == "edge_betweenness":
                for i, (u, v) in enumerate(slots):
                    if (u, v) in inside:
                        share = Fraction(sigma[u] * onward[v][t], whole)
                        total[i] += source_weight[s] * target_weight[t] * share
                continue
            total[t] += source_weight[s] * through_weight[t] * Fraction(sigma[t], whole)
            for v in range(n):
                if v != t and sigma[v] and onward[v][t]:
                    share = Fraction(sigma[v] * onward[v][t], whole)
                    a = own_weight[s] if v == s else source_weight[s]
                    total[v] += a * target_weight[t] * share
    return total
