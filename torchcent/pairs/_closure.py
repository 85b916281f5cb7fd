"""transitive_closure, Closure and reachable: reachability between vertices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _pairs as check_pairs
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import flag_or_none
from torchcent.distribute._arguments import scale_of, shown
from torchcent.engines.reduce import _hops
from torchcent.graph import Graph, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.pairs import _columns
from torchcent.runtime import _memory, _ops, _small

BLOCK = 512  # columns of a block; fixed in csrc/graph/cpu/closure.cpp
_PER_NODE, _PER_SLOT = 64, 64  # upper bound of the bytes for finding components and their arcs
_CHUNK = 2**24  # entries of a dense matrix that are computed at a time


@dataclass(frozen=True, eq=False, repr=False)
class Closure:
    """Reachability between all vertices of a graph, as bits; made by :func:`transitive_closure`.

    There is one row and one column per strongly connected component. Components are numbered so
    that arcs between them lead to smaller numbers. First come those that reach no other (without
    rows), last those that no other reaches (without columns), then those without arcs. The bits
    therefore form a triangle at most, and only components in the middle have both a row and a
    column.

    Attributes:
        num_nodes: n.
        component: int64 [n], the strongly connected component of each vertex.
        reflexive: as requested.
    """

    num_nodes: int
    component: Tensor
    reflexive: bool | None
    _loop: Tensor  # bool [n]: whether the vertex reaches itself
    _words: Tensor  # int64: the bits, see csrc/graph/cpu/closure.cpp
    _base: Tensor  # int64 [blocks]
    _block: int  # columns of a block
    _sinks: int  # components without rows
    _columns: int
    _placed: int  # components with rows or columns
    _count: int

    @property
    def device(self) -> torch.device:
        return self.component.device

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors held."""
        tensors = (self.component, self._loop, self._words, self._base)
        return sum(part.numel() * part.element_size() for part in tensors)

    def reaches(self, u: int | Tensor, v: int | Tensor) -> bool | Tensor:
        """Returns whether there is a path from u to v.

        Args:
            u, v: vertices, or tensors of vertices, which broadcast.

        Returns:
            A bool for two ints, else a bool tensor of the broadcast shape. O(1) per pair.
        """
        number = isinstance(u, int) and isinstance(v, int)
        tail, head = check_pairs.vertex_pairs(u, v, self.num_nodes, self.device)
        row, column = self.component[tail], self.component[head]
        reach = (self._word(row, column // 64) >> column % 64 & 1).bool()
        reach &= column < self._columns
        reach |= torch.where(tail == head, self._loop[tail], row == column)
        return bool(reach) if number else reach

    def row(self, u: int) -> Tensor:
        """int64: the vertices that u reaches, ascending. O(n)."""
        vertex, _ = check_pairs.vertex_pairs(u, u, self.num_nodes, self.device)
        if vertex.dim():
            raise TypeError(f"u must be one vertex, got a tensor of shape {list(vertex.shape)}")
        return torch.nonzero(self._rows(vertex[None])[0]).flatten()

    def count(self) -> int:
        """The number of pairs (u, v) such that u reaches v. O(1): computed on construction."""
        return self._count

    def to_dense(self) -> Tensor:
        """bool [n, n]: entry (u, v) is True if u reaches v.

        Raises:
            MemoryError: the matrix needs more than half of the free memory.
        """
        n = self.num_nodes
        _memory.allow("Closure.to_dense", n * n, None, self.device)
        dense = torch.empty(n, n, dtype=torch.bool, device=self.device)
        for part in torch.arange(n, device=self.device).split(max(1, _CHUNK // max(n, 1))):
            dense[part] = self._rows(part)
        return dense

    def _rows(self, vertices: Tensor) -> Tensor:
        """bool [k, n]: the vertices that these vertices reach."""
        row = self.component[vertices]
        place = torch.arange(-(-self._columns // 64), device=self.device)
        word = self._word(row[:, None], place[None, :]).view(torch.uint8)
        bit = torch.arange(8, dtype=torch.uint8, device=self.device)
        bits = (word[:, :, None] >> bit & 1).bool().flatten(1)
        spread = torch.nn.functional.pad(bits[:, : self._columns], (0, 1))
        reach = spread[:, self.component.clamp(max=self._columns)]
        reach |= row[:, None] == self.component
        reach[torch.arange(vertices.numel(), device=self.device), vertices] = self._loop[vertices]
        return reach

    def _word(self, row: Tensor, place: Tensor) -> Tensor:
        """The words with columns 64 * place, ... of the rows; 0 where there are none."""
        there = (row > 64 * place) & (row >= self._sinks) & (row < self._placed)
        if self._words.numel() == 0:
            return torch.zeros_like(there, dtype=torch.int64)
        width = self._block // 64
        block = (place // width).clamp(max=self._base.numel() - 1)
        index = self._base[block] + width * row + place % width
        return torch.where(there, self._words[torch.where(there, index, 0)], 0)

    def __repr__(self) -> str:
        return (
            f"Closure(num_nodes={self.num_nodes}, pairs={self._count}, "
            f"reflexive={self.reflexive}, device={self.device}, {self.nbytes} bytes)"
        )


@computes("checkpoint", "group")
def transitive_closure(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
    reflexive: bool | None = False,
    run: Run = DEFAULT,
) -> Closure:
    r"""Computes the transitive closure: all pairs (u, v) with a path from u to v, as packed bits.

    .. math:: R(u) = \bigcup_{u \to w} \{w\} \cup R(w)

    Vertices of a strongly connected component reach the same vertices. The formula is therefore
    evaluated on the graph of components, which has no cycles, with one bit per pair of components.

    Args:
        edge_index: int64 [2, E] (both directions of an undirected edge, as in PyG), or a Graph.
            Self-loops are dropped, duplicate arcs are merged.
        edge_weight: not accepted; the closure does not depend on weights.
        num_nodes: n; by default the largest id + 1.
        directed: None uses the arcs as given (for a Graph, its own setting); False adds missing
            reverse arcs.
        reflexive: whether a vertex reaches itself, as in NetworkX's ``transitive_closure``. False:
            only if it lies on a cycle of a directed graph (an undirected edge is not a cycle);
            True: always; None: never. NetworkX also keeps the self-loops of its input; here they
            are dropped.
        run: how it is computed, see :class:`Run`.

    Returns:
        Closure on the device of the graph: :meth:`Closure.reaches`, :meth:`Closure.row`,
        :meth:`Closure.count`, :meth:`Closure.to_dense`.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.
        MemoryError: ``Run(memory=)`` is too small; the message states both amounts. Raised before
            the bits are computed.
        NotImplementedError: edge_weight is given.
        ValueError: `checkpoint` is the folder of another run; the message names what differs.

    The time is O(n + m) for the components, then O(a c / 64) with c components that others reach
    and a arcs between components. The memory is at most c^2 / 16 bytes if every component has a row
    and a column. It is far less if most of the graph is one component, reaches nothing, or is
    reached by nothing. For a graph on CUDA the closure is computed on the host, and the bits are
    copied to the device.

    Example:
        >>> import torch, torchcent
        >>> arcs = torch.tensor([[0, 1, 2, 2], [1, 2, 1, 3]])
        >>> closure = torchcent.transitive_closure(arcs)
        >>> closure.reaches(0, 3), closure.reaches(3, 0), closure.count()
        (True, False, 9)
        >>> closure.row(1)
        tensor([1, 2, 3])
        >>> closure.reaches(torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1, 2, 3]))
        tensor([False,  True,  True, False])

    Source:
        Purdom 1970, "A transitive closure algorithm"; components: Pearce 2005 (SciPy's).
    """
    check.no_weight(edge_weight, "transitive_closure")
    graph = as_graph(edge_index, None, num_nodes, None, directed, run)
    flag_or_none(reflexive, "reflexive")
    scale = scale_of(graph, run)
    if scale is not None:
        scale.begin(graph, {"measure": "transitive_closure"})

    component, acyclic, sinks, columns = _condensation(graph)
    rowptr, col = acyclic
    nodes = rowptr.numel() - 1
    block = BLOCK if _ops.available else max(1, -(-columns // 64)) * 64
    # The offset of (virtual) row 0 of each block of columns, and the number of words.
    first, width = torch.arange(0, columns, block, device="cpu").clamp(min=sinks), block // 64
    end = (width * (nodes - first)).cumsum(0)
    base, num_words = end - width * nodes, int(end[-1]) if columns else 0
    need = graph._nbytes + 8 * num_words + _PER_NODE * graph.num_nodes
    need += _PER_SLOT * graph.num_slots
    for where in {graph.device, component.device}:
        _memory.allow("transitive_closure", need, run.memory, where)

    words = torch.from_numpy(np.empty(num_words, np.int64))  # NumPy asks for huge pages
    reach = torch.zeros(nodes, dtype=torch.int64, device="cpu")
    size = torch.bincount(component)
    table = _columns.Table(
        acyclic, size, base=base, sinks=sinks, columns=columns, block=block, words=words,
        reach=reach,
    )  # fmt: skip
    if scale is not None and _ops.available and columns:
        _columns.shared(table, shown(scale, run.progress), scale)
    else:
        _columns.fill(table, shown(scale, run.progress))

    if reflexive is False:
        loop = (size > 1)[component] & graph.directed
    else:
        loop = torch.full((graph.num_nodes,), reflexive is True, device="cpu")
    pairs = (size * (size - 1)).sum() + (size[:nodes] * reach).sum() + loop.sum()
    component, loop, words, base = (t.to(graph.device) for t in (component, loop, words, base))
    return Closure(
        graph.num_nodes, component, reflexive=reflexive, _loop=loop, _words=words, _base=base,
        _block=block, _sinks=sinks, _columns=columns, _placed=nodes, _count=int(pairs),
    )  # fmt: skip


@_memory.reported
def reachable(
    edge_index: GraphLike,
    sources: int | Tensor,
    *,
    num_nodes: int | None = None,
    directed: bool | None = None,
) -> Tensor:
    """Computes the vertices that each source reaches, by one breadth-first search each.

    Args:
        edge_index: int64 [2, E], or a Graph.
        sources: a vertex, or a tensor of distinct ones.
        num_nodes: n; by default the largest id + 1.
        directed: as in :func:`transitive_closure`.

    Returns:
        bool [n] for one vertex, [k, n] for a tensor of k. A source reaches itself, by the path
        without arcs. The time is O(k (n + m)); for a large share of all pairs use
        :func:`transitive_closure`.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it. Raised before any
            computation.

    Example:
        >>> import torch, torchcent
        >>> arcs = torch.tensor([[0, 1, 3], [1, 2, 2]])
        >>> torchcent.reachable(arcs, 1)
        tensor([False,  True,  True, False])
    """
    graph = as_graph(edge_index, None, num_nodes, None, directed)
    one = isinstance(sources, int) and not isinstance(sources, bool)
    ids = check.vertices([sources] if one else sources, "sources", graph)
    result = torch.empty(ids.numel(), graph.num_nodes, dtype=torch.bool, device=graph.device)
    for row, source in zip(result, ids.tolist(), strict=True):
        row.copy_(_hops.hops(graph.rowptr, graph.col, source) >= 0)
    return result[0] if one else result


def _condensation(graph: Graph) -> tuple[Tensor, tuple[Tensor, Tensor], int, int]:
    """The condensation of a graph, on the host.

    Returns the component of each vertex, numbered as in Closure, and CSR of the arcs between
    components that have any. It also returns the number of these without a row, and the number with
    a column.
    """
    if graph.is_symmetric:
        component, empty = graph.components.cpu(), torch.zeros(0, dtype=torch.int32, device="cpu")
        return component, (torch.zeros(1, dtype=torch.int64, device="cpu"), empty), 0, 0
    component = _csr.strong_components(graph.rowptr.cpu(), graph.col.cpu()).long()
    count = int(component.max()) + 1
    tail = _small.repeat_interleave(component, graph.degree.cpu())
    head = component[graph.col.cpu().long()]
    between = tail != head
    tail, head = tail[between], head[between]
    assert bool((tail > head).all()), "components are found sinks first (Pearce 2005)"

    out, into = (
        torch.zeros(count, dtype=torch.bool, device="cpu").index_fill_(0, c, True)
        for c in (tail, head)
    )
    groups = (into & ~out, into & out, out & ~into, ~into & ~out)
    order = torch.cat([torch.nonzero(group).flatten() for group in groups])
    place = _csr.inverse(order)
    arcs = torch.stack([place[tail], place[head]])
    sinks, columns, nodes = (int(x.sum()) for x in (groups[0], into, into | out))
    rowptr, col, *_ = _csr.csr(arcs, nodes, False)
    return place[component], (rowptr, col), sinks, columns
