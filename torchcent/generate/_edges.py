"""Arguments of generators, and the pairs of vertices that they draw."""

from __future__ import annotations

from numbers import Integral

import numpy as np
import torch
from torch import Tensor

from torchcent.check._common import MAX_NODES
from torchcent.check._values import number as number_of
from torchcent.check._values import shortened
from torchcent.runtime import _memory

# Upper bounds on memory, in bytes, for all generators; totals below _UNWEIGHED are not checked.
_PER_NODE, _PER_EDGE, _UNWEIGHED = 64, 112, 1 << 24


def whole(name: str, value: object, least: int, most: int = MAX_NODES) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    number = int(value)
    if number < least or number > most:
        accepted = f"{least} or more" if number < least else f"{least} to {most}"
        raise ValueError(f"{name}={shortened(value)}; accepted: {accepted}")
    return number


def share(name: str, value: object) -> float:
    share = number_of(value, name, " from 0 to 1")
    if not 0 <= share <= 1:
        raise ValueError(f"{name}={shortened(value)}; accepted: 0 to 1")
    return share


def generator(seed: object) -> np.random.Generator:
    return np.random.default_rng(whole("seed", seed, 0, 2**64 - 1))


def check_room(nodes: int, edges: float, given: str) -> None:
    """Raises if more than half of the free memory is needed; `given` names the arguments."""
    if nodes > MAX_NODES:
        raise ValueError(f"{given}: {nodes} vertices; graphs are limited to 2^31 - 1")
    needed = int(_PER_NODE * nodes + _PER_EDGE * edges)
    if needed > _UNWEIGHED:
        _memory.allow(f"a random graph of {given}", needed, None, torch.device("cpu"))


def pairs(u: np.ndarray, v: np.ndarray, n: int) -> np.ndarray:
    """Unordered pairs as sorted distinct keys ``low * n + high``, without loops."""
    keys = np.minimum(u, v) * n + np.maximum(u, v)
    return distinct(keys[u != v])


def distinct(keys: np.ndarray) -> np.ndarray:
    """The keys in order, each once; the array is overwritten. np.unique takes 50 times as long."""
    keys.sort()
    distinct: np.ndarray = keys[np.diff(keys, prepend=-1) != 0]
    return distinct


def symmetric(keys: np.ndarray, n: int) -> Tensor:
    """Converts keys of :func:`pairs` to an edge_index with both directions."""
    low, high = np.divmod(keys, max(n, 1))
    both = np.concatenate([keys, high * n + low])
    both.sort()
    return torch.from_numpy(np.stack(np.divmod(both, max(n, 1))))
