"""The registry of measures: what planning, driver, batches, features, command line and NetworkX's
backend know of each. A new measure is a row here, and a public function."""

from __future__ import annotations

from dataclasses import dataclass

from torchcent.runtime._codes import Visitor


@dataclass(frozen=True)
class Measure:
    """A measure that is made of searches from all vertices, or from some.

    Attributes:
        name: of the public function, and in what `explain` and the progress bar show.
        family: "paths" counts shortest paths, "distances" adds up or compares distances.
        visitor: what the kernels that count paths make of them.
        per_slot: scores are of slots, not of vertices.
        by_depth: distances from the source matter to the visitor (csrc/paths/betweenness.h).
        folds: leaves that may be folded before the search: "all" in rounds, "one" round, or "no".
        tiny: the output of the tiny engine that has it; "" if that engine does not.
        normalized: the default of `normalized=`.
        weighted_by: the argument with a number for every vertex, by which its paths count as a
            source; "": each counts once.
        public: may be named by users, as in `explain`.
    """

    name: str
    family: str
    visitor: Visitor | None = None
    per_slot: bool = False
    by_depth: bool = False
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
    # Paths that end in a folded leaf pass through what it hangs on once per path, not once.
    Measure("stress", "paths", Visitor.STRESS, folds="one", tiny="stress"),
    Measure("percolation", "paths", Visitor.BETWEENNESS, folds="all", tiny="betweenness",
            normalized=True, weighted_by="states"),
    # Pivots with linear scaling (approximation.py): distances of folded leaves are others.
    Measure("linear", "paths", Visitor.LINEAR, by_depth=True, tiny="", public=False),
    Measure("distance_profile", "distances", folds="one"),
    Measure("closeness", "distances", folds="one"),
    Measure("harmonic", "distances", folds="one"),
    Measure("eccentricity", "distances", folds="one"),
    Measure("average_shortest_path_length", "distances", folds="one"),
    Measure("distance_distribution", "distances"),
    Measure("effective_diameter", "distances"),
    Measure("shortest_path_lengths", "distances", public=False),
    # They search from some vertices and keep bounds (extremes.py).
    Measure("diameter", "distances", public=False),
    Measure("radius", "distances", public=False),
    Measure("center", "distances", public=False),
    Measure("periphery", "distances", public=False),
)  # fmt: skip

MEASURES: dict[str, Measure] = {row.name: row for row in _ROWS}

#: columns of node_features: the measure, or the part of distance_profile, that each comes from
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
}


def plain_features() -> tuple[str, ...]:
    """The columns of node_features that need nothing but the graph."""
    return tuple(
        name for name, of in FEATURES.items() if of not in MEASURES or not MEASURES[of].weighted_by
    )


def names(family: str) -> tuple[str, ...]:
    """The public measures of a family."""
    return tuple(x.name for x in _ROWS if x.family == family and x.public)
