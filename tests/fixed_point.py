"""Graphs by float lengths, and the multiples of their unit that path counts compare."""

from fractions import Fraction

import torch
from graphs import DEVICE, edge_index
from internals import in_fixed_point

from torchcent import Graph

F64 = torch.float64


def made(n: int, arcs: list, weights: list, directed: bool = False) -> Graph:
    weight = torch.tensor(weights, dtype=F64, device=DEVICE)
    return Graph.from_edge_index(edge_index(arcs), n, directed, weight)


def rounded(n: int, arcs: list, weights: list, directed: bool) -> list[Fraction]:
    """The weights in fixed point, if they are taken so."""
    scale = in_fixed_point(made(n, arcs, weights, directed)).scale
    if not scale.rounds:
        return [Fraction(w) for w in weights]
    return [Fraction(round(Fraction(w) * Fraction(scale.per_one))) for w in weights]
