"""Current flow and resistances, with NetworkX's arguments and results."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

import torchcent
from torchcent import Graph
from torchcent.approx import _current_flow
from torchcent.nx._closure import nodes_connected
from torchcent.nx._config import device
from torchcent.nx._declare import Rule, backend
from torchcent.nx._graph import BackendGraph, has_loops

_PAIRS = "Connected graphs without self-loops; the pairs of a seed are NetworkX's."
_PARALLEL_WEIGHTS = "NetworkX leaves the weights of parallel edges out here"
_SUBSET = "Connected graphs without self-loops; sources and targets without repetitions."


def _solver(solver: Any) -> bool | str:
    reason = f"solver must be 'full', 'lu' or 'cg', got {solver!r}"
    return solver not in ("full", "lu", "cg") and reason


def _lacks(G: Any, weight: Hashable, invert_weight: bool) -> str | None:
    if weight is None or not invert_weight:
        return None
    if isinstance(G, BackendGraph):
        lacks = G.attribute(weight).lacks
    else:
        lacks = any(weight not in data for *_, data in G.edges(data=True))
    reason = f"an edge has no attribute {weight!r}, of which NetworkX takes reciprocals"
    return reason if lacks else None


def _not_ends(G: Any, nodes: Collection[Hashable], argument: str) -> str | None:
    if len(nodes) == 0:
        return f"{argument} must not be empty"
    if not set(nodes) <= set(G):
        return f"{argument} names what is no node"
    # NetworkX counts each occurrence.
    return f"{argument} names a node more than once" if len(set(nodes)) < len(nodes) else None


def _too_many_pairs(G: Any, epsilon: float, kmax: int, sample_weight: float) -> str | None:
    if not (epsilon > 0 and sample_weight > 0):
        return "epsilon and sample_weight must be > 0"
    if not 0 < _samples(len(G), epsilon, sample_weight) <= kmax:
        return "the number of pairs must be 1 to kmax"
    return None


def _loops(G: Any) -> bool | str:
    return has_loops(G) and "the graph has self-loops, through which NetworkX lets current flow"


_RULES: tuple[Rule, ...] = (
    _solver,
    lambda dtype: dtype not in (float, np.float64, "float64") and "dtype must be float",
    _lacks,
    lambda G, nodeA: nodeA is not None and nodeA not in G and "nodeA is no node",
    lambda G, nodeB: nodeB is not None and nodeB not in G and "nodeB is no node",
    lambda G, sources: _not_ends(G, sources, "sources"),
    lambda G, targets: _not_ends(G, targets, "targets"),
    _too_many_pairs,
    lambda G: None if nodes_connected(G) else "the graph is not connected",
)


def _betweenness(parallel: Rule) -> dict[str, Any]:
    """What the functions declare that have no parallel edges of some kind."""
    return {"directed": False, "least": 3, "rules": (parallel, _loops, *_RULES)}


_OF_NODES = _betweenness(
    lambda G, weight: G.is_multigraph() and weight is not None and _PARALLEL_WEIGHTS
)
_OF_EDGES = _betweenness(
    lambda G: G.is_multigraph() and "NetworkX scales the currents of parallel edges once for each"
)
_OF_PAIRS = _betweenness(
    lambda G: G.is_multigraph() and "NetworkX counts one of parallel edges here"
)


@backend(
    "current_flow_betweenness_centrality_subset", measure="current_flow_betweenness", docs=_SUBSET,
    **_OF_NODES,
)  # fmt: skip
@backend(measure="current_flow_betweenness", docs=_PAIRS, **_OF_NODES)
def current_flow_betweenness_centrality(
    G: BackendGraph, graph: Graph, normalized: bool, sources: Any = None, targets: Any = None
) -> Tensor:
    ends = _ends(G, sources, targets)
    return torchcent.current_flow_betweenness(graph, normalized=bool(normalized), **ends)


@backend(
    "edge_current_flow_betweenness_centrality_subset", measure="edge_current_flow_betweenness",
    docs=_SUBSET, **_OF_EDGES,
)  # fmt: skip
@backend(measure="edge_current_flow_betweenness", docs=_PAIRS, **_OF_EDGES)
def edge_current_flow_betweenness_centrality(
    G: BackendGraph, graph: Graph, normalized: bool, sources: Any = None, targets: Any = None
) -> dict[Any, float]:
    scores = torchcent.edge_current_flow_betweenness(
        graph, normalized=bool(normalized), **_ends(G, sources, targets)
    )
    place = {node: i for i, node in enumerate(_ordering(G))}  # which directs the edges
    keys = ((u, v) if place[u] < place[v] else (v, u) for u, v in G.edges)
    return dict(zip(keys, scores.tolist(), strict=True))


@backend(measure="current_flow_betweenness_approx", docs=_PAIRS, **_OF_PAIRS)
def approximate_current_flow_betweenness_centrality(
    G: BackendGraph, graph: Graph, normalized: bool, epsilon: float, seed: Any, sample_weight: float
) -> Tensor:
    n, k = len(G), _samples(len(G), epsilon, sample_weight)
    chance = nx.utils.create_py_random_state(seed)
    pairs = torch.tensor([chance.sample(range(n), 2) for _ in range(k)], device="cpu").T
    pairs = G.vertices(_ordering(G))[pairs].to(graph.device)
    scores = _current_flow.of_pairs(graph._conductances, pairs, None)
    return scores * (n * (n - 1) / ((n - 1) * (n - 2) if normalized else 2))


def _samples(n: int, epsilon: float, sample_weight: float) -> int:
    """The number of pairs that NetworkX draws."""
    share = n * (n - 1) / ((n - 1.0) * (n - 2.0))
    return int(sample_weight * np.ceil((share / epsilon) ** 2 * np.log(n)))


@backend(
    measure=("current_flow_closeness", "information_centrality"), directed=False, least=2,
    rules=_RULES,
)  # fmt: skip
def current_flow_closeness_centrality(graph: Graph) -> Tensor:
    return torchcent.current_flow_closeness(graph)


@backend(measure="effective_resistance", directed=False, least=1, rules=_RULES)
def resistance_distance(
    G: BackendGraph, nodeA: Hashable, nodeB: Hashable, weight: Hashable, invert_weight: bool
) -> Any:
    ends = [range(len(G)) if x is None else [G.arrays.number[x]] for x in (nodeA, nodeB)]
    pairs = torch.cartesian_prod(*(torch.tensor(x, device="cpu") for x in ends)).T
    graph = _network(G, weight, invert_weight)
    values = torchcent.effective_resistance(graph, pairs=pairs.to(graph.device))
    if nodeA is not None or nodeB is not None:
        return values if nodeA is None or nodeB is None else values.item()
    return dict(zip(G.nodes, map(G.by_node, values.view(len(G), -1)), strict=True))


@backend(measure="effective_resistance", directed=False, least=1, rules=_RULES)
def effective_graph_resistance(G: BackendGraph, weight: Hashable, invert_weight: bool) -> float:
    if len(G) == 1:
        return 0.0
    scores = torchcent.current_flow_closeness(_network(G, weight, invert_weight))
    return float((1 / scores).sum()) / 2


def _ends(G: BackendGraph, sources: Any, targets: Any) -> dict[str, Any]:
    ends = {"sources": sources, "targets": targets}
    return {name: None if nodes is None else G.vertices(nodes) for name, nodes in ends.items()}


def _network(G: BackendGraph, weight: Hashable, invert_weight: bool) -> Graph:
    """The graph with conductances, which are the reciprocals of weights that are resistances."""
    if weight is None or not invert_weight:
        return G.search(weight)
    conductance = 1 / G.weight(weight).double()
    return Graph.from_edge_index(G.arrays.edge_index(), len(G), False, conductance).to(device())


def _ordering(G: BackendGraph) -> list[Hashable]:
    """NetworkX's numbering of the nodes, which orients its edges and selects its pairs."""
    copy = nx.Graph()
    copy.add_nodes_from(G.nodes)
    rowptr, col = G.adjacency
    attributes: dict[str, Any] = {}
    for node, row in zip(G.nodes, col.split(rowptr.diff().tolist()), strict=True):
        copy._adj[node] = dict.fromkeys(G.names(row), attributes)
    return list(nx.utils.reverse_cuthill_mckee_ordering(copy))
