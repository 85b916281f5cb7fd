"""Scores as a table with the names of the vertices."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from torchcent.check import _labels as check_labels
from torchcent.check import _values as check_values
from torchcent.clustering._clustering import Clustering
from torchcent.engines.measures import _measures
from torchcent.graph import Graph, _labels
from torchcent.runtime._optional import need

FORMATS = ("pandas", "arrow")


def table(
    graph: Graph,
    /,
    *,
    ranks: bool | Sequence[str] = True,
    top: int | None = None,
    format: str | None = None,
    **scores: Any,
) -> Any:
    """Scores of the vertices as a data frame: a row for each, with its name, and any columns.

    Args:
        graph: the Graph that the scores belong to. Its ``labels`` are the names.
        ranks: the columns that a column of ranks follows: True is those of floats, because integers
            may be labels, such as communities and components; names are those to rank. The highest
            score has rank 1, of eccentricity the lowest. Equal scores share a rank, and the next
            one counts them.
        top: only so many rows: those of the highest scores of the first column, in their order.
        format: "pandas" or "arrow"; None is a DataFrame of pandas, and without pandas a Table of
            pyarrow.
        scores: the columns by their names, in order. Each is a tensor, an array or a sequence [n].
            A matrix [n, k] gives the columns name_0 to name_{k-1}, and a result with named parts,
            such as that of :func:`hits`, a column for each part. An :class:`Approximation` has its
            bounds too, and a :class:`Clustering` no ranks.

    Returns:
        The table. Its first column, "vertex", has the names, or the numbers of the vertices.

    Raises:
        TypeError, ValueError: an argument is invalid, or a column has not one value of each vertex.
        ImportError: neither pandas nor pyarrow is installed: ``pip install .[table]``.

    Example:
        >>> import torchcent
        >>> friends = [("Ada", "Bob"), ("Bob", "Cleo"), ("Bob", "Dan"), ("Dan", "Eva")]
        >>> graph = torchcent.Graph.from_edges(friends, directed=False)
        >>> scores = torchcent.betweenness(graph, normalized=False)
        >>> torchcent.table(graph, betweenness=scores, degree=torchcent.degree(graph), top=2)
          vertex  betweenness  betweenness_rank  degree  degree_rank
        0    Bob          5.0                 1     3.0            1
        1    Dan          3.0                 2     2.0            2
    """
    if not isinstance(graph, Graph):
        kind = type(graph).__name__
        raise TypeError(
            f"graph must be a torchcent.Graph, which has the names, got {kind}; "
            "accepted: Graph.from_networkx(graph) and the like, or read(path).graph()"
        )
    if format is not None:
        check_values.choice(format, "format", FORMATS)
    given: dict[str, np.ndarray] = {}
    usual = []
    for name, value in scores.items():
        for own, values in _parts(name, value).items():
            _add(given, own, check_labels.column(values, own, graph.num_nodes))
            is_bound = own.endswith(("_lower", "_upper")) and own != name
            if given[own].dtype.kind == "f" and not is_bound:
                usual.append(own)
    ranked = check_labels.ranked(ranks, usual, given)
    columns: dict[str, np.ndarray] = {}
    for own, array in given.items():
        _add(columns, own, array)
        if own in ranked:
            _add(columns, f"{own}_rank", _ranks(array, _is_lowest(own)))
    names = graph.labels
    every = np.arange(graph.num_nodes) if names is None else np.asarray(names)
    if top is not None:
        if not columns:
            raise ValueError("top is for tables with scores, of which the first column counts")
        first = next(iter(columns))
        place = np.argsort(_from_first(columns[first], _is_lowest(first)), kind="stable")
        place = place[: check_labels.rows(top)]
        every, columns = every[place], {name: each[place] for name, each in columns.items()}
    return _frame({"vertex": every} | columns, format)


def _add(columns: dict[str, np.ndarray], name: str, values: np.ndarray) -> None:
    if name in columns or name == "vertex":
        raise ValueError(f"two columns are called {name!r}; accepted: names of their own")
    columns[name] = values


def _parts(name: str, value: Any) -> Mapping[str, Any]:
    """The columns of one argument, by their names."""
    if isinstance(value, Clustering):
        return {name: value.labels}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = zip(value._fields, value, strict=True)
        return {f"{name}_{part}": each for part, each in parts}
    if all(hasattr(value, part) for part in ("scores", "lower", "upper")):
        ends = {f"{name}_{part}": getattr(value, part) for part in ("lower", "upper")}
        return {name: value.scores} | ends
    if isinstance(value, Tensor):
        check_values.dense(value, name)
    if isinstance(value, (Tensor, np.ndarray)) and value.ndim == 2 and value.shape[1]:
        return {f"{name}_{place}": value[:, place] for place in range(value.shape[1])}
    return {name: value}


def _is_lowest(name: str) -> bool:
    """Whether the lowest scores of this measure are the most central ones."""
    each = _measures.columns().get(name)
    return each is not None and each.lowest


def _from_first(values: np.ndarray, lowest: bool) -> np.ndarray:
    """Numbers that grow from the first rank to the last."""
    if values.dtype.kind == "O":
        raise TypeError("ranks and top are of numbers, got a column of names")
    signed = values.astype(np.float64) if values.dtype.kind in "bu" else values
    return signed if lowest else -signed


def _ranks(values: np.ndarray, lowest: bool) -> np.ndarray:
    """int64: 1 and the number of rows before, of which equal ones are none."""
    signed = _from_first(values, lowest)
    if signed.dtype.kind == "f":
        signed = np.where(np.isnan(signed), np.inf, signed)
    _, place, count = np.unique(signed, return_inverse=True, return_counts=True)
    ranks: np.ndarray = (count.cumsum() - count + 1)[place]
    return ranks


def _frame(columns: dict[str, np.ndarray], format: str | None) -> Any:
    if format is None:
        format = FORMATS[0] if _is_there("pandas") or not _is_there("pyarrow") else FORMATS[1]
    if format == "pandas":
        return need("pandas", "table", "table").DataFrame(columns)
    arrays = {name: _labels.plain(values) for name, values in columns.items()}
    return need("pyarrow", "io", "table").table(arrays)


def _is_there(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
