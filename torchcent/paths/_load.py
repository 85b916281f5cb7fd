"""load_centrality: packets that are split equally at every branch of their ways."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from torchcent.check._cutoff import Lengths
from torchcent.check._run import DEFAULT, PATHS, Run
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._measures import InNetworkX, measure
from torchcent.engines.measures._visitors import Visitor
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.paths._betweenness import request_of, scores_within

_ONE = "of one node NetworkX computes as many searches as of all"
_ROUNDED = "NetworkX takes 0 for no cutoff, and others than ints for larger ones"
_LOST = (
    "NetworkX gives no load to other predecessors of a node that is next to the source as well; "
    "torchcent.load_centrality follows the definition"
)


def _are_mixed(G: Any) -> str | bool:
    return len({type(node) for node in G}) > 1 and "NetworkX sorts nodes, and types differ here"


def _is_rounded(cutoff: Any) -> str | bool:
    return cutoff is not None and not (type(cutoff) is int and cutoff > 0) and _ROUNDED


@measure(
    "vertices", *PATHS, "dtype", searches=True, columns=("load_centrality",), share=True,
    # All paths to and from a leaf, or another block, pass through one vertex as whole packets.
    kernel=Kernel("paths", Visitor.LOAD, folds="all", tiny="", normalized=True, halved=False),
    not_in_models=("sources", "targets"),  # for all pairs, as in NetworkX
    choices={"engine": ("auto", "lanes", "queue", "relax", "dijkstra", "tensor", "reference")},
    networkx=InNetworkX(
        "load_centrality",
        docs="Without weights, and for all nodes.",
        rules=[lambda v: v is not None and _ONE, lambda weight: weight is not None and _LOST,
               _is_rounded, _are_mixed],
    ),
)  # fmt: skip
def load_centrality(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    normalized: bool = True,
    sources: int | Tensor | None = None,
    targets: Tensor | None = None,
    cutoff: Lengths = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Load centrality: the packets that pass through each vertex, split equally at every branch.

    .. math:: L(v) = \sum_{s \ne v} \delta_s(v), \quad
              \delta_s(v) = \sum_{w: v \in P_s(w)} \frac{1 + \delta_s(w)}{|P_s(w)|}

    where :math:`P_s(w)` are the predecessors of w on shortest paths from s. There is a packet for
    every pair (s, t). On its way from t back to s, it is divided equally among the predecessors of
    each vertex. Betweenness divides it by their numbers of paths.

    Arguments are those of :func:`betweenness`, without endpoints. Values equal those of NetworkX's
    ``load_centrality`` by hops. With weights NetworkX loses load (docs/betweenness.md).

    Returns:
        Tensor [n], or [n, cutoffs]. Raw scores count both directions of every pair, also with
        directed=False, because their ways differ. normalized=True divides by (n - 1)(n - 2).

    Example:
        >>> import torch, torchcent
        >>> arcs = torch.tensor([[0, 0, 0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 4, 5, 6, 6]])
        >>> torchcent.load_centrality(arcs, normalized=False)
        tensor([0.0000, 0.7500, 0.7500, 1.5000, 2.5000, 1.5000, 0.0000])

    Source:
        Goh, Kahng and Kim 2001, "Universal behavior of load distribution in scale-free networks",
        Physical Review Letters 87:278701; computed as in Brandes 2001.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, paths=True)
    request = request_of(graph, "load_centrality", run, normalized, sources, targets)
    return scores_within(graph, request, cutoff)
