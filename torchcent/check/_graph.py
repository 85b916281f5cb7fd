"""What checks read of a Graph, which is made of arguments that are checked."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor


class Unit(Protocol):
    """The unit of the weights of a graph."""

    @property
    def whole(self) -> bool: ...
    @property
    def dtype(self) -> torch.dtype: ...


class Checked(Protocol):
    """A Graph, as far as arguments beside it depend on it."""

    @property
    def num_nodes(self) -> int: ...
    @property
    def num_graphs(self) -> int: ...
    @property
    def ptr(self) -> Tensor | None: ...
    @property
    def batch(self) -> Tensor | None: ...
    @property
    def device(self) -> torch.device: ...
    @property
    def is_weighted(self) -> bool: ...
    @property
    def is_symmetric(self) -> bool: ...
    @property
    def tie_tolerance(self) -> float: ...
    @property
    def scale(self) -> Unit: ...
