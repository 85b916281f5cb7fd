"""Triangles and 4-cycles at the edges of a graph, compiled or on tensors."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.graph import Graph, _csr
from torchcent.runtime import _ops, _small
from torchcent.runtime._codes import control
from torchcent.runtime._watch import at_work, progress_bar

_TOGETHER = 2**22  # neighbours of neighbours that are looked up together
_QUICK = 2**22  # slots times mean degree up to which there is no bar


def edge_cycles(graph: Graph, progress: bool | None) -> Tensor:
    """int64 [3, num_slots], of a symmetric graph.

    The first row has the triangles at an edge, the second the vertices next to an end that are on a
    4-cycle without a diagonal. The third has the most such cycles that one of these is on.
    """
    counts = torch.zeros(3, graph.num_slots, dtype=torch.int64, device=graph.device)
    if not graph.num_slots:
        return counts
    if _ops.has_kernel("edge_cycles", graph.device):
        record = control()
        quick = graph.num_slots**2 < _QUICK * max(graph.num_nodes, 1)

        def work() -> None:
            arcs = graph.rowptr, graph.col
            _ops.ops.edge_cycles(*arcs, counts, record, torch.get_num_threads())

        with progress_bar(graph.num_slots, "forman_curvature", progress, quick, "arcs") as bar:
            at_work(work, record, bar, graph.device, quick)
    else:
        _on_tensors(graph, counts)
    return mirrored(graph, counts)


def mirrored(graph: Graph, values: Tensor) -> Tensor:
    """[..., num_slots]: the values of the slots u -> v with u < v, also at their reverses."""
    is_first = _small.repeat_interleave(graph.degree) < graph.col
    return torch.where(is_first, values, values.index_select(-1, graph.reverse_slot))


class Adjacency:
    """Looks up whether pairs of vertices are adjacent."""

    def __init__(self, graph: Graph) -> None:
        self.num_nodes = graph.num_nodes
        self.row = _small.repeat_interleave(graph.degree)
        self._keys = self.row * self.num_nodes + graph.col  # ascending

    def __call__(self, u: Tensor, v: Tensor) -> Tensor:
        key = u * self.num_nodes + v
        place = torch.searchsorted(self._keys, key).clamp_(max=self._keys.numel() - 1)
        return self._keys[place] == key


def _on_tensors(graph: Graph, counts: Tensor) -> None:
    """Fills the columns u -> v with u < v."""
    adjacent, degree, col = Adjacency(graph), graph.degree, graph.col.long()
    slots = torch.nonzero(adjacent.row < col).flatten()
    around = torch.zeros_like(degree).index_add_(0, adjacent.row, degree[col])
    for first, end in _csr.runs(around[adjacent.row[slots]], _TOGETHER):
        some = slots[first:end]
        counts[:, some] = _counted(graph, adjacent, adjacent.row[some], col[some])


def _counted(graph: Graph, adjacent: Adjacency, i: Tensor, j: Tensor) -> Tensor:
    """int64 [3, edges] of edges i - j."""
    degree, rowptr, col, n = graph.degree, graph.rowptr, graph.col.long(), graph.num_nodes
    edge = _small.repeat_interleave(degree[i])
    k = col[_csr.ranges(rowptr[i], degree[i])]
    is_shared = adjacent(j[edge], k)
    triangles = torch.bincount(edge[is_shared], minlength=i.numel())
    alone = ~is_shared & (k != j[edge])
    edge, k = edge[alone], k[alone]
    member = _small.repeat_interleave(degree[k])  # of the neighbours of i alone
    w = col[_csr.ranges(rowptr[k], degree[k])]
    at = edge[member]
    closes = adjacent(j[at], w) & ~adjacent(i[at], w) & (w != i[at])
    member, w, at = member[closes], w[closes], at[closes]
    of_k = torch.bincount(member, minlength=k.numel())
    ends, of_w = torch.unique(at * n + w, return_counts=True)
    around = torch.bincount(edge[of_k > 0], minlength=i.numel())
    around += torch.bincount(ends // n, minlength=i.numel())
    most = torch.zeros_like(i)
    most.scatter_reduce_(0, edge, of_k, "amax").scatter_reduce_(0, ends // n, of_w, "amax")
    return torch.stack([triangles, around, most])
