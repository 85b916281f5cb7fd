"""Engine, threads and memory of the distance measures: decided before anything runs."""

from __future__ import annotations

import math

import torch

from torchcent import _memory, _ops, _reduce, _room, _tensor
from torchcent._codes import BATCH
from torchcent._codes import NARROW_BITS as NARROW
from torchcent._codes import WIDE_BITS as WIDE
from torchcent._codes import WIDE_BITS_FROM as WIDE_FROM
from torchcent._measures import MEASURES
from torchcent._plan import Plan, Preparation, choose, on_cuda, threads_that_fit, weights_in_words
from torchcent._request import Request
from torchcent.graph import Graph

# On CUDA batches in flight have so many rows together (csrc/cuda/distances.cu).
BUSY_ROWS, MOST_IN_FLIGHT = 2**22, 256
# Depth over log2(n) from which sources by neighbourhood win: 1.5 to 6 times at 6 and more (meshes,
# roads); at 2.6 and less (social and web graphs) the order from the hub wins, up to 2.5 times.
DEEP_PER_LOG = 4
INLINE_WORK = {"bits": 1e8, "tensor": 2e7, "relax": 2e7, "dijkstra": 2e7}  # as _driver._INLINE_WORK
_BOUNDS = 200  # bytes per vertex


def plan(graph: Graph, request: Request, num_sources: int | None) -> tuple[Plan, _reduce.Core]:
    """The plan and the reduced graph that it will search, from so many sources; None stands for
    all.

    Raises:
        MemoryError: with the need and the limit, if not even one batch at a time fits.
        ValueError: if the engine cannot run here.
    """
    measure, engine, memory = request.measure, request.engine, request.memory
    limit = _memory.budget(memory, graph.device)
    cores = Preparation(graph, measure, limit, memory)
    if graph.is_weighted:
        engine, reason, core = choose(cores, "no", engine, num_sources)
    else:
        fold = MEASURES[measure].folds if num_sources is None else "no"
        engine, reason, core = _choose(cores, engine, num_sources, fold)
    n = core.num_nodes
    searched = int((core.rowptr.diff() > 0).sum())
    sources = searched if num_sources is None else min(num_sources, searched)
    # Sums, eccentricities and pairs by distance, of the graph and of the core.
    on_device = graph.device.type == "cuda"
    held = _room.held_bytes(graph) if on_device else graph.nbytes + _room.core_bytes(core)
    fixed = held + 2 * (4 * 8 + 4 + 8) * graph.num_nodes
    threads, flight = 0, 0
    if engine == "tensor":
        own = _tensor.weighted_extra(n, core.num_slots) if graph.is_weighted else 0
        fit = _tensor.lanes_that_fit(n, core.num_slots, limit - fixed, own)
        lanes = min(max(sources, 1), fit)
        needed = fixed + _tensor.memory_needed(n, core.num_slots, max(lanes, 1), own)
    elif core.weight is not None and graph.device.type == "cuda":
        needed, flight, lanes = on_cuda(engine, core, 0, sources, limit - fixed)
        needed += fixed
    elif core.weight is not None:
        batch, width = BATCH[engine], core.weight.itemsize
        lanes = batch if engine == "relax" else 1
        each = _room.weighted_bytes_per_thread(engine, n, core.num_slots, width, False, False)
        threads, needed = threads_that_fit(-(-sources // batch), each, fixed, limit)
    elif graph.device.type == "cuda":
        lanes, batches = WIDE, -(-sources // WIDE)
        needed, flight = _device_memory(n, core.num_slots, batches, limit - fixed)
        needed += fixed
    else:
        lanes = WIDE if sources >= WIDE_FROM else NARROW
        threads, needed = threads_that_fit(
            -(-sources // lanes), _bytes_per_thread(n, lanes), fixed, limit
        )
    needed = max(needed, cores.peak)
    if needed > limit or lanes < 1:
        what = f"{measure} with engine={engine!r}, one batch at a time,"
        raise _memory.refuse(what, needed, limit, memory)
    made = Plan(
        measure, engine, reason, graph.device, graph.num_nodes, graph.num_slots, n,
        core.num_slots, sources, lanes, -(-sources // lanes), threads, flight, 0,
        limit - fixed, needed, limit, weights_in_words(graph),
    )  # fmt: skip
    return made, core


def room_for_bounds(graph: Graph, measure: str, engine: str, memory: int | None) -> None:
    """Refuses what takes searches one by one and a batch (_bounds.py, _longest.py) if memory does
    not allow for it: bounds, the rows of roots, what they are put together from."""
    limit, n = _memory.budget(memory, graph.device), graph.num_nodes
    if graph.is_weighted or engine == "tensor" or not has_bits(graph.device):
        search = _tensor.memory_needed(n, graph.num_slots, 1)
    elif graph.device.type == "cuda":
        search = _device_memory(n, graph.num_slots, 1, limit)[0]
    else:
        search = _bytes_per_thread(n, WIDE)
    needed = graph.nbytes + search + _BOUNDS * n
    if needed > limit:
        raise _memory.refuse(measure, needed, limit, memory)


def is_quick(plan: Plan) -> bool:
    """Is it over before a thread and a progress bar would pay?"""
    return plan.sources * plan.core_slots < INLINE_WORK[plan.engine]


def is_deep(core: _reduce.Core) -> bool:
    """Large diameter, as of meshes and roads: searches from afar share no frontier."""
    return core.depth > DEEP_PER_LOG * math.log2(max(core.num_nodes, 2))


def has_bits(device: torch.device) -> bool:
    """Are there kernels of the bits engine for this device?"""
    return _ops.has_kernel("distance_sums", device)


def _choose(
    cores: Preparation, engine: str, num_sources: int | None, fold: str
) -> tuple[str, str, _reduce.Core]:
    graph = cores.graph
    if engine == "bits" and not _ops.available:
        raise ValueError("engine='bits' needs the compiled extension; use engine='tensor'")
    if engine == "bits" and not has_bits(graph.device):
        raise ValueError(
            f"engine='bits' has no compiled kernels for {graph.device}; use engine='tensor' or "
            "move the graph"
        )
    if engine == "tensor" or not has_bits(graph.device):
        reason = "asked for" if engine == "tensor" else "the only one without compiled kernels"
        return "tensor", reason, cores.core("given", "no")
    if num_sources is not None and num_sources < WIDE:
        return "bits", f"{num_sources:,} sources side by side", cores.core("given", "no")
    core = cores.core("degree", fold)
    if is_deep(core):
        reason = f"depth about {core.depth}: sources by neighbourhood, {WIDE} side by side"
        return "bits", reason, cores.core("bandwidth", fold, WIDE)
    return "bits", f"depth about {core.depth}: {WIDE} sources share each arc", core


def _device_memory(n: int, m: int, batches: int, limit: int) -> tuple[int, int]:
    """Memory on CUDA (csrc/cuda/bits.cuh, tasks.cuh), and the batches in flight."""
    each, tasks = n * (3 * WIDE // 8 + 4 * 8), 16 * n + m // 8
    fit = (limit - tasks) // max(each, 1)
    flight = max(1, min(-(-BUSY_ROWS // max(n, 1)), batches, MOST_IN_FLIGHT, fit))
    return tasks + each * flight, flight


def _bytes_per_thread(num_nodes: int, lanes: int) -> int:
    """Rows of bits and lists of vertices (csrc/cpu/bits.h), eccentricities, pairs by distance,
    and twice the sums."""
    return num_nodes * (3 * lanes // 8 + 3 * 4 + 4 + 8 + 2 * 4 * 8)
