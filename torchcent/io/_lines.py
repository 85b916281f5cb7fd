"""What lines are as streets: their parts, ends, lengths and directions."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

import numpy as np

from torchcent.check import _values as check_values
from torchcent.check._values import shortened
from torchcent.runtime._optional import need

_LINES = (1, 2, 5)  # type ids of shapely: LineString, LinearRing, MultiLineString
_MULTI = 5
#: words for the direction of a street: of OSM and osmnx, Geofabrik, TomTom
_FORWARD = frozenset(("yes", "true", "1", "1.0", "f", "ft", "forward"))
_BACKWARD = frozenset(("-1", "-1.0", "reverse", "t", "tf", "backward"))
_BOTH = frozenset(("no", "false", "0", "0.0", "b", "", "none", "nan", "<na>", "both"))
_MERCATOR = (3857, 3785, 900913, 102100, 102113)


def warn(text: str) -> None:
    """Warns at the caller's line: lines of files and of frames are read at different depths."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("torchcent."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def tolerance(value: object) -> float:
    number = check_values.number(value, "tolerance")
    if not 0 <= number < math.inf:
        raise ValueError(f"tolerance={shortened(value)}; accepted: 0 or more")
    return number


def with_system(path: str, frame: Any, crs: str | None) -> Any:
    """The frame with its coordinate system, the rows numbered and names of rows as columns."""
    names = [name for name in frame.index.names if name is not None]
    keep = bool(names) and not set(names) & set(frame.columns)
    frame = frame.reset_index(drop=not keep)
    if crs is None:
        return frame
    try:
        return frame.set_crs(crs)
    except Exception as error:  # of pyproj: no system; of geopandas: it has another
        raise ValueError(f"{path}: crs={crs!r:.60}: {str(error)[:160]}") from None


def single(path: str, shapely: Any, frame: Any) -> tuple[Any, np.ndarray]:
    """The frame with a row per line: lines of several parts are joined, or else divided."""
    shapes = np.array(frame.geometry.values, object)
    kinds = shapely.get_type_id(shapes)
    empty = shapely.is_missing(shapes) | shapely.is_empty(shapes)
    wrong = np.flatnonzero(~empty & ~np.isin(kinds, _LINES))
    if len(wrong):
        raise ValueError(
            f"{path}: row {wrong[0]} is a {shapes[wrong[0]].geom_type}, as are {len(wrong):,} "
            "rows no lines; accepted: LineString and MultiLineString"
        )
    several = ~empty & (kinds == _MULTI)
    if not several.any():
        return frame, shapes
    shapes[several] = shapely.line_merge(shapes[several], directed=True)
    shapes[empty] = None
    parts, row = shapely.get_parts(shapes, return_index=True)
    row = np.concatenate([row, np.flatnonzero(empty)])
    shapes = np.concatenate([parts, np.full(int(empty.sum()), None, object)])
    order = np.argsort(row, kind="stable")
    frame = frame.iloc[row[order]].reset_index(drop=True)
    return frame.set_geometry(np.ascontiguousarray(shapes[order]), crs=frame.crs), shapes[order]


def ends(shapely: Any, shapes: np.ndarray) -> np.ndarray:
    """x and y of the first and the last points, [k, 2, 2]; -0.0 and 0.0 are one place."""
    places, row = shapely.get_coordinates(shapes, return_index=True)
    lines = np.arange(len(shapes))
    at = np.searchsorted(row, lines), np.searchsorted(row, lines, "right") - 1
    both: np.ndarray = places[np.stack(at, 1)] + 0.0
    return both


def lengths(path: str, shapely: Any, frame: Any, shapes: np.ndarray) -> np.ndarray:
    """The lengths of lines in the plane, or on the ellipsoid in metres; NaN where there is none."""
    system = frame.crs
    if system is not None and system.is_geographic:
        return _geodesic(shapely, shapes, system.get_geod())
    if system is None:
        warn(
            f"{path}: no coordinate system; lengths are those of the plane, crs= (--crs) names one",
        )
    elif system.to_epsg() in _MERCATOR:
        warn(
            f"{path}: lengths in Web Mercator ({system.to_string()}) are too long, at 50 degrees "
            "by more than half; to_crs(frame.estimate_utm_crs()) of geopandas gives metres",
        )
    length: np.ndarray = shapely.length(shapes)
    return length


def _geodesic(shapely: Any, shapes: np.ndarray, geod: Any) -> np.ndarray:
    place, row = shapely.get_coordinates(shapes, return_index=True)
    within = row[1:] == row[:-1]
    begin, end = place[:-1][within], place[1:][within]
    *_, step = geod.inv(begin[:, 0], begin[:, 1], end[:, 0], end[:, 1])
    length: np.ndarray = np.bincount(row[1:][within], step, minlength=len(shapes))
    return length


