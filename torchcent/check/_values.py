"""Errors about single values, the building blocks of all other checks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral

import numpy as np
import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.nn.parameter import is_lazy


def dense(value: Tensor, name: str) -> None:
    """Checks for a plain tensor with its data in memory.

    This check comes first, because other tensors may not even have a shape.
    """
    kind = ""
    if type(value).__torch_dispatch__ is not Tensor.__torch_dispatch__ or is_lazy(value):
        kind = f"a {type(value).__name__}"
    elif value.is_nested:
        kind = "a nested one"
    elif value.is_quantized:
        kind = "a quantized one"
    elif value.layout != torch.strided:
        kind = f"one of layout {value.layout}"
    elif value.device.type == "meta":
        kind = "one on meta"
    elif is_functorch_wrapped_tensor(value):
        kind = "one within torch.func or vmap"
    if kind:
        raise ValueError(f"{name} must be a dense tensor with data, got {kind}")


def of_square(shape: Sequence[int], matrix: str) -> str:
    """What to pass instead of an array of this shape, if it is an adjacency matrix."""
    square = len(shape) == 2 and shape[0] == shape[1] > 2
    return f"; of an adjacency matrix pass {matrix}" if square else ""


def integer(value: object, name: str) -> int:
    """An int; NumPy's integers are accepted."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an int or None, got {shortened(value)}")
    return int(value)


def number(value: object, name: str, accepted: str = "") -> float:
    """An int or a float; NumPy's numbers are accepted. NaN is in no range."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name} must be a number{accepted}, got {shortened(value)}")
    if isinstance(value, np.complexfloating):
        raise TypeError(f"{name} must be a real number{accepted}, got {shortened(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def shortened(value: object) -> str:
    """A value as shown in messages; Python refuses to print integers of thousands of digits."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**128:
        return f"an int of {value.bit_length()} bits"
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:197]}..."


def flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {shortened(value)}")
    return value


def flag_or_none(value: object, name: str) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise TypeError(f"{name} must be True, False or None, got {shortened(value)}")
    return value


def choice(value: object, name: str, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}; got {shortened(value)}")
    return value
