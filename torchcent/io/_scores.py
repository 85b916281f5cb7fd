"""Writes results: named columns of equal length, with geometry or without."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np
from torch import Tensor

from torchcent.check import _files as check_files
from torchcent.check import _positions as check_positions
from torchcent.check import _values as check_values
from torchcent.check._values import shortened
from torchcent.io._cells import column_arrays, objects, plain, write_items
from torchcent.io._files import check_target, replacing, split_suffix
from torchcent.io._write import quoted, write_parquet, write_rows
from torchcent.runtime._optional import need

GEO_SUFFIXES = (".geojson", ".gpkg")
_SUFFIXES = (".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".json", *GEO_SUFFIXES)


def write_scores(
    path: str | os.PathLike[str],
    columns: Mapping[str, Tensor | np.ndarray | Sequence[Any]],
    metadata: Mapping[str, Any] | None = None,
    *,
    escape_formulas: bool = False,
    geometry: Tensor | np.ndarray | None = None,
    crs: str | None = None,
) -> None:
    """Writes scores with their labels. The suffix of ``path`` selects the format.

    ``.csv``, ``.tsv`` and ``.txt`` have a header and one row per entry. ``.npz`` and ``.parquet``
    hold each column under its name. ``.json`` is one object of columns, with ``metadata`` under
    that key; .parquet stores it in the schema. ``.npy`` holds the columns of real numbers only, as
    ``[n]`` or ``[n, k]``. ``.geojson`` and ``.gpkg`` (needs geopandas) hold a point or a line for
    each entry. An existing file is replaced atomically.

    Names are written unchanged. Spreadsheets interpret a cell that begins with ``=``, ``+``, ``-``,
    ``@``, a tab or a carriage return as a formula, and may execute it (``=cmd|...``). If the names
    come from an untrusted source and the file is opened in a spreadsheet, use
    ``escape_formulas=True``: it puts an apostrophe before such names (as OWASP recommends) in .csv,
    .tsv and .txt. Numbers and the other formats are never changed.

    Args:
        path: the file; the suffixes ``.gz``, ``.bz2`` and ``.xz`` compress.
        columns: maps names to values, all of the same length.
        metadata: plain values that describe how the scores were computed.
        escape_formulas: put an apostrophe before names that a spreadsheet interprets as formulas.
        geometry: for .geojson and .gpkg: a point ``[k, 2]`` or a line between two points ``[k, 2,
            2]`` of each entry, x before y; NaN if it is unknown.
        crs: the coordinate system of the geometry, such as ``"EPSG:4326"``. GeoJSON holds degrees:
            other systems are converted, and without a system, numbers are written as they are.

    Raises:
        ImportError: the format needs an extra that is not installed.
        ValueError: the suffix is unknown, the columns have different lengths, or a name is not
            valid text.
        TypeError: an argument has the wrong type.

    Example:
        >>> import pathlib, tempfile, torch
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name) / "scores.csv"
        >>> write_scores(path, {"label": ["Ada", "Bob"], "betweenness": torch.tensor([0.5, 0.0])})
        >>> print(path.read_text(), end="")
        label,betweenness
        Ada,0.5
        Bob,0.0
        >>> folder.cleanup()
    """
    suffix = check_scores_path(path, crs)
    check_values.flag(escape_formulas, "escape_formulas")
    arrays = column_arrays(columns)
    about = _metadata(metadata)
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns differ in length: {lengths}")
    shape = check_positions.geometry(geometry, next(iter(lengths.values()), 0))
    check_positions.crs(crs)
    if suffix in GEO_SUFFIXES and shape is None:
        raise ValueError(f"{path}: {suffix} needs geometry, the coordinates of each entry")
    real = [x for x in arrays.values() if x.dtype.kind == "f"]
    if suffix == ".npy" and not real:
        raise ValueError(f"{path}: .npy holds columns of real numbers, and there are none")
    try:
        with replacing(path) as file:
            if suffix in (".csv", ".tsv", ".txt"):
                write_table(file, arrays, "," if suffix == ".csv" else "\t", escape_formulas)
            elif suffix == ".json":
                _write_json(file, arrays, about)
            elif shape is not None and suffix == ".geojson":
                write_geojson(file, arrays, shape, crs, about)
            elif shape is not None and suffix == ".gpkg":
                write_gpkg(file, arrays, shape, crs)
            elif suffix == ".npy":
                np.save(file, real[0] if len(real) == 1 else np.stack(real, axis=1))
            elif suffix == ".npz":
                fixed: dict[str, Any] = {k: fixed_width(v) for k, v in arrays.items()}
                np.savez_compressed(file, **fixed)
            else:
                write_parquet(file, arrays, about)
    except UnicodeEncodeError as error:  # lone surrogates
        around = error.object[max(error.start - 20, 0) : error.end + 20]
        raise ValueError(f"{path}: {around!r} is not valid UTF-8 text") from None


def check_scores_path(
    path: str | os.PathLike[str], crs: str | None = None, also: Sequence[str] = ()
) -> str:
    """The suffix, if a table can be written to this path; `also` are accepted by the caller."""
    path = check_files.path(path)
    suffix, _ = split_suffix(path)
    if suffix not in _SUFFIXES:
        accepted = " ".join((*_SUFFIXES, *also))
        raise ValueError(f"{path}: unknown suffix {suffix!r}; accepted: {accepted}")
    if suffix == ".parquet":
        need("pyarrow", "io", "writing .parquet")
    if suffix in GEO_SUFFIXES:
        check_geo(suffix, crs)
    check_target(path)
    return suffix


def _metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Checks that the metadata can be represented in JSON."""
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must be a mapping or None, got {shortened(metadata)}")
    about = dict(metadata or {})
    try:
        json.dumps(about)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"metadata must hold plain values: {error}") from None
    return about


