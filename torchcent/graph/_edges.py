"""Arrays, lists, sparse tensors and tables of edges as arguments of Graph.from_edge_index."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _columns as check_columns
from torchcent.check import _inputs as check_inputs
from torchcent.check import _sparse as check_sparse
from torchcent.graph import _naming
from torchcent.graph._arcs import Arcs
from torchcent.runtime import _small

SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)
_NUMBERED = "; Graph.from_table(table) numbers names, which its graph.labels has"


def of_pairs(edges: Any, weight: object = None, name: str = "edges") -> Arcs:
    """The edges of a NumPy array [2, E] or [E, 2], or of a list of pairs or of two rows."""
    check_inputs.no_values(weight, "an array or a list")
    if isinstance(edges, np.ndarray):
        index = check_inputs.ids(check_inputs.edge_array(np.asarray(edges), name), name)
    elif isinstance(edges, (list, tuple)):
        index = check_inputs.edge_list(edges, name)
    else:
        raise check_inputs.other(edges, name, "a NumPy array or a list of pairs")
    return Arcs(_tensor(index), None, True)


def of_sparse(matrix: Any, weight: object = None, name: str = "matrix") -> Arcs:
    """One arc i -> j per stored entry (i, j) of a torch sparse tensor or a SparseTensor.

    They are in the order in which they are stored, which in CSC is by columns.
    """
    if not isinstance(matrix, Tensor):
        return _of_sparse_tensor(matrix, weight, name)
    if matrix.layout not in SPARSE:
        raise check_inputs.other(matrix, name, "a torch sparse tensor: COO, CSR or CSC")
    n = check_inputs.stored(matrix, name)
    if matrix.layout == torch.sparse_coo:
        # Those of uncoalesced tensors are added up later.
        index, values = matrix._indices(), matrix._values()
    else:
        by_row = matrix.layout == torch.sparse_csr
        pointers = matrix.crow_indices() if by_row else matrix.ccol_indices()
        minor = (matrix.col_indices() if by_row else matrix.row_indices()).long()
        values = matrix.values()
        count = check_inputs.pointers(pointers, minor.numel(), name).diff()
        vertex = torch.arange(n, device=minor.device)
        major = _small.repeat_interleave(vertex, count, output_size=minor.numel())
        index = torch.stack([major, minor] if by_row else [minor, major])
    weights = values if check_inputs.values_wanted(weight, name) else None
    return Arcs(index, n, None, weights, matrix=True)


def _of_sparse_tensor(matrix: Any, weight: object, name: str) -> Arcs:
    """Of torch_sparse; ``data.adj_t`` of PyTorch Geometric is a transpose."""
    if not hasattr(matrix, "coo") or not hasattr(matrix, "sparse_sizes"):
        raise check_inputs.other(matrix, name, "a torch sparse tensor or a SparseTensor")
    n = check_sparse.square(name, tuple(matrix.sparse_sizes()))
    row, col, values = matrix.coo()
    weights = None
    if check_inputs.values_wanted(weight, name):
        weights = torch.ones(row.numel(), device=row.device) if values is None else values
    return Arcs(torch.stack([row, col]), n, None, weights, matrix=True)


def of_table(
    table: Any, weight: object = None, name: str = "table", columns: object = None
) -> Arcs:
    """One arc per row of a pandas, polars or pyarrow table whose ids are numbers of vertices.

    A pandas table whose rows and columns have the same labels is a matrix: an arc per entry.
    """
    labels = _matrix_labels(table, name) if columns is None else None
    if labels is not None:
        return _of_matrix(table, labels, weight, name)
    *both, length = _columns(table, weight, name, columns)
    return _of_columns([(_column(table, end), end) for end in both], length, name)


def _of_columns(ends: Sequence[tuple[np.ndarray, Any]], length: Tensor | None, name: str) -> Arcs:
    ids = [check_inputs.ids(end, f"column {label!r} of {name}", _NUMBERED) for end, label in ends]
    _tell_of_shared(ends)
    return Arcs(_tensor(np.stack(ids)), None, True, length)


def of_any_table(table: Any, weight: object, columns: object, labels: bool | None) -> Arcs:
    """As :func:`of_table`; names are numbered as they first appear, row by row.

    `labels`: True takes all ids for names, None text.
    """
    names = _matrix_labels(table, "table") if columns is None else None
    if names is not None:
        arcs = _of_matrix(table, names, weight, "table")
        return arcs if labels is False else arcs._replace(labels=names)
    source, target, length = _columns(table, weight, "table", columns)
    if labels is not False and len(table) >= _naming.MANY:
        text = _named(_naming.of_columns([_series(table, name) for name in (source, target)]))
        if text is not None:
            return text._replace(edge_weight=length)
    ends = [(_column(table, name), name) for name in (source, target)]
    if not labels and (labels is False or not any(_is_text(end) for end, _ in ends)):
        return _of_columns(ends, length, "table")
    both = [check_inputs.complete(end, f"column {name!r} of table") for end, name in ends]
    _tell_of_shared(ends)
    flat = np.stack([end.astype(object) for end in both], axis=1).ravel().tolist()
    return _of_names(flat)._replace(edge_weight=length)


def of_any_pairs(edges: Any, labels: bool | None) -> Arcs:
    """As :func:`of_pairs`; names are numbered as they first appear, pair by pair."""
    if labels is False:
        return of_pairs(edges)
    rows: Any  # of sources and of targets; None of a list of pairs
    if isinstance(edges, np.ndarray) and edges.dtype.kind in "UTO":
        rows = list(check_inputs.edge_array(edges, "edges"))
    elif isinstance(edges, (list, tuple)) and (labels or check_inputs.begins_with_text(edges)):
        rows = check_inputs.named_rows(edges, "edges")
    elif labels:
        return _of_names(of_pairs(edges).edge_index.T.reshape(-1).tolist())
    else:
        return of_pairs(edges)
    if 2 * len(edges if rows is None else rows[0]) >= _naming.MANY:
        texts = [_naming.of_pairs(edges)] if rows is None else list(map(_naming.of_row, rows))
        arcs = _named(_naming.of_text(texts, 2))
        if arcs is not None:
            return arcs
    if rows is not None:
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    names = list(chain.from_iterable(edges if rows is None else zip(*rows, strict=True)))
    if not labels:
        check_inputs.all_text(names, "edges")
    return _of_names(names)


def _named(numbering: tuple[Tensor, Any] | None) -> Arcs | None:
    """The arcs between names; None if compiled code does not number them."""
    if numbering is None:
        return None
    ids, names = numbering
    return Arcs(ids, len(names), True, labels=names)


def _of_names(both: list[Any]) -> Arcs:
    """The arcs between names, the source and the target of each in turn."""
    ids, names = _naming.of_any(check_inputs.hashable(both))
    check_inputs.complete_names(names)
    return Arcs(ids.view(-1, 2).T.contiguous(), len(names), True, labels=names)


def _is_text(ids: np.ndarray) -> bool:
    """Whether a column holds text: any that is no number is refused if it is not a name."""
    if ids.dtype.kind in "UT":
        return True
    return ids.dtype == object and any(isinstance(each, str) for each in ids.tolist())


def is_table(kind: type) -> bool:
    """Whether instances are data frames of pandas or polars, or tables or batches of pyarrow."""
    return hasattr(kind, "column_names") or (
        hasattr(kind, "columns") and (hasattr(kind, "iloc") or hasattr(kind, "get_column"))
    )


def _matrix_labels(table: Any, name: str) -> list[Any] | None:
    """The labels of the vertices, if it is a pandas table whose rows and columns have the same.

    This is what networkx.to_pandas_adjacency makes. A table of counts is refused.
    """
    if not hasattr(type(table), "iloc"):
        return None
    if len(table.index) == len(table.columns) > 1:
        rows, columns = list(table.index), list(table.columns)
        if set(rows) == set(columns) and len(set(rows)) == len(rows):
            check_inputs.surely_matrix(rows, columns, name)
            return rows
    check_inputs.no_counts(table.index.name, table.columns.name, name)
    return None


def _of_matrix(table: Any, labels: list[Any], weight: object, name: str) -> Arcs:
    """One arc i -> j per entry that is neither 0 nor missing."""
    weighted = check_inputs.values_wanted(weight, f"{name}, an adjacency matrix,")
    values = check_inputs.entries(table.to_numpy(), name)
    place = {label: at for at, label in enumerate(table.columns)}
    values = values[:, [place[label] for label in labels]]
    index = np.stack(np.nonzero(values))
    weights = torch.from_numpy(values[index[0], index[1]]) if weighted else None
    return Arcs(_tensor(index), len(labels), None, weights)


def _columns(
    table: Any, weight: object, name: str, columns: object
) -> tuple[Any, Any, Tensor | None]:
    """The names of the columns of sources and targets, and weights if they are asked for."""
    if not is_table(type(table)):
        raise check_inputs.other(table, name, "a pandas, polars or pyarrow table")
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    column = None if weight is None else check_inputs.column(weight, names, "edge_weight")
    if columns is None and hasattr(type(table), "geometry"):
        check_columns.named_ends(names, name, type(table))
    source, target = check_inputs.columns(columns, names, name, column)
    check_inputs.once((source, target, column), names, name)
    length = None
    if column is not None:
        length = check_inputs.numbers(_column(table, column), f"column {column!r} of {name}")
    return source, target, length


def _tell_of_shared(ends: Sequence[tuple[np.ndarray, Any]]) -> None:
    """Warns if users and items, or other things of two kinds, have the same numbers."""
    (source, one), (target, other) = ends
    text = check_columns.shared_ids((one, other), source, target)
    if text is not None:
        warnings.warn(text, stacklevel=6)


def _series(table: Any, name: Any) -> Any:
    if hasattr(table, "column_names"):
        return table.column(name)
    return table.get_column(name) if hasattr(table, "get_column") else table[name]


def _column(table: Any, name: Any) -> np.ndarray:
    column = _series(table, name)
    if _naming.is_coded(column) and column.null_count:  # for which to_numpy has other values
        return np.fromiter(column.to_pylist(), object, len(column))
    own = {"zero_copy_only": False} if hasattr(table, "column_names") else {}
    return np.asarray(column.to_numpy(**own))


def _tensor(index: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(index))
