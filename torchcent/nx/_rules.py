"""What the backend refuses of any function: rules for arguments of these names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any, TypeAlias

from torchcent.graph import _networkx
from torchcent.nx._graph import BackendGraph, as_networkx_reads, cache_entry, edge_lengths

#: takes arguments of a call by their names; returns a reason, or None or False
Rule: TypeAlias = Callable[..., str | bool | None]

#: what must have its default -> why
DEFAULT_ONLY = {
    "sp": "there is nothing to search", "e": "there is nothing to search",
    "paths": "there is nothing to search", "attr": "NetworkX writes it to the nodes",
    "most_valuable_edge": "it is called with a NetworkX graph",
    "nodes": "NetworkX's own", "nstart": "NetworkX's own", "max_iter": "NetworkX's own iteration",
}  # fmt: skip


def _ends(sources: Any, targets: Any) -> str | None:
    for name, nodes in (("sources", sources), ("targets", targets)):
        if not isinstance(nodes, Collection):
            return f"{name} must be a collection, got {type(nodes).__name__}"
    try:
        (count, distinct), _ = ((len(nodes), {*nodes}) for nodes in (sources, targets))
    except Exception:  # any error of a collection that cannot be iterated, such as a nested tensor
        return "sources or targets holds what is no node"
    return "sources names a node more than once" if len(distinct) < count else None


def _pivots(G: Any, k: Any) -> str | None:
    if k is None or (isinstance(k, int) and not isinstance(k, bool) and 1 <= k <= len(G)):
        return None
    return f"k must be 1 to the number of nodes, got {k!r}"


def _cutoff(cutoff: Any) -> str | None:
    if cutoff is None or (isinstance(cutoff, (int, float)) and cutoff == cutoff):
        return None
    return f"cutoff must be a number, got {cutoff!r}"


#: for every function that has the arguments
GENERAL: tuple[Rule, ...] = (_ends, _pivots, _cutoff)


def lengths(G: Any, weight: Hashable, strengths: bool) -> str | None:
    """Why these weights are not those of torchcent; `strengths` may be 0."""
    if callable(weight):
        return "lengths of edges must be an attribute, not a function"
    graph = G if isinstance(G, BackendGraph) else cache_entry(G, weight)
    try:
        if graph is None:
            view = as_networkx_reads(G, *([] if weight is None else [weight]))
            if weight is not None:
                values = _networkx.lengths(view, _networkx.arrays(view), weight)
                edge_lengths(values, weight, strengths)
        elif weight is not None and not strengths and graph.has_zeros(weight):
            return f"the edges' attribute {weight!r} must be finite and > 0, and one is 0"
        elif weight is not None:
            graph.weight(weight)
    except NotImplementedError as error:
        return str(error)
    return None