#: Characters at which a spreadsheet starts a formula, including their full-width forms.
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def _escaped(names: Iterable[Any]) -> np.ndarray:
    """Puts an apostrophe before names that look like formulas."""
    return objects(f"'{x}" if x.startswith(_FORMULA) else x for x in map(str, names))


def fixed_width(values: np.ndarray) -> np.ndarray:
    """Strings of fixed width; numpy would store objects as pickles."""
    return values.astype(str) if values.dtype == object else values


def write_table(
    file: IO[bytes], arrays: Mapping[str, np.ndarray], separator: str, escape: bool,
    headed: bool = True,
) -> None:  # fmt: skip
    """Writes rows, below one with the names of the columns unless that is there already."""
    comma = separator == ","
    heads = _escaped(arrays) if escape else list(arrays)
    if headed:
        file.write((separator.join(quoted(heads) if comma else heads) + "\n").encode())
    columns = []
    for values in arrays.values():
        if values.dtype == object:
            if escape:
                values = _escaped(values)
            # so that no tab or line end breaks a row
            values = (
                quoted(values) if comma else objects(str(x).translate(_UNBROKEN) for x in values)
            )
        elif values.dtype == np.float32:  # as many digits as float32 needs
            values = objects(map(str, values))
        columns.append(values)
    write_rows(file, columns, separator)


_UNBROKEN = str.maketrans("\t\r\n", "   ")


def _write_json(file: IO[bytes], arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
    content: dict[str, Any] = {"metadata": about} if about else {}
    content |= {name: plain(values) for name, values in arrays.items()}
    file.write((json.dumps(content, ensure_ascii=False) + "\n").encode())


_DIGITS = 9  # decimals of a degree, a tenth of a millimetre; and of other units


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
    """A FeatureCollection (RFC 7946) of points or lines, whose properties are the columns."""
    if crs is not None and not check_positions.is_geographic(crs):
        geometry = _in_degrees(geometry, crs)
    start = {"type": "FeatureCollection"} | ({"metadata": dict(about)} if about else {})
    file.write((json.dumps(start, ensure_ascii=False)[:-1] + ', "features": [').encode())
    write_items(file, _features(columns, np.round(geometry, _DIGITS)))
    file.write(b"\n]}\n")


def _features(columns: Mapping[str, np.ndarray], geometry: np.ndarray) -> Iterator[str]:
    kind = "Point" if geometry.ndim == 2 else "LineString"
    has_place = _known(geometry).tolist()
    values = [plain(column) for column in columns.values()]
    rows = zip(has_place, geometry.tolist(), *values, strict=True)
    for is_known, place, *row in rows:
        shape = {"type": kind, "coordinates": place} if is_known else None
        properties = dict(zip(columns, row, strict=True))
        yield json.dumps(
            {"type": "Feature", "properties": properties, "geometry": shape}, ensure_ascii=False
        )


def _known(geometry: np.ndarray) -> np.ndarray:
    """Which points or lines have finite positions."""
    finite: np.ndarray = np.isfinite(geometry).all(tuple(range(1, geometry.ndim)))
    return finite


def _in_degrees(geometry: np.ndarray, crs: str) -> np.ndarray:
    pyproj = need("pyproj", "geo", f"converting {crs:.40} to degrees")
    try:
        turned = pyproj.Transformer.from_crs(crs, check_positions.WGS84, always_xy=True)
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

    has_place = _known(geometry)
    shapes = np.full(len(geometry), None, object)
    make = shapely.points if geometry.ndim == 2 else shapely.linestrings
    shapes[has_place] = make(geometry[has_place])
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
