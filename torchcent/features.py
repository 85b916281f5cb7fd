"""node_features: several measures of every vertex as the columns of one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchcent import _batch, _check, _check_batch, _check_weights, _memory, _scale, _tiny
from torchcent._arguments import as_graph
from torchcent.betweenness import betweenness, stress
from torchcent.distances import distance_profile, eccentricity
from torchcent.graph import Graph

_ENGINES = ("auto", "tiny", "tensor")
_OF_PROFILE = ("closeness", "harmonic", "reach", "farness")


@_memory.reported
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
        engine: "auto", "tiny" or "tensor"; with weights also "relax" and "dijkstra". With "tiny",
            which "auto" takes for small graphs, one traversal serves all measures.

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
    graph = as_graph(edge_index, num_nodes, directed, edge_weight, batch, ptr, memory=memory)
    names = _check_batch.measures(measures)
    _check.flag(normalized, "normalized")
    result = _check.float_dtype(dtype)
    small, large = _tiny.split(graph, _check_weights.engine(engine, graph, _ENGINES))
    how = _How(normalized, engine, _check.byte_budget(memory), progress)
    if graph.ptr is None and large:
        return _one_by_one(graph, names, how).to(result)
    found = torch.zeros(graph.num_nodes, len(names), dtype=result, device=graph.device)
    if small.size:
        columns, lost = _of_small(graph, names, how, small)
        for place, name in enumerate(names):
            found[:, place] = columns[name]
        large = large + lost
    for number in large:
        one = _one_by_one(_batch.part(graph, number), names, how)
        found[_batch.run(graph, number)[0]] = one.to(result)
    return found


class _How(NamedTuple):
    normalized: bool
    engine: str
    memory: int | None
    progress: bool | None


def _of_small(
    graph: Graph, names: list[str], how: _How, small: _tiny.Numbers
) -> tuple[dict[str, Tensor], list[int]]:
    """All columns of these graphs from one traversal; and the graphs that take another one."""
    wanted: list[str] = [name for name in ("betweenness", "stress") if name in names]
    if set(names) - {"betweenness", "stress", "degree"}:
        wanted.append("distances")
    tiny = _tiny.run(
        graph, small, wanted, "node_features", memory=how.memory, progress=how.progress
    )
    columns: dict[str, Tensor] = {}
    for name in ("betweenness", "stress"):
        if name in names:
            columns[name] = _scale.scale(
                getattr(tiny, name), graph, normalized=how.normalized, endpoints=False
            )
    if "distances" in wanted:
        reach, farness = tiny.distances[:, _tiny.REACH], tiny.distances[:, _tiny.FARNESS]
        others = _scale.others(graph)
        columns |= {
            "closeness": _scale.closeness(farness, reach, others, True),
            "harmonic": _scale.harmonic(tiny.distances[:, _tiny.HARMONIC], others, how.normalized),
            "eccentricity": tiny.distances[:, _tiny.FARTHEST_OUT],
            "reach": reach,
            "farness": farness,
        }
    if "degree" in names:
        columns["degree"] = _degree(graph, how)
    return columns, tiny.overflowed


def _one_by_one(graph: Graph, names: list[str], how: _How) -> Tensor:
    """Of one graph, a traversal for each kind of measure."""
    options: dict[str, Any] = {**how._asdict(), "dtype": torch.float64}
    normalized = options.pop("normalized")
    found = {"degree": _degree(graph, how)}
    if "betweenness" in names:
        found["betweenness"] = betweenness(graph, normalized=normalized, **options)
    if "stress" in names:
        found["stress"] = stress(graph, normalized=normalized, **options)
    if "eccentricity" in names:
        found["eccentricity"] = eccentricity(graph, disconnected="component", **options)
    if any(name in names for name in _OF_PROFILE):
        profile = distance_profile(graph, normalized=normalized, **options)
        found |= {name: getattr(profile, name) for name in _OF_PROFILE}
    return torch.stack([found[name] for name in names], dim=1)


def _degree(graph: Graph, how: _How) -> Tensor:
    degree = graph.degree.double()
    return degree / _scale.others(graph) if how.normalized else degree
