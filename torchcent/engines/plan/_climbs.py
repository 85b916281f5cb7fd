"""Random shortest paths by climbs in a contraction hierarchy, for approximations and single paths.

A path takes a climb from either end and the unpacking of the arcs in between, whose vertices are
few beside those that a search settles (csrc/hierarchy/cpu/point_to_point.h).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from torchcent.engines.plan import _choice
from torchcent.engines.reduce import _hierarchy, _hierarchy_costs, _reduce
from torchcent.engines.reduce._core import Core
from torchcent.engines.reduce._hierarchy import Hierarchy
from torchcent.graph._cache import Record, Slot
from torchcent.graph._contraction import QUICK_SLOTS
from torchcent.runtime import _ops
from torchcent.runtime._watch import prepared

if TYPE_CHECKING:
    from torchcent.graph import Graph

# Paths from which contraction is repaid: it takes as long as 110 to 220 bidirectional searches
# (roads of 10,000 to 250,000 vertices).
LEAST_PATHS = 256
# Part of the time that contraction may take.
_PART = 0.25
# Bytes per vertex of building it, of a road.
_BYTES = 1450
# Entries per vertex of the rows of the highest vertices, int32 or, of long lengths, int64. On roads
# of 250,000 and 1.8 million vertices a path takes 19 and 104 us with 16 and 12 and 45 us with 64.
ENTRIES = 64
_MOST_ARCS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Climbs(Record):
    """A hierarchy as it is read for single paths.

    Attributes:
        hierarchy: that of a core of the graph.
        of_arcs: what the operator hierarchy_climbs returns.
        of_graph: int32; the position in the hierarchy of each vertex of the graph, or -1, and the
            vertex at each position. The third is the parent of each vertex in a tree that was
            folded, or -1.
    """

    hierarchy: Hierarchy
    of_arcs: tuple[Tensor, ...]
    of_graph: tuple[Tensor, Tensor, Tensor]

    @staticmethod
    @Slot
    def of(core: Core, graph: Graph, progress: bool | None = False) -> Climbs:
        """Those of the hierarchy that is kept with a core."""
        hierarchy = Hierarchy.kept(core)
        assert hierarchy is not None
        arguments = (
            hierarchy.first, hierarchy.to, hierarchy.length, hierarchy.slot, hierarchy.last,
            hierarchy.longest, ENTRIES,
        )  # fmt: skip

        def build(control: Tensor) -> tuple[Tensor, ...]:
            parts: tuple[Tensor, ...] = _ops.ops.hierarchy_climbs(*arguments, control)
            return parts

        of_arcs = prepared(build, "contracting", progress, core.num_slots < QUICK_SLOTS)
        vertex = core.vertex[hierarchy.vertex]
        position = vertex.new_full((graph.num_nodes,), -1, dtype=torch.int32)
        position[vertex] = torch.arange(vertex.numel(), dtype=torch.int32, device=position.device)
        return Climbs(hierarchy, of_arcs, (position, vertex.int(), core.fold.parent.int()))

    @property
    def arrays(self) -> tuple[Tensor, ...]:
        """The climbs, as the operators that sample and draw paths take them."""
        hierarchy = self.hierarchy
        return (
            hierarchy.first,
            hierarchy.paths,
            hierarchy.powers,
            hierarchy.last,
            *self.of_arcs,
            *self.of_graph,
        )

    @property
    def height(self) -> int:
        return self.hierarchy.height

    @property
    def nbytes(self) -> int:
        own = (*self.of_arcs, *self.of_graph)
        return self.hierarchy.nbytes + sum(part.numel() * part.itemsize for part in own)

    @property
    def bytes_per_thread(self) -> int:
        """Two climbs, and the arcs of a path."""
        return 2 * 64 * self.height + 2**16


def kept(graph: Graph, memory: int | None = None) -> Climbs | None:
    """Those of a hierarchy that is kept with the graph, if there is one; memory: see `made`."""
    if not possible(graph):
        return None
    core = _reduce.cores(graph).get(("degree", "all", 0))
    if core is None or not _fits(core, memory):
        return None
    hierarchy = Hierarchy.kept(core)
    if hierarchy is None or hierarchy.num_arcs > _MOST_ARCS:
        return None
    return Climbs.of(core, graph)


def made(
    graph: Graph, paths: float, memory: int | None = None, seconds: float = math.inf,
    progress: bool | None = False,
) -> Climbs | None:  # fmt: skip
    """The same, contracted if so many paths repay it.

    Args:
        memory: bytes that all of it may take.
        seconds: those that are left for the paths.
    """
    climbs = kept(graph, memory)
    if climbs is not None or paths < LEAST_PATHS or not (graph.is_weighted and possible(graph)):
        return climbs
    core = _reduce.core(graph, "degree", "all")
    fill = _hierarchy_costs.MOST_FILL[True]
    arcs = _hierarchy.most_arcs(core, fill)
    too_long = _hierarchy_costs.seconds_to_contract(core.num_nodes) > _PART * seconds
    if not core.num_nodes or arcs > _MOST_ARCS or too_long or not _fits(core, memory):
        return None
    if not _choice.too_deep_for_lanes(core) or Hierarchy.of(core, fill, progress) is None:
        return None
    return Climbs.of(core, graph, progress)


def _fits(core: Core, memory: int | None) -> bool:
    directions = 1 if core.colptr is core.rowptr else 2
    return memory is None or directions * _BYTES * core.num_nodes <= memory


def possible(graph: Graph) -> bool:
    """Whether there can be a hierarchy of the graph."""
    exact = not graph.is_weighted or graph.scale.exact
    return (
        exact
        and graph.device.type == "cpu"
        and _ops.has_kernel("hierarchy_sample_paths", graph.device)
    )
