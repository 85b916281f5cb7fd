"""GraphML and GML files, and networkx graphs."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from typing import Any

import numpy as np
import torch

from torchcent.io._arrays import parsing
from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList
from torchcent.io._matrix import finite_weight
from torchcent.io._positions import of_attributes
from torchcent.runtime._optional import need


def read_networkx(
    path: str, data: bytes, directed: bool | None, format: str, limits: Budget,
    weight: str | None = None,
) -> EdgeList:  # fmt: skip
    """Reads GraphML or GML through networkx; the file declares the direction."""
    networkx = need("networkx", "networkx", f"reading {format}")
    limits.text(format, data)
    if format == "graphml" and b"<!ENTITY" in data:
        raise ValueError(f"{path}: defines XML entities, which are not read")
    with parsing(path, f"{format} that networkx reads"):
        if format == "graphml":
            graph = networkx.read_graphml(io.BytesIO(data))
        else:
            graph = _read_gml(networkx, data)
    with parsing(path, f"{format} that networkx reads"):
        return from_networkx(graph, directed, weight)


def _read_gml(networkx: Any, data: bytes) -> Any:
    """Reads GML leniently: labels may be missing or repeated, multigraphs need no declaration."""
    multigraph = re.sub(rb"\bgraph\s*\[", b"graph [ multigraph 1", data, count=1)
    for text, label in ((data, "label"), (multigraph, "label"), (multigraph, "id")):
        with contextlib.suppress(networkx.NetworkXError):
            return networkx.read_gml(io.BytesIO(text), label=label)
    return networkx.read_gml(io.BytesIO(data), label="id")  # raises the actual error


def from_networkx(graph: Any, directed: bool | None = None, weight: str | None = None) -> EdgeList:
    """Returns the edges of a networkx graph; the labels are its nodes, in the graph's own order.

    Weights are used if every edge has a numeric attribute ``weight``. If only some edges have it,
    the weights are ignored with a warning. An attribute that ``weight=`` names must be a number, or
    the text of one, of every edge. Nodes with numbers x and y, or lon and lat, have positions; the
    graph's attribute ``crs`` is their coordinate system, as in graphs of osmnx.

    Args:
        graph: a networkx graph; parallel edges are kept.
        directed: overrides that of the graph.
        weight: the attribute of the edges to take for weights.
    """
    nodes = list(graph)
    number = {v: k for k, v in enumerate(nodes)}
    ends = [(number[u], number[v]) for u, v in graph.edges()]
    weights: list[Any] = [w for _, _, w in graph.edges(data=weight or "weight")]
    if weight is not None:
        ends_of = graph.edges()
        weights = [_named_weight(e, weight, w) for e, w in zip(ends_of, weights, strict=True)]
    numeric = sum(isinstance(w, (int, float)) and not isinstance(w, bool) for w in weights)
    weighted = bool(weights) and numeric == len(weights)
    if not weighted and any(w is not None for w in weights):
        warnings.warn(
            f"{numeric} of {len(weights)} edges have a number as their weight; "
            "weights are left out",
            stacklevel=2,
        )
    elif not weighted and weights and _has_lengths(graph):
        warnings.warn(
            "the edges have an attribute 'length', but it is not taken; weight_column='length' "
            "(--weight-column) takes it for weights",
            stacklevel=2,
        )
    positions, crs = of_attributes([graph.nodes[v] for v in nodes], graph.graph.get("crs"))
    names = [str(v) for v in nodes]
    labels: Any = names
    if all(x.isascii() and x.isdecimal() and len(x) < 19 for x in names):
        labels = np.array([int(x) for x in names], np.int64)
        if (labels == np.arange(len(labels))).all():
            labels = None
    return EdgeList(
        torch.tensor(ends, dtype=torch.int64, device="cpu").reshape(-1, 2).T.contiguous(),
        torch.from_numpy(finite_weight("graph", _floats(weights))) if weighted else None,
        labels,
        len(nodes),
        graph.is_directed() if directed is None else directed,
        None if positions is None else torch.from_numpy(positions),
        crs,
    )


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


def _has_lengths(graph: Any) -> bool:
    return all(length is not None for *_, length in graph.edges(data="length"))


def _floats(weights: list[Any]) -> np.ndarray:
    try:
        return np.array(weights, np.float64)
    except OverflowError:
        raise ValueError(f"weight {max(weights, key=abs):.20} is too large for float64") from None
