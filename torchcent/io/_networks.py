"""Writes graphs with columns of their vertices and edges: GraphML, GEXF, CX2, SIF with tables."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any, NamedTuple

import numpy as np

from torchcent.io._cells import plain, write_items
from torchcent.io._edge_list import EdgeList
from torchcent.io._files import encodes, replacing, split_suffix
from torchcent.io._formats import isolated
from torchcent.runtime._optional import need

#: what SIF and CX2 call the relation of two vertices
_INTERACTION = "interacts with"
#: names of columns that mean something else in a format, of vertices and of edges
_TAKEN = {
    "graphml": (("name", "x", "y"), ("weight",)),
    "gexf": (
        ("id", "label", "pid", "start", "end", "viz", "slices", "spells", "parents"),
        ("id", "label", "weight", "type", "start", "end", "key", "viz", "slices", "spells"),
    ),
    "cx2": (("name",), ("weight", "interaction")),
    "sif": (("name",), ("shared name", "source", "target", "weight")),
}
#: what XML 1.0 does not hold, and the carriage return, for which its readers put another character
_NOT_XML = re.compile("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Columns(NamedTuple):
    """Values of the vertices and of the edges, by name."""

    vertices: Mapping[str, np.ndarray] = {}
    edges: Mapping[str, np.ndarray] = {}


def check_columns(path: str, kind: str, edges: EdgeList, columns: Columns) -> None:
    """Raises an error for columns of other lengths, or whose names mean something else."""
    for what, arrays, taken, count in (
        ("vertex_columns", columns.vertices, _TAKEN[kind][0], edges.num_nodes),
        ("edge_columns", columns.edges, _TAKEN[kind][1], edges.num_edges),
    ):
        for name, values in arrays.items():
            if name in taken or not name:
                raise ValueError(
                    f"{path}: {what} has the name {name!r}, which means something else in {kind}; "
                    "accepted: any other"
                )
            if len(values) != count:
                raise ValueError(
                    f"{path}: {what}[{name!r}] has {len(values)} values; accepted: {count}"
                )


def write_graphml(file: IO[bytes], edges: EdgeList, path: str, columns: Columns) -> None:
    """GraphML by networkx: labels are the ids and the attribute ``name``, positions x and y."""
    networkx = need("networkx", "networkx", "writing .graphml")
    graph = _networkx_graph(networkx, edges, path, columns, "name")
    for data, x, y in _placed(graph, edges):
        data |= {"x": x, "y": y}
    if edges.crs is not None:
        graph.graph["crs"] = _xml(path, edges.crs)
    networkx.readwrite.graphml.write_graphml_xml(graph, file)


def write_gexf(file: IO[bytes], edges: EdgeList, path: str, columns: Columns) -> None:
    """GEXF 1.2 by networkx; positions are those of its module for drawings."""
    networkx = need("networkx", "networkx", "writing .gexf")
    graph = _networkx_graph(networkx, edges, path, columns, "label")
    for data, x, y in _placed(graph, edges):
        data["viz"] = {"position": {"x": x, "y": y, "z": 0.0}}
    networkx.write_gexf(graph, file)


def _placed(graph: Any, edges: EdgeList) -> Iterator[tuple[dict[str, Any], float, float]]:
    """The attributes of each node whose position is known, and the position."""
    places = [] if edges.positions is None else edges.positions.tolist()
    for data, (x, y) in zip(graph.nodes.values(), places, strict=False):
        if np.isfinite([x, y]).all():
            yield data, x, y


def _networkx_graph(networkx: Any, edges: EdgeList, path: str, columns: Columns, key: str) -> Any:
    """A graph whose nodes are the labels, or numbers where two are the same; labels are `key`."""
    names = None if edges.labels is None else _labels(path, edges)
    nodes: list[Any] = list(range(edges.num_nodes))
    if names is not None and len(set(names)) == len(names):
        nodes = names
    repeated = len(np.unique(edges._pairs(edges.directed))) < edges.num_edges
    graph = getattr(networkx, f"{'Multi' * repeated}{'Di' * edges.directed}Graph")()
    for at, data in enumerate(_rows(path, columns.vertices, edges.num_nodes)):
        graph.add_node(nodes[at], **(data if names is None else {key: names[at]} | data))
    number = {"key": 0} if repeated else {}  # an id of each edge
    rows = _rows(path, _of_edges(edges, columns), edges.num_edges)
    for at, (u, v, data) in enumerate(zip(*edges.edge_index.tolist(), rows, strict=True)):
        graph.add_edge(nodes[u], nodes[v], **dict.fromkeys(number, at), **data)
    return graph


def _labels(path: str, edges: EdgeList) -> list[str]:
    names = [str(x) for x in edges.vertex_labels()]
    if "" in names:
        raise ValueError(f"{path}: label '' cannot stand in this format; try .pt")
    return [_xml(path, name) for name in names]


def _xml(path: str, text: str) -> str:
    if _NOT_XML.search(text):
        raise ValueError(f"{path}: {text[:60]!r} cannot stand in XML; try .pt or .cx2")
    return text


def _rows(path: str, arrays: Mapping[str, np.ndarray], count: int) -> Iterator[dict[str, Any]]:
    """As :func:`_rows_of`, of what XML holds."""
    for name in arrays:
        _xml(path, name)
    for data in _rows_of(arrays, count):
        for value in data.values():
            if isinstance(value, str):
                _xml(path, value)
        yield data


def _of_edges(edges: EdgeList, columns: Columns) -> dict[str, np.ndarray]:
    """The columns of the edges, the weights first."""
    if edges.edge_weight is None:
        return dict(columns.edges)
    return {"weight": edges.edge_weight.double().numpy()} | dict(columns.edges)


def _values(column: np.ndarray) -> list[Any]:
    """Numbers, and all else as text; None where a number is not finite."""
    return list(map(str, column)) if column.dtype == object else plain(column)


_TYPES = {"i": "long", "u": "long", "f": "double", "O": "string"}


def write_cx2(file: IO[bytes], edges: EdgeList, path: str, columns: Columns) -> None:
    """Cytoscape Exchange, version 2: a list of aspects, each after its declaration.

    The y axis of its layouts points down, so that the sign of y is changed.
    """
    n, count = edges.num_nodes, edges.num_edges
    of_edges = _of_edges(edges, columns)
    names = [str(x) for x in edges.vertex_labels()]
    wrong = next((x for x in names if not encodes(x)), None)
    if wrong is not None:
        raise ValueError(f"{path}: label {wrong!r} is not valid UTF-8 text")
    declared = {
        "networkAttributes": {"name": {"d": "string"}, "directed": {"d": "boolean"}},
        "nodes": {"name": {"d": "string"}} | _declared(columns.vertices),
        "edges": {"interaction": {"d": "string"}} | _declared(of_edges),
    }
    title = split_suffix(path)
    about = {
        "name": os.path.basename(path).removesuffix("".join(title)), "directed": edges.directed
    }  # fmt: skip
    sizes = {"attributeDeclarations": 1, "networkAttributes": 1, "nodes": n, "edges": count}
    head: list[Any] = [
        {"CXVersion": "2.0", "hasFragments": False},
        {"metaData": [{"name": name, "elementCount": size} for name, size in sizes.items()]},
        {"attributeDeclarations": [declared]},
        {"networkAttributes": [about]},
    ]
    file.write(("[" + ",\n".join(map(_json, head)) + ',\n{"nodes": [').encode())
    places = [None] * n if edges.positions is None else edges.positions.tolist()
    vertices = zip(names, places, _rows_of(columns.vertices, n), strict=True)
    write_items(file, (
        _json({"id": at} | _place(place) | {"v": {"name": name} | data})
        for at, (name, place, data) in enumerate(vertices)
    ))  # fmt: skip
    file.write(b']},\n{"edges": [')
    arcs = zip(*edges.edge_index.tolist(), _rows_of(of_edges, count), strict=True)
    write_items(file, (
        _json({"id": at, "s": s, "t": t, "v": {"interaction": _INTERACTION} | data})
        for at, (s, t, data) in enumerate(arcs)
    ))  # fmt: skip
    file.write(b']},\n{"status": [{"success": true}]}]\n')


def _rows_of(arrays: Mapping[str, np.ndarray], count: int) -> Iterator[dict[str, Any]]:
    """The values of each row by name, without those that are not finite."""
    values = map(_values, arrays.values())
    rows = zip(*values, strict=True) if arrays else (() for _ in range(count))
    for row in rows:
        yield {name: x for name, x in zip(arrays, row, strict=True) if x is not None}


def _declared(arrays: Mapping[str, np.ndarray]) -> dict[str, dict[str, str]]:
    return {name: {"d": _TYPES[values.dtype.kind]} for name, values in arrays.items()}


def _place(place: list[float] | None) -> dict[str, float]:
    if place is None or not np.isfinite(place).all():
        return {}
    return {"x": place[0], "y": -place[1]}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def sif_tables(path: str) -> tuple[str, str]:
    """The tables of vertices and of edges beside a file: of ``g.sif``, g.nodes.csv, g.edges.csv."""
    stem = path.removesuffix("".join(split_suffix(path)))
    stem = stem if stem != path else os.path.splitext(path)[0]
    return f"{stem}.nodes.csv", f"{stem}.edges.csv"


def write_sif(file: IO[bytes], edges: EdgeList, path: str, columns: Columns) -> None:
    """SIF: edges between tabs, isolated vertices alone in a line; values in two tables beside."""
    names = [str(x) for x in edges.vertex_labels()]
    for name in names:
        if not name.strip() or any(x in name for x in "\t\n\r") or not encodes(name):
            raise ValueError(f"{path}: label {name!r} cannot stand in this format; try .pt")
    source, target = edges.edge_index.tolist()
    for u, v in zip(source, target, strict=True):
        file.write(f"{names[u]}\t{_INTERACTION}\t{names[v]}\n".encode())
    for vertex in isolated(edges):
        file.write(f"{names[vertex]}\n".encode())
    of_vertices, of_edges = sif_tables(path)
    if columns.vertices:
        _write_csv(of_vertices, {"name": names} | dict(columns.vertices))
    if own := _of_edges(edges, columns):
        ends = [names[u] for u in source], [names[v] for v in target]
        shared = [f"{u} ({_INTERACTION}) {v}" for u, v in zip(*ends, strict=True)]
        table = {"shared name": shared, "source": ends[0], "target": ends[1]}
        _write_csv(of_edges, table | own)


def _write_csv(path: str, columns: Mapping[str, Any]) -> None:
    """A table with a header; what is not finite is left empty."""
    values = [x if isinstance(x, list) else _values(x) for x in columns.values()]
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*values, strict=True))
    with replacing(path) as file:
        file.write(text.getvalue().encode())
