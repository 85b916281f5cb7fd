"""Errors about cutoffs: lengths beyond which pairs do not count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.check._values import dense, number, within

#: a cutoff, or several, as users pass them
Lengths = float | Sequence[float] | Tensor | None


class Cutoffs(NamedTuple):
    """The cutoffs of a call.

    Attributes:
        lengths: ascending, distinct.
        column: for each cutoff of a list, its place among the lengths; None for a single cutoff.
    """

    lengths: tuple[float, ...]
    column: tuple[int, ...] | None

    def of(self, scores: Tensor) -> Tensor:
        """The columns asked for, out of one per length."""
        if self.column is None:
            return scores[:, 0]
        return scores[:, torch.tensor(self.column, device=scores.device)]


def cutoffs(value: object, engine: str) -> Cutoffs | None:
    """One cutoff or several; None for no limit."""
    if value is None:
        return None
    bounds = values(value)
    several = [bounds] if isinstance(bounds, float) else bounds
    if engine == "tiny":
        raise ValueError("cutoff is not for engine='tiny'; use 'auto' or 'tensor'")
    if bounds == math.inf:
        return None
    lengths = tuple(sorted(set(several)))
    column = None if isinstance(bounds, float) else tuple(map(lengths.index, several))
    return Cutoffs(lengths, column)


def single(value: object, name: str = "cutoff") -> float | None:
    """One length; None for no limit."""
    if value is None:
        return None
    number(value, name)
    length = _length(value, name)
    return None if length == math.inf else length


def values(value: object, name: str = "cutoff") -> float | list[float]:
    """A length >= 0, or the lengths in a list, a tuple, or a tensor or an array of one dimension.

    Float32 numbers are taken for the shortest decimals that stand for them, as weights are.
    """
    if isinstance(value, Tensor):
        dense(value, name)
        kind, value = value.dtype, value.detach().cpu()
        narrow = kind.is_floating_point and kind.itemsize < 4
        try:
            value = (value.float() if narrow else value).numpy()
        except (TypeError, RuntimeError):
            raise TypeError(f"{name} must hold numbers, got {kind}") from None
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            raise ValueError(
                f"{name} must be a number, or numbers in one dimension, got shape "
                f"{list(value.shape)}"
            )
        value = value[()] if value.ndim == 0 else list(value)
    if not isinstance(value, (list, tuple)):
        return _length(value, name)
    if not value:
        raise ValueError(f"{name} must not be empty; pass None for no limit")
    return [_length(each, f"{name}[{place}]") for place, each in enumerate(value)]


def _length(value: object, name: str) -> float:
    length = number(value, name, " or a list of numbers" if name in ("cutoff", "times") else "")
    if isinstance(value, np.float32):
        length = float(str(value))
    return within(length, name, "[0, inf]", ">= 0")
