"""A window that moves over edges with times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _positions as positions
from torchcent.check import _values as values


class Window(NamedTuple):
    """The edges of one window, as changes to the window before.

    Attributes:
        begin, end: times in the window are at least `begin` and less than `end`.
        insert, delete: int64 [2, count], for :meth:`DynamicGraph.update`.
    """

    begin: float
    end: float
    insert: Tensor
    delete: Tensor


def windows(
    edge_index: Tensor,
    times: Tensor | np.ndarray | Sequence[float],
    width: float,
    step: float | None = None,
    *,
    directed: bool = True,
) -> Iterator[Window]:
    """Moves a window over a temporal edge list, and yields what comes into it and what leaves it.

    Args:
        edge_index: int64 (or int32) [2, E], in any order. An edge may occur at many times, and is
            in a window if any of them is. Loops are left out.
        times: [E], the time of each column: integers or floats, finite.
        width: of a window, > 0.
        step: by how much each window begins later than the one before, > 0; `width` by default.
        directed: False takes (u, v) and (v, u) for the same edge.

    Yields:
        Windows from the first time on until one holds the last, see :class:`Window`. The first
        inserts all its edges.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    O(E log E) time, and O(k log k) for each window of k columns.

    Example:
        >>> import torch, torchcent
        >>> calls, days = torch.tensor([[0, 1, 2], [1, 2, 3]]), torch.tensor([1, 2, 3])
        >>> empty = torch.empty(2, 0, dtype=torch.int64)
        >>> graph = torchcent.DynamicGraph(empty, num_nodes=4, directed=False)
        >>> for window in torchcent.windows(calls, days, width=2, step=1, directed=False):
        ...     update = graph.update(window.insert, window.delete)
        ...     print(window.begin, update.inserted, update.deleted)
        1.0 2 0
        2.0 1 1
    """
    ends = check.edge_index(edge_index).cpu().long()
    at = torch.from_numpy(positions.numbers(times, "times"))
    if at.shape != (ends.shape[1],) or not bool(at.isfinite().all()):
        raise ValueError(
            f"times must be {ends.shape[1]} finite numbers, one per column of edge_index; got "
            f"a tensor of shape {tuple(at.shape)}"
        )
    length = _positive(width, "width")
    move = length if step is None else _positive(step, "step")
    values.flag(directed, "directed")
    if at.numel() and float(at.abs().max()) + move == float(at.abs().max()):
        raise values.wrong_value("step", "large enough to change each of times", move)
    return _windows(ends, at, length, move, directed)


def _windows(
    ends: Tensor, at: Tensor, width: float, step: float, directed: bool
) -> Iterator[Window]:
    if not directed:
        ends = torch.stack([ends.amin(0), ends.amax(0)])
    is_edge = ends[0] != ends[1]
    at, order = at[is_edge].sort(stable=True)
    if not at.numel():
        return
    keys = ((ends[0] << 32) | ends[1])[is_edge][order]
    first, last = float(at[0]), float(at[-1])
    within = keys[:0]
    number = 0
    while True:
        begin = first + number * step
        limits = torch.searchsorted(at, at.new_tensor([begin, begin + width]))
        edges = keys[int(limits[0]) : int(limits[1])].unique()
        insert, delete = edges[~torch.isin(edges, within)], within[~torch.isin(within, edges)]
        yield Window(
            begin,
            begin + width,
            *(torch.stack([x >> 32, x & (2**32 - 1)]) for x in (insert, delete)),
        )
        if begin + width > last:
            return
        within, number = edges, number + 1


def _positive(value: object, name: str) -> float:
    number = values.number(value, name)
    if not 0 < number < float("inf"):
        raise values.wrong_value(name, "a finite number > 0", value)
    return number
