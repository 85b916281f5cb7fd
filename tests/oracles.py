"""Slow, obviously right answers, straight from the definitions; no code shared with torchcent.

A graph is a number of vertices and a list of arcs, where loops and repetitions mean nothing.
Path counts are Python integers and scores fractions, so nothing here is rounded or overflows.

    sigma_st     number of shortest paths from s to t
    sigma_st(v)  those of them through v: sigma_sv * sigma_vt if d_sv + d_vt == d_st, else 0
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

Arcs = list[tuple[int, int]]
Score = Fraction | float  # a float only for nan


def both_ways(arcs: Arcs) -> Arcs:
    return arcs + [(v, u) for u, v in arcs]


def shortest_paths(n: int, arcs: Arcs) -> tuple[list[list[int | None]], list[list[int]]]:
    """(distance, sigma) of all pairs by breadth-first search; distance None where unreachable."""
    out: list[set[int]] = [set() for _ in range(n)]
    for u, v in arcs:
        if u != v:
            out[u].add(v)
    distances, sigmas = [], []
    for source in range(n):
        distance: list[int | None] = [None] * n
        sigma = [0] * n
        distance[source], sigma[source] = 0, 1
        level, depth = [source], 0
        while level:
            depth += 1
            following = []
            for u in level:
                for v in out[u]:
                    if distance[v] is None:
                        distance[v] = depth
                        following.append(v)
                    if distance[v] == depth:
                        sigma[v] += sigma[u]
            level = following
        distances.append(distance)
        sigmas.append(sigma)
    return distances, sigmas


def betweenness(
    n: int,
    arcs: Arcs,
    *,
    directed: bool,
    normalized: bool,
    endpoints: bool = False,
    sources: Iterable[int] | None = None,
    targets: Iterable[int] | None = None,
) -> list[Score]:
    """Sum over ordered pairs (s, t) of sigma_st(v) / sigma_st, scaled."""
    raw = _through(
        n, arcs, directed, endpoints, sources, targets, lambda via, all_: Fraction(via, all_)
    )
    return _scaled(raw, n, directed, normalized, endpoints, sources, targets)


def stress(
    n: int,
    arcs: Arcs,
    *,
    directed: bool,
    normalized: bool = False,
    sources: Iterable[int] | None = None,
    targets: Iterable[int] | None = None,
) -> list[Score]:
    """Sum over ordered pairs (s, t) of sigma_st(v), scaled."""
    raw = _through(n, arcs, directed, False, sources, targets, lambda via, _: Fraction(via))
    return _scaled(raw, n, directed, normalized, False, sources, targets)


def load_centrality(
    n: int,
    arcs: Arcs,
    *,
    directed: bool,
    normalized: bool,
    sources: Iterable[int] | None = None,
    targets: Iterable[int] | None = None,
) -> list[Score]:
    """Sum over ordered pairs (s, t) of the part of a packet that passes through v, scaled."""
    known = {(u, v) for u, v in (arcs if directed else both_ways(arcs)) if u != v}
    distance, _ = shortest_paths(n, arcs if directed else both_ways(arcs))
    raw = [Fraction(0)] * n
    for s in range(n) if sources is None else sources:
        tails: list[list[int]] = [[] for _ in range(n)]
        for u, v in known:
            if on_a_path(distance[s][u], 1, distance[s][v]):
                tails[v].append(u)
        for t in range(n) if targets is None else targets:
            send_back(tails, t, s, Fraction(1), raw)
    return _scaled(raw, n, True, normalized, False, sources, targets)


def send_back(
    tails: list[list[int]], vertex: int, source: int, packet: Fraction, load: list[Fraction]
) -> None:
    """Divides a packet equally among the tails of the arcs to a vertex, until it is at a source."""
    for tail in tails[vertex] if vertex != source else ():
        part = packet / len(tails[vertex])
        load[tail] += part if tail != source else 0
        send_back(tails, tail, source, part, load)


def edge_betweenness(
    n: int,
    arcs: Arcs,
    *,
    directed: bool,
    normalized: bool,
    sources: Iterable[int] | None = None,
    targets: Iterable[int] | None = None,
) -> list[Score]:
    """One score per entry of `arcs`: the sum over (s, t) of the share of paths that use the arc."""
    distance, sigma = shortest_paths(n, arcs if directed else both_ways(arcs))

    def share(u: int, v: int) -> Fraction:
        total = Fraction(0)
        for s in range(n) if sources is None else sources:
            for t in range(n) if targets is None else targets:
                ds, dt, d = distance[s][u], distance[v][t], distance[s][t]
                if s != t and None not in (ds, dt, d) and ds + 1 + dt == d:
                    total += Fraction(sigma[s][u] * sigma[v][t], sigma[s][t])
        return total

    raw = [
        Fraction(0) if u == v else share(u, v) if directed else share(u, v) + share(v, u)
        for u, v in arcs
    ]
    # All n vertices may be sources or targets, and no score is that of a pivot itself.
    pivots = len(list(sources)) if sources is not None and targets is None else None
    return [score * _scale(n, pivots, directed, normalized) for score in raw]


def distances(n: int, arcs: Arcs, directed: bool) -> list[list[int | None]]:
    """distances[u][v] from u to v, None where there is no path."""
    return shortest_paths(n, arcs if directed else both_ways(arcs))[0]


def incoming(
    n: int, arcs: Arcs, v: int, directed: bool, sources: Iterable[int] | None = None
) -> tuple[list[int], Fraction | float]:
    """Distances to v from the other vertices (or sources) that reach it, and how many of the n - 1
    others each stands for; nan if there is none to stand for them."""
    column = [row[v] for row in distances(n, arcs, directed)]
    others = [s for s in (range(n) if sources is None else sources) if s != v]
    finite = [d for d in (column[s] for s in others) if d is not None]
    if sources is None or not others:
        return finite, Fraction(1) if n < 2 or others else math.nan
    return finite, Fraction(n - 1, len(others))


def closeness(
    n: int,
    arcs: Arcs,
    *,
    directed: bool,
    wf_improved: bool = True,
    sources: Iterable[int] | None = None,
) -> list[Score]:
    """Vertices that reach v over their distances, times the share of the others that they are."""
    scores: list[Score] = []
    for v in range(n):
        finite, weight = incoming(n, arcs, v, directed, sources)
        if isinstance(weight, float):
            scores.append(weight)
            continue
        score = Fraction(len(finite), sum(finite)) if finite else Fraction(0)
        if wf_improved and n > 1:
            score *= weight * Fraction(len(finite), n - 1)
        scores.append(score)
    return scores


def harmonic(
    n: int,
    arcs: Arcs,
    *,
    directed: bool,
    normalized: bool = False,
    sources: Iterable[int] | None = None,
) -> list[Score]:
    """Sum of the reciprocal distances to v."""
    scores: list[Score] = []
    for v in range(n):
        finite, weight = incoming(n, arcs, v, directed, sources)
        score = weight * sum((Fraction(1, d) for d in finite), Fraction(0))
        scores.append(score / (n - 1) if normalized and n > 1 else score)
    return scores


def eccentricity(n: int, arcs: Arcs, *, directed: bool, disconnected: str = "inf") -> list[Score]:
    """Largest distance from v."""
    rows = distances(n, arcs, directed)
    return [
        math.inf
        if disconnected == "inf" and None in row
        else Fraction(max(d for d in row if d is not None))
        for row in rows
    ]


def weighted_sums(
    measure: str,
    n: int,
    arcs: Arcs,
    slots: Arcs,
    sources: Iterable[int],
    source_weight: list[int],
    own_weight: list[int],
    target_weight: list[int],
    through_weight: list[int],
) -> list[Fraction]:
    """What engines add for these sources, with weights by vertex: per vertex, or per slot.

    A path s .. t counts source_weight[s] * target_weight[t] for its arcs and inner vertices and
    own_weight[s] * target_weight[t] for s; source_weight[s] * through_weight[v] comes on top for
    every v that s reaches (stress: once per path).
    """
    distance, sigma = shortest_paths(n, arcs)
    sums = [Fraction(0)] * (len(slots) if measure == "edge_betweenness" else n)
    for s in sources:
        for t in range(n):
            if distance[s][t] is None:
                continue
            whole = 1 if measure == "stress" else sigma[s][t]
            if measure == "edge_betweenness":
                for i, (u, v) in enumerate(slots):
                    to_v = None if distance[s][u] is None else distance[s][u] + 1
                    if on_a_path(to_v, distance[v][t], distance[s][t]):
                        share = Fraction(sigma[s][u] * sigma[v][t], whole)
                        sums[i] += source_weight[s] * target_weight[t] * share
                continue
            if s == t:
                continue
            sums[t] += source_weight[s] * through_weight[t] * Fraction(sigma[s][t], whole)
            for v in range(n):
                if v != t and on_a_path(distance[s][v], distance[v][t], distance[s][t]):
                    share = Fraction(sigma[s][v] * sigma[v][t], whole)
                    sums[v] += (
                        (own_weight if v == s else source_weight)[s] * target_weight[t] * share
                    )
    return sums


def _through(
    n: int,
    arcs: Arcs,
    directed: bool,
    endpoints: bool,
    sources: Iterable[int] | None,
    targets: Iterable[int] | None,
    share: Callable[[int, int], Fraction],
) -> list[Fraction]:
    distance, sigma = shortest_paths(n, arcs if directed else both_ways(arcs))
    raw = [Fraction(0)] * n
    for s in range(n) if sources is None else sources:
        for t in range(n) if targets is None else targets:
            if s == t or distance[s][t] is None:
                continue
            for v in range(n):
                if v in (s, t):
                    raw[v] += share(sigma[s][t], sigma[s][t]) if endpoints else 0
                elif on_a_path(distance[s][v], distance[v][t], distance[s][t]):
                    raw[v] += share(sigma[s][v] * sigma[v][t], sigma[s][t])
    return raw


def on_a_path(to_v: int | None, from_v: int | None, whole: int | None) -> bool:
    return to_v is not None and from_v is not None and to_v + from_v == whole


def _scaled(
    raw: list[Fraction],
    n: int,
    directed: bool,
    normalized: bool,
    endpoints: bool,
    sources: Iterable[int] | None,
    targets: Iterable[int] | None,
) -> list[Score]:
    """NetworkX's conventions; k pivots stand for all sources, subsets only for themselves."""
    ends = n if endpoints else n - 1  # how many vertices may be the one end of a path through v
    if sources is None or targets is not None:
        return [score * _scale(ends, None, directed, normalized) for score in raw]
    pivots = set(sources)
    scores: list[Score] = []
    for v, score in enumerate(raw):
        # Without endpoints a pivot says nothing of itself, so k - 1 pivots speak of it.
        k = len(pivots) - (v in pivots and not endpoints)
        scores.append(
            math.nan if k == 0 and ends >= 2 else score * _scale(ends, k, directed, normalized)
        )
    return scores


def _scale(ends: int, pivots: int | None, directed: bool, normalized: bool) -> Fraction:
    if ends < 2:
        return Fraction(1)
    k = ends if pivots is None else pivots
    if normalized:
        return Fraction(1, k * (ends - 1))
    return Fraction(ends, k * (1 if directed else 2))
