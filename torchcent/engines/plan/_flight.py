"""Memory of kernels on CUDA, the batches that they have in flight, and their lanes."""

from __future__ import annotations

from collections.abc import Callable

import torch

from torchcent.engines.plan._job import Job
from torchcent.engines.plan._room import allocated
from torchcent.engines.reduce._chains import Chains
from torchcent.engines.reduce._core import Core
from torchcent.runtime._codes import BATCH, BUSY_SLOTS, FIRST_LEVELS, MOST_IN_FLIGHT
from torchcent.runtime._codes import RELAX_LANES_ON_CUDA as RELAX_LANES
from torchcent.runtime._workspace import Workspace, workspace

WIDTHS = (8, 32, 64, 128)  # lanes of a batch on CUDA
# Total slots of all batches from which 64 and 128 lanes keep a large device busy, and number of
# sources from which 128 lanes pay off (measured: docs/notes/performance-cuda.md).
FULL_SLOTS, WIDE_SLOTS, WIDE_SOURCES = 2**18, 3 * 2**20, 256
# Memory of the dozen large arrays of the relax engine, whose sizes are added up before rounding.
_RELAX_SLACK = 2**23


def calls_on_cuda(engine: str, sources: int) -> list[int]:
    """Number of sources of each call of the operator on CUDA.

    The first call is small, so that a rung of the ladder that overflows is abandoned early, but
    large enough for many batches in flight. The numbers are fixed, because the rung of a batch
    determines its bits and must not depend on the machine. (On the CPU a single call groups its
    batches in the same way.)
    """
    first, later = (batches * BATCH[engine] for batches in (64, 512))
    rest = max(sources - first, 0)
    return [
        min(sources, first),
        *[later] * (rest // later),
        *([rest % later] if rest % later else []),
    ]


def wave(batches: int, most: int) -> int:
    """Batches in flight, at most `most`, in waves of equal size as in lanes.cuh."""
    return -(-batches // max(1, -(-batches // most)))


def _largest_wave(engine: str, sources: int, lanes: int, most: int) -> int:
    return max(1, *(wave(-(-call // lanes), most) for call in calls_on_cuda(engine, sources)))


def levels(depth: int) -> list[int]:
    """Levels of masks in each allocation of the lanes engine, for searches of this depth."""
    counts = [FIRST_LEVELS]
    while depth >= sum(counts) - 1:
        counts.append(sum(counts) // 2)
    return counts


def width(slots: int, sources: int, fits: Callable[[int], bool]) -> int:
    """Lanes of a batch on CUDA; `fits` tests whether one batch of this width fits into memory.

    Wide batches read each slot less often; narrow ones have fewer empty lanes and need less memory.
    The width determines the order of additions and thus the bits of a result, which must not depend
    on the machine. Short memory therefore reduces the batches in flight first, and the lanes only
    if it does not suffice for one batch.
    """
    lanes = 64
    if sources <= 8:
        lanes = 8
    elif sources <= 32 or -(-sources // 64) * slots < FULL_SLOTS:
        lanes = 32
    elif sources >= WIDE_SOURCES and -(-sources // 128) * slots >= WIDE_SLOTS:
        lanes = 128
    narrower = [each for each in reversed(WIDTHS) if each <= lanes]
    return next(filter(fits, narrower), narrower[-1])


def lanes_on_cuda(job: Job, limit: int) -> tuple[int, int, int]:
    """Memory of the lanes engine on CUDA, batches in flight, lanes."""
    # Some sources see one level more than those that gave the depth.
    deep = tuple(levels(job.core.depth + 1))

    def taken(lanes: int, flight: int) -> int:
        space = job.workspace("lanes", lanes=lanes, levels=deep)
        return allocated(*(flight * nbytes for nbytes in space.arrays), space.fixed)

    slots, sources = job.core.num_slots, job.sources
    lanes = width(slots, sources, lambda lanes: taken(lanes, 1) <= limit)
    space = job.workspace("lanes", lanes=lanes, levels=deep)
    fit = (limit - space.fixed) // max(space.each, 1)
    while True:
        most = _most_in_flight(slots, -(-sources // lanes), fit)
        flight = _largest_wave("lanes", sources, lanes, most)
        nbytes = taken(lanes, flight)
        if nbytes <= limit or flight == 1:
            return nbytes, flight, lanes
        fit = flight - 1


def queue_on_cuda(job: Job, limit: int) -> int:
    """Memory of the queue engine on CUDA."""
    calls = calls_on_cuda("queue", job.sources)
    space = job.workspace("queue", sources=max(calls))
    fit = (limit - space.fixed) // max(space.each, 1)
    most = max(1, min(fit, job.sources, 2 * _processors(job.core)))
    flight = max(wave(call, most) for call in calls)
    nbytes = space.fixed + space.each * flight
    # The kernels take as many blocks as fit without rounding.
    rounded = allocated(space.fixed, *(flight * array for array in space.arrays))
    return max(nbytes, min(rounded, limit))


def searches_on_cuda(core: Core, sources: int, limit: int, sums: bool = True) -> int:
    """Memory of searches for distances by hops, a block for each source, with sums or without."""
    space = workspace("search", core.num_nodes, sums)
    fit = limit // max(space.each, 1)
    return space.each * max(1, min(fit, sources, _processors(core)))


def relax_on_cuda(job: Job, limit: int) -> tuple[int, int]:
    """Memory of the relax engine on CUDA, and batches in flight."""
    space = job.workspace("relax")
    fixed, slots = space.fixed + _RELAX_SLACK, job.core.num_slots
    fit = (limit - fixed) // max(space.each, 1)
    most = _most_in_flight(slots, max(1, -(-job.sources // RELAX_LANES)), fit)
    flight = _largest_wave("relax", job.sources, RELAX_LANES, most)
    # A batch that overflows is repeated by the other engine, after all waves.
    again = dijkstra_on_cuda(job._replace(sources=1), limit) if job.counts_paths else 0
    return max(space.each * flight + fixed, again), flight


def dijkstra_on_cuda(job: Job, limit: int) -> int:
    """Memory of the dijkstra engine on CUDA."""
    call = max(calls_on_cuda("dijkstra", job.sources))
    return _blocks_on_cuda(job.core, job.workspace("dijkstra"), call, limit)


def chains_on_cuda(job: Job, limit: int) -> int:
    """Memory of searches of contracted chains on CUDA."""
    call = job.sources if job.together else max(calls_on_cuda("dijkstra", job.sources))
    space = Chains.of(job.core).workspace(job.together, call)
    return _blocks_on_cuda(job.core, space, call, limit)


def _blocks_on_cuda(core: Core, space: Workspace, call: int, limit: int) -> int:
    """Memory of a block per source in flight, as many as DijkstraRun takes for a call."""
    share = min(4, -(-call // _processors(core)))
    fit = (limit - space.fixed) // max(space.each, 1)
    blocks = max(1, min(fit, call, share * _processors(core)))
    return space.fixed + space.each * blocks


def _most_in_flight(slots: int, batches: int, fit: int) -> int:
    return max(1, min(-(-BUSY_SLOTS // max(slots, 1)), batches, MOST_IN_FLIGHT, fit))


def _processors(core: Core) -> int:
    return torch.cuda.get_device_properties(core.rowptr.device).multi_processor_count
