"""Checks of the arguments of figures: all their TypeErrors and ValueErrors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from torchcent.check import _positions as check_positions
from torchcent.check._files import sequence
from torchcent.check._values import dense, shortened
from torchcent.clustering._clustering import Clustering
from torchcent.io._files import encodes


def numbers(values: Any, name: str, size: int | None = None, finite: bool = False) -> np.ndarray:
    """Real numbers [n] as float64."""
    if isinstance(values, Tensor):
        dense(values, name)
        values = values.detach().cpu().double() if values.is_floating_point() else values.cpu()
    try:
        array = np.asarray(values)
    except Exception:  # a nested sequence, or an object that cannot be converted
        array = np.empty(0, object)
    if array.dtype.kind not in "iufb" and not (array.size == 0 and array.ndim == 1):
        raise TypeError(f"{name} must be real numbers, got {shortened(values)}")
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {list(array.shape)}")
    if size is not None and len(array) != size:
        raise ValueError(f"{name} has {len(array)} entries, but scores has {size}")
    array = array.astype(np.float64)
    if finite and not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {shortened(array)}")
    return array


def points(values: Any) -> np.ndarray:
    """Positions [n, 2] as float64."""
    array = check_positions.numbers(values, "positions")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"positions must have shape [n, 2], got {list(array.shape)}")
    return array


def edge_index(values: Any, size: int) -> np.ndarray:
    """int64 [2, E] with numbers of vertices."""
    if isinstance(values, Tensor):
        dense(values, "edge_index")
        values = values.detach().cpu().numpy()
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"edge_index must hold integers, got {shortened(values)}")
    if array.ndim != 2 or array.shape[0] != 2:
        raise ValueError(f"edge_index must have shape [2, E], got {list(array.shape)}")
    if array.size and not 0 <= array.min() <= array.max() < size:
        wrong = array.min() if array.min() < 0 else array.max()
        raise ValueError(f"edge_index holds {wrong}, but positions has {size} vertices")
    return array.astype(np.int64)


def labels(values: Any, size: int, of: str = "scores") -> Any:
    """Names [n]; the vertex numbers if None."""
    names = np.arange(size) if values is None else values
    names = sequence(names, "labels")
    if len(names) != size:
        raise ValueError(f"labels has {len(names)} entries, but {of} has {size}")
    array = np.empty(size, object)
    for v, name in enumerate(names):
        array[v] = name
    return array


def interval(values: Any, size: int) -> np.ndarray | None:
    """Lower and upper ends [2, n]."""
    if values is None:
        return None
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        raise TypeError(f"interval must be a pair (lower, upper) or None, got {shortened(values)}")
    return np.stack([numbers(end, "interval", size) for end in values])


def text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, got {shortened(value)}")
    if not encodes(value):
        raise ValueError(f"{name}={shortened(value)} is not valid UTF-8 text")
    return value


def clusterings(value: Clustering | Sequence[Clustering]) -> list[Clustering]:
    """One or more clusterings, all of the same graph."""
    if isinstance(value, Clustering):
        return [value]
    several: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
    for one in several:
        if not isinstance(one, Clustering):
            raise TypeError(f"clusterings must be of type Clustering, got {shortened(one)}")
    if not several:
        raise ValueError("clusterings is empty: there is no clustering to plot")
    if len({one.num_nodes for one in several}) > 1:
        sizes = sorted({one.num_nodes for one in several})
        raise ValueError(f"clusterings must be of one graph, got num_nodes of {sizes}")
    return list(several)
