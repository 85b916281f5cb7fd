"""Pairs of vertices within a distance, some sources at a time, for sums over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check._run import Run
from torchcent.engines._tensor import _weighted
from torchcent.graph import Graph, _batch
from torchcent.pairs._limits import in_units
from torchcent.runtime import _ops
from torchcent.runtime._codes import DONE, control
from torchcent.runtime._tuned import TUNED
from torchcent.runtime._watch import at_work, progress_bar

#: pairs at a time, and what each takes: its numbers, and temporaries of those who add up
MOST_PAIRS, _BYTES_PER_PAIR = 2**20, 256


class NearPairs(NamedTuple):
    """Pairs from some of the sources, by source, then by vertex; each source with itself, too."""

    first: int  # the place of the first of these sources
    sizes: Tensor  # int64, the pairs of each
    vertex: Tensor  # int64 [pairs]
    distance: Tensor  # float64 [pairs]

    @property
    def place(self) -> Tensor:
        """int64 [pairs]: which of these sources each pair begins at, from 0."""
        return torch.repeat_interleave(self.sizes)


def chosen_vertices(graph: Graph, vertices: Tensor | None) -> Tensor:
    """The vertices of the argument, which are all of the graph if it is None; on the host."""
    if vertices is None:
        return torch.arange(graph.num_nodes, device="cpu")
    return check.vertices(vertices, "vertices", graph).cpu()


def near_pairs(
    graph: Graph, sources: Tensor, limit: float, run: Run, title: str, by_hops: bool = False
) -> Iterator[NearPairs]:
    """The vertices within `limit` of each source, along outgoing arcs; on the host.

    By hops, weights do not matter.
    """
    host = graph.to("cpu")
    sources = sources.cpu()
    search = (_Compiled if _ops.has_kernel("pair_list", host.device) else _OnTensors)(
        host, limit, by_hops
    )
    most = MOST_PAIRS
    if run.memory is not None:
        most = max(min(most, run.memory // _BYTES_PER_PAIR), 1)
    size, slots = _batch.counts(host)
    quick = float(size @ slots) < TUNED["tiny"].inline
    with progress_bar(sources.numel(), title, run.progress, quick, "vertices") as bar:
        begin = 0
        while begin < sources.numel():
            some = sources[begin : begin + search.together(most)]
            record, found = control(done=begin), list[NearPairs]()

            def work(some: Tensor = some, record: Tensor = record, begin: int = begin) -> None:
                found.append(search.pairs(some, begin, most, record))  # noqa: B023

            at_work(work, record, bar, host.device, quick)
            begin += found[0].sizes.numel()
            bar.update(begin - bar.n)
            yield found[0]


class _Compiled:
    """By the operators of pairs: the first search from each source counts them."""

    def __init__(self, graph: Graph, limit: float, by_hops: bool) -> None:
        weighted = graph.is_weighted and not by_hops
        weight, self._unit, limits = in_units(graph, limit, weighted)
        self._arcs = graph.rowptr, graph.col, weight
        self._within = _batch.ends(graph), limits
        self._each = 16  # pairs of a source, by those before

    def together(self, most: int) -> int:
        """Sources to try together."""
        return max(1, 2 * most // self._each)

    def pairs(self, sources: Tensor, first: int, most: int, record: Tensor) -> NearPairs:
        """Those of as many of the sources as have at most so many pairs, but of one at least."""
        threads = torch.get_num_threads()
        count = torch.zeros_like(sources)
        own = *self._within, count, record, threads
        _ops.ops.pair_counts(*self._arcs, *own, sources=sources)
        record[DONE] -= sources.numel()  # they count when their pairs are listed
        end = count.cumsum(0)
        fit = max(int(torch.searchsorted(end, torch.tensor(most, device="cpu"), right=True)), 1)
        count, begin = count[:fit], (end - count)[:fit].contiguous()
        self._each = max(int(end[fit - 1]) // fit, 1)
        pairs = int(end[fit - 1])
        none = torch.empty(0, dtype=torch.int64, device="cpu")
        index = torch.empty(2, pairs, dtype=torch.int64, device="cpu")
        distance = torch.empty(pairs, dtype=torch.float64, device="cpu")
        out = none, begin, index, distance, none, record, threads
        chosen = sources[:fit].contiguous()
        _ops.ops.pair_list(*self._arcs, self._unit, *self._within, *out, sources=chosen)
        return NearPairs(first, count, index[1], distance)


class _OnTensors:
    """By PyTorch's operators, from rows of distances."""

    def __init__(self, graph: Graph, limit: float, by_hops: bool) -> None:
        self._weighted = graph.is_weighted and not by_hops
        weight, self._unit, limits = in_units(graph, limit, self._weighted)
        if not self._weighted:
            weight = weight.new_ones(graph.num_slots)
        self._graph, self._weight = graph, weight
        self._graph_of = _batch.of_graph(graph, torch.arange(graph.num_nodes, device="cpu"))
        self._limit = limits[self._graph_of] if graph.num_nodes else limits

    def together(self, most: int) -> int:
        return max(1, most // max(self._graph.num_nodes, 1))

    def pairs(self, sources: Tensor, first: int, most: int, record: Tensor) -> NearPairs:
        graph = self._graph
        farthest = float(self._limit[sources].max())
        rows = _weighted.distances(graph.rowptr, graph.col, self._weight, sources, farthest)
        near = rows <= self._limit[sources][:, None]
        near &= torch.isfinite(rows)
        place, vertex = near.nonzero(as_tuple=True)
        distance = rows[place, vertex]
        if self._weighted:
            distance = distance / self._unit[self._graph_of[vertex]]
        return NearPairs(first, near.sum(1), vertex, distance)
