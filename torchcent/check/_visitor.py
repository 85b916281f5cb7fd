"""Errors about the visitors of multi_search and the return values of their hooks."""

from __future__ import annotations

from typing import Protocol, TypeVar

import torch
from torch import Tensor

from torchcent.check._values import choice, shortened


class Merging(Protocol):
    """A visitor, as far as it is checked."""

    merge: str


_Visitor = TypeVar("_Visitor", bound=Merging)


def visitor(value: object, base: type[_Visitor]) -> _Visitor:
    if not isinstance(value, base):
        kind = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise TypeError(f"visitor must be an instance of a torchcent.Visitor, got {kind}")
    choice(value.merge, "visitor.merge", ("cat", "sum"))
    return value


def visitor_bytes(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(
            f"visitor.bytes_per_source must return an int >= 0, got {shortened(value)}"
        )
    return value


def prior_result(value: object, lane: Tensor) -> Tensor | bool:
    """True or False for all pairs of the frontier, or a bool tensor with one entry per pair."""
    if value is None or isinstance(value, bool):
        return value is not False
    if not isinstance(value, Tensor) or value.dtype != torch.bool or value.shape != lane.shape:
        text = f"{value.dtype} {list(value.shape)}" if isinstance(value, Tensor) else repr(value)
        raise ValueError(
            f"visitor.prior must return None, a bool, or a bool tensor [{lane.numel()}] with an "
            f"entry for each pair, got {text}"
        )
    return value


def visitor_result(value: object, visitor: Merging, lanes: int) -> Tensor | None:
    if value is None:
        return None
    if not isinstance(value, Tensor):
        raise TypeError(
            f"visitor.finalize must return a torch.Tensor or None, got {type(value).__name__}"
        )
    if visitor.merge == "cat" and (value.dim() == 0 or value.shape[0] != lanes):
        raise ValueError(
            f"visitor.finalize must return a row for each of the {lanes} lanes, as "
            f"visitor.merge='cat' says, got shape {list(value.shape)}"
        )
    return value
