"""Transforms that add features of pairs of vertices."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from torchcent.check import _common as check
from torchcent.check import _data as check_data
from torchcent.check import _encodings as check_encodings
from torchcent.check._run import DEFAULT, Run
from torchcent.check._values import number
from torchcent.gnn import _stores
from torchcent.pairs._encoding import shortest_path_encoding, shortest_path_pairs
from torchcent.transforms._base import EdgeTypes, _OfGraphs, _Types, functional_transform

_PAIRS = "(pairs of vertices are no rows of data.x)"


@functional_transform("add_shortest_path_encoding")
class AddShortestPathEncoding(_OfGraphs):
    """Adds the distances of pairs of vertices (functional name: ``add_shortest_path_encoding``).

    Args:
        attr_name: attribute for the distances: [P], one per pair, beside the pairs as
            ``{attr_name}_index``, int64 [2, P]; with dense=True [G, N, N].
        cutoff: pairs farther apart are left out, or count as unreachable.
        dense: add padded matrices instead, as :func:`torchcent.shortest_path_encoding`. Those of
            several graphs can be put into one Batch if `max_nodes` gives all the same shape.
        max_nodes, unreachable, padding: with dense=True, as in
            :func:`torchcent.shortest_path_encoding`.
        edge_weight: edge attribute that holds the *lengths* of edges; None counts hops.
        directed: None uses the arcs of edge_index, False adds missing reverse arcs.
        edge_types: the edge types of a HeteroData that form the graph; None for all.
        dtype: of the distances: torch.int8, int16, int32, int64, float32 or float64. None uses
            int64, with weights torch.get_default_dtype(), so that all graphs have the same.
        run: as for :class:`AddCentrality`.

    Pairs are those of :func:`torchcent.shortest_path_pairs`, each vertex with itself among them.
    When data objects are put into a Batch, PyTorch Geometric adds offsets to the pairs as it does
    to ``edge_index``. For a Batch, rows of matrices are the graphs, their vertices in ascending
    order; ``to_data_list`` splits both forms. The edges along the paths are not stored, because
    numbers of edges get no offsets: :func:`torchcent.shortest_path_encoding` returns them for a
    batch.

    A HeteroData is one graph, as for :class:`AddCentrality`. The pairs of two node types are a new
    edge type ``(source, attr_name, target)``, with ``edge_index`` [2, P] and the distances [P] as
    `attr_name`. There is one for each two types, also without pairs. Edges of this name are no
    edges of the graph; name the `edge_types` of later transforms. Matrices are an attribute of the
    HeteroData. Their rows are the vertices of all types, as ``to_homogeneous`` orders them.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from torchcent.transforms import AddShortestPathEncoding
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> found = AddShortestPathEncoding(cutoff=1)(path)
        >>> found.spd_index
        tensor([[0, 0, 1, 1, 1, 2, 2],
                [0, 1, 0, 1, 2, 1, 2]])
        >>> found.spd
        tensor([0, 1, 1, 0, 1, 1, 0])
        >>> AddShortestPathEncoding(dense=True, max_nodes=4)(path).spd
        tensor([[[ 0,  1,  2, -1],
                 [ 1,  0,  1, -1],
                 [ 2,  1,  0, -1],
                 [-1, -1, -1, -1]]])
    """

    _functions: ClassVar = {shortest_path_pairs.__name__: {}}

    def __init__(
        self,
        attr_name: str = "spd",
        cutoff: float | None = None,
        dense: bool = False,
        max_nodes: int | None = None,
        edge_weight: str | None = None,
        *,
        unreachable: float = -1,
        padding: float = -1,
        directed: bool | None = None,
        edge_types: EdgeTypes | None = None,
        dtype: torch.dtype | None = None,
        run: Run = DEFAULT,
    ) -> None:
        check_encodings.cutoff(cutoff)
        super().__init__(
            edge_weight, directed, edge_types, run,
            attr_name=check_data.required_attribute(attr_name, "nodes", _PAIRS),
            cutoff=cutoff, dense=check.flag(dense, "dense"),
            max_nodes=check.positive(max_nodes, "max_nodes"),
            unreachable=number(unreachable, "unreachable"), padding=number(padding, "padding"),
            dtype=dtype,
        )  # fmt: skip
        if not dense:
            self._names = ("attr_name", "cutoff", "dense", "dtype", "edge_weight", "directed")
            if (self.max_nodes, self.unreachable, self.padding) != (None, -1, -1):
                raise ValueError("max_nodes, unreachable and padding are for dense=True")

    def _types(self, data: Any) -> _Types | None:
        chosen: _Types | None = self.edge_types
        if chosen is None and hasattr(data, "edge_types"):  # without pairs of an earlier call
            own = [kind for kind in data.edge_types if kind[1] != self.attr_name]
            chosen = tuple(own) if len(own) < len(data.edge_types) else None
        return chosen

    def _check_many(self) -> None:
        if self.dense and self.max_nodes is None:
            raise ValueError(
                "dense=True needs max_nodes for a data set: matrices would have the size of the "
                "largest graph that is computed at the same time"
            )

    def _add(self, data: Any, graph: _stores.Graph) -> None:
        dtype = torch.int64 if self.dtype is None and self.edge_weight is None else self.dtype
        options = self._options(graph)
        options = self._whole(graph, options)
        options |= {"cutoff": self.cutoff, "dtype": dtype}
        if self.dense:
            dense = shortest_path_encoding(
                **options, max_nodes=self.max_nodes, unreachable=self.unreachable,
                padding=self.padding,
            )  # fmt: skip
            _stores.give_graphs(data, dense.distance, self.attr_name)
        else:
            pairs = shortest_path_pairs(**options)
            _stores.give_pairs(data, graph, pairs.pairs, pairs.distance, self.attr_name)
