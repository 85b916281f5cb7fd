"""What searches compute, for planning, driver, batches and reductions."""

from __future__ import annotations

from dataclasses import dataclass

from torchcent.engines.measures._visitors import Visitor


@dataclass(frozen=True)
class Kernel:
    """What searches from all vertices, or from some, compute for a measure.

    Attributes:
        family: "paths" counts shortest paths, "distances" adds up or compares distances.
        visitor: what the path-counting kernels compute.
        per_slot: whether scores are per slot instead of per vertex.
        by_depth: whether the visitor uses distances from the source (csrc/paths/betweenness.h).
        collapses: whether it needs sums and maxima of distances only, which one search finds for
            many sources together.
        reciprocals: whether it needs sums of reciprocal distances only.
        rounds: whether weights whose sums are rounded may be taken in fixed point, so that there
            can be a hierarchy. This is so where results are of many distances and have no bits to
            lose.
        rows: whether the distances themselves are the result.
        folds: which leaves may be folded before the search: "all" in rounds, "one" round, or "no".
            Where some may be folded, blocks may be searched one by one.
        tiny: the output of the tiny engine for it; "" if that engine does not compute it.
        normalized: the default of `normalized=`.
        halved: whether raw scores of undirected graphs count each pair once, not in both
            directions.
        normalization: how sums become scores (`_normalize.SCORES`): "betweenness" by numbers of
            pairs, "percolation" by the weights of all other sources.
        weighted_by: the argument with one number per vertex that weights its paths as a source; ""
            if each source counts once.
        public: whether users may name it, as in `explain`.
        name: as in the plan; of a public one that of the measure.
    """

    family: str
    visitor: Visitor | None = None
    per_slot: bool = False
    by_depth: bool = False
    collapses: bool = False
    reciprocals: bool = False
    rounds: bool = False
    rows: bool = False
    folds: str = "no"
    tiny: str = "distances"
    normalized: bool = False
    halved: bool = True
    normalization: str = "betweenness"
    weighted_by: str = ""
    public: bool = True
    name: str = ""


#: by name; declared with the functions (_measures.py)
KERNELS: dict[str, Kernel] = {}


def names(family: str) -> tuple[str, ...]:
    """The public kernels of a family."""
    return tuple(x.name for x in KERNELS.values() if x.family == family and x.public)
