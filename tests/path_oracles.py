"""Slow, obviously right answers on weighted graphs; no code shared with torchcent.

Shortest paths are listed one by one. Lengths are added up from the source on, in the numbers that
are given: Fractions are exact, floats round as float64 does everywhere.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from oracles import Arcs, Score, _scale, _scaled, send_back

Number = Fraction | float


class Search(NamedTuple):
    """From one source: distances (None: no path), and the arcs that shortest paths are made of."""

    distance: list[Number | None]
    tails: list[list[int]]  # of the arcs to each vertex


def lengths(n: int, arcs: Arcs, weights: Iterable[Number], directed: bool) -> dict:
    """(u, v) -> the smallest weight of an arc from u to v."""
    shortest: dict[tuple[int, int], Number] = {}
    for (u, v), weight in zip(arcs, weights, strict=True):
        for arc in ((u, v),) if directed else ((u, v), (v, u)):
            if u != v:
                shortest[arc] = min(weight, shortest.get(arc, weight))
    return shortest


def search(n: int, arcs: dict, source: int, tolerance: float = 0.0) -> Search:
    """Bellman and Ford; ties as docs/weights.md defines them."""
    distance: list[Number | None] = [None] * n
    distance[source] = 0 * next(iter(arcs.values()), 0)
    changed = True
    while changed:
        changed = False
        for (u, v), weight in arcs.items():
            if distance[u] is None:
                continue
            onward = distance[u] + weight
            if distance[v] is None or onward < distance[v]:
                distance[v], changed = onward, True
    tails: list[list[int]] = [[] for _ in range(n)]
    for (u, v), weight in arcs.items():
        if distance[u] is None:
            continue
        if tolerance:
            tight = distance[u] < distance[v] and (
                distance[u] + weight <= distance[v] * (1 + tolerance)
            )
        else:
            tight = distance[u] + weight == distance[v]
        if tight:
            tails[v].append(u)
    return Search(distance, tails)


def paths(found: Search, source: int, target: int) -> list[list[int]]:
    """All shortest paths, as lists of vertices."""
    if target == source:
        return [[source]]
    return [[*path, target] for u in found.tails[target] for path in paths(found, source, u)]


def _counted(
    measure: str, n: int, arcs: dict, sources: Iterable[int] | None,
    targets: Iterable[int] | None, endpoints: bool, tolerance: float,
) -> tuple[list[Fraction], dict]:  # fmt: skip
    vertex = [Fraction(0)] * n
    arc = dict.fromkeys(arcs, Fraction(0))
    for s in range(n) if sources is None else sources:
        found = search(n, arcs, s, tolerance)
        for t in range(n) if targets is None else targets:
            if s == t or found.distance[t] is None:
                continue
            if measure == "load_centrality":
                send_back(found.tails, t, s, Fraction(1), vertex)
                continue
            every = paths(found, s, t)
            share = Fraction(1, 1 if measure == "stress" else len(every))
            for path in every:
                for v in path if endpoints else path[1:-1]:
                    vertex[v] += share
                for pair in zip(path, path[1:], strict=False):
                    arc[pair] += share
    return vertex, arc


def scores(
    measure: str,
    n: int,
    arcs: Arcs,
    weights: Iterable[Number],
    *,
    directed: bool,
    normalized: bool,
    endpoints: bool = False,
    sources: Iterable[int] | None = None,
    targets: Iterable[int] | None = None,
    tie_tolerance: float = 0.0,
) -> list[Score]:
    """betweenness, stress or load per vertex, edge_betweenness per entry of `arcs`."""
    known = lengths(n, arcs, weights, directed)
    vertex, arc = _counted(measure, n, known, sources, targets, endpoints, tie_tolerance)
    if measure != "edge_betweenness":
        ordered = directed or measure == "load_centrality"
        return _scaled(vertex, n, ordered, normalized, endpoints, sources, targets)
    pivots = len(list(sources)) if sources is not None and targets is None else None
    factor = _scale(n, pivots, directed, normalized)
    raw = [
        Fraction(0) if u == v else arc[u, v] if directed else arc[u, v] + arc[v, u] for u, v in arcs
    ]
    return [score * factor for score in raw]


def distances(n: int, arcs: Arcs, weights: Iterable[Number], directed: bool) -> list[list]:
    """distances[u][v] from u to v, None where there is no path."""
    known = lengths(n, arcs, weights, directed)
    return [search(n, known, u).distance for u in range(n)]


def incoming(
    rows: list[list], v: int, sources: Iterable[int] | None = None
) -> tuple[list[Number], Fraction | float]:
    """As oracles.incoming: distances to v, and how many others each of them stands for."""
    n = len(rows)
    others = [s for s in (range(n) if sources is None else sources) if s != v]
    finite = [rows[s][v] for s in others if rows[s][v] is not None]
    if sources is None or not others:
        return finite, Fraction(1) if n < 2 or others else math.nan
    return finite, Fraction(n - 1, len(others))


def closeness(
    rows: list[list], wf_improved: bool = True, sources: Iterable[int] | None = None
) -> list[Number]:
    found: list[Number] = []
    for v in range(len(rows)):
        finite, weight = incoming(rows, v, sources)
        if isinstance(weight, float):
            found.append(weight)
            continue
        score = len(finite) / sum(finite) if finite else Fraction(0)
        if wf_improved and len(rows) > 1:
            score *= weight * Fraction(len(finite), len(rows) - 1)
        found.append(score)
    return found


def harmonic(
    rows: list[list], normalized: bool = False, sources: Iterable[int] | None = None
) -> list[Number]:
    found: list[Number] = []
    for v in range(len(rows)):
        finite, weight = incoming(rows, v, sources)
        score = weight * sum((1 / Fraction(d) for d in finite), Fraction(0))
        found.append(score / (len(rows) - 1) if normalized and len(rows) > 1 else score)
    return found


def eccentricity(rows: list[list], disconnected: str = "inf") -> list[Number]:
    return [
        math.inf if disconnected == "inf" and None in row else max(d for d in row if d is not None)
        for row in rows
    ]
