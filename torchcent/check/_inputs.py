"""Errors about graphs of other libraries, matrices, arrays and tables that are given as graphs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _columns as check_columns
from torchcent.check._values import dense, of_square, shortened, wrong_type

ACCEPTED = (
    "an edge_index (torch.Tensor [2, E]), a torchcent.Graph, a graph of NetworkX, igraph, "
    "NetworKit, graph-tool or DGL, a torch_geometric Data, Batch or EdgeIndex, a SparseTensor, a "
    "scipy.sparse matrix, a torch sparse tensor, a NumPy array or a list of pairs, or a pandas, "
    "polars or pyarrow table"
)
_NAMES = "; Graph.from_edges(edges) numbers names, which its graph.labels has"


def type_name(value: object) -> str:
    """The type with the shortest module that has it: networkx.Graph, scipy.sparse.csr_array."""
    kind = value if isinstance(value, type) else type(value)
    parts = kind.__module__.split(".")
    for end in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:end]))
        if getattr(module, kind.__qualname__, None) is kind:
            parts = parts[:end]
            break
    return kind.__qualname__ if parts == ["builtins"] else f"{'.'.join(parts)}.{kind.__qualname__}"


def unknown(value: object, name: str) -> TypeError:
    what = f"the class {type_name(value)}" if isinstance(value, type) else type_name(value)
    if isinstance(value, (str, os.PathLike)):
        file = shortened(os.fspath(value))
        what = f"the name of a file, which torchcent.read({file}).graph() reads"
    return TypeError(f"{name} must be {ACCEPTED}; got {what}")


def other(value: object, name: str, wanted: str) -> TypeError:
    return TypeError(f"{name} must be {wanted}, got {type_name(value)}")


def directedness(directed: bool | None, own: bool | None, value: object) -> bool | None:
    """The direction that counts: as asked for, else as the object says (None if it does not)."""
    if directed is None:
        return own
    if directed and own is False:
        raise ValueError(
            f"directed=True contradicts the {type_name(value)} given, which is undirected and "
            "lists each edge once; leave it out, or make the graph directed"
        )
    return directed


def size(num_nodes: int | None, own: int | None, value: object) -> int | None:
    if own is None or num_nodes is None or num_nodes == own:
        return num_nodes if own is None else own
    raise ValueError(
        f"num_nodes={num_nodes} contradicts the {type_name(value)} given, which has {own} vertices"
    )


def one_batch(given: bool, own: bool, value: object) -> None:
    if given and own:
        raise ValueError(
            f"batch is for a graph without its own, and the {type_name(value)} given is a batch; "
            "leave it out"
        )


def attribute(weight: object, known: Callable[[], Sequence[str]], where: str) -> str | None:
    """The name of a weight among the edge attributes of a graph."""
    if weight is None:
        return None
    if not isinstance(weight, str):
        raise no_name(weight)
    names = list(known())
    if weight not in names:
        raise no_attribute("edge_weight", weight, where, names)
    return weight


def no_name(weight: object) -> TypeError:
    return wrong_type(
        "edge_weight", "the name of an attribute of the edges, or numbers, one for each", weight
    )


def no_attribute(name: str, value: object, where: str, known: Sequence[object]) -> ValueError:
    """No edge of a graph has the attribute that was named."""
    names = ", ".join(sorted(map(str, known)))[:200]
    return ValueError(
        f"{name}={shortened(value)}: the {where} has no such edge attribute; accepted: "
        f"{names or 'none, because it has none'}"
    )


def values_wanted(weight: object, where: str) -> bool:
    """Whether the values of something without names are taken as weights."""
    if weight is None or isinstance(weight, bool):
        return bool(weight)
    raise TypeError(
        f"{where} has no named weights: edge_weight=True takes its values, None takes none; got "
        f"{shortened(weight)}"
    )


def no_values(weight: object, where: str) -> None:
    if weight is not None and weight is not False:
        raise TypeError(
            f"{where} has no weights of its own: pass edge_weight, one number per edge; got "
            f"{shortened(weight)}"
        )


def numbers(values: object, name: str) -> Tensor:
    """Real numbers, one per edge, as a tensor of their own."""
    if isinstance(values, Tensor):
        return values
    try:
        array = np.asarray(values)
        if array.dtype == object:
            array = array.astype(np.float64)
    except Exception:  # whatever objects raise that are no numbers
        array = np.empty(0, object)
    if array.dtype.kind not in "iuf":
        raise wrong_type(name, "real numbers, one for each edge", values)
    if array.dtype.kind == "u" and array.itemsize == 8 or array.itemsize > 8:
        array = array.astype(np.float64)
    return torch.from_numpy(np.array(array, array.dtype.newbyteorder("="), order="C"))


def ids(values: Any, name: str, hint: str = "") -> np.ndarray:
    """Vertex ids, of an array or a list, as int64."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        if values.size and values.dtype.kind not in "iu":
            raise TypeError(f"{name} must hold integer vertex ids, got {values.dtype}{hint}")
        if values.dtype.kind == "u" and values.size and values.max() >= 2**63:
            raise ValueError(f"{name} holds the id {values.max()}, which is beyond int64")
        return values.astype(np.int64)
    flat = list(values)
    for value in flat if set(map(type, flat)) != {int} else ():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name} must hold integer vertex ids, got {shortened(value)}{hint}")
    try:
        return np.array(flat, np.int64)
    except OverflowError:
        raise ValueError(f"{name} holds an id beyond int64") from None


