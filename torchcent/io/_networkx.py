"""GraphML and GML files, and networkx graphs."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from typing import Any
from xml.etree import ElementTree

import numpy as np
import torch

from torchcent.check import _inputs as check_inputs
from torchcent.graph import _foreign
from torchcent.io._arrays import parsing
from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList
from torchcent.io._files import is_text
from torchcent.io._matrix import finite_weight
from torchcent.io._options import Options
from torchcent.io._positions import of_attributes
from torchcent.runtime._optional import need


def read_networkx(data: bytes, limits: Budget, options: Options, format: str) -> EdgeList:
    """Reads GraphML or GML through networkx; labels are an attribute, named or usual."""
    path = limits.path
    networkx = need("networkx", "networkx", f"reading {format}")
    limits.text(format, data)
    if format == "graphml" and b"<!ENTITY" in data.replace(b"\0", b""):  # in UTF-16, too
        raise ValueError(f"{path}: defines XML entities, which are not read")
    texts: dict[str, str] = {}
    with parsing(path, f"{format} that networkx reads"):
        if format == "graphml":
            graph = networkx.read_graphml(io.BytesIO(data))
        else:
            graph = _read_gml(networkx, data)
    if format == "graphml":
        texts = _completed(path, data, graph)
    names = _names(path, graph, _NAMES[format], options.labels, texts)
    with parsing(path, f"{format} that networkx reads"):
        return _edges(graph, options.directed, options.attribute, names)


#: a text, or a number such as 1e-300, which networkx reads as 1
_NUMBER = re.compile(rb'("[^"]*")|(?<![\w.])([+-]?[0-9]+)[eE]([+-]?[0-9]+)(?![\w.])')


def _read_gml(networkx: Any, data: bytes) -> Any:
    """Reads GML leniently: labels may be missing or repeated, multigraphs need no declaration."""
    if not data.isascii():  # networkx reads ASCII with the entities of XML
        letters = data.decode("utf-8" if is_text(data) else "latin-1")
        data = letters.encode("ascii", "xmlcharrefreplace")
    data = _NUMBER.sub(lambda x: x[1] or x[2] + b".0e" + x[3], data)
    multigraph = re.sub(rb"\bgraph\s*\[", b"graph [ multigraph 1", data, count=1)
    for text in (data, multigraph):
        with contextlib.suppress(networkx.NetworkXError):
            return networkx.read_gml(io.BytesIO(text), label="id")
    return networkx.read_gml(io.BytesIO(data), label="id")  # raises the actual error


_NUMBERS = ("int", "integer", "long", "float", "double", "real")


def _completed(path: str, data: bytes, graph: Any) -> dict[str, str]:
    """Adds what networkx leaves out, the defaults of keys; returns the labels that yEd draws."""
    with parsing(path, "graphml that networkx reads"):
        tree = ElementTree.fromstring(data)
        for key in tree.iterfind(".//{*}key"):
            text = (key.findtext("{*}default") or "").strip()
            number = key.get("attr.type") in _NUMBERS
            for kind, each in (("node", graph.nodes), ("edge", graph.edges)):
                if text and key.get("for", "all") in ("all", kind):
                    name = key.get("attr.name") or key.get("id", "")
                    value = graph.graph.get(f"{kind}_default", {}).get(name)
                    if value is None:
                        value = float(text) if number else text
                    for *_, attributes in each(data=True):
                        attributes.setdefault(name, value)
    labels: dict[str, str] = {}
    nodes = tree.findall(".//{*}node")
    for node in nodes:
        parts = (part for part in node if not part.tag.endswith("graph"))  # of other nodes
        texts = (x.text or "" for part in parts for x in part.iter() if x.tag.endswith("NodeLabel"))
        if text := next(filter(None, map(str.strip, texts)), ""):
            labels.setdefault(node.get("id", ""), text)
    edges = len(tree.findall(".//{*}edge"))
    lost = len(nodes) - len(graph), edges - graph.number_of_edges()
    if max(lost) > 0:
        warnings.warn(
            f"{path}: {max(lost[0], 0)} nodes and {max(lost[1], 0)} edges of nested graphs, of "
            "further graphs or with the same id are left out",
            stacklevel=5,
        )
    return labels


#: attributes that hold the names of nodes, in the order in which they are tried
_NAMES = {"graphml": ("name", "label"), "gml": ("label", "name")}


def _names(
    path: str, graph: Any, usual: tuple[str, str], attribute: str | None, texts: dict[str, str]
) -> list[str] | None:
    """The labels of the nodes, or None if they are their ids."""
    if attribute == "id" or not len(graph):
        return None
    nodes = [graph.nodes[v] for v in graph]
    if attribute is not None:
        names = _attribute(nodes, attribute)
        if names is None:
            attributes = sorted({str(name) for node in nodes for name in node})
            raise ValueError(
                f"{path}: labels={attribute!r} is no attribute of the nodes; accepted: id"
                + "".join(f", {name}" for name in attributes)[:200]
            )
        if reason := _unfit(names):
            raise ValueError(f"{path}: labels={attribute!r}: {reason}; labels='id' takes the ids")
        return names
    reasons = []
    for name in usual:
        names = _attribute(nodes, name)
        if names is not None and not (reason := _unfit(names)):
            return names
        if names is not None:
            reasons.append(f"the attribute {name!r} of the nodes is not taken for labels: {reason}")
    if texts:
        names = [texts.get(str(v), "") for v in graph]
        if not (reason := _unfit(names)):
            return names
        if not reasons:
            reasons.append(f"the labels that yEd draws are not taken: {reason}")
    if reasons:
        warnings.warn(
            f"{path}: {reasons[0]}; the labels are the ids, labels='id' (--labels id) says so",
            stacklevel=5,
        )
    return None


def _attribute(nodes: list[dict[Any, Any]], name: str) -> list[str] | None:
    """An attribute as text, "" where it is missing; None if no node has it."""
    for word in (name, name.lower(), name.capitalize(), name.upper()):
        if any(word in node for node in nodes):
            return [_text(node.get(word)) for node in nodes]
    return None


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value) if isinstance(value, (str, int, float)) else ""


def _unfit(names: list[str]) -> str | None:
    """Why these are no labels."""
    missing = sum(not name.strip() for name in names)
    if missing:
        return f"{missing} of {len(names)} nodes have none"
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return f"two nodes have {name[:60]!r}"
        seen.add(name)
    return None


def from_networkx(
    graph: Any, directed: bool | None = None, edge_weight: str | None = None
) -> EdgeList:
    """Returns the edges of a networkx graph; the labels are its nodes, in the graph's own order.

    Weights are used if every edge has a numeric attribute ``weight``. If only some edges have it,
    the weights are ignored with a warning. An attribute that `edge_weight` names must be a number,
    or the text of one, of every edge. Nodes with numbers x and y, or lon and lat, have positions;
    the graph's attribute ``crs`` is their coordinate system, as in graphs of osmnx.

    Args:
        graph: a networkx graph; parallel edges are kept.
        directed: overrides that of the graph.
        edge_weight: the attribute of the edges to take for weights.

    Raises:
        ValueError: an edge has no such number; if none has, the message lists the attributes.
    """
    return _edges(graph, directed, edge_weight, None)


def _edges(
    graph: Any, directed: bool | None, weight: str | None, names: list[str] | None
) -> EdgeList:
    """The edges with the labels `names`, by default the nodes."""
    _foreign.networkx_graph(graph, weight or "weight")  # raises an error about an irregular view
    nodes = list(graph)
    number = {v: k for k, v in enumerate(nodes)}
    ends = [(number[u], number[v]) for u, v in graph.edges()]
    weights = _weights_of(graph, weight)
    numeric = sum(isinstance(w, (int, float)) and not isinstance(w, bool) for w in weights)
    weighted = bool(weights) and numeric == len(weights)
    if not weighted and any(w is not None for w in weights):
        warnings.warn(
            f"{numeric} of {len(weights)} edges have a number as their weight; "
            "weights are left out",
            stacklevel=3,
        )
    elif not weighted and weights and (other := _other_weight(graph)) is not None:
        warnings.warn(
            f"the edges have an attribute {other!r}, but it is not taken; "
            f"weight_column={other!r} (--weight-column) takes it for weights",
            stacklevel=3,
        )
    positions, crs = of_attributes([graph.nodes[v] for v in nodes], graph.graph.get("crs"))
    labels: Any = [str(v) for v in nodes] if names is None else names
    if all(x.isascii() and x.isdecimal() and len(x) < 19 and str(int(x)) == x for x in labels):
        labels = np.array([int(x) for x in labels], np.int64)
        if (labels == np.arange(len(labels))).all():
            labels = None
    return EdgeList(
        torch.tensor(ends, dtype=torch.int64, device="cpu").reshape(-1, 2).T.contiguous(),
        torch.from_numpy(finite_weight("graph", _floats(weights))) if weighted else None,
        labels,
        num_nodes=len(nodes),
        directed=graph.is_directed() if directed is None else directed,
        positions=None if positions is None else torch.from_numpy(positions),
        crs=crs,
    )


def _weights_of(graph: Any, weight: str | None) -> list[Any]:
    """An attribute of each edge: the named one, else ``weight``, in capitals, too."""
    if weight is not None:
        _require(graph, weight)
        return [_named_weight(e[:2], weight, e[2]) for e in graph.edges(data=weight)]
    for name in ("weight", "Weight", "WEIGHT"):
        weights: list[Any] = [w for *_, w in graph.edges(data=name)]
        if any(w is not None for w in weights):
            break
    return weights


def _require(graph: Any, weight: str) -> None:
    """Refuses an attribute that no edge has."""
    known = {name for *_, attributes in graph.edges(data=True) for name in attributes}
    if weight not in known and graph.number_of_edges():
        raise check_inputs.no_attribute("weight_column", weight, "graph", list(known))


#: attributes of edges that may be weights, of which a message says that they are not taken
_LIKE_WEIGHTS = ("length", "value", "distance", "cost", "strength", "score", "count")


def _other_weight(graph: Any) -> str | None:
    for name in _LIKE_WEIGHTS:
        values = (value for *_, value in graph.edges(data=name))
        kinds = object if name == "length" else (int, float)
        if all(value is not None and isinstance(value, kinds) for value in values):
            return name
    return None


def _named_weight(edge: Any, name: str, value: Any) -> float:
    try:
        if value is None or isinstance(value, bool):
            raise ValueError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        what = "no" if value is None else f"{value!r:.40} for"
        raise ValueError(
            f"edge {edge} has {what} attribute {name!r}; accepted: a number of every edge"
        ) from None


def _floats(weights: list[Any]) -> np.ndarray:
    integers = [w for w in weights if isinstance(w, int)]
    if max(map(abs, integers), default=0) > 2**53:
        warnings.warn(
            f"weights such as {str(max(integers, key=abs))[:24]} are beyond 2^53 and rounded",
            stacklevel=4,
        )
    try:
        return np.array(weights, np.float64)
    except OverflowError:
        raise ValueError(
            f"weight {str(max(weights, key=abs))[:24]} is too large for float64"
        ) from None
