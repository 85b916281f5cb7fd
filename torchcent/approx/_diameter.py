"""Upper bound on the number of vertices of a shortest path, from one search per component."""

from __future__ import annotations

import math

import torch

from torchcent.engines import _hops, _weighted_rows
from torchcent.graph import Graph, _batch
from torchcent.graph._pieces import component_sizes, pieces


def vertex_diameter(graph: Graph) -> int:
    """An upper bound on the vertex diameter, for vc_dimension().

    In a component of a symmetric graph, no path is longer than the sum of the two largest distances
    from any one vertex. With weights, a path has at most as many arcs as the smallest weight fits
    into that length. In directed graphs no distance bounds the others, and the number of vertices
    is used (Riondato and Kornaropoulos 2016, section 4.1).
    """
    if graph.num_nodes == 0:
        return 0
    size = component_sizes(graph)
    if not graph.is_symmetric:
        return int(size.max())
    lightest = None
    if graph.weight is not None and graph.num_slots:
        units = graph.scale.apply(graph.weight.min())
        lightest = float(graph.scale.lengths(units.double()))
    # Each component is a graph of its own, so that a search costs what it reaches.
    split = graph if size.numel() == 1 else pieces(graph).graph
    found = 1
    for component in torch.argsort(size, descending=True, stable=True).tolist():
        most = int(size[component])
        if most <= found:
            break
        found = max(found, min(most, _from(_batch.part(split, component), lightest)))
    return found


def _from(graph: Graph, lightest: float | None) -> int:
    """The bound of a connected graph, from its first vertex of maximum degree."""
    root = int(torch.nonzero(graph.degree == graph.degree.max())[0])
    if lightest is None:
        depth = _hops.hops(graph.rowptr, graph.col, root)
        return int(depth.topk(min(2, depth.numel())).values.clamp(min=0).sum()) + 1
    row = _weighted_rows.single(graph, "auto", root, False)
    far = row[torch.isfinite(row)].topk(min(2, int(torch.isfinite(row).sum()))).values.sum()
    return math.ceil(float(far) / lightest * (1 + 2.0**-20)) + 1
