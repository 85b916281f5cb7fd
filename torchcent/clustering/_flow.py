"""The flow: a column-stochastic matrix, and its construction from a graph."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import torch
from torch import Tensor

from torchcent.graph import Graph, _csr, _segments, _strengths
from torchcent.graph._csr import pointers
from torchcent.runtime import _small

# Entries that a sum over all of them reads at a time, and the bytes that each takes meanwhile.
AT_A_TIME, AT_A_TIME_ON_ACCELERATOR, BYTES_AT_A_TIME = 2**15, 2**22, 40


@dataclass(frozen=True, eq=False)
class Flow:
    """A column-stochastic matrix. Column j occupies [begin[j], begin[j] + length[j]) of row and
    value, sorted by row. CSC has begin = colptr[:-1]. ELLPACK-R, the format of the CUDA-MCL paper
    (section 4.2.1), has begin[j] = j * width. Code must support both."""

    begin: Tensor
    length: Tensor
    row: Tensor
    value: Tensor

    @property
    def num_nodes(self) -> int:
        return self.begin.numel()

    @property
    def device(self) -> torch.device:
        return self.begin.device

    @property
    def entries(self) -> int:
        return int(self.length.sum())

    @property
    def nbytes(self) -> int:
        return sum(x.nbytes for x in (self.begin, self.length, self.row, self.value))

    def compact(self) -> Flow:
        """The same flow, with the columns one after the other, without gaps."""
        colptr = pointers(self.length)
        if self.row.numel() == int(colptr[-1]) and torch.equal(colptr[:-1], self.begin):
            return self
        place = self.places(slice(None))
        return Flow(colptr[:-1].contiguous(), self.length, self.row[place], self.value[place])

    def packed(self) -> tuple[Tensor, Tensor, Tensor]:
        """colptr int64 [n + 1], row int64 and value, without gaps."""
        flow = self.compact()
        return pointers(flow.length), flow.row.long(), flow.value

    def columns(self) -> Tensor:
        """int64: the column of each entry, column by column."""
        numbers = torch.arange(self.num_nodes, device=self.device)
        return _small.repeat_interleave(numbers, self.length.long())

    def places(self, columns: slice | Tensor) -> Tensor:
        """int64: where the entries of these columns are, column by column."""
        length = self.length[columns].long()
        offset = self.begin[columns] - pointers(length)[:-1]
        offset = _small.repeat_interleave(offset, length)
        return offset.add_(torch.arange(offset.numel(), device=self.device))

    def sums(self, of: Tensor) -> Tensor:
        """[n]: the sum of `of` over the rows of each column, of which few are read at a time."""
        upto = pointers(self.length)
        sums = torch.zeros_like(of)
        most = AT_A_TIME if self.device.type == "cpu" else AT_A_TIME_ON_ACCELERATOR
        for first, last in _csr.runs(self.length, most):
            ends = upto[first : last + 1] - upto[first]
            total = pointers(of[self.row[self.places(slice(first, last))]])
            sums[first:last] = total[ends[1:]] - total[ends[:-1]]
        return sums

    def to(self, device: torch.device) -> Flow:
        return Flow(*(x.to(device) for x in (self.begin, self.length, self.row, self.value)))

    def to_dense(self) -> Tensor:
        """float32 [n, n]: M, with column j at [:, j]."""
        return columns_as_rows(self).T


def from_packed(colptr: Tensor, row: Tensor, value: Tensor) -> Flow:
    return Flow(colptr[:-1].contiguous(), colptr.diff().int(), row.int(), value.float())


def columns_as_rows(flow: Flow) -> Tensor:
    """float32 [n, n]: the transpose of M; row j is column j."""
    _, row, value = flow.packed()
    dense = value.new_zeros(flow.num_nodes, flow.num_nodes)
    dense[flow.columns(), row] = value
    return dense


def from_dense(rows: Tensor) -> Flow:
    """The flow whose column j is row j of a dense tensor; zeros are not stored."""
    column, row = torch.nonzero(rows, as_tuple=True)
    length = torch.bincount(column, minlength=rows.shape[0])
    return from_packed(pointers(length), row, rows[column, row])


def similarities(graph: Graph, edge_weight: Tensor | None) -> Tensor:
    """float64 [num_slots]: the largest similarity over the input columns of each slot; default 1. A
    warning if those of duplicate arcs differ. With directed=False, this includes both directions,
    as in mcl's label input."""
    if edge_weight is None:
        return torch.ones(graph.num_slots, dtype=torch.float64, device=graph.device)
    real = graph.slot >= 0
    value = torch.zeros(graph.num_slots, dtype=torch.float64, device=graph.device)
    slot, weight = graph.slot[real], edge_weight[real].double()
    value.scatter_reduce_(0, slot, weight, "amax")
    if graph._repeated:
        lower = (weight > 0) & (weight < value[slot])  # 0 is no arc
        if bool(lower.any()):
            warnings.warn(
                f"{int(lower.sum()):,} edges repeat an arc with a smaller weight: of parallel arcs "
                "mcl takes the largest similarity, as the program does; add them up beforehand if "
                "each is a part of it",
                stacklevel=5,
            )
    return value if graph.directed else torch.maximum(value, value[graph.reverse_slot])


def input_loops(edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int) -> Tensor:
    """float64 [n]: the largest weight of the loops of each vertex; 0 without loops."""
    loop = edge_index[0] == edge_index[1]
    largest = torch.zeros(num_nodes, dtype=torch.float64, device=edge_index.device)
    weight = largest.new_ones(1) if edge_weight is None else edge_weight[loop].double()
    vertex = edge_index[0][loop].long()
    return largest.scatter_reduce_(0, vertex, weight.expand(vertex.numel()), "amax")


def build(
    graph: Graph, similarity: Tensor, loops: str | float | None, weights: Tensor | None
) -> Flow:
    """The flow of a graph without loops: column j holds the arcs that leave j, and its loop, scaled
    to sum 1. `similarity` is float64 per slot, >= 0, where 0 is no arc. `loops` is as for mcl; None
    uses those in `weights`, float64 [n]. A column without entries gets a loop of 1: its vertex is a
    singleton."""
    n, degree = graph.num_nodes, graph.degree
    tail, head, weight = _csr.rows(graph.rowptr), graph.col.long(), similarity

    def without_zeros() -> tuple[Tensor, Tensor, Tensor, Tensor]:
        there = weight > 0
        if bool(there.all()):
            return tail, head, weight, degree
        ends = tail[there]
        return ends, head[there], weight[there], torch.bincount(ends, minlength=n)

    tail, head, weight, degree = without_zeros()
    largest = _segments.largest_of_segments(pointers(degree), weight)
    if loops == "one":
        loop = torch.ones_like(largest)
    elif loops is None:
        loop = torch.zeros_like(largest) if weights is None else weights
    else:
        times = 1.0 if loops == "max" else float(loops)
        loop = times * torch.where(largest > 0, largest, 1.0)
    largest = torch.maximum(largest, loop)
    loop = torch.where(largest > 0, loop, 1.0)
    largest = torch.where(largest > 0, largest, 1.0)

    # Columns are scaled by their maximum first, because sums of the largest numbers would overflow.
    weight, loop = weight / largest[tail], loop / largest
    total = _segments.of_segments(pointers(degree), weight) + loop
    weight, loop = (weight / total[tail]).float(), (loop / total).float()
    # Entries that underflow in float32 are not stored.
    tail, head, weight, degree = without_zeros()
    colptr, row, value = _strengths.with_diagonal(pointers(degree), head.int(), weight, loop)
    assert value is not None
    return from_packed(colptr, row, value)