def length_column(path: str, frame: Any, name: str) -> np.ndarray:
    """The lengths of a column as float64; all rows that count are finite and positive."""
    values = _column(path, frame, name, "length")
    try:
        if values.dtype.kind not in "iuf" and values.dtype.name not in ("Float64", "Int64"):
            raise ValueError
        length = values.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError, AttributeError):
        raise ValueError(
            f"{path}: length={name!r} (--weight-column) holds {values.dtype}; accepted: numbers"
        ) from None
    has_shape = ~(frame.geometry.is_empty | frame.geometry.isna()).to_numpy()
    wrong = np.flatnonzero(has_shape & ~(np.isfinite(length) & (length > 0)))
    if len(wrong):
        raise ValueError(
            f"{path}: {name!r} of row {wrong[0]} is {length[wrong[0]]:g}; accepted: finite and > 0"
        )
    return np.array(length, np.float64)


def _column(path: str, frame: Any, name: str, argument: str) -> Any:
    if name not in frame.columns or name == frame.geometry.name:
        others = ", ".join(map(repr, frame.columns.drop(frame.geometry.name)))[:200]
        what = f"{argument}={shortened(name)} is no column"
        raise ValueError(f"{path}: {what}; accepted: {others or 'none'}")
    return frame[name]


def oneway(path: str, frame: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Whether each street leads along its line, and against it."""
    code, values = _column(path, frame, name, "oneway").factorize()
    words = np.array([*(str(value).strip().lower() for value in values), ""], object)
    known = set(words)
    if known & {"t", "f"} and not known & {"b", "ft", "tf"}:
        warn(
            f"{path}: T and F in {name!r} are read as Geofabrik writes them, against the line and "
            "along it, not as true and false",
        )
    other = np.array([word not in _FORWARD | _BACKWARD | _BOTH for word in words], bool)
    if other.any():
        examples = ", ".join(map(repr, sorted(words[other])[:3]))
        warn(
            f"{path}: {int(other[code].sum()):,} streets with {name!r} of {examples} are taken as "
            "both ways",
        )
    along = np.array([word in _FORWARD for word in words], bool)[code]
    against = np.array([word in _BACKWARD for word in words], bool)[code]
    return ~against, ~along


def has_both_directions(frame: Any, lines: np.ndarray, vertices: np.ndarray) -> bool:
    """Whether it is an edge table of osmnx that has both arcs of every two-way street."""
    if not {"u", "v", "key", "oneway"} <= set(frame.columns):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        along, against = oneway("", frame.iloc[lines], "oneway")
    two_way = vertices[along & against]
    two_way = two_way[two_way[:, 0] != two_way[:, 1]]
    arcs = set(map(tuple, vertices.tolist()))
    return all((v, u) in arcs for u, v in two_way.tolist())


def _names_of_ends(frame: Any) -> list[str] | None:
    """The columns with the ids of both ends in an edge table of osmnx, in the direction of lines.

    Where it has each street once, u and v are in any order.
    """
    if not {"u", "v", "key"} <= set(frame.columns):
        return None
    for names in (["from", "to"], ["u", "v"]):
        if set(names) <= set(frame.columns) and all(frame[x].dtype.kind in "iu" for x in names):
            return names
    return None


def vertices(
    frame: Any, lines: np.ndarray, places: np.ndarray, near: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The vertices [k, 2] where lines end, their positions, and their labels if these are known.

    Args:
        places: [k, 2, 2], the coordinates of both ends.
        near: ends up to so far apart are one place.
    """
    flat, labels = places.reshape(-1, 2), None
    names = _names_of_ends(frame)
    if names is not None:
        ids = frame[names].to_numpy(np.int64)[lines].reshape(-1)
        labels, first, number = np.unique(ids, return_index=True, return_inverse=True)
    else:
        _, first, number = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    number = np.argsort(order)[number.reshape(-1)]
    positions = flat[first[order]]
    labels = None if labels is None else labels[order]
    if near > 0 and len(positions):
        number, positions, labels = _joined(number, positions, labels, near)
    return number.reshape(-1, 2), positions, labels


def _joined(
    number: np.ndarray, positions: np.ndarray, labels: np.ndarray | None, near: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The same with places that are near one another as one, the first of them."""
    need("scipy", "geo", "a tolerance")
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    n = len(positions)
    pairs = KDTree(positions).query_pairs(near, output_type="ndarray")
    links = coo_array((np.ones(len(pairs), bool), pairs.T), shape=(n, n))
    group = connected_components(links, directed=False)[1]
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    group = np.argsort(order)[group.reshape(-1)]
    first = first[order]
    return group[number], positions[first], None if labels is None else labels[first]
