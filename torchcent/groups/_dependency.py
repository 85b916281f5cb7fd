"""Dependencies of single sources on the members of groups, by the compiled searches.

The engines add up the dependencies of all sources of a run. To have those of each source, a run
searches a union of copies of the graph, each from another source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.engines.measures._request import Request
from torchcent.engines.plan import _plan
from torchcent.engines.search import _levels
from torchcent.engines.search._driver import counts_in_float64
from torchcent.graph import Graph
from torchcent.groups import _shares
from torchcent.paths import _path_sums
from torchcent.runtime import _memory, _ops

# The most copies in a union, and the vertices and slots of all of them: each search adds to scores
# of the whole union. Bytes for each of these: the union, its transpose and the searches.
_COPIES, _UNION, _BYTES = 32, 2**20, 96
_TOGETHER = 6.0  # searches in lanes in the time of one search in a union
_FACTORS = 2**22  # numbers of a batch of matrices of pair dependencies


class Sources(NamedTuple):
    """A batch of sources s and the members y of groups."""

    source: Tensor  # int64 [b]
    delta: Tensor  # float64 [b, members]: the sum over all t but y of sigma(s, t | y) / sigma(s, t)
    # Of places of members, int64 [k]: float64 [b, k, k], sigma(s, y | x) / sigma(s, y).
    between: Callable[[Tensor], Tensor]


class Rows(NamedTuple):
    """Distances from all vertices to the members, and path counts as mantissa and exponent of 2."""

    members: Tensor
    distance: Tensor  # float64 [members, n], inf for none
    mantissa: Tensor
    exponent: Tensor

    @classmethod
    def of(cls, graph: Graph, members: Tensor, memory: int | None) -> Rows:
        shape = members.numel(), graph.num_nodes
        distance = torch.full(shape, torch.inf, dtype=torch.float64, device=graph.device)
        mantissa, exponent = torch.zeros_like(distance), torch.zeros_like(distance)
        begin = 0
        for part in members.split(_shares.lanes_that_fit(graph, memory, 24 * distance.numel())):
            levels = _levels.levels(graph, part, backward=True)
            at = (
                torch.cat([level.lane for level in levels]) + begin,
                torch.cat([level.vertex for level in levels]),
            )
            distance[at] = torch.cat([levels.distance(depth) for depth in range(len(levels))])
            mantissa[at], exponent[at] = _shares.flat(levels)
            begin += part.numel()
        return cls(members, distance, mantissa, exponent)

    def between(self, source: Tensor, at: Tensor) -> Tensor:
        """sigma(s, x) sigma(x, y) / sigma(s, y) where x is on a shortest path from s to y."""
        inner = self.members[at]
        to = [x[at][:, source].T for x in self[1:]]
        across = [x[at][:, inner].T for x in self[1:]]
        first, last = ([x[:, :, None] for x in to], [x[:, None, :] for x in to])
        on = (first[0] + across[0] == last[0]) & last[0].isfinite()
        on &= (inner[:, None] != inner) & (source[:, None, None] != inner[:, None])
        share = first[1] * across[1] / last[1]
        share = share * torch.exp2(first[2] + across[2] - last[2])
        return torch.where(on, share, 0.0)


def is_compiled(graph: Graph) -> bool:
    name = "weighted_dependency" if graph.is_weighted else "path_dependency"
    return _ops.has_kernel(name, graph.device)


def fit(largest: int) -> int:
    """The number of sources whose pair dependencies, of so many members, are kept at a time."""
    return max(1, _FACTORS // largest**2)


def weighted(graph: Graph, weight: Tensor | None, memory: int | None) -> Tensor:
    """float64 [n]: the dependencies of all sources, multiplied by their weights and added up."""
    request = Request(
        "betweenness", sources=weight, memory=memory, progress=False, reduce=frozenset()
    )
    with counts_in_float64():
        return _path_sums.sums(graph, request)


def searches_for_one(graph: Graph, memory: int | None) -> float:
    """The searches of such a run that take as long as one search with a result of its own."""
    request = Request("betweenness", memory=memory, reduce=frozenset())
    return _TOGETHER if _plan.plan(graph, request)[0].engine in ("lanes", "relax") else 1.0


def batches(
    graph: Graph, members: Tensor, rows: Rows | None, largest: int, memory: int | None
) -> Iterator[Sources]:
    """All vertices as sources; `largest` is the size of the largest group.

    `rows` are for exact sums of lengths.
    """
    n, count = graph.num_nodes, members.numel()
    size = max(1, min(n, _UNION // (n + graph.num_slots + 1), fit(largest), _COPIES))
    _allow(graph, size, count, rows is not None, memory)
    union = _Union(graph, size)
    for begin in range(0, n, size):
        source = torch.arange(begin, min(begin + size, n), device=graph.device)
        delta = union.dependency(source, None)[:, members]
        if rows is not None:
            yield Sources(source, delta, partial(rows.between, source))
            continue
        # Paths to one member alone: what they owe to the others is the pair dependency.
        pairs = torch.stack([union.dependency(source, y)[:, members] for y in members], 2)
        yield Sources(source, delta, partial(_between, pairs))


def _between(pairs: Tensor, at: Tensor) -> Tensor:
    return pairs[:, at][:, :, at]


def _allow(graph: Graph, size: int, members: int, exact: bool, memory: int | None) -> None:
    n, m = graph.num_nodes, graph.num_slots
    rows = 24 * n if exact else 8 * size * members
    need = graph._nbytes + size * (n + m) * _BYTES + members * (rows + 8 * size)
    _memory.allow("searching a group", need, memory, graph.device)


class _Union:
    """Copies of a graph, searched from a source each."""

    def __init__(self, graph: Graph, copies: int) -> None:
        self._n, self._graph = graph.num_nodes, _copied(graph, copies)
        self._engine = "dijkstra" if graph.is_weighted else "queue"

    def dependency(self, source: Tensor, target: Tensor | None) -> Tensor:
        """float64 [sources, n]: the dependency on each vertex, of paths to all or to one target."""
        first = torch.arange(source.numel(), device=source.device) * self._n
        ends = None if target is None else first + target
        request = Request(
            "betweenness", self._engine, sources=first + source, targets=ends, progress=False,
            reduce=frozenset(),
        )  # fmt: skip
        sums = _path_sums.sums(self._graph, request)
        return sums[: source.numel() * self._n].view(source.numel(), self._n)


def _copied(graph: Graph, copies: int) -> Graph:
    if copies == 1:
        return graph
    n, m = graph.num_nodes, graph.num_slots
    number = torch.arange(copies, device=graph.device)[:, None]
    rowptr = (graph.rowptr[None, :-1] + number * m).flatten()
    union = Graph(
        torch.cat([rowptr, rowptr.new_full((1,), copies * m)]),
        (graph.col[None] + number.int() * n).flatten(),
        None,
        graph.directed,
        None if graph.weight is None else graph.weight.repeat(copies),
        _trusted=True,
        _ties=graph._ties,
    )
    Graph.scale.put(union, graph.scale)  # no path is longer than in one copy
    return union
