"""Graphs of libraries that are not installed here, with the part of their API that is read.

graph-tool: https://graph-tool.skewed.de/static/docs/stable/autosummary/graph_tool.Graph.html
DGL: https://www.dgl.ai/dgl_docs/api/python/dgl.DGLGraph.html
torch_sparse: https://github.com/rusty1s/pytorch_sparse
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

Pairs = Sequence[tuple[int, int]]


class GraphTool:
    """graph_tool.Graph, or a GraphView that keeps the vertices of `kept`."""

    def __init__(
        self, pairs: Pairs, n: int, directed: bool, kept: Sequence[int] | None = None,
        **properties: Sequence[float],
    ) -> None:  # fmt: skip
        self._kept = list(range(n)) if kept is None else sorted(kept)
        shown = [u in self._kept and v in self._kept for u, v in pairs]
        self._pairs = [pair for pair, s in zip(pairs, shown, strict=True) if s]
        self._directed = directed
        self._properties = {
            name: [x for x, s in zip(values, shown, strict=True) if s]
            for name, values in properties.items()
        }

    @property
    def edge_properties(self) -> dict[str, list[float]]:
        return self._properties

    def is_directed(self) -> bool:
        return self._directed

    def get_vertices(self, vprops: Sequence[Any] = ()) -> np.ndarray:
        return np.array(self._kept, np.int64)

    def get_edges(self, eprops: Sequence[Any] = ()) -> np.ndarray:
        """[E, 2 + len(eprops)], in the order of edges(); the dtype holds all columns."""
        columns = [np.array(self._pairs, np.int64).reshape(-1, 2), *map(_column, eprops)]
        return np.concatenate(columns, axis=1)


def _column(values: Sequence[float]) -> np.ndarray:
    return np.array(values)[:, None]


class Dgl:
    """dgl.DGLGraph of one type of vertices and edges."""

    is_block = False

    def __init__(self, pairs: Pairs, sizes: Sequence[int], **edata: Tensor) -> None:
        self._index = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
        self._sizes, self._edata = list(sizes), edata

    @property
    def canonical_etypes(self) -> list[tuple[str, str, str]]:
        return [("_N", "_E", "_N")]

    @property
    def is_homogeneous(self) -> bool:
        return len(self.canonical_etypes) == 1

    @property
    def edata(self) -> dict[str, Tensor]:
        return self._edata

    @property
    def batch_size(self) -> int:
        return len(self._sizes)

    def batch_num_nodes(self, ntype: str | None = None) -> Tensor:
        return torch.tensor(self._sizes)

    def num_nodes(self, ntype: str | None = None) -> int:
        return sum(self._sizes)

    @property
    def edges(self) -> Any:
        def view(form: str = "uv", order: str = "eid", etype: str | None = None) -> Any:
            assert (form, order) == ("uv", "eid")
            return self._index[0], self._index[1]

        return view


class DglOfTypes(Dgl):
    @property
    def canonical_etypes(self) -> list[tuple[str, str, str]]:
        return [("a", "to", "b"), ("b", "to", "a")]


class SparseTensor:
    """torch_sparse.SparseTensor."""

    def __init__(self, row: Tensor, col: Tensor, n: int, value: Tensor | None = None) -> None:
        order = torch.argsort(row * n + col)
        self._parts = row[order], col[order], None if value is None else value[order]
        self._n = n

    def coo(self) -> tuple[Tensor, Tensor, Tensor | None]:
        return self._parts

    def sparse_sizes(self) -> tuple[int, int]:
        return self._n, self._n
