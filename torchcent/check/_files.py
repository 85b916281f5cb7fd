"""Every TypeError and ValueError about the arguments of readers and writers of files."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

import numpy as np
from torch import Tensor

from torchcent.check._values import dense, shortened, wrong_type


def path(value: object, name: str = "path") -> str:
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise wrong_type(name, "a str or os.PathLike", value)
    if not text or "\0" in text:
        raise ValueError(f"{name}={text!r} is no path: it is empty or holds a NUL character")
    return text


def count(value: object, name: str) -> int:
    """An int >= 0; NumPy's integers are accepted."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise wrong_type(name, "an int", value)
    if value < 0:
        raise ValueError(f"{name}={shortened(value)}; accepted: 0 or more")
    number = int(value)
    if number >= 2**63:
        raise ValueError(f"{name}={shortened(value)}; accepted: 0 to 2^63 - 1")
    return number


def ends(value: object) -> tuple[object, object]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise wrong_type("columns", "two names or numbers, of both ends of the edges", value)
    return value[0], value[1]


def column(value: object, name: str) -> int | str | None:
    """A column of a table: its number from 1, its name, or None."""
    if value is None or (isinstance(value, str) and value):
        return value
    if isinstance(value, (bool, str)) or not isinstance(value, Integral):
        raise wrong_type(name, "a name or a number from 1", value)
    if value < 1:
        raise ValueError(f"{name}={shortened(value)}; accepted: a name, or a number from 1")
    return int(value)


def marks(value: object, name: str, known: str) -> str:
    """The characters that begin comments, of those that are known; None is none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise wrong_type(name, "a str or None", value)
    if not set(value) <= set(known):
        accepted = ", ".join(map(repr, (known, *known)))
        raise ValueError(f"{name}={shortened(value)}; accepted: {accepted}, or None for none")
    return value


def text(value: object, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise wrong_type(name, "a str or None", value)
    return value


def sequence(values: Any, name: str) -> list[Any]:
    """The items of a sequence as a list; those of a tensor as numbers."""
    if isinstance(values, Tensor):
        dense(values, name)
    try:
        return list(values.tolist() if isinstance(values, (Tensor, np.ndarray)) else values)
    except TypeError:
        raise wrong_type(name, "a sequence", values) from None
