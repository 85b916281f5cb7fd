"""local_betweenness: of each vertex in the graph within a radius of it."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import DEFAULT, Run
from torchcent.check._values import within
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.graph import Graph, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.pairs._near import NearPairs, chosen_vertices, near_pairs
from torchcent.paths._betweenness import betweenness


@measure(
    "vertices", "dtype", searches=True, without=NOT_IN_NETWORKX | {"columns": "it needs a radius"}
)
def local_betweenness(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    radius: float,
    by_hops: bool = False,
    normalized: bool = True,
    vertices: Tensor | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Betweenness of each vertex in the graph around it, as momepy's local betweenness.

    .. math:: C_B^r(v) = \sum_{s, t \in B_r(v)} \frac{\sigma^{B}_{st}(v)}{\sigma^{B}_{st}},
              \quad B_r(v) = \{u : d(v, u) \le r\}

    where :math:`\sigma^B` counts shortest paths in the graph that the vertices of the ball
    :math:`B_r(v)` induce: other vertices are not there, and v has the score of that graph.
    ``betweenness(cutoff=r)`` is another measure. It counts pairs at most r apart, by paths of the
    whole graph, whatever their distance from v.

    Args:
        radius: r, a length of the weights, or a number of hops without weights.
        by_hops: whether the radius is a number of hops, also with weights.
        normalized: divide by the number of pairs of other vertices in the ball, (k - 1)(k - 2) of k
            vertices, as :func:`betweenness` does; else undirected graphs count each pair once.
        vertices: compute only the scores of these.
        Others: as in :func:`betweenness`.
        run: how it is computed, see :class:`Run`. The graphs are searched on the host.

    Returns:
        Tensor [n]; with `vertices` [len(vertices)].

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    The graphs around the vertices are small, and are searched as batches that fit into memory. A
    ball of k vertices and m arcs takes O(k m) time, with weights O(k m log m). That is k times as
    much as a cutoff, which takes one search for each vertex.

    Example:
        >>> import torch, torchcent
        >>> block = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
        >>> torchcent.local_betweenness(block, directed=False, radius=1, normalized=False)
        tensor([1., 1., 1., 1., 1.])
        >>> torchcent.betweenness(block, directed=False, cutoff=1, normalized=False)
        tensor([0., 0., 0., 0., 0.])

    Source:
        Freeman 1977; momepy, ``betweenness_centrality(radius=)``; NetworkX, ``ego_graph``.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    limit = within(radius, "radius", "[0, inf]", ">= 0")
    check.flag(by_hops, "by_hops")
    check.flag(normalized, "normalized")
    chosen = chosen_vertices(graph, vertices)
    host, inner = graph.to("cpu"), Run(dtype=torch.float64, progress=False, memory=run.memory)
    scores = torch.zeros(chosen.numel(), dtype=torch.float64, device="cpu")
    for near in near_pairs(host, chosen, limit, run, "local_betweenness", by_hops):
        balls, centre = _balls(host, near, chosen)
        own = betweenness(balls, normalized=normalized, run=inner)
        scores[near.first : near.first + near.sizes.numel()] = own[centre]
    return scores.to(device=graph.device, dtype=run.dtype)


def _balls(graph: Graph, near: NearPairs, sources: Tensor) -> tuple[Graph, Tensor]:
    """The graphs around some sources as a batch, and the vertices of it that are the sources."""
    n, place, pairs = graph.num_nodes, near.place, near.vertex.numel()
    key = place * n + near.vertex  # ascending
    degree = graph.rowptr.diff()[near.vertex]
    tail = torch.repeat_interleave(degree)
    slot = _csr.ranges(graph.rowptr[near.vertex], degree)
    wanted = place[tail] * n + graph.col[slot]
    head = torch.searchsorted(key, wanted).clamp_(max=pairs - 1)
    inside = key[head] == wanted
    arcs = torch.stack([tail[inside], head[inside]])
    sums = graph._ties.sums
    balls = Graph.from_edge_index(
        arcs, pairs, graph.directed,
        None if graph.weight is None else graph.weight[slot[inside]],
        ptr=_csr.pointers(near.sizes),
        ties=sums if sums in ("decimal", "float") else "decimal",
        tie_tolerance=graph.tie_tolerance,
    )  # fmt: skip
    number = torch.arange(near.sizes.numel(), device="cpu")
    return balls, torch.searchsorted(key, number * n + sources[near.first + number])
