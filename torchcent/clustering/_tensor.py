"""The `tensor` engine: torch.sparse products and scatter reductions, on any device.

It implements the contract of the operator ``mcl_iterate`` (docs/clustering.md). The transpose of M
is a CSR matrix whose row j is column j, so that rows of products are columns of M^e. Columns are
expanded in blocks, so that M^e is never stored as a whole.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.clustering._flow import Flow, from_packed
from torchcent.clustering._rules import WHOLE, Share, Summary, columns_of
from torchcent.engines._tensor._scatter import scatter_sum
from torchcent.graph._csr import pointers, runs
from torchcent.runtime import _small
from torchcent.runtime._codes import BYTES, CANCEL, DONE

# Products of a block, and the bytes per product while it is multiplied and pruned.
PRODUCTS, PRODUCTS_ON_ACCELERATOR = 2**21, 2**25
BYTES_PER_PRODUCT = 120
# Shares of columns are summed as integers, so that the sum does not depend on the blocks.
_MASS_UNIT = 2.0**32


def iterate(
    flow: Flow, control: Tensor, expansion: int, inflation: float, threshold: float, select: int,
    recover: int, mass: float, share: Share = WHOLE,
) -> tuple[Flow, Tensor]:  # fmt: skip
    """One iteration: expansion, pruning, chaos and inflation, of the columns of a share. Returns
    the new flow and its summary (`_rules.Summary`)."""
    n = flow.num_nodes
    colptr, row, value = flow.packed()
    matrix = _csr(colptr, row, value.double(), n)
    parts, summaries = [], []
    length = colptr.diff()
    lowest, highest = columns_of(share, n)
    for begin, end in _blocks(colptr, row, expansion, int(control[BYTES]), lowest, highest):
        if control[CANCEL]:
            break
        part = slice(int(colptr[begin]), int(colptr[end]))
        block = _csr(colptr[begin : end + 1] - colptr[begin], row[part], value[part].double(), n)
        products = length.new_zeros(1)
        for _ in range(expansion - 1):
            products += length[block.indices()[1]].sum()
            block = torch.sparse.mm(block, matrix).coalesce()
        column, into = block.indices()
        entries = Columns(end - begin, column, into, block.values().float())
        entries, summary = prune(entries, threshold, select, recover, mass)
        parts.append(inflate(entries, inflation))
        summaries.append(torch.cat([summary[:1], products.double(), summary[1:]]))
        control[DONE] += end - begin
    new_length = torch.zeros_like(length)
    if not parts:
        return from_packed(pointers(new_length), row[:0], value[:0]), Summary.of_no_columns()
    counts = torch.cat([x.counts() for x in parts])
    new_length[lowest : lowest + counts.numel()] = counts
    row, value = torch.cat([x.row for x in parts]), torch.cat([x.value for x in parts])
    new = from_packed(pointers(new_length), row, value)
    return new, combine(torch.stack(summaries)).cpu()


class Columns(NamedTuple):
    """Entries of consecutive columns."""

    number: int  # of columns
    column: Tensor  # numbered from 0; ascending
    row: Tensor  # ascending within each
    value: Tensor

    def sums(self, values: Tensor) -> Tensor:
        """float64: the sum of each column."""
        return scatter_sum(values.double(), self.column, self.number)

    def counts(self, mask: Tensor | None = None) -> Tensor:
        """int64: the number of entries of each column, or of those in the mask."""
        column = self.column if mask is None else self.column[mask]
        return torch.bincount(column, minlength=self.number)

    def largest(self) -> Tensor:
        """float64: the largest entry of each column."""
        zero = torch.zeros(self.number, dtype=torch.float64, device=self.value.device)
        return zero.scatter_reduce_(0, self.column, self.value.double(), "amax")

    def where(self, mask: Tensor) -> Columns:
        return Columns(self.number, self.column[mask], self.row[mask], self.value[mask])


def prune(
    entries: Columns, threshold: float, select: int, recover: int, mass: float
) -> tuple[Columns, Tensor]:
    """Cuts, recovers, selects and rescales (`_rules.Prune`); the summary lacks the products."""
    column, value = entries.column, entries.value
    above = value >= threshold if threshold > 0 else torch.ones_like(value, dtype=torch.bool)
    count, sums = entries.counts(above), entries.sums(value * above)
    recovering = (sums < mass) & (count < entries.counts().clamp(max=recover))
    selecting = (count > select) & (select > 0) & ~recovering
    keep = above
    if (recovering | selecting).any():
        selected, recovered = _largest(entries, recovering | selecting, select, recover)
        keep = above & (~selecting[column] | (value >= selected[column]))
        number = entries.counts(keep)
        again = selecting & (number < recover) & (entries.sums(value * keep) < mass)
        enough = value >= recovered[column]
        keep |= (recovering[column] & enough) | (again[column] & above & enough)
        selecting, recovering = selecting & (number < count), recovering | again
    nothing = (entries.counts(keep) == 0)[column]
    if nothing.any():
        keep |= nothing & (value == entries.largest()[column])
    entries = entries.where(keep)
    sums, count = entries.sums(entries.value), entries.counts()
    energy = entries.largest() - entries.sums(entries.value.double() ** 2)
    entries = entries._replace(value=(entries.value.double() / sums[entries.column]).float())
    summary = [
        (energy * count).max().clamp(min=0), count.sum(), (sums < mass).sum(), recovering.sum(),
        selecting.sum(), sums.min(), (sums * _MASS_UNIT).long().sum().double() / _MASS_UNIT,
    ]  # fmt: skip
    return entries, torch.stack([x.double() for x in summary])


def inflate(entries: Columns, inflation: float) -> Columns:
    """Raises entries to the power and rescales columns to sum 1; drops float32 underflows."""
    if inflation == 1:
        return entries
    # Relative to the largest entry of the column, so that not all underflow.
    value = entries.value.double()
    power = (value / entries.largest()[entries.column]) ** inflation
    value = (power / entries.sums(power)[entries.column]).float()
    return entries._replace(value=value).where(value > 0)


def combine(summaries: Tensor) -> Tensor:
    """The summary of all columns, combined from the summaries of blocks."""
    sums = summaries.sum(0)
    sums[0], sums[-2] = summaries[:, 0].max(), summaries[:, -2].min()
    return sums


def _largest(entries: Columns, mask: Tensor, *places: int) -> list[Tensor]:
    """float32: the entry at each place, from 1, of some columns by decreasing value, the smallest
    one if there are fewer; 0 of other columns, and at place 0."""
    at = torch.nonzero(mask[entries.column]).flatten()
    order = at[torch.argsort(entries.value[at], descending=True, stable=True)]
    order = order[torch.argsort(entries.column[order], stable=True)]
    count = torch.bincount(entries.column[at], minlength=entries.number)
    value, begin = entries.value[order], pointers(count)[:-1]
    bars = []
    for place in places:
        bar = value.new_zeros(entries.number)
        there = (count > 0) & (place > 0)
        bar[there] = value[(begin + count.clamp(max=place) - 1)[there]]
        bars.append(bar)
    return bars


def _csr(colptr: Tensor, row: Tensor, value: Tensor, n: int) -> Tensor:
    count = colptr.numel() - 1
    column = _small.repeat_interleave(torch.arange(count, device=row.device), colptr.diff())
    return torch.sparse_coo_tensor(
        torch.stack([column, row]), value, (count, n), is_coalesced=True, check_invariants=False,
        device=value.device,
    )  # fmt: skip


def _blocks(
    colptr: Tensor, row: Tensor, expansion: int, space: int, lowest: int, highest: int
) -> list[tuple[int, int]]:
    """Ranges of columns whose expansion has at most `space` products, or single columns."""
    work = last = colptr.diff()
    for _ in range(expansion - 1):
        sums = pointers(last[row])
        last = (sums[colptr[1:]] - sums[colptr[:-1]]).clamp(max=2**40)
        work = torch.maximum(work, last)
    most = PRODUCTS if row.device.type == "cpu" else PRODUCTS_ON_ACCELERATOR
    if space > 0:
        most = max(min(most, space // BYTES_PER_PRODUCT), 1)
    blocks = runs(work[lowest:highest], most)
    return [(lowest + first, lowest + end) for first, end in blocks]
