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
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from torchcent.graph import _csr, _weights
from torchcent.graph._contraction import QUICK_SLOTS
from torchcent.runtime import _ops
from torchcent.runtime._codes import BATCH
from torchcent.runtime._watch import prepared

if TYPE_CHECKING:
    from torchcent.engines._reduce import Core

#: sources side by side
LANES = 1024
#: sources of a block of rows per thread
ROWS = {**BATCH, "hierarchy": 64}
#: On CUDA groups of sources at a time, which keep any device busy (csrc/hierarchy/cuda/), and lanes
#: of a group by the bytes of a distance. Sums have parts by so many warps at most, for so many
#: vertices each at least.
GROUPS_ON_CUDA = 32
_LANES_ON_CUDA, _SLOTS, _SLOT = {4: 128, 8: 64}, 256, 64
# Of so many sources, more are taken side by side, to add up distances and to count paths: it is up
# to a quarter faster for distances and, on roads of millions, a sixth for path counts by weights,
# and there are still batches for all threads. By hops, path counts take a sixth longer.
_MANY, _MOST_LANES = {False: 2**16, True: 2**17}, 2048
# Bound on distances up to which they are int32 (csrc/hierarchy/cpu/swept.h).
_LONGEST_INT32 = 2**29
#: sources from which contraction is repaid, by hops and by weights: it takes as long as so many
#: searches of the whole graph
LEAST = {False: 2048, True: 512}
# The same for distances on CUDA, where searches take a small part of the time, and bits by hops a
# smaller one: the host contracts.
_LEAST_ON_CUDA = {False: 2**15, True: 2**12}
# Arcs per edge up to which a sweep is faster than searches, by hops and by weights.
_MOST_FILL = {False: 4.0, True: 12.0}
# Strong components per vertex up to which sweeps are faster, by hops and by weights: a batch has
# sources of one. Where a fifth of the streets of a road are one-way, there are 0.03, and as fast as
# searches are sweeps with 0.15 to 0.25 by hops and 0.3 by weights.
_MOST_COMPONENTS = {False: 1 / 8, True: 1 / 4}
# Memory for the contraction, besides its order: of vertices, of slots, and of arcs in both stages,
# before and after those that are longer than distances are removed. Roads take 2/3 of it. Directed
# graphs have arcs in two directions, and their slots in both besides.
_PER_VERTEX, _PER_SLOT, _PER_ARC = 100, 12, 72
_PER_SLOT_BOTH_WAYS = 24
# Slots per vertex, of arcs both ways, up to which it is tried for distances by hops. Bits are so
# fast that a contraction in vain takes as long as they do, and grids leave too many arcs.
_MOST_SLOTS_OF_BITS = 3.2
# Binary logarithm of the paths of an arc up to which path counts, which are products of a few, are
# likely to stay within float64. Beyond it sources are searched one at a time.
_MOST_PATHS = 450.0
# What the operator hierarchy returns.
_PARTS = (
    "vertex", "first", "to", "length", "paths", "powers", "slot", "last", "sequence", "split",
)  # fmt: skip
_OF_ARCS = "to", "length", "paths", "powers", "slot"
# Seconds of contraction per vertex. Microseconds of a thread per source, by the logarithm of the
# number of vertices; beyond the largest, its power of 0.7 (docs/hierarchy.md).
_CONTRACTION, _LARGEST = 5e-6, 1_976_000
_SIZES = [math.log(size) for size in (13_000, 49_000, 247_000, 988_000, _LARGEST)]
_EACH = [7.5, 8.7, 35.0, 95.0, 168.0]
# So many times as long by hops, where ties abound.
_BY_HOPS = 4.0
# Slots per second of searches from many sources of a road on CUDA, by hops and by weights: 0.22 and
# 3.0 ms for each source of 1.94 million vertices.
_SLOTS_ON_CUDA = {False: 2.3e10, True: 1.7e9}


