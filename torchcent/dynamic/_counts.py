"""Degrees, core numbers, triangles and clustering coefficients of a graph that changes."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _values as values
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.dynamic._arcs import Arcs, Change, ends_of, holds, mirrored, numbered
from torchcent.dynamic._graph import DynamicGraph
from torchcent.dynamic._measure import DynamicMeasure
from torchcent.graph import _csr
from torchcent.walks import _local

_MEASURES = ("degree", "core_number", "triangles", "clustering_coefficient")
_TOGETHER = 2**20  # neighbours that are looked up together
#: neighbours looked up per slot of the graph, beyond which counting anew takes less time, by an
#: operator or, in directed graphs, by tensors
_MOST = {False: 1 / 8, True: 4}
_FEW = 1000  # neighbours that are always looked up


class DynamicCounts(DynamicMeasure):
    r"""Degrees, core numbers, triangles or clustering coefficients of a :class:`DynamicGraph`.

    .. math:: T'(v) = T(v) - \text{triangles lost} + \text{triangles won}

    where a triangle is lost if one of its edges is deleted, and won if one of them is inserted.
    Those of the graph before and of the graph after are listed from the changed edges, each once.
    The neighbours of the end with fewer of them are looked up among those of the other end.

    Args:
        graph: the graph to follow.
        measure: "degree", "core_number", "triangles" or "clustering_coefficient", the name of the
            function whose values the scores are.
        direction: "out", "in" or "both", of "degree", as in :func:`degree`.
        normalized: "degree" divided by n - 1.
        run: memory and progress, see :class:`Run`. Threads are PyTorch's at each update.

    Attributes:
        scores: [n], to the bit those of the function for the snapshot: int64 core numbers and
            triangles, float64 degrees and coefficients.
        changed: as of :class:`DynamicBetweenness`.
        statistics: vertices whose counts were corrected, or counted anew.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        ValueError: ``measure="triangles"`` of a directed graph.

    Besides the O(m) time for the arcs, an update takes O(n) time. Triangles and coefficients take
    :math:`O(d \log m)` more for each changed edge, where d is the smaller degree of its ends. A
    batch of which this is too much has them counted anew. Core numbers are always computed anew, in
    O(n + m) time.

    Example:
        >>> import torch, torchcent
        >>> graph = torchcent.DynamicGraph(torch.tensor([[0, 1, 2], [1, 2, 3]]), directed=False)
        >>> counts = torchcent.DynamicCounts(graph, measure="triangles")
        >>> graph.update(insert=torch.tensor([[0], [2]])).inserted
        1
        >>> counts.scores
        tensor([1, 1, 1, 0])
        >>> counts.statistics.sources
        3
    """

    _count: Tensor  # core numbers, or triangles by products of numbers of arcs
    _mutual: Tensor  # arcs with their reverse, of directed graphs

    @computes()
    def __init__(
        self,
        graph: DynamicGraph,
        *,
        measure: str = "degree",
        direction: str = "out",
        normalized: bool = False,
        run: Run = DEFAULT,
    ) -> None:
        super().__init__(graph, run)
        self._needs_hops("DynamicCounts")
        self._measure = values.choice(measure, "measure", _MEASURES)
        self._direction = values.choice(direction, "direction", _local.DIRECTIONS)
        self._normalized = values.flag(normalized, "normalized")
        if measure == "triangles" and graph.directed:
            raise ValueError(
                "measure='triangles' is for undirected graphs; accepted: a DynamicGraph with "
                "directed=False"
            )

    def _start(self, arcs: Arcs) -> tuple[int, str]:
        if self._measure == "core_number":
            self._count = _local.core_number(arcs.frozen)
        elif self._measure != "degree":
            self._count = _local.triangles_by_arcs(arcs.frozen)
            if arcs.directed:
                self._mutual = _Adjacent(arcs, _pairs(ends_of(arcs.keys))).mutual()
        return arcs.num_nodes, "none"

    def _repair(self, change: Change) -> tuple[int, int, str]:
        n = change.after.num_nodes
        ends = torch.cat([change.removed, change.inserted], 1)
        if self._measure == "degree":
            return ends.unique().numel(), 0, "none"
        pairs = _pairs(ends)
        before, after = _Adjacent(change.before, pairs), _Adjacent(change.after, pairs)
        most = max(_FEW, _MOST[change.after.directed] * change.after.keys.numel())
        if self._measure == "core_number" or before.work + after.work > most:
            self._start(change.after)
            return n, n, "none"

        def corrected(values: Tensor, lost: Tensor, won: Tensor) -> Tensor:
            return pad(values - lost, (0, n - lost.numel())) + won

        pad = torch.nn.functional.pad
        count = corrected(self._count, before.triangles(), after.triangles())
        touched = int((count != pad(self._count, (0, n - self._count.numel()))).sum())
        self._count = count
        if change.after.directed:
            self._mutual = corrected(self._mutual, before.mutual(), after.mutual())
        return touched, 0, "none"

    def _scores(self, arcs: Arcs) -> Tensor:
        out, back = arcs.rowptr.diff(), arcs.colptr.diff()
        if self._measure == "degree":
            if self._direction == "out" or not arcs.directed:
                degree = out
            else:
                degree = back if self._direction == "in" else out + back
            scores = degree.double()
            return scores / max(arcs.num_nodes - 1, 1) if self._normalized else scores
        if self._measure != "clustering_coefficient":
            return self._count.clone()
        if arcs.directed:
            pairs = ((out + back) * (out + back - 1) - 2 * self._mutual).double()
        else:
            pairs = (out * (out - 1)).double() / 2
        return torch.where(pairs > 0, self._count / pairs.clamp(min=1), 0)


def _pairs(columns: Tensor) -> Tensor:
    """The pairs of ends, each once, whatever the direction, as ascending numbers."""
    keys: Tensor = numbered(columns.amin(0), columns.amax(0)).unique()
    return keys


def _between(arcs: Arcs, keys: Tensor) -> Tensor:
    """The number of arcs between two vertices, 0, 1 or, of directed graphs, 2."""
    number = holds(arcs.keys, keys).long()
    return number + holds(arcs.keys, mirrored(keys)) if arcs.directed else number


class _Adjacent:
    """Those of some pairs that are adjacent in a graph, and the neighbours of their ends."""

    def __init__(self, arcs: Arcs, pairs: Tensor) -> None:
        self._arcs, self._pairs = arcs, pairs
        number = _between(arcs, pairs)
        self._place = number.nonzero().flatten()  # among all pairs
        self._number = number[self._place]  # of arcs
        self._sides = [(arcs.rowptr, arcs.col)]
        if arcs.directed:
            self._sides.append((arcs.colptr, arcs.row))
        ends = ends_of(pairs[self._place])
        degree = torch.zeros_like(ends)
        for pointer, _ in self._sides:
            degree += pointer[ends + 1] - pointer[ends]
        few = degree.argmin(0, keepdim=True)
        self._leaf, self._hub = ends.gather(0, few)[0], ends.gather(0, 1 - few)[0]
        self.work = int(degree.amin(0).sum())

    def triangles(self) -> Tensor:
        """int64 [n]: triangles with such a pair at each vertex, by products of numbers of arcs."""
        count = torch.zeros(self._arcs.num_nodes, dtype=torch.int64, device=self._arcs.device)
        for pointer, neighbour in self._sides:  # of two arcs to the same one, each counts
            begin = pointer[self._leaf]
            size = pointer[self._leaf + 1] - begin
            for first, end in _csr.runs(size, _TOGETHER):
                pair = torch.arange(first, end, device=count.device)
                pair = pair.repeat_interleave(size[first:end])
                third = neighbour[_csr.ranges(begin[first:end], size[first:end])].long()
                self._add(count, pair, third)
        return count

    def _add(self, count: Tensor, pair: Tensor, third: Tensor) -> None:
        """Adds triangles of pairs and neighbours of their leaves, but for those counted already."""
        number = _between(self._arcs, numbered(self._hub[pair], third))
        closed = number.nonzero().flatten()
        pair, third, number = pair[closed], third[closed], number[closed]
        corners = self._leaf[pair], self._hub[pair], third
        place = self._place[pair]
        once = torch.ones_like(place, dtype=torch.bool)
        for end in corners[:2]:  # of several such pairs in a triangle, the first one counts it
            other = numbered(torch.minimum(end, third), torch.maximum(end, third))
            at = torch.searchsorted(self._pairs, other).clamp_(max=self._pairs.numel() - 1)
            once &= (self._pairs[at] != other) | (at > place)
        product = number * self._number[pair] * once
        for corner in corners:
            count.index_add_(0, corner, product)

    def mutual(self) -> Tensor:
        """int64 [n]: arcs with their reverse at each vertex, between such pairs."""
        both = self._number == 2
        ends = torch.cat([self._leaf[both], self._hub[both]])
        return torch.bincount(ends, minlength=self._arcs.num_nodes)
