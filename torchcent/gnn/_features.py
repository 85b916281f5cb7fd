"""node_features: several measures of every vertex as the columns of a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.check._run import DEFAULT, SEARCHES, Run
from torchcent.distances._distance_sums import vertex_sums
from torchcent.distances._eccentricity import eccentricities
from torchcent.distribute._arguments import scale_of, shown
from torchcent.engines.measures import _normalize
from torchcent.engines.measures._kernels import KERNELS
from torchcent.engines.measures._measures import (
    NOT_IN_NETWORKX,
    Measure,
    columns,
    measure,
    plain_columns,
)
from torchcent.engines.measures._request import Request
from torchcent.engines.search import _tiny
from torchcent.graph import Graph, _batch, _fixed_point
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.paths import _path_sums
from torchcent.walks._local import numbers_of_arcs

_ENGINES = ("auto", "tiny", "tensor")
_APART = ("eccentricity", "degree")  # columns that are computed unlike others of their families


class _Columns(NamedTuple):
    """The columns by how they are computed; those of one kind share their searches."""

    measures: Mapping[str, Measure]  # that have each
    weighted: list[str]  # paths by weights of their sources, which are an argument
    separate: list[str]  # other paths that the tiny engine does not have
    paths: list[str]  # numbers of paths, or shares of them
    of_sums: list[str]  # sums over distances
    of_arcs: list[str]  # no search; by their functions, with default arguments


@cache
def _columns() -> _Columns:
    every, plain = columns(), plain_columns()
    separate = [x for x in plain if every[x].family == "paths" and not KERNELS[x].tiny]
    paths, of_sums, of_arcs = (
        [x for x in plain if every[x].family == family and x not in (*_APART, *separate)]
        for family in ("paths", "distances", "")
    )
    weighted = [name for name in every if name not in plain]
    return _Columns(every, weighted, separate, paths, of_sums, of_arcs)


@measure(
    "vertices", *SEARCHES, "dtype", searches=True, choices={"engine": _ENGINES},
    width=lambda options: len(options["measures"]),
    without=NOT_IN_NETWORKX | {"columns": "it is all of them"},
    # Percolation is a function of its own, and so is Katz centrality with an alpha.
    not_in_models=("states", "alpha"),
)  # fmt: skip
def node_features(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    measures: str | Sequence[str] = ("betweenness", "closeness"),
    states: Tensor | None = None,
    alpha: float | Tensor | None = None,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    run: Run = DEFAULT,
) -> Tensor:
    """Computes several measures of every vertex as features for a graph neural network.

    Args:
        edge_index, edge_weight, num_nodes, batch, directed: as in
            :func:`betweenness`.
        measures: a name or a list of names of the columns: "betweenness", "stress", "percolation",
            "closeness", "harmonic", "eccentricity", "degree", "reach", "farness". Further columns
            are "pagerank", "katz", "eigenvector", "hubs", "authorities", "subgraph_centrality",
            "core_number", "triangles", "clustering_coefficient", "current_flow_betweenness",
            "current_flow_closeness", "information_centrality" and "node_resistance_curvature".
            Other measures of paths that need only the graph are columns, too. Closeness follows
            NetworkX, with the factor of Wasserman and Faust. Eccentricity is taken over the
            vertices that a vertex reaches, so it is always finite. Degree counts outgoing arcs, as
            :func:`degree` without weights. Reach is the number of vertices that reach a vertex, and
            farness is the sum of their distances. Those from "pagerank" on have the default
            arguments of their functions ("hubs" and "authorities" those of :func:`hits`) and ignore
            weights, which are lengths here. Loops and parallel arcs count as in their functions.
        states: percolation states for "percolation", as in :func:`percolation`.
        alpha: the attenuation for "katz", as in :func:`katz`. None suits each graph: 0.85 divided
            by its largest eigenvalue.
        normalized: True divides betweenness, stress, harmonic and degree by their maximum possible
            values (stress by that of betweenness), using the size of each graph of a batch.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n, len(measures)], without gradient: all features depend on the arcs only.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> torchcent.node_features(path, measures=["betweenness", "closeness", "degree"])
        tensor([[0.0000, 0.6667, 0.5000],
                [1.0000, 1.0000, 1.0000],
                [0.0000, 0.6667, 0.5000]])
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    names = check_batch.measures(measures, columns())
    check.flag(normalized, "normalized")
    result = run.dtype
    check_weights.engine(run.engine.name, graph, _ENGINES)
    scale = scale_of(graph, run)
    request = Request(
        "", run.engine.name, normalized=normalized, memory=run.memory,
        progress=shown(scale, run.progress), scale=scale,
    )  # fmt: skip
    kinds = _columns()
    weighted = [name for name in names if name in kinds.weighted]
    numbers = _states(states, weighted, graph)
    if alpha is not None and "katz" not in names:
        raise ValueError("alpha is for katz, which measures does not name")
    own_options: dict[str, Any] = {"katz": {"alpha": alpha}}
    if scale is not None:
        key = {"measure": "node_features", "measures": list(names), "engine": run.engine.name}
        scale.begin(graph, key | {"states": numbers, "alpha": alpha})
    separate = [name for name in names if name in kinds.separate]
    of_arcs = [name for name in names if name in kinds.of_arcs]
    plain = [name for name in names if name not in (*weighted, *separate, *of_arcs)]
    by_paths = [name for name in plain if name in kinds.paths]
    # Where paths are counted.
    exact = _fixed_point.of(graph) if by_paths or weighted or separate else graph
    if exact is graph or not by_paths:
        by_paths = []
    alone = [name for name in plain if name not in by_paths]  # one search for distances, and paths
    scores: dict[str, Tensor] = {}
    for part, own in ((graph, alone), (exact, by_paths)):
        matrix = _plain(part, own, request, result)
        if own == names:
            return matrix
        scores |= dict(zip(own, matrix.unbind(1), strict=True))
    for name in of_arcs:
        scores[name] = _of_function(name, graph, own_options.get(name, {})).to(result)
    for name in (*weighted, *separate):
        own_request = request._replace(measure=name, sources=numbers if name in weighted else None)
        scores[name] = _path_sums.scores(exact, own_request).to(result)
    return torch.stack([scores[name] for name in names], dim=1)


