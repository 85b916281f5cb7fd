"""Writes graph files: one writer per format, all through :func:`replacing`."""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, pairwise
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
import torch

from torchcent.check import _files as check_files
from torchcent.graph import Graph
from torchcent.io._cells import column_arrays, objects
from torchcent.io._edge_list import EdgeList, arcs, both_directions
from torchcent.io._files import check_target, encodes, format_to_write, replacing, split_suffix
from torchcent.io._formats import HOLDS, WITH_COLUMNS, holds, in_words, isolated, losses
from torchcent.io._layout import is_number
from torchcent.io._mcl import quoted as in_quotes
from torchcent.io._native import write_mci
from torchcent.io._networks import (
    Columns,
    check_columns,
    sif_tables,
    write_cx2,
    write_gexf,
    write_graphml,
    write_sif,
)
from torchcent.runtime._optional import need

_CHUNK = 1 << 16
_arcs = lru_cache(maxsize=1)(arcs)  # emptied when the file is written


def write(
    path: str | os.PathLike[str],
    graph: EdgeList | Graph,
    *,
    format: str | None = None,
    vertex_columns: Mapping[str, Any] | None = None,
    edge_columns: Mapping[str, Any] | None = None,
) -> None:
    """Writes a graph. The suffix of ``path`` selects the format; a file is replaced atomically.

    ======================  ===================================================================
    .txt .tsv .edges .el    one row per edge in the given order, with labels and weights;
                            direction, number of vertices and isolated vertices in comments
                            that :func:`read` understands
    .abc                    for mcl: tab-separated edges, nothing else
    .mci                    mcl's native matrix: the largest weight of repeated edges; vertices are
                            integers, names are left out
    .csv                    header ``source,target[,weight]`` and the edges only: neither
                            direction nor isolated vertices
    .mtx .npz               adjacency matrix, symmetric if undirected; no labels
    .graph                  METIS, undirected graphs only; loops are dropped; no labels
    .gr                     arcs, two per undirected edge, default weight 1; no labels
    .npy                    ``edge_index`` only
    .pt                     everything
    .parquet                everything but positions
    .graphml .gexf          everything, and columns; by networkx (its extra), for Cytoscape, yEd,
                            igraph, networkx; .gexf for Gephi
    .cx2                    everything, and columns, for Cytoscape and NDEx; positions point down
    .sif                    edges and vertices for Cytoscape; columns and weights are tables beside
                            it, of g.sif g.nodes.csv and g.edges.csv
    ======================  ===================================================================

    If an undirected graph lists every edge in both directions, text formats and .parquet get one
    row per edge. .mtx, .npz, .graph and .gr merge repeated edges and keep the smallest weight.
    What of this graph its format does not hold is said in a warning (docs/files.md has a table).

    Args:
        path: the file; the suffixes ``.gz``, ``.bz2`` and ``.xz`` compress.
        graph: the graph to write; each edge of an undirected Graph is written once, with its
            weight. Names that are not text, such as tuples, are written as ``str`` has them.
        format: overrides the suffix.
        vertex_columns: of .graphml, .gexf, .cx2 and .sif, values ``[num_nodes]`` of the vertices by
            their names, such as scores and clusters. Values that are not finite are left out.
        edge_columns: the same of the edges of an EdgeList, one value per row.

    Raises:
        ValueError: the format is unknown or read-only, or cannot represent the graph or columns.
        TypeError: an argument has the wrong type.

    Warns:
        UserWarning: names, weights, the direction, vertices or edges of this graph are left out.

    Example:
        >>> import pathlib, tempfile, torch
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name) / "path.txt"
        >>> write(path, EdgeList(torch.tensor([[0, 1], [1, 2]])))
        >>> print(path.read_text(), end="")
        # Undirected graph
        # Nodes: 3 Edges: 2
        0	1
        1	2
        >>> folder.cleanup()
    """
    columns = Columns(
        column_arrays({} if vertex_columns is None else vertex_columns, "vertex_columns"),
        column_arrays({} if edge_columns is None else edge_columns, "edge_columns"),
    )
    for text in write_graph(path, graph, format, columns=columns)[0]:
        warnings.warn(text, stacklevel=2)


