"""Upper bound on the number of vertices of a shortest path, from one search per component."""

from __future__ import annotations

import math

import torch

from torchcent.engines import _hops, _weighted_rows
from torchcent.graph import Graph


def vertex_diameter(graph: Graph) -> int:
    """An upper bound on the vertex diameter, for vc_dimension().

    In a component of a symmetric graph, no path is longer than the sum of the two largest distances
    from any one vertex. With weights, a path has at most as many arcs as the smallest weight fits
    into that length. In directed graphs no distance bounds the others, and the number of vertices
    is used (Riondato and Kornaropoulos 2016, section 4.1).
    """
    if graph.num_nodes == 0:
        return 0
    label = graph.components
    size = torch.bincount(label)
    if not graph.is_symmetric:
        return int(size.max())
    # The first vertex of maximum degree in each component.
    degree = torch.zeros_like(size).scatter_reduce_(0, label, graph.degree, "amax")
    largest = torch.nonzero(graph.degree == degree[label]).flatten()
    root = torch.full_like(size, graph.num_nodes)
    root.scatter_reduce_(0, label[largest], largest, "amin")
    found = 1
    for component in torch.argsort(size, descending=True).tolist():
        if int(size[component]) <= found:
            break
        found = max(found, min(int(size[component]), _from(graph, int(root[component]))))
    return found


def _from(graph: Graph, root: int) -> int:
    if graph.weight is None:
        depth = _hops.hops(graph.rowptr, graph.col, root)
        return int(depth.topk(min(2, depth.numel())).values.clamp(min=0).sum()) + 1
    row = _weighted_rows.single(graph, "auto", root, False)
    far = row[torch.isfinite(row)].topk(min(2, int(torch.isfinite(row).sum()))).values.sum()
    return math.ceil(float(far) / float(graph.weight.min()) * (1 + 2.0**-20)) + 1
