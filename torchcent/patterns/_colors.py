"""Colours of the Weisfeiler-Leman test, by exact refinement."""

from __future__ import annotations

import torch
from torch import Tensor

from torchcent.check import _patterns as check_patterns
from torchcent.check._run import DEFAULT, Run
from torchcent.engines.measures._measures import NOT_IN_NETWORKX, measure
from torchcent.engines.plan import _room
from torchcent.graph import Graph, _csr
from torchcent.graph._arguments import GraphLike, as_graph
from torchcent.runtime import _memory, _small

_LARGEST = 2**63 - 1  # of a number for a pair; larger ones are sorted by both
_OF_SLOT = 120  # bytes


@measure(
    "vertices", weights="",
    without=NOT_IN_NETWORKX | {
        "functional": "colours are of a data set, and computed once, before a model is trained",
        "command": "colours are names of classes, no scores",
        "columns": "its numbers are no features",
    },
)  # fmt: skip
def wl_colors(
    edge_index: GraphLike,
    *,
    iterations: int = -1,
    node_labels: Tensor | None = None,
    edge_labels: Tensor | None = None,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    run: Run = DEFAULT,
) -> Tensor:
    r"""The colours of vertices by the Weisfeiler-Leman test (1-WL, colour refinement).

    .. math:: c_{t+1}(v) = \big(c_t(v), \{\!\{c_t(u) : v \to u\}\!\},
              \{\!\{c_t(u) : u \to v\}\!\}\big)

    with a number for each colour: 0, 1, ... in the order of what they stand for. Two vertices have
    the same colour if and only if these are equal, because lists are sorted and compared, not
    hashed. Colours do not depend on the numbers of vertices, and mean the same in all graphs of a
    batch. Graphs whose colours have different counts are not isomorphic.

    Args:
        edge_index, num_nodes, batch, directed: as in :func:`degree`. Loops and parallel arcs do not
            count, nor do weights.
        iterations: number of refinements; -1 for as many as split a colour. Further ones change
            nothing.
        node_labels: integers [n], such as atomic numbers: the colours to begin with, in their
            order; None for one colour.
        edge_labels: integers [E], such as types of bonds, for each column of edge_index (input
            column of a Graph). Lists then have pairs of a colour and the label of the arc. Parallel
            arcs must have the same label, of undirected graphs both directions, too.
        run: how it is computed, see :class:`Run`.

    Returns:
        int64 Tensor [n]. Colours of different calls are not comparable: pass graphs as one batch.
        With iterations=-1 two vertices of one graph have the same colour if and only if no number
        of refinements distinguishes them.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.
        MemoryError: ``Run(memory=)`` is too small; raised before any computation.

    O(m log m) time per refinement, for m slots. There are at most n of them, as in a path n / 2.

    Example:
        >>> import torch, torchcent
        >>> two_paths = torch.tensor([[0, 1, 3, 4, 5], [1, 2, 4, 5, 6]])
        >>> batch = torch.tensor([0, 0, 0, 1, 1, 1, 1])
        >>> color = torchcent.wl_colors(two_paths, batch=batch, directed=False)
        >>> color
        tensor([0, 2, 0, 1, 3, 3, 1])
        >>> counts = torch.sparse_coo_tensor(torch.stack([batch, color]), torch.ones(7))
        >>> counts.to_dense()  # the features of the Weisfeiler-Leman kernel
        tensor([[2., 0., 1., 0.],
                [0., 2., 0., 2.]])

    Source:
        Weisfeiler and Leman 1968; Shervashidze et al. 2011, "Weisfeiler-Lehman graph kernels".
    """
    graph = as_graph(edge_index, None, num_nodes, batch, directed, run).unweighted()
    rounds = check_patterns.rounds(iterations)
    color = torch.zeros(graph.num_nodes, dtype=torch.int64, device=graph.device)
    if node_labels is not None:
        own = check_patterns.labels(node_labels, "node_labels", graph.num_nodes, graph)
        color = torch.unique(own, return_inverse=True)[1]
    _check_memory(graph, run.memory)
    label = None
    if edge_labels is not None:
        columns = graph.slot.numel()
        own = check_patterns.labels(edge_labels, "edge_labels", columns, graph)
        label = _of_slots(graph, torch.unique(own, return_inverse=True)[1])
    return refined(graph, color, label, graph.num_nodes if rounds is None else rounds)