def write_graph(
    path: str | os.PathLike[str], graph: EdgeList | Graph, format: str | None = None,
    *, kept: Collection[str] = (), columns: Columns | None = None,
) -> tuple[list[str], int]:  # fmt: skip
    """Writes a graph; returns remarks, but for fields `kept` elsewhere, and the number of edges."""
    kind = check_graph_path(path, format)
    if not isinstance(graph, (EdgeList, Graph)):
        raise TypeError(f"graph must be a Graph or an EdgeList, got {type(graph).__name__}")
    edges = _on_cpu(graph) if isinstance(graph, EdgeList) else _edges_of(graph)
    name = check_files.path(path)
    columns = columns or Columns()
    if any(columns) and kind not in WITH_COLUMNS:
        raise ValueError(
            f"{name}: {kind} holds no columns of vertices and edges; accepted: "
            + " ".join(HOLDS[each].suffix for each in WITH_COLUMNS)
        )
    if columns.edges and not isinstance(graph, EdgeList):
        raise TypeError("edge_columns are of the rows of an EdgeList, got a Graph")
    if kind in WITH_COLUMNS:
        check_columns(name, kind, edges, columns)
    once, taken = _once(edges)
    if kind in ("edges", "parquet", "abc", *WITH_COLUMNS):
        edges = once
        if taken is not None and columns.edges:
            of_edges = {each: values[taken] for each, values in columns.edges.items()}
            columns = columns._replace(edges=of_edges)
    writer = _WRITERS.get(kind) or partial(_COLUMN_WRITERS[kind], columns=columns)
    form = holds(name, kind)
    try:
        with replacing(name) as file:
            writer(file, edges, name)
        repeated, symmetric, count = 0, False, once.num_edges
        if form.repeated != "all":
            row, col, _ = _arcs(edges)
            loops = int((row == col).sum())
            distinct = len(row) if edges.directed else (len(row) + loops) // 2
            repeated = count - distinct
            largest = form.repeated == "largest"
            symmetric = edges.directed and both_directions(*_arcs(edges, largest=largest))
            count = distinct - (0 if form.loops else loops)
        lost = losses(edges, form, repeated, symmetric)
    finally:
        _arcs.cache_clear()
    lost = [loss for loss in lost if loss.what not in kept]
    return [in_words(form, lost)] if lost else [], count


def check_graph_path(path: str | os.PathLike[str], format: str | None = None) -> str:
    """The format, if a graph can be written to this path."""
    kind = format_to_write(path, format)
    if kind == "parquet":
        need("pyarrow", "io", "writing .parquet")
    if kind in ("graphml", "gexf"):
        need("networkx", "networkx", f"writing .{kind}")
    check_target(path)
    if kind == "sif":
        for table in sif_tables(os.fspath(path)):
            check_target(table)
    return kind


def _on_cpu(edges: EdgeList) -> EdgeList:
    """The same edges as CPU tensors that numpy can convert."""
    weight = edges.edge_weight
    if weight is not None and (weight.is_complex() or weight.layout != torch.strided):
        raise TypeError(f"edge_weight must be a dense tensor of real numbers, got {weight.dtype}")
    weight = None if weight is None else weight.detach().cpu()
    return replace(edges, edge_index=edges.edge_index.detach().cpu(), edge_weight=weight)


def _edges_of(graph: Graph) -> EdgeList:
    return EdgeList(*graph._edges(), _texts(graph.labels), graph.num_nodes, graph.directed)


def _texts(labels: np.ndarray | None) -> np.ndarray | None:
    """The names of a graph as a file has them: integers, or text."""
    if labels is None or labels.dtype != object:
        return labels
    texts: dict[str, Any] = {}
    for label in labels.tolist():
        other = texts.setdefault(str(label), label)
        if other is not label:
            raise ValueError(
                f"the labels {other!r} and {label!r} are the same text in a file; accepted: labels "
                "that differ as text, or a graph without labels (graph.with_labels(None))"
            )
    return objects(texts)


def _once(edges: EdgeList) -> tuple[EdgeList, np.ndarray | None]:
    """Keeps one row per edge if an undirected graph lists every edge in both directions.

    Also returns which rows are kept, or None for all.
    """
    row, col = edges.edge_index.numpy()
    weight = edges.edge_weight
    value = None if weight is None else weight.double().numpy()
    down = row > col
    if edges.directed or not down.any() or not both_directions(row, col, value):
        return edges, None
    return edges._selected(torch.from_numpy(~down)), ~down


