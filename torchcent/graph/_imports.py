"""Graphs from objects of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from torchcent.check import _common as check
from torchcent.check import _inputs as check_inputs
from torchcent.check import _values as check_values
from torchcent.graph import _edges, _foreign, _libraries
from torchcent.graph._arcs import Arcs
from torchcent.graph._exports import Exports
from torchcent.runtime import _memory

if TYPE_CHECKING:
    import networkx

    from torchcent.graph._graph import Graph


class Imports(Exports):
    """See :class:`torchcent.Graph`."""

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
        return built(_foreign.of_scipy(matrix, directed, weighted), memory)

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
        return built(_foreign.of_networkx(graph, weight), memory)

    @staticmethod
    @_memory.reported
    def from_igraph(graph: Any, weight: str | None = None, *, memory: int | None = None) -> Graph:
        """Builds a graph from an igraph graph; it is directed if that graph is.

        Vertices have their numbers in igraph, and column e of :attr:`slot` is the e-th of
        ``graph.es``. `weight` names the edge attribute that holds lengths; None ignores weights.
        `memory` is that of :meth:`from_edge_index`.
        """
        return built(_libraries.of_igraph(graph, weight), memory)

    @staticmethod
    @_memory.reported
    def from_networkit(graph: Any, *, weighted: bool = False, memory: int | None = None) -> Graph:
        """Builds a graph from a NetworKit graph; it is directed if that graph is.

        Vertices have their numbers in NetworKit, which must be without gaps, and column e of
        :attr:`slot` is the e-th of ``graph.iterEdges()``. weighted=True uses the weights as
        lengths. `memory` is that of :meth:`from_edge_index`.
        """
        check.flag(weighted, "weighted")
        return built(_libraries.of_networkit(graph, weighted), memory)

    @staticmethod
    @_memory.reported
    def from_graph_tool(
        graph: Any, weight: str | None = None, *, memory: int | None = None
    ) -> Graph:
        """Builds a graph from a graph-tool graph; it is directed if that graph is.

        Vertex i is the i-th of ``graph.vertices()`` (in a graph without filter, the vertex of index
        i), and column e of :attr:`slot` is the e-th of ``graph.edges()``. `weight` names the
        internal edge property that holds lengths; None ignores weights. `memory` is that of
        :meth:`from_edge_index`.
        """
        return built(_libraries.of_graph_tool(graph, weight), memory)

    @staticmethod
    @_memory.reported
    def from_dgl(
        graph: Any, directed: bool = True, weight: str | None = None, *, memory: int | None = None
    ) -> Graph:
        """Builds a graph from a homogeneous DGL graph, of a batched one a batch.

        Column e of :attr:`slot` is the edge of id e. `weight` names the entry of ``graph.edata``
        that holds lengths; None ignores weights. As in PyTorch Geometric, an undirected edge is
        two arcs; directed=False adds those that are missing. `memory` is that of
        :meth:`from_edge_index`.
        """
        check.flag(directed, "directed")
        return built(_libraries.of_dgl(graph, weight)._replace(directed=directed), memory)

    @staticmethod
    @_memory.reported
    def from_torch_sparse(
        matrix: Any, directed: bool | None = None, *, weighted: bool = False,
        memory: int | None = None,
    ) -> Graph:  # fmt: skip
        """Builds a graph from a square torch sparse tensor, or a SparseTensor of torch_sparse.

        A stored entry (i, j) of a COO, CSR or CSC tensor is an arc i -> j. The ``adj_t`` of PyTorch
        Geometric is the transpose: pass ``adj_t.t()``. `directed`, `weighted` and `memory` are
        those of :meth:`from_scipy`.

        Example:
            >>> import torch, torchcent
            >>> torchcent.Graph.from_torch_sparse(torch.ones(3, 3).to_sparse())
            Graph(num_nodes=3, num_slots=6, directed=False, device=cpu, 128 bytes)
        """
        check_values.flag_or_none(directed, "directed")
        check.flag(weighted, "weighted")
        return built(_edges.of_sparse(matrix, weighted)._replace(directed=directed), memory)

    @staticmethod
    @_memory.reported
    def from_edges(
        edges: Any, num_nodes: int | None = None, directed: bool = True, edge_weight: Any = None,
        *, memory: int | None = None,
    ) -> Graph:  # fmt: skip
        """Builds a graph from a NumPy array or a list of pairs.

        Accepted are arrays of integers [2, E] or [E, 2], a list of pairs (u, v), and two rows:
        sources and targets, as lists, arrays or tensors. An array, or a list of two lists, of shape
        [2, 2] could be either and is refused; a list of tuples always holds pairs. `edge_weight` is
        a tensor, an array or a list with the length of each edge. All else is as in
        :meth:`from_edge_index`.

        Example:
            >>> import torchcent
            >>> torchcent.Graph.from_edges([(0, 1), (1, 2)], directed=False).num_edges
            2
        """
        check.flag(directed, "directed")
        made = _edges.of_pairs(edges)._replace(num_nodes=num_nodes, directed=directed)
        if edge_weight is not None:
            made = made._replace(edge_weight=check_inputs.numbers(edge_weight, "edge_weight"))
        return built(made, memory)

    @overload
    @staticmethod
    def from_table(
        table: Any, directed: bool = True, weight: str | int | None = None, *,
        columns: tuple[str | int, str | int] | None = None, labels: Literal[False] = False,
        num_nodes: int | None = None, memory: int | None = None,
    ) -> Graph: ...  # fmt: skip

    @overload
    @staticmethod
    def from_table(
        table: Any, directed: bool = True, weight: str | int | None = None, *,
        columns: tuple[str | int, str | int] | None = None, labels: Literal[True],
        num_nodes: int | None = None, memory: int | None = None,
    ) -> tuple[Graph, list[Any]]: ...  # fmt: skip

    @staticmethod
    @_memory.reported
    def from_table(
        table: Any, directed: bool = True, weight: str | int | None = None, *,
        columns: tuple[str | int, str | int] | None = None, labels: bool = False,
        num_nodes: int | None = None, memory: int | None = None,
    ) -> Graph | tuple[Graph, list[Any]]:  # fmt: skip
        """Builds a graph from a pandas or polars data frame, or a pyarrow table: one row per edge.

        Args:
            table: the edges.
            directed: whether a row is an arc; False adds the missing reverse arcs.
            weight: the column that holds lengths; None ignores weights.
            columns: the columns of sources and targets; None uses those named "source" and
                "target", or else the first two.
            labels: False takes ids as the numbers of the vertices, which must be integers from 0.
                True takes ids of any kind, numbers them by first appearance, row by row, and
                returns them, too.
            num_nodes: n; by default the largest id + 1. Not with `labels`.
            memory: as in :meth:`from_edge_index`.

        Returns:
            The graph, or with labels=True the graph and a list of n labels.

        Example:
            >>> import pandas, torchcent
            >>> roads = pandas.DataFrame({"from": ["Bern", "Thun"], "to": ["Thun", "Spiez"]})
            >>> graph, names = torchcent.Graph.from_table(roads, directed=False, labels=True)
            >>> dict(zip(names, torchcent.betweenness(graph).tolist()))
            {'Bern': 0.0, 'Thun': 1.0, 'Spiez': 0.0}
        """
        check.flag(directed, "directed")
        if check.flag(labels, "labels"):
            check.at_most_one(labels=labels or None, num_nodes=num_nodes)
            made, names = _edges.of_labelled_table(table, weight, "table", columns)
            return built(made._replace(directed=directed), memory), names
        made = _edges.of_table(table, weight, "table", columns)
        return built(made._replace(num_nodes=num_nodes, directed=directed), memory)

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
        check.flag(weighted, "weighted")
        return built(_foreign.of_data(data, directed, weighted), memory)


def built(arcs: Arcs, memory: int | None) -> Graph:
    """The graph of what was read from an object of another library."""
    from torchcent.graph._graph import Graph

    symmetric = arcs.directed is None
    graph = Graph.from_edge_index(
        arcs.edge_index, arcs.num_nodes, arcs.directed is not False, arcs.edge_weight, arcs.batch,
        arcs.ptr, memory,
    )  # fmt: skip
    return graph._as(directed=False) if symmetric and graph.is_symmetric else graph
