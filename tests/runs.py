"""Runs that are cut into several units on small graphs: one for each way of searching."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from surface import call
from torch import Tensor

import torchcent
from torchcent import Graph, generate

#: sizes (tuning.py) with which the runs below have between 2 and 200 units
SMALL = {"units_work": 2e4, "units_batches": 1, "units_first": 1, "inline": 0}
SMALL |= {"units_sources_on_cuda": 1}
ALONE = {**SMALL, "chains_at": 0}  # no sweeps for several sources
CONTRACTED = {**SMALL, "hierarchy_lanes": 64}


def digest(result: Tensor) -> str:
    """The same for results of the same bits."""
    head = f"{result.dtype} {tuple(result.shape)}".encode()
    return hashlib.sha256(head + result.cpu().contiguous().numpy().tobytes()).hexdigest()


ABSENT = object()  # instead of an argument


class Case(NamedTuple):
    graph: Callable[[], Graph]
    measure: str
    options: dict[str, Any] = {}
    sizes: dict[str, Any] = SMALL

    def __call__(self, **more: Any) -> tuple[Tensor, ...]:
        options = {"dtype": torch.float64, "progress": False, **self.options, **more}
        options = {name: value for name, value in options.items() if value is not ABSENT}
        found = call(getattr(torchcent, self.measure), self.graph(), **options)
        if isinstance(found, torchcent.Closure):
            return found.component, found.to_dense(), torch.tensor(found.count())
        if not isinstance(found, Tensor | tuple):  # a file
            found = torch.from_numpy(np.array(found[:]))
        return found if isinstance(found, tuple) else (found,)


def network() -> Graph:
    return Graph.from_edge_index(generate.ba(1500, 3, seed=2), directed=False)


def arcs() -> Graph:
    return Graph.from_edge_index(generate.er(1600, p=0.003, seed=3), num_nodes=1600)


def lengths() -> Graph:
    chance = torch.Generator().manual_seed(1)
    arcs = generate.ba(600, 3, seed=5)
    return Graph.from_edge_index(
        arcs, edge_weight=torch.rand(arcs.shape[1], generator=chance) + 0.1, directed=False
    )


def whole_lengths() -> Graph:
    chance = torch.Generator().manual_seed(1)
    arcs = generate.ba(600, 3, seed=5)
    return Graph.from_edge_index(
        arcs, edge_weight=torch.randint(1, 9, (arcs.shape[1],), generator=chance), directed=False
    )


def calls() -> Graph:
    """A directed graph whose components are many, some larger than a vertex."""
    chance = torch.Generator().manual_seed(8)
    return Graph.from_edge_index(torch.randint(0, 3000, (2, 4000), generator=chance))


def mesh() -> Graph:
    return Graph.from_edge_index(generate.grid(25, 31), directed=False)


def road() -> Graph:
    return Graph.from_edge_index(generate.road(30, 30, seed=4), directed=False)


def streets(floats: bool = False) -> Graph:
    """More vertices than the 1,024 sources of a unit of a hierarchy."""
    arcs = generate.road(60, 60, seed=4)
    chance = torch.Generator().manual_seed(2)
    weight = torch.rand(arcs.shape[1], generator=chance, dtype=torch.float64)
    weight = weight + 0.01 if floats else (weight * 50).long() + 1
    return Graph.from_edge_index(arcs, edge_weight=weight, directed=False)


def deep() -> Graph:
    """A star and a path, of which a double sweep from the hub knows nothing."""
    star = torch.stack([torch.zeros(99, dtype=torch.int64), torch.arange(1, 100)])
    path = torch.stack([torch.arange(100, 299), torch.arange(101, 300)])
    return Graph.from_edge_index(torch.cat([star, path], 1), directed=False)


def molecules() -> Graph:
    """A batch of graphs of 20 to 59 vertices, and two larger ones."""
    parts, ptr = [], [0]
    for number in range(42):
        size = 700 if number in (7, 30) else 20 + number
        parts.append(generate.ba(size, 2, seed=number) + ptr[-1])
        ptr.append(ptr[-1] + size)
    return Graph.from_edge_index(torch.cat(parts, 1), directed=False, ptr=torch.tensor(ptr))


def states(size: int) -> Tensor:
    return torch.rand(size, dtype=torch.float64, generator=torch.Generator().manual_seed(6))


SOME, MANY = torch.arange(3, 600, 2), torch.arange(20, 1480)
CASES = {
    "lanes": Case(network, "betweenness", {"engine": "lanes"}),
    "queue": Case(mesh, "betweenness", {"engine": "queue", "endpoints": True}),
    "directed": Case(arcs, "betweenness", {"sources": SOME, "targets": SOME.flip(0)}),
    "chains": Case(road, "betweenness", {"reduce": ["chains"], "sources": SOME}, ALONE),
    "sweeps": Case(road, "edge_betweenness", {"reduce": ["chains"]}),
    "blocks": Case(road, "betweenness", {"reduce": ["fold", "blocks"]}),
    "edges": Case(mesh, "edge_betweenness", {"engine": "queue"}),
    "stress": Case(network, "stress"),
    "overflow": Case(mesh, "stress", {"engine": "lanes"}),
    "load": Case(network, "load_centrality"),
    "percolation": Case(network, "percolation", {"states": states(1500)}),
    "relax": Case(lengths, "betweenness", {"engine": "relax"}),
    "dijkstra": Case(lengths, "edge_betweenness", {"engine": "dijkstra"}),
    "hierarchy": Case(streets, "betweenness", {"engine": "hierarchy"}, CONTRACTED),
    "hierarchy by floats": Case(
        partial(streets, True), "edge_betweenness", {"engine": "hierarchy"}, CONTRACTED
    ),
    "tensor": Case(network, "betweenness", {"engine": "tensor"}),
    "batch": Case(molecules, "betweenness"),
    "closeness": Case(arcs, "closeness", {"engine": "bits"}),
    "closeness on tensors": Case(arcs, "closeness", {"engine": "tensor"}),
    "closeness of some": Case(arcs, "closeness", {"vertices": MANY}),
    "closeness by weights": Case(lengths, "closeness"),
    "closeness by a hierarchy": Case(streets, "closeness", {"engine": "hierarchy"}, CONTRACTED),
    "harmonic by a hierarchy": Case(
        partial(streets, True), "harmonic", {"engine": "hierarchy"}, CONTRACTED
    ),
    "closeness from pivots": Case(lengths, "closeness", {"sources": SOME}),
    "harmonic": Case(network, "harmonic", {"sources": MANY, "cutoff": 3}),
    "harmonic within": Case(lengths, "harmonic", {"cutoff": 1.5}),
    "profile": Case(molecules, "distance_profile"),
    "eccentricity": Case(arcs, "eccentricity"),
    "periphery": Case(arcs, "periphery", {"disconnected": "component", "dtype": ABSENT}),
    "diameter": Case(
        network, "diameter",
        sizes=SMALL | {"longest_roots": 1, "longest_few": 0, "longest_batch": 2048},
    ),
    "mean": Case(lengths, "average_shortest_path_length"),
    "distribution": Case(
        whole_lengths, "distance_distribution", {"dtype": ABSENT, "engine": "dijkstra"}
    ),
    "effective": Case(arcs, "effective_diameter", {"sources": MANY}),
    "top": Case(network, "closeness", {"top": 5}),
    "walks": Case(network, "random_walk_encoding", {"walk_length": 5}),
    "walks of a batch": Case(molecules, "random_walk_encoding", {"walk_length": 6}),
    "features": Case(
        molecules, "node_features", {"measures": ["betweenness", "eccentricity", "farness"]}
    ),
}  # fmt: skip
#: results of n^2 entries, which a ledger keeps unit by unit
PAIRS = {
    "pairs": Case(network, "shortest_path_lengths", {"dtype": "auto"}),
    "pairs that are widened": Case(deep, "shortest_path_lengths", {"dtype": "auto"}),
    "pairs of some": Case(road, "shortest_path_lengths", {"dtype": "auto", "sources": SOME}),
    "pairs by weights": Case(lengths, "shortest_path_lengths"),
    "closure": Case(calls, "transitive_closure", {"dtype": ABSENT}, {"units_work": 1e5}),
}