def _of_function(name: str, graph: Graph, options: dict[str, Any]) -> Tensor:
    """[n]; weights, which are lengths to the other columns, do not matter."""
    each = _columns().measures[name]
    run = Run(dtype=torch.float64) if "dtype" in each.uses else DEFAULT
    scores = each.function(graph.unweighted(), run=run, **options)
    column: Tensor = getattr(scores, name) if each.parts else scores
    return column


def _states(value: object, weighted: list[str], graph: Graph) -> Tensor | None:
    if not weighted:
        if value is not None:
            raise ValueError(
                f"states is for {', '.join(_columns().weighted)}, which measures does not name"
            )
        return None
    if value is None:
        raise ValueError(f"{weighted[0]} needs states, a number for every vertex")
    return check.per_vertex(value, "states", graph)


def _plain(graph: Graph, names: list[str], request: Request, result: torch.dtype) -> Tensor:
    """Computes the columns that need no traversal."""
    small, large = _tiny.split(graph, request.engine)
    if graph.ptr is None and large and names:
        return _one_by_one(graph, names, request).to(result)
    matrix = torch.zeros(graph.num_nodes, len(names), dtype=result, device=graph.device)
    if not names:
        return matrix
    if small.size:
        columns, others = _of_small(graph, names, request, small)
        for place, name in enumerate(names):
            matrix[:, place] = columns[name]
        large = large + others
    for number in large:
        one = _one_by_one(_batch.part(graph, number), names, request)
        matrix[_batch.run(graph, number)[0]] = one.to(result)
    return matrix


def _of_small(
    graph: Graph, names: list[str], request: Request, small: _tiny.Numbers
) -> tuple[dict[str, Tensor], list[int]]:
    """All columns of the small graphs from one traversal, and the graphs left for other engines."""
    paths = [name for name in _columns().paths if name in names]
    distances = ["distances"] if set(names) - {*paths, "degree"} else []
    tiny = _tiny.run(
        graph, small, paths + distances, "node_features", memory=request.memory,
        progress=request.progress, scale=request.scale,
    )  # fmt: skip
    columns = {
        name: _normalize.scale(
            getattr(tiny, name), graph, normalized=request.normalized, endpoints=False
        )
        for name in paths
    }
    if distances:
        column = tiny.distances.T
        sums = column[_tiny.FARNESS], column[_tiny.HARMONIC], column[_tiny.REACH]
        columns |= _of_sums(graph, *sums, request)
        columns["eccentricity"] = column[_tiny.FARTHEST_OUT]
    if "degree" in names:
        columns["degree"] = _degree(graph, request)
    return columns, tiny.overflowed


def _one_by_one(graph: Graph, names: list[str], request: Request) -> Tensor:
    """Columns of a single graph, with one traversal per kind of measure."""
    scores = {"degree": _degree(graph, request)}
    for name in _columns().paths:
        if name in names:
            scores[name] = _path_sums.scores(graph, request._replace(measure=name))
    if "eccentricity" in names:
        own = request._replace(measure="eccentricity")
        scores["eccentricity"] = eccentricities(graph, own, None, "component")
    if set(names) & {*_columns().of_sums}:
        sums = vertex_sums(graph, request._replace(measure="distance_profile"))
        scores |= _of_sums(graph, sums.farness, sums.harmonic, sums.reach, request)
    return torch.stack([scores[name] for name in names], dim=1)


def _of_sums(
    graph: Graph, farness: Tensor, harmonic: Tensor, reach: Tensor, request: Request
) -> dict[str, Tensor]:
    """Features that follow from sums over distances."""
    others = _normalize.others(graph)
    return {
        "closeness": _normalize.closeness(farness, reach, others, True),
        "harmonic": _normalize.harmonic(harmonic, others, request.normalized),
        "reach": reach,
        "farness": farness,
    }


def _degree(graph: Graph, request: Request) -> Tensor:
    degree = numbers_of_arcs(graph)
    return degree / _normalize.others(graph) if request.normalized else degree
