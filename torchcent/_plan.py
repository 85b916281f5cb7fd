"""Which engine, how many threads and lanes, how much memory: decided before anything runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from torchcent import _memory, _ops, _reduce, _tensor
from torchcent._memory import readable
from torchcent.graph import Graph

# Sources side by side in one batch of the lanes and relax engines (of lanes on CUDA: WIDTHS)
LANES = 64
# Sources that share a private sum; fixed in csrc/cpu/path_dependency.cpp.
BATCH = {"lanes": LANES, "queue": 16, "relax": LANES, "dijkstra": 16}
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
    strategy: int  # of the queue engine on CUDA (_check.STRATEGIES)
    workspace: int  # bytes that CUDA kernels may take
    memory: int  # bytes: of the run, or of what is still to be prepared where that is more
    memory_limit: int
    weights: str = ""  # the arithmetic of weighted distances

    @property
    def spread(self) -> int:
        """What the operator takes as `threads`; on CUDA flight and lanes, or queue's strategy."""
        if self.device.type != "cuda":
            return self.threads
        return self.flight + PER_LANE * self.lanes if self.engine == "lanes" else self.strategy

    def __str__(self) -> str:
        rows = {
            "measure": self.measure,
            "engine": f"{self.engine}: {self.reason}",
            "device": f"{self.device}"
            + (f", {self.threads} threads" if self.threads else "")
            + (f", {self.flight} batches at a time" if self.flight else ""),
            "graph": f"{self.num_nodes:,} vertices, {self.num_slots:,} slots",
            "weights": self.weights,
            "searched": f"{self.core_nodes:,} vertices, {self.core_slots:,} slots after folding",
            "sources": f"{self.sources:,} in {self.batches:,} batches, {self.lanes} lanes each",
            "memory": f"{readable(self.memory)} of {readable(self.memory_limit)} allowed",
        }
        return "\n".join(f"{name:<9} {text}" for name, text in rows.items() if text)


