"""Graph: a frozen graph in CSR form."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _values as check_values
from torchcent.check import _weights as check_weights
from torchcent.graph import _components, _csr, _foreign, _weights
from torchcent.runtime import _memory, _ops

if TYPE_CHECKING:
    import networkx
    import scipy.sparse


# What is known of the arcs, whatever their weights.
_OF_THE_ARCS = (
    "_mutual", "_transposed", "degree", "degree_order", "components", "_largest_component",
)  # fmt: skip


class Graph:
    """A graph in CSR form, without self-loops and duplicate arcs. It never changes.

    If it has weights, every function treats it as a weighted graph: distances are sums of weights,
    which are finite and > 0 (docs/weights.md). :meth:`unweighted` returns the same graph without
    them.

    Build it with :meth:`from_edge_index`, :meth:`from_scipy`, :meth:`from_networkx` or
    :meth:`from_data`. Every function of torchcent accepts a Graph in place of an ``edge_index``,
    which avoids repeated preparation. A *slot* is one directed adjacency entry; an undirected edge
    has two.

    Attributes:
        num_nodes: number of vertices n.
        rowptr: int64 [n + 1]; the slots of vertex v are rowptr[v] to rowptr[v + 1] - 1.
        col: int32 [num_slots]; heads of the arcs, ascending within a row.
        directed: False if missing reverse arcs were added and raw scores count unordered pairs.
        slot: int64 [E]; the slot of each input column, -1 for a self-loop. Duplicate arcs share a
            slot. On the CPU it is found when it is first used; until then the graph holds a copy of
            the ids instead, of the same size.
        weight: float64 [num_slots], the smallest weight among the columns of each slot; None
            without weights.
        ptr: int64 [num_graphs + 1] for a batch, which is a disjoint union of graphs: graph i has
            the vertices ptr[i] to ptr[i + 1] - 1. None for a single graph (docs/batches.md).

    Example:
        >>> import torch, torchcent
        >>> edge_index = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> torchcent.Graph.from_edge_index(edge_index, directed=False)
        Graph(num_nodes=4, num_slots=8, directed=False, device=cpu, 104 bytes)
    """

    num_nodes: int
    rowptr: Tensor
    col: Tensor
    directed: bool
    weight: Tensor | None
    ptr: Tensor | None

    def __init__(
        self, rowptr: Tensor, col: Tensor, slot: Tensor | None, directed: bool,
        weight: Tensor | None = None, ptr: Tensor | None = None, *, _trusted: bool = False,
        _ids: Tensor | None = None,
    ) -> None:  # fmt: skip
        if not _trusted:
            raise TypeError(
                "use Graph.from_edge_index, from_scipy, from_networkx or from_data to make a Graph"
            )
        self.__dict__.update(
            num_nodes=rowptr.numel() - 1, rowptr=rowptr, col=col, directed=directed, weight=weight,
            ptr=ptr,
        )  # fmt: skip
        # The slots of the input columns, or the columns, from which they are found when used.
        self.__dict__.update({"_ids": _ids} if slot is None else {"slot": slot})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Graph is frozen: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Graph is frozen: cannot delete {name}")

    @staticmethod
    @_memory.reported
    def from_edge_index(
        edge_index: Tensor,
        num_nodes: int | None = None,
        directed: bool = True,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        ptr: Tensor | None = None,
        memory: int | None = None,
    ) -> Graph:
        """Builds a graph from the arcs edge_index[0, e] -> edge_index[1, e].

        Args:
            edge_index: int64 (or int32) [2, E], on the device where the graph will be stored.
                Self-loops are dropped, duplicate arcs are merged.
            num_nodes: n; by default the largest id + 1.
            directed: False adds the missing reverse arcs.
            edge_weight: [E], the length of each arc: integers or floats, finite and > 0. Of
                duplicate arcs the smallest weight counts, with directed=False of both directions.
            batch: int64 [n], ascending, the graph of each vertex, as in PyG. The arcs are those of
                a disjoint union of batch.max() + 1 graphs, and measures are computed per graph.
            ptr: int64 [G + 1], the first vertex of each graph, and n at the end: the same partition
                as `batch`, but any graph may be empty. Only one of the two is needed.
            memory: peak memory for building, in bytes, including the result; None allows half of
                the free memory.

        The graph holds copies of its inputs. Later changes have no effect; concurrent changes by
        another thread have no effect or raise an error.

        Raises:
            TypeError, ValueError: an argument is invalid; the message names it. This includes wrong
                shapes and dtypes, ids that are negative or not below num_nodes, more than 2^31 - 1
                vertices, weights that are not distances, and arcs between two graphs of a batch
                (the message names the first such column).
            MemoryError: `memory` is too small; the message states both amounts. Raised before
                memory is allocated.

        O(n + E) time; 30M arcs in any order take about a second on two cores.
        """
        check.flag(directed, "directed")
        given = check.edge_index(edge_index)
        size = check.num_nodes(num_nodes)
        room = _memory.Building(
            given.shape[1], not directed, edge_weight is not None, given.device,
            check.byte_budget(memory),
        )  # fmt: skip
        room.allow(check_batch.size(batch, ptr, size) or 0)
        ids = _csr.ids(given)
        parts = check_batch.pointers(batch, ptr, size, ids.columns, room.allow)
        named = "num_nodes={}"
        if parts is not None:
            size = parts[1].numel()
            named = "batch, of {} vertices," if ptr is None else "ptr, of {} vertices,"
        size = check.holds_ids(size, ids.low, ids.high, named)
        room.allow(size)
        if parts is not None:
            check_batch.arcs_within(ids.columns, parts[1])
        weight = check_weights.edge_weight(edge_weight, ids.columns, size)
        rowptr, col, slot = _csr.csr(ids.columns, size, not directed)
        graph = Graph(
            rowptr, col, slot, directed, ptr=None if parts is None else parts[0], _trusted=True,
            _ids=ids.columns,
        )  # fmt: skip
        del ids, slot
        if weight is not None:
            graph = graph._with_columns(weight)
        if parts is not None:
            graph.__dict__["batch"] = parts[1]
        return graph

    @staticmethod
    @_memory.reported
    def from_scipy(
        matrix: Any, directed: bool | None = None, *, weighted: bool = False,
        memory: int | None = None,
    ) -> Graph:  # fmt: skip
        """Builds a graph from a square scipy.sparse matrix: a stored entry (i, j) is an arc i -> j.

        Stored zeros count as arcs. Of duplicate entries the smallest counts, unless
        ``matrix.sum_duplicates()`` has added them up. directed=None means True unless the matrix is
        symmetric: in its pattern and, if they are used, in its values. weighted=True uses the
        values as weights. `memory` is that of :meth:`from_edge_index`.

        Example:
            >>> import scipy.sparse, torchcent
            >>> matrix = scipy.sparse.csr_array([[0, 2.5, 0], [2.5, 0, 1], [0, 1, 0]])
            >>> torchcent.Graph.from_scipy(matrix, weighted=True).weight
            tensor([2.5000, 2.5000, 1.0000, 1.0000], dtype=torch.float64)
        """
        check_values.flag_or_none(directed, "directed")
        arcs = _foreign.of_scipy(matrix, directed is not False, weighted)
        graph = Graph.from_edge_index(*arcs, memory=memory)
        if directed is None and graph.is_symmetric:
            return graph._as(directed=False)
        return graph

    @staticmethod
    @_memory.reported
    def from_networkx(
        graph: networkx.Graph, weight: str | None = None, *, memory: int | None = None
    ) -> Graph:
        """Builds a graph from a NetworkX graph; it is directed if that graph is.

        Vertex i is the i-th of ``graph.nodes``, and column e of :attr:`slot` is the e-th of
        ``graph.edges``. `weight` names the edge attribute that holds lengths, 1 where an edge lacks
        it, as in NetworkX; None ignores weights. `memory` is that of :meth:`from_edge_index`.

        Example:
            >>> import networkx, torchcent
            >>> roads = networkx.Graph()
            >>> roads.add_weighted_edges_from([("Bern", "Thun", 28), ("Thun", "Spiez", 11)])
            >>> torchcent.Graph.from_networkx(roads, weight="weight").weight.tolist()
            [28.0, 28.0, 11.0, 11.0]
        """
        return Graph.from_edge_index(*_foreign.of_networkx(graph, weight), memory=memory)

    @staticmethod
    @_memory.reported
    def from_data(
        data: Any, directed: bool = True, *, weighted: bool = False, memory: int | None = None
    ) -> Graph:
        """Builds a graph from a torch_geometric ``Data``, ``Batch`` or ``EdgeIndex``.

        A ``Batch`` becomes a batch of graphs, according to its ``ptr`` or ``batch``. weighted=True
        uses ``data.edge_weight``, or the value of an ``EdgeIndex``, as the lengths of the arcs. (In
        graph neural networks, edge_weight is often a similarity: docs/weights.md explains the
        conversion to distances.) `memory` is that of :meth:`from_edge_index`.
        """
        return Graph.from_edge_index(*_foreign.of_data(data, directed, weighted), memory=memory)

    def to_edge_index(self) -> Tensor:
        """The edge_index, int64 [2, num_slots], sorted by row and then column."""
        return torch.stack([_csr.rows(self.rowptr), self.col.long()])

    def to_scipy(self) -> scipy.sparse.csr_array:
        """The adjacency matrix with weights or ones; indices are int32 or int64 as needed."""
        import scipy.sparse

        col, rowptr = self.col.cpu().numpy(), self.rowptr.cpu().numpy()
        shape = (self.num_nodes, self.num_nodes)
        values = np.ones(len(col)) if self.weight is None else self.weight.cpu().numpy().copy()
        return scipy.sparse.csr_array((values, col, rowptr), shape=shape)

    def to_networkx(self) -> networkx.Graph:
        """A NetworkX ``Graph``, or ``DiGraph`` if directed, with vertices 0 to n - 1.

        Weights become the edge attribute ``weight``.
        """
        return _foreign.to_networkx(self)

    def to(self, device: torch.device | str) -> Graph:
        """The same graph on another device (itself if it is already there)."""
        device = check.device(device)
        rowptr = self.rowptr.to(device)
        if rowptr is self.rowptr:
            return self
        slot, ids = (None if x is None else x.to(device) for x in self._columns)
        weight, ptr = (None if x is None else x.to(device) for x in (self.weight, self.ptr))
        col = self.col.to(device)
        return Graph(rowptr, col, slot, self.directed, weight, ptr, _trusted=True, _ids=ids)

    def unweighted(self) -> Graph:
        """The same graph without weights, for counting hops (itself if it has none).

        Example:
            >>> import torch, torchcent
            >>> arcs, length = torch.tensor([[0, 1, 0], [1, 2, 2]]), torch.tensor([1, 1, 5])
            >>> graph = torchcent.Graph.from_edge_index(arcs, edge_weight=length)
            >>> torchcent.shortest_path_lengths(graph)[0].tolist()
            [0, 1, 2]
            >>> torchcent.shortest_path_lengths(graph.unweighted())[0].tolist()
            [0, 1, 1]
        """
        return self._hops

    def reversed(self) -> Graph:
        """The graph with all arcs reversed, for the same columns; useful for outgoing closeness.

        Example:
            >>> import torch, torchcent
            >>> graph = torchcent.Graph.from_edge_index(torch.tensor([[0, 0], [1, 2]]))
            >>> graph.reversed().to_edge_index()
            tensor([[1, 2],
                    [0, 0]])
        """
        colptr, row = self.transpose
        slot, ids = self._columns
        if slot is not None:
            origin, real = self._transposed[2], slot >= 0
            place = torch.empty_like(origin)
            place[origin] = torch.arange(self.num_slots, device=self.device)
            slot = slot.clone()
            slot[real] = place[slot[real]]
        elif ids is not None:
            ids = ids.flip(0)
        parts = (colptr, row, slot, self.directed, self.back_weight, self.ptr)
        return Graph(*parts, _trusted=True, _ids=ids)

    @property
    def device(self) -> torch.device:
        return self.rowptr.device

    @property
    def num_slots(self) -> int:
        return self.col.numel()

    @property
    def nbytes(self) -> int:
        """Bytes of the graph, including the transpose if it was computed and is not shared."""
        held = [self.rowptr, self.col, *vars(self).get("_transposed", ())]
        others = [*self._columns, self.weight, self.ptr]
        others += [vars(self).get(name) for name in ("back_weight", "batch")]
        held += [part for part in others if part is not None]
        return sum(part.numel() * part.element_size() for part in {id(p): p for p in held}.values())

    @property
    def is_weighted(self) -> bool:
        return self.weight is not None

    @property
    def num_graphs(self) -> int:
        """Number of graphs of a batch; 1 for a single graph."""
        return 1 if self.ptr is None else self.ptr.numel() - 1

    @cached_property
    def batch(self) -> Tensor | None:
        """int64 [n]: the graph of each vertex; None for a single graph.

        Example:
            >>> import torch, torchcent
            >>> arcs, ptr = torch.tensor([[0, 2], [1, 3]]), torch.tensor([0, 2, 5])
            >>> torchcent.Graph.from_edge_index(arcs, ptr=ptr).batch
            tensor([0, 0, 1, 1, 1])
        """
        if self.ptr is None:
            return None
        return torch.repeat_interleave(self.ptr.diff(), output_size=self.num_nodes)

    @cached_property
    def slot(self) -> Tensor:
        ids: Tensor | None = vars(self).get("_ids")
        if ids is not None:  # else another thread has found the slots in the meantime
            vars(self)["slot"] = _csr.slots(ids, self.rowptr, self.col)
            vars(self).pop("_ids", None)
        found: Tensor = vars(self)["slot"]
        return found

    @property
    def _columns(self) -> tuple[Tensor | None, Tensor | None]:
        """The slots of the input columns, and the columns from which they are found: one of two."""
        ids = vars(self).get("_ids")  # first: another thread may be replacing it by the slots
        return vars(self).get("slot"), ids

    @cached_property
    def back_weight(self) -> Tensor | None:
        """float64 [num_slots]: weights in the order of :attr:`transpose`; None without weights."""
        if self.weight is None or not self.directed:
            return self.weight
        compiled = _csr.finds_symmetry(self.device)
        if compiled and self._mutual and _csr.is_symmetric(self.rowptr, self.col, self.weight):
            return self.weight
        back = self.weight[self._transposed[2]]
        return self.weight if torch.equal(back, self.weight) else back

    @cached_property
    def scale(self) -> _weights.Scale:
        """The arithmetic for sums of the weights."""
        if self.weight is None:
            return _weights.HOPS
        return _weights.scale(self.weight, self.num_nodes)

    @cached_property
    def scaled_weights(self) -> tuple[Tensor, Tensor] | tuple[None, None]:
        """Weights and back weights in the format of the engines: float64, or int32 in units."""
        if self.weight is None or self.back_weight is None:
            return None, None
        weight = self.scale.apply(self.weight)
        if self.back_weight is self.weight:
            return weight, weight
        return weight, self.scale.apply(self.back_weight)

    @cached_property
    def _hops(self) -> Graph:
        if self.weight is None:
            return self
        made = self._as(weighted=False)
        for known in _OF_THE_ARCS:
            if known in self.__dict__:
                made.__dict__[known] = self.__dict__[known]
        return made

    def _as(self, *, directed: bool | None = None, weighted: bool = True) -> Graph:
        directed = self.directed if directed is None else directed
        weight = self.weight if weighted else None
        slot, ids = self._columns
        parts = (self.rowptr, self.col, slot, directed, weight, self.ptr)
        return Graph(*parts, _trusted=True, _ids=ids)

    def _with_columns(self, edge_weight: Tensor) -> Graph:
        """This unweighted graph with weights per input column: float64, may be overwritten."""
        slot, ids = self._columns
        if ids is not None and _csr.has_slot_weights(self.device):
            weight = _csr.slot_weights(ids, edge_weight, self.rowptr, self.col, not self.directed)
            parts = (self.rowptr, self.col, slot, self.directed, weight, self.ptr)
            return Graph(*parts, _trusted=True, _ids=ids)
        weight = _weights.per_slot(edge_weight, self.slot, self.num_slots)
        if not self.directed:
            weight = torch.minimum(weight, weight[self.reverse_slot], out=weight)
        parts = (self.rowptr, self.col, self.slot, self.directed, weight, self.ptr)
        made = Graph(*parts, _trusted=True)
        if "_transposed" in self.__dict__:
            made.__dict__["_transposed"] = self._transposed
        return made

    @cached_property
    def degree(self) -> Tensor:
        """int64 [n]: number of outgoing arcs of each vertex."""
        return self.rowptr.diff()

    @cached_property
    def degree_order(self) -> Tensor:
        """int64 [n]: vertices by descending degree, ties by id."""
        return torch.argsort(self.degree, descending=True, stable=True)

    @cached_property
    def _mutual(self) -> bool:
        """Whether every arc has its reverse, of whatever weight."""
        if not self.directed:
            return True
        if _csr.finds_symmetry(self.device):
            return _csr.is_symmetric(self.rowptr, self.col)
        return self._transposed[0] is self.rowptr

    @cached_property
    def _transposed(self) -> tuple[Tensor, Tensor, Tensor]:
        if _ops.has_kernel("reverse_slots", self.device) and self._mutual:
            slot = _ops.ops.reverse_slots(self.rowptr, self.col, torch.get_num_threads())
            return self.rowptr, self.col, slot
        colptr, row, slot = _csr.transpose(self.rowptr, self.col)
        if torch.equal(colptr, self.rowptr) and torch.equal(row, self.col):
            return self.rowptr, self.col, slot  # symmetric: one copy is enough
        return colptr, row, slot

    @property
    def transpose(self) -> tuple[Tensor, Tensor]:
        """(colptr, row): CSR of the reversed arcs; the graph's own arrays if it is symmetric."""
        return (self.rowptr, self.col) if self._mutual else self._transposed[:2]

    @property
    def reverse_slot(self) -> Tensor:
        """int64 [num_slots]: the slot of each reversed arc; only for symmetric graphs."""
        if not self.is_symmetric:
            raise ValueError("reverse_slot needs a graph that has each arc's reverse")
        return self._transposed[2]

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether every arc has its reverse, of the same weight; True with directed=False."""
        return not self.directed or (self._mutual and self.back_weight is self.weight)

    @cached_property
    def components(self) -> Tensor:
        """int64 [n]: label of the (weakly) connected component of each vertex, from 0."""
        return _components.components(self.rowptr, self.col, self._mutual)

    @cached_property
    def _largest_component(self) -> Tensor:
        """int64 []: the label of the largest component."""
        return _components.largest(self.components)

    def __repr__(self) -> str:
        weighted = "weighted=True, " if self.is_weighted else ""
        if self.ptr is not None:
            weighted += f"num_graphs={self.num_graphs}, "
        return (
            f"Graph(num_nodes={self.num_nodes}, num_slots={self.num_slots}, "
            f"directed={self.directed}, {weighted}device={self.device}, {self.nbytes} bytes)"
        )
