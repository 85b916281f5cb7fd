"""Scores with geometry: GeoJSON, and GeoPackage through geopandas."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import IO, Any

import numpy as np

from torchcent.check import _positions as check_positions
from torchcent.runtime._optional import need

SUFFIXES = (".geojson", ".gpkg")
_WGS84 = "EPSG:4326"
_DIGITS = 9  # decimals of a degree, a tenth of a millimetre; and of other units
_CHUNK = 1 << 14


def check_geo(suffix: str, crs: str | None) -> None:
    """Raises ImportError if the file cannot be written."""
    what = f"writing {suffix}"
    if suffix == ".gpkg":
        need("geopandas", "geo", what)
        need("pyogrio", "geo", what)
    elif crs is not None and not check_positions.is_geographic(crs):
        need("geopandas", "geo", f"converting {crs:.40} to the degrees of {suffix}")


def write_geojson(
    file: IO[bytes], columns: Mapping[str, np.ndarray], geometry: np.ndarray, crs: str | None,
    about: Mapping[str, Any],
) -> None:  # fmt: skip
    """A FeatureCollection (RFC 7946) of points or lines, whose properties are the columns.

    Positions in a known system other than degrees are converted to WGS 84, the only system of
    GeoJSON. Those of an unknown one are written as they are.
    """
    if crs is not None and not check_positions.is_geographic(crs):
        geometry = _in_degrees(geometry, crs)
    start = {"type": "FeatureCollection"} | ({"metadata": dict(about)} if about else {})
    file.write((json.dumps(start, ensure_ascii=False)[:-1] + ', "features": [').encode())
    features = _features(columns, np.round(geometry, _DIGITS))
    before = "\n"
    while part := list(islice(features, _CHUNK)):
        file.write((before + ",\n".join(part)).encode())
        before = ",\n"
    file.write(b"\n]}\n")


def _features(columns: Mapping[str, np.ndarray], geometry: np.ndarray) -> Iterator[str]:
    kind = "Point" if geometry.ndim == 2 else "LineString"
    known = _known(geometry).tolist()
    values = [_plain(column) for column in columns.values()]
    rows = zip(known, geometry.tolist(), *values, strict=True)
    for is_known, place, *row in rows:
        shape = {"type": kind, "coordinates": place} if is_known else None
        properties = dict(zip(columns, row, strict=True))
        yield json.dumps(
            {"type": "Feature", "properties": properties, "geometry": shape}, ensure_ascii=False
        )


def _known(geometry: np.ndarray) -> np.ndarray:
    """Which points or lines have finite positions."""
    found: np.ndarray = np.isfinite(geometry).all(tuple(range(1, geometry.ndim)))
    return found


def _plain(column: np.ndarray) -> list[Any]:
    """Values for JSON, which has neither NaN nor infinity; float32 with its own digits."""
    if column.dtype.kind != "f":
        values: list[Any] = column.tolist()
        return values
    found = [float(str(x)) for x in column] if column.dtype == np.float32 else column.tolist()
    finite = np.isfinite(column).tolist()
    return [x if known else None for x, known in zip(found, finite, strict=True)]


def _in_degrees(geometry: np.ndarray, crs: str) -> np.ndarray:
    pyproj = need("pyproj", "geo", f"converting {crs:.40} to degrees")
    try:
        turned = pyproj.Transformer.from_crs(crs, _WGS84, always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise ValueError(f"crs={crs!r:.60}: {str(error)[:120]}") from None
    x, y = turned.transform(geometry[..., 0], geometry[..., 1])
    return np.stack([x, y], -1)


def write_gpkg(
    file: IO[bytes], columns: Mapping[str, np.ndarray], geometry: np.ndarray, crs: str | None
) -> None:
    """A GeoPackage with one layer, in the system of the positions."""
    geopandas = need("geopandas", "geo", "writing .gpkg")
    import shapely

    known = _known(geometry)
    shapes = np.full(len(geometry), None, object)
    make = shapely.points if geometry.ndim == 2 else shapely.linestrings
    shapes[known] = make(geometry[known])
    try:
        frame = geopandas.GeoDataFrame(dict(columns), geometry=shapes, crs=crs)
    except Exception as error:  # of pyproj: not a coordinate system
        if crs is None or "crs" not in str(error).lower():
            raise
        raise ValueError(f"crs={crs!r:.60}: {str(error)[:120]}") from None
    whole = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an unknown system
        frame.to_file(whole, driver="GPKG", layer="scores", engine="pyogrio")
    file.write(whole.getbuffer())