def plan(
    graph: Graph,
    measure: str,
    engine: str,
    num_sources: int | None,
    memory: int | None,
    strategy: int = 0,
    tie_tolerance: float = 0.0,
) -> tuple[Plan, _reduce.Core]:
    """The plan and the reduced graph that it will search.

    Raises:
        MemoryError: with the need and the limit, if not even one batch at a time fits.
        ValueError: if the engine cannot run here.
    """
    limit = _memory.budget(memory, graph.device)
    cores = Preparation(graph, measure, limit, memory)
    fold = _folding(graph, measure, tie_tolerance)
    engine, reason, core = choose(cores, fold, engine, num_sources)
    scores = graph.num_slots if measure == "edge_betweenness" else graph.num_nodes
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
        each = _bytes_per_thread(engine, core, measure)
        own = core.num_slots if measure == "edge_betweenness" else core.num_nodes
        fixed = graph.nbytes + 8 * scores + 8 * own + _core_bytes(core)
        if graph.device.type != "cuda":
            batches = -(-sources // BATCH[engine])
            threads, needed = _threads(batches, each + 2 * 8 * own, fixed, limit)
        else:
            if engine == "queue":
                needed = _queue_memory(core, own, sources, limit - fixed)
            else:
                needed, flight, lanes = _lane_memory(core, own, sources, limit - fixed)
            needed = fixed + max(needed, _reduce.bytes_for_components(graph, core))
    needed = max(needed, cores.peak)
    if needed > limit or lanes < 1:
        what = f"{measure} with engine={engine!r}, one batch at a time,"
        raise _memory.refuse(what, needed, limit, memory)
    size = BATCH[engine] if engine in ("queue", "dijkstra") else lanes
    made = Plan(
        measure, engine, reason, graph.device, graph.num_nodes, graph.num_slots, core.num_nodes,
        core.num_slots, sources, lanes, -(-sources // size), threads, flight, strategy,
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
    return "one" if measure == "stress" else "all"


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


def _threads(batches: int, each: int, fixed: int, limit: int) -> tuple[int, int]:
    """How many threads, and the memory they need at `each` bytes."""
    threads = max(1, min(torch.get_num_threads(), batches))
    threads = max(1, min(threads, (limit - fixed) // max(each, 1)))
    return threads, fixed + threads * each


# Slots to work on at a time on CUDA, so that no level leaves the chip idle; batches at most.
BUSY_SLOTS, MOST_IN_FLIGHT = 2**26, 32
CHUNK, LONG_CHUNK, MANY_SLOTS = 256, 512, 2**23  # slots of a hub that a warp takes
WIDTHS = (32, 64, 128)  # lanes of a batch on CUDA
PER_LANE = 1000  # in what the operator takes; csrc/cuda/path_dependency.cu
# Slots of all batches from which those of 64 and of 128 lanes keep a large device busy, and sources
# from which 128 pay (measured: docs/performance-cuda.md).
FULL_SLOTS, WIDE_SLOTS, WIDE_SOURCES = 2**18, 3 * 2**20, 256


def _width(slots: int, sources: int, fits: Callable[[int], bool]) -> int:
    """Lanes of a batch on CUDA; `fits` tells whether one batch of so many fits into memory.

    Wide batches look at every slot less often, narrow ones have fewer empty lanes and less memory.
    The width decides the order of additions and so the bits of a result, which must not depend on
    the machine: so short memory first takes batches in flight, and lanes only where it does not
    suffice for one batch.
    """
    width = 64
    if sources <= 32 or -(-sources // 64) * slots < FULL_SLOTS:
        width = 32
    elif sources >= WIDE_SOURCES and -(-sources // 128) * slots >= WIDE_SLOTS:
        width = 128
    while width > WIDTHS[0] and not fits(width):
        width //= 2
    return width


def _lane_memory(core: _reduce.Core, own: int, sources: int, limit: int) -> tuple[int, int, int]:
    """Memory of the lanes engine on CUDA (csrc/cuda/lanes.cuh), batches in flight, lanes."""
    n, m = core.num_nodes, core.num_slots
    chunk = CHUNK if m < MANY_SLOTS else LONG_CHUNK
    chunks = 0
    for pointers in {id(part): part for part in (core.rowptr, core.colptr)}.values():
        degree = pointers.diff()
        chunks = max(chunks, int((-(-degree[degree > chunk] // chunk)).sum()))
    tasks = 16 * n + 16 * chunks
    levels = max(8, core.depth + 3)

    def each(lanes: int) -> int:  # of a batch: rows of floats, masks
        row, mask = 4 * lanes, lanes // 8
        return n * (row + mask * (1 + levels)) + 8 * own + chunks * (row + mask + 4)

    lanes = _width(m, sources, lambda width: each(width) + tasks <= limit)
    batches = max(1, -(-sources // lanes))
    fit = (limit - tasks) // max(each(lanes), 1)
    most = max(1, min(-(-BUSY_SLOTS // max(m, 1)), batches, MOST_IN_FLIGHT, fit))
    flight = max(1, *(_wave(-(-call // lanes), most) for call in calls_on_cuda("lanes", sources)))
    return each(lanes) * flight + tasks, flight, lanes


def _wave(batches: int, most: int) -> int:
    """Batches at a time, at most so many, in waves of one size as csrc/cuda/lanes.cuh has them."""
    return -(-batches // max(1, -(-batches // most)))


def calls_on_cuda(engine: str, sources: int) -> list[int]:
    """Sources of each call of the operator on CUDA: few first, so that a rung of the ladder that
    overflows is left soon, but enough to have many batches in flight. Fixed numbers, because the
    rung of a batch decides its bits and must not depend on the machine. (On the CPU one call does
    all and groups its batches likewise.)"""
    first, later = (batches * BATCH[engine] for batches in (64, 512))
    rest = max(sources - first, 0)
    return [
        min(sources, first),
        *[later] * (rest // later),
        *([rest % later] if rest % later else []),
    ]


def _queue_memory(core: _reduce.Core, own: int, sources: int, limit: int) -> int:
    """Memory of the queue engine on CUDA (csrc/cuda/queue.cuh)."""
    n = core.num_nodes
    each = (21 if core.colptr is core.rowptr else 25) * n + 8 * own
    blocks = 2 * torch.cuda.get_device_properties(core.rowptr.device).multi_processor_count
    fit = (limit - 16 * n) // max(each, 1)
    most = max(1, min(fit, sources, blocks))
    return 16 * n + each * max(_wave(call, most) for call in calls_on_cuda("queue", sources))


def _bytes_per_thread(engine: str, core: _reduce.Core, measure: str) -> int:
    """What a thread's workspace holds at most (csrc/cpu/lanes.h, queue.h)."""
    n, m = core.num_nodes, core.num_slots
    if core.weight is not None:
        slots = measure == "edge_betweenness"
        return weighted_bytes_per_thread(engine, n, m, core.weight.itemsize, True, slots)
    if engine == "lanes":
        return n * (256 + 3 * 8 + 4 + 14 * 12)
    # The pairs of the ladder's last rung included; an undirected edge is a DAG arc one way at most.
    arcs = m // 2 if core.colptr is core.rowptr else m
    return n * (2 * 4 + 12 + 2 * 16) + arcs * (16 if measure == "edge_betweenness" else 8)


def weighted_bytes_per_thread(
    engine: str, num_nodes: int, num_slots: int, width: int, counts: bool, slots: bool
) -> int:
    """The same with distances of so many bytes (csrc/cpu/relax_search.h, dijkstra.h), with path
    counts or without, with scores per slot or per vertex."""
    if engine == "relax":
        rows, lists = LANES * (width + 2) + 64, 2 * width
        if counts:  # rows of counts, tight arcs by either end, the order of vertices
            rows, lists = rows + 512, lists + (40 if slots else 24)
    else:
        rows, lists = width + 16, width + 24
        if counts:
            rows, lists = rows + 48, lists + (40 if slots else 24)
    return num_nodes * rows + num_slots * lists


def weighted_bytes(num_slots: int, width: int) -> int:
    """What all threads share: the arcs of either direction, sorted (csrc/cpu/light_arcs.h)."""
    return 2 * num_slots * (12 + width)


def _core_bytes(core: _reduce.Core) -> int:
    parts = [core.rowptr, core.col, core.colptr, core.row, core.slot]
    parts += [part for part in (core.weight, core.back_weight) if part is not None]
    held = {id(part): part for part in parts}
    shared = 0 if core.weight is None else weighted_bytes(core.num_slots, core.weight.itemsize)
    return shared + sum(part.numel() * part.element_size() for part in held.values())
