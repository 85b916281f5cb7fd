"""Which engine, how many threads and lanes, how much memory: decided before anything runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from torchcent import _codes, _memory, _ops, _reduce, _room, _tensor
from torchcent._codes import BATCH
from torchcent._measures import MEASURES
from torchcent._memory import readable
from torchcent._request import Request
from torchcent._room import LANES
from torchcent.graph import Graph

ORDER = {
    "lanes": "degree", "queue": "bandwidth", "tensor": "given",
    "relax": "degree", "dijkstra": "bandwidth",
}  # fmt: skip
# The engine with sources side by side and the one with a search at a time, by hops and by weights.
_PAIR = {False: ("lanes", "queue"), True: ("relax", "dijkstra")}
FEW_SOURCES = 8
# Depth over log2(n) up to which lanes win: 1.5 to 2.1 for social, web and citation graphs, 2.8 and
# more for meshes and roads (docs/performance.md has the table).
DEPTH_PER_LOG = 2.4
# Deep graphs whose vertices have this many slots, as triangulations have: on the CPU a ball of 64
# neighbouring sources spans few levels, and lanes beat the queue by 1.2 to 2.0; with 4 slots and
# fewer it is the other way round. The balls are those of the sources, so they must be nearly all.
DENSE, NEARLY_ALL = 5, 0.75


@dataclass(frozen=True)
class Plan:
    """What a run will do; print it to read it."""

    measure: str
    engine: str
    reason: str
    device: torch.device
    num_nodes: int
    num_slots: int
    core_nodes: int
    core_slots: int
    sources: int
    lanes: int
    batches: int
    threads: int  # on the CPU
    flight: int  # batches at a time, on CUDA; 0 leaves it to the kernels
    strategy: int  # of the queue and dijkstra engines on CUDA (_codes.Strategy)
    workspace: int  # bytes that CUDA kernels may take
    memory: int  # bytes: of the run, or of what is still to be prepared where that is more
    memory_limit: int
    weights: str = ""  # the arithmetic of weighted distances
    graphs: str = ""  # of a batch: how many by which engine

    @property
    def launch(self) -> _codes.Launch:
        """What the operators take."""
        lanes = self.lanes if self.engine == "lanes" else 0
        return _codes.Launch(self.threads, self.flight, lanes, self.strategy)

    def __str__(self) -> str:
        rows = {
            "measure": self.measure,
            "engine": f"{self.engine}: {self.reason}",
            "device": f"{self.device}"
            + (f", {self.threads} threads" if self.threads else "")
            + (f", {self.flight} batches at a time" if self.flight else ""),
            "graph": f"{self.num_nodes:,} vertices, {self.num_slots:,} slots",
            "graphs": self.graphs,
            "weights": self.weights,
            "searched": f"{self.core_nodes:,} vertices, {self.core_slots:,} slots after folding",
            "sources": f"{self.sources:,} in {self.batches:,} batches, {self.lanes} lanes each",
            "memory": f"{readable(self.memory)} of {readable(self.memory_limit)} allowed",
        }
        return "\n".join(f"{name:<9} {text}" for name, text in rows.items() if text)


def plan(
    graph: Graph, request: Request, num_sources: int | None = None
) -> tuple[Plan, _reduce.Core]:
    """The plan and the reduced graph that it will search, from so many sources; by default from
    those of the request.

    Raises:
        MemoryError: with the need and the limit, if not even one batch at a time fits.
        ValueError: if the engine cannot run here.
    """
    measure, memory, tie_tolerance = request.measure, request.memory, request.tie_tolerance
    num_sources = request.num_sources if num_sources is None else num_sources
    limit = _memory.budget(memory, graph.device)
    cores = Preparation(graph, measure, limit, memory)
    fold = _folding(graph, measure, tie_tolerance)
    engine, reason, core = choose(cores, fold, request.engine, num_sources)
    per_slot = MEASURES[measure].per_slot
    scores = graph.num_slots if per_slot else graph.num_nodes
    sources = _count_sources(core, num_sources, graph.num_nodes)
    threads, flight, lanes = 0, 0, 1
    if engine == "tensor":
        fixed = graph.nbytes + 8 * scores
        n, m = core.num_nodes, core.num_slots
        own = _tensor.weighted_extra(n, m) if graph.is_weighted else 0
        lanes = min(max(sources, 1), _tensor.lanes_that_fit(n, m, limit - fixed, own))
        needed = fixed + _tensor.memory_needed(n, m, max(lanes, 1), own)
    else:
        lanes = LANES if engine in ("lanes", "relax") else 1
        each = _room.bytes_per_thread(engine, core, measure)
        own = core.num_slots if per_slot else core.num_nodes
        fixed = graph.nbytes + 8 * scores + 8 * own + _room.core_bytes(core)
        if graph.device.type != "cuda":
            batches = -(-sources // BATCH[engine])
            threads, needed = threads_that_fit(batches, each + 2 * 8 * own, fixed, limit)
        else:
            fixed = _room.run_bytes(graph, core, scores, own, sources)
            needed, flight, lanes = on_cuda(engine, core, own, sources, limit - fixed)
            needed = fixed + max(needed, _reduce.bytes_for_components(graph, core))
    needed = max(needed, cores.peak)
    if needed > limit or lanes < 1:
        what = f"{measure} with engine={engine!r}, one batch at a time,"
        raise _memory.refuse(what, needed, limit, memory)
    size = BATCH[engine] if engine in ("queue", "dijkstra") else lanes
    made = Plan(
        measure, engine, reason, graph.device, graph.num_nodes, graph.num_slots, core.num_nodes,
        core.num_slots, sources, lanes, -(-sources // size), threads, flight, request.strategy,
        limit - fixed, needed, limit, weights_in_words(graph, tie_tolerance),
    )  # fmt: skip
    return made, core


class Preparation:
    """Gives the cores of a graph. On CUDA, where sorting a graph may take more than a run on it,
    within the limit: `peak` is what those take that are not there yet. On the CPU it stays 0."""

    def __init__(self, graph: Graph, measure: str, limit: int, memory: int | None) -> None:
        self.graph, self.peak = graph, 0
        self._measure, self._limit, self._memory = measure, limit, memory

    def core(self, order: str, fold: str, ball: int = 0) -> _reduce.Core:
        if self.graph.device.type == "cuda":
            self._take(_reduce.bytes_to_transpose(self.graph))
            self._take(_reduce.bytes_to_reduce(self.graph, order, fold))
        return _reduce.core(self.graph, order, fold, ball)

    def _take(self, needed: int) -> None:
        if needed > self._limit:
            what = f"the preparation of the graph for {self._measure}"
            raise _memory.refuse(what, needed, self._limit, self._memory)
        self.peak = max(self.peak, needed)


def weights_in_words(graph: Graph, tie_tolerance: float = 0.0) -> str:
    """What a plan tells of weights: nothing, if there are none."""
    if not graph.is_weighted:
        return ""
    return f"{graph.scale}" + (f"; tie tolerance {tie_tolerance:g}" if tie_tolerance else "")


def _folding(graph: Graph, measure: str, tie_tolerance: float) -> str:
    """Which leaves may be folded.

    A folded leaf's search is that of its neighbour, all distances less by a constant. Ties are the
    same there if sums are exact and compared as they are; sums that are rounded, or compared in
    proportion to their size, may tie in the one search and not in the other.
    """
    if graph.is_weighted and (tie_tolerance > 0 or not graph.scale.exact):
        return "no"
    return MEASURES[measure].folds


def choose(
    cores: Preparation, fold: str, engine: str, num_sources: int | None
) -> tuple[str, str, _reduce.Core]:
    """The engine, why, and the core in its order."""
    graph = cores.graph
    compiled = has_kernels(graph)
    if engine not in ("auto", "tensor"):
        if not _ops.available:
            raise ValueError(f"engine={engine!r} needs the compiled extension; use engine='tensor'")
        if not compiled:
            raise ValueError(
                f"engine={engine!r} has no compiled kernels for {graph.device}; "
                "use engine='tensor' or move the graph"
            )
        return engine, "asked for", _ordered(cores, engine, fold)
    if engine == "tensor" or not compiled:
        reason = "asked for" if engine == "tensor" else "the only one without compiled kernels"
        return "tensor", reason, cores.core("given", "no")
    core = cores.core("degree", fold)
    engine, reason = faster(graph, core, num_sources)
    return engine, reason, _ordered(cores, engine, fold)


def _ordered(cores: Preparation, engine: str, fold: str) -> _reduce.Core:
    """The core in the order that suits the engine."""
    core = cores.core(ORDER[engine], fold)
    if engine == "lanes" and core.rowptr.device.type == "cpu" and is_deep(core):
        return cores.core("bandwidth", fold, LANES)
    return core


def has_kernels(graph: Graph) -> bool:
    """Are there compiled searches that count the paths of this graph, on its device?"""
    name = "weighted_dependency" if graph.is_weighted else "path_dependency"
    return _ops.has_kernel(name, graph.device)


def faster(graph: Graph, core: _reduce.Core, num_sources: int | None) -> tuple[str, str]:
    """Sources side by side or one search at a time, from the depth of the graph in hops."""
    together, single = _PAIR[graph.is_weighted]
    if num_sources is not None and num_sources < FEW_SOURCES:
        return single, f"fewer than {FEW_SOURCES} sources do not fill lanes"
    depth, limit = core.depth, _depth_limit(core)
    if is_deep(core):
        slots = core.num_slots / core.num_nodes
        all_of_them = num_sources is None or num_sources >= NEARLY_ALL * core.num_nodes
        in_balls = core.rowptr.device.type == "cpu" and not graph.is_weighted
        if in_balls and slots >= DENSE and all_of_them:
            return (
                together,
                f"{slots:.0f} slots per vertex: {LANES} neighbouring sources share each",
            )
        return single, f"depth about {depth} > {limit:.0f}: few lanes would share an arc"
    return together, f"depth about {depth} <= {limit:.0f}: many sources share each arc"


def _depth_limit(core: _reduce.Core) -> float:
    return DEPTH_PER_LOG * math.log2(max(core.num_nodes, 2))


def is_deep(core: _reduce.Core) -> bool:
    """Is the graph too deep for lanes?"""
    return core.depth > _depth_limit(core)


def _count_sources(core: _reduce.Core, num_sources: int | None, num_nodes: int) -> int:
    searched = int((core.rowptr.diff() > 0).sum())
    return searched if num_sources is None else min(num_sources, searched)


def threads_that_fit(batches: int, each: int, fixed: int, limit: int) -> tuple[int, int]:
    """How many threads, and the memory they need at `each` bytes."""
    threads = max(1, min(torch.get_num_threads(), batches))
    threads = max(1, min(threads, (limit - fixed) // max(each, 1)))
    return threads, fixed + threads * each


def on_cuda(
    engine: str, core: _reduce.Core, scores: int, sources: int, limit: int
) -> tuple[int, int, int]:
    """Memory on CUDA, batches in flight, lanes of each; without scores, of distances by weights."""
    if engine == "lanes":
        return _room.lanes_on_cuda(core, scores, sources, limit)
    if engine == "relax":
        return *_room.relax_on_cuda(core, scores, sources, limit), _room.RELAX_LANES
    room = _room.queue_on_cuda if engine == "queue" else _room.dijkstra_on_cuda
    return room(core, scores, sources, limit), 0, 1
