"""The registry of measures, for planning, driver, batches, features, command line and NetworkX.

A new measure needs one row here and a public function.
"""

from __future__ import annotations

from dataclasses import dataclass

from torchcent.runtime._codes import Visitor


@dataclass(frozen=True)
class Measure:
    """A measure that is computed by searches from all vertices, or from some.

    Attributes:
        name: name of the public function, also shown by `explain` and the progress bar.
        family: "paths" counts shortest paths, "distances" adds up or compares distances.
        visitor: what the path-counting kernels compute.
        per_slot: whether scores are per slot instead of per vertex.
        by_depth: whether the visitor uses distances from the source (csrc/paths/betweenness.h).
        collapses: whether it needs sums and maxima of distances only, which one search finds for
            many sources together.
        rounds: whether weights whose sums are rounded may be taken in fixed point, so that there
            can be a hierarchy: results are of many distances and have no bits to lose.
        folds: which leaves may be folded before the search: "all" in rounds, "one" round, or "no".
        tiny: the output of the tiny engine for it; "" if that engine does not compute it.
        normalized: the default of `normalized=`.
        weighted_by: the argument with one number per vertex that weights its paths as a source; ""
            if each source counts once.
        public: whether users may name it, as in `explain`.
    """

    name: str
    family: str
    visitor: Visitor | None = None
    per_slot: bool = False
    by_depth: bool = False
    collapses: bool = False
    rounds: bool = False
    folds: str = "no"
    tiny: str = "distances"
    normalized: bool = False
    weighted_by: str = ""
    public: bool = True


_ROWS = (
    Measure("betweenness", "paths", Visitor.BETWEENNESS, folds="all", tiny="betweenness",
            normalized=True),
    Measure("edge_betweenness", "paths", Visitor.EDGE_BETWEENNESS, per_slot=True, folds="all",
            tiny="edge_betweenness", normalized=True),
    # Paths that end in a folded leaf pass through its parent once per path, not once.
    Measure("stress", "paths", Visitor.STRESS, folds="one", tiny="stress"),
    Measure("percolation", "paths", Visitor.BETWEENNESS, folds="all", tiny="betweenness",
            normalized=True, weighted_by="states"),
    # betweenness_variant, and pivots with linear scaling (approx/): folded leaves are at other
    # distances.
    Measure("linear", "paths", Visitor.LINEAR, by_depth=True, tiny="", normalized=True,
            public=False),
    Measure("distance", "paths", Visitor.DISTANCE, by_depth=True, tiny="", normalized=True,
            public=False),
    Measure("proximal_source", "paths", Visitor.PROXIMAL_SOURCE, by_depth=True, tiny="",
            normalized=True, public=False),
    Measure("proximal_target", "paths", Visitor.PROXIMAL_TARGET, by_depth=True, tiny="",
            normalized=True, public=False),
    Measure("distance_profile", "distances", rounds=True, folds="one"),
    Measure("closeness", "distances", collapses=True, rounds=True, folds="one"),
    Measure("harmonic", "distances", rounds=True, folds="one"),
    Measure("eccentricity", "distances", collapses=True, rounds=True, folds="one"),
    Measure("average_shortest_path_length", "distances", collapses=True, rounds=True, folds="one"),
    Measure("distance_distribution", "distances"),
    Measure("effective_diameter", "distances"),
    Measure("shortest_path_lengths", "distances", public=False),
    # These search from some vertices and keep bounds (distances/_extremes.py).
    Measure("diameter", "distances", collapses=True, public=False),
    Measure("radius", "distances", collapses=True, public=False),
    Measure("center", "distances", collapses=True, public=False),
    Measure("periphery", "distances", collapses=True, public=False),
)  # fmt: skip

MEASURES: dict[str, Measure] = {row.name: row for row in _ROWS}

#: columns of node_features: the measure, or the part of distance_profile, that computes each
FEATURES = {
    "betweenness": "betweenness",
    "stress": "stress",
    "percolation": "percolation",
    "closeness": "distance_profile",
    "harmonic": "distance_profile",
    "eccentricity": "eccentricity",
    "degree": "",
    "reach": "distance_profile",
    "farness": "distance_profile",
    # torchcent/walks has these: functions of the arcs alone
    "pagerank": "",
    "katz": "",
    "eigenvector": "",
    "hubs": "",
    "authorities": "",
    "subgraph_centrality": "",
    "core_number": "",
    "triangles": "",
    "clustering_coefficient": "",
}


def plain_features() -> tuple[str, ...]:
    """The columns of node_features that need only the graph."""
    return tuple(
        name for name, of in FEATURES.items() if of not in MEASURES or not MEASURES[of].weighted_by
    )


def names(family: str) -> tuple[str, ...]:
    """The public measures of a family."""
    return tuple(x.name for x in _ROWS if x.family == family and x.public)
