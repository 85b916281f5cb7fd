"""The `tensor` engine: torch.sparse products and scatter reductions, on any device.

The contract is that of the operator ``mcl_iterate`` (docs/clustering.md), line by line. The
transpose of M is a CSR matrix whose row j is column j, so that rows of products come out as columns
of M^e. Columns are expanded in blocks, so that M^e is never stored as a whole.
"""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent._mcl._flow import Flow, from_packed, pointers
from torchcent._tensor._scatter import scatter_sum

# Products of a block, and the bytes that each may take while it is multiplied and pruned.
PRODUCTS, PRODUCTS_ON_ACCELERATOR = 2**21, 2**25
BYTES_PER_PRODUCT = 120


def iterate(
    flow: Flow, control: Tensor, expansion: int, inflation: float, threshold: float, select: int,
    recover: int, mass: float,
) -> tuple[Flow, Tensor]:  # fmt: skip
    """Expansion, pruning, chaos and inflation: the new flow and its summary (`_rules.Summary`)."""
    n = flow.num_nodes
    colptr, row, value = flow.packed()
    matrix = _csr(colptr, row, value.double(), n)
    made, told = [], []
    for begin, end in _blocks(colptr, row, expansion, int(control[2])):
        if control[0]:
            break
        part = slice(int(colptr[begin]), int(colptr[end]))
        block = _csr(colptr[begin : end + 1] - colptr[begin], row[part], value[part].double(), n)
        for _ in range(expansion - 1):
            block = torch.sparse.mm(block, matrix)
        column, into = block.coalesce().indices()
        entries = Columns(end - begin, column, into, block.coalesce().values().float())
        pruned, summary = prune(entries, begin, threshold, select, recover, mass)
        made.append(inflate(pruned, inflation))
        told.append(summary)
        control[1] += end - begin
    if not made:
        empty = torch.zeros(7, dtype=torch.float64)
        return flow, empty
    length = torch.cat([torch.bincount(x.column, minlength=x.count) for x in made])
    new = from_packed(
        pointers(length), torch.cat([x.row for x in made]), torch.cat([x.value for x in made])
    )
    return new, combine(torch.stack(told)).cpu()


class Columns:
    """Entries of some columns: column from 0 and row, ascending, and value."""

    def __init__(self, count: int, column: Tensor, row: Tensor, value: Tensor) -> None:
        self.count, self.column, self.row, self.value = count, column, row, value

    def sums(self, values: Tensor) -> Tensor:
        """float64 [count]: a sum for each column."""
        return scatter_sum(values.double(), self.column, self.count)

    def where(self, kept: Tensor) -> Columns:
        return Columns(self.count, self.column[kept], self.row[kept], self.value[kept])


def prune(
    entries: Columns, first: int, threshold: float, select: int, recover: int, mass: float
) -> tuple[Columns, Tensor]:
    """Cut, recover, select, rescale (`_rules.Prune`); column 0 is that of vertex `first`."""
    column, value = entries.column, entries.value
    before = torch.bincount(column, minlength=entries.count)
    keep = value >= threshold if threshold > 0 else torch.ones_like(value, dtype=torch.bool)
    count = torch.bincount(column[keep], minlength=entries.count)
    held = entries.sums(value * keep)
    cut = count < before
    recovering = cut & (held < mass) & (count < recover)
    selecting = (count > select) & (select > 0) & ~recovering
    if (recovering | selecting).any():
        rank = _ranks(entries, recovering | selecting)
        keep &= ~selecting[column] | (rank < select)
        held = entries.sums(value * keep)
        again = selecting & (held < mass) & (select < recover)
        recovering, selecting = recovering | again, selecting & ~again
        keep |= recovering[column] & (rank < recover)
        count = torch.bincount(column[keep], minlength=entries.count)
        held = entries.sums(value * keep)
    kept = entries.where(keep)
    empty = torch.nonzero(count == 0).flatten()
    if empty.numel():
        kept = _with_loops(kept, empty, first)
        held = held.index_fill(0, empty, 1.0)
    whole = held.clamp(min=torch.finfo(torch.float64).tiny)
    kept.value = (kept.value.double() / whole[kept.column]).float()
    summary = [
        _chaos(kept), before.sum(), keep.sum() + empty.numel(), cut.sum(), recovering.sum(),
        selecting.sum(), held.min(),
    ]  # fmt: skip
    return kept, torch.stack([x.double() for x in summary])


