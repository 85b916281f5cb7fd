"""Formats that libraries read: .npz, .npy, .pt, .parquet, GraphML and GML."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import re
import zipfile
from typing import Any

import numpy as np
import torch

from torchcent.io._edge_list import EdgeList, number_names, number_vertices
from torchcent.io._matrix import finite_weight


def need(module: str, extra: str, what: str) -> Any:
    """Imports an optional package; without it ImportError names the extra to install."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {module.split('.')[0]}: pip install torchcent[{extra}]"
        ) from error


def read_npz(path: str, data: bytes, directed: bool | None) -> EdgeList:
    """A scipy sparse matrix: a symmetric one is undirected, any other directed."""
    import scipy.sparse

    try:
        matrix = scipy.sparse.load_npz(io.BytesIO(data))
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: not a scipy sparse matrix in .npz ({error})") from None
    if matrix.shape[0] != matrix.shape[1]:
        shape = " x ".join(map(str, matrix.shape))
        raise ValueError(f"{path}: a {shape} matrix; an adjacency matrix is square")
    matrix = matrix.tocoo()
    if directed is None:
        ones = np.ones(len(matrix.data), bool)  # an entry of 0 is an edge too
        pattern = scipy.sparse.csr_array((ones, (matrix.row, matrix.col)), matrix.shape)
        directed = bool((pattern != pattern.T).nnz or (matrix != matrix.T).nnz)
    weight = None
    if matrix.dtype != bool and (matrix.data != 1).any():
        weight = torch.from_numpy(finite_weight(path, matrix.data))
    index = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
    return EdgeList(index, weight, None, matrix.shape[0], directed)


def read_npy(path: str, data: bytes, directed: bool | None, num_nodes: int | None) -> EdgeList:
    """An integer array ``[2, E]`` or ``[E, 2]`` (``[2, 2]`` is taken for ``[2, E]``)."""
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path}: not a .npy array ({error})") from None
    return _from_array(path, array, None, None, num_nodes, bool(directed))


def _from_array(
    path: str,
    array: np.ndarray,
    weight: np.ndarray | None,
    labels: Any,
    num_nodes: int | None,
    directed: bool,
) -> EdgeList:
    if array.ndim != 2 or 2 not in array.shape:
        raise ValueError(f"{path}: shape {list(array.shape)}; accepted: [2, E] or [E, 2]")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{path}: dtype {array.dtype}; vertex ids are integers")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{path}: id {array.max()} does not fit into int64")
    index = (array if array.shape[0] == 2 else array.T).astype(np.int64)
    if labels is None:
        index, labels, num_nodes = number_vertices(path, index, num_nodes=num_nodes)
    return EdgeList(
        torch.from_numpy(np.ascontiguousarray(index)),
        None if weight is None else torch.from_numpy(finite_weight(path, weight)),
        labels,
        -1 if num_nodes is None else num_nodes,
        directed,
    )


def read_pt(path: str, data: bytes, directed: bool | None, num_nodes: int | None) -> EdgeList:
    """A tensor ``[2, E]``, or a dictionary with ``edge_index`` and, if it has them,
    ``edge_weight``, ``num_nodes``, ``directed``, ``labels``. Tensors and plain values only: no
    code in the file is run."""
    try:
        content = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
    except pickle.UnpicklingError:
        raise ValueError(
            f"{path}: not tensors and plain values only; save a tensor or a dictionary "
            "{'edge_index': ..., 'num_nodes': ...} (of a PyG Data: data.to_dict())"
        ) from None
    except Exception as error:  # arbitrary bytes make the unpickler fail in any way
        reason = str(error).split("\n")[0][:80]
        raise ValueError(f"{path}: not a PyTorch file ({reason})") from None
    if isinstance(content, torch.Tensor):
        content = {"edge_index": content}
    if not isinstance(content, dict) or not isinstance(content.get("edge_index"), torch.Tensor):
        raise ValueError(f"{path}: holds neither a tensor nor a dictionary with 'edge_index'")
    weight = content.get("edge_weight")
    known = content.get("num_nodes")
    try:
        return _from_array(
            path,
            content["edge_index"].numpy(),
            None if weight is None else weight.double().numpy(),
            content.get("labels"),
            int(known) if num_nodes is None and known is not None else num_nodes,
            bool(content.get("directed", False) if directed is None else directed),
        )
    except (TypeError, AttributeError) as error:
        raise ValueError(f"{path}: {error}") from None


