"""Graph: a frozen graph in CSR form."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _files as check_files
from torchcent.check import _inputs as check_inputs
from torchcent.check import _values as check_values
from torchcent.check import _weights as check_weights
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.graph import _building, _edges, _file, _foreign, _inputs, _labels, _libraries
from torchcent.graph._arcs import Arcs
from torchcent.graph._exports import Exports
from torchcent.graph._inputs import WeightLike
from torchcent.graph._weights import Ties
from torchcent.runtime import _html, _memory

if TYPE_CHECKING:
    import networkx

_SHOWN = 5  # labels in a notebook


class Graph(Exports):
    """A graph in CSR form, without self-loops and duplicate arcs. It never changes.

    If it has weights, every function treats it as a weighted graph: distances are sums of weights,
    which are finite and > 0 (docs/weights.md). :meth:`unweighted` returns the same graph without
    them. Loops and the sums of parallel arcs, if there are any, are kept beside the arcs for the
    measures that are functions of the adjacency matrix, such as :func:`pagerank`.

    Build it with :meth:`from_edge_index`, or from an object of another library with the other
    ``from_`` methods (docs/inputs.md). Every function of torchcent accepts a Graph in place of an
    ``edge_index``, which avoids repeated preparation. A *slot* is one directed adjacency entry; an
    undirected edge has two. ``len(graph)`` is the number of vertices. A graph keeps what measures
    prepare (:attr:`nbytes`), until :meth:`drop_caches`. Graphs are equal if they have
    the same arcs, weights, direction and batches, on the same device. They can be pickled, and
    ``torch.load`` reads them with its default ``weights_only=True`` (SECURITY.md).

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
        labels: the names of the vertices, if they have any.

    Example:
        >>> import torch, torchcent
        >>> edge_index = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> torchcent.Graph.from_edge_index(edge_index, directed=False)
        Graph(num_nodes=4, num_slots=8, directed=False, device=cpu, 104 bytes)
    """

    @staticmethod
    @computes()
    def from_edge_index(
        edge_index: Tensor,
        num_nodes: int | None = None,
        directed: bool = True,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        ptr: Tensor | None = None,
        *,
        ties: str = "decimal",
        tie_tolerance: float = 0.0,
        run: Run = DEFAULT,
    ) -> Graph:
        """Builds a graph from the arcs edge_index[0, e] -> edge_index[1, e].

        Args:
            edge_index: int64 (or int32) [2, E], on the device where the graph will be stored.
                Measures of paths drop loops and merge duplicate arcs; those of strengths count
                them (docs/weights.md).
            num_nodes: n; by default the largest id + 1.
            directed: False adds the missing reverse arcs.
            edge_weight: [E], the length of each arc: integers or floats, finite and > 0. Of
                duplicate arcs the smallest weight counts, with directed=False of both directions;
                for measures of strengths their sum, with directed=False the larger one of both.
            batch: int64 (or shorter) [n], ascending, the graph of each vertex, as in PyG. The arcs
                are those of a disjoint union of batch.max() + 1 graphs, and measures are computed
                per graph.
            ptr: int64 (or shorter) [G + 1], the first vertex of each graph, and n at the end: the
                same partition as `batch`, but any graph may be empty. Only one of the two is
                needed.
            ties, tie_tolerance: which weighted paths are equally short, see :meth:`with_ties`.
            run: how it is computed, see :class:`Run`.

        The graph holds copies of its inputs. Later changes have no effect; concurrent changes by
        another thread have no effect or raise an error.

        Raises:
            TypeError, ValueError: an argument is invalid; the message names it. This includes wrong
                shapes and dtypes, ids that are negative or not below num_nodes, more than 2^31 - 1
                vertices, and weights that are not distances. It includes arcs between two graphs of
                a batch (the message names the first such column).
            MemoryError: ``Run(memory=)`` is too small; the message states both amounts. Raised
                before memory is allocated.

        O(n + E) time; 30M arcs in any order take about a second on two cores.
        """
        rule = Ties(*check_weights.ties(ties, tie_tolerance))
        graph = _building.build(
            Graph, edge_index, num_nodes=num_nodes, directed=directed, edge_weight=edge_weight,
            batch=batch, ptr=ptr, memory=run.memory,
        )  # fmt: skip
        return graph if rule == graph._ties else graph._with(_ties=rule)

    @staticmethod
    @computes()
    def from_scipy(
        matrix: Any,
        directed: bool | None = None,
        *,
        edge_weight: WeightLike = None,
        run: Run = DEFAULT,
    ) -> Graph:
        """Builds a graph from a square scipy.sparse matrix: a stored entry (i, j) is an arc i -> j.

        Stored zeros count as arcs. Duplicate entries are added up, as ``toarray`` does, and are one
        arc. Column e of :attr:`slot` is the e-th stored entry. None for `directed` means True
        unless the matrix is symmetric: in its pattern and, if they are used, in its values.
        `edge_weight` is True for the values, or lengths, one for each entry.

        Example:
            >>> import scipy.sparse, torchcent
            >>> matrix = scipy.sparse.csr_array([[0, 2.5, 0], [2.5, 0, 1], [0, 1, 0]])
            >>> torchcent.Graph.from_scipy(matrix, edge_weight=True).weight
            tensor([2.5000, 2.5000, 1.0000, 1.0000], dtype=torch.float64)
        """
        check_values.flag_or_none(directed, "directed")
        arcs = _inputs.read(_foreign.of_scipy, matrix, edge_weight, "matrix")
        return built(arcs._replace(directed=directed), run.memory)

    @staticmethod
    @computes()
    def from_networkx(
        graph: networkx.Graph, edge_weight: WeightLike = None, *, run: Run = DEFAULT
    ) -> Graph:
        """Builds a graph from a NetworkX graph; it is directed if that graph is.

        Vertex i is the i-th of ``graph.nodes``, and column e of :attr:`slot` is the e-th of
        ``graph.edges``. `edge_weight` names the attribute of the edges that holds lengths, or is
        one for each edge; None ignores weights. An edge without the attribute has 1, as in
        NetworkX, but if no edge has it, it is an error.

        Example:
            >>> import networkx, torchcent
            >>> roads = networkx.Graph()
            >>> roads.add_weighted_edges_from([("Bern", "Thun", 28), ("Thun", "Spiez", 11)])
            >>> torchcent.Graph.from_networkx(roads, edge_weight="weight").weight.tolist()
            [28.0, 28.0, 11.0, 11.0]
        """
        return built(_inputs.read(_foreign.of_networkx, graph, edge_weight, "graph"), run.memory)

    @staticmethod
    @computes()
    def from_igraph(graph: Any, edge_weight: WeightLike = None, *, run: Run = DEFAULT) -> Graph:
        """Builds a graph from an igraph graph; it is directed if that graph is.

        Vertices have their numbers in igraph, and column e of :attr:`slot` is the e-th of
        ``graph.es``. `edge_weight` names the edge attribute that holds lengths, or is one for each
        edge; None ignores weights.
        """
        return built(_inputs.read(_libraries.of_igraph, graph, edge_weight, "graph"), run.memory)

    @staticmethod
    @computes()
    def from_networkit(graph: Any, *, edge_weight: WeightLike = None, run: Run = DEFAULT) -> Graph:
        """Builds a graph from a NetworKit graph; it is directed if that graph is.

        Vertices have their numbers in NetworKit, which must be without gaps, and column e of
        :attr:`slot` is the e-th of ``graph.iterEdges()``. `edge_weight` is True for the weights as
        lengths, or lengths, one for each edge.
        """
        return built(_inputs.read(_libraries.of_networkit, graph, edge_weight, "graph"), run.memory)

    @staticmethod
    @computes()
    def from_graph_tool(graph: Any, edge_weight: WeightLike = None, *, run: Run = DEFAULT) -> Graph:
        """Builds a graph from a graph-tool graph; it is directed if that graph is.

        Vertex i is the i-th of ``graph.vertices()`` (in a graph without filter, the vertex of index
        i), and column e of :attr:`slot` is the e-th of ``graph.edges()``. `edge_weight` names the
        internal edge property that holds lengths, or is one for each edge; None ignores weights.
        """
        return built(
            _inputs.read(_libraries.of_graph_tool, graph, edge_weight, "graph"), run.memory
        )

    @staticmethod
    @computes()
    def from_dgl(
        graph: Any, directed: bool = True, edge_weight: WeightLike = None, *, run: Run = DEFAULT
    ) -> Graph:
        """Builds a graph from a homogeneous DGL graph, of a batched one a batch.

        Column e of :attr:`slot` is the edge of id e. `edge_weight` names the entry of
        ``graph.edata`` that holds lengths, or is one for each edge; None ignores weights. As in
        PyTorch Geometric, an undirected edge is two arcs; directed=False adds those that are
        missing.
        """
        check.flag(directed, "directed")
        arcs = _inputs.read(_libraries.of_dgl, graph, edge_weight, "graph")
        return built(arcs._replace(directed=directed), run.memory)

    @staticmethod
    @computes()
    def from_torch_sparse(
        matrix: Any,
        directed: bool | None = None,
        *,
        edge_weight: WeightLike = None,
        run: Run = DEFAULT,
    ) -> Graph:
        """Builds a graph from a square torch sparse tensor, or a SparseTensor of torch_sparse.

        A stored entry (i, j) of a COO, CSR or CSC tensor is an arc i -> j; those of one place are
        added up, as ``coalesce`` does. The ``adj_t`` of PyTorch Geometric is the transpose: pass
        ``adj_t.t()``. `directed`, `edge_weight` and `run` are those of :meth:`from_scipy`.

        Example:
            >>> import torch, torchcent
            >>> torchcent.Graph.from_torch_sparse(torch.ones(3, 3).to_sparse())
            Graph(num_nodes=3, num_slots=6, directed=False, device=cpu, 128 bytes)
        """
        check_values.flag_or_none(directed, "directed")
        arcs = _inputs.read(_edges.of_sparse, matrix, edge_weight, "matrix")
        return built(arcs._replace(directed=directed), run.memory)

    @staticmethod
    @computes()
    def from_edges(
        edges: Any,
        num_nodes: int | None = None,
        directed: bool = True,
        edge_weight: Any = None,
        *,
        labels: bool | None = None,
        run: Run = DEFAULT,
    ) -> Graph:
        """Builds a graph from a NumPy array or a list of pairs, of numbers or of names.

        Accepted are arrays [2, E] or [E, 2], a list of pairs (u, v), and two rows: sources and
        targets, as lists, arrays or tensors. An array, or a list of two lists, of shape [2, 2]
        could be either and is refused; a list of tuples always holds pairs.

        Args:
            edges: the edges.
            num_nodes: n; by default the largest id + 1. Not with names.
            directed: whether a pair is an arc; False adds the missing reverse arcs.
            edge_weight: a tensor, an array or a list with the length of each edge.
            labels: None takes text for the names of vertices, and integers for their numbers. True
                takes whatever can be the key of a dict for names, also integers. They are numbered
                as they first appear, pair by pair, and :attr:`labels` has them. False refuses
                names.
            run: how it is computed, see :class:`Run`.

        Example:
            >>> import torchcent
            >>> torchcent.Graph.from_edges([(0, 1), (1, 2)], directed=False).num_edges
            2
            >>> torchcent.Graph.from_edges([("Ada", "Bob"), ("Cleo", "Ada")]).labels.tolist()
            ['Ada', 'Bob', 'Cleo']
        """
        check.flag(directed, "directed")
        arcs = _edges.of_any_pairs(edges, check_values.flag_or_none(labels, "labels"))
        return built(_completed(arcs, edges, num_nodes, directed, edge_weight, None), run.memory)

    @staticmethod
    @computes()
    def from_table(
        table: Any,
        directed: bool = True,
        edge_weight: Any = None,
        *,
        columns: tuple[str | int, str | int] | None = None,
        labels: bool | None = None,
        num_nodes: int | None = None,
        run: Run = DEFAULT,
    ) -> Graph:
        """Builds a graph from a pandas or polars data frame, or a pyarrow table: one row per edge.

        Args:
            table: the edges.
            directed: whether a row is an arc; False adds the missing reverse arcs.
            edge_weight: the column that holds lengths, or one for each row; None ignores weights.
            columns: the columns of sources and targets; None: by names such as "from" and "to"
                (docs/inputs.md), or the only two. A pandas matrix has an arc for each entry.
            labels: as in :meth:`from_edges`.
            num_nodes: n; by default the largest id + 1. Not with names.
            run: how it is computed, see :class:`Run`.

        Example:
            >>> import pandas, torchcent
            >>> roads = pandas.DataFrame({"from": ["Bern", "Thun"], "to": ["Thun", "Spiez"]})
            >>> graph = torchcent.Graph.from_table(roads, directed=False)
            >>> graph.labels[torchcent.betweenness(graph).argmax()]
            'Thun'
        """
        check.flag(directed, "directed")
        edge_weight = None if edge_weight is False else edge_weight
        own = edge_weight if isinstance(edge_weight, (str, int)) else None
        arcs = _edges.of_any_table(table, own, columns, check_values.flag_or_none(labels, "labels"))
        return built(_completed(arcs, table, num_nodes, directed, edge_weight, own), run.memory)

    @staticmethod
    @computes()
    def from_data(
        data: Any, directed: bool = True, *, edge_weight: WeightLike = None, run: Run = DEFAULT
    ) -> Graph:
        """Builds a graph from a torch_geometric ``Data``, ``Batch`` or ``EdgeIndex``.

        A ``Batch`` becomes a batch of graphs, according to its ``ptr`` or ``batch``. `edge_weight`
        names the attribute that holds the lengths of the arcs, is True for ``data.edge_weight`` or
        the value of an ``EdgeIndex``, or is one length for each arc. (In graph neural networks,
        edge_weight is often a similarity: docs/weights.md explains the conversion to distances.)
        """
        check.flag(directed, "directed")
        arcs = _inputs.read(_inputs.of_data, data, edge_weight, "data")
        return built(arcs._replace(directed=directed), run.memory)

    @_memory.reported
    def with_weights(self, edge_weight: Tensor) -> Graph:
        """The graph of the same arcs with other weights, such as travel times at another hour.

        It is the graph that would be built from the same columns with these weights, at a fraction
        of the cost. Arcs are not sorted again. On a hierarchy, :func:`betweenness` contracts
        vertices in the order of the first of these graphs.

        Args:
            edge_weight: [E], a length for each column that this graph was built from, or read from
                (:attr:`slot`), as in :meth:`from_edge_index`. The columns of a loaded graph are its
                slots.

        Raises:
            TypeError, ValueError: as :meth:`from_edge_index`; or the graph was pickled, and has
                loops, whose vertices are then no longer known.

        Example:
            >>> import torch, torchcent
            >>> streets = torch.tensor([[0, 1, 0], [1, 2, 2]])
            >>> by_night = torchcent.Graph.from_edge_index(
            ...     streets, directed=False, edge_weight=torch.tensor([1, 1, 3])
            ... )
            >>> by_day = by_night.with_weights(torch.tensor([6, 2, 3]))
            >>> torchcent.betweenness(by_night).tolist(), torchcent.betweenness(by_day).tolist()
            ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
        """
        return _building.reweighted(self, edge_weight)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph to a file that :meth:`load` maps, without what is kept with it.

        The file is one of ``torch.save``: ``torch.load(path)`` gives a dictionary of its arrays. It
        replaces an older file at once, when it is whole. :attr:`slot`, which belongs to the columns
        that the graph was built from, is not saved. The order of contraction is, once a measure
        has found it, so that the loaded graph and others with its arcs start sooner.

        Example:
            >>> import os, tempfile, torch, torchcent
            >>> graph = torchcent.Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]))
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     graph.save(os.path.join(folder, "path.pt"))
            ...     torchcent.Graph.load(os.path.join(folder, "path.pt"))
            Graph(num_nodes=3, num_slots=2, directed=True, device=cpu, 40 bytes)
        """
        path = check_files.path(path)
        _file.save(path, self._stored.each(lambda part: part.contiguous().cpu()))

    @staticmethod
    @computes()
    def load(
        path: str | os.PathLike[str],
        *,
        device: torch.device | str | None = None,
        run: Run = DEFAULT,
    ) -> Graph:
        """Reads a graph that :meth:`save` wrote, and checks all of it.

        On the CPU the arrays stay in the file, which is mapped into memory. They take memory as
        they are used, and the file must not change while the graph exists. They are read once for
        the check, at the speed of the disk. The columns of the graph are its slots, in order, as of
        :meth:`to_edge_index`.

        Args:
            path: the file. Files of unknown origin are safe to load.
            device: where the graph will be; None is the CPU.
            run: how it is computed, see :class:`Run`.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file is damaged or was not written by :meth:`save`; the message names
                the first fault.
            MemoryError: ``Run(memory=)`` is too small; the message states both amounts.
        """
        path = check_files.path(path)
        place = torch.device("cpu") if device is None else check.device(device)
        allowed = run.memory
        stored = _file.load(path)
        graph = Graph(stored.rowptr, stored.col, None, _trusted=True, **stored.made())
        if place.type == "cpu":
            return graph
        _memory.allow(f"{path}: a graph", graph._nbytes, allowed, place)
        return graph.to(place)

    def __getstate__(self) -> dict[str, Any]:
        slot = None if self._columns == (None, None) else self.slot
        return _file.pickled(self._stored, slot)

    def __setstate__(self, state: Any) -> None:
        """Checks what was pickled: it may come from anyone (SECURITY.md)."""
        if vars(self):
            raise ValueError("a Graph is frozen: it cannot be restored twice")
        stored, slot = _file.unpickled(state)
        self.__init__(  # type: ignore[misc]
            stored.rowptr, stored.col, slot, _trusted=True, **stored.made()
        )

    @property
    def _stored(self) -> _file.Stored:
        parts = (self.rowptr, self.col, self.weight, self.ptr, self.directed)
        ties = Ties(self.ties, self.tie_tolerance)
        return _file.Stored(
            *parts, *self._multiplicity, *self._sums, self._order, ties, self.labels
        )

    def _repr_html_(self) -> str:
        """A table, in notebooks."""
        values: dict[str, object] = {"vertices": f"{self.num_nodes:,}"}
        values["arcs" if self.directed else "edges"] = f"{self.num_edges:,}"
        if self.ptr is not None:
            values["graphs"] = f"{self.num_graphs:,}"
        if self.weight is not None and self.num_slots and self.device.type != "meta":
            values["weights"] = f"{float(self.weight.min()):g} to {float(self.weight.max()):g}"
        if self.labels is not None:
            first = ", ".join(map(str, self.labels[:_SHOWN].tolist()))
            values["labels"] = first + (", ..." if self.num_nodes > _SHOWN else "")
        values |= {"device": self.device, "bytes": f"{self.nbytes:,}"}
        return _html.rows("Directed graph" if self.directed else "Undirected graph", values)

    def __repr__(self) -> str:
        weighted = "weighted=True, " if self.is_weighted else ""
        if self.ties != "decimal":
            weighted += f"ties={self.ties!r}, "
        if self.tie_tolerance:
            weighted += f"tie_tolerance={self.tie_tolerance:g}, "
        if self.ptr is not None:
            weighted += f"num_graphs={self.num_graphs}, "
        return (
            f"Graph(num_nodes={self.num_nodes}, num_slots={self.num_slots}, "
            f"directed={self.directed}, {weighted}device={self.device}, {self.nbytes} bytes)"
        )


