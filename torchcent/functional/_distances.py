"""Measures of distances as operators."""

from __future__ import annotations

from torch import Tensor

from torchcent.check._run import DEFAULT, Run
from torchcent.distances._profile import DistanceProfile
from torchcent.functional._calls import vertex_scores


def closeness(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    wf_improved: bool = True,
    sources: Tensor | None = None,
    cutoff: float | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.closeness` inside a model, like :func:`betweenness`."""
    return vertex_scores(
        "closeness", edge_index, edge_weight, num_nodes, batch, directed, run,
        wf_improved=wf_improved, sources=sources, cutoff=cutoff,
    )  # fmt: skip


def harmonic(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = False,
    sources: Tensor | None = None,
    cutoff: float | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.harmonic` inside a model, like :func:`betweenness`."""
    return vertex_scores(
        "harmonic", edge_index, edge_weight, num_nodes, batch, directed, run,
        normalized=normalized, sources=sources, cutoff=cutoff,
    )  # fmt: skip


def eccentricity(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    disconnected: str = "inf",
    run: Run = DEFAULT,
) -> Tensor:
    """:func:`torchcent.eccentricity` inside a model, like :func:`betweenness`."""
    return vertex_scores(
        "eccentricity", edge_index, edge_weight, num_nodes, batch, directed, run,
        disconnected=disconnected,
    )  # fmt: skip


def distance_profile(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    num_nodes: int,
    batch: Tensor | None = None,
    directed: bool | None = None,
    wf_improved: bool = True,
    normalized: bool = False,
    sources: Tensor | None = None,
    run: Run = DEFAULT,
) -> DistanceProfile:
    """:func:`torchcent.distance_profile` inside a model: five measures in one traversal.

    Returns:
        DistanceProfile: closeness, harmonic, eccentricity, reach and farness, each a Tensor [n].
    """
    found = vertex_scores(
        "distance_profile", edge_index, edge_weight, num_nodes, batch, directed, run,
        wf_improved=wf_improved, normalized=normalized, sources=sources,
    )  # fmt: skip
    return DistanceProfile(*found.unbind(1))
