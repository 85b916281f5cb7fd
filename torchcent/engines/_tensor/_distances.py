"""Sums of distances from a batch of sources, per vertex or per source (rows: _rows.py)."""

import math

import torch
from torch import Tensor

from ._scatter import scatter_add
from ._search import Search


def distance_sums(
    rowptr: Tensor,
    col: Tensor,
    sources: Tensor,
    leaves: Tensor,
    sums: Tensor,
    eccentricity: Tensor,
    levels: Tensor,
    limits: Tensor | None = None,
) -> None:
    """Adds the contribution of the sources to each vertex v that they reach.

    Source i also stands for `leaves[i]` neighbours of degree 1 that were folded onto it, one hop
    farther away. A vertex v does not count as a source of v itself, but leaves folded onto v do.

    Args:
        rowptr, col: CSR of the arcs to follow.
        sources: int64 [k], one lane each.
        leaves: int32 [k].
        sums: float64 [n, 4]; incremented by distances d, 1/d, 1/(d + 1), and sources that reach v.
            With limits [n, cutoffs, 4].
        eccentricity: int32 [n]; raised to the largest distance from a source.
        levels: int64 [n + 1] or empty; incremented by pairs (source, v) at each distance, without
            folded ones.
        limits: int64 [cutoffs], ascending; only pairs within each count. None: all do.
    """
    search = Search(rowptr, col, sources)
    columns = [sums] if limits is None else sums.unbind(1)
    farthest = [math.inf] if limits is None else limits.tolist()
    while search.vertex.numel() and search.level <= farthest[-1]:
        depth, vertex = search.level, search.vertex
        hanging = leaves[search.lane].double()
        for most, column in zip(farthest, columns, strict=True):
            own, more = float(0 < depth <= most), hanging * (depth < most)
            terms = [
                own * depth + more * (depth + 1),
                own / max(depth, 1) + more / (depth + 1),
                own / (depth + 1) + more / (depth + 2),
                own + more,
            ]
            if depth <= most:
                scatter_add(column, vertex, torch.stack(terms, dim=1))
        deepest = (depth + (more > 0)).to(eccentricity.dtype)
        eccentricity.scatter_reduce_(0, vertex, deepest, "amax")
        if levels.numel():
            levels[depth] += vertex.numel()
        search.step()


def source_sums(
    rowptr: Tensor,
    col: Tensor,
    sources: Tensor,
    sums: Tensor,
    eccentricity: Tensor,
    limits: Tensor | None = None,
) -> None:
    """Adds the same sums per source, over the vertices that it reaches except itself.

    Args:
        rowptr, col: CSR of the arcs to follow.
        sources: int64 [k], one lane each.
        sums: float64 [k, 4]; incremented by distances d, 1/d, 1/(d + 1), and vertices reached. With
            limits [k, cutoffs, 4].
        eccentricity: int32 [k]; raised to the largest distance.
        limits: as above.
    """
    search = Search(rowptr, col, sources)
    search.step()
    columns = [sums] if limits is None else sums.unbind(1)
    farthest = [math.inf] if limits is None else limits.tolist()
    while search.vertex.numel() and search.level <= farthest[-1]:
        depth = search.level
        count = torch.bincount(search.lane, minlength=sources.numel())
        terms = sums.new_tensor([depth, 1 / depth, 1 / (depth + 1), 1])
        for most, column in zip(farthest, columns, strict=True):
            if depth <= most:
                column += count[:, None] * terms
        eccentricity[count > 0] = eccentricity[count > 0].clamp(min=depth)
        search.step()