def _of_slots(graph: Graph, label: Tensor) -> Tensor:
    """The label of each slot, which all of its columns have."""
    is_arc = graph.slot >= 0
    slot, label = graph.slot[is_arc], label[is_arc]
    of_slot = label.new_full((graph.num_slots,), -1)
    of_slot[slot] = label
    if not graph.directed:
        of_slot = torch.where(of_slot < 0, of_slot[graph.reverse_slot], of_slot)
    same = of_slot[slot] == label
    if not graph.directed:
        same &= of_slot[graph.reverse_slot][slot] == label
    if not bool(same.all()):
        column = int(torch.nonzero(is_arc).flatten()[~same][0])
        raise ValueError(
            f"edge_labels[{column}] differs from the label of a parallel arc or, in an undirected "
            "graph, of the reverse one; accepted: the same for all of them"
        )
    return of_slot


def _check_memory(graph: Graph, memory: int | None) -> None:
    need = graph._nbytes + _OF_SLOT * graph.num_slots + 64 * graph.num_nodes
    if memory is not None or need >= _memory.SMALL_RUN.get(graph.device.type, 0):
        what = f"wl_colors of {graph.num_nodes} vertices"
        _memory.require(what, need, _room.limit(graph, memory), memory)


def refined(graph: Graph, color: Tensor, label: Tensor | None, rounds: int) -> Tensor:
    """The colours after so many rounds, or when no round splits one."""
    arcs = [(graph.rowptr, graph.col, label)]
    if not graph._mutual or (label is not None and graph.directed):
        colptr, row, slot = graph._transposed
        arcs.append((colptr, row, None if label is None else label[slot]))
    number = _number(color)
    for _ in range(rounds):
        new = color
        for each in arcs:
            new = _ranks(new, _lists(color, *each))
        if _number(new) == number:
            break  # also of the same numbers, which are in the order of the old ones
        color, number = new, _number(new)
    return color


def _number(color: Tensor) -> int:
    return int(color.max()) + 1 if color.numel() else 0


def _ranks(first: Tensor, second: Tensor) -> Tensor:
    """The rank of each pair of numbers >= 0 among all that there are."""
    width = _number(second)
    if _number(first) * width <= _LARGEST:
        rank: Tensor = torch.unique(first * width + second, return_inverse=True)[1]
    else:
        rank = torch.unique(torch.stack([first, second]), dim=1, return_inverse=True)[1]
    return rank


def _lists(color: Tensor, rowptr: Tensor, col: Tensor, label: Tensor | None) -> Tensor:
    """A number for each row's sorted list of colours, or of colours with the labels of their arcs:
    the same for the same list, 0 if it is empty.

    Neighbours in the list are put together, then pairs, and so on, until there is one number.
    """
    degree, row = rowptr.diff(), _csr.rows(rowptr)
    entry = color[col] if label is None else _ranks(color[col], label)
    width = _number(entry)
    entry = (row * width + entry).sort().values - row * width + 1
    while entry.numel() > int((degree > 0).sum()):
        pairs = (degree + 1) // 2
        begin = _csr.pointers(degree)[:-1]
        left = _csr.ranges(begin, pairs)
        pair_row = _small.repeat_interleave(torch.arange(pairs.numel(), device=col.device), pairs)
        left = 2 * left - _small.repeat_interleave(begin, pairs)
        is_pair = left + 1 < (begin + degree)[pair_row]
        right = torch.where(is_pair, entry[(left + 1).clamp(max=entry.numel() - 1)], 0)
        entry, degree = _ranks(entry[left], right) + 1, pairs
    result = torch.zeros_like(color)
    result[degree > 0] = entry
    return result
