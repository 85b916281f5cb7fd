"""A search to plan."""

from __future__ import annotations

from typing import NamedTuple

from torchcent.distribute._units import sizes
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.plan import _room
from torchcent.engines.reduce._core import Core
from torchcent.graph import Graph
from torchcent.runtime._codes import ENGINE
from torchcent.runtime._workspace import Workspace, workspace

# Bytes per vertex for distances: sums of a cutoff, and by weights its largest distance;
# eccentricities and pairs by distance.
_SUMS, _FARTHEST, _OTHERS = 4 * 8, 8, 4 + 8


class Job(NamedTuple):
    """A search to plan: a number of sources of a core, for a measure.

    Attributes:
        held: bytes of the graph and everything cached with it (_room.held_bytes).
        together: whether sources inside chains share sweeps; `sources` are then the sweeps.
        cutoffs: the number of cutoffs, each of which has scores.
        strategy: the code of a strategy of CUDA (`_codes.Strategy`).
    """

    graph: Graph
    core: Core
    measure: Kernel
    sources: int
    held: int
    together: bool = False
    cutoffs: int = 1
    strategy: int = 0

    @property
    def counts_paths(self) -> bool:
        return self.measure.family == "paths"

    @property
    def own(self) -> int:
        """Entries of the core to which a path-counting search adds; 0 for distances."""
        return self.of_cutoff * self.cutoffs

    @property
    def of_cutoff(self) -> int:
        """The same for one cutoff."""
        if not self.counts_paths:
            return 0
        return self.core.num_slots if self.measure.per_slot else self.core.num_nodes

    @property
    def scores(self) -> int:
        """Bytes of the result of path counts."""
        graph = self.graph
        return 8 * self.cutoffs * (graph.num_slots if self.measure.per_slot else graph.num_nodes)

    @property
    def width(self) -> int:
        """Bytes per weight."""
        assert self.core.weight is not None
        return self.core.weight.itemsize

    @property
    def on_cuda(self) -> bool:
        return self.graph.device.type == "cuda"

    def workspace(
        self, engine: str, sources: int = 0, lanes: int = 0, levels: tuple[int, ...] = ()
    ) -> Workspace:
        """Memory of the kernels of an engine; on CUDA for so many sources per call.

        `lanes` and `levels` are those of a batch of the lanes engine.
        """
        core, measure = self.core, self.measure
        of_search: dict[str, object] = {
            "engine": ENGINE[engine],
            "cuda": self.on_cuda,
            "num_nodes": core.num_nodes,
            "num_slots": core.num_slots,
            "symmetric": core.col is core.row and core.weight is core.back_weight,
            "per_slot": measure.per_slot,
            "limits": self.cutoffs,
            "chunks": core.chunks if self.on_cuda else 0,
        }
        if core.weight is None:
            return workspace(
                "path", **of_search,
                sources=sources, lanes=lanes, levels=levels, strategy=self.strategy,
            )  # fmt: skip
        of_weights = {"weight_bytes": self.width, "by_depth": measure.by_depth}
        return workspace("weighted", **of_search, **of_weights, paths=self.counts_paths)

    def fixed(self, engine: str) -> int:
        """Bytes of a run besides those of its searches: the graph, its core, results."""
        graph, core = self.graph, self.core
        own = self.own * (2 if self._several(engine) else 1)
        if not self.counts_paths:
            bytes_of_graph = graph._nbytes + _room.core_bytes(core)
            bytes_of_graph = self.held if self.on_cuda else bytes_of_graph
            of_each = 3 if self._several(engine) else 2  # graph, core, unit
            own = _SUMS + (_FARTHEST if graph.is_weighted and self.cutoffs > 1 else 0)
            return bytes_of_graph + of_each * (self.cutoffs * own + _OTHERS) * graph.num_nodes
        if self.on_cuda:
            return _room.run_bytes(graph, core, self.scores, own, self.sources, self.held)
        return graph._nbytes + self.scores + 8 * own + _room.core_bytes(core)

    def _several(self, engine: str) -> bool:
        """Whether there may be several units, which have outputs besides the result."""
        device = self.graph.device.type
        return (
            not self.together and len(sizes(engine, device, self.sources, self.core.num_slots)) > 1
        )
