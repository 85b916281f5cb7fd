"""Errors about positions of vertices and their coordinate systems."""

from __future__ import annotations

import re

import numpy as np
import torch
from torch import Tensor

from torchcent.check._values import dense, shortened, wrong_type

WGS84 = "EPSG:4326"
#: geographic systems: WGS 84 in two and three dimensions, NAD 83, NAD 27, ETRS 89, OGC's WGS 84
_DEGREES = {WGS84, "EPSG:4979", "EPSG:4269", "EPSG:4267", "EPSG:4258", "OGC:CRS84"}


def crs(value: object, name: str = "crs") -> str | None:
    """A coordinate system such as EPSG:4326, or its definition as text."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise wrong_type(name, "a str or None", value)
    if not re.match(r"\w", value):
        raise ValueError(f"{name}={shortened(value)}; accepted: a system such as 'EPSG:4326'")
    return value


def of_vertices(value: object, num_nodes: int) -> None:
    """float64 [n, 2]."""
    if value is None:
        return
    if not isinstance(value, Tensor):
        raise wrong_type("positions", "a tensor or None", type(value))
    dense(value, "positions")
    if value.dtype != torch.float64:
        raise TypeError(f"positions must be float64, got {value.dtype}")
    if value.shape != (num_nodes, 2):
        raise ValueError(f"positions must have shape [{num_nodes}, 2], got {list(value.shape)}")


def geometry(value: object, size: int) -> np.ndarray | None:
    """float64 [k, 2] or [k, 2, 2]."""
    if value is None:
        return None
    array = numbers(value, "geometry")
    if array.shape not in ((size, 2), (size, 2, 2)):
        raise ValueError(
            f"geometry must have shape [{size}, 2] or [{size}, 2, 2], got {list(array.shape)}"
        )
    return array


def numbers(value: object, name: str) -> np.ndarray:
    """Real numbers of a tensor, an array or a list, as a float64 array of the same shape."""
    if isinstance(value, Tensor):
        dense(value, name)
        value = value.detach().cpu().resolve_conj()
        value = (value.double() if value.is_floating_point() else value).numpy()
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        raise wrong_type(name, "real numbers", value) from None
    if array.dtype.kind not in "iuf":
        shown = array.dtype if array is value else value
        raise wrong_type(name, "real numbers", shown)
    return array.astype(np.float64)


def is_geographic(system: str | None) -> bool:
    """Whether x and y are longitude and latitude in degrees."""
    return system is not None and system.strip().upper() in _DEGREES


def within(where: str, positions: np.ndarray, system: str | None) -> None:
    """Longitude and latitude, where the system has them."""
    if not is_geographic(system):
        return
    most = np.nanmax(np.abs(positions), axis=0, initial=0.0)
    if most[0] > 360 or most[1] > 90:
        raise ValueError(
            f"{where}: positions up to x={most[0]:g}, y={most[1]:g} are no degrees of longitude "
            f"and latitude; crs= (--crs) names another system than {system}"
        )


def points(value: object, num_nodes: int) -> Tensor:
    """float64 [n, 2] on the host, from any real numbers."""
    array = numbers(value, "positions")
    if array.shape != (num_nodes, 2):
        raise ValueError(f"positions must have shape [{num_nodes}, 2], got {list(array.shape)}")
    place = torch.from_numpy(array)
    wrong = (~torch.isfinite(place)).any(1).nonzero()
    if wrong.numel():
        raise ValueError(f"positions[{int(wrong[0])}] must be finite, got {place[wrong[0, 0]]}")
    return place
