"""betweenness_variant: paths count by their length, or at their first or last step."""

from __future__ import annotations

from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, SEARCHES, Run
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.engines.measures._visitors import Visitor
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.paths import _path_sums
from torchcent.paths._betweenness import request_of

VARIANTS = ("distance", "linear", "proximal_source", "proximal_target")
#: engines by hops and by weights
_ENGINES = ("auto", "lanes", "queue", "tensor"), ("auto", "dijkstra", "tensor")
_KERNELS = {
    name: Kernel(
        "paths", Visitor[name.upper()], by_depth=True, tiny="", normalized=True, public=False
    )
    for name in VARIANTS  # folded leaves are at other distances
}


@measure(
    "vertices", *SEARCHES, "dtype", searches=True, share=True, kernels=_KERNELS,
    without=NOT_IN_NETWORKX | {"columns": "it needs a variant"},
    choices={"variant": VARIANTS, "engine": ("auto", "lanes", "queue", "dijkstra", "tensor")},
)  # fmt: skip
def betweenness_variant(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    variant: str,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    sources: int | Tensor | None = None,
    targets: Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Betweenness in which a path counts by its length, or for one vertex next to its end.

    .. math:: C(v) = \sum_{s \ne v \ne t} f(s, v, t) \, \sigma_{st}(v) / \sigma_{st}

    Args:
        variant: "distance": f = 1 / d(s, t), so that long paths count less (length-scaled
            betweenness, Borgatti and Everett 2006). "linear": f = d(s, v) / d(s, t), more for
            vertices near the target (Geisberger, Sanders and Schultes 2008). "proximal_source" and
            "proximal_target": f is the share of the shortest paths through v whose first arc leads
            to v, or whose last arc leaves v. Such a v controls the access to a neighbour.
        normalized: divide by (n - 1)(n - 2), as :func:`betweenness` does.
        Others: as in :func:`betweenness`. Distances are in hops or by weights.
        run: how it is computed, see :class:`Run`.

    Returns:
        Tensor [n] on the device of the graph. With directed=False raw scores are halved: of
        "linear" and the proximal variants, they are the means of both directions of every pair.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.
        MemoryError: ``Run(memory=)`` is too small for one batch; the message states both amounts.

    Pairs at distance 1 have no vertex between them. The time is that of betweenness by the same
    engine, O(n m) and more with weights. For bounded distances see `cutoff` of :func:`betweenness`.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> torchcent.betweenness_variant(path, variant="distance", normalized=False)
        tensor([0.0000, 0.8333, 0.8333, 0.0000])
        >>> torchcent.betweenness_variant(path, variant="proximal_target", normalized=False)
        tensor([0., 1., 2., 0.])

    Source:
        Brandes 2008, "On variants of shortest-path betweenness centrality and their generic
        computation"; Borgatti and Everett 2006; Geisberger, Sanders and Schultes 2008.
    """
    check.choice(variant, "variant", VARIANTS)
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, paths=True)
    if graph.tie_tolerance > 0:
        raise ValueError(
            "betweenness_variant scales by lengths of shortest paths; the tie_tolerance of the "
            "graph must be 0"
        )
    request = request_of(graph, variant, run, normalized, sources, targets)
    engines = _ENGINES[graph.is_weighted]
    if run.engine.name not in engines:
        raise ValueError(
            f"engine={run.engine.name!r} does not compute variant={variant!r} of this graph; use "
            f"one of {', '.join(engines)}"
        )
    return _path_sums.scores(graph, request).to(request.dtype)
