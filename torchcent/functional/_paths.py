"""Measures of shortest paths as operators."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check._run import DEFAULT, Run, around, of_operator
from torchcent.functional._calls import check_call, vertex_scores


def edge_betweenness(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.edge_betweenness` inside a model, like :func:`node_features`.

    Returns:
        Tensor [E], one score per column of edge_index.

    Example:
        >>> import torch
        >>> from torchcent.functional import edge_betweenness
        >>> edge_betweenness(torch.tensor([[0, 1], [1, 2]]), num_nodes=3, normalized=False)
        tensor([2., 2.])
    """
    flags = {"normalized": normalized}
    engine, dtype = of_operator(run, "edge_betweenness", "engine", "dtype")
    check_call(edge_index, edge_weight, batch, num_nodes, directed, flags)
    with around(run):
        found: Tensor = torch.ops.torchcent.edge_scores(
            edge_index,
            edge_weight,
            batch,
            num_nodes,
            directed,
            normalized,
            dtype,
            engine,
        )
    return found


def betweenness(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    endpoints: bool = False,
    sources: Tensor | None = None,
    targets: Tensor | None = None,
    cutoff: float | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.betweenness` inside a model, like :func:`node_features`.

    `sources` and `targets` are tensors of vertices; there is one cutoff at most.

    Returns:
        Tensor [n].

    Example:
        >>> import torch
        >>> import torchcent.functional as F
        >>> star = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
        >>> F.betweenness(star, num_nodes=4)  # within torch.compile(..., fullgraph=True), too
        tensor([1., 0., 0., 0.])
    """
    return vertex_scores(
        "betweenness", edge_index, edge_weight, num_nodes, batch, directed, run,
        normalized=normalized, endpoints=endpoints, sources=sources, targets=targets,
        cutoff=cutoff,
    )  # fmt: skip


def betweenness_variant(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    variant: str,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    sources: Tensor | None = None,
    targets: Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.betweenness_variant` inside a model, like :func:`betweenness`."""
    return vertex_scores(
        "betweenness_variant", edge_index, edge_weight, num_nodes, batch, directed, run,
        variant=variant, normalized=normalized, sources=sources, targets=targets,
    )  # fmt: skip


def stress(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = False,
    sources: Tensor | None = None,
    targets: Tensor | None = None,
    cutoff: float | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.stress` inside a model, like :func:`betweenness`."""
    return vertex_scores(
        "stress", edge_index, edge_weight, num_nodes, batch, directed, run,
        normalized=normalized, sources=sources, targets=targets, cutoff=cutoff,
    )  # fmt: skip


def percolation(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    states: Tensor,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.percolation` inside a model, like :func:`betweenness`."""
    return vertex_scores(
        "percolation", edge_index, edge_weight, num_nodes, batch, directed, run,
        states=states,
    )  # fmt: skip
