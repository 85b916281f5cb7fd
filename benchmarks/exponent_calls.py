"""What exponents.py calls: every public function, and how its time may grow."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any

import torch
from exponent_graphs import OWN, WEIGHTS, Case
from torch import Tensor

import torchcent
from torchcent import functional, generate, io, transforms

Prepared = Callable[[], Any]
ALL_PAIRS = "a search from each vertex, O(n m)"
PAIRS = "a value for each pair of vertices, O(n^2)"
DENSE = "dense linear algebra, O(n^3) per component"
SPARSE = "a sparse factor with fill, O(n^1.5) on planar graphs, O(n^3) where the graph is dense"
ITERATIONS = "iterations until convergence, whose number grows with the length of the graph"
TRIANGLES = "intersections of neighbours, O(m^1.5)"


@dataclass(frozen=True)
class Call:
    """A public function with its arguments; `prepare` makes the call without a timed part."""

    name: str
    prepare: Callable[[Case], Prepared]
    weights: tuple[str, ...] = WEIGHTS
    kinds: tuple[str, ...] | None = None  # None: all
    batch: bool = True  # takes batches
    #: kind -> (largest exponent, reason); kinds that are not named may have 1
    expected: dict[str, tuple[float, str]] = field(default_factory=dict)
    start: int = 500  # vertices and edges of the first, smallest graph
    #: those of graphs on which a reduction begins to pay off, which then leaves nothing to search
    begins: dict[str, int] = field(default_factory=dict)
    largest: int = 1_000_000


CALLS: list[Call] = []


def add(name: str, prepare: Callable[[Case], Prepared], **options: Any) -> None:
    CALLS.append(Call(name, prepare, **options))


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(3)


def on_graph(function: Callable[..., Any], **options: Any) -> Callable[[Case], Prepared]:
    """The function of the graph alone; parallel arcs as they are given."""

    def prepare(case: Case) -> Prepared:
        extra = {key: make(case) if callable(make) else make for key, make in options.items()}
        if case.kind == "parallel":
            given = [case.edges] if case.weight is None else [case.edges, case.weight]
            return partial(function, *given, directed=False, **extra)
        return partial(function, case.graph(), **extra)

    return prepare


def every(reason: str, exponent: float, *kinds: str) -> dict[str, tuple[float, str]]:
    return {kind: (exponent, reason) for kind in kinds}


def first(case: Case, most: int = 4) -> Tensor:
    return torch.arange(min(most, case.num_nodes))


def generator_of(case: Case) -> torch.Generator:
    return seeded()


CORE = ("grid",)  # what no reduction folds
SEARCHES = every(ALL_PAIRS, 2, "path", "tree", "grid", "star") | every(ALL_PAIRS, 1.5, "complete")
FEW_SEARCHES = every("searches from a part of the vertices, O(n m) at worst", 2, "path", "tree", "grid", "star") | every(ALL_PAIRS, 1.5, "complete")  # fmt: skip  # noqa: E501
BETWEENNESS = every(ALL_PAIRS, 2, "grid") | every(ALL_PAIRS, 1.5, "complete")
WEIGHTED_COMPLETE = every(ALL_PAIRS, 1.5, "complete")
component = {"disconnected": "component"}

# Distances.
for measure in ("closeness", "harmonic", "distance_profile"):
    add(measure, on_graph(getattr(torchcent, measure)), expected=SEARCHES)
add("closeness(top=10)", on_graph(torchcent.closeness, top=10), batch=False, expected=SEARCHES)
add("closeness(cutoff=2)", on_graph(torchcent.closeness, cutoff=2), expected=SEARCHES)
add("closeness(sources=4)", on_graph(torchcent.closeness, sources=first))
add("closeness(vertices=4)", on_graph(torchcent.closeness, vertices=first))
add("eccentricity", on_graph(torchcent.eccentricity, **component), expected=SEARCHES)
for measure in ("diameter", "radius", "center", "periphery"):
    add(measure, on_graph(getattr(torchcent, measure), **component), expected=FEW_SEARCHES)
add(
    "average_shortest_path_length",
    on_graph(torchcent.average_shortest_path_length, **component),
    expected=SEARCHES,
)
for measure in ("distance_distribution", "effective_diameter"):
    add(
        measure, on_graph(getattr(torchcent, measure)), weights=("hops", "whole"), expected=SEARCHES
    )  # fmt: skip

# Betweenness.
ROUNDED = every(
    "sums of these weights are rounded, so that nothing is folded: O(n m)",
    2,
    "path",
    "tree",
    "star",
)
BLOCKS = {"path": 80_000, "tree": 80_000}  # from 2^14 sources on
for measure in ("betweenness", "edge_betweenness", "stress"):
    function = getattr(torchcent, measure)
    add(measure, on_graph(function), weights=("hops", "whole"), expected=BETWEENNESS, begins=BLOCKS)
    add(
        f"{measure}(floats)",
        on_graph(function),
        weights=("floats",),
        expected=BETWEENNESS | ROUNDED,
    )
add("betweenness(cutoff=2)", on_graph(torchcent.betweenness, cutoff=2), expected=SEARCHES)
add("betweenness(sources=4)", on_graph(torchcent.betweenness, sources=first))
for weights, growth in ((("hops", "whole"), BETWEENNESS), (("floats",), BETWEENNESS | ROUNDED)):
    add(
        "percolation" + "(floats)" * (weights == ("floats",)),
        on_graph(torchcent.percolation, states=lambda case: torch.ones(case.num_nodes)),
        weights=weights, expected=growth,
    )  # fmt: skip
for variant in ("distance", "linear", "proximal_source"):
    add(
        f"betweenness_variant({variant})",
        on_graph(torchcent.betweenness_variant, variant=variant),
        expected=SEARCHES,
    )
add("centralization", on_graph(torchcent.centralization), weights=("hops",), expected=BETWEENNESS)
add("node_features", on_graph(torchcent.node_features), expected=SEARCHES)
add("explain", on_graph(torchcent.explain))

# Approximations.
for measure in ("betweenness_approx", "edge_betweenness_approx"):
    add(
        measure,
        on_graph(getattr(torchcent, measure), epsilon=0.1, generator=generator_of, edge_weight=None),  # noqa: E501
        weights=("hops",), batch=False,
    )  # fmt: skip
    add(
        f"{measure}(pivots)",
        on_graph(getattr(torchcent, measure), epsilon=0.1, method="pivots", max_samples=8, generator=generator_of),  # noqa: E501
        weights=("hops",), batch=False,
    )  # fmt: skip
add(
    "betweenness_adaptive",
    on_graph(torchcent.betweenness_adaptive, vertices=first, max_samples=32, generator=generator_of),  # noqa: E501
    weights=("hops",), batch=False,
)  # fmt: skip

# Walks.
for measure in ("degree", "pagerank", "eigenvector", "hits", "katz", "clustering_coefficient"):
    options: dict[str, Any] = {"alpha": 1e-6} if measure == "katz" else {}
    growth = (
        every(ITERATIONS, 2, "path", "tree", "grid") if measure in ("eigenvector", "hits") else {}
    )
    if measure == "clustering_coefficient":
        growth = every(TRIANGLES, 1.5, "complete")
    weights = ("hops",) if measure in ("clustering_coefficient",) else WEIGHTS
    add(measure, on_graph(getattr(torchcent, measure), **options), weights=weights, expected=growth)
add("core_number", on_graph(torchcent.core_number), weights=("hops",))
add(
    "triangles",
    on_graph(torchcent.triangles),
    weights=("hops",),
    expected=every(TRIANGLES, 1.5, "complete"),
)
add(
    "subgraph_centrality", on_graph(torchcent.subgraph_centrality), weights=("hops",),
    expected=every(DENSE, 3, "path", "tree", "grid", "star") | every(DENSE, 1.5, "complete"),
)  # fmt: skip
add(
    "communicability", on_graph(torchcent.communicability), weights=("hops",), batch=False,
    expected=every(DENSE, 3, "path", "tree", "grid", "star", "components") | every(DENSE, 1.5, "complete"),  # noqa: E501
)  # fmt: skip
add(
    "random_walk_encoding", on_graph(torchcent.random_walk_encoding, walk_length=4), weights=("hops",),  # noqa: E501
    expected=every("walks from each vertex", 2, "star") | every(DENSE, 1.5, "complete"),
)  # fmt: skip

# Current flow.
FLOW = (
    every(PAIRS, 2, "path", "tree", "star")
    | every(PAIRS, 2.5, "grid")
    | every(DENSE, 1.5, "complete")
)
for measure in (
    "current_flow_betweenness",
    "edge_current_flow_betweenness",
    "current_flow_closeness",
    "information_centrality",
):
    add(measure, on_graph(getattr(torchcent, measure)), weights=("hops", "floats"), expected=FLOW)
add(
    "effective_resistance",
    on_graph(torchcent.effective_resistance, pairs=lambda case: torch.tensor([[0], [1]])),
    weights=("hops", "floats"), expected=every(SPARSE, 1.5, "grid", "complete"),
)  # fmt: skip
add(
    "current_flow_betweenness_approx",
    on_graph(torchcent.current_flow_betweenness_approx, epsilon=0.2, generator=generator_of),
    weights=("hops",), batch=False, expected=every(SPARSE, 1.5, "grid", "complete"),
)  # fmt: skip

# Groups and communities.
add(
    "group_betweenness",
    on_graph(torchcent.group_betweenness, group=first),
    batch=False,
    expected=SEARCHES,
)
add("group_closeness", on_graph(torchcent.group_closeness, group=first), batch=False)
add("group_degree", on_graph(torchcent.group_degree, group=first), weights=("hops",), batch=False)
add(
    "prominent_group", on_graph(torchcent.prominent_group, k=2, generator=generator_of),
    weights=("hops",), batch=False, expected=SEARCHES,
)  # fmt: skip
add(
    "communities_by_betweenness(max_rounds=2)",
    on_graph(torchcent.communities_by_betweenness, max_rounds=2), weights=("hops", "floats"),
    batch=False, expected=BETWEENNESS,
)  # fmt: skip
add(
    "communities_by_betweenness",
    on_graph(torchcent.communities_by_betweenness), weights=("hops",), batch=False, start=100,
    expected=every("O(n m^2)", 3, "path", "tree", "grid") | every("a round per edge", 2, "star") | every("O(n m^2)", 2.5, "complete"),  # noqa: E501
)  # fmt: skip

# Clusters.
MCL = every("columns of a complete graph hold all its vertices, O(n^3)", 1.5, "complete")
MCL |= every("the second step of a walk reaches all leaves: n^2 products", 2, "star")
add("mcl", on_graph(torchcent.mcl), weights=("hops",), expected=MCL)
add(
    "mcl_sweep",
    on_graph(torchcent.mcl_sweep, inflations=(2.0, 4.0)),
    weights=("hops",),
    batch=False,
    expected=MCL,
)
add("explain_mcl", on_graph(torchcent.explain_mcl), weights=("hops",), batch=False)


def quality(case: Case) -> Prepared:
    labels = torch.arange(case.num_nodes) // 3
    return partial(torchcent.clustering_quality, labels, case.graph())


def distance_of_clusterings(case: Case) -> Prepared:
    at = torch.arange(case.num_nodes)
    return partial(torchcent.clustering_distance, at // 3, at // 2)


add("clustering_quality", quality, weights=("hops",), batch=False)
add("clustering_distance", distance_of_clusterings, weights=("hops",), batch=False, kinds=("path",))

# Pairs.
QUADRATIC = every(PAIRS, 2, "path", "tree", "grid", "star", "components") | every(
    ALL_PAIRS, 1.5, "complete"
)
add(
    "shortest_path_lengths",
    on_graph(torchcent.shortest_path_lengths),
    batch=False,
    expected=QUADRATIC,
    largest=60_000,
)
add(
    "shortest_path_lengths(sources=4)",
    on_graph(torchcent.shortest_path_lengths, sources=first),
    batch=False,
)
add(
    "shortest_path_encoding(cutoff=2)", on_graph(torchcent.shortest_path_encoding, cutoff=2),
    kinds=("batch",),
)  # fmt: skip
add(
    "shortest_path_encoding(paths)",
    on_graph(torchcent.shortest_path_encoding, paths=True),
    kinds=("batch",),
)
NEAR = every("pairs within the cutoff, of which there are n^2", 2, "star") | every(
    ALL_PAIRS, 1.5, "complete"
)
add(
    "shortest_path_pairs(cutoff=2)",
    on_graph(torchcent.shortest_path_pairs, cutoff=2),
    weights=("hops",),
    expected=NEAR,
)
add(
    "shortest_path_pairs",
    on_graph(torchcent.shortest_path_pairs),
    expected=QUADRATIC | every("", 1, "components"),
)
add(
    "transitive_closure",
    on_graph(torchcent.transitive_closure),
    weights=("hops",),
    batch=False,
    expected=every("", 1),
)
add("reachable", on_graph(torchcent.reachable, sources=first), weights=("hops",), batch=False)


class Count(torchcent.Visitor):
    def finalize(self) -> Tensor:
        return (self.depth >= 0).sum(1)


LEVELS = every("a step of the tensor engine per level", 2, "path", "tree")
add(
    "multi_search", on_graph(torchcent.multi_search, sources=first, visitor=lambda case: Count()),
    weights=("hops",), batch=False, expected=LEVELS, largest=20_000,
)  # fmt: skip

# Operators for torch.compile.
for measure in sorted(name for name in functional.__all__):
    options = {"num_nodes": lambda case: case.num_nodes}
    if measure == "betweenness_variant":
        options["variant"] = "linear"
    if measure == "katz":
        options["alpha"] = 1e-6
    if measure == "percolation":
        options["states"] = lambda case: torch.ones(case.num_nodes)

    def of_edges(case: Case, measure: str = measure, options: dict[str, Any] = options) -> Prepared:
        extra = {key: make(case) if callable(make) else make for key, make in options.items()}
        if case.kind == "batch":
            extra["batch"] = torch.arange(case.num_nodes) // 3
        return partial(getattr(functional, measure), case.edges, directed=False, **extra)

    plain = next(
        (call for call in CALLS if call.name.split("(")[0] == measure), None
    )  # fmt: skip
    add(
        f"functional.{measure}", of_edges, weights=("hops",),
        kinds=("path", "components", "batch", "parallel"), expected=plain.expected if plain else {},
    )  # fmt: skip

# Graphs.
COUNT = count()


def built(case: Case) -> Prepared:
    return partial(
        torchcent.Graph.from_edge_index, case.edges, None, False, case.weight, ptr=case.ptr
    )


def of_graph(name: str, directed: bool = False) -> Callable[[Case], Prepared]:
    """An attribute or a method of a graph."""

    def prepare(case: Case) -> Prepared:
        graph = case.graph(directed)

        def call() -> Any:
            value = getattr(graph, name)
            return value() if callable(value) else value

        return call

    return prepare


add("Graph.from_edge_index", built)
add(
    "Graph.from_edges",
    lambda case: partial(torchcent.Graph.from_edges, case.edges.T.tolist()),
    weights=("hops",),
    batch=False,
)
for name in (
    "components", "degree", "degree_order", "transpose", "is_symmetric", "scale",
    "reversed", "unweighted", "to_edge_index", "to_scipy", "to_torch_sparse", "to_data",
    "to_networkx", "to_igraph",
):  # fmt: skip
    many = name in ("to_edge_index", "scale", "to_data")
    add(
        f"Graph.{name}",
        of_graph(name, True),
        weights=("hops", "floats") if many else ("hops",),
        largest=300_000,
    )


add("Graph.reverse_slot", of_graph("reverse_slot"), weights=("hops",))
add("Graph.slot", of_graph("slot"), weights=("hops",))


def from_form(make: str, take: str) -> Callable[[Case], Prepared]:
    def prepare(case: Case) -> Prepared:
        form = getattr(case.graph(True), make)()
        return partial(getattr(torchcent.Graph, take), form)

    return prepare


for make, take in (
    ("to_scipy", "from_scipy"), ("to_torch_sparse", "from_torch_sparse"), ("to_data", "from_data"),
    ("to_networkx", "from_networkx"), ("to_igraph", "from_igraph"),
):  # fmt: skip
    add(f"Graph.{take}", from_form(make, take), weights=("hops",), batch=False, largest=300_000)


# Files.
FOLDER = tempfile.mkdtemp(prefix="exponents")


def fresh(suffix: str) -> str:
    return os.path.join(FOLDER, f"{os.getpid()}-{next(COUNT)}{suffix}")


def writing(suffix: str) -> Callable[[Case], Prepared]:
    return lambda case: partial(torchcent.write, fresh(suffix), case.graph())


def reading(suffix: str) -> Callable[[Case], Prepared]:
    def prepare(case: Case) -> Prepared:
        path = fresh(suffix)
        torchcent.write(path, case.graph())
        return partial(torchcent.read, path)

    return prepare


FILES = (".txt", ".csv", ".abc", ".mtx", ".npz", ".npy", ".graph", ".gr", ".pt", ".parquet")
for suffix in FILES:
    add(f"write({suffix})", writing(suffix), weights=("floats",), batch=False)
    add(f"read({suffix})", reading(suffix), weights=("floats",), batch=False)


def saved(case: Case) -> Prepared:
    return partial(case.graph().save, fresh(".torchcent"))


def loaded(case: Case) -> Prepared:
    path = fresh(".torchcent")
    case.graph().save(path)
    return partial(torchcent.Graph.load, path)


def scores_written(suffix: str) -> Callable[[Case], Prepared]:
    return lambda case: partial(
        io.write_scores, fresh(suffix), {"score": torch.rand(case.num_nodes)}
    )


def clusters_written(case: Case) -> Prepared:
    at = torch.arange(case.num_nodes)
    return partial(io.write_clusters, fresh(".txt"), list(at.split(3)))


def clusters_read(case: Case) -> Prepared:
    path = fresh(".txt")
    io.write_clusters(path, list(torch.arange(case.num_nodes).split(3)))
    return partial(io.read_clusters, path)


def from_networkx(case: Case) -> Prepared:
    return partial(io.from_networkx, case.graph().to_networkx())


def attributes(case: Case) -> Prepared:
    graph = case.graph()
    return partial(
        torchcent.set_attributes, graph.to_networkx(), "score", torch.rand(case.num_nodes)
    )


add("Graph.save", saved, weights=("hops", "floats"))
add("Graph.load", loaded, weights=("hops", "floats"))
for suffix in (".csv", ".json"):
    add(f"io.write_scores({suffix})", scores_written(suffix), weights=("hops",), kinds=("path",))
add("io.write_clusters", clusters_written, weights=("hops",), kinds=("path",))
add("io.read_clusters", clusters_read, weights=("hops",), kinds=("path",))
add("io.from_networkx", from_networkx, weights=("hops",), batch=False, largest=300_000)
add("set_attributes", attributes, weights=("hops",), batch=False, largest=300_000)


# Transforms.
def transformed(transform: Any) -> Callable[[Case], Prepared]:
    def prepare(case: Case) -> Prepared:
        data = import_module("torch_geometric.data").Data(
            edge_index=torch.cat([case.edges, case.edges.flip(0)], 1), num_nodes=case.num_nodes
        )
        if case.kind == "batch":
            data.batch, data.ptr = torch.arange(case.num_nodes) // 3, case.ptr
        return partial(transform, data)

    return prepare


for name, transform, growth in (
    ("AddCentrality", transforms.AddCentrality(), SEARCHES),
    ("AddEdgeCentrality", transforms.AddEdgeCentrality(), BETWEENNESS),
    ("AddClusters", transforms.AddClusters(), MCL),
    ("AddRandomWalkEncoding", transforms.AddRandomWalkEncoding(4), every("", 2, "star") | every(DENSE, 1.5, "complete")),  # noqa: E501
    ("AddShortestPathEncoding", transforms.AddShortestPathEncoding(cutoff=2), NEAR),
):  # fmt: skip
    add(f"transforms.{name}", transformed(transform), weights=("hops",), expected=growth)

# Generators: the size is about that of the graph.
MAKERS: dict[str, Callable[[int], Any]] = {
    "ba": lambda size: generate.ba(size // 5, 4),
    "delaunay": lambda size: generate.delaunay(max(size // 4, 4)),
    "er": lambda size: generate.er(size // 5, m=4 * (size // 5)),
    "grid": lambda size: generate.grid(2, size // 5),
    "planted": lambda size: generate.planted(max(size // 11, 60), 20, smallest=5, largest=20),
    "rmat": lambda size: generate.rmat(max(size // 17, 2).bit_length(), 16),
    "road": lambda size: generate.road(2, size // 5),
    "ws": lambda size: generate.ws(max(size // 5, 8), 4, 0.1),
}
for name, maker in MAKERS.items():
    add(
        f"generate.{name}", lambda case, maker=maker: partial(maker, case.size), weights=("hops",),
        kinds=(OWN,), start=2000,
    )  # fmt: skip

#: public functions that compute nothing on a graph
LEFT_OUT = {
    "include_path": "a path", "show_config": "a text", "io.replacing": "a context",
    "io.read": "as read", "io.write": "as write", "plot": "figures", "cluster_plot": "figures",
}  # fmt: skip
warnings.simplefilter("ignore")
