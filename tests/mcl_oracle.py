"""Markov clustering on dense matrices: slow, in float64, obviously right. No code is shared.

Column j of a flow says where the walker goes from vertex j. The pruning rules are mcl's; where its
manual leaves something open, its output was asked:

* what equals the smallest entry that stays, stays too, so that ties are never broken;
* recovery draws from the whole expanded column, but after selection only from what was not cut;
* chaos is (max - sum of squares) times the number of the entries that pruning left, before they
  are rescaled. mcl takes the squares of all entries of the expanded column, which makes a
  difference below threshold * entries that stay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass
class Rules:
    """Pruning; a number <= 0 switches its step off. Defaults: mcl's."""

    threshold: float = 0.99999 / 10000
    select: int = 1100
    recover: int = 1400
    mass: float = 0.9


NO_RULES = Rules(0, 0, 0, 0)


@dataclass
class Step:
    """What one iteration made of a flow."""

    flow: Matrix
    chaos: float
    multiplications: int
    kept: int
    poor: int
    recovered: int
    selected: int
    least_mass: float
    sum_of_masses: float


def start(similarity: Matrix, loops: float | str = "max") -> Matrix:
    """The first flow: loops set, columns rescaled to sum 1."""
    flow = np.array(similarity, dtype=np.float64)
    np.fill_diagonal(flow, 0)
    largest = flow.max(axis=0, initial=0)
    largest[largest == 0] = 1
    np.fill_diagonal(flow, largest if loops == "max" else 1.0 if loops == "one" else float(loops))
    return flow / flow.sum(axis=0)


def largest_entries(column: Matrix, count: int) -> NDArray[np.bool_]:
    """Which entries are among the `count` largest, or equal to the smallest of these?"""
    positive = column[column > 0]
    if len(positive) <= count:
        return column > 0
    return column >= np.sort(positive)[-count]


def pruned(column: Matrix, rules: Rules) -> tuple[NDArray[np.bool_], bool, bool]:
    """Which entries stay; was anything recovered, was anything selected?"""
    stays = column > 0
    if rules.threshold > 0:
        # float32, as the kernels have it
        stays &= column >= np.float32(rules.threshold)
    recovered = selected = False
    if stays.sum() < min(rules.recover, (column > 0).sum()) and column[stays].sum() < rules.mass:
        stays, recovered = largest_entries(column, rules.recover), True
    elif 0 < rules.select < stays.sum():
        left = np.where(stays, column, 0)
        stays = largest_entries(left, rules.select)
        selected = bool(stays.sum() < (left > 0).sum())
        if stays.sum() < rules.recover and column[stays].sum() < rules.mass:
            stays, recovered = largest_entries(left, rules.recover), True
    if not stays.any():
        stays = largest_entries(column, 1)
    return stays, recovered, selected


def step(
    flow: Matrix, inflation: float = 2, expansion: int = 2, rules: Rules | None = None
) -> Step:
    """One iteration: expansion, pruning, chaos, inflation."""
    rules = Rules() if rules is None else rules
    expanded = np.linalg.matrix_power(flow, expansion)
    sizes = (flow > 0).sum(axis=0)
    products = sum(
        int((sizes @ (np.linalg.matrix_power(flow, e) > 0)).sum()) for e in range(1, expansion)
    )
    result = Step(np.zeros_like(flow), 0, products, 0, 0, 0, 0, 1, 0)
    for j in range(len(flow)):
        column = expanded[:, j]
        stays, recovered, selected = pruned(column, rules)
        mass = column[stays].sum()
        result.kept += int(stays.sum())
        result.poor += bool(mass < rules.mass)
        result.recovered += recovered
        result.selected += selected
        result.least_mass = min(result.least_mass, mass)
        result.sum_of_masses += mass
        result.chaos = max(result.chaos, (column.max() - (column[stays] ** 2).sum()) * stays.sum())
        inflated = np.where(stays, column, 0) ** inflation
        result.flow[:, j] = inflated / inflated.sum()
    return result


def run(
    similarity: Matrix,
    inflation: float = 2,
    expansion: int = 2,
    rules: Rules | None = None,
    loops: float | str = "max",
    chaos: float = 1e-4,
    max_iter: int = 100,
) -> tuple[Matrix, list[float]]:
    """Iterations until the chaos is small: the last flow and the chaos of each iteration."""
    flow, history = start(similarity, loops), []
    while len(history) < max_iter and (not history or history[-1] >= chaos):
        done = step(flow, inflation, expansion, rules)
        flow = done.flow
        history.append(done.chaos)
    return flow, history
