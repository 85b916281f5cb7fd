"""Edge tables in .parquet."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from torchcent.check import _columns as check_columns
from torchcent.graph import _naming
from torchcent.io._arrays import as_ids, claimed_count, parsing
from torchcent.io._budget import Budget
from torchcent.io._doubts import of_square
from torchcent.io._edge_list import EdgeList
from torchcent.io._layout import Declared, roles
from torchcent.io._matrix import finite_weight
from torchcent.io._options import Options
from torchcent.io._rows import Columns
from torchcent.io._text import edge_list
from torchcent.runtime._optional import need

_LENGTH, _OFFSET = 4, 8  # bytes beside each name, in a file and in memory
_FULL = 2**19  # bytes of a dictionary beyond which names may follow that are not in it
_INDEX = "__index_level_0__"  # where pandas writes the labels of rows


def read_parquet(data: bytes, limits: Budget, options: Options) -> EdgeList:
    """Reads the columns that are chosen or called like ends and weights, else the first two."""
    path, choice = limits.path, options.choice
    pa = need("pyarrow", "io", "reading .parquet")
    parquet = need("pyarrow.parquet", "io", "reading .parquet")
    need("pyarrow.compute", "io", "reading .parquet")
    with parsing(path, "a parquet file"):
        file = parquet.ParquetFile(pa.BufferReader(data))
        schema, metadata = file.schema_arrow, file.metadata
    heads = schema.names
    if len(heads) < 2:
        raise ValueError(f"{path}: {len(heads)} column; an edge needs two, source and target")
    _refuse_matrix(path, file)
    numeric = [_is_number(pa, schema.field(k).type) for k in range(len(heads))]
    *places, weighted, remarks = roles(path, heads, choice, numeric)
    if check_columns.ends(heads) is None and choice.source is None and choice.target is None:
        size = sum(not check_columns.is_index(name) for name in heads)
        if size == metadata.num_rows > 2 and all(numeric):
            remarks += (of_square(size, "pandas.read_parquet(...)"),)
    ends = [heads[k] for k in places]
    length = None if weighted is None else heads[weighted]
    fields = [*ends, *([] if length is None else [length])]
    for name in fields:
        if heads.count(name) > 1:
            raise ValueError(f"{path}: {heads.count(name)} columns {name!r}; accepted: one")
    limits.allow(8 * 8 * metadata.num_rows, f"{metadata.num_rows} rows")
    groups = [metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups)]
    limits.allow(2 * sum(groups), "what the row groups expand to")
    # keep the dictionary encoding of string columns: decoding could repeat a name arbitrarily often
    coded = [x for x in fields if _is_text(pa, schema.field(x).type)]
    with parsing(path, "a parquet file"):
        file = parquet.ParquetFile(pa.BufferReader(data), read_dictionary=coded)
        coded = [name for name in coded if not _has_many(pa, file, name, limits)]
        file = parquet.ParquetFile(pa.BufferReader(data), read_dictionary=coded)
        table = file.read(columns=fields)
        if not set(fields) <= set(table.column_names):
            raise ValueError("its columns are not those of its schema")
        own = _own_metadata(table.schema.metadata)
    columns = [_column(path, pa, name, table[name]) for name in ends]
    isolated = own.get("isolated", [])
    count = None if own.get("num_nodes") is None else claimed_count(path, own["num_nodes"])
    weight = None
    if length is not None:
        with parsing(path, "a parquet file"):
            values = table[length].to_numpy()
            if pa.types.is_decimal(table[length].type):
                values = values.astype(np.float64)
        weight = finite_weight(path, values, f"column {length!r}: ")
    names = None
    integers = [pa.types.is_integer(c.type) for c in columns]
    if all(integers):
        with parsing(path, "a parquet file"):
            ids = [c.to_numpy() for c in columns]
            shared = check_columns.shared_ids(ends, *ids)
            isolated = np.array(isolated, np.int64).reshape(len(isolated)).tolist()
        remarks += () if shared is None else (shared,)
        source, target = (as_ids(path, repr(x), c) for x, c in zip(ends, ids, strict=True))
    elif any(integers):
        raise ValueError(
            f"{path}: mixed labels: {ends[integers.index(True)]!r} holds numbers, "
            f"{ends[integers.index(False)]!r} {columns[integers.index(False)].type}"
        )
    else:
        with parsing(path, "a parquet file"):
            (source, target), names = _codes(columns, limits)
        words = [*names, *isolated]
        if "" in words:
            rows = np.flatnonzero((source == words.index("")) | (target == words.index("")))
            where = f"row {rows[0] + 1}" if len(rows) else "a dictionary or the metadata"
            raise ValueError(f"{path}: a vertex without a name in {where}")
        if not all(isinstance(x, str) for x in isolated):
            raise ValueError(f"{path}: 'isolated' in its metadata holds other things than names")
    if options.directed is None and "directed" not in own:
        remarks += check_columns.direction(ends)
    for remark in remarks:
        warnings.warn(f"{path}: {remark}", stacklevel=4)
    header = Declared(count, bool(own.get("directed")), vertices=list(map(str, isolated)))
    return edge_list(limits, Columns((source, target), names, weight), header, options)


def _refuse_matrix(path: str, file: Any) -> None:
    """Refuses a data frame whose rows and columns have the same labels."""
    names = file.schema_arrow.names
    if _INDEX not in names or file.metadata.num_rows != len(names) - 1:
        return
    with parsing(path, "a parquet file"):
        index = file.read(columns=[_INDEX]).column(0).to_pylist()
    if list(map(str, index)) == [name for name in names if name != _INDEX]:
        raise ValueError(
            f"{path}: a matrix with names of its rows and columns, not a table of edges; "
            "pandas.read_parquet makes a table of it that is taken as a graph"
        )


def _is_number(pa: Any, kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _is_text(pa: Any, kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _own_metadata(metadata: Mapping[bytes, bytes] | None) -> dict[str, Any]:
    """The metadata that torchcent.write stores in a schema."""
    own = json.loads((metadata or {}).get(b"torchcent", b"{}"))
    if not isinstance(own, dict) or not isinstance(own.get("isolated", []), list):
        raise ValueError("the metadata 'torchcent' are not those that torchcent.write leaves")
    return own


def _column(path: str, pa: Any, name: str, column: Any) -> Any:
    """Checks a column of vertices: integers or names."""
    if column.null_count:
        raise ValueError(f"{path}: column {name!r} has {column.null_count} empty entries")
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    text = _is_text(pa, kind) or pa.types.is_null(kind)
    if not text and not pa.types.is_integer(kind):
        raise ValueError(f"{path}: column {name!r} holds {kind}; accepted: integers or strings")
    if pa.types.is_dictionary(column.type) and not text:
        return column.cast(kind)
    return column


def _has_many(pa: Any, file: Any, name: str, limits: Budget) -> bool:
    """Whether a column has so many names that it is read as it is, and no long one too often.

    Writers that have filled a dictionary, of about a megabyte, go on with names as they are, which
    take Arrow long to look up. A dictionary is read with the first row of its group. There is one
    at most, so that its longest name says what all rows may take.
    """
    most, is_full = 0, False
    for k in range(file.num_row_groups):
        group = file.metadata.row_group(k)
        rows = file.iter_batches(batch_size=1, row_groups=[k], columns=[name])
        words = next((batch.column(0).dictionary for batch in rows), ())
        if len(words) < 2:  # a dictionary may come later
            return False
        sizes = pa.compute.binary_length(words).drop_null().to_numpy(zero_copy_only=False)
        most += group.num_rows * (int(sizes.max(initial=0)) + _OFFSET) + group.total_byte_size
        is_full |= int(sizes.sum()) + _LENGTH * len(words) > _FULL
    return is_full and most <= limits.limit // 4


def _codes(columns: list[Any], limits: Budget) -> tuple[np.ndarray, list[str]]:
    """Positions ``[2, E]`` in a list of distinct names."""
    if not any(map(_naming.is_coded, columns)):
        texts = list(map(_naming.of_arrow, columns))
        numbering = _naming.of_text(texts, 2, ordered=True)
        if numbering is not None:
            limits.allow(400 * len(numbering[1]), "the names of vertices")
            return numbering[0].numpy(), numbering[1].tolist()
    coded = [x if _naming.is_coded(x) else x.dictionary_encode() for x in columns]
    codes, words = _naming.places(coded)
    limits.allow(400 * len(words), "the names of vertices")
    if words.null_count:
        raise ValueError("a name is missing")
    number, names = _naming.distinct(words, ordered=True)
    return number[codes], names
