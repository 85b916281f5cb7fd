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
        eccentricity: int32 [n]; raised to the largest distance from a source.
        levels: int64 [n + 1] or empty; incremented by pairs (source, v) at each distance, without
            folded ones.
        factor: float64 [k]; what a pair counts at each distance, beyond k - 1 nothing; None: 1.
    """
    search = Search(rowptr, col, sources)
    weight = [] if factor is None else [*factor.tolist(), 0.0]  # nothing for leaves beyond it
    while search.vertex.numel() and (factor is None or search.level < len(weight) - 1):
        depth, vertex = search.level, search.vertex
        hanging = leaves[search.lane].double()
        own = 1.0 if depth > 0 else 0.0
        if factor is not None:
            own, hanging = own * weight[depth], hanging * weight[depth + 1]
        terms = [
            own * depth + hanging * (depth + 1),
            own / max(depth, 1) + hanging / (depth + 1),
            own / (depth + 1) + hanging / (depth + 2),
            own + hanging,
        ]
        scatter_add(sums, vertex, torch.stack(terms, dim=1))
        farthest = (depth + (hanging > 0)).to(eccentricity.dtype)
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
        sums: float64 [k, 4]; incremented by distances d, 1/d, 1/(d + 1), and vertices reached.
        eccentricity: int32 [k]; raised to the largest distance.
        factor: as above.
    """
    search = Search(rowptr, col, sources)
    search.step()
    while search.vertex.numel() and (factor is None or search.level < factor.numel()):
        depth = search.level
        count = torch.bincount(search.lane, minlength=sources.numel())
        terms = sums.new_tensor([depth, 1 / depth, 1 / (depth + 1), 1])
        terms *= 1 if factor is None else factor[depth]
        sums += count.unsqueeze(1) * terms
        eccentricity[count > 0] = eccentricity[count > 0].clamp(min=depth)
        search.step()
