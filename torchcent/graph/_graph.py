"""Graph: a frozen graph in CSR form."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _files as check_files
from torchcent.check import _values as check_values
from torchcent.check import _weights as check_weights
from torchcent.graph import _csr, _file, _foreign
from torchcent.graph._arrays import Arrays
from torchcent.runtime import _memory

if TYPE_CHECKING:
    import networkx
    import scipy.sparse


class Graph(Arrays):
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph to a file that :meth:`load` maps, of about :attr:`nbytes` bytes.

        The file is one of ``torch.save``: ``torch.load(path)`` gives a dictionary of its arrays. It
        replaces an older file at once, when it is whole. :attr:`slot`, which belongs to the columns
        that the graph was built from, is not saved.

        Example:
            >>> import os, tempfile, torch, torchcent
            >>> graph = torchcent.Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]))
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     graph.save(os.path.join(folder, "path.pt"))
            ...     torchcent.Graph.load(os.path.join(folder, "path.pt"))
            Graph(num_nodes=3, num_slots=2, directed=True, device=cpu, 40 bytes)
        """
        path = check_files.path(path)
        parts = (self.rowptr, self.col, self.weight, self.ptr)
        rowptr, col, weight, ptr = (None if x is None else x.contiguous().cpu() for x in parts)
        assert rowptr is not None and col is not None
        _file.save(path, _file.Stored(rowptr, col, weight, ptr, self.directed))

    @staticmethod
    @_memory.reported
    def load(
        path: str | os.PathLike[str], *, device: torch.device | str | None = None,
        memory: int | None = None,
    ) -> Graph:  # fmt: skip
        """Reads a graph that :meth:`save` wrote, and checks all of it.

        On the CPU the arrays stay in the file, which is mapped into memory: they take memory as
        they are used, and the file must not change while the graph exists. They are read once for
        the check, at the speed of the disk. The columns of the graph are its slots, in order, as of
        :meth:`to_edge_index`.

        Args:
            path: the file. Files of unknown origin are safe to load.
            device: where the graph will be; None is the CPU.
            memory: bytes that the graph may take on another device; None allows half of the free
                memory.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file is damaged or was not written by :meth:`save`; the message names
                the first fault.
            MemoryError: `memory` is too small; the message states both amounts.
        """
        path = check_files.path(path)
        place = torch.device("cpu") if device is None else check.device(device)
        allowed = check.byte_budget(memory)
        rowptr, col, weight, ptr, directed = _file.load(path)
        graph = Graph(rowptr, col, None, directed, weight, ptr, _trusted=True)
        if place.type == "cpu":
            return graph
        limit = _memory.budget(allowed, place)
        if graph.nbytes > limit:
            raise _memory.refuse(f"{path}: a graph", graph.nbytes, limit, allowed)
        return graph.to(place)

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
        if slot is None and ids is None:
            slot = self.slot
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

    def __repr__(self) -> str:
        weighted = "weighted=True, " if self.is_weighted else ""
        if self.ptr is not None:
            weighted += f"num_graphs={self.num_graphs}, "
        return (
            f"Graph(num_nodes={self.num_nodes}, num_slots={self.num_slots}, "
            f"directed={self.directed}, {weighted}device={self.device}, {self.nbytes} bytes)"
        )
