"""The request: the arguments of a call, checked once, in one record that is passed down."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Request(NamedTuple):
    """What was asked for. Vertices are those of the graph, of a batch those of the union.

    Attributes:
        measure: its name in the registry (`_measures.py`).
        engine: as asked for, or the one that a strategy implies.
        strategy: a code (`_codes.Strategy`).
        sources, targets: vertices; None for all.
        memory: bytes that are allowed; None for half of what is free.
        dtype: of the result.
    """

    measure: str
    engine: str = "auto"
    strategy: int = 0
    sources: Tensor | None = None
    targets: Tensor | None = None
    endpoints: bool = False
    normalized: bool = False
    tie_tolerance: float = 0.0
    memory: int | None = None
    progress: bool | None = None
    dtype: torch.dtype = torch.float64

    @property
    def num_sources(self) -> int | None:
        return None if self.sources is None else self.sources.numel()
