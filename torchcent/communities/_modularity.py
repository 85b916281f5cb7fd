"""modularity: how much denser communities are than chance would have it."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _values as check_values
from torchcent.check._run import DEFAULT, Run
from torchcent.clustering._clustering import Clustering, labels_of
from torchcent.engines.measures._measures import measure
from torchcent.graph import Graph, _batch, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.walks._local import degrees


@measure(
    "graph", "dtype", weights="strengths",
    without={"networkx": "NetworkX's takes sets of nodes, and is linear, too"},
)  # fmt: skip
def modularity(
    edge_index: GraphLike,
    labels: Tensor | Clustering,
    edge_weight: WeightLike = None,
    *,
    resolution: float = 1.0,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The modularity of a partition: the weight inside of communities, beyond that of chance.

    .. math:: Q = \sum_c \Big( \frac{L_c}{m} - \gamma \Big(\frac{d_c}{2 m}\Big)^2 \Big) \qquad
              Q = \sum_c \Big( \frac{L_c}{m} - \gamma \frac{d^{out}_c d^{in}_c}{m^2} \Big)

    for undirected and directed graphs, where community c has :math:`L_c` of the weight m of all
    edges inside, and degrees (strengths) that sum to :math:`d_c`. Values equal those of NetworkX's
    ``modularity``.

    Args:
        edge_index: int64 [2, E], a Graph, or a graph of another library, a matrix, an array or a
            table (docs/inputs.md). Parallel arcs are added up, and loops count (docs/weights.md).
        labels: integers [n], the community of each vertex, such as those of :func:`leiden`; or a
            :class:`Clustering`.
        edge_weight: [E], the strength of each edge, finite and >= 0; None counts edges. A Graph has
            its own weights.
        resolution: :math:`\gamma`; larger values favour smaller communities.
        num_nodes: n; by default the largest id + 1.
        batch: int64 [n], ascending: the graph of each vertex. Communities of different graphs are
            different, also under one label.
        directed: None uses the arcs as given (for a Graph, its own setting), False adds missing
            reverse arcs.
        run: how it is computed, see :class:`Run`.

    Returns:
        0-dim Tensor, NaN without edges. For a batch Tensor [num_graphs].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(n log n + m) time.

    Example:
        >>> import torch, torchcent
        >>> two_triangles = torch.tensor([[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]])
        >>> torchcent.modularity(two_triangles, torch.tensor([0, 0, 0, 1, 1, 1]), directed=False)
        tensor(0.3571)

    Source:
        Newman and Girvan 2004; directed: Leicht and Newman 2008; resolution: Reichardt and
        Bornholdt 2006.
    """
    gamma = check_values.number(resolution, "resolution")
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run, weights="strengths")
    if isinstance(labels, Tensor):
        check_values.dense(labels, "labels")
    own = labels_of(labels).to(graph.device)
    if own.numel() != graph.num_nodes:
        raise ValueError(
            f"labels are of {own.numel()} vertices, and the graph has {graph.num_nodes}"
        )
    values = of_labels(graph, own, gamma)
    return (values if graph.ptr is not None else values[0]).to(run.dtype)


def of_labels(graph: Graph, labels: Tensor, resolution: float) -> Tensor:
    """float64 [num_graphs], of an adjacency matrix."""
    label = torch.unique(labels, return_inverse=True)[1]
    if graph.batch is not None:
        label = torch.unique(label + graph.batch * graph.num_nodes, return_inverse=True)[1]
    weight = graph.weight
    if weight is None:
        weight = torch.ones(graph.num_slots, dtype=torch.float64, device=graph.device)
    row = _csr.rows(graph.rowptr)
    inside = label[row] == label[graph.col.long()]
    within = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.device)
    within.index_add_(0, row, torch.where(inside, weight, 0))
    if not graph.directed and graph._diagonal is not None:
        within += graph._diagonal  # both ends of a loop
    out, back = (degrees(graph, direction) for direction in ("out", "in"))
    whole = _batch.total(graph, out)
    count = int(label.max()) + 1 if label.numel() else 0
    of_community = out.new_zeros(count).index_add_(0, label, back)
    # What a community has by chance is shared among its vertices by their degrees.
    chance = _batch.total(graph, out * of_community[label])
    return _batch.total(graph, within) / whole - resolution * chance / whole.square()