def edge_array(array: np.ndarray, name: str) -> np.ndarray:
    """[2, E], from an array [2, E] or [E, 2]."""
    if array.ndim != 2 or 2 not in array.shape:
        raise ValueError(
            f"{name} must be of shape [2, E], or [E, 2] for a list of pairs, got "
            f"{list(array.shape)}{of_square(array.shape, f'scipy.sparse.csr_array({name})')}"
        )
    if array.shape == (2, 2):
        raise either_way(name)
    return array if array.shape[0] == 2 else array.T


def either_way(name: str) -> ValueError:
    return ValueError(
        f"{name} of shape [2, 2] may be two pairs or a row of sources and one of targets: pass "
        "pairs as a list of tuples, or rows as a tensor, torch.as_tensor(...)"
    )


def edge_list(edges: Any, name: str) -> np.ndarray:
    """[2, E], from a list of pairs (u, v) or two rows."""
    arrays = len(edges) == 2 and all(isinstance(row, (np.ndarray, Tensor)) for row in edges)
    kinds = set(map(type, edges))
    for place, pair in enumerate(edges if kinds - {tuple, list} and not arrays else ()):
        if not isinstance(pair, (tuple, list, np.ndarray)):
            raise TypeError(
                f"{name} must be a list of pairs (u, v), but {name}[{place}] is {shortened(pair)}"
            )
    if arrays or (len(edges) == 2 and not any(issubclass(kind, tuple) for kind in kinds)):
        if not arrays and len(edges[0]) == 2 == len(edges[1]):
            raise either_way(name)
        return np.stack(_as_many([_row(row, name) for row in edges], name))
    shape = (len(edges), *set(map(len, edges)))
    matrix = f"scipy.sparse.csr_array(numpy.array({name}))"
    for place, pair in enumerate(edges if set(map(len, edges)) != {2} else ()):
        if len(pair) != 2:
            raise ValueError(
                f"{name} must be a list of pairs (u, v), but {name}[{place}] has {len(pair)} "
                f"entries; weights go into edge_weight{of_square(shape, matrix)}"
            )
    return ids([end for pair in edges for end in pair], name, _NAMES).reshape(-1, 2).T


def _as_many(rows: list[Any], name: str) -> list[Any]:
    """The rows of sources and of targets."""
    sources, targets = map(len, rows)
    if sources != targets:
        raise ValueError(
            f"{name} has {sources} sources and {targets} targets; there must be as many"
        )
    return rows


def begins_with_text(edges: Any) -> bool:
    """Whether the first end of a list of pairs or rows is text."""
    first: Any = edges[0] if edges else ()
    is_row = isinstance(first, (list, tuple, np.ndarray)) and len(first) > 0
    return is_row and isinstance(first[0], str)


