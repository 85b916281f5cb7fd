"""Graphs drawn by a model: R-MAT, preferential attachment, small worlds, planted clusters."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from torchcent.check._common import MAX_NODES
from torchcent.check._values import number as number_of
from torchcent.check._values import shortened
from torchcent.generate._edges import (
    check_room,
    distinct,
    generator,
    pairs,
    share,
    symmetric,
    whole,
)

_CHUNK = 1 << 20
_ROUNDS = 32  # rounds of redrawing; only small dense rings need more


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 0,
) -> Tensor:
    """R-MAT (Kronecker) graph with the parameters of Graph500: skewed degrees, small diameter.

    Each of ``edge_factor * 2**scale`` arcs is placed in the adjacency matrix by choosing a quadrant
    ``scale`` times, with probabilities a, b, c and 1-a-b-c. Vertices are then renumbered at random.
    Loops and duplicates are dropped, so there are somewhat fewer edges. num_nodes: ``2**scale``
    (many vertices are isolated).

    Reference: Chakrabarti, Zhan, Faloutsos: R-MAT, a recursive model for graph mining, 2004.

    Example:
        >>> rmat(10, 8).max().item() < 1024
        True
    """
    scale = whole("scale", scale, 0, 30)
    count = whole("edge_factor", edge_factor, 0) << scale
    a, b, c = number_of(a, "a"), number_of(b, "b"), number_of(c, "c")
    check_room(1 << scale, count, f"scale={scale}, edge_factor={edge_factor}")
    if not (min(a, b, c) >= 0 and a + b + c <= 1):
        raise ValueError(f"a={a}, b={b}, c={c}; accepted: none negative, sum at most 1")
    rng = generator(seed)
    n = 1 << scale
    place = rng.permutation(n)
    chunks = []
    for start in range(0, count, _CHUNK):  # a chunk fits in the cache
        size = min(_CHUNK, count - start)
        u, v = np.zeros(size, np.int32), np.zeros(size, np.int32)
        for _ in range(scale):
            x = rng.random(size, dtype=np.float32)
            down = x >= a + b
            right = (x >= a) ^ down | (x >= a + b + c)
            u += u
            u += down
            v += v
            v += right
        chunks.append(pairs(place[u], place[v], n))
    return symmetric(distinct(np.concatenate(chunks or [place[:0]])), n)


def ba(n: int, m: int, *, seed: int = 0) -> Tensor:
    """Barabasi-Albert graph: each new vertex joins m others, with probability ~ degree.

    The construction starts from a star of m + 1 vertices, as in NetworkX. The graph is connected
    and has ``m * (n - m)`` edges. num_nodes: n.

    Reference: Barabasi, Albert: Emergence of scaling in random networks, 1999.

    Example:
        >>> ba(100, 3).shape
        torch.Size([2, 582])
    """
    n, m = whole("n", n, 2), whole("m", m, 1)
    if m >= n:
        raise ValueError(f"m={m}; accepted: 1 to n - 1 = {n - 1}")
    check_room(n, m * (n - m), f"n={n}, m={m}")
    rng = generator(seed)
    # one entry per edge end, so that a uniform draw is proportional to the degree
    ends = np.empty(2 * m * (n - m), np.int64)
    ends[0 : 2 * m : 2] = m
    ends[1 : 2 * m : 2] = np.arange(m)
    for v in range(m + 1, n):
        filled = 2 * m * (v - m)
        chosen: dict[int, None] = {}
        while len(chosen) < m:  # a vertex drawn twice counts once; draw again for the rest
            draw = rng.integers(0, filled, m - len(chosen))
            chosen.update(dict.fromkeys(ends[draw].tolist()))
        ends[filled : filled + 2 * m : 2] = v
        ends[filled + 1 : filled + 2 * m : 2] = list(chosen)
    return symmetric(pairs(ends[::2], ends[1::2], n), n)


def er(n: int, p: float | None = None, *, m: int | None = None, seed: int = 0) -> Tensor:
    """Erdos-Renyi graph: each pair is an edge with probability p, or exactly m edges are drawn.

    num_nodes: n.

    Example:
        >>> er(100, m=250).shape
        torch.Size([2, 500])
    """
    n = whole("n", n, 0)
    possible = n * (n - 1) // 2
    rng = generator(seed)
    if (p is None) == (m is None):
        raise ValueError(f"p={shortened(p)}, m={shortened(m)}; accepted: exactly one of the two")
    if m is None:
        check_room(n, share("p", p) * possible, f"n={n}, p={p}")
        m = int(rng.binomial(possible, share("p", p)))
    else:
        m = whole("m", m, 0, 2**63)
        if m > possible:
            raise ValueError(f"m={m}; accepted: 0 to n(n-1)/2 = {possible}")
    check_room(n, m, f"n={n}, m={m}")
    low, high = _pair_of(_sample(rng, possible, m))
    return symmetric(pairs(low, high, n), n)


def _sample(rng: np.random.Generator, population: int, count: int) -> np.ndarray:
    """``count`` distinct numbers below ``population``, sorted."""
    if 2 * count > population:  # draw the few to leave out
        keep = np.ones(population, bool)
        keep[_sample(rng, population, population - count)] = False
        return np.flatnonzero(keep)
    sample = np.empty(0, np.int64)
    while len(sample) < count:
        more = rng.integers(0, population, count - len(sample))
        sample = distinct(np.concatenate([sample, more]))
    return sample


def _pair_of(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Converts pair numbers to pairs: 01, 02, 12, 03, 13, 23, ... have high(high-1)/2 + low."""
    high = ((1 + np.sqrt(1 + 8 * index.astype(np.float64))) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > index  # the square root may be off by one in either direction
    high += (high + 1) * high // 2 <= index
    return index - high * (high - 1) // 2, high


def ws(n: int, k: int, p: float, *, seed: int = 0) -> Tensor:
    """Watts-Strogatz graph: a ring of vertices joined to their k nearest, edges rewired with p.

    A rewired edge keeps one end (unless that end is already joined to all others). The other end is
    uniform among the vertices that give no loop and no duplicate. There are ``n * k / 2`` edges; k
    is rounded down to an even number. num_nodes: n.

    Reference: Watts, Strogatz: Collective dynamics of small-world networks, 1998.

    Example:
        >>> ws(100, 4, 0.1).shape
        torch.Size([2, 400])
    """
    n, k = whole("n", n, 1), whole("k", k, 0)
    if k >= n:
        raise ValueError(f"k={k}; accepted: 0 to n - 1 = {n - 1}")
    p = share("p", p)
    check_room(n, n * k / 2, f"n={n}, k={k}")
    rng = generator(seed)
    half = k // 2
    u = np.repeat(np.arange(n), half)
    v = (u + np.tile(np.arange(1, half + 1), n)) % n
    # if every vertex is joined to all others, no edge can be rewired
    again = np.flatnonzero(rng.random(len(u)) < p) if 2 * half < n - 1 else np.empty(0, np.int64)
    for _ in range(_ROUNDS):
        v[again] = rng.integers(0, n, len(again))
        keys = np.minimum(u, v) * n + np.maximum(u, v)
        # of equal edges the unrewired one stays, or else the first; the others are drawn again
        rank = np.zeros(len(u), np.int64)
        rank[again] = 1
        order = np.lexsort((rank, keys))
        repeated = np.zeros(len(u), bool)
        repeated[order[1:]] = keys[order[1:]] == keys[order[:-1]]
        again = again[(repeated | (u == v))[again]]
        if not len(again):
            break
    _place(rng, u, v, again, n)
    return symmetric(pairs(u, v, n), n)


def _place(
    rng: np.random.Generator, u: np.ndarray, v: np.ndarray, edges: np.ndarray, n: int
) -> None:
    """Gives the last edges of a dense ring new ends, one by one, among the free vertices."""
    waiting = set(edges.tolist())
    taken: list[set[int]] = [set() for _ in range(n if waiting else 0)]

    def take(e: int) -> None:
        taken[u[e]].add(int(v[e]))
        taken[v[e]].add(int(u[e]))

    for e in range(len(u) if waiting else 0):
        if e not in waiting:
            take(e)
    for e in edges.tolist():
        while len(taken[u[e]]) >= n - 1:  # already joined to all others: pick another end
            u[e] = rng.integers(0, n)
        v[e] = rng.choice([x for x in range(n) if x != u[e] and x not in taken[u[e]]])
        take(e)


def planted(
    n: int,
    degree: float = 20,
    mixing: float = 0.3,
    *,
    smallest: int = 3,
    largest: int = 400,
    seed: int = 0,
) -> Tensor:
    """A graph with planted clusters, as in protein interaction networks.

    Cluster sizes follow a power law (Pareto, exponent 2.5) from ``smallest`` to ``largest``.
    Expected degrees follow another power law (exponent 3.5) with mean ``degree``. A share
    ``mixing`` of the edges of a vertex leads to any vertex, the rest into its own cluster. Vertices
    are numbered at random. Loops and duplicates are dropped; small clusters have many of them,
    which lowers the mean degree. num_nodes: n.

    Example:
        >>> planted(1000, 12).max().item() < 1000
        True
    """
    n, smallest = whole("n", n, 0), whole("smallest", smallest, 1)
    largest, mixing = whole("largest", largest, 1), share("mixing", mixing)
    if largest < smallest:
        raise ValueError(f"largest={largest}; accepted: smallest={smallest} or more")
    if not 0 <= number_of(degree, "degree") <= MAX_NODES:
        raise ValueError(f"degree={shortened(degree)}; accepted: 0 to {MAX_NODES}")
    check_room(n, n * degree / 2, f"n={n}, degree={degree}")
    rng = generator(seed)
    size = np.minimum(smallest * (1 + rng.pareto(1.5, n)), largest).astype(np.int64)
    size = size[: np.searchsorted(np.cumsum(size), n) + 1]
    cluster = np.repeat(np.arange(len(size)), size)[:n]
    size = np.bincount(cluster, minlength=1)
    first = np.cumsum(size) - size
    expected = 1 + rng.pareto(2.5, n)
    expected *= degree / 2 * n / max(expected.sum(), 1)
    u = np.repeat(np.arange(n), rng.poisson(expected))
    own = cluster[u]
    near = first[own] + (rng.random(len(u)) * size[own]).astype(np.int64)
    far = (rng.random(len(u)) * n).astype(np.int64)
    v = np.where(rng.random(len(u)) < mixing, far, near)
    place = rng.permutation(n)
    return symmetric(pairs(place[u], place[v], n), n)
