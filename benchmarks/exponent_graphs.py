"""The kinds of graph of exponents.py: the shapes on which costs grow faster than expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

import torchcent

WEIGHTS = ("hops", "floats", "whole")


def path(n: int) -> Tensor:
    first = torch.arange(n - 1)
    return torch.stack([first, first + 1])


def star(n: int) -> Tensor:
    leaf = torch.arange(1, n)
    return torch.stack([torch.zeros_like(leaf), leaf])


def components(count: int) -> Tensor:
    first = torch.arange(count) * 3
    return torch.cat([torch.stack([first, first + 1]), torch.stack([first + 1, first + 2])], 1)


def complete(n: int) -> Tensor:
    return torch.triu_indices(n, n, 1)


def parallel(arcs: int) -> Tensor:
    return torch.stack([torch.zeros(arcs, dtype=torch.int64), torch.ones(arcs, dtype=torch.int64)])


def tree(n: int) -> Tensor:
    """A caterpillar: a path of half of the vertices, each with a leaf."""
    spine = n // 2
    first = torch.arange(spine)
    return torch.cat([path(spine), torch.stack([first, first + spine])], 1)


def grid(n: int) -> Tensor:
    side = max(math.isqrt(n), 2)
    at = torch.arange(side * side).view(side, side)
    across = torch.stack([at[:, :-1].flatten(), at[:, 1:].flatten()])
    return torch.cat([across, torch.stack([at[:-1].flatten(), at[1:].flatten()])], 1)


#: kind -> (edges of a graph of about so many vertices and edges, the largest such number)
KINDS: dict[str, tuple[Callable[[int], Tensor], int]] = {
    "path": (lambda size: path(size // 2), 1_000_000),
    "star": (lambda size: star(size // 2), 1_000_000),
    "components": (lambda size: components(max(size // 5, 1)), 500_000),
    "batch": (lambda size: components(max(size // 5, 1)), 500_000),
    "complete": (lambda size: complete(max(math.isqrt(2 * size), 3)), 1_000_000),
    "parallel": (parallel, 1_000_000),
    "tree": (lambda size: tree(size // 2), 1_000_000),
    "grid": (lambda size: grid(size // 3), 1_000_000),
}
#: those of exponents.py whose size is an argument of the function
OWN = "own"


@dataclass
class Case:
    """A graph of about `size` vertices and edges, and the forms that functions take."""

    kind: str
    size: int
    weights: str = "hops"
    cache: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def edges(self) -> Tensor:
        return KINDS[self.kind][0](self.size)

    @cached_property
    def num_nodes(self) -> int:
        return int(self.edges.max()) + 1 if self.edges.numel() else 1

    @property
    def input_size(self) -> int:
        return self.size if self.kind == OWN else self.num_nodes + self.edges.shape[1]

    @cached_property
    def weight(self) -> Tensor | None:
        """Lengths of the edges, the same for both directions."""
        chance = torch.Generator().manual_seed(1)
        if self.weights == "hops":
            return None
        count = self.edges.shape[1]
        if self.weights == "floats":
            return torch.rand(count, generator=chance, dtype=torch.float64) + 0.1
        return torch.randint(1, 20, (count,), generator=chance).double()

    @cached_property
    def ptr(self) -> Tensor | None:
        return torch.arange(0, self.num_nodes + 1, 3) if self.kind == "batch" else None

    def graph(self, directed: bool = False) -> torchcent.Graph:
        """A new graph, without anything that earlier calls have kept with it."""
        return torchcent.Graph.from_edge_index(
            self.edges, self.num_nodes, directed, self.weight, ptr=self.ptr
        )
