"""Constants shared by Python and the compiled libraries: codes of arguments, and limits.

csrc/core/codes.h is the compiled side and documents each constant; a test compares the two. The
codes of measures are in engines/measures/_visitors.py.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor


class Rung(IntEnum):
    """Number types of path counts; each is used when the previous one overflows."""

    FLOAT32 = 0
    FLOAT64 = 1
    WIDE = 2


class Strategy(IntEnum):
    """How the threads of a CUDA block are assigned to the vertices or arcs of a level.

    The virtual warp widths 4, 8, 16 and 32 have consecutive codes.
    """

    AUTO = 0
    NODE_PARALLEL = 1
    EDGE_PARALLEL = 2
    WORK_EFFICIENT = 3
    WARP_CENTRIC = 4
    COOPERATIVE = 8
    NODE_PARALLEL_WARP_CENTRIC = 10
    LOCKED = 16


#: engines that count paths, by hops and by weights
ENGINE = {"lanes": 0, "queue": 1, "relax": 0, "dijkstra": 1}

#: entries of the control record: see :func:`control`
CANCEL, DONE, BYTES, WORK = range(4)

#: path counts beyond this are represented with their own exponent
LARGEST_COUNT = 1e290
#: sources per private sum on the CPU; for lanes and relax also the lanes of a batch
BATCH = {"lanes": 64, "queue": 16, "relax": 64, "dijkstra": 16}
#: sources up to which each search of queue and dijkstra has a sum of its own on the CPU
FEW_SEARCHES = 64
#: lanes of the bits engine; wide from WIDE_BITS_FROM sources on, and always on CUDA
WIDE_BITS, NARROW_BITS, WIDE_BITS_FROM = 512, 64, 129
#: lanes of the relax engine on CUDA
RELAX_LANES_ON_CUDA = 32
#: largest number of vertices of a graph for the tiny engine, and its lanes on the CPU
TINY_NODES, TINY_LANES = 2048, 64
#: bound on distances of a hierarchy up to which they are int32
LONGEST_INT32 = 2**29
#: on CUDA: slots of a hub per warp; the same in graphs of MANY_SLOTS or more; that threshold
CHUNK, LONG_CHUNK, MANY_SLOTS = 256, 512, 2**23
#: limits on batches in flight: total slots and batches (lanes, relax)
BUSY_SLOTS, MOST_IN_FLIGHT = 2**26, 32
#: levels of masks that a batch of the lanes engine has at first; each further step adds half
FIRST_LEVELS = 8
#: limits on batches in flight: total vertices and batches (bits)
BUSY_ROWS, MOST_BITS_IN_FLIGHT = 2**22, 256


class Launch(NamedTuple):
    """Launch parameters of a run; 0 leaves the choice to the engine. Operators take it as a whole.

    Attributes:
        threads: of the CPU.
        flight: batches in flight, on CUDA.
        lanes: sources per batch, on CUDA.
        strategy: a :class:`Strategy`.
        blocks: blocks per multiprocessor.
    """

    threads: int = 0
    flight: int = 0
    lanes: int = 0
    strategy: int = 0
    blocks: int = 0


#: all constants, in the order of csrc/core/cpu/codes.cpp
ALL: dict[str, float] = {
    **{f"ENGINE[{name}]": code for name, code in ENGINE.items()},
    **{f"Rung.{x.name}": x for x in Rung},
    **{f"Strategy.{x.name}": x for x in Strategy},
    "entries of control": 4,
    "fields of launch": len(Launch._fields),
    "LARGEST_COUNT": LARGEST_COUNT,
    **{f"BATCH[{name}]": size for name, size in BATCH.items()},
    "FEW_SEARCHES": FEW_SEARCHES,
    "WIDE_BITS": WIDE_BITS,
    "NARROW_BITS": NARROW_BITS,
    "WIDE_BITS_FROM": WIDE_BITS_FROM,
    "RELAX_LANES_ON_CUDA": RELAX_LANES_ON_CUDA,
    "TINY_NODES": TINY_NODES,
    "TINY_LANES": TINY_LANES,
    "LONGEST_INT32": LONGEST_INT32,
    "CHUNK": CHUNK,
    "LONG_CHUNK": LONG_CHUNK,
    "MANY_SLOTS": MANY_SLOTS,
    "BUSY_SLOTS": BUSY_SLOTS,
    "MOST_IN_FLIGHT": MOST_IN_FLIGHT,
    "FIRST_LEVELS": FIRST_LEVELS,
    "BUSY_ROWS": BUSY_ROWS,
    "MOST_BITS_IN_FLIGHT": MOST_BITS_IN_FLIGHT,
}


def control(room: int = 0, done: int = 0) -> Tensor:
    """The record that an operator shares with other threads while it runs, on the host.

    Entries: CANCEL, set by another thread to stop the operator. DONE, the number of completed
    sources. BYTES, the memory that the operator may use (`room`); an operator that may do part of a
    job sets it to -1 if that was too little. WORK, the number of slots read, if the operator counts
    them.
    """
    return torch.from_numpy(np.array([0, done, room, 0], dtype=np.int64))