def built(arcs: Arcs, memory: int | None, weights: str = "lengths") -> Graph:
    """The graph of what was read from an object of another library."""
    symmetric = arcs.directed is None
    graph = _building.build(
        Graph, arcs.edge_index, num_nodes=arcs.num_nodes, directed=arcs.directed is not False,
        edge_weight=arcs.edge_weight, batch=arcs.batch, ptr=arcs.ptr, memory=memory,
        weights=weights, matrix=arcs.matrix,
    )  # fmt: skip
    if symmetric and graph.is_symmetric:
        graph = graph._with(directed=False)
    return named(graph, arcs.labels)


def _completed(
    arcs: Arcs, value: Any, num_nodes: int | None, directed: bool, edge_weight: Any, own: object
) -> Arcs:
    """With the other arguments; `own` is the name of the weights, if they are a column."""
    check_inputs.no_size_of_names(num_nodes, arcs.labels)
    size = check_inputs.size(check.num_nodes(num_nodes), arcs.num_nodes, value)
    arcs = arcs._replace(num_nodes=size, directed=directed)
    if edge_weight is None or own is not None:
        return arcs
    return arcs._replace(edge_weight=check_inputs.numbers(edge_weight, "edge_weight"))


def named(graph: Graph, labels: Any) -> Graph:
    """A new graph, with the names of what it was read from."""
    names = _labels.array(labels)
    if names is not None:
        graph.__dict__["_labels"] = names
    return graph


# Graphs in files of torch.save are read with weights_only=True; __setstate__ checks them.
torch.serialization.add_safe_globals([Graph])