def named_rows(edges: Any, name: str) -> list[Any] | None:
    """The sources and the targets, if these are two rows; None of a list of pairs."""
    arrays = len(edges) == 2 and all(isinstance(row, (np.ndarray, Tensor)) for row in edges)
    if arrays or (len(edges) == 2 and not any(isinstance(row, tuple) for row in edges)):
        rows = [row.tolist() if isinstance(row, (np.ndarray, Tensor)) else row for row in edges]
        if not arrays and all(isinstance(row, list) and len(row) == 2 for row in rows):
            raise either_way(name)
        return _as_many(rows, name)
    kinds = set(map(type, edges))
    if not kinds <= {tuple, list} or set(map(len, edges)) - {2}:
        edge_list(edges, name)  # which raises an error about the first that is no pair
    return None


def all_text(names: list[Any], name: str) -> None:
    if set(map(type, names)) - {str}:
        wrong = next((each for each in names if not isinstance(each, str)), None)
        if wrong is not None:
            raise TypeError(
                f"{name} holds text and {shortened(wrong)}; labels=True takes both for names"
            )


def hashable(names: list[Any]) -> list[Any]:
    """Refuses what cannot be the name of a vertex."""
    for kind in set(map(type, names)):
        if kind.__hash__ is None:
            raise TypeError(f"edges hold a {kind.__name__}, which cannot be the name of a vertex")
    return names


def complete_names(names: Sequence[Any]) -> None:
    """Refuses a missing name, which would be a vertex that all such edges share."""
    if "" in names or None in names or any(isinstance(x, float) and x != x for x in names):
        raise ValueError("edges hold a missing name, None, NaN or ''; accepted: a name of each end")


def no_size_of_names(num_nodes: object, labels: object) -> None:
    if num_nodes is not None and labels is not None:
        raise ValueError(
            "num_nodes is for numbers of vertices, and these are names; labels=False refuses names"
        )


def _row(row: Any, name: str) -> np.ndarray:
    """The sources or the targets."""
    if isinstance(row, Tensor):
        dense(row, name)
        row = row.detach().cpu().numpy()
    if isinstance(row, np.ndarray) and row.ndim != 1:
        raise ValueError(
            f"{name} must be two one-dimensional arrays, got one of shape {list(row.shape)}"
        )
    return ids(row, name, _NAMES)


def stored(matrix: Tensor, name: str) -> int:
    """Checks a sparse tensor as far as PyTorch's own loops trust it, and returns n."""
    plain = matrix.dense_dim() == 0 and matrix.dim() == 2
    if not plain or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be a square sparse matrix, got shape {list(matrix.shape)}")
    if matrix.device.type == "meta" or type(matrix).__torch_dispatch__ is not (
        Tensor.__torch_dispatch__
    ):
        raise ValueError(f"{name} must be a sparse tensor with data, got a {type_name(matrix)}")
    return int(matrix.shape[0])


def pointers(ptr: Tensor, stored: int, name: str) -> Tensor:
    """The pointers of a compressed tensor, which PyTorch does not check by itself."""
    ptr = ptr.long()
    if ptr[0] != 0 or ptr[-1] != stored or bool((ptr[1:] < ptr[:-1]).any()):
        raise ValueError(f"{name} has pointers that do not ascend from 0 to its {stored} entries")
    return ptr


def once(taken: Sequence[Any], known: Sequence[Any], name: str) -> None:
    """Refuses columns that share their name with others."""
    for column in taken:
        if known.count(column) > 1:
            raise ValueError(
                f"{name} has {known.count(column)} columns called {column!r}; accepted: a table "
                "whose columns of ends and weights have names of their own"
            )


def complete(labels: Any, shown: str) -> Any:
    """Refuses missing labels, which would all be one vertex."""
    names = labels.tolist()
    if set(map(type, names)) == {str} and "" not in names:
        return labels
    missing = [at for at, x in enumerate(names) if _is_missing(x)]
    if missing:
        raise ValueError(
            f"{shown} has {len(missing)} missing entries, the first in row {missing[0]}; accepted: "
            "a name in each row, such as those that table.dropna() leaves"
        )
    return labels


