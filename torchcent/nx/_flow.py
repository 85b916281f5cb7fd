"""Current flow and resistances, with NetworkX's arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

import torchcent
from torchcent.approx import _current_flow
from torchcent.check._run import Run
from torchcent.graph import Graph
from torchcent.nx._config import device, running
from torchcent.nx._graph import BackendGraph, connected

#: the least number of nodes for each function
LEAST_NODES = {
    "approximate_current_flow_betweenness_centrality": 3, "current_flow_betweenness_centrality": 3,
    "current_flow_betweenness_centrality_subset": 3, "current_flow_closeness_centrality": 2,
    "edge_current_flow_betweenness_centrality": 3,
    "edge_current_flow_betweenness_centrality_subset": 3,
    "effective_graph_resistance": 1, "resistance_distance": 1,
}  # fmt: skip


def current_flow_betweenness_centrality(
    G: BackendGraph,
    normalized: bool = True,
    weight: Hashable = None,
    dtype: Any = float,
    solver: str = "full",
) -> dict[Hashable, float]:
    return _scores(
        G, torchcent.current_flow_betweenness, G.search(weight), normalized=bool(normalized)
    )


def edge_current_flow_betweenness_centrality(
    G: BackendGraph,
    normalized: bool = True,
    weight: Hashable = None,
    dtype: Any = float,
    solver: str = "full",
) -> dict[tuple[Hashable, Hashable], float]:
    return _edge_scores(G, weight, normalized)


def current_flow_betweenness_centrality_subset(
    G: BackendGraph,
    sources: Collection[Hashable],
    targets: Collection[Hashable],
    normalized: bool = True,
    weight: Hashable = None,
    dtype: Any = float,
    solver: str = "lu",
) -> dict[Hashable, float]:
    return _scores(
        G, torchcent.current_flow_betweenness, G.search(weight), normalized=bool(normalized),
        sources=_numbers(G, sources), targets=_numbers(G, targets),
    )  # fmt: skip


def edge_current_flow_betweenness_centrality_subset(
    G: BackendGraph,
    sources: Collection[Hashable],
    targets: Collection[Hashable],
    normalized: bool = True,
    weight: Hashable = None,
    dtype: Any = float,
    solver: str = "lu",
) -> dict[tuple[Hashable, Hashable], float]:
    return _edge_scores(
        G, weight, normalized, sources=_numbers(G, sources), targets=_numbers(G, targets)
    )


def current_flow_closeness_centrality(
    G: BackendGraph, weight: Hashable = None, dtype: Any = float, solver: str = "lu"
) -> dict[Hashable, float]:
    return _scores(G, torchcent.current_flow_closeness, G.search(weight))


def approximate_current_flow_betweenness_centrality(
    G: BackendGraph,
    normalized: bool = True,
    weight: Hashable = None,
    dtype: Any = float,
    solver: str = "full",
    epsilon: float = 0.5,
    kmax: int = 10000,
    seed: Any = None,
    *,
    sample_weight: float = 1,
) -> dict[Hashable, float]:
    n, k = len(G), _samples(len(G), epsilon, sample_weight)
    chance = nx.utils.create_py_random_state(seed)
    pairs = torch.tensor([chance.sample(range(n), 2) for _ in range(k)]).T
    ordering = torch.tensor([G.arrays.number[node] for node in _ordering(G)])
    with running():
        graph = G.search(weight)._conductances
        score = _current_flow.of_pairs(graph, ordering[pairs].to(graph.device), None)
    score *= n * (n - 1) / ((n - 1) * (n - 2) if normalized else 2)
    return dict(zip(G.nodes, score.tolist(), strict=True))


def _samples(n: int, epsilon: float, sample_weight: float) -> int:
    """The number of pairs that NetworkX draws."""
    share = n * (n - 1) / ((n - 1.0) * (n - 2.0))
    return int(sample_weight * np.ceil((share / epsilon) ** 2 * np.log(n)))


def resistance_distance(
    G: BackendGraph,
    nodeA: Hashable = None,
    nodeB: Hashable = None,
    weight: Hashable = None,
    invert_weight: bool = True,
) -> Any:
    number, every = G.arrays.number, torch.arange(len(G))
    if nodeA is not None and nodeB is not None:
        pair = torch.tensor([[number[nodeA]], [number[nodeB]]])
        return _resistances(G, weight, invert_weight, pair).item()
    if nodeA is not None or nodeB is not None:
        one = number[nodeA if nodeA is not None else nodeB]
        pairs = torch.stack([torch.full_like(every, one), every])
        found = _resistances(G, weight, invert_weight, pairs)
        return dict(zip(G.nodes, found.tolist(), strict=True))
    found = _resistances(G, weight, invert_weight, torch.cartesian_prod(every, every).T)
    rows = found.view(len(G), len(G)).tolist()
    return {u: dict(zip(G.nodes, row, strict=True)) for u, row in zip(G.nodes, rows, strict=True)}


def effective_graph_resistance(
    G: BackendGraph, weight: Hashable = None, invert_weight: bool = True
) -> float:
    if len(G) == 1:
        return 0.0
    with running():
        score = torchcent.current_flow_closeness(
            _network(G, weight, invert_weight), run=Run(dtype=torch.float64)
        )
    return float((1 / score).sum()) / 2


def refusal(name: str, given: dict[str, Any]) -> str | None:
    """Why NetworkX has to compute this."""
    graph = given["G"]
    if graph.is_directed():
        return f"{name} is for undirected graphs"
    if graph.is_multigraph() and "betweenness" in name:
        if name.startswith("approximate"):
            return "NetworkX counts one of parallel edges here"
        if given["weight"] is not None:
            return "NetworkX leaves the weights of parallel edges out here"
        if name.startswith("edge"):
            return "NetworkX scales the currents of parallel edges once for each"
    if len(graph) < LEAST_NODES[name]:
        return f"the graph has fewer than {LEAST_NODES[name]} nodes"
    if given.get("solver", "full") not in ("full", "lu", "cg"):
        return f"solver must be 'full', 'lu' or 'cg', got {given['solver']!r}"
    if given.get("dtype", float) not in (float, np.float64, "float64"):
        return "dtype must be float"
    if "betweenness" in name and any(edge[0] == edge[1] for edge in graph.edges()):
        return "the graph has self-loops, through which NetworkX lets current flow"
    if (
        given.get("invert_weight")
        and given["weight"] is not None
        and _lacks(graph, given["weight"])
    ):
        return f"an edge has no attribute {given['weight']!r}, of which NetworkX takes reciprocals"
    for argument in ("nodeA", "nodeB"):
        if given.get(argument) is not None and given[argument] not in graph:
            return f"{argument} is no node"
    for argument in ("sources", "targets"):
        if argument in given and (reason := _not_ends(graph, given[argument])) is not None:
            return f"{argument} {reason}"
    if "kmax" in given:
        epsilon, per = given["epsilon"], given["sample_weight"]
        if not (epsilon > 0 and per > 0):
            return "epsilon and sample_weight must be > 0"
        if not 0 < _samples(len(graph), epsilon, per) <= given["kmax"]:
            return "the number of pairs must be 1 to kmax"
    return None if connected(graph) else "the graph is not connected"


def _lacks(graph: Any, weight: Hashable) -> bool:
    if isinstance(graph, BackendGraph):
        return graph.lacks(weight)
    return any(weight not in data for *_, data in graph.edges(data=True))


def _not_ends(graph: Any, nodes: Collection[Hashable]) -> str | None:
    if len(nodes) == 0:
        return "must not be empty"
    if not set(nodes) <= set(graph):
        return "names what is no node"
    # NetworkX counts each occurrence.
    return "names a node more than once" if len(set(nodes)) < len(nodes) else None


def _scores(
    G: BackendGraph, measure: Callable[..., Tensor], graph: Graph, **options: Any
) -> dict[Hashable, float]:
    with running():
        score = measure(graph, run=Run(dtype=torch.float64), **options)
    return dict(zip(G.nodes, score.tolist(), strict=True))


def _edge_scores(
    G: BackendGraph, weight: Hashable, normalized: bool, **ends: Any
) -> dict[tuple[Hashable, Hashable], float]:
    with running():
        score = torchcent.edge_current_flow_betweenness(
            G.search(weight), normalized=bool(normalized), run=Run(dtype=torch.float64), **ends
        )
    place = {node: i for i, node in enumerate(_ordering(G))}
    keys = ((u, v) if place[u] < place[v] else (v, u) for u, v in G.edges)
    return dict(zip(keys, score.tolist(), strict=False))


def _numbers(G: BackendGraph, nodes: Collection[Hashable]) -> Tensor:
    return torch.tensor([G.arrays.number[node] for node in nodes], device="cpu")


def _resistances(G: BackendGraph, weight: Hashable, invert_weight: bool, pairs: Tensor) -> Tensor:
    with running():
        graph = _network(G, weight, invert_weight)
        return torchcent.effective_resistance(
            graph, pairs=pairs.to(graph.device), run=Run(dtype=torch.float64)
        )


def _network(G: BackendGraph, weight: Hashable, invert_weight: bool) -> Graph:
    """The graph with conductances, which are the reciprocals of weights that are resistances."""
    if weight is None or not invert_weight:
        return G.search(weight)
    conductance = 1 / G.weight(weight).double()
    return Graph.from_edge_index(G.arrays.edge_index(), len(G), False, conductance).to(device())


def _ordering(G: BackendGraph) -> list[Hashable]:
    """NetworkX's numbering of the nodes, which orients its edges and selects its pairs."""
    made = nx.Graph()
    made.add_nodes_from(G.nodes)
    rowptr, col = G.adjacency
    attributes: dict[str, Any] = {}
    for node, row in zip(G.nodes, col.split(rowptr.diff().tolist()), strict=True):
        neighbours = map(G.nodes.__getitem__, row.tolist())
        made._adj[node] = dict.fromkeys(neighbours, attributes)
    return list(nx.utils.reverse_cuthill_mckee_ordering(made))
