"""Names of the vertices of a graph, and graphs of some of its vertices."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _parts as check_parts
from torchcent.graph import _csr, _labels, _strengths
from torchcent.graph._arrays import Arrays
from torchcent.graph._cache import Slot
from torchcent.graph._strengths import Strengths


class Parts(Arrays):
    """See :class:`torchcent.Graph`."""

    @property
    def labels(self) -> np.ndarray | None:
        """The names of the vertices: int64 [n], or objects [n] such as text; on the host.

        None if the vertices are called 0 to n - 1. Each name stands once, and the array cannot be
        written to. Whatever had names gives them to its graph: files, NetworkX and igraph graphs,
        tables and pairs of names. Graphs with other weights, ties or directions have the same, and
        :meth:`save` and pickle keep them.

        Example:
            >>> import torchcent
            >>> friends = torchcent.Graph.from_edges([("Ada", "Bob"), ("Bob", "Cleo")])
            >>> friends.labels.tolist(), friends.unweighted().reversed().labels[0]
            (['Ada', 'Bob', 'Cleo'], 'Ada')
        """
        return self._labels

    def with_labels(self, labels: Any) -> Self:
        """The same graph with other names of its vertices; None: their numbers.

        Args:
            labels: n names, each once: text, integers or whatever can be the key of a dict.

        Raises:
            TypeError, ValueError: there are not n of them, two are the same, or one is no key.

        Example:
            >>> import torch, torchcent
            >>> pair = torchcent.Graph.from_edge_index(torch.tensor([[0], [1]]))
            >>> pair.with_labels(["Ada", "Bob"]).labels.tolist()
            ['Ada', 'Bob']
        """
        names = None if labels is None else _labels.checked(labels, self.num_nodes)
        return self._with(_labels=names)

    def vertices(self, labels: Any) -> Tensor:
        """int64 [k]: the vertices of these names, on the device of the graph.

        O(n + k) time with names.

        Args:
            labels: names, or one.

        Raises:
            ValueError: no vertex has such a name.

        Example:
            >>> import torchcent
            >>> friends = torchcent.Graph.from_edges([("Ada", "Bob"), ("Bob", "Cleo")])
            >>> friends.vertices(["Cleo", "Ada"])
            tensor([2, 0])
            >>> torchcent.shortest_path(friends, *friends.vertices(["Ada", "Cleo"]).tolist()).path
            tensor([0, 1, 2])
        """
        return _labels.places(self._labels, self.num_nodes, labels).to(self.device)

    def subgraph(self, vertices: Any) -> Self:
        """The graph of some vertices and of all arcs between them.

        Vertices keep their order and their names. In a graph without names, the names are the
        numbers that they had. Weights, ties and what loops and parallel arcs add up to are kept.
        Graphs of a batch remain, also without vertices. The columns of the subgraph
        (:attr:`slot`) are its slots.

        Args:
            vertices: ids, in any order, or bool [n]. :meth:`vertices` gives the ids of names.

        Raises:
            TypeError, ValueError: they are no vertices of the graph.

        O(n + m) time.

        Example:
            >>> import torch, torchcent
            >>> ring = torchcent.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)], directed=False)
            >>> part = ring.subgraph([3, 2, 0])
            >>> part.labels.tolist(), part.num_edges
            ([0, 2, 3], 2)
        """
        inside = check_parts.vertices(vertices, self.num_nodes, self.device)
        return self._part(inside)

    def largest_component(self, strong: bool = False) -> Self:
        """The subgraph of the largest connected component; of a batch, of each graph's.

        Of components of the same size, it is that with the lowest vertex. Vertices keep their order
        and their names, as in :meth:`subgraph`.

        Args:
            strong: whether there must be paths in both directions between two vertices; otherwise
                directions do not matter.

        O(n + m) time; strong components are found on the host.

        Example:
            >>> import torch, torchcent
            >>> graph = torchcent.Graph.from_edges([("a", "b"), ("c", "d"), ("d", "c"), ("d", "e")])
            >>> graph.largest_component().labels.tolist()
            ['c', 'd', 'e']
            >>> graph.largest_component(strong=True).labels.tolist()
            ['c', 'd']
        """
        if not self.num_nodes:
            return self
        label = self.strong_components if check.flag(strong, "strong") else self.components
        size = torch.bincount(label)
        if self.ptr is None:
            return self._part(label == size.argmax())
        assert self.batch is not None
        owner = torch.empty_like(size).index_copy_(0, label, self.batch)
        largest = size.new_zeros(self.num_graphs).scatter_reduce_(0, owner, size, "amax")
        candidates = torch.nonzero(size == largest[owner]).flatten()
        return self._part(label == _lowest(candidates, owner, self.num_graphs)[self.batch])

    @Slot
    def strong_components(self) -> Tensor:
        """int64 [n]: label of each vertex's strong component, from 0 by the lowest vertices."""
        if self._mutual:
            return self.components
        found = _csr.strong_components(self.rowptr.cpu(), self.col.cpu()).long()
        size = int(found.max()) + 1 if self.num_nodes else 0
        return _csr.inverse(torch.argsort(_csr.firsts(found, size)))[found].to(self.device)

    def _part(self, inside: Tensor) -> Self:
        """The subgraph of the vertices that are marked; the graph itself if all of them are."""
        if bool(inside.all()):
            return self
        rank = inside.cumsum(0) - 1
        row, col = _csr.rows(self.rowptr), self.col.long()
        slots = torch.nonzero(inside[row] & inside[col]).flatten()
        chosen = torch.nonzero(inside).flatten()
        count = torch.bincount(rank[row[slots]], minlength=chosen.numel())
        rowptr = _csr.pointers(count)
        weight = None if self.weight is None else self.weight[slots]
        counts = _of_part(self._multiplicity, slots, chosen, None)
        sums = _of_part(self._sums, slots, chosen, weight)
        ptr = self.ptr
        if ptr is not None:
            ptr = torch.cat([rank.new_zeros(1), rank + 1])[ptr]
        return type(self)(
            rowptr, rank[col[slots]].int(), None, self.directed,
            weight, ptr, _trusted=True, _ties=self._ties, _multiplicity=counts, _sums=sums,
            _repeated=any(part is not None for part in counts),
            _labels=_labels.array(_labels.part(self._labels, chosen)),
        )  # fmt: skip


def _of_part(
    strengths: Strengths, slots: Tensor, vertices: Tensor, weight: Tensor | None
) -> Strengths:
    """Those of a subgraph, which may have no loops and no parallel arcs."""
    by_slot, loops = strengths
    loops = None if loops is None else loops[vertices]
    if loops is not None and not bool(loops.any()):
        loops = None
    part = Strengths(None if by_slot is None else by_slot[slots], loops)
    return _strengths.unless(part, weight)


def _lowest(components: Tensor, owner: Tensor, graphs: int) -> Tensor:
    lowest = owner.new_full((graphs,), owner.numel())
    return lowest.scatter_reduce_(0, owner[components], components, "amin")
