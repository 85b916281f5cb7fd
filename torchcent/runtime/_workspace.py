"""Bytes that the compiled kernels allocate, as their operators report them."""

from __future__ import annotations

import functools
from typing import NamedTuple

from torchcent.runtime import _ops


class Workspace(NamedTuple):
    """Memory of a kernel.

    Attributes:
        fixed: bytes of all searches together.
        arrays: bytes of each array of a thread of the CPU, or of a batch or block in flight on
            CUDA.
    """

    fixed: int
    arrays: tuple[int, ...]

    @property
    def each(self) -> int:
        return sum(self.arrays)


@functools.lru_cache(maxsize=512)
def workspace(family: str, *sizes: object, **named: object) -> Workspace:
    """Calls the operator of a family; csrc/<family>/workspace.h has the arguments."""
    fixed, *arrays = getattr(_ops.ops, f"{family}_workspace")(*sizes, **named)
    return Workspace(fixed, tuple(arrays))