def inflate(entries: Columns, inflation: float) -> Columns:
    """Entries ** inflation, columns rescaled to sum 1; what float32 does not hold goes."""
    if inflation == 1:
        return entries
    # By the largest of the column, so that not all underflow.
    value = entries.value.double()
    power = (value / _largest(entries, value)[entries.column]) ** inflation
    entries.value = (power / entries.sums(power)[entries.column]).float()
    return entries.where(entries.value > 0)


def combine(summaries: Tensor) -> Tensor:
    """The summary of all columns from those of blocks of them."""
    chaos, mass = summaries[:, 0].max(), summaries[:, 6].min()
    return torch.cat([chaos[None], summaries[:, 1:6].sum(0), mass[None]])


def _chaos(entries: Columns) -> Tensor:
    value = entries.value.double()
    count = torch.bincount(entries.column, minlength=entries.count)
    return ((_largest(entries, value) - entries.sums(value * value)) * count).max().clamp(min=0)


def _largest(entries: Columns, value: Tensor) -> Tensor:
    zero = value.new_zeros(entries.count)
    return zero.scatter_reduce_(0, entries.column, value, "amax")


def _ranks(entries: Columns, wanted: Tensor) -> Tensor:
    """The rank of every entry in its column, from the largest; of equal ones by row. Only in the
    wanted columns; 0 in others."""
    at = torch.nonzero(wanted[entries.column]).flatten()
    column = entries.column[at]
    order = torch.argsort(entries.value[at], descending=True, stable=True)
    order = order[torch.argsort(column[order], stable=True)]
    begin = pointers(torch.bincount(column, minlength=entries.count))
    rank = torch.empty_like(at)
    rank[order] = torch.arange(at.numel(), device=at.device) - begin[column]
    spread = torch.zeros_like(entries.column)
    spread[at] = rank
    return spread


def _with_loops(entries: Columns, empty: Tensor, first: int) -> Columns:
    column = torch.cat([entries.column, empty])
    row = torch.cat([entries.row, empty + first])
    value = torch.cat([entries.value, entries.value.new_ones(empty.numel())])
    order = torch.argsort(column, stable=True)
    return Columns(entries.count, column[order], row[order], value[order])


def _csr(colptr: Tensor, row: Tensor, value: Tensor, n: int) -> Tensor:
    count = colptr.numel() - 1
    column = torch.repeat_interleave(torch.arange(count, device=row.device), colptr.diff())
    return torch.sparse_coo_tensor(
        torch.stack([column, row]), value, (count, n), is_coalesced=True, check_invariants=False
    )


def _blocks(colptr: Tensor, row: Tensor, expansion: int, room: int) -> list[tuple[int, int]]:
    """Ranges of columns whose expansion multiplies so many entries at most, or single columns."""
    n = colptr.numel() - 1
    length = colptr.diff()
    work = length
    for _ in range(expansion - 1):
        sums = torch.nn.functional.pad(work[row].cumsum(0), (1, 0))
        work = sums[colptr[1:]] - sums[colptr[:-1]]
        if expansion > 2:
            work = work.clamp(max=n)
    most = PRODUCTS if row.device.type == "cpu" else PRODUCTS_ON_ACCELERATOR
    if room > 0:
        most = max(min(most, room // BYTES_PER_PRODUCT), 1)
    total = work.cumsum(0)
    cuts, end, before = [0], 0, 0
    while end < n:
        end = int(torch.searchsorted(total, before + most, right=True))
        end = min(max(end, cuts[-1] + 1), n)
        before = int(total[end - 1])
        cuts.append(end)
    return list(zip(cuts[:-1], cuts[1:], strict=True))
