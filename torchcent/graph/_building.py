"""From checked columns to a Graph: its arcs, its weights, and what the columns hold beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from torchcent.check import _batch as check_batch
from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.graph import _csr, _strengths, _weights
from torchcent.graph._arrays import Arrays
from torchcent.graph._strengths import NONE, Strengths
from torchcent.runtime import _memory

_Graph = TypeVar("_Graph", bound=Arrays)


def build(
    kind: type[_Graph], edge_index: Tensor, num_nodes: int | None, directed: bool,
    edge_weight: Tensor | None, batch: Tensor | None, ptr: Tensor | None, memory: int | None, *,
    weights: str = "lengths", matrix: bool = False,
) -> _Graph:  # fmt: skip
    """The graph of Graph.from_edge_index.

    Args:
        weights: what they are, "distances", or "strengths" or "conductances", which may be 0: there
            is then no arc. "lengths" are distances of a graph that is not made for one measure.
        matrix: columns are the stored entries of a matrix, of which those of one place are added
            up.
    """
    check.flag(directed, "directed")
    index = check.edge_index(edge_index)
    size = check.num_nodes(num_nodes)
    room = _memory.Building(
        index.shape[1], not directed, edge_weight is not None, index.device,
        check.byte_budget(memory),
    )  # fmt: skip
    room.allow(check_batch.size(batch, size) or 0)
    ids = _csr.ids(index)
    parts = check_batch.pointers(batch, ptr, size, ids.columns, room.allow)
    source_of_size = "num_nodes={}"
    if parts is not None:
        size = parts[1].numel()
        source_of_size = "batch, of {} vertices," if ptr is None else "ptr, of {} vertices,"
    size = check.holds_ids(size, ids.low, ids.high, source_of_size)
    room.allow(size)
    columns = ids.columns
    del ids
    if parts is not None:
        check_batch.arcs_within(columns, parts[1])
    arcs, entry = None, None  # of a matrix: the number of each column without repetitions
    if matrix:
        arcs = _csr.csr(columns, size, not directed)
        merged = _merged(columns, edge_weight, size) if arcs.repeated else None
        if merged is not None:
            (columns, edge_weight, entry), arcs = merged, None
    weight = None
    if weights in ("lengths", "distances"):
        weight = check_weights.edge_weight(edge_weight, columns, size, weights == "lengths")
    elif edge_weight is not None:
        weight = check_weights.strengths(edge_weight, columns, weights)
        if bool((weight == 0).any()):
            # Such columns become loops of strength 0, which count nowhere.
            columns[1], arcs = torch.where(weight > 0, columns[1], columns[0]), None
    rowptr, col, slot, repeated = arcs or _csr.csr(columns, size, not directed)
    counts = None
    if repeated and slot is not None:
        counts = _strengths.counts(columns, slot, rowptr, col, not directed)
    graph = kind(
        rowptr, col, slot, directed, ptr=None if parts is None else parts[0], _trusted=True,
        _ids=columns, _repeated=repeated, _multiplicity=counts,
    )  # fmt: skip
    del arcs, slot
    if not repeated:
        del columns
    elif weight is not None:
        replace(room, slots=col.numel()).allow(size, 0 if parts is None else parts[0].numel() - 1)
    if weight is not None:
        graph = _weighted(graph, weight, columns if repeated else None)
    if entry is not None:
        graph = graph._with(slot=graph.slot[entry], _multiplicity=graph._multiplicity)
    if parts is not None:
        Arrays.batch.put(graph, parts[1])
    if repeated and "slot" in vars(graph):
        ends = columns[0] if entry is None else columns[0][entry]
        graph.__dict__["_loop_ends"] = ends[graph.slot < 0]
    return graph


def reweighted(graph: _Graph, edge_weight: Tensor) -> _Graph:
    """The graph of Graph.with_weights."""
    if edge_weight is None:
        raise TypeError("edge_weight must be a torch.Tensor [E]; Graph.unweighted drops weights")
    slot, ids = graph._columns
    entries = graph.slot if ids is None else ids  # of a column each
    columns = graph.rowptr[:1].expand(2, entries.shape[-1])  # as an edge_index is checked
    weight = check_weights.edge_weight(edge_weight, columns, graph.num_nodes, True)
    assert weight is not None
    repeated = None
    if graph._repeated:
        repeated = _columns(graph) if ids is None else ids
    return _weighted(graph._with(weight=None, _sums=NONE), weight, repeated)


def _columns(graph: Arrays) -> Tensor:
    """int64 [2, E]: the columns of a graph that only has their slots."""
    loop = graph.slot < 0
    slot = graph.slot[~loop]
    columns = loop.new_empty((2, loop.numel()), dtype=torch.int64)
    columns[0, ~loop], columns[1, ~loop] = _csr.rows(graph.rowptr)[slot], graph.col[slot].long()
    if bool(loop.any()):
        if graph._loop_ends is None:
            raise ValueError(
                "with_weights: this graph was pickled, and at which vertices its loops are is no "
                "longer known; build it again, with the new weights"
            )
        columns[:, loop] = graph._loop_ends.long()
    return columns


def _merged(
    columns: Tensor, edge_weight: Any, size: int
) -> tuple[Tensor, Tensor | None, Tensor] | None:
    """The entries of a matrix without repetitions; None if there are none."""
    if edge_weight is not None and edge_weight.shape != columns.shape[1:]:
        return None  # refused below
    sums = _strengths.coalesced(columns, edge_weight, size)
    if sums is None:
        return None
    places, *values, entry = sums
    return places, (values[0] if values else None), entry


def _weighted(graph: _Graph, edge_weight: Tensor, ids: Tensor | None) -> _Graph:
    """An unweighted graph with weights per input column: float64, may be overwritten.

    `ids` are the columns, which are needed if the graph has repeated ones.
    """
    both, arcs, sums = not graph.directed, (graph.rowptr, graph.col), NONE
    column_ids = graph._columns[1]
    if column_ids is not None and _csr.has_slot_weights(graph.device):
        weight, differ = _csr.slot_weights(column_ids, edge_weight, *arcs, both)
        if differ or ids is not None:
            slots = _csr.slot_sums(column_ids, edge_weight, *arcs, both)
            sums = Strengths(slots, _strengths.of_loops(column_ids, edge_weight, graph.num_nodes))
        return graph._with(slot=None, weight=weight, _sums=_strengths.unless(sums, weight))
    del column_ids
    slot = graph.slot
    if ids is not None:
        sums = _strengths.of_columns(ids, slot, edge_weight, *arcs, both)
    weight = _weights.per_slot(edge_weight, slot, graph.num_slots)
    if both:
        back = weight[graph.reverse_slot]
        unequal = ((weight != back) & (weight < torch.inf) & (back < torch.inf)).any()
        if ids is None and bool(unequal):
            there = torch.maximum(*(torch.where(x < torch.inf, x, 0) for x in (weight, back)))
            sums = Strengths(there)
        weight = torch.minimum(weight, back, out=weight)
    return graph._with(slot=slot, weight=weight, _sums=_strengths.unless(sums, weight))
