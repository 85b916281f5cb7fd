"""Transforms similarities: mcl's language, such as ``gq(0.7),add(-0.7)``, and distances.

A specification is a list of functions between commas. They change the value of each arc, in order;
functions that begin with ``#`` change the graph. An arc that a function filters out, or whose value
ends as 0, does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import torch

from torchcent.io._edge_list import EdgeList, arcs
from torchcent.io._layout import is_number

_STEP = re.compile(r"\s*(#?[a-z0-9]+)\s*\(\s*([^()]*?)\s*\)\s*(?:,|$)")

#: mcl's largest value, which stands for the negative logarithm of 0
_LARGEST = float(np.finfo(np.float32).max)


class Step(NamedTuple):
    """A function and its argument, None if it has none."""

    name: str
    argument: float | None


def neg_log(value: np.ndarray, base: float = np.e) -> np.ndarray:
    """The negative logarithm; that of 0 is finite, as in mcl."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm: np.ndarray = np.where(value == 0, _LARGEST, -np.log(value)) / np.log(base)
    return logarithm


#: whether an arc stays
_FILTERS: dict[str, Callable[..., np.ndarray]] = {
    "lt": np.less, "lq": np.less_equal, "gt": np.greater, "gq": np.greater_equal,
}  # fmt: skip
_VALUES: dict[str, Callable[..., np.ndarray]] = {
    "ceil": np.minimum, "floor": np.maximum, "mul": np.multiply, "scale": np.divide, "add": np.add,
    "pow": np.power, "power": np.power, "exp": lambda x, base=np.e: base**x,
    "log": lambda x, base=np.e: -neg_log(x, base), "neglog": neg_log, "abs": np.abs,
    "acos": np.arccos,
}  # fmt: skip
#: functions of the sparse matrix whose row j holds the arcs that leave vertex j
_MATRIX: dict[str, Callable[..., Any]] = {
    "#max": lambda m: m.maximum(m.T),
    "#min": lambda m: m.minimum(m.T),
    "#add": lambda m: m + m.T,
    "#mul": lambda m: m.multiply(m.T),
    "#rev": lambda m: m.T,
    "#tp": lambda m: m.T,
    "#arcmax": lambda m: m - m.multiply(m < m.T),
    "#selfrm": lambda m: _with_loops(m, 0),
    "#selfmax": lambda m: _with_loops(m, _with_loops(m, 0).max(axis=1).toarray().ravel()),
    "#knn": lambda m, k: _nearest(m, k, mutual=True),
    "#knnj": lambda m, k: _nearest(m, k, mutual=False),
    "#ceilnb": lambda m, k: _with_fewer_neighbours(m, k),
}
_KNOWN = (*_FILTERS, *_VALUES, *_MATRIX)
_OF_BASE = ("exp", "log", "neglog")  # which is e if it is omitted
_NEIGHBOURS = ("#knn", "#knnj", "#ceilnb")
_WITHOUT_ARGUMENT = ("abs", "acos", *(name for name in _MATRIX if name not in _NEIGHBOURS))


def parse(text: str, option: str) -> list[Step]:
    """The steps of a specification, which is that of an `option`."""
    steps, at = [], 0
    while text[at:].strip():
        step = _STEP.match(text, at)
        if step is None:
            raise ValueError(
                f"{option} {text!r}: {text[at:].strip()!r} is no list of functions such as "
                "'gq(0.7),add(-0.7)'"
            )
        steps.append(_step(step[1], step[2], f"{option} {text!r}"))
        at = step.end()
    return steps


def _step(name: str, argument: str, where: str) -> Step:
    if name not in _KNOWN:
        raise ValueError(f"{where}: {name} is not supported; accepted: {', '.join(_KNOWN)}")
    if not argument and name in (*_OF_BASE, *_WITHOUT_ARGUMENT):
        return Step(name, None)
    if not is_number(argument) or not np.isfinite(float(argument)):
        raise ValueError(f"{where}: {name}({argument}) needs a finite number")
    number = float(argument)
    if name in _NEIGHBOURS and (number < 1 or number != int(number)):
        raise ValueError(f"{where}: {name}({argument}) needs an integer of 1 or more")
    if name in _OF_BASE and (number <= 0 or (number == 1 and name != "exp")):
        raise ValueError(f"{where}: {name}({argument}) needs a base > 0 other than 1")
    if name in _WITHOUT_ARGUMENT:
        raise ValueError(f"{where}: {name} takes no argument")
    return Step(name, number)


def transform_stream(edges: EdgeList, steps: list[Step], option: str) -> EdgeList:
    """Transforms the value of each line of a file, before arcs are mirrored or merged."""
    wrong = next((step.name for step in steps if step.name.startswith("#")), None)
    if wrong is not None:
        raise ValueError(f"{option}: {wrong} is a function of the graph; -tf takes it")
    weight = edges.edge_weight
    value = np.ones(edges.num_edges) if weight is None else weight.double().numpy()
    value, stays = _transformed(value, steps, option)
    return _without(edges, value, stays)


