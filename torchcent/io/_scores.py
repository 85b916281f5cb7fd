"""Writes results: named columns of equal length."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _files as check_files
from torchcent.check import _positions as check_positions
from torchcent.check import _values as check_values
from torchcent.check._values import shortened
from torchcent.io import _geo
from torchcent.io._files import check_target, replacing, split_suffix
from torchcent.io._write import quoted, write_rows
from torchcent.runtime._optional import need

_SUFFIXES = (".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".json", *_geo.SUFFIXES)


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
    if not isinstance(columns, Mapping) or not all(isinstance(x, str) for x in columns):
        raise TypeError(f"columns must be a mapping of names to values, got {shortened(columns)}")
    about = _metadata(metadata)
    arrays = {name: _array(name, values) for name, values in columns.items()}
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns differ in length: {lengths}")
    shape = check_positions.geometry(geometry, next(iter(lengths.values()), 0))
    check_positions.crs(crs)
    if suffix in _geo.SUFFIXES and shape is None:
        raise ValueError(f"{path}: {suffix} needs geometry, the coordinates of each entry")
    real = [x for x in arrays.values() if x.dtype.kind == "f"]
    if suffix == ".npy" and not real:
        raise ValueError(f"{path}: .npy holds columns of real numbers, and there are none")
    with _naming_the_text(path), replacing(path) as file:
        if suffix in (".csv", ".tsv", ".txt"):
            _write_table(file, arrays, "," if suffix == ".csv" else "\t", escape_formulas)
        elif suffix == ".json":
            _write_json(file, arrays, about)
        elif shape is not None and suffix == ".geojson":
            _geo.write_geojson(file, arrays, shape, crs, about)
        elif shape is not None and suffix == ".gpkg":
            _geo.write_gpkg(file, arrays, shape, crs)
        elif suffix == ".npy":
            np.save(file, real[0] if len(real) == 1 else np.stack(real, axis=1))
        elif suffix == ".npz":
            fixed: dict[str, Any] = {k: fixed_width(v) for k, v in arrays.items()}
            np.savez_compressed(file, **fixed)
        else:
            import pyarrow as pa
            from pyarrow import parquet

            table = pa.table({k: pa.array(v) for k, v in arrays.items()})
            own = {"torchcent": json.dumps(about)}
            parquet.write_table(table.replace_schema_metadata(own), file)


@contextlib.contextmanager
def _naming_the_text(path: str | os.PathLike[str]) -> Iterator[None]:
    """Reports names with lone surrogates, which cannot be encoded as UTF-8."""
    try:
        yield
    except UnicodeEncodeError as error:
        around = error.object[max(error.start - 20, 0) : error.end + 20]
        raise ValueError(f"{path}: {around!r} is not valid UTF-8 text") from None


def check_scores_path(path: str | os.PathLike[str], crs: str | None = None) -> str:
    """Returns the suffix; raises an error if a table cannot be written to this path."""
    path = check_files.path(path)
    suffix, _ = split_suffix(path)
    if suffix not in _SUFFIXES:
        raise ValueError(f"{path}: unknown suffix {suffix!r}; accepted: {' '.join(_SUFFIXES)}")
    if suffix == ".parquet":
        need("pyarrow", "io", "writing .parquet")
    if suffix in _geo.SUFFIXES:
        _geo.check_geo(suffix, crs)
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


def _array(name: str, values: Tensor | np.ndarray | Sequence[Any]) -> np.ndarray:
    if isinstance(values, Tensor):
        if values.is_nested or values.layout != torch.strided or values.device.type == "meta":
            raise TypeError(f"column {name!r} must be a dense tensor with data")
        values = values.detach().cpu()
        array = (values.float() if values.dtype == torch.bfloat16 else values).numpy()
    else:
        try:
            array = np.asarray(values)
        except ValueError:  # lists of different lengths
            raise ValueError(f"column {name!r} must be one-dimensional") from None
    if array.ndim != 1:
        raise ValueError(f"column {name!r} must be one-dimensional, got {list(array.shape)}")
    if array.dtype.kind in "iufO":
        return array
    names = np.empty(len(array), object)
    names[:] = [str(x) for x in array.tolist()]
    return names


#: Characters at which a spreadsheet starts a formula, including their full-width forms.
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def _escaped(names: Iterable[str]) -> np.ndarray:
    """Puts an apostrophe before names that look like formulas."""
    shown = [f"'{x}" if x.startswith(_FORMULA) else x for x in names]
    array = np.empty(len(shown), object)
    array[:] = shown
    return array


def fixed_width(values: np.ndarray) -> np.ndarray:
    """Returns strings of fixed width; numpy would store objects as pickles."""
    return values.astype(str) if values.dtype == object else values


def _write_table(
    file: IO[bytes], arrays: dict[str, np.ndarray], separator: str, escape: bool
) -> None:
    comma = separator == ","
    heads = _escaped(arrays) if escape else list(arrays)
    file.write((separator.join(quoted(heads) if comma else heads) + "\n").encode())
    shown = []
    for values in arrays.values():
        if values.dtype == object:
            if escape:
                values = _escaped(x if isinstance(x, str) else str(x) for x in values)
            values = quoted(values) if comma else _unbroken(values)
        elif values.dtype == np.float32:  # as many digits as float32 needs
            values = np.array([str(x) for x in values], object)
        shown.append(values)
    write_rows(file, shown, separator)


def _unbroken(values: np.ndarray) -> np.ndarray:
    """Replaces tabs and line ends in names by blanks, so that no name breaks a row."""
    table = str.maketrans("\t\r\n", "   ")
    return np.array([str(x).translate(table) for x in values] or [], object)


def _write_json(
    file: IO[bytes], arrays: dict[str, np.ndarray], metadata: Mapping[str, Any]
) -> None:
    content: dict[str, Any] = {"metadata": dict(metadata)} if metadata else {}
    for name, values in arrays.items():
        if values.dtype == np.float32:
            content[name] = [float(str(x)) for x in values]
        else:
            content[name] = values.tolist()
        if values.dtype.kind == "f":  # JSON has neither NaN nor infinity
            content[name] = [x if math.isfinite(x) else None for x in content[name]]
    file.write((json.dumps(content, ensure_ascii=False) + "\n").encode())
