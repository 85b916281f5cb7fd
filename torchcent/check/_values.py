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

from _torchcent_command._meant import meant


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


def wrong_type(name: str, accepted: str, value: object) -> TypeError:
    """The error of an argument; of a value that may be large, its type is shown."""
    shown = value.__name__ if isinstance(value, type) else shortened(value)
    return TypeError(f"{name} must be {accepted}, got {shown}")


def wrong_value(name: str, accepted: str, value: object) -> ValueError:
    return ValueError(f"{name} must be {accepted}, got {shortened(value)}")


def integer(value: object, name: str) -> int:
    """An int; NumPy's integers are accepted."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise wrong_type(name, "an int or None", value)
    return int(value)


def seed(value: object) -> int:
    """That of a generator."""
    start = integer(value, "seed")
    if not 0 <= start < 2**63:
        raise wrong_value("seed", "in [0, 2^63)", start)
    return start


def number(value: object, name: str, accepted: str = "") -> float:
    """An int or a float; NumPy's numbers are accepted. NaN is in no range."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise wrong_type(name, f"a number{accepted}", value)
    if isinstance(value, np.complexfloating):
        raise wrong_type(name, f"a real number{accepted}", value)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def within(value: object, name: str, interval: str, accepted: str = "") -> float:
    """A number in an interval such as ``[0, 1)``, which `accepted` may say in other words."""
    size = number(value, name)
    low, high = map(float, interval[1:-1].split(","))
    above = size >= low if interval[0] == "[" else size > low
    below = size <= high if interval[-1] == "]" else size < high
    if not (above and below):
        raise wrong_value(name, accepted or f"in {interval}", value)
    return size


def whole(value: object, name: str, most: int | None = None) -> int:
    """An int from 1 to `most`."""
    size = integer(value, name)
    if size < 1:
        raise wrong_value(name, "at least 1", size)
    if most is not None and size > most:
        raise wrong_value(name, f"at most {most:,}", size)
    return size


def beside(value: Tensor, name: str, device: torch.device) -> None:
    """Checks that a tensor is where the graph is, or on the CPU."""
    if value.device != device and value.device.type != "cpu":
        raise ValueError(f"{name} is on {value.device}, but the graph is on {device}")


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
        raise wrong_type(name, "True or False", value)
    return value


def flag_or_none(value: object, name: str) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise wrong_type(name, "True, False or None", value)
    return value


def choice(value: object, name: str, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        hint = meant(value, known) if isinstance(value, str) else ""
        raise ValueError(f"{name} must be one of {', '.join(known)}; got {shortened(value)}{hint}")
    return value
