"""Degrees, cores, triangles, walks and currents as operators."""

from __future__ import annotations

from torch import Tensor

from torchcent.check._run import DEFAULT, Run
from torchcent.functional._calls import arc_scores
from torchcent.walks._spectral import Hits


def degree(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    direction: str = "out",
    normalized: bool = False,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.degree` inside a model, like :func:`betweenness`."""
    return arc_scores(
        "degree", edge_index, edge_weight, num_nodes, batch, directed, run,
        direction=direction, normalized=normalized,
    )  # fmt: skip


def core_number(
    edge_index: Tensor,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.core_number` inside a model, like :func:`betweenness`: int64 [n]."""
    return arc_scores("core_number", edge_index, None, num_nodes, batch, directed, run, whole=True)


def triangles(
    edge_index: Tensor,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.triangles` inside a model, like :func:`betweenness`: int64 [n]."""
    return arc_scores("triangles", edge_index, None, num_nodes, batch, directed, run, whole=True)


def clustering_coefficient(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.clustering_coefficient` inside a model, like :func:`betweenness`."""
    return arc_scores(
        "clustering_coefficient", edge_index, edge_weight, num_nodes, batch, directed, run
    )


def pagerank(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    alpha: float = 0.85,
    personalization: Tensor | None = None,
    dangling: Tensor | None = None,
    tol: float = 1e-10,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.pagerank` inside a model, like :func:`betweenness`.

    Returns:
        Tensor [n]; [n, k] if `personalization` or `dangling` is a matrix.

    Example:
        >>> import torch
        >>> import torchcent.functional as F
        >>> links = torch.tensor([[0, 1, 2], [2, 2, 0]])
        >>> F.pagerank(links, num_nodes=3)
        tensor([0.4635, 0.0500, 0.4865])
    """
    return arc_scores(
        "pagerank", edge_index, edge_weight, num_nodes, batch, directed, run,
        alpha=alpha, personalization=personalization, dangling=dangling, tol=tol,
    )  # fmt: skip


def katz(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    alpha: float = 0.1,
    beta: float | Tensor = 1.0,
    normalized: bool = True,
    tol: float = 1e-10,
    max_iter: int = 1000,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.katz` inside a model, like :func:`betweenness`."""
    return arc_scores(
        "katz", edge_index, edge_weight, num_nodes, batch, directed, run,
        alpha=alpha, beta=beta, normalized=normalized, tol=tol, max_iter=max_iter,
    )  # fmt: skip


def eigenvector(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    tol: float = 1e-10,
    max_iter: int = 10000,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.eigenvector` inside a model, like :func:`betweenness`."""
    return arc_scores(
        "eigenvector", edge_index, edge_weight, num_nodes, batch, directed, run,
        tol=tol, max_iter=max_iter,
    )  # fmt: skip


def hits(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    tol: float = 1e-10,
    max_iter: int = 10000,
    run: Run = DEFAULT,
) -> Hits:
    """:func:`torchcent.hits` inside a model, like :func:`betweenness`."""
    found = arc_scores(
        "hits", edge_index, edge_weight, num_nodes, batch, directed, run,
        tol=tol, max_iter=max_iter,
    )  # fmt: skip
    return Hits(*found.unbind(1))


def subgraph_centrality(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    tol: float = 1e-9,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.subgraph_centrality` inside a model, like :func:`betweenness`."""
    return arc_scores(
        "subgraph_centrality", edge_index, edge_weight, num_nodes, batch, directed, run,
        tol=tol,
    )  # fmt: skip


def current_flow_betweenness(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    sources: Tensor | None = None,
    targets: Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.current_flow_betweenness` inside a model, like :func:`betweenness`."""
    return arc_scores(
        "current_flow_betweenness", edge_index, edge_weight, num_nodes, batch, directed, run,
        normalized=normalized, sources=sources, targets=targets,
    )  # fmt: skip


def current_flow_closeness(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.current_flow_closeness` inside a model, like :func:`betweenness`."""
    return arc_scores(
        "current_flow_closeness", edge_index, edge_weight, num_nodes, batch, directed, run
    )


def information_centrality(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.information_centrality` inside a model, like :func:`betweenness`."""
    return arc_scores(
        "information_centrality", edge_index, edge_weight, num_nodes, batch, directed, run
    )
