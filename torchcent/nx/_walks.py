"""PageRank, spectral scores, cores and triangles, with NetworkX's arguments and results.

Scores are converged further than NetworkX's, which stop at n times `tol`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent.check._run import Run
from torchcent.nx._config import running
from torchcent.nx._graph import BackendGraph

_CLOSE = 1e-10  # of all iterations, unless a smaller `tol` is given
_MOST = 10_000  # iterations, so that what converges in NetworkX converges to _CLOSE, too


def pagerank(
    G: BackendGraph,
    alpha: float = 0.85,
    personalization: Mapping[Hashable, float] | None = None,
    max_iter: int = 100,
    tol: float = 1e-06,
    nstart: None = None,
    weight: Hashable = "weight",
    dangling: Mapping[Hashable, float] | None = None,
) -> dict[Hashable, float]:
    if len(G) == 0:
        return {}
    return _scores(
        G, weight, torchcent.pagerank, alpha=alpha, tol=min(tol, _CLOSE),
        personalization=_vector(G, personalization), dangling=_vector(G, dangling),
    )  # fmt: skip


def katz_centrality(
    G: BackendGraph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-06,
    nstart: None = None,
    normalized: bool = True,
    weight: Hashable = None,
) -> dict[Hashable, float]:
    if len(G) == 0:
        return {}
    start = _vector(G, beta) if isinstance(beta, Mapping) else float(beta)
    return _scores(
        G, weight, torchcent.katz, alpha=alpha, beta=start, tol=min(tol, _CLOSE), max_iter=_MOST,
        normalized=bool(normalized),
    )  # fmt: skip


def eigenvector_centrality(
    G: BackendGraph,
    max_iter: int = 100,
    tol: float = 1e-06,
    nstart: None = None,
    weight: Hashable = None,
) -> dict[Hashable, float]:
    return _scores(G, weight, torchcent.eigenvector, tol=min(tol, _CLOSE))


def hits(
    G: BackendGraph,
    max_iter: int = 100,
    tol: float = 1e-08,
    nstart: None = None,
    normalized: bool = True,
    *,
    method: str = "power_iteration",
) -> tuple[dict[Hashable, float], dict[Hashable, float]]:
    # NetworkX reads the attribute "weight", too.
    with running():
        graph = G.network("weight")
        if not graph.num_slots and graph._adjacency is graph:
            raise NotImplementedError("all edges have a weight of 0")
        found = torchcent.hits(graph, tol=min(tol, _CLOSE), run=Run(dtype=torch.float64))
    hubs, authorities = (dict(zip(G.nodes, x.tolist(), strict=True)) for x in found)
    return hubs, authorities


def subgraph_centrality(G: BackendGraph, *, normalized: bool = False) -> dict[Hashable, float]:
    return _scores(G, None, torchcent.subgraph_centrality)


def core_number(G: BackendGraph) -> dict[Hashable, int]:
    with running():
        found = torchcent.core_number(G.search())
    return dict(zip(G.nodes, found.tolist(), strict=True))


def triangles(G: BackendGraph, nodes: None = None) -> dict[Hashable, int]:
    with running():
        found = torchcent.triangles(G.search())
    return dict(zip(G.nodes, found.tolist(), strict=True))


def clustering(
    G: BackendGraph, nodes: None = None, weight: Hashable = None
) -> dict[Hashable, float]:
    found = _scores(G, weight, torchcent.clustering_coefficient)
    return {node: score or 0 for node, score in found.items()}  # NetworkX has an int there


def _scores(
    G: BackendGraph, weight: Hashable, measure: Callable[..., Tensor], **options: Any
) -> dict[Hashable, float]:
    with running():
        score = measure(G.network(weight), run=Run(dtype=torch.float64), **options)
    return dict(zip(G.nodes, score.tolist(), strict=True))


def _vector(G: BackendGraph, values: Mapping[Hashable, float] | None) -> Tensor | None:
    """The values of all nodes, 0 for those without."""
    if values is None:
        return None
    return torch.tensor([float(values.get(v, 0)) for v in G.nodes], dtype=torch.float64)
