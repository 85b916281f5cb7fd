"""PageRank, spectral scores, cores and triangles, with NetworkX's arguments and results.

Scores are converged further than NetworkX's, which stop at n times `tol`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

import torchcent
from torchcent import Graph
from torchcent.nx._declare import backend
from torchcent.nx._graph import BackendGraph, has_loops

_CONVERGED = "Converged to 1e-10, or to a smaller tol; without nstart=."
_CLOSE = 1e-10  # of all iterations, unless a smaller `tol` is given
_MOST = 10_000  # iterations, so that what converges in NetworkX converges to _CLOSE, too


def _of_nodes(G: Any, values: Any, argument: str) -> str | None:
    if values is None:
        return None
    if not isinstance(values, Mapping) or any(v not in G for v in values):
        return f"{argument} must be a dictionary of nodes"
    return _masses(values.values(), argument)


def _masses(values: Iterable[Any], argument: str) -> str | None:
    try:
        numbers = [float(x) for x in values]
    except (TypeError, ValueError):
        return f"{argument} holds what is no number"
    if not all(0 <= x < math.inf for x in numbers) or not sum(numbers) > 0:
        return f"{argument} must be finite and >= 0, and not all 0"
    return None


def _beta(G: Any, beta: Any) -> str | None:
    if not isinstance(beta, Mapping):
        return _masses([beta], "beta")
    return _of_nodes(G, beta, "beta") or ("beta lacks nodes" if len(beta) < len(G) else None)


def _no_edges(G: Any) -> bool | str:
    return G.number_of_edges() == 0 and "the graph has no edges"


@backend(
    measure="pagerank", docs=_CONVERGED, strengths=True,
    rules=[
        lambda G, personalization: _of_nodes(G, personalization, "personalization"),
        lambda G, dangling: _of_nodes(G, dangling, "dangling"),
    ],
)  # fmt: skip
def pagerank(
    G: BackendGraph, graph: Graph, alpha: float, personalization: Any, tol: float, dangling: Any
) -> Tensor:
    start, end = _vector(G, personalization), _vector(G, dangling)
    tol = min(tol, _CLOSE)
    return torchcent.pagerank(graph, alpha=alpha, tol=tol, personalization=start, dangling=end)


@backend(measure="katz", docs=_CONVERGED, strengths=True, multigraph=False, rules=[_beta])
def katz_centrality(
    G: BackendGraph, graph: Graph, alpha: float, beta: Any, tol: float, normalized: bool
) -> Tensor:
    options: Any = {"alpha": alpha, "tol": min(tol, _CLOSE), "max_iter": _MOST}
    start: Any = _vector(G, beta) if isinstance(beta, Mapping) else float(beta)
    return torchcent.katz(graph, beta=start, normalized=bool(normalized), **options)


@backend(
    measure="eigenvector", docs=_CONVERGED, strengths=True, multigraph=False, rules=[_no_edges]
)
def eigenvector_centrality(graph: Graph, tol: float) -> Tensor:
    return torchcent.eigenvector(graph, tol=min(tol, _CLOSE))


@backend(
    measure="hits", docs=_CONVERGED, strengths=True,
    rules=[
        lambda normalized: normalized is not True and "normalized must be True",
        # from NetworkX 3.7
        lambda method: method != "power_iteration" and f"method={method!r}: NetworkX's own",
        _no_edges,
    ],
)  # fmt: skip
def hits(G: BackendGraph, tol: float) -> tuple[dict[Hashable, float], ...]:
    graph = G.search("weight", strengths=True)  # NetworkX reads this attribute, too
    if not graph.num_slots and graph._adjacency is graph:
        raise NotImplementedError("all edges have a weight of 0")
    return tuple(map(G.by_node, torchcent.hits(graph, tol=min(tol, _CLOSE))))


def _has_zeros(G: Any) -> bool | str:
    if isinstance(G, BackendGraph) or all(weight != 0 for *_, weight in G.edges(data="weight")):
        return False
    return "some edges have a weight of 0, and NetworkX leaves them out"


def _of_graph(name: str, **options: Any) -> None:
    """Declares a function that is the same in torchcent, and has no arguments but the graph."""
    measure = getattr(torchcent, name)
    backend(name, measure=name, multigraph=False, **options)(lambda graph: measure(graph))


_of_graph(
    "core_number",
    rules=[lambda G: has_loops(G) and "the graph has self-loops, which NetworkX refuses"],
)
_of_graph("triangles", docs="Without nodes=.", directed=False)
_of_graph(
    "subgraph_centrality", directed=False,
    rules=[lambda normalized: normalized is not False and "normalized must be False", _has_zeros],
)  # fmt: skip


@backend(measure="clustering_coefficient", docs="Without nodes=.", multigraph=False)
def clustering(G: BackendGraph, graph: Graph) -> dict[Hashable, float]:
    scores = G.by_node(torchcent.clustering_coefficient(graph))
    return {node: score or 0 for node, score in scores.items()}  # NetworkX has an int there


@backend(measure="transitivity", directed=False, multigraph=False)
def transitivity(graph: Graph) -> float:
    return float(torchcent.transitivity(graph)) or 0  # NetworkX has an int there


def _vector(G: BackendGraph, values: Mapping[Hashable, float] | None) -> Tensor | None:
    """The values of all nodes, 0 for those without."""
    if values is None:
        return None
    return torch.tensor(
        [float(values.get(v, 0)) for v in G.nodes], dtype=torch.float64, device="cpu"
    )