def transform_graph(edges: EdgeList, steps: list[Step], option: str) -> EdgeList:
    """Transforms the similarities of the graph whose arcs are merged; the result is directed."""
    import scipy.sparse

    row, col, weight = arcs(edges, largest=True)
    value = np.ones(len(row)) if weight is None else weight
    row, col, value = (x[value != 0] for x in (row, col, value))
    for of_graph, group in groupby(steps, lambda step: step.name.startswith("#")):
        if of_graph:
            matrix = scipy.sparse.csr_array((value, (row, col)), shape=(edges.num_nodes,) * 2)
            for step in group:
                matrix = _applied(_MATRIX, step, matrix.tocsr())
            entries = matrix.tocoo()
            row, col, value = entries.row, entries.col, entries.data
        else:
            value, stays = _transformed(value, list(group), option)
            row, col, value = row[stays], col[stays], value[stays]
    index = torch.from_numpy(np.stack([row, col]).astype(np.int64))
    edges = replace(edges, edge_index=index, edge_weight=None, directed=True, streets=None)
    return _without(edges, value, np.ones(len(value), bool))


def _without(edges: EdgeList, value: np.ndarray, stays: np.ndarray) -> EdgeList:
    """The edges that stay and have a value other than 0."""
    stays = stays & (value != 0)
    index, weight = edges.edge_index[:, torch.from_numpy(stays)], torch.from_numpy(value[stays])
    return replace(edges, edge_index=index, edge_weight=weight, streets=None)


def _transformed(
    value: np.ndarray, steps: list[Step], option: str
) -> tuple[np.ndarray, np.ndarray]:
    """The values, and whether each arc stays: what is filtered out does not come back."""
    stays = np.ones(len(value), bool)
    for step in steps:
        if step.name in _FILTERS:
            stays &= _applied(_FILTERS, step, value)
            continue
        with np.errstate(all="ignore"):
            value = _applied(_VALUES, step, value)
        wrong = int((stays & ~np.isfinite(value)).sum())
        if wrong:
            raise ValueError(f"{option}: {step.name} makes {wrong} values infinite or undefined")
    return value, stays


def _applied(functions: dict[str, Callable[..., Any]], step: Step, values: Any) -> Any:
    function = functions[step.name]
    return function(values) if step.argument is None else function(values, step.argument)


def _with_loops(matrix: Any, value: Any) -> Any:
    matrix = matrix.tolil()
    matrix.setdiag(value)
    return matrix.tocsr()


def _nearest(matrix: Any, k: float, mutual: bool) -> Any:
    """The k largest of each row: those of both directions, or if not `mutual` of either."""
    largest = _largest_of_rows(matrix, k)
    return matrix.multiply(largest.multiply(largest.T) if mutual else largest.maximum(largest.T))


def _largest_of_rows(matrix: Any, k: float) -> Any:
    """A matrix of ones: at most k of each row, without those equal to the next smaller one."""
    largest = matrix.copy()
    largest.data = np.ones_like(matrix.data)
    for row in np.flatnonzero(np.diff(matrix.indptr) > k):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        largest.data[part] = matrix.data[part] > _next_largest(matrix.data[part], k)
    return largest


def _with_fewer_neighbours(matrix: Any, k: float) -> Any:
    """Vertices of more than k neighbours lose the least similar; those with most come first."""
    matrix = matrix.tolil()
    degree = np.array([len(row) for row in matrix.rows])
    for vertex in np.argsort(-degree, kind="stable"):
        if degree[vertex] <= k:
            break
        value = np.array(matrix.data[vertex])
        if len(value) <= k:
            continue
        for other in np.array(matrix.rows[vertex])[value <= _next_largest(value, k)].tolist():
            matrix[vertex, other] = matrix[other, vertex] = 0
    return matrix.tocsr()


def _next_largest(value: np.ndarray, k: float) -> Any:
    """The largest value but k."""
    place = len(value) - 1 - int(k)
    return np.partition(value, place)[place]


SIMILARITIES = ("inverse", "log")


def to_distances(edges: EdgeList, formula: str) -> EdgeList:
    """The same edges with similarities s converted to distances d.

    "inverse": d = 1 / s, for counts and strengths. "log": d = -ln(s), for probabilities s < 1; the
    shortest path is then the most probable one.
    """
    assert edges.edge_weight is not None
    similarity = edges.edge_weight.double()
    inverse = formula == "inverse"
    wrong = torch.nonzero(~((similarity > 0) & (inverse | (similarity < 1)))).flatten()
    if wrong.numel():
        edge = int(wrong[0])
        advice = "log (-ln s) takes 0 < s < 1, probabilities"
        raise ValueError(
            f"{edges.edge_name(edge)} has similarity {similarity[edge]:g}; --similarity "
            + ("inverse (1 / s) takes s > 0" if inverse else advice)
        )
    return replace(edges, edge_weight=1 / similarity if inverse else -torch.log(similarity))
