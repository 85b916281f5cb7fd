"""Distances to the nearest member of sets of vertices: the anchors of P-GNN."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from torchcent.check import _common as check
from torchcent.check import _landmarks as check_landmarks
from torchcent.check._run import DEFAULT, Run, computes
from torchcent.check._values import within
from torchcent.graph import Graph, _batch, _csr
from torchcent.graph._arguments import GraphLike, WeightLike, as_graph
from torchcent.pairs import _landmarks
from torchcent.pairs._draws import Draws, ranked, seed_of
from torchcent.pairs._limits import in_units
from torchcent.runtime import _ops, _small
from torchcent.runtime._codes import control
from torchcent.runtime._tuned import TUNED
from torchcent.runtime._watch import at_work, progress_bar

_DRAWS = 2**21  # numbers that are drawn together
_BLOCK = 2**24  # vertices and slots, of all columns, for which members are found together


class AnchorDistances(NamedTuple):
    """Result of :func:`anchor_distances`.

    Attributes:
        distance: [n, k], of each vertex and the nearest member of each set.
        nearest: int64 [n, k], this member, of several the lowest; -1 for none.
        sets: bool [n, k], the members of each set.
    """

    distance: Tensor
    nearest: Tensor
    sets: Tensor


@computes(searches=True)
def anchor_distances(
    edge_index: GraphLike,
    edge_weight: WeightLike = None,
    *,
    sets: Tensor | None = None,
    factor: float = 0.5,
    num_nodes: int | None = None,
    batch: Tensor | None = None,
    directed: bool | None = None,
    direction: str = "from",
    unreachable: float = -1,
    dtype: torch.dtype | None = None,
    generator: torch.Generator | None = None,
    run: Run = DEFAULT,
) -> AnchorDistances:
    r"""Distances between each vertex and the nearest member of random sets, the anchors of P-GNN.

    .. math:: D_{vj} = \min_{u \in S_j} d(u, v)

    A graph of n vertices has sets of n/2, n/4, ..., 1 vertices, which are r = floor(log2 n) sizes,
    rounded down. Of each size there are floor(factor r) sets, at least one: those of the
    ``preselect_anchor`` of P-GNN, larger ones first. By Bourgain's theorem distances between
    vertices are about those of their rows.

    Args:
        sets: bool [n, k], the members of each set, a column per set; for a batch the sets of all
            graphs side by side. None draws them.
        factor: sets of each size, as a multiple of the sizes, > 0.
        direction: distances "from" the sets, or "to" them.
        generator: draws the sets; None takes PyTorch's global one. It draws a single number. With
            it, the sets of a graph depend on its own arcs, not on its batch.
        Others: as in :func:`landmark_distances`.
        run: how it is computed, see :class:`Run`.

    Returns:
        AnchorDistances with `distance`, `nearest` and `sets` [n, k]. In a batch k is that of the
        largest graph; the last columns of smaller ones have no members.

    Raises:
        TypeError, ValueError, MemoryError, OverflowError: as in :func:`landmark_distances`.

    A search per set and graph, from all of its members at once: O(k m) time for graphs of m arcs in
    all, with weights O(k m log m).

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
        >>> ends = torch.tensor([[True, False], [False] * 2, [False] * 2, [False] * 2, [True] * 2])
        >>> found = torchcent.anchor_distances(path, sets=ends, directed=False)
        >>> found.distance.T
        tensor([[0, 1, 2, 1, 0],
                [4, 3, 2, 1, 0]], dtype=torch.int32)
        >>> found.nearest.T
        tensor([[0, 0, 0, 4, 4],
                [4, 4, 4, 4, 4]])
        >>> drawn = torchcent.anchor_distances(path, generator=torch.Generator().manual_seed(1))
        >>> drawn.sets.sum(0)
        tensor([2, 1])

    Source:
        You, Ying and Leskovec 2019, "Position-aware graph neural networks"; Bourgain 1985.
    """
    graph = as_graph(edge_index, edge_weight, num_nodes, batch, directed, run)
    share = within(factor, "factor", "(0, inf)", "finite and > 0")
    kind, fill = _landmarks.values(graph, dtype, unreachable)
    source = check.random_generator(generator)
    about = "" if sets is not None else f" with factor={share:g}"
    size = _batch.counts(graph)[0]
    members = None if sets is None else check_landmarks.sets(sets, graph).to(graph.device)
    if members is None:
        width = math.prod(_classes(int(size.max(initial=0)), share))
    else:
        check_landmarks.no_generator(source, "sets are given")
        width = members.shape[1]
    in_kernel = _ops.has_kernel("nearest_members", graph.device)
    more = _per_thread(graph) if in_kernel else 0
    if members is None:  # what is drawn, and five such temporaries
        more += 5 * 8 * max(graph.num_nodes, min(_DRAWS, width * graph.num_nodes))
    what = f"anchor_distances of {width} sets" + about
    _landmarks.allow(graph, width if in_kernel else 4 * width, kind, run, what, more)
    if members is None:
        members = _drawn_sets(graph, width, share, seed_of(source))
    graph = _landmarks.towards(graph, direction)
    find = _in_kernel if in_kernel else _nearest_members
    distance, nearest = find(graph, members, run)
    return AnchorDistances(_landmarks.stored(distance, kind, fill), nearest, members)


def _classes(size: int, factor: float) -> tuple[int, int]:
    """Sizes of the sets of a graph of so many vertices, and sets of each size."""
    sizes = max(size, 1).bit_length() - 1
    return sizes, max(int(min(factor * sizes, 2.0**40)), 1)


def _drawn_sets(graph: Graph, width: int, factor: float, seed: int) -> Tensor:
    """A set has the vertices of the lowest numbers drawn."""
    sets = torch.zeros(width, graph.num_nodes, dtype=torch.bool, device=graph.device)
    draws = Draws(graph, seed)
    if graph.ptr is None:
        _draw_alone(draws, sets, factor)
        return sets.T.contiguous()
    size = _batch.sizes(graph)
    exponent = torch.arange(1, 32, device=size.device)
    sizes = (size[:, None] >= 2**exponent).sum(1)  # as _classes, of each graph
    copies = (factor * sizes.double()).long().clamp(min=1)
    for column in range(width):
        number = column // copies
        count = torch.where(number < sizes, size >> (number + 1).clamp(max=62), 0)
        order, place = ranked(graph, draws.column(column))
        sets[column, order] = place < count[_batch.of_graph(graph, order)]
    return sets.T.contiguous()


def _draw_alone(draws: Draws, sets: Tensor, factor: float) -> None:
    """Of one graph: sets [width, n] of one size together, and no numbers are sorted."""
    n = sets.shape[1]
    sizes, copies = _classes(n, factor)
    step = max(1, _DRAWS // max(n, 1))
    for number in range(sizes):
        for some in torch.arange(number * copies, (number + 1) * copies, device="cpu").split(step):
            begin, end = int(some[0]), int(some[-1]) + 1
            key = draws.rows(begin, end)
            sets[begin:end] = key <= key.kthvalue(n >> (number + 1), 1, keepdim=True).values


def _per_thread(graph: Graph) -> int:
    """Bytes of the searches of all threads: eight sets of the largest graph each."""
    size, slots = (int(each.max(initial=0)) for each in _batch.counts(graph))
    return torch.get_num_threads() * (8 * 20 * size + 24 * slots)


def _in_kernel(graph: Graph, sets: Tensor, run: Run) -> tuple[Tensor, Tensor]:
    """As _nearest_members, on the CPU."""
    weight, unit, _ = in_units(graph, math.inf, graph.is_weighted)
    kind = torch.float64 if graph.is_weighted else torch.int32
    distance = torch.empty(sets.shape, dtype=kind, device=graph.device)
    nearest = torch.empty(sets.shape, dtype=torch.int64, device=graph.device)
    arcs, record = (graph.rowptr, graph.col, weight, unit, _batch.ends(graph)), control()
    own = sets.contiguous(), distance, nearest, record, torch.get_num_threads()
    quick = float(sets.shape[1] * graph.num_slots) < TUNED["tiny"].inline
    total = sets.shape[1] * graph.num_graphs
    with progress_bar(total, "anchor_distances", run.progress, quick, "sets") as bar:
        at_work(lambda: _ops.ops.nearest_members(*arcs, *own), record, bar, graph.device, quick)
        bar.update(total - bar.n)
    return distance, nearest


class _Wider(NamedTuple):
    """A graph with a vertex more for each set of each graph, from which the set is searched.

    By hops, arcs lead from it to the members, which are then 1 away. With weights they lead to
    where the arcs of the members do, so that sums begin with the same length as from a member.
    """

    graph: Graph
    place: Tensor  # of each vertex
    starts: Tensor  # those that were added, of sets with members
    column: Tensor  # of each of them


def _wider(graph: Graph, member: Tensor, column: Tensor, width: int) -> _Wider:
    device = graph.device
    vertex = torch.arange(graph.num_nodes, device=device)
    owner, ends = _batch.of_graph(graph, vertex), _batch.ends(graph)
    ptr = ends + torch.arange(ends.numel(), device=device) * width
    place, first = vertex + owner * width, ptr[1:] - width
    tail, head = first[owner[member]] + column, place[member]
    weight = None
    if graph.weight is not None:
        count = graph.degree[member]
        slot = _csr.ranges(graph.rowptr[member], count)
        tail, head = _small.repeat_interleave(tail, count), place[graph.col[slot].long()]
        weight = torch.cat([graph.weight, graph.weight[slot]])
    arcs = torch.stack([
        torch.cat([place[_csr.rows(graph.rowptr)], tail]),
        torch.cat([place[graph.col.long()], head]),
    ])  # fmt: skip
    wider = Graph.from_edge_index(
        arcs, int(ptr[-1]), True, weight, ptr=None if graph.ptr is None else ptr
    )
    starts = torch.unique(first[owner[member]] + column)
    of = torch.searchsorted(first, starts, right=True) - 1
    return _Wider(wider, place, starts, starts - first[of])


def _nearest_members(graph: Graph, sets: Tensor, run: Run) -> tuple[Tensor, Tensor]:
    """Distances to the sets, and the members that these are to; -1 for none."""
    width = sets.shape[1]
    member, column = sets.nonzero(as_tuple=True)
    wider, place, starts, own = _wider(graph, member, column, width)
    raw = _landmarks.distances(wider, starts, own, width, run, "anchor_distances")
    if graph.weight is None:
        raw = torch.where(raw > 0, raw - 1, -1)
    raw[place[member], column] = 0
    label = torch.full(raw.shape, graph.num_nodes, dtype=torch.int64, device=raw.device)
    label[place[member], column] = member
    step = max(1, _BLOCK // max(wider.num_nodes + wider.num_slots, 1))
    for begin in range(0, width, step):
        some = slice(begin, begin + step)
        label[:, some] = _labels(wider, raw[:, some], label[:, some], graph.num_nodes)
    label = label[place]
    return raw[place], torch.where(label == graph.num_nodes, -1, label)


def _labels(graph: Graph, distance: Tensor, label: Tensor, none: int) -> Tensor:
    """Passes labels below `none` on along the arcs of shortest paths, of several the lowest."""
    width, weight = distance.shape[1], None
    if graph.weight is not None:  # sums are exact in these units
        weight, unit = graph._scaled_per_graph
        vertex = torch.arange(graph.num_nodes, device=graph.device)
        factor = unit[_batch.of_graph(graph, vertex)][:, None]
        distance = torch.where(factor == 1, distance, (distance * factor).round())
    there, known = distance.reshape(-1), label.reshape(-1).clone()
    place, last = (known < none).nonzero()[:, 0], torch.empty_like(known)
    while place.numel():
        vertex = place // width
        count = graph.degree[vertex]
        slot = _csr.ranges(graph.rowptr[vertex], count)
        tail = _small.repeat_interleave(place, count)
        head = graph.col[slot].long() * width + tail % width
        length = there[tail] + (1 if weight is None else weight[slot])
        better = (length == there[head]) & (known[tail] < known[head])
        head, lower = head[better], known[tail[better]]
        known.scatter_reduce_(0, head, lower, "amin")
        count = torch.arange(head.numel(), device=head.device)
        last[head] = count  # of equal entries one stays
        place = head[last[head] == count]
    return known.view_as(label)