@dataclass(frozen=True, eq=False)
class Hierarchy:
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

    @staticmethod
    def of(
        core: Core, most_fill: float = math.inf, progress: bool | None = False
    ) -> Hierarchy | None:
        """That of a core, kept with it; None if it would have more arcs per edge than that."""
        cache = vars(core)
        found: Hierarchy | None = cache.get("_hierarchy")
        if found is None and most_fill > cache.get("_in_vain", 0):
            found = _contracted(core, most_fill, progress)
            cache["_hierarchy" if found else "_in_vain"] = found or most_fill
        return found

    @staticmethod
    def kept(core: Core) -> Hierarchy | None:
        """That of a core, if it has been contracted."""
        found: Hierarchy | None = vars(core).get("_hierarchy")
        return found

    @property
    def nbytes(self) -> int:
        parts = [*vars(self).values(), *self.cells]
        return sum(x.numel() * x.itemsize for x in parts if isinstance(x, Tensor))

    @property
    def num_arcs(self) -> int:
        return self.to.numel()

    @property
    def is_directed(self) -> bool:
        return self.first.numel() > self.vertex.numel() + 1

    def along(self, backward: bool) -> Hierarchy:
        """That of the reversed graph, if the search is backward; kept."""
        if not (backward and self.is_directed):
            return self
        kept = vars(self)
        if "_backward" not in kept:
            down, up = self.first.chunk(2)
            end = int(down[-1])

            def turned(values: Tensor) -> Tensor:
                return torch.cat([values[end:], values[:end]])

            arcs: dict[str, Any] = {name: turned(getattr(self, name)) for name in _OF_ARCS}
            arcs["first"] = torch.cat([up - end, down + (self.num_arcs - end)])
            kept["_backward"] = replace(self, **arcs, cells=_cells({**vars(self), **arcs}))
        found: Hierarchy = kept["_backward"]
        return found

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
        """The arguments of the operators hierarchy_dependency and hierarchy_sums."""
        return (
            self.vertex, self.first, self.to, self.length, self.paths, self.powers, self.last,
            self.sequence, self.split, *self.cells,
        )  # fmt: skip

    def rows_of(self, core: Core) -> tuple[Tensor, ...]:
        """The arguments of the operator hierarchy_distances, or hierarchy_level_distances, for
        rows of all vertices, and the unit of what it finds."""
        unit = torch.tensor(self.unit, dtype=torch.float64, device="cpu")
        if core.rowptr.is_cuda:
            vertex, *levels = self.levels(core.rowptr.device)
            return core.vertex[vertex], *levels, unit
        return (
            core.vertex[self.vertex], self.first, self.to, self.length, self.last, self.sequence,
            self.split, self.cells[-1], unit,
        )  # fmt: skip

    def levels(self, device: torch.device) -> tuple[Tensor, ...]:
        """The first arguments of the operators hierarchy_level_sums and _distances; kept."""
        kept = vars(self)
        if "_levels" not in kept:
            order, begin, parent, depth = _ops.ops.hierarchy_levels(self.first, self.to, self.last)
            facts = torch.cat([self.cells[-1][2:], begin])
            kept["_levels"] = tuple(
                part.to(device)
                for part in (
                    self.vertex, self.first, self.to, self.length, self.last, order, parent, depth,
                    facts,
                )
            )  # fmt: skip
        found: tuple[Tensor, ...] = kept["_levels"]
        return found

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
        found: Tensor = _ops.ops.hierarchy_scores(
            self.vertex, self.first, self.to, self.length, self.paths, self.powers, self.slot,
            self.cells[1], flows, reverse,
        )  # fmt: skip
        return found

    def bytes_per_thread(self, lanes: int, per_slot: bool) -> int:
        """Rows of the vertices above a batch and in the cells of one path, and sums."""
        rows = 5 * (2 * self.height + lanes) + 3 * 2 * self.height
        return 8 * lanes * rows + 3 * 8 * self.entries(per_slot)

    @property
    def _item(self) -> int:
        """Bytes of a distance."""
        return 4 if self.longest < _LONGEST_INT32 else 8

    def bytes_of_distances(self, lanes: int) -> int:
        """Rows of a thread for sums of distances, and for distances."""
        rows = 3 * (2 * self.height + lanes) + 2 * self.height
        return self._item * lanes * rows + 64 * self.vertex.numel()

    @property
    def lanes_on_cuda(self) -> int:
        return _LANES_ON_CUDA[self._item]

    @property
    def bytes_of_group(self) -> int:
        """Rows of the vertices and of the ancestors of each source, and parts of sums, on CUDA."""
        n = self.vertex.numel()
        slots = min(max(n // _SLOT, 1), _SLOTS)
        return self.lanes_on_cuda * ((n + self.height) * self._item + 4 + 32 * slots)

    def in_words(self) -> str:
        arcs = self.num_arcs / max(self.vertex.numel(), 1)
        return f"{arcs:.1f} arcs per vertex, at most {self.height:,} vertices above one"


def lanes(sources: int, paths: bool, by_hops: bool) -> int:
    """Sources side by side, to count paths or to add up distances."""
    return LANES if sources < _MANY[paths] or (paths and by_hops) else _MOST_LANES


def seconds_to_contract(num_nodes: int) -> float:
    """Predicted, for a road."""
    return _CONTRACTION * num_nodes


def seconds(num_nodes: int, sources: int, threads: int, by_hops: bool = False) -> float:
    """Predicted for sweeps from so many sources of a road of so many vertices."""
    each = float(np.interp(math.log(max(num_nodes, 1)), _SIZES, _EACH)) * 1e-6
    beyond: float = max(num_nodes / _LARGEST, 1.0) ** 0.7
    return sources * each * beyond * (_BY_HOPS if by_hops else 1.0) / max(threads, 1)


def seconds_of_searches_on_cuda(num_slots: int, sources: int, by_hops: bool) -> float:
    """Predicted for paths from so many sources of a road, one search for each."""
    return sources * num_slots / _SLOTS_ON_CUDA[not by_hops]


def _whole(weight: Tensor | None) -> tuple[Tensor | None, float]:
    """The weights as multiples of a power of two, and that power.

    Sums of float64 weights that are exact may be sums of fractions.
    """
    if weight is None or weight.dtype == torch.int32 or not weight.numel():
        return weight, 1.0
    unit = _weights.unit_of(weight)
    return weight / unit, unit


def _cells(part: dict[str, Tensor]) -> tuple[Tensor, ...]:
    found: tuple[Tensor, ...] = _ops.ops.hierarchy_cells(
        *(part[name] for name in ("first", "to", "length", "last"))
    )
    return found


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
) -> dict[str, Tensor]:  # fmt: skip
    """What the operator hierarchy returns."""
    rowptr, col, arc = arcs
    threads = torch.get_num_threads()

    def contract(control: Tensor) -> Any:
        return _ops.ops.hierarchy(rowptr, col, weight, limit, control, threads, order, arc)

    made = prepared(contract, "contracting", progress, col.numel() < QUICK_SLOTS)
    return dict(zip(_PARTS, made, strict=True))


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
        given = contraction.is_given
        limit = min(most_fill, _MOST_FILL[True]) if given else most_fill
        known = contraction.among(vertex)
        part = _operated(arcs, weight, limit if limit < math.inf else 0, known, progress)
        if part["vertex"].numel() == core.num_nodes:
            if component is not None:
                order = component[part["vertex"]], part["sequence"], part["split"]
                part["sequence"], part["split"] = _by_components(*order)
            found = Hierarchy(**part, cells=_cells(part), unit=unit)
            if device.type == "cuda":
                found.levels(device)  # with what is held there when a run is planned
            return found
        if not given:
            break
        contraction.forget()
    return None


def _is_directed(core: Core) -> bool:
    return core.colptr is not core.rowptr


def _components(core: Core) -> Tensor:
    """int32 [n]: the strong components of a directed core, kept with it."""
    kept = vars(core)
    if "_strong" not in kept:
        kept["_strong"] = _csr.strong_components(core.rowptr.cpu(), core.col.cpu())
    found: Tensor = kept["_strong"]
    return found


def most_arcs(core: Core, fill: float) -> float:
    """Arcs of a hierarchy of at most so many per edge.

    An edge has arcs in one or both directions; a hierarchy may have each of its arcs in both.
    """
    n, m = core.num_nodes, core.num_slots
    return 2 * (n + fill * _edges(core)) if _is_directed(core) else n + fill * m / 2


def _edges(core: Core) -> int:
    """Pairs of vertices with arcs; of a directed core, the number is kept with it."""
    if not _is_directed(core):
        return core.num_slots // 2
    kept = vars(core)
    if "_num_edges" not in kept:
        kept["_num_edges"] = _csr.both_ways(core.rowptr.cpu(), core.col.cpu())[1].numel() // 2
    found: int = kept["_num_edges"]
    return found


def bytes_to_contract(core: Core, fill: float) -> int:
    """Peak memory for a hierarchy of at most so many arcs per edge, besides graph and core."""
    assert core.contraction is not None
    per_slot = _PER_SLOT + _PER_SLOT_BOTH_WAYS * _is_directed(core)
    arcs = _PER_VERTEX * core.num_nodes + per_slot * core.num_slots
    return max(core.contraction.bytes_to_find, int(arcs + _PER_ARC * most_arcs(core, fill)))


def most_fill_within(core: Core, room: int) -> float:
    """The most arcs per edge of a hierarchy that can be made in so many bytes; 0 for none."""
    least = bytes_to_contract(core, 0)
    per_fill = most_arcs(core, 1) - most_arcs(core, 0)
    return max(room - least, 0) / max(_PER_ARC * per_fill, 1)


def may_pay(core: Core, sources: int, paths: bool) -> bool:
    """Whether to look for a hierarchy, to count paths or to add up distances.

    There have to be enough sources, unless it is already there, and in a directed graph not too
    many strong components.
    """
    n, weighted = core.num_nodes, core.weight is not None
    least = (_LEAST_ON_CUDA if core.rowptr.is_cuda else LEAST)[weighted]
    if sources < (8 if "_hierarchy" in vars(core) else least):
        return False
    if _is_directed(core) and int(_components(core).max()) >= _MOST_COMPONENTS[weighted] * n:
        return False
    by_bits = not paths and not weighted
    return not by_bits or 2 * _edges(core) <= _MOST_SLOTS_OF_BITS * n


def most_fill(core: Core) -> float:
    """Arcs per edge up to which sweeps over a hierarchy take less time than searches."""
    return _MOST_FILL[core.weight is not None]


def pays(core: Core, room: int, progress: bool | None = False) -> bool:
    """Whether sweeps over a hierarchy take less time, which is contracted to find out.

    It is not if the contraction would need more than `room`, the bytes besides graph and core.
    """
    fill = min(most_fill(core), most_fill_within(core, room))
    # Every edge is a part of an arc.
    found = Hierarchy.of(core, fill, progress) if fill >= 1 else None
    return found is not None and found.most_paths < _MOST_PATHS
