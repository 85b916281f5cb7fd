"""Graphs that the tests share: named families, Hypothesis strategies, options of measures."""

import os
import random
from typing import Any

import networkx as nx
import torch
from hypothesis import strategies as st
from oracles import Arcs
from torch import Tensor

# Where the graphs of the measures' tests live: benchmarks/gpu.py runs the suites with "cuda".
DEVICE = torch.empty(0, device=os.environ.get("TORCHCENT_TEST_DEVICE", "cpu")).device


def edge_index(arcs: Arcs) -> Tensor:
    """int64 [2, len(arcs)]."""
    return torch.tensor(arcs, dtype=torch.int64).reshape(-1, 2).T.contiguous().to(DEVICE)


def path(n: int) -> Arcs:
    return [(v, v + 1) for v in range(n - 1)]


def cycle(n: int) -> Arcs:
    return [(v, (v + 1) % n) for v in range(n)]


def complete(n: int) -> Arcs:
    return [(u, v) for u in range(n) for v in range(u)]


def star(leaves: int) -> Arcs:
    return [(0, leaf) for leaf in range(1, leaves + 1)]


def wheel(rim: int) -> Arcs:
    return star(rim) + [(1 + v, 1 + (v + 1) % rim) for v in range(rim)]


def grid(rows: int, columns: int) -> Arcs:
    right = [
        (r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)
    ]
    down = [
        (r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)
    ]
    return right + down


def random_tree(n: int, seed: int) -> Arcs:
    rng = random.Random(seed)
    return [(rng.randrange(v), v) for v in range(1, n)]


def caterpillar(spine: int, legs: int) -> Arcs:
    return path(spine) + [(v, spine + v * legs + leg) for v in range(spine) for leg in range(legs)]


def lollipop(clique: int, tail: int) -> Arcs:
    return complete(clique) + [(clique - 1 + v, clique + v) for v in range(tail)]


def diamonds(count: int) -> Arcs:
    """A chain: hub 3i, then two ways (3i + 1 and 3i + 2) to hub 3i + 3; 2^count paths."""
    return [
        arc
        for i in range(count)
        for way in (3 * i + 1, 3 * i + 2)
        for arc in ((3 * i, way), (way, 3 * i + 3))
    ]


def tower(layers: int, width: int) -> Arcs:
    """Each vertex of a layer (layer * width + ...) is joined to all of the next layer."""
    return [
        (layer * width + a, (layer + 1) * width + b)
        for layer in range(layers - 1)
        for a in range(width)
        for b in range(width)
    ]


def random_graph(n: int, arcs: int, seed: int) -> Arcs:
    """Loops and repetitions included."""
    rng = random.Random(seed)
    return [(rng.randrange(n), rng.randrange(n)) for _ in range(arcs)]


def union(*parts: tuple[int, Arcs]) -> tuple[int, Arcs]:
    """Disjoint union of (number of vertices, arcs)."""
    total, arcs = 0, []
    for n, part in parts:
        arcs += [(total + u, total + v) for u, v in part]
        total += n
    return total, arcs


# Graphs whose degree-1 vertices make up much, most or all of them.
LEAFY: dict[str, tuple[int, Arcs]] = {
    "edge": (2, path(2)),
    "path": (7, path(7)),
    "star": (8, star(7)),
    "tree": (13, random_tree(13, seed=1)),
    "caterpillar": (12, caterpillar(4, 2)),
    "lollipop": (9, lollipop(4, 5)),
    "forest": union((5, path(5)), (2, path(2)), (1, []), (6, random_tree(6, seed=2)), (4, star(3))),
    "cycle with trees": (11, cycle(4) + [(0, 4), (4, 5), (4, 6), (1, 7), (1, 8), (8, 9), (9, 10)]),
    "two stars joined": (9, [(0, 1), (0, 2), (0, 3), (4, 5), (4, 6), (4, 7), (0, 8), (8, 4)]),
    "tree beside a cycle": union((6, random_tree(6, seed=3)), (4, cycle(4) + [(0, 2)])),
}

ASSORTED: dict[str, tuple[int, Arcs]] = {
    "sparse": (60, random_graph(60, 80, seed=1)),
    "dense": (40, random_graph(40, 500, seed=2)),
    "more than one batch": (150, random_graph(150, 400, seed=3)),
    "tree": (70, random_tree(70, seed=4)),
    "grid": (63, grid(7, 9)),
    "disconnected": union((20, random_graph(20, 40, seed=5)), (3, []), (30, cycle(30))),
}


def networkx_function(name: str) -> Any:
    """NetworkX's function of the name by which it asks a backend."""
    public = {"newman_betweenness_centrality": "load_centrality"}.get(name, name)
    return getattr(nx, public, None) or getattr(nx.community, public)


def networkx_graph(n: int, arcs: Arcs, directed: bool) -> nx.Graph:
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(arcs)
    return graph


class Drawn(random.Random):
    """A generator that makes NetworkX draw these pivots."""

    def __new__(cls, pivots: list[int]) -> "Drawn":
        return super().__new__(cls)

    def __init__(self, pivots: list[int]) -> None:
        super().__init__(0)
        self.pivots = pivots

    def sample(self, population, k, *, counts=None):  # type: ignore[no-untyped-def]
        assert k == len(self.pivots)
        return self.pivots


@st.composite
def arc_lists(draw: st.DrawFn, max_nodes: int = 9) -> tuple[int, Arcs]:
    """(n, arcs) from none up to dense, with loops, repetitions and isolated vertices."""
    n = draw(st.integers(0, max_nodes))
    if n == 0:
        return 0, []
    vertex = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(vertex, vertex), max_size=3 * n))


@st.composite
def leafy_graphs(draw: st.DrawFn, max_core: int = 5, max_leaves: int = 8) -> tuple[int, Arcs]:
    """A small random core with trees grown on it, numbered at random."""
    n, arcs = draw(arc_lists(max_core))
    n = max(n, 1)
    for _ in range(draw(st.integers(0, max_leaves))):
        arcs = [*arcs, (draw(st.integers(0, n - 1)), n)]
        n += 1
    label = draw(st.permutations(range(n)))
    return n, [(label[u], label[v]) for u, v in arcs]


@st.composite
def subsets(draw: st.DrawFn, n: int) -> list[int]:
    """Different vertices, at least one, in any order."""
    return draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))


@st.composite
def questions(draw: st.DrawFn) -> tuple[int, Arcs, dict[str, Any]]:
    """A graph and options for a measure that counts paths: all of them, or between subsets."""
    n, arcs = draw(st.one_of(arc_lists(), leafy_graphs()))
    options: dict[str, Any] = {"directed": draw(st.booleans()), "normalized": draw(st.booleans())}
    if n and draw(st.booleans()):
        options["sources"] = draw(subsets(n))
        if draw(st.booleans()):
            options["targets"] = draw(subsets(n))
    return n, arcs, options


def some_or_all(n: int, chance: random.Random) -> list[int] | None:
    """Vertices as `sources` and `targets` take them; None: all of them."""
    return None if chance.random() < 0.4 else chance.sample(range(n), chance.randint(1, n))


def between(n: int) -> list[dict[str, list[int]]]:
    """Sources and targets of a graph of at least two vertices: none, few and all of them."""
    return [
        {},
        {"sources": [0]},
        {"sources": [n - 1, 0]},
        {"sources": [n - 1], "targets": [0]},
        {"sources": [0, 1], "targets": sorted({1, n - 1})},
        {"sources": list(range(n)), "targets": [n - 1]},
    ]
