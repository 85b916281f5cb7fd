"""node_features: several measures of every vertex as the columns of one matrix."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from torchcent import _check, _check_batch, _scale
from torchcent.betweenness import betweenness, stress
from torchcent.distances import distance_profile, eccentricity
from torchcent.graph import Graph, as_graph

_OF_PROFILE = ("closeness", "harmonic", "reach", "farness")


def node_features(
    edge_index: Tensor | Graph,
    edge_weight: Tensor | None = None,
    *,
    measures: Sequence[str] = ("betweenness", "closeness"),
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    ptr: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    dtype: torch.dtype | None = None,
    engine: str = "auto",
    memory: int | None = None,
    progress: bool | None = None,
) -> Tensor:
    """Several measures of every vertex, as features for a graph network.

    Args:
        edge_index, edge_weight, num_nodes, batch, ptr, directed, dtype, memory, progress: as in
            :func:`betweenness`.
        measures: names of the columns, each of "betweenness", "stress", "closeness", "harmonic",
            "eccentricity", "degree", "reach" and "farness". Closeness is NetworkX's, with the
            factor of Wasserman and Faust; the eccentricity is within what a vertex reaches, so
            that it is finite; degree is that of outgoing arcs, loops and copies left out; reach
            counts the vertices that reach one, and farness adds up their distances.
        normalized: True divides betweenness, stress, harmonic and degree by their largest possible
            values (stress as betweenness is), with the size of each graph of a batch.
        engine: "auto", or one that all the measures asked for have; with "tiny", as "auto" takes
            for small graphs, one traversal serves them all.

    Returns:
        Tensor [n, len(measures)], without gradient: all of it is a function of the arcs alone.

    Raises:
        TypeError, ValueError: naming the argument, before anything runs.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> torchcent.node_features(path, measures=["betweenness", "closeness", "degree"])
        tensor([[0.0000, 0.6667, 0.5000],
                [1.0000, 1.0000, 1.0000],
                [0.0000, 0.6667, 0.5000]])
    """
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, batch, ptr)
    names = _check_batch.measures(measures)
    _check.flag(normalized, "normalized")
    result = _check.float_dtype(dtype)
    how = {"engine": engine, "memory": memory, "progress": progress, "dtype": torch.float64}
    found: dict[str, Tensor] = {}
    if "degree" in names:
        degree = graph.degree.double()
        found["degree"] = degree / _scale.others(graph) if normalized else degree
    if "betweenness" in names:
        found["betweenness"] = betweenness(graph, normalized=normalized, **how)  # type: ignore[arg-type]
    if "stress" in names:
        found["stress"] = stress(graph, normalized=normalized, **how)  # type: ignore[arg-type]
    if "eccentricity" in names:
        found["eccentricity"] = eccentricity(graph, disconnected="component", **how)  # type: ignore[arg-type]
    if any(name in names for name in _OF_PROFILE):
        profile = distance_profile(graph, normalized=normalized, **how)  # type: ignore[arg-type]
        found |= {name: getattr(profile, name) for name in _OF_PROFILE}
    return torch.stack([found[name] for name in names], dim=1).to(result)
