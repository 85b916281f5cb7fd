"""Random numbers of vertices that depend on a seed and on their graph alone, not on its batch."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.graph import Graph, _batch, _csr

# splitmix64 (Steele, Lea and Flood 2014), in signed numbers that wrap around
_STEP, _FIRST, _SECOND = -7046029254386353131, -4658895280553007687, -7723592293110705685


def _mixed(value: Tensor) -> Tensor:
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        value = (value ^ _shifted(value, shift)) * factor
    return value ^ _shifted(value, 31)


def _shifted(value: Tensor, by: int) -> Tensor:
    return (value >> by) & ((1 << (64 - by)) - 1)  # >> keeps the sign


def seed_of(generator: torch.Generator | None) -> int:
    """A number that the generator draws, or PyTorch's own one."""
    where = generator.device if generator is not None else torch.device("cpu")
    return int(torch.randint(2**62, (), generator=generator, device=where))


class Draws:
    """Random numbers of the vertices of a batch: of a graph, those that it has alone.

    Graphs of different arcs, or sizes, have different numbers.
    """

    def __init__(self, graph: Graph, seed: int) -> None:
        self._graph = graph
        count = torch.arange(graph.num_nodes, device=graph.device)
        self._owner = _batch.of_graph(graph, count)
        ends = _batch.ends(graph)
        self._local = count - ends[:-1][self._owner]
        sizes = _batch.sizes(graph)
        row = _csr.rows(graph.rowptr)
        arcs = self._local[row] * 2**32 + self._local[graph.col.long()]
        content = _mixed(sizes + seed)
        # Sums of integers wrap around, and do not depend on the order.
        self._content = content.index_add(0, self._owner[row], _mixed(arcs + seed))

    def column(self, number: int) -> Tensor:
        """int64 [n], all different within a graph."""
        return self.rows(number, number + 1)[0]

    def rows(self, begin: int, end: int) -> Tensor:
        """int64 [end - begin, n]: the columns of these numbers."""
        number = torch.arange(begin + 1, end + 1, device=self._content.device)
        of_graph = _mixed(self._content + number[:, None] * _STEP)
        return _mixed(of_graph[:, self._owner] + self._local * _STEP)


def ranked(graph: Graph, key: Tensor, descending: bool = False) -> tuple[Tensor, Tensor]:
    """The vertices, graph by graph in the order of their keys, and the place of each in its graph.

    Of equal keys the lowest vertex is first.
    """
    order = torch.argsort(key, stable=True, descending=descending)
    ends = _batch.ends(graph)
    owner = _batch.of_graph(graph, order)
    if graph.ptr is not None:
        owner, by_graph = torch.sort(owner, stable=True)
        order = order[by_graph]
    return order, torch.arange(order.numel(), device=order.device) - ends[:-1][owner]
