"""Random and regular graphs for tests, benchmarks and demonstrations.

Every function returns an ``edge_index``, int64 ``[2, E]``, of an undirected simple graph: both
directions of every edge, no self-loops, no duplicates, sorted by source, then target. The same
arguments and seed give the same graph. Isolated vertices do not appear in an edge_index: pass
``num_nodes`` (given below for each generator) to the function that takes the graph. Only
:func:`rewired` returns a Graph, and :func:`road` an EdgeList if it has lengths.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, overload

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _labels as check_labels
from torchcent.check._common import MAX_NODES
from torchcent.check._values import flag, shortened
from torchcent.check._values import number as number_of
from torchcent.graph import Graph, _rewiring
from torchcent.graph._arguments import GraphLike, as_graph
from torchcent.io import EdgeList
from torchcent.runtime import _memory

__all__ = [
    "ba", "configuration_model", "delaunay", "er", "grid", "planted", "rewired", "rmat", "road",
    "ws",
]  # fmt: skip

_CHUNK = 1 << 20
# Upper bounds on memory, in bytes, for all generators; totals below _UNWEIGHED are not checked.
_PER_NODE, _PER_EDGE, _UNWEIGHED = 64, 112, 1 << 24
_ROUNDS = 32  # rounds of redrawing; only small dense rings need more


def _whole(name: str, value: object, least: int, most: int = MAX_NODES) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    number = int(value)
    if number < least or number > most:
        accepted = f"{least} or more" if number < least else f"{least} to {most}"
        raise ValueError(f"{name}={shortened(value)}; accepted: {accepted}")
    return number


def _share(name: str, value: object) -> float:
    share = number_of(value, name, " from 0 to 1")
    if not 0 <= share <= 1:
        raise ValueError(f"{name}={shortened(value)}; accepted: 0 to 1")
    return share


def _random(seed: object) -> np.random.Generator:
    return np.random.default_rng(_whole("seed", seed, 0, 2**64 - 1))


def _fits(nodes: int, edges: float, given: str) -> None:
    """Raises if more than half of the free memory is needed; `given` names the arguments."""
    if nodes > MAX_NODES:
        raise ValueError(f"{given}: {nodes} vertices; graphs are limited to 2^31 - 1")
    needed = int(_PER_NODE * nodes + _PER_EDGE * edges)
    if needed > _UNWEIGHED:
        _memory.allow(f"a random graph of {given}", needed, None, torch.device("cpu"))


def _pairs(u: np.ndarray, v: np.ndarray, n: int) -> np.ndarray:
    """Unordered pairs as sorted distinct keys ``low * n + high``, without loops."""
    keys = np.minimum(u, v) * n + np.maximum(u, v)
    return _distinct(keys[u != v])


def _symmetric(keys: np.ndarray, n: int) -> Tensor:
    """Converts keys of :func:`_pairs` to an edge_index with both directions."""
    low, high = np.divmod(keys, max(n, 1))
    both = np.concatenate([keys, high * n + low])
    both.sort()
    return torch.from_numpy(np.stack(np.divmod(both, max(n, 1))))


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
    scale = _whole("scale", scale, 0, 30)
    count = _whole("edge_factor", edge_factor, 0) << scale
    a, b, c = number_of(a, "a"), number_of(b, "b"), number_of(c, "c")
    _fits(1 << scale, count, f"scale={scale}, edge_factor={edge_factor}")
    if not (min(a, b, c) >= 0 and a + b + c <= 1):
        raise ValueError(f"a={a}, b={b}, c={c}; accepted: none negative, sum at most 1")
    rng = _random(seed)
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
        chunks.append(_pairs(place[u], place[v], n))
    return _symmetric(_distinct(np.concatenate(chunks or [place[:0]])), n)


def _distinct(keys: np.ndarray) -> np.ndarray:
    """The keys in order, each once; the array is overwritten. np.unique takes 50 times as long."""
    keys.sort()
    distinct: np.ndarray = keys[np.diff(keys, prepend=-1) != 0]
    return distinct


def ba(n: int, m: int, *, seed: int = 0) -> Tensor:
    """Barabasi-Albert graph: each new vertex joins m others, with probability ~ degree.

    The construction starts from a star of m + 1 vertices, as in NetworkX. The graph is connected
    and has ``m * (n - m)`` edges. num_nodes: n.

    Reference: Barabasi, Albert: Emergence of scaling in random networks, 1999.

    Example:
        >>> ba(100, 3).shape
        torch.Size([2, 582])
    """
    n, m = _whole("n", n, 2), _whole("m", m, 1)
    if m >= n:
        raise ValueError(f"m={m}; accepted: 1 to n - 1 = {n - 1}")
    _fits(n, m * (n - m), f"n={n}, m={m}")
    rng = _random(seed)
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
    return _symmetric(_pairs(ends[::2], ends[1::2], n), n)


def er(n: int, p: float | None = None, *, m: int | None = None, seed: int = 0) -> Tensor:
    """Erdos-Renyi graph: each pair is an edge with probability p, or exactly m edges are drawn.

    num_nodes: n.

    Example:
        >>> er(100, m=250).shape
        torch.Size([2, 500])
    """
    n = _whole("n", n, 0)
    pairs = n * (n - 1) // 2
    rng = _random(seed)
    if (p is None) == (m is None):
        raise ValueError(f"p={shortened(p)}, m={shortened(m)}; accepted: exactly one of the two")
    if m is None:
        _fits(n, _share("p", p) * pairs, f"n={n}, p={p}")
        m = int(rng.binomial(pairs, _share("p", p)))
    else:
        m = _whole("m", m, 0, 2**63)
        if m > pairs:
            raise ValueError(f"m={m}; accepted: 0 to n(n-1)/2 = {pairs}")
    _fits(n, m, f"n={n}, m={m}")
    low, high = _pair_of(_sample(rng, pairs, m))
    return _symmetric(_pairs(low, high, n), n)


def _sample(rng: np.random.Generator, population: int, count: int) -> np.ndarray:
    """``count`` distinct numbers below ``population``, sorted."""
    if 2 * count > population:  # draw the few to leave out
        keep = np.ones(population, bool)
        keep[_sample(rng, population, population - count)] = False
        return np.flatnonzero(keep)
    sample = np.empty(0, np.int64)
    while len(sample) < count:
        more = rng.integers(0, population, count - len(sample))
        sample = _distinct(np.concatenate([sample, more]))
    return sample


def _pair_of(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Converts pair numbers to pairs: 01, 02, 12, 03, 13, 23, ... have high(high-1)/2 + low."""
    high = ((1 + np.sqrt(1 + 8 * index.astype(np.float64))) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > index  # the square root may be off by one in either direction
    high += (high + 1) * high // 2 <= index
    return index - high * (high - 1) // 2, high


def grid(rows: int, cols: int) -> Tensor:
    """A rows x cols grid: vertex ``r * cols + c`` is joined to its 4 neighbours.

    num_nodes: ``rows * cols``.

    Example:
        >>> grid(2, 2).tolist()
        [[0, 0, 1, 1, 2, 2, 3, 3], [1, 2, 0, 3, 0, 3, 1, 2]]
    """
    rows, cols = _whole("rows", rows, 0), _whole("cols", cols, 0)
    u, v = _grid_pairs(rows, cols)
    return _symmetric(_pairs(u, v, rows * cols), rows * cols)


def _grid_pairs(rows: int, cols: int) -> tuple[np.ndarray, np.ndarray]:
    _fits(rows * cols, 2 * rows * cols, f"rows={rows}, cols={cols}")
    vertex = np.arange(rows * cols).reshape(rows, cols)
    u = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    v = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    return u, v


def delaunay(n: int, *, seed: int = 0) -> Tensor:
    """Delaunay triangulation of n random points of the unit square (a planar mesh), n >= 3.

    The model behind the DIMACS10 graphs delaunay_n*. num_nodes: n.

    Example:
        >>> delaunay(100).max().item()
        99
    """
    from scipy.spatial import Delaunay

    n = _whole("n", n, 3)
    _fits(n, 9 * n, f"n={n}")
    points = _random(seed).random((n, 2))
    triangle = Delaunay(points).simplices.astype(np.int64)
    ends = np.concatenate([triangle[:, [0, 1]], triangle[:, [1, 2]], triangle[:, [2, 0]]])
    return _symmetric(_pairs(ends[:, 0], ends[:, 1], n), n)


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
    n, k = _whole("n", n, 1), _whole("k", k, 0)
    if k >= n:
        raise ValueError(f"k={k}; accepted: 0 to n - 1 = {n - 1}")
    p = _share("p", p)
    _fits(n, n * k / 2, f"n={n}, k={k}")
    rng = _random(seed)
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
    return _symmetric(_pairs(u, v, n), n)


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


@overload
def road(
    rows: int, cols: int, removed: float = 0.3, *, lengths: Literal[False] = False, seed: int = 0
) -> Tensor: ...


@overload
def road(
    rows: int, cols: int, removed: float = 0.3, *, lengths: Literal[True], seed: int = 0
) -> EdgeList: ...


def road(
    rows: int, cols: int, removed: float = 0.3, *, lengths: bool = False, seed: int = 0
) -> Tensor | EdgeList:
    """A road-like graph: the largest component of a grid with a random share of edges removed.

    It has long paths, dead ends and degrees of 1 to 4, like a street network. Vertices are
    renumbered row by row, so num_nodes is ``edge_index.max() + 1``.

    With lengths=True it is an EdgeList with a row per street. Crossings lie up to 30 m from the
    points of a grid of 100 m, which ``positions`` has in metres. Streets are up to a fifth longer
    than the straight line. The arcs are the same.

    Example:
        >>> road(20, 20).shape[0]
        2
        >>> streets = road(20, 20, lengths=True)
        >>> streets.graph(edge_weight=True).is_weighted, streets.positions.shape[1]
        (True, 2)
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    rows, cols = _whole("rows", rows, 1), _whole("cols", cols, 1)
    with_lengths = flag(lengths, "lengths")
    u, v = _grid_pairs(rows, cols)
    rng = _random(seed)
    keep = rng.random(len(u)) >= _share("removed", removed)
    u, v = u[keep], v[keep]
    matrix = coo_matrix((np.ones(len(u), np.int8), (u, v)), shape=(rows * cols,) * 2)
    component = connected_components(matrix, directed=False)[1]
    inside = component == np.bincount(component).argmax()
    number = np.cumsum(inside) - 1
    edge = inside[u]
    n = int(inside.sum())
    keys = _pairs(number[u[edge]], number[v[edge]], n)
    if not with_lengths:
        return _symmetric(keys, n)
    place = np.stack(np.divmod(np.flatnonzero(inside), cols)[::-1], axis=1) * 100.0
    place += rng.uniform(-30, 30, place.shape)
    ends = np.stack(np.divmod(keys, max(n, 1)))
    straight = np.linalg.norm(place[ends[0]] - place[ends[1]], axis=1)
    length = torch.from_numpy(straight * rng.uniform(1, 1.2, keys.size))
    return EdgeList(torch.from_numpy(ends), length, None, n, positions=torch.from_numpy(place))


def configuration_model(degrees: Any, *, seed: int = 0) -> Tensor:
    """A random simple graph in which vertex v has degrees[v] neighbours.

    The ends of edges are joined at random. Loops and repeated edges exchange ends with others until
    there are none, and then all edges do so ten times, as in :func:`rewired`. num_nodes: that of
    degrees.

    Args:
        degrees: integers [n], such as ``torchcent.degree(graph)``, which a simple graph can have.
        seed: of the draws.

    Raises:
        ValueError: their sum is odd, or no simple graph has these degrees.

    Reference: Molloy, Reed: A critical point for random graphs with a given degree sequence, 1995.

    Example:
        >>> arcs = configuration_model([3, 2, 2, 2, 1])
        >>> arcs[0].bincount().tolist()
        [3, 2, 2, 2, 1]
    """
    degree = check_labels.whole_numbers(degrees, "degrees")
    n = degree.size
    if n and (degree.min() < 0 or not _rewiring.is_graphical(degree)):
        what = "their sum is odd" if degree.sum() % 2 else "no simple graph has them"
        raise ValueError(f"degrees={shortened(degree.tolist())}: {what}")
    _fits(n, float(degree.sum()) / 2, f"{n} degrees")
    rng = _random(seed)
    keys = _rewiring.of_degrees(degree, rng)
    return _symmetric(np.sort(_rewiring.rewired(keys, n, 1, 10, rng)[0]), n)


def rewired(
    edge_index: GraphLike,
    *,
    number: int | None = None,
    swaps: float = 10,
    num_nodes: int | None = None,
    directed: bool | None = None,
    seed: int = 0,
) -> Graph:
    """Random graphs with the degrees of a graph: what is due to degrees alone.

    Pairs of edges exchange ends, (a, b) and (c, d) become (a, d) and (c, b), wherever that gives
    neither a loop nor an edge that is there. All simple graphs of these degrees are equally likely
    in the long run. Without edges to exchange, as in a star, the graph stays as it is.

    In directed graphs, arcs exchange heads, in pairs and in threes. Every vertex keeps its
    out-degree and its in-degree. A graph whose arcs all have their reverse is undirected.

    Args:
        edge_index: the graph: int64 [2, E], a Graph, or a graph of another library. Loops and
            parallel edges are dropped; it has no weights and is no batch.
        number: how many graphs; they are one batch, so that a measure of all of them is one call.
            None: a single graph, with the names of the vertices.
        swaps: exchanges that are tried, per edge.
        num_nodes: n; by default the largest id + 1.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        seed: of the draws.

    Returns:
        A Graph; with `number` a batch of number * n vertices (docs/batches.md).

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(swaps * number * m log m) time, vectorised.

    References: Allendorf et al.: Parallel global edge switching for the uniform sampling of simple
    graphs with prescribed degrees, 2022. Directed: Rao, Jana, Bandyopadhyay: A Markov chain Monte
    Carlo method for generating random (0, 1)-matrices with given marginals, 1996.

    Example:
        >>> import torchcent
        >>> ring = grid(3, 3)
        >>> nulls = rewired(ring, number=100)
        >>> nulls.num_graphs, torchcent.transitivity(nulls).shape
        (100, torch.Size([100]))
    """
    graph = as_graph(edge_index, None, num_nodes, None, directed)
    copies = 1 if number is None else _whole("number", number, 0)
    if graph.is_weighted or graph.ptr is not None:
        what = "weights: pass graph.unweighted()" if graph.is_weighted else "several graphs"
        raise ValueError(f"rewired is for one graph of edges without weights, and this has {what}")
    tries, n = _positive("swaps", swaps), graph.num_nodes
    row, col = graph.to_edge_index().cpu().numpy()
    one_way = not graph._mutual
    keys = row * n + col if one_way else _pairs(row, col, max(n, 1))
    _fits(copies * n, copies * keys.size, f"number={copies}")
    every = _rewiring.rewired(keys, max(n, 1), copies, tries, _random(seed), one_way)
    u, v = np.divmod(every, max(n, 1))
    first = np.arange(copies)[:, None] * n
    ends = torch.from_numpy(np.stack([(u + first).ravel(), (v + first).ravel()]))
    ptr = None if number is None else torch.arange(copies + 1, device="cpu") * n
    new = Graph.from_edge_index(ends, copies * n, directed=one_way, ptr=ptr).to(graph.device)
    return new if number is not None or graph.labels is None else new.with_labels(graph.labels)


def _positive(name: str, value: object) -> float:
    size = number_of(value, name)
    if not 0 <= size <= 10**6:
        raise ValueError(f"{name}={shortened(value)}; accepted: 0 to 10^6")
    return size


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
    n, smallest = _whole("n", n, 0), _whole("smallest", smallest, 1)
    largest, mixing = _whole("largest", largest, 1), _share("mixing", mixing)
    if largest < smallest:
        raise ValueError(f"largest={largest}; accepted: smallest={smallest} or more")
    if not 0 <= number_of(degree, "degree") <= MAX_NODES:
        raise ValueError(f"degree={shortened(degree)}; accepted: 0 to {MAX_NODES}")
    _fits(n, n * degree / 2, f"n={n}, degree={degree}")
    rng = _random(seed)
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
    return _symmetric(_pairs(place[u], place[v], n), n)
