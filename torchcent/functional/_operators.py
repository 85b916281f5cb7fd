"""The operators of torchcent.functional, with their shapes and without gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _weights as check_weights
from torchcent.check._run import Run, quiet
from torchcent.distances import _closeness
from torchcent.distances._profile import DistanceProfile, distance_profile
from torchcent.flow import _current_flow
from torchcent.gnn import _features
from torchcent.paths import _betweenness
from torchcent.paths._percolation import percolation
from torchcent.paths._variants import betweenness_variant
from torchcent.walks import _local, _spectral
from torchcent.walks._pagerank import pagerank
from torchcent.walks._subgraph import subgraph_centrality

_OF_SEARCHES: dict[str, Callable[..., Any]] = {
    "betweenness": _betweenness.betweenness, "stress": _betweenness.stress,
    "percolation": percolation, "closeness": _closeness.closeness,
    "harmonic": _closeness.harmonic, "eccentricity": _closeness.eccentricity,
    "distance_profile": distance_profile, "betweenness_variant": betweenness_variant,
}  # fmt: skip
_OF_ARCS: dict[str, Callable[..., Any]] = {
    "degree": _local.degree, "core_number": _local.core_number, "triangles": _local.triangles,
    "clustering_coefficient": _local.clustering_coefficient, "pagerank": pagerank,
    "katz": _spectral.katz, "eigenvector": _spectral.eigenvector, "hits": _spectral.hits,
    "subgraph_centrality": subgraph_centrality,
    "current_flow_betweenness": _current_flow.current_flow_betweenness,
    "current_flow_closeness": _current_flow.current_flow_closeness,
    "information_centrality": _current_flow.information_centrality,
}  # fmt: skip

# Kernels read sizes back from the device, which a CUDA graph cannot record: torch.compile splits
# its CUDA graphs there.
_TAGS = (torch.Tag.cudagraph_unsafe,)


def _run(engine: str) -> Run:
    return quiet() if engine == "auto" else quiet() | Run(engine=engine)


@torch.library.custom_op("torchcent::node_features", mutates_args=(), tags=_TAGS)
def node_features(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    batch: Tensor | None,
    num_nodes: int,
    measures: str,
    directed: bool | None,
    normalized: bool,
    dtype: torch.dtype,
    engine: str,
) -> Tensor:
    return _features.node_features(
        edge_index,
        edge_weight,
        num_nodes=num_nodes,
        batch=batch,
        measures=measures.split(","),
        directed=directed,
        normalized=normalized,
        run=_run(engine) | Run(dtype=dtype),
    )


@torch.library.custom_op("torchcent::edge_scores", mutates_args=(), tags=_TAGS)
def edge_scores(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    batch: Tensor | None,
    num_nodes: int,
    directed: bool | None,
    normalized: bool,
    dtype: torch.dtype,
    engine: str,
) -> Tensor:
    return _betweenness.edge_betweenness(
        edge_index,
        edge_weight,
        num_nodes=num_nodes,
        batch=batch,
        directed=directed,
        normalized=normalized,
        run=_run(engine) | Run(dtype=dtype),
    )


@torch.library.custom_op("torchcent::vertex_scores", mutates_args=(), tags=_TAGS)
def vertex_scores(
    measure: str,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    batch: Tensor | None,
    num_nodes: int,
    states: Tensor | None,
    sources: Tensor | None,
    targets: Tensor | None,
    directed: bool | None,
    normalized: bool | None,
    endpoints: bool | None,
    wf_improved: bool | None,
    cutoff: float | None,
    disconnected: str | None,
    variant: str | None,
    dtype: torch.dtype,
    engine: str,
) -> Tensor:
    """[n]; of distance_profile [n, 5]. What is None is left out."""
    options = {
        "states": states, "sources": sources, "targets": targets, "normalized": normalized,
        "endpoints": endpoints, "wf_improved": wf_improved, "cutoff": cutoff,
        "disconnected": disconnected, "variant": variant,
    }  # fmt: skip
    found = _OF_SEARCHES[measure](
        edge_index=edge_index, edge_weight=edge_weight, num_nodes=num_nodes, batch=batch,
        directed=directed, run=_run(engine) | Run(dtype=dtype),
        **{name: value for name, value in options.items() if value is not None},
    )  # fmt: skip
    return found if isinstance(found, Tensor) else torch.stack(found, dim=1)


@torch.library.custom_op("torchcent::arc_scores", mutates_args=(), tags=_TAGS)
def arc_scores(
    measure: str,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    batch: Tensor | None,
    num_nodes: int,
    sources: Tensor | None,
    targets: Tensor | None,
    personalization: Tensor | None,
    dangling: Tensor | None,
    betas: Tensor | None,
    beta: float | None,
    direction: str | None,
    directed: bool | None,
    normalized: bool | None,
    alpha: float | None,
    tol: float | None,
    max_iter: int | None,
    dtype: torch.dtype | None,
) -> Tensor:
    """[n]; of hits [n, 2], of pagerank with a matrix [n, k]. What is None is left out."""
    options = {
        "edge_weight": edge_weight, "sources": sources, "targets": targets,
        "personalization": personalization, "dangling": dangling,
        "beta": beta if betas is None else betas, "direction": direction,
        "normalized": normalized, "alpha": alpha, "tol": tol, "max_iter": max_iter,
        "run": None if dtype is None else quiet() | Run(dtype=dtype),
    }  # fmt: skip
    found = _OF_ARCS[measure](
        edge_index=edge_index, num_nodes=num_nodes, batch=batch, directed=directed,
        **{name: value for name, value in options.items() if value is not None},
    )  # fmt: skip
    return found.contiguous() if isinstance(found, Tensor) else torch.stack(found, dim=1)


@node_features.register_fake
def _(
    edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None, num_nodes: int,
    measures: str, directed: bool | None, normalized: bool, dtype: torch.dtype, engine: str,
) -> Tensor:  # fmt: skip
    return edge_index.new_empty((num_nodes, measures.count(",") + 1), dtype=dtype)


@edge_scores.register_fake
def _(
    edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None, num_nodes: int,
    directed: bool | None, normalized: bool, dtype: torch.dtype, engine: str,
) -> Tensor:  # fmt: skip
    return edge_index.new_empty(edge_index.shape[1], dtype=dtype)


@vertex_scores.register_fake
def _(
    measure: str, edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None,
    num_nodes: int, states: Tensor | None, sources: Tensor | None, targets: Tensor | None,
    directed: bool | None, normalized: bool | None, endpoints: bool | None,
    wf_improved: bool | None, cutoff: float | None, disconnected: str | None, variant: str | None,
    dtype: torch.dtype, engine: str,
) -> Tensor:  # fmt: skip
    columns = (len(DistanceProfile._fields),) if measure == "distance_profile" else ()
    return edge_index.new_empty((num_nodes, *columns), dtype=dtype)


@arc_scores.register_fake
def _(
    measure: str, edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None,
    num_nodes: int, sources: Tensor | None, targets: Tensor | None,
    personalization: Tensor | None, dangling: Tensor | None, betas: Tensor | None,
    beta: float | None, direction: str | None, directed: bool | None, normalized: bool | None,
    alpha: float | None, tol: float | None, max_iter: int | None, dtype: torch.dtype | None,
) -> Tensor:  # fmt: skip
    matrices = [x for x in (personalization, dangling) if x is not None and x.dim() == 2]
    columns = (2,) if measure == "hits" else (matrices[0].shape[1],) if matrices else ()
    return edge_index.new_empty((num_nodes, *columns), dtype=dtype or torch.int64)


def _no_backward(*_: Any) -> None:
    """Reports weights that require grad when the operators are called directly."""
    raise NotImplementedError(check_weights.NO_GRADIENT)


node_features.register_autograd(_no_backward)
edge_scores.register_autograd(_no_backward)
vertex_scores.register_autograd(_no_backward)
arc_scores.register_autograd(_no_backward)
