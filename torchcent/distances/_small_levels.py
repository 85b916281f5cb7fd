"""Numbers of pairs at each weighted distance in many small graphs, from lists of all pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from torchcent.engines.measures._request import Request
from torchcent.engines.search import _tiny
from torchcent.graph import Graph, _batch
from torchcent.runtime import _ops, _small
from torchcent.runtime._codes import control

_PAIRS = 2**20  # at a time, of 24 bytes and as many temporaries


def split(graph: Graph, request: Request) -> tuple[_tiny.Numbers, list[int]]:
    """The graphs of a weighted batch to count together, and the others."""
    is_plain = request.engine == "auto" and request.scale is None
    if not is_plain or graph.ptr is None or not _ops.has_kernel("pair_list", graph.device):
        return np.empty(0, np.int64), list(range(graph.num_graphs))
    return _tiny.split(graph, "auto")


def levels(graph: Graph, small: _tiny.Numbers, pivots: Tensor | None) -> tuple[Tensor, ...]:
    """(graph, distance, pairs), int64: the pairs from pivots, or from all, of whole weights."""
    mask = np.zeros(graph.num_graphs, bool)
    mask[small] = True
    starts = None
    if pivots is not None:
        starts = torch.zeros(graph.num_nodes, dtype=torch.bool, device="cpu").index_fill_(
            0, pivots, True
        )
    parts = [_count(graph, run, mask, starts) for run in _runs(graph)]
    return tuple(torch.cat(each) for each in zip(*parts, strict=True))


def _runs(graph: Graph) -> Iterator[slice]:
    """Runs of graphs with about so many pairs."""
    size = _batch.counts(graph)[0]
    turn = np.cumsum(size.astype(np.float64) ** 2) // _PAIRS
    first = np.flatnonzero(np.diff(turn, prepend=-1))
    for begin, end in zip(first.tolist(), [*first[1:].tolist(), size.size], strict=True):
        yield slice(begin, end)


def _count(graph: Graph, run: slice, mask: np.ndarray, starts: Tensor | None) -> list[Tensor]:
    """Those of the chosen graphs of a run, sorted by graph and distance."""
    arrays, first = _arrays(graph, run, mask)
    *arcs, unit, ptr = arrays
    limit = torch.full((ptr.numel() - 1,), torch.inf, dtype=torch.float64, device="cpu")
    count = torch.zeros(int(ptr[-1]), dtype=torch.int64, device="cpu")
    record = control(), torch.get_num_threads()
    _ops.ops.pair_counts(*arcs, ptr, limit, count, *record)
    total, none = int(count.sum()), count[:0]
    ends, length = (
        torch.empty(2, total, dtype=torch.int64, device="cpu"),
        torch.empty(total, device="cpu").double(),
    )
    out = none, count.cumsum(0) - count, ends, length, none
    _ops.ops.pair_list(*arcs, unit, ptr, limit, *out, control(), record[1])
    owner = torch.searchsorted(ptr, ends[0], right=True) - 1
    counts = torch.from_numpy(mask[run])[owner]
    if starts is not None:
        counts &= starts[ends[0] + first]
    owner, distance = owner[counts], length[counts].round().long()
    width = int(distance.max()) + 1 if distance.numel() else 1
    key, pairs = torch.unique(owner * width + distance, return_counts=True)
    return [key // width + run.start, key % width, pairs]


def _arrays(graph: Graph, run: slice, mask: np.ndarray) -> tuple[list[Tensor], int]:
    """rowptr, col, weight, unit and ptr of a run of graphs, and its first vertex.

    Rows of graphs that are not chosen are empty, so that nothing is searched there.
    """
    vertex, slot = _batch.bounds(graph)
    v, s = (slice(int(x[run.start]), int(x[run.stop])) for x in (vertex, slot))
    weight, unit = graph._scaled_per_graph
    assert graph.ptr is not None
    rowptr = graph.rowptr[v.start : v.stop + 1]
    ptr = graph.ptr[run.start : run.stop + 1] - v.start
    col, weight = graph.col[s], weight[s]
    if not mask[run].all():
        of_vertex = np.repeat(mask[run], np.diff(vertex[run.start : run.stop + 1]))
        degree = rowptr.diff()
        slots = _small.repeat_interleave(torch.from_numpy(of_vertex), degree)
        degree = degree * torch.from_numpy(of_vertex)
        rowptr = torch.cat([degree.new_zeros(1), degree.cumsum(0)])
        col, weight = col[slots], weight[slots]
    else:
        rowptr = rowptr - s.start
    return [rowptr, col - v.start, weight.contiguous(), unit[run], ptr], v.start