def write_rows(file: IO[bytes], columns: Sequence[np.ndarray], separator: str) -> None:
    """Writes rows of numbers (in full precision) and strings (unchanged)."""
    formats = {"i": "%d", "u": "%d", "f": "%r", "O": "%s"}
    row = separator.join(formats[c.dtype.kind] for c in columns) + "\n"
    for start in range(0, len(columns[0]) if columns else 0, _CHUNK):
        part = [c[start : start + _CHUNK].tolist() for c in columns]
        text = row * len(part[0]) % tuple(chain.from_iterable(zip(*part, strict=True)))
        file.write(text.encode())


def quoted(labels: Iterable[Any]) -> np.ndarray:
    """Formats labels as CSV fields."""
    fields: list[str] = []
    # csv calls write once per row; both characters of a line end are quoted within a label
    writer = csv.writer(SimpleNamespace(write=fields.append), lineterminator="\r\n")
    writer.writerows([label] for label in labels)
    return objects(field[:-2] for field in fields)


def _write_text(file: IO[bytes], edges: EdgeList, path: str) -> None:
    suffix = split_suffix(path)[0]
    separator = {".csv": ",", ".edges": " ", ".el": " ", ".edgelist": " "}.get(suffix, "\t")
    index = edges.edge_index.numpy()
    labels = edges.labels
    names = labels is not None and labels.dtype == object
    _check_labels(path, labels, separator)
    texts = quoted(labels) if names and separator == "," else labels
    if names and separator == "\t":  # quotes elsewhere are part of a name
        texts = np.array([in_quotes(x) if x[0] == '"' else x for x in map(str, labels)], object)
    heads = ["source", "target"]
    columns = list(index if texts is None else texts[index])
    if edges.edge_weight is not None:
        heads.append("weight")
        columns.append(edges.edge_weight.double().numpy())
    if separator != ",":
        kind = "Directed" if edges.directed else "Undirected"
        comments = [f"{kind} graph", f"Nodes: {edges.num_nodes} Edges: {edges.num_edges}"]
        if labels is not None:
            comments += [f"vertex {labels[v]}" for v in isolated(edges)]
        file.write("".join(f"# {line}\n" for line in comments).encode())
    if separator == "," or names:  # so that names in the first row are not mistaken for a header
        file.write((separator.join(heads) + "\n").encode())
    write_rows(file, columns, separator)


def _write_abc(file: IO[bytes], edges: EdgeList, path: str) -> None:
    _check_labels(path, edges.labels, "\t")
    columns = list(edges.vertex_labels()[edges.edge_index.numpy()])
    if edges.edge_weight is not None:
        columns.append(edges.edge_weight.double().numpy())
    write_rows(file, columns, "\t")


def _check_labels(path: str, labels: np.ndarray | None, separator: str) -> None:
    """Rejects names that this format would not read back unchanged."""
    forbidden = " \t,;\n\r\0" if separator == " " else "\t\n\r\0"
    for label in map(str, () if labels is None or labels.dtype != object else labels):
        words = label.split(" ")
        if (
            label == ""
            or label != label.strip()
            or label[0] in "#%"
            or any(x in label for x in forbidden)
            or not encodes(label)
            or (len(words) > 1 and all(map(is_number, words)))
        ):
            raise ValueError(f"{path}: label {label!r} cannot stand in this format; try .pt")


def _write_mtx(file: IO[bytes], edges: EdgeList, path: str) -> None:
    import scipy.io

    field = "pattern" if edges.edge_weight is None else "real"
    symmetry = "general" if edges.directed else "symmetric"
    text = io.BytesIO()  # mmwrite seeks, which compressed files do not support
    # 17 digits represent every float64 exactly
    scipy.io.mmwrite(text, _sparse(edges), field=field, symmetry=symmetry, precision=17)
    file.write(text.getbuffer())


def _sparse(edges: EdgeList) -> Any:
    import scipy.sparse

    row, col, weight = _arcs(edges)
    value = np.ones(len(row)) if weight is None else weight
    return scipy.sparse.coo_matrix((value, (row, col)), shape=(edges.num_nodes,) * 2)


def _write_npz(file: IO[bytes], edges: EdgeList, path: str) -> None:
    import scipy.sparse

    scipy.sparse.save_npz(file, _sparse(edges).tocsr())


