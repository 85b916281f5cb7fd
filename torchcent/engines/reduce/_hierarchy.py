"""A contraction hierarchy of a core, with multiplicities, for exact path counting on roads.

Every shortest path is a climb in the hierarchy followed by a descent, in exactly one way. A sweep
over the hierarchy serves many neighbouring sources at once, and touches few vertices for each. Sums
and maxima of distances come from such sweeps, too. Distances themselves and sums of reciprocals
need every vertex for each source, but no queue. Hierarchies are made on the host, also of graphs on
CUDA, where distances come from sweeps that reach every vertex.
docs/hierarchy.md has the algebra and csrc/hierarchy the searches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcent.engines.reduce._core import Core
from torchcent.engines.reduce._hierarchy_costs import (
    LANES,
    MOST_COMPONENTS,
    MOST_FILL,
    MOST_SLOTS_OF_BITS,
)
from torchcent.engines.reduce._hierarchy_costs import LEAST as LEAST
from torchcent.engines.reduce._hierarchy_costs import LEAST_ON_CUDA as _LEAST_ON_CUDA
from torchcent.graph import _csr, _weights
from torchcent.graph._cache import Record, Slot
from torchcent.graph._contraction import QUICK_SLOTS
from torchcent.runtime import _ops
from torchcent.runtime._codes import BATCH, LONGEST_INT32, WORK
from torchcent.runtime._watch import prepared
from torchcent.runtime._workspace import workspace

#: sources of a block of rows per thread
ROWS = {**BATCH, "hierarchy": 64}
#: On CUDA groups of sources at a time, which keep any device busy (csrc/hierarchy/cuda/), and lanes
#: of a group by the bytes of a distance.
GROUPS_ON_CUDA = 32
_LANES_ON_CUDA = {4: 128, 8: 64}
# Memory for the contraction, besides its order: of vertices, of slots, and of arcs in both stages,
# before and after those that are longer than distances are removed. Roads take 2/3 of it. Directed
# graphs have arcs in two directions, and their slots in both besides.
_PER_VERTEX, _PER_SLOT, _PER_ARC = 100, 12, 72
_PER_SLOT_BOTH_WAYS = 24
# Memory for an arc during a search: two copies, and sums of all and of a thread.
_PER_ARC_SEARCHED = 2 * 36 + 2 * 24
# What the operator hierarchy returns.
_PARTS = (
    "vertex", "first", "to", "length", "paths", "powers", "slot", "last", "sequence", "split",
)  # fmt: skip
_OF_ARCS = "to", "length", "paths", "powers", "slot"


@dataclass(frozen=True, eq=False)
class Hierarchy(Record):
    """The result of the operators hierarchy and hierarchy_cells.

    Attributes:
        vertex: core vertex of each position, in a preorder of the elimination tree.
        first, to, length: [n + 1], [arcs], [arcs]; arcs to ancestors, the nearest first. Of a
            directed graph, first is [2 (n + 1)]: of arcs down from ancestors, and of arcs up to
            them, which come after all of those.
        paths, powers: [arcs]; the multiplicity of an arc is paths * 2^(512 powers).
        slot: [arcs]; the core slot of the edge that is a part of the arc, or -1.
        last: [n]; the end of the positions below each.
        sequence, split: [n]; positions in an order of neighbours, and the cuts between them. The
            strong components of a directed graph come one after the other.
        cells: the division into nested cells (Cells in csrc/hierarchy/hierarchy.h).
        unit: of lengths, which are whole numbers, in the units of the weights of the core.
        possible: pairs of vertices with arcs, before arcs were removed that exceed distances.
    """

    vertex: Tensor
    first: Tensor
    to: Tensor
    length: Tensor
    paths: Tensor
    powers: Tensor
    slot: Tensor
    last: Tensor
    sequence: Tensor
    split: Tensor
    cells: tuple[Tensor, ...]
    unit: float = 1.0
    possible: int = 0

    @staticmethod
    def of(
        core: Core, most_fill: float = math.inf, progress: bool | None = False
    ) -> Hierarchy | None:
        """That of a core, kept with it; None if it would have more arcs per edge than that."""
        hierarchy = _of_core(core)
        if isinstance(hierarchy, float) and most_fill > hierarchy:
            _of_core.put(core, _contracted(core, most_fill, progress) or float(most_fill))
        return Hierarchy.kept(core)

    @staticmethod
    def kept(core: Core) -> Hierarchy | None:
        """That of a core, if it has been contracted."""
        hierarchy = _of_core(core)
        return hierarchy if isinstance(hierarchy, Hierarchy) else None

    @property
    def num_arcs(self) -> int:
        return self.to.numel()

    @property
    def is_directed(self) -> bool:
        return self.first.numel() > self.vertex.numel() + 1

    def along(self, backward: bool) -> Hierarchy:
        """That of the reversed graph, if the search is backward."""
        return self._backward if backward and self.is_directed else self

    @Slot
    def _backward(self) -> Hierarchy:
        down, up = self.first.chunk(2)
        end = int(down[-1])

        def turned(values: Tensor) -> Tensor:
            return torch.cat([values[end:], values[:end]])

        arcs: dict[str, Any] = {name: turned(getattr(self, name)) for name in _OF_ARCS}
        arcs["first"] = torch.cat([up - end, down + (self.num_arcs - end)])
        return replace(self, **arcs, cells=_cells({**arcs, "last": self.last}))

    @property
    def height(self) -> int:
        """The most ancestors of a vertex."""
        return int(self.cells[-1][3])

    @property
    def most_paths(self) -> float:
        """The largest multiplicity of an arc, as its binary logarithm."""
        if not self.num_arcs:
            return 0.0
        return float((self.paths.log2() + 512.0 * self.powers).max())

    @property
    def longest(self) -> int:
        """No shortest path is longer, in units of the arcs."""
        return int(self.cells[-1][2])

    @property
    def swept(self) -> tuple[Tensor, ...]:
        """The hierarchy, as the operators hierarchy_dependency and hierarchy_sums take it."""
        return (
            self.vertex, self.first, self.to, self.length, self.paths, self.powers, self.last,
            self.sequence, self.split, *self.cells,
        )  # fmt: skip

    def rows_of(self, core: Core) -> tuple[Tensor, ...]:
        """The arguments of the operator hierarchy_distances, or hierarchy_level_distances, for
        rows of all vertices, and the unit of what it finds."""
        unit = torch.tensor(self.unit, dtype=torch.float64, device="cpu")
        if core.rowptr.is_cuda:
            vertex, *above = levels(self, core.rowptr.device)
            return core.vertex[vertex], *above, unit
        return (
            core.vertex[self.vertex], self.first, self.to, self.length, self.last, self.sequence,
            self.split, self.cells[-1], unit,
        )  # fmt: skip

    def entries(self, per_slot: bool) -> int:
        """Numbers that a search adds to: flows of arcs and what passes vertices."""
        apart = per_slot and not self.is_directed
        return (2 if apart else 1) * self.num_arcs + self.vertex.numel()

    def in_order(self, sources: Tensor) -> Tensor:
        """The places of core vertices, in the order in which neighbours stand together."""
        place = torch.empty_like(self.vertex)
        place[self.vertex[self.sequence.long()]] = torch.arange(place.numel(), device="cpu")
        return place.to(sources.device)[sources].argsort()

    def scores(self, flows: Tensor, reverse: Tensor | None) -> Tensor:
        """The scores of core vertices, or with the reverse of each slot those of core slots.

        Of a directed graph, `reverse` is anything with an entry for each slot.
        """
        sums: Tensor = _ops.ops.hierarchy_scores(
            self.vertex, self.first, self.to, self.length, self.paths, self.powers, self.slot,
            own=self.cells[1], flows=flows, reverse=reverse,
        )  # fmt: skip
        return sums

    def bytes_per_thread(self, lanes: int, per_slot: bool) -> int:
        """Rows of the vertices above a batch and in the cells of one path, and sums."""
        rows = workspace("hierarchy", False, 8, 0, self.height, lanes, True).each
        return rows + 3 * 8 * self.entries(per_slot)

    @property
    def _item(self) -> int:
        """Bytes of a distance."""
        return 4 if self.longest < LONGEST_INT32 else 8

    def bytes_of_distances(self, lanes: int) -> int:
        """Rows of a thread for sums of distances, and for distances."""
        rows = workspace("hierarchy", False, self._item, 0, self.height, lanes, False).each
        return rows + 64 * self.vertex.numel()

    @property
    def lanes_on_cuda(self) -> int:
        return _LANES_ON_CUDA[self._item]

    @property
    def bytes_of_group(self) -> int:
        """Rows of the vertices and of the ancestors of each source, and parts of sums, on CUDA."""
        sizes = self.vertex.numel(), self.height, self.lanes_on_cuda
        return workspace("hierarchy", True, self._item, *sizes, False).each

    def in_words(self) -> str:
        arcs = self.num_arcs / max(self.vertex.numel(), 1)
        return f"{arcs:.1f} arcs per vertex, at most {self.height:,} vertices above one"


@Slot
def _of_core(core: Core) -> Hierarchy | float:
    """That of a core; if there is none, the most arcs per edge with which it was tried."""
    return 0.0


@Slot
def levels(hierarchy: Hierarchy, device: torch.device) -> tuple[Tensor, ...]:
    """The first arguments of the operators hierarchy_level_sums and _distances."""
    arcs = hierarchy.first, hierarchy.to
    order, begin, parent, depth = _ops.ops.hierarchy_levels(*arcs, hierarchy.last)
    facts = torch.cat([hierarchy.cells[-1][2:], begin])
    parts = (
        hierarchy.vertex, *arcs, hierarchy.length, hierarchy.last, order, parent, depth, facts,
    )  # fmt: skip
    return tuple(part.to(device) for part in parts)


def _whole(weight: Tensor | None) -> tuple[Tensor | None, float]:
    """The weights as multiples of a power of two, and that power.

    Sums of float64 weights that are exact may be sums of fractions.
    """
    if weight is None or weight.dtype == torch.int32 or not weight.numel():
        return weight, 1.0
    unit = _weights.unit_of(weight)
    return weight / unit, unit


def _cells(part: dict[str, Tensor]) -> tuple[Tensor, ...]:
    cells: tuple[Tensor, ...] = _ops.ops.hierarchy_cells(
        *(part[name] for name in ("first", "to", "length", "last"))
    )
    return cells


def _by_components(component: Tensor, sequence: Tensor, split: Tensor) -> tuple[Tensor, Tensor]:
    """An order of neighbours in which components, by position, come one after the other."""
    component = component[sequence.long()]
    turn = component.argsort(stable=True)
    begins = component[turn].diff(prepend=component.new_full((1,), -1)) != 0
    # The cuts between neighbours in the new order: the first of those between in the old one.
    cuts = np.append(split.numpy(), np.int32(0))
    ends = np.stack([turn.roll(1).numpy() + 1, turn.numpy() + 1], axis=1)
    ends[begins.numpy(), 0] = ends[begins.numpy(), 1] - 1
    between = np.minimum.reduceat(cuts, ends.ravel())[::2] if turn.numel() else cuts[:0]
    return sequence[turn], torch.from_numpy(between).masked_fill(begins, 0)


def _operated(
    arcs: tuple[Tensor, Tensor, Tensor | None], weight: Tensor | None, limit: float, order: Tensor,
    progress: bool | None,
) -> tuple[dict[str, Tensor], int]:  # fmt: skip
    """What the operator hierarchy returns, and the number of pairs of vertices with arcs."""
    rowptr, col, arc = arcs
    threads = torch.get_num_threads()

    def contract(control: Tensor) -> tuple[Any, int]:
        parts = _ops.ops.hierarchy(
            rowptr, col, weight, limit, control, threads=threads, order=order, arc=arc
        )
        return parts, int(control[WORK])

    parts, possible = prepared(contract, "contracting", progress, col.numel() < QUICK_SLOTS)
    return dict(zip(_PARTS, parts, strict=True)), possible


def _contracted(core: Core, most_fill: float, progress: bool | None) -> Hierarchy | None:
    """A new one; None if it would have more arcs per edge than that."""
    contraction = core.contraction
    assert contraction is not None
    device = core.rowptr.device
    vertex, weight = core.vertex.cpu(), None if core.weight is None else core.weight.cpu()
    weight, unit = _whole(weight)
    arcs: tuple[Tensor, Tensor, Tensor | None] = core.rowptr.cpu(), core.col.cpu(), None
    component = None
    if _is_directed(core):
        arcs = _csr.both_ways(*arcs[:2])
        component = _components(core)
    while contraction.find(most_fill, progress) is not None:
        has_order = contraction.is_given
        limit = min(most_fill, MOST_FILL[True]) if has_order else most_fill
        ids = contraction.among(vertex)
        part, possible = _operated(arcs, weight, limit if limit < math.inf else 0, ids, progress)
        if part["vertex"].numel() == core.num_nodes:
            if component is not None:
                order = component[part["vertex"]], part["sequence"], part["split"]
                part["sequence"], part["split"] = _by_components(*order)
            hierarchy = Hierarchy(**part, cells=_cells(part), unit=unit, possible=possible)
            if device.type == "cuda":
                levels(hierarchy, device)  # with what is held there when a run is planned
            return hierarchy
        if not has_order:
            break
        contraction.forget()
    return None


def _is_directed(core: Core) -> bool:
    return core.colptr is not core.rowptr


@Slot
def _components(core: Core) -> Tensor:
    """int32 [n]: the strong components of a directed core, kept with it."""
    return _csr.strong_components(core.rowptr.cpu(), core.col.cpu())


def most_arcs(core: Core, fill: float) -> float:
    """Arcs of a hierarchy of at most so many per edge.

    An edge has arcs in one or both directions; a hierarchy may have each of its arcs in both.
    """
    n, m = core.num_nodes, core.num_slots
    return 2 * (n + fill * _edges(core)) if _is_directed(core) else n + fill * m / 2


@Slot
def _edges(core: Core) -> int:
    """Pairs of vertices with arcs, kept with the core."""
    if not _is_directed(core):
        return core.num_slots // 2
    return _csr.both_ways(core.rowptr.cpu(), core.col.cpu())[1].numel() // 2


def bytes_to_contract(core: Core, fill: float) -> int:
    """Peak memory for a hierarchy of at most so many arcs per edge, besides graph and core."""
    assert core.contraction is not None
    per_slot = _PER_SLOT + _PER_SLOT_BOTH_WAYS * _is_directed(core)
    arcs = _PER_VERTEX * core.num_nodes + per_slot * core.num_slots
    return max(core.contraction.bytes_to_find, int(arcs + _PER_ARC * most_arcs(core, fill)))


def bytes_of_one(core: Core, paths: bool, in_vain: float) -> int:
    """About what a hierarchy and a search of it take, besides graph and core.

    Not known are the arcs per edge, which are more than `in_vain`, and the height of the tree,
    here that of a planar graph.
    """
    fill = max(2 * in_vain, MOST_FILL[False])
    height = 3 * math.isqrt(core.num_nodes)
    rows = workspace("hierarchy", False, 8, 0, height, LANES, paths).each
    search = rows + int(_PER_ARC_SEARCHED * most_arcs(core, fill))
    return max(bytes_to_contract(core, fill), search)


def most_fill_within(core: Core, room: int) -> float:
    """The most arcs per edge of a hierarchy that can be made in so many bytes; 0 for none."""
    least = bytes_to_contract(core, 0)
    per_fill = most_arcs(core, 1) - most_arcs(core, 0)
    return max(room - least, 0) / max(_PER_ARC * per_fill, 1)


def may_pay(core: Core, sources: int, paths: bool) -> bool:
    """Whether to look for a hierarchy, to count paths or to find distances.

    There have to be enough sources, unless it is already there, and in a directed graph not too
    many strong components.
    """
    n, weighted = core.num_nodes, core.weight is not None
    least = (_LEAST_ON_CUDA if core.rowptr.is_cuda else LEAST)[weighted]
    if sources < (least if Hierarchy.kept(core) is None else 8):
        return False
    if _is_directed(core) and int(_components(core).max()) >= MOST_COMPONENTS[weighted] * n:
        return False
    by_bits = not paths and not weighted
    return not by_bits or 2 * _edges(core) <= MOST_SLOTS_OF_BITS * n
