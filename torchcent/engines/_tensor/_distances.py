"""Sums of distances from a batch of sources, per vertex or per source (rows: _rows.py)."""

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
    factor: Tensor | None = None,
) -> None:
    """Adds the contribution of the sources to each vertex v that they reach.

    Source i also stands for `leaves[i]` neighbours of degree 1 that were folded onto it, one hop
    farther away. v does not count as a source of v itself, but leaves folded onto v do.

    Args:
        rowptr, col: CSR of the arcs to follow.
        sources: int64 [k], one lane each.
        leaves: int32 [k].
        sums: float64 [n, 4]; incremented by distances d, 1/d, 1/(d + 1), and sources that reach v.
            With factor [n, cutoffs, 4].
        eccentricity: int32 [n]; raised to the largest distance from a source.
        levels: int64 [n + 1] or empty; incremented by pairs (source, v) at each distance, without
            folded ones.
        factor: float64 [cutoffs, k]; what a pair counts at each distance, beyond k - 1 nothing;
            None: 1.
    """
    search = Search(rowptr, col, sources)
    columns = [sums] if factor is None else sums.unbind(1)
    weights = None if factor is None else [[*row, 0.0] for row in factor.tolist()]
    while search.vertex.numel() and (factor is None or search.level < factor.shape[1]):
        depth, vertex = search.level, search.vertex
        hanging = leaves[search.lane].double()
        for at, column in enumerate(columns):
            here, beyond = (1.0, 1.0) if weights is None else weights[at][depth : depth + 2]
            own, more = here if depth > 0 else 0.0, hanging * beyond
            terms = [
                own * depth + more * (depth + 1),
                own / max(depth, 1) + more / (depth + 1),
                own / (depth + 1) + more / (depth + 2),
                own + more,
            ]
            if here or beyond:
                scatter_add(column, vertex, torch.stack(terms, dim=1))
        farthest = (depth + (more > 0)).to(eccentricity.dtype)
        eccentricity.scatter_reduce_(0, vertex, farthest, "amax")
        if levels.numel():
            levels[depth] += vertex.numel()
        search.step()


def source_sums(
    rowptr: Tensor,
    col: Tensor,
    sources: Tensor,
    sums: Tensor,
    eccentricity: Tensor,
    factor: Tensor | None = None,
) -> None:
    """Adds the same sums per source, over the vertices that it reaches except itself.

    Args:
        rowptr, col: CSR of the arcs to follow.
        sources: int64 [k], one lane each.
        sums: float64 [k, 4]; incremented by distances d, 1/d, 1/(d + 1), and vertices reached. With
            factor [k, cutoffs, 4].
        eccentricity: int32 [k]; raised to the largest distance.
        factor: as above.
    """
    search = Search(rowptr, col, sources)
    search.step()
    while search.vertex.numel() and (factor is None or search.level < factor.shape[1]):
        depth = search.level
        count = torch.bincount(search.lane, minlength=sources.numel())
        terms = sums.new_tensor([depth, 1 / depth, 1 / (depth + 1), 1])
        if factor is None:
            sums += count[:, None] * terms
        else:
            sums += count[:, None, None] * (terms * factor[:, depth, None])
        eccentricity[count > 0] = eccentricity[count > 0].clamp(min=depth)
        search.step()