def _plain(weight: np.ndarray) -> np.ndarray:
    """Whole-numbered weights as integers, the only kind that METIS and DIMACS allow."""
    whole = (weight == np.rint(weight)) & (np.abs(weight) < 2**53)
    return weight.astype(np.int64) if whole.all() else weight


def _write_metis(file: IO[bytes], edges: EdgeList, path: str) -> None:
    if edges.directed:
        raise ValueError(f"{path}: METIS holds undirected graphs only, this one is directed")
    row, col, weight = _arcs(edges, loops=False)
    weighted = " 001" if weight is not None else ""
    file.write(f"{edges.num_nodes} {len(row) // 2}{weighted}\n".encode())
    numbers = [col + 1] if weight is None else [col + 1, _plain(weight)]
    ends = np.searchsorted(row, np.arange(edges.num_nodes + 1)).tolist()
    for lines in _metis_lines(numbers, ends):
        file.write(lines.encode())


def _metis_lines(numbers: list[np.ndarray], ends: list[int]) -> Iterator[str]:
    for start in range(0, len(ends) - 1, _CHUNK):
        stop = min(start + _CHUNK, len(ends) - 1)
        part = [c[ends[start] : ends[stop]].tolist() for c in numbers]
        words = list(map(str, chain.from_iterable(zip(*part, strict=True))))
        bounds = [len(numbers) * (end - ends[start]) for end in ends[start : stop + 1]]
        yield "".join(" ".join(words[a:b]) + "\n" for a, b in pairwise(bounds))


def _write_gr(file: IO[bytes], edges: EdgeList, path: str) -> None:
    row, col, weight = _arcs(edges)
    file.write(f"p sp {edges.num_nodes} {len(row)}\n".encode())
    letter = np.full(len(row), "a", object)
    length = np.ones(len(row), np.int64) if weight is None else _plain(weight)
    write_rows(file, [letter, row + 1, col + 1, length], " ")


def _write_npy(file: IO[bytes], edges: EdgeList, path: str) -> None:
    np.save(file, edges.edge_index.numpy(), allow_pickle=False)


def _write_pt(file: IO[bytes], edges: EdgeList, path: str) -> None:
    content: dict[str, Any] = {
        "edge_index": edges.edge_index,
        "num_nodes": edges.num_nodes,
        "directed": edges.directed,
    }
    if edges.edge_weight is not None:
        content["edge_weight"] = edges.edge_weight
    if edges.labels is not None:
        content["labels"] = edges.labels.tolist()
    if edges.positions is not None:
        content |= {"positions": edges.positions.detach().cpu(), "crs": edges.crs}
    torch.save(content, file)


def _write_parquet(file: IO[bytes], edges: EdgeList, path: str) -> None:
    pa = need("pyarrow", "io", "writing .parquet")
    index = edges.edge_index.numpy()
    labels = edges.vertex_labels()
    if labels.dtype == object and (labels == "").any():
        raise ValueError(f"{path}: label '' cannot stand in this format; try .pt")
    alone = [] if edges.labels is None else labels[isolated(edges)].tolist()
    try:
        columns = {"source": pa.array(labels[index[0]]), "target": pa.array(labels[index[1]])}
    except (pa.ArrowException, UnicodeEncodeError, TypeError) as error:
        raise ValueError(f"{path}: labels cannot stand in this format ({error})") from None
    if edges.edge_weight is not None:
        columns["weight"] = pa.array(edges.edge_weight.numpy())
    own = {"num_nodes": edges.num_nodes, "directed": edges.directed, "isolated": alone}
    write_parquet(file, columns, own)


def write_parquet(file: IO[bytes], columns: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Writes columns, with metadata in the schema."""
    pa = need("pyarrow", "io", "writing .parquet")
    parquet = need("pyarrow.parquet", "io", "writing .parquet")
    table = pa.table(dict(columns))
    parquet.write_table(table.replace_schema_metadata({"torchcent": json.dumps(metadata)}), file)


_WRITERS = {
    "edges": _write_text, "abc": _write_abc, "mci": write_mci, "mtx": _write_mtx,
    "metis": _write_metis, "gr": _write_gr, "npz": _write_npz, "npy": _write_npy, "pt": _write_pt,
    "parquet": _write_parquet,
}  # fmt: skip
_COLUMN_WRITERS = {
    "graphml": write_graphml, "gexf": write_gexf, "cx2": write_cx2, "sif": write_sif,
}  # fmt: skip
