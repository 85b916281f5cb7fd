"""Random simple graphs with given degrees: exchanges of the ends of edges, many at a time.

An edge is a key low * n + high, an arc tail * n + head. A round pairs the edges of each graph at
random and lets each pair exchange two ends. A pair does so only if neither of its old and new edges
is an edge, or a new edge of another pair, at the same time. Going back is then as likely as going
forth, so that all graphs of these degrees become equally likely.

Arcs exchange heads, in pairs and in threes: exchanges of two never turn a cycle of three arcs
around (Rao, Jana and Bandyopadhyay 1996).
"""

from __future__ import annotations

import heapq

import numpy as np

_MOST_AT_ONCE = 2**22  # edges of several graphs that are rewired together
_ACTIVE = 0.9  # share of the pairs that try; with 1 some graphs could not be reached
_REPAIRS = 100  # rounds before edges are drawn in another way


def rewired(
    keys: np.ndarray, n: int, copies: int, swaps: float, rng: np.random.Generator,
    directed: bool = False,
) -> np.ndarray:  # fmt: skip
    """[copies, m]: the keys of each graph after `swaps` exchanges per edge."""
    count = keys.size
    if count < 2 or not copies:
        return np.repeat(keys[None], copies, 0)
    sizes = (2, 3) if directed else (2,)
    rounds = int(np.ceil(swaps / (_ACTIVE * np.mean(1 / np.array(sizes)))))
    most = max(1, min(_MOST_AT_ONCE // count, 2**62 // max(n, 1) ** 2))
    parts = []
    for start in range(0, copies, most):
        part = np.repeat(keys[None], min(most, copies - start), 0)
        for number in range(rounds):
            _exchange(part, n, rng, sizes[number % len(sizes)], directed)
        parts.append(part)
    return np.concatenate(parts)


def _exchange(
    keys: np.ndarray, n: int, rng: np.random.Generator, size: int, directed: bool
) -> None:
    """One round of groups of so many edges, in place."""
    copies, count = keys.shape
    order = rng.permuted(np.broadcast_to(np.arange(count), keys.shape), axis=1)
    groups = count // size
    place = order[:, : groups * size].reshape(copies, size, groups).transpose(1, 0, 2)
    active = rng.random((copies, groups)) < _ACTIVE
    copy, place = np.nonzero(active)[0], place[:, active]
    old = keys[copy, place]
    new, is_loop = _turned(old, n, rng) if directed else _swapped(old, n, rng)
    beyond = np.int64(n) * n  # keys of different copies differ
    every = np.sort(np.concatenate([
        (keys + np.arange(copies)[:, None] * beyond).ravel(), (new + copy * beyond).ravel()
    ]))  # fmt: skip
    repeated = np.unique(every[1:][every[1:] == every[:-1]])
    clash = _among(new + copy * beyond, repeated) | _among(old + copy * beyond, repeated)
    free = ~(clash.any(0) | is_loop)
    keys[copy[free], place[:, free]] = new[:, free]


def _turned(old: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The keys [size, k] after the arcs of each group have passed their heads on, this way or that
    way round, and in which groups there are loops."""
    tail, head = np.divmod(old, n)
    forth = rng.random(old.shape[1]) < 0.5
    head = np.where(forth, np.roll(head, 1, 0), np.roll(head, -1, 0))
    return tail * n + head, (tail == head).any(0)


def _swapped(old: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The keys [2, k] after each pair of edges has exchanged ends, and which of them are loops."""
    (a, b), (c, d) = np.divmod(old[0], n), np.divmod(old[1], n)
    turned = rng.random(c.size) < 0.5
    c, d = np.where(turned, d, c), np.where(turned, c, d)
    ends = ((a, d), (c, b))
    new = np.stack([np.minimum(u, v) * n + np.maximum(u, v) for u, v in ends])
    return new, (a == d) | (c == b)


def _among(keys: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Whether each key is among those of a sorted array."""
    if not known.size:
        return np.zeros(keys.shape, bool)
    place = np.minimum(np.searchsorted(known, keys), known.size - 1)
    hits: np.ndarray = known[place] == keys
    return hits


def is_graphical(degrees: np.ndarray) -> bool:
    """Whether a simple graph has these degrees (Erdos and Gallai 1960)."""
    degree = np.sort(degrees)[::-1]
    n = degree.size
    if degree.sum() % 2 or (n and (degree[0] >= n or degree[-1] < 0)):
        return False
    k = np.arange(1, n + 1)
    # Of the vertices behind the k-th, how many have at least k, and the sum of all others.
    at_least = np.searchsorted(-degree, -k, side="right")
    at_least = np.maximum(at_least, k)
    rest = np.concatenate([np.cumsum(degree[::-1])[::-1], [0]])
    bound = k * (k - 1) + (at_least - k) * k + rest[at_least]
    return bool((np.cumsum(degree) <= bound).all())


def of_degrees(degrees: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Keys of a simple graph with degrees that are graphical, not yet equally likely."""
    n = degrees.size
    ends = rng.permutation(np.repeat(np.arange(n), degrees))
    half = ends.size // 2
    keys = _key(ends[:half], ends[half:], n)
    for _ in range(_REPAIRS):
        wrong = _faulty(keys, n)
        if not wrong.size:
            return np.sort(keys)
        other = rng.permutation(half)[: wrong.size]
        _repair(keys, wrong[: other.size], other, n, rng)
    return _by_degree(degrees)


def _key(u: np.ndarray, v: np.ndarray, n: int) -> np.ndarray:
    keys: np.ndarray = np.minimum(u, v) * n + np.maximum(u, v)
    return keys


def _faulty(keys: np.ndarray, n: int) -> np.ndarray:
    """Where loops are, and all but the first of equal edges."""
    order = np.argsort(keys, kind="stable")
    wrong = np.zeros(keys.size, bool)
    wrong[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    low, high = np.divmod(keys, n)
    return np.flatnonzero(wrong | (low == high))


def _repair(
    keys: np.ndarray, wrong: np.ndarray, other: np.ndarray, n: int, rng: np.random.Generator
) -> None:
    """Exchanges ends of faulty edges and others where that gives new edges."""
    apart = ~np.isin(other, wrong)
    wrong, other = wrong[apart], other[apart]
    new, is_loop = _swapped(np.stack([keys[wrong], keys[other]]), n, rng)
    every = np.sort(np.concatenate([keys, new.ravel()]))
    clash = _among(new, np.unique(every[1:][every[1:] == every[:-1]])).any(0)
    free = ~(clash | is_loop)
    keys[wrong[free]], keys[other[free]] = new[:, free]


def _by_degree(degrees: np.ndarray) -> np.ndarray:
    """Joins the vertex of the highest degree to those of the next ones (Havel, Hakimi)."""
    heap = [(-degree, vertex) for vertex, degree in enumerate(degrees.tolist()) if degree]
    heapq.heapify(heap)
    keys = []
    n = degrees.size
    while heap:
        degree, vertex = heapq.heappop(heap)
        nearest = [heapq.heappop(heap) for _ in range(-degree)]
        for left, other in nearest:
            keys.append(min(vertex, other) * n + max(vertex, other))
            if left < -1:
                heapq.heappush(heap, (left + 1, other))
    return np.sort(np.array(keys, np.int64))
