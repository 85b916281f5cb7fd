"""Sets of small graphs, as graph learning has them: drawn, the same every time."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

Part = tuple[int, list[tuple[int, int]]]  # vertices, and every edge once


def molecule(draw: random.Random) -> Part:
    """15 to 30 vertices: a chain with short branches and one to three rings of 5 or 6."""
    n = draw.randint(15, 30)
    edges = {(draw.randrange(max(0, v - 3), v), v) for v in range(1, n)}
    for _ in range(draw.randint(1, 3)):
        u = draw.randrange(n - 6)
        edges.add((u, u + draw.choice([4, 5])))
    return n, sorted(edges)


def ego_network(draw: random.Random) -> Part:
    """20 to 130 vertices, most near 20, as IMDB-BINARY has them: casts, which all know each other,
    that share one actor."""
    n = min(130, 20 + int(draw.expovariate(1 / 12)))
    edges = set()
    for _ in range(draw.randint(2, 4)):
        cast = [0, *draw.sample(range(1, n), draw.randint(n // 4, n // 2))]
        edges |= {(min(u, v), max(u, v)) for u in cast for v in cast if u != v}
    return n, sorted(edges)


def mesh(draw: random.Random) -> Part:
    """100 to 400 vertices: a grid."""
    rows, columns = draw.randint(10, 20), draw.randint(10, 20)
    n = rows * columns
    across = [(v, v + 1) for v in range(n) if (v + 1) % columns]
    return n, across + [(v, v + columns) for v in range(n - columns)]


SETS: dict[str, tuple[Callable[[random.Random], Part], int]] = {
    "molecules": (molecule, 10_000),
    "ego networks": (ego_network, 1_000),
    "meshes": (mesh, 200),
}


def parts(name: str) -> list[Part]:
    make, count = SETS[name]
    draw = random.Random(1)
    return [make(draw) for _ in range(count)]


def union(graphs: list[Part]) -> tuple[torch.Tensor, torch.Tensor]:
    """edge_index, both directions of every edge, sorted as PyG's data sets are, and ptr."""
    arcs, first = [], [0]
    for n, edges in graphs:
        arcs += [(first[-1] + u, first[-1] + v) for u, v in edges]
        arcs += [(first[-1] + v, first[-1] + u) for u, v in edges]
        first.append(first[-1] + n)
    return torch.tensor(sorted(arcs)).T.contiguous(), torch.tensor(first)
