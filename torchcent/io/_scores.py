"""Results out: named columns of equal length."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np
from torch import Tensor

from torchcent.io._arrays import need
from torchcent.io._files import check_folder, replacing, split_suffix
from torchcent.io._write import quoted, write_rows

_SUFFIXES = (".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".json")


def write_scores(
    path: str | os.PathLike[str],
    columns: Mapping[str, Tensor | np.ndarray | Sequence[Any]],
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Writes scores with their labels by the suffix of ``path``.

    ``.csv``, ``.tsv`` and ``.txt`` are a header and a row each; ``.npz`` and ``.parquet`` hold
    every column under its name; ``.json`` is one object of columns, with ``metadata`` under that
    key (in .parquet, in the schema); ``.npy`` is the columns of real numbers alone, ``[n]`` or
    ``[n, k]``. The old file stays whole until the new one is.

    Args:
        path: the file; ``.gz``, ``.bz2`` or ``.xz`` at the end compresses.
        columns: name to values, all of one length.
        metadata: plain values on how the scores came about.

    Raises:
        ValueError: unknown suffix, or columns of different lengths.

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
    suffix = check_scores_path(path)
    arrays = {name: _array(values) for name, values in columns.items()}
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns differ in length: {lengths}")
    with replacing(path) as file:
        if suffix in (".csv", ".tsv", ".txt"):
            _write_table(file, arrays, "," if suffix == ".csv" else "\t")
        elif suffix == ".json":
            _write_json(file, arrays, metadata or {})
        elif suffix == ".npy":
            real = [x for x in arrays.values() if x.dtype.kind == "f"]
            np.save(file, real[0] if len(real) == 1 else np.stack(real, axis=1))
        elif suffix == ".npz":
            fixed: dict[str, Any] = {k: fixed_width(v) for k, v in arrays.items()}
            np.savez_compressed(file, **fixed)
        else:
            import pyarrow as pa
            from pyarrow import parquet

            table = pa.table({k: pa.array(v) for k, v in arrays.items()})
            own = {"torchcent": json.dumps(dict(metadata or {}))}
            parquet.write_table(table.replace_schema_metadata(own), file)


def check_scores_path(path: str | os.PathLike[str]) -> str:
    """The suffix of a table that can be written there; an error where it cannot."""
    suffix, _ = split_suffix(path)
    if suffix not in _SUFFIXES:
        raise ValueError(f"{path}: unknown suffix {suffix!r}; accepted: {' '.join(_SUFFIXES)}")
    if suffix == ".parquet":
        need("pyarrow", "io", "writing .parquet")
    check_folder(path)
    return suffix


def _array(values: Tensor | np.ndarray | Sequence[Any]) -> np.ndarray:
    if isinstance(values, Tensor):
        return np.asarray(values.detach().cpu().numpy())
    array = np.asarray(values)
    if array.dtype.kind in "iufO":
        return array
    names = np.empty(len(array), object)
    names[:] = [str(x) for x in array.tolist()]
    return names


def fixed_width(values: np.ndarray) -> np.ndarray:
    """Strings of fixed width: numpy stores objects only as pickles."""
    return values.astype(str) if values.dtype == object else values


def _write_table(file: IO[bytes], arrays: dict[str, np.ndarray], separator: str) -> None:
    comma = separator == ","
    file.write((separator.join(quoted(arrays) if comma else arrays) + "\n").encode())
    shown = []
    for values in arrays.values():
        if values.dtype == object:
            values = quoted(values) if comma else _unbroken(values)
        elif values.dtype == np.float32:  # as many digits as float32 needs, no more
            values = np.array([str(x) for x in values], object)
        shown.append(values)
    write_rows(file, shown, separator)


def _unbroken(values: np.ndarray) -> np.ndarray:
    """Names that do not break a row: a tab or a line end inside becomes a blank."""
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
        if values.dtype.kind == "f":  # JSON has no NaN and no infinity
            content[name] = [x if math.isfinite(x) else None for x in content[name]]
    file.write((json.dumps(content, ensure_ascii=False) + "\n").encode())
