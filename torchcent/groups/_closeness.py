"""group_closeness and group_degree: what is near a group of vertices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _groups as check_groups
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import measure
from torchcent.graph import Graph
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.pairs._lengths import shortest_path_lengths
from torchcent.runtime import _small

_DIRECTIONS = ("out", "in")


@measure("groups", "dtype", searches=True)
def group_closeness(
    edge_index: GraphLike,
    group: Tensor | Iterable[Any],
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Group closeness: the reciprocal of the mean distance to a group of vertices.

    .. math:: C_C(C) = \frac{|V \setminus C|}{\sum_{v \notin C} d(v, C)}, \quad
              d(v, C) = \min_{u \in C} d(v, u)

    Distances are those **to** the group, in hops or by weights; for those from it pass the reversed
    graph. Values equal those of NetworkX's ``group_closeness_centrality``: vertices that do not
    reach the group count in the numerator, and add nothing to the sum.

    Args:
        group: as for :func:`group_betweenness`: the vertices of a group, or a list of groups.
        edge_weight: [E], the length of each arc, finite and > 0; None counts hops.
        run: how it is computed, see :class:`Run`.

    All other arguments are those of :func:`group_betweenness`.

    Returns:
        Tensor without dimensions, or [g] for g groups; 0 if no other vertex reaches the group.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.

    One search per group: O(n + m) time, with weights O(m + n log n).

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
        >>> torchcent.group_closeness(path, [1, 3], directed=False)
        tensor(1.)
        >>> torchcent.group_closeness(path, [[0], [0, 4]], directed=False)
        tensor([0.4000, 0.7500])

    Source:
        Everett and Borgatti 1999; in this form Zhao et al. 2014, "Measuring and maximizing group
        closeness centrality over disk-resident graphs".
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, None, directed, run)
    check_batch.one_graph(graph, "group_closeness", "pass its graphs one by one")
    groups, single = check_groups.groups(group, graph)
    scores = torch.stack([_closeness(graph, each, run.memory) for each in groups])
    return (scores[0] if single else scores).to(run.dtype)


def _closeness(graph: Graph, group: Tensor, memory: int | None) -> Tensor:
    """One search along reversed arcs, of the graph whose group is one vertex."""
    number = torch.arange(graph.num_nodes, device=graph.device)
    number[group] = group[0]
    tail = _small.repeat_interleave(graph.degree)
    arcs = torch.stack([number[graph.col.long()], number[tail]])
    run = Run(memory=memory)
    quotient = Graph.from_edge_index(arcs, graph.num_nodes, True, graph.weight, run=run)
    length = shortest_path_lengths(
        quotient.with_ties(graph.ties), sources=group[:1], run=run | Run(progress=False)
    )
    assert isinstance(length, Tensor)
    length = length.double()
    farness = length.masked_fill((length < 0) | length.isinf(), 0).sum()
    return torch.where(farness > 0, (graph.num_nodes - group.numel()) / farness, 0.0)


@measure(
    "groups", "dtype", weights="", choices={"direction": _DIRECTIONS},
    without={"networkx": "NetworkX looks degrees up, which takes less time than a conversion"},
)  # fmt: skip
def group_degree(
    edge_index: GraphLike,
    group: Tensor | Iterable[Any],
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
    direction: str = "out",
    normalized: bool = True,
    run: Run = DEFAULT,
) -> Tensor:
    r"""Group degree: the share of the other vertices that are neighbours of a group.

    .. math:: C_D(C) = \frac{|N(C) \setminus C|}{|V \setminus C|}

    Values equal those of NetworkX's ``group_degree_centrality``, ``group_out_degree_centrality``
    and ``group_in_degree_centrality``.

    Args:
        group: as for :func:`group_betweenness`: the vertices of a group, or a list of groups.
        direction: "out" for heads of arcs that leave the group, "in" for tails of arcs to it.
        normalized: divide by the number of other vertices; without, the number of neighbours.
        run: how it is computed, see :class:`Run`.

    All other arguments are those of :func:`group_betweenness`. Weights are ignored.

    Returns:
        Tensor without dimensions, or [g] for g groups; 0 if there are no other vertices.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(m) time per group.

    Example:
        >>> import torch, torchcent
        >>> star = torch.tensor([[0, 0, 0], [1, 2, 3]])
        >>> torchcent.group_degree(star, [0, 1])
        tensor(1.)
        >>> torchcent.group_degree(star, [[1], [2, 3]], direction="in")
        tensor([0.3333, 0.5000])

    Source:
        Everett and Borgatti 1999.
    """
    graph = as_graph(edge_index, None, num_nodes, None, directed, run)
    check_batch.one_graph(graph, "group_degree", "pass its graphs one by one")
    groups, single = check_groups.groups(group, graph)
    check.choice(direction, "direction", _DIRECTIONS)
    check.flag(normalized, "normalized")
    tail, head = _small.repeat_interleave(graph.degree), graph.col.long()
    if direction == "in":
        tail, head = head, tail
    scores = []
    for each in groups:
        inside, near = (graph.degree.new_zeros(graph.num_nodes, dtype=torch.bool) for _ in "io")
        inside[each] = True
        near[head[inside[tail]]] = True
        count = (near & ~inside).sum().double()
        scores.append(count / max(graph.num_nodes - each.numel(), 1) if normalized else count)
    score = torch.stack(scores)
    return (score[0] if single else score).to(run.dtype)
