"""Errors about the arguments of encodings for graph transformers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from torchcent.check import _cutoff as check_cutoff
from torchcent.check._common import DISTANCE_DTYPES, positive
from torchcent.check._graph import Checked
from torchcent.check._values import number, shortened, whole, within, wrong_value

_WHOLE = (torch.int8, torch.int16, torch.int32, torch.int64)
_FLOATS = (torch.float32, torch.float64)
_MOST = 2**31 - 1  # of max_nodes and walk_length


def dtype(value: object, graph: Checked) -> torch.dtype | None:
    """That of distances, if one is asked for."""
    if value is None:
        return None
    types = _FLOATS if graph.is_weighted else (*_WHOLE, *_FLOATS)
    if not isinstance(value, torch.dtype) or value not in types:
        names = ", ".join(map(str, types))
        of = " with weights" if graph.is_weighted else ""
        raise wrong_value("dtype", f"one of {names}{of}, or None", value)
    return value


def narrowest(
    graph: Checked, largest: int, limit: float, fills: Sequence[object] = ()
) -> torch.dtype:
    """The dtype for distances in graphs of so many vertices."""
    if graph.is_weighted:
        default = torch.get_default_dtype()
        return default if default in _FLOATS else torch.float32
    most = min(float(max(largest - 1, 0)), limit)
    values = (x for x in fills if isinstance(x, (int, float)) and not isinstance(x, bool))
    numbers = [most, *(number(x, "fill") for x in values)]
    for kind in DISTANCE_DTYPES:
        limits = torch.iinfo(kind)
        if all(limits.min <= x <= limits.max for x in numbers):
            return kind
    return torch.int64


def cutoff(value: object) -> float:
    """The largest distance; inf for None."""
    return math.inf if value is None else within(value, "cutoff", "[0, inf]", ">= 0")


def fill(value: object, name: str, kind: torch.dtype) -> float:
    """The value of entries without a distance."""
    padding = number(value, name)
    if not kind.is_floating_point:
        limits = torch.iinfo(kind)
        if not (padding == round(padding) if math.isfinite(padding) else False):
            raise wrong_value(name, f"a whole number with {kind}", value)
        if not max(limits.min, -(2**53)) <= padding <= min(limits.max, 2**53):
            raise ValueError(f"{name}={shortened(value)} does not fit {kind}")
    return padding


def steps(value: object) -> int:
    """Those of a walk."""
    return whole(value, "walk_length", _MOST)


def width(value: object, largest: int) -> int:
    """Vertices to which matrices are padded."""
    size = positive(value, "max_nodes", _MOST) or largest
    if size < largest:
        raise ValueError(
            f"max_nodes={size} is less than the number of vertices of the largest graph, {largest}"
        )
    return size


def path_room(paths: object) -> int | None:
    """Arcs of each path that are returned: 0 for none, None for all."""
    if isinstance(paths, bool):
        return None if paths else 0
    return whole(paths, "paths", _MOST)


def fits(longest: int, kind: torch.dtype) -> None:
    if not kind.is_floating_point and longest > torch.iinfo(kind).max:
        raise OverflowError(f"the distance {longest} does not fit {kind}; pass a wider dtype")


def normalization(value: object) -> str | None:
    """That of a Laplacian."""
    if value is None or (isinstance(value, str) and value in ("sym", "rw")):
        return value
    raise wrong_value("normalization", '"sym", "rw" or None', value)


def times(value: object) -> list[float]:
    """Those of a heat kernel."""
    moments = check_cutoff.values(value, "times")
    several = [moments] if isinstance(moments, float) else moments
    return [within(each, "times", "[0, inf)", "finite and >= 0") for each in several]


def columns(value: object, name: str) -> int:
    """A number of columns."""
    return whole(value, name, 2**20)
