"""Graphs as objects of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _inputs as check_inputs
from torchcent.graph import _csr
from torchcent.graph._parts import Parts
from torchcent.runtime._optional import need

if TYPE_CHECKING:
    import igraph
    import networkit
    import networkx
    import scipy.sparse
    import torch_geometric.data


class Exports(Parts):
    """See :class:`torchcent.Graph`."""

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

    def to_torch_sparse(
        self, layout: torch.layout = torch.sparse_csr, *, dtype: torch.dtype | None = None
    ) -> Tensor:
        """The adjacency matrix as a torch sparse tensor on the device of the graph.

        Its values are the weights, or ones.

        Args:
            layout: torch.sparse_csr, torch.sparse_csc or torch.sparse_coo (coalesced).
            dtype: of the values; None uses torch.get_default_dtype().

        Example:
            >>> import torch, torchcent
            >>> path = torchcent.Graph.from_edges([(0, 1), (1, 2)], directed=False)
            >>> path.to_torch_sparse() @ torch.ones(3)
            tensor([1., 2., 1.])
        """
        check_inputs.layout(layout)
        number = check.float_dtype(dtype)
        shape = (self.num_nodes, self.num_nodes)
        if layout == torch.sparse_csr:
            rowptr, col = self.rowptr.clone(), self.col.long()
            values = self._numbers(self.weight, number)
            return torch.sparse_csr_tensor(rowptr, col, values, shape, check_invariants=False)
        if layout == torch.sparse_csc:
            colptr, row = (part.clone() for part in self.transpose)
            values = self._numbers(self.back_weight, number)
            return torch.sparse_csc_tensor(
                colptr, row.long(), values, shape, check_invariants=False
            )
        values = self._numbers(self.weight, number)
        return torch.sparse_coo_tensor(
            self.to_edge_index(), values, shape, is_coalesced=True, check_invariants=False
        )

    def to_networkx(self) -> networkx.Graph:
        """A NetworkX ``Graph``, or ``DiGraph`` if directed.

        Its nodes are the names of the vertices (:attr:`labels`), or 0 to n - 1. Weights become the
        edge attribute ``weight``.
        """
        networkx = need("networkx", "networkx", "Graph.to_networkx")
        network = networkx.DiGraph() if self.directed else networkx.Graph()
        (row, col), weight = self._edges()
        ends: Any = row.tolist(), col.tolist()
        names: Any = range(self.num_nodes)
        if self.labels is not None:
            names = self.labels.tolist()
            ends = tuple(map(names.__getitem__, vertices) for vertices in ends)
        network.add_nodes_from(names)
        if weight is None:
            network.add_edges_from(zip(*ends, strict=True))
        else:
            network.add_weighted_edges_from(zip(*ends, weight.tolist(), strict=True))
        return network

    def to_igraph(self) -> igraph.Graph:
        """An igraph ``Graph`` with vertices 0 to n - 1.

        Weights become the edge attribute ``weight``, names (:attr:`labels`) the vertex attribute
        ``name``.
        """
        igraph = need("igraph", "igraph", "Graph.to_igraph")
        index, weight = self._edges()
        attributes = {} if weight is None else {"weight": weight.tolist()}
        names = {} if self.labels is None else {"name": self.labels.tolist()}
        return igraph.Graph(
            self.num_nodes, index.T.tolist(), directed=self.directed, edge_attrs=attributes,
            vertex_attrs=names,
        )  # fmt: skip

    def to_networkit(self) -> networkit.Graph:
        """A NetworKit ``Graph`` with vertices 0 to n - 1, weighted if this one is."""
        networkit = need("networkit", "networkit", "Graph.to_networkit")
        index, weight = self._edges()
        row, col = index.numpy()
        values = np.ones(len(row)) if weight is None else weight.numpy()
        return networkit.GraphFromCoo(
            (values, (row, col)), n=self.num_nodes, weighted=self.is_weighted,
            directed=self.directed,
        )  # fmt: skip

    def to_data(self) -> torch_geometric.data.Data:
        """A PyTorch Geometric ``Data``, of a batch a ``Batch``, on the device of the graph.

        Its ``edge_index`` holds both directions of an undirected edge. Weights become
        ``edge_weight``, in the default dtype.
        """
        data = need("torch_geometric.data", "pyg", "Graph.to_data")
        parts: dict[str, Any] = {"edge_index": self.to_edge_index(), "num_nodes": self.num_nodes}
        if self.weight is not None:
            parts["edge_weight"] = self._numbers(self.weight, torch.get_default_dtype())
        if self.ptr is None:
            return data.Data(**parts)
        assert self.batch is not None
        return data.Batch(batch=self.batch.clone(), ptr=self.ptr.clone(), **parts)

    def _edges(self) -> tuple[Tensor, Tensor | None]:
        """int64 [2, E] and weights on the host, each undirected edge once."""
        index, weight = self.to_edge_index().cpu(), self.weight
        weight = None if weight is None else weight.cpu()
        if self.directed:
            return index, weight
        once = index[0] <= index[1]
        return index[:, once], None if weight is None else weight[once]

    def _numbers(self, weight: Tensor | None, dtype: torch.dtype) -> Tensor:
        if weight is None:
            return torch.ones(self.num_slots, dtype=dtype, device=self.device)
        return weight.to(dtype, copy=True)
