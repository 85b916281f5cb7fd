"""Every TypeError and ValueError about the arguments of what reads and writes files."""

from __future__ import annotations

import os
from numbers import Integral


def path(value: object, name: str = "path") -> str:
    """A path as a str."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str or os.PathLike, got {value!r}")
    if not text or "\0" in text:
        raise ValueError(f"{name}={text!r} is no path: it is empty or holds a NUL character")
    return text


def count(value: object, name: str) -> int:
    """An int of at least 0, NumPy's as well."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an int, got {value!r}")
    if value < 0:
        raise ValueError(f"{name}={value}; accepted: 0 or more")
    return int(value)


def text(value: object, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be a str or None, got {value!r}")
    return value