def read_parquet(path: str, data: bytes, directed: bool | None, num_nodes: int | None) -> EdgeList:
    """Columns ``source`` and ``target`` (else the first two), and ``weight`` if there is one."""
    pa = need("pyarrow", "io", "reading .parquet")
    parquet = need("pyarrow.parquet", "io", "reading .parquet")
    try:
        table = parquet.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not a parquet file ({str(error)[:80]})") from None
    names = table.column_names
    if len(names) < 2:
        raise ValueError(f"{path}: {len(names)} column; an edge needs two, source and target")
    ends = ("source", "target") if {"source", "target"} <= set(names) else names[:2]
    columns = [table[x].combine_chunks() for x in ends]
    for name, column in zip(ends, columns, strict=True):
        if column.null_count:
            raise ValueError(f"{path}: column {name!r} has {column.null_count} empty entries")
    own = json.loads((table.schema.metadata or {}).get(b"torchcent", b"{}"))
    weight = None
    if "weight" in names:
        try:
            weight = torch.from_numpy(np.array(finite_weight(path, table["weight"].to_numpy())))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: column 'weight': {error}") from None
    labels: np.ndarray | None
    integers = [pa.types.is_integer(c.type) for c in columns]
    if all(integers):
        numbers, labels, n = number_vertices(
            path,
            np.stack([c.to_numpy().astype(np.int64) for c in columns]),
            num_nodes=num_nodes,
            declared=own.get("num_nodes"),
            also=np.array(own.get("isolated", []), np.int64),
        )
    elif any(integers):
        raise ValueError(
            f"{path}: mixed labels: {ends[integers.index(True)]!r} holds numbers, "
            f"{ends[integers.index(False)]!r} {columns[integers.index(False)].type}"
        )
    else:
        both = pa.concat_arrays([c.cast(pa.string()) for c in columns]).dictionary_encode()
        known = list(dict.fromkeys(both.dictionary.to_pylist() + own.get("isolated", [])))
        codes = both.indices.to_numpy(zero_copy_only=False).astype(np.int64).reshape(2, -1)
        numbers, labels, n = number_names(path, codes, known, num_nodes)
    if directed is None:
        directed = bool(own.get("directed", False))
    return EdgeList(torch.from_numpy(np.array(numbers)), weight, labels, n, directed)


def read_networkx(path: str, data: bytes, directed: bool | None, format: str) -> EdgeList:
    """GraphML or GML through networkx, direction as the file says."""
    networkx = need("networkx", "networkx", f"reading {format}")
    try:
        if format == "graphml":
            graph = networkx.read_graphml(io.BytesIO(data))
        else:
            graph = _read_gml(networkx, data)
    except (networkx.NetworkXError, SyntaxError, ValueError, KeyError) as error:
        raise ValueError(f"{path}: not {format} that networkx reads ({error})") from None
    return from_networkx(graph, directed)


def _read_gml(networkx: Any, data: bytes) -> Any:
    """GML as found: labels may be missing or repeated, repeated edges not announced."""
    multigraph = re.sub(rb"\bgraph\s*\[", b"graph [ multigraph 1", data, count=1)
    for text, label in ((data, "label"), (multigraph, "label"), (multigraph, "id")):
        with contextlib.suppress(networkx.NetworkXError):
            return networkx.read_gml(io.BytesIO(text), label=label)
    return networkx.read_gml(io.BytesIO(data), label="id")  # raises what is really wrong


def from_networkx(graph: Any, directed: bool | None = None) -> EdgeList:
    """The edges of a networkx graph; labels are its nodes, in the graph's own order.

    Weights are taken if every edge has a numeric attribute ``weight``.
    """
    nodes = list(graph)
    number = {v: k for k, v in enumerate(nodes)}
    ends = [(number[u], number[v]) for u, v in graph.edges()]
    weights = [w for _, _, w in graph.edges(data="weight")]
    weighted = bool(weights) and all(
        isinstance(w, (int, float)) and not isinstance(w, bool) for w in weights
    )
    names = [str(v) for v in nodes]
    labels: Any = names
    if all(x.isascii() and x.isdecimal() and len(x) < 19 for x in names):
        labels = np.array([int(x) for x in names], np.int64)
        if (labels == np.arange(len(labels))).all():
            labels = None
    return EdgeList(
        torch.tensor(ends, dtype=torch.int64, device="cpu").reshape(-1, 2).T.contiguous(),
        torch.from_numpy(finite_weight("graph", np.array(weights))) if weighted else None,
        labels,
        len(nodes),
        graph.is_directed() if directed is None else directed,
    )
