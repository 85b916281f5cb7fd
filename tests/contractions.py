"""Contractions as arrays, with climbs and descents in exact numbers."""

import random
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from internals import control_record
from torch import Tensor

Pairs = list[tuple[int, int]]


class Hierarchy(NamedTuple):
    """The result of the operator, as arrays; of a directed graph, first is that of both ways."""

    vertex: np.ndarray
    first: np.ndarray
    to: np.ndarray
    length: np.ndarray
    paths: np.ndarray
    powers: np.ndarray
    slot: np.ndarray
    last: np.ndarray
    sequence: np.ndarray
    split: np.ndarray

    def counts(self) -> list[int]:
        """Of each arc, its multiplicity."""
        return [
            int(Fraction(paths) * Fraction(2) ** (512 * power))
            for paths, power in zip(self.paths.tolist(), self.powers.tolist(), strict=True)
        ]

    @property
    def down(self) -> np.ndarray:
        """Where the arcs down to each position begin."""
        return self.first[: len(self.vertex) + 1]

    @property
    def up(self) -> np.ndarray:
        """Where the arcs up from each position begin; of an undirected graph, the same."""
        return self.first[-len(self.vertex) - 1 :]

    def climbs(self, counts: list[int], p: int) -> dict[int, tuple[int, int]]:
        """Length and number of the shortest climbs from a position to others."""
        return self._ways(self.up, counts, p)

    def descents(self, counts: list[int], p: int) -> dict[int, tuple[int, int]]:
        """Length and number of the shortest descents to a position from others."""
        return self._ways(self.down, counts, p)

    def _ways(self, first: np.ndarray, counts: list[int], p: int) -> dict[int, tuple[int, int]]:
        found = {p: (0, 1)}
        for x in range(p, -1, -1):
            if x not in found:
                continue
            length, number = found[x]
            for k in range(first[x], first[x + 1]):
                way, more = length + int(self.length[k]), number * counts[k]
                known = found.get(int(self.to[k]), (way + 1, 0))
                if way <= known[0]:
                    found[int(self.to[k])] = (way, more + (known[1] if way == known[0] else 0))
        return found


class Arcs(NamedTuple):
    """A graph, of which the operator takes a CSR that has all arcs in both directions."""

    rowptr: Tensor
    col: Tensor
    weight: np.ndarray  # by slot, of the graph
    arc: Tensor | None = None  # of a directed graph: the slot of each arc of the CSR, or -1

    @property
    def matrix(self) -> sp.csr_matrix:
        n, row, col = self.rowptr.numel() - 1, self.rows, self.col.numpy()
        weight = self.weight
        if self.arc is not None:
            kept = self.arc.numpy() >= 0
            row, col, weight = row[kept], col[kept], weight[self.arc.numpy()[kept]]
        return sp.csr_matrix((weight.astype(float), (row, col)), shape=(n, n))

    @property
    def rows(self) -> np.ndarray:
        return np.repeat(np.arange(self.rowptr.numel() - 1), np.diff(self.rowptr.numpy()))


def csr(n: int, edges: Pairs, lengths: list[int]) -> tuple[Tensor, Tensor, np.ndarray]:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    both = np.concatenate([ends, ends[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    rowptr = np.concatenate([[0], np.bincount(both[:, 0], minlength=n).cumsum()]).astype(np.int64)
    weight = np.concatenate([lengths, lengths]).astype(np.int64)[order]
    return torch.tensor(rowptr), torch.tensor(both[order, 1], dtype=torch.int32), weight


def directed(n: int, edges: Pairs, longest: int, chance: random.Random) -> Arcs:
    """With one-way arcs, and other lengths back; slots are in a random order."""
    share = chance.choice([0, 0.2, 0.7, 1])  # of one-way ones
    arcs = {pair: chance.randint(1, longest) for pair in edges}
    for u, v in edges:
        if chance.random() >= share:
            arcs[v, u] = chance.choice([arcs[u, v], chance.randint(1, longest)])
        elif chance.random() < 0.5:
            arcs[v, u] = arcs.pop((u, v))
    slots = chance.sample(list(arcs), len(arcs))
    slot = {pair: number for number, pair in enumerate(slots)}
    rowptr, col, _ = csr(n, edges, [1] * len(edges))
    if not arcs:
        return Arcs(rowptr, col, np.zeros(0, dtype=np.int64))
    every = Arcs(rowptr, col, np.array([arcs[pair] for pair in slots], dtype=np.int64))
    pairs = zip(every.rows.tolist(), col.tolist(), strict=True)
    return every._replace(arc=torch.tensor([slot.get(pair, -1) for pair in pairs]).long())


def build(
    rowptr: Tensor,
    col: Tensor,
    weight: Tensor | None = None,
    most_fill: float = 0,
    threads: int = 1,
    order: Tensor | None = None,
    arc: Tensor | None = None,
) -> Hierarchy:
    found = torch.ops.torchcent.hierarchy(
        rowptr, col, weight, most_fill, control_record(), threads, order, arc
    )
    return Hierarchy(*(part.numpy() for part in found))
