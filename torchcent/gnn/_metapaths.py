"""The graph of a metapath: which vertices a chain of edge types joins."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from torchcent.check import _data as check_data
from torchcent.gnn import _stores

EdgeType = tuple[str, str, str]


def graph_of(data: Any, path: tuple[EdgeType, ...]) -> _stores.Graph:
    """The graph on the end types of a metapath, in which an arc stands for one or more walks."""
    nodes, edges = check_data.stores(data, path)
    size = {kind: check_data.store_size(store, str(kind)) for kind, store in nodes.items()}
    product: Tensor | None = None
    for kind in path:
        index = check_data.store_edges(edges[kind], f"data[{kind!r}]")
        shape = size[kind[0]], size[kind[2]]
        check_data.ids_within(index, shape, f"data[{kind!r}]")
        one = torch.ones(index.shape[1], device=index.device)
        step = torch.sparse_coo_tensor(index, one, shape, check_invariants=False).coalesce()
        product = step if product is None else _product(product, step)
        product = torch.sparse_coo_tensor(  # whether there is a walk, not how many
            product.indices(), torch.ones_like(product.values()), product.shape,
            is_coalesced=True, check_invariants=False,
        )  # fmt: skip
    assert product is not None
    from torch_geometric.data import HeteroData

    ends = path[0][0], path[-1][2]
    joined = HeteroData()
    # The stores themselves, in which results are written.
    joined.__dict__["_node_store_dict"] = {kind: nodes[kind] for kind in nodes if kind in ends}
    joined[ends[0], "metapath", ends[1]].edge_index = product.indices()
    return _stores.graph_of(joined, None, None)._replace(edges=[])


def _product(one: Tensor, other: Tensor) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR")
        product: Tensor = torch.sparse.mm(one, other).coalesce()
    return product