def _is_missing(label: Any) -> bool:
    if isinstance(label, str):
        return not label
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def columns(value: object, known: Sequence[Any], name: str, weight: Any = None) -> tuple[Any, Any]:
    """The columns of sources and targets: as given, or by their names, or the only two.

    `weight` is the column of weights; those that are called like weights are no ends, either.
    """
    if value is None:
        ends = check_columns.ends(known)
        if ends is not None:
            return known[ends.source], known[ends.target]
        if len(known) < 2:
            raise ValueError(
                f"{name} must have two columns, 'source' and 'target', got {shortened(known)}"
            )
        free = [x for x in known if x != weight and not check_columns.is_index(x)]
        free = [x for x in free if check_columns.weight([x]) is None]
        numbered = len(known) <= 3 and list(known) == list(range(len(known)))
        if len(free) < 2 or numbered:
            return known[0], known[1]
        if len(free) > 2:
            pair = f"{free[0]!r}, {free[1]!r}"
            raise ValueError(
                f"{name} has the columns {shortened(list(known))}, of which no two are called like "
                "the ends of edges, such as source and target, or from and to: pass the two that "
                f"hold them, such as {name}[[{pair}]], or Graph.from_table(..., columns=({pair})); "
                "of an adjacency matrix pass scipy.sparse.csr_array(...)"
            )
        return free[0], free[1]
    if isinstance(value, str) or not isinstance(value, (list, tuple)) or len(value) != 2:
        raise wrong_type("columns", "a pair (source, target) of names, or None", value)
    return column(value[0], known, "columns"), column(value[1], known, "columns")


def surely_matrix(rows: Sequence[Any], columns: Sequence[Any], name: str) -> None:
    """Refuses tables of two or three rows without labels, which may hold edges or a matrix."""
    numbered = list(range(len(rows)))
    if len(rows) <= 3 and list(rows) == numbered == list(columns):
        raise ValueError(
            f"{name} has {len(rows)} rows and columns without names, and may be a list of edges or "
            f"an adjacency matrix: name its columns 'source' and 'target', or pass "
            f"scipy.sparse.csr_array({name})"
        )


def no_counts(row: object, column: object, name: str) -> None:
    """Refuses a cross-tabulation, whose columns are values of another column."""
    if column is not None:
        pair = f"{'...' if row is None else repr(row)}, {column!r}"
        raise ValueError(
            f"{name} is a cross-tabulation, whose columns are values of {column!r}: pass the table "
            f"that it was made of, such as {name}[[{pair}]]"
        )


def entries(values: np.ndarray, name: str) -> np.ndarray:
    """The entries of a matrix as real numbers, 0 where they are missing."""
    try:
        values = values.astype(np.float64) if values.dtype.kind not in "iuf" else values
    except (TypeError, ValueError):
        raise TypeError(f"{name}, an adjacency matrix, must hold real numbers") from None
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), 0, values)
    if values.dtype == np.uint64 or values.itemsize > 8:
        values = values.astype(np.float64)
    return values


def column(value: object, names: Sequence[Any], name: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError(f"{name} must name columns of the table, got {shortened(value)}")
    if value not in names:
        raise ValueError(
            f"{name}={shortened(value)}: the table has no such column, only {shortened(names)}"
        )
    return value


def compact(bound: int, count: int) -> None:
    if bound != count:
        raise ValueError(
            f"graph has {count} vertices with ids up to {bound - 1}, because some were removed: "
            "pass networkit.graphtools.getCompactedGraph(graph, "
            "networkit.graphtools.getContinuousNodeIds(graph))"
        )


def homogeneous(plain: bool, value: object, how: str) -> None:
    if not plain:
        raise ValueError(
            f"{type_name(value)} has several types of vertices or edges: make one graph "
            f"of it, {how}"
        )


def layout(value: object) -> None:
    layouts = (torch.sparse_csr, torch.sparse_csc, torch.sparse_coo)
    if not isinstance(value, torch.layout) or value not in layouts:
        raise wrong_type("layout", "torch.sparse_csr, torch.sparse_csc or torch.sparse_coo", value)
