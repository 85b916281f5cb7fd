"""Calls of exponents.py that compute something on a graph."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from exponent_call import (
    ALL_PAIRS,
    CALLS,
    DENSE,
    ITERATIONS,
    PAIRS,
    SPARSE,
    TRIANGLES,
    Prepared,
    add,
    every,
    first,
    generator_of,
    on_graph,
)
from exponent_graphs import WEIGHTS, Case
from torch import Tensor

import torchcent
from torchcent import functional

SEARCHES = every(ALL_PAIRS, 2, "path", "tree", "grid", "star") | every(ALL_PAIRS, 1.5, "complete")
FEW_SEARCHES = every("searches from a part of the vertices, O(n m) at worst", 2, "path", "tree", "grid", "star") | every(ALL_PAIRS, 1.5, "complete")  # fmt: skip  # noqa: E501
BETWEENNESS = every(ALL_PAIRS, 2, "grid") | every(ALL_PAIRS, 1.5, "complete")
WEIGHTED_COMPLETE = every(ALL_PAIRS, 1.5, "complete")
component = {"disconnected": "component"}

# Distances.
for measure in ("closeness", "harmonic", "distance_profile"):
    add(measure, on_graph(getattr(torchcent, measure)), expected=SEARCHES)
add(
    "closeness(top=10)",
    on_graph(torchcent.closeness, top=lambda case: min(10, case.num_nodes)),
    batch=False,
    expected=SEARCHES,
)
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
add("load_centrality", on_graph(torchcent.load_centrality), expected=BETWEENNESS)
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
        on_graph(getattr(torchcent, measure), epsilon=0.1, generator=generator_of),  # noqa: E501
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
    options: dict[str, Any] = {"alpha": 1e-9} if measure == "katz" else {}
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
SUBSTRUCTURES = every(TRIANGLES, 1.5, "complete")
for measure in ("substructure_counts", "edge_substructure_counts"):
    add(
        measure,
        on_graph(getattr(torchcent, measure), patterns=["cycle4", "path3", "star3"]),
        weights=("hops",),
        expected=SUBSTRUCTURES,
    )
add("wl_colors", on_graph(torchcent.wl_colors, iterations=3), weights=("hops",))
add(
    "subgraph_centrality", on_graph(torchcent.subgraph_centrality), weights=("hops",),
    expected=every(DENSE, 3, "path", "tree", "grid", "star") | every(DENSE, 1.5, "complete"),
)  # fmt: skip
add(
    "communicability", on_graph(torchcent.communicability), weights=("hops",), batch=False,
    expected=every(DENSE, 3, "path", "tree", "grid", "star", "components") | every(DENSE, 1.5, "complete"),  # noqa: E501
)  # fmt: skip
WALKS = every("walks from each vertex", 2, "star") | every(DENSE, 1.5, "complete")
add(
    "random_walk_encoding", on_graph(torchcent.random_walk_encoding, walk_length=4),
    weights=("hops",), expected=WALKS,
)  # fmt: skip
for measure in ("personalized_pagerank", "heat_kernel"):
    own = on_graph(getattr(torchcent, measure), top_k=8, eps=1e-2)
    add(measure, own, weights=("hops", "whole"), expected=WALKS)

# Spectra of whole graphs: dense matrices, but for the first eigenvectors.
SPECTRUM = every(DENSE, 3, "path", "tree", "grid", "star", "components") | every(
    DENSE, 1.5, "complete"
)
for measure, options in (
    ("laplacian_encoding", {"k": 4}),
    ("heat_kernel_encoding", {"times": 1.0}),
    ("spectral_density", {}),
    ("electrostatic_encoding", {}),
    ("gpse_encodings", {}),
    ("heat_kernel_pairs", {"times": 1.0}),
    ("resistance_pairs", {}),
    ("eigenspace_projections", {"k": 2}),
    ("magnetic_encoding", {"k": 4}),
    ("random_walk_pairs", {"powers": 3}),
):
    add(
        measure, on_graph(getattr(torchcent, measure), **options), weights=("hops",), batch=False,
        expected=SPECTRUM,
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
for measure in ("resistance_curvature", "node_resistance_curvature"):
    add(measure, on_graph(getattr(torchcent, measure)), weights=("hops", "floats"), expected=FLOW)

# Curvature.
CYCLES = every("neighbours of neighbours of each edge", 2.5, "complete")
for kind in ("plain", "augmented", "balanced"):
    add(
        f"forman_curvature({kind})", on_graph(torchcent.forman_curvature, kind=kind),
        weights=("hops",), expected={} if kind == "plain" else CYCLES,
    )  # fmt: skip
add(
    "ollivier_ricci_curvature", on_graph(torchcent.ollivier_ricci_curvature), weights=("hops",),
    expected=CYCLES,
)  # fmt: skip
add(
    "ollivier_ricci_curvature(sinkhorn)",
    on_graph(torchcent.ollivier_ricci_curvature, method="sinkhorn"), weights=("hops",),
    largest=2_000,
    expected=every("pairs of neighbours", 3, "complete")
    | every("neighbours of both ends", 2, "star"),
)  # fmt: skip
add("sdrf", on_graph(torchcent.sdrf, generator=generator_of), weights=("hops",), expected=CYCLES)
for measure in (
    "connected_components", "bridges", "articulation_points", "biconnected_components",
    "reciprocity", "assortativity",
):  # fmt: skip
    add(measure, on_graph(getattr(torchcent, measure)), weights=("hops",))
add(
    "transitivity",
    on_graph(torchcent.transitivity),
    weights=("hops",),
    expected=every(TRIANGLES, 1.5, "complete"),
)
add(
    "modularity",
    on_graph(torchcent.modularity, labels=lambda case: torch.arange(case.num_nodes) // 10),
)
add("leiden", on_graph(torchcent.leiden), weights=("hops",), batch=False)
add("layout", on_graph(torchcent.layout), batch=False, largest=20_000)
add("table", lambda case: partial(torchcent.table, case.graph(), degree=case.graph().degree))
add(
    "windows",
    lambda case: lambda: list(
        torchcent.windows(case.edge_index, torch.arange(case.edge_index.shape[1]), 1e9)
    ),
    weights=("hops",), batch=False,
)  # fmt: skip
add(
    "shortest_path",
    on_graph(torchcent.shortest_path, source=0, target=1),
    batch=False,
)
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
ROWS = "a row of all vertices for each source and level, O(n (n + m)) and more on deep graphs"
add(
    "prominent_group(exact)", on_graph(torchcent.prominent_group, k=2, method="exact"),
    weights=("hops",), batch=False, start=100,
    expected=every(ROWS, 2, "star", "components") | every(ROWS, 2.5, "grid") | every(ROWS, 3, "path", "tree") | every(ROWS, 1.5, "complete"),  # noqa: E501
)  # fmt: skip
# Without a limit up to ten million paths are drawn where few of them have an inner vertex.
add(
    "prominent_group(samples)",
    on_graph(torchcent.prominent_group, k=2, method="samples", max_samples=10_000, generator=generator_of),  # noqa: E501
    weights=("hops",), batch=False,
)  # fmt: skip
for weights, growth in ((("hops",), BETWEENNESS), (("floats",), BETWEENNESS | ROUNDED)):
    add(
        "communities_by_betweenness(max_rounds=2)" + "(floats)" * (weights == ("floats",)),
        on_graph(torchcent.communities_by_betweenness, max_rounds=2), weights=weights,
        batch=False, expected=growth,
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
add("landmark_distances(landmarks=4)", on_graph(torchcent.landmark_distances, landmarks=4))
add("anchor_distances", on_graph(torchcent.anchor_distances), weights=("hops",))
add(
    "pair_features(cutoff=2)",
    on_graph(torchcent.pair_features, pairs=lambda case: case.edges[:, :100], cutoff=2),
    weights=("hops",),
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
    "accessibility(cutoff=2)",
    on_graph(torchcent.accessibility, cutoff=2),
    weights=("hops",),
    expected=NEAR,
)
add(
    "straightness(cutoff=2)",
    on_graph(
        torchcent.straightness, cutoff=2, positions=lambda case: torch.ones(case.num_nodes, 2)
    ),
    weights=("floats",),
    expected=NEAR,
)
add(
    "local_betweenness(radius=1)",
    on_graph(torchcent.local_betweenness, radius=1),
    weights=("hops",),
    expected=every("the ball around the centre is the graph", 2, "star") | every("", 3, "complete"),
)
add(
    "dual_graph",
    on_graph(torchcent.dual_graph, positions=lambda case: torch.ones(case.num_nodes, 2)),
    weights=("hops",),
    batch=False,
    expected=every("pairs of streets that meet", 2, "star") | every("", 1.5, "complete"),
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

# Operators for torch.compile. Matrices of pairs are for batches, of graphs of three vertices.
OF_PAIRS: dict[str, dict[str, Any]] = {
    "heat_kernel_pairs": {"times": 1.0}, "random_walk_pairs": {"powers": 4}, "resistance_pairs": {},
    "shortest_path_encoding": {},
}  # fmt: skip
for measure in sorted(name for name in functional.__all__):
    options = {"num_nodes": lambda case: case.num_nodes}
    if measure == "betweenness_variant":
        options["variant"] = "linear"
    if measure == "katz":
        options["alpha"] = 1e-9
    if measure == "percolation":
        options["states"] = lambda case: torch.ones(case.num_nodes)
    if measure in OF_PAIRS:
        options |= OF_PAIRS[measure] | {"shape": lambda case: (-(-case.num_nodes // 3), 3)}

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
        kinds=("batch",) if measure in OF_PAIRS else ("path", "components", "batch", "parallel"),
        expected=plain.expected if plain else {},
    )  # fmt: skip
